package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// What is summed over a row a and a vector x.
type rowSum int

const (
	rowDot      rowSum = iota // a·x
	rowSquares                // (a - x)²
	rowAbsolute               // |a - x|
)

func rowsAMD64(f *x86.File) {
	for _, l := range levels {
		rowSums(f, l, x86.F32, rowDot, "dotRowsF32", "a·x")
		rowSums(f, l, x86.F64, rowDot, "dotRowsF64", "a·x")
		rowSums(f, l, x86.F32, rowSquares, "squaresRowsF32", "(a - x)²")
		rowSums(f, l, x86.F32, rowAbsolute, "absoluteRowsF32", "|a - x|")
	}
	rowsI8(f, rowDot, "dotRows4I8", "a·x")
	rowsI8(f, rowSquares, "squaresRows4I8", "(a - x)²")
	rowsI8(f, rowAbsolute, "absoluteRows4I8", "|a - x|")
	for _, e := range []x86.Elem{x86.F32, x86.F64} {
		for _, l := range levels {
			addRows(f, l, e)
		}
	}
}

// rowSums writes sums over the elements of rows. Four rows share the loads of x; those that are left are taken one by
// one, in the same accumulators and the same order.
func rowSums(f *x86.File, l x86.Level, e x86.Elem, kind rowSum, name, term string) {
	ty := e.GoType()
	fn := f.Func(l, e, name, "func(dst, a *"+ty+", lda int, x *"+ty+", m, n int)",
		"sets dst[i] = Σ "+term+" over the n elements of row i of a and of x, i < m. Rows are lda bytes apart.")
	op := func(base string) string { return base + byType(e, "PS", "PD") }
	size, vec := e.Bytes(), l.Bytes()
	left := fn.GP64()
	n := fn.Arg("n")
	fn.MOVQ(n, left)
	fn.ANDQ(operand.U8(fn.Lanes()-1), left)
	tail := fn.NewTail(left)
	whole := fn.GP64() // bytes of whole vectors
	fn.MOVQ(n, whole)
	fn.SUBQ(left, whole)
	fn.SHLQ(operand.U8(byType(e, uint8(2), uint8(3))), whole)
	pairs := fn.GP64() // bytes of pairs of vectors
	fn.MOVQ(whole, pairs)
	fn.ANDQ(operand.I32(-2*vec), pairs)
	dst, a, lda, x, m := fn.Arg("dst"), fn.Arg("a"), fn.Arg("lda"), fn.Arg("x"), fn.Arg("m")
	var abs reg.VecVirtual
	if kind == rowAbsolute {
		abs = fn.Vec()
		fn.VBROADCASTSS(fn.Data("absRows", 0x7fffffff), abs)
	}
	add := func(xv reg.VecVirtual, row operand.Op, sum reg.VecVirtual) {
		if kind == rowDot {
			fn.Inst(op("VFMADD231"), row, xv, sum)
			return
		}
		t := fn.Vec()
		fn.Inst(op("VSUB"), row, xv, t)
		if kind == rowSquares {
			fn.Inst(op("VFMADD231"), t, t, sum)
			return
		}
		fn.Inst(op("VAND"), abs, t, t)
		fn.Inst(op("VADD"), t, sum, sum)
	}
	for _, rows := range []int{4, 1} {
		next, again := fn.NewLabel("next"), fn.NewLabel("rows")
		fn.Label(again)
		fn.CMPQ(m, operand.U8(rows))
		fn.JL(operand.LabelRef(next))
		at := []reg.GPVirtual{a}
		for r := 1; r < rows; r++ {
			p := fn.GP64()
			fn.LEAQ(operand.Mem{Base: at[r-1], Index: lda, Scale: 1}, p)
			at = append(at, p)
		}
		sums := zeros(fn, 2*rows)
		clearAll(fn, sums)
		i := fn.GP64()
		fn.XORQ(i, i)
		for _, copies := range []int{2, 1} {
			loop, done := fn.NewLabel("loop"), fn.NewLabel("done")
			end := pairs
			if copies == 1 {
				end = whole
			}
			fn.CMPQ(i, end)
			fn.JGE(operand.LabelRef(done))
			fn.Label(loop)
			for u := range copies {
				xv := fn.Vec()
				fn.VMOVUPS(operand.Mem{Base: x, Index: i, Scale: 1, Disp: u * vec}, xv)
				for r := range rows {
					add(xv, operand.Mem{Base: at[r], Index: i, Scale: 1, Disp: u * vec}, sums[2*r+u])
				}
			}
			fn.ADDQ(operand.U32(copies*vec), i)
			fn.CMPQ(i, end)
			fn.JL(operand.LabelRef(loop))
			fn.Label(done)
		}
		full := fn.NewLabel("full")
		fn.TESTQ(left, left)
		fn.JE(operand.LabelRef(full))
		xv := tail.Load(operand.Mem{Base: x, Index: i, Scale: 1})
		for r := range rows {
			add(xv, tail.Load(operand.Mem{Base: at[r], Index: i, Scale: 1}), sums[2*r])
		}
		fn.Label(full)
		for r := range rows {
			fn.Inst(op("VADD"), sums[2*r+1], sums[2*r], sums[2*r])
			s := fn.SumLanes(sums[2*r])
			to := operand.Mem{Base: dst, Disp: r * size}
			if e == x86.F32 {
				fn.VMOVSS(s.AsX(), to)
			} else {
				fn.VMOVSD(s.AsX(), to)
			}
		}
		fn.ADDQ(operand.U8(rows*size), dst)
		fn.LEAQ(operand.Mem{Base: at[rows-1], Index: lda, Scale: 1}, a)
		fn.SUBQ(operand.U8(rows), m)
		fn.JMP(operand.LabelRef(again))
		fn.Label(next)
	}
	fn.End()
}

// byType is the one for the type.
func byType[T any](e x86.Elem, f32, f64 T) T {
	if e == x86.F64 {
		return f64
	}
	return f32
}

// addRows writes a sum of four rows, weighted by four numbers, that is added to a vector in the order of the rows.
func addRows(f *x86.File, l x86.Level, e x86.Elem) {
	ty := e.GoType()
	fn := f.Func(l, e, "addRows4"+e.String(), "func(dst, a *"+ty+", lda int, x *"+ty+", n int)",
		"adds x[0]·a[i] + x[1]·a[lda+i] + x[2]·a[2·lda+i] + x[3]·a[3·lda+i] to dst[i] for i < n, a product after the "+
			"other. lda counts bytes.")
	b := x86.NewBlock(l, e)
	w := [4]x86.Value{b.Uniform(), b.Uniform(), b.Uniform(), b.Uniform()}
	sum := b.Input()
	for r := range w {
		sum = b.FMA(b.Input(), w[r], sum)
	}
	b.Output(sum)
	dst, lda, x := fn.Arg("dst"), fn.Arg("lda"), fn.Arg("x")
	in := []reg.GPVirtual{dst, fn.Arg("a")}
	var weights []reg.VecVirtual
	for r := range w {
		if r > 0 {
			p := fn.GP64()
			fn.LEAQ(operand.Mem{Base: in[r], Index: lda, Scale: 1}, p)
			in = append(in, p)
		}
		v := fn.Vec()
		fn.Inst("VBROADCAST"+byType(e, "SS", "SD"), operand.Mem{Base: x, Disp: r * e.Bytes()}, v)
		weights = append(weights, v)
	}
	fn.Map(x86.Map{Block: b, Unroll: 2, Uniforms: weights, Out: []reg.GPVirtual{dst}, In: in, N: fn.Arg("n")})
}

// rowsI8 writes sums over four rows of int8, exact but for what int32 cannot hold. Sixteen numbers are widened to 16 bits at a time and
// their products or differences added in pairs. The last sixteen of a row end with it, and those of them that came before count as zero.
// One size of vectors serves both levels.
func rowsI8(f *x86.File, kind rowSum, name, term string) {
	const columns = 16
	fn := f.Func(x86.AVX2, x86.F64, name, "func(sums *int32, a0, a1, a2, a3, x *int8, n int)",
		"sets sums[i] = Σ "+term+" over the n elements of row i and of x, i < 4, n ≥ 16.")
	rows := []reg.GPVirtual{fn.Arg("a0"), fn.Arg("a1"), fn.Arg("a2"), fn.Arg("a3")}
	x, left, at := fn.Arg("x"), fn.Arg("n"), fn.GP64()
	acc, mask, ones := zeros(fn, len(rows)), fn.Vec(), fn.Vec()
	clearAll(fn, acc)
	fn.VPCMPEQW(mask, mask, mask)
	if kind == rowAbsolute {
		fn.VPABSW(mask, ones)
	}
	fn.XORQ(at, at)
	loop, done := fn.NewLabel("loop"), fn.NewLabel("done")
	fn.Label(loop)
	wide := fn.Vec()
	fn.VPMOVSXBW(operand.Mem{Base: x, Index: at, Scale: 1}, wide)
	for r, row := range rows {
		v := fn.Vec()
		fn.VPMOVSXBW(operand.Mem{Base: row, Index: at, Scale: 1}, v)
		if kind != rowDot {
			fn.VPSUBW(wide, v, v)
		}
		fn.VPAND(mask, v, v)
		switch kind {
		case rowDot:
			fn.VPMADDWD(wide, v, v)
		case rowSquares:
			fn.VPMADDWD(v, v, v)
		default:
			fn.VPABSW(v, v)
			fn.VPMADDWD(ones, v, v)
		}
		fn.VPADDD(v, acc[r], acc[r])
	}
	fn.ADDQ(operand.U8(columns), at)
	fn.SUBQ(operand.U8(columns), left)
	fn.CMPQ(left, operand.U8(columns))
	fn.JGE(operand.LabelRef(loop))
	fn.TESTQ(left, left)
	fn.JE(operand.LabelRef(done))
	// Zeros, then ones for as many numbers as are left.
	table, all := fn.GP64(), ^uint64(0)
	fn.LEAQ(fn.Data("tailMaskI8", 0, 0, 0, 0, all, all, all, all), table)
	fn.VMOVUPS(operand.Mem{Base: table, Index: left, Scale: 2}, mask)
	fn.LEAQ(operand.Mem{Base: at, Index: left, Scale: 1, Disp: -columns}, at)
	fn.MOVQ(operand.U32(columns), left)
	fn.JMP(operand.LabelRef(loop))
	fn.Label(done)
	fn.VPHADDD(acc[1], acc[0], acc[0])
	fn.VPHADDD(acc[3], acc[2], acc[2])
	fn.VPHADDD(acc[2], acc[0], acc[0])
	high := fn.XMM()
	fn.VEXTRACTI128(operand.U8(1), acc[0], high)
	fn.VPADDD(high, acc[0].AsX(), high)
	fn.VMOVDQU(high, operand.Mem{Base: fn.Arg("sums")})
	fn.End()
}
