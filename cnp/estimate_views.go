package cnp

import (
	"math"

	"github.com/equivcnp/equivcnp/group"
)

// estimateViews is estimate for a model with views, whose images of one size have a canvas for every scale. In training
// images are canvases.
func (c *Config) estimateViews(w Work, g group.Group, radii []float64) (Need, error) {
	base := c.viewsBase()
	flat, err := base.group()
	if err != nil {
		return Need{}, err
	}
	sim, ok := g.(*group.Sim2)
	if !ok || c.Lifts < 1 || w.H < 1 || w.W < 1 || w.Train {
		return base.estimate(w, flat, radii), nil
	}
	var all Need
	views := c.canvases(sim.Scales(), w.H, w.W)
	angles := len(views) / sim.Scales()
	for s := range sim.Scales() {
		side := views[s*angles].Side
		n := base.estimate(Work{Batch: max(1, min(angles, viewCells/side/side)), H: side, W: side,
			Weights: w.Weights / int64(sim.Scales())}, flat, radii)
		all = Need{n.Parameters, all.Geometry + n.Geometry, all.Weights + n.Weights, max(all.Features, n.Features)}
	}
	const readerBytes = 9 * 12 // of a pixel in a view
	all.Geometry = whole(float64(all.Geometry) + readerBytes*float64(len(views))*float64(w.H)*float64(w.W))
	return all, nil
}

// canvases returns the views of h x w images, those of a scale one after another.
func (c *Config) canvases(scales, h, w int) []View {
	angles := c.Lifts / scales
	var all []View
	for s := range scales {
		v := View{Scale: c.Views.Scale(s, scales), Cell: c.Views.Cell}
		most := 0.0
		for a := range angles {
			sin, cos := math.Sincos(2 * math.Pi * float64(a) / float64(angles))
			sin, cos = math.Abs(sin), math.Abs(cos)
			most = max(most, float64(h)*cos+float64(w)*sin, float64(h)*sin+float64(w)*cos)
		}
		// cells beyond the image, in which nothing is known
		const margin = 3
		// too large sides are refused, and must not overflow before
		v.Side = 2 * int(math.Ceil(min(most/(2*v.Scale*v.Cell), mostCells)-1e-9)+margin)
		for a := range angles {
			v.Angle = 2 * math.Pi * float64(a) / float64(angles)
			all = append(all, v)
		}
	}
	return all
}

// viewsBase returns the configuration of the network of a model with views.
func (c *Config) viewsBase() Config {
	b := *c
	b.Views, b.Group, b.Alpha, b.Lifts, b.ImageSize, b.Trained = nil, "T(2)", 0, 1, [2]int{}, nil
	return b
}
