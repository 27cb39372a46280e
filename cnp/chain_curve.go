package cnp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// CurvePredictor is what the chain rule needs of a model of curves, and what it can also be given instead: a process that knows its own
// predictions, for example. All values of a prediction need a standard deviation above 0.
type CurvePredictor[T Float] interface {
	// Predict returns mean and standard deviation [B, Nt, dy] at the targets of a batch, as a Regressor does.
	Predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error)
}

// SampleCurves draws samples [S, B, Nt, dy] of the targets of each task by the chain rule. Masked targets get zeros. A
// sample depends on the task, the seed and the sample's number, bit for bit, and neither on the other tasks of a batch
// nor on the number of threads. Targets out of the model's reach are NaN, and named by an OutsideError that comes with
// the samples.
func SampleCurves[T Float](ctx context.Context, m CurvePredictor[T], b *Batch[T], opt SampleOptions) ([]T, error) {
	if s, ok := m.(interface {
		SampleCurves(ctx context.Context, b *Batch[T], opt SampleOptions) ([]T, error)
	}); ok { // it knows a way of its own
		return s.SampleCurves(ctx, b, opt)
	}
	if e, ok := m.(*CurveEnsemble[T]); ok {
		return sampleByMember(len(e.members), opt,
			func(k int, own SampleOptions) ([]T, error) { return SampleCurves(ctx, e.members[k], b, own) })
	}
	c, err := newCurveChain(m, b, opt.Chain)
	if err != nil {
		return nil, err
	}
	values, ok := product(b.B, b.Nt, c.dy)
	if !ok {
		return nil, fmt.Errorf("%w: %d tasks of %d targets have more values than can be counted", ErrShape, b.B, b.Nt)
	}
	if err := opt.check(b.B, values); err != nil {
		return nil, err
	}
	out := make([]T, opt.Samples*values)
	if b.B*b.Nt == 0 {
		return out, ctx.Err()
	}
	runs := c.runs(opt.Samples)
	steps, most := 0, 0
	if opt.Function {
		steps++
	}
	for _, t := range c.tasks {
		if opt.Knots > 0 {
			t.knots(opt)
		}
		most = max(most, len(c.blocks(t)))
	}
	steps += most
	report := progress(ctx)
	for i, run := range runs {
		if err := c.sample(quiet(ctx), out, opt, run, func(step int) error {
			report(i*steps+step, len(runs)*steps)
			return ctx.Err()
		}); err != nil {
			return nil, err
		}
	}
	report(len(runs)*steps, len(runs)*steps)
	return out, c.outside.err()
}

// JointCurves predicts each target given the context and the true values y [B, Nt, dy] of the targets before it, and
// says how likely they are. NaN is a missing value: it does not count, and what comes after its target is not told of
// that target at all, or, by a model with Config.ChannelDensity, of its other values. Targets out of the model's reach
// are NaN, do not count, and are named by an OutsideError that comes with the rest.
func JointCurves[T Float](ctx context.Context, m CurvePredictor[T], b *Batch[T], y []T, chain Chain) (*Joint[T], error) {
	if s, ok := m.(interface {
		JointCurves(ctx context.Context, b *Batch[T], y []T, chain Chain) (*Joint[T], error)
	}); ok { // it knows a way of its own
		return s.JointCurves(ctx, b, y, chain)
	}
	c, err := newCurveChain(m, b, chain)
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
	if err := c.joint(ctx, j, y); err != nil {
		return nil, err
	}
	return j, c.outside.err()
}

// curveChain goes through the targets of the tasks of a batch.
type curveChain[T Float] struct {
	m       CurvePredictor[T]
	opt     Chain
	b       *Batch[T]
	dx, dy  int
	da      int  // auxiliary inputs
	ds      int  // static fields
	gaps    bool // outputs of the context may be missing
	free    bool // dy is not known
	alone   bool // the tasks of a batch would have an influence on each other
	tasks   []*chainTask[T]
	outside outsidePoints
}

// chainTask is a task on its way through the chain.
type chainTask[T Float] struct {
	number  int
	seed    uint64
	context []int     // the points of the batch's context that count
	x       []float64 // of the context: coordinates and auxiliary inputs [n, dx+da]
	y       []T
	targets []int     // that count
	place   []float64 // theirs [n, dx+da]
	order   []int32   // numbers of targets among those
}

// newCurveChain checks a batch and brings its tasks' targets into their order.
func newCurveChain[T Float](m CurvePredictor[T], b *Batch[T], opt Chain) (*curveChain[T], error) {
	if b == nil {
		return nil, fmt.Errorf("%w: the batch is nil", ErrShape)
	}
	c := &curveChain[T]{m: m, opt: opt, b: b, dx: 1, dy: 1}
	if model, ok := m.(interface{ Config() Config }); ok {
		cfg := model.Config()
		if cfg.Unobserved() != nil {
			return nil, fmt.Errorf("%w: inputs = %q: the chain rule gives a model its own predictions as observations, and these are not all outputs = %q", ErrConfig, cfg.Inputs, cfg.Outputs)
		}
		c.dx, c.dy, c.da, c.ds, c.gaps, c.alone = cfg.DimX, cfg.DimY, len(cfg.Auxiliary), len(cfg.Static), cfg.ChannelDensity,
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
	if err := opt.check(b.B); err != nil {
		return nil, err
	}
	if b.Nt == 0 { // however many tasks there are
		return c, nil
	}
	for k := range b.B {
		t := &chainTask[T]{number: k, seed: opt.seed(k)}
		_, t.y = b.context(k, c.dx, c.dy)
		for i := range b.Nc {
			if b.contextOK(k, i) {
				t.context, t.x = append(t.context, i), c.place(t.x, b.XContext, b.AuxContext, k*b.Nc+i)
			}
		}
		for i := range b.Nt {
			if b.targetOK(k, i) {
				t.targets, t.place = append(t.targets, i), c.place(t.place, b.XTarget, b.AuxTarget, k*b.Nt+i)
			}
		}
		t.order = opt.arrange(len(t.targets), t.seed, comparePlaces(t.place, c.width()))
		c.tasks = append(c.tasks, t)
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

// knots shortens the chain to some targets, taken evenly from left to right.
func (t *chainTask[T]) knots(opt SampleOptions) {
	n := len(t.targets)
	if opt.Knots >= n {
		return
	}
	sorted := (&Chain{Order: OrderLeftToRight}).arrange(n, 0, comparePlaces(t.place, len(t.place)/n))
	var chosen []int32
	for k := range opt.Knots {
		i := n / 2
		if opt.Knots > 1 {
			i = (k*(n-1) + (opt.Knots-1)/2) / (opt.Knots - 1)
		}
		chosen = append(chosen, sorted[i])
	}
	slices.Sort(chosen)
	place := func(i, j int32) int { return comparePlaces(t.place, len(t.place)/n)(chosen[i], chosen[j]) }
	t.order = opt.arrange(opt.Knots, t.seed, place)
	for i, k := range t.order {
		t.order[i] = chosen[k]
	}
}

// chainRun is some samples of some tasks that go together: rows lo to hi, of which row t·S + s is sample s of task t.
type chainRun struct{ lo, hi int }

// rowsAtOnce is how many predictions go together at most, and pointsAtOnce how many points of contexts they have.
const (
	rowsAtOnce   = 4096
	pointsAtOnce = 1 << 20
)

// blocks says where the blocks of a task's chain end.
func (c *curveChain[T]) blocks(t *chainTask[T]) []int {
	return c.opt.Blocks(len(t.context), len(t.order))
}

// runs takes the rows of all tasks apart.
func (c *curveChain[T]) runs(samples int) (runs []chainRun) {
	most := max(1, min(rowsAtOnce, pointsAtOnce/max(1, c.b.Nc+c.b.Nt+c.b.Ns)))
	for lo := 0; lo < c.b.B*samples; {
		hi := min(lo+most, c.b.B*samples)
		if c.alone {
			hi = min(hi, (lo/samples+1)*samples)
		}
		runs = append(runs, chainRun{lo, hi})
		lo = hi
	}
	return runs
}

// chainRow is a task with the context that it has at one place of the chain, and the targets that come next.
type chainRow[T Float] struct {
	task    *chainTask[T]
	x       []float64
	y       []T
	targets []int32
}

// describe names a target of the row.
func (r *chainRow[T]) describe(target int32) string {
	return fmt.Sprintf("target %d of task %d, given %d targets before it", r.task.targets[target], r.task.number,
		len(r.x)*len(r.task.targets)/max(1, len(r.task.place))-len(r.task.context))
}

// twins is how many rows in a row are samples of one task, if that is the same number for all tasks, else 0.
func twins[T Float](rows []chainRow[T]) int {
	n := 1
	for n < len(rows) && rows[n].task == rows[0].task {
		n++
	}
	for i := range rows {
		if rows[i].task != rows[i-i%n].task || len(rows)%n > 0 || i%n == 0 && i > 0 && rows[i].task == rows[i-1].task {
			return 0
		}
	}
	return n
}

// predict predicts the targets of all rows, width for each of them in the result.
func (c *curveChain[T]) predict(ctx context.Context, rows []chainRow[T], twins int) (p *Prediction[T], width int, err error) {
	wide, dy := c.width(), c.dy
	b := &Batch[T]{B: len(rows)}
	if c.ds > 0 { // the fields are those of the task
		b.Ns = c.b.Ns
		b.XStatic, b.YStatic = make([]float64, 0, b.B*b.Ns*c.dx), make([]T, 0, b.B*b.Ns*c.ds)
		for i := range rows {
			k := rows[i].task.number * b.Ns
			b.XStatic, b.YStatic = append(b.XStatic, c.b.XStatic[k*c.dx:(k+b.Ns)*c.dx]...),
				append(b.YStatic, c.b.YStatic[k*c.ds:(k+b.Ns)*c.ds]...)
		}
	}
	even := true
	for i := range rows {
		n, m := len(rows[i].x)/wide, len(rows[i].targets)
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
		for k := range len(r.x) / wide {
			c.unplace(b.XContext, b.AuxContext, i*b.Nc+k, r.x[k*wide:(k+1)*wide])
		}
		copy(b.YContext[i*b.Nc*dy:], r.y)
		for k, target := range r.targets {
			c.unplace(b.XTarget, b.AuxTarget, i*b.Nt+k, r.task.place[int(target)*wide:(int(target)+1)*wide])
		}
		if !even {
			for k := range len(r.x) / wide {
				b.ContextMask[i*b.Nc+k] = true
			}
			for k := range r.targets {
				b.TargetMask[i*b.Nt+k] = true
			}
		}
	}
	p, err = c.m.Predict(ctx, b)
	var out *OutsideError
	if errors.As(err, &out) && p != nil {
		c.note(rows, out)
		err = nil
	}
	if err == nil && len(p.Mean) != b.B*b.Nt*dy {
		err = fmt.Errorf("%w: the predictor gives %d values for %d targets of %d outputs", ErrShape, len(p.Mean), b.B*b.Nt, dy)
	}
	return p, b.Nt, err
}

// note remembers which of the batch's own points lie outside, given those of the rows.
func (c *curveChain[T]) note(rows []chainRow[T], e *OutsideError) {
	c.outside.where = e.Where
	for _, p := range e.Points {
		r := &rows[p.Task]
		t := r.task
		switch {
		case p.Tensor == "x_target":
			c.outside.add(OutsidePoint{p.Tensor, t.number, t.targets[r.targets[p.Point]], p.X})
		default: // no target of the row has a prediction
			named := p.Tensor == "x_static"
			if named {
				c.outside.add(OutsidePoint{p.Tensor, t.number, p.Point, p.X})
			} else if named = p.Point < len(t.context); named {
				c.outside.add(OutsidePoint{p.Tensor, t.number, t.context[p.Point], p.X})
			}
			for _, target := range r.targets {
				at := (t.number*c.b.Nt + t.targets[target]) * c.dx
				c.outside.hide(t.number, t.targets[target], slices.Clone(c.b.XTarget[at:at+c.dx]), !named)
			}
		}
	}
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

// err is an OutsideError, or nil.
func (o *outsidePoints) err() error {
	if len(o.points) == 0 {
		return nil
	}
	return &OutsideError{Points: o.points, Where: o.where}
}
