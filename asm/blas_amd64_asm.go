package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// blasDir is where the kernels for short vectors go, seen from package simd.
const blasDir = "../linalg/blas/"

// shortAMD64 writes the operations of BLAS's level 1 for vectors of a few elements, where a call takes longer than the elements do. What is
// left over after whole vectors goes by halves of a vector, as masked stores take many operations of a Zen. One vector size for all
// levels is enough.
func shortAMD64(f *x86.File) {
	for _, e := range []x86.Elem{x86.F32, x86.F64} {
		shortMaps(f, e)
		shortSums(f, e)
		stridedOf(f, e)
	}
}

// part is a number of bytes that are computed at once: vectors, or what is left over.
type part struct {
	fn    *x86.Func
	bytes int
}

func (p part) reg() reg.VecVirtual {
	if p.bytes == 32 {
		return p.fn.YMM()
	}
	return p.fn.XMM()
}

// as is a register of the part's size that has been loaded as a larger one.
func (p part) as(r reg.VecVirtual) reg.Register {
	if p.bytes == 32 {
		return r.AsY()
	}
	return r.AsX()
}

// move loads or stores the part; what a load leaves over of a register is 0.
func (p part) move(from, to operand.Op) {
	switch p.bytes {
	case 8:
		p.fn.VMOVSD(from, to)
	case 4:
		p.fn.VMOVSS(from, to)
	default:
		floats(p.fn, "VMOVU", from, to)
	}
}

func (p part) load(at reg.Register, u int) reg.VecVirtual {
	r := p.reg()
	p.move(operand.Mem{Base: at, Disp: u * p.bytes}, r)
	return r
}

func (p part) store(r reg.VecVirtual, at reg.Register, u int) {
	p.move(r, operand.Mem{Base: at, Disp: u * p.bytes})
}

// factor is a number that is repeated over half a vector, or a whole one.
type factor struct {
	fn *x86.Func
	at operand.Mem
	reg.VecVirtual
}

func newFactor(fn *x86.Func, name string) factor {
	r := factor{fn, fn.ArgMem(name), fn.YMM()}
	if fn.Elem == x86.F64 {
		fn.VMOVDDUP(r.at, r.AsX())
	} else {
		fn.VBROADCASTSS(r.at, r.AsX())
	}
	return r
}

// eachPart goes through n elements at the pointers: four vectors at a time, one, and what is left over in halves. Fewer elements than a
// vector has do not touch upper halves, which would have to be cleared.
func eachPart(fn *x86.Func, n reg.GPVirtual, pointers []reg.GPVirtual, factors []factor, do func(p part, copies int)) {
	round := func(p part, copies int) {
		do(p, copies)
		for _, at := range pointers {
			fn.ADDQ(operand.U32(p.bytes*copies), at)
		}
	}
	few := fn.NewLabel("few")
	lanes := fn.Lanes()
	fn.CMPQ(n, operand.U8(lanes))
	fn.JL(operand.LabelRef(few))
	for _, a := range factors {
		repeatElem(fn, a.at, a.VecVirtual)
	}
	for _, copies := range []int{4, 1} {
		loop, next, step := fn.NewLabel("loop"), fn.NewLabel("next"), operand.U8(copies*lanes)
		fn.SUBQ(step, n)
		fn.JL(operand.LabelRef(next))
		fn.Label(loop)
		round(part{fn, 32}, copies)
		fn.SUBQ(step, n)
		fn.JGE(operand.LabelRef(loop))
		fn.Label(next)
		fn.ADDQ(step, n)
	}
	fn.VZEROUPPER()
	fn.Label(few)
	for count := lanes / 2; count > 0; count /= 2 {
		next := fn.NewLabel("half")
		fn.TESTQ(operand.U32(count), n)
		fn.JE(operand.LabelRef(next))
		if count > 1 {
			round(part{fn, count * fn.Elem.Bytes()}, 1)
		} else {
			do(part{fn, fn.Elem.Bytes()}, 1)
		}
		fn.Label(next)
	}
	fn.RET()
}

// shortMaps writes AXPY, SCAL, SWAP and ROT.
func shortMaps(f *x86.File, e x86.Elem) {
	fn := f.Func(x86.AVX2, e, "shortAxpy"+e.String(), typed(e, "func(n int, a float, x, y *float)"), "adds a·x[i] to y[i] for i < n.")
	n, x, y, a := fn.Arg("n"), fn.Arg("x"), fn.Arg("y"), newFactor(fn, "a")
	eachPart(fn, n, []reg.GPVirtual{x, y}, []factor{a}, func(p part, copies int) {
		for u := range copies {
			from, to := p.load(x, u), p.load(y, u)
			floats(fn, "VFMADD231", from, p.as(a.VecVirtual), to)
			p.store(to, y, u)
		}
	})

	fn = f.Func(x86.AVX2, e, "shortScale"+e.String(), typed(e, "func(n int, a float, x *float)"), "multiplies x[i] by a for i < n.")
	n, x, a = fn.Arg("n"), fn.Arg("x"), newFactor(fn, "a")
	eachPart(fn, n, []reg.GPVirtual{x}, []factor{a}, func(p part, copies int) {
		for u := range copies {
			v := p.load(x, u)
			floats(fn, "VMUL", p.as(a.VecVirtual), v, v)
			p.store(v, x, u)
		}
	})

	fn = f.Func(x86.AVX2, e, "shortSwap"+e.String(), typed(e, "func(n int, x, y *float)"), "exchanges x[i] and y[i] for i < n.")
	n, x, y = fn.Arg("n"), fn.Arg("x"), fn.Arg("y")
	eachPart(fn, n, []reg.GPVirtual{x, y}, nil, func(p part, copies int) {
		for u := range copies {
			v, w := p.load(x, u), p.load(y, u)
			p.store(w, x, u)
			p.store(v, y, u)
		}
	})

	fn = f.Func(x86.AVX2, e, "shortRotate"+e.String(), typed(e, "func(n int, x, y *float, c, s float)"),
		"sets x[i], y[i] = c·x[i] + s·y[i], c·y[i] - s·x[i] for i < n.")
	n, x, y, c, s := fn.Arg("n"), fn.Arg("x"), fn.Arg("y"), newFactor(fn, "c"), newFactor(fn, "s")
	eachPart(fn, n, []reg.GPVirtual{x, y}, []factor{c, s}, func(p part, copies int) {
		for u := range copies {
			v, w, vc, wc := p.load(x, u), p.load(y, u), p.reg(), p.reg()
			floats(fn, "VMUL", p.as(c.VecVirtual), v, vc)
			floats(fn, "VMUL", p.as(c.VecVirtual), w, wc)
			floats(fn, "VFMADD231", w, p.as(s.VecVirtual), vc)
			floats(fn, "VFNMADD231", v, p.as(s.VecVirtual), wc)
			p.store(vc, x, u)
			p.store(wc, y, u)
		}
	})
}

// shortSums writes DOT and ASUM, summed in the type of the elements.
func shortSums(f *x86.File, e x86.Elem) {
	fn := f.Func(x86.AVX2, e, "shortDot"+e.String(), typed(e, "func(n int, x, y *float) float"), "returns Σ x[i]·y[i] over i < n.")
	n, x, y := fn.Arg("n"), fn.Arg("x"), fn.Arg("y")
	shortSum(fn, n, []reg.GPVirtual{x, y}, func(part) {}, func(p part, u int, to reg.Register) {
		floats(fn, "VFMADD231", p.load(x, u), p.load(y, u), to)
	})

	fn = f.Func(x86.AVX2, e, "shortAbs"+e.String(), typed(e, "func(n int, x *float) float"), "returns Σ |x[i]| over i < n.")
	n, x = fn.Arg("n"), fn.Arg("x")
	mask := fn.YMM()
	shortSum(fn, n, []reg.GPVirtual{x}, func(p part) { // all bits but the sign
		m := p.as(mask)
		fn.VPCMPEQD(m, m, m)
		if e == x86.F64 {
			fn.VPSRLQ(operand.U8(1), m, m)
		} else {
			fn.VPSRLD(operand.U8(1), m, m)
		}
	}, func(p part, u int, to reg.Register) {
		v := p.load(x, u)
		floats(fn, "VAND", p.as(mask), v, v)
		floats(fn, "VADD", v, to, to)
	})
}

// shortSum adds up what add adds to a register: whole vectors in four registers, of which the upper halves are added to the lower ones
// before what is left over, because instructions on half a register clear the other half. before makes what add needs, for halves of
// vectors and then for whole ones.
func shortSum(fn *x86.Func, n reg.GPVirtual, pointers []reg.GPVirtual, before func(p part),
	add func(p part, u int, to reg.Register)) {
	acc := zeros(fn, 4)
	rest := fn.XMM()
	floats(fn, "VXOR", rest, rest, rest)
	for _, r := range acc {
		floats(fn, "VXOR", r.AsX(), r.AsX(), r.AsX())
	}
	advance := func(bytes int) {
		for _, at := range pointers {
			fn.ADDQ(operand.U32(bytes), at)
		}
	}
	few, loop, next, lanes := fn.NewLabel("few"), fn.NewLabel("loop"), fn.NewLabel("next"), fn.Lanes()
	before(part{fn, 16})
	fn.CMPQ(n, operand.U8(lanes))
	fn.JL(operand.LabelRef(few))
	before(part{fn, 32})
	fn.SUBQ(operand.U8(4*lanes), n)
	fn.JL(operand.LabelRef(next))
	fn.Label(loop)
	for u := range acc {
		add(part{fn, 32}, u, acc[u])
	}
	advance(4 * 32)
	fn.SUBQ(operand.U8(4*lanes), n)
	fn.JGE(operand.LabelRef(loop))
	fn.Label(next)
	for k, count := range []int{2, 1} { // n is short of a multiple of the lanes of four vectors, whose lower bits are the same
		skip := fn.NewLabel("skip")
		fn.TESTQ(operand.U32(count*lanes), n)
		fn.JE(operand.LabelRef(skip))
		for u := range count {
			add(part{fn, 32}, u, acc[2*k+u])
		}
		advance(count * 32)
		fn.Label(skip)
	}
	floats(fn, "VADD", acc[1], acc[0], acc[0])
	floats(fn, "VADD", acc[3], acc[2], acc[2])
	floats(fn, "VADD", acc[2], acc[0], acc[0])
	high := fn.XMM()
	fn.VEXTRACTF128(operand.U8(1), acc[0], high)
	fn.VZEROUPPER()
	floats(fn, "VADD", high, acc[0].AsX(), acc[0].AsX())
	fn.Label(few)
	for count := lanes / 2; count > 0; count /= 2 {
		skip := fn.NewLabel("half")
		fn.TESTQ(operand.U32(count), n)
		fn.JE(operand.LabelRef(skip))
		p := part{fn, count * fn.Elem.Bytes()}
		add(p, 0, rest)
		if count > 1 {
			advance(p.bytes)
		}
		fn.Label(skip)
	}
	sum := acc[0].AsX()
	floats(fn, "VADD", rest, sum, sum)
	fn.VPERMILPD(operand.U8(1), sum, high)
	floats(fn, "VADD", high, sum, sum)
	if fn.Elem == x86.F32 {
		fn.VMOVSHDUP(sum, high)
		fn.VADDSS(high, sum, sum)
	}
	fn.Store(sum, fn.ReturnIndex(0))
	fn.RET()
}

// stridedOf writes AXPY, SCAL and DOT for elements that lie some way apart. Increments count elements.
func stridedOf(f *x86.File, e x86.Elem) {
	fn := f.Func(x86.AVX2, e, "stridedAxpy"+e.String(), typed(e, "func(n int, a float, x *float, incX int, y *float, incY int)"),
		"adds a·x[i·incX] to y[i·incY] for i < n.")
	a := scalarArg(fn, "a")
	stridedLoop(fn, []string{"x", "y"}, func(at [][]operand.Mem) {
		var sums []reg.VecVirtual
		for _, m := range at {
			sums = append(sums, scalarLoad(fn, m[1]))
		}
		for u, m := range at {
			scalar(fn, "VFMADD231", m[0], a, sums[u])
		}
		for u, m := range at {
			scalar(fn, "VMOV", sums[u], m[1])
		}
	})
	fn.RET()

	fn = f.Func(x86.AVX2, e, "stridedScale"+e.String(), typed(e, "func(n int, a float, x *float, incX int)"),
		"multiplies x[i·incX] by a for i < n.")
	a = scalarArg(fn, "a")
	stridedLoop(fn, []string{"x"}, func(at [][]operand.Mem) {
		for _, m := range at {
			v := fn.XMM()
			scalar(fn, "VMUL", m[0], a, v)
			scalar(fn, "VMOV", v, m[0])
		}
	})
	fn.RET()

	fn = f.Func(x86.AVX2, e, "stridedDot"+e.String(), typed(e, "func(n int, x *float, incX int, y *float, incY int) float"),
		"returns Σ x[i·incX]·y[i·incY] over i < n.")
	var acc [4]reg.VecVirtual
	for u := range acc {
		acc[u] = fn.XMM()
		fn.VXORPS(acc[u], acc[u], acc[u])
	}
	stridedLoop(fn, []string{"x", "y"}, func(at [][]operand.Mem) {
		for u, m := range at {
			scalar(fn, "VFMADD231", m[0], scalarLoad(fn, m[1]), acc[u])
		}
	})
	for _, k := range []int{1, 3} {
		scalar(fn, "VADD", acc[k], acc[k-1], acc[k-1])
	}
	scalar(fn, "VADD", acc[2], acc[0], acc[0])
	fn.Store(acc[0], fn.ReturnIndex(0))
	fn.RET()
}

// scalar writes an instruction on one number of the function's type.
func scalar(fn *x86.Func, name string, ops ...operand.Op) {
	fn.Inst(name+map[x86.Elem]string{x86.F32: "SS", x86.F64: "SD"}[fn.Elem], ops...)
}

func scalarLoad(fn *x86.Func, m operand.Mem) reg.VecVirtual {
	r := fn.XMM()
	scalar(fn, "VMOV", m, r)
	return r
}

func scalarArg(fn *x86.Func, name string) reg.VecVirtual {
	r := fn.XMM()
	fn.Load(fn.Param(name), r)
	return r
}

// stridedLoop goes through the arguments of those names, whose increments are called incX and incY, four elements at a time.
func stridedLoop(fn *x86.Func, names []string, do func(at [][]operand.Mem)) {
	n := fn.Arg("n")
	type vector struct{ at, inc, inc3 reg.GPVirtual }
	var vectors []vector
	for _, name := range names {
		v := vector{fn.Arg(name), fn.Arg("inc" + map[string]string{"x": "X", "y": "Y"}[name]), fn.GP64()}
		fn.SHLQ(operand.U8(map[x86.Elem]int{x86.F32: 2, x86.F64: 3}[fn.Elem]), v.inc)
		fn.LEAQ(operand.Mem{Base: v.inc, Index: v.inc, Scale: 2}, v.inc3)
		vectors = append(vectors, v)
	}
	loop, one, next, done := fn.NewLabel("loop"), fn.NewLabel("one"), fn.NewLabel("next"), fn.NewLabel("done")
	fn.SUBQ(operand.U8(4), n)
	fn.JL(operand.LabelRef(next))
	fn.Label(loop)
	four := make([][]operand.Mem, 4)
	for u := range four {
		for _, v := range vectors {
			four[u] = append(four[u], []operand.Mem{{Base: v.at}, {Base: v.at, Index: v.inc, Scale: 1},
				{Base: v.at, Index: v.inc, Scale: 2}, {Base: v.at, Index: v.inc3, Scale: 1}}[u])
		}
	}
	do(four)
	for _, v := range vectors {
		fn.LEAQ(operand.Mem{Base: v.at, Index: v.inc, Scale: 4}, v.at)
	}
	fn.SUBQ(operand.U8(4), n)
	fn.JGE(operand.LabelRef(loop))
	fn.Label(next)
	fn.ADDQ(operand.U8(4), n)
	fn.JE(operand.LabelRef(done))
	fn.Label(one)
	var at []operand.Mem
	for _, v := range vectors {
		at = append(at, operand.Mem{Base: v.at})
	}
	do([][]operand.Mem{at})
	for _, v := range vectors {
		fn.ADDQ(v.inc, v.at)
	}
	fn.DECQ(n)
	fn.JNE(operand.LabelRef(one))
	fn.Label(done)
}
