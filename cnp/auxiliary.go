package cnp

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
// by a small network of their own (auxNet): a prediction depends on its own target's auxiliaries alone, and moves with
// its task as before.

// auxTargets appends the auxiliary inputs [nt, da] of the targets of task t to dst, each so many times; padding has 0.
func (b *Batch[T]) auxTargets(dst []T, t, da, times int) []T {
	for i := range b.Nt {
		at := (t*b.Nt + i) * da
		for range times {
			if b.targetOK(t, i) {
				dst = append(dst, b.AuxTarget[at:at+da]...)
			} else {
				dst = append(dst, make([]T, da)...)
			}
		}
	}
	return dst
}

// auxNet adds to the features f of a target what a network makes of them and of the target's auxiliary inputs a:
//
//	f + B·swish(A·[f, a] + c) + d.
//
// It works on each target alone. Nil, of a model without auxiliary inputs, changes nothing.
type auxNet[T Float] struct {
	hidden, out *layers.Linear[T]
}

// newAuxNet is that of a model whose features have so many channels.
func newAuxNet[T Float](channels int, c *Config, rng *rand.Rand) *auxNet[T] {
	if len(c.Auxiliary) == 0 {
		return nil
	}
	return &auxNet[T]{layers.NewLinear[T](channels+len(c.Auxiliary), auxWidth, rng), layers.NewLinear[T](auxWidth, channels, rng)}
}

func (j *auxNet[T]) params() []layers.Param[T] {
	if j == nil {
		return nil
	}
	return append(j.hidden.Params("auxiliary.0."), j.out.Params("auxiliary.1.")...)
}

// inputs is the number of auxiliary inputs.
func (j *auxNet[T]) inputs() int { return j.hidden.In - j.out.Out }

// beside sets dst to the rows [f, a], for features f [n, c] and auxiliary inputs a [n, da].
func beside[T Float](dst, f, a []T, c, da int) []T {
	dst = dst[:0]
	for i := range len(f) / c {
		dst = append(append(dst, f[i*c:(i+1)*c]...), a[i*da:(i+1)*da]...)
	}
	return dst
}

// auxTape is what an auxNet's backward pass needs: its input, and the hidden layer before and after its activation.
type auxTape[T Float] struct{ in, before, after []T }

// record returns the features [n, c] with the auxiliary inputs a [n, da], and what the backward pass needs.
func (j *auxNet[T]) record(f, a []T) ([]T, *auxTape[T]) {
	if j == nil {
		return f, nil
	}
	n := len(f) / j.out.Out
	tape := &auxTape[T]{in: beside(nil, f, a, j.out.Out, j.inputs()), before: make([]T, n*auxWidth), after: make([]T, n*auxWidth)}
	j.hidden.Forward(tape.before, tape.in, n, simd.ActNone)
	simd.Swish(tape.after, tape.before)
	out := make([]T, len(f))
	j.out.Forward(out, tape.after, n, simd.ActNone)
	simd.Add(out, out, f)
	return out, tape
}

// backward returns the gradient to the features, given that to what record returned.
func (j *auxNet[T]) backward(d []T, tape *auxTape[T], g *layers.Grads[T]) []T {
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

// plannedAux is an auxNet, packed.
type plannedAux[T Float] struct {
	hidden, out *layers.PlannedLinear[T]
	channels    int
	inputs      int
}

// plan is nil for a model without auxiliary inputs.
func (j *auxNet[T]) plan() *plannedAux[T] {
	if j == nil {
		return nil
	}
	return &plannedAux[T]{j.hidden.Plan(), j.out.Plan(), j.out.Out, j.inputs()}
}

// auxRun is the memory of one goroutine.
type auxRun[T Float] struct{ given, in, hidden, out []T }

// targets keeps the auxiliary inputs of some targets of task t, in this order.
func (j *plannedAux[T]) targets(run *auxRun[T], b *Batch[T], t int, order []int32) {
	if j == nil {
		return
	}
	run.given = run.given[:0]
	for _, i := range order {
		at := (t*b.Nt + int(i)) * j.inputs
		run.given = append(run.given, b.AuxTarget[at:at+j.inputs]...)
	}
}

// add does what record does, for the targets that the run keeps, in the place of their features.
func (j *plannedAux[T]) add(f []T, run *auxRun[T]) {
	if j == nil {
		return
	}
	n := len(f) / j.channels
	run.in = beside(run.in, f, run.given, j.channels, j.inputs)
	run.hidden, run.out = reuse.Sized(run.hidden, n*auxWidth), reuse.Sized(run.out, len(f))
	j.hidden.Forward(run.hidden, run.in, n)
	simd.Swish(run.hidden, run.hidden)
	j.out.Forward(run.out, run.hidden, n)
	simd.Add(f, f, run.out)
}
