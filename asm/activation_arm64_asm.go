package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// activationNEON writes the activations. Formulas and bounds are those of simd/activation_generic.go.
func activationNEON(file *neon.File) {
	sigmoidNEON(file, "sigmoidF32NEON", false,
		"sigmoidF32NEON sets dst[i] = 1/(1 + exp(-x[i])) for n elements. dst may be x.")
	sigmoidNEON(file, "swishF32NEON", true,
		"swishF32NEON sets dst[i] = x[i]/(1 + exp(-x[i])) for n elements. dst may be x.")
	softplusNEON(file)
	tanhNEON(file)
	reluNEON(file)
}

// sigmoidNEON writes sigmoid or swish, with exp(-x) = (1 + p)·2^n:
//
//	2^-n / (2^-n + 1 + p)  or  2^-n·x / (2^-n + 1 + p)
//
// 31 instructions for 4 elements, 8.4 per element with loads, stores and the loop. One of them is a division, which most machines
// overlap with the rest.
func sigmoidNEON(file *neon.File, name string, swish bool, doc string) {
	f := file.Func(name, "(dst, x *float32, n int)", doc)
	k := f.Consts(append(neonExpConsts(true),
		neon.Float(-110, "both functions round to 0 from here down"), neon.Float(20, "sigmoid rounds to 1 from here up"),
		neon.Float(1, ""), neon.Bits(60, "2^-60 is nothing beside 1"))...)
	e, s := newNEONExp(true, k), f.Splats(k[8:]...)
	least, most, one, sixty := s[0], s[1], s[2], s[3]
	dst, x, n := f.Arg("dst"), f.Arg("x"), f.Arg("n")
	f.Each(neon.Loop{N: n, In: []neon.R{x}, Out: []neon.R{dst}, Unroll: 2, Body: func(in []neon.Vec) []neon.Vec {
		u := len(in[0])
		numerator, x := one, in[0]
		f.Max(x, x, least)
		if swish {
			numerator, x = x, f.V(u)
		}
		f.Min(x, in[0], most)
		n := e.reduce(f, x)
		minusP, c, s, d := x, f.V(u), f.V(u), f.V(u)

		// c = 2^-min(n, 60)
		f.MinInt(c, n, sixty)
		f.Shl(c, c, 23)
		f.SubInt(c, one, c)

		// d = c + 1 + p: s = 1 + c, and what s lost of c joins p.
		f.Add(s, one, c)
		f.Sub(d, s, one)
		f.Sub(c, c, d)
		f.Sub(c, c, minusP)
		f.Add(d, s, c)

		// d is within [0.7, 2^30], so adding h = floor(n/2) to its exponent multiplies by 2^h exactly. What remains, 2^(h-n), scales
		// the quotient with at most one rounding.
		f.Sar(s, n, 1)
		f.SubInt(n, n, s)
		f.Shl(s, s, 23)
		f.AddInt(d, d, s)
		f.Shl(n, n, 23)
		f.SubInt(n, one, n)
		f.Div(d, numerator, d)
		f.Mul(d, d, n)
		return []neon.Vec{d}
	}})
	f.Text("RET")
}

// softplusNEON writes softplus: with exp(-|x|) = e + l,
//
//	softplus(x) = max(x, 0) + log1p(e + l)
//
// 58 instructions for 4 elements, 15.1 per element with loads, stores and the loop.
func softplusNEON(file *neon.File) {
	f := file.Func("softplusF32NEON", "(dst, x *float32, n int)",
		"softplusF32NEON sets dst[i] = ln(1 + exp(x[i])) for n elements. dst may be x.")
	k := f.Consts(append(append(neonExpConsts(true), neonLog1pConsts()...),
		neon.Float(0.5, ""), neon.Float(104, "exp(-x) rounds to 0 from here up"), neon.Float(1, ""),
		neon.Float(0x1.a8279ap-2, "sqrt(2) - 1"), neon.Float(0x1.63p-1, "ln2, upper 9 bits"),
		neon.Float(-0x1.bd0106p-13, "ln2, the rest"))...)
	e, p, half := newNEONExp(true, k), k[8:17], k[17]
	s := f.Splats(k[18:]...)
	most, one, split, ln2Hi, ln2Lo := s[0], s[1], s[2], s[3], s[4]
	dst, x, n := f.Arg("dst"), f.Arg("x"), f.Arg("n")
	f.Each(neon.Loop{N: n, In: []neon.R{x}, Out: []neon.R{dst}, Unroll: 2, Body: func(in []neon.Vec) []neon.Vec {
		u := len(in[0])
		x, v := f.V(u), in[0]
		f.Abs(x, v)
		f.Min(x, x, most)
		n := e.reduce(f, x)
		minusP, s, w, h := x, f.V(u), f.V(u), f.V(u)

		// w = 2^n in two exact steps, 0 for n = -150.
		f.Sar(h, n, 1)
		f.SubInt(n, n, h)
		f.Shl(h, h, 23)
		f.AddInt(h, h, one)
		f.Shl(n, n, 23)
		f.AddInt(n, n, one)
		f.Mul(w, h, n)
		f.Free(h, n)

		// s = 1 + p rounded, e = s·2^n, l = (1 - s + p)·2^n
		l, y, m := f.V(u), f.V(u), f.V(u)
		f.Sub(s, one, minusP)
		f.Sub(l, one, s)
		f.Sub(l, l, minusP)
		f.Mul(l, l, w)
		f.Mul(y, s, w)

		// 1 + e = 2·(1 + y) if e > sqrt(2) - 1: y = (e - 1)/2 and l is halved; hi + lo = ln2 then, else 0.
		f.GT(m, y, split)
		f.Sub(s, y, one)
		f.MulK(s, s, half)
		f.Insert(y, s, m)
		f.MulK(s, l, half)
		f.Insert(l, s, m)
		f.And(s, m, ln2Lo)
		f.Add(l, l, s)
		f.And(m, m, ln2Hi)

		// max(x, 0) + (hi + (y + (log1p(y) - y + lo + l)))
		neonLog1p(f, w, s, x, y, p, half)
		f.Add(w, w, l)
		f.Add(y, y, w)
		f.Add(y, m, y)
		f.Clear(s)
		f.Max(v, v, s)
		f.Add(v, v, y)
		return []neon.Vec{v}
	}})
	f.Text("RET")
}

// tanhNEON writes tanh: with a = |x|, a + a³·P(a²) below 0.625 and 1 - 2t/(1 + t), t = exp(-2a), above; both are computed
// and one is selected. 37 instructions for 4 elements, one of them a division; 9.9 per element with loads, stores and the loop.
func tanhNEON(file *neon.File) {
	f := file.Func("tanhF32NEON", "(dst, x *float32, n int)", "tanhF32NEON sets dst[i] = tanh(x[i]) for n elements. dst may be x.")
	k := f.Consts(append(neonExpConsts(true),
		neon.Float(-0x1.555532p-2, "P0"), neon.Float(0x1.1107p-3, "P1"), neon.Float(-0x1.b837e4p-5, "P2"),
		neon.Float(0x1.520c4cp-6, "P3"), neon.Float(-0x1.757596p-8, "P4"),
		neon.Float(0.625, "where the formulas meet"), neon.Float(10, "tanh rounds to 1 from here up"), neon.Float(1, ""),
		neon.Bits(1<<31, "the sign"))...)
	e, p, s := newNEONExp(true, k), k[8:13], f.Splats(k[13:]...)
	split, most, one, sign := s[0], s[1], s[2], s[3]
	dst, x, n := f.Arg("dst"), f.Arg("x"), f.Arg("n")
	f.Each(neon.Loop{N: n, In: []neon.R{x}, Out: []neon.R{dst}, Unroll: 2, Body: func(in []neon.Vec) []neon.Vec {
		u := len(in[0])
		v, a, z, w, q, t := in[0], f.V(u), f.V(u), f.V(u), f.V(u), f.V(u)
		f.Abs(a, v)

		// a + a·(z·P(z)), z = a²
		f.Mul(z, a, a)
		f.Mul(w, z, z)
		f.Poly(q, t, z, w, p...)
		f.Mul(z, z, q)
		small := q
		f.Mov(small, a)
		f.Mla(small, a, z)
		f.GT(z, split, a)

		// t = (1 + p)·2^n = exp(-2a), n ≥ -29
		f.Min(a, a, most)
		f.Add(a, a, a)
		f.Free(t, w)
		n := e.reduce(f, a)
		t = a
		f.Sub(t, one, a)
		f.Shl(n, n, 23)
		f.AddInt(t, t, n)

		// 1 - 2t/(1 + t)
		f.Add(n, t, one)
		f.Add(t, t, t)
		f.Div(t, t, n)
		f.Sub(t, one, t)

		// The small branch's mask stands in z; the sign of x goes on top.
		f.Select(z, small, t)
		f.Insert(z, v, sign)
		return []neon.Vec{z}
	}})
	f.Text("RET")
}

// reluNEON writes max(x, 0): one instruction for 4 elements, 0.69 per element with loads, stores and the loop.
func reluNEON(file *neon.File) {
	f := file.Func("reluF32NEON", "(dst, x *float32, n int)",
		"reluF32NEON sets dst[i] = max(x[i], 0) for n elements, NaN for NaN. dst may be x.")
	zero := f.V(1)
	f.Clear(zero)
	dst, x, n := f.Arg("dst"), f.Arg("x"), f.Arg("n")
	f.Each(neon.Loop{N: n, In: []neon.R{x}, Out: []neon.R{dst}, Unroll: 4, Body: func(in []neon.Vec) []neon.Vec {
		f.Max(in[0], in[0], zero)
		return in
	}})
	f.Text("RET")
}
