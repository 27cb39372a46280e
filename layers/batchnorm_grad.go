package layers

import (
	"math"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/layers/internal/reduce"
	"github.com/equivcnp/equivcnp/simd"
)

// BatchNormTape holds what BatchNorm's Backward needs from a forward pass besides its input.
type BatchNormTape[T Float] struct {
	mean, inv []float64 // [c] mean and 1/√max(var, 1e-5); nil: rows were not changed
	// total is the number of rows of one image that the statistics were taken over. It is 0 for running statistics, which are
	// constants.
	total   float64
	weight  []int32
	clamped []bool // [c] the variance was below 1e-5, so that its constant replacement was used

	hi, low, scale []T // [c] the mean in two parts, and weight/std
}

// ForwardTape sets y [rows, c] to the normalised rows of x. In Train mode the statistics are those of the rows, where row i
// counts weight[i] times (nil: once), and the running statistics move a tenth of the way to them. repeat says how often the whole
// set occurs (the number of images that share it); it affects the unbiased variance only. If no row counts, or repeat is 0, nothing
// is normalised and nothing changes. y may be x itself, but Backward needs x again.
func (b *BatchNorm[T]) ForwardTape(y, x []T, weight []int32, repeat int, mode Mode) *BatchNormTape[T] {
	check.Len("BatchNorm", "y", len(y), len(x))
	check.Len("BatchNorm", "x", len(x), len(x)/len(b.Weight), len(b.Weight))
	if weight != nil {
		check.Len("BatchNorm", "x", len(x), len(weight), len(b.Weight))
	}
	m := &moments{}
	if mode == Train {
		m = momentsOf(x, weight, len(b.Weight))
	}
	t := b.tape(m, weight, repeat, mode)
	b.reapply(t, y, x)
	return t
}

// tape determines the map of a forward pass, in Train mode from the rows' moments m.
func (b *BatchNorm[T]) tape(m *moments, weight []int32, repeat int, mode Mode) *BatchNormTape[T] {
	c := len(b.Weight)
	t := &BatchNormTape[T]{weight: weight, clamped: make([]bool, c), inv: make([]float64, c),
		hi: make([]T, c), low: make([]T, c), scale: make([]T, c)}
	mean, variance := m.mean, m.variance
	if mode == Eval {
		mean, variance = make([]float64, c), make([]float64, c)
		for i := range c {
			mean[i], variance[i] = float64(b.RunningMean[i]), float64(b.RunningVar[i])
		}
	} else {
		if t.total = m.total; !(t.total > 0 && repeat > 0) {
			return &BatchNormTape[T]{}
		}
		b.observe(mean, variance, t.total*float64(repeat))
	}
	t.mean = mean
	for i, v := range variance {
		t.inv[i] = 1 / math.Sqrt(max(v, bnEps))
		t.clamped[i] = v < bnEps
		t.scale[i] = T(float64(b.Weight[i]) * t.inv[i])
	}
	split(t.hi, t.low, mean)
	return t
}

// split writes means in two parts: the nearest T, and the remainder.
func split[T Float](hi, low []T, mean []float64) {
	for i, m := range mean {
		hi[i] = T(m)
		low[i] = T(m - float64(hi[i]))
	}
}

// reapply computes the result of the forward pass again. The parameters must not have changed.
func (b *BatchNorm[T]) reapply(t *BatchNormTape[T], y, x []T) {
	c := len(b.Weight)
	parallel.For(len(x)/c, rowGrain, func(lo, hi int) { b.rows(t, y[lo*c:hi*c], x[lo*c:hi*c]) })
}

// rows does what reapply does, for some rows and on this goroutine.
func (b *BatchNorm[T]) rows(t *BatchNormTape[T], y, x []T) {
	if t.mean == nil {
		copy(y, x)
		return
	}
	simd.Norm(y, x, t.hi, t.low, t.scale, b.Bias, len(b.Weight))
}

// Backward adds the gradients of weight and bias to g and sets dx [rows, c] to the gradient of x. dy is the gradient to the rows
// of the result, summed over the pairs that a row stands for; x is the forward pass's input. dx may be dy itself.
//
// With x̂ = (x - mean)/std, m_i the weight of row i and N the sum of all weights, in Train mode
//
//	dx_i = weight/std · (dy_i - m_i/N·(Σ_k dy_k + x̂_i·Σ_k dy_k·x̂_k))
//
// because mean and variance depend on every row. Where the variance is clamped, the last term is 0. Repeated sets share one mean,
// and dy is already summed over them.
func (b *BatchNorm[T]) Backward(dx, dy, x []T, t *BatchNormTape[T], g *Grads[T]) {
	c := len(b.Weight)
	check.Len("BatchNorm.Backward", "dx", len(dx), len(x))
	check.Len("BatchNorm.Backward", "dy", len(dy), len(x))
	check.Len("BatchNorm.Backward", "x", len(x), len(x)/c, c)
	if t.weight != nil {
		check.Len("BatchNorm.Backward", "x", len(x), len(t.weight), c)
	}
	if t.mean == nil {
		copy(dx, dy)
		return
	}
	rows := len(x) / c
	sums := reduce.Rows(rows, rowGrain, 2*c, func(sum []float64, lo, hi int) {
		simd.NormSums(sum[:c], sum[c:], dy[lo*c:hi*c], x[lo*c:hi*c], t.hi, t.low, c)
	})
	k := b.gradient(t, sums, g)
	parallel.For(rows, rowGrain, func(lo, hi int) {
		k.rows(dx[lo*c:hi*c], dy[lo*c:hi*c], x[lo*c:hi*c], t, lo)
	})
}

// normGradient is the map from the gradient of a normalisation's result to the gradient of its rows: dx = a·dy - m·(p + q·(x -
// mean)).
type normGradient[T Float] struct{ a, p, q []T }

// gradient adds the gradients of weight and bias to g, given the sums of dy and dy·(x - mean), and returns the map.
func (b *BatchNorm[T]) gradient(t *BatchNormTape[T], sums []float64, g *Grads[T]) normGradient[T] {
	c := len(b.Weight)
	k := normGradient[T]{make([]T, c), make([]T, c), make([]T, c)}
	dw, db := g.Of(b.Weight), g.Of(b.Bias)
	for i := range c {
		sum, sumX := sums[i], sums[c+i]*t.inv[i] // the second of dy·x̂
		if db != nil {
			db[i] += T(sum)
		}
		if dw != nil {
			dw[i] += T(sumX)
		}
		a := float64(b.Weight[i]) * t.inv[i]
		k.a[i] = T(a)
		if t.total > 0 {
			k.p[i] = T(a * sum / t.total)
			if !t.clamped[i] {
				k.q[i] = T(a * t.inv[i] * sumX / t.total)
			}
		}
	}
	return k
}

// rows applies the map to rows, the first of which has number first of all rows.
func (k *normGradient[T]) rows(dx, dy, x []T, t *BatchNormTape[T], first int) {
	c := len(k.a)
	weight := t.weight
	if weight != nil {
		weight = weight[first : first+len(x)/c]
	}
	simd.NormGrad(dx, dy, x, weight, t.hi, t.low, k.a, k.p, k.q, c)
}

// moments are the weighted means and variances of columns.
type moments struct {
	mean, variance []float64
	total          float64
}

// momentsOf returns the moments of x [rows, c], row i counting weight[i] times (nil: once), in parallel.
func momentsOf[T Float](x []T, weight []int32, c int) *moments {
	rows := len(x) / c
	parts := make([]moments, (rows+rowGrain-1)/rowGrain)
	parallel.For(rows, rowGrain, func(lo, hi int) { parts[lo/rowGrain] = partMoments(x, weight, c, lo, hi) })
	return joinMoments(parts, c)
}

// partMoments returns the moments of rows lo to hi.
func partMoments[T Float](x []T, weight []int32, c, lo, hi int) moments {
	m := moments{mean: make([]float64, c), variance: make([]float64, c)}
	if weight != nil {
		weight = weight[lo:hi]
	}
	m.total = simd.WeightedMoments(m.mean, m.variance, x[lo*c:hi*c], weight, c)
	return m
}

// joinMoments combines the moments of all parts, in their order: a part contributes its own variance and the square of the
// distance of its mean from the mean of all (Chan, Golub, LeVeque 1979). The mean is computed relative to that of the first part.
func joinMoments(parts []moments, c int) *moments {
	all := &moments{mean: make([]float64, c), variance: make([]float64, c)}
	var start []float64
	for _, p := range parts {
		if p.total == 0 {
			continue
		}
		if start == nil {
			start = p.mean
		}
		all.total += p.total
		for i, m := range p.mean {
			all.mean[i] += p.total * (m - start[i])
		}
	}
	if start == nil {
		return all
	}
	for i := range c {
		all.mean[i] = start[i] + all.mean[i]/all.total
	}
	for _, p := range parts {
		if p.total == 0 {
			continue
		}
		for i, v := range p.variance {
			d := p.mean[i] - all.mean[i]
			all.variance[i] += p.total / all.total * (v + d*d)
		}
	}
	return all
}
