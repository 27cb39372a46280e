package main

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// Bits of the argument mode of softmaxRows.
const (
	softmaxUnscaled = 1 << iota
	softmaxSum
)

func softmaxAMD64(f *x86.File) {
	f.Bits = []x86.Bit{
		{Name: "softmaxUnscaled", Value: softmaxUnscaled, Doc: "leaves the exponentials as they are."},
		{Name: "softmaxSum", Value: softmaxSum, Doc: "with softmaxUnscaled, wants no more than a vector of room for them all."},
	}
	for _, l := range levels {
		for _, e := range []x86.Elem{x86.F32, x86.F64} {
			softmaxRows(f, l, e)
			largestAMD64(f, l, e)
		}
	}
}

// softmaxWriter writes softmaxRows.
type softmaxWriter struct {
	fn                     *x86.Func
	double                 *x86.Func // the same function, for sums in float64
	b                      *x86.Block
	dst, x, at, whole, end reg.GPVirtual // whole: bytes of a row's whole vectors; end: elements behind them
	to, step               reg.GPVirtual // where exponentials go, and how far to the next ones
	tail                   x86.Tail
}

// softmaxRows writes three passes over every row: its largest element, the exponentials and their sum in float64, and what they are
// multiplied with. The last vector of a row, if it is not whole, stays in a register from the first pass to the last.
//
// Vectors need not be unrolled: a machine takes the exponential of the next one before that of this one is known.
func softmaxRows(f *x86.File, l x86.Level, e x86.Elem) {
	fn := f.Func(l, e, "softmax"+e.String(), fmt.Sprintf("func(dst, x *%[1]s, rows, c, mode int, least %[1]s) (most %[1]s, sum float64)",
		e.GoType()), "sets every row of dst [rows, c] to exp(x - most)/sum, where most is the row's largest element, or least if that "+
		"is larger, and sum = Σ exp(x - most). It returns most and sum of the last row. Sums are added up vector by vector.")
	double := *fn
	double.Elem = x86.F64
	w := &softmaxWriter{fn: fn, double: &double, b: unaryBlock(l, e, expBelow),
		dst: fn.Arg("dst"), x: fn.Arg("x"), whole: fn.Arg("c"), at: fn.GP64(), end: fn.GP64(), to: fn.GP64(), step: fn.GP64()}
	fn.MOVQ(w.whole, w.end)
	fn.ANDQ(operand.I8(fn.Lanes()-1), w.end)
	fn.SUBQ(w.end, w.whole)
	fn.SHLQ(operand.U8(byType(e, 2, 3)), w.whole)
	fn.MOVQ(operand.I32(l.Bytes()), w.step)
	fn.XORL(w.at.As32(), w.at.As32())
	fn.TESTQ(operand.I32(softmaxSum), fn.ArgMem("mode"))
	fn.CMOVQNE(w.at, w.step)
	w.tail = fn.NewTail(w.end)
	fn.Pin(w.b, pinned[l])

	row, scaled := fn.NewLabel("row"), fn.NewLabel("scaled")
	fn.Label(row)
	last := fn.Zero()
	most := w.largest(last)
	sum := w.exponentials(last, most)
	fn.CMPQ(fn.ArgMem("mode"), operand.I8(0))
	fn.JNE(operand.LabelRef(scaled))
	factor := double.ConstVec("one"+x86.F64.String(), 1)
	fn.VDIVSD(sum.AsX(), factor.AsX(), factor.AsX())
	if e == x86.F32 {
		fn.VCVTSD2SS(factor.AsX(), factor.AsX(), factor.AsX())
	}
	w.repeat(factor)
	w.eachWhole(func() {
		y := fn.Vec()
		fn.Inst("VMUL"+w.floats(), w.of(w.dst), factor, y)
		fn.VMOVUPS(y, w.of(w.dst))
	})
	fn.Inst("VMUL"+w.floats(), factor, last, last)
	fn.Label(scaled)
	w.ifEnd(func() { w.tail.Store(last, operand.Mem{Base: w.dst, Index: w.to, Scale: 1}) })
	for _, p := range []reg.GPVirtual{w.dst, w.x} {
		fn.ADDQ(w.whole, p)
		fn.LEAQ(operand.Mem{Base: p, Index: w.end, Scale: uint8(e.Bytes())}, p)
	}
	rows := fn.ArgMem("rows")
	fn.DECQ(rows)
	fn.JNE(operand.LabelRef(row))
	fn.Store(most.AsX(), fn.Return("most"))
	fn.Store(sum.AsX(), fn.Return("sum"))
	fn.End()
}

func (w *softmaxWriter) floats() string { return byType(w.fn.Elem, "PS", "PD") }

// of addresses the vector of the pass.
func (w *softmaxWriter) of(base reg.GPVirtual) operand.Mem {
	return operand.Mem{Base: base, Index: w.at, Scale: 1}
}

// eachWhole writes a loop over whole vectors.
func (w *softmaxWriter) eachWhole(body func()) {
	loop, done := w.fn.NewLabel("loop"), w.fn.NewLabel("done")
	w.fn.XORL(w.at.As32(), w.at.As32())
	w.fn.TESTQ(w.whole, w.whole)
	w.fn.JE(operand.LabelRef(done))
	w.fn.Label(loop)
	body()
	w.fn.ADDQ(operand.U8(w.fn.Level.Bytes()), w.at)
	w.fn.CMPQ(w.at, w.whole)
	w.fn.JNE(operand.LabelRef(loop))
	w.fn.Label(done)
}

// ifEnd writes what is done for rows that do not end in a whole vector.
func (w *softmaxWriter) ifEnd(body func()) {
	done := w.fn.NewLabel("done")
	w.fn.TESTQ(w.end, w.end)
	w.fn.JE(operand.LabelRef(done))
	body()
	w.fn.Label(done)
}

// repeat brings the first lane into all.
func (w *softmaxWriter) repeat(v reg.VecVirtual) {
	w.fn.Inst("VBROADCAST"+byType(w.fn.Elem, "SS", "SD"), v.AsX(), v)
}

// largest returns the largest element of the row in all lanes, and brings the last vector, if it is not whole, into last.
func (w *softmaxWriter) largest(last reg.VecVirtual) reg.VecVirtual {
	fn := w.fn
	name := "VMAX" + w.floats()
	least, most := fn.BroadcastArg("least"), fn.Vec()
	fn.VMOVAPS(least, most)
	w.eachWhole(func() { fn.Inst(name, w.of(w.x), most, most) })
	w.ifEnd(func() {
		w.tail.LoadTo(last, operand.Mem{Base: w.x, Index: w.whole, Scale: 1})
		v := fn.Vec()
		fn.VMOVAPS(last, v)
		w.tail.Fill(least, v)
		fn.Inst(name, v, most, most)
	})
	maxLanes(fn, most)
	w.repeat(most)
	return most
}

// maxLanes brings the largest lane into the first one.
func maxLanes(fn *x86.Func, v reg.VecVirtual) {
	name := "VMAX" + byType(fn.Elem, "PS", "PD")
	high := fn.XMM()
	if fn.Level == x86.AVX512 {
		upper := fn.YMM()
		fn.VEXTRACTF64X4(operand.U8(1), v, upper)
		fn.Inst(name, upper, v.AsY(), v.AsY())
	}
	fn.VEXTRACTF128(operand.U8(1), v.AsY(), high)
	fn.Inst(name, high, v.AsX(), v.AsX())
	fn.VPERMILPD(operand.U8(1), v.AsX(), high)
	fn.Inst(name, high, v.AsX(), v.AsX())
	if fn.Elem == x86.F32 {
		fn.VMOVSHDUP(v.AsX(), high)
		fn.Inst(name, high, v.AsX(), v.AsX())
	}
}

// exponentials stores those of the whole vectors, leaves that of last in last, and returns their sum.
func (w *softmaxWriter) exponentials(last, most reg.VecVirtual) reg.VecVirtual {
	fn := w.fn
	sums := zeros(fn, byType(fn.Elem, 2, 1))
	clearAll(fn, sums)
	add := func(y reg.VecVirtual) {
		if fn.Elem == x86.F64 {
			fn.VADDPD(y, sums[0], sums[0])
			return
		}
		low, high := fn.Vec(), fn.Vec()
		if fn.Level == x86.AVX512 {
			upper := fn.YMM()
			fn.VCVTPS2PD(y.AsY(), low)
			fn.VEXTRACTF64X4(operand.U8(1), y, upper)
			fn.VCVTPS2PD(upper, high)
		} else {
			upper := fn.XMM()
			fn.VCVTPS2PD(y.AsX(), low)
			fn.VEXTRACTF128(operand.U8(1), y, upper)
			fn.VCVTPS2PD(upper, high)
		}
		fn.VADDPD(low, sums[0], sums[0])
		fn.VADDPD(high, sums[1], sums[1])
	}
	fn.XORL(w.to.As32(), w.to.As32())
	w.eachWhole(func() {
		v := fn.Vec()
		fn.VMOVUPS(w.of(w.x), v)
		fn.Inst("VSUB"+w.floats(), most, v, v)
		y := fn.Emit(w.b, [][]reg.VecVirtual{{v}}, nil)[0][0]
		fn.VMOVUPS(y, operand.Mem{Base: w.dst, Index: w.to, Scale: 1})
		fn.ADDQ(w.step, w.to)
		add(y)
	})
	w.ifEnd(func() {
		fn.Inst("VSUB"+w.floats(), most, last, last)
		fn.VMOVAPS(fn.Emit(w.b, [][]reg.VecVirtual{{last}}, nil)[0][0], last)
		w.tail.Clear(last)
		add(last)
	})
	if fn.Elem == x86.F32 {
		fn.VADDPD(sums[1], sums[0], sums[0])
	}
	return w.double.SumLanes(sums[0])
}

// largestAMD64 writes the largest of at least one vector of numbers, and whether one is no number. An instruction gives its second operand
// where one of both is NaN; so NaN is sought beside it, in two vectors at once.
func largestAMD64(f *x86.File, l x86.Level, e x86.Elem) {
	const unroll = 4
	fn := f.Func(l, e, "largest"+e.String(), strings.ReplaceAll("func(x *float, n int) (most float, nan int)", "float", e.GoType()),
		"returns the largest of x[:n], where n is at least the lanes of a vector, and whether none is NaN, 0, or some are.")
	x, n, last := fn.Arg("x"), fn.Arg("n"), fn.GP64()
	floats := byType(e, "PS", "PD")
	load := func(m operand.Mem) reg.VecVirtual {
		v := fn.Vec()
		fn.VMOVUPS(m, v)
		return v
	}
	// The last vector ends with the numbers, and may begin among those of the one before.
	fn.LEAQ(operand.Mem{Base: x, Index: n, Scale: uint8(e.Bytes()), Disp: -l.Bytes()}, last)
	most := zeros(fn, unroll)
	end := load(operand.Mem{Base: last})
	for _, m := range most {
		fn.VMOVAPS(end, m)
	}
	const unordered = 3
	var nan reg.Register
	compare := func(v, w reg.VecVirtual) {
		first := nan == nil
		if l == x86.AVX512 {
			k := fn.K()
			fn.Inst("VCMP"+floats, operand.U8(unordered), v, w, k)
			if first {
				nan = k
			} else {
				fn.KORW(k, nan, nan)
			}
			return
		}
		m := fn.Vec()
		fn.Inst("VCMP"+floats, operand.U8(unordered), v, w, m)
		if first {
			nan = m
		} else {
			fn.VORPS(m, nan, nan)
		}
	}
	compare(end, end)
	reduceLoops(fn, n, unroll, nil, func(copies int, _ bool) {
		v := make([]reg.VecVirtual, copies)
		for u := range v {
			v[u] = load(operand.Mem{Base: x, Disp: u * l.Bytes()})
			fn.Inst("VMAX"+floats, most[u], v[u], most[u])
		}
		for u := 0; u < copies; u += 2 {
			compare(v[u], v[min(u+1, copies-1)])
		}
		fn.ADDQ(operand.U32(copies*l.Bytes()), x)
	})
	for step := 1; step < unroll; step *= 2 {
		for i := 0; i < unroll; i += 2 * step {
			fn.Inst("VMAX"+floats, most[i+step], most[i], most[i])
		}
	}
	maxLanes(fn, most[0])
	fn.Store(most[0].AsX(), fn.Return("most"))
	r := fn.GP64()
	if l == x86.AVX512 {
		fn.KMOVW(nan, r.As32())
	} else {
		fn.VMOVMSKPS(nan, r.As32())
	}
	fn.Store(r, fn.Return("nan"))
	fn.End()
}
