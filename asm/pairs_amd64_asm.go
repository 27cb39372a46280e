package main

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// Kernels that compare one query with many points and keep those within a radius. They get a bit per point that says
// whether to look at it at all (nearWindow makes such bits from coordinates in fixed point), skip a word of zero bits, 64
// points, in three instructions, and move what they keep to the front.

func pairsAMD64(f *x86.File) {
	for _, l := range levels {
		for d := 1; d <= 3; d++ {
			nearWindow(f, l, d)
		}
		for _, e := range []x86.Elem{x86.F32, x86.F64} {
			for d := 1; d <= 3; d++ {
				pairsEuclid(f, l, e, d)
			}
			pairsRigid(f, l, e)
			pairsPolar(f, l, e)
			pairsLogPolar(f, l, e)
		}
	}
}

// pairWalk goes through the points whose bit is set, a group of as many points as a vector has lanes at a time.
type pairWalk struct {
	*x86.Func
	index, pose, label, bits, x reg.GPVirtual // where the next result goes, and the points
	stride, n                   reg.GPVirtual // bytes from a coordinate to the next, and, for the last words, points

	at               reg.GPVirtual // bytes from bits to the current word
	word, off, point reg.GPVirtual // bits from the group on, its first point, and its coordinates
	abs              reg.VecVirtual
	load             func(operand.Mem) reg.VecVirtual
	last             bool // near the end, where a whole vector may reach beyond it
}

// newPairWalk starts a function whose query and parameters are the named floats.
func newPairWalk(f *x86.File, l x86.Level, e x86.Elem, name, doc string, params ...string) *pairWalk {
	signature := fmt.Sprintf("func(index *int32, pose *%s, label *int32, bits *uint64, x *%[1]s, stride, n int, %s %[1]s) (count int)",
		e.GoType(), strings.Join(params, ", "))
	fn := f.Func(l, e, name+e.String(), signature, doc)
	w := &pairWalk{Func: fn, index: fn.Arg("index"), pose: fn.Arg("pose"), label: fn.Arg("label"), bits: fn.Arg("bits"),
		x: fn.Arg("x"), stride: fn.Arg("stride"),
		at: fn.GP64(), word: fn.GP64(), off: fn.GP64(), point: fn.GP64()}
	w.SHLQ(operand.U8(bits.TrailingZeros(uint(e.Bytes()))), w.stride)
	w.abs = w.broadcast("pairsAbs"+e.String(), math.MaxUint64>>(65-8*e.Bytes()))
	return w
}

// broadcast loads a bit pattern into all lanes.
func (w *pairWalk) broadcast(name string, pattern uint64) reg.VecVirtual {
	r := w.Vec()
	if w.Elem == x86.F64 {
		w.VBROADCASTSD(w.Data(name, pattern), r)
	} else {
		w.VBROADCASTSS(w.Data(name, pattern), r)
	}
	return r
}

// number returns what brings a constant of the function's type into a register: once, or, on AVX2, which has too few of
// them, each time.
func (w *pairWalk) number(name string, x float64) func() reg.VecVirtual {
	load := func() reg.VecVirtual { return w.ConstVec("pairs"+name+w.Elem.String(), x) }
	if w.Level == x86.AVX2 {
		return load
	}
	r := load()
	return func() reg.VecVirtual { return r }
}

// coordinate reads coordinate c of the group's points.
func (w *pairWalk) coordinate(c int) reg.VecVirtual {
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
func (w *pairWalk) op(name string, a, b operand.Op) reg.VecVirtual {
	dst := w.Vec()
	w.Inst(name+map[x86.Elem]string{x86.F32: "PS", x86.F64: "PD"}[w.Elem], b, a, dst)
	return dst
}

func (w *pairWalk) sub(a, b operand.Op) reg.VecVirtual { return w.op("VSUB", a, b) }
func (w *pairWalk) add(a, b operand.Op) reg.VecVirtual { return w.op("VADD", a, b) }
func (w *pairWalk) mul(a, b operand.Op) reg.VecVirtual { return w.op("VMUL", a, b) }
func (w *pairWalk) mag(a operand.Op) reg.VecVirtual    { return w.op("VAND", w.abs, a) }

// less is the mask of lanes in which a < b.
func (w *pairWalk) less(a, b reg.VecVirtual) reg.Register {
	floats := map[x86.Elem]string{x86.F32: "PS", x86.F64: "PD"}[w.Elem]
	if w.Level == x86.AVX512 {
		k := w.K()
		w.Inst("VCMP"+floats, operand.U8(x86.LT), b, a, k)
		return k
	}
	return w.op2imm("VCMP"+floats, x86.LT, a, b)
}

func (w *pairWalk) op2imm(name string, imm uint8, a, b reg.VecVirtual) reg.VecVirtual {
	dst := w.Vec()
	w.Inst(name, operand.U8(imm), b, a, dst)
	return dst
}

// choose is yes in the lanes of the mask and no elsewhere.
func (w *pairWalk) choose(m reg.Register, yes, no reg.VecVirtual) reg.VecVirtual {
	floats := map[x86.Elem]string{x86.F32: "PS", x86.F64: "PD"}[w.Elem]
	dst := w.Vec()
	if w.Level == x86.AVX512 {
		w.Inst("VBLENDM"+floats, yes, no, m, dst)
	} else {
		w.Inst("VBLENDV"+floats, m, yes, no, dst)
	}
	return dst
}

// run writes the loops. keep computes the mask of the group's points that are within; pose, called after it, their
// relative poses.
//
// A group starts at the first bit that is set, wherever that is: points next to each other on a line of an image are mostly
// within together or not at all, so that one or two groups take a line, and the loop's branches go the same way. Most words
// are zero: to pass one takes four operations, as all places follow from that of the word.
func (w *pairWalk) run(keep func() reg.Register, pose func() []reg.VecVirtual) {
	size, lanes := w.Elem.Bytes(), w.Lanes()
	groups := func() {
		group, skip := w.NewLabel("group"), w.NewLabel("skip")
		w.MOVQ(w.at, w.off)
		w.SHLQ(operand.U8(3), w.off)
		w.Label(group)
		zeros := w.GP64()
		w.BSFQ(w.word, zeros)
		if w.Level == x86.AVX512 {
			w.SHRXQ(zeros, w.word, w.word)
		} else {
			w.MOVQ(zeros, reg.RCX)
			w.SHRQ(reg.CL, w.word)
		}
		w.ADDQ(zeros, w.off)
		w.LEAQ(operand.Mem{Base: w.x, Index: w.off, Scale: uint8(size)}, w.point)
		w.group(keep, pose, skip)
		w.Label(skip)
		w.ADDQ(operand.U8(lanes), w.off)
		w.SHRQ(operand.U8(lanes), w.word)
		w.JNE(operand.LabelRef(group))
	}
	word := operand.Mem{Base: w.bits, Index: w.at, Scale: 1}
	// Words after which there is room for a vector: (n - lanes)/64 of them, rounded down.
	next, rest, done := w.NewLabel("next"), w.NewLabel("rest"), w.NewLabel("done")
	end := w.Arg("n")
	w.SUBQ(operand.U8(lanes), end)
	w.SARQ(operand.U8(6), end)
	w.SHLQ(operand.U8(3), end)
	w.MOVQ(operand.I32(-8), w.at)
	w.Label(next)
	w.ADDQ(operand.U8(8), w.at)
	w.CMPQ(w.at, end)
	w.JGE(operand.LabelRef(rest))
	w.MOVQ(word, w.word)
	w.TESTQ(w.word, w.word)
	w.JE(operand.LabelRef(next))
	groups()
	w.JMP(operand.LabelRef(next))

	// The last ones, by masked loads and stores.
	w.last = true
	whole, after := w.NewLabel("whole"), w.NewLabel("after")
	w.Label(rest)
	w.n = w.Arg("n")
	left := w.GP64()
	w.MOVQ(w.at, left)
	w.NEGQ(left)
	w.LEAQ(operand.Mem{Base: w.n, Index: left, Scale: 8}, left)
	w.TESTQ(left, left)
	w.JLE(operand.LabelRef(done))
	w.MOVQ(word, w.word)
	w.CMPQ(left, operand.U8(64))
	w.JGE(operand.LabelRef(whole))
	// Only bits of points that exist count.
	beyond := w.GP64()
	w.MOVQ(left, reg.RCX)
	w.MOVQ(operand.I32(-1), beyond)
	w.SHLQ(reg.CL, beyond)
	w.NOTQ(beyond)
	w.ANDQ(beyond, w.word)
	w.Label(whole)
	w.TESTQ(w.word, w.word)
	w.JE(operand.LabelRef(after))
	groups()
	w.Label(after)
	w.ADDQ(operand.U8(8), w.at)
	w.JMP(operand.LabelRef(rest))

	w.Label(done)
	first := w.Arg("index")
	w.SUBQ(first, w.index)
	w.SHRQ(operand.U8(2), w.index)
	w.Store(w.index, w.ReturnIndex(0))
	w.End()
}

// group writes out one group of points.
func (w *pairWalk) group(keep func() reg.Register, pose func() []reg.VecVirtual, skip string) {
	wide := w.Level == x86.AVX512
	var bound x86.Tail // of the group's points, in the last word
	if w.last {
		n := w.GP64()
		w.MOVQ(w.n, n)
		w.SUBQ(w.off, n)
		lanes := w.GP64()
		w.MOVQ(operand.I32(w.Lanes()), lanes)
		w.CMPQ(lanes, n)
		w.CMOVQLT(lanes, n)
		bound = w.NewTail(n)
		w.load = bound.Load
		defer func() { w.load = nil }()
		w.keepers(keep, pose, skip, func() reg.VecVirtual { return w.tailLabels(n) })
		return
	}
	w.load = func(m operand.Mem) reg.VecVirtual {
		r := w.Vec()
		w.VMOVUPS(m, r)
		return r
	}
	w.keepers(keep, pose, skip, func() reg.VecVirtual {
		r := w.labelVec()
		m := w.labels()
		if wide {
			w.VMOVDQU32(m, r)
		} else {
			w.VMOVDQU(m, r)
		}
		return r
	})
}

// labelVec is a register for as many int32 as a vector has lanes.
func (w *pairWalk) labelVec() reg.VecVirtual {
	switch 4 * w.Lanes() {
	case 64:
		return w.ZMM()
	case 32:
		return w.YMM()
	}
	return w.XMM()
}

// labels addresses the group's labels.
func (w *pairWalk) labels() operand.Mem { return operand.Mem{Base: w.label, Index: w.off, Scale: 4} }

// tailLabels reads the first n labels of the group.
func (w *pairWalk) tailLabels(n reg.GPVirtual) reg.VecVirtual {
	r, m := w.labelVec(), w.labels()
	if w.Level == x86.AVX512 {
		w.VMOVDQU32_Z(m, w.lowest(n), r)
	} else {
		w.VPMASKMOVD(m, w.labelMask(n), r)
	}
	return r
}

// lowest is the opmask of the first n lanes.
func (w *pairWalk) lowest(n reg.GPVirtual) reg.Register {
	ones, k := w.GP64(), w.K()
	w.MOVQ(operand.I32(-1), ones)
	w.BZHIQ(n, ones, ones)
	w.KMOVW(ones.As32(), k)
	return k
}

// labelMask is the AVX2 mask of the first n labels.
func (w *pairWalk) labelMask(n reg.GPVirtual) reg.VecVirtual {
	lanes := w.Lanes()
	ones := make([]uint64, 2*lanes)
	for i := range lanes {
		ones[i] = math.MaxUint32
	}
	if w.Elem == x86.F64 { // pairs of 32-bit numbers
		ones = make([]uint64, lanes)
		for i := range lanes / 2 {
			ones[i] = math.MaxUint64
		}
	}
	table, offset, mask := w.GP64(), w.GP64(), w.labelVec()
	w.LEAQ(w.Data("pairsLabelMask"+w.Elem.String(), ones...), table)
	w.MOVQ(n, offset)
	w.NEGQ(offset)
	w.VMOVDQU(operand.Mem{Base: table, Index: offset, Scale: 4, Disp: 4 * lanes}, mask)
	return mask
}

// keepers writes the test of a group and moves the points that pass it to the results.
func (w *pairWalk) keepers(keep func() reg.Register, pose func() []reg.VecVirtual, skip string, labels func() reg.VecVirtual) {
	size := w.Elem.Bytes()
	hit, count := w.GP64(), w.GP64()
	mask := keep()
	if w.Level == x86.AVX512 {
		w.Inst(map[int]string{8: "KMOVB", 16: "KMOVW"}[w.Lanes()], mask, hit.As32())
	} else {
		w.Inst(map[x86.Elem]string{x86.F32: "VMOVMSKPS", x86.F64: "VMOVMSKPD"}[w.Elem], mask, hit.As32())
	}
	w.ANDL(w.word.As32(), hit.As32())
	w.JE(operand.LabelRef(skip))
	w.POPCNTL(hit.As32(), count.As32())
	write := func(move func(v reg.VecVirtual, to operand.Mem, label bool)) {
		move(labels(), operand.Mem{Base: w.index}, true)
		bare := w.NewLabel("bare")
		w.TESTQ(w.pose, w.pose)
		w.JE(operand.LabelRef(bare))
		for c, v := range pose() {
			move(v, entryAt(w.pose, w.stride, c), false)
		}
		w.LEAQ(operand.Mem{Base: w.pose, Index: count, Scale: uint8(size)}, w.pose)
		w.Label(bare)
		w.LEAQ(operand.Mem{Base: w.index, Index: count, Scale: 4}, w.index)
	}
	if w.last {
		write(w.mover(hit, count))
		return
	}
	// As a group starts with a point that may be within, those that are mostly are its first ones: they stand side by side.
	scattered, above := w.NewLabel("scattered"), w.GP64()
	w.LEAL(operand.Mem{Base: hit, Disp: 1}, above.As32())
	w.TESTL(hit.As32(), above.As32())
	w.JNE(operand.LabelRef(scattered))
	write(w.storeWhole)
	w.JMP(operand.LabelRef(skip))
	w.Label(scattered)
	write(w.mover(hit, count))
}

// storeWhole writes a vector as it is.
func (w *pairWalk) storeWhole(v reg.VecVirtual, to operand.Mem, label bool) {
	switch {
	case label && w.Level == x86.AVX512:
		w.VMOVDQU32(v, to)
	case label:
		w.VMOVDQU(v, to)
	default:
		w.VMOVUPS(v, to)
	}
}

// mover returns what writes the lanes of hit, count of them, side by side. Before the last word there is room for a whole
// vector wherever a result can go: no more points have been kept than seen.
func (w *pairWalk) mover(hit, count reg.GPVirtual) func(v reg.VecVirtual, to operand.Mem, label bool) {
	if w.Level == x86.AVX512 {
		k := w.K()
		w.KMOVW(hit.As32(), k)
		var first reg.Register
		if w.last {
			first = w.lowest(count)
		}
		return func(v reg.VecVirtual, to operand.Mem, label bool) {
			compress, store := "VCOMPRESSP", "VMOVUPS"
			compress += map[x86.Elem]string{x86.F32: "S_Z", x86.F64: "D_Z"}[w.Elem]
			if w.Elem == x86.F64 {
				store = "VMOVUPD"
			}
			if label {
				compress, store = "VPCOMPRESSD_Z", "VMOVDQU32"
			}
			w.Inst(compress, v, k, v)
			if w.last {
				w.Inst(store, v, first, to)
			} else {
				w.Inst(store, v, to)
			}
		}
	}
	order, labelOrder := w.orders(hit)
	var mask x86.Tail
	var labelMask reg.VecVirtual
	if w.last {
		mask, labelMask = w.NewTail(count), w.labelMask(count)
	}
	return func(v reg.VecVirtual, to operand.Mem, label bool) {
		switch {
		case label && w.Elem == x86.F64:
			w.VPERMILPS(labelOrder, v, v)
		default:
			w.VPERMPS(v, order, v)
		}
		switch {
		case label && w.last:
			w.VPMASKMOVD(v, labelMask, to)
		case label:
			w.VMOVDQU(v, to)
		case w.last:
			mask.Store(v, to)
		default:
			w.VMOVUPS(v, to)
		}
	}
}

// orders loads the permutation that moves the lanes of hit to the front, as numbers of 32-bit parts, from a table of bytes;
// of float64 lanes, which have two parts, one for labels as well.
func (w *pairWalk) orders(hit reg.GPVirtual) (order, labelOrder reg.VecVirtual) {
	lanes := w.Lanes()
	row := func(set, part int) (b [8]byte) {
		at := 0
		for lane := range lanes {
			if set>>lane&1 == 0 {
				continue
			}
			for p := range part {
				b[at] = byte(lane*part + p)
				at++
			}
		}
		return b
	}
	table := func(name string, part int) operand.Mem {
		var words []uint64
		for set := range 1 << lanes {
			v := uint64(0)
			for i, x := range row(set, part) {
				v |= uint64(x) << (8 * i)
			}
			if w.Elem == x86.F64 {
				words = append(words, v)
			} else {
				words = append(words, v&math.MaxUint32, v>>32)
			}
		}
		return w.Data(name+w.Elem.String(), words...)
	}
	read := func(m operand.Mem, r reg.VecVirtual) reg.VecVirtual {
		base := w.GP64()
		w.LEAQ(m, base)
		w.VPMOVZXBD(operand.Mem{Base: base, Index: hit, Scale: 8}, r)
		return r
	}
	if w.Elem == x86.F32 {
		return read(table("pairsOrder", 1), w.YMM()), nil
	}
	return read(table("pairsOrder", 2), w.YMM()), read(table("pairsLabelOrder", 1), w.XMM())
}

// pairsEuclid keeps |u - x|² < limit; the pose is u - x.
func pairsEuclid(f *x86.File, l x86.Level, e x86.Elem, d int) {
	params := []string{"u0", "u1", "u2"}[:d]
	w := newPairWalk(f, l, e, fmt.Sprintf("pairsEuclid%d", d),
		"keeps the points with |u - x|² < limit among those whose bit is set, and returns how many.", append(params, "limit")...)
	var u []reg.VecVirtual
	for _, p := range params {
		u = append(u, w.BroadcastArg(p))
	}
	limit := w.BroadcastArg("limit")
	var diff []reg.VecVirtual
	w.run(func() reg.Register {
		diff = diff[:0]
		var sum reg.VecVirtual
		for c := range d {
			diff = append(diff, w.sub(u[c], w.coordinate(c)))
			square := w.mul(diff[c], diff[c])
			if c > 0 {
				square = w.add(sum, square)
			}
			sum = square
		}
		return w.less(sum, limit)
	}, func() []reg.VecVirtual { return diff })
}

// pairsRigid keeps |t|² < limit for t = m·(u - x), complex numbers; the pose is (turn, t).
func pairsRigid(f *x86.File, l x86.Level, e x86.Elem) {
	w := newPairWalk(f, l, e, "pairsRigid",
		"keeps the points with |m·(u - x)|² < limit among those whose bit is set, and returns how many.",
		"u0", "u1", "m0", "m1", "turn", "limit")
	u0, u1, m0, m1 := w.BroadcastArg("u0"), w.BroadcastArg("u1"), w.BroadcastArg("m0"), w.BroadcastArg("m1")
	turn, limit := w.BroadcastArg("turn"), w.BroadcastArg("limit")
	var re, im reg.VecVirtual
	w.run(func() reg.Register {
		dx, dy := w.sub(u0, w.coordinate(0)), w.sub(u1, w.coordinate(1))
		re = w.sub(w.mul(m0, dx), w.mul(m1, dy))
		im = w.add(w.mul(m1, dx), w.mul(m0, dy))
		return w.less(w.add(w.mul(re, re), w.mul(im, im)), limit)
	}, func() []reg.VecVirtual {
		angle := w.Vec()
		w.VMOVAPS(turn, angle)
		return []reg.VecVirtual{angle, re, im}
	})
}

// angleParts loads the constants of angles and returns what computes, of a difference of two angles in [-π, π], its
// magnitude modulo a turn, and itself modulo a turn with half turns positive.
//
//	|d| mod a turn = min(|d|, 2π - |d|)
func (w *pairWalk) angleParts() (size func(d reg.VecVirtual) reg.VecVirtual, wrap func(d reg.VecVirtual) reg.VecVirtual) {
	pi, twoPi := w.number("Pi", math.Pi), w.number("TwoPi", 2*math.Pi)
	half := map[x86.Elem]float64{x86.F32: 0x1p-19, x86.F64: 0x1p-48}[w.Elem] - math.Pi
	if w.Elem == x86.F32 {
		half = 0x1p-19 - float64(float32(math.Pi))
	}
	minusHalf := w.number("HalfTurn", half)
	var a reg.VecVirtual // of the difference that size got last
	size = func(d reg.VecVirtual) reg.VecVirtual {
		a = w.mag(d)
		return w.op("VMIN", a, w.sub(twoPi(), a))
	}
	wrap = func(d reg.VecVirtual) reg.VecVirtual {
		if w.Level == x86.AVX512 {
			floats := map[x86.Elem]string{x86.F32: "PS", x86.F64: "PD"}[w.Elem]
			turn, r := w.Vec(), w.Vec()
			w.VMOVAPS(w.abs, turn)
			w.VPTERNLOGQ(operand.U8(0xca), d, twoPi(), turn) // abs ? 2π : d
			w.VMOVAPS(d, r)
			w.Inst("VSUB"+floats, turn, d, w.less(pi(), a), r)
			w.Inst("VAND"+floats, w.abs, r, w.less(r, minusHalf()), r)
			return r
		}
		sign := w.op("VANDN", w.abs, d) // not abs, and d
		d = w.choose(w.less(pi(), a), w.sub(d, w.op("VOR", twoPi(), sign)), d)
		return w.choose(w.less(d, minusHalf()), w.mag(d), d)
	}
	return size, wrap
}

// pairsLogPolar keeps α·|Δθ| + β·|Δl| < r; the pose is (Δl, Δθ).
func pairsLogPolar(f *x86.File, l x86.Level, e x86.Elem) {
	w := newPairWalk(f, l, e, "pairsLogPolar",
		"keeps the points with alpha·|Δθ| + beta·|Δl| < r among those whose bit is set, and returns how many.",
		"u0", "u1", "alpha", "beta", "r")
	u0, u1, alpha, beta, r := w.BroadcastArg("u0"), w.BroadcastArg("u1"), w.BroadcastArg("alpha"), w.BroadcastArg("beta"), w.BroadcastArg("r")
	size, wrap := w.angleParts()
	var dl, d reg.VecVirtual
	w.run(func() reg.Register {
		dl, d = w.sub(u0, w.coordinate(0)), w.sub(u1, w.coordinate(1))
		return w.less(w.add(w.mul(alpha, size(d)), w.mul(beta, w.mag(dl))), r)
	}, func() []reg.VecVirtual {
		turn := wrap(d)
		return []reg.VecVirtual{dl, turn}
	})
}

// pairsPolar keeps α·|Δθ| + β·|h - r_j/2|/((h + r_j/2) + floor) < r with h = r_i/2; the pose is (Δθ, r_i, r_j).
func pairsPolar(f *x86.File, l x86.Level, e x86.Elem) {
	w := newPairWalk(f, l, e, "pairsPolar",
		"keeps the points with alpha·|Δθ| + beta·|Δr|/(r_i + r_j + 2·floor) < r among those whose bit is set, and returns how many.",
		"u0", "u1", "floor", "alpha", "beta", "r")
	u0, u1, floor := w.BroadcastArg("u0"), w.BroadcastArg("u1"), w.BroadcastArg("floor")
	alpha, beta, r := w.BroadcastArg("alpha"), w.BroadcastArg("beta"), w.BroadcastArg("r")
	size, wrap := w.angleParts()
	half := w.number("Half", 0.5)
	h := w.mul(half(), u1)
	var d, radius reg.VecVirtual
	w.run(func() reg.Register {
		d, radius = w.sub(u0, w.coordinate(0)), w.coordinate(1)
		s := w.mul(half(), radius)
		part := w.op("VDIV", w.mag(w.sub(h, s)), w.add(w.add(h, s), floor))
		return w.less(w.add(w.mul(alpha, size(d)), w.mul(beta, part)), r)
	}, func() []reg.VecVirtual {
		own := w.Vec()
		w.VMOVAPS(u1, own)
		return []reg.VecVirtual{wrap(d), own, radius}
	})
}
