// Package curve has the parts of the models of curves that need no task: the set convolution that encodes a context, the
// network of auxiliary inputs, the frames that a model under a turning group sees, the waves of its covariance, and the
// points of a numbered lattice. They know slices and layers. What reads tasks and writes predictions stands in cnp.
package curve

import (
	"slices"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
)

// DensityFloor is added to the density channel by default: it keeps the division by the density channel finite far from all context points.
const DensityFloor = 1e-8

// PsiLength and PsiScale are the kernel's values before training, those of an untrained kernel of gpytorch: softplus(0).
const PsiLength, PsiScale = 0.6931471805599453, 0.6931471805599453

// Encoder is the encoder that the curve models share: a functional embedding of the context set on any points t,
//
//	h(t) = Σ_i psi(t, x_i)·phi(y_i),   phi(y) = [1, y, y², .., y^K],
//
// whose signal channels are divided by the density channel h_0. With a density for each output, phi(y) = [o, o·y, o·y²,
// ..], where o is 1 for outputs that were observed and 0 for the others, and every output is divided by its own
// density.
type Encoder[T layers.Float] struct {
	Psi    *layers.RBF[T]
	Dx, Dy int
	Degree int // K
	// Coordinates puts t in front of the channels, as the authors do; the model is then no longer equivariant.
	Coordinates bool
	// Each makes a density of every output, of the context points where it was observed; the others are NaN.
	Each bool
	// Floor is what the density is increased by before the signal is divided by it.
	Floor float64
	// Cap is the greatest density that the features tell from a greater one; 0: none.
	Cap float64
	// Metric is the group whose distance psi uses, for a group that is not isometric; nil: the Euclidean distance.
	Metric group.Group
	// Departure adds learned inputs of the place of t; nil: there are none.
	Departure *DepartureNet[T]
}

// Channels returns the number of features per point.
func (s *Encoder[T]) Channels() int {
	n := s.densities() + s.Degree*s.Dy + s.Departure.Channels()
	if s.Coordinates {
		n += s.Dx
	}
	return n
}

// densities returns the number of density channels.
func (s *Encoder[T]) densities() int {
	if s.Each {
		return s.Dy
	}
	return 1
}

// AppendPhi appends phi(y) of a context point: densities, each 1 where its output is known and 0 elsewhere, then the powers
// of the known outputs.
func AppendPhi[T layers.Float](dst, y []T, densities, degree int) []T {
	for _, v := range y[:densities] {
		one := T(1)
		if v != v && densities == len(y) { // one density of several outputs is that of places where all are known
			one = 0
		}
		dst = append(dst, one)
	}
	return AppendPowers(dst, y, degree)
}

// AppendPowers appends [y, y², .., y^degree], 0 where an output is not known.
func AppendPowers[T layers.Float](dst, y []T, degree int) []T {
	for _, v := range y {
		if v != v {
			v = 0
		}
		dst = append(dst, v)
	}
	for k := 1; k < degree; k++ {
		for _, v := range y {
			if v != v {
				v = 0
			}
			dst = append(dst, dst[len(dst)-len(y)]*v)
		}
	}
	return dst
}

// Gaps reports whether outputs of a context are missing. Without gaps all outputs have the same density, which is computed
// once.
func Gaps[T layers.Float](y []T) bool {
	return slices.ContainsFunc(y, func(v T) bool { return v != v })
}

// Encode returns the features [m, channels] at t [m, dx] of the context x [n, dx], y [n, dy]. All coordinates are relative to
// origin.
func (s *Encoder[T]) Encode(t, x []float64, y []T, origin float64) []T {
	return s.Record(t, x, y, origin, nil).Out
}

// Encoding holds the features Out of an encoding, and what its backward pass needs.
type Encoding[T layers.Float] struct {
	t, x             []float64
	lattice          layers.Lattice // instead of t
	liftedT, liftedX *group.Lifted  // t and x under a metric
	phi, Out         []T
	densities        int // of phi
	departure        *DepartureTape[T]
	capped           []T // the densities [m, densities of phi] before they were capped; nil: nothing caps them
}

// Record does what Encode does, and keeps what the backward pass needs. At places at [m, dx], where that is not nil, features depart.
func (s *Encoder[T]) Record(t, x []float64, y []T, origin float64, at []float64) *Encoding[T] {
	return s.RecordOn(nil, t, x, y, origin, at)
}

// RecordOn does what Record does at the points of a lattice, or at t where the lattice is nil.
func (s *Encoder[T]) RecordOn(lattice layers.Lattice, t, x []float64, y []T, origin float64, at []float64) *Encoding[T] {
	densities := 1
	if s.Each && Gaps(y) {
		densities = s.Dy
	}
	c, m, n := densities+s.Degree*s.Dy, len(t)/s.Dx, len(x)/s.Dx
	if lattice != nil {
		m = lattice.Points()
	}
	phi := make([]T, 0, n*c)
	for i := range n {
		phi = AppendPhi(phi, y[i*s.Dy:(i+1)*s.Dy], densities, s.Degree)
	}
	tape := &Encoding[T]{t: t, x: x, lattice: lattice, phi: phi, densities: densities}
	h := make([]T, m*c)
	switch {
	case lattice != nil:
		s.Psi.ForwardLattice(h, lattice, x, phi, c)
	case s.Metric == nil:
		s.Psi.Forward(h, t, x, phi, s.Dx, c)
	default:
		tape.liftedT, tape.liftedX = group.LiftPoints(s.Metric, t, 1, 0), group.LiftPoints(s.Metric, x, 1, 0)
		s.Psi.ForwardGroup(h, tape.liftedT, tape.liftedX, phi, c)
	}

	if at != nil {
		tape.departure = s.Departure.Record(at)
	}
	width := s.Channels()
	out := make([]T, m*width)
	for i := range m {
		row := out[i*width : (i+1)*width]
		if s.Coordinates {
			for d := range s.Dx {
				row[d] = T(t[i*s.Dx+d] + origin)
			}
			row = row[s.Dx:]
		}
		DivideByDensity(row, h[i*c:(i+1)*c], densities, s.densities(), densities, s.Degree*s.Dy, s.Floor, s.Cap)
		if k := tape.departure; k != nil {
			n := s.Departure.Channels()
			k.Density[i] = MeanDensity(h[i*c : i*c+densities])
			Weighed(row[len(row)-n:], k.Tanh[i*n:(i+1)*n], s.Departure.Scale, k.Density[i], T(s.Floor))
		}
		if s.Cap > 0 {
			tape.capped = append(tape.capped, h[i*c:i*c+densities]...)
		}
	}
	tape.Out = out
	return tape
}

// DivideByDensity sets f, a point's features, to the densities, of which h holds the first have, and to the signals that h
// holds from channel from on, each divided by its own density. Where most is positive, densities above it become most.
func DivideByDensity[T layers.Float](f, h []T, have, densities, from, signals int, floor, most float64) {
	for k := range densities {
		f[k] = h[k%have]
		if most > 0 {
			f[k] = min(f[k], T(most))
		}
	}
	for k, v := range h[from : from+signals] {
		f[densities+k] = v / (h[k%have] + T(floor))
	}
}

// Kernel is the function Scale·exp(-Gamma·d²) of a layers.RBF.
type Kernel struct{ Gamma, Scale float64 }

// NewKernel returns the kernel with the layer's current parameters.
func NewKernel[T layers.Float](k *layers.RBF[T]) Kernel {
	l := k.Length()
	return Kernel{1 / (2 * l * l), k.Scale()}
}
