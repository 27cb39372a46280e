package simd

import "math"

// swishGradBlock is how many exponentials are taken at a time, in a small array on the stack.
const swishGradBlock = 128

// swishGradClamp bounds x, so that ±Inf meets a factor of 0 as a finite number. The derivative is 0 or 1 long before that bound.
const swishGradClamp = 1000

// swishGradGeneric starts from e = exp(-|x|), which gives both s = sigmoid(x) and 1 - s without cancellation: the larger of the
// two is 1/(1+e), the smaller e/(1+e).
func swishGradGeneric[T Float](dx, dy, x []T) {
	var buf [swishGradBlock]T
	for lo := 0; lo < len(x); lo += swishGradBlock {
		hi := min(lo+swishGradBlock, len(x))
		xs, ys, out, e := x[lo:hi], dy[lo:hi], dx[lo:hi], buf[:hi-lo]
		for i, v := range xs {
			if v > 0 {
				v = -v
			}
			e[i] = v
		}
		Exp(e, e)
		for i, v := range xs {
			if v > swishGradClamp {
				v = swishGradClamp
			}
			if v < -swishGradClamp {
				v = -swishGradClamp
			}
			s, q := 1/(1+e[i]), e[i]/(1+e[i])
			if v < 0 {
				s, q = q, s
			}
			out[i] = ys[i] * (s * (1 + v*q))
		}
	}
}

func reluGradGeneric[T Float](dx, dy, y []T) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	for i, v := range y {
		d := dy[i]
		if v <= 0 {
			d = 0
		}
		dx[i] = d
	}
}

func sigmoidGradGeneric[T Float](dx, dy, y []T) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	for i, v := range y {
		dx[i] = dy[i] * (v * (1 - v))
	}
}

// softplusGradMaxF32 bounds y: there 1 - exp(-y) is 1, and exp(y) is still finite.
const softplusGradMaxF32 = 87

// softplusGradF32Generic computes exp(-y) = (1 + p)·2^n and keeps p and n separate:
//
//	1 - exp(-y) = (1 - 2^n) - p·2^n
//
// For y near 0, n = 0 and only -p remains, which has a relative error of an ULP. Otherwise 1 - 2^n is at least a half, and exact
// or 1. So nothing cancels.
func softplusGradF32Generic(dx, dy, y []float32) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	for i, v := range y {
		p, n := expReduceF32(-max(-softplusGradMaxF32, min(softplusGradMaxF32, v)))
		t := pow2F32(n)
		dx[i] = dy[i] * ((1 - t) - float32(p*t))
	}
}

func softplusGradF64Generic(dx, dy, y []float64) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	for i, v := range y {
		dx[i] = dy[i] * -math.Expm1(-v)
	}
}
