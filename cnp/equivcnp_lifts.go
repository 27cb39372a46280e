package cnp

import (
	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/cnp/internal/perlift"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// lifting is how the lifts of points see features: all alike, or each in its own way. Rows are lifts, those of a point
// one after the other; the last points of a task are its targets.
type lifting[T Float] interface {
	// enter applies the pointwise layer to the encoder's features [points, channels]: to in, and gives out, whose lifts
	// have the features rows.
	enter(features []T) (in, out, rows []T)
	// entered is the gradient of enter, which takes the place of drows.
	entered(drows, in, out []T, g *layers.Grads[T]) (dfeatures []T)
	// leave returns the features that are read, given those of the rows.
	leave(rows []T) []T
	// left is the gradient of leave.
	left(dread []T) (drows []T)
	// times is how many rows of those that are read a target has.
	times() int
	// read predicts the targets of task t, whose features, with auxiliary inputs, are f: value at and those behind it.
	read(out *Prediction[T], at int, b *Batch[T], t int, f []T)
	// record is read, ready for a backward pass.
	record(p *Pass[T], at int, b *Batch[T], t int, f []T) *headTape[T]
	// recorded returns the gradient to f.
	recorded(d outGrad[T], at, t int, tape *headTape[T], g *layers.Grads[T]) []T
}

// lifting returns that of tasks lo to hi, whose first features are those of some points, and whose last those of others.
func (m *pointsEngine[T]) lifting(first, last *group.Lifted, lo, hi int) lifting[T] {
	if turns := m.turns(first); turns != nil {
		return &turnedLifts[T]{m, turns, m.turns(last), lo, last.Rows() / (hi - lo)}
	}
	return &likeLifts[T]{m, first.N}
}

// likeLifts is that of scalars, and under groups that turn nothing: the pointwise layer is the same for all lifts of a
// point, and the head reads their mean.
type likeLifts[T Float] struct {
	*pointsEngine[T]
	points int
}

func (l *likeLifts[T]) enter(features []T) (in, out, rows []T) {
	out = make([]T, l.points*l.pre.Out)
	l.pre.Forward(out, features, l.points, simd.ActSigmoid)
	return features, out, perlift.Repeat(out, l.pre.Out, l.cfg.Lifts)
}

func (l *likeLifts[T]) entered(drows, in, out []T, g *layers.Grads[T]) []T {
	dout := perlift.Sum(drows, l.pre.Out, l.cfg.Lifts)
	simd.SigmoidGrad(dout, dout, out)
	dfeatures := make([]T, len(in))
	l.pre.Backward(dfeatures, dout, in, l.points, g)
	return dfeatures
}

func (l *likeLifts[T]) leave(rows []T) []T { return perlift.Mean(rows, l.head.in(), l.cfg.Lifts) }

func (l *likeLifts[T]) left(dread []T) []T { return perlift.Spread(dread, l.head.in(), l.cfg.Lifts) }

func (l *likeLifts[T]) times() int { return 1 }

func (l *likeLifts[T]) read(out *Prediction[T], at int, b *Batch[T], t int, f []T) {
	l.head.forward(out, at, f, b.Nt, places(l.head.waves, b, t, nil, nil))
}

func (l *likeLifts[T]) record(p *Pass[T], at int, b *Batch[T], t int, f []T) *headTape[T] {
	return l.head.record(p, at, f, b.Nt, places(l.head.waves, b, t, nil, nil))
}

func (l *likeLifts[T]) recorded(d outGrad[T], at, _ int, tape *headTape[T], g *layers.Grads[T]) []T {
	return l.head.backward(d, at, tape, g)
}

// turnedLifts is that of vectors under a group that turns them: every lift sees values in its own way, and what the head
// says of it is turned back.
type turnedLifts[T Float] struct {
	*pointsEngine[T]
	turns, targets [][]float64 // of the first rows, and of the last
	first          int         // task
	perTask        int         // rows of the last
}

func (l *turnedLifts[T]) enter(features []T) (in, out, rows []T) {
	in, out = l.liftFeatures(features, l.turns), make([]T, len(l.turns)*l.pre.Out)
	l.pre.Forward(out, in, len(l.turns), simd.ActSigmoid)
	return in, out, out
}

func (l *turnedLifts[T]) entered(drows, in, out []T, g *layers.Grads[T]) []T {
	simd.SigmoidGrad(drows, drows, out)
	din := make([]T, len(in))
	l.pre.Backward(din, drows, in, len(l.turns), g)
	return l.liftFeaturesGrad(din, l.turns)
}

func (l *turnedLifts[T]) leave(rows []T) []T { return rows }

func (l *turnedLifts[T]) left(dread []T) []T { return dread }

func (l *turnedLifts[T]) times() int { return l.cfg.Lifts }

// of returns what turns the values of the last n rows of task t.
func (l *turnedLifts[T]) of(t, n int) [][]float64 { return l.targets[(t-l.first+1)*l.perTask-n:][:n] }

func (l *turnedLifts[T]) read(out *Prediction[T], at int, b *Batch[T], t int, f []T) {
	l.head.forwardLifts(out, at, f, b.Nt, l.cfg.Lifts, l.cfg.Fields(), l.of(t, b.Nt*l.cfg.Lifts))
}

func (l *turnedLifts[T]) view(t, n int) curve.View {
	turns := l.of(t, n)
	return func(row int) (int, []float64) { return row / l.cfg.Lifts, turns[row] }
}

func (l *turnedLifts[T]) record(p *Pass[T], at int, b *Batch[T], t int, f []T) *headTape[T] {
	n := b.Nt * l.cfg.Lifts
	return l.head.recordTurned(p, at, f, n, l.cfg.Lifts, l.cfg.Fields(), l.view(t, n))
}

func (l *turnedLifts[T]) recorded(d outGrad[T], at, t int, tape *headTape[T], g *layers.Grads[T]) []T {
	return l.head.backwardTurned(d, at, tape, l.cfg.Lifts, l.cfg.Fields(), l.view(t, tape.n), g)
}

// liftFeatures gives every lift of a point the point's features [n, c], of which the last are its values, first the
// outputs, as the lift sees them.
func (m *pointsEngine[T]) liftFeatures(features []T, turns [][]float64) []T {
	c, dy, room := m.encoder.Channels(), m.cfg.DimY, make([]float64, m.cfg.DimY)
	out := perlift.Repeat(features, c, m.cfg.Lifts)
	if m.cfg.Lifts == 1 {
		out = append([]T(nil), features...)
	}
	for i, r := range turns {
		curve.Seen(out[(i+1)*c-m.encoder.Dy:][:dy], r, room)
	}
	return out
}

// liftFeaturesGrad returns the gradient of liftFeatures, and takes the place of df.
func (m *pointsEngine[T]) liftFeaturesGrad(df []T, turns [][]float64) []T {
	c, dy, room := m.encoder.Channels(), m.cfg.DimY, make([]float64, m.cfg.DimY)
	var t curve.Turner[T]
	for i, r := range turns {
		curve.Seen(df[(i+1)*c-m.encoder.Dy:][:dy], t.Transposed(r, dy), room)
	}
	return perlift.Sum(df, c, m.cfg.Lifts)
}

// turns are what turns the values of points, one [dy, dy] for each of their lifts; nil where all are scalars, or nothing turns.
func (m *pointsEngine[T]) turns(l *group.Lifted) [][]float64 {
	t, ok := m.group.(group.Turner)
	if !ok || !m.cfg.Vectors() || curve.TurnsNothing(m.group) {
		return nil
	}
	f := curve.Frames{Dx: m.cfg.DimX, Dy: m.cfg.DimY, Fields: m.cfg.Fields()}
	r, out := make([]float64, f.Dx*f.Dx), make([][]float64, l.Rows())
	for i := range out {
		a, _ := l.Row(i)
		t.Turn(r, a)
		out[i] = f.OfValues(r, f.Dy)
	}
	return out
}
