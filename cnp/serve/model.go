package serve

import (
	"math"
	"math/bits"
	"strings"
	"sync"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/weights"
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
	digest              string // of configuration and parameters
	stats               *stats
	note                string // what its file says it was trained on
	unsuited            string // what its file says against bfloat16
	cfg                 cnp.Config
	completer           cnp.Completer[float32]
	regressor           cnp.Regressor[float32]
	planned             cnp.Model[float32] // the completer, if it has plans by size
	curve               cnp.Plan[float32]  // of the regressor, if it has a plan for all tasks
	// merge: tasks of several requests may go together, since none has an influence on another.
	merge           bool
	likelihood      cnp.Likelihood   // of its predictions
	offered         []predict.Output // what they can be asked for
	bytes           int64            // of its parameters
	limit           int64            // of the memory that tasks may need
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

// maxBatchTasks bounds the tasks or images of a request.
const maxBatchTasks = 1 << 16

// names lists tensors for an error.
func names(list []tensorInfo) string {
	var out []string
	for _, t := range list {
		out = append(out, t.Name)
	}
	return strings.Join(out, ", ")
}

// checkCurves refuses tasks that need more memory than a machine gives. An estimate looks at thousands of pairs, so one is made for
// sizes rounded up to powers of two and kept. That of an interpolation, which r is instead of the model if there are columns of a drift,
// is a formula.
func (m *model) checkCurves(r cnp.Regressor[float32], b *cnp.Batch[float32]) error {
	type size struct{ tasks, context, targets, span int }
	w := b.Work(m.cfg.DimX)
	if r, ok := r.(*krige.Regressor); ok {
		return r.EstimateNeed(w).Check(m.limit)
	}
	up := func(n int) int { return bits.Len(uint(max(n, 1) - 1)) }
	if !(w.Span < 1e9) {
		w.Span = 0 // of no points, or so wide that the model refuses it
	}
	at := size{up(w.Batch), up(w.Context), up(w.Targets), up(int(math.Ceil(w.Span)))}
	need, known := m.estimates.Load(at)
	if !known {
		rounded := cnp.Work{Batch: 1 << at.tasks, Context: 1 << at.context, Targets: 1 << at.targets, Span: float64(int(1) << at.span)}
		n, err := cnp.EstimateModel(r, rounded)
		if err != nil {
			return err
		}
		need, _ = m.estimates.LoadOrStore(at, n)
	}
	if n := need.(cnp.Need); n.Check(m.limit) == nil {
		return nil
	}
	n, err := cnp.EstimateModel(r, w)
	if err != nil {
		return err
	}
	return n.Check(m.limit)
}

// lane says which jobs may go together: those of one model and, for images, one size; for interpolation, as many columns of a drift.
type lane struct {
	model   *model
	h, w    int
	columns int
}
