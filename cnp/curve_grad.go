package cnp

import "github.com/equivcnp/equivcnp/layers"

// backward adds the gradients of psi, given the gradient dout [m, channels] to the encoding. With D = h_0 + floor the signal
// channels are h_k/D, so the density channel gets -Σ_k dout_k·(h_k/D)/D in addition to its own gradient.
func (s *setConv[T]) backward(dout []T, tape *setConvTape[T], g *layers.Grads[T]) {
	signals, have, densities := s.degree*s.dy, tape.densities, s.densities()
	c, width := have+signals, s.channels()
	m := len(tape.out) / width
	dh := make([]T, m*c)
	for i := range m {
		d, out := dout[(i+1)*width-densities-signals:][:densities+signals], tape.out[(i+1)*width-densities-signals:][:densities+signals]
		row := dh[i*c : (i+1)*c]
		copy(row[:have], d)
		for k := have; k < densities; k++ { // all of them are the one
			row[0] += d[k]
		}
		for k := range signals {
			row[have+k] = d[densities+k] / (out[k%densities] + T(s.floor))
			row[k%have] -= row[have+k] * out[densities+k]
		}
	}
	switch {
	case tape.lattice != nil:
		s.psi.BackwardLattice(dh, tape.lattice, tape.x, tape.phi, c, g)
	case s.metric == nil:
		s.psi.Backward(nil, dh, tape.t, tape.x, tape.phi, s.dx, c, g)
	default:
		s.psi.BackwardGroup(nil, dh, tape.liftedT, tape.liftedX, tape.phi, c, g)
	}
}
