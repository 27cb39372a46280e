package main

import (
	"github.com/equivcnp/equivcnp/asm/internal/neon"
	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// f64mathNEON writes the elementary functions in float64, with the arithmetic of f64math_amd64_asm.go.
func f64mathNEON(file *neon.File) {
	pool := file.Pool("f64mathConsts")
	mapF64NEON(file, pool, "expF64NEON", "(dst, x *float64, n int)", "expF64NEON sets dst[i] = exp(x[i]) for n elements. dst may be x.",
		[]string{"dst"}, []string{"x"}, unaryBlock(x86.AVX2, x86.F64, expF64), 2)
	mapF64NEON(file, pool, "logF64NEON", "(dst, x *float64, n int)", "logF64NEON sets dst[i] = ln(x[i]) for n elements. dst may be x.",
		[]string{"dst"}, []string{"x"}, unaryBlock(x86.AVX2, x86.F64, logAnyF64AVX2), 2)

	b := x86.NewBlock(x86.AVX2, x86.F64)
	x := b.Input()
	b.Hard(beyondF64(sinCosMaxF64)(b, []x86.Value{x}))
	sin, cos := sinCos(b, x)
	b.Output(sin)
	b.Output(cos)
	mapF64NEON(file, pool, "sinCosF64NEON", "(s, c, x *float64, n int) (done int)",
		"sinCosF64NEON sets s[i] = sin(x[i]) and c[i] = cos(x[i]) up to the first group of four or fewer that holds an |x[i]| > 1e9 or a\n"+
			"NaN, and returns how many elements it did. s or c may be x.",
		[]string{"s", "c"}, []string{"x"}, b, 2)

	b = x86.NewBlock(x86.AVX2, x86.F64)
	y, x := b.Input(), b.Input()
	b.Output(atan2(b, y, x))
	mapF64NEON(file, pool, "atan2F64NEON", "(dst, y, x *float64, n int)",
		"atan2F64NEON sets dst[i] to the angle of (x[i], y[i]) for n elements. dst may be y or x.", []string{"dst"},
		[]string{"y", "x"}, b, 2)
}

// mapF64NEON writes a function that applies a block to every element, so many vectors at a time. If the block marks
// lanes as hard, the function stops before the first group of vectors that has any, and returns how many elements it
// did.
func mapF64NEON(file *neon.File, pool *neon.Pool, name, signature, doc string, out, in []string, b *x86.Block, unroll int) {
	f := file.Func(name, signature, doc)
	l := neon.Loop{Lanes: neon.D2, Unroll: unroll}
	for _, a := range out {
		l.Out = append(l.Out, f.Arg(a))
	}
	for _, a := range in {
		l.In = append(l.In, f.Arg(a))
	}
	l.N = f.Arg("n")
	consts := f.Address(pool)
	pinned := b.PinNEON(f, pool, consts, 10)
	stops, any, exit := b.Stops(), f.R(), f.NewLabel("exit")
	l.Body = func(in []neon.Vec) []neon.Vec {
		results := b.EmitNEON(f, pool, consts, pinned, in...)
		if !stops {
			return results
		}
		hard := results[len(results)-1]
		for i := 1; i < len(hard); i++ {
			f.Or(hard[:1], hard[:1], hard[i:i+1])
		}
		f.AnySet(any, hard[:1], hard[:1])
		f.Text("CBNZ %v, %s", any, exit)
		return results[:len(results)-1]
	}
	f.Each(l)
	f.AddDoc("It takes %.3g instructions each.", f.PerUnit())
	if !stops {
		f.Text("RET")
		return
	}
	f.Text("MOVD ZR, %v", l.N)
	f.Label(exit)
	f.LoadArg(any, "n")
	f.Text("SUB %v, %v, %v", l.N, any, any)
	f.ReturnR("done", any)
}
