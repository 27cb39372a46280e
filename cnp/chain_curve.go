package cnp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/chain"
)

// CurvePredictor is a model of curves as the chain rule needs it. A process that knows its own predictions can take the
// place of a model. All values of a prediction need a standard deviation above 0.
type CurvePredictor[T Float] interface {
	// Predict returns mean and standard deviation [B, Nt, dy] at the targets of a batch, as a Regressor does.
	Predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error)
}

// SampleCurves draws samples [S, B, Nt, dy] of the targets of each task by the chain rule. Masked targets get zeros. A
// sample depends on the task, the seed and the sample's number, bit for bit, and neither on the other tasks of a batch
// nor on the number of threads. Targets out of the model's reach are NaN, and named by an OutsideError that comes with
// the samples.
func SampleCurves[T Float](ctx context.Context, m CurvePredictor[T], b *Batch[T], opt SampleOptions) ([]T, error) {
	return instance[func(context.Context, CurvePredictor[T], *Batch[T], SampleOptions) ([]T, error)](&sampleCurvesInstances)(ctx, m, b, opt)
}

var sampleCurvesInstances = instances{sampleCurves[float32], sampleCurves[float64]}

func sampleCurves[T Float](ctx context.Context, m CurvePredictor[T], b *Batch[T], opt SampleOptions) ([]T, error) {
	if s, ok := m.(interface {
		SampleCurves(ctx context.Context, b *Batch[T], opt SampleOptions) ([]T, error)
	}); ok { // it knows a way of its own
		return s.SampleCurves(ctx, b, opt)
	}
	if e, ok := m.(*CurveEnsemble[T]); ok {
		return sampleByMember(len(e.members), opt,
			func(k int, own SampleOptions) ([]T, error) { return sampleCurves(ctx, e.members[k], b, own) })
	}
	c, err := newCurveChain(m, b, opt.Chain)
	if err != nil {
		return nil, err
	}
	values, ok := product(b.B, b.Nt, c.dy)
	if !ok {
		return nil, fmt.Errorf("%w: %d tasks of %d targets have more values than can be counted", ErrShape, b.B, b.Nt)
	}
	if err := checkSamples(&opt, b.B, values); err != nil {
		return nil, err
	}
	out := make([]T, opt.Samples*values)
	if b.B*b.Nt == 0 {
		return out, ctx.Err()
	}
	report := progress(ctx)
	at := func(sample, task, target int) []T { return out[((sample*b.B+task)*b.Nt+target)*c.dy:][:c.dy] }
	if err := c.walk.Sample(ctx, opt, at, func(done, total int) error {
		report(done, total)
		return ctx.Err()
	}); err != nil {
		return nil, err
	}
	return out, c.outside.err()
}

// JointCurves predicts each target given the context and the true values y [B, Nt, dy] of the targets before it, and
// says how likely they are. NaN is a missing value: it does not count, and what comes after its target is not told of
// that target at all, or, by a model with Config.ChannelDensity, of its other values. Targets out of the model's reach
// are NaN, do not count, and are named by an OutsideError that comes with the rest.
func JointCurves[T Float](ctx context.Context, m CurvePredictor[T], b *Batch[T], y []T, order Chain) (*Joint[T], error) {
	return instance[func(context.Context, CurvePredictor[T], *Batch[T], []T, Chain) (*Joint[T], error)](&jointCurvesInstances)(
		ctx, m, b, y, order)
}

var jointCurvesInstances = instances{jointCurves[float32], jointCurves[float64]}

func jointCurves[T Float](ctx context.Context, m CurvePredictor[T], b *Batch[T], y []T, order Chain) (*Joint[T], error) {
	if s, ok := m.(interface {
		JointCurves(ctx context.Context, b *Batch[T], y []T, chain Chain) (*Joint[T], error)
	}); ok { // it knows a way of its own
		return s.JointCurves(ctx, b, y, order)
	}
	c, err := newCurveChain(m, b, order)
	if err != nil {
		return nil, err
	}
	if b.B*b.Nt > 0 && c.free { // nothing but y says how many outputs there are
		c.dy = len(y) / (b.B * b.Nt)
	}
	if want, ok := product(b.B, b.Nt, c.dy); !ok || len(y) != want {
		return nil, fmt.Errorf("%w: y has %d values, %d tasks of %d targets with %d outputs need %d", ErrShape, len(y), b.B, b.Nt,
			c.dy, want)
	}
	for i, v := range y {
		if math.IsInf(float64(v), 0) && b.targetOK(i/c.dy/b.Nt, i/c.dy%b.Nt) {
			return nil, fmt.Errorf("%w: y[%d, %d, %d] = %v", ErrValue, i/c.dy/b.Nt, i/c.dy%b.Nt, i%c.dy, v)
		}
	}
	j := newJoint[T](len(y), b.B*b.Nt)
	if len(y) == 0 {
		return j, ctx.Err()
	}
	c.walk.Dy = c.dy
	if err := c.walk.Joint(ctx, &curveTruth[T]{c, j, y}, progress(ctx)); err != nil {
		return nil, err
	}
	return j, c.outside.err()
}

// curveChain predicts the targets of a batch for a walk through them.
type curveChain[T Float] struct {
	m       CurvePredictor[T]
	b       *Batch[T]
	dx, dy  int
	da      int  // auxiliary inputs
	ds      int  // static fields
	gaps    bool // outputs of the context may be missing
	free    bool // dy is not known
	outside outsidePoints
	walk    chain.Walk[T, drawn[T]]
}

// drawn is a prediction as the chain rule draws from it.
type drawn[T Float] struct{ *Prediction[T] }

func (p drawn[T]) Usable(i int, where func() string) error { return p.usable(i, where) }

func (p drawn[T]) Draw(to []T, i int, rng *rand.Rand) { p.drawTarget(to, i, rng) }

func (p drawn[T]) Means(to []T, i int) { copy(to, p.Mean[i:]) }

// curveTruth is the true values y of a batch's targets, and takes their predictions.
type curveTruth[T Float] struct {
	*curveChain[T]
	j *Joint[T]
	y []T
}

func (c *curveTruth[T]) Values(task, target int) []T {
	at := task*c.b.Nt + target
	return c.y[at*c.dy : (at+1)*c.dy]
}

func (c *curveTruth[T]) Take(task, target int, p drawn[T], i int, where func() string) error {
	j, at, y, out := c.j, task*c.b.Nt+target, c.Values(task, target), c.Outside(task, target)
	j.values[at], j.LogDensity[at] = 0, 0
	for d := range y {
		j.take(at*c.dy+d, p.Prediction, i+d)
		if out || math.IsNaN(float64(y[d])) {
			continue
		}
		if err := p.usable(i+d, where); err != nil {
			return err
		}
	}
	if !out {
		j.LogDensity[at], j.values[at] = p.logDensityOfTarget(i, y)
	}
	return nil
}

// newCurveChain checks a batch and brings its tasks' targets into their order.
func newCurveChain[T Float](m CurvePredictor[T], b *Batch[T], opt Chain) (*curveChain[T], error) {
	if m == nil {
		return nil, errNoModel
	}
	if b == nil {
		return nil, fmt.Errorf("%w: the batch is nil", ErrShape)
	}
	c := &curveChain[T]{m: m, b: b, dx: 1, dy: 1}
	alone := false
	if model, ok := m.(interface{ Config() Config }); ok {
		cfg := model.Config()
		if cfg.Unobserved() != nil {
			return nil, fmt.Errorf("%w: inputs = %q: the chain rule gives a model its own predictions as observations, "+
				"and these are not all outputs = %q", ErrConfig, cfg.Inputs, cfg.Outputs)
		}
		c.dx, c.dy, c.da, c.ds, c.gaps, alone = cfg.DimX, cfg.DimY, len(cfg.Auxiliary), len(cfg.Static), cfg.ChannelDensity,
			cfg.sharesLattice()
	} else {
		switch points := b.B * b.Nc; {
		case points > 0:
			c.dx, c.dy = len(b.XContext)/points, len(b.YContext)/points
		case b.B*b.Nt > 0:
			c.dx, c.free = len(b.XTarget)/(b.B*b.Nt), true
		}
		c.da, c.ds = len(b.AuxTarget)/max(1, b.B*b.Nt), len(b.YStatic)/max(1, b.B*b.Ns)
	}
	if err := b.check(widths{c.dx, c.dy, c.da, c.ds, c.gaps}); err != nil {
		return nil, err
	}
	if err := opt.Check(b.B); err != nil {
		return nil, err
	}
	c.walk = chain.Walk[T, drawn[T]]{Predictor: c, Chain: opt, Width: c.width(), Dx: c.dx, Dy: c.dy,
		Points: b.Nc + b.Nt + b.Ns, Beside: b.Ns, Gaps: c.gaps, Alone: alone}
	if b.Nt == 0 { // however many tasks there are
		return c, nil
	}
	for k := range b.B {
		t := &chain.Task[T]{Number: k, Seed: opt.SeedOf(k)}
		_, t.Y = b.context(k, c.dx, c.dy)
		for i := range b.Nc {
			if b.contextOK(k, i) {
				t.Context, t.X = append(t.Context, i), c.place(t.X, b.XContext, b.AuxContext, k*b.Nc+i)
			}
		}
		for i := range b.Nt {
			if b.targetOK(k, i) {
				t.Targets, t.Place = append(t.Targets, i), c.place(t.Place, b.XTarget, b.AuxTarget, k*b.Nt+i)
			}
		}
		c.walk.Add(t)
	}
	return c, nil
}

// width is how many numbers a place of the chain has: what comes along when a target becomes context.
func (c *curveChain[T]) width() int { return c.dx + c.da }

// place appends point at of a batch, its coordinates and auxiliary inputs.
func (c *curveChain[T]) place(dst, x []float64, aux []T, at int) []float64 {
	dst = append(dst, x[at*c.dx:(at+1)*c.dx]...)
	for _, v := range aux[at*c.da : (at+1)*c.da] {
		dst = append(dst, float64(v))
	}
	return dst
}

// unplace sets point at of a batch to a place.
func (c *curveChain[T]) unplace(x []float64, aux []T, at int, place []float64) {
	copy(x[at*c.dx:], place[:c.dx])
	for k, v := range place[c.dx:] {
		aux[at*c.da+k] = T(v)
	}
}

// sharesLattice reports whether the model lays one lattice over all tasks of a batch.
func (c *Config) sharesLattice() bool {
	return !c.Architecture.Image() && c.Architecture != CNPCurve && c.PointsPerUnit > 0 && !c.numbered() && !c.OnSphere()
}

// Predict makes a batch of all rows.
func (c *curveChain[T]) Predict(ctx context.Context, rows []chain.Row[T], twins int) (d drawn[T], width int, err error) {
	wide, dy := c.width(), c.dy
	b := &Batch[T]{B: len(rows)}
	if c.ds > 0 { // the fields are those of the task
		b.Ns = c.b.Ns
		b.XStatic, b.YStatic = make([]float64, 0, b.B*b.Ns*c.dx), make([]T, 0, b.B*b.Ns*c.ds)
		for i := range rows {
			k := rows[i].Task.Number * b.Ns
			b.XStatic, b.YStatic = append(b.XStatic, c.b.XStatic[k*c.dx:(k+b.Ns)*c.dx]...),
				append(b.YStatic, c.b.YStatic[k*c.ds:(k+b.Ns)*c.ds]...)
		}
	}
	even := true
	for i := range rows {
		n, m := len(rows[i].X)/wide, len(rows[i].Targets)
		even = even && (i == 0 || n == b.Nc && m == b.Nt)
		b.Nc, b.Nt = max(b.Nc, n), max(b.Nt, m)
	}
	if even {
		b.twins = twins
	}
	b.XContext, b.YContext, b.XTarget = make([]float64, b.B*b.Nc*c.dx), make([]T, b.B*b.Nc*dy), make([]float64, b.B*b.Nt*c.dx)
	b.AuxContext, b.AuxTarget = make([]T, b.B*b.Nc*c.da), make([]T, b.B*b.Nt*c.da)
	if !even {
		b.ContextMask, b.TargetMask = make([]bool, b.B*b.Nc), make([]bool, b.B*b.Nt)
	}
	for i := range rows {
		r := &rows[i]
		for k := range len(r.X) / wide {
			c.unplace(b.XContext, b.AuxContext, i*b.Nc+k, r.X[k*wide:(k+1)*wide])
		}
		copy(b.YContext[i*b.Nc*dy:], r.Y)
		for k, target := range r.Targets {
			c.unplace(b.XTarget, b.AuxTarget, i*b.Nt+k, r.Task.Place[int(target)*wide:(int(target)+1)*wide])
		}
		if !even {
			for k := range len(r.X) / wide {
				b.ContextMask[i*b.Nc+k] = true
			}
			for k := range r.Targets {
				b.TargetMask[i*b.Nt+k] = true
			}
		}
	}
	p, err := c.m.Predict(quiet(ctx), b)
	var out *OutsideError
	if errors.As(err, &out) && p != nil {
		c.note(rows, out)
		err = nil
	}
	if err == nil && len(p.Mean) != b.B*b.Nt*dy {
		err = fmt.Errorf("%w: the predictor gives %d values for %d targets of %d outputs", ErrShape, len(p.Mean), b.B*b.Nt, dy)
	}
	return drawn[T]{p}, b.Nt, err
}

// note remembers which of the batch's own points lie outside, given those of the rows.
func (c *curveChain[T]) note(rows []chain.Row[T], e *OutsideError) {
	c.outside.where = e.Where
	for _, p := range e.Points {
		r := &rows[p.Task]
		t := r.Task
		switch {
		case p.Tensor == "x_target":
			c.outside.add(OutsidePoint{p.Tensor, t.Number, t.Targets[r.Targets[p.Point]], p.X})
		default: // no target of the row has a prediction
			named := p.Tensor == "x_static"
			if named {
				c.outside.add(OutsidePoint{p.Tensor, t.Number, p.Point, p.X})
			} else if named = p.Point < len(t.Context); named {
				c.outside.add(OutsidePoint{p.Tensor, t.Number, t.Context[p.Point], p.X})
			}
			for _, target := range r.Targets {
				at := (t.Number*c.b.Nt + t.Targets[target]) * c.dx
				c.outside.hide(t.Number, t.Targets[target], slices.Clone(c.b.XTarget[at:at+c.dx]), !named)
			}
		}
	}
}

// Outside implements chain.Predictor.
func (c *curveChain[T]) Outside(task, target int) bool { return c.outside.has(task, target) }

// Forget implements chain.Predictor.
func (c *curveChain[T]) Forget() map[int]bool {
	if len(c.outside.points) == 0 {
		return nil
	}
	all := map[int]bool{}
	for t := range c.b.B {
		if c.outside.forget(t) {
			all[t] = true
		}
	}
	c.outside.points = nil
	return all
}

// outsidePoints gathers points that lie outside, each once.
type outsidePoints struct {
	where   string
	points  []OutsidePoint
	named   map[[3]int]bool // tensor, task, point
	targets map[[2]int]bool // task, target: without a prediction
}

func (o *outsidePoints) add(p OutsidePoint) {
	if o.named == nil {
		o.named, o.targets = map[[3]int]bool{}, map[[2]int]bool{}
	}
	key := [3]int{0, p.Task, p.Point}
	switch p.Tensor {
	case "x_static":
		key[0] = 2
	case "x_target":
		key[0] = 1
		o.targets[[2]int{p.Task, p.Point}] = true
	}
	if !o.named[key] {
		o.named[key] = true
		o.points = append(o.points, p)
	}
}

// hide says that a target has no prediction, and with name that it is not for a point that has a name already.
func (o *outsidePoints) hide(task, target int, x []float64, name bool) {
	if name {
		o.add(OutsidePoint{"x_target", task, target, x})
		return
	}
	o.targets[[2]int{task, target}] = true
}

// has reports whether a target has no prediction.
func (o *outsidePoints) has(task, target int) bool { return o.targets[[2]int{task, target}] }

// forget forgets what is known of a task, and reports whether that is anything.
func (o *outsidePoints) forget(task int) (any bool) {
	for key := range o.named {
		if key[1] == task {
			delete(o.named, key)
			any = true
		}
	}
	for key := range o.targets {
		if key[0] == task {
			delete(o.targets, key)
		}
	}
	return any
}

// err returns an OutsideError, or nil.
func (o *outsidePoints) err() error {
	if len(o.points) == 0 {
		return nil
	}
	return &OutsideError{Points: o.points, Where: o.where}
}
