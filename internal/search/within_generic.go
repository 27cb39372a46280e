package search

import (
	"math"
	"math/bits"
)

// The portable twins of the kernels that keep points within a radius. They visit the points whose bit is set in order; the assembly takes a
// vector of them at a time, by the same operations in the same order.

// nextPoint is the first point from j on whose bit is set, or n.
func nextPoint(words []uint64, j, n int) int {
	if words == nil {
		return j
	}
	for j < n {
		if word := words[j>>6] >> (j & 63); word != 0 {
			return min(j+bits.TrailingZeros64(word), n)
		}
		j = (j | 63) + 1
	}
	return n
}

func withinEuclidGeneric(index, label []int32, words []uint64, x, u []float64, limit float64) (m int) {
	n := len(label)
	for j := nextPoint(words, 0, n); j < n; j = nextPoint(words, j+1, n) {
		var sum float64
		for c, v := range u {
			diff := v - x[c*n+j]
			sum += float64(diff * diff)
		}
		if sum < limit {
			index[m] = label[j]
			m++
		}
	}
	return m
}

func withinRigidGeneric(index, label []int32, words []uint64, x, u, m []float64, limit float64) (kept int) {
	n := len(label)
	for j := nextPoint(words, 0, n); j < n; j = nextPoint(words, j+1, n) {
		dx, dy := u[0]-x[j], u[1]-x[n+j]
		re, im := float64(m[0]*dx)-float64(m[1]*dy), float64(m[1]*dx)+float64(m[0]*dy)
		if float64(re*re)+float64(im*im) < limit {
			index[kept] = label[j]
			kept++
		}
	}
	return kept
}

func withinPolarGeneric(index, label []int32, words []uint64, x, u []float64, floor, alpha, r float64) (m int) {
	n, beta, h := len(label), 1-alpha, 0.5*u[1]
	for j := nextPoint(words, 0, n); j < n; j = nextPoint(words, j+1, n) {
		s := 0.5 * x[n+j]
		part := math.Abs(h-s) / (float64(h+s) + floor)
		if float64(alpha*angleSize(u[0]-x[j]))+float64(beta*part) < r {
			index[m] = label[j]
			m++
		}
	}
	return m
}

func withinLogPolarGeneric(index, label []int32, words []uint64, x, u []float64, alpha, r float64) (m int) {
	n, beta := len(label), 1-alpha
	for j := nextPoint(words, 0, n); j < n; j = nextPoint(words, j+1, n) {
		if float64(alpha*angleSize(u[1]-x[n+j]))+float64(beta*math.Abs(u[0]-x[j])) < r {
			index[m] = label[j]
			m++
		}
	}
	return m
}

// angleSize is the magnitude of d modulo a turn, for |d| up to a turn: past π, 2π - |d| is exact and smaller.
func angleSize(d float64) float64 {
	a := math.Abs(d)
	if a > math.Pi {
		return 2*math.Pi - a
	}
	return a
}
