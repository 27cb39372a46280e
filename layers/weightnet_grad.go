package layers

import "github.com/equivcnp/equivcnp/simd"

// keepBytes is the size up to which a WeightNetTape keeps the activations of its forward pass. Beyond it, Backward computes
// them again: a third more work for memory that no longer grows with the number of layers.
const keepBytes = 64 << 20

// WeightNetTape is what a WeightNet's Backward needs of a forward pass. The poses must stay unchanged until then, and so
// must the parameters.
type WeightNetTape[T Float] struct {
	net  *WeightNet[T]
	pose []T
	rows int
	norm [3]*BatchNormTape[T]

	// Kept, or nil: the results of the linear maps [rows, c] and of the swishes behind the first two and the third.
	linear, act [3][]T
}

// ForwardTape returns the convolution weights [rows, out] of the poses [rows, in] in either mode, and what Backward needs.
// count and repeat are as in ForwardTrain.
func (w *WeightNet[T]) ForwardTape(pose []T, rows int, count []int32, repeat int, mode Mode) *WeightNetTape[T] {
	checkLen("WeightNet", "pose", len(pose), rows*w.In())
	t := &WeightNetTape[T]{net: w, pose: pose, rows: rows}
	t.run(func(i int, y, x []T) {
		t.norm[i] = w.Norm[i].ForwardTape(y, x, count, repeat, mode)
	})
	return t
}

// run computes all activations; normalise sets y to the normalised x of layer i.
func (t *WeightNetTape[T]) run(normalise func(i int, y, x []T)) {
	x := t.pose
	for i, l := range t.net.Linear {
		u := make([]T, t.rows*l.Out)
		l.Forward(u, x, t.rows, simd.ActNone)
		y := make([]T, len(u))
		if t.net.Norm[i] != nil {
			normalise(i, y, u)
			swish(y, y)
		} else {
			swish(y, u)
		}
		t.linear[i], t.act[i] = u, y
		x = y
	}
}

// Weights returns the convolution weights [rows, out].
func (t *WeightNetTape[T]) Weights() []T {
	if t.act[2] == nil {
		t.run(func(i int, y, x []T) { t.net.Norm[i].reapply(t.norm[i], y, x) })
	}
	return t.act[2]
}

// Release drops the activations if they are large; Weights and Backward compute them again, to the same bits.
func (t *WeightNetTape[T]) Release() {
	n := 0
	for i := range t.act {
		n += len(t.linear[i]) + len(t.act[i])
	}
	if n*sizeof[T]() > keepBytes {
		t.linear, t.act = [3][]T{}, [3][]T{}
	}
}

// Backward adds the parameters' gradients to g, given the gradient dw [rows, out] to the convolution weights, the pairs and
// images that share a pose taken together. dw is overwritten. dpose [rows, in] gets the gradient to the poses; nil: not
// wanted, as positions are data.
func (t *WeightNetTape[T]) Backward(dpose, dw []T, g *Grads[T]) {
	checkLen("WeightNet.Backward", "dw", len(dw), t.rows*t.net.Out())
	t.Weights()
	dy := dw
	for i := 2; i >= 0; i-- {
		dx := dpose
		if i > 0 {
			dx = make([]T, t.rows*t.net.Linear[i].In)
		}
		t.backward(i, dx, dy, g)
		dy = dx
	}
}

// backward is Backward for layer i: dy [rows, out] is the gradient to its swish, and is overwritten.
func (t *WeightNetTape[T]) backward(i int, dx, dy []T, g *Grads[T]) {
	u, x := t.linear[i], t.pose
	if i > 0 {
		x = t.act[i-1]
	}
	if n := t.net.Norm[i]; n != nil {
		z := make([]T, len(u))
		n.reapply(t.norm[i], z, u)
		swishGrad(dy, z)
		n.Backward(dy, dy, u, t.norm[i], g)
	} else {
		swishGrad(dy, u)
	}
	t.net.Linear[i].Backward(dx, dy, x, t.rows, g)
}
