package layers

import (
	"github.com/equivcnp/equivcnp/layers/internal/gridsums"
	"github.com/equivcnp/equivcnp/simd"
)

// guard marks the rows of a band, as far as they are of its tile, that see a feature beyond mostSpread. That depends on nothing but the
// features that these rows' sums depend on.
func (t *transformPass[T]) guard(image, slab int, b band) {
	points, size := t.plan.Points(), len(t.f)/t.images
	f, line, width := t.f[image*size:(image+1)*size], points/t.plan.H, size/points
	switch {
	case t.fSlabs:
		f, width = f[slab*points*slabWidth:], slabWidth
	case slab > 0: // the first looks at all channels
		return
	}
	x0, x1, up, down := t.plan.Sees(b.tile)
	width *= line / t.plan.W // of all lifts of a point
	marks := t.broken[image*t.plan.H*t.plan.Tiles():]
	for y := max(0, b.lo-up); y < min(t.plan.H, b.hi+down); y++ {
		lo, hi := simd.MinMax(f[(y*t.plan.W+x0)*width : (y*t.plan.W+x1)*width])
		if lo >= -gridsums.MostSpread && hi <= gridsums.MostSpread {
			continue
		}
		for row := max(b.lo, y-down); row < min(b.hi, y+up+1); row++ {
			marks[row*t.plan.Tiles()+b.tile].Store(true)
		}
	}
}
