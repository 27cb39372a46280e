package cnp

import "github.com/equivcnp/equivcnp/layers"

// backward adds the gradients of psi, given the gradient dout [m, channels] to the encoding. With D = h_0 + floor the signal
// channels are h_k/D, so the density channel gets -Σ_k dout_k·(h_k/D)/D in addition to its own gradient.
func (s *setConv[T]) backward(dout []T, tape *setConvTape[T], g *layers.Grads[T]) {
	c, width := 1+s.degree*s.dy, s.channels()
	m := len(tape.t) / s.dx
	dh := make([]T, m*c)
	for i := range m {
		d, out := dout[i*width+width-c:][:c], tape.out[i*width+width-c:][:c]
		row, density := dh[i*c:(i+1)*c], out[0]+T(s.floor)
		row[0] = d[0]
		for k := 1; k < c; k++ {
			row[k] = d[k] / density
			row[0] -= row[k] * out[k]
		}
	}
	if s.metric == nil {
		s.psi.Backward(nil, dh, tape.t, tape.x, tape.phi, s.dx, c, g)
	} else {
		s.psi.BackwardGroup(nil, dh, tape.liftedT, tape.liftedX, tape.phi, c, g)
	}
}
