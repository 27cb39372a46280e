package main

import (
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

func reduceAMD64(f *x86.File) {
	for _, l := range levels {
		reduceSum(f, l, x86.F32, plainSum, "sumF32", "func(x *float32, n int) float64", "returns Σ x[i] over i < n, summed in float64.")
		reduceSum(f, l, x86.F32, squareSum, "sumSqF32", "func(x *float32, n int) float64",
			"returns Σ x[i]² over i < n, exact squares summed in float64.")
		reduceSum(f, l, x86.F32, productSum, "dotF32", "func(x, y *float32, n int) float64",
			"returns Σ x[i]·y[i] over i < n, exact products summed in float64.")
		reduceSum(f, l, x86.F32, magnitudeSum, "sumAbsF32", "func(x *float32, n int) float64",
			"returns Σ |x[i]| over i < n, summed in float64.")
		singleDot(f, l)
		reduceMinMax(f, l)
		reduceSum(f, l, x86.F64, plainSum, "sumF64", "func(x *float64, n int) float64", "returns Σ x[i] over i < n.")
		reduceSum(f, l, x86.F64, squareSum, "sumSqF64", "func(x *float64, n int) float64", "returns Σ x[i]² over i < n.")
		reduceSum(f, l, x86.F64, productSum, "dotF64", "func(x, y *float64, n int) float64", "returns Σ x[i]·y[i] over i < n.")
		reduceSum(f, l, x86.F64, magnitudeSum, "sumAbsF64", "func(x *float64, n int) float64", "returns Σ |x[i]| over i < n.")
		reduceMinMax64(f, l)
	}
	findEqual(f, x86.F32)
	findEqual(f, x86.F64)
}

// findEqual writes a search among whole vectors, of one size for both levels, four at a time as long as none of them holds the number.
func findEqual(f *x86.File, e x86.Elem) {
	fn := f.Func(x86.AVX2, e, "find"+e.String(), typed(e, "func(x *float, v float, n int) (at int)"),
		"returns how many of n elements precede the first that is v, or, if no whole vector holds it, the last vector, which is not whole.")
	x, n, at := fn.Arg("x"), fn.Arg("n"), fn.GP64()
	v, r := fn.BroadcastArg("v"), fn.GP64()
	wide, few := fn.NewLabel("wide"), fn.NewLabel("few")
	loop, found, done := fn.NewLabel("loop"), fn.NewLabel("found"), fn.NewLabel("done")
	equal := func(u int) reg.VecVirtual {
		m := fn.Vec()
		fn.Inst("VCMP"+byType(e, "PS", "PD"), operand.U8(0), operand.Mem{Base: x, Index: at, Scale: uint8(e.Bytes()), Disp: u * 32}, v, m)
		return m
	}
	const unroll = 4
	fn.XORQ(at, at)
	fn.SUBQ(operand.U8(unroll*fn.Lanes()), n)
	fn.JL(operand.LabelRef(few))
	fn.Label(wide)
	any := equal(0)
	for u := 1; u < unroll; u++ {
		fn.VORPS(equal(u), any, any)
	}
	fn.VPTEST(any, any)
	fn.JNE(operand.LabelRef(few))
	fn.ADDQ(operand.U8(unroll*fn.Lanes()), at)
	fn.CMPQ(at, n)
	fn.JLE(operand.LabelRef(wide))
	fn.Label(few)
	fn.ADDQ(operand.U8((unroll-1)*fn.Lanes()), n)
	fn.CMPQ(at, n)
	fn.JG(operand.LabelRef(done))
	fn.Label(loop)
	fn.Inst("VMOVMSK"+byType(e, "PS", "PD"), equal(0), r.As32())
	fn.TESTL(r.As32(), r.As32())
	fn.JNE(operand.LabelRef(found))
	fn.ADDQ(operand.U8(fn.Lanes()), at)
	fn.CMPQ(at, n)
	fn.JLE(operand.LabelRef(loop))
	fn.JMP(operand.LabelRef(done))
	fn.Label(found)
	fn.TZCNTQ(r, r)
	fn.ADDQ(r, at)
	fn.Label(done)
	fn.Store(at, fn.Return("at"))
	fn.End()
}

// widened reads float32 as float64, half as many at a time as a vector of float32 holds.
type widened struct {
	fn   *x86.Func
	k    reg.OpmaskVirtual // AVX-512: the lanes of the tail
	mask reg.VecVirtual    // AVX2: the same
}

// newWidened builds the mask for n numbers, 0 ≤ n ≤ the number of float64 lanes.
func newWidened(fn *x86.Func, n reg.GPVirtual) *widened {
	t := &widened{fn: fn}
	if fn.Level == x86.AVX512 {
		ones := fn.GP64()
		t.k = fn.K()
		fn.MOVQ(operand.I32(-1), ones)
		fn.BZHIQ(n, ones, ones)
		fn.KMOVW(ones.As32(), t.k)
		return t
	}
	t.mask = fn.XMM()
	table, offset := fn.GP64(), fn.GP64()
	fn.LEAQ(widenedMask(fn), table)
	fn.MOVQ(n, offset)
	fn.NEGQ(offset)
	fn.VMOVDQU(operand.Mem{Base: table, Index: offset, Scale: 4, Disp: 16}, t.mask)
	return t
}

// loadWide reads a vector of float64 from float32.
func loadWide(fn *x86.Func, m operand.Mem) reg.VecVirtual {
	r := fn.Vec()
	fn.VCVTPS2PD(m, r)
	return r
}

// load reads the tail; the other lanes become 0.
func (t *widened) load(m operand.Mem) reg.VecVirtual {
	r := t.fn.Vec()
	if t.fn.Level == x86.AVX512 {
		t.fn.VCVTPS2PD_Z(m, t.k, r)
	} else {
		x := t.fn.XMM()
		t.fn.VMASKMOVPS(m, t.mask, x)
		t.fn.VCVTPS2PD(x, r)
	}
	return r
}

// loadSummand reads a vector of float64, from float32 if e says so.
func loadSummand(fn *x86.Func, e x86.Elem, m operand.Mem) reg.VecVirtual {
	if e == x86.F32 {
		return loadWide(fn, m)
	}
	r := fn.Vec()
	fn.VMOVUPS(m, r)
	return r
}

// addAll adds the accumulators to the first one: neighbours, then their sums.
func addAll(fn *x86.Func, acc []reg.VecVirtual) {
	for step := 1; step < len(acc); step *= 2 {
		for i := 0; i < len(acc); i += 2 * step {
			fn.VADDPD(acc[i+step], acc[i], acc[i])
		}
	}
}

// sumKind is what reduceSum adds up: x, x², x·y or |x|.
type sumKind int

const (
	plainSum sumKind = iota
	squareSum
	productSum
	magnitudeSum
)

// reduceLoops writes a loop over unroll vectors a round and one over single vectors. If near is set, a twin of the first that fetches ahead
// precedes it, and near jumps past that twin where the data are in the first-level cache.
func reduceLoops(fn *x86.Func, n reg.GPVirtual, unroll int, near func(skip string), body func(copies int, fetch bool)) {
	for i, copies := range []int{unroll, unroll, 1} {
		loop, next, skip := fn.NewLabel("loop"), fn.NewLabel("next"), fn.NewLabel("skip")
		if i == 0 {
			if near == nil {
				continue
			}
			near(skip)
		}
		step := operand.U8(copies * fn.Lanes())
		fn.SUBQ(step, n)
		fn.JL(operand.LabelRef(next))
		fn.Label(loop)
		body(copies, i == 0)
		fn.SUBQ(step, n)
		fn.JGE(operand.LabelRef(loop))
		fn.Label(next)
		fn.ADDQ(step, n)
		if i == 0 {
			fn.Label(skip)
		}
	}
}

// reduceAhead is how many bytes ahead lines are fetched. Widening one of 64 bytes takes so many instructions that those that wait at a
// time reach some 18 lines ahead. With 384 to 1024 bytes a Zen 3 reads memory 1.05 to 1.1 times as fast, from 1536 on no faster.
const reduceAhead = 768

// reduceFar is up to how many elements the smallest and the largest are found without fetching ahead, which costs a twelfth in the
// first-level cache.
const reduceFar = 8192

// fetchAhead fetches so many bytes behind x.
func fetchAhead(fn *x86.Func, x reg.GPVirtual, bytes int) {
	for at := 0; at < bytes; at += 64 {
		fn.PREFETCHT0(operand.Mem{Base: x, Disp: reduceAhead + at})
	}
}

// reduceSum writes a sum of numbers or of products of the type e, in float64. A product of two float32 is exact there. Eight accumulators
// keep up with two multiply-adds a cycle; with AVX-512 four do with the conversions from float32, of which a machine does one in a cycle.
func reduceSum(f *x86.File, l x86.Level, e x86.Elem, kind sumKind, name, signature, doc string) {
	unroll, size := 8, l.Bytes()
	if e == x86.F32 {
		size /= 2 // of a vector before it is widened
		if l == x86.AVX512 {
			unroll = 4
		}
	}
	fetches := e == x86.F32 && l == x86.AVX2
	if fetches {
		signature = strings.Replace(signature, "n int)", "n, far int)", 1)
		doc += " It fetches ahead if far is 1."
	}
	fn := f.Func(l, x86.F64, name, signature, doc)
	x, n := fn.Arg("x"), fn.Arg("n")
	y := x
	if kind == productSum {
		y = fn.Arg("y")
	}
	acc := zeros(fn, unroll)
	clearAll(fn, acc)
	var magnitude reg.VecVirtual
	if kind == magnitudeSum {
		magnitude = fn.Vec()
		fn.VBROADCASTSD(fn.Data("magnitude64", 1<<63-1), magnitude)
	}
	add := func(a reg.VecVirtual, load func(operand.Mem) reg.VecVirtual, disp int) {
		v := load(operand.Mem{Base: x, Disp: disp})
		switch kind {
		case plainSum:
			fn.VADDPD(v, a, a)
		case magnitudeSum:
			fn.VANDPD(magnitude, v, v)
			fn.VADDPD(v, a, a)
		case squareSum: // widened once, which is what costs most
			fn.VFMADD231PD(v, v, a)
		case productSum:
			fn.VFMADD231PD(load(operand.Mem{Base: y, Disp: disp}), v, a)
		}
	}
	whole := func(m operand.Mem) reg.VecVirtual { return loadSummand(fn, e, m) }
	var near func(skip string)
	if fetches {
		near = func(skip string) {
			fn.CMPQ(fn.ArgMem("far"), operand.I8(0))
			fn.JE(operand.LabelRef(skip))
		}
	}
	reduceLoops(fn, n, unroll, near, func(copies int, fetch bool) {
		operands := []reg.GPVirtual{x, y}
		if kind != productSum {
			operands = operands[:1]
		}
		if fetch {
			for _, p := range operands {
				fetchAhead(fn, p, copies*size)
			}
		}
		for u := range copies {
			add(acc[u], whole, u*size)
		}
		for _, p := range operands {
			fn.ADDQ(operand.U32(copies*size), p)
		}
	})
	// A load whose mask is empty takes some 75 ns if it points into a page that has not been touched yet. So it is skipped.
	summed := fn.NewLabel("summed")
	fn.TESTQ(n, n)
	fn.JE(operand.LabelRef(summed))
	if e == x86.F32 {
		add(acc[1], newWidened(fn, n).load, 0)
	} else {
		add(acc[1], fn.NewTail(n).Load, 0)
	}
	fn.Label(summed)
	addAll(fn, acc)
	r := fn.SumLanes(acc[0])
	fn.Store(r.AsX(), fn.ReturnIndex(0))
	fn.End()
}

// singleDot writes a dot product that is summed in float32, in four accumulators: two loads for a multiply-add let a machine do one in a
// cycle, and it takes four.
func singleDot(f *x86.File, l x86.Level) {
	const unroll = 4
	fn := f.Func(l, x86.F32, "dotSingleF32", "func(x, y *float32, n int) float32", "returns Σ x[i]·y[i] over i < n, summed in float32.")
	x, y, n := fn.Arg("x"), fn.Arg("y"), fn.Arg("n")
	acc := zeros(fn, unroll)
	clearAll(fn, acc)
	for _, copies := range []int{unroll, 1} {
		loop, next := fn.NewLabel("loop"), fn.NewLabel("next")
		step := operand.U8(copies * fn.Lanes())
		fn.SUBQ(step, n)
		fn.JL(operand.LabelRef(next))
		fn.Label(loop)
		for u := range copies {
			v := fn.Vec()
			fn.VMOVUPS(operand.Mem{Base: x, Disp: u * l.Bytes()}, v)
			fn.VFMADD231PS(operand.Mem{Base: y, Disp: u * l.Bytes()}, v, acc[u])
		}
		fn.ADDQ(operand.U32(copies*l.Bytes()), x)
		fn.ADDQ(operand.U32(copies*l.Bytes()), y)
		fn.SUBQ(step, n)
		fn.JGE(operand.LabelRef(loop))
		fn.Label(next)
		fn.ADDQ(step, n)
	}
	summed := fn.NewLabel("summed")
	fn.TESTQ(n, n)
	fn.JE(operand.LabelRef(summed))
	t := fn.NewTail(n)
	fn.VFMADD231PS(t.Load(operand.Mem{Base: y}), t.Load(operand.Mem{Base: x}), acc[1])
	fn.Label(summed)
	fn.VADDPS(acc[1], acc[0], acc[0])
	fn.VADDPS(acc[3], acc[2], acc[2])
	fn.VADDPS(acc[2], acc[0], acc[0])
	r := fn.SumLanes(acc[0])
	fn.Store(r.AsX(), fn.ReturnIndex(0))
	fn.End()
}

// reduceMinMax writes what tells the smallest and the largest number. Bits of a float32 order like the numbers where the sign is clear, as
// signed and as unsigned integers; where it is set they order the other way round, and after all others as unsigned ones. So the
// largest signed integer is the largest number, unless all are negative: then the smallest one is. The largest unsigned
// integer is the smallest number, if any is negative, and the smallest signed one otherwise. -0 comes before +0, and NaN before -Inf
// or after +Inf, so that nothing is lost.
func reduceMinMax(f *x86.File, l x86.Level) {
	const unroll = 4
	fn := f.Func(l, x86.F32, "minMaxF32", "func(x *float32, n int) (least, most int32, top uint32)",
		"returns the smallest and the largest of x[:n], n > 0, as integers with the same bits, and the largest as unsigned ones.")
	x, n := fn.Arg("x"), fn.Arg("n")
	ops := []func(...operand.Op){fn.VPMINSD, fn.VPMAXSD, fn.VPMAXUD}
	// Everything starts from the first number.
	var acc [3][]reg.VecVirtual
	start := fn.Vec()
	fn.VBROADCASTSS(operand.Mem{Base: x}, start)
	for k := range acc {
		acc[k] = zeros(fn, unroll)
		for u := range unroll {
			fn.VMOVAPS(start, acc[k][u])
		}
	}
	merge := func(u int, v reg.VecVirtual) {
		for k, op := range ops {
			op(v, acc[k][u], acc[k][u])
		}
	}
	var near func(skip string)
	if l == x86.AVX2 {
		near = func(skip string) {
			fn.CMPQ(n, operand.U32(reduceFar))
			fn.JLE(operand.LabelRef(skip))
		}
	}
	reduceLoops(fn, n, unroll, near, func(copies int, fetch bool) {
		if fetch {
			fetchAhead(fn, x, copies*l.Bytes())
		}
		for u := range copies {
			v := fn.Vec()
			fn.VMOVUPS(operand.Mem{Base: x, Disp: u * l.Bytes()}, v)
			merge(u, v)
		}
		fn.ADDQ(operand.U32(copies*l.Bytes()), x)
	})
	// The rest one by one, with lanes of the last vector.
	for k, op := range ops {
		op(acc[k][1], acc[k][0], acc[k][0])
		op(acc[k][3], acc[k][2], acc[k][2])
		op(acc[k][2], acc[k][0], acc[k][0])
	}
	one, done := fn.NewLabel("one"), fn.NewLabel("done")
	fn.TESTQ(n, n)
	fn.JE(operand.LabelRef(done))
	fn.Label(one)
	fn.VBROADCASTSS(operand.Mem{Base: x}, start)
	merge(0, start)
	fn.ADDQ(operand.U8(4), x)
	fn.DECQ(n)
	fn.JNE(operand.LabelRef(one))
	fn.Label(done)
	for k, name := range []string{"least", "most", "top"} {
		v, high, op := acc[k][0], fn.XMM(), ops[k]
		if l == x86.AVX512 {
			upper := fn.YMM()
			fn.VEXTRACTI64X4(operand.U8(1), v, upper)
			op(upper, v.AsY(), v.AsY())
		}
		fn.VEXTRACTI128(operand.U8(1), v.AsY(), high)
		op(high, v.AsX(), v.AsX())
		for _, order := range []uint8{0x4e, 0xb1} {
			fn.VPSHUFD(operand.U8(order), v.AsX(), high)
			op(high, v.AsX(), v.AsX())
		}
		r := fn.GP32()
		fn.VMOVD(v.AsX(), r)
		fn.Store(r, fn.Return(name))
	}
	fn.End()
}

// reduceMinMax64 is reduceMinMax for float64. AVX2 lacks the shift that copies the sign and the smaller of 64-bit
// numbers; a comparison does instead.
func reduceMinMax64(f *x86.File, l x86.Level) {
	fn := f.Func(l, x86.F64, "minMaxF64", "func(x *float64, n int) (lo, hi int64)",
		"returns the smallest and the largest of x[:n], n > 0, in the order of integers with the bits of x[i], all but "+
			"the sign inverted where it is set.")
	x, n := fn.Arg("x"), fn.Arg("n")
	zero := zeros(fn, 1)
	clearAll(fn, zero)
	ordered := func(v reg.VecVirtual) reg.VecVirtual {
		s := fn.Vec()
		if l == x86.AVX512 {
			fn.VPSRAQ(operand.U8(63), v, s)
			fn.VPSRLQ(operand.U8(1), s, s)
			fn.VPXORQ(v, s, s)
		} else {
			fn.VPCMPGTQ(v, zero[0], s)
			fn.VPSRLQ(operand.U8(1), s, s)
			fn.VPXOR(v, s, s)
		}
		return s
	}
	// smaller and larger keep the one of v and to in to.
	smaller := func(v, to, tmp reg.Register) {
		if l == x86.AVX512 {
			fn.VPMINSQ(v, to, to)
			return
		}
		fn.VPCMPGTQ(v, to, tmp)
		fn.VBLENDVPD(tmp, v, to, to)
	}
	larger := func(v, to, tmp reg.Register) {
		if l == x86.AVX512 {
			fn.VPMAXSQ(v, to, to)
			return
		}
		fn.VPCMPGTQ(to, v, tmp)
		fn.VBLENDVPD(tmp, v, to, to)
	}
	const unroll = 2
	lo, hi := zeros(fn, unroll), zeros(fn, unroll)
	start := fn.Vec()
	fn.VBROADCASTSD(operand.Mem{Base: x}, start)
	start = ordered(start)
	for u := range unroll {
		fn.VMOVAPS(start, lo[u])
		fn.VMOVAPS(start, hi[u])
	}
	merge := func(u int, v reg.VecVirtual) {
		v = ordered(v)
		smaller(v, lo[u], fn.Vec())
		larger(v, hi[u], fn.Vec())
	}
	for _, copies := range []int{unroll, 1} {
		loop, next := fn.NewLabel("loop"), fn.NewLabel("next")
		step := operand.U8(copies * fn.Lanes())
		fn.SUBQ(step, n)
		fn.JL(operand.LabelRef(next))
		fn.Label(loop)
		for u := range copies {
			v := fn.Vec()
			fn.VMOVUPS(operand.Mem{Base: x, Disp: u * l.Bytes()}, v)
			merge(u, v)
		}
		fn.ADDQ(operand.U32(copies*l.Bytes()), x)
		fn.SUBQ(step, n)
		fn.JGE(operand.LabelRef(loop))
		fn.Label(next)
		fn.ADDQ(step, n)
	}
	// The lanes behind the tail read as +0 and take the first number's place instead. An empty tail is skipped, as in reduceSum.
	merged := fn.NewLabel("merged")
	fn.TESTQ(n, n)
	fn.JE(operand.LabelRef(merged))
	v := ordered(fn.NewTail(n).Load(operand.Mem{Base: x}))
	count := fn.Vec()
	fn.VMOVQ(n, count.AsX())
	fn.VPBROADCASTQ(count.AsX(), count)
	iota := make([]uint64, fn.Lanes())
	for i := range iota {
		iota[i] = uint64(i)
	}
	if l == x86.AVX512 {
		k, lanes := fn.K(), fn.Vec()
		fn.VMOVUPS(fn.Data("lanes8x64", iota...), lanes)
		fn.VPCMPQ(operand.U8(1), count, lanes, k)
		fn.VPBLENDMQ(v, start, k, v)
	} else {
		fn.VPCMPGTQ(fn.Data("lanes4x64", iota...), count, count)
		fn.VBLENDVPD(count, v, start, v)
	}
	smaller(v, lo[0], fn.Vec())
	larger(v, hi[0], fn.Vec())
	fn.Label(merged)
	fold := func(name string, acc []reg.VecVirtual, keep func(v, to, tmp reg.Register)) {
		keep(acc[1], acc[0], fn.Vec())
		v, high := acc[0], fn.XMM()
		if l == x86.AVX512 {
			upper := fn.YMM()
			fn.VEXTRACTI64X4(operand.U8(1), v, upper)
			keep(upper, v.AsY(), fn.YMM())
		}
		fn.VEXTRACTI128(operand.U8(1), v.AsY(), high)
		keep(high, v.AsX(), fn.XMM())
		fn.VPSHUFD(operand.U8(0x4e), v.AsX(), high)
		keep(high, v.AsX(), fn.XMM())
		r := fn.GP64()
		fn.VMOVQ(v.AsX(), r)
		fn.Store(r, fn.Return(name))
	}
	fold("lo", lo, smaller)
	fold("hi", hi, larger)
	fn.End()
}

// widenedMask is a table of four lanes of ones and four of zeros, also in functions on float64.
func widenedMask(fn *x86.Func) operand.Mem {
	const ones, zero = ^uint64(0), uint64(0)
	if fn.Elem == x86.F64 {
		return fn.Data("tailMask4", ones, ones, zero, zero)
	}
	return fn.Data("tailMask4", ones, ones, ones, ones, zero, zero, zero, zero)
}
