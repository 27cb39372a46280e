package main

import (
	"github.com/equivcnp/equivcnp/asm/internal/neon"
	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// spectralNEON writes the transforms from the same networks as for amd64.
func spectralNEON(file *neon.File) {
	pool := file.Pool("spectralConsts")
	spectralForwardNEON(file, pool)
	spectralBackNEON(file, pool)
	spectralSumNEON(file)
	spectralLinesNEON(file, "linesNEON", spectralLinesDoc, false)
	spectralLinesNEON(file, "addLinesNEON", spectralAddDoc, true)
}

// spectralLinesNEON writes the loop that copies lines, or adds them and ends in ReLU.
func spectralLinesNEON(file *neon.File, name, doc string, add bool) {
	f := file.Func(name, spectralLinesArgs, name+" "+doc)
	dst, src, n, to, from := f.Arg("dst"), f.Arg("src"), f.Arg("n"), f.Arg("dstStride"), f.Arg("srcStride")
	v, sum, zero := f.V(4), f.V(4), f.V(1)
	if add {
		f.Clear(zero)
	}
	f.Label("line")
	for i := 0; i < 4; i += 2 {
		f.Text("FLDPQ %d(%v), (F%d, F%d)", 16*i, src, v[i], v[i+1])
		if add {
			f.Text("FLDPQ %d(%v), (F%d, F%d)", 16*i, dst, sum[i], sum[i+1])
			for k := i; k < i+2; k++ {
				f.Add(v[k:k+1], sum[k:k+1], v[k:k+1])
				f.Max(v[k:k+1], v[k:k+1], zero)
			}
		}
		f.Text("FSTPQ (F%d, F%d), %d(%v)", v[i], v[i+1], 16*i, dst)
	}
	f.Text("ADD %v, %v", from, src)
	f.Text("ADD %v, %v", to, dst)
	f.Text("SUBS $1, %v", n)
	f.Text("BNE line")
	f.Text("RET")
}

// spectralOddNEON writes the loops over columns for every number of rows; see spectralOdd.
func spectralOddNEON(f *neon.Func, pool *neon.Pool, back bool, to, from string, slots int) int {
	done := f.NewLabel("columns")
	for i, odd := range spectralOdds {
		n, next, last := f.R(), f.NewLabel("odd"), i == len(spectralOdds)-1
		if !last {
			f.LoadArg(n, "odd")
			f.Text("CMP $%d, %v", odd, n)
			f.Text("BNE %s", next)
		}
		dst, src := f.Arg(to), f.Arg(from)
		_, reals, complexes := spectralStages(odd, back)
		for i, m := range []x86.Lines{reals, complexes} {
			f.Text("MOVD $%d, %v", []int{2, 7}[i], n)
			slots = x86.LinesNEON(f, pool, m, dst, src, n, slots)
		}
		f.FreeR(n, dst, src)
		if !last {
			f.Text("B %s", done)
			f.Label(next)
		}
	}
	f.Label(done)
	return slots
}

// spectralSixteenNEON writes the loop over lines of 16 points.
func spectralSixteenNEON(f *neon.Func, pool *neon.Pool, back bool, to, from string, slots int) int {
	dst, src, n := f.Arg(to), f.Arg(from), f.Arg("odd")
	sixteen, _, _ := spectralStages(5, back)
	slots = x86.LinesNEON(f, pool, sixteen, dst, src, n, slots)
	f.FreeR(dst, src, n)
	return slots
}

func spectralForwardNEON(file *neon.File, pool *neon.Pool) {
	f := file.Func("forwardNEON", spectralForwardArgs, "forwardNEON "+spectralForwardDoc)
	in, src, place, n, stride, at := f.Arg("in"), f.Arg("src"), f.Arg("place"), f.Arg("n"), f.Arg("stride"), f.R()
	put, all := f.NewLabel("put"), f.NewLabel("all")
	v := f.V(4)
	f.Text("CBZ %v, %s", n, all)
	f.Label(put)
	f.Text("MOVW.P 4(%v), %v", place, at)
	f.Text("ADD %v, %v", in, at)
	for i := 0; i < 4; i += 2 {
		f.Text("FLDPQ %d(%v), (F%d, F%d)", 16*i, src, v[i], v[i+1])
		f.Text("FSTPQ (F%d, F%d), %d(%v)", v[i], v[i+1], 16*i, at)
	}
	f.Text("ADD %v, %v", stride, src)
	f.Text("SUBS $1, %v", n)
	f.Text("BNE %s", put)
	f.Label(all)
	f.Free(v)
	f.FreeR(in, src, place, n, stride, at)
	slots := spectralSixteenNEON(f, pool, false, "between", "in", 0)
	slots = spectralOddNEON(f, pool, false, "dst", "between", slots)
	f.Text("RET")
	if slots > 0 {
		f.Slots(slots)
	}
}

func spectralBackNEON(file *neon.File, pool *neon.Pool) {
	f := file.Func("backNEON", spectralBackArgs, "backNEON "+spectralBackDoc)
	slots := spectralOddNEON(f, pool, true, "between", "src", 0)
	slots = spectralSixteenNEON(f, pool, true, "back", "between", slots)
	dst, back, place, scale, n, stride, check, at := f.Arg("dst"), f.Arg("back"), f.Arg("place"), f.Arg("scale"), f.Arg("n"),
		f.Arg("stride"),
		f.Arg("check"), f.R()
	take, all := f.NewLabel("take"), f.NewLabel("all")
	v, checks, factor, zero := f.V(4), f.V(4), f.V(1), f.V(1)
	f.Text("CBZ %v, %s", n, all)
	for i := 0; i < 4; i += 2 {
		f.Text("FLDPQ %d(%v), (F%d, F%d)", 16*i, check, checks[i], checks[i+1])
	}
	f.Clear(zero)
	f.Label(take)
	f.Text("MOVW.P 4(%v), %v", place, at)
	f.Text("ADD %v, %v", back, at)
	f.Text("FMOVS.P 4(%v), F%d", scale, factor[0])
	f.Text("VDUP V%d.S[0], V%d.S4", factor[0], factor[0])
	for i := 0; i < 4; i += 2 {
		f.Text("FLDPQ %d(%v), (F%d, F%d)", 16*i, at, v[i], v[i+1])
	}
	f.Mul(v, v, factor)
	f.Mla(checks, v, zero)
	for i := 0; i < 4; i += 2 {
		f.Text("FSTPQ (F%d, F%d), %d(%v)", v[i], v[i+1], 16*i, dst)
	}
	f.Text("ADD %v, %v", stride, dst)
	f.Text("SUBS $1, %v", n)
	f.Text("BNE %s", take)
	for i := 0; i < 4; i += 2 {
		f.Text("FSTPQ (F%d, F%d), %d(%v)", checks[i], checks[i+1], 16*i, check)
	}
	f.Label(all)
	f.Text("RET")
	if slots > 0 {
		f.Slots(slots)
	}
}

// spectralSumNEON sums eight rows at a time, a quarter of a line of each: with four taps 11 loads for 32 multiply-adds.
func spectralSumNEON(file *neon.File) {
	const rows = 8
	f := file.Func("sumsNEON", spectralSumArgs, "sumsNEON "+spectralSumDoc)
	dst, x, k, s, tapStride, slots, add := f.Arg("dst"), f.Arg("x"), f.Arg("k"), f.Arg("stride"), f.Arg("tapStride"),
		f.Arg("slots"), f.Arg("add")
	left, row, first, tap, taps, p, part, to := f.R(), f.R(), f.R(), f.R(), f.R(), f.R(), f.R(), f.R()
	acc, weight, in := f.V(rows), f.V(spectralTaps), f.V(1)
	f.Text("MOVD ZR, %v", part)
	f.Label("slot")
	f.LoadArg(left, "rows")
	f.Text("MOVD %v, %v", x, row)
	f.Text("MOVD %v, %v", dst, to)
	f.Label("rows")
	f.Clear(acc)
	f.Text("CBZ %v, begin", add)
	f.Text("MOVD %v, %v", to, p)
	for _, a := range acc {
		f.LoadAt(a, p, 0)
		f.Text("ADD %v, %v", s, p)
	}
	f.Label("begin")
	f.Text("MOVD %v, %v", row, first)
	f.Text("MOVD %v, %v", k, tap)
	f.LoadArg(taps, "taps")
	f.Text("SUBS $%d, %v", spectralTaps, taps)
	f.Text("BLT rest")
	f.Counted("taps", rows*spectralTaps, "products", func() {
		for _, w := range weight {
			f.LoadAt(w, tap, 0)
			f.Text("ADD %v, %v", tapStride, tap)
		}
		f.Text("MOVD %v, %v", first, p)
		for i := range rows + spectralTaps - 1 {
			f.LoadAt(in[0], p, 0)
			f.Text("ADD %v, %v", s, p)
			for t := range weight {
				if r := i - t; r >= 0 && r < rows {
					f.Mla(acc[r:r+1], in, weight[t:t+1])
				}
			}
		}
		f.Text("ADD %v<<2, %v", s, first)
		f.Text("SUBS $%d, %v", spectralTaps, taps)
		f.Text("BGE taps")
	})
	f.Label("rest")
	f.Text("ADDS $%d, %v", spectralTaps, taps)
	f.Text("BEQ store")
	f.Label("one")
	f.LoadAt(weight[0], tap, 0)
	f.Text("MOVD %v, %v", first, p)
	for r := range acc {
		f.LoadAt(in[0], p, 0)
		f.Text("ADD %v, %v", s, p)
		f.Mla(acc[r:r+1], in, weight[:1])
	}
	f.Text("ADD %v, %v", s, first)
	f.Text("ADD %v, %v", tapStride, tap)
	f.Text("SUBS $1, %v", taps)
	f.Text("BNE one")
	f.Label("store")
	for _, a := range acc {
		f.Text("FMOVQ F%d, (%v)", a, to)
		f.Text("ADD %v, %v", s, to)
	}
	f.Text("ADD %v<<3, %v", s, row)
	f.Text("SUBS $%d, %v", rows, left)
	f.Text("BGT rows")
	for _, at := range []neon.R{dst, x, k} {
		f.Text("ADD $16, %v", at)
	}
	f.Text("ADD $1, %v", part)
	f.Text("TST $3, %v", part)
	f.Text("BNE slot")
	f.LoadArg(taps, "slotStride")
	f.Text("SUB $64, %v", taps)
	f.Text("ADD %v, %v", taps, k)
	f.Text("SUBS $1, %v", slots)
	f.Text("BNE slot")
	f.Text("RET")
}
