package main

import (
	"strings"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// elementwiseNEON writes operations of at most one rounding.
func elementwiseNEON(file *neon.File) {
	for _, l := range []neon.Lanes{neon.S4, neon.D2} {
		for _, o := range elementwise {
			if o.neon == "" {
				continue
			}
			params := strings.Fields(o.params)
			name, may := o.name+l.Suffix()+"NEON", "dst may be "+strings.Join(params, " or ")+"."
			f := file.Func(name, "(dst, "+strings.Join(params, ", ")+" *"+l.Type()+", n int)",
				name+" sets dst[i] = "+o.doc+" for n elements. "+may)
			loop := neon.Loop{Lanes: l, Out: []neon.R{f.Arg("dst")}, Unroll: 1}
			for _, p := range params {
				loop.In = append(loop.In, f.Arg(p))
			}
			loop.N = f.Arg("n")
			loop.Body = func(in []neon.Vec) []neon.Vec {
				if len(in) == 2 {
					f.Three(o.neon, l, in[0], in[0], in[1])
				} else {
					f.Two(o.neon, l, in[0], in[0])
				}
				return in[:1]
			}
			f.Each(loop)
			f.Text("RET")
		}
		clipNEON(file, l)
	}
}

// clipNEON compares instead of taking maximum and minimum, whose zeros have another order.
func clipNEON(file *neon.File, l neon.Lanes) {
	name := "clip" + l.Suffix() + "NEON"
	f := file.Func(name, strings.ReplaceAll("(dst, x *float, lo, hi float, n int)", "float", l.Type()),
		name+" sets dst[i] to x[i], lo or hi for n elements. dst may be x.")
	lo, hi := f.SplatArg(l, "lo"), f.SplatArg(l, "hi")
	dst, x, n := f.Arg("dst"), f.Arg("x"), f.Arg("n")
	f.Each(neon.Loop{Lanes: l, N: n, In: []neon.R{x}, Out: []neon.R{dst}, Unroll: 1, Body: func(in []neon.Vec) []neon.Vec {
		m := f.V(1)
		f.Three("fcmgt", l, m, lo, in[0])
		f.Insert(in[0], lo, m)
		f.Three("fcmgt", l, m, in[0], hi)
		f.Insert(in[0], hi, m)
		return in
	}})
	f.Text("RET")
}
