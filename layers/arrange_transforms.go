package layers

import (
	"fmt"
	"sync"

	"github.com/equivcnp/equivcnp/internal/spectral"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/simd"
)

// tiling returns how transforms go along a grid, which may be nil, or nil if algorithm does without them there.
func (a *Arrangement[T]) tiling(g *spectral.Grid, algorithm Algorithm) *spectral.Tiling {
	if g != nil {
		if t := g.Tiling(); t != nil && (algorithm == Transforms || t.Work() < pairWork*float64(a.Pairs())) {
			return t
		}
	}
	return nil
}

// choose prepares a flat arrangement for depthwise convolutions and embeddings.
func (a *Arrangement[T]) choose(algorithm Algorithm, stop func() bool) {
	if takesTransforms(algorithm) {
		if t := a.tiling(spectral.Find(a.offsets, a.index, a.pose, a.across), algorithm); t != nil {
			a.transform(t)
			return
		}
	}
	if algorithm == TransformsOnly {
		return
	}
	made := simd.NewDepthwisePlanUntil(stop, a.offsets, a.index, a.pose, a.Rows, a.poses)
	a.direct = func() *simd.DepthwisePlan { return made }
}

// transform prepares an arrangement for transforms.
func (a *Arrangement[T]) transform(t *spectral.Tiling) {
	a.transforms, a.scale = t, make([]float32, a.Rows)
	for i := range a.scale {
		a.scale[i] = float32(a.inverse(i))
	}
	a.direct = sync.OnceValue(func() *simd.DepthwisePlan {
		index, pose := a.pairs()
		return simd.NewDepthwisePlan(a.offsets, index, pose, a.Rows, a.poses)
	})
}

// Algorithm returns how depthwise convolutions are computed.
func (a *Arrangement[T]) Algorithm() Algorithm {
	switch {
	case a.transforms != nil:
		return Transforms
	case a.direct != nil || !a.Flat():
		return Direct
	}
	return NoDepthwise
}

// Features of a number of channels that is a multiple of 16 can stand slab by slab, [channels/16, rows, 16]. Transforms
// read and write one slab after the other: among rows of all channels they would meet a line of the caches here and one
// there, of which memory delivers a fifth as many a second.
const slabWidth = 16

// inSlabs reports whether layers of so many channels may have features slab by slab under the arrangement.
func (a *Arrangement[T]) inSlabs(in, out int) bool {
	return a.transforms != nil && a.transforms.Lifts == 1 && in%slabWidth == 0 && out%slabWidth == 0
}

// slabOf returns rows lo to hi of a slab of features x [channels/16, rows, 16].
func (a *Arrangement[T]) slabOf(x []T, slab, lo, hi int) []T {
	return x[(slab*a.Rows+lo)*slabWidth : (slab*a.Rows+hi)*slabWidth]
}

// GatherSlabs copies rows lo to hi of features f [c/16, rows, 16] to dst [hi-lo, c]. Features lie in slabs in float32 only.
func GatherSlabs[T Float](dst, f []T, c, lo, hi int) {
	rows := len(f) / max(1, c)
	check.Len("GatherSlabs", "f", len(f), rows, c/slabWidth, slabWidth)
	if lo < 0 || hi < lo || hi > rows {
		panic(fmt.Sprintf("layers: GatherSlabs: rows %d to %d, have 0 to %d", lo, hi, rows))
	}
	check.Len("GatherSlabs", "dst", len(dst), hi-lo, c)
	for slab := range c / slabWidth {
		from := buffers.F32(f[(slab*rows+lo)*slabWidth : (slab*rows+hi)*slabWidth])
		spectral.CopyLines(buffers.F32(dst[slab*slabWidth:]), c, from, slabWidth, hi-lo)
	}
}

// imagesTogether is how many images are transformed before their sums pass through the dense map: enough to keep the goroutines busy.
func (a *Arrangement[T]) imagesTogether(channels, batch int) int {
	units := spectral.Slabs(channels) * a.transforms.Tiles()
	return max(1, min(batch, (2*workers()+units-1)/units))
}
