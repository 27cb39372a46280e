package cnp

import (
	"fmt"
	"math"
)

// defaultMaxLattice bounds a lattice where the configuration does not. Two points a billion apart are a valid task, a
// lattice over them is not.
const defaultMaxLattice = 1 << 18

// linspace writes n evenly spaced values from lo to hi; one value is lo. Both halves are computed from their own end, as
// torch.linspace does.
func linspace(dst []float64, lo, hi float64) {
	n := len(dst)
	if n == 1 {
		dst[0] = lo
		return
	}
	step := (hi - lo) / float64(n-1)
	for i := range dst {
		if i < n/2 {
			dst[i] = lo + float64(step*float64(i))
		} else {
			dst[i] = hi - float64(step*float64(n-1-i))
		}
	}
}

// pixelGrid returns the coordinates [h·w, 2] of an image's pixels: linspace(-h/2, h/2, h) by linspace(-w/2, w/2, w), row
// first, as the authors lay it. Their step is h/(h-1), not 1.
func pixelGrid(h, w int) []float64 {
	ys, xs := make([]float64, h), make([]float64, w)
	linspace(ys, -float64(h)/2, float64(h)/2)
	linspace(xs, -float64(w)/2, float64(w)/2)
	out := make([]float64, 0, 2*h*w)
	for _, y := range ys {
		for _, x := range xs {
			out = append(out, y, x)
		}
	}
	return out
}

// lattice returns the points [n, dx] that a curve model lays over all context points and targets of the batch, along each
// coordinate from margin below the least to margin above the greatest: floor(density·length) of them, at least one, or under
// FixedStep as many as it takes, 1/density apart. A batch without points has no lattice.
func lattice[T Float](b *Batch[T], c *Config) ([]float64, error) {
	dx, density, margin, limit := c.DimX, c.PointsPerUnit, c.Margin, c.MaxLattice
	if limit == 0 {
		limit = defaultMaxLattice
	}
	lo, hi := make([]float64, dx), make([]float64, dx)
	for d := range dx {
		lo[d], hi[d] = math.Inf(1), math.Inf(-1)
	}
	grow := func(x []float64, n int, ok func(t, i int) bool) {
		for p := range b.B * n {
			if ok(p/n, p%n) {
				for d, v := range x[p*dx : (p+1)*dx] {
					lo[d], hi[d] = min(lo[d], v), max(hi[d], v)
				}
			}
		}
	}
	grow(b.XContext, b.Nc, b.contextOK)
	grow(b.XTarget, b.Nt, b.targetOK)
	if lo[0] > hi[0] {
		return nil, nil
	}
	axes, total := make([][]float64, dx), 1.0
	for d := range axes {
		l, h := lo[d]-margin, hi[d]+margin
		n := max(1, math.Floor(density*(h-l)))
		if c.FixedStep {
			n = math.Ceil(density*(h-l)) + 1
		}
		if total *= n; !(total <= float64(limit)) {
			return nil, fmt.Errorf("%w: the points span %g to %g in coordinate %d, a lattice of %g points per unit "+
				"would have more than %d points", ErrShape, lo[d], hi[d], d, density, limit)
		}
		axes[d] = make([]float64, int(n))
		if !c.FixedStep {
			linspace(axes[d], l, h)
			continue
		}
		for i := range axes[d] {
			axes[d][i] = l + float64(i)/density
		}
	}
	out := make([]float64, 0, int(total)*dx)
	for i := range int(total) {
		at, x := i, make([]float64, dx)
		for d := dx - 1; d >= 0; d-- { // the last coordinate runs fastest
			x[d] = axes[d][at%len(axes[d])]
			at /= len(axes[d])
		}
		out = append(out, x...)
	}
	return out, nil
}
