package simd

import (
	"math"
	"math/bits"
	"unsafe"
)

// The portable twins of the pair kernels. They visit the points whose bit is set in order; the assembly takes a vector of
// them at a time, by the same operations in the same order.

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

func pairsEuclidGeneric[T Float](index []int32, pose []T, label []int32, words []uint64, x, u []T, limit T) (m int) {
	n := len(label)
	for j := nextPoint(words, 0, n); j < n; j = nextPoint(words, j+1, n) {
		var sum T
		for c, v := range u {
			diff := v - x[c*n+j]
			sum += T(diff * diff)
		}
		if sum < limit {
			index[m] = label[j]
			if pose != nil {
				for c, v := range u {
					pose[c*n+m] = v - x[c*n+j]
				}
			}
			m++
		}
	}
	return m
}

func pairsRigidGeneric[T Float](index []int32, pose []T, label []int32, words []uint64, x, u, m []T, turn, limit T) (kept int) {
	n := len(label)
	for j := nextPoint(words, 0, n); j < n; j = nextPoint(words, j+1, n) {
		dx, dy := u[0]-x[j], u[1]-x[n+j]
		re, im := T(m[0]*dx)-T(m[1]*dy), T(m[1]*dx)+T(m[0]*dy)
		if T(re*re)+T(im*im) < limit {
			index[kept] = label[j]
			if pose != nil {
				pose[kept], pose[n+kept], pose[2*n+kept] = turn, re, im
			}
			kept++
		}
	}
	return kept
}

func pairsPolarGeneric[T Float](index []int32, pose []T, label []int32, words []uint64, x, u []T, floor, alpha, r T) (m int) {
	n, beta, h := len(label), 1-alpha, T(0.5)*u[1]
	for j := nextPoint(words, 0, n); j < n; j = nextPoint(words, j+1, n) {
		s := 0.5 * x[n+j]
		part := magnitude(h-s) / (T(h+s) + floor)
		if T(alpha*angleSize(u[0]-x[j]))+T(beta*part) < r {
			index[m] = label[j]
			if pose != nil {
				pose[m], pose[n+m], pose[2*n+m] = wrapAngle(u[0]-x[j]), u[1], x[n+j]
			}
			m++
		}
	}
	return m
}

func pairsLogPolarGeneric[T Float](index []int32, pose []T, label []int32, words []uint64, x, u []T, alpha, r T) (m int) {
	n, beta := len(label), 1-alpha
	for j := nextPoint(words, 0, n); j < n; j = nextPoint(words, j+1, n) {
		dl := u[0] - x[j]
		if T(alpha*angleSize(u[1]-x[n+j]))+T(beta*magnitude(dl)) < r {
			index[m] = label[j]
			if pose != nil {
				pose[m], pose[n+m] = dl, wrapAngle(u[1]-x[n+j])
			}
			m++
		}
	}
	return m
}

// angleSize is the magnitude of d modulo a turn, for |d| up to a turn: past π, 2π - |d| is exact and smaller.
func angleSize[T Float](d T) T {
	a := magnitude(d)
	if a > T(math.Pi) {
		return T(2*math.Pi) - a
	}
	return a
}

// wrapAngle is d modulo a turn, for |d| up to a turn, in [-π, π]; half turns are positive. Those are told with an allowance for
// what two rounded angles make of an exact half turn.
func wrapAngle[T Float](d T) T {
	if magnitude(d) > T(math.Pi) {
		if d > 0 {
			d -= T(2 * math.Pi)
		} else {
			d += T(2 * math.Pi)
		}
	}
	half := -T(math.Pi)
	if unsafe.Sizeof(d) == 4 {
		half += 0x1p-19
	} else {
		half += T(0x1p-48)
	}
	if d < half {
		return -d
	}
	return d
}

func magnitude[T Float](x T) T {
	if x < 0 {
		return -x
	}
	return x + 0 // turns -0 into 0
}

// nextUp and nextDown are the neighbours of a positive finite number.
func nextUp[T Float](x T) T   { return fromBits[T](floatBits(x) + 1) }
func nextDown[T Float](x T) T { return fromBits[T](floatBits(x) - 1) }

// floatBits are the bits of x as T has them.
func floatBits[T Float](x T) uint64 {
	if unsafe.Sizeof(x) == 4 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(float64(x))
}

// fromBits is the number with those bits.
func fromBits[T Float](b uint64) T {
	if unsafe.Sizeof(T(0)) == 4 {
		return T(math.Float32frombits(uint32(b)))
	}
	return T(math.Float64frombits(b))
}

func near16Generic(words []uint64, x, u, r []uint16) {
	for w := range words {
		word := ^uint64(0)
		for c := range u {
			hi, width := window16(u[c], r[c])
			row := x[64*(c*len(words)+w):][:64]
			out := uint64(0)
			for k, y := range row {
				// The subtraction's sign is set where the gap exceeds the width.
				out |= uint64(uint32(width)-uint32(hi-y)) >> 31 & 1 << k
			}
			word &^= out
		}
		words[w] = word
	}
}
