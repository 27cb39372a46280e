package cnp

import (
	"math"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/cnp/likelihood"
)

// wavesOf returns the waves of a valid configuration, nil without waves.
func wavesOf(c *Config, l Likelihood) *curve.Waves {
	rank, ok := likelihood.LowRank(l)
	if c.Waves == nil || !ok {
		return nil
	}
	return curve.NewWaves(c.DimX, c.DimY, l.Outputs()-l.Constants(), rank, c.Waves.Count, c.Waves.Fastest)
}

// places returns the targets [n, dx] of task t that order names, counted from the least coordinates of its context, so
// that a move of the task leaves them as they are and angles stay small; from 0 where there is none. It is nil without
// waves. A nil order names all.
func places[T Float](w *curve.Waves, b *Batch[T], t int, order []int32, dst []float64) []float64 {
	if w == nil {
		return nil
	}
	var room [8]float64
	least := append(room[:0], make([]float64, w.Dx)...)
	for d := range least {
		least[d] = math.Inf(1)
		for i := range b.Nc {
			if b.contextOK(t, i) {
				least[d] = min(least[d], b.XContext[(t*b.Nc+i)*w.Dx+d])
			}
		}
		if math.IsInf(least[d], 1) {
			least[d] = 0
		}
	}
	n := b.Nt
	if order != nil {
		n = len(order)
	}
	dst = dst[:0]
	for j := range n {
		i := j
		if order != nil {
			i = int(order[j])
		}
		for d, v := range b.XTarget[(t*b.Nt+i)*w.Dx:][:w.Dx] {
			if v -= least[d]; !b.targetOK(t, i) {
				v = 0 // whatever stands there
			}
			dst = append(dst, v)
		}
	}
	return dst
}
