package cnp

import (
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
)

// densityFloor keeps the division by the density channel finite far from all context points.
const densityFloor = 1e-8

// psiLength and psiScale are the kernel's values before training, those of an untrained kernel of gpytorch: softplus(0).
const psiLength, psiScale = 0.6931471805599453, 0.6931471805599453

// setConv is the encoder that the curve models share: a functional embedding of the context set on any points t,
//
//	h(t) = Σ_i psi(t, x_i)·phi(y_i),   phi(y) = [1, y, y², .., y^K],
//
// whose signal channels are divided by the density channel h_0.
type setConv[T Float] struct {
	psi    *layers.RBF[T]
	dx, dy int
	degree int // K
	// coordinates puts t in front of the channels, as the authors do; the model is then no longer equivariant.
	coordinates bool
	// floor is what the density is increased by before the signal is divided by it.
	floor float64
	// metric is the group whose distance psi uses, for a group that is not isometric; nil: the Euclidean distance.
	metric group.Group
}

// channels is the number of features per point.
func (s *setConv[T]) channels() int {
	n := 1 + s.degree*s.dy
	if s.coordinates {
		n += s.dx
	}
	return n
}

// encode returns the features [m, channels] at t [m, dx] of the context x [n, dx], y [n, dy]. All coordinates are relative to
// origin.
func (s *setConv[T]) encode(t, x []float64, y []T, origin float64) []T {
	return s.record(t, x, y, origin).out
}

// setConvTape is an encoding and what its backward pass needs.
type setConvTape[T Float] struct {
	t, x             []float64
	liftedT, liftedX *group.Lifted // t and x under a metric
	phi, out         []T
}

// record does what encode does, and returns the tape.
func (s *setConv[T]) record(t, x []float64, y []T, origin float64) *setConvTape[T] {
	c, m, n := 1+s.degree*s.dy, len(t)/s.dx, len(x)/s.dx
	phi := make([]T, n*c)
	for i := range n {
		row, yi := phi[i*c:(i+1)*c], y[i*s.dy:(i+1)*s.dy]
		row[0] = 1
		copy(row[1:], yi)
		for k := 1; k < s.degree; k++ {
			for d, v := range yi {
				row[1+k*s.dy+d] = row[1+(k-1)*s.dy+d] * v
			}
		}
	}
	tape := &setConvTape[T]{t: t, x: x, phi: phi}
	h := make([]T, m*c)
	if s.metric == nil {
		s.psi.Forward(h, t, x, phi, s.dx, c)
	} else {
		tape.liftedT, tape.liftedX = group.LiftPoints(s.metric, t, 1, 0), group.LiftPoints(s.metric, x, 1, 0)
		s.psi.ForwardGroup(h, tape.liftedT, tape.liftedX, phi, c)
	}

	width := s.channels()
	out := make([]T, m*width)
	for i := range m {
		row := out[i*width : (i+1)*width]
		if s.coordinates {
			for d := range s.dx {
				row[d] = T(t[i*s.dx+d] + origin)
			}
			row = row[s.dx:]
		}
		density := h[i*c]
		row[0] = density
		for k := 1; k < c; k++ {
			row[k] = h[i*c+k] / (density + T(s.floor))
		}
	}
	tape.out = out
	return tape
}
