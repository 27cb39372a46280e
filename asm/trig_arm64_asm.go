package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// trigNEON writes sine with cosine, atan2 and hypot. Formulas and bounds are those of simd/trig_generic.go.
func trigNEON(file *neon.File) {
	sinCosNEON(file)
	atan2NEON(file)
	hypotNEON(file)
}

// sinCosNEON writes sinCosF32NEON. The reduction runs in float64:
//
//	|x| = k·π/2 + r,  sin(r) = r + r³·S(r²),  cos(r) = 1 - r²/2 + r⁴·C(r²)
//
// 45 instructions for 4 elements, 4 of them to find arguments above 1e8; 12 per element with loads, stores and the loop.
func sinCosNEON(file *neon.File) {
	f := file.Func("sinCosF32NEON", "(s, c, x *float32, n int) (done int)",
		"sinCosF32NEON sets s[i] = sin(x[i]) and c[i] = cos(x[i]) up to the first group of eight or fewer that holds an |x[i]| > 1e8,\n"+
			"and returns how many elements it did. s or c may be x.")
	k := f.Consts(
		neon.Float(-0x1.555546p-3, "S0"), neon.Float(0x1.110778p-7, "S1"), neon.Float(-0x1.995402p-13, "S2"),
		neon.Float(0x1.55554ap-5, "C0"), neon.Float(-0x1.6c0c2ap-10, "C1"), neon.Float(0x1.99e91p-16, "C2"),
		neon.Float(0.5, ""),
		neon.Float(1e8, "k·π/2 is exact up to here"), neon.Float(1, ""), neon.Bits(1, ""), neon.Bits(1<<31, "the sign"))
	S, C, half, s := k[:3], k[3:6], k[6], f.Splats(k[7:]...)
	most, one, unit, sign := s[0], s[1], s[2], s[3]
	w := f.ConstsD(neon.Double(0x1.45f306dc9c883p-1, "2/π"), neon.Double(0x1.921fb5p+0, "π/2, upper 25 bits"),
		neon.Double(0x1.110b4611a6263p-26, "π/2, the rest"))
	twoOverPi, hi, lo := w[0], w[1], w[2]
	sp, cp, x, n := f.Arg("s"), f.Arg("c"), f.Arg("x"), f.Arg("n")
	large, exit := f.R(), f.NewLabel("exit")
	f.Each(neon.Loop{N: n, In: []neon.R{x}, Out: []neon.R{sp, cp}, Unroll: 2, Body: func(in []neon.Vec) []neon.Vec {
		u := len(in[0])
		v, a, r, q := in[0], f.V(u), f.V(u), f.V(u)

		// Leave if any |x| > 1e8; NaN stays.
		f.Abs(a, v)
		f.GT(q, a, most)
		for i := 1; i < u; i++ {
			f.Or(q[:1], q[:1], q[i:i+1])
		}
		f.AnySet(large, q[:1], r[:1])
		f.Text("CBNZ %v, %s", large, exit)

		// In float64, two lanes at a time: k = round(a·2/π), r = a - k·hi - k·lo. The quarter turns end in q.
		reduce := func(a, q neon.Vec) {
			t := f.V(len(a))
			f.MulD(t, a, twoOverPi)
			f.RoundD(q, t)
			f.FromIntD(t, q)
			f.MlsD(a, t, hi)
			f.MlsD(a, t, lo)
			f.Free(t)
		}
		d, q2 := f.V(u), f.V(u)
		f.Widen(d, a)
		reduce(d, q)
		f.Narrow(r, d)
		f.WidenHigh(d, a)
		reduce(d, q2)
		f.NarrowHigh(r, d)
		f.NarrowInt(q, q, q2)

		// z = r², sin = r + r·(z·S(z)), cos = 1 - (z/2 - z²·C(z))
		z, z2, t := d, f.V(u), q2
		f.Mul(z, r, r)
		f.Mul(z2, z, z)
		f.Poly(a, t, z, z2, S...)
		f.Mul(a, z, a)
		f.Mov(t, r)
		f.Mla(t, r, a)
		sin := t
		f.Poly(a, r, z, z2, C...)
		f.MulK(r, z, half)
		f.Mls(r, z2, a)
		f.Sub(r, one, r)
		cos := r

		// Each quarter turn maps (sin, cos) to (cos, -sin): odd turns exchange them, bit 1 of q negates the sine and bit 1 of q+1
		// the cosine. The sign of x is that of the sine.
		s, c := a, z
		f.TestInt(s, q, unit)
		f.Mov(c, s)
		f.Select(s, cos, sin)
		f.Select(c, sin, cos)
		f.Shl(t, q, 30)
		f.Xor(t, t, v)
		f.And(t, t, sign)
		f.Xor(s, s, t)
		f.AddInt(q, q, unit)
		f.Shl(q, q, 30)
		f.And(q, q, sign)
		f.Xor(c, c, q)
		return []neon.Vec{s, c}
	}})
	f.Text("MOVD ZR, %v", n)
	f.Label(exit)
	total := f.Arg("n")
	f.Text("SUB %v, %v, %v", n, total, total)
	f.ReturnR("done", total)
}

// atan2NEON writes atan2F32NEON: with t = min(|x|, |y|)/max(|x|, |y|),
//
//	atan(t) = t + t³·P(t²), reflected at the diagonal where |y| > |x| and at the axis where x is negative
//
// Zeros and infinities need three instructions: two infinities stand at t = 1, two zeros at t = 0.
// 36 instructions for 4 elements, one of them a division; 9.8 per element with loads, stores and the loop.
func atan2NEON(file *neon.File) {
	f := file.Func("atan2F32NEON", "(dst, y, x *float32, n int)",
		"atan2F32NEON sets dst[i] to the angle of (x[i], y[i]) for n elements. dst may be y or x.")
	k := f.Consts(
		neon.Float(-0x1.555552p-2, "P0"), neon.Float(0x1.99981cp-3, "P1"), neon.Float(-0x1.247620p-3, "P2"),
		neon.Float(0x1.c51170p-4, "P3"), neon.Float(-0x1.6953bcp-4, "P4"), neon.Float(0x1.150a00p-4, "P5"),
		neon.Float(-0x1.7080bap-5, "P6"), neon.Float(0x1.753040p-6, "P7"), neon.Float(-0x1.e6a0ecp-8, "P8"),
		neon.Float(0x1.29687ep-10, "P9"),
		neon.Float(0x1.921fb6p+0, "π/2, upper part"), neon.Float(-0x1.777a5cp-25, "π/2, lower part"),
		neon.Float(0x1.921fb6p+1, "π, upper part"), neon.Float(-0x1.777a5cp-24, "π, lower part"),
		neon.Float(1, ""), neon.Bits(1<<31, "the sign"))
	p, s := k[:10], f.Splats(k[10:]...)
	halfPiHi, halfPiLo, piHi, piLo, one, sign := s[0], s[1], s[2], s[3], s[4], s[5]
	dst, yp, xp, n := f.Arg("dst"), f.Arg("y"), f.Arg("x"), f.Arg("n")
	f.Each(neon.Loop{N: n, In: []neon.R{yp, xp}, Out: []neon.R{dst}, Unroll: 2, Body: func(in []neon.Vec) []neon.Vec {
		u := len(in[0])
		y, x := in[0], in[1]
		ax, ay, lo, hi, steep := f.V(u), f.V(u), f.V(u), f.V(u), f.V(u)
		f.Abs(ax, x)
		f.Abs(ay, y)
		f.Min(lo, ax, ay)
		f.Max(hi, ax, ay)
		f.GT(steep, ay, ax)

		// t = lo/hi, but 1 where both are equal and 0 where both are 0.
		t, z, a := f.V(u), ax, ay
		f.Div(t, lo, hi)
		f.EQ(z, lo, hi)
		f.Insert(t, one, z)
		f.EQ0(z, hi)
		f.AndNot(t, t, z)
		f.Free(lo, hi)

		// a = t + t·(z·P(z)), z = t²
		f.Mul(z, t, t)
		w, c := f.V(u), f.V(u)
		f.Mul(w, z, z)
		f.Poly(a, c, z, w, p...)
		f.Mul(z, z, a)
		f.Mla(t, t, z)
		a, z = t, a

		// Where |y| > |x|: π/2 - a.
		f.Sub(z, a, halfPiLo)
		f.Sub(z, halfPiHi, z)
		f.Insert(a, z, steep)

		// Where x has the sign bit, -0 included: π - a.
		f.Sub(z, a, piLo)
		f.Sub(z, piHi, z)
		f.Sar(x, x, 31)
		f.Insert(a, z, x)

		// The sign of y. A NaN of x alone keeps being one.
		f.Insert(a, y, sign)
		return []neon.Vec{a}
	}})
	f.Text("RET")
}

// hypotNEON writes hypotF32NEON in float64, where squares of float32 are exact and neither overflow nor vanish. 12 instructions for
// 4 elements, two of them square roots; 3.8 per element with loads, stores and the loop.
func hypotNEON(file *neon.File) {
	f := file.Func("hypotF32NEON", "(dst, x, y *float32, n int)",
		"hypotF32NEON sets dst[i] = sqrt(x[i]² + y[i]²) for n elements. dst may be x or y.")
	dst, xp, yp, n := f.Arg("dst"), f.Arg("x"), f.Arg("y"), f.Arg("n")
	f.Each(neon.Loop{N: n, In: []neon.R{xp, yp}, Out: []neon.R{dst}, Unroll: 2, Body: func(in []neon.Vec) []neon.Vec {
		u := len(in[0])
		x, y, a, b, d := in[0], in[1], f.V(u), f.V(u), f.V(u)
		half := func(widen func(d, a neon.Vec), narrow func(d, a neon.Vec)) {
			widen(a, x)
			widen(b, y)
			f.MulD(a, a, a)
			f.MlaD(a, b, b)
			f.SqrtD(a, a)
			narrow(d, a)
		}
		half(f.Widen, f.Narrow)
		half(f.WidenHigh, f.NarrowHigh)
		return []neon.Vec{d}
	}})
	f.Text("RET")
}
