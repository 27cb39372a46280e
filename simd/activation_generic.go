package simd

import "math"

// Sigmoid and swish in float32 start from exp(-x) = (1 + p)·2^n (exp_generic.go) and take the scale out of the fraction:
//
//	sigmoid(x) = 1/(1 + (1+p)·2^n) = 2^-n / (2^-n + 1 + p)
//	swish(x)   =                  2^-n · x / (2^-n + 1 + p)
//
// so that nothing overflows for x → -∞. The result is scaled at the very end: exactly, or with one rounding if it is subnormal.
// The denominator is rounded once (denominatorF32), the quotient once more: 1.5 ULP altogether.
//
// Above 20, sigmoid(x) differs from 1 by less than half an ULP, so exp(-20) is used for exp(-x); below -110 both functions round
// to 0. For n > 60, 2^-n is far below the last bit of 1 + p, so 2^-60 is used instead.
const (
	sigmoidMaxF32   = 20
	sigmoidMinF32   = -110
	sigmoidShiftF32 = 60
)

// denominatorF32 returns 2^-n + 1 + p. The sum s of the first two terms is exact for |n| ≤ 23. For larger n, the part of 2^-n
// that s lost is added to p, which still has room for it (Dekker's Fast2Sum). For n < -23 the 1 is lost, which does not matter.
func denominatorF32(p float32, n int32) float32 {
	c := pow2F32(-min(n, sigmoidShiftF32))
	s := 1 + c
	return s + (p + (c - (s - 1)))
}

func sigmoidF32Generic(dst, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		if v > sigmoidMaxF32 {
			v = sigmoidMaxF32
		}
		if v < sigmoidMinF32 {
			v = sigmoidMinF32
		}
		p, n := expReduceF32(-v)
		d := denominatorF32(p, n)
		h := n >> 1
		dst[i] = 1 / d * pow2F32(-h) * pow2F32(h-n)
	}
}

func swishF32Generic(dst, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		if v < sigmoidMinF32 {
			v = sigmoidMinF32 // -Inf too: what remains is -0
		}
		y := v
		if y > sigmoidMaxF32 {
			y = sigmoidMaxF32
		}
		p, n := expReduceF32(-y)
		d := denominatorF32(p, n)
		h := n >> 1
		dst[i] = v / d * pow2F32(-h) * pow2F32(h-n)
	}
}

// Softplus in float32. With exp(-|x|) = e + l, where e is the rounded value and l the part that rounding 1 + p cut off,
//
//	softplus(x) = max(x, 0) + log1p(e + l)
//
// where log1p is that of log_generic.go, with 1 + e = 2^k·(1 + f), k = 0 or 1 and f exact. l, at most half an ULP of e, is added
// to the small terms; its factor there would be 1/(1+f), which is close enough to 1.
func softplusF32Generic(dst, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		y := math.Float32frombits(math.Float32bits(v) &^ (1 << 31))
		if y > -expMinF32 {
			y = -expMinF32
		}
		p, n := expReduceF32(-y)
		h := n >> 1
		s := 1 + p
		e := s * pow2F32(h) * pow2F32(n-h)
		l := (1 - s + p) * pow2F32(h) * pow2F32(n-h)
		f, hi, lo := e, float32(0), float32(0)
		if e > math.Sqrt2-1 {
			f, hi, lo = 0.5*(e-1), ln2HiF32, ln2LoF32
			l *= 0.5
		}
		dst[i] = max(v, 0) + (hi + (f + (log1pPolyF32(f) + lo + l)))
	}
}

// The hyperbolic tangent in float32: for a = |x| < 0.625 the odd minimax polynomial a + a³·P(a²), P of degree 4, relative error
// 4.6e-9; above, 1 - 2t/(1 + t) with t = exp(-2a), a result over 0.55 from which less than 0.45 was subtracted. From 10
// on, tanh rounds to 1.
const (
	tanhP0 = -0x1.555532p-2
	tanhP1 = 0x1.1107p-3
	tanhP2 = -0x1.b837e4p-5
	tanhP3 = 0x1.520c4cp-6
	tanhP4 = -0x1.757596p-8

	tanhSplitF32 = 0.625
	tanhMaxF32   = 10
)

func tanhF32Generic(dst, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		bits := math.Float32bits(v)
		sign := bits & (1 << 31)
		a := math.Float32frombits(bits &^ (1 << 31))
		var y float32
		if a < tanhSplitF32 {
			z := a * a
			y = a + a*(z*(tanhP0+z*(tanhP1+z*(tanhP2+z*(tanhP3+z*tanhP4)))))
		} else {
			if a > tanhMaxF32 {
				a = tanhMaxF32
			}
			p, n := expReduceF32(-2 * a)
			t := (1 + p) * pow2F32(n) // n ≥ -29
			y = 1 - 2*t/(1+t)
		}
		dst[i] = math.Float32frombits(math.Float32bits(y) | sign)
	}
}

// In float64 the functions are composed of functions of the standard library.

func sigmoidF64Generic(dst, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		if v >= 0 {
			dst[i] = 1 / (1 + math.Exp(-v))
		} else {
			e := math.Exp(v)
			dst[i] = e / (1 + e)
		}
	}
}

func swishF64Generic(dst, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		switch {
		case v < -800:
			dst[i] = math.Copysign(0, -1)
		case v < -700:
			// exp(v) may be subnormal and lose digits although v·exp(v) is normal; two factors avoid that. 1 + exp(v) is 1.
			h := math.Exp(0.5 * v)
			dst[i] = v * h * h
		case v < 0:
			e := math.Exp(v)
			dst[i] = v * e / (1 + e)
		default:
			dst[i] = v / (1 + math.Exp(-v))
		}
	}
}

func softplusF64Generic(dst, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = max(v, 0) + math.Log1p(math.Exp(-math.Abs(v)))
	}
}

func tanhF64Generic(dst, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = math.Tanh(v)
	}
}

func reluGeneric[T Float](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = max(v, 0)
	}
}
