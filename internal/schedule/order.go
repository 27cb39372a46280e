package schedule

import (
	"cmp"
	"math"
	"slices"
)

// Order returns an order of rows that lie at positions x [rows, 2]: rows of one class side by side, and classes along a Z-shaped curve
// through the positions of their first rows. Then the rows of a tile lie close together, and the points that they gather are mostly the
// same.
func (r *Rows) Order(x []float64) []int32 {
	place, classes := zOrder(x), make([]int32, len(r.Lead))
	for c := range classes {
		classes[c] = int32(c)
	}
	slices.SortFunc(classes, func(a, b int32) int {
		return cmp.Or(cmp.Compare(place[r.Lead[a]], place[r.Lead[b]]), cmp.Compare(a, b))
	})
	next := make([]int, len(classes)) // how many rows a class has, then where its next one goes
	for _, c := range r.Class {
		next[c]++
	}
	at := 0
	for _, c := range classes {
		at, next[c] = at+next[c], at
	}
	order := make([]int32, len(r.Class))
	for i, c := range r.Class {
		order[next[c]] = int32(i)
		next[c]++
	}
	return order
}

// ByLift is the order of rows that are points with several lifts each, lift by lift. Lifts of one point see different poses, but
// neighbouring points of a grid in the same lift see the same ones, side by side.
func ByLift(rows, lifts int) []int32 {
	order := make([]int32, 0, rows)
	lifts = min(lifts, rows) // lifts near the largest int would overflow row + lifts
	for k := range lifts {
		for row := k; row < rows; row += lifts {
			order = append(order, int32(row))
		}
	}
	return order
}

// zOrder returns the places of positions [rows, 2] along a Z-shaped curve: the bits of their coordinates, rounded to 16 bits, are
// interleaved (Morton 1966).
func zOrder(x []float64) []uint32 {
	out := make([]uint32, len(x)/2)
	for d := range 2 {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := d; i < len(x); i += 2 {
			lo, hi = min(lo, x[i]), max(hi, x[i])
		}
		step := (hi - lo) / (1<<16 - 1)
		if !(step > 0 && step <= math.MaxFloat64) {
			continue // all in one place, or too far apart for a difference
		}
		for i := range out {
			v := uint32((x[2*i+d] - lo) / step)
			for bit := range 16 {
				out[i] |= v >> bit & 1 << (2*bit + d)
			}
		}
	}
	return out
}
