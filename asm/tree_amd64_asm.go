package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// The kernels of the searches among points. Points lie axis by axis: coordinate a of point j is c[a*ld + j], so that a
// vector holds one coordinate of neighbouring points. All of them select: they compute a condition per lane and store the
// lanes that meet it side by side. AVX-512 compresses a register by a mask; AVX2 permutes it by a table with an entry per
// mask. Either way the store is of a whole register, which is several times faster than one that stops at the last lane
// kept, so destinations have room for a vector more than they need.
//
// Distances are sums of rounded squares of rounded differences, axis by axis, without fused operations: the same bits on
// every machine, and monotonic, so that the distance to a box never exceeds that to a point in it.

// lt is the comparison "less", false for NaN.
const lt = 0x11

// treeKernel is one of the kernels while it is written. dim is the number of axes, or 0 for a loop over any number of them.
type treeKernel struct {
	fn  *x86.Func
	dim int
}

func treeAMD64(f *x86.File) {
	for _, l := range levels {
		for _, e := range []x86.Elem{x86.F32, x86.F64} {
			for _, dim := range []int{2, 3, 0} {
				treeBoxes(f, l, e, dim)
				treeFilter(f, l, e, dim)
				treeScan(f, l, e, dim, false)
				treeScan(f, l, e, dim, true)
			}
			treePartition(f, l, e)
		}
	}
	smallestAMD64(f)
}

// suffix ends the names of kernels for that many axes, before type and level.
func treeSuffix(dim int) string { return map[int]string{0: "N", 2: "2", 3: "3"}[dim] }

func (t *treeKernel) inst(name string, ops ...operand.Op) {
	t.fn.Inst(name+map[x86.Elem]string{x86.F32: "PS", x86.F64: "PD"}[t.fn.Elem], ops...)
}

// bytes turns a number of elements into bytes.
func (t *treeKernel) bytes(n reg.GPVirtual) reg.GPVirtual {
	t.fn.SHLQ(map[x86.Elem]operand.U8{x86.F32: 2, x86.F64: 3}[t.fn.Elem], n)
	return n
}

// arg returns the place of an argument on the stack, where those stay that an inner loop does without.
func (t *treeKernel) arg(name string) operand.Mem {
	p, err := t.fn.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// bytesArg is bytes for an argument on the stack.
func (t *treeKernel) bytesArg(name string) operand.Mem {
	m := t.arg(name)
	t.fn.SHLQ(map[x86.Elem]operand.U8{x86.F32: 2, x86.F64: 3}[t.fn.Elem], m)
	return m
}

// broadcast repeats a number in memory over a register.
func (t *treeKernel) broadcast(m operand.Mem) reg.VecVirtual {
	r := t.fn.Vec()
	if t.fn.Elem == x86.F64 {
		t.fn.VBROADCASTSD(m, r)
	} else {
		t.fn.VBROADCASTSS(m, r)
	}
	return r
}

// idVec is a fresh register for as many int32 as a vector has lanes.
func (t *treeKernel) idVec() reg.VecVirtual {
	switch {
	case t.fn.Lanes() == 16:
		return t.fn.ZMM()
	case t.fn.Lanes() == 8:
		return t.fn.YMM()
	}
	return t.fn.XMM()
}

// tailMasks are what the last, partial vector needs: which lanes exist, for elements and for int32.
type tailMasks struct {
	k    reg.Register // AVX-512
	elem reg.VecVirtual
	id   reg.VecVirtual
}

// tail builds the masks for n lanes, 0 < n < Lanes.
func (t *treeKernel) tail(n reg.GPVirtual) *tailMasks {
	if t.fn.Level == x86.AVX512 {
		ones, k := t.fn.GP64(), t.fn.K()
		t.fn.MOVQ(operand.I32(-1), ones)
		t.fn.BZHIQ(n, ones, ones)
		t.fn.KMOVW(ones.As32(), k)
		return &tailMasks{k: k}
	}
	m := &tailMasks{elem: t.window(n, t.fn.Elem.Bytes(), t.fn.Vec())}
	m.id = m.elem
	if t.fn.Elem == x86.F64 {
		m.id = t.window(n, 4, t.idVec())
	}
	return m
}

// window loads a register whose first n lanes of that many bytes are ones: a view on a table of ones followed by zeros.
func (t *treeKernel) window(n reg.GPVirtual, size int, r reg.VecVirtual) reg.VecVirtual {
	ones := ^uint64(0)
	bits := []uint64{ones, ones, ones, ones, 0, 0, 0, 0}
	if t.fn.Elem == x86.F32 {
		ones = 0xffffffff
		bits = []uint64{ones, ones, ones, ones, ones, ones, ones, ones, 0, 0, 0, 0, 0, 0, 0, 0}
	}
	table, offset := t.fn.GP64(), t.fn.GP64()
	t.fn.LEAQ(t.fn.Data("treeTail"+t.fn.Elem.String(), bits...), table)
	t.fn.MOVQ(n, offset)
	t.fn.NEGQ(offset)
	t.fn.VMOVUPS(operand.Mem{Base: table, Index: offset, Scale: uint8(size), Disp: 32}, r)
	return r
}

// load reads a vector, in a tail only the lanes that exist; the others become 0.
func (t *treeKernel) load(m operand.Mem, tail *tailMasks) reg.VecVirtual {
	r := t.fn.Vec()
	switch {
	case tail == nil:
		t.inst("VMOVU", m, r)
	case t.fn.Level == x86.AVX512:
		t.fn.Inst("VMOVU"+map[x86.Elem]string{x86.F32: "PS", x86.F64: "PD"}[t.fn.Elem]+"_Z", m, tail.k, r)
	default:
		t.inst("VMASKMOV", m, tail.elem, r)
	}
	return r
}

// loadIDs reads the int32 that belong to a vector.
func (t *treeKernel) loadIDs(m operand.Mem, tail *tailMasks) reg.VecVirtual {
	r := t.idVec()
	switch {
	case tail == nil:
		t.fn.VMOVUPS(m, r)
	case t.fn.Level == x86.AVX512:
		t.fn.VMOVDQU32_Z(m, tail.k, r)
	default:
		t.fn.VPMASKMOVD(m, tail.id, r)
	}
	return r
}

// selection is a condition on the lanes of a vector, ready to pack lanes by.
type selection struct {
	*treeKernel
	k     reg.Register   // AVX-512
	bits  reg.GPVirtual  // the mask, and after count the number of lanes kept
	elems reg.VecVirtual // AVX2: the permutations
	ids   reg.VecVirtual
}

// less selects the lanes with x < y that exist.
func (t *treeKernel) less(x, y reg.VecVirtual, tail *tailMasks) *selection {
	s := &selection{treeKernel: t, bits: t.fn.GP64()}
	if t.fn.Level == x86.AVX512 {
		s.k = t.fn.K()
		if tail != nil {
			t.inst("VCMP", operand.U8(lt), y, x, tail.k, s.k)
		} else {
			t.inst("VCMP", operand.U8(lt), y, x, s.k)
		}
		t.fn.KMOVW(s.k, s.bits.As32())
		return s
	}
	m := t.fn.Vec()
	t.inst("VCMP", operand.U8(lt), y, x, m)
	if tail != nil {
		t.fn.VANDPS(tail.elem, m, m)
	}
	t.inst("VMOVMSK", m, s.bits.As32())
	return s
}

// table points to the permutations by mask that pack what is set, as bytes: AVX2 only.
func (t *treeKernel) table() reg.GPVirtual {
	r := t.fn.GP64()
	var bits []uint64
	if t.fn.Elem == x86.F32 {
		for mask := range 256 { // 8 bytes: the lanes that are set, in order
			var lanes []int
			for i := range 8 {
				if mask>>i&1 == 1 {
					lanes = append(lanes, i)
				}
			}
			var b uint64
			for i, lane := range lanes {
				b |= uint64(lane) << (8 * i)
			}
			bits = append(bits, b&0xffffffff, b>>32)
		}
	} else {
		for mask := range 16 { // 8 bytes: the halves of the elements that are set; then 4: their lanes
			var pairs, lanes uint64
			n := 0
			for i := range 4 {
				if mask>>i&1 == 1 {
					pairs |= uint64(2*i|(2*i+1)<<8) << (16 * n)
					lanes |= uint64(i) << (8 * n)
					n++
				}
			}
			bits = append(bits, pairs, lanes)
		}
	}
	t.fn.LEAQ(t.fn.Data("treePack"+t.fn.Elem.String(), bits...), r)
	return r
}

// permutations loads what pack needs, on AVX2.
func (s *selection) permutations(table reg.GPVirtual) {
	if s.fn.Level == x86.AVX512 {
		return
	}
	s.elems = s.fn.YMM()
	if s.fn.Elem == x86.F32 {
		s.fn.VPMOVZXBD(operand.Mem{Base: table, Index: s.bits, Scale: 8}, s.elems)
		s.ids = s.elems
		return
	}
	at := s.fn.GP64()
	s.fn.MOVQ(s.bits, at)
	s.fn.SHLQ(operand.U8(4), at)
	s.fn.VPMOVZXBD(operand.Mem{Base: table, Index: at, Scale: 1}, s.elems)
	s.ids = s.fn.XMM()
	s.fn.VPMOVZXBD(operand.Mem{Base: table, Index: at, Scale: 1, Disp: 8}, s.ids.AsX())
}

// pack returns the selected lanes of a vector side by side.
func (s *selection) pack(v reg.VecVirtual) reg.VecVirtual {
	r := s.fn.Vec()
	if s.fn.Level == x86.AVX512 {
		s.fn.Inst(map[x86.Elem]string{x86.F32: "VCOMPRESSPS_Z", x86.F64: "VCOMPRESSPD_Z"}[s.fn.Elem], v, s.k, r)
	} else {
		s.fn.VPERMPS(v, s.elems, r)
	}
	return r
}

// packIDs is pack for the int32 of the lanes.
func (s *selection) packIDs(v reg.VecVirtual) reg.VecVirtual {
	r := s.idVec()
	switch {
	case s.fn.Level == x86.AVX512:
		s.fn.VPCOMPRESSD_Z(v, s.k, r)
	case s.fn.Elem == x86.F32:
		s.fn.VPERMD(v, s.ids, r)
	default:
		s.fn.VPERMILPS(s.ids, v, r)
	}
	return r
}

// count turns the mask into the number of its lanes.
func (s *selection) count() reg.GPVirtual {
	s.fn.POPCNTQ(s.bits, s.bits)
	return s.bits
}

// row is the address of coordinate a, for the few axes whose multiples of the stride can be an operand.
func row(p, ld reg.GPVirtual, a int) operand.Mem {
	m := operand.Mem{Base: p}
	if a > 0 {
		m.Index, m.Scale = ld, uint8(a)
	}
	return m
}

// vectors writes a loop over n elements, which it consumes: whole vectors, then the rest. advance moves on by a vector.
func (t *treeKernel) vectors(n reg.GPVirtual, body func(tail *tailMasks), advance func()) {
	loop, rest, done := t.fn.NewLabel("loop"), t.fn.NewLabel("rest"), t.fn.NewLabel("done")
	lanes := operand.U8(t.fn.Lanes())
	t.fn.SUBQ(lanes, n)
	t.fn.JL(operand.LabelRef(rest))
	t.fn.Label(loop)
	body(nil)
	advance()
	t.fn.SUBQ(lanes, n)
	t.fn.JGE(operand.LabelRef(loop))
	t.fn.Label(rest)
	t.fn.ADDQ(lanes, n)
	t.fn.JE(operand.LabelRef(done))
	body(t.tail(n))
	t.fn.Label(done)
}

// eachAxis writes a loop over the axes in the argument dim, with pointers that advance by their strides from axis to axis.
func (t *treeKernel) eachAxis(pointers, strides []operand.Op, body func(p []reg.GPVirtual)) {
	axis, n := t.fn.NewLabel("axis"), t.fn.GP64()
	p := make([]reg.GPVirtual, len(pointers))
	for i, from := range pointers {
		p[i] = t.fn.GP64()
		t.fn.MOVQ(from, p[i])
	}
	t.fn.Load(t.fn.Param("dim"), n)
	t.fn.Label(axis)
	body(p)
	for i := range p {
		t.fn.ADDQ(strides[i], p[i])
	}
	t.fn.DECQ(n)
	t.fn.JNE(operand.LabelRef(axis))
}

// addSquare adds x² to the sum, or starts it.
func (t *treeKernel) addSquare(sum *reg.VecVirtual, x reg.VecVirtual) {
	t.inst("VMUL", x, x, x)
	if *sum == nil {
		*sum = x
		return
	}
	t.inst("VADD", x, *sum, *sum)
}

// treeBoxes keeps, of runs with a box each, those whose squared distance from the query's box is less than r2. Two intervals that do not
// overlap are as far apart as the start of the upper one is from the end of the lower one; if they overlap, the distance is 0.
func treeBoxes(f *x86.File, l x86.Level, e x86.Elem, dim int) {
	T, extra := e.GoType(), ""
	if dim == 0 {
		extra = ", dim int"
	}
	t := &treeKernel{f.Func(l, e, "treeBoxes"+treeSuffix(dim)+e.String(),
		"func(outFrom *int32, outTo *int32, boxes *"+T+", ld int, from *int32, to *int32, n int, box *"+T+", r2 "+T+extra+") int",
		"keeps the runs whose box, a column of boxes, is nearer to the box than r2 says and returns how many. "+
			"outFrom and outTo have room for a vector more than there are runs."), dim}
	outFrom, outTo, p, stride := t.fn.Arg("outFrom"), t.fn.Arg("outTo"), t.fn.Arg("boxes"), t.bytesArg("ld")
	from, to, n, box, r2 := t.fn.Arg("from"), t.fn.Arg("to"), t.fn.Arg("n"), t.fn.Arg("box"), t.fn.BroadcastArg("r2")
	size := e.Bytes()
	// Rows 0, 1, 2, 4 are multiples of the stride that an operand can have; 3 and 5 are seen from row 3.
	var ld, p3 reg.GPVirtual
	var lo, hi []reg.VecVirtual
	if dim > 0 {
		ld = t.fn.GP64()
		t.fn.MOVQ(stride, ld)
		p3 = t.fn.GP64()
		t.fn.LEAQ(operand.Mem{Base: p, Index: ld, Scale: 2}, p3)
		t.fn.ADDQ(ld, p3)
	}
	at := func(r int) operand.Mem {
		if r == 3 || r == 5 {
			return row(p3, ld, r-3)
		}
		return row(p, ld, r)
	}
	for a := range dim {
		lo = append(lo, t.broadcast(operand.Mem{Base: box, Disp: 2 * a * size}))
		hi = append(hi, t.broadcast(operand.Mem{Base: box, Disp: (2*a + 1) * size}))
	}
	var table reg.GPVirtual
	if l == x86.AVX2 {
		table = t.table()
	}
	zero := t.fn.Zero()
	body := func(tail *tailMasks) {
		var sum reg.VecVirtual
		gap := func(least, greatest, lo, hi reg.VecVirtual) {
			t.inst("VSUB", hi, least, least)
			t.inst("VSUB", greatest, lo, greatest)
			t.inst("VMAX", greatest, least, least)
			t.inst("VMAX", zero, least, least)
			t.addSquare(&sum, least)
		}
		if dim > 0 {
			for a := range dim {
				gap(t.load(at(2*a), tail), t.load(at(2*a+1), tail), lo[a], hi[a])
			}
		} else {
			sum = t.fn.Zero()
			step := t.arg("ld")
			t.eachAxis([]operand.Op{p, box}, []operand.Op{step, operand.U8(2 * size)}, func(p []reg.GPVirtual) {
				least := t.load(operand.Mem{Base: p[0]}, tail)
				t.fn.ADDQ(step, p[0])
				greatest := t.load(operand.Mem{Base: p[0]}, tail)
				gap(least, greatest, t.broadcast(operand.Mem{Base: p[1]}), t.broadcast(operand.Mem{Base: p[1], Disp: size}))
			})
		}
		s := t.less(sum, r2, tail)
		s.permutations(table)
		t.fn.VMOVUPS(s.packIDs(t.loadIDs(operand.Mem{Base: from}, tail)), operand.Mem{Base: outFrom})
		t.fn.VMOVUPS(s.packIDs(t.loadIDs(operand.Mem{Base: to}, tail)), operand.Mem{Base: outTo})
		kept := s.count()
		t.fn.LEAQ(operand.Mem{Base: outFrom, Index: kept, Scale: 4}, outFrom)
		t.fn.LEAQ(operand.Mem{Base: outTo, Index: kept, Scale: 4}, outTo)
	}
	t.vectors(n, body, func() {
		t.fn.ADDQ(operand.U8(l.Bytes()), p)
		if dim > 0 {
			t.fn.ADDQ(operand.U8(l.Bytes()), p3)
		}
		t.fn.ADDQ(operand.U8(4*t.fn.Lanes()), from)
		t.fn.ADDQ(operand.U8(4*t.fn.Lanes()), to)
	})
	t.fn.SUBQ(t.arg("outFrom"), outFrom)
	t.fn.SHRQ(operand.U8(2), outFrom)
	t.fn.Store(outFrom, t.fn.ReturnIndex(0))
	t.fn.End()
}

// treeFilter keeps, of runs of points, those whose squared distance from a box is less than r2. The distance of a coordinate
// x from [lo, hi] is x minus the number of the interval that is nearest to it.
func treeFilter(f *x86.File, l x86.Level, e x86.Elem, dim int) {
	T, extra := e.GoType(), ""
	if dim == 0 {
		extra = ", dim int"
	}
	t := &treeKernel{f.Func(l, e, "treeFilter"+treeSuffix(dim)+e.String(),
		"func(out *"+T+", ldo int, dist2 *"+T+", outID *int32, c *"+T+
			", ldc int, id *int32, from *int32, to *int32, nruns int, box *"+T+", r2 "+T+extra+") int",
		"keeps the points from[k] .. to[k]-1 whose squared distance from the box is less than r2 and returns how many. "+
			"out, dist2 and outID have room for a vector more than there are points."), dim}
	out, dist2, outID := t.fn.Arg("out"), t.fn.Arg("dist2"), t.fn.Arg("outID")
	strideOut, stride := t.bytesArg("ldo"), t.bytesArg("ldc")
	var ldo, ldc reg.GPVirtual
	if dim > 0 {
		ldo, ldc = t.fn.GP64(), t.fn.GP64()
		t.fn.MOVQ(strideOut, ldo)
		t.fn.MOVQ(stride, ldc)
	}
	from, to, box, r2 := t.fn.Arg("from"), t.fn.Arg("to"), t.fn.Arg("box"), t.fn.BroadcastArg("r2")
	size := e.Bytes()
	var lo, hi []reg.VecVirtual
	for a := range dim {
		lo = append(lo, t.broadcast(operand.Mem{Base: box, Disp: 2 * a * size}))
		hi = append(hi, t.broadcast(operand.Mem{Base: box, Disp: (2*a + 1) * size}))
	}
	var table reg.GPVirtual
	if l == x86.AVX2 {
		table = t.table()
	}
	nextRun, finished := t.fn.NewLabel("run"), t.fn.NewLabel("finished")
	t.fn.Label(nextRun)
	t.fn.SUBQ(operand.U8(1), t.arg("nruns"))
	t.fn.JL(operand.LabelRef(finished))
	p, pid, n := t.fn.GP64(), t.fn.GP64(), t.fn.GP64()
	t.fn.MOVLQSX(operand.Mem{Base: from}, pid)
	t.fn.MOVLQSX(operand.Mem{Base: to}, n)
	t.fn.ADDQ(operand.U8(4), from)
	t.fn.ADDQ(operand.U8(4), to)
	t.fn.SUBQ(pid, n)
	t.fn.MOVQ(t.arg("c"), p)
	t.fn.LEAQ(operand.Mem{Base: p, Index: pid, Scale: uint8(size)}, p)
	t.fn.SHLQ(operand.U8(2), pid)
	t.fn.ADDQ(t.arg("id"), pid)

	body := func(tail *tailMasks) {
		var sum reg.VecVirtual
		var x []reg.VecVirtual
		gap := func(x, lo, hi reg.VecVirtual) {
			y := t.fn.Vec()
			t.inst("VMIN", hi, x, y)
			t.inst("VMAX", lo, y, y)
			t.inst("VSUB", y, x, y)
			t.addSquare(&sum, y)
		}
		if dim > 0 {
			for a := range dim {
				x = append(x, t.load(row(p, ldc, a), tail))
				gap(x[a], lo[a], hi[a])
			}
		} else {
			sum = t.fn.Zero()
			t.eachAxis([]operand.Op{p, box}, []operand.Op{stride, operand.U8(2 * size)}, func(p []reg.GPVirtual) {
				gap(t.load(operand.Mem{Base: p[0]}, tail), t.broadcast(operand.Mem{Base: p[1]}),
					t.broadcast(operand.Mem{Base: p[1], Disp: size}))
			})
		}
		s := t.less(sum, r2, tail)
		s.permutations(table)
		t.inst("VMOVU", s.pack(sum), operand.Mem{Base: dist2})
		t.fn.VMOVUPS(s.packIDs(t.loadIDs(operand.Mem{Base: pid}, tail)), operand.Mem{Base: outID})
		if dim > 0 {
			for a := range dim {
				t.inst("VMOVU", s.pack(x[a]), row(out, ldo, a))
			}
		} else {
			t.eachAxis([]operand.Op{p, out}, []operand.Op{stride, strideOut}, func(p []reg.GPVirtual) {
				t.inst("VMOVU", s.pack(t.load(operand.Mem{Base: p[0]}, tail)), operand.Mem{Base: p[1]})
			})
		}
		kept := s.count()
		t.fn.LEAQ(operand.Mem{Base: out, Index: kept, Scale: uint8(size)}, out)
		t.fn.LEAQ(operand.Mem{Base: dist2, Index: kept, Scale: uint8(size)}, dist2)
		t.fn.LEAQ(operand.Mem{Base: outID, Index: kept, Scale: 4}, outID)
	}
	t.vectors(n, body, func() {
		t.fn.ADDQ(operand.U8(l.Bytes()), p)
		t.fn.ADDQ(operand.U8(4*t.fn.Lanes()), pid)
	})
	t.fn.JMP(operand.LabelRef(nextRun))
	t.fn.Label(finished)
	t.fn.SUBQ(t.arg("outID"), outID)
	t.fn.SHRQ(operand.U8(2), outID)
	t.fn.Store(outID, t.fn.ReturnIndex(0))
	t.fn.End()
}

// treeScan finds, for each of several queries, the points whose squared distance is less than the query's r2, or counts
// them. With dim 0 an axis may be periodic: the difference d becomes min(d, |period - d|), where an infinite period changes
// nothing.
func treeScan(f *x86.File, l x86.Level, e x86.Elem, dim int, count bool) {
	T, extra := e.GoType(), ""
	if dim == 0 {
		extra = ", period *" + T + ", dim int"
	}
	points := "q *" + T + ", ldq int, nq int, c *" + T + ", ldc int, nc int, r2 *" + T + ", stepR2 int" + extra
	var t *treeKernel
	if count {
		t = &treeKernel{f.Func(l, e, "treeCount"+treeSuffix(dim)+e.String(), "func(count *int32, "+points+")",
			"sets count[i] to the number of the nc points nearer to query i than its r2 says."), dim}
	} else {
		t = &treeKernel{f.Func(l, e, "treeScan"+treeSuffix(dim)+e.String(), "func(index *int32, dist2 *"+T+
			", end *int32, id *int32, "+points+")",
			"stores id and squared distance of the nc points nearer to a query than its r2 says, query after query, and where each ends. "+
				"index and dist2 have room for a vector more."), dim}
	}
	size := e.Bytes()
	var index, dist2 reg.GPVirtual
	end := "count"
	if !count {
		index, dist2, end = t.fn.Arg("index"), t.fn.Arg("dist2"), "end"
	}
	q, strideQ, stride := t.fn.Arg("q"), t.bytesArg("ldq"), t.bytesArg("ldc")
	var ldc reg.GPVirtual
	if dim > 0 {
		ldc = t.fn.GP64()
		t.fn.MOVQ(stride, ldc)
	}
	found := t.fn.GP64()
	t.fn.XORQ(found, found)
	var table reg.GPVirtual
	if l == x86.AVX2 && !count {
		table = t.table()
	}
	var abs reg.VecVirtual
	if dim == 0 {
		abs = t.fn.Vec()
		bits := uint64(0x7fffffff)
		if e == x86.F64 {
			bits = 0x7fffffffffffffff
		}
		rep := make([]uint64, 64/size)
		for i := range rep {
			rep[i] = bits
		}
		t.inst("VMOVU", t.fn.Data("treeAbs"+e.String(), rep...), abs)
	}
	query, done := t.fn.NewLabel("query"), t.fn.NewLabel("finished")
	t.fn.Label(query)
	t.fn.SUBQ(operand.U8(1), t.arg("nq"))
	t.fn.JL(operand.LabelRef(done))
	// The next query's coordinates and radius.
	at, step := t.fn.GP64(), t.fn.GP64()
	t.fn.MOVQ(t.arg("r2"), at)
	r2 := t.broadcast(operand.Mem{Base: at})
	t.fn.MOVQ(t.arg("stepR2"), step)
	t.fn.LEAQ(operand.Mem{Base: at, Index: step, Scale: uint8(size)}, at)
	t.fn.MOVQ(at, t.arg("r2"))
	var center []reg.VecVirtual
	t.fn.MOVQ(strideQ, step)
	for a := range dim {
		center = append(center, t.broadcast(row(q, step, a)))
	}
	p, pid, n := t.fn.GP64(), t.fn.GP64(), t.fn.GP64()
	t.fn.MOVQ(t.arg("c"), p)
	if !count {
		t.fn.MOVQ(t.arg("id"), pid)
	}
	t.fn.MOVQ(t.arg("nc"), n)
	if count {
		t.fn.XORQ(found, found)
	}
	body := func(tail *tailMasks) {
		var sum reg.VecVirtual
		if dim > 0 {
			for a := range dim {
				x := t.load(row(p, ldc, a), tail)
				t.inst("VSUB", center[a], x, x)
				t.addSquare(&sum, x)
			}
		} else {
			sum = t.fn.Zero()
			t.eachAxis([]operand.Op{p, q, t.arg("period")}, []operand.Op{stride, strideQ, operand.U8(size)}, func(p []reg.GPVirtual) {
				x := t.load(operand.Mem{Base: p[0]}, tail)
				t.inst("VSUB", t.broadcast(operand.Mem{Base: p[1]}), x, x)
				t.inst("VAND", abs, x, x)
				other := t.fn.Vec()
				t.inst("VSUB", t.broadcast(operand.Mem{Base: p[2]}), x, other)
				t.inst("VAND", abs, other, other)
				t.inst("VMIN", x, other, x) // x, if the other is NaN: both infinite
				t.addSquare(&sum, x)
			})
		}
		s := t.less(sum, r2, tail)
		if count {
			t.fn.ADDQ(s.count(), found)
			return
		}
		s.permutations(table)
		t.fn.VMOVUPS(s.packIDs(t.loadIDs(operand.Mem{Base: pid}, tail)), operand.Mem{Base: index, Index: found, Scale: 4})
		t.inst("VMOVU", s.pack(sum), operand.Mem{Base: dist2, Index: found, Scale: uint8(size)})
		t.fn.ADDQ(s.count(), found)
	}
	t.vectors(n, body, func() {
		t.fn.ADDQ(operand.U8(l.Bytes()), p)
		if !count {
			t.fn.ADDQ(operand.U8(4*t.fn.Lanes()), pid)
		}
	})
	to := t.fn.GP64()
	t.fn.MOVQ(t.arg(end), to)
	t.fn.MOVL(found.As32(), operand.Mem{Base: to})
	t.fn.ADDQ(operand.U8(4), t.arg(end))
	t.fn.ADDQ(operand.U8(size), q)
	t.fn.JMP(operand.LabelRef(query))
	t.fn.Label(done)
	t.fn.End()
}

// treePartition splits the columns of a matrix by a row of it, the key: those with key < pivot move to the front, the others
// to scratch, both in their order. A store to the front never reaches what is not yet read: the front grows no faster than the
// columns are read.
func treePartition(f *x86.File, l x86.Level, e x86.Elem) {
	T := e.GoType()
	t := &treeKernel{f.Func(l, e, "treePartition"+e.String(),
		"func(x *"+T+", ldx int, rows int, scratch *"+T+", lds int, key *"+T+", n int, pivot "+T+") int",
		"moves the columns with key < pivot of x to the front and the others to scratch, which has room for a vector "+
			"more, and returns how many are in front."), 0}
	size := e.Bytes()
	ldx, lds, key, n := t.bytes(t.fn.Arg("ldx")), t.bytes(t.fn.Arg("lds")), t.fn.Arg("key"), t.fn.Arg("n")
	pivot := t.fn.BroadcastArg("pivot")
	read, left := t.fn.GP64(), t.fn.GP64() // columns
	t.fn.XORQ(read, read)
	t.fn.XORQ(left, left)
	var table reg.GPVirtual
	if l == x86.AVX2 {
		table = t.table()
	}
	body := func(tail *tailMasks) {
		v := t.load(operand.Mem{Base: key, Index: read, Scale: uint8(size)}, tail)
		front := t.less(v, pivot, tail)
		front.permutations(table)
		back := &selection{treeKernel: t, bits: t.fn.GP64()}
		if l == x86.AVX512 {
			back.k = t.fn.K()
			t.fn.KNOTW(front.k, back.k)
			if tail != nil {
				t.fn.KANDW(tail.k, back.k, back.k)
			}
		} else {
			t.fn.MOVQ(front.bits, back.bits)
			t.fn.XORQ(operand.U32(1<<t.fn.Lanes()-1), back.bits) // lanes beyond the end are last and go to scratch's spare room
			back.permutations(table)
		}
		kept := front.count()
		var frontMask reg.Register
		if tail != nil { // a whole vector would reach past the last column
			if l == x86.AVX512 {
				ones, k := t.fn.GP64(), t.fn.K()
				t.fn.MOVQ(operand.I32(-1), ones)
				t.fn.BZHIQ(kept, ones, ones)
				t.fn.KMOVW(ones.As32(), k)
				frontMask = k
			} else {
				frontMask = t.window(kept, size, t.fn.Vec())
			}
		}
		px, ps, nrows, right := t.fn.GP64(), t.fn.GP64(), t.fn.GP64(), t.fn.GP64()
		t.fn.MOVQ(t.arg("x"), px)
		t.fn.MOVQ(t.arg("scratch"), ps)
		t.fn.MOVQ(read, right)
		t.fn.SUBQ(left, right)
		t.fn.Load(t.fn.Param("rows"), nrows)
		rows := t.fn.NewLabel("rows")
		t.fn.Label(rows)
		w := t.load(operand.Mem{Base: px, Index: read, Scale: uint8(size)}, tail)
		a, b := front.pack(w), back.pack(w)
		to := operand.Mem{Base: px, Index: left, Scale: uint8(size)}
		switch {
		case tail == nil:
			t.inst("VMOVU", a, to)
		case l == x86.AVX512:
			t.inst("VMOVU", a, frontMask, to)
		default:
			t.inst("VMASKMOV", a, frontMask, to)
		}
		t.inst("VMOVU", b, operand.Mem{Base: ps, Index: right, Scale: uint8(size)})
		t.fn.ADDQ(ldx, px)
		t.fn.ADDQ(lds, ps)
		t.fn.DECQ(nrows)
		t.fn.JNE(operand.LabelRef(rows))
		t.fn.ADDQ(kept, left)
	}
	t.vectors(n, body, func() { t.fn.ADDQ(operand.U8(t.fn.Lanes()), read) })
	t.fn.Store(left, t.fn.ReturnIndex(0))
	t.fn.End()
}
