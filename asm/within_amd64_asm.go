package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// Kernels that compare one query with many points and keep those within a radius, in float64. They get a bit per point that says
// whether to look at it at all (candidates makes such bits from coordinates in fixed point), skip a word of zero bits, 64
// points, in three instructions, and move the labels of those that they keep to the front.

func withinAMD64(f *x86.File) {
	for _, l := range levels {
		for d := 1; d <= 3; d++ {
			withinEuclid(f, l, d)
		}
		withinRigid(f, l)
		withinPolar(f, l)
		withinLogPolar(f, l)
	}
}

// withinWalk goes through the points whose bit is set, a group of as many points as a vector has lanes at a time.
type withinWalk struct {
	fn                    *x86.Func
	index, label, bits, x reg.GPVirtual // where the next result goes, and the points
	stride, n             reg.GPVirtual // bytes from a coordinate to the next, and, for the last words, points

	at               reg.GPVirtual // bytes from bits to the current word
	word, off, point reg.GPVirtual // bits from the group on, its first point, and its coordinates
	abs              reg.VecVirtual
	load             func(operand.Mem) reg.VecVirtual
	last             bool // near the end, where a whole vector may reach beyond it
}

// newWithinWalk starts a function whose query and parameters are the named floats.
func newWithinWalk(f *x86.File, l x86.Level, name, doc string, params ...string) *withinWalk {
	signature := fmt.Sprintf("func(index *int32, label *int32, bits *uint64, x *float64, stride, n int, %s float64) (count int)",
		strings.Join(params, ", "))
	fn := f.Func(l, x86.F64, name, signature, doc)
	w := &withinWalk{fn: fn, index: fn.Arg("index"), label: fn.Arg("label"), bits: fn.Arg("bits"),
		x: fn.Arg("x"), stride: fn.Arg("stride"),
		at: fn.GP64(), word: fn.GP64(), off: fn.GP64(), point: fn.GP64()}
	w.fn.SHLQ(operand.U8(3), w.stride)
	w.abs = w.fn.Vec()
	w.fn.VBROADCASTSD(w.fn.Data("withinAbs", math.MaxInt64), w.abs)
	return w
}

// number returns what brings a constant of the function's type into a register: once, or, on AVX2, which has too few of
// them, each time.
func (w *withinWalk) number(name string, x float64) func() reg.VecVirtual {
	load := func() reg.VecVirtual { return w.fn.ConstVec("within"+name, x) }
	if w.fn.Level == x86.AVX2 {
		return load
	}
	r := load()
	return func() reg.VecVirtual { return r }
}

// coordinate reads coordinate c of the group's points.
func (w *withinWalk) coordinate(c int) reg.VecVirtual {
	return w.load(entryAt(w.point, w.stride, c))
}

// entryAt addresses row c of a matrix whose rows are stride bytes apart.
func entryAt(base, stride reg.GPVirtual, c int) operand.Mem {
	m := operand.Mem{Base: base}
	if c > 0 {
		m.Index, m.Scale = stride, uint8(c)
	}
	return m
}

// op writes dst = a name b.
func (w *withinWalk) op(name string, a, b operand.Op) reg.VecVirtual {
	dst := w.fn.Vec()
	w.fn.Inst(name+"PD", b, a, dst)
	return dst
}

func (w *withinWalk) sub(a, b operand.Op) reg.VecVirtual { return w.op("VSUB", a, b) }
func (w *withinWalk) add(a, b operand.Op) reg.VecVirtual { return w.op("VADD", a, b) }
func (w *withinWalk) mul(a, b operand.Op) reg.VecVirtual { return w.op("VMUL", a, b) }
func (w *withinWalk) mag(a operand.Op) reg.VecVirtual    { return w.op("VAND", w.abs, a) }

// less is the mask of lanes in which a < b.
func (w *withinWalk) less(a, b reg.VecVirtual) reg.Register {
	if w.fn.Level == x86.AVX512 {
		k := w.fn.K()
		w.fn.VCMPPD(operand.U8(x86.LT), b, a, k)
		return k
	}
	dst := w.fn.Vec()
	w.fn.VCMPPD(operand.U8(x86.LT), b, a, dst)
	return dst
}

// run writes the loops. keep computes the mask of the group's points that are within.
//
// A group starts at the first bit that is set, wherever that is. Points next to each other on a line of an image are
// mostly all within the radius or all outside, so one or two groups are enough for a line, and the branches of the loop
// mostly go the same way. Most words are zero. To pass one takes four operations, because all other addresses are
// computed from its own.
func (w *withinWalk) run(keep func() reg.Register) {
	lanes := w.fn.Lanes()
	groups := func() {
		group, skip := w.fn.NewLabel("group"), w.fn.NewLabel("skip")
		w.fn.MOVQ(w.at, w.off)
		w.fn.SHLQ(operand.U8(3), w.off)
		w.fn.Label(group)
		zeros := w.fn.GP64()
		w.fn.TZCNTQ(w.word, zeros) // BSF takes eight operations on Zen
		w.fn.SHRXQ(zeros, w.word, w.word)
		w.fn.ADDQ(zeros, w.off)
		w.fn.LEAQ(operand.Mem{Base: w.x, Index: w.off, Scale: 8}, w.point)
		w.group(keep, skip)
		w.fn.Label(skip)
		w.fn.ADDQ(operand.U8(lanes), w.off)
		w.fn.SHRQ(operand.U8(lanes), w.word)
		w.fn.JNE(operand.LabelRef(group))
	}
	word := operand.Mem{Base: w.bits, Index: w.at, Scale: 1}
	// Behind the first (n - lanes)/64 words, rounded down, there is room for a whole vector.
	next, rest, done := w.fn.NewLabel("next"), w.fn.NewLabel("rest"), w.fn.NewLabel("done")
	end := w.fn.Arg("n")
	w.fn.SUBQ(operand.U8(lanes), end)
	w.fn.SARQ(operand.U8(6), end)
	w.fn.SHLQ(operand.U8(3), end)
	w.fn.MOVQ(operand.I32(-8), w.at)
	w.fn.Label(next)
	w.fn.ADDQ(operand.U8(8), w.at)
	w.fn.CMPQ(w.at, end)
	w.fn.JGE(operand.LabelRef(rest))
	w.fn.MOVQ(word, w.word)
	w.fn.TESTQ(w.word, w.word)
	w.fn.JE(operand.LabelRef(next))
	groups()
	w.fn.JMP(operand.LabelRef(next))

	// The last ones, by masked loads and stores.
	w.last = true
	whole, after := w.fn.NewLabel("whole"), w.fn.NewLabel("after")
	w.fn.Label(rest)
	w.n = w.fn.Arg("n")
	left := w.fn.GP64()
	w.fn.MOVQ(w.at, left)
	w.fn.NEGQ(left)
	w.fn.LEAQ(operand.Mem{Base: w.n, Index: left, Scale: 8}, left)
	w.fn.TESTQ(left, left)
	w.fn.JLE(operand.LabelRef(done))
	w.fn.MOVQ(word, w.word)
	w.fn.CMPQ(left, operand.U8(64))
	w.fn.JGE(operand.LabelRef(whole))
	// Only bits of points that exist count.
	beyond := w.fn.GP64()
	w.fn.MOVQ(left, reg.RCX)
	w.fn.MOVQ(operand.I32(-1), beyond)
	w.fn.SHLQ(reg.CL, beyond)
	w.fn.NOTQ(beyond)
	w.fn.ANDQ(beyond, w.word)
	w.fn.Label(whole)
	w.fn.TESTQ(w.word, w.word)
	w.fn.JE(operand.LabelRef(after))
	groups()
	w.fn.Label(after)
	w.fn.ADDQ(operand.U8(8), w.at)
	w.fn.JMP(operand.LabelRef(rest))

	w.fn.Label(done)
	first := w.fn.Arg("index")
	w.fn.SUBQ(first, w.index)
	w.fn.SHRQ(operand.U8(2), w.index)
	w.fn.Store(w.index, w.fn.ReturnIndex(0))
	w.fn.End()
}

// group writes out one group of points.
func (w *withinWalk) group(keep func() reg.Register, skip string) {
	var bound x86.Tail // of the group's points, in the last word
	if w.last {
		n := w.fn.GP64()
		w.fn.MOVQ(w.n, n)
		w.fn.SUBQ(w.off, n)
		lanes := w.fn.GP64()
		w.fn.MOVQ(operand.I32(w.fn.Lanes()), lanes)
		w.fn.CMPQ(lanes, n)
		w.fn.CMOVQLT(lanes, n)
		bound = w.fn.NewTail(n)
		w.load = bound.Load
		defer func() { w.load = nil }()
		w.keepers(keep, skip, func() reg.VecVirtual { return w.tailLabels(n) })
		return
	}
	w.load = func(m operand.Mem) reg.VecVirtual {
		r := w.fn.Vec()
		w.fn.VMOVUPS(m, r)
		return r
	}
	w.keepers(keep, skip, func() reg.VecVirtual {
		r := w.labelVec()
		m := w.labels()
		w.fn.VMOVDQU(m, r)
		return r
	})
}

// labelVec is a register for as many int32 as a vector has lanes.
func (w *withinWalk) labelVec() reg.VecVirtual {
	if w.fn.Lanes() == 8 {
		return w.fn.YMM()
	}
	return w.fn.XMM()
}

// labels addresses the group's labels.
func (w *withinWalk) labels() operand.Mem { return operand.Mem{Base: w.label, Index: w.off, Scale: 4} }

// tailLabels reads the first n labels of the group.
func (w *withinWalk) tailLabels(n reg.GPVirtual) reg.VecVirtual {
	r, m := w.labelVec(), w.labels()
	if w.fn.Level == x86.AVX512 {
		w.fn.VMOVDQU32_Z(m, w.lowest(n), r)
	} else {
		w.fn.VPMASKMOVD(m, w.labelMask(n), r)
	}
	return r
}

// lowest is the opmask of the first n lanes.
func (w *withinWalk) lowest(n reg.GPVirtual) reg.Register {
	ones, k := w.fn.GP64(), w.fn.K()
	w.fn.MOVQ(operand.I32(-1), ones)
	w.fn.BZHIQ(n, ones, ones)
	w.fn.KMOVW(ones.As32(), k)
	return k
}

// labelMask is the AVX2 mask of the first n labels.
func (w *withinWalk) labelMask(n reg.GPVirtual) reg.VecVirtual {
	lanes := w.fn.Lanes()
	ones := make([]uint64, lanes) // pairs of labels
	for i := range lanes / 2 {
		ones[i] = math.MaxUint64
	}
	table, offset, mask := w.fn.GP64(), w.fn.GP64(), w.labelVec()
	w.fn.LEAQ(w.fn.Data("withinLabelMask", ones...), table)
	w.fn.MOVQ(n, offset)
	w.fn.NEGQ(offset)
	w.fn.VMOVDQU(operand.Mem{Base: table, Index: offset, Scale: 4, Disp: 4 * lanes}, mask)
	return mask
}

// keepers writes the test of a group and moves the labels of the points that pass it to the results.
func (w *withinWalk) keepers(keep func() reg.Register, skip string, labels func() reg.VecVirtual) {
	hit, count := w.fn.GP64(), w.fn.GP64()
	mask := keep()
	if w.fn.Level == x86.AVX512 {
		w.fn.KMOVB(mask, hit.As32())
	} else {
		w.fn.VMOVMSKPD(mask, hit.As32())
	}
	w.fn.ANDL(w.word.As32(), hit.As32())
	w.fn.JE(operand.LabelRef(skip))
	w.fn.POPCNTL(hit.As32(), count.As32())
	advance := func() { w.fn.LEAQ(operand.Mem{Base: w.index, Index: count, Scale: 4}, w.index) }
	if !w.last {
		// A group starts with a point that may be within. So the points within are mostly its first ones, and stand side by side already.
		scattered, above := w.fn.NewLabel("scattered"), w.fn.GP64()
		w.fn.LEAL(operand.Mem{Base: hit, Disp: 1}, above.As32())
		w.fn.TESTL(hit.As32(), above.As32())
		w.fn.JNE(operand.LabelRef(scattered))
		w.fn.VMOVDQU(labels(), operand.Mem{Base: w.index})
		advance()
		w.fn.JMP(operand.LabelRef(skip))
		w.fn.Label(scattered)
	}
	w.pack(hit, count, labels())
	advance()
}

// pack writes the labels of hit, count of them, side by side. Before the last word there is room for a whole vector wherever a result
// can go, because no more points have been kept than seen.
func (w *withinWalk) pack(hit, count reg.GPVirtual, labels reg.VecVirtual) {
	to := operand.Mem{Base: w.index}
	if w.fn.Level == x86.AVX512 {
		k := w.fn.K()
		w.fn.KMOVW(hit.As32(), k)
		w.fn.VPCOMPRESSD_Z(labels, k, labels)
		if w.last {
			w.fn.VMOVDQU32(labels, w.lowest(count), to)
		} else {
			w.fn.VMOVDQU32(labels, to)
		}
		return
	}
	w.fn.VPERMILPS(w.order(hit), labels, labels)
	if w.last {
		w.fn.VPMASKMOVD(labels, w.labelMask(count), to)
	} else {
		w.fn.VMOVDQU(labels, to)
	}
}

// order loads the permutation that moves the labels of hit to the front, from a table of bytes.
func (w *withinWalk) order(hit reg.GPVirtual) reg.VecVirtual {
	lanes := w.fn.Lanes()
	words := make([]uint64, 1<<lanes)
	for set := range words {
		at := 0
		for lane := range lanes {
			if set>>lane&1 == 1 {
				words[set] |= uint64(lane) << (8 * at)
				at++
			}
		}
	}
	base, r := w.fn.GP64(), w.fn.XMM()
	w.fn.LEAQ(w.fn.Data("withinOrder", words...), base)
	w.fn.VPMOVZXBD(operand.Mem{Base: base, Index: hit, Scale: 8}, r)
	return r
}

// withinEuclid keeps |u - x|² < limit.
func withinEuclid(f *x86.File, l x86.Level, d int) {
	params := []string{"u0", "u1", "u2"}[:d]
	w := newWithinWalk(f, l, fmt.Sprintf("withinEuclid%d", d),
		"keeps the points with |u - x|² < limit among those whose bit is set, and returns how many.", append(params, "limit")...)
	var u []reg.VecVirtual
	for _, p := range params {
		u = append(u, w.fn.BroadcastArg(p))
	}
	limit := w.fn.BroadcastArg("limit")
	w.run(func() reg.Register {
		var sum reg.VecVirtual
		for c := range d {
			diff := w.sub(u[c], w.coordinate(c))
			square := w.mul(diff, diff)
			if c > 0 {
				square = w.add(sum, square)
			}
			sum = square
		}
		return w.less(sum, limit)
	})
}

// withinRigid keeps |t|² < limit for t = m·(u - x), complex numbers.
func withinRigid(f *x86.File, l x86.Level) {
	w := newWithinWalk(f, l, "withinRigid",
		"keeps the points with |m·(u - x)|² < limit among those whose bit is set, and returns how many.",
		"u0", "u1", "m0", "m1", "limit")
	u0, u1, m0, m1 := w.fn.BroadcastArg("u0"), w.fn.BroadcastArg("u1"), w.fn.BroadcastArg("m0"), w.fn.BroadcastArg("m1")
	limit := w.fn.BroadcastArg("limit")
	w.run(func() reg.Register {
		dx, dy := w.sub(u0, w.coordinate(0)), w.sub(u1, w.coordinate(1))
		re := w.sub(w.mul(m0, dx), w.mul(m1, dy))
		im := w.add(w.mul(m1, dx), w.mul(m0, dy))
		return w.less(w.add(w.mul(re, re), w.mul(im, im)), limit)
	})
}

// angleSize loads the constants of angles and returns what computes the magnitude modulo a turn of a difference of two angles in [-π, π]:
//
//	|d| mod a turn = min(|d|, 2π - |d|)
func (w *withinWalk) angleSize() func(d reg.VecVirtual) reg.VecVirtual {
	twoPi := w.number("TwoPi", 2*math.Pi)
	return func(d reg.VecVirtual) reg.VecVirtual {
		a := w.mag(d)
		return w.op("VMIN", a, w.sub(twoPi(), a))
	}
}

// withinLogPolar keeps α·|Δθ| + β·|Δl| < r.
func withinLogPolar(f *x86.File, l x86.Level) {
	w := newWithinWalk(f, l, "withinLogPolar",
		"keeps the points with alpha·|Δθ| + beta·|Δl| < r among those whose bit is set, and returns how many.",
		"u0", "u1", "alpha", "beta", "r")
	u0, u1, alpha, beta, r := w.fn.BroadcastArg("u0"), w.fn.BroadcastArg("u1"), w.fn.BroadcastArg("alpha"), w.fn.BroadcastArg("beta"),
		w.fn.BroadcastArg("r")
	size := w.angleSize()
	w.run(func() reg.Register {
		dl, d := w.sub(u0, w.coordinate(0)), w.sub(u1, w.coordinate(1))
		return w.less(w.add(w.mul(alpha, size(d)), w.mul(beta, w.mag(dl))), r)
	})
}

// withinPolar keeps α·|Δθ| + β·|h - r_j/2|/((h + r_j/2) + floor) < r with h = r_i/2.
func withinPolar(f *x86.File, l x86.Level) {
	w := newWithinWalk(f, l, "withinPolar",
		"keeps the points with alpha·|Δθ| + beta·|Δr|/(r_i + r_j + 2·floor) < r among those whose bit is set, and returns how many.",
		"u0", "u1", "floor", "alpha", "beta", "r")
	u0, u1, floor := w.fn.BroadcastArg("u0"), w.fn.BroadcastArg("u1"), w.fn.BroadcastArg("floor")
	alpha, beta, r := w.fn.BroadcastArg("alpha"), w.fn.BroadcastArg("beta"), w.fn.BroadcastArg("r")
	size := w.angleSize()
	half := w.number("Half", 0.5)
	h := w.mul(half(), u1)
	w.run(func() reg.Register {
		d, s := w.sub(u0, w.coordinate(0)), w.mul(half(), w.coordinate(1))
		part := w.op("VDIV", w.mag(w.sub(h, s)), w.add(w.add(h, s), floor))
		return w.less(w.add(w.mul(alpha, size(d)), w.mul(beta, part)), r)
	})
}
