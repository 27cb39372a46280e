package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// activationGradNEON writes the derivatives of the activations times dy; formulas are those of the amd64 kernels. The loops state
// their instructions per element.
func activationGradNEON(file *neon.File) {
	swishGradNEON(file)
	softplusGradNEON(file)
	one := file.Func("sigmoidGradF32NEON", "(dx, dy, y *float32, n int)",
		"sigmoidGradF32NEON sets dx[i] = dy[i]·(y[i]·(1 - y[i])) for n elements.")
	k := one.Consts(neon.Float(1, ""))
	unit := one.Splats(k...)[0]
	gradLoop(one, "y", 4, func(dy, y neon.Vec) neon.Vec {
		d := one.V(len(y))
		one.Sub(d, unit, y)
		one.Mul(d, y, d)
		one.Mul(d, dy, d)
		return d
	})
	f := file.Func("reluGradF32NEON", "(dx, dy, y *float32, n int)",
		"reluGradF32NEON sets dx[i] = dy[i] where y[i] is above 0 or NaN, and 0 elsewhere, for n elements.")
	gradLoop(f, "y", 4, func(dy, y neon.Vec) neon.Vec {
		d, number := f.V(len(y)), f.V(len(y))
		f.GT0(d, y)
		f.And(d, d, dy)
		f.EQ(number, y, y)
		f.InsertNot(d, dy, number)
		return d
	})
}

// softplusGradNEON writes dy·((1 - 2^k) - p·2^k) with exp(-y) = (1 + p)·2^k and y within ±sigmoidMax.
func softplusGradNEON(file *neon.File) {
	f := file.Func("softplusGradF32NEON", "(dx, dy, y *float32, n int)",
		"softplusGradF32NEON sets dx[i] = dy[i]·(1 - exp(-y[i])) for n elements.")
	k := f.Consts(append(neonExpConsts(true), neon.Float(-sigmoidMax, ""), neon.Float(sigmoidMax, ""), neon.Float(1, ""))...)
	e, s := newNEONExp(true, k), f.Splats(k[8:]...)
	least, most, one := s[0], s[1], s[2]
	gradLoop(f, "y", 2, func(dy, y neon.Vec) neon.Vec {
		f.Max(y, y, least)
		f.Min(y, y, most)
		t := e.reduce(f, y) // y is -p now
		d := f.V(len(y))
		f.Shl(t, t, 23)
		f.AddInt(t, t, one)
		f.Sub(d, one, t)
		f.Mla(d, y, t)
		f.Mul(d, dy, d)
		return d
	})
}

// gradLoop writes the pass over dy and x to dx.
func gradLoop(f *neon.Func, x string, unroll int, body func(dy, x neon.Vec) neon.Vec) {
	dx, dy, in, n := f.Arg("dx"), f.Arg("dy"), f.Arg(x), f.Arg("n")
	f.Each(neon.Loop{N: n, In: []neon.R{dy, in}, Out: []neon.R{dx}, Unroll: unroll, Body: func(in []neon.Vec) []neon.Vec {
		return []neon.Vec{body(in[0], in[1])}
	}})
	f.Text("RET")
}

// swishGradNEON writes dy·s·(1 + x·e·s) with e = exp(-x) and s = 1/(1 + e), x within ±sigmoidMax; below, the factor is 0.
func swishGradNEON(file *neon.File) {
	f := file.Func("swishGradF32NEON", "(dx, dy, x *float32, n int)", "swishGradF32NEON sets dx[i] = dy[i]·swish'(x[i]) for n elements.")
	k := f.Consts(append(neonExpConsts(true), neon.Float(-sigmoidMax, ""), neon.Float(sigmoidMax, ""), neon.Float(1, ""))...)
	e, s := newNEONExp(true, k), f.Splats(k[8:]...)
	least, most, one := s[0], s[1], s[2]
	gradLoop(f, "x", 2, func(dy, x neon.Vec) neon.Vec {
		below, z, s := f.V(len(x)), f.V(len(x)), f.V(len(x))
		f.GT(below, least, x)
		f.Max(x, x, least)
		f.Min(x, x, most)
		f.Mov(z, x)
		n := e.reduce(f, z)
		f.Sub(z, one, z)
		f.Shl(n, n, 23)
		f.AddInt(z, z, n)
		f.Add(s, z, one)
		f.Div(s, one, s)
		f.Mul(z, z, s)
		f.Mov(n, one)
		f.Mla(n, x, z)
		f.Mul(s, s, n)
		f.AndNot(s, s, below)
		f.Mul(s, dy, s)
		return s
	})
}
