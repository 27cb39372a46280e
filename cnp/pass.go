package cnp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// TrainableRegressor is a Regressor that can be trained. All curve models are.
type TrainableRegressor[T Float] interface {
	Regressor[T]
	// Differentiate is Predict with all tasks at once, and keeps what a backward pass needs. In Train mode batch normalisation
	// uses the statistics of the batch, and updates its running statistics and the radii; nothing else may use the model during
	// that call. In Eval mode they do not change.
	Differentiate(ctx context.Context, b *Batch[T], mode layers.Mode) (*Pass[T], error)
}

// TrainableCompleter is a Completer that can be trained. All image models are.
type TrainableCompleter[T Float] interface {
	Completer[T]
	// Differentiate does for Complete what TrainableRegressor's does for Predict.
	Differentiate(ctx context.Context, im *Images[T], mode layers.Mode) (*Pass[T], error)
}

// Pass is a prediction that can be differentiated. Until Backward, the batch and the model's parameters must stay
// unchanged.
type Pass[T Float] struct {
	*Prediction[T]

	tasks int
	mask  []bool // per value; false at padded targets, nil: all count
	back  func(d outGrad[T], g *layers.Grads[T])
	// Under another likelihood than the normal one raw [values, numbers] is what the network gave. pixels is the number of an
	// image's, 0 for curves.
	family *family[T]
	raw    []T
	pixels int
	known  *known[T]
	// stages calls show with the results of the model's layers, first to last; show returns false to stop.
	stages func(show func(layer string, v []T) bool)
}

// known is the log-likelihood of the values that begin at y.
type known[T Float] struct {
	y   *T
	sum float64
	n   int
}

// NotFinite names the first layer whose result held NaN or infinity, by the beginning of its parameters' names; "" if there is
// none.
func (p *Pass[T]) NotFinite() string {
	found := ""
	p.stages(func(layer string, v []T) bool {
		for _, x := range v {
			if x-x != 0 {
				found = layer
				return false
			}
		}
		return true
	})
	return found
}

// Backward adds to g the gradients of all parameters, given those to mean and standard deviation. What stands at padded
// targets is not read. It is for the normal likelihood; under others see BackwardRaw.
func (p *Pass[T]) Backward(dMean, dStd []T, g *layers.Grads[T]) {
	if p.family.likelihood != nil {
		panic("cnp: Pass.Backward: the likelihood is " + p.family.likelihood.Name() + ", which has BackwardRaw")
	}
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
	p.back(outGrad[T]{mean: dMean, std: dStd}, g)
}

// Objective changes the loss of Pass.Gradient. The zero value is the authors' loss.
type Objective struct {
	// Noise is the standard deviation of noise that the true values are assumed to have: the loss is the mean over all such
	// noise, in closed form. Standard deviations then learn not to fall below it. Noise that decreases during training keeps the
	// model from gaining likelihood by small deviations around poor means, where a single outlier would outweigh all other
	// values.
	Noise float64
	// Beta multiplies the gradient of every value by std^(2·Beta), from 0 to 1; the reported loss stays the likelihood. 0 is the
	// gradient of the likelihood, in which the values that are predicted best count most, and one outlier among them outweighs
	// all others; with 1, means learn as from the squared error. The optimum of every single value is the same for all Beta.
	// (Seitzer et al., On the pitfalls of heteroscedastic uncertainty estimation with probabilistic neural networks, ICLR 2022.)
	Beta float64
	// Tasks replaces B, the number that the sum is divided by; 0 keeps the number of tasks of the pass. For a step of several
	// passes, set it to the number of tasks of all of them.
	Tasks int
	// Counts says which of the true values count, as a mask says it besides; the others are not read, and LogLikelihood leaves them out as well. Nil: all.
	Counts []bool
}

// Gradient is GradientOf with the authors' loss.
func (p *Pass[T]) Gradient(y []T, g *layers.Grads[T]) (loss float64, err error) {
	return p.GradientOf(Objective{}, y, g)
}

// GradientOf returns the loss of the pass for the true values y, laid out as Mean is,
//
//	loss = -1/B · Σ (log N(y; mean, std²) - noise²/(2 std²)),
//
// the sum over everything that counts divided by the number of tasks or images, as the authors take it; its gradients are
// added to g. Values of y at padded targets are not read.
func (p *Pass[T]) GradientOf(o Objective, y []T, g *layers.Grads[T]) (loss float64, err error) {
	if len(y) != len(p.Mean) {
		return 0, fmt.Errorf("%w: y has %d values, the prediction %d", ErrShape, len(y), len(p.Mean))
	}
	if !(o.Beta >= 0 && o.Beta <= 1) {
		return 0, fmt.Errorf("%w: beta = %v, need 0 to 1", ErrRange, o.Beta)
	}
	if o.Counts != nil {
		if len(o.Counts) != len(y) {
			return 0, fmt.Errorf("%w: counts has %d values, the prediction %d", ErrShape, len(o.Counts), len(p.Mean))
		}
		fewer := slices.Clone(o.Counts)
		for i := range p.mask {
			fewer[i] = fewer[i] && p.mask[i]
		}
		p.mask = fewer
	}
	for i, v := range y {
		if f := float64(v); math.IsNaN(f-f) && (p.mask == nil || p.mask[i]) {
			return 0, fmt.Errorf("%w: y[%d] = %v", ErrValue, i, v)
		}
	}
	if o.Tasks == 0 {
		o.Tasks = max(1, p.tasks)
	}
	if p.family.likelihood != nil {
		return p.gradientOf(o, y, g)
	}
	dMean, dStd := make([]T, len(y)), make([]T, len(y))
	loss = gaussianLoss(dMean, dStd, p.Mean, p.Std, y, p.mask, 1/float64(o.Tasks), o)
	p.Backward(dMean, dStd, g)
	return loss, nil
}

// LogLikelihood is the log-likelihood of the true values y, and how many of them count: that of the prediction alone, without an
// objective's noise.
func (p *Pass[T]) LogLikelihood(y []T) (sum float64, n int) {
	if p.known != nil && len(y) > 0 && p.known.y == &y[0] { // GradientOf has just computed it
		return p.known.sum, p.known.n
	}
	return p.LogDensities(p.tasks, y, p.mask)
}

// gaussianLoss returns -scale · Σ log N(y + ε; mean, std²), averaged over ε of deviation o.Noise, and writes its gradients: with
// z = (y - mean)/std and q = z² + (noise/std)²,
//
//	loss = scale · Σ (q/2 + log std + log(2π)/2),  dMean = -scale·z/std · std^2β,  dStd = scale·(1 - q)/std · std^2β.
func gaussianLoss[T Float](dMean, dStd, mean, std, y []T, mask []bool, scale float64, o Objective) float64 {
	sum := 0.0
	for i := range y {
		if mask == nil || mask[i] {
			s := float64(std[i])
			z, e := (float64(y[i])-float64(mean[i]))/s, o.Noise/s
			q := z*z + e*e
			sum += 0.5*q + math.Log(s) + 0.5*math.Log(2*math.Pi)
			g := scale / s
			if o.Beta != 0 {
				g *= math.Pow(s, 2*o.Beta)
			}
			dMean[i], dStd[i] = T(-g*z), T(g*(1-q))
		}
	}
	return scale * sum
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

// spreadGrad returns the gradient to the pre-activation of a second output v = softplus(u), from which toStd made the standard
// deviation. Where the floor acts, the derivative of the clamp is 0 and nothing is learned.
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
