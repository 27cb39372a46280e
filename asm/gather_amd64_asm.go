package main

import (
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// What the kernels that gather rows through a neighbourhood have in common. In all of them a row of the output owns n pairs,
// and a pair names a row of each of two matrices.

// gatherWalk goes through the pairs of row after row.
type gatherWalk struct {
	fn                         *x86.Func
	offsets, index, pose, rows reg.GPVirtual
	n                          reg.GPVirtual // pairs left of this row
}

// newGatherWalk loads the arguments offsets, index, pose and rows.
func newGatherWalk(fn *x86.Func) *gatherWalk {
	return &gatherWalk{fn, fn.Arg("offsets"), fn.Arg("index"), fn.Arg("pose"), fn.Arg("rows"), fn.GP64()}
}

// eachRow writes the loop over rows. The body must consume n pairs; finish comes after them.
func (g *gatherWalk) eachRow(body, finish func()) {
	row, done := g.fn.NewLabel("row"), g.fn.NewLabel("done")
	g.fn.TESTQ(g.rows, g.rows)
	g.fn.JE(operand.LabelRef(done))
	g.fn.Label(row)
	g.rowPairs(g.n)
	body()
	finish()
	g.fn.ADDQ(operand.U8(8), g.offsets)
	g.fn.DECQ(g.rows)
	g.fn.JNE(operand.LabelRef(row))
	g.fn.Label(done)
}

// rowPairs sets n = offsets[i+1] - offsets[i].
func (g *gatherWalk) rowPairs(n reg.GPVirtual) {
	g.fn.MOVQ(operand.Mem{Base: g.offsets, Disp: 8}, n)
	g.fn.SUBQ(operand.Mem{Base: g.offsets}, n)
}

// eachPair writes the loop over the pairs of a row, as many at a time as there are sets of accumulators: pair k goes to set
// k mod sets. The argument at of the body says which pair it is, counted from where index and pose point.
func (g *gatherWalk) eachPair(sets int, body func(set, at int)) {
	loop, rest, done := g.fn.NewLabel("pairs"), g.fn.NewLabel("rest"), g.fn.NewLabel("summed")
	step := operand.U8(sets)
	advance := func(by int) {
		g.fn.ADDQ(operand.U8(4*by), g.index)
		g.fn.ADDQ(operand.U8(4*by), g.pose)
	}
	g.fn.SUBQ(step, g.n)
	g.fn.JL(operand.LabelRef(rest))
	g.fn.Label(loop)
	for s := range sets {
		body(s, s)
	}
	advance(sets)
	g.fn.SUBQ(step, g.n)
	g.fn.JGE(operand.LabelRef(loop))
	g.fn.Label(rest)
	for s := range sets - 1 {
		// After the loop n + sets pairs were left. Of these, s are done.
		g.fn.CMPQ(g.n, operand.I8(int8(s-sets)))
		g.fn.JE(operand.LabelRef(done))
		body(s, 0)
		advance(1)
	}
	g.fn.Label(done)
}

// rowAddress returns base + stride·index for the index in memory.
func rowAddress(fn *x86.Func, index operand.Mem, base, stride reg.GPVirtual) reg.GPVirtual {
	r := fn.GP64()
	fn.MOVL(index, r.As32())
	fn.IMULQ(stride, r)
	fn.ADDQ(base, r)
	return r
}

// pairAt addresses entry at of an array of int32.
func pairAt(base reg.Register, at int) operand.Mem { return operand.Mem{Base: base, Disp: 4 * at} }

// sumSets adds the accumulators of a place in a fixed order: neighbours first, and their sums again. The sum stands in the
// first.
func sumSets(fn *x86.Func, acc []reg.VecVirtual) reg.VecVirtual {
	for step := 1; step < len(acc); step *= 2 {
		for i := 0; i+step < len(acc); i += 2 * step {
			floats(fn, "VADD", acc[i+step], acc[i], acc[i])
		}
	}
	return acc[0]
}

// single writes an instruction on single numbers of the function's type.
func single(fn *x86.Func, name string, ops ...operand.Op) {
	fn.Inst(name+map[x86.Elem]string{x86.F32: "SS", x86.F64: "SD"}[fn.Elem], ops...)
}

// ofType replaces float32 in a signature by the type of the elements.
func ofType(signature string, e x86.Elem) string {
	return strings.ReplaceAll(signature, "float32", e.GoType())
}

// multiplyAddRepeated adds a times the number in memory to each of the sums.
func multiplyAddRepeated(fn *x86.Func, m operand.Mem, a, sums []reg.VecVirtual) {
	if fn.Level == x86.AVX512 {
		for v := range a {
			fn.Inst(map[x86.Elem]string{x86.F32: "VFMADD231PS_BCST", x86.F64: "VFMADD231PD_BCST"}[fn.Elem], m, a[v], sums[v])
		}
		return
	}
	number := everywhere(fn, m)
	for v := range a {
		floats(fn, "VFMADD231", number, a[v], sums[v])
	}
}

// everywhere loads a number into all lanes of a register.
func everywhere(fn *x86.Func, m operand.Mem) reg.VecVirtual {
	r := fn.Vec()
	repeatElem(fn, m, r)
	return r
}

// zeros returns a list of cleared registers.
func zeros(fn *x86.Func, n int) []reg.VecVirtual {
	acc := make([]reg.VecVirtual, n)
	for i := range acc {
		acc[i] = fn.Vec()
	}
	return acc
}

// clearAll sets registers to zero.
func clearAll[R vector](fn *x86.Func, acc []R) {
	for _, a := range acc {
		if fn.Level == x86.AVX2 {
			fn.VXORPS(a, a, a)
		} else {
			fn.VPXORD(a, a, a)
		}
	}
}

func gatherAMD64(f *x86.File) {
	for _, l := range levels {
		gatherMax(f, l)
	}
}

// gatherMax writes the largest of n indices, read as unsigned numbers. A negative index is then larger than any valid one, so that a single
// comparison with the number of rows tells whether all indices are valid.
func gatherMax(f *x86.File, l x86.Level) {
	const unroll = 4
	fn := f.Func(l, x86.F32, "gatherMax", "func(x *int32, n int) uint32", "returns the largest of x[:n] as unsigned numbers, 0 for none.")
	x, n := fn.Arg("x"), fn.Arg("n")
	maximum := func(a, b operand.Op, dst reg.Register) {
		fn.VPMAXUD(a, b, dst)
	}
	acc := zeros(fn, unroll)
	clearAll(fn, acc)
	for _, copies := range []int{unroll, 1} {
		loop, next := fn.NewLabel("loop"), fn.NewLabel("next")
		step := operand.U32(copies * fn.Lanes())
		fn.SUBQ(step, n)
		fn.JL(operand.LabelRef(next))
		fn.Label(loop)
		for u := range copies {
			maximum(operand.Mem{Base: x, Disp: u * l.Bytes()}, acc[u], acc[u])
		}
		fn.ADDQ(operand.U32(copies*l.Bytes()), x)
		fn.SUBQ(step, n)
		fn.JGE(operand.LabelRef(loop))
		fn.Label(next)
		fn.ADDQ(step, n)
	}
	// The other lanes of the tail read as 0.
	maximum(fn.NewTail(n).Load(operand.Mem{Base: x}), acc[0], acc[0])
	maximum(acc[1], acc[0], acc[0])
	maximum(acc[3], acc[2], acc[2])
	maximum(acc[2], acc[0], acc[0])
	v, high := acc[0], fn.XMM()
	if l == x86.AVX512 {
		upper := fn.YMM()
		fn.VEXTRACTI64X4(operand.U8(1), v, upper)
		maximum(upper, v.AsY(), v.AsY())
	}
	fn.VEXTRACTI128(operand.U8(1), v.AsY(), high)
	maximum(high, v.AsX(), v.AsX())
	for _, order := range []uint8{0x4e, 0xb1} { // halves exchanged, then neighbours
		fn.VPSHUFD(operand.U8(order), v.AsX(), high)
		maximum(high, v.AsX(), v.AsX())
	}
	r := fn.GP32()
	fn.VMOVD(v.AsX(), r)
	fn.Store(r, fn.ReturnIndex(0))
	fn.End()
}
