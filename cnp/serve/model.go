package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/group"
)

// Source says where a model is from.
type Source struct {
	Name string // in the protocol
	Path string // a model file, or the name of a shipped model
	// Options of reading the file. Where it does not say its group, the words of Name and Path are looked at.
	Options weights.Options
}

// model is one that is being served. It does not change; another file makes another model.
type model struct {
	name, version, path string
	note                string // what its file says it was trained on
	unsuited            string // what its file says against bfloat16
	cfg                 cnp.Config
	completer           cnp.Completer[float32]
	regressor           cnp.Regressor[float32]
	planned             []*cnp.ImageEquivCNP[float32] // the completer, or an ensemble's members, if they have plans by size
	curve               *cnp.CurvePlan[float32]       // of the regressor, if it has a plan for all tasks
	// merge: tasks of several requests may go together, since none has an influence on another.
	merge           bool
	rank            int   // of the covariance of its predictions; 0: values are independent
	bytes           int64 // of its parameters
	limit           int64 // of the memory that tasks may need
	inputs, outputs []tensorInfo
	estimates       sync.Map // points → cnp.Need, rounded up
	retired         bool     // it is no longer served; guarded by the plans' mutex
}

// tensorInfo is a tensor in a model's metadata.
type tensorInfo struct {
	Name     string  `json:"name"`
	Datatype string  `json:"datatype"`
	Shape    []int64 `json:"shape"`
}

// keyVersion is the key of a model file's metadata that names its version; without it is "1".
const keyVersion = "version"

// readModel reads a model, or those of an ensemble, and the metadata of the first.
func readModel(src Source) (cnp.Model[float32], map[string]string, error) {
	members, err := weights.Members(src.Path)
	if err != nil {
		return nil, nil, err
	}
	var all []cnp.Model[float32]
	var metadata map[string]string
	for _, path := range members {
		one := src
		one.Path = path
		m, own, err := readFile(one)
		if err != nil {
			return nil, nil, err
		}
		if all = append(all, m); len(all) == 1 {
			metadata = own
		}
	}
	m, err := cnp.Ensemble(all...)
	if err != nil {
		err = fmt.Errorf("%s: %w", src.Path, err)
	}
	return m, metadata, err
}

// readFile reads the model of a file, or a shipped one, and its metadata.
func readFile(src Source) (cnp.Model[float32], map[string]string, error) {
	s, err := weights.ReadState(src.Path)
	if errors.Is(err, fs.ErrNotExist) {
		if shipped, missing := pretrained.State(src.Path); missing == nil {
			s, err = shipped, nil
		} else {
			err = fmt.Errorf("%w; shipped models: %s", err, strings.Join(pretrained.Names(), ", "))
		}
	}
	if err != nil {
		return nil, nil, err
	}
	built, err := weights.Build[float32](s, src.Options)
	if errors.Is(err, weights.ErrGroup) && src.Options.Group == "" {
		for _, name := range []string{src.Name, src.Path} {
			if opt := src.Options; errors.Is(err, weights.ErrGroup) {
				opt.Group = groupInName(name)
				built, err = weights.Build[float32](s, opt)
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", src.Path, err)
	}
	return built, s.Metadata, err
}

// loadModel reads a model.
func loadModel(ctx context.Context, src Source) (*model, error) {
	built, metadata, err := readModel(src)
	if err != nil {
		return nil, err
	}
	m := &model{name: src.Name, path: src.Path, version: "1", limit: cnp.MemoryLimit(), cfg: built.Config(), note: metadata[pretrained.KeyTasks], unsuited: metadata[pretrained.KeyBFloat16]}
	if v := metadata[keyVersion]; v != "" {
		m.version = v
	}
	m.rank = rankOf(&m.cfg)
	for _, p := range built.State() {
		m.bytes += 3 * 4 * int64(len(p.Data)) // as they are, folded, and packed
	}
	m.completer, _ = built.(cnp.Completer[float32])
	m.regressor, _ = built.(cnp.Regressor[float32])
	m.planned = plannedOf(built)
	switch {
	case m.completer != nil:
		m.merge = true
		channels := int64(m.cfg.DimY)
		m.inputs = []tensorInfo{{"image", "FP32", []int64{-1, channels, -1, -1}}, {"mask", "BOOL", []int64{-1, 1, -1, -1}}}
	case m.regressor != nil:
		m.merge = m.cfg.PointsPerUnit == 0 || m.cfg.Placement == cnp.PlacementContext
		dx, dy := int64(m.cfg.DimX), int64(m.cfg.DimY)
		m.inputs = []tensorInfo{{"x_context", "FP64", []int64{-1, -1, dx}}, {"y_context", "FP32", []int64{-1, -1, dy}},
			{"x_target", "FP64", []int64{-1, -1, dx}}, {"context_mask", "BOOL", []int64{-1, -1}}, {"target_mask", "BOOL", []int64{-1, -1}}}
		if da := int64(len(m.cfg.Auxiliary)); da > 0 {
			m.inputs = append(m.inputs, tensorInfo{"aux_context", "FP32", []int64{-1, -1, da}}, tensorInfo{"aux_target", "FP32", []int64{-1, -1, da}})
		}
		if ds := int64(len(m.cfg.Static)); ds > 0 {
			m.inputs = append(m.inputs, tensorInfo{"x_static", "FP64", []int64{-1, -1, dx}}, tensorInfo{"y_static", "FP32", []int64{-1, -1, ds}})
		}
		if e, ok := m.regressor.(*cnp.EquivCNP[float32]); ok && m.merge && m.cfg.PointsPerUnit > 0 {
			// Other groups than T(1) have none; their model predicts.
			if m.curve, err = e.Plan(ctx, 0, 0); err != nil && !errors.Is(err, cnp.ErrConfig) {
				return nil, fmt.Errorf("%s: %w", src.Path, err)
			}
		}
	default:
		return nil, fmt.Errorf("%s: a %s model predicts nothing", src.Path, m.cfg.Architecture)
	}
	for _, o := range outputs {
		if o.of(m) {
			m.outputs = append(m.outputs, tensorInfo{o.name, "FP32", o.shape(m)})
		}
	}
	return m, nil
}

// plannedOf returns the parts of a model that have plans by size: itself, or all members of an ensemble.
func plannedOf(m cnp.Model[float32]) []*cnp.ImageEquivCNP[float32] {
	switch m := m.(type) {
	case *cnp.ImageEquivCNP[float32]:
		return []*cnp.ImageEquivCNP[float32]{m}
	case *cnp.ImageEnsemble[float32]:
		var all []*cnp.ImageEquivCNP[float32]
		for _, member := range m.Members() {
			one, ok := member.(*cnp.ImageEquivCNP[float32])
			if !ok {
				return nil
			}
			all = append(all, one)
		}
		return all
	}
	return nil
}

// groupInName returns the first word of a name that names a group, or nothing.
func groupInName(name string) string {
	for _, w := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if g, err := group.Parse(w, 0); err == nil {
			return g.Name()
		}
	}
	return ""
}

// maxBatchTasks bounds the tasks or images of a request.
const maxBatchTasks = 1 << 16

// prepare makes a job of a request, whose tensors it may go on using.
func (m *model) prepare(r *request) (*job, error) {
	wants, err := askAlone(r, m)
	if err != nil {
		return nil, err
	}
	j := &job{alone: wants, model: m, lane: lane{model: m}, merge: m.merge, done: make(chan struct{})}
	for _, w := range r.outputs {
		if !slices.ContainsFunc(m.outputs, func(o tensorInfo) bool { return o.Name == w.name }) {
			return nil, invalid("output %.40q: the model has %s", w.name, names(m.outputs))
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
		c, err := file.Curves(&m.cfg)
		if err != nil {
			return nil, err
		}
		standardise, err := r.params.flag("standardise", true)
		if err != nil {
			return nil, err
		}
		if !standardise && m.cfg.HasUnits() {
			return nil, invalid("standardise = false: the model was trained on data in units of their own, which its file holds, and needs them")
		}
		j.curves, j.given = &c.Batch, &c.Batch
		j.targets = j.curves.Nt
		if standardise {
			if j.curves, j.undo, err = cnp.Standardise(&m.cfg, j.curves); err != nil {
				return nil, err
			}
		}
		j.tasks = j.curves.B
		j.values = j.curves.B * j.curves.Nt * m.cfg.DimY
		if err := m.checkCurves(j.curves); err != nil {
			return nil, err
		}
	}
	if j.tasks > maxBatchTasks {
		return nil, tooLarge("%d tasks in a request, at most %d are allowed", j.tasks, maxBatchTasks)
	}
	j.merge = j.merge && j.alone == nil
	return j, nil
}

// names lists tensors for an error.
func names(list []tensorInfo) string {
	var out []string
	for _, t := range list {
		out = append(out, t.Name)
	}
	return strings.Join(out, ", ")
}

// checkCurves refuses tasks that need more memory than a machine gives. An estimate looks at thousands of pairs, so one is made for
// sizes rounded up to powers of two and kept.
func (m *model) checkCurves(b *cnp.Batch[float32]) error {
	type size struct{ tasks, context, targets, span int }
	w := b.Work(m.cfg.DimX)
	up := func(n int) int { return bits.Len(uint(max(n, 1) - 1)) }
	if !(w.Span < 1e9) {
		w.Span = 0 // of no points, or so wide that the model refuses it
	}
	at := size{up(w.Batch), up(w.Context), up(w.Targets), up(int(math.Ceil(w.Span)))}
	need, known := m.estimates.Load(at)
	if !known {
		rounded := cnp.Work{Batch: 1 << at.tasks, Context: 1 << at.context, Targets: 1 << at.targets, Span: float64(int(1) << at.span)}
		n, err := cnp.EstimateModel(m.regressor, rounded)
		if err != nil {
			return err
		}
		need, _ = m.estimates.LoadOrStore(at, n)
	}
	if n := need.(cnp.Need); n.Check(m.limit) == nil {
		return nil
	}
	n, err := cnp.EstimateModel(m.regressor, w)
	if err != nil {
		return err
	}
	return n.Check(m.limit)
}

// perTask is how many values a task has.
func (j *job) perTask() int64 { return int64(j.values / max(1, j.tasks)) }

// shapeOf is the shape of mean and std for a job.
func (j *job) shapeOf() []int64 {
	if j.images != nil {
		im := j.images
		return []int64{int64(im.B), int64(im.C), int64(im.H), int64(im.W)}
	}
	return []int64{int64(j.curves.B), int64(j.targets), int64(j.model.cfg.DimY)}
}
