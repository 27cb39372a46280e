package cnp

import (
	"slices"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/layers"
)

// family turns the numbers that a network gives into a prediction, by the model's likelihood. Its link says in which order the numbers
// come, and computes with them.
type family[T Float] struct {
	likelihood Likelihood
	link       link[T]
	together   TargetLikelihood // the likelihood, if the values of a target go together
	dy         int
	constants  []T   // [dy, Constants]
	first      []int // of each channel, the one whose constants it has: the components of a vector share them
	waves      *curve.Waves
	noise      float64 // of observed pixels, which keep their values with it; 0: they are predicted as the others are
}

// clone returns a family of its own, whose constants do not follow the model's.
func (f *family[T]) clone() family[T] {
	c := *f
	c.constants = slices.Clone(f.constants)
	return c
}

// numbers is how many numbers the network gives for each value.
func (f *family[T]) numbers() int { return f.likelihood.Outputs() - f.likelihood.Constants() }

// params lists the constants.
func (f *family[T]) params() []layers.Param[T] {
	if len(f.constants) == 0 {
		return nil
	}
	return []layers.Param[T]{{Name: "likelihood.constants", Shape: []int{f.dy, f.likelihood.Constants()}, Data: f.constants}}
}

// newPrediction returns a prediction of n zeros.
func (f *family[T]) newPrediction(n int) *Prediction[T] { return newPrediction[T](f.likelihood, n) }

// buffer is room for the numbers and the parameters of a value, or of a target where its values go together.
func (f *family[T]) buffer() []float64 {
	n := 2 * f.likelihood.Outputs()
	if f.together != nil {
		n *= f.dy
	}
	return make([]float64, n)
}

// link computes predictions from the numbers of a network, and gradients to these. The network gives each target
// [dy·numbers] of them, in the link's order. Where a method takes raw, that is nil or the numbers that a pass keeps,
// [values, numbers] as the values lie in the prediction. buffer is the family's.
type link[T Float] interface {
	// rows sets the values of out from value at on, for the numbers y of targets, one after the other.
	rows(f *family[T], out *Prediction[T], at int, raw, y []T)
	// rowsGrad returns the gradient to y, given that to all values. It may share d's memory.
	rowsGrad(f *family[T], d outGrad[T], at int, y []T) []T
	// pixels sets images lo to hi of a prediction [B, C, n], for the numbers y of their n pixels each.
	pixels(f *family[T], out *Prediction[T], raw []T, n, lo, hi int, y []T)
	// pixelsGrad returns the gradient to y, given that to all values.
	pixelsGrad(f *family[T], d outGrad[T], n, lo, hi int, y []T) []T
	// channel sets the values of channel ch, from value at on, for the numbers y of places, and keeps those that were seen.
	channel(f *family[T], out *Prediction[T], at, ch int, y []T, seen seenPixels[T], buffer []float64)
	// keep makes value v of a prediction, with its parameters, that of a pixel that was observed as y.
	keep(f *family[T], out *Prediction[T], v int, y T, buffer []float64)
	// newRaw returns what a pass of n values keeps of their numbers; nil: nothing.
	newRaw(f *family[T], n int) []T
	// backward, backwardRaw and gradient are Pass.Backward, BackwardRaw and GradientOf, for checked arguments. A link
	// has one of the first two, and panics in the other.
	backward(p *Pass[T], dMean, dStd []T, g *layers.Grads[T])
	backwardRaw(p *Pass[T], d []T, g *layers.Grads[T])
	gradient(p *Pass[T], o Objective, y []T, g *layers.Grads[T]) (loss float64, err error)
}

// seenPixels are the values of places in a row and whether they were observed; without a mask none was.
type seenPixels[T Float] struct {
	y    []T
	mask []bool
}

// keepImage keeps the observed pixels of image b of a whole prediction.
func (f *family[T]) keepImage(out *Prediction[T], im *Images[T], b int) {
	if f.noise == 0 {
		return
	}
	n, buffer := im.H*im.W, f.buffer()
	for v := b * im.C * n; v < (b+1)*im.C*n; v++ {
		if im.Mask[b*n+v%n] {
			f.link.keep(f, out, v, im.Pixels[v], buffer)
		}
	}
}

// outGrad is the gradient to a prediction: to mean and standard deviation, or to the network's numbers [values,
// numbers], whichever the link takes.
type outGrad[T Float] struct{ mean, std, raw []T }
