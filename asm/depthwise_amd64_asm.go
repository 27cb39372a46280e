package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// depthwiseVariant is what distinguishes the functions for one row at a time.
type depthwiseVariant struct {
	name   string
	doc    string
	stream bool // rows of w come from memory and are fetched ahead
	half   bool // w is bfloat16
	single bool // one set of accumulators, whatever the width
}

// depthwiseSets returns how many sets of accumulators a block of that many vectors has. Narrow blocks need several, as one
// pair's multiply-add must not wait for the previous one's. The number depends on the width alone: the sums of a row are the
// same bits whether it is computed alone or together with its neighbours.
func depthwiseSets(vecs int) int { return max(1, 4/vecs) }

// depthwiseWidths lists how many vectors of channels a variant's functions take. A row of w that comes from memory
// should be read from its beginning to its end: reading half of each row of a chunk, and the other halves when four
// megabytes have gone by, takes half as long again. So on AVX2 rows of w that stream have functions for 128 channels
// too, though their sums do not fit into registers: waiting for memory leaves ample time to keep some of them on the
// stack.
func depthwiseWidths(l x86.Level, d depthwiseVariant) []int {
	if d.stream && l == x86.AVX2 {
		return []int{16, 8, 4, 2, 1}
	}
	return []int{8, 4, 2, 1}
}

// depthwiseStacked returns how many of that many vectors of sums stand on the stack.
func depthwiseStacked(d depthwiseVariant, vecs int) int {
	switch {
	case vecs <= 8:
		return 0
	case d.half: // two masks more, and room for a pair of halves
		return vecs - 8
	}
	return vecs - 12
}

func depthwiseAMD64(f *x86.File) {
	variants := []depthwiseVariant{
		{name: "depthwise", doc: "sets out[i] = Σ w[pose]·f[index] over row i's pairs, divided by their number if mean is 1"},
		{name: "depthwiseStream", doc: "is depthwise for a w that is read from memory once and fetched so many pairs ahead, " +
			"into the first-level cache if far is 0, or the second one if it is 1; if it is negative, the machine fetches, and -2 says " +
			"that most poses are the one before plus 1; AVX-512's function of eight vectors then fetches ahead bytes on", stream: true},
		{name: "depthwiseHalf", doc: "is depthwiseStream with w in bfloat16; wstride counts its bytes", stream: true, half: true},
	}
	for _, l := range levels {
		for _, v := range variants {
			for _, vecs := range depthwiseWidths(l, v) {
				depthwiseRows(f, l, x86.F32, v, vecs)
			}
		}
		for _, vecs := range []int{4, 2, 1} {
			depthwiseRows(f, l, x86.F64, variants[0], vecs)
		}
		for _, vecs := range []int{4, 2, 1} {
			depthwiseGroup(f, l, vecs)
		}
		// The sums of so many rows take half of the registers; half as many rows more, three quarters.
		rows := 8
		if l == x86.AVX2 {
			rows = 4
		}
		depthwiseTall(f, l, rows, 2)
		depthwiseTall(f, l, rows+rows/2, 2)
	}
	depthwisePlaces(f, x86.AVX2)
	depthwisePlacesOf(f, x86.AVX2)
	depthwisePack(f, x86.AVX2)
	depthwisePlacesFour(f)
	depthwisePlacesOfFour(f)
}

// depthwiseRows writes a function that keeps the sums of a row's channels in registers while it goes through the pairs:
//
//	out[i, j] = 1/n_i · Σ_k w[pose[k], j] · f[index[k], j],  j < vecs·lanes
//
// The last vector is read and written under a mask.
func depthwiseRows(f *x86.File, l x86.Level, e x86.Elem, d depthwiseVariant, vecs int) {
	w, extra := "w *float32", ", mean int"
	if d.half {
		w = "w *uint16"
	}
	stride := "stride"
	if d.half {
		stride = "stride, wstride"
	}
	if d.single {
		stride = "stride, ostride"
	}
	if d.stream {
		extra += ", pairs, ahead, far int"
	}
	fn := f.Func(l, e, fmt.Sprintf("%s%d%v", d.name, vecs, e),
		ofType(fmt.Sprintf("func(out, f *float32, %s, offsets *int, index, pose *int32, rows, %s, tail int%s)", w, stride, extra), e),
		fmt.Sprintf("%s, for i < rows and %d vectors of channels, of which the last has tail ones. Rows lie stride bytes apart.",
			d.doc, vecs))
	tail := fn.NewBlockTail(fn.Arg("tail"), vecs)
	out, feat, weight, step := fn.Arg("out"), fn.Arg("f"), fn.Arg("w"), fn.Arg("stride")
	wstep := step
	if d.half {
		wstep = fn.Arg("wstride")
	}
	g := newGatherWalk(fn)
	sets := depthwiseSets(vecs)
	if d.single {
		sets = 1
	}
	// The first vectors' sums stand on the stack, so that the last one's, read and written under a mask, is in a register.
	stacked := depthwiseStacked(d, vecs)
	stack := make([]operand.Mem, stacked)
	for v := range stack {
		stack[v] = fn.AllocLocal(l.Bytes())
	}
	acc := make([][]reg.VecVirtual, vecs)
	for v := stacked; v < vecs; v++ {
		acc[v] = zeros(fn, sets)
	}
	wbytes := l.Bytes()
	if d.half {
		wbytes /= 2
	}
	var half *depthwiseHalf
	if d.half {
		half = newDepthwiseHalf(fn, fn.Arg("tail"), tail.Shift)
	}
	var last reg.GPVirtual // the last pair's pose
	if d.stream {
		last = fn.Arg("pairs")
		fn.LEAQ(operand.Mem{Base: g.pose, Index: last, Scale: 4, Disp: -4}, last)
	}

	// A row of w that is guessed to be the next one is read without waiting for the list of poses, whose next line may come from memory.
	var row, pose reg.GPVirtual
	guesses := stacked > 0 || d.stream && l == x86.AVX512 && vecs == 8
	if guesses {
		row, pose = fn.GP64(), fn.GP32()
		fn.MOVL(operand.I32(-1), pose) // no pair's
	}
	guessed := func(at int) {
		known, found := fn.NewLabel("known"), fn.NewLabel("found")
		fn.CMPQ(fn.ArgMem("far"), operand.I8(-2))
		fn.JNE(operand.LabelRef(found))
		fn.CMPL(pairAt(g.pose, at), pose)
		fn.JE(operand.LabelRef(known))
		fn.Label(found)
		fn.MOVL(pairAt(g.pose, at), pose)
		fn.MOVQ(wstep, row)
		fn.IMULQ(pose.As64(), row)
		fn.ADDQ(weight, row)
		fn.Label(known)
	}
	body := func(set, at int) {
		known, rowed := fn.NewLabel("known"), fn.NewLabel("rowed")
		var fj reg.Register
		if guesses && stacked == 0 { // a right guess leaves out what looks ahead in the list
			listed := fn.NewLabel("listed")
			fj = rowAddress(fn, pairAt(g.index, at), feat, step)
			fn.CMPQ(fn.ArgMem("far"), operand.I8(-2))
			fn.JNE(operand.LabelRef(listed))
			fn.CMPL(pairAt(g.pose, at), pose)
			fn.JE(operand.LabelRef(known))
			fn.MOVL(pairAt(g.pose, at), pose)
			fn.Label(listed)
		}
		if d.stream {
			// Fetch the row of w that a later pair needs; near the end, that of the last pair.
			near, fetched := fn.NewLabel("near"), fn.NewLabel("fetched")
			fn.CMPQ(fn.ArgMem("far"), operand.I8(0))
			fn.JL(operand.LabelRef(fetched))
			p := fn.Arg("ahead") // read from memory each time, because no register is free for it
			fn.LEAQ(operand.Mem{Base: g.pose, Index: p, Scale: 4, Disp: 4 * at}, p)
			fn.CMPQ(p, last)
			fn.CMOVQGT(last, p)
			ahead := rowAddress(fn, pairAt(p, 0), weight, wstep)
			// Into the second-level cache, or into the first one.
			fn.CMPQ(fn.ArgMem("far"), operand.I8(0))
			fn.JE(operand.LabelRef(near))
			for at := 0; at < vecs*wbytes; at += 64 {
				fn.PREFETCHT1(operand.Mem{Base: ahead, Disp: at})
			}
			fn.JMP(operand.LabelRef(fetched))
			fn.Label(near)
			for at := 0; at < vecs*wbytes; at += 64 {
				fn.PREFETCHT0(operand.Mem{Base: ahead, Disp: at})
			}
			fn.Label(fetched)
		}
		if fj == nil {
			fj = rowAddress(fn, pairAt(g.index, at), feat, step)
		}
		wj := row
		switch {
		case stacked > 0:
			guessed(at)
		case guesses:
			fn.MOVL(pairAt(g.pose, at), row.As32())
			fn.IMULQ(wstep, row)
			fn.ADDQ(weight, row)
			fn.JMP(operand.LabelRef(rowed))
			fn.Label(known)
			later := fn.Arg("ahead")
			for line := 0; line < vecs*wbytes; line += cacheLine {
				fn.PREFETCHT0(operand.Mem{Base: row, Index: later, Scale: 1, Disp: line})
			}
			fn.Label(rowed)
		default:
			wj = rowAddress(fn, pairAt(g.pose, at), weight, wstep)
		}
		for v := range vecs {
			fm, wm := operand.Mem{Base: fj, Disp: v * l.Bytes()}, operand.Mem{Base: wj, Disp: v * wbytes}
			var a reg.VecVirtual
			if v < stacked {
				a = fn.Vec()
				fn.VMOVUPS(stack[v], a)
			} else {
				a = acc[v][set]
			}
			masked := v == vecs-1
			var wv reg.VecVirtual
			switch {
			case d.half:
				wv = half.load(wm, masked)
			case masked:
				wv = tail.Load(wm)
			default:
				wv = fn.Vec()
				fn.VMOVUPS(wm, wv)
			}
			if masked {
				tail.MultiplyAdd(fm, wv, a)
			} else {
				floats(fn, "VFMADD231", fm, wv, a)
			}
			if v < stacked {
				fn.VMOVUPS(a, stack[v])
			}
		}
		if guesses {
			fn.ADDQ(wstep, row)
			fn.INCL(pose)
		}
	}
	g.eachRow(func() {
		for v := range acc {
			clearAll(fn, acc[v])
		}
		for _, m := range stack {
			fn.VMOVUPS(acc[stacked][0], m)
		}
		g.eachPair(sets, body)
	}, func() {
		var sums []reg.VecVirtual
		for v := stacked; v < vecs; v++ {
			sums = append(sums, sumSets(fn, acc[v]))
		}
		n := fn.GP64()
		g.rowPairs(n)
		depthwiseMean(fn, n, sums, stack...)
		for v := range acc {
			m := operand.Mem{Base: out, Disp: v * l.Bytes()}
			switch {
			case v < stacked:
				sum := fn.Vec()
				fn.VMOVUPS(stack[v], sum)
				fn.VMOVUPS(sum, m)
			case v == vecs-1:
				tail.Store(acc[v][0], m)
			default:
				fn.VMOVUPS(acc[v][0], m)
			}
		}
		if d.single {
			step = fn.Arg("ostride")
		}
		fn.ADDQ(step, out)
	})
	fn.End()
}

// depthwiseMean multiplies the sums, in registers and on the stack, with 1/n if the argument mean is 1 and n > 1.
func depthwiseMean(fn *x86.Func, n reg.GPVirtual, sums []reg.VecVirtual, stack ...operand.Mem) {
	skip := fn.NewLabel("store")
	mean := fn.Arg("mean")
	fn.TESTQ(mean, mean)
	fn.JE(operand.LabelRef(skip))
	fn.CMPQ(n, operand.U8(1))
	fn.JLE(operand.LabelRef(skip))
	one, count, inv := fn.XMM(), fn.XMM(), fn.Vec()
	single(fn, "VMOV", fn.Const("one", 1), one)
	fn.VXORPS(count, count, count)
	fn.Inst(map[x86.Elem]string{x86.F32: "VCVTSI2SSQ", x86.F64: "VCVTSI2SDQ"}[fn.Elem], n, count, count)
	single(fn, "VDIV", count, one, one)
	single(fn, "VBROADCAST", one, inv)
	for _, s := range sums {
		floats(fn, "VMUL", inv, s, s)
	}
	for _, m := range stack {
		s := fn.Vec()
		floats(fn, "VMUL", m, inv, s)
		fn.VMOVUPS(s, m)
	}
	fn.Label(skip)
}

// depthwiseHalf reads vectors of bfloat16, the last one under a mask.
type depthwiseHalf struct {
	fn         *x86.Func
	k          reg.OpmaskVirtual // AVX-512: the lanes
	pairs, odd reg.VecVirtual    // AVX2: whole pairs of lanes, and the lane without a partner
	last       reg.GPVirtual     // AVX2: bytes from the vector's first number to the tail's last one
	shift      reg.Register      // AVX2, of several vectors: see x86.Func.NewBlockTail
}

// newDepthwiseHalf builds the masks for n numbers, 1 ≤ n ≤ lanes, unless there is a shift.
func newDepthwiseHalf(fn *x86.Func, n reg.GPVirtual, shift reg.Register) *depthwiseHalf {
	h := &depthwiseHalf{fn: fn, shift: shift}
	if shift != nil {
		return h
	}
	if fn.Level == x86.AVX512 {
		ones := fn.GP64()
		h.k = fn.K()
		fn.MOVQ(operand.I32(-1), ones)
		fn.BZHIQ(n, ones, ones)
		fn.KMOVW(ones.As32(), h.k)
		return h
	}
	// AVX2 masks 32 bits at a time: pairs are lanes 0 .. n/2-1 of those, and an odd number's last one is read alone.
	h.pairs, h.odd, h.last = fn.XMM(), fn.XMM(), fn.GP64()
	half := fn.GP64()
	fn.MOVQ(n, half)
	fn.SHRQ(operand.U8(1), half)
	fn.VMOVD(half.As32(), h.pairs)
	fn.VPBROADCASTD(h.pairs, h.pairs)
	fn.VPCMPGTD(fn.Data("lanes32", 0, 1, 2, 3), h.pairs, h.pairs)
	// Lane n-1 of 16 bits if n is odd, none otherwise: n-1 | -(n-1 & 1), which is negative for even n.
	fn.LEAQ(operand.Mem{Base: n, Disp: -1}, h.last)
	fn.MOVQ(h.last, half)
	fn.ANDQ(operand.U8(1), half)
	fn.NEGQ(half)
	fn.ORQ(h.last, half)
	fn.VMOVD(half.As32(), h.odd)
	fn.VPBROADCASTW(h.odd, h.odd)
	fn.VPCMPEQW(fn.Data("lanes16", 0x00010000, 0x00030002, 0x00050004, 0x00070006), h.odd, h.odd)
	fn.ADDQ(h.last, h.last)
	return h
}

// load reads a vector as float32: the same bits with sixteen zeros below them.
func (h *depthwiseHalf) load(m operand.Mem, masked bool) reg.VecVirtual {
	r := h.fn.Vec()
	switch {
	case !masked:
		h.fn.VPMOVZXWD(m, r)
	case h.shift != nil:
		m.Index, m.Scale = h.shift, 2
		h.fn.VPMOVZXWD(m, r)
	case h.fn.Level == x86.AVX512:
		h.fn.VPMOVZXWD_Z(m, h.k, r)
	default:
		m.Index, m.Scale = h.last, 1
		word, single := h.fn.GP32(), h.fn.XMM()
		h.fn.MOVWLZX(m, word)
		m.Index, m.Scale = nil, 0
		h.fn.VMOVD(word, single)
		h.fn.VPBROADCASTW(single, single)
		h.fn.VPAND(h.odd, single, single)
		h.fn.VPMASKMOVD(m, h.pairs, r.AsX())
		h.fn.VPOR(single, r.AsX(), r.AsX())
		h.fn.VPMOVZXWD(r.AsX(), r)
	}
	h.fn.VPSLLD(operand.U8(16), r, r)
	return r
}

// depthwiseGroupRows returns how many rows with the same poses are computed together. Each vector of w is read once for all of
// them, so a multiply-add costs 1.25 loads on AVX-512 and 1.5 on AVX2, instead of two.
func depthwiseGroupRows(l x86.Level) int {
	if l == x86.AVX512 {
		return 4
	}
	return 2
}

// depthwiseGroup writes a function for neighbouring rows that have the same list of poses, as most do on a grid. Row r's
// indices lie r·n after the first row's.
func depthwiseGroup(f *x86.File, l x86.Level, vecs int) {
	rows := depthwiseGroupRows(l)
	fn := f.Func(l, x86.F32, fmt.Sprintf("depthwiseGroup%dF32", vecs),
		"func(out, f, w *float32, index, pose *int32, n, stride, tail, mean int)",
		fmt.Sprintf("is depthwise for %d rows with n pairs each and the same poses.", rows))
	tail := fn.NewBlockTail(fn.Arg("tail"), vecs)
	out, feat, weight, stride := fn.Arg("out"), fn.Arg("f"), fn.Arg("w"), fn.Arg("stride")
	index, pose, n := fn.Arg("index"), fn.Arg("pose"), fn.Arg("n")
	index3 := fn.GP64()
	fn.LEAQ(operand.Mem{Base: n, Index: n, Scale: 2}, index3)
	fn.LEAQ(operand.Mem{Base: index, Index: index3, Scale: 4}, index3)
	indexAt := func(r, at int) operand.Mem {
		switch r {
		case 0:
			return pairAt(index, at)
		case 3:
			return pairAt(index3, at)
		}
		return operand.Mem{Base: index, Index: n, Scale: uint8(4 * r), Disp: 4 * at}
	}
	sets := depthwiseSets(vecs)
	acc := make([][][]reg.VecVirtual, rows)
	for r := range acc {
		acc[r] = make([][]reg.VecVirtual, vecs)
		for v := range acc[r] {
			acc[r][v] = zeros(fn, sets)
			clearAll(fn, acc[r][v])
		}
	}
	body := func(set, at int) {
		wj := rowAddress(fn, pairAt(pose, at), weight, stride)
		wv := make([]reg.VecVirtual, vecs)
		for v := range wv {
			m := operand.Mem{Base: wj, Disp: v * l.Bytes()}
			if v == vecs-1 {
				wv[v] = tail.Load(m)
			} else {
				wv[v] = fn.Vec()
				fn.VMOVUPS(m, wv[v])
			}
		}
		for r := range rows {
			fj := rowAddress(fn, indexAt(r, at), feat, stride)
			for v := range wv {
				m := operand.Mem{Base: fj, Disp: v * l.Bytes()}
				if v == vecs-1 {
					tail.MultiplyAdd(m, wv[v], acc[r][v][set])
				} else {
					fn.VFMADD231PS(m, wv[v], acc[r][v][set])
				}
			}
		}
	}
	// The loop is that of eachPair.
	left := fn.GP64()
	fn.MOVQ(n, left)
	advance := func(by int) {
		fn.ADDQ(operand.U8(4*by), index)
		if rows > 3 {
			fn.ADDQ(operand.U8(4*by), index3)
		}
		fn.ADDQ(operand.U8(4*by), pose)
	}
	fn.SUBQ(operand.U8(sets), left)
	fn.JL(operand.LabelRef("rest"))
	fn.Label("pairs")
	for s := range sets {
		body(s, s)
	}
	advance(sets)
	fn.SUBQ(operand.U8(sets), left)
	fn.JGE(operand.LabelRef("pairs"))
	fn.Label("rest")
	for s := range sets - 1 {
		fn.CMPQ(left, operand.I8(int8(s-sets)))
		fn.JE(operand.LabelRef("summed"))
		body(s, 0)
		advance(1)
	}
	fn.Label("summed")
	var sums []reg.VecVirtual
	for r := range acc {
		for v := range acc[r] {
			sums = append(sums, sumSets(fn, acc[r][v]))
		}
	}
	depthwiseMean(fn, n, sums)
	for r := range acc {
		for v := range acc[r] {
			m := operand.Mem{Base: out, Disp: v * l.Bytes()}
			if v == vecs-1 {
				tail.Store(acc[r][v][0], m)
			} else {
				fn.VMOVUPS(acc[r][v][0], m)
			}
		}
		fn.ADDQ(stride, out)
	}
	fn.End()
}

// depthwiseTall writes depthwiseGroup for more rows and fewer vectors of channels, so that a vector of w serves more rows. It computes, two
// vectors at a time, what blocks of four vectors and more would compute; so each sum has one accumulator, as there.
func depthwiseTall(f *x86.File, l x86.Level, rows, vecs int) {
	fn := f.Func(l, x86.F32, fmt.Sprintf("depthwiseTall%dx%dF32", rows, vecs),
		"func(out, f, w *float32, index, pose *int32, n, stride, ostride, tail, mean int)",
		fmt.Sprintf("is depthwise for %d rows with n pairs each and the same poses, with one accumulator for an element; "+
			"rows of out lie ostride bytes apart.", rows))
	tail := fn.NewBlockTail(fn.Arg("tail"), vecs)
	feat, weight, stride := fn.Arg("f"), fn.Arg("w"), fn.Arg("stride")
	last := feat // where the last vectors of rows are counted from
	if tail.Shift != nil {
		last = fn.GP64()
		fn.LEAQ(operand.Mem{Base: feat, Index: tail.Shift, Scale: 4}, last)
	}
	pose, n := fn.Arg("pose"), fn.Arg("n")
	// Rows 3k, 3k+1 and 3k+2 are reached from one pointer, n and 2n entries on.
	starts := []reg.GPVirtual{fn.Arg("index")}
	for len(starts) < (rows+2)/3 {
		p := fn.GP64()
		fn.LEAQ(operand.Mem{Base: starts[len(starts)-1], Index: n, Scale: 8}, p)
		fn.LEAQ(operand.Mem{Base: p, Index: n, Scale: 4}, p)
		starts = append(starts, p)
	}
	// The indices of the group after this one.
	ahead := fn.GP64()
	fn.LEAQ(operand.Mem{Base: starts[(rows-1)/3], Index: n, Scale: uint8(4 * max(1, (rows-1)%3))}, ahead)
	if (rows-1)%3 != 0 {
		fn.LEAQ(operand.Mem{Base: ahead, Index: n, Scale: 4}, ahead)
	}
	acc := zeros(fn, rows*vecs)
	clearAll(fn, acc)
	end := fn.GP64()
	fn.LEAQ(operand.Mem{Base: pose, Index: n, Scale: 4}, end)
	fn.TESTQ(n, n)
	fn.JE(operand.LabelRef("summed"))
	fn.Label("pairs")
	fn.PREFETCHT0(operand.Mem{Base: ahead})
	wj := rowAddress(fn, pairAt(pose, 0), weight, stride)
	var wv []reg.VecVirtual
	for v := range vecs {
		m := operand.Mem{Base: wj, Disp: v * l.Bytes()}
		if v == vecs-1 {
			wv = append(wv, tail.Load(m))
		} else {
			wv = append(wv, fn.Vec())
			fn.VMOVUPS(m, wv[v])
		}
	}
	for r := range rows {
		at := operand.Mem{Base: starts[r/3]}
		if r%3 > 0 {
			at.Index, at.Scale = n, uint8(4*(r%3))
		}
		i := fn.GP64()
		fn.MOVL(at, i.As32())
		fn.IMULQ(stride, i)
		for v := range vecs {
			m := operand.Mem{Base: feat, Index: i, Scale: 1, Disp: v * l.Bytes()}
			if v == vecs-1 && tail.Shift == nil {
				tail.MultiplyAdd(m, wv[v], acc[r*vecs+v])
				continue
			}
			if v == vecs-1 {
				m.Base = last
			}
			fn.VFMADD231PS(m, wv[v], acc[r*vecs+v])
		}
	}
	for _, p := range starts {
		fn.ADDQ(operand.U8(4), p)
	}
	fn.ADDQ(operand.U8(4*rows), ahead)
	fn.ADDQ(operand.U8(4), pose)
	fn.CMPQ(pose, end)
	fn.JNE(operand.LabelRef("pairs"))
	fn.Label("summed")
	depthwiseMean(fn, n, acc)
	out, ostride := fn.Arg("out"), fn.Arg("ostride")
	for i, a := range acc {
		m := operand.Mem{Base: out, Disp: i % vecs * l.Bytes()}
		if i%vecs == vecs-1 {
			tail.Store(a, m)
			fn.ADDQ(ostride, out)
		} else {
			fn.VMOVUPS(a, m)
		}
	}
	fn.End()
}

const (
	// placeRows is how many rows with the same poses the function over places computes together at AVX2.
	placeRows = 6
	// placePairs is how many pairs a block of places has: of each pair the place of its weights, then the rows' places of f,
	// [1+placeRows, placePairs].
	placePairs = 8
	placeBlock = 4 * (1 + placeRows) * placePairs
)

// depthwisePlaces writes depthwiseTall for lists that were made for it: places in bytes, of slices two vectors wide, in the order in which
// they are read. So a pair takes one load for each row beside those of numbers, no multiplication, and a single pointer.
func depthwisePlaces(f *x86.File, l x86.Level) {
	const vecs = 2
	fn := f.Func(l, x86.F32, "depthwisePlacesF32",
		"func(out, f, w *float32, places *int32, n, more, ostride, tail, count, mean int)",
		fmt.Sprintf("adds n pairs, listed by places, to the sums of %d rows of two vectors, of which the last has tail channels: "+
			"to 0, or to out if more is 1; and divides by count if mean is 1. Rows of out lie ostride bytes apart.", placeRows))
	tail := fn.NewTail(fn.Arg("tail"))
	feat, weight, code := fn.Arg("f"), fn.Arg("w"), fn.Arg("places")
	acc := zeros(fn, placeRows*vecs)
	n := placeSums(fn, acc, vecs, tail)
	pair := func(at int) {
		place := fn.GP64()
		fn.MOVL(pairAt(code, at), place.As32())
		wv := zeros(fn, vecs)
		for v := range wv {
			fn.VMOVUPS(operand.Mem{Base: weight, Index: place, Scale: 1, Disp: v * l.Bytes()}, wv[v])
		}
		for r := range placeRows {
			place := fn.GP64()
			fn.MOVL(pairAt(code, at+(1+r)*placePairs), place.As32())
			for v := range wv {
				fn.VFMADD231PS(operand.Mem{Base: feat, Index: place, Scale: 1, Disp: v * l.Bytes()}, wv[v], acc[r*vecs+v])
			}
		}
	}
	fn.SUBQ(operand.U8(placePairs), n)
	fn.JL(operand.LabelRef("rest"))
	fn.Label("block")
	for k := range placePairs {
		pair(k)
	}
	fn.ADDQ(operand.U32(placeBlock), code)
	fn.SUBQ(operand.U8(placePairs), n)
	fn.JGE(operand.LabelRef("block"))
	fn.Label("rest")
	fn.ADDQ(operand.U8(placePairs), n)
	fn.JE(operand.LabelRef("summed"))
	fn.Label("pair")
	pair(0)
	fn.ADDQ(operand.U8(4), code)
	fn.DECQ(n)
	fn.JNE(operand.LabelRef("pair"))
	fn.Label("summed")
	placeResults(fn, acc, vecs, tail)
}

// placeSums sets the sums of rows of so many vectors to what out has if the argument more is 1, and to 0 otherwise. It returns n.
func placeSums(fn *x86.Func, acc []reg.VecVirtual, vecs int, tail x86.Tail) (n reg.GPVirtual) {
	clearAll(fn, acc)
	more := fn.Arg("more")
	n = fn.Arg("n")
	fn.TESTQ(more, more)
	fn.JE(operand.LabelRef("begin"))
	placeEach(fn, acc, vecs, func(m operand.Mem, last bool, a reg.VecVirtual) {
		if last {
			tail.LoadTo(a, m)
		} else {
			fn.VMOVUPS(m, a)
		}
	})
	fn.Label("begin")
	return n
}

// placeResults divides sums by the argument count, if mean is 1, and stores them.
func placeResults(fn *x86.Func, acc []reg.VecVirtual, vecs int, tail x86.Tail) {
	depthwiseMean(fn, fn.Arg("count"), acc)
	placeEach(fn, acc, vecs, func(m operand.Mem, last bool, a reg.VecVirtual) {
		if last {
			tail.Store(a, m)
		} else {
			fn.VMOVUPS(a, m)
		}
	})
	fn.End()
}

// placeEach does something with each vector of rows of so many vectors and where it stands in out.
func placeEach(fn *x86.Func, acc []reg.VecVirtual, vecs int, do func(m operand.Mem, last bool, a reg.VecVirtual)) {
	out, ostride := fn.Arg("out"), fn.Arg("ostride")
	for i, a := range acc {
		do(operand.Mem{Base: out, Disp: i % vecs * fn.Level.Bytes()}, i%vecs == vecs-1, a)
		if i%vecs == vecs-1 && i+1 < len(acc) {
			fn.ADDQ(ostride, out)
		}
	}
}

// placeFourRows is placeRows of AVX-512, and placeFourPairs its placePairs.
const placeFourRows, placeFourPairs = 16, 16

// depthwisePlacesFour writes depthwisePlaces for AVX-512, where slices are one vector wide. Loads limit its speed, and an index takes half
// as much of them as a vector does. So places are of 16 bits, in units of 8 bytes, and a load takes those of four pairs.
func depthwisePlacesFour(f *x86.File) {
	fn := f.Func(x86.AVX512, x86.F32, "depthwisePlacesF32",
		"func(out, f, w *float32, places *uint16, n, more, ostride, tail, count, mean int)",
		fmt.Sprintf("adds n pairs, listed by places, to the sums of %d rows of tail channels: to 0, or to out if more is 1; and "+
			"divides by count if mean is 1. Rows of out lie ostride bytes apart. Beyond n, it takes pairs up to a multiple of four.",
			placeFourRows))
	tail := fn.NewTail(fn.Arg("tail"))
	feat, weight, code := fn.Arg("f"), fn.Arg("w"), fn.Arg("places")
	acc, wv := zeros(fn, placeFourRows), zeros(fn, 4)
	n, left := placeSums(fn, acc, 1, tail), fn.GP64()
	fn.Label("block")
	fn.MOVQ(operand.U32(placeFourPairs), left)
	fn.CMPQ(n, left)
	fn.CMOVQLT(n, left)
	fn.Label("four")
	for r := -1; r < placeFourRows; r++ {
		four := fn.GP64()
		fn.MOVQ(operand.Mem{Base: code, Disp: 2 * placeFourPairs * (1 + r)}, four)
		for k := range wv {
			at := four
			if k < 3 {
				at = fn.GP64()
				fn.MOVWLZX(four.As16(), at.As32())
			}
			if r < 0 {
				fn.VMOVUPS(operand.Mem{Base: weight, Index: at, Scale: 8}, wv[k])
			} else {
				fn.VFMADD231PS(operand.Mem{Base: feat, Index: at, Scale: 8}, wv[k], acc[r])
			}
			if k < 3 {
				fn.SHRQ(operand.U8(16), four)
			}
		}
	}
	fn.ADDQ(operand.U8(8), code)
	fn.SUBQ(operand.U8(4), left)
	fn.JG(operand.LabelRef("four"))
	fn.ADDQ(operand.U32(2*placeFourPairs*placeFourRows), code)
	fn.SUBQ(operand.U8(placeFourPairs), n)
	fn.JG(operand.LabelRef("block"))
	placeResults(fn, acc, 1, tail)
}

// depthwisePlacesOf writes what makes the places of a group of rows. Points that lie a multiple of 64 apart, as neighbours above each
// other in an image do, would fall into the same sets of the first-level cache; so every 64 points, three places are left out.
func depthwisePlacesOf(f *x86.File, l x86.Level) {
	fn := f.Func(l, x86.F32, "depthwisePlacesOfF32", "func(places, index, pose *int32, n, apart int)",
		fmt.Sprintf("writes the places of n pairs and %d rows, whose indices lie so far apart, in blocks of %d pairs, the last one "+
			"padded: row i is at 64·(i + 3·(i>>6)) bytes.", placeRows, placePairs))
	code, index, pose, left := fn.Arg("places"), fn.Arg("index"), fn.Arg("pose"), fn.Arg("n")
	n, factor := fn.Arg("apart"), fn.Vec()
	fn.VPBROADCASTD(fn.Data("skew192", 192), factor)
	rows := []operand.Mem{{Base: pose}, {Base: index}, {Base: index, Index: n, Scale: 4}, {Base: index, Index: n, Scale: 8}}
	index3 := fn.GP64()
	fn.LEAQ(operand.Mem{Base: index, Index: n, Scale: 8}, index3)
	fn.LEAQ(operand.Mem{Base: index3, Index: n, Scale: 4}, index3)
	rows = append(rows, operand.Mem{Base: index3}, operand.Mem{Base: index3, Index: n, Scale: 4},
		operand.Mem{Base: index3, Index: n, Scale: 8})
	fn.Label("block")
	some := fn.GP64()
	fn.MOVQ(operand.U32(placePairs), some)
	fn.CMPQ(left, some)
	fn.CMOVQLT(left, some)
	tail := fn.NewTail(some)
	for r, m := range rows {
		x, far := tail.Load(m), fn.Vec()
		fn.VPSRLD(operand.U8(6), x, far)
		fn.VPSLLD(operand.U8(6), x, x)
		fn.VPMULLD(factor, far, far)
		fn.VPADDD(far, x, x)
		fn.VMOVDQU(x, operand.Mem{Base: code, Disp: 4 * placePairs * r})
	}
	for _, p := range []reg.GPVirtual{pose, index, index3} {
		fn.ADDQ(operand.U8(4*placePairs), p)
	}
	fn.ADDQ(operand.U32(placeBlock), code)
	fn.SUBQ(operand.U8(placePairs), left)
	fn.JG(operand.LabelRef("block"))
	fn.End()
}

// depthwisePlacesOfFour writes depthwisePlacesOf for AVX-512. All rows of a block are read under a mask, whose other lanes keep the point
// and the pose that pad a block.
func depthwisePlacesOfFour(f *x86.File) {
	fn := f.Func(x86.AVX512, x86.F32, "depthwisePlacesOfF32", "func(places *uint16, index, pose *int32, n, apart, point, other int)",
		fmt.Sprintf("writes the places of n pairs and %d rows, whose indices lie so far apart, in blocks of %d pairs, the last one padded "+
			"with that point and that other pose: row i is at 8·(i + 3·(i>>6)), in units of 8 bytes.", placeFourRows, placeFourPairs))
	code, index, pose, left, apart := fn.Arg("places"), fn.Arg("index"), fn.Arg("pose"), fn.Arg("n"), fn.Arg("apart")
	factor, point, other, x, far := fn.Vec(), fn.Vec(), fn.Vec(), fn.Vec(), fn.Vec()
	fn.VPBROADCASTD(fn.Data("skew24", 24), factor)
	fn.VPBROADCASTD(fn.ArgMem("point"), point)
	fn.VPBROADCASTD(fn.ArgMem("other"), other)
	some, row, count := fn.GP64(), fn.GP64(), fn.GP64()
	places := func(pad reg.VecVirtual, from operand.Mem, tail x86.Tail) {
		fn.VMOVDQA32(pad, x)
		tail.Merge(x, from)
		fn.VPSRLD(operand.U8(6), x, far)
		fn.VPSLLD(operand.U8(3), x, x)
		fn.VPMULLD(factor, far, far)
		fn.VPADDD(far, x, x)
		fn.VPMOVDW(x, operand.Mem{Base: code})
		fn.ADDQ(operand.U8(2*placeFourPairs), code)
	}
	fn.SHLQ(operand.U8(2), apart)
	fn.Label("block")
	fn.MOVQ(operand.U32(placeFourPairs), some)
	fn.CMPQ(left, some)
	fn.CMOVQLT(left, some)
	tail := fn.NewTail(some)
	places(other, operand.Mem{Base: pose}, tail)
	fn.MOVQ(index, row)
	fn.MOVQ(operand.U32(placeFourRows), count)
	fn.Label("row")
	places(point, operand.Mem{Base: row}, tail)
	fn.ADDQ(apart, row)
	fn.DECQ(count)
	fn.JNE(operand.LabelRef("row"))
	fn.ADDQ(operand.U8(4*placeFourPairs), index)
	fn.ADDQ(operand.U8(4*placeFourPairs), pose)
	fn.SUBQ(operand.U8(placeFourPairs), left)
	fn.JG(operand.LabelRef("block"))
	fn.End()
}

// depthwisePack writes what copies two vectors of each row to a slice.
func depthwisePack(f *x86.File, l x86.Level) {
	fn := f.Func(l, x86.F32, "depthwisePackF32", "func(dst, src *float32, rows, stride int)",
		"copies two vectors of each of so many rows, which lie stride bytes apart, to where they stand side by side.")
	dst, src, rows, stride := fn.Arg("dst"), fn.Arg("src"), fn.Arg("rows"), fn.Arg("stride")
	fn.Label("row")
	for v := range 2 {
		x := fn.Vec()
		fn.VMOVUPS(operand.Mem{Base: src, Disp: v * l.Bytes()}, x)
		fn.VMOVUPS(x, operand.Mem{Base: dst, Disp: v * l.Bytes()})
	}
	fn.ADDQ(stride, src)
	fn.ADDQ(operand.U8(2*l.Bytes()), dst)
	fn.DECQ(rows)
	fn.JNE(operand.LabelRef("row"))
	fn.End()
}
