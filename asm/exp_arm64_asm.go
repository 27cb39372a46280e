package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// neonExp holds what the exponential's reduction needs, in the lanes of two registers. It follows simd/exp_generic.go, with
// fused multiply-adds:
//
//	x = n·ln2 + r,  exp(x) = 2^n·(1 + p),  p = r + r²·(c2 + c3·r + c4·r² + c5·r³ + c6·r⁴)
//
// Or, in its negative form, exp(-x) with s = -r, whose odd coefficients change sign so that x need not be negated first.
type neonExp struct {
	negative           bool
	log2e, hi, lo      neon.K
	c2, c3, c4, c5, c6 neon.K
}

// neonExpConsts lists the constants of exp(x), or of exp(-x).
func neonExpConsts(negative bool) []neon.Const {
	sign := float32(1)
	if negative {
		sign = -1
	}
	return []neon.Const{
		neon.Float(sign*0x1.715476p+0, "±1/ln2"),
		neon.Float(sign*0x1.63p-1, "±ln2, upper 9 bits"),
		neon.Float(sign*-0x1.bd0106p-13, "±ln2, the rest"),
		neon.Float(0x1.fffffcp-2, "c2"),
		neon.Float(sign*0x1.555492p-3, "±c3"),
		neon.Float(0x1.5558aep-5, "c4"),
		neon.Float(sign*0x1.12398p-7, "±c5"),
		neon.Float(0x1.6a4f28p-10, "c6"),
	}
}

// newNEONExp takes the first eight of the function's constants, which must begin with those of neonExpConsts.
func newNEONExp(negative bool, k []neon.K) neonExp {
	return neonExp{negative, k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7]}
}

// reduce replaces x by p, in the negative form by -p, and returns n. 13 instructions; |x| < 2^20. NaN gives p = NaN, n = 0.
func (e neonExp) reduce(f *neon.Func, x neon.Vec) (n neon.Vec) {
	n, k, q := f.V(len(x)), f.V(len(x)), f.V(len(x))

	// n = round(±x/ln2)
	f.MulK(k, x, e.log2e)
	f.Round(n, k)
	f.FromInt(k, n)

	// r = x - n·ln2Hi - n·ln2Lo; the first difference is exact.
	f.MlsK(x, k, e.hi)
	f.MlsK(x, k, e.lo)

	// p = r + r²·(c2 + c3·r + ...), or -p = s - s²·(c2 - c3·s + ...)
	x2 := f.V(len(x))
	f.Mul(x2, x, x)
	f.Poly(q, k, x, x2, e.c2, e.c3, e.c4, e.c5, e.c6)
	if e.negative {
		f.Mls(x, x2, q)
	} else {
		f.Mla(x, x2, q)
	}
	f.Free(k, q, x2)
	return n
}

// expNEON writes expF32NEON: 23 instructions for 4 elements, 6.2 per element with loads, stores and the loop.
func expNEON(file *neon.File) {
	f := file.Func("expF32NEON", "(dst, x *float32, n int)", "expF32NEON sets dst[i] = exp(x[i]) for n elements. dst may be x.")
	k := f.Consts(append(neonExpConsts(false),
		neon.Float(-104, "exp rounds to 0 from here down"), neon.Float(89, "exp is infinite from here up"), neon.Float(1, ""))...)
	e, s := newNEONExp(false, k), f.Splats(k[8:]...)
	least, most, one := s[0], s[1], s[2]
	dst, x, n := f.Arg("dst"), f.Arg("x"), f.Arg("n")
	f.Each(neon.Loop{N: n, In: []neon.R{x}, Out: []neon.R{dst}, Unroll: 4, Body: func(in []neon.Vec) []neon.Vec {
		x := in[0]
		f.Max(x, x, least)
		f.Min(x, x, most)
		n := e.reduce(f, x)
		y, h := x, f.V(len(x))

		// 1 + p is within [0.7, 1.5], so adding h = floor(n/2) to its exponent multiplies by 2^h exactly.
		f.Add(y, x, one)
		f.Sar(h, n, 1)
		f.SubInt(n, n, h)
		f.Shl(h, h, 23)
		f.AddInt(y, y, h)

		// 2^(n-h) by its bits; the product overflows or is rounded to a subnormal number just once.
		f.Shl(n, n, 23)
		f.AddInt(n, n, one)
		f.Mul(y, y, n)
		return []neon.Vec{y}
	}})
	f.Text("RET")
}
