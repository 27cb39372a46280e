package curve

import "github.com/equivcnp/equivcnp/layers"

// Backward adds the gradients of psi, given the gradient dout [m, channels] to the encoding. With D = h_0 + floor the signal
// channels are h_k/D, so the density channel gets -Σ_k dout_k·(h_k/D)/D in addition to its own gradient.
func (s *Encoder[T]) Backward(dout []T, tape *Encoding[T], g *layers.Grads[T]) {
	signals, have, densities := s.Degree*s.Dy, tape.densities, s.densities()
	c, width := have+signals, s.Channels()
	behind := densities + signals + s.Departure.Channels()
	m := len(tape.Out) / width
	dh := make([]T, m*c)
	for i := range m {
		d, out := dout[(i+1)*width-behind:][:densities+signals], tape.Out[(i+1)*width-behind:][:densities+signals]
		row := dh[i*c : (i+1)*c]
		dense := out[:densities]
		if tape.capped != nil {
			dense = tape.capped[i*have : (i+1)*have]
		}
		for k, v := range d[:densities] { // where there are more than phi has, all of them are the one
			if s.Cap == 0 || dense[k%len(dense)] <= T(s.Cap) {
				row[k%have] += v
			}
		}
		for k := range signals {
			row[have+k] = d[densities+k] / (dense[k%len(dense)] + T(s.Floor))
			row[k%have] -= row[have+k] * out[densities+k]
		}
	}
	if tape.departure != nil {
		s.Departure.Backward(dout, width, tape.departure, dh, c, have, T(s.Floor), g)
	}
	switch {
	case tape.lattice != nil:
		s.Psi.BackwardLattice(dh, tape.lattice, tape.x, tape.phi, c, g)
	case s.Metric == nil:
		s.Psi.Backward(nil, dh, tape.t, tape.x, tape.phi, s.Dx, c, g)
	default:
		s.Psi.BackwardGroup(nil, dh, tape.liftedT, tape.liftedX, tape.phi, c, g)
	}
}
