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
		smallGemm(f, e)
		smallDots(f, e)
		symmetricRows(f, e)
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

// smallGemm writes C = alpha·op(A)·B + beta·C for a few rows, or a few elements at all, without copies of A and B. A row of C is
// computed four vectors at a time, in registers over all of k; of the last vectors of a row, one to four, the last is masked.
func smallGemm(f *x86.File, e x86.Elem) {
	fn := f.Func(x86.AVX2, e, "smallGemm"+e.String(),
		typed(e, "func(m, n, k int, alpha float, a *float, down, across int, b *float, ldb int, mode int, beta float, c *float, ldc int)"),
		"computes c[i, j] = alpha·Σ a[i·down+l·across]·b[l, j], and adds beta·c[i, j] where mode is not 0; m, n and k are at least 1.")
	g := &smallRows{fn: fn, a: fn.Arg("a"), b: fn.GP64(), c: fn.GP64(), k: fn.ArgMem("k"), sums: zeros(fn, 4), one: fn.YMM()}
	g.across, g.ldb = fn.Arg("across"), fn.Arg("ldb")
	shift := operand.U8(map[x86.Elem]int{x86.F32: 2, x86.F64: 3}[e])
	for _, stride := range []reg.GPVirtual{g.across, g.ldb} {
		fn.SHLQ(shift, stride)
	}
	// n-1 = 4·lanes·chunks + lanes·vectors + tail-1.
	lanes := fn.Lanes()
	bits := map[int]int{4: 2, 8: 3}[lanes]
	chunks, vectors := fn.Arg("n"), fn.GP64()
	g.tail = fn.GP64()
	fn.DECQ(chunks)
	fn.MOVQ(chunks, g.tail)
	fn.ANDQ(operand.U8(lanes-1), g.tail)
	fn.INCQ(g.tail)
	g.mask = fn.NewTail(g.tail)
	fn.MOVQ(chunks, vectors)
	fn.SHRQ(operand.U8(bits), vectors)
	fn.ANDQ(operand.U8(3), vectors)
	fn.SHRQ(operand.U8(bits+2), chunks)

	row, chunk, last, done := fn.NewLabel("row"), fn.NewLabel("chunk"), fn.NewLabel("last"), fn.NewLabel("done")
	left, stride := fn.GP64(), fn.GP64()
	rowC := fn.Arg("c")
	fn.Label(row)
	fn.MOVQ(rowC, g.c)
	fn.Load(fn.Param("b"), g.b)
	fn.MOVQ(chunks, left)
	fn.Label(chunk)
	fn.TESTQ(left, left)
	fn.JE(operand.LabelRef(last))
	g.sum(4, false)
	fn.ADDQ(operand.U32(4*32), g.b)
	fn.ADDQ(operand.U32(4*32), g.c)
	fn.DECQ(left)
	fn.JMP(operand.LabelRef(chunk))
	fn.Label(last)
	for v := 1; v < 4; v++ {
		next := fn.NewLabel("more")
		fn.CMPQ(vectors, operand.U8(v-1))
		fn.JNE(operand.LabelRef(next))
		g.sum(v, true)
		fn.JMP(operand.LabelRef(done))
		fn.Label(next)
	}
	g.sum(4, true)
	fn.Label(done)
	nextRow(fn, row, "down", g.a, rowC, stride, shift)
	fn.End()
}

// nextRow goes to the next row of A, whose distance the argument of that name is, and of C, and back to the label row if one is left.
func nextRow(fn *x86.Func, row, distance string, rowA, rowC, stride reg.GPVirtual, shift operand.Op) {
	for _, p := range []struct {
		name string
		at   reg.GPVirtual
	}{{distance, rowA}, {"ldc", rowC}} {
		fn.Load(fn.Param(p.name), stride)
		fn.SHLQ(shift, stride)
		fn.ADDQ(stride, p.at)
	}
	fn.DECQ(fn.ArgMem("m"))
	fn.JNE(operand.LabelRef(row))
}

// smallRows is what smallGemm works on: a row of A, and a part of B and of a row of C.
type smallRows struct {
	fn          *x86.Func
	a, b, c     reg.GPVirtual
	across, ldb reg.GPVirtual // in bytes
	k           operand.Mem
	tail        reg.GPVirtual // elements of the last vector of a row
	mask        x86.Tail
	sums        []reg.VecVirtual
	one         reg.VecVirtual
}

// sum writes the next v vectors of C, of which the last is masked if it is the row's last.
func (g *smallRows) sum(v int, masked bool) {
	fn := g.fn
	for _, r := range g.sums[:v] {
		fn.VXORPS(r, r, r)
	}
	a, b, k, loop := fn.GP64(), fn.GP64(), fn.GP64(), fn.NewLabel("loop")
	fn.MOVQ(g.a, a)
	fn.MOVQ(g.b, b)
	fn.MOVQ(g.k, k)
	fn.Label(loop)
	repeatElem(fn, operand.Mem{Base: a}, g.one)
	for u := range v {
		m := operand.Mem{Base: b, Disp: 32 * u}
		if masked && u == v-1 {
			floats(fn, "VFMADD231", g.mask.Load(m), g.one, g.sums[u])
		} else {
			floats(fn, "VFMADD231", m, g.one, g.sums[u])
		}
	}
	fn.ADDQ(g.across, a)
	fn.ADDQ(g.ldb, b)
	fn.DECQ(k)
	fn.JNE(operand.LabelRef(loop))

	factor, fresh := fn.BroadcastArg("alpha"), fn.NewLabel("fresh")
	for _, r := range g.sums[:v] {
		floats(fn, "VMUL", factor, r, r)
	}
	fn.CMPQ(fn.ArgMem("mode"), operand.U8(0))
	fn.JE(operand.LabelRef(fresh))
	factor = fn.BroadcastArg("beta")
	for u, r := range g.sums[:v] {
		m := operand.Mem{Base: g.c, Disp: 32 * u}
		if masked && u == v-1 {
			floats(fn, "VFMADD231", g.mask.Load(m), factor, r)
		} else {
			floats(fn, "VFMADD231", m, factor, r)
		}
	}
	fn.Label(fresh)
	for u, r := range g.sums[:v] {
		if masked && u == v-1 {
			g.storeTail(r, 32*u)
		} else {
			floats(fn, "VMOVU", r, operand.Mem{Base: g.c, Disp: 32 * u})
		}
	}
}

// storeTail stores the first elements of a vector by halves, as masked stores take long on Zen.
func (g *smallRows) storeTail(r reg.VecVirtual, disp int) {
	fn := g.fn
	lanes := fn.Lanes()
	to, some, stored := fn.GP64(), fn.NewLabel("some"), fn.NewLabel("stored")
	fn.CMPQ(g.tail, operand.U8(lanes))
	fn.JNE(operand.LabelRef(some))
	floats(fn, "VMOVU", r, operand.Mem{Base: g.c, Disp: disp})
	fn.JMP(operand.LabelRef(stored))
	fn.Label(some)
	fn.LEAQ(operand.Mem{Base: g.c, Disp: disp}, to)
	for count := lanes / 2; count > 0; count /= 2 {
		skip := fn.NewLabel("skip")
		fn.TESTQ(operand.U32(count), g.tail)
		fn.JE(operand.LabelRef(skip))
		part{fn, count * fn.Elem.Bytes()}.move(r.AsX(), operand.Mem{Base: to})
		if count > 1 {
			fn.ADDQ(operand.U8(count*fn.Elem.Bytes()), to)
			if count*fn.Elem.Bytes() == 16 {
				fn.VEXTRACTF128(operand.U8(1), r, r.AsX())
			} else {
				fn.VPERMILPD(operand.U8(1), r.AsX(), r.AsX())
			}
		}
		fn.Label(skip)
	}
	fn.Label(stored)
}

// smallDots writes C = alpha·A·Bᵀ + beta·C for a few elements: products of a row of A with up to four rows of B at a time.
func smallDots(f *x86.File, e x86.Elem) {
	fn := f.Func(x86.AVX2, e, "smallDots"+e.String(),
		typed(e, "func(m, n, k int, alpha float, a *float, lda int, b *float, ldb int, mode int, beta float, c *float, ldc int)"),
		"computes c[i, j] = alpha·Σ a[i, l]·b[j, l], and adds beta·c[i, j] where mode is not 0; m, n and k are at least 1.")
	d := &smallProducts{fn: fn, a: fn.Arg("a"), b: fn.GP64(), c: fn.GP64(), ldb: fn.Arg("ldb"), sums: zeros(fn, 4)}
	shift := operand.U8(map[x86.Elem]int{x86.F32: 2, x86.F64: 3}[e])
	fn.SHLQ(shift, d.ldb)
	d.vectors, d.tail = fn.Arg("k"), fn.GP64()
	fn.MOVQ(d.vectors, d.tail)
	fn.ANDQ(operand.U8(fn.Lanes()-1), d.tail)
	d.mask = fn.NewTail(d.tail)
	fn.SHRQ(operand.U8(map[int]int{4: 2, 8: 3}[fn.Lanes()]), d.vectors)

	row, four, last, done := fn.NewLabel("row"), fn.NewLabel("four"), fn.NewLabel("last"), fn.NewLabel("done")
	left, stride, rowC := fn.GP64(), fn.GP64(), fn.Arg("c")
	fn.Label(row)
	fn.MOVQ(rowC, d.c)
	fn.Load(fn.Param("b"), d.b)
	fn.Load(fn.Param("n"), left)
	fn.Label(four)
	fn.CMPQ(left, operand.U8(4))
	fn.JL(operand.LabelRef(last))
	d.columns(4)
	fn.LEAQ(operand.Mem{Base: d.b, Index: d.ldb, Scale: 4}, d.b)
	fn.ADDQ(operand.U8(4*e.Bytes()), d.c)
	fn.SUBQ(operand.U8(4), left)
	fn.JMP(operand.LabelRef(four))
	fn.Label(last)
	for v := 1; v < 4; v++ {
		next := fn.NewLabel("more")
		fn.CMPQ(left, operand.U8(v))
		fn.JNE(operand.LabelRef(next))
		d.columns(v)
		if v < 3 {
			fn.JMP(operand.LabelRef(done))
		}
		fn.Label(next)
	}
	fn.Label(done)
	nextRow(fn, row, "lda", d.a, rowC, stride, shift)
	fn.End()
}

// smallProducts is what smallDots works on: a row of A, rows of B and a part of a row of C.
type smallProducts struct {
	fn            *x86.Func
	a, b, c       reg.GPVirtual
	ldb           reg.GPVirtual // in bytes
	vectors, tail reg.GPVirtual // of a row of A
	mask          x86.Tail
	sums          []reg.VecVirtual
}

// columns writes the next v elements of C.
func (d *smallProducts) columns(v int) {
	fn := d.fn
	for _, r := range d.sums {
		fn.VXORPS(r, r, r)
	}
	a, b, c, k := fn.GP64(), fn.GP64(), fn.GP64(), fn.GP64()
	tail, loop, summed := fn.NewLabel("tail"), fn.NewLabel("loop"), fn.NewLabel("summed")
	rows := []operand.Mem{{Base: b}, {Base: b, Index: d.ldb, Scale: 1}, {Base: c}, {Base: c, Index: d.ldb, Scale: 1}}[:v]
	pointers := []reg.GPVirtual{a, b}
	fn.MOVQ(d.a, a)
	fn.MOVQ(d.b, b)
	if v > 2 {
		fn.LEAQ(operand.Mem{Base: b, Index: d.ldb, Scale: 2}, c)
		pointers = append(pointers, c)
	}
	fn.MOVQ(d.vectors, k)
	fn.TESTQ(k, k)
	fn.JE(operand.LabelRef(tail))
	x := fn.YMM()
	fn.Label(loop)
	floats(fn, "VMOVU", operand.Mem{Base: a}, x)
	for u, m := range rows {
		floats(fn, "VFMADD231", m, x, d.sums[u])
	}
	for _, p := range pointers {
		fn.ADDQ(operand.U8(32), p)
	}
	fn.DECQ(k)
	fn.JNE(operand.LabelRef(loop))
	fn.Label(tail)
	fn.TESTQ(d.tail, d.tail)
	fn.JE(operand.LabelRef(summed))
	x = d.mask.Load(operand.Mem{Base: a})
	for u, m := range rows {
		floats(fn, "VFMADD231", d.mask.Load(m), x, d.sums[u])
	}
	fn.Label(summed)
	d.store(d.reduce(), v)
}

// reduce adds up the lanes of each of four vectors, and returns the sums side by side.
func (d *smallProducts) reduce() reg.VecVirtual {
	fn, s := d.fn, d.sums
	floats(fn, "VHADD", s[1], s[0], s[0])
	floats(fn, "VHADD", s[3], s[2], s[2])
	if fn.Elem == x86.F64 {
		high := fn.YMM()
		fn.VPERM2F128(operand.U8(0x21), s[2], s[0], high)
		fn.VBLENDPD(operand.U8(12), s[2], s[0], s[0])
		fn.VADDPD(high, s[0], s[0])
		return s[0]
	}
	high := fn.XMM()
	fn.VHADDPS(s[2], s[0], s[0])
	fn.VEXTRACTF128(operand.U8(1), s[0], high)
	fn.VADDPS(high, s[0].AsX(), s[0].AsX())
	return s[0]
}

// store writes the first v of four elements: alpha·sum + beta·c.
func (d *smallProducts) store(sum reg.VecVirtual, v int) {
	fn := d.fn
	alpha, beta, disp := fn.BroadcastArg("alpha"), fn.BroadcastArg("beta"), 0
	floats(fn, "VMUL", alpha, sum, sum)
	third := fn.XMM() // before operations on the first two clear it
	if v == 3 && fn.Elem == x86.F64 {
		fn.VEXTRACTF128(operand.U8(1), sum, third)
	} else if v == 3 {
		fn.VPERMILPD(operand.U8(1), sum.AsX(), third)
	}
	for count := 4; count > 0; count /= 2 {
		if v&count == 0 {
			continue
		}
		p, fresh, at := part{fn, count * fn.Elem.Bytes()}, fn.NewLabel("fresh"), operand.Mem{Base: d.c, Disp: disp}
		r := p.as(sum)
		if v == 3 && count == 1 {
			r = third
		}
		fn.CMPQ(fn.ArgMem("mode"), operand.U8(0))
		fn.JE(operand.LabelRef(fresh))
		old := p.reg()
		p.move(at, old)
		floats(fn, "VFMADD231", old, p.as(beta), r)
		fn.Label(fresh)
		p.move(r, at)
		disp += p.bytes
	}
}

// symmetricRows writes what SYMV does with the elements of four rows beside the diagonal: each is read once, for its own row's sum and for
// those of its columns.
func symmetricRows(f *x86.File, e x86.Elem) {
	const rows = 4
	fn := f.Func(x86.AVX2, e, "symmetricRows"+e.String(),
		typed(e, "func(n int, a *float, lda int, x, y *float, by, sums *[4]float, head int)"),
		"adds Σ by[r]·a[r, j] over r to y[j], and sets sums[r] = Σ a[r, j]·x[j], for four rows and j < n, n at least 1. What is "+
			"left over of vectors comes last, or first where head is not 0: a vector of y that another call has stored must be "+
			"loaded as it was, or the load waits.")
	n, a, lda, x, y := fn.Arg("n"), fn.Arg("a"), fn.Arg("lda"), fn.Arg("x"), fn.Arg("y")
	fn.SHLQ(operand.U8(map[x86.Elem]int{x86.F32: 2, x86.F64: 3}[e]), lda)
	third := fn.GP64()
	fn.LEAQ(operand.Mem{Base: a, Index: lda, Scale: 2}, third)
	at := []operand.Mem{{Base: a}, {Base: a, Index: lda, Scale: 1}, {Base: third}, {Base: third, Index: lda, Scale: 1}}
	acc, factors, by := zeros(fn, rows), make([]reg.VecVirtual, rows), fn.Arg("by")
	for r := range rows {
		fn.VXORPS(acc[r], acc[r], acc[r])
		factors[r] = fn.YMM()
		repeatElem(fn, operand.Mem{Base: by, Disp: r * e.Bytes()}, factors[r])
	}
	loop, next, done := fn.NewLabel("loop"), fn.NewLabel("next"), fn.NewLabel("done")
	lanes := operand.U8(fn.Lanes())
	round := func(load func(m operand.Mem) reg.VecVirtual, store func(r reg.VecVirtual, m operand.Mem)) {
		v, to := load(operand.Mem{Base: x}), load(operand.Mem{Base: y})
		for r := range rows {
			w := load(at[r])
			floats(fn, "VFMADD231", factors[r], w, to)
			floats(fn, "VFMADD231", v, w, acc[r])
		}
		store(to, operand.Mem{Base: y})
	}
	advance := func(by operand.Op) {
		for _, p := range []reg.GPVirtual{a, third, x, y} {
			fn.ADDQ(by, p)
		}
	}
	left, body := fn.GP64(), fn.NewLabel("body")
	fn.MOVQ(n, left)
	fn.ANDQ(operand.U8(fn.Lanes()-1), left)
	tail := fn.NewTail(left)
	fn.CMPQ(fn.ArgMem("head"), operand.U8(0))
	fn.JE(operand.LabelRef(body))
	fn.TESTQ(left, left)
	fn.JE(operand.LabelRef(body))
	round(tail.Load, tail.Store)
	fn.SUBQ(left, n)
	fn.SHLQ(operand.U8(map[x86.Elem]int{x86.F32: 2, x86.F64: 3}[e]), left)
	advance(left)
	fn.Label(body)
	fn.SUBQ(lanes, n)
	fn.JL(operand.LabelRef(next))
	fn.Label(loop)
	whole := part{fn, 32}
	round(func(m operand.Mem) reg.VecVirtual {
		r := fn.YMM()
		whole.move(m, r)
		return r
	}, func(r reg.VecVirtual, m operand.Mem) { whole.move(r, m) })
	advance(operand.U8(32))
	fn.SUBQ(lanes, n)
	fn.JGE(operand.LabelRef(loop))
	fn.Label(next)
	fn.ADDQ(lanes, n)
	fn.JE(operand.LabelRef(done))
	round(tail.Load, tail.Store)
	fn.Label(done)
	d := &smallProducts{fn: fn, sums: acc}
	sum, to := d.reduce(), fn.Arg("sums")
	four := part{fn, rows * e.Bytes()}
	four.move(four.as(sum), operand.Mem{Base: to})
	fn.End()
}
