package cnp

import (
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// frames are the sides that a model sees a task from: its lifts. Under a group that turns, the network sees coordinates and vectors as an
// observer does who has been turned by a lift's angle; what it says is turned back, and averaged over lifts. Turning the task by a rotation
// that takes the lifts to each other only exchanges what the lifts see, so the prediction turns along.
type frames struct {
	dx, dy int
	fields []Field
	x      [][]float64 // of each lift: the rotation [dx, dx] of its observer
	y      [][]float64 // and that of all outputs [dy, dy]; nil without vectors
	known  [][]float64 // and that of a context point's values, outputs and auxiliary inputs
}

// newFrames is nil under a group that turns nothing.
func newFrames(c *Config, g group.Group) *frames {
	t, ok := g.(group.Turner)
	if !ok || turnsNothing(g) {
		return nil
	}
	return framesAt(c, t, stabiliser(c, g, c.LiftSeed))
}

// framesOf returns the frames in which a batch is seen: those of the model, or in training with random samples some that are drawn for it.
func (m *EquivCNP[T]) framesOf(b *Batch[T], mode layers.Mode) *frames {
	if m.cfg.LiftSamples != SamplesRandom || mode != layers.Train {
		return m.frames
	}
	seed := m.cfg.LiftSeed ^ 0xcbf29ce484222325 // FNV-1a
	for _, v := range b.XContext {
		seed = (seed ^ math.Float64bits(v)) * 0x100000001b3
	}
	return framesAt(&m.cfg, m.group.(group.Turner), stabiliser(&m.cfg, m.group, seed))
}

// framesAt returns the frames of the elements a of the stabiliser.
func framesAt(c *Config, t group.Turner, all [][]float64) *frames {
	f := &frames{dx: c.DimX, dy: c.DimY, fields: c.Fields()}
	for _, a := range all {
		r := make([]float64, f.dx*f.dx)
		t.Turn(r, a)
		f.x = append(f.x, r)
		if c.Vectors() {
			f.y, f.known = append(f.y, f.ofValues(r, f.dy)), append(f.known, f.ofValues(r, c.contextValues()))
		}
	}
	return f
}

// turnsNothing reports whether a group leaves vectors as they are.
func turnsNothing(g group.Group) bool {
	switch g.(type) {
	case *group.T, *group.Trivial:
		return true
	}
	return false
}

// count is the number of frames.
func (f *frames) count() int {
	if f == nil {
		return 1
	}
	return len(f.x)
}

// ofFrame is the rotation of the context's values that frame l sees; nil where all are scalars.
func (f *frames) ofFrame(l int) []float64 {
	if f.y == nil {
		return nil
	}
	return f.known[l]
}

// vectors reports whether values turn.
func (f *frames) vectors() bool { return f != nil && f.y != nil }

// ofValues is what a rotation [dx, dx] does to the n values of a point, of which the first are the outputs: scalars stay.
func (f *frames) ofValues(r []float64, n int) []float64 {
	out := make([]float64, n*n)
	for i := f.dy; i < n; i++ {
		out[i*n+i] = 1
	}
	for _, field := range f.fields {
		for i := range field.Width {
			for j := range field.Width {
				v := 1.0
				if field.Type == Vector {
					v = r[i*f.dx+j]
				}
				out[(field.First+i)*n+field.First+j] = v
			}
		}
	}
	return out
}

// seen turns x, rows of the matrix r's length, into what an observer sees who has been turned by r: every row becomes rᵀ·row. room is of
// a row's length.
func seen[T Float](x []T, r []float64, room []float64) {
	n := len(room)
	for ; len(x) > 0; x = x[n:] {
		for i := range room {
			s := 0.0
			for j, v := range x[:n] {
				if w := r[j*n+i]; w != 0 { // a value that is not known says nothing of those that do not turn with it
					s += w * float64(v)
				}
			}
			room[i] = s
		}
		for i, v := range room {
			x[i] = T(v)
		}
	}
}

// whole returns a batch as a model reads it: values that are never observed are not there, and vectors that lack a
// component lack all of them, since no observer would see the rest. Where that is so already, it is b.
func (b *Batch[T]) whole(c *Config) *Batch[T] {
	hidden := c.Unobserved()
	if hidden == nil && (!c.Vectors() || !c.ChannelDensity || !gaps(b.YContext)) {
		return b
	}
	out := *b
	out.YContext = slices.Clone(b.YContext)
	for i := range out.YContext {
		if k := i % c.contextValues(); hidden != nil && k < c.DimY && hidden[k] {
			out.YContext[i] = T(math.NaN())
		}
	}
	for _, f := range c.Fields() {
		for i := f.First; i < len(out.YContext); i += c.contextValues() {
			if v := out.YContext[i : i+f.Width]; gaps(v) {
				for k := range v {
					v[k] = T(math.NaN())
				}
			}
		}
	}
	return &out
}

// fromLeast counts x [n, dx] and targets from the least coordinates of x; without any they stay.
func fromLeast(x, targets, least []float64) {
	dx := len(least)
	if len(x) == 0 {
		return
	}
	copy(least, x)
	for i, v := range x {
		least[i%dx] = min(least[i%dx], v)
	}
	for _, p := range [2][]float64{x, targets} {
		for i := range p {
			p[i] -= least[i%dx]
		}
	}
}

// stabiliser returns the lifts of the origin of points: the rotations about it that a model under g sees a task from.
func stabiliser(c *Config, g group.Group, seed uint64) (a [][]float64) {
	origin := make([]float64, g.PointDim())
	l := group.LiftPoints(g, origin, c.Lifts, seed)
	if _, ok := g.(group.UniformLifter); ok && c.LiftSamples != SamplesRandom {
		l = group.LiftPointsUniform(g, origin, c.Lifts)
	}
	for i := range l.Rows() {
		row, _ := l.Row(i)
		a = append(a, row)
	}
	return a
}

// turner turns the numbers that a network gives targets, and keeps its memory for that.
type turner[T Float] struct {
	raw, sum, back []float64
}

// add adds to dst [n, width] scale times the numbers of so many targets, turned by r.
func (t *turner[T]) add(dst, numbers []T, l Turning, fields []Field, r []float64, width int, scale float64) {
	t.raw, t.sum = reuse.Sized(t.raw, width), reuse.Sized(t.sum, width)
	for i := 0; i < len(numbers); i += width {
		for k, v := range numbers[i : i+width] {
			t.raw[k] = float64(v)
		}
		clear(t.sum)
		l.Turn(t.sum, t.raw, r, fields)
		for k, v := range t.sum {
			dst[i+k] += T(scale * v)
		}
	}
}

// transposed is rᵀ, for r [n, n], in the turner's memory.
func (t *turner[T]) transposed(r []float64, n int) []float64 {
	t.back = reuse.Sized(t.back, n*n)
	for i := range n {
		for j := range n {
			t.back[j*n+i] = r[i*n+j]
		}
	}
	return t.back
}

// view says of a row of features which target's it is, and the rotation of the values that it sees.
type view func(row int) (target int, r []float64)

// recordTurned is record for features of targets as several observers see them, each of whom has the same number of
// rows: what the rows say is turned back, and the mean over a target's rows is the model's. Values begin with value at.
func (h *head[T]) recordTurned(p *Pass[T], at int, features []T, rows, each int, fields []Field, of view) *headTape[T] {
	width := h.raw().Out
	raw, to := make([]T, rows*width), p.raw[at*h.numbers():][:rows/each*width]
	h.raw().Forward(raw, features, rows, simd.ActNone)
	var t turner[T]
	for row := range rows {
		target, r := of(row)
		t.add(to[target*width:][:width], raw[row*width:(row+1)*width], h.likelihood.(Turning), fields, r, width, 1/float64(each))
	}
	h.setAll(p.Prediction, at, to)
	return &headTape[T]{features: features, n: rows}
}

// backwardTurned returns the gradient to the features that recordTurned was given.
func (h *head[T]) backwardTurned(d outGrad[T], at int, tape *headTape[T], each int, fields []Field, of view, g *layers.Grads[T]) []T {
	width := h.raw().Out
	raw, from := make([]T, tape.n*width), d.raw[at*h.numbers():][:tape.n/each*width]
	var t turner[T]
	for row := range tape.n {
		target, r := of(row)
		t.add(raw[row*width:][:width], from[target*width:(target+1)*width], h.likelihood.(Turning), fields, t.transposed(r, h.dy),
			width, 1/float64(each))
	}
	df := make([]T, len(tape.features))
	h.raw().Backward(df, raw, tape.features, tape.n, g)
	return df
}

// views of n targets of each task, whose rows are [tasks, frames, n].
func (f *frames) views(n int) view {
	k := f.count()
	return func(row int) (target int, r []float64) { return row/(k*n)*n + row%n, f.y[row/n%k] }
}

// recordFrames is record for the features [tasks, frames, n, c] of targets as every frame sees them; the mean over frames is the model's.
func (h *head[T]) recordFrames(p *Pass[T], f *frames, features []T, tasks, n int) *headTape[T] {
	k := f.count()
	if f.vectors() {
		return h.recordTurned(p, 0, features, tasks*k*n, k, f.fields, f.views(n))
	}
	c := h.in()
	merged := make([]T, tasks*n*c)
	for v := range tasks * k {
		to := merged[v/k*n*c:][:n*c]
		simd.Add(to, to, features[v*n*c:(v+1)*n*c])
	}
	simd.Scale(merged, 1/T(k), merged)
	return h.record(p, 0, merged, tasks*n, nil)
}

// backwardFrames returns the gradient to the features that recordFrames was given.
func (h *head[T]) backwardFrames(d outGrad[T], f *frames, tape *headTape[T], tasks, n int, g *layers.Grads[T]) []T {
	k := f.count()
	if f.vectors() {
		return h.backwardTurned(d, 0, tape, k, f.fields, f.views(n), g)
	}
	c := h.in()
	merged := h.backward(d, 0, tape, g)
	simd.Scale(merged, 1/T(k), merged)
	df := make([]T, tasks*k*n*c)
	for v := range tasks * k {
		copy(df[v*n*c:(v+1)*n*c], merged[v/k*n*c:])
	}
	return df
}

// frameRun is the memory of one goroutine for what the frames say of a task's targets.
type frameRun[T Float] struct {
	sum  []T // [tasks, targets, features or numbers]
	turn turner[T]
	room []float64
}

// frameWidth is how many numbers of a target are added up over frames.
func (h *plannedHead[T]) frameWidth(f *frames, features int) int {
	if f.vectors() {
		return h.dy * h.numbers()
	}
	return features
}

// look adds to sum what frame l says of targets, whose features [m, c] these are.
func (h *plannedHead[T]) look(sum []T, f *frames, l int, features []T, m int, run *headRun[T], turn *turner[T]) {
	if !f.vectors() {
		simd.Add(sum, sum, features)
		return
	}
	width := h.dy * h.numbers()
	run.raw = reuse.Sized(run.raw, m*width)
	h.raw().Forward(run.raw, features, m)
	turn.add(sum, run.raw, h.likelihood.(Turning), f.fields, f.y[l], width, 1)
}

// answer is forward for what all frames have said.
func (h *plannedHead[T]) answer(dst *Prediction[T], at int, order []int32, f *frames, sum []T, run *headRun[T]) {
	simd.Scale(sum, 1/T(f.count()), sum)
	if !f.vectors() {
		h.forward(dst, at, order, sum, nil, run)
		return
	}
	width := h.dy * h.numbers()
	for j, i := range order {
		h.setTarget(dst, at+int(i)*h.dy, sum[j*width:(j+1)*width], h.room(run))
	}
}

// turns are what turns the values of points, one [dy, dy] for each of their lifts; nil where all are scalars, or nothing turns.
func (m *EquivCNP[T]) turns(l *group.Lifted) [][]float64 {
	t, ok := m.group.(group.Turner)
	if !ok || !m.cfg.Vectors() || turnsNothing(m.group) {
		return nil
	}
	f := frames{dx: m.cfg.DimX, dy: m.cfg.DimY, fields: m.cfg.Fields()}
	r, out := make([]float64, f.dx*f.dx), make([][]float64, l.Rows())
	for i := range out {
		a, _ := l.Row(i)
		t.Turn(r, a)
		out[i] = f.ofValues(r, f.dy)
	}
	return out
}

// liftFeatures gives every lift of a point the point's features [n, c], of which the last are its values, first the
// outputs, as the lift sees them.
func (m *EquivCNP[T]) liftFeatures(features []T, turns [][]float64) []T {
	c, dy, room := m.encoder.channels(), m.cfg.DimY, make([]float64, m.cfg.DimY)
	out := repeatRows(features, c, m.cfg.Lifts)
	if m.cfg.Lifts == 1 {
		out = append([]T(nil), features...)
	}
	for i, r := range turns {
		seen(out[(i+1)*c-m.encoder.dy:][:dy], r, room)
	}
	return out
}

// liftFeaturesGrad is the gradient of liftFeatures, and takes the place of df.
func (m *EquivCNP[T]) liftFeaturesGrad(df []T, turns [][]float64) []T {
	c, dy, room := m.encoder.channels(), m.cfg.DimY, make([]float64, m.cfg.DimY)
	var t turner[T]
	for i, r := range turns {
		seen(df[(i+1)*c-m.encoder.dy:][:dy], t.transposed(r, dy), room)
	}
	return sumLifts(df, c, m.cfg.Lifts)
}

// forwardLifts is forward for targets whose lifts have the features [n, lifts, c], and turn values by turns.
func (h *head[T]) forwardLifts(out *Prediction[T], at int, features []T, n, lifts int, fields []Field, turns [][]float64) {
	width := h.raw().Out
	raw, sum := make([]T, n*lifts*width), make([]T, n*width)
	h.raw().Forward(raw, features, n*lifts, simd.ActNone)
	var t turner[T]
	for row, r := range turns {
		t.add(sum[row/lifts*width:][:width], raw[row*width:(row+1)*width], h.likelihood.(Turning), fields, r, width, 1/float64(lifts))
	}
	h.setAll(out, at, sum)
}
