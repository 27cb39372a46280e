package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

func reduceAMD64(f *x86.File) {
	for _, l := range levels {
		reduceSum(f, l, plainSum, "sumF32", "func(x *float32, n int) float64", "returns Σ x[i] over i < n, summed in float64.")
		reduceSum(f, l, squareSum, "sumSqF32", "func(x *float32, n int) float64", "returns Σ x[i]² over i < n, exact squares summed in float64.")
		reduceSum(f, l, productSum, "dotF32", "func(x, y *float32, n int) float64", "returns Σ x[i]·y[i] over i < n, exact products summed in float64.")
		reduceMinMax(f, l)
	}
}

// widened reads float32 as float64, half as many at a time as a vector of float32 holds.
type widened struct {
	*x86.Func
	k    reg.OpmaskVirtual // AVX-512: the lanes of the tail
	mask reg.VecVirtual    // AVX2: the same
}

// newWidened builds the mask for n numbers, 0 ≤ n ≤ the number of float64 lanes.
func newWidened(fn *x86.Func, n reg.GPVirtual) *widened {
	t := &widened{Func: fn}
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
	r := t.Vec()
	if t.Level == x86.AVX512 {
		t.VCVTPS2PD_Z(m, t.k, r)
	} else {
		x := t.XMM()
		t.VMASKMOVPS(m, t.mask, x)
		t.VCVTPS2PD(x, r)
	}
	return r
}

// sumKind is what reduceSum adds up: x, x² or x·y.
type sumKind int

const (
	plainSum sumKind = iota
	squareSum
	productSum
)

// reduceSum writes a sum of numbers or of products in four accumulators. A product of two float32 is exact in float64.
func reduceSum(f *x86.File, l x86.Level, kind sumKind, name, signature, doc string) {
	const unroll = 4
	fn := f.Func(l, x86.F64, name, signature, doc)
	x, n := fn.Arg("x"), fn.Arg("n")
	y := x
	if kind == productSum {
		y = fn.Arg("y")
	}
	acc := zeros(fn, unroll)
	clearAll(fn, acc)
	size := l.Bytes() / 2 // of a vector before it is widened
	add := func(a reg.VecVirtual, load func(operand.Mem) reg.VecVirtual, disp int) {
		v := load(operand.Mem{Base: x, Disp: disp})
		switch kind {
		case plainSum:
			fn.VADDPD(v, a, a)
		case squareSum: // widened once, which is what costs most
			fn.VFMADD231PD(v, v, a)
		case productSum:
			fn.VFMADD231PD(load(operand.Mem{Base: y, Disp: disp}), v, a)
		}
	}
	whole := func(m operand.Mem) reg.VecVirtual { return loadWide(fn, m) }
	for _, copies := range []int{unroll, 1} {
		loop, next := fn.NewLabel("loop"), fn.NewLabel("next")
		step := operand.U8(copies * fn.Lanes())
		fn.SUBQ(step, n)
		fn.JL(operand.LabelRef(next))
		fn.Label(loop)
		for u := range copies {
			add(acc[u], whole, u*size)
		}
		fn.ADDQ(operand.U32(copies*size), x)
		if kind == productSum {
			fn.ADDQ(operand.U32(copies*size), y)
		}
		fn.SUBQ(step, n)
		fn.JGE(operand.LabelRef(loop))
		fn.Label(next)
		fn.ADDQ(step, n)
	}
	// A load whose mask is empty takes some 75 ns if it points into a page that has not been touched yet. So it is skipped.
	summed := fn.NewLabel("summed")
	fn.TESTQ(n, n)
	fn.JE(operand.LabelRef(summed))
	t := newWidened(fn, n)
	add(acc[1], t.load, 0)
	fn.Label(summed)
	fn.VADDPD(acc[1], acc[0], acc[0])
	fn.VADDPD(acc[3], acc[2], acc[2])
	fn.VADDPD(acc[2], acc[0], acc[0])
	r := fn.SumLanes(acc[0])
	fn.Store(r.AsX(), fn.ReturnIndex(0))
	fn.End()
}

// reduceMinMax writes the smallest and the largest number as integers in the same order: the bits of a float32, with all but
// the sign turned over if it is negative. -0 comes before +0, and NaN before -Inf or after +Inf, so that nothing is lost.
func reduceMinMax(f *x86.File, l x86.Level) {
	const unroll = 2
	fn := f.Func(l, x86.F32, "minMaxF32", "func(x *float32, n int) (lo, hi int32)",
		"returns the smallest and the largest of x[:n], n > 0, in the order of integers with the bits of x[i], all but the sign inverted where it is set.")
	x, n := fn.Arg("x"), fn.Arg("n")
	ordered := func(v reg.VecVirtual) reg.VecVirtual {
		s := fn.Vec()
		fn.VPSRAD(operand.U8(31), v, s)
		fn.VPSRLD(operand.U8(1), s, s)
		if l == x86.AVX512 {
			fn.VPXORD(v, s, s)
		} else {
			fn.VPXOR(v, s, s)
		}
		return s
	}
	// Everything starts from the first number.
	lo, hi := zeros(fn, unroll), zeros(fn, unroll)
	start := fn.Vec()
	fn.VBROADCASTSS(operand.Mem{Base: x}, start)
	start = ordered(start)
	for u := range unroll {
		fn.VMOVAPS(start, lo[u])
		fn.VMOVAPS(start, hi[u])
	}
	merge := func(u int, v reg.VecVirtual) {
		v = ordered(v)
		fn.VPMINSD(v, lo[u], lo[u])
		fn.VPMAXSD(v, hi[u], hi[u])
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
	// The lanes behind the tail read as +0 and take the first number's place instead.
	v := ordered(fn.NewTail(n).Load(operand.Mem{Base: x}))
	lanes, count := fn.Vec(), fn.Vec()
	fn.VMOVD(n.As32(), count.AsX())
	fn.VPBROADCASTD(count.AsX(), count)
	iota := make([]uint64, fn.Lanes())
	for i := range iota {
		iota[i] = uint64(i)
	}
	if l == x86.AVX512 {
		k := fn.K()
		fn.VMOVDQU32(fn.Data("lanes16", iota...), lanes)
		fn.VPCMPD(operand.U8(1), count, lanes, k)
		fn.VPBLENDMD(v, start, k, v)
	} else {
		fn.VPCMPGTD(fn.Data("lanes8", iota...), count, count)
		fn.VBLENDVPS(count, v, start, v)
	}
	fn.VPMINSD(v, lo[0], lo[0])
	fn.VPMAXSD(v, hi[0], hi[0])
	fold := func(name string, acc []reg.VecVirtual, op func(...operand.Op)) {
		op(acc[1], acc[0], acc[0])
		v, high := acc[0], fn.XMM()
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
	fold("lo", lo, fn.VPMINSD)
	fold("hi", hi, fn.VPMAXSD)
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
