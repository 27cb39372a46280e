package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// spectralDir is where the kernels of transforms go, seen from package simd.
const spectralDir = "../internal/spectral/"

func spectralAMD64(f *x86.File) {
	for _, l := range levels {
		spectralForward(f, l)
		spectralBack(f, l)
		spectralSum(f, l)
		spectralLines(f, l, "lines", spectralLinesDoc, false)
		spectralLines(f, l, "addLines", spectralAddDoc, true)
	}
}

// spectralLines writes the loop that copies lines, or adds them and ends in ReLU.
func spectralLines(f *x86.File, l x86.Level, name, doc string, add bool) {
	fn := f.Func(l, x86.F32, name, "func"+spectralLinesArgs, doc)
	b := x86.NewBlock(l, x86.F32)
	if add {
		b.Output(reluF32(b, b.Add(b.Input(), b.Input())))
	}
	dst, src, n, to, from := fn.Arg("dst"), fn.Arg("src"), fn.Arg("n"), fn.Arg("dstStride"), fn.Arg("srcStride")
	fn.Pin(b, 1)
	fn.Label("line")
	out := linesAt(fn, operand.Mem{Base: dst})
	for i, m := range linesAt(fn, operand.Mem{Base: src}) {
		v := fn.Vec()
		fn.VMOVUPS(m, v)
		if add {
			sum := fn.Vec()
			fn.VMOVUPS(out[i], sum)
			v = fn.Emit(b, [][]reg.VecVirtual{{sum}, {v}}, nil)[0][0]
		}
		fn.VMOVUPS(v, out[i])
	}
	fn.ADDQ(from, src)
	fn.ADDQ(to, dst)
	fn.DECQ(n)
	fn.JNE(operand.LabelRef("line"))
	fn.End()
	fn.AllocateVectors()
}

// spectralOdd writes the loops over columns for every number of rows.
func spectralOdd(fn *x86.Func, back bool, to, from string) {
	done := fn.NewLabel("columns")
	for i, odd := range spectralOdds {
		next, last := fn.NewLabel("odd"), i == len(spectralOdds)-1
		if !last {
			fn.CMPQ(fn.Arg("odd"), operand.U8(odd))
			fn.JNE(operand.LabelRef(next))
		}
		dst, src := fn.Arg(to), fn.Arg(from)
		_, reals, complexes := spectralStages(odd, back)
		for i, m := range []x86.Lines{reals, complexes} {
			n := fn.GP64()
			fn.MOVQ(operand.I32([]int{2, 7}[i]), n)
			fn.Lines(m, dst, src, n)
		}
		if !last {
			fn.JMP(operand.LabelRef(done))
			fn.Label(next)
		}
	}
	fn.Label(done)
}

// linesAt returns the vectors of a line.
func linesAt(fn *x86.Func, m operand.Mem) (parts []operand.Mem) {
	for at := 0; at < 64; at += fn.Level.Bytes() {
		p := m
		p.Disp += at
		parts = append(parts, p)
	}
	return parts
}

func spectralForward(f *x86.File, l x86.Level) {
	fn := f.Func(l, x86.F32, "forward", "func"+spectralForwardArgs, spectralForwardDoc)
	in, src, place, n, stride := fn.Arg("in"), fn.Arg("src"), fn.Arg("place"), fn.Arg("n"), fn.Arg("stride")
	put, all := fn.NewLabel("put"), fn.NewLabel("all")
	fn.TESTQ(n, n)
	fn.JE(operand.LabelRef(all))
	fn.Label(put)
	at := fn.GP64()
	fn.MOVLQSX(operand.Mem{Base: place}, at)
	to := linesAt(fn, operand.Mem{Base: in, Index: at, Scale: 1})
	for i, m := range linesAt(fn, operand.Mem{Base: src}) {
		v := fn.Vec()
		fn.VMOVUPS(m, v)
		fn.VMOVUPS(v, to[i])
	}
	fn.ADDQ(operand.U8(4), place)
	fn.ADDQ(stride, src)
	fn.DECQ(n)
	fn.JNE(operand.LabelRef(put))
	fn.Label(all)
	sixteen, _, _ := spectralStages(5, false)
	fn.Lines(sixteen, fn.Arg("between"), fn.Arg("in"), fn.Arg("odd"))
	spectralOdd(fn, false, "dst", "between")
	fn.End()
	fn.AllocateVectors()
}

func spectralBack(f *x86.File, l x86.Level) {
	fn := f.Func(l, x86.F32, "back", "func"+spectralBackArgs, spectralBackDoc)
	spectralOdd(fn, true, "between", "src")
	sixteen, _, _ := spectralStages(5, true)
	fn.Lines(sixteen, fn.Arg("back"), fn.Arg("between"), fn.Arg("odd"))
	dst, back, place, scale, n, stride := fn.Arg("dst"), fn.Arg("back"), fn.Arg("place"), fn.Arg("scale"), fn.Arg("n"), fn.Arg("stride")
	take, all := fn.NewLabel("take"), fn.NewLabel("all")
	fn.TESTQ(n, n)
	fn.JE(operand.LabelRef(all))
	check := fn.Arg("check")
	var checks []reg.VecVirtual
	for _, m := range linesAt(fn, operand.Mem{Base: check}) {
		v := fn.Vec()
		fn.VMOVUPS(m, v)
		checks = append(checks, v)
	}
	zero := fn.Zero()
	fn.Label(take)
	at, factor := fn.GP64(), fn.Vec()
	fn.MOVLQSX(operand.Mem{Base: place}, at)
	fn.VBROADCASTSS(operand.Mem{Base: scale}, factor)
	to := linesAt(fn, operand.Mem{Base: dst})
	for i, m := range linesAt(fn, operand.Mem{Base: back, Index: at, Scale: 1}) {
		v := fn.Vec()
		fn.VMULPS(m, factor, v)
		fn.VMOVUPS(v, to[i])
		fn.VFMADD231PS(zero, v, checks[i])
	}
	fn.ADDQ(operand.U8(4), place)
	fn.ADDQ(operand.U8(4), scale)
	fn.ADDQ(stride, dst)
	fn.DECQ(n)
	fn.JNE(operand.LabelRef(take))
	for i, m := range linesAt(fn, operand.Mem{Base: check}) {
		fn.VMOVUPS(checks[i], m)
	}
	fn.Label(all)
	fn.End()
	fn.AllocateVectors()
}

// spectralTaps is how many taps a turn takes: each line of x is loaded once for all of them.
const spectralTaps = 4

// spectralSum sums rows sixteen at a time on AVX-512, and eight at a time there what is left, and on AVX2.
func spectralSum(f *x86.File, l x86.Level) {
	fn := f.Func(l, x86.F32, "sums", "func"+spectralSumArgs, spectralSumDoc)
	blocks := map[x86.Level][]int{x86.AVX2: {8}, x86.AVX512: {16, 8}}[l]
	x, k, s, tapStride, slots := fn.Arg("x"), fn.Arg("k"), fn.Arg("stride"), fn.Arg("tapStride"), fn.Arg("slots")
	delta := fn.Arg("dst") // from x to dst
	fn.SUBQ(x, delta)
	s3, left, row, first, tap, taps, p := fn.GP64(), fn.GP64(), fn.GP64(), fn.GP64(), fn.GP64(), fn.GP64(), fn.GP64()
	fn.LEAQ(operand.Mem{Base: s, Index: s, Scale: 2}, s3)
	if l == x86.AVX2 { // a line goes by halves
		fn.ADDQ(slots, slots)
	}
	// each calls do with the address of so many lines from where p is.
	each := func(n int, do func(i int, m operand.Mem)) {
		for i := range n {
			if i > 0 && i%4 == 0 {
				fn.LEAQ(operand.Mem{Base: p, Index: s, Scale: 4}, p)
			}
			do(i, []operand.Mem{{Base: p}, {Base: p, Index: s, Scale: 1}, {Base: p, Index: s, Scale: 2},
				{Base: p, Index: s3, Scale: 1}}[i%4])
		}
	}
	sums, weight, in := zeros(fn, blocks[0]), zeros(fn, spectralTaps), fn.Vec()
	fn.Label("slot")
	fn.MOVQ(fn.Arg("rows"), left)
	fn.MOVQ(x, row)
	for i, rows := range blocks {
		label := func(name string) string { return fmt.Sprintf("%s%d", name, rows) }
		acc := sums[:rows]
		if i < len(blocks)-1 {
			fn.CMPQ(left, operand.U8(rows))
			fn.JL(operand.LabelRef(label("fewer")))
		}
		fn.Label(label("rows"))
		clearAll(fn, acc)
		add := fn.Arg("add")
		fn.TESTQ(add, add)
		fn.JE(operand.LabelRef(label("begin")))
		fn.LEAQ(operand.Mem{Base: row, Index: delta, Scale: 1}, p)
		each(rows, func(i int, m operand.Mem) { fn.VMOVUPS(m, acc[i]) })
		fn.Label(label("begin"))
		fn.MOVQ(row, first)
		fn.MOVQ(k, tap)
		fn.MOVQ(fn.Arg("taps"), taps)
		fn.SUBQ(operand.U8(spectralTaps), taps)
		fn.JL(operand.LabelRef(label("rest")))
		fn.Label(label("taps"))
		for _, w := range weight {
			fn.VMOVUPS(operand.Mem{Base: tap}, w)
			fn.ADDQ(tapStride, tap)
		}
		fn.MOVQ(first, p)
		each(rows+spectralTaps-1, func(i int, m operand.Mem) {
			fn.VMOVUPS(m, in)
			for t, w := range weight {
				if r := i - t; r >= 0 && r < rows {
					fn.VFMADD231PS(in, w, acc[r])
				}
			}
		})
		fn.LEAQ(operand.Mem{Base: first, Index: s, Scale: spectralTaps}, first)
		fn.SUBQ(operand.U8(spectralTaps), taps)
		fn.JGE(operand.LabelRef(label("taps")))
		fn.Label(label("rest"))
		fn.ADDQ(operand.U8(spectralTaps), taps)
		fn.JE(operand.LabelRef(label("store")))
		fn.Label(label("one"))
		fn.VMOVUPS(operand.Mem{Base: tap}, weight[0])
		fn.MOVQ(first, p)
		each(rows, func(i int, m operand.Mem) { fn.VFMADD231PS(m, weight[0], acc[i]) })
		fn.ADDQ(s, first)
		fn.ADDQ(tapStride, tap)
		fn.DECQ(taps)
		fn.JNE(operand.LabelRef(label("one")))
		fn.Label(label("store"))
		fn.LEAQ(operand.Mem{Base: row, Index: delta, Scale: 1}, p)
		each(rows, func(i int, m operand.Mem) { fn.VMOVUPS(acc[i], m) })
		for range rows / 4 {
			fn.LEAQ(operand.Mem{Base: row, Index: s, Scale: 4}, row)
		}
		fn.SUBQ(operand.U8(rows), left)
		if i < len(blocks)-1 {
			fn.CMPQ(left, operand.U8(rows))
			fn.JGE(operand.LabelRef(label("rows")))
			fn.TESTQ(left, left)
			fn.JE(operand.LabelRef("summed"))
			fn.Label(label("fewer"))
		} else {
			fn.JG(operand.LabelRef(label("rows")))
		}
	}
	if len(blocks) > 1 {
		fn.Label("summed")
	}
	if l == x86.AVX2 { // the other half of the lines
		fn.ADDQ(operand.U8(32), x)
		fn.ADDQ(operand.U8(32), k)
		fn.DECQ(slots)
		fn.TESTQ(operand.U32(1), slots)
		fn.JNE(operand.LabelRef("slot"))
		fn.SUBQ(operand.U8(64), k)
	} else {
		fn.ADDQ(operand.U8(64), x)
	}
	next := fn.Arg("slotStride")
	fn.ADDQ(next, k)
	if l == x86.AVX2 {
		fn.TESTQ(slots, slots)
	} else {
		fn.DECQ(slots)
	}
	fn.JNE(operand.LabelRef("slot"))
	fn.End()
}
