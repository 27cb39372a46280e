package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// rowsNEON writes sums over a row and a vector, in four vectors of accumulators, and weighted sums of four rows.
func rowsNEON(file *neon.File) {
	rowSumNEON(file, neon.S4, rowDot, "dotRowF32NEON", "a·x")
	rowSumNEON(file, neon.D2, rowDot, "dotRowF64NEON", "a·x")
	rowSumNEON(file, neon.S4, rowSquares, "squaresRowF32NEON", "(a - x)²")
	rowSumNEON(file, neon.S4, rowAbsolute, "absoluteRowF32NEON", "|a - x|")
	pool := file.Pool("rowsConsts")
	rowI8NEON(file, pool, rowDot, "dotRowI8NEON", "a·x")
	rowI8NEON(file, pool, rowSquares, "squaresRowI8NEON", "(a - x)²")
	rowI8NEON(file, pool, rowAbsolute, "absoluteRowI8NEON", "|a - x|")
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

// rowI8NEON writes a sum over a row of int8, exact but for what int32 cannot hold. The last sixteen numbers of a row end with it, and those
// of them that came before count as zero.
func rowI8NEON(file *neon.File, pool *neon.Pool, kind rowSum, name, term string) {
	f := file.Func(name, "(a, x *int8, n int) (sum int32)", name+" returns Σ "+term+" over n elements, n ≥ 16.")
	a, x, n, table := f.Arg("a"), f.Arg("x"), f.Arg("n"), f.Address(pool)
	acc, mask, v, w := f.V(2), f.V(1), f.V(1), f.V(1)
	low, high := f.V(1), f.V(1)
	f.Clear(acc)
	zeros := pool.Add("zeros", 0, 0)
	f.LoadAt(mask[0], table, pool.Add("ones", ^uint64(0), ^uint64(0)))
	loop, done := f.NewLabel("loop"), f.NewLabel("done")
	f.Counted(loop, 16, "elements", func() {
		f.Text("FMOVQ.P 16(%v), F%d", a, v[0])
		f.Text("FMOVQ.P 16(%v), F%d", x, w[0])
		if kind == rowDot {
			f.And(v, v, mask)
			f.ProductsI8(low, high, v, w)
			f.AddPairsI16(acc[:1], low)
			f.AddPairsI16(acc[1:], high)
		} else {
			f.DifferenceI8(v, v, w)
			f.And(v, v, mask)
			if kind == rowSquares {
				f.ProductsU8(low, high, v, v)
				f.AddPairsU16(acc[1:], high)
			} else {
				f.PairsU8(low, v)
			}
			f.AddPairsU16(acc[:1], low)
		}
		f.Text("SUB $16, %v", n)
		f.Text("CMP $16, %v", n)
		f.Text("BGE %s", loop)
	})
	f.Text("CBZ %v, %s", n, done)
	// Zeros, then ones for as many numbers as are left.
	f.Text("ADD %v, %v", n, table)
	f.LoadAt(mask[0], table, zeros)
	for _, p := range []neon.R{a, x} {
		f.Text("ADD %v, %v", n, p)
		f.Text("SUB $16, %v", p)
	}
	f.Text("MOVD $16, %v", n)
	f.Text("B %s", loop)
	f.Label(done)
	f.AddInt(acc[:1], acc[:1], acc[1:])
	f.SumInt(n, neon.S4, acc[:1], acc[:1])
	f.ReturnR("sum", n)
}
