package gridsums

import (
	"sync"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/spectral"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/simd"
)

// Pairs is a neighbourhood in float32 whose convolutions and their gradients go by transforms along the rows of a grid.
type Pairs struct {
	There, back *spectral.Tiling
	mean, Ones  []float32 // [lifts, h, w]: of each row one over the number of its pairs, and ones
}

// New returns the transforms of a neighbourhood with those offsets.
func New(offsets []int, t *spectral.Tiling) *Pairs {
	n := len(offsets) - 1
	g := &Pairs{There: t, back: t.Transposed().Tiling(), mean: make([]float32, n), Ones: make([]float32, n)}
	for i := range n {
		at := g.at(i)
		g.mean[at], g.Ones[at] = 1/float32(max(1, offsets[i+1]-offsets[i])), 1
	}
	return g
}

// at is the place of a row when rows are sorted by lift.
func (g *Pairs) at(row int) int {
	return row%g.There.Lifts*(g.There.H*g.There.W) + row/g.There.Lifts
}

// Scale returns the factors by which the sums of rows become means, times a window's win if there is one; then they are
// rented.
func (g *Pairs) Scale(win []float32) []float32 {
	if win == nil {
		return g.mean
	}
	s := buffers.Rent[float32](len(win))
	for i, v := range win {
		s[g.at(i)] = g.mean[g.at(i)] * v
	}
	return s
}

// spectralSpaces holds workspaces of goroutines that compute transforms.
var spectralSpaces = sync.Pool{New: func() any { return new(spectral.Workspace) }}

// withSpaces calls f for units 0 to n-1, in parallel.
func withSpaces(n int, f func(ws *spectral.Workspace, unit int)) {
	parallel.For(n, 1, func(unit, _ int) {
		ws := spectralSpaces.Get().(*spectral.Workspace)
		f(ws, unit)
		spectralSpaces.Put(ws)
	})
}

// byTransforms sets dst [batch, rows, c] to the sums of w[pose] ⊙ src[index] over the pairs of every row, times scale.
// It reports false if a number is not finite: then sums over pairs tell which results that reaches.
func byTransforms(t *spectral.Tiling, dst, src, w, scale []float32, batch, c int) bool {
	memory := buffers.Rent[float32](t.Size(c))
	defer buffers.GiveBack(memory)
	plan := spectral.Unset(t, memory, c)
	slabs := spectral.Slabs(c)
	withSpaces(slabs, func(ws *spectral.Workspace, slab int) { plan.Set(ws, w, slab) })
	rows := BandRows(t, c, batch, t.H)
	bands := (t.H + rows - 1) / rows
	size := len(scale) * c
	broken := make([]atomic.Bool, t.H*t.Tiles())
	withSpaces(batch*slabs*t.Tiles()*bands, func(ws *spectral.Workspace, unit int) {
		// Images go fastest, as they share weights.
		b, lo := unit%batch, unit/batch%bands*rows
		tile, slab := unit/batch/bands%t.Tiles(), unit/batch/bands/t.Tiles()
		plan.Band(ws, t.Among(dst[b*size:(b+1)*size], c, slab), t.Among(src[b*size:(b+1)*size], c, slab), scale, broken, slab,
			tile, lo, min(lo+rows, t.H))
	})
	for i := range broken {
		if broken[i].Load() {
			return false
		}
	}
	return true
}

// Sums sets dst [batch, rows, c] to the sums of w[pose] ⊙ f[index] over the pairs of every row, times scale. It reports
// false if a number is not finite, or if a feature is beyond MostSpread and would change unrelated sums. Gradients have
// no such bound: they are off by a small multiple of eps times the largest of them.
func Sums(t *spectral.Tiling, dst, f, w, scale []float32, batch, c int) bool {
	var beyond atomic.Bool
	parallel.For(len(f), spreadGrain, func(lo, hi int) {
		if lo, hi := simd.MinMax(f[lo:hi]); !(lo >= -MostSpread && hi <= MostSpread) {
			beyond.Store(true)
		}
	})
	return !beyond.Load() && byTransforms(t, dst, f, w, scale, batch, c)
}

// spreadGrain is how many features a goroutine looks at, at a time.
const spreadGrain = 1 << 16

// Gradients sets df to the gradient to the features, given the gradient d to the sums and the weights w, and returns the
// gradient to the weights as Weights does. Both have the same bits as alone, in less time where d is transformed once for
// both. It reports false if a number of df is not finite.
func (g *Pairs) Gradients(df, d, f, w []float32, poses, batch, c int) (dw []float32, ok bool) {
	if !g.There.Once() || !g.back.Once() {
		return Weights(g.There, d, f, poses, batch, c), byTransforms(g.back, df, d, w, g.Ones, batch, c)
	}
	memory := buffers.Rent[float32](g.back.Size(c))
	defer buffers.GiveBack(memory)
	plan := spectral.Unset(g.back, memory, c)
	withSpaces(spectral.Slabs(c), func(ws *spectral.Workspace, slab int) { plan.Set(ws, w, slab) })
	broken := make([]atomic.Bool, g.back.H)
	size := len(f) / batch
	dw = sumOfImages(poses, batch, c, func(ws *spectral.Workspace, dw []float32, b, slab int) {
		lo, hi := b*size, (b+1)*size
		plan.Gradients(ws, df[lo:hi], dw, d[lo:hi], f[lo:hi], g.Ones, broken, g.There, slab)
	})
	for i := range broken {
		if broken[i].Load() {
			return dw, false
		}
	}
	return dw, true
}

// Weights returns the gradient [poses, c] to the weights, summed over the batch, given the gradient d to the sums. The
// result is rented, and nil if a number is not finite.
func Weights(t *spectral.Tiling, d, f []float32, poses, batch, c int) []float32 {
	size := len(f) / batch
	return sumOfImages(poses, batch, c, func(ws *spectral.Workspace, dw []float32, b, slab int) {
		for tile := range t.Tiles() {
			t.Correlate(ws, dw, d[b*size:(b+1)*size], f[b*size:(b+1)*size], c, slab, tile)
		}
	})
}

// sumOfImages calls add for every image and every slab of channels, to add to a gradient [poses, c] to weights what
// these say of it, and returns the sum, from rent. It is nil if a number is not finite.
func sumOfImages(poses, batch, c int, add func(ws *spectral.Workspace, dw []float32, image, slab int)) []float32 {
	// All have sums of their own.
	sums := buffers.Rent[float32](batch * poses * c)
	defer buffers.GiveBack(sums)
	var broken atomic.Bool
	withSpaces(batch*spectral.Slabs(c), func(ws *spectral.Workspace, unit int) {
		b, slab := unit%batch, unit/batch
		dw := sums[b*poses*c : (b+1)*poses*c]
		lo, hi := spectral.Channels(slab, c)
		for q := range poses {
			clear(dw[q*c+lo : q*c+hi])
		}
		add(ws, dw, b, slab)
		for q := range poses {
			for _, v := range dw[q*c+lo : q*c+hi] {
				if v-v != 0 {
					broken.Store(true)
				}
			}
		}
	})
	if broken.Load() {
		return nil
	}
	sum := buffers.Rent[float32](poses * c)
	copy(sum, sums[:len(sum)])
	for b := 1; b < batch; b++ {
		simd.AddF32(sum, sum, sums[b*len(sum):(b+1)*len(sum)])
	}
	return sum
}
