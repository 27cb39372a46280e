package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// adamNEON writes a step of Adam, with the operations and roundings of the portable twin in float64 lanes. The division and the
// square root keep the machine busy, so vectors are taken one by one.
func adamNEON(file *neon.File) {
	adamOfNEON(file, neon.S4)
	adamOfNEON(file, neon.D2)
}

// adamOfNEON writes the step for a type.
func adamOfNEON(file *neon.File, l neon.Lanes) {
	name := "adam" + l.Suffix() + "NEON"
	f := file.Func(name, "(p, m, v, grad *"+l.Type()+", k *float64, n int)",
		name+" is a step of Adam on n parameters; k has step, beta1, 1-beta1, beta2, 1-beta2, root and eps.")
	at := f.Arg("k")
	var c [7]neon.Vec
	for i := range c {
		c[i] = f.V(1)
		f.Text("VLD1R.P 8(%v), [V%d.D2]", at, c[i][0])
	}
	f.FreeR(at)
	step, beta1, rest1, beta2, rest2, root, eps := c[0], c[1], c[2], c[3], c[4], c[5], c[6]
	var in, out []neon.R
	for _, name := range []string{"p", "m", "v"} {
		read, written := f.Arg(name), f.R()
		f.Text("MOVD %v, %v", read, written)
		in, out = append(in, read), append(out, written)
	}
	in = append(in, f.Arg("grad"))
	f.Each(neon.Loop{Lanes: l, N: f.Arg("n"), In: in, Out: out, Unroll: 1, Body: func(in []neon.Vec) []neon.Vec {
		// wide takes a vector of float32 apart into two of float64, and copies one of float64.
		wide := func(x neon.Vec) neon.Vec {
			w := f.V(l.Count() / 2)
			if l == neon.D2 {
				f.Mov(w, x)
				return w
			}
			f.Widen(w[:1], x)
			f.WidenHigh(w[1:], x)
			return w
		}
		narrow := func(x, w neon.Vec) {
			if l == neon.D2 {
				f.Mov(x, w)
				return
			}
			f.Narrow(x, w[:1])
			f.NarrowHigh(x, w[1:])
		}
		p, m, v, d, t := wide(in[0]), wide(in[1]), wide(in[2]), wide(in[3]), f.V(l.Count()/2)

		// m = beta1·m + (1-beta1)·g
		f.MulD(t, d, rest1)
		f.MulD(m, m, beta1)
		f.AddD(m, m, t)
		narrow(in[1], m)

		// v = beta2·v + (1-beta2)·g²
		f.MulD(d, d, d)
		f.MulD(d, d, rest2)
		f.MulD(v, v, beta2)
		f.AddD(v, v, d)
		narrow(in[2], v)

		// p = p - step·m/(√v·root + eps)
		f.SqrtD(v, v)
		f.MulD(v, v, root)
		f.AddD(v, v, eps)
		f.MulD(m, m, step)
		f.Three("fdiv", neon.D2, m, m, v)
		f.SubD(p, p, m)
		narrow(in[0], p)
		return in[:3]
	}})
	f.Text("RET")
}
