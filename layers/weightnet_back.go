package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/layers/internal/reduce"
	"github.com/equivcnp/equivcnp/simd"
)

// Backward adds the parameters' gradients to g, given the gradient dw [rows, out] to the convolution weights, summed over the
// pairs and images that share a pose. dw is overwritten. dpose [rows, in] is set to the gradient to the poses; it is usually nil,
// which means not wanted, because positions are data.
//
// A normalisation needs sums over all poses before the gradient of any row is known. So there are three passes over the poses,
// block by block: first through the last swish, then twice from a layer's normalisation through its linear map to the swish
// before. The gradients of the first layer's parameters are such sums themselves.
func (t *WeightNetTape[T]) Backward(dpose, dw []T, g *Grads[T]) {
	check.Len("WeightNet.Backward", "dw", len(dw), t.rows, t.net.Out())
	if dpose != nil {
		check.Len("WeightNet.Backward", "dpose", len(dpose), t.rows, t.net.In())
	}
	t.backward(2, dpose, dw, t.behindWindow(allRows[T]{t.rows, t.net.Out()}), g)
}

// weightGradient computes the gradient to the weights of all poses, part by part, from several goroutines.
type weightGradient[T Float] interface {
	parts() int
	part(k int) (lo, hi int) // the poses of part k; parts follow each other
	width() int              // how many channels are best produced at a time, or all of them
	// produce sets dw [hi-lo, to-from] to channels from to to of the gradient to part k: width channels from a multiple of that, or all.
	produce(dw []T, k, from, to int)
}

// allRows is a gradient that exists already, of so many poses and channels.
type allRows[T Float] struct{ n, c int }

func (a allRows[T]) parts() int                 { return (a.n + rowGrain - 1) / rowGrain }
func (a allRows[T]) part(k int) (lo, hi int)    { return k * rowGrain, min((k+1)*rowGrain, a.n) }
func (a allRows[T]) width() int                 { return a.c }
func (a allRows[T]) produce([]T, int, int, int) {}

// backwardFrom is Backward with a gradient that is computed part by part, and without a gradient to the poses.
func (t *WeightNetTape[T]) backwardFrom(from weightGradient[T], g *Grads[T]) {
	from = t.behindWindow(from)
	if t.between != nil {
		t.between.backwardFrom(from, g)
		return
	}
	if !t.keeps[1] {
		t.backwardAtOnce(from, g)
		return
	}
	dw := buffers.Rent[T](t.rows * t.net.Out())
	t.backward(2, nil, dw, from, g)
	buffers.GiveBack(dw)
}

// behindWindow returns the gradient to the weights before the window.
func (t *WeightNetTape[T]) behindWindow(from weightGradient[T]) weightGradient[T] {
	if t.window == nil {
		return from
	}
	return &windowedGradient[T]{from, t.window}
}

// chunkBounds divides the parts of a gradient into at most maxParts chunks, each of which has sums of its own. It returns the
// first part of each chunk, followed by the number of parts. Nothing here depends on the number of goroutines.
func chunkBounds[T Float](from weightGradient[T]) []int {
	n, bounds := from.parts(), []int{0}
	for step := reduce.PartRows(n, 1); bounds[len(bounds)-1] < n; {
		bounds = append(bounds, min(bounds[len(bounds)-1]+step, n))
	}
	return bounds
}

// backward is Backward for layers 0 to last, last ≥ 1. dy is the gradient to the result of the last layer's swish, after its
// parts have been computed.
func (t *WeightNetTape[T]) backward(last int, dpose, dy []T, from weightGradient[T], g *Grads[T]) {
	t.need()
	bounds := chunkBounds(from)
	chunks := max(1, len(bounds)-1)
	sums, center := t.sums(last, chunks), t.center()
	t.lastSwishBack(last, dy, from, bounds, sums)
	for i := last; i > 0; i-- {
		l := t.net.Linear[i]
		in, out := l.In, l.Out
		norm := t.gradient(i, sums, g)
		sums = t.sums(i-1, chunks)
		packed := simd.Pack(l.Weight, in, out, in)
		// Below the first layer's swish only sums are needed, except for the poses' gradient.
		var dx []T
		if i > 1 || dpose != nil {
			dx = buffers.Rent[T](t.rows * in)
		}
		weight := g.Of(l.Weight)
		parts := make([]T, chunks*len(weight))
		parallel.For(len(bounds)-1, 1, func(chunk, _ int) {
			lo, _ := from.part(bounds[chunk])
			_, hi := from.part(bounds[chunk+1] - 1)
			scratch := buffers.Rent[T](netBlock * (3*in + 2*out))
			z, x := scratch[:netBlock*in], scratch[netBlock*in:2*netBlock*in]
			d, u := scratch[2*netBlock*in:3*netBlock*in], scratch[3*netBlock*in:3*netBlock*in+netBlock*out]
			again := scratch[netBlock*(3*in+out):]
			for at := lo; at < hi; at += netBlock {
				end := min(at+netBlock, hi)
				n := end - at
				du := dy[at*out : end*out]
				if norm != nil {
					norm.rows(u[:n*out], du, t.results(again, i, at, end), t.norm[i], at)
					du = u[:n*out]
				}
				z := t.normalised(z, i-1, at, end)
				simd.Swish(x[:n*in], z)
				if weight != nil {
					simd.GemmTN(parts[chunk*len(weight):][:len(weight)], in, du, out, x[:n*in], in, 1, 1, out, in, n)
				}
				d := d[:n*in]
				if dx != nil {
					d = dx[at*in : end*in]
				}
				simd.GemmPacked(d, in, du, out, packed, nil, simd.ActNone, n)
				if i > 1 {
					u := z // the map's result, if it is not normalised
					if t.linear[i-1] != nil {
						u = t.linear[i-1][at*in : end*in]
					}
					t.swishBack(i-1, d, z, u, sums[chunk])
				} else {
					simd.SwishGrad(d, d, z)
					t.firstSums(sums[chunk], d, center, at, end)
				}
			}
			buffers.GiveBack(scratch)
		})
		for at := 0; at < len(parts); at += len(weight) {
			simd.Add(weight, weight, parts[at:at+len(weight)])
		}
		if i < last {
			buffers.GiveBack(dy) // except the last one, which is the caller's
		}
		dy = dx
	}
	norm := t.firstGradient(total(sums), center, g)
	if dpose != nil {
		t.poseGradient(dpose, dy, norm)
	}
	buffers.GiveBack(dy)
}

// lastSwishBack sets dy to the gradient behind the swish of the last layer, and then to the one before it. It adds to the sums of
// every chunk.
func (t *WeightNetTape[T]) lastSwishBack(last int, dy []T, from weightGradient[T], bounds []int, sums [][]float64) {
	parallel.For(len(bounds)-1, 1, func(chunk, _ int) {
		c := t.net.Linear[last].Out
		scratch := buffers.Rent[T](2 * netBlock * c)
		for k := bounds[chunk]; k < bounds[chunk+1]; k++ {
			lo, hi := from.part(k)
			from.produce(dy[lo*c:hi*c], k, 0, c)
			for at := lo; at < hi; at += netBlock {
				end := min(at+netBlock, hi)
				u := t.results(scratch[netBlock*c:], last, at, end)
				t.swishBack(last, dy[at*c:end*c], t.normalised(scratch, last, at, end), u, sums[chunk])
			}
		}
		buffers.GiveBack(scratch)
	})
}

// onceBlock is the number of poses that pass through all layers and back at once. For the paper's image model they take 330 KB,
// which stays in the second-level cache, and the matrix products that compute the weights' gradients are long enough to outweigh
// adding their sums.
const onceBlock = 256

// backwardAtOnce is backward where neither of the last two layers is normalised. Nothing then waits for sums over all poses, so a
// block of poses passes through all layers and back while it is in the cache.
func (t *WeightNetTape[T]) backwardAtOnce(from weightGradient[T], g *Grads[T]) {
	bounds := chunkBounds(from)
	chunks := max(1, len(bounds)-1)
	center := t.center()
	sums := [3][][]float64{t.sums(0, chunks), t.sums(1, chunks), t.sums(2, chunks)}
	var back [3]*simd.Packed[T]
	var weight, parts [3][]T
	var width [3]int
	for i, l := range t.net.Linear {
		width[i] = l.Out
		if i > 0 {
			back[i], weight[i] = simd.Pack(l.Weight, l.In, l.Out, l.In), g.Of(l.Weight)
			parts[i] = make([]T, chunks*len(weight[i]))
		}
	}
	parallel.For(len(bounds)-1, 1, func(chunk, _ int) {
		scratch := buffers.Rent[T](onceBlock * (3*width[0] + 3*width[1] + width[2]))
		room := scratch
		take := func(c int) []T {
			x := room[:c*onceBlock]
			room = room[len(x):]
			return x
		}
		// For every layer: the input of the swish, its result, and the gradient to the result.
		z := [3][]T{take(width[0]), take(width[1]), take(width[2])}
		x, d := [2][]T{take(width[0]), take(width[1])}, [2][]T{take(width[0]), take(width[1])}
		for k := bounds[chunk]; k < bounds[chunk+1]; k++ {
			lo, hi := from.part(k)
			dw := buffers.Rent[T]((hi - lo) * width[2])
			from.produce(dw, k, 0, width[2])
			for at := lo; at < hi; at += onceBlock {
				end := min(at+onceBlock, hi)
				n := end - at
				t.firstNormalised(z[0][:n*width[0]], at, end)
				for i := 1; i < 3; i++ {
					in := width[i-1]
					simd.Swish(x[i-1][:n*in], z[i-1][:n*in])
					simd.GemmPacked(z[i][:n*width[i]], width[i], x[i-1][:n*in], in, t.packed[i], t.net.Linear[i].Bias, simd.ActNone, n)
				}
				dy := dw[(at-lo)*width[2] : (end-lo)*width[2]]
				for i := 2; i > 0; i-- {
					in := width[i-1]
					simd.SwishGrad(dy, dy, z[i][:len(dy)])
					reduce.Columns(sums[i][chunk][:width[i]], dy)
					if weight[i] != nil {
						simd.GemmTN(parts[i][chunk*len(weight[i]):][:len(weight[i])], in, dy, width[i], x[i-1][:n*in], in, 1, 1,
							width[i], in, n)
					}
					simd.GemmPacked(d[i-1][:n*in], in, dy, width[i], back[i], nil, simd.ActNone, n)
					dy = d[i-1][:n*in]
				}
				simd.SwishGrad(dy, dy, z[0][:len(dy)])
				t.firstSums(sums[0][chunk], dy, center, at, end)
			}
			buffers.GiveBack(dw)
		}
		buffers.GiveBack(scratch)
	})
	for i := 2; i > 0; i-- {
		for at := 0; at < len(parts[i]); at += len(weight[i]) {
			simd.Add(weight[i], weight[i], parts[i][at:at+len(weight[i])])
		}
		reduce.AddTo(g.Of(t.net.Linear[i].Bias), total(sums[i])[:width[i]])
	}
	t.firstGradient(total(sums[0]), center, g)
}

// sums returns room for the sums of every chunk: of the gradient to layer i's normalised values, and of its products with the
// layer's results or, for the first layer, with the poses.
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

// total adds up the sums of the chunks, in order.
func total(chunks [][]float64) []float64 {
	sums := make([]float64, len(chunks[0]))
	for _, c := range chunks {
		for k, v := range c {
			sums[k] += v
		}
	}
	return sums
}

// swishBack takes d, some rows of a gradient, back through the swish of layer i > 0, whose input was z, and adds to the sums; u
// is the result of the layer's linear map.
func (t *WeightNetTape[T]) swishBack(i int, d, z, u []T, sum []float64) {
	c := t.net.Linear[i].Out
	simd.SwishGrad(d, d, z)
	mean, low := buffers.Zeros[T](c), buffers.Zeros[T](c)
	if n := t.norm[i]; n != nil && n.mean != nil {
		mean, low = n.hi, n.low
	}
	simd.NormSums(sum[:c], sum[c:], d, u, mean, low, c)
}

// gradient adds the gradients of layer i's bias and normalisation to g, given the sums of all chunks. It returns the map from the
// gradient to normalised values to the gradient of the linear map's results, or nil if the two are the same.
//
// A bias before a normalisation by the rows' own mean has no effect: its gradient is exactly 0.
func (t *WeightNetTape[T]) gradient(i int, chunks [][]float64, g *Grads[T]) *normGradient[T] {
	l := t.net.Linear[i]
	sums := total(chunks)
	bias := g.Of(l.Bias)
	if t.norm[i] == nil || t.norm[i].mean == nil {
		reduce.AddTo(bias, sums[:l.Out])
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

// windowedGradient is the gradient to the weights before the window, given that to the weights behind it.
type windowedGradient[T Float] struct {
	weightGradient[T]
	window []T
}

func (g *windowedGradient[T]) produce(dw []T, k, from, to int) {
	g.weightGradient.produce(dw, k, from, to)
	lo, hi := g.part(k)
	scaleRows(dw, g.window[lo:hi], to-from)
}
