package layers

import (
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// keepBytes is how much the tapes of all passes together keep of what their forward passes computed: 4 GiB, 512 MiB where addresses
// have 32 bits. Beyond it, Backward computes a layer's part again, to the same bits: a third more work for memory that no longer
// grows with the number of layers.
var keepBytes = int64(1) << (26 + 3*(bits.UintSize/32)) // a variable for tests

// kept is what tapes keep now, in bytes.
var kept atomic.Int64

// netBlock is the number of poses that go through all that lies between two sums over all poses at once, while they are in the
// cache: batch normalisation of one layer, swish, the linear map of the next.
const netBlock = 64

// WeightNetTape is what a WeightNet's Backward needs of a forward pass. The poses must stay unchanged until then, and so
// must the parameters.
type WeightNetTape[T Float] struct {
	net  *WeightNet[T]
	pose []T
	rows int
	norm [3]*BatchNormTape[T] // nil: no normalisation

	first firstLayer[T]

	// Kept, or nil: the results of the second and third linear map [rows, c], and the weights once somebody asked for them. What lies
	// between is computed again, block by block, which takes less time than fetching it from memory.
	linear  [3][]T
	weights []T

	kept      int64 // their bytes, as far as they count
	forgotten runtime.Cleanup
}

// ForwardTape returns the convolution weights [rows, out] of the poses [rows, in] in either mode, and what Backward needs.
// count and repeat are as in ForwardTrain.
func (w *WeightNet[T]) ForwardTape(pose []T, rows int, count []int32, repeat int, mode Mode) *WeightNetTape[T] {
	checkLen("WeightNet", "pose", len(pose), rows*w.In())
	t := &WeightNetTape[T]{net: w, pose: pose, rows: rows}
	t.prepareFirst(count, mode, func(m *moments) *BatchNormTape[T] { return w.Norm[0].tape(m, count, repeat, mode) })
	t.run(func(i int, parts []moments) {
		if n := w.Norm[i]; n != nil {
			m := &moments{}
			if mode == Train {
				m = joinMoments(parts, n.width())
			}
			t.norm[i] = n.tape(m, count, repeat, mode)
		}
	}, count, mode)
	return t
}

func (b *BatchNorm[T]) width() int { return len(b.Weight) }

// run computes all activations behind the first layer's normalisation. After layer i's linear map, normalise gets the moments of
// its results by parts, in Train mode.
func (t *WeightNetTape[T]) run(normalise func(i int, parts []moments), count []int32, mode Mode) {
	for i, l := range t.net.Linear {
		if i == 0 {
			continue
		}
		in, out := l.In, l.Out
		packed := simd.PackTransposed(l.Weight, in, in, out)
		u := rent[T](t.rows * out)
		t.linear[i] = u
		var parts []moments
		if t.net.Norm[i] != nil && mode == Train {
			parts = make([]moments, (t.rows+rowGrain-1)/rowGrain)
		}
		parallel.For(t.rows, rowGrain, func(lo, hi int) {
			x := rent[T](netBlock * in)
			for at := lo; at < hi; at += netBlock {
				end := min(at+netBlock, hi)
				simd.GemmPacked(u[at*out:end*out], out, t.input(x, i, at, end), in, packed, l.Bias, simd.ActNone, end-at)
			}
			giveBack(x)
			if parts != nil {
				parts[lo/rowGrain] = partMoments(u, count, out, lo, hi)
			}
		})
		normalise(i, parts)
	}
}

// need computes the results of the linear maps again if they were dropped.
func (t *WeightNetTape[T]) need() {
	if t.linear[2] == nil {
		t.run(func(int, []moments) {}, nil, Eval)
	}
}

// input returns rows lo to hi of layer i's input, i > 0, in scratch.
func (t *WeightNetTape[T]) input(scratch []T, i, lo, hi int) []T {
	x := scratch[:(hi-lo)*t.net.Linear[i].In]
	t.activate(x, i-1, lo, hi)
	return x
}

// activate sets y to rows lo to hi of layer i's activation.
func (t *WeightNetTape[T]) activate(y []T, i, lo, hi int) {
	simd.Swish(y, t.normalised(y, i, lo, hi))
}

// normalised returns rows lo to hi of what goes into layer i's swish, in scratch where it is not kept.
func (t *WeightNetTape[T]) normalised(scratch []T, i, lo, hi int) []T {
	c := t.net.Linear[i].Out
	if i == 0 {
		t.firstNormalised(scratch[:(hi-lo)*c], lo, hi)
		return scratch[:(hi-lo)*c]
	}
	u := t.linear[i][lo*c : hi*c]
	if t.norm[i] == nil {
		return u
	}
	t.net.Norm[i].rows(t.norm[i], scratch[:len(u)], u)
	return scratch[:len(u)]
}

// Weights returns the convolution weights [rows, out].
func (t *WeightNetTape[T]) Weights() []T {
	if t.weights == nil {
		t.need()
		c := t.net.Out()
		t.weights = rent[T](t.rows * c)
		parallel.For(t.rows, rowGrain, func(lo, hi int) { t.activate(t.weights[lo*c:hi*c], 2, lo, hi) })
	}
	return t.weights
}

// weightsOf sets dst [len(poses), out] to the weights of some poses, in ascending order. need must have been called. It may run
// concurrently.
func (t *WeightNetTape[T]) weightsOf(dst []T, poses []int32) {
	c := t.net.Out()
	gathered := rent[T](netBlock * c)
	for lo := 0; lo < len(poses); lo += netBlock {
		block := poses[lo:min(lo+netBlock, len(poses))]
		n := len(block)
		u, y := t.linear[2][int(block[0])*c:], dst[lo*c:(lo+n)*c]
		if int(block[n-1]-block[0]) == n-1 { // as they ascend, they follow each other
			u = u[:n*c]
		} else {
			for k, q := range block {
				copy(gathered[k*c:(k+1)*c], t.linear[2][int(q)*c:])
			}
			u = gathered[:n*c]
		}
		if t.norm[2] != nil {
			t.net.Norm[2].rows(t.norm[2], y, u)
			u = y
		}
		simd.Swish(y, u)
	}
	giveBack(gathered)
}

// Release drops the activations if those of all tapes together would be too much; Weights and Backward compute them again, to the
// same bits.
func (t *WeightNetTape[T]) Release() {
	n := len(t.weights)
	for _, u := range t.linear {
		n += len(u)
	}
	if n == 0 || t.kept != 0 {
		return
	}
	t.kept = int64(n * sizeof[T]())
	if kept.Add(t.kept) > keepBytes {
		t.drop()
		return
	}
	// Whoever forgets a tape without Backward gives back its share, too.
	t.forgotten = runtime.AddCleanup(t, func(n int64) { kept.Add(-n) }, t.kept)
}

// drop gives the activations back.
func (t *WeightNetTape[T]) drop() {
	giveBack(t.linear[:]...)
	giveBack(t.weights)
	t.forgotten.Stop()
	kept.Add(-t.kept)
	t.linear, t.weights, t.kept = [3][]T{}, nil, 0
}

// Backward adds the parameters' gradients to g, given the gradient dw [rows, out] to the convolution weights, the pairs and
// images that share a pose taken together. dw is overwritten. dpose [rows, in] gets the gradient to the poses; nil: not
// wanted, as positions are data.
//
// A normalisation needs sums over all poses before a row's gradient is known. So the poses go by three times, a block at a time:
// first through the last swish; then twice from a layer's normalisation through its linear map to the swish before. What the
// first layer's parameters get are such sums themselves.
func (t *WeightNetTape[T]) Backward(dpose, dw []T, g *Grads[T]) {
	checkLen("WeightNet.Backward", "dw", len(dw), t.rows*t.net.Out())
	t.backward(2, dpose, dw, nil, g)
}

// produceRows is how many poses produce is asked for at a time: their gradients are still in the second-level cache when they go
// through the last swish.
const produceRows = 1 << 10

// BackwardFrom is Backward with a gradient that produce writes, poses lo to hi at a time, from several goroutines.
func (t *WeightNetTape[T]) BackwardFrom(dpose []T, produce func(dw []T, lo, hi int), g *Grads[T]) {
	dw := rent[T](t.rows * t.net.Out())
	t.backward(2, dpose, dw, produce, g)
	giveBack(dw)
}

// backward is Backward for the layers up to the given one, at least the second, whose swish dy is the gradient to, after produce,
// if there is one, has written it.
func (t *WeightNetTape[T]) backward(last int, dpose, dy []T, produce func(dy []T, lo, hi int), g *Grads[T]) {
	t.need()
	grain := partRows(t.rows, rowGrain)
	chunks := max(1, (t.rows+grain-1)/grain)
	sums, center := t.sums(last, chunks), t.center()
	parallel.For(t.rows, grain, func(lo, hi int) {
		c := t.net.Linear[last].Out
		scratch := rent[T](netBlock * c)
		for from := lo; from < hi; from += produceRows {
			to := min(from+produceRows, hi)
			if produce != nil {
				produce(dy[from*c:to*c], from, to)
			}
			for at := from; at < to; at += netBlock {
				end := min(at+netBlock, to)
				t.swishBack(last, dy[at*c:end*c], t.normalised(scratch, last, at, end), sums[lo/grain], at, end)
			}
		}
		giveBack(scratch)
	})
	for i := last; i > 0; i-- {
		l := t.net.Linear[i]
		in, out := l.In, l.Out
		norm := t.gradient(i, sums, g)
		sums = t.sums(i-1, chunks)
		packed := simd.Pack(l.Weight, in, out, in)
		// Behind the first layer's swish only the sums are wanted, but for the poses' gradient.
		var dx []T
		if i > 1 || dpose != nil {
			dx = rent[T](t.rows * in)
		}
		weight := g.Of(l.Weight)
		parts := make([]T, chunks*len(weight))
		parallel.For(t.rows, grain, func(lo, hi int) {
			scratch := rent[T](netBlock * (3*in + out))
			z, x := scratch[:netBlock*in], scratch[netBlock*in:2*netBlock*in]
			d, u := scratch[2*netBlock*in:3*netBlock*in], scratch[3*netBlock*in:]
			for at := lo; at < hi; at += netBlock {
				end := min(at+netBlock, hi)
				n := end - at
				du := dy[at*out : end*out]
				if norm != nil {
					norm.rows(u[:n*out], du, t.linear[i][at*out:end*out], t.norm[i], at)
					du = u[:n*out]
				}
				z := t.normalised(z, i-1, at, end)
				simd.Swish(x[:n*in], z)
				if weight != nil {
					simd.GemmTN(parts[lo/grain*len(weight):][:len(weight)], in, du, out, x[:n*in], in, 1, 1, out, in, n)
				}
				d := d[:n*in]
				if dx != nil {
					d = dx[at*in : end*in]
				}
				simd.GemmPacked(d, in, du, out, packed, nil, simd.ActNone, n)
				if i > 1 {
					t.swishBack(i-1, d, z, sums[lo/grain], at, end)
				} else {
					simd.SwishGrad(d, d, z)
					t.firstSums(sums[lo/grain], d, center, at, end)
				}
			}
			giveBack(scratch)
		})
		for at := 0; at < len(parts); at += len(weight) {
			simd.Add(weight, weight, parts[at:at+len(weight)])
		}
		if i < last {
			giveBack(dy) // the last one is the caller's
		}
		dy = dx
	}
	norm := t.firstGradient(total(sums), center, g)
	if dpose != nil {
		t.poseGradient(dpose, dy, norm)
	}
	giveBack(dy)
}

// sums returns room for every chunk's sums of the gradient to layer i's normalised values and of its products with the
// layer's results, or, for the first layer, with the poses.
func (t *WeightNetTape[T]) sums(i, chunks int) [][]float64 {
	width := 2 * t.net.Linear[i].Out
	if i == 0 {
		width = (1 + t.net.In()) * t.net.Linear[0].Out
	}
	out := make([][]float64, chunks)
	for k := range out {
		out[k] = make([]float64, width)
	}
	return out
}

// total adds up the chunks' sums, in their order.
func total(chunks [][]float64) []float64 {
	sums := make([]float64, len(chunks[0]))
	for _, c := range chunks {
		for k, v := range c {
			sums[k] += v
		}
	}
	return sums
}

// swishBack takes d, rows lo to hi of a gradient, through layer i's swish, i > 0, given what went into it, and adds to their
// sums.
func (t *WeightNetTape[T]) swishBack(i int, d, z []T, sum []float64, lo, hi int) {
	c := t.net.Linear[i].Out
	simd.SwishGrad(d, d, z)
	mean, low := zeros[T](c), zeros[T](c)
	if n := t.norm[i]; n != nil && n.mean != nil {
		mean, low = n.hi, n.low
	}
	simd.NormSums(sum[:c], sum[c:], d, t.linear[i][lo*c:hi*c], mean, low, c)
}

// gradient adds the gradients of layer i's bias and normalisation to g, given all chunks' sums, and returns the map from the
// gradient to normalised values to that of the linear map's results; nil: they are the same.
//
// A bias in front of a normalisation by the rows' own mean changes nothing: its gradient is 0, exactly.
func (t *WeightNetTape[T]) gradient(i int, chunks [][]float64, g *Grads[T]) *normGradient[T] {
	l := t.net.Linear[i]
	sums := total(chunks)
	bias := g.Of(l.Bias)
	if t.norm[i] == nil || t.norm[i].mean == nil {
		addTo(bias, sums[:l.Out])
		return nil
	}
	k := t.net.Norm[i].gradient(t.norm[i], sums, g)
	if t.norm[i].total == 0 {
		for j := range bias {
			bias[j] += k.a[j] * T(sums[j])
		}
	}
	return &k
}
