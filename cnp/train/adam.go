package train

import (
	"errors"
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// ErrNotFinite is wrapped by the error of a step whose gradients hold NaN or infinity.
var ErrNotFinite = errors.New("gradient is not finite")

// AdamConfig is everything that fixes the optimiser but its state. DefaultAdam fills it.
type AdamConfig struct {
	Rate  float64 `json:"rate"`
	Beta1 float64 `json:"beta1"`
	Beta2 float64 `json:"beta2"`
	// Epsilon is positive: without it a parameter whose gradients were all 0 would move by 0/0.
	Epsilon float64 `json:"epsilon"`
	// WeightDecay pulls the parameters towards 0. Decoupled (AdamW) it shrinks them by Rate·WeightDecay per step, beside
	// Adam's step; otherwise WeightDecay·p is added to the gradient, PyTorch's L2 penalty.
	WeightDecay float64 `json:"weight_decay,omitempty"`
	Decoupled   bool    `json:"decoupled,omitempty"`
	// ClipNorm > 0 scales the gradients down where the norm of all of them together exceeds it.
	ClipNorm float64 `json:"clip_norm,omitempty"`
	// Schedule multiplies the rate.
	Schedule Schedule `json:"schedule,omitzero"`
}

// DefaultAdam is PyTorch's Adam with that rate.
func DefaultAdam(rate float64) AdamConfig {
	return AdamConfig{Rate: rate, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
}

// Validate reports the first field that makes no optimiser.
func (c AdamConfig) Validate() error {
	for _, f := range []struct {
		name  string
		v, hi float64
		open  bool // hi itself is too much
	}{
		{"rate", c.Rate, math.MaxFloat64, false}, {"beta1", c.Beta1, 1, true}, {"beta2", c.Beta2, 1, true},
		{"epsilon", c.Epsilon, math.MaxFloat64, false}, {"weight_decay", c.WeightDecay, math.MaxFloat64, false},
		{"clip_norm", c.ClipNorm, math.MaxFloat64, false},
	} {
		if !(f.v >= 0 && f.v <= f.hi) || (f.open && f.v == f.hi) {
			return fmt.Errorf("train: adam: %s = %v is out of range", f.name, f.v)
		}
	}
	if c.Epsilon == 0 {
		return errors.New("train: adam: epsilon = 0, need a positive number: DefaultAdam has 1e-8")
	}
	return c.Schedule.Validate()
}

// Adam is the optimiser of Kingma and Ba 2015 with PyTorch's conventions:
//
//	m = β1·m + (1-β1)·g,  v = β2·v + (1-β2)·g²,  p -= rate·(m/(1-β1^t)) / (√(v/(1-β2^t)) + ε)
//
// M, V and Count are its whole state; copies of them continue a run bit for bit.
type Adam[T layers.Float] struct {
	Config AdamConfig
	M, V   [][]T // parallel to the parameters; nil for those that do not learn
	Count  int   // steps done
	// Norm is the norm of all gradients together in the last step, before clipping.
	Norm float64

	params []layers.Param[T]
}

// NewAdam returns an optimiser for live parameters, as a model's State lists them. Buffers and unused parameters are left
// alone.
func NewAdam[T layers.Float](c AdamConfig, params []layers.Param[T]) (*Adam[T], error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	a := &Adam[T]{Config: c, params: params, M: make([][]T, len(params)), V: make([][]T, len(params))}
	for i, p := range params {
		if !p.Buffer && !p.Unused {
			a.M[i], a.V[i] = make([]T, len(p.Data)), make([]T, len(p.Data))
		}
	}
	return a, nil
}

// Rate is the learning rate of the next step.
func (a *Adam[T]) Rate() float64 { return a.Config.Rate * a.Config.Schedule.At(a.Count) }

// adamGrain is the number of parameters that one goroutine takes at a time.
const adamGrain = 1 << 14

// Step moves the parameters by one step along g, gradients for the parameters that NewAdam was given. Clipping and an L2
// penalty change g. If a gradient is not finite, nothing changes and the error names the parameter.
func (a *Adam[T]) Step(g *layers.Grads[T]) error {
	if len(g.Data) != len(a.params) {
		return fmt.Errorf("train: gradients for %d parameters, need %d", len(g.Data), len(a.params))
	}
	sum := 0.0
	for i, p := range a.params {
		if a.M[i] == nil {
			continue
		}
		if len(g.Data[i]) != len(p.Data) {
			return fmt.Errorf("train: %s: %d gradients, need %d", p.Name, len(g.Data[i]), len(p.Data))
		}
		sq := simd.SumSq(g.Data[i])
		if math.IsNaN(sq-sq) && !finite(g.Data[i]) {
			return fmt.Errorf("train: step %d: %s: %w", a.Count+1, p.Name, ErrNotFinite)
		}
		sum += sq
	}
	c, rate := a.Config, a.Rate()
	scale := T(1)
	if a.Norm = math.Sqrt(sum); c.ClipNorm > 0 && a.Norm > c.ClipNorm {
		scale = T(c.ClipNorm / a.Norm)
	}
	a.Count++
	t := float64(a.Count)
	step, root := rate/(1-math.Pow(c.Beta1, t)), 1/math.Sqrt(1-math.Pow(c.Beta2, t))
	for i, p := range a.params {
		if a.M[i] == nil {
			continue
		}
		x, d, m, v := p.Data, g.Data[i], a.M[i], a.V[i]
		parallel.For(len(x), adamGrain, func(lo, hi int) {
			x, d := x[lo:hi], d[lo:hi]
			if scale != 1 {
				simd.Scale(d, scale, d)
			}
			if c.WeightDecay != 0 {
				if c.Decoupled {
					simd.Scale(x, T(1-rate*c.WeightDecay), x)
				} else {
					simd.Axpy(d, T(c.WeightDecay), x)
				}
			}
			simd.Adam(x, m[lo:hi], v[lo:hi], d, step, c.Beta1, c.Beta2, root, c.Epsilon)
		})
	}
	return nil
}

// finite reports whether every element is a finite number; a sum of squares may overflow before one is not.
func finite[T layers.Float](x []T) bool {
	for _, v := range x {
		if v-v != 0 {
			return false
		}
	}
	return true
}
