package curve

import (
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// Auxiliary inputs (Config.Auxiliary) are numbers that are known at the context points and at the targets, and are not
// predicted: the elevation of a place, the hour of the day. They are scalars, which no group changes. In the context
// they are value channels like the outputs, behind them. At a target they join the features that the network has there,
// by a small network of their own (AuxNet): a prediction depends on its own target's auxiliaries alone, and moves with
// its task as before.

// AuxNet adds to the features f of a target the output of a small network of f and of the target's auxiliary inputs a:
//
//	f + B·swish(A·[f, a] + c) + d.
//
// It works on each target alone. Nil, of a model without auxiliary inputs, changes nothing.
type AuxNet[T layers.Float] struct {
	hidden, out *layers.Linear[T]
}

// NewAuxNet draws the network of a model whose features have so many channels; it is nil without inputs.
func NewAuxNet[T layers.Float](channels, inputs int, rng *rand.Rand) *AuxNet[T] {
	if inputs == 0 {
		return nil
	}
	return &AuxNet[T]{layers.NewLinear[T](channels+inputs, auxWidth, rng), layers.NewLinear[T](auxWidth, channels, rng)}
}

// auxWidth is the width of the hidden layer.
const auxWidth = 32

// Params lists the parameters.
func (j *AuxNet[T]) Params() []layers.Param[T] {
	if j == nil {
		return nil
	}
	return append(j.hidden.Params("auxiliary.0."), j.out.Params("auxiliary.1.")...)
}

// Inputs returns the number of auxiliary inputs.
func (j *AuxNet[T]) Inputs() int { return j.hidden.In - j.out.Out }

// beside sets dst to the rows [f, a], for features f [n, c] and auxiliary inputs a [n, da].
func beside[T layers.Float](dst, f, a []T, c, da int) []T {
	dst = dst[:0]
	for i := range len(f) / c {
		dst = append(append(dst, f[i*c:(i+1)*c]...), a[i*da:(i+1)*da]...)
	}
	return dst
}

// AuxTape keeps what an AuxNet's backward pass needs: its input, and the hidden layer before and after its activation.
type AuxTape[T layers.Float] struct{ in, before, after []T }

// Record returns the features [n, c] joined with the auxiliary inputs a [n, da], and what the backward pass needs.
func (j *AuxNet[T]) Record(f, a []T) ([]T, *AuxTape[T]) {
	if j == nil {
		return f, nil
	}
	n := len(f) / j.out.Out
	tape := &AuxTape[T]{in: beside(nil, f, a, j.out.Out, j.Inputs()), before: make([]T, n*auxWidth), after: make([]T, n*auxWidth)}
	j.hidden.Forward(tape.before, tape.in, n, simd.ActNone)
	simd.Swish(tape.after, tape.before)
	out := make([]T, len(f))
	j.out.Forward(out, tape.after, n, simd.ActNone)
	simd.Add(out, out, f)
	return out, tape
}

// Backward returns the gradient to the features, given the gradient to Record's result.
func (j *AuxNet[T]) Backward(d []T, tape *AuxTape[T], g *layers.Grads[T]) []T {
	if j == nil {
		return d
	}
	c, n := j.out.Out, len(d)/j.out.Out
	hidden, in := make([]T, len(tape.after)), make([]T, len(tape.in))
	j.out.Backward(hidden, d, tape.after, n, g)
	simd.SwishGrad(hidden, hidden, tape.before)
	j.hidden.Backward(in, hidden, tape.in, n, g)
	out := slices.Clone(d)
	for i := range n {
		row := out[i*c : (i+1)*c]
		simd.Add(row, row, in[i*j.hidden.In:][:c])
	}
	return out
}

// PlannedAux is an AuxNet, packed.
type PlannedAux[T layers.Float] struct {
	hidden, out *layers.PlannedLinear[T]
	channels    int
	Inputs      int
}

// Plan packs the network; it is nil for a model without auxiliary inputs.
func (j *AuxNet[T]) Plan() *PlannedAux[T] {
	if j == nil {
		return nil
	}
	return &PlannedAux[T]{j.hidden.Plan(), j.out.Plan(), j.out.Out, j.Inputs()}
}

// AuxRun is the memory of one goroutine that calls PlannedAux.
type AuxRun[T layers.Float] struct{ Given, in, hidden, out []T }

// Keep keeps the auxiliary inputs of the targets that order names, in this order, of those [n, inputs] of a task.
func (j *PlannedAux[T]) Keep(run *AuxRun[T], inputs []T, order []int32) {
	if j == nil {
		return
	}
	run.Given = run.Given[:0]
	for _, i := range order {
		run.Given = append(run.Given, inputs[int(i)*j.Inputs:][:j.Inputs]...)
	}
}

// Add does what Record does, in place, for the targets whose inputs the run keeps.
func (j *PlannedAux[T]) Add(f []T, run *AuxRun[T]) {
	if j == nil {
		return
	}
	n := len(f) / j.channels
	run.in = beside(run.in, f, run.Given, j.channels, j.Inputs)
	run.hidden, run.out = reuse.Sized(run.hidden, n*auxWidth), reuse.Sized(run.out, len(f))
	j.hidden.Forward(run.hidden, run.in, n)
	simd.Swish(run.hidden, run.hidden)
	j.out.Forward(run.out, run.hidden, n)
	simd.Add(f, f, run.out)
}
