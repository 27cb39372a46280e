package search

import (
	"fmt"
	"math"
)

// Kernels that compare one query with many points and keep those within a radius: distance, test and compress store in one
// pass. What they have in common:
//
//   - Shape: label has n entries; x is [d, n], one coordinate after the other, and u one of each. bits is nil, or has a
//     bit for every point, (n+63)/64 words: a point whose bit is 0 is not looked at. index has at least n entries. They return
//     how many points they kept, m: index[:m] are their labels in order. Entries of index beyond m are undefined.
//   - Aliasing: index overlaps no input.
//   - Errors: a wrong length panics. A point with NaN or infinite coordinates is not kept.
//   - Accuracy: a point is kept if and only if its distance, computed by the stated formula with every operation rounded
//     once, is below r. So every level gives the same bits, and these are the groups' own distances where no square overflows
//     or underflows.
//
// Angles, where they occur, lie in [-π, π]; their difference is taken modulo a turn.

// WithinEuclid keeps the points x [d, n], 1 ≤ d ≤ 3, with alpha·|u - x| < r. A square that overflows is beyond every radius, one
// that underflows is 0.
func WithinEuclid(index, label []int32, bits []uint64, x, u []float64, alpha, r float64) int {
	d := len(u)
	if d < 1 || d > 3 {
		panic(fmt.Sprintf("search: WithinEuclid: len(u) = %d, need 1 to 3", d))
	}
	checkWithin("WithinEuclid", index, label, bits, x, u, d)
	if len(label) == 0 {
		return 0
	}
	return withinEuclid(index, label, bits, x, u, squareLimit(0, alpha, r))
}

// WithinRigid keeps the points x [2, n] of the plane with alpha·|turn| + (1-alpha)·|t| < r, where t = m·(u - x) as complex
// numbers. With m = V(turn)⁻¹·exp(-iθ), (turn, t) is the logarithm of the rigid motion that takes points turned by θ to a query that
// is turned by θ + turn. Overflow and underflow are as in WithinEuclid.
func WithinRigid(index, label []int32, bits []uint64, x, u, m []float64, turn, alpha, r float64) int {
	checkWithin("WithinRigid", index, label, bits, x, u, 2)
	checkLen("WithinRigid", "m", len(m), 2)
	if len(label) == 0 {
		return 0
	}
	return withinRigid(index, label, bits, x, u, m, squareLimit(alpha*math.Abs(turn), 1-alpha, r))
}

// WithinPolar keeps the points x = (θ, radius) [2, n], radius ≥ 0, with
//
//	alpha·|Δθ| + (1-alpha)·|h - s|/((h + s) + floor) < r,  h and s being half the query's and the point's radius.
func WithinPolar(index, label []int32, bits []uint64, x, u []float64, floor, alpha, r float64) int {
	checkWithin("WithinPolar", index, label, bits, x, u, 2)
	if len(label) == 0 {
		return 0
	}
	return withinPolar(index, label, bits, x, u, floor, alpha, r)
}

// WithinLogPolar keeps the points x = (log radius, θ) [2, n] with alpha·|Δθ| + (1-alpha)·|Δ log radius| < r.
func WithinLogPolar(index, label []int32, bits []uint64, x, u []float64, alpha, r float64) int {
	checkWithin("WithinLogPolar", index, label, bits, x, u, 2)
	if len(label) == 0 {
		return 0
	}
	return withinLogPolar(index, label, bits, x, u, alpha, r)
}

// checkWithin panics unless all lengths fit points of d coordinates.
func checkWithin(fn string, index, label []int32, bits []uint64, x, u []float64, d int) {
	n := len(label)
	checkRoom(fn, "index", len(index), n)
	if bits != nil {
		checkLen(fn, "bits", len(bits), (n+63)/64)
	}
	checkLen(fn, "x", len(x), d*n)
	checkLen(fn, "u", len(u), d)
}

// squareLimit returns the least square s with !(base + scale·sqrt(s) < r), as far as float64 can tell: comparing squares with
// it decides like comparing distances with r, without a root per pair. Every operation is rounded, and all are
// monotonic, so there is one such border. 0 means that nothing is within, +Inf that every finite square is.
func squareLimit(base, scale, r float64) float64 {
	within := func(s float64) bool { return float64(scale*math.Sqrt(s))+base < r }
	if !within(0) {
		return 0
	}
	// The border is a few steps from where it would be without rounding.
	q := (r - base) / scale
	if s := q * q; s > 0 && !math.IsInf(s, 1) {
		for range 32 {
			switch {
			case within(s):
				if s = nextUp(s); !within(s) {
					return s
				}
			default:
				if below := nextDown(s); within(below) {
					return s
				} else {
					s = below
				}
			}
		}
	}
	// Positive floats order like their bits; halve between 0, which is within, and +Inf.
	lo, hi := uint64(0), math.Float64bits(math.Inf(1))
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if within(math.Float64frombits(mid)) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Float64frombits(hi)
}

// nextUp and nextDown are the neighbours of a positive finite number.
func nextUp(x float64) float64   { return math.Float64frombits(math.Float64bits(x) + 1) }
func nextDown(x float64) float64 { return math.Float64frombits(math.Float64bits(x) - 1) }
