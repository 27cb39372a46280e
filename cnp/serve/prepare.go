package serve

import (
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
)

// prepare makes a job of a request, whose tensors it may go on using.
func (m *model) prepare(r *request) (*job, error) {
	columns, err := m.columns(r.inputs)
	if err != nil {
		return nil, err
	}
	i, err := m.interpolation(r.params, columns)
	if err != nil {
		return nil, err
	}
	wants, err := askAlone(r, i != nil && !i.plain)
	if err != nil {
		return nil, err
	}
	j := &job{alone: wants, model: m, lane: lane{model: m, columns: columns}, merge: m.merge, done: make(chan struct{}),
		regressor: m.regressor, config: &m.cfg, likelihood: m.likelihood, offered: m.offered}
	if i != nil {
		j.regressor, j.config, j.likelihood, j.offered = i.regressor, &i.config, i.likelihood, predict.Outputs(i.likelihood)
	}
	for _, w := range r.outputs {
		if _, ok := j.output(w.name); !ok {
			return nil, invalid("output %.40q: the model has %s", w.name, strings.Join(predict.Names(j.offered), ", "))
		}
	}
	for _, t := range r.inputs {
		if !slices.ContainsFunc(m.inputs, func(i tensorInfo) bool { return i.Name == t.Name }) {
			return nil, invalid("input %.40q: the model has %s", t.Name, names(m.inputs))
		}
	}
	file := taskfile.Of("inputs", r.inputs)
	if m.completer != nil {
		im, err := file.Images(m.cfg.DimY)
		if err != nil {
			return nil, err
		}
		j.images = &im.Batch
		j.tasks, j.lane.h, j.lane.w = j.images.B, j.images.H, j.images.W
		j.values = len(j.images.Pixels)
	} else {
		c, err := file.Curves(j.config)
		if err != nil {
			return nil, err
		}
		standardise, err := r.params.flag("standardise", true)
		if err != nil {
			return nil, err
		}
		if !standardise && m.cfg.HasUnits() {
			return nil, invalid("standardise = false: the model was trained on data in units of their own, which its " +
				"file holds, and needs them")
		}
		j.curves, j.given = &c.Batch, &c.Batch
		j.targets = j.curves.Nt
		if standardise {
			if j.curves, j.undo, err = cnp.Standardise(j.config, j.curves); err != nil {
				return nil, err
			}
		} else if err := cnp.CheckDensity(j.config, j.curves, false); err != nil {
			return nil, err
		}
		j.tasks = j.curves.B
		j.values = j.curves.B * j.curves.Nt * m.cfg.DimY
		if err := m.checkCurves(j.regressor, j.curves); err != nil {
			return nil, err
		}
	}
	if j.tasks > maxBatchTasks {
		return nil, tooLarge("%d tasks in a request, at most %d are allowed", j.tasks, maxBatchTasks)
	}
	j.merge = j.merge && j.alone == nil
	return j, nil
}

// perTask is how many values a task has.
func (j *job) perTask() int64 { return int64(j.values / max(1, j.tasks)) }

// shapeOf is the shape of mean and std for a job.
func (j *job) shapeOf() []int {
	if j.images != nil {
		return []int{j.images.B, j.images.C, j.images.H, j.images.W}
	}
	return []int{j.curves.B, j.targets, j.model.cfg.DimY}
}
