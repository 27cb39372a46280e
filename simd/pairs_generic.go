package simd

import (
	"math"
	"unsafe"
)

// The portable twins of the pair kernels. They visit the points whose bit is set in order; the assembly takes a vector of
// them at a time, by the same operations in the same order.

// setBit reports whether point j is to be looked at.
func setBit(bits []uint64, j int) bool { return bits == nil || bits[j>>6]>>(j&63)&1 != 0 }

// eachPoint calls f for every point whose bit is set; f reports whether it kept the point as number m.
func eachPoint(index, label []int32, bits []uint64, f func(j, m int) bool) (m int) {
	for j := 0; j < len(label); j++ {
		if bits != nil && j&63 == 0 && bits[j>>6] == 0 {
			j += 63
			continue
		}
		if setBit(bits, j) && f(j, m) {
			index[m] = label[j]
			m++
		}
	}
	return m
}

func pairsEuclidGeneric[T Float](index []int32, pose []T, label []int32, bits []uint64, x, u []T, limit T) int {
	n, d := len(label), len(u)
	return eachPoint(index, label, bits, func(j, m int) bool {
		var sum T
		for c, v := range u {
			diff := v - x[c*n+j]
			sum += T(diff * diff)
		}
		if !(sum < limit) {
			return false
		}
		if pose != nil {
			for c := range d {
				pose[c*n+m] = u[c] - x[c*n+j]
			}
		}
		return true
	})
}

func pairsRigidGeneric[T Float](index []int32, pose []T, label []int32, bits []uint64, x, u, m []T, turn, limit T) int {
	n := len(label)
	return eachPoint(index, label, bits, func(j, k int) bool {
		dx, dy := u[0]-x[j], u[1]-x[n+j]
		re, im := T(m[0]*dx)-T(m[1]*dy), T(m[1]*dx)+T(m[0]*dy)
		if !(T(re*re)+T(im*im) < limit) {
			return false
		}
		if pose != nil {
			pose[k], pose[n+k], pose[2*n+k] = turn, re, im
		}
		return true
	})
}

func pairsPolarGeneric[T Float](index []int32, pose []T, label []int32, bits []uint64, x, u []T, floor, alpha, r T) int {
	n, beta, h := len(label), 1-alpha, T(0.5)*u[1]
	return eachPoint(index, label, bits, func(j, m int) bool {
		s := 0.5 * x[n+j]
		part := magnitude(h-s) / (T(h+s) + floor)
		if !(T(alpha*angleSize(u[0]-x[j]))+T(beta*part) < r) {
			return false
		}
		if pose != nil {
			pose[m], pose[n+m], pose[2*n+m] = wrapAngle(u[0]-x[j]), u[1], x[n+j]
		}
		return true
	})
}

func pairsLogPolarGeneric[T Float](index []int32, pose []T, label []int32, bits []uint64, x, u []T, alpha, r T) int {
	n, beta := len(label), 1-alpha
	return eachPoint(index, label, bits, func(j, m int) bool {
		dl := u[0] - x[j]
		if !(T(alpha*angleSize(u[1]-x[n+j]))+T(beta*magnitude(dl)) < r) {
			return false
		}
		if pose != nil {
			pose[m], pose[n+m] = dl, wrapAngle(u[1]-x[n+j])
		}
		return true
	})
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

func near16Generic(bits []uint64, x, u, r []uint16) {
	for w := range bits {
		word := ^uint64(0)
		for c := range u {
			hi, width := window16(u[c], r[c])
			row := x[64*(c*len(bits)+w):][:64]
			out := uint64(0)
			for k, y := range row {
				// The subtraction's sign is set where the gap exceeds the width.
				out |= uint64(uint32(width)-uint32(hi-y)) >> 31 & 1 << k
			}
			word &^= out
		}
		bits[w] = word
	}
}
