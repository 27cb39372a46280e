package main

import (
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// The matrix products rest on one kernel: a strip of C, up to two vectors wide and any number of rows high,
//
//	C[i, :] = act(bias + Σ_p A[i, p]·B[p, :])    or    C[i, :] += Σ_p A[i, p]·B[p, :]
//
// It goes down the strip in tiles whose sums stay in registers for all p. A step p of a tile loads the row of B, and for each row
// of the tile repeats one element of A over a register and multiplies it with that row:
//
//	              vectors  rows   registers: sums + B + A   loads per FMA
//	AVX-512          2      14        28 + 2 + 2             16/28
//	                 1      18        18 + 1                 19/18  (A repeated by the FMA itself)
//	AVX2             2       6        12 + 2 + 2              8/12
//	                 1      10        10 + 1 + 2             11/10
//
// Two FMA and two loads a cycle are what the machine has, so wide tiles are bound by FMA alone. Four cycles of latency on two
// ports need 8 sums at least, which all but the lowest tiles have. If the rows of a strip are no multiple of the tile's,
// the last two tiles share what is left evenly. Every element's sum runs in the order of p, in one register, so its bits do
// not depend on where its row stands.
//
// The strip of A is read where it lies: its rows are `lda` apart ("N"), or it is given transposed and its columns are ("T").

// Bits of the argument mode.
const (
	gemmAccumulate = 1 << 0 // start from C instead of bias
	gemmReLU       = 1 << 1
	gemmSwish      = 1 << 2
)

// gemmTile is the kernel for one level and layout of A, while it is written.
type gemmTile struct {
	*x86.Func
	transposed bool // A is given transposed

	aTile    operand.Mem // A at the tile
	rowsLeft operand.Mem // rows of the strip, from the tile on
	maskPtr  operand.Mem // AVX2: the mask of the last vector
}

// The registers. A tile has up to six pointers into A, then into C, each for three rows: p, p + step, p + 2·step.
var (
	gemmRow     = []reg.GPPhysical{reg.RAX, reg.RBX, reg.RCX, reg.RSI, reg.RDI, reg.R8}
	gemmRows    = reg.RDX // rows of the tile
	gemmStepA   = reg.R9  // bytes from row to row of A, or from p to p+1 if A is transposed
	gemmB       = reg.R10
	gemmStepB   = reg.R11
	gemmK       = reg.R12
	gemmC       = reg.R13 // C at the tile
	gemmStepC   = reg.R14
	gemmMask512 = reg.K1 // the lanes of the last vector
)

// maxRows is the height of tiles of that many vectors.
func (g *gemmTile) maxRows(vectors int) int {
	switch {
	case g.Level == x86.AVX512 && vectors == 2:
		return 14
	case g.Level == x86.AVX512:
		return 18
	case vectors == 2:
		return 6
	}
	return 10
}

// vec is the physical vector register of that number.
func (g *gemmTile) vec(i int) reg.VecPhysical {
	if g.Level == x86.AVX512 {
		return [...]reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10,
			reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15, reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22,
			reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}[i]
	}
	return [...]reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10,
		reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}[i]
}

// The last registers hold the row of B and elements of A; in front of them stand the sums.
func (g *gemmTile) sum(row, v, vectors int) reg.VecPhysical { return g.vec(row*vectors + v) }
func (g *gemmTile) rowB(v int) reg.VecPhysical              { return g.vec(g.registers() - 4 + v) }
func (g *gemmTile) elemA(i int) reg.VecPhysical             { return g.vec(g.registers() - 2 + i%2) }
func (g *gemmTile) registers() int {
	if g.Level == x86.AVX512 {
		return 32
	}
	return 16
}

// arg returns the place of an argument on the stack.
func (g *gemmTile) arg(name string) operand.Mem {
	p, err := g.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// at returns the address of a row of the tile: one of three that share a pointer.
func at(row int, step reg.Register, disp int) operand.Mem {
	m := operand.Mem{Base: gemmRow[row/3], Disp: disp}
	if row%3 > 0 {
		m.Index, m.Scale = step, uint8(row%3)
	}
	return m
}

// pointers sets the pointers of a tile that starts at the first of them.
func (g *gemmTile) pointers(rows int, step reg.Register) {
	for i := 1; 3*i < rows; i++ {
		g.LEAQ(operand.Mem{Base: gemmRow[i-1], Index: step, Scale: 2}, gemmRow[i])
		g.ADDQ(step, gemmRow[i])
	}
}

// loadLast and storeLast move the last vector of a row, of which only some lanes may exist.
func (g *gemmTile) loadLast(m operand.Mem, mask, r reg.VecPhysical) {
	if g.Level == x86.AVX512 {
		g.VMOVUPS_Z(m, gemmMask512, r)
		return
	}
	g.VMASKMOVPS(m, mask, r)
}

func (g *gemmTile) storeLast(r, mask reg.VecPhysical, m operand.Mem) {
	if g.Level == x86.AVX512 {
		g.VMOVUPS(r, gemmMask512, m)
		return
	}
	g.VMASKMOVPS(r, mask, m)
}

// mask brings the mask of the last vector into a register; AVX-512 keeps it in one of its own.
func (g *gemmTile) mask(r reg.VecPhysical) reg.VecPhysical {
	if g.Level == x86.AVX2 {
		g.MOVQ(g.maskPtr, gemmK)
		g.VMOVUPS(operand.Mem{Base: gemmK}, r)
	}
	return r
}

// start gives every sum its first value: that of C, the bias, or 0.
func (g *gemmTile) start(rows, vectors int) {
	fresh, zero, spread, done := g.NewLabel("fresh"), g.NewLabel("zero"), g.NewLabel("spread"), g.NewLabel("started")
	last, size := vectors-1, g.Level.Bytes()
	mask := g.mask(g.elemA(0))
	g.TESTQ(operand.I32(gemmAccumulate), g.arg("mode"))
	g.JE(operand.LabelRef(fresh))
	g.MOVQ(gemmC, gemmRow[0])
	g.pointers(rows, gemmStepC)
	for r := range rows {
		if last > 0 {
			g.VMOVUPS(at(r, gemmStepC, 0), g.sum(r, 0, vectors))
		}
		g.loadLast(at(r, gemmStepC, last*size), mask, g.sum(r, last, vectors))
	}
	g.JMP(operand.LabelRef(done))

	g.Label(fresh)
	g.MOVQ(g.arg("bias"), gemmRow[0])
	g.TESTQ(gemmRow[0], gemmRow[0])
	g.JE(operand.LabelRef(zero))
	if last > 0 {
		g.VMOVUPS(operand.Mem{Base: gemmRow[0]}, g.rowB(0))
	}
	g.loadLast(operand.Mem{Base: gemmRow[0], Disp: last * size}, mask, g.rowB(last))
	g.JMP(operand.LabelRef(spread))
	g.Label(zero)
	for v := range vectors {
		g.clear(g.rowB(v))
	}
	g.Label(spread)
	for r := range rows {
		for v := range vectors {
			g.VMOVAPS(g.rowB(v), g.sum(r, v, vectors))
		}
	}
	g.Label(done)
}

func (g *gemmTile) clear(r reg.VecPhysical) {
	if g.Level == x86.AVX512 {
		g.VPXORD(r, r, r)
	} else {
		g.VXORPS(r, r, r)
	}
}

// step adds A[:, p]·B[p, :]; ahead is how many steps the pointers into A lag behind.
func (g *gemmTile) step(rows, vectors, ahead int) {
	for v := range vectors {
		g.VMOVUPS(operand.Mem{Base: gemmB, Disp: v * g.Level.Bytes()}, g.rowB(v))
	}
	for r := range rows {
		a := at(r, gemmStepA, 4*ahead)
		if g.transposed {
			a = operand.Mem{Base: gemmRow[0], Disp: 4 * r}
		}
		if g.Level == x86.AVX512 && vectors == 1 {
			g.VFMADD231PS_BCST(a, g.rowB(0), g.sum(r, 0, 1))
			continue
		}
		g.VBROADCASTSS(a, g.elemA(r))
		for v := range vectors {
			g.VFMADD231PS(g.rowB(v), g.elemA(r), g.sum(r, v, vectors))
		}
	}
	g.ADDQ(gemmStepB, gemmB)
	if g.transposed {
		g.ADDQ(gemmStepA, gemmRow[0])
	}
}

// advance moves the pointers into the rows of A by that many steps.
func (g *gemmTile) advance(rows, steps int) {
	if g.transposed {
		return
	}
	for i := 0; 3*i < rows; i++ {
		g.ADDQ(operand.I32(4*steps), gemmRow[i])
	}
}

// finish stores the sums, after the activation if it is ReLU.
func (g *gemmTile) finish(rows, vectors int) {
	linear := g.NewLabel("linear")
	last, size := vectors-1, g.Level.Bytes()
	g.TESTQ(operand.I32(gemmReLU), g.arg("mode"))
	g.JE(operand.LabelRef(linear))
	// max(0, x) is x for NaN, and for -0 as well: adding 0 makes it 0.
	zero := g.rowB(0)
	g.clear(zero)
	for r := range rows {
		for v := range vectors {
			s := g.sum(r, v, vectors)
			g.VMAXPS(s, zero, s)
			g.VADDPS(zero, s, s)
		}
	}
	g.Label(linear)
	mask := g.mask(g.elemA(0))
	g.MOVQ(gemmC, gemmRow[0])
	g.pointers(rows, gemmStepC)
	for r := range rows {
		if last > 0 {
			g.VMOVUPS(g.sum(r, 0, vectors), at(r, gemmStepC, 0))
		}
		g.storeLast(g.sum(r, last, vectors), mask, at(r, gemmStepC, last*size))
	}
}

// tile writes the kernel for tiles of one shape, which ends at the given label.
func (g *gemmTile) tile(rows, vectors int, end string) {
	loop, rest, single, store := g.NewLabel("loop"), g.NewLabel("rest"), g.NewLabel("single"), g.NewLabel("store")
	g.start(rows, vectors)
	g.MOVQ(g.aTile, gemmRow[0])
	if !g.transposed {
		g.pointers(rows, gemmStepA)
	}
	g.MOVQ(g.arg("b"), gemmB)
	g.MOVQ(g.arg("k"), gemmK)
	const unroll = 2
	g.SUBQ(operand.I32(unroll), gemmK)
	g.JL(operand.LabelRef(rest))
	g.align()
	g.Label(loop)
	for i := range unroll {
		g.step(rows, vectors, i)
	}
	g.advance(rows, unroll)
	g.SUBQ(operand.I32(unroll), gemmK)
	g.JGE(operand.LabelRef(loop))
	g.Label(rest)
	g.ADDQ(operand.I32(unroll), gemmK)
	g.JE(operand.LabelRef(store))
	g.Label(single)
	g.step(rows, vectors, 0)
	g.advance(rows, 1)
	g.DECQ(gemmK)
	g.JNE(operand.LabelRef(single))
	g.Label(store)
	g.finish(rows, vectors)
	g.JMP(operand.LabelRef(end))
}

// align starts what follows on a line of the instruction cache, so that a loop's speed does not depend on what stands before.
func (g *gemmTile) align() {
	g.Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []operand.Op{operand.Imm(64)}})
}

// choose jumps to the kernel for as many rows as the tile has, by bisection.
func (g *gemmTile) choose(lo, hi, vectors int, end string) {
	if lo == hi {
		g.tile(lo, vectors, end)
		return
	}
	mid, above := (lo+hi)/2, g.NewLabel("above")
	g.CMPQ(gemmRows, operand.I32(mid))
	g.JG(operand.LabelRef(above))
	g.choose(lo, mid, vectors, end)
	g.Label(above)
	g.choose(mid+1, hi, vectors, end)
}

// strip writes the loop over the tiles of a strip of that many vectors.
func (g *gemmTile) strip(vectors int, done string) {
	top := g.maxRows(vectors)
	next, share, chosen, end := g.NewLabel("tile"), g.NewLabel("share"), g.NewLabel("chosen"), g.NewLabel("tileEnd")
	g.Label(next)
	// rows = top if more than two tiles are left, half of the rest if more than one is, else the rest.
	g.MOVQ(g.rowsLeft, gemmRows)
	g.CMPQ(gemmRows, operand.I32(top))
	g.JLE(operand.LabelRef(chosen))
	g.CMPQ(gemmRows, operand.I32(2*top))
	g.JLE(operand.LabelRef(share))
	g.MOVQ(operand.I32(top), gemmRows)
	g.JMP(operand.LabelRef(chosen))
	g.Label(share)
	g.INCQ(gemmRows)
	g.SHRQ(operand.I8(1), gemmRows)
	g.Label(chosen)
	g.choose(1, top, vectors, end)

	g.Label(end)
	if !g.transposed {
		g.activate(vectors)
	}
	// The next tile starts `rows` rows further down in A and C.
	g.SUBQ(gemmRows, g.rowsLeft)
	g.JE(operand.LabelRef(done))
	g.MOVQ(gemmRows, gemmK)
	if g.transposed {
		g.SHLQ(operand.I8(2), gemmK)
	} else {
		g.IMULQ(gemmStepA, gemmK)
	}
	g.ADDQ(gemmK, g.aTile)
	g.IMULQ(gemmStepC, gemmRows)
	g.ADDQ(gemmRows, gemmC)
	g.JMP(operand.LabelRef(next))
}

// activate applies swish to the tile just stored, while it is in the first-level cache.
func (g *gemmTile) activate(vectors int) {
	row, skip := g.NewLabel("swish"), g.NewLabel("noSwish")
	last, size := vectors-1, g.Level.Bytes()
	g.TESTQ(operand.I32(gemmSwish), g.arg("mode"))
	g.JE(operand.LabelRef(skip))
	b := x86.NewBlock(g.Level, x86.F32)
	in := make([]x86.Value, vectors)
	for v := range in {
		in[v] = b.Input()
	}
	for _, y := range swishRowF32(b, in) {
		b.Output(y)
	}
	g.MOVQ(gemmC, gemmRow[0])
	g.MOVQ(gemmRows, gemmRow[1])
	var mask reg.VecPhysical
	if g.Level == x86.AVX2 {
		mask = g.mask(g.vec(15))
	}
	g.Label(row)
	var x [][]reg.VecVirtual
	for v := range vectors {
		r, m := g.Vec(), operand.Mem{Base: gemmRow[0], Disp: v * size}
		switch {
		case v < last:
			g.VMOVUPS(m, r)
		case g.Level == x86.AVX512:
			g.VMOVUPS_Z(m, gemmMask512, r)
		default:
			g.VMASKMOVPS(m, mask, r)
		}
		x = append(x, []reg.VecVirtual{r})
	}
	for v, out := range g.Emit(b, x, nil) {
		r := out[0]
		m := operand.Mem{Base: gemmRow[0], Disp: v * size}
		switch {
		case v < last:
			g.VMOVUPS(r, m)
		case g.Level == x86.AVX512:
			g.VMOVUPS(r, gemmMask512, m)
		default:
			g.VMASKMOVPS(r, mask, m)
		}
	}
	g.ADDQ(gemmStepC, gemmRow[0])
	g.DECQ(gemmRow[1])
	g.JNE(operand.LabelRef(row))
	g.Label(skip)
}

// The constants of swishFastF32: a minimax polynomial for 2^r, 0 ≤ r < 1, relative error 8.3e-8; on AVX2 for |r| ≤ 1/2,
// 9.4e-8.
var (
	exp2Floor   = []float64{1, 0x1.62e4bap-1, 0x1.ebdb6ap-3, 0x1.c91c1p-5, 0x1.277c1cp-7, 0x1.e96912p-10}
	exp2Nearest = []float64{1, 0x1.62e42ap-1, 0x1.ebf9c2p-3, 0x1.c6b6dap-5, 0x1.3ce8b4p-7, 0x1.5bd986p-10}
)

// swishRowF32 returns x/(1 + exp(-x)) of one vector or of two in the same row, for sums that carry rounding errors themselves.
//
//	t = -x·log2e,  r = t - floor(t)
//	d = 1 + exp(-x) = 1 + 2^floor(t)·2^r
//	swish(x) = x/d,  of two: y = 1/(d0·d1),  swish(x0) = x0·(d1·y),  swish(x1) = x1·(d0·y)
//
// t is rounded, which acts like a change of x by one unit in its last place; sums have larger errors already. A division takes
// the machine ten cycles per vector (AVX-512), more than all else here, so two vectors share one. The product of two d
// must not overflow: what is below -43 (swish(-43) = -9e-18) counts as -43, and so does -Inf. NaN comes through every step,
// to the other vector as well.
func swishRowF32(b *x86.Block, x []x86.Value) []x86.Value {
	one := b.Const("one", 1)
	d := make([]x86.Value, len(x))
	for i := range x {
		x[i] = b.Max(b.Const("swishMin", -43), x[i])
		t := b.Mul(x[i], b.Const("minusLog2e", -log2e))
		if b.Level == x86.AVX512 {
			p := b.Horner(b.Reduce(1, t), exp2Consts(b, "exp2Floor", exp2Floor)...)
			d[i] = b.FMA(b.Scale(one, t), p, one)
			continue
		}
		// AVX2 takes the nearest integer instead of floor(t), and puts it into the exponent of 2^r. z holds it in its low
		// bits. t stays above -126.
		t = b.Max(t, b.Const("exp2Min", -126))
		round := b.Const("roundF32", roundF32)
		z := b.Add(t, round)
		r := b.Sub(t, b.Sub(z, round))
		p := b.Horner(r, exp2Consts(b, "exp2Nearest", exp2Nearest)...)
		d[i] = b.Add(b.AddI(p, b.Shl(z, 23)), one)
	}
	if len(x) == 1 {
		return []x86.Value{b.Div(x[0], d[0])}
	}
	y := b.Div(one, b.Mul(d[0], d[1]))
	return []x86.Value{b.Mul(x[0], b.Mul(d[1], y)), b.Mul(x[1], b.Mul(d[0], y))}
}

func exp2Consts(b *x86.Block, name string, c []float64) []x86.Value {
	v := make([]x86.Value, len(c))
	for i, x := range c {
		v[i] = b.Const(name+string(rune('0'+i)), x)
	}
	return v
}

// gemmStripAMD64 writes one kernel.
func gemmStripAMD64(f *x86.File, l x86.Level, transposed bool) {
	name, doc := "gemmStripF32", "computes a strip of C [m, n] from A [m, k]"
	if transposed {
		name, doc = "gemmStripTNF32", "computes a strip of C [m, n] from A given as [k, m]"
	}
	fn := f.Func(l, x86.F32, name, "func(c *float32, ldc int, a *float32, lda int, b *float32, ldb int, bias *float32, m, k, n, mode int)",
		doc+" and B [k, n], with n up to two vectors and B readable to the end of its last vector.")
	g := &gemmTile{Func: fn, transposed: transposed, aTile: f.AllocLocal(8), rowsLeft: f.AllocLocal(8), maskPtr: f.AllocLocal(8)}
	done, one := g.NewLabel("done"), g.NewLabel("one")

	g.MOVQ(g.arg("ldc"), gemmStepC)
	g.MOVQ(g.arg("lda"), gemmStepA)
	g.MOVQ(g.arg("ldb"), gemmStepB)
	g.SHLQ(operand.I8(2), gemmStepC)
	g.SHLQ(operand.I8(2), gemmStepA)
	g.SHLQ(operand.I8(2), gemmStepB)
	g.MOVQ(g.arg("c"), gemmC)
	g.MOVQ(g.arg("a"), gemmRow[0])
	g.MOVQ(gemmRow[0], g.aTile)
	g.MOVQ(g.arg("m"), gemmRow[0])
	g.MOVQ(gemmRow[0], g.rowsLeft)

	// The last vector of a row has n lanes, or n less one vector.
	lanes := g.Lanes()
	width := g.NewLabel("width")
	g.MOVQ(g.arg("n"), gemmRow[0])
	g.CMPQ(gemmRow[0], operand.I32(lanes))
	g.JLE(operand.LabelRef(width))
	g.SUBQ(operand.I32(lanes), gemmRow[0])
	g.Label(width)
	if l == x86.AVX512 {
		g.MOVQ(operand.I32(-1), gemmRow[1])
		g.BZHIQ(gemmRow[0], gemmRow[1], gemmRow[1])
		g.KMOVW(gemmRow[1].As32(), gemmMask512)
	} else {
		// A window on eight ones followed by eight zeros, n before the border.
		bits := make([]uint64, 16)
		for i := range 8 {
			bits[i] = 0xffffffff
		}
		g.LEAQ(g.Data("tailMaskF32", bits...), gemmRow[1])
		g.NEGQ(gemmRow[0])
		g.LEAQ(operand.Mem{Base: gemmRow[1], Index: gemmRow[0], Scale: 4, Disp: 32}, gemmRow[1])
		g.MOVQ(gemmRow[1], g.maskPtr)
	}
	g.CMPQ(g.arg("n"), operand.I32(lanes))
	g.JLE(operand.LabelRef(one))
	g.strip(2, done)
	g.Label(one)
	g.strip(1, done)
	g.Label(done)
	g.End()
}

func gemmAMD64(f *x86.File) {
	for _, l := range levels {
		gemmStripAMD64(f, l, false)
		gemmStripAMD64(f, l, true)
	}
}
