package main

import (
	"math"

	"github.com/equivcnp/equivcnp/simd"
)

// pairsCases are all pairs of the peers' 64 x 64 grid under R>0xSO(2), log r and angle of every point computed before: distance,
// test, and compress store of the index and the relative pose of those within, into one row that stays in L1. The peer
// stores every pose and tests none. row has the radius at which a ball holds one point in fifteen, as the paper's image
// models have it, and a sieve in front; unsieved is the same without, f64 in float64.
func pairsCases() []kernelCase {
	const side, n = 64, 64 * 64
	var cases []kernelCase
	for _, c := range []struct {
		name        string
		sieve, wide bool
	}{{"row", true, false}, {"row_f64", true, true}, {"row_unsieved", false, false}, {"row_unsieved_f64", false, true}} {
		cases = append(cases, kernelCase{"pairs/precomp/ours/" + c.name, []metric{nsPer(n * n)}, work{}, func() timed {
			p := newGridPairs(side)
			bits := p.bits
			if !c.sieve {
				bits = nil
			}
			return timed{ours: func() {
				for i := range n {
					if c.sieve {
						simd.Near16(p.bits, p.small, []uint16{p.small[i], p.small[n+i]}, []uint16{p.reach, p.reach})
					}
					if c.wide {
						simd.PairsLogPolarF64(p.index, p.pose64, p.label, bits, p.x64, []float64{p.x64[i], p.x64[n+i]}, pairsAlpha, pairsRadius)
					} else {
						simd.PairsLogPolarF32(p.index, p.pose32, p.label, bits, p.x32, []float32{p.x32[i], p.x32[n+i]}, pairsAlpha, pairsRadius)
					}
				}
			}}
		}})
	}
	return cases
}

const (
	pairsAlpha = 0.3
	// pairsRadius gives 1,118,480 pairs, 6.7 % of all.
	pairsRadius = 0.24144145846366882
)

// gridPairs is the grid in every form, and room for one row of results.
type gridPairs struct {
	x64, pose64 []float64
	x32, pose32 []float32
	label       []int32
	index       []int32
	small       []uint16 // angle plus and minus log r, scaled by the weights, in units of 2^-16 of a turn
	reach       uint16
	bits        []uint64
}

func newGridPairs(side int) *gridPairs {
	n := side * side
	p := &gridPairs{
		x64: make([]float64, 2*n), pose64: make([]float64, 2*n), x32: make([]float32, 2*n), pose32: make([]float32, 2*n),
		label: make([]int32, n), index: make([]int32, n), small: make([]uint16, 2*n), bits: make([]uint64, n/64),
	}
	const unit = 1 << 15 / math.Pi
	half := float64(side) / 2
	for i := range n {
		x, y := -half+2*half*float64(i/side)/float64(side-1), -half+2*half*float64(i%side)/float64(side-1)
		l, th := math.Log(math.Hypot(x, y)), math.Atan2(y, x)
		p.x64[i], p.x64[n+i] = l, th
		p.x32[i], p.x32[n+i] = float32(l), float32(th)
		p.label[i] = int32(i)
		l *= (1 - pairsAlpha) / pairsAlpha
		p.small[i], p.small[n+i] = uint16(int(math.Round((th+l)*unit))), uint16(int(math.Round((th-l)*unit)))
	}
	p.reach = uint16(math.Floor(pairsRadius/pairsAlpha*unit)) + 2 // both ends are rounded
	return p
}
