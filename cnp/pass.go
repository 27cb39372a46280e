package cnp

import (
	"context"
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// TrainableRegressor is a Regressor that can be trained. All curve models are.
type TrainableRegressor[T Float] interface {
	Regressor[T]
	// Differentiate is Predict with all tasks in one go, remembering what a backward pass needs. In Train mode batch
	// normalisation uses the statistics of the batch, and moves its running statistics and the radii; nothing else may use
	// the model then. In Eval mode they stay as they are.
	Differentiate(ctx context.Context, b *Batch[T], mode layers.Mode) (*Pass[T], error)
}

// TrainableCompleter is a Completer that can be trained. All image models are.
type TrainableCompleter[T Float] interface {
	Completer[T]
	// Differentiate is to Complete what TrainableRegressor's is to Predict.
	Differentiate(ctx context.Context, im *Images[T], mode layers.Mode) (*Pass[T], error)
}

// Pass is a prediction that can be differentiated. Until Backward, the batch and the model's parameters must stay
// unchanged.
type Pass[T Float] struct {
	*Prediction[T]

	tasks int
	mask  []bool // per value; false at padded targets, nil: all count
	back  func(dMean, dStd []T, g *layers.Grads[T])
}

// Backward adds to g the gradients of all parameters, given those to mean and standard deviation. What stands at padded
// targets is not read.
func (p *Pass[T]) Backward(dMean, dStd []T, g *layers.Grads[T]) {
	if len(dMean) != len(p.Mean) || len(dStd) != len(p.Std) {
		panic(fmt.Sprintf("cnp: Pass.Backward: len(dMean) = %d, len(dStd) = %d, need %d", len(dMean), len(dStd), len(p.Mean)))
	}
	if p.mask != nil {
		m, s := make([]T, len(dMean)), make([]T, len(dStd))
		for i, ok := range p.mask {
			if ok {
				m[i], s[i] = dMean[i], dStd[i]
			}
		}
		dMean, dStd = m, s
	}
	p.back(dMean, dStd, g)
}

// Gradient returns the loss of the pass for the true values y, laid out as Mean is,
//
//	loss = -1/B · Σ log N(y; mean, std²),
//
// the sum over everything that counts divided by the number of tasks or images, as the authors take it; its gradients are
// added to g. Values of y at padded targets are not read.
func (p *Pass[T]) Gradient(y []T, g *layers.Grads[T]) (loss float64, err error) {
	if len(y) != len(p.Mean) {
		return 0, fmt.Errorf("%w: y has %d values, the prediction %d", ErrShape, len(y), len(p.Mean))
	}
	for i, v := range y {
		if f := float64(v); math.IsNaN(f-f) && (p.mask == nil || p.mask[i]) {
			return 0, fmt.Errorf("%w: y[%d] = %v", ErrValue, i, v)
		}
	}
	dMean, dStd := make([]T, len(y)), make([]T, len(y))
	loss = gaussianLoss(dMean, dStd, p.Mean, p.Std, y, p.mask, 1/float64(max(1, p.tasks)))
	p.Backward(dMean, dStd, g)
	return loss, nil
}

// gaussianLoss returns -scale · Σ log N(y; mean, std²) and writes its gradients: with z = (y - mean)/std,
//
//	dMean = -scale·z/std,  dStd = scale·(1 - z²)/std.
func gaussianLoss[T Float](dMean, dStd, mean, std, y []T, mask []bool, scale float64) float64 {
	ll, _ := LogLikelihood(mean, std, y, mask)
	for i := range y {
		if mask == nil || mask[i] {
			s := float64(std[i])
			z := (float64(y[i]) - float64(mean[i])) / s
			dMean[i], dStd[i] = T(-scale*z/s), T(scale*(1-z*z)/s)
		}
	}
	return -scale * ll
}

// valueMask returns the target mask [B, Nt] for every one of a target's dy values, nil if all count.
func (b *Batch[T]) valueMask(dy int) []bool {
	if b.TargetMask == nil {
		return nil
	}
	out := make([]bool, 0, len(b.TargetMask)*dy)
	for _, ok := range b.TargetMask {
		for range dy {
			out = append(out, ok)
		}
	}
	return out
}

// spreadGrad returns the gradient to the pre-activation of a second output v = softplus(u), of which toStd made the standard
// deviation. Where the floor acts nothing is learned: the clamp's derivative is 0.
func spreadGrad[T Float](dStd, v []T, o Output, floor float64) []T {
	d := make([]T, len(v))
	for i, x := range v {
		if x > T(floor) {
			d[i] = stdGrad(dStd[i], x, o)
		}
	}
	simd.SoftplusGrad(d, d, v)
	return d
}

// stdGrad is the gradient to a second output v > 0, given that to the standard deviation.
func stdGrad[T Float](dStd, v T, o Output) T {
	if o == OutputVariance {
		return dStd / (2 * sqrt(v))
	}
	return dStd
}

// sumLifts is the gradient of repeatRows: dx [n·k, c] summed over the k lifts of each point.
func sumLifts[T Float](dx []T, c, k int) []T {
	if k == 1 {
		return dx
	}
	out := make([]T, len(dx)/k)
	for i := range len(dx) / c {
		row := out[i/k*c:][:c]
		simd.Add(row, row, dx[i*c:(i+1)*c])
	}
	return out
}

// spreadLifts is the gradient of meanRows: a k-th of dx [n, c] for each of a point's k lifts.
func spreadLifts[T Float](dx []T, c, k int) []T {
	if k == 1 {
		return dx
	}
	out := repeatRows(dx, c, k)
	simd.Scale(out, 1/T(k), out)
	return out
}
