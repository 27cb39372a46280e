package eval

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// ContextMean predicts, for each output of a task or channel of an image, the mean and the standard deviation of the values
// that were observed of it, the same everywhere, as a normal distribution. The training values count as one more value of
// their mean and deviation, so that a task without any is predicted, too. A model with that configuration that does no
// better has learned nothing of where values lie. Errors are those of [Constant].
func ContextMean[T cnp.Float](c *cnp.Config) (Predictor[T], error) {
	if _, err := Constant[T](c); err != nil {
		return nil, err
	}
	known := slices.Clone(c.Trained.Y)
	return func(_ context.Context, b *task.Tasks[T]) (*cnp.Prediction[T], error) {
		n, outputs := Count(b), len(known)
		if n == 0 || len(b.Y)%(n*outputs) != 0 {
			return nil, fmt.Errorf("eval: %d values of %d tasks with %d outputs", len(b.Y), n, outputs)
		}
		p := &cnp.Prediction[T]{Mean: make([]T, len(b.Y)), Std: make([]T, len(b.Y))}
		each := len(b.Y) / n
		for k := range n {
			for o, r := range known {
				mean, std := observed(b, k, o, outputs, r)
				for i := range each / outputs {
					at := k*each + i*outputs + o
					if b.Images != nil {
						at = k*each + o*(each/outputs) + i
					}
					p.Mean[at], p.Std[at] = T(mean), T(max(std, math.SmallestNonzeroFloat32))
				}
			}
		}
		return p, nil
	}, nil
}

// observed returns the mean and the standard deviation of what task k observes of an output, and of one training value.
func observed[T cnp.Float](b *task.Tasks[T], k, o, outputs int, trained cnp.Range) (mean, std float64) {
	count, sum, squares := 1.0, 0.0, trained.Std*trained.Std // about the training's mean
	add := func(v T) {
		if d := float64(v) - trained.Mean; d == d {
			count, sum, squares = count+1, sum+d, squares+d*d
		}
	}
	if im := b.Images; im != nil {
		pixels := im.H * im.W
		for i := range pixels {
			if im.Mask[k*pixels+i] {
				add(im.Pixels[(k*outputs+o)*pixels+i])
			}
		}
	} else if c := b.Curves; c != nil {
		for i := k * c.Nc; i < (k+1)*c.Nc; i++ {
			if c.ContextMask == nil || c.ContextMask[i] {
				add(c.YContext[i*outputs+o])
			}
		}
	}
	shift := sum / count
	return trained.Mean + shift, math.Sqrt(max(0, squares/count-shift*shift))
}
