package cnp

import (
	"context"

	"github.com/equivcnp/equivcnp/layers"
)

// ChainOrder is the order in which a chain goes through n targets.
func ChainOrder(c *Chain, n int) []int32 {
	return c.Arrange(n, c.Seed, func(i, j int32) int { return int(i) - int(j) })
}

// ChainRows is which share of the rows of a prediction a pixel of a chain computes, on average over a chain of h x w pixels of which some
// are observed.
func ChainRows(ctx context.Context, m *ImageEquivCNP[float32], h, w, observed int, c Chain) (float64, error) {
	im := &Images[float32]{B: 1, C: 1, H: h, W: w, Pixels: make([]float32, h*w), Mask: make([]bool, h*w)}
	p, err := m.cached(ctx, h, w, layers.Direct, Float32)
	if err != nil {
		return 0, err
	}
	order := ChainOrder(&c, h*w)
	for _, at := range order[:observed] {
		im.Mask[at] = true
	}
	r := p.newPixelRun(im)
	var news []int32
	first := 0
	for i, at := range order[observed:] {
		if _, err := r.predict(ctx, []int32{at}, news); err != nil {
			return 0, err
		}
		if i == 0 {
			first = r.computed // all that it depends on, once
		}
		im.Mask[at] = true
		news = []int32{at}
	}
	return float64(r.computed-first) / float64((len(order)-observed-1)*len(r.layers)*p.rows), nil
}

// Long reports whether the long versions of tests are asked for.
func Long() bool { return *long }
