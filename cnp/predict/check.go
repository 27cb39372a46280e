package predict

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/words"
)

// Bounds of a check: it takes a few predictions, whatever the tasks.
const (
	checkTasks  = 8    // tasks that are looked at
	checkFolds  = 5    // parts that a context is divided into
	checkHeld   = 200  // values of a task that are held out
	checkWhole  = 4096 // contexts of more points are predicted once, without the held-out points
	checkLeast  = 5    // points of the smallest context that is divided
	checkIDW    = 2048 // points that inverse distances are taken to
	checkValues = 10   // held-out values without which nothing is said
)

// leaveNats is how many nats in all a model may be behind a constant, and heldShare the share of values that its 95 %
// intervals have to hold.
const (
	leaveNats = 2.0
	heldShare = 0.8
)

// Score says how well values that were held out were predicted.
type Score struct {
	LogDensity   float64 `json:"log_density"`   // mean over values
	SquaredError float64 `json:"squared_error"` // mean over values
	Coverage     float64 `json:"coverage"`      // share of values within the central 95 % interval
}

// MarshalJSON writes numbers that are not finite, as the log density of a value that the model rules out, as null.
func (s Score) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		LogDensity   words.Number `json:"log_density"`
		SquaredError words.Number `json:"squared_error"`
		Coverage     words.Number `json:"coverage"`
	}{words.Number(s.LogDensity), words.Number(s.SquaredError), words.Number(s.Coverage)})
}

// Checked holds what Check found.
type Checked struct {
	// Values is the number of values that were held out, of Tasks tasks.
	Values int `json:"values"`
	Tasks  int `json:"tasks"`
	// Model is the model's score; Constant that of a normal distribution with mean and deviation of the other values,
	// and InverseDistance that of their mean by inverse squared distance, with the deviation that its errors turn out
	// to have.
	Model           Score `json:"model"`
	Constant        Score `json:"constant"`
	InverseDistance Score `json:"inverse_distance"`
	// Warning says why the predictions are not to be trusted, and what to do; empty without a reason.
	Warning string `json:"warning,omitempty"`
}

// Check predicts parts of the contexts of batches from the other parts, and scores the predictions beside those of a
// constant and of inverse distance weighting. It looks at no more than 8 tasks, with 5 predictions of at most 200
// values each, chosen by fixed seeds. Contexts of fewer than 5 points say nothing and are left out, and so are values of
// which all others are equal, whose scale is not known. With a model that cnp.Standardised returns, scores are in the units of the data.
func Check(ctx context.Context, m cnp.Regressor[float32], batches ...*cnp.Batch[float32]) (*Checked, error) {
	if m == nil {
		return nil, errNoModel
	}
	c := checker{m: m, cfg: m.Config(), out: &Checked{}}
	all := 0
	for i, b := range batches {
		if err := b.Check(&c.cfg); err != nil {
			if len(batches) > 1 {
				err = fmt.Errorf("batch %d: %w", i, err)
			}
			return nil, err
		}
		all += b.B
	}
	step, next, first := max(1, (all+checkTasks-1)/checkTasks), 0, 0
	for _, c.b = range batches {
		for ; next < first+c.b.B; next += step {
			if err := c.task(ctx, next-first); err != nil {
				return nil, err
			}
		}
		first += c.b.B
	}
	c.out.Model, c.out.Constant = c.model.mean(), c.constant.mean()
	c.out.Values, c.out.InverseDistance = c.model.n, c.distance()
	c.out.warn()
	return c.out, nil
}

// warn sets Warning.
func (c *Checked) warn() {
	n := float64(c.Values)
	behind := !(n*(c.Constant.LogDensity-c.Model.LogDensity) <= leaveNats) // NaN is behind
	// Few values are held by chance or not: two standard deviations of their share are forgiven.
	short := c.Model.Coverage+2*math.Sqrt(heldShare*(1-heldShare)/n) < heldShare
	if c.Values < checkValues || !behind && !short {
		return
	}
	what := fmt.Sprintf("95 %% intervals hold %.0f %% of them", 100*c.Model.Coverage)
	if behind {
		what += fmt.Sprintf(", and the log density is %.3g a value, that of a constant %.3g", c.Model.LogDensity, c.Constant.LogDensity)
	}
	c.Warning = fmt.Sprintf("do not trust these predictions: the model was asked for %d values of the context that it "+
		"was not shown, and its %s. "+
		"Take a model that was trained on data like these (with as much noise), or calibrate this one on them", c.Values, what)
}

// tally adds scores up.
type tally struct {
	n                 int
	log, square, held float64
}

func (t *tally) add(log, square float64, held bool) {
	t.n++
	t.log, t.square = t.log+log, t.square+square
	if held {
		t.held++
	}
}

func (t *tally) mean() Score {
	if t.n == 0 {
		return Score{}
	}
	n := float64(t.n)
	return Score{t.log / n, t.square / n, t.held / n}
}

type checker struct {
	m               cnp.Regressor[float32]
	cfg             cnp.Config
	b               *cnp.Batch[float32]
	out             *Checked
	model, constant tally
	errors          []float64    // of inverse distances
	outliers        map[int]bool // places in YContext that the model leaves out
}

// outlierFinder is a model that leaves out outliers. What it predicts is of values that are none.
type outlierFinder interface {
	Outliers(ctx context.Context, b *cnp.Batch[float32], task int) (places []int, err error)
}

// unwrapped is a model without what cnp.Standardised adds.
func unwrapped(m cnp.Model[float32]) cnp.Model[float32] {
	if w, ok := m.(interface{ Unwrap() cnp.Regressor[float32] }); ok {
		return w.Unwrap()
	}
	return m
}

// findOutliers sets those of task t.
func (c *checker) findOutliers(ctx context.Context, t int) error {
	finder, ok := unwrapped(c.m).(outlierFinder)
	if !ok {
		return nil
	}
	places, err := finder.Outliers(ctx, c.b, t)
	c.outliers = map[int]bool{}
	for _, p := range places {
		c.outliers[p] = true
	}
	return err
}

// task checks task t.
func (c *checker) task(ctx context.Context, t int) error {
	var points, candidates []int
	for i := t * c.b.Nc; i < (t+1)*c.b.Nc; i++ {
		if c.b.ContextMask == nil || c.b.ContextMask[i] {
			points = append(points, i)
			if c.whole(i) {
				candidates = append(candidates, i)
			}
		}
	}
	if len(points) < checkLeast || len(candidates) == 0 {
		return nil
	}
	if err := c.findOutliers(ctx, t); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(uint64(len(points)), 0x636865636b)) // "check"
	rng.Shuffle(len(candidates), func(i, k int) { candidates[i], candidates[k] = candidates[k], candidates[i] })
	candidates = candidates[:min(len(candidates), max(checkFolds, checkHeld/c.cfg.DimY))]
	folds := min(checkFolds, len(candidates))
	if len(points) > checkWhole {
		folds = 1
	}
	var parts [][]int // held out
	for f := range folds {
		parts = append(parts, candidates[f*len(candidates)/folds:(f+1)*len(candidates)/folds])
	}
	c.out.Tasks++
	if c.cfg.PointsPerUnit > 0 && c.cfg.Placement != cnp.PlacementContext { // one lattice for a batch: each alone
		for _, part := range parts {
			if err := c.folds(ctx, t, points, [][]int{part}); err != nil {
				return err
			}
		}
		return nil
	}
	return c.folds(ctx, t, points, parts)
}

// whole reports whether a context point can be a target: it has a value, and no auxiliary input is missing.
func (c *checker) whole(i int) bool {
	dy, da := c.cfg.DimY, len(c.cfg.Auxiliary)
	for _, v := range c.b.AuxContext[i*da : (i+1)*da] {
		if v != v {
			return false
		}
	}
	return slices.ContainsFunc(c.b.YContext[i*dy:(i+1)*dy], func(v float32) bool { return v == v })
}

// folds predicts the parts of a task's points, each from the others.
func (c *checker) folds(ctx context.Context, t int, points []int, parts [][]int) error {
	dx, dy, da, ds := c.cfg.DimX, c.cfg.DimY, len(c.cfg.Auxiliary), len(c.cfg.Static)
	b := &cnp.Batch[float32]{B: len(parts), Ns: c.b.Ns}
	for _, part := range parts {
		b.Nt, b.Nc = max(b.Nt, len(part)), max(b.Nc, len(points)-len(part))
	}
	b.XContext, b.YContext, b.AuxContext = make([]float64, b.B*b.Nc*dx), make([]float32, b.B*b.Nc*dy), make([]float32, b.B*b.Nc*da)
	b.XTarget, b.AuxTarget = make([]float64, b.B*b.Nt*dx), make([]float32, b.B*b.Nt*da)
	b.ContextMask, b.TargetMask = make([]bool, b.B*b.Nc), make([]bool, b.B*b.Nt)
	rest := make([][]int, len(parts))
	for f, part := range parts {
		b.XStatic, b.YStatic = append(b.XStatic, c.b.XStatic[t*b.Ns*dx:(t+1)*b.Ns*dx]...),
			append(b.YStatic, c.b.YStatic[t*b.Ns*ds:(t+1)*b.Ns*ds]...)
		held := map[int]bool{}
		for i, p := range part {
			held[p] = true
			at := f*b.Nt + i
			copy(b.XTarget[at*dx:(at+1)*dx], c.b.XContext[p*dx:])
			copy(b.AuxTarget[at*da:(at+1)*da], c.b.AuxContext[p*da:])
			b.TargetMask[at] = true
		}
		at := f * b.Nc
		for _, p := range points {
			if held[p] {
				continue
			}
			copy(b.XContext[at*dx:(at+1)*dx], c.b.XContext[p*dx:])
			copy(b.YContext[at*dy:(at+1)*dy], c.b.YContext[p*dy:])
			copy(b.AuxContext[at*da:(at+1)*da], c.b.AuxContext[p*da:])
			b.ContextMask[at] = true
			at++
			rest[f] = append(rest[f], p)
		}
	}
	p, err := c.m.Predict(ctx, b)
	var outside *cnp.OutsideError
	if err != nil && !(p != nil && errors.As(err, &outside)) {
		return err
	}
	for f, part := range parts {
		for d := range dy {
			c.score(p, b, f, d, part, rest[f])
		}
	}
	return nil
}

// score counts value d of the held-out points of a fold, that the points of rest and the prediction p say.
func (c *checker) score(p *cnp.Prediction[float32], b *cnp.Batch[float32], f, d int, held, rest []int) {
	dy := c.cfg.DimY
	mean, squares, n := 0.0, 0.0, 0.0
	for _, k := range rest {
		if v := float64(c.b.YContext[k*dy+d]); v == v {
			n++
			old := mean
			mean += (v - mean) / n
			squares += (v - old) * (v - mean)
		}
	}
	if squares == 0 {
		return
	}
	std := math.Sqrt(squares / max(1, n-1))
	for i, k := range held {
		y, at := float64(c.b.YContext[k*dy+d]), (f*b.Nt+i)*dy+d
		if m := p.Mean[at]; y != y || m != m || n < 2 || c.outliers[k*dy+d] {
			continue
		}
		e := y - float64(p.Mean[at])
		c.model.add(p.LogDensityAt(at, y), e*e, y >= p.QuantileAt(at, 0.025) && y <= p.QuantileAt(at, 0.975))
		c.constant.add(logNormal(y-mean, std), (y-mean)*(y-mean), math.Abs(y-mean) <= 1.96*std)
		c.errors = append(c.errors, y-c.inverse(k, d, rest))
	}
}

// logNormal is the log-density of an error under a normal distribution with that deviation.
func logNormal(e, std float64) float64 {
	std = max(std, 1e-300)
	z := e / std
	return -z*z/2 - math.Log(std) - math.Log(2*math.Pi)/2
}

// inverse is value d at context point k as the mean of those of other points by inverse squared distance.
func (c *checker) inverse(k, d int, rest []int) float64 {
	dx, dy := c.cfg.DimX, c.cfg.DimY
	sum, weights := 0.0, 0.0
	at := c.place(k)
	step := max(1, len(rest)/checkIDW)
	for i := 0; i < len(rest); i += step {
		y := float64(c.b.YContext[rest[i]*dy+d])
		if y != y {
			continue
		}
		dist2 := 0.0
		for j, v := range c.place(rest[i])[:max(dx, len(at))] {
			dist2 += (v - at[j]) * (v - at[j])
		}
		if dist2 == 0 {
			return y
		}
		sum, weights = sum+y/dist2, weights+1/dist2
	}
	return sum / weights
}

// place returns the coordinates of a context point, on the sphere as a vector.
func (c *checker) place(k int) []float64 {
	x := c.b.XContext[k*c.cfg.DimX : (k+1)*c.cfg.DimX]
	if c.cfg.OnSphere() && c.cfg.Degrees() {
		u := cnp.UnitVector(x[0], x[1])
		return u[:]
	}
	return x
}

// distance is the score of inverse distances, whose deviation is that of their errors.
func (c *checker) distance() Score {
	square := 0.0
	for _, e := range c.errors {
		square += e * e / float64(len(c.errors))
	}
	var t tally
	for _, e := range c.errors {
		std := math.Sqrt(square)
		t.add(logNormal(e, std), e*e, math.Abs(e) <= 1.96*std)
	}
	return t.mean()
}
