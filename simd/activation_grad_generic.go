package simd

import "math"

// swishGradBlock is how many exponentials are taken at a time, in a small array on the stack.
const swishGradBlock = 128

// swishGradClamp bounds x, so that ±Inf meets a factor of 0 as a finite number. Long before it the derivative is 0 or 1.
const swishGradClamp = 1000

// swishGradGeneric takes e = exp(-|x|), from which both s = sigmoid(x) and 1 - s come without cancellation: 1/(1+e) is the
// larger of the two and e/(1+e) the smaller.
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

func softplusGradGeneric[T Float](dx, dy, y []T) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	for i, v := range y {
		dx[i] = dy[i] * T(-math.Expm1(-float64(v)))
	}
}
