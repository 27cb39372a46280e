package main

import (
	"fmt"
	"strings"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// reduceNEON writes the reductions of one block. Sums run in 16 float64 lanes, which are added in pairs at the end; n is at
// most a block of the pairwise summation that the caller does.
func reduceNEON(file *neon.File) {
	sumNEON(file, plainSum, "sumF32NEON", "(x *float32, n int) (sum float64)",
		"sumF32NEON returns Σ x[i] over n elements, summed in float64.")
	sumNEON(file, squareSum, "sumSqF32NEON", "(x *float32, n int) (sum float64)",
		"sumSqF32NEON returns Σ x[i]² over n elements; the squares are exact in float64 and summed there.")
	sumNEON(file, productSum, "dotF32NEON", "(x, y *float32, n int) (sum float64)",
		"dotF32NEON returns Σ x[i]·y[i] over n elements; the products are exact in float64 and summed there.")
	sumNEON(file, magnitudeSum, "sumAbsF32NEON", "(x *float32, n int) (sum float64)",
		"sumAbsF32NEON returns Σ |x[i]| over n elements, summed in float64.")
	minMaxNEON(file, neon.S4)
	sumWideNEON(file, plainSum, "sumF64NEON", "(x *float64, n int) (sum float64)", "sumF64NEON returns Σ x[i] over n elements.")
	sumWideNEON(file, squareSum, "sumSqF64NEON", "(x *float64, n int) (sum float64)", "sumSqF64NEON returns Σ x[i]² over n elements.")
	sumWideNEON(file, productSum, "dotF64NEON", "(x, y *float64, n int) (sum float64)", "dotF64NEON returns Σ x[i]·y[i] over n elements.")
	sumWideNEON(file, magnitudeSum, "sumAbsF64NEON", "(x *float64, n int) (sum float64)",
		"sumAbsF64NEON returns Σ |x[i]| over n elements.")
	minMaxNEON(file, neon.D2)
	findEqualNEON(file, neon.S4)
	findEqualNEON(file, neon.D2)
}

// sumWideNEON writes the sums of float64, in 16 lanes as well.
func sumWideNEON(file *neon.File, kind sumKind, name, signature, doc string) {
	f := file.Func(name, signature, doc)
	const unroll = 8
	acc := f.V(unroll)
	f.Clear(acc)
	in := []neon.R{f.Arg("x")}
	if kind == productSum {
		in = append(in, f.Arg("y"))
	}
	f.Each(neon.Loop{Lanes: neon.D2, N: f.Arg("n"), In: in, Unroll: unroll, Body: func(in []neon.Vec) []neon.Vec {
		to := acc[:len(in[0])]
		switch kind {
		case plainSum:
			f.AddD(to, to, in[0])
		case magnitudeSum:
			f.AbsD(in[0], in[0])
			f.AddD(to, to, in[0])
		default:
			f.MlaD(to, in[0], in[len(in)-1])
		}
		return nil
	}})
	for n := len(acc); n > 1; n /= 2 {
		f.AddD(acc[:n/2], acc[:n/2], acc[n/2:n])
	}
	f.SumD(acc[:1], acc[:1])
	f.Return(neon.Result{Name: "sum", X: acc[:1]})
}

// sumNEON writes the sum (4 instructions for 4 elements, 1.3 per element with loads and the loop), the sum of squares (the same) or
// the dot product (6 for 4 elements, 1.9 per element).
func sumNEON(file *neon.File, kind sumKind, name, signature, doc string) {
	f := file.Func(name, signature, doc)
	const unroll = 4
	acc := f.V(2 * unroll)
	f.Clear(acc)
	in := []neon.R{f.Arg("x")}
	if kind == productSum {
		in = append(in, f.Arg("y"))
	}
	n := f.Arg("n")
	f.Each(neon.Loop{N: n, In: in, Unroll: unroll, Body: func(in []neon.Vec) []neon.Vec {
		u := len(in[0])
		lo, hi := acc[:u], acc[unroll:unroll+u]
		wide := f.V(u)
		switch kind {
		case plainSum, magnitudeSum:
			if kind == magnitudeSum {
				f.Abs(in[0], in[0])
			}
			f.Widen(wide, in[0])
			f.AddD(lo, lo, wide)
			f.WidenHigh(wide, in[0])
			f.AddD(hi, hi, wide)
		case squareSum:
			f.Widen(wide, in[0])
			f.MlaD(lo, wide, wide)
			f.WidenHigh(wide, in[0])
			f.MlaD(hi, wide, wide)
		case productSum:
			other := f.V(u)
			f.Widen(wide, in[0])
			f.Widen(other, in[1])
			f.MlaD(lo, wide, other)
			f.WidenHigh(wide, in[0])
			f.WidenHigh(other, in[1])
			f.MlaD(hi, wide, other)
		}
		return nil
	}})
	for n := len(acc); n > 1; n /= 2 {
		f.AddD(acc[:n/2], acc[:n/2], acc[n/2:n])
	}
	f.SumD(acc[:1], acc[:1])
	f.Return(neon.Result{Name: "sum", X: acc[:1]})
}

// minMaxNEON writes the range: 2 instructions for a register, 0.81 per float32 with loads and the loop. The machine's minimum and
// maximum give NaN for NaN and order the zeros, which is what is wanted.
func minMaxNEON(file *neon.File, l neon.Lanes) {
	name := "minMax" + l.Suffix() + "NEON"
	f := file.Func(name, fmt.Sprintf("(x *%s, n int) (lo, hi %s)", l.Type(), l.Type()),
		fmt.Sprintf("%s returns the smallest and the largest of n elements, n a positive multiple of %d, -0 below +0; NaN if any is.",
			name, l.Count()))
	const unroll = 4
	lo, hi := f.V(unroll), f.V(unroll)
	x, n := f.Arg("x"), f.Arg("n")
	f.Text("FMOVQ (%v), F%d", x, lo[0])
	f.Mov(lo[1:], lo[:1])
	f.Mov(hi, lo[:1])
	f.Each(neon.Loop{Lanes: l, N: n, In: []neon.R{x}, Unroll: unroll, Whole: true, Body: func(in []neon.Vec) []neon.Vec {
		u := len(in[0])
		f.Three("fmin", l, lo[:u], lo[:u], in[0])
		f.Three("fmax", l, hi[:u], hi[:u], in[0])
		return nil
	}})
	for n := unroll; n > 1; n /= 2 {
		f.Three("fmin", l, lo[:n/2], lo[:n/2], lo[n/2:n])
		f.Three("fmax", l, hi[:n/2], hi[:n/2], hi[n/2:n])
	}
	f.Across(l, lo[:1], hi[:1])
	f.Return(neon.Result{Name: "lo", X: lo}, neon.Result{Name: "hi", X: hi})
}

// findEqualNEON writes a search among whole vectors.
func findEqualNEON(file *neon.File, l neon.Lanes) {
	name := "find" + l.Suffix() + "NEON"
	f := file.Func(name, strings.ReplaceAll("(x *float, v float, n int) (at int)", "float", l.Type()),
		name+" returns how many of n elements precede the first vector that holds v, or the last one, which is not whole.")
	v, m := f.SplatArg(l, "v"), f.V(1)
	x, n, at, any := f.Arg("x"), f.Arg("n"), f.R(), f.R()
	loop, done := f.NewLabel("loop"), f.NewLabel("done")
	f.Text("MOVD ZR, %v", at)
	f.Text("SUBS $%d, %v", l.Count(), n)
	f.Text("BLT %s", done)
	f.Counted(loop, l.Count(), "elements", func() {
		f.Text("FMOVQ.P 16(%v), F%d", x, m[0])
		f.Three("fcmeq", l, m, m, v)
		f.AnySet(any, m, m)
		f.Text("CBNZ %v, %s", any, done)
		f.Text("ADD $%d, %v", l.Count(), at)
		f.Text("CMP %v, %v", n, at)
		f.Text("BLE %s", loop)
	})
	f.Label(done)
	f.ReturnR("at", at)
}
