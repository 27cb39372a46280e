package main

import (
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/internal/search"
)

// pairsCases go through all pairs of the peers' 64 x 64 grid under R>0xSO(2); log r and angle of every point are given. Each pair's
// distance is computed and compared with the radius, and the indices of near points are stored. The peer instead computes and stores every
// relative pose and compares none. At this radius a ball holds one point in fifteen, as in the paper's image models. within tests
// candidates with the fast filter first, as neighbourhoods do; within_unfiltered computes every distance.
func pairsCases() []kernelCase {
	const side, n = 64, 64 * 64
	var cases []kernelCase
	for name, filtered := range map[string]bool{"within": true, "within_unfiltered": false} {
		cases = append(cases, kernelCase{"pairs/precomp/ours/" + name, []metric{nsPer(n * n)}, work{}, func() timed {
			p := newGridPairs(side)
			bits := p.bits
			if !filtered {
				bits = nil
			}
			return timed{ours: func() {
				for i := range n {
					if filtered {
						search.Candidates(p.bits, p.small, []uint16{p.small[i], p.small[n+i]}, []uint16{p.reach, p.reach})
					}
					search.WithinLogPolar(p.index, p.label, bits, p.x, []float64{p.x[i], p.x[n+i]}, pairsAlpha, pairsRadius)
				}
			}}
		}})
	}
	slices.SortFunc(cases, func(a, b kernelCase) int { return strings.Compare(a.name, b.name) })
	return cases
}

const (
	pairsAlpha = 0.3
	// pairsRadius gives 1,118,480 pairs, 6.7 % of all.
	pairsRadius = 0.24144145846366882
)

// gridPairs is the grid in every form, and room for one row of results.
type gridPairs struct {
	x     []float64
	label []int32
	index []int32
	small []uint16 // angle plus and minus log r, scaled by the weights, in units of 2^-16 of a turn
	reach uint16
	bits  []uint64
}

func newGridPairs(side int) *gridPairs {
	n := side * side
	p := &gridPairs{
		x: make([]float64, 2*n), label: make([]int32, n), index: make([]int32, n),
		small: make([]uint16, 2*n), bits: make([]uint64, n/64),
	}
	const unit = 1 << 15 / math.Pi
	half := float64(side) / 2
	for i := range n {
		x, y := -half+2*half*float64(i/side)/float64(side-1), -half+2*half*float64(i%side)/float64(side-1)
		l, th := math.Log(math.Hypot(x, y)), math.Atan2(y, x)
		p.x[i], p.x[n+i] = l, th
		p.label[i] = int32(i)
		l *= (1 - pairsAlpha) / pairsAlpha
		p.small[i], p.small[n+i] = uint16(int(math.Round((th+l)*unit))), uint16(int(math.Round((th-l)*unit)))
	}
	p.reach = uint16(math.Floor(pairsRadius/pairsAlpha*unit)) + 2 // both ends are rounded
	return p
}
