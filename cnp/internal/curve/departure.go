package curve

import (
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// DepartureWidth is the width of a departure's hidden layer.
const DepartureWidth = 32

// departureScale is the scale that training begins with.
const departureScale = 0.1

// DepartureNet is the network of a departure (Config.Departure of package cnp): it gives points inputs that depend on where they lie,
//
//	w(h)·s·tanh(B·swish(A·x + c) + d),   w(h) = h/(h + floor),
//
// for the density h of the context there. Nil, of a model without a departure, has no channels.
type DepartureNet[T layers.Float] struct {
	hidden, out *layers.Linear[T]
	Scale       []T // s, of each channel
}

// NewDepartureNet draws the network with so many channels for points of dx coordinates.
func NewDepartureNet[T layers.Float](dx, channels int, rng *rand.Rand) *DepartureNet[T] {
	n := &DepartureNet[T]{hidden: layers.NewLinear[T](dx, DepartureWidth, rng), out: layers.NewLinear[T](DepartureWidth, channels, rng),
		Scale: make([]T, channels)}
	for i := range n.Scale {
		n.Scale[i] = departureScale
	}
	return n
}

// Params lists the parameters.
func (n *DepartureNet[T]) Params() []layers.Param[T] {
	if n == nil {
		return nil
	}
	return append(append(n.hidden.Params("departure.0."), n.out.Params("departure.1.")...),
		layers.Param[T]{Name: "departure.scale", Shape: []int{len(n.Scale)}, Data: n.Scale})
}

// Channels returns the number of inputs.
func (n *DepartureNet[T]) Channels() int {
	if n == nil {
		return 0
	}
	return len(n.Scale)
}

// DepartureTape is what a backward pass needs.
type DepartureTape[T layers.Float] struct {
	x, before, after []T
	Tanh             []T // [n, channels]
	Density          []T // [n]
}

// Record returns the inputs at places at [n, dx], before they are weighed by the density and scaled.
func (n *DepartureNet[T]) Record(at []float64) *DepartureTape[T] {
	rows := len(at) / n.hidden.In
	k := &DepartureTape[T]{x: make([]T, len(at)), before: make([]T, rows*DepartureWidth), after: make([]T, rows*DepartureWidth),
		Tanh: make([]T, rows*n.Channels()), Density: make([]T, rows)}
	for i, v := range at {
		k.x[i] = T(v)
	}
	n.hidden.Forward(k.before, k.x, rows, simd.ActNone)
	simd.Swish(k.after, k.before)
	n.out.Forward(k.Tanh, k.after, rows, simd.ActNone)
	simd.Tanh(k.Tanh, k.Tanh)
	return k
}

// MeanDensity is the mean of the density channels of a point.
func MeanDensity[T layers.Float](densities []T) T {
	var sum T
	for _, v := range densities {
		sum += v
	}
	return sum / T(len(densities))
}

// Weighed sets f to the inputs of a point of that density.
func Weighed[T layers.Float](f, tanh, scale []T, density, floor T) {
	w := density / (density + floor)
	for e, v := range tanh {
		f[e] = w * scale[e] * v
	}
}

// Backward adds the gradients of the parameters, given that to the inputs d, in the last channels of rows of a width, and adds the
// gradients to the density channels to dh [n, c], of which so many come first.
func (n *DepartureNet[T]) Backward(d []T, width int, k *DepartureTape[T], dh []T, c, have int, floor T, g *layers.Grads[T]) {
	rows, channels := len(k.Density), n.Channels()
	dout, dscale := make([]T, len(k.Tanh)), make([]float64, channels)
	for i := range rows {
		h := k.Density[i]
		w, slope := h/(h+floor), floor/((h+floor)*(h+floor))
		var dw T
		for e := range channels {
			v, tanh := d[(i+1)*width-channels+e], k.Tanh[i*channels+e]
			dw += v * n.Scale[e] * tanh
			dscale[e] += float64(v * w * tanh)
			dout[i*channels+e] = v * w * n.Scale[e] * (1 - tanh*tanh)
		}
		for q := range have {
			dh[i*c+q] += dw * slope / T(have)
		}
	}
	for e, v := range dscale {
		g.Of(n.Scale)[e] += T(v)
	}
	hidden := make([]T, len(k.after))
	n.out.Backward(hidden, dout, k.after, rows, g)
	simd.SwishGrad(hidden, hidden, k.before)
	n.hidden.Backward(nil, hidden, k.x, rows, g)
}

// PlannedDeparture is a DepartureNet, packed. Nil has no channels.
type PlannedDeparture[T layers.Float] struct {
	hidden, out *layers.PlannedLinear[T]
	scale       []T
	dx          int
	off         bool
}

// Plan packs the network. Where it is off, all its inputs are 0.
func (n *DepartureNet[T]) Plan(off bool) *PlannedDeparture[T] {
	if n == nil {
		return nil
	}
	return &PlannedDeparture[T]{n.hidden.Plan(), n.out.Plan(), append([]T(nil), n.Scale...), n.hidden.In, off}
}

// Channels returns the number of inputs.
func (n *PlannedDeparture[T]) Channels() int {
	if n == nil {
		return 0
	}
	return len(n.scale)
}

// DepartureRun is the memory of one goroutine.
type DepartureRun[T layers.Float] struct{ x, hidden, out []T }

// Evaluate keeps the inputs at points [n, dx], counted from origin.
func (n *PlannedDeparture[T]) Evaluate(run *DepartureRun[T], points, origin []float64) {
	if n == nil || n.off {
		return
	}
	rows := len(points) / n.dx
	run.x, run.hidden = reuse.Sized(run.x, len(points)), reuse.Sized(run.hidden, rows*DepartureWidth)
	run.out = reuse.Sized(run.out, rows*len(n.scale))
	for i, v := range points {
		run.x[i] = T(v + origin[i%n.dx])
	}
	n.hidden.Forward(run.hidden, run.x, rows)
	simd.Swish(run.hidden, run.hidden)
	n.out.Forward(run.out, run.hidden, rows)
	simd.Tanh(run.out, run.out)
}

// Set sets f to the inputs of row i, whose densities these are.
func (n *PlannedDeparture[T]) Set(f []T, run *DepartureRun[T], i int, densities []T, floor float64) {
	if n == nil {
		return
	}
	if n.off {
		clear(f)
		return
	}
	Weighed(f, run.out[i*len(n.scale):(i+1)*len(n.scale)], n.scale, MeanDensity(densities), T(floor))
}
