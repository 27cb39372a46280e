package cnp

import (
	"slices"

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
// whose signal channels are divided by the density channel h_0. With a density for each output, phi(y) = [o, o·y, o·y²,
// ..], where o is 1 for outputs that were observed and 0 for the others, and every output is divided by its own
// density.
type setConv[T Float] struct {
	psi    *layers.RBF[T]
	dx, dy int
	degree int // K
	// coordinates puts t in front of the channels, as the authors do; the model is then no longer equivariant.
	coordinates bool
	// each makes a density of every output, of the context points where it was observed; the others are NaN.
	each bool
	// floor is what the density is increased by before the signal is divided by it.
	floor float64
	// cap is the greatest density that the features tell from a greater one; 0: none.
	cap float64
	// metric is the group whose distance psi uses, for a group that is not isometric; nil: the Euclidean distance.
	metric group.Group
}

// channels is the number of features per point.
func (s *setConv[T]) channels() int {
	n := s.densities() + s.degree*s.dy
	if s.coordinates {
		n += s.dx
	}
	return n
}

// densities is the number of density channels.
func (s *setConv[T]) densities() int {
	if s.each {
		return s.dy
	}
	return 1
}

// appendPhi appends phi(y) of a context point: so many densities, 1 where the output is known and else 0, then the powers of what is known.
func appendPhi[T Float](dst, y []T, densities, degree int) []T {
	for _, v := range y[:densities] {
		one := T(1)
		if v != v && densities == len(y) { // one density of several outputs is that of places where all are known
			one = 0
		}
		dst = append(dst, one)
	}
	return appendPowers(dst, y, degree)
}

// appendPowers appends [y, y², .., y^degree], 0 where an output is not known.
func appendPowers[T Float](dst, y []T, degree int) []T {
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

// gaps reports whether outputs of a context are not known. Where all are, their densities are one and the same, which is computed once.
func gaps[T Float](y []T) bool {
	return slices.ContainsFunc(y, func(v T) bool { return v != v })
}

// densitiesOf is the number of densities that the context y of a task needs.
func densitiesOf[T Float](c *Config, y []T) int {
	if c.ChannelDensity && gaps(y) {
		return c.contextValues()
	}
	return 1
}

// appendPhi appends phi of context point at, and the powers of that point of the tasks that follow, of so many in all:
// they have the same points, and the same gaps.
func (b *Batch[T]) appendPhi(dst []T, at, tasks, densities, dy, degree int) []T {
	dst = appendPhi(dst, b.YContext[at*dy:(at+1)*dy], densities, degree)
	for k := at + b.Nc; k < at+tasks*b.Nc; k += b.Nc {
		dst = appendPowers(dst, b.YContext[k*dy:(k+1)*dy], degree)
	}
	return dst
}

// encode returns the features [m, channels] at t [m, dx] of the context x [n, dx], y [n, dy]. All coordinates are relative to
// origin.
func (s *setConv[T]) encode(t, x []float64, y []T, origin float64) []T {
	return s.record(t, x, y, origin).out
}

// setConvTape is an encoding and what its backward pass needs.
type setConvTape[T Float] struct {
	t, x             []float64
	lattice          layers.Lattice // instead of t
	liftedT, liftedX *group.Lifted  // t and x under a metric
	phi, out         []T
	densities        int // of phi
	capped           []T // the densities [m, densities of phi] before they were capped; nil: nothing caps them
}

// record does what encode does, and returns the tape.
func (s *setConv[T]) record(t, x []float64, y []T, origin float64) *setConvTape[T] {
	return s.recordOn(nil, t, x, y, origin)
}

// recordOn is record at the points of a lattice, or where that is nil at t.
func (s *setConv[T]) recordOn(lattice layers.Lattice, t, x []float64, y []T, origin float64) *setConvTape[T] {
	densities := 1
	if s.each && gaps(y) {
		densities = s.dy
	}
	c, m, n := densities+s.degree*s.dy, len(t)/s.dx, len(x)/s.dx
	if lattice != nil {
		m = lattice.Points()
	}
	phi := make([]T, 0, n*c)
	for i := range n {
		phi = appendPhi(phi, y[i*s.dy:(i+1)*s.dy], densities, s.degree)
	}
	tape := &setConvTape[T]{t: t, x: x, lattice: lattice, phi: phi, densities: densities}
	h := make([]T, m*c)
	switch {
	case lattice != nil:
		s.psi.ForwardLattice(h, lattice, x, phi, c)
	case s.metric == nil:
		s.psi.Forward(h, t, x, phi, s.dx, c)
	default:
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
		divideByDensity(row, h[i*c:(i+1)*c], densities, s.densities(), densities, s.degree*s.dy, s.floor, s.cap)
		if s.cap > 0 {
			tape.capped = append(tape.capped, h[i*c:i*c+densities]...)
		}
	}
	tape.out = out
	return tape
}

// divideByDensity sets f, a point's features, to densities, of which h holds as many as its first channels say, and to
// the signals that h has from one channel on, each divided by its own density. Densities above a cap, if there is one,
// are the cap.
func divideByDensity[T Float](f, h []T, have, densities, from, signals int, floor, most float64) {
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

// kernel is a layers.RBF's function, scale·exp(-gamma·d²).
type kernel struct{ gamma, scale float64 }

func newKernel[T Float](k *layers.RBF[T]) kernel {
	l := k.Length()
	return kernel{1 / (2 * l * l), k.Scale()}
}
