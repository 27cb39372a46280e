package simd

import (
	"fmt"
	"math"
)

// Kernels that compare one query with many points and keep those within a radius: relative pose, distance test and
// compress store in one pass. What they have in common:
//
//   - Shape: label has n entries; x is [d, n], one coordinate after the other, and u one of each. bits is nil, or has a
//     bit for every point, (n+63)/64 words: a point whose bit is 0 is not looked at. index has at least n entries. pose
//     is nil or [e, n]. They return how many points they kept, m: index[:m] are their labels in order, and pose[c*n+k]
//     is coordinate c of the relative pose of the k-th of them. Entries of index and pose beyond m are undefined.
//   - Aliasing: outputs overlap no input.
//   - Errors: a wrong length panics. A point with NaN or infinite coordinates is not kept.
//   - Accuracy: a point is kept if and only if its distance, computed by the stated formula with every operation rounded
//     once, is below r; poses are rounded in the same way. So every level gives the same bits, and in float64 these are
//     the groups' own distances where no square overflows or underflows.
//
// Angles, where they occur, lie in [-π, π]; their difference is taken modulo a turn, and a half turn, to within a few
// units in the last place, is positive.

// PairsEuclidF64 keeps the points x [d, n], 1 ≤ d ≤ 3, with alpha·|u - x| < r. The pose is u - x [d, n]. A square that
// overflows is beyond every radius, one that underflows is 0.
func PairsEuclidF64(index []int32, pose []float64, label []int32, bits []uint64, x, u []float64, alpha, r float64) int {
	return pairsEuclidOf("PairsEuclidF64", index, pose, label, bits, x, u, alpha, r)
}

// PairsEuclidF32 is PairsEuclidF64 in float32.
func PairsEuclidF32(index []int32, pose []float32, label []int32, bits []uint64, x, u []float32, alpha, r float32) int {
	return pairsEuclidOf("PairsEuclidF32", index, pose, label, bits, x, u, alpha, r)
}

func pairsEuclidOf[T Float](fn string, index []int32, pose []T, label []int32, bits []uint64, x, u []T, alpha, r T) int {
	d := len(u)
	if d < 1 || d > 3 {
		panic(fmt.Sprintf("simd: %s: len(u) = %d, need 1 to 3", fn, d))
	}
	checkPairs(fn, index, pose, d, label, bits, x, u, d)
	if len(label) == 0 {
		return 0
	}
	return pairsEuclid(index, pose, label, bits, x, u, squareLimit(0, alpha, r))
}

// PairsRigidF64 keeps the points x [2, n] of the plane with alpha·|turn| + (1-alpha)·|t| < r, where t = m·(u - x) as
// complex numbers. The pose is (turn, t) [3, n]. With m = V(turn)⁻¹·exp(-iθ) it is the logarithm of the rigid motion
// that takes points turned by θ to a query that is turned by θ + turn. Overflow and underflow are as in PairsEuclidF64.
func PairsRigidF64(index []int32, pose []float64, label []int32, bits []uint64, x, u, m []float64, turn, alpha, r float64) int {
	return pairsRigidOf("PairsRigidF64", index, pose, label, bits, x, u, m, turn, alpha, r)
}

// PairsRigidF32 is PairsRigidF64 in float32.
func PairsRigidF32(index []int32, pose []float32, label []int32, bits []uint64, x, u, m []float32, turn, alpha, r float32) int {
	return pairsRigidOf("PairsRigidF32", index, pose, label, bits, x, u, m, turn, alpha, r)
}

func pairsRigidOf[T Float](fn string, index []int32, pose []T, label []int32, bits []uint64, x, u, m []T, turn, alpha, r T) int {
	checkPairs(fn, index, pose, 3, label, bits, x, u, 2)
	checkLen(fn, "m", len(m), 2)
	if len(label) == 0 {
		return 0
	}
	return pairsRigid(index, pose, label, bits, x, u, m, turn, squareLimit(T(alpha*magnitude(turn)), 1-alpha, r))
}

// PairsPolarF64 keeps the points x = (θ, radius) [2, n], radius ≥ 0, with
//
//	alpha·|Δθ| + (1-alpha)·|h - s|/((h + s) + floor) < r,  h and s being half the query's and the point's radius.
//
// The pose is (Δθ, radius of the query, radius of the point) [3, n].
func PairsPolarF64(index []int32, pose []float64, label []int32, bits []uint64, x, u []float64, floor, alpha, r float64) int {
	return pairsPolarOf("PairsPolarF64", index, pose, label, bits, x, u, floor, alpha, r)
}

// PairsPolarF32 is PairsPolarF64 in float32.
func PairsPolarF32(index []int32, pose []float32, label []int32, bits []uint64, x, u []float32, floor, alpha, r float32) int {
	return pairsPolarOf("PairsPolarF32", index, pose, label, bits, x, u, floor, alpha, r)
}

func pairsPolarOf[T Float](fn string, index []int32, pose []T, label []int32, bits []uint64, x, u []T, floor, alpha, r T) int {
	checkPairs(fn, index, pose, 3, label, bits, x, u, 2)
	if len(label) == 0 {
		return 0
	}
	return pairsPolar(index, pose, label, bits, x, u, floor, alpha, r)
}

// PairsLogPolarF64 keeps the points x = (log radius, θ) [2, n] with alpha·|Δθ| + (1-alpha)·|Δ log radius| < r. The pose
// is (Δ log radius, Δθ) [2, n].
func PairsLogPolarF64(index []int32, pose []float64, label []int32, bits []uint64, x, u []float64, alpha, r float64) int {
	return pairsLogPolarOf("PairsLogPolarF64", index, pose, label, bits, x, u, alpha, r)
}

// PairsLogPolarF32 is PairsLogPolarF64 in float32.
func PairsLogPolarF32(index []int32, pose []float32, label []int32, bits []uint64, x, u []float32, alpha, r float32) int {
	return pairsLogPolarOf("PairsLogPolarF32", index, pose, label, bits, x, u, alpha, r)
}

func pairsLogPolarOf[T Float](fn string, index []int32, pose []T, label []int32, bits []uint64, x, u []T, alpha, r T) int {
	checkPairs(fn, index, pose, 2, label, bits, x, u, 2)
	if len(label) == 0 {
		return 0
	}
	return pairsLogPolar(index, pose, label, bits, x, u, alpha, r)
}

// checkPairs panics unless all lengths fit: d coordinates of a point and e of a pose.
func checkPairs[T Float](fn string, index []int32, pose []T, e int, label []int32, bits []uint64, x, u []T, d int) {
	n := len(label)
	if len(index) < n {
		panic(fmt.Sprintf("simd: %s: len(index) = %d, need at least %d", fn, len(index), n))
	}
	if pose != nil {
		checkLen(fn, "pose", len(pose), e*n)
	}
	if bits != nil {
		checkLen(fn, "bits", len(bits), (n+63)/64)
	}
	checkLen(fn, "x", len(x), d*n)
	checkLen(fn, "u", len(u), d)
}

// squareLimit returns the least square s with !(base + scale·sqrt(s) < r), as far as T can tell: comparing squares with
// it decides like comparing distances with r, without a root per pair. Every operation is rounded, and all are
// monotonic, so there is one such border. 0 means that nothing is within, +Inf that every finite square is.
func squareLimit[T Float](base, scale, r T) T {
	within := func(s T) bool { return T(scale*T(math.Sqrt(float64(s))))+base < r }
	inf := T(math.Inf(1))
	if !within(0) {
		return 0
	}
	// The border is a few steps from where it would be without rounding.
	q := (r - base) / scale
	if s := q * q; s > 0 && s < inf {
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
	lo, hi := uint64(0), floatBits(inf)
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if within(fromBits[T](mid)) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return fromBits[T](hi)
}

// Near16 sets bit j of bits if, for every coordinate c, x[c, j] is within r[c] of u[c] on the circle of 2¹⁶ whole numbers.
// A radius of 2¹⁵ or more holds the whole circle.
//
// It is a sieve for the pair kernels, and takes a few cycles for 64 points. Angles are coordinates of which 2¹⁶ units make
// a turn. Others are rounded to a unit of one's choice and taken modulo 2¹⁶, which lets some points through that are far
// away, but holds none back that is near. A ball in a sum of two distances, |a| + |b| ≤ r, is the box |a+b| ≤ r,
// |a-b| ≤ r.
//
//   - Shape: x is [d, 64·len(bits)], len(u) == len(r) == d, d at least 1; d up to 3 is fast.
//   - Errors: a wrong length panics.
func Near16(bits []uint64, x, u, r []uint16) {
	if len(u) == 0 {
		panic("simd: Near16: len(u) = 0, need at least 1")
	}
	checkLen("Near16", "r", len(r), len(u))
	checkLen("Near16", "x", len(x), 64*len(u)*len(bits))
	if len(bits) > 0 {
		near16(bits, x, u, r)
	}
}

// window16 turns |u - x| ≤ r into hi - x ≤ width, all modulo 2¹⁶ and without sign.
func window16(u, r uint16) (hi, width uint16) {
	if r >= 1<<15 {
		return u, math.MaxUint16
	}
	return u + r, 2 * r
}
