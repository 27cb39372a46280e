package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// rowsNEON writes sums over a row and a vector, in four vectors of accumulators, and weighted sums of four rows.
func rowsNEON(file *neon.File) {
	rowSumNEON(file, neon.S4, rowDot, "dotRowF32NEON", "a·x")
	rowSumNEON(file, neon.D2, rowDot, "dotRowF64NEON", "a·x")
	rowSumNEON(file, neon.S4, rowSquares, "squaresRowF32NEON", "(a - x)²")
	rowSumNEON(file, neon.S4, rowAbsolute, "absoluteRowF32NEON", "|a - x|")
	addRowsNEON(file, neon.S4, "addRows4F32NEON", "float32")
	addRowsNEON(file, neon.D2, "addRows4F64NEON", "float64")
}

func rowSumNEON(file *neon.File, l neon.Lanes, kind rowSum, name, term string) {
	ty := "float32"
	if l == neon.D2 {
		ty = "float64"
	}
	f := file.Func(name, "(a, x *"+ty+", n int) (sum "+ty+")", name+" returns Σ "+term+" over n elements.")
	const unroll = 4
	acc := f.V(unroll)
	f.Clear(acc)
	in := []neon.R{f.Arg("a"), f.Arg("x")}
	f.Each(neon.Loop{Lanes: l, N: f.Arg("n"), In: in, Unroll: unroll, Body: func(in []neon.Vec) []neon.Vec {
		sum := acc[:len(in[0])]
		switch {
		case kind == rowDot && l == neon.D2:
			f.MlaD(sum, in[0], in[1])
		case kind == rowDot:
			f.Mla(sum, in[0], in[1])
		case kind == rowSquares:
			f.Sub(in[0], in[0], in[1])
			f.Mla(sum, in[0], in[0])
		default:
			f.Sub(in[0], in[0], in[1])
			f.Abs(in[0], in[0])
			f.Add(sum, sum, in[0])
		}
		return nil
	}})
	for n := unroll; n > 1; n /= 2 {
		if l == neon.D2 {
			f.AddD(acc[:n/2], acc[:n/2], acc[n/2:n])
		} else {
			f.Add(acc[:n/2], acc[:n/2], acc[n/2:n])
		}
	}
	if l == neon.D2 {
		f.SumD(acc[:1], acc[:1])
	} else {
		f.AddPairs(acc[:1], acc[:1], acc[:1])
		f.AddPairs(acc[:1], acc[:1], acc[:1])
	}
	f.Return(neon.Result{Name: "sum", X: acc[:1]})
}

func addRowsNEON(file *neon.File, l neon.Lanes, name, ty string) {
	f := file.Func(name, "(dst, a *"+ty+", lda int, x *"+ty+", n int)",
		name+" adds x[0]·a[i] + x[1]·a[lda+i] + x[2]·a[2·lda+i] + x[3]·a[3·lda+i] to dst[i] for n elements, a product "+
			"after the other. lda counts bytes.")
	dst, a, lda, x := f.Arg("dst"), f.Arg("a"), f.Arg("lda"), f.Arg("x")
	sum := f.R()
	f.Text("MOVD %v, %v", dst, sum)
	in := []neon.R{sum, a}
	for r := 1; r < 4; r++ {
		p := f.R()
		f.Text("ADD %v, %v, %v", lda, in[r], p)
		in = append(in, p)
	}
	var w [4]neon.Vec
	for r := range w {
		w[r] = f.V(1)
		if l == neon.D2 {
			f.Text("FMOVD %d(%v), F%d", 8*r, x, w[r][0])
			f.Text("VDUP V%d.D[0], V%d.D2", w[r][0], w[r][0])
		} else {
			f.Text("FMOVS %d(%v), F%d", 4*r, x, w[r][0])
			f.Text("VDUP V%d.S[0], V%d.S4", w[r][0], w[r][0])
		}
	}
	f.Each(neon.Loop{Lanes: l, N: f.Arg("n"), In: in, Out: []neon.R{dst}, Unroll: 2, Body: func(in []neon.Vec) []neon.Vec {
		for r := range w {
			if l == neon.D2 {
				f.MlaD(in[0], in[1+r], w[r])
			} else {
				f.Mla(in[0], in[1+r], w[r])
			}
		}
		return in[:1]
	}})
	f.Text("RET")
}
