package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// movedPlaces are where the same tasks are asked for.
var movedPlaces = task.SpherePlaces[:4]

// sphereSource is the source that a model of points on the sphere was trained on.
func (m *Model) sphereSource() (task.SphereSource[float32], bool) {
	for _, process := range task.SphereProcesses {
		for _, place := range task.SpherePlaces {
			if s := (task.SphereSource[float32]{Process: process, Place: place, Dx: m.Config.DimX}); m.Config.DimX > 1 &&
				s.String() == strings.TrimSuffix(m.Tasks, task.AsExpected) {
				return s, true
			}
		}
	}
	return task.SphereSource[float32]{}, false
}

// sphereRow is a model's log-likelihoods of the tasks at every place, task by task.
type sphereRow struct {
	name, process, trained string
	ll                     [][]float64
}

// sphere makes the table of models on the sphere.
func (p *reproduction) sphere() error {
	var models []*Model
	for i := range p.models {
		if _, ok := p.models[i].sphereSource(); ok {
			models = append(models, &p.models[i])
		}
	}
	if len(models) == 0 {
		p.note("no model was trained on the sphere: equivcnp train regression --sphere eq ...")
	}
	p.total = len(models) * len(movedPlaces) * p.Tasks
	best := map[string]*sphereRow{}
	var rows []*sphereRow
	for _, listed := range models {
		trained, _ := listed.sphereSource()
		m, err := listed.Load()
		if err != nil {
			return err
		}
		row := &sphereRow{name: listed.Title(), process: trained.Process, trained: trained.Place}
		known := best[trained.Process]
		if known == nil {
			best[trained.Process] = &sphereRow{name: "the process, independent", process: trained.Process}
		}
		density := eval.Independent(eval.Model(m))
		for _, place := range movedPlaces {
			src := task.SphereSource[float32]{Process: trained.Process, Place: place, Dx: trained.Dx}
			var ll, alone []float64
			err := eval.Tasks(p.ctx, src, p.options(p.Tasks), func(b *task.Tasks[float32], n int) error {
				found, err := density(p.ctx, b)
				if err != nil {
					return err
				}
				for _, v := range found[:n] {
					ll = append(ll, v/float64(b.Curves.Nt))
				}
				if known != nil {
					return nil
				}
				_, diagonal, err := src.Exact(b)
				if err != nil {
					return err
				}
				alone = append(alone, diagonal[:n]...)
				return nil
			})
			if err != nil {
				return fmt.Errorf("%s: %w", listed.Name, err)
			}
			row.ll = append(row.ll, ll)
			if known == nil {
				best[trained.Process].ll = append(best[trained.Process].ll, alone)
			}
		}
		rows = append(rows, row)
	}
	return p.writeSphere(rows, best)
}

func (p *reproduction) writeSphere(rows []*sphereRow, best map[string]*sphereRow) error {
	p.printf("# On the sphere\n\nLog-likelihood per target, in nats, of Gaussian processes on the sphere, %d tasks "+
		"with seed %d. They are the same tasks at every place: "+
		"the same values at points that lie in the same way to each other, within 30 degrees of a centre. The centres "+
		"are at middle latitudes, where most models were trained; "+
		"near a pole; near the date line; and anywhere, after any rotation of the globe. The change from middle "+
		"latitudes is that of the same tasks. "+
		"± is a standard error, that of batches of tasks with as many context points.\n", p.Tasks, p.Seed)
	file := [][]string{{"process", "name", "trained", "place", "tasks", "log_likelihood", "standard_error", "change",
		"change_standard_error"}}
	titles := []string{"middle latitudes", "poles", "date line", "globe turned"}
	for _, process := range task.SphereProcesses {
		if best[process] == nil {
			continue
		}
		p.printf("\n## %s, length scale %g\n\n| model | trained on |", process, task.SphereLength)
		for _, t := range titles {
			p.printf(" %s |", t)
		}
		p.printf("\n|---|---|%s\n", strings.Repeat("---:|", len(titles)))
		for _, r := range append([]*sphereRow{best[process]}, rows...) {
			if r.process != process {
				continue
			}
			p.printf("| %s | %s |", r.name, map[string]string{"": "", "mid": "middle latitudes", "poles": "poles",
				"dateline": "date line", "turned": "anywhere, stations near each other",
				"globe": "stations all over the globe"}[r.trained])
			for k, ll := range r.ll {
				change := make([]float64, len(ll))
				for t, v := range ll {
					change[t] = v - r.ll[0][t]
				}
				all, moved := batchEstimate(ll), batchEstimate(change)
				p.printf(" %s", withError(all))
				if k > 0 && r.trained != "" {
					p.printf(" (%+.4f ± %.4f)", moved.Mean, moved.Error)
				}
				p.printf(" |")
				file = append(file, []string{process, r.name, r.trained, movedPlaces[k], fmt.Sprint(len(ll)), cell(all.Mean),
					cell(all.Error), cell(moved.Mean), cell(moved.Error)})
			}
			p.printf("\n")
		}
	}
	p.printf("\nIn brackets the change from middle latitudes. Every number: [sphere.csv](sphere.csv).\n")
	return p.table("sphere.csv", file)
}

// batchEstimate is the mean of a number per task, with its standard error from how far batches lie from it; that of a single batch is
// not known, and 0.
func batchEstimate(values []float64) eval.Estimate {
	mean, squares, batches := 0.0, 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for batch := range slices.Chunk(values, eval.DefaultBatch) {
		d := 0.0
		for _, v := range batch {
			d += v - mean
		}
		squares, batches = squares+d*d, batches+1
	}
	if batches < 2 { // what squares holds is rounding
		return eval.Estimate{Mean: mean}
	}
	return eval.Estimate{Mean: mean, Error: math.Sqrt(squares*batches/(batches-1)) / float64(len(values))}
}
