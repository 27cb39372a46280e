package main

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/equivcnp/equivcnp/asm/internal/x86"
)

// The matrix products rest on one kernel: a strip of C, one, two or four vectors wide and any number of rows high,
//
//	C[i, :] = act(bias + Σ_p A[i, p]·B[p, :])    or    C[i, :] += Σ_p A[i, p]·B[p, :]
//
// It goes down the strip in tiles whose sums stay in registers for all p. A step p of a tile loads the row of B, and for each row
// of the tile repeats one element of A over a register and multiplies it with that row:
//
//	              vectors  rows   registers: sums + B + A   loads per FMA
//	AVX-512          4       6        24 + 4 + 2             10/24
//	                 2      14        28 + 2 + 2             16/28
//	                 1      16        16 + 1                 17/16
//	AVX2             4       3        12 + 1 + 3              7/12
//	                 2       6        12 + 2 + 2              8/12
//	                 1      10        10 + 1 + 2             11/10
//
// In a cycle the machine does two FMA, and loads two vectors or three repeated elements. So the FMA alone limit the
// tiles of two and four vectors. In tiles of one vector the loads take as long as the FMA, which repeat an operand in
// memory there: that saves an instruction. On AVX-512 27 rows would be as fast as 16, with 1,300 lines more. An FMA
// takes four cycles on each of two ports, so 8 independent sums are needed to keep them busy; all but the lowest tiles
// have as many.
//
// Only the steps are written once per height of a tile. What comes before and after them is shared by all heights, and
// ends with the last row of the tile. Nearly all of a strip consists of the highest tiles, which take eight steps per
// round. Meanwhile, unless A is transposed, tiles of two and four vectors fetch the rows of A that the next tile needs,
// as if these followed each other without gaps; waiting for them would cost a tenth of the time where A comes from the
// second-level cache. In tiles of one vector a fetch would cost the load that it saves. To fetch the rows of C before
// they are written was slower.
//
// If the number of rows of a strip is no multiple of the tile's, the last two tiles share what is left evenly. The sum
// of an element is added up in the order of p, in one register, so its bits do not depend on where its row stands.
//
// The strip of four vectors on AVX-512 is for small k, where most of the memory traffic is C's: it writes 256 bytes of
// a row at once. On AVX2 four vectors are as wide as a panel of B; there a step repeats the elements of A first, for
// all rows, and then loads B vector by vector.
//
// Whole strips of two and four vectors can be stored past the caches, on AVX2 those of four. A tile of four vectors
// that is to go through swish is kept in a small buffer until then, so that C is only written and never read.
//
// A is read where it lies. Its element [i, p] stands at a[i·rsa + p·csa], where rsa or csa is 1. If csa is not 1, A is given
// transposed; then one pointer serves all rows of the tile, and moves on after every step.

// Bits of the argument mode.
const (
	gemmAccumulate = 1 << iota
	gemmReLU
	gemmSwish
	gemmStream
)

var gemmBits = []x86.Bit{
	{Name: "stripAccumulate", Value: gemmAccumulate, Doc: "adds to C; otherwise sums start from the bias, or from 0 if it is nil."},
	{Name: "stripReLU", Value: gemmReLU, Doc: "ends in max(0, x)."},
	{Name: "stripSwish", Value: gemmSwish, Doc: "ends in x/(1 + exp(-x)) as WeightNetF32 documents it."},
	{Name: "stripStream", Value: gemmStream, Doc: "stores whole strips past the caches, where C and its rows begin on " +
		"a cache line. With stripSwish it needs a tile, which only gemmWideF32AVX512 takes."},
}

// gemmRound is how many steps a round of the highest tiles takes. These are the rounds that fetch A.
const gemmRound = 8

// gemmFetchDepth is from which k on AVX2's tiles of four vectors fetch A ahead. With k = 256 that makes them 1.17 times
// as fast where A comes from the third-level cache; with k = 32 a tile's rows follow each other so closely that the
// machine fetches them by itself, and without fetches they take 0.95 of the time, 0.78 where C goes to memory.
const gemmFetchDepth = 64

// cacheLine is the bytes in a line of the cache.
const cacheLine = 64

// gemmTile is the kernel for one level, while it is written.
type gemmTile struct {
	fn *x86.Func

	aTile    operand.Mem // A at the tile
	rowsLeft operand.Mem // rows of the strip, from the tile on
	maskPtr  operand.Mem // AVX2: the mask of the last vector
}

// The registers. A tile has up to three pointers into A, then into C, each for nine rows: an address takes 1, 2, 4 or 8 times a
// register, and with the multiples 3, 5 and 7 of the step in registers these are all rows from p to p + 8·step.
var (
	gemmRow     = []reg.GPPhysical{reg.RAX, reg.RBX, reg.RCX}
	gemmStep3   = reg.RSI // three, five and seven times the step of what gemmRow points into
	gemmStep5   = reg.R8
	gemmStep7   = reg.RDI
	gemmRows    = reg.RDX // rows of the tile
	gemmStepA   = reg.R9  // bytes from row to row of A
	gemmNextA   = reg.R15 // bytes from p to p+1 in a row of A
	gemmB       = reg.R10
	gemmStepB   = reg.R11
	gemmPanel   = gemmStep7 // bytes from one panel of B to the other for four vectors, whose tiles are too low to need that step
	gemmK       = reg.R12
	gemmC       = reg.R13 // C at the tile
	gemmStepC   = reg.R14
	gemmAhead   = gemmStepC // while the sums grow: what to fetch of the next tile of A
	gemmMask512 = reg.K1    // the lanes of the last vector
)

// maxRows is the height of tiles of that many vectors.
func (g *gemmTile) maxRows(vectors int) int {
	switch {
	case g.keepsA(vectors):
		return 3
	case vectors == 4:
		return 6
	case g.fn.Level == x86.AVX512 && vectors == 2:
		return 14
	case vectors == 2:
		return 6
	case g.fn.Elem == x86.F64:
		return 12
	case g.fn.Level == x86.AVX512:
		return 16
	}
	return 10
}

// keepsA says that a step of a tile repeats an element of A for every row first, and then brings in the row of B vector
// by vector: three rows of four vectors leave AVX2 four registers beside the sums.
func (g *gemmTile) keepsA(vectors int) bool { return g.fn.Level == x86.AVX2 && vectors == 4 }

// panels says that the columns of a tile lie in two panels of B; only AVX-512 has tiles that are wider than a panel.
func (g *gemmTile) panels(vectors int) bool { return g.fn.Level == x86.AVX512 && vectors == 4 }

// vec is the physical vector register of that number.
func (g *gemmTile) vec(i int) reg.VecPhysical {
	if g.fn.Level == x86.AVX512 {
		return [...]reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10,
			reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15, reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22,
			reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}[i]
	}
	return [...]reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10,
		reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}[i]
}

// The last registers hold the row of B and elements of A; in front of them stand the sums.
func (g *gemmTile) sum(row, v, vectors int) reg.VecPhysical { return g.vec(row*vectors + v) }
func (g *gemmTile) rowB(v, vectors int) reg.VecPhysical {
	if g.keepsA(vectors) {
		return g.vec(12 + v)
	}
	return g.vec(g.registers() - 3 - v)
}
func (g *gemmTile) elemA(i int) reg.VecPhysical { return g.vec(g.registers() - 2 + i%2) }
func (g *gemmTile) registers() int {
	if g.fn.Level == x86.AVX512 {
		return 32
	}
	return 16
}

// floats completes the name of an instruction on vectors of the tile's elements.
func (g *gemmTile) floats(name string) string {
	if g.fn.Elem == x86.F64 {
		return name + "PD"
	}
	return name + "PS"
}

// repeat brings an element into all lanes of a register.
func (g *gemmTile) repeat(m operand.Mem, r reg.Register) {
	if g.fn.Elem == x86.F64 {
		g.fn.VBROADCASTSD(m, r)
	} else {
		g.fn.VBROADCASTSS(m, r)
	}
}

// toBytes turns a distance in elements into one in bytes.
func (g *gemmTile) toBytes(r reg.Register) {
	g.fn.SHLQ(operand.U8(bits.TrailingZeros(uint(g.fn.Elem.Bytes()))), r)
}

// arg returns the place of an argument on the stack.
func (g *gemmTile) arg(name string) operand.Mem {
	p, err := g.fn.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// gemmReach is how many rows share a pointer.
const gemmReach = 9

// at returns the address of a row of the tile.
func at(row int, step reg.Register, disp int) operand.Mem {
	m := operand.Mem{Base: gemmRow[row/gemmReach], Disp: disp}
	if r := row % gemmReach; r > 0 {
		m.Index = [gemmReach]reg.Register{nil, step, step, gemmStep3, step, gemmStep5, gemmStep3, gemmStep7, step}[r]
		m.Scale = [gemmReach]uint8{0, 1, 2, 1, 4, 1, 2, 1, 8}[r]
	}
	return m
}

// pointers sets the pointers of a tile that starts at the first of them, and the multiples of the step.
func (g *gemmTile) pointers(rows int, step reg.Register) {
	if rows > 3 {
		g.fn.LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, gemmStep3)
	}
	if rows > 5 {
		g.fn.LEAQ(operand.Mem{Base: step, Index: step, Scale: 4}, gemmStep5)
	}
	if rows > 7 {
		g.fn.LEAQ(operand.Mem{Base: gemmStep3, Index: step, Scale: 4}, gemmStep7)
	}
	for i := 1; gemmReach*i < rows; i++ {
		g.fn.LEAQ(operand.Mem{Base: gemmRow[i-1], Index: step, Scale: 8}, gemmRow[i])
		g.fn.ADDQ(step, gemmRow[i])
	}
}

// loadLast and storeLast move the last vector of a row, of which only some lanes may exist.
func (g *gemmTile) loadLast(m operand.Mem, mask, r reg.VecPhysical) {
	if mask == nil {
		g.fn.VMOVUPS(m, r)
		return
	}
	if g.fn.Level == x86.AVX512 {
		g.fn.Inst(g.floats("VMOVU")+"_Z", m, gemmMask512, r)
		return
	}
	g.fn.Inst(g.floats("VMASKMOV"), m, mask, r)
}

func (g *gemmTile) storeLast(r, mask reg.VecPhysical, m operand.Mem) {
	if mask == nil {
		g.fn.VMOVUPS(r, m)
		return
	}
	if g.fn.Level == x86.AVX512 {
		g.fn.Inst(g.floats("VMOVU"), r, gemmMask512, m)
		return
	}
	g.fn.Inst(g.floats("VMASKMOV"), r, mask, m)
}

// mask brings the mask of the last vector into a register, nil if that is whole; AVX-512 keeps it in one of its own.
func (g *gemmTile) mask(r reg.VecPhysical, whole bool) reg.VecPhysical {
	switch {
	case whole:
		return nil
	case g.fn.Level == x86.AVX2:
		g.fn.MOVQ(g.maskPtr, gemmK)
		g.fn.VMOVUPS(operand.Mem{Base: gemmK}, r)
	}
	return r
}

// eachRow writes code for each row of a tile, which goes to done after the last row that the tile has. To test after
// every row would take as long as the rows themselves. So the rows are divided into parts of gemmPart rows, each
// written twice: without tests, for tiles that have all of them, and with a test after every row, for the tile that
// ends among them. In float64 there are tests only, for the sake of brevity.
func (g *gemmTile) eachRow(top int, done string, write func(row int)) {
	if g.fn.Elem == x86.F64 {
		for r := range top {
			if r > 0 {
				g.fn.CMPQ(gemmRows, operand.I32(r))
				g.fn.JE(operand.LabelRef(done))
			}
			write(r)
		}
		g.fn.JMP(operand.LabelRef(done))
		return
	}
	size := gemmPart(top)
	ends := make([]string, top/size)
	for i := range ends {
		ends[i] = g.fn.NewLabel("ends")
		g.fn.CMPQ(gemmRows, operand.I32((i+1)*size))
		g.fn.JL(operand.LabelRef(ends[i]))
		for r := range size {
			write(i*size + r)
		}
		g.fn.JE(operand.LabelRef(done)) // none of those instructions changes a flag
	}
	for i, end := range ends {
		g.fn.Label(end)
		for r := i * size; r < (i+1)*size-1; r++ {
			write(r)
			g.fn.CMPQ(gemmRows, operand.I32(r+1))
			g.fn.JE(operand.LabelRef(done))
		}
	}
}

// atLeastRows writes code for each row of a tile and perhaps for some more, whose sums nobody uses, and goes to done.
func (g *gemmTile) atLeastRows(top int, done string, write func(row int)) {
	for r := range top {
		if r > 0 && r%gemmPart(top) == 0 {
			g.fn.CMPQ(gemmRows, operand.I32(r))
			g.fn.JLE(operand.LabelRef(done))
		}
		write(r)
	}
}

// gemmPart is how many rows of a tile are done without a test: at most 9, and a divisor of the highest tile's rows.
func gemmPart(top int) int {
	for n := 9; ; n-- {
		if top%n == 0 {
			return n
		}
	}
}

// start gives every sum its first value: that of C, the bias, or 0.
func (g *gemmTile) start(top, vectors int) {
	fresh, zero, spread, done := g.fn.NewLabel("fresh"), g.fn.NewLabel("zero"), g.fn.NewLabel("spread"), g.fn.NewLabel("started")
	last, size := vectors-1, g.fn.Level.Bytes()
	mask := g.mask(g.elemA(0), vectors == 4)
	g.fn.TESTQ(operand.I32(gemmAccumulate), g.arg("mode"))
	g.fn.JE(operand.LabelRef(fresh))
	g.fn.MOVQ(gemmC, gemmRow[0])
	g.pointers(top, gemmStepC)
	g.eachRow(top, done, func(r int) {
		for v := range last {
			g.fn.VMOVUPS(at(r, gemmStepC, v*size), g.sum(r, v, vectors))
		}
		g.loadLast(at(r, gemmStepC, last*size), mask, g.sum(r, last, vectors))
	})

	g.fn.Label(fresh)
	g.fn.MOVQ(g.arg("bias"), gemmRow[0])
	g.fn.TESTQ(gemmRow[0], gemmRow[0])
	g.fn.JE(operand.LabelRef(zero))
	for v := range last {
		g.fn.VMOVUPS(operand.Mem{Base: gemmRow[0], Disp: v * size}, g.rowB(v, vectors))
	}
	g.loadLast(operand.Mem{Base: gemmRow[0], Disp: last * size}, mask, g.rowB(last, vectors))
	g.fn.JMP(operand.LabelRef(spread))
	g.fn.Label(zero)
	for v := range vectors {
		g.clear(g.rowB(v, vectors))
	}
	g.fn.Label(spread)
	g.atLeastRows(top, done, func(r int) {
		for v := range vectors {
			g.fn.VMOVAPS(g.rowB(v, vectors), g.sum(r, v, vectors))
		}
	})
	g.fn.Label(done)
}

func (g *gemmTile) clear(r reg.VecPhysical) {
	if g.fn.Level == x86.AVX512 {
		g.fn.VPXORD(r, r, r)
	} else {
		g.fn.VXORPS(r, r, r)
	}
}

// round adds A[:, p]·B[p, :] for so many steps p, and moves the pointers on. The pointers to B and to a transposed A
// move only after every second p, where an address has room for an index: additions take ports from the FMA.
func (g *gemmTile) round(steps, rows, vectors int, transposed, fetch bool) {
	e := g.fn.Elem.Bytes()
	size, pair := e*steps*rows, min(steps, 2)
	if g.panels(vectors) {
		pair = 1 // the index leads to the other panel
	}
	ahead := func(base, step reg.Register, i, disp int) operand.Mem {
		if i%pair == 0 {
			return operand.Mem{Base: base, Disp: disp}
		}
		return operand.Mem{Base: base, Index: step, Scale: 1, Disp: disp}
	}
	move := func(base, step reg.Register, i int) {
		switch {
		case pair == 1:
			g.fn.ADDQ(step, base)
		case i%pair == 1:
			g.fn.LEAQ(operand.Mem{Base: base, Index: step, Scale: 2}, base)
		}
	}
	for i := range steps {
		elemA := func(r int) operand.Mem {
			if transposed {
				return ahead(gemmRow[0], gemmNextA, i, e*r)
			}
			return at(r, gemmStepA, e*i)
		}
		elemB := func(v int) operand.Mem {
			if v < 2 || !g.panels(vectors) {
				return ahead(gemmB, gemmStepB, i, v*g.fn.Level.Bytes())
			}
			return operand.Mem{Base: gemmB, Index: gemmPanel, Scale: 1, Disp: (v - 2) * g.fn.Level.Bytes()}
		}
		if g.keepsA(vectors) {
			g.columnByColumn(rows, vectors, elemA, elemB)
		} else {
			g.rowByRow(rows, vectors, elemA, elemB)
		}
		if transposed {
			move(gemmRow[0], gemmNextA, i)
		}
		move(gemmB, gemmStepB, i)
		if fetch && cacheLine*i < size {
			g.fn.PREFETCHT0(operand.Mem{Base: gemmAhead, Disp: cacheLine*i + g.further(vectors)})
		}
	}
	if fetch {
		g.fn.ADDQ(operand.I32(size), gemmAhead)
	}
	for p := 0; !transposed && gemmReach*p < rows; p++ {
		g.fn.ADDQ(operand.I32(e*steps), gemmRow[p])
	}
}

// further is how many bytes behind the next tile's rows of A the fetched ones lie. A tile of two vectors is done before its successor's
// rows come from memory: with AVX-512 one of 32 terms takes 110 ns. Measured in float32 alone.
func (g *gemmTile) further(vectors int) int {
	if g.fn.Level == x86.AVX512 && g.fn.Elem == x86.F32 && vectors == 2 {
		return 2 << 10
	}
	return 0
}

// rowByRow is a step of a tile that holds a row of B, and needs each element of A once.
func (g *gemmTile) rowByRow(rows, vectors int, elemA, elemB func(int) operand.Mem) {
	for v := range vectors {
		g.fn.VMOVUPS(elemB(v), g.rowB(v, vectors))
	}
	for r := range rows {
		if vectors == 1 && g.fn.Level == x86.AVX512 {
			g.fn.Inst(g.floats("VFMADD231")+"_BCST", elemA(r), g.rowB(0, vectors), g.sum(r, 0, 1))
			continue
		}
		g.repeat(elemA(r), g.elemA(r))
		for v := range vectors {
			g.fn.Inst(g.floats("VFMADD231"), g.rowB(v, vectors), g.elemA(r), g.sum(r, v, vectors))
		}
	}
}

// columnByColumn is a step of a tile that holds a column of A, and needs each vector of B once.
func (g *gemmTile) columnByColumn(rows, vectors int, elemA, elemB func(int) operand.Mem) {
	right := g.vec(15)
	for r := range rows {
		g.repeat(elemA(r), g.vec(12+r))
	}
	for v := range vectors {
		g.fn.VMOVUPS(elemB(v), right)
		for r := range rows {
			g.fn.Inst(g.floats("VFMADD231"), right, g.vec(12+r), g.sum(r, v, vectors))
		}
	}
}

// finish stores the sums, after the activation if it is ReLU.
func (g *gemmTile) finish(top, vectors int) {
	linear := g.fn.NewLabel("linear")
	last, size := vectors-1, g.fn.Level.Bytes()
	g.fn.TESTQ(operand.I32(gemmReLU), g.arg("mode"))
	g.fn.JE(operand.LabelRef(linear))
	g.relu(top, vectors, linear)
	g.fn.Label(linear)
	g.fn.MOVQ(g.arg("ldc"), gemmStepC)
	g.toBytes(gemmStepC)
	g.fn.MOVQ(gemmC, gemmRow[0])
	g.pointers(top, gemmStepC)
	stored := g.fn.NewLabel("stored")
	if g.streams(vectors) {
		cached := g.fn.NewLabel("cached")
		g.fn.TESTQ(operand.I32(gemmStream), g.arg("mode"))
		g.fn.JE(operand.LabelRef(cached))
		if g.panels(vectors) {
			// With swish still to come, the sums go to the buffer.
			straight := g.fn.NewLabel("straight")
			g.fn.TESTQ(operand.I32(gemmSwish), g.arg("mode"))
			g.fn.JE(operand.LabelRef(straight))
			g.fn.MOVQ(g.arg("tile"), gemmRow[0])
			g.eachRow(top, stored, func(r int) {
				for v := range vectors {
					g.fn.VMOVUPS(g.sum(r, v, vectors), operand.Mem{Base: gemmRow[0], Disp: (r*vectors + v) * size})
				}
			})
			g.fn.Label(straight)
		}
		g.eachRow(top, stored, func(r int) {
			for v := range vectors {
				g.fn.VMOVNTPS(g.sum(r, v, vectors), at(r, gemmStepC, v*size))
			}
		})
		g.fn.Label(cached)
	}
	g.wholeOrNot(vectors, func(whole bool) {
		mask := g.mask(g.elemA(0), whole)
		g.eachRow(top, stored, func(r int) {
			for v := range last {
				g.fn.VMOVUPS(g.sum(r, v, vectors), at(r, gemmStepC, v*size))
			}
			g.storeLast(g.sum(r, last, vectors), mask, at(r, gemmStepC, last*size))
		})
	})
	g.fn.Label(stored)
}

// relu applies ReLU to the sums, and may go to done before the end. max(0, x) is x for NaN, and for -0 as well: adding 0 makes it 0.
func (g *gemmTile) relu(top, vectors int, done string) {
	zero := g.rowB(0, vectors)
	g.clear(zero)
	g.atLeastRows(top, done, func(r int) {
		for v := range vectors {
			s := g.sum(r, v, vectors)
			g.fn.Inst(g.floats("VMAX"), s, zero, s)
			g.fn.Inst(g.floats("VADD"), zero, s, s)
		}
	})
}

// streams reports whether tiles of that width can be stored past the caches: they must fill whole lines.
func (g *gemmTile) streams(vectors int) bool {
	return g.fn.Level == x86.AVX512 && vectors > 1 || vectors == 4
}

// wholeOrNot writes the code twice: for rows that end in a whole vector, and for other rows, which tiles of four
// vectors do not have. It does so because numbers that a masked move has stored take long to be loaded again.
func (g *gemmTile) wholeOrNot(vectors int, write func(whole bool)) {
	if vectors == 4 {
		write(true)
		return
	}
	part, done := g.fn.NewLabel("part"), g.fn.NewLabel("whole")
	g.fn.CMPQ(g.arg("n"), operand.I32(vectors*g.fn.Lanes()))
	g.fn.JL(operand.LabelRef(part))
	write(true)
	g.fn.JMP(operand.LabelRef(done))
	g.fn.Label(part)
	write(false)
	g.fn.Label(done)
}

// steps writes all steps of tiles of one height, and goes to done.
func (g *gemmTile) steps(rows, vectors int, transposed bool, done string) {
	g.fn.MOVQ(g.arg("k"), gemmK)
	fetches := rows == g.maxRows(vectors) && vectors > 1 && !transposed
	if fetches && g.keepsA(vectors) {
		near := g.fn.NewLabel("near")
		g.fn.CMPQ(gemmK, operand.I32(gemmFetchDepth))
		g.fn.JL(operand.LabelRef(near))
		g.turns(gemmRound, rows, vectors, transposed, true, done)
		g.fn.Label(near)
		fetches = false
	}
	for _, n := range g.rounds(rows, vectors, transposed) {
		g.turns(n, rows, vectors, transposed, fetches && n == gemmRound, done)
	}
	g.fn.JMP(operand.LabelRef(done))
}

// turns writes a loop whose turns take n steps each, as many as are left, and goes to done if that was all.
func (g *gemmTile) turns(n, rows, vectors int, transposed, fetch bool, done string) {
	loop, rest := g.fn.NewLabel("round"), g.fn.NewLabel("rest")
	if n > 1 {
		g.fn.SUBQ(operand.I32(n), gemmK)
		g.fn.JL(operand.LabelRef(rest))
	}
	g.fn.Align()
	g.fn.Label(loop)
	g.round(n, rows, vectors, transposed, fetch)
	g.fn.SUBQ(operand.I32(n), gemmK)
	if n == 1 {
		g.fn.JNE(operand.LabelRef(loop))
		return
	}
	g.fn.JGE(operand.LabelRef(loop))
	g.fn.Label(rest)
	g.fn.ADDQ(operand.I32(n), gemmK)
	g.fn.JE(operand.LabelRef(done))
}

// rounds returns how many steps a turn of each of a tile's loops takes; the loops follow each other. Long rounds leave
// more ports to the FMA, and the machine predicts the end of a loop with fewer turns: single steps made AVX-512 up to 7
// % slower. In tiles of one vector, whose rows take a load each, rounds of four are as fast as of eight. Those over a transposed A, and
// lower tiles, are so rare that their code is kept short.
func (g *gemmTile) rounds(rows, vectors int, transposed bool) []int {
	wide := g.fn.Level == x86.AVX512
	switch top := rows == g.maxRows(vectors); {
	case transposed && (vectors == 1 || wide && rows < g.maxRows(vectors)):
		return []int{1}
	case top && vectors == 1:
		return []int{4, 1}
	case top && (wide || !transposed):
		return []int{gemmRound, 1}
	case top:
		return []int{4, 1}
	}
	return []int{2, 1}
}

// choose writes the steps of tiles of every height, and goes to done. In float32, whose products are often small ones,
// each height has loops of its own. In float64, and on AVX-512 where A is transposed, all heights below the highest share
// one. On AVX2 two rows would take 13 % longer so.
func (g *gemmTile) choose(vectors int, transposed bool, done string) {
	top := g.maxRows(vectors)
	if g.fn.Elem == x86.F32 && (!transposed || g.fn.Level == x86.AVX2) {
		g.bisect(1, top, vectors, transposed, done)
		return
	}
	lower := g.fn.NewLabel("lower")
	g.fn.CMPQ(gemmRows, operand.I32(top))
	g.fn.JL(operand.LabelRef(lower))
	g.steps(top, vectors, transposed, done)
	g.fn.Label(lower)
	g.sharedSteps(top-1, vectors, transposed, done)
}

// bisect jumps to the steps for as many rows as the tile has.
func (g *gemmTile) bisect(lo, hi, vectors int, transposed bool, done string) {
	if lo == hi {
		g.steps(lo, vectors, transposed, done)
		return
	}
	mid, above := (lo+hi)/2, g.fn.NewLabel("above")
	g.fn.CMPQ(gemmRows, operand.I32(mid))
	g.fn.JG(operand.LabelRef(above))
	g.bisect(lo, mid, vectors, transposed, done)
	g.fn.Label(above)
	g.bisect(mid+1, hi, vectors, transposed, done)
}

// sharedSteps writes single steps of tiles of up to so many rows, and goes to done. A test after every row ends the
// step; the machine predicts it, as the number of rows stays the same.
func (g *gemmTile) sharedSteps(most, vectors int, transposed bool, done string) {
	step, next, e := g.fn.NewLabel("step"), g.fn.NewLabel("next"), g.fn.Elem.Bytes()
	g.fn.MOVQ(g.arg("k"), gemmK)
	g.fn.Align()
	g.fn.Label(step)
	g.rowByRow(most, vectors, func(r int) operand.Mem {
		if r > 0 {
			g.fn.CMPQ(gemmRows, operand.I32(r))
			g.fn.JE(operand.LabelRef(next))
		}
		if transposed {
			return operand.Mem{Base: gemmRow[0], Disp: e * r}
		}
		return at(r, gemmStepA, 0)
	}, func(v int) operand.Mem { return operand.Mem{Base: gemmB, Disp: v * g.fn.Level.Bytes()} })
	g.fn.Label(next)
	if transposed {
		g.fn.ADDQ(gemmNextA, gemmRow[0])
	} else {
		for p := 0; gemmReach*p < most; p++ {
			g.fn.ADDQ(operand.I32(e), gemmRow[p])
		}
	}
	g.fn.ADDQ(gemmStepB, gemmB)
	g.fn.DECQ(gemmK)
	g.fn.JNE(operand.LabelRef(step))
	g.fn.JMP(operand.LabelRef(done))
}

// strip writes the loop over the tiles of a strip of that many vectors.
func (g *gemmTile) strip(vectors int, done string) {
	top := g.maxRows(vectors)
	next, share, chosen, summed := g.fn.NewLabel("tile"), g.fn.NewLabel("share"), g.fn.NewLabel("chosen"), g.fn.NewLabel("summed")
	g.fn.Label(next)
	// rows = top if more than two tiles are left, half of the rest if more than one is, else the rest.
	g.fn.MOVQ(g.rowsLeft, gemmRows)
	g.fn.CMPQ(gemmRows, operand.I32(top))
	g.fn.JLE(operand.LabelRef(chosen))
	g.fn.CMPQ(gemmRows, operand.I32(2*top))
	g.fn.JLE(operand.LabelRef(share))
	g.fn.MOVQ(operand.I32(top), gemmRows)
	g.fn.JMP(operand.LabelRef(chosen))
	g.fn.Label(share)
	g.fn.INCQ(gemmRows)
	g.fn.SHRQ(operand.I8(1), gemmRows)
	g.fn.Label(chosen)
	g.define(top, vectors)
	g.start(top, vectors)
	g.fn.CMPQ(g.arg("k"), operand.I32(0))
	g.fn.JE(operand.LabelRef(summed))
	g.fn.MOVQ(g.aTile, gemmRow[0])
	g.fn.MOVQ(g.arg("b"), gemmB)
	if g.panels(vectors) {
		g.fn.MOVQ(g.arg("panel"), gemmPanel)
		g.toBytes(gemmPanel)
	}
	transposed := g.fn.NewLabel("transposed")
	if !g.panels(vectors) {
		g.fn.CMPQ(gemmNextA, operand.I32(g.fn.Elem.Bytes()))
		g.fn.JNE(operand.LabelRef(transposed))
	}
	g.pointers(top, gemmStepA)
	g.fn.MOVQ(gemmStepA, gemmAhead)
	g.fn.IMULQ(gemmRows, gemmAhead)
	g.fn.ADDQ(gemmRow[0], gemmAhead)
	g.choose(vectors, false, summed)
	if !g.panels(vectors) {
		g.fn.Label(transposed)
		g.choose(vectors, true, summed)
	}

	g.fn.Label(summed)
	g.finish(top, vectors)
	if !g.keepsA(vectors) && g.fn.Elem == x86.F32 {
		g.activate(vectors)
	}
	// The next tile starts `rows` rows further down in A and C.
	g.fn.SUBQ(gemmRows, g.rowsLeft)
	g.fn.JE(operand.LabelRef(done))
	g.fn.MOVQ(gemmRows, gemmK)
	g.fn.IMULQ(gemmStepA, gemmK)
	g.fn.ADDQ(gemmK, g.aTile)
	g.fn.IMULQ(gemmStepC, gemmRows)
	g.fn.ADDQ(gemmRows, gemmC)
	g.fn.JMP(operand.LabelRef(next))
}

// define tells register allocation that no sum of the previous tile is needed any more. It cannot find that out,
// because a tile with fewer rows leaves the other sums as they are. NOP becomes no instruction.
func (g *gemmTile) define(top, vectors int) {
	var sums []operand.Op
	for r := range top {
		for v := range vectors {
			sums = append(sums, g.sum(r, v, vectors))
		}
	}
	g.fn.Instruction(&ir.Instruction{Opcode: "NOP", Outputs: sums})
}

// activate applies swish to the tile just stored, while it is in the first-level cache. It takes several rows at a
// time: one row is a chain of dependent instructions that takes seventy cycles, and the machine looks ahead only far
// enough to overlap two such rows by itself.
func (g *gemmTile) activate(vectors int) {
	skip := g.fn.NewLabel("noSwish")
	g.fn.TESTQ(operand.I32(gemmSwish), g.arg("mode"))
	g.fn.JE(operand.LabelRef(skip))
	b := x86.NewBlock(g.fn.Level, x86.F32)
	in := make([]x86.Value, min(vectors, 2)) // of one row, to share a division
	for v := range in {
		in[v] = b.Input()
	}
	for _, y := range swishRowF32(b, in) {
		b.Output(y)
	}
	many := 1
	if g.fn.Level == x86.AVX512 {
		many = 4 / vectors
		g.fn.Pin(b, 12)
	}
	if vectors == 4 {
		cached := g.fn.NewLabel("cached")
		g.fn.TESTQ(operand.I32(gemmStream), g.arg("mode"))
		g.fn.JE(operand.LabelRef(cached))
		g.streamSwish(b, vectors)
		g.fn.JMP(operand.LabelRef(skip))
		g.fn.Label(cached)
	}
	g.wholeOrNot(vectors, func(whole bool) {
		mask := g.mask(g.vec(15), whole)
		g.fn.MOVQ(gemmC, gemmRow[0])
		g.fn.MOVQ(gemmRows, gemmK)
		for _, rows := range slices.Compact([]int{many, 1}) {
			loop, rest := g.fn.NewLabel("swish"), g.fn.NewLabel("rest")
			g.fn.SUBQ(operand.I32(rows), gemmK)
			g.fn.JL(operand.LabelRef(rest))
			g.fn.Label(loop)
			g.swishRows(b, rows, vectors, mask)
			g.fn.SUBQ(operand.I32(rows), gemmK)
			g.fn.JGE(operand.LabelRef(loop))
			g.fn.Label(rest)
			g.fn.ADDQ(operand.I32(rows), gemmK)
		}
	})
	g.fn.Unpin()
	g.fn.Label(skip)
}

// streamSwish applies the block to the rows of the tile in the buffer, and stores them past the caches.
func (g *gemmTile) streamSwish(b *x86.Block, vectors int) {
	size := g.fn.Level.Bytes()
	loop := g.fn.NewLabel("stream")
	g.fn.MOVQ(g.arg("tile"), gemmRow[0])
	g.fn.MOVQ(gemmC, gemmRow[1])
	g.fn.MOVQ(gemmRows, gemmK)
	g.fn.Label(loop)
	x := make([][]reg.VecVirtual, 2)
	for v := range vectors {
		r := g.fn.Vec()
		g.fn.VMOVUPS(operand.Mem{Base: gemmRow[0], Disp: v * size}, r)
		x[v%2] = append(x[v%2], r)
	}
	y := g.fn.Emit(b, x, nil)
	for v := range vectors {
		g.fn.VMOVNTPS(y[v%2][v/2], operand.Mem{Base: gemmRow[1], Disp: v * size})
	}
	g.fn.ADDQ(operand.I32(vectors*size), gemmRow[0])
	g.fn.ADDQ(gemmStepC, gemmRow[1])
	g.fn.DECQ(gemmK)
	g.fn.JNE(operand.LabelRef(loop))
}

// swishRows applies the block to so many rows of C, from gemmRow[0] on, and moves that to the next.
func (g *gemmTile) swishRows(b *x86.Block, rows, vectors int, mask reg.VecPhysical) {
	g.pointers(rows+1, gemmStepC)
	inputs := min(vectors, 2)
	x := make([][]reg.VecVirtual, inputs)
	// each visits all vectors, and says of which copy of the block a vector is which input.
	each := func(visit func(m operand.Mem, last bool, input, copy int)) {
		for i := range rows * vectors {
			r, v := i/vectors, i%vectors
			visit(at(r, gemmStepC, v*g.fn.Level.Bytes()), v == vectors-1, v%inputs, i/inputs)
		}
	}
	each(func(m operand.Mem, last bool, input, _ int) {
		r := g.fn.Vec()
		switch {
		case !last || mask == nil:
			g.fn.VMOVUPS(m, r)
		case g.fn.Level == x86.AVX512:
			g.fn.VMOVUPS_Z(m, gemmMask512, r)
		default:
			g.fn.VMASKMOVPS(m, mask, r)
		}
		x[input] = append(x[input], r)
	})
	y := g.fn.Emit(b, x, nil)
	each(func(m operand.Mem, last bool, input, copy int) {
		r := y[input][copy]
		switch {
		case !last || mask == nil:
			g.fn.VMOVUPS(r, m)
		case g.fn.Level == x86.AVX512:
			g.fn.VMOVUPS(r, gemmMask512, m)
		default:
			g.fn.VMASKMOVPS(r, mask, m)
		}
	})
	g.fn.LEAQ(at(rows, gemmStepC, 0), gemmRow[0])
}

// The constants of swishRowF32. AVX-512 has the powers 2^(j/32) in a table and a minimax polynomial for 2^r, 0 ≤ r < 1/32,
// relative error 6.6e-8; AVX2 a polynomial for |r| ≤ 1/2, 9.4e-8.
var (
	exp2Step    = []float64{1, 0x1.62e11ep-1, 0x1.f0f3e6p-3}
	exp2Nearest = []float64{1, 0x1.62e42ap-1, 0x1.ebf9c2p-3, 0x1.c6b6dap-5, 0x1.3ce8b4p-7, 0x1.5bd986p-10}
)

// Adding 1.5·2^18 rounds a float32 below 2^17 in magnitude to a multiple of 1/32, whose number stands in the low bits of the sum.
const roundTo32nds = 0x1.8p18

// swishRowF32 returns x/(1 + exp(-x)) of one vector or of two in the same row, for sums that carry rounding errors themselves.
//
//	t = -x·log2e,  r = t - floor(32·t)/32
//	d = 1 + exp(-x) = 1 + 2^floor(t)·2^(j/32)·2^r,  j = floor(32·t) mod 32
//	swish(x) = x/d,  of two: y = 1/(d0·d1),  swish(x0) = x0·(d1·y),  swish(x1) = x1·(d0·y)
//
// t is rounded, which acts like a change of x by one unit in its last place; sums have larger errors already. A division takes
// the machine ten cycles per vector (AVX-512), more than all else here, so two vectors share one. The product of two d
// must not overflow: what is below -43 (swish(-43) = -9e-18) counts as -43, and so does -Inf. NaN comes through every step,
// to the other vector as well.
//
// On AVX-512 a vector costs 9 operations and its share of the division another 4, on two ports: 6.5 cycles. On AVX2,
// where a division is half as wide and what waits for operands is half as much again, short chains matter more: every
// vector divides for itself.
func swishRowF32(b *x86.Block, x []x86.Value) []x86.Value {
	one := b.Const("one", 1)
	d := make([]x86.Value, len(x))
	for i := range x {
		x[i] = b.Max(b.Const("swishMin", -43), x[i])
		log := b.Const("minusLog2e", -log2e)
		if b.Level == x86.AVX512 {
			t := b.Mul(x[i], log)
			// For t beyond ±2^17 the number is wrong, but 2^floor(t) is 0 then.
			j := b.AddDown(t, b.Const("roundTo32nds", roundTo32nds))
			power := b.Lookup(j, exp2Table(b, 0), exp2Table(b, 16))
			const floorTo32nds = 5<<4 | 1
			p := b.Horner(b.Reduce(floorTo32nds, t), polynomial(b, "exp2Step", exp2Step)...)
			d[i] = b.FMA(b.Scale(power, t), p, one)
			continue
		}
		// AVX2 takes the nearest integer k instead of floor(t), and puts it into the exponent of 2^r. z holds it in its low
		// bits. Where x is above 87, exp(-x) counts as exp(-87).
		round := b.Const("roundF32", roundF32)
		e := b.Min(b.Const("swishMax", 87), x[i])
		z := b.FMA(e, log, round)
		r := b.FMS(e, log, b.Sub(z, round))
		c := polynomial(b, "exp2Nearest", exp2Nearest)
		r2 := b.Mul(r, r)
		p := b.FMA(r2, b.FMA(r2, c[5], b.FMA(r, c[4], c[3])), b.FMA(r, c[2], c[1]))
		d[i] = b.Add(b.AddI(b.FMA(r, p, one), b.Shl(z, 23)), one)
	}
	if b.Level == x86.AVX2 || len(x) == 1 {
		for i := range x {
			x[i] = b.Div(x[i], d[i])
		}
		return x
	}
	y := b.Div(one, b.Mul(d[0], d[1]))
	return []x86.Value{b.Mul(x[0], b.Mul(d[1], y)), b.Mul(x[1], b.Mul(d[0], y))}
}

// swishSumsAMD64 writes swish of sums that a product has stored, rows of whole pairs of vectors.
//
// On AVX2 a tile has only six rows of two vectors. Swish of so few cannot overlap with anything: it begins when the
// last sum is known, and it ends before many instructions of the next tile have started. So swish takes forty rows at a
// time here, and results can be stored past the caches. On Zen 4 WeightNet then takes 0.82 of the time where results
// stay in the second-level cache, and half of it where they do not.
func swishSumsAMD64(f *x86.File, l x86.Level) {
	fn := f.Func(l, x86.F32, "swishSumsF32", "func(dst, x *float32, rows, cols, ldd, ldx, stream int)",
		"is x/(1 + exp(-x)) as WeightNetF32 documents it, for rows that lie ldd and ldx elements apart, of cols "+
			"elements, pairs of vectors. If stream, dst is stored past the caches.")
	b := x86.NewBlock(l, x86.F32)
	for _, y := range swishRowF32(b, []x86.Value{b.Input(), b.Input()}) {
		b.Output(y)
	}
	dst, x, rows, cols, ldd, ldx := fn.Arg("dst"), fn.Arg("x"), fn.Arg("rows"), fn.Arg("cols"), fn.Arg("ldd"), fn.Arg("ldx")
	for _, bytes := range []reg.GPVirtual{cols, ldd, ldx} {
		fn.SHLQ(operand.I8(2), bytes)
	}
	fn.Pin(b, 7) // a pair of vectors takes 15 cycles instead of 17
	stream, done := fn.NewLabel("stream"), fn.NewLabel("done")
	at := fn.GP64()
	loops := func(store func(from, to operand.Op)) {
		row, pair := fn.NewLabel("row"), fn.NewLabel("pair")
		fn.Label(row)
		fn.XORL(at.As32(), at.As32())
		fn.Label(pair)
		in := make([][]reg.VecVirtual, 2)
		for v := range in {
			r := fn.Vec()
			fn.VMOVUPS(operand.Mem{Base: x, Index: at, Scale: 1, Disp: v * l.Bytes()}, r)
			in[v] = []reg.VecVirtual{r}
		}
		for v, y := range fn.Emit(b, in, nil) {
			store(y[0], operand.Mem{Base: dst, Index: at, Scale: 1, Disp: v * l.Bytes()})
		}
		fn.ADDQ(operand.I32(2*l.Bytes()), at)
		fn.CMPQ(at, cols)
		fn.JNE(operand.LabelRef(pair))
		fn.ADDQ(ldx, x)
		fn.ADDQ(ldd, dst)
		fn.DECQ(rows)
		fn.JNE(operand.LabelRef(row))
	}
	flag := fn.Arg("stream")
	fn.TESTQ(flag, flag)
	fn.JNE(operand.LabelRef(stream))
	loops(func(from, to operand.Op) { fn.VMOVUPS(from, to) })
	fn.JMP(operand.LabelRef(done))
	fn.Label(stream)
	loops(func(from, to operand.Op) { fn.VMOVNTPS(from, to) })
	fn.Label(done)
	fn.End()
}

// exp2Table is the half of the table 2^(j/32), 0 ≤ j < 32, from j = first on.
func exp2Table(b *x86.Block, first int) x86.Value {
	x := make([]float64, 16)
	for j := range x {
		x[j] = math.Exp2(float64(first+j) / 32)
	}
	return b.Table(fmt.Sprintf("exp2From%d", first), x)
}

// gemmStripAMD64 writes the kernel for one and two vectors.
func gemmStripAMD64(f *x86.File, l x86.Level, e x86.Elem) {
	g := newGemmTile(f, l, e, "gemmStrip"+e.String(),
		"func(c *float, ldc int, a *float, rsa, csa int, b *float, ldb int, bias *float, m, k, n, mode int)",
		"computes a strip of C [m, n] from A [m, k], whose elements lie rsa apart in columns and csa in rows, one of "+
			"which is 1, and B [k, n], with n up to two vectors and B readable to the end of its last vector.")
	g.fn.MOVQ(g.arg("csa"), gemmNextA)
	g.toBytes(gemmNextA)
	done, one := g.fn.NewLabel("done"), g.fn.NewLabel("one")

	// The last vector of a row has n lanes, or n less one vector.
	lanes := g.fn.Lanes()
	width := g.fn.NewLabel("width")
	g.fn.MOVQ(g.arg("n"), gemmRow[0])
	g.fn.CMPQ(gemmRow[0], operand.I32(lanes))
	g.fn.JLE(operand.LabelRef(width))
	g.fn.SUBQ(operand.I32(lanes), gemmRow[0])
	g.fn.Label(width)
	if l == x86.AVX512 {
		g.fn.MOVQ(operand.I32(-1), gemmRow[1])
		g.fn.BZHIQ(gemmRow[0], gemmRow[1], gemmRow[1])
		g.fn.KMOVW(gemmRow[1].As32(), gemmMask512)
	} else {
		// The mask is read from ones followed by as many zeros, starting n elements before the first zero.
		ones := make([]uint64, 2*lanes)
		for i := range lanes {
			ones[i] = ^uint64(0) >> (64 - 8*e.Bytes())
		}
		g.fn.LEAQ(g.fn.Data("tailMask"+e.String(), ones...), gemmRow[1])
		g.fn.NEGQ(gemmRow[0])
		g.fn.LEAQ(operand.Mem{Base: gemmRow[1], Index: gemmRow[0], Scale: uint8(e.Bytes()), Disp: 32}, gemmRow[1])
		g.fn.MOVQ(gemmRow[1], g.maskPtr)
	}
	g.fn.CMPQ(g.arg("n"), operand.I32(lanes))
	g.fn.JLE(operand.LabelRef(one))
	g.strip(2, done)
	g.fn.Label(one)
	g.strip(1, done)
	g.fn.Label(done)
	g.fn.End()
}

// gemmWideAMD64 writes the kernel for four vectors.
func gemmWideAMD64(f *x86.File) {
	g := newGemmTile(f, x86.AVX512, x86.F32, "gemmWideF32",
		"func(c *float, ldc int, a *float, rsa int, b *float, ldb, panel int, bias, tile *float, m, k, mode int)",
		"computes a strip of C [m, 64] from A [m, k], whose rows lie rsa apart, and two panels of B, each [k, 32], "+
			"that are panel elements apart. To stream it after swish takes tile, of 384 elements.")
	done := g.fn.NewLabel("done")
	g.strip(4, done)
	g.fn.Label(done)
	g.fn.End()
}

// gemmPanelAMD64 writes the kernel for the four vectors of a panel on AVX2.
func gemmPanelAMD64(f *x86.File) {
	g := newGemmTile(f, x86.AVX2, x86.F32, "gemmPanelF32",
		"func(c *float, ldc int, a *float, rsa, csa int, b *float, ldb int, bias *float, m, k, mode int)",
		"computes a strip of C [m, 32] from A [m, k], given as gemmStripF32 takes it, and B [k, 32]. It knows no stripSwish.")
	done := g.fn.NewLabel("done")
	g.fn.MOVQ(g.arg("csa"), gemmNextA)
	g.toBytes(gemmNextA)
	g.shallow(done)
	g.strip(4, done)
	g.fn.Label(done)
	g.fn.End()
}

// shallow computes the whole tiles of a panel whose k is small, where what comes before and after the steps takes a
// seventh of the time: nothing in its loop depends on the tile's rows, and what is rarely needed stands behind it. It
// leaves to the strip what is left of the rows, and products that accumulate, are streamed, or whose A is transposed.
func (g *gemmTile) shallow(done string) {
	const vectors = 4
	top, size := g.maxRows(vectors), g.fn.Level.Bytes()
	bias, stepTile, stepTileC := gemmRow[1], gemmStep5, gemmStep7
	tile, biased, round, summed, linear := g.fn.NewLabel("shallow"), g.fn.NewLabel("biased"), g.fn.NewLabel("round"), g.fn.NewLabel("sums"),
		g.fn.NewLabel("stores")
	rest, relu, left, strip := g.fn.NewLabel("rest"), g.fn.NewLabel("relu"), g.fn.NewLabel("left"), g.fn.NewLabel("strip")
	g.fn.CMPQ(g.arg("k"), operand.I32(gemmRound))
	g.fn.JL(operand.LabelRef(strip))
	g.fn.CMPQ(g.arg("k"), operand.I32(gemmFetchDepth))
	g.fn.JGE(operand.LabelRef(strip))
	g.fn.CMPQ(gemmNextA, operand.I32(4))
	g.fn.JNE(operand.LabelRef(strip))
	g.fn.TESTQ(operand.I32(gemmAccumulate|gemmStream), g.arg("mode"))
	g.fn.JNE(operand.LabelRef(strip))
	g.fn.MOVQ(g.arg("bias"), bias)
	g.fn.TESTQ(bias, bias)
	g.fn.JNE(operand.LabelRef(biased))
	g.fn.LEAQ(g.fn.Data("noBiasF32", make([]uint64, vectors*g.fn.Lanes())...), bias)
	g.fn.Label(biased)
	// From the end of a tile's rows of A to the next tile's.
	g.fn.MOVQ(g.arg("k"), gemmK)
	g.fn.SHLQ(operand.I8(2), gemmK)
	g.fn.LEAQ(operand.Mem{Base: gemmStepA, Index: gemmStepA, Scale: 2}, stepTile)
	g.fn.SUBQ(gemmK, stepTile)
	g.fn.LEAQ(operand.Mem{Base: gemmStepC, Index: gemmStepC, Scale: 2}, stepTileC)
	g.fn.MOVQ(g.aTile, gemmRow[0])
	g.fn.MOVQ(g.rowsLeft, gemmRows)
	g.fn.JMP(operand.LabelRef(left))

	g.fn.Label(tile)
	g.define(top, vectors)
	g.fn.MOVQ(g.arg("b"), gemmB)
	g.fn.MOVQ(g.arg("k"), gemmK)
	for r := range top {
		for v := range vectors {
			if r == 0 {
				g.fn.VMOVUPS(operand.Mem{Base: bias, Disp: v * size}, g.sum(r, v, vectors))
			} else {
				g.fn.VMOVAPS(g.sum(0, v, vectors), g.sum(r, v, vectors))
			}
		}
	}
	g.fn.SUBQ(operand.I32(gemmRound), gemmK)
	g.fn.Align()
	g.fn.Label(round)
	g.round(gemmRound, top, vectors, false, false)
	g.fn.SUBQ(operand.I32(gemmRound), gemmK)
	g.fn.JGE(operand.LabelRef(round))
	g.fn.ADDQ(operand.I32(gemmRound), gemmK)
	g.fn.JNE(operand.LabelRef(rest))
	g.fn.Label(summed)
	g.fn.TESTQ(operand.I32(gemmReLU), g.arg("mode"))
	g.fn.JNE(operand.LabelRef(relu))
	g.fn.Label(linear)
	for r := range top {
		for v := range vectors {
			m := operand.Mem{Base: gemmC, Disp: v * size}
			if r > 0 {
				m.Index, m.Scale = gemmStepC, uint8(r)
			}
			g.fn.VMOVUPS(g.sum(r, v, vectors), m)
		}
	}
	g.fn.ADDQ(stepTile, gemmRow[0])
	g.fn.ADDQ(stepTileC, gemmC)
	g.fn.SUBQ(operand.I32(top), gemmRows)
	g.fn.Label(left)
	// Of four or five rows, the strip makes two tiles that are alike.
	g.fn.CMPQ(gemmRows, operand.I32(2*top))
	g.fn.JGE(operand.LabelRef(tile))
	g.fn.CMPQ(gemmRows, operand.I32(top))
	g.fn.JE(operand.LabelRef(tile))
	g.fn.MOVQ(gemmRow[0], g.aTile)
	g.fn.MOVQ(gemmRows, g.rowsLeft)
	g.fn.TESTQ(gemmRows, gemmRows)
	g.fn.JE(operand.LabelRef(done))
	g.fn.JMP(operand.LabelRef(strip))

	g.fn.Label(rest)
	g.round(1, top, vectors, false, false)
	g.fn.DECQ(gemmK)
	g.fn.JNE(operand.LabelRef(rest))
	g.fn.JMP(operand.LabelRef(summed))
	g.fn.Label(relu)
	g.relu(top, vectors, linear)
	g.fn.JMP(operand.LabelRef(linear))
	g.fn.Label(strip)
}

// newGemmTile starts a function: it brings the arguments that all tiles share into their registers.
func newGemmTile(f *x86.File, l x86.Level, e x86.Elem, name, signature, doc string) *gemmTile {
	fn := f.Func(l, e, name, strings.ReplaceAll(signature, "*float", "*"+e.GoType()), doc)
	g := &gemmTile{fn: fn, aTile: f.AllocLocal(8), rowsLeft: f.AllocLocal(8), maskPtr: f.AllocLocal(8)}
	g.fn.MOVQ(g.arg("ldc"), gemmStepC)
	g.fn.MOVQ(g.arg("rsa"), gemmStepA)
	g.fn.MOVQ(g.arg("ldb"), gemmStepB)
	for _, step := range []reg.Register{gemmStepC, gemmStepA, gemmStepB} {
		g.toBytes(step)
	}
	g.fn.MOVQ(g.arg("c"), gemmC)
	g.fn.MOVQ(g.arg("a"), gemmRow[0])
	g.fn.MOVQ(gemmRow[0], g.aTile)
	g.fn.MOVQ(g.arg("m"), gemmRow[0])
	g.fn.MOVQ(gemmRow[0], g.rowsLeft)
	return g
}

func gemmAMD64(f *x86.File) {
	f.Bits = gemmBits
	for _, l := range levels {
		gemmStripAMD64(f, l, x86.F32)
		gemmStripAMD64(f, l, x86.F64)
		for _, e := range []x86.Elem{x86.F32, x86.F64} {
			gemmRowAMD64(f, l, e)
		}
	}
	gemmWideAMD64(f)
	gemmPanelAMD64(f)
	gemmFillAMD64(f)
	gemmTurnAMD64(f)
	swishSumsAMD64(f, x86.AVX2)
}
