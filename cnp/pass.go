package cnp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/layers"
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

	tasks  int
	mask   []bool // per value; false at padded targets, nil: all count
	back   func(d outGrad[T], g *layers.Grads[T])
	family *family[T]
	raw    []T // what the network gave, where the link needs it: [values, numbers]
	pixels int // of an image, 0 for curves
	known  *known[T]
	// stages calls show with the results of the model's layers, first to last; show returns false to stop.
	stages func(show func(layer string, v []T) bool)
}

// newPass returns a pass of n values.
func newPass[T Float](f *family[T], n, tasks int, mask []bool) *Pass[T] {
	return &Pass[T]{Prediction: f.newPrediction(n), family: f, tasks: tasks, mask: mask, raw: f.link.newRaw(f, n),
		back: func(outGrad[T], *layers.Grads[T]) {}, stages: func(func(string, []T) bool) {}}
}

// newImagePass is newPass for images.
func newImagePass[T Float](f *family[T], im *Images[T]) *Pass[T] {
	p := newPass(f, len(im.Pixels), im.B, nil)
	p.pixels = im.H * im.W
	return p
}

// channel returns that of value i: the values of an image are channel by channel.
func (p *Pass[T]) channel(i, dy int) int {
	if p.pixels > 0 {
		return i / p.pixels % dy
	}
	return i % dy
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
	if len(dMean) != len(p.Mean) || len(dStd) != len(p.Std) {
		panic(fmt.Sprintf("cnp: Pass.Backward: len(dMean) = %d, len(dStd) = %d, need %d", len(dMean), len(dStd), len(p.Mean)))
	}
	p.family.link.backward(p, dMean, dStd, g)
}

// BackwardRaw does what Backward does, under any likelihood but the normal one: it takes the gradients d [values, Outputs]
// to the numbers that Likelihood.Parameters turns into parameters. Where the values of a target are joint, all of them
// count if one of them does.
func (p *Pass[T]) BackwardRaw(d []T, g *layers.Grads[T]) { p.family.link.backwardRaw(p, d, g) }

// Gradient is like GradientOf with the authors' loss.
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
	return p.family.link.gradient(p, o, y, g)
}

// LogLikelihood returns the log-likelihood of the true values y, and how many of them count: that of the prediction alone, without an
// objective's noise.
func (p *Pass[T]) LogLikelihood(y []T) (sum float64, n int) {
	if p.known != nil && len(y) > 0 && p.known.y == &y[0] { // GradientOf has just computed it
		return p.known.sum, p.known.n
	}
	return p.LogDensities(p.tasks, y, p.mask)
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
