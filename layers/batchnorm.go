package layers

import (
	"math"

	"github.com/equivcnp/equivcnp/layers/internal/check"
)

// Mode says whether batch normalisation uses batch statistics or running statistics.
type Mode int

// The modes.
const (
	Eval Mode = iota
	Train
)

const (
	bnEps      = 1e-5 // clamps the variance from below; it is not added, unlike in torch.nn.BatchNorm
	bnMomentum = 0.1
)

// BatchNorm normalises each channel over rows: y = (x - mean)/√max(var, 1e-5)·weight + bias. Rows of padding are simply not
// passed, and a row that stands for several equal ones is weighted by their number.
type BatchNorm[T Float] struct {
	Weight, Bias            []T // [c]
	RunningMean, RunningVar []T // [c]; RunningVar is the unbiased variance
}

// NewBatchNorm returns a layer that is the identity in Eval mode: weight 1, bias 0, running mean 0 and variance 1.
func NewBatchNorm[T Float](c int) *BatchNorm[T] {
	check.Size("NewBatchNorm", "c", c)
	b := &BatchNorm[T]{Weight: make([]T, c), Bias: make([]T, c), RunningMean: make([]T, c), RunningVar: make([]T, c)}
	for i := range c {
		b.Weight[i], b.RunningVar[i] = 1, 1
	}
	return b
}

// Params lists the layer's state.
func (b *BatchNorm[T]) Params(prefix string) []Param[T] {
	c := []int{len(b.Weight)}
	return []Param[T]{
		{Name: prefix + "weight", Shape: c, Data: b.Weight},
		{Name: prefix + "bias", Shape: c, Data: b.Bias},
		{Name: prefix + "running_mean", Shape: c, Data: b.RunningMean, Buffer: true},
		{Name: prefix + "running_var", Shape: c, Data: b.RunningVar, Buffer: true},
	}
}

// affine turns mean and variance into scale and shift of y = scale·x + shift.
func (b *BatchNorm[T]) affine(mean, variance func(c int) float64) (scale, shift []T) {
	scale, shift = make([]T, len(b.Weight)), make([]T, len(b.Weight))
	for c := range scale {
		s := float64(b.Weight[c]) / math.Sqrt(max(variance(c), bnEps))
		scale[c] = T(s)
		shift[c] = T(float64(b.Bias[c]) - mean(c)*s)
	}
	return scale, shift
}

// Fold returns the map of Eval mode as y = scale·x + shift, to be merged into a neighbouring linear map.
func (b *BatchNorm[T]) Fold() (scale, shift []T) {
	return b.affine(
		func(c int) float64 { return float64(b.RunningMean[c]) },
		func(c int) float64 { return float64(b.RunningVar[c]) })
}

// observe moves the running statistics a tenth of the way to those of n rows; variance is the biased one.
func (b *BatchNorm[T]) observe(mean, variance []float64, n float64) {
	for i := range mean {
		unbiased := variance[i] * n / max(n-1, 1)
		b.RunningMean[i] = T((1-bnMomentum)*float64(b.RunningMean[i]) + bnMomentum*mean[i])
		b.RunningVar[i] = T((1-bnMomentum)*float64(b.RunningVar[i]) + bnMomentum*unbiased)
	}
}
