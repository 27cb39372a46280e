package cnp

import (
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/cnp/internal/stdlink"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// head turns the features of a model of curves into a prediction: its maps make numbers of them, and its family a prediction of these.
type head[T Float] struct {
	family[T]
	maps headMaps[T]
}

// headMaps are the last linear maps of a head, which is passed to the methods that need its family. x are the places of
// targets, which only waves look at.
type headMaps[T Float] interface {
	// in is the number of channels of the features.
	in() int
	params() []layers.Param[T]
	// forward sets the values of out from value at on, for features [n, c].
	forward(h *head[T], out *Prediction[T], at int, features []T, n int, x []float64)
	// record is forward with its tape, for a pass.
	record(h *head[T], p *Pass[T], at int, features []T, n int, x []float64) *headTape[T]
	// backward returns the gradient [n, c] to the features, given that to all values, of which the tape's begin with value at.
	backward(h *head[T], d outGrad[T], at int, tape *headTape[T], g *layers.Grads[T]) []T
	plan() plannedMaps[T]
}

// headTape is what a head's backward pass needs.
type headTape[T Float] struct {
	features, spread []T // [n, c]; [n, dy], where maps are a pair
	n                int
	x                []float64
}

// newHead returns that of a model whose features have so many channels.
func newHead[T Float](in int, c Config, rng *rand.Rand) head[T] {
	h := head[T]{family: newFamily[T](c)}
	if l, ok := h.link.(normalLink[T]); ok {
		mean := layers.NewLinear[T](in, c.DimY, rng)
		h.maps = &pairMaps[T]{mean, layers.NewLinear[T](in, c.DimY, rng), l.deviations}
		return h
	}
	raw := layers.NewLinear[T](in, c.DimY*h.numbers(), rng)
	curve.BeginWaves(h.waves, raw.Bias)
	h.maps = &oneMap[T]{raw}
	return h
}

func (h *head[T]) in() int { return h.maps.in() }

// raw returns the map of a head whose link takes value by value.
func (h *head[T]) raw() *layers.Linear[T] { return h.maps.(*oneMap[T]).raw }

func (h *head[T]) params() []layers.Param[T] { return append(h.maps.params(), h.family.params()...) }

func (h *head[T]) forward(out *Prediction[T], at int, features []T, n int, x []float64) {
	h.maps.forward(h, out, at, features, n, x)
}

func (h *head[T]) record(p *Pass[T], at int, features []T, n int, x []float64) *headTape[T] {
	return h.maps.record(h, p, at, features, n, x)
}

func (h *head[T]) backward(d outGrad[T], at int, tape *headTape[T], g *layers.Grads[T]) []T {
	return h.maps.backward(h, d, at, tape, g)
}

func (h *head[T]) plan() plannedHead[T] { return plannedHead[T]{h.clone(), h.maps.plan()} }

// pairMaps are those of the authors' models, under the normal likelihood: mean = Linear, deviation of softplus(Linear).
type pairMaps[T Float] struct {
	mean, spread *layers.Linear[T]
	deviations   stdlink.Link[T]
}

func (m *pairMaps[T]) in() int { return m.mean.In }

func (m *pairMaps[T]) params() []layers.Param[T] {
	return append(m.mean.Params("mean_linear."), m.spread.Params("var_linear.0.")...)
}

func (m *pairMaps[T]) forward(h *head[T], out *Prediction[T], at int, features []T, n int, _ []float64) {
	mean, std := out.Mean[at:at+n*h.dy], out.Std[at:at+n*h.dy]
	m.mean.Forward(mean, features, n, simd.ActNone)
	m.spread.Forward(std, features, n, simd.ActSoftplus)
	m.deviations.Set(std)
}

func (m *pairMaps[T]) record(h *head[T], p *Pass[T], at int, features []T, n int, _ []float64) *headTape[T] {
	mean, std := p.Mean[at:at+n*h.dy], p.Std[at:at+n*h.dy]
	m.mean.Forward(mean, features, n, simd.ActNone)
	m.spread.Forward(std, features, n, simd.ActSoftplus)
	tape := &headTape[T]{features: features, spread: append([]T(nil), std...), n: n}
	m.deviations.Set(std)
	return tape
}

func (m *pairMaps[T]) backward(h *head[T], d outGrad[T], at int, tape *headTape[T], g *layers.Grads[T]) []T {
	df, other, lo, hi := make([]T, len(tape.features)), make([]T, len(tape.features)), at, at+tape.n*h.dy
	m.mean.Backward(df, d.mean[lo:hi], tape.features, tape.n, g)
	m.spread.Backward(other, m.deviations.Grad(d.std[lo:hi], tape.spread), tape.features, tape.n, g)
	simd.Add(df, df, other)
	return df
}

func (m *pairMaps[T]) plan() plannedMaps[T] {
	return &plannedPair[T]{m.mean.Plan(), m.spread.Plan(), m.deviations}
}

// oneMap gives the numbers of the values one after the other.
type oneMap[T Float] struct{ raw *layers.Linear[T] }

func (m *oneMap[T]) in() int { return m.raw.In }

func (m *oneMap[T]) params() []layers.Param[T] { return m.raw.Params("raw_linear.") }

func (m *oneMap[T]) forward(h *head[T], out *Prediction[T], at int, features []T, n int, x []float64) {
	raw := make([]T, n*m.raw.Out)
	m.raw.Forward(raw, features, n, simd.ActNone)
	curve.TurnWaves(h.waves, raw, x, false)
	h.setAll(out, at, raw)
}

func (m *oneMap[T]) record(h *head[T], p *Pass[T], at int, features []T, n int, x []float64) *headTape[T] {
	raw := p.raw[at*h.numbers():][:n*m.raw.Out]
	m.raw.Forward(raw, features, n, simd.ActNone)
	curve.TurnWaves(h.waves, raw, x, false)
	h.setAll(p.Prediction, at, raw)
	return &headTape[T]{features: features, n: n, x: x}
}

func (m *oneMap[T]) backward(h *head[T], d outGrad[T], at int, tape *headTape[T], g *layers.Grads[T]) []T {
	df, raw := make([]T, len(tape.features)), d.raw[at*h.numbers():(at+tape.n*h.dy)*h.numbers()]
	if h.waves != nil {
		raw = slices.Clone(raw)
		curve.TurnWaves(h.waves, raw, tape.x, true)
	}
	m.raw.Backward(df, raw, tape.features, tape.n, g)
	return df
}

func (m *oneMap[T]) plan() plannedMaps[T] { return &plannedOne[T]{m.raw.Plan()} }

// plannedHead is a head, packed.
type plannedHead[T Float] struct {
	family[T]
	maps plannedMaps[T]
}

// plannedMaps are headMaps, packed.
type plannedMaps[T Float] interface {
	// forward predicts the targets of one task, whose values begin with value at of dst; order says which, and their
	// features [m, c] come in that order, as do their places x.
	forward(h *plannedHead[T], dst *Prediction[T], at int, order []int32, features []T, x []float64, run *headRun[T])
}

// headRun is the memory of one goroutine.
type headRun[T Float] struct {
	mean, spread, raw []T
	buffer            []float64
	x                 []float64 // places
}

func (h *plannedHead[T]) forward(dst *Prediction[T], at int, order []int32, features []T, x []float64, run *headRun[T]) {
	h.maps.forward(h, dst, at, order, features, x, run)
}

// raw returns the map of a head whose link takes value by value.
func (h *plannedHead[T]) raw() *layers.PlannedLinear[T] { return h.maps.(*plannedOne[T]).raw }

// room returns the family's buffer, made once.
func (h *plannedHead[T]) room(run *headRun[T]) []float64 {
	if run.buffer == nil {
		run.buffer = h.buffer()
	}
	return run.buffer
}

type plannedPair[T Float] struct {
	mean, spread *layers.PlannedLinear[T]
	deviations   stdlink.Link[T]
}

func (m *plannedPair[T]) forward(h *plannedHead[T], dst *Prediction[T], at int, order []int32, features []T, _ []float64, run *headRun[T]) {
	n, dy := len(order), h.dy
	run.mean, run.spread = reuse.Sized(run.mean, n*dy), reuse.Sized(run.spread, n*dy)
	m.mean.Forward(run.mean, features, n)
	m.spread.Forward(run.spread, features, n)
	simd.Softplus(run.spread, run.spread)
	m.deviations.Set(run.spread)
	for k, i := range order {
		copy(dst.Mean[at+int(i)*dy:][:dy], run.mean[k*dy:])
		copy(dst.Std[at+int(i)*dy:][:dy], run.spread[k*dy:])
	}
}

type plannedOne[T Float] struct{ raw *layers.PlannedLinear[T] }

func (m *plannedOne[T]) forward(h *plannedHead[T], dst *Prediction[T], at int, order []int32, features []T, x []float64, run *headRun[T]) {
	n, dy, k := len(order), h.dy, h.numbers()
	run.raw = reuse.Sized(run.raw, n*dy*k)
	m.raw.Forward(run.raw, features, n)
	curve.TurnWaves(h.waves, run.raw, x, false)
	for j, i := range order {
		h.setTarget(dst, at+int(i)*dy, run.raw[j*dy*k:(j+1)*dy*k], h.room(run))
	}
}
