package simd

import "math"

// The exponential function in float32.
//
//	x = n·ln2 + r,  n an integer, |r| ≤ ln2/2 (1 + 2^-20)
//	exp(x) = 2^n · (1 + p),  p = r + r²·(c2 + c3·r + c4·r² + c5·r³ + c6·r⁴)
//
// ln2 is split in two (Cody and Waite): ln2Hi has 9 bits, so n·ln2Hi is exact, and so is its difference from x, except for n =
// ±1, where the difference is rounded once. The polynomial is the minimax polynomial for the relative error of 1 + p, which is
// 3.2e-9, a nineteenth of half an ULP. All polynomials of this package were fitted in this way: weighted least squares with
// Lawson's reweighting in 40-digit arithmetic; then the coefficients are rounded to float32 one after the other, lowest first,
// and the rest is fitted again each time. 1 + p is rounded once, and p itself contributes at most another half ULP, so exp stays
// within 1.1 ULP. Functions that use p and n without adding the 1 lose less.
const (
	log2e    = 0x1.715476p+0 // 1/ln2
	ln2HiF32 = 0x1.63p-1     // 0.693359375
	ln2LoF32 = -0x1.bd0106p-13

	expC2 = 0x1.fffffcp-2
	expC3 = 0x1.555492p-3
	expC4 = 0x1.5558aep-5
	expC5 = 0x1.12398p-7
	expC6 = 0x1.6a4f28p-10

	// Adding and subtracting 1.5·2^23 rounds a float32 below 2^22 in magnitude to the nearest integer, which then also
	// stands in the low bits of the sum.
	roundF32     = 0x1.8p23
	roundF32Bits = 0x4b400000

	// Beyond these arguments the result is infinite or rounds to 0: ln(2^128) = 88.7228..., ln(2^-150) = -103.972...
	expMaxF32 = 89
	expMinF32 = -104
)

// expReduceF32 returns p and n with exp(x) = (1 + p)·2^n, for |x| < 2^20. For NaN, p is NaN and n means nothing.
func expReduceF32(x float32) (p float32, n int32) {
	z := float32(x*log2e) + roundF32
	k := z - roundF32
	r := x - float32(k*ln2HiF32) - float32(k*ln2LoF32)
	p = r + r*r*(expC2+r*(expC3+r*(expC4+r*(expC5+r*expC6))))
	return p, int32(math.Float32bits(z)) - roundF32Bits
}

// pow2F32 returns 2^n for -127 < n < 128.
func pow2F32(n int32) float32 { return math.Float32frombits(uint32(n+127) << 23) }

func expF32Generic(dst, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		if !(v >= expMinF32 && v <= expMaxF32) {
			dst[i] = expOutsideF32(v)
			continue
		}
		p, n := expReduceF32(v)
		// 2^n itself may be out of range where the result is not. The first product is exact, so there is one rounding
		// even if the result is subnormal.
		h := n >> 1
		dst[i] = (1 + p) * pow2F32(h) * pow2F32(n-h)
	}
}

// expOutsideF32 is exp for arguments where it overflows or vanishes, and for NaN.
func expOutsideF32(x float32) float32 {
	switch {
	case x > 0:
		return float32(math.Inf(1))
	case x < 0:
		return 0
	}
	return x
}

// In float64 the standard library's function is within the bound: its authors state an error below 1 ULP. On amd64, Go
// 1.26's assembly overflows at 1023.5·ln2 instead of at ln(MaxFloat64). Arguments from there on are x = 1023·ln2 + h -
// l, and exp(x) = 2^1023·exp(h)·(1 - l + l²/2).
func expF64Generic(dst, x []float64) {
	const (
		late  = 709.25 // below 1023.5·ln2 = 709.43
		ln2Hi = 0x1.62e42feep-1
		ln2Lo = 0x1.a39ef35793c76p-33
		l     = 1023 * ln2Lo
	)
	dst = dst[:len(x)]
	for i, v := range x {
		if v > late && v < late+1 {
			y := math.Exp(v - 1023*ln2Hi)
			dst[i] = (y - float64(y*(l-l*l/2))) * 0x1p1023
			continue
		}
		dst[i] = math.Exp(v)
	}
}
