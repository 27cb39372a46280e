package simd

import "math"

// The logarithm in float32.
//
//	x = 2^k·(1 + f),  sqrt(1/2) ≤ 1 + f < sqrt(2)
//	ln(1 + f) = f - f²/2 + f³·P(f)
//	ln(x) = k·ln2 + ln(1 + f), the parts added from the smallest to the largest
//
// f is exact. P has degree 8 and is the minimax polynomial for the relative error of ln(1 + f), fitted with float32
// coefficients: 7.7e-10. k·ln2Hi is exact (exp_generic.go), so that the roundings of the last two sums dominate.
const (
	logP0 = 0x1.555548p-2
	logP1 = -0x1.000006p-2
	logP2 = 0x1.99a476p-3
	logP3 = -0x1.555c46p-3
	logP4 = 0x1.233ba8p-3
	logP5 = -0x1.fc288p-4
	logP6 = 0x1.e6bf3p-4
	logP7 = -0x1.de0304p-4
	logP8 = 0x1.1476ap-4

	sqrtHalfBits  = 0x3f3504f3 // sqrt(1/2)
	oneBits       = 0x3f800000
	infBits       = 0x7f800000
	minNormalBits = 0x00800000
)

// log1pPolyF32 returns ln(1+f) - f for sqrt(1/2) ≤ 1+f ≤ sqrt(2). Adding f last keeps the relative error small near 0.
func log1pPolyF32(f float32) float32 {
	z := f * f
	p := logP0 + f*(logP1+f*(logP2+f*(logP3+f*(logP4+f*(logP5+f*(logP6+f*(logP7+f*logP8)))))))
	return float32(z*f)*p - float32(0.5*z)
}

func logF32Generic(dst, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		bits := math.Float32bits(v)
		var k int32
		if bits-minNormalBits >= infBits-minNormalBits { // ±0, subnormal, negative, infinite or NaN
			if !(v > 0 && bits < infBits) {
				dst[i] = logOutsideF32(v)
				continue
			}
			bits = math.Float32bits(v * 0x1p23)
			k = -23
		}
		// Shifting the exponent's boundary to sqrt(1/2) makes 1+f the mantissa that is closest to 1.
		bits += oneBits - sqrtHalfBits
		k += int32(bits>>23) - 127
		f := math.Float32frombits(bits&0x007fffff+sqrtHalfBits) - 1
		kf := float32(k)
		y := log1pPolyF32(f) + float32(kf*ln2LoF32)
		dst[i] = float32(kf*ln2HiF32) + (f + y)
	}
}

// logOutsideF32 is the logarithm of everything that is not a positive finite number.
func logOutsideF32(x float32) float32 {
	switch {
	case x == 0:
		return float32(math.Inf(-1))
	case x < 0:
		return float32(math.NaN())
	}
	return x // +Inf, NaN
}

// In float64 the standard library's function is within the bound (its authors state an error below 1 ULP), except for subnormal
// numbers, which Go 1.26 treats as normal ones on amd64.
func logF64Generic(dst, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		if v > 0 && v < 0x1p-1022 {
			dst[i] = math.Log(v*0x1p54) - 54*math.Ln2
			continue
		}
		dst[i] = math.Log(v)
	}
}
