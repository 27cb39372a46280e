package layers

import (
	"math"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// BatchNormTape is what BatchNorm's Backward needs of a forward pass besides its input.
type BatchNormTape[T Float] struct {
	mean, inv []float64 // [c] mean and 1/√max(var, 1e-5); nil: the rows passed unchanged
	// total is the number of rows that the statistics were taken over, one image's; 0: running statistics, constants.
	total   float64
	weight  []int32
	clamped []bool // [c] the variance was below the least one, so it is a constant
}

// ForwardTape sets y [rows, c] to the normalised rows of x, in either mode, and in Train mode moves the running
// statistics: see ForwardTrain. y may be x itself, but Backward wants x again.
func (b *BatchNorm[T]) ForwardTape(y, x []T, weight []int32, repeat int, mode Mode) *BatchNormTape[T] {
	c := len(b.Weight)
	t := &BatchNormTape[T]{mean: make([]float64, c), inv: make([]float64, c), weight: weight, clamped: make([]bool, c)}
	variance := make([]float64, c)
	if mode == Eval {
		for i := range c {
			t.mean[i], variance[i] = float64(b.RunningMean[i]), float64(b.RunningVar[i])
		}
	} else {
		t.total = simd.WeightedMoments(t.mean, variance, x, weight, c)
		if !(t.total > 0) {
			copy(y, x)
			return &BatchNormTape[T]{}
		}
		b.observe(t.mean, variance, t.total*float64(repeat))
	}
	for i, v := range variance {
		t.inv[i] = 1 / math.Sqrt(max(v, bnEps))
		t.clamped[i] = v < bnEps
	}
	b.reapply(t, y, x)
	return t
}

// reapply computes the result of the forward pass again. The parameters must be those of the forward pass.
func (b *BatchNorm[T]) reapply(t *BatchNormTape[T], y, x []T) {
	if t.mean == nil {
		copy(y, x)
		return
	}
	scale := make([]T, len(b.Weight))
	for i := range scale {
		scale[i] = T(float64(b.Weight[i]) * t.inv[i])
	}
	b.normalise(y, x, t.mean, scale)
}

// Backward adds the gradients of weight and bias to g and sets dx [rows, c] to that of x. dy is the gradient to the rows
// of the result, the pairs that a row stands for taken together; x is the forward pass's input. dx may be dy itself.
//
// With x̂ = (x - mean)/std, m the weight of a row and N the sum of all, in Train mode
//
//	dx_i = weight/std · (dy_i - m_i/N·(Σ_k dy_k + x̂_i·Σ_k dy_k·x̂_k))
//
// since mean and variance move with every row; where the variance is clamped the last term is 0. Repeated sets have one
// mean, and dy already sums over them.
func (b *BatchNorm[T]) Backward(dx, dy, x []T, t *BatchNormTape[T], g *Grads[T]) {
	c := len(b.Weight)
	checkLen("BatchNorm.Backward", "dx", len(dx), len(x))
	checkLen("BatchNorm.Backward", "dy", len(dy), len(x))
	if t.mean == nil {
		copy(dx, dy)
		return
	}
	rows := len(x) / c
	sums := sumRows(rows, rowGrain, 2*c, func(sum []float64, lo, hi int) {
		for at := lo * c; at < hi*c; at += c {
			for i, v := range dy[at : at+c] {
				d := float64(v)
				sum[i] += d
				sum[c+i] += d * ((float64(x[at+i]) - t.mean[i]) * t.inv[i])
			}
		}
	})
	addTo(g.Of(b.Bias), sums[:c])
	addTo(g.Of(b.Weight), sums[c:])

	parallel.For(rows, rowGrain, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			m := 0.0
			if t.total > 0 {
				m = 1 / t.total
				if t.weight != nil {
					m *= float64(t.weight[r])
				}
			}
			for i := range c {
				at := r*c + i
				d := float64(dy[at])
				if m > 0 {
					common := sums[i]
					if !t.clamped[i] {
						common += (float64(x[at]) - t.mean[i]) * t.inv[i] * sums[c+i]
					}
					d -= m * common
				}
				dx[at] = T(float64(b.Weight[i]) * t.inv[i] * d)
			}
		}
	})
}
