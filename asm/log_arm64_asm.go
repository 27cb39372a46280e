package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// neonLog1pConsts lists the coefficients of ln(1 + f) = f - f²/2 + f³·P(f) (simd/log_generic.go).
func neonLog1pConsts() []neon.Const {
	return []neon.Const{
		neon.Float(0x1.555548p-2, "P0"), neon.Float(-0x1.000006p-2, "P1"), neon.Float(0x1.99a476p-3, "P2"),
		neon.Float(-0x1.555c46p-3, "P3"), neon.Float(0x1.233ba8p-3, "P4"), neon.Float(-0x1.fc288p-4, "P5"),
		neon.Float(0x1.e6bf3p-4, "P6"), neon.Float(-0x1.de0304p-4, "P7"), neon.Float(0x1.1476ap-4, "P8"),
	}
}

// neonLog1p sets d = ln(1 + f) - f = f³·P(f) - f²/2, with t and z for scratch. 16 instructions.
func neonLog1p(fn *neon.Func, d, t, z, f neon.Vec, p []neon.K, half neon.K) {
	fn.Mul(z, f, f)
	fn.Poly(d, t, f, z, p...)
	fn.Mul(t, z, f)
	fn.Mul(d, t, d)
	fn.MlsK(d, z, half)
}

// logNEON writes logF32NEON:
//
//	x = 2^k·(1 + f),  sqrt(1/2) ≤ 1 + f < sqrt(2),  ln(x) = k·ln2 + ln(1 + f)
//
// 37 instructions for 4 elements, 10 of them for arguments that are not normal positive numbers; 9.9 per element with loads, stores
// and the loop.
func logNEON(file *neon.File) {
	f := file.Func("logF32NEON", "(dst, x *float32, n int)", "logF32NEON sets dst[i] = ln(x[i]) for n elements. dst may be x.")
	k := f.Consts(append(neonLog1pConsts(),
		neon.Float(0.5, ""), neon.Float(0x1p23, "lifts subnormal numbers"), neon.Float(0x1.63p-1, "ln2, upper 9 bits"),
		neon.Float(-0x1.bd0106p-13, "ln2, the rest"),
		neon.Bits(0x00800000, "the smallest normal number"), neon.Bits(0x3f800000-0x3f3504f3, "from sqrt(1/2) to 1"),
		neon.Bits(127, "exponent of 1"), neon.Bits(23, "what lifting adds to the exponent"), neon.Bits(0x007fffff, "mantissa"),
		neon.Bits(0x3f3504f3, "sqrt(1/2)"), neon.Float(1, ""), neon.Bits(0x7f800000, "+Inf"),
		neon.Bits(0xff800000, "-Inf"), neon.Bits(0x7fc00000, "NaN"))...)
	p, half, lift, ln2Hi, ln2Lo := k[:9], k[9], k[10], k[11], k[12]
	s := f.Splats(k[13:]...)
	normal, shift, bias, lifted, mantissa, sqrtHalf, one, inf, minusInf, nan := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9]
	dst, x, n := f.Arg("dst"), f.Arg("x"), f.Arg("n")
	f.Each(neon.Loop{N: n, In: []neon.R{x}, Out: []neon.R{dst}, Unroll: 2, Body: func(in []neon.Vec) []neon.Vec {
		u := len(in[0])
		v, x, k, t := in[0], f.V(u), f.V(u), f.V(u)

		// x = v·2^23 where v is below the normal numbers, and k has 23 to take back.
		f.GT(k, normal, v)
		f.MulK(x, v, lift)
		f.InsertNot(x, v, k)
		f.And(k, k, lifted)

		// Shifting the exponent's boundary to sqrt(1/2) makes 1 + f the mantissa that is closest to 1.
		f.AddInt(x, x, shift)
		f.Shr(t, x, 23)
		f.SubInt(t, t, bias)
		f.SubInt(k, t, k)
		f.FromInt(k, k)
		f.And(x, x, mantissa)
		f.AddInt(x, x, sqrtHalf)
		f.Sub(x, x, one)

		// y = k·ln2Hi + (f + (ln(1+f) - f + k·ln2Lo)); k·ln2Hi is exact, so fusing it changes nothing.
		y, z := f.V(u), f.V(u)
		neonLog1p(f, y, t, z, x, p, half)
		f.MlaK(y, k, ln2Lo)
		f.Add(y, x, y)
		f.MlaK(y, k, ln2Hi)

		// Not above 0: -Inf at 0 and NaN below; not below +Inf: +Inf and NaN as they are.
		f.EQ0(t, v)
		f.Select(t, minusInf, nan)
		f.GT0(z, v)
		f.InsertNot(y, t, z)
		f.GT(z, inf, v)
		f.InsertNot(y, v, z)
		return []neon.Vec{y}
	}})
	f.Text("RET")
}
