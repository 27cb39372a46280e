package main

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/equivcnp/equivcnp/asm/internal/neon"
)

// The matrix products compute tiles of 8 rows by two registers, 8 columns of float32 or 4 of float64: 16 accumulators,
// which hide the latency of a multiply-add on machines that start four in a cycle. B is read two registers of a row at
// a time, so that its last columns must be followed by readable memory; of C no more is read and written than there is.
const neonGemmRows = 8

// gemmNEON writes both kernels for both types. Per step of k and tile they take 16 instructions that multiply and add, and 4.5 (A in rows)
// or 6 (A transposed) for loads, addresses and the loop: 0.32 and 0.34 instructions per multiply-add of one float32.
func gemmNEON(file *neon.File) {
	for _, l := range []neon.Lanes{neon.S4, neon.D2} {
		gemmRowsNEON(file, l)
		gemmTransposedNEON(file, l)
	}
}

// neonTile is what the tiles of a kernel share.
type neonTile struct {
	f           *neon.Func
	l           neon.Lanes
	alpha, beta neon.Vec
	c, ldc, n   neon.R // n columns exist, 1 to as many as two registers hold
	count       neon.R // rows of a tile that is stored row by row
	part        string
}

// newNEONTile starts a kernel: it loads what all tiles need, and turns distances into bytes.
func newNEONTile(f *neon.Func, l neon.Lanes, strides ...neon.R) *neonTile {
	t := &neonTile{f: f, l: l, c: f.Arg("c"), ldc: f.Arg("ldc"), n: f.Arg("n"), count: f.R(), part: f.NewLabel("part")}
	for _, ld := range append(strides, t.ldc) {
		f.Text("LSL $%d, %v, %v", bits.TrailingZeros(uint(l.Bits()/8)), ld, ld)
	}
	t.alpha, t.beta = f.SplatArg(l, "alpha"), f.SplatArg(l, "beta")
	f.Slots(2 * neonGemmRows)
	return t
}

// columns is how many columns a tile has.
func (t *neonTile) columns() int { return 2 * t.l.Count() }

// loadPair loads the next row of B and moves on.
func (t *neonTile) loadPair(x neon.Vec, p, step neon.R) {
	t.f.Text("FLDPQ (%v), (F%d, F%d)", p, x[0], x[1])
	t.f.Text("ADD %v, %v", step, p)
}

// finish stores alpha·tile + beta·C from c on, rows ldc bytes apart, and moves c past them. If beta is 0, C is not read. Where columns are
// missing, or rows, if exist says how many there are, the products go to the stack, and the part that parts writes stores them row by row.
func (t *neonTile) finish(rows []neon.Vec, exist *neon.R) {
	f := t.f
	some, whole, zero, next := f.NewLabel("some"), f.NewLabel("whole"), f.NewLabel("zero"), f.NewLabel("finished")
	for _, r := range rows {
		f.Three("fmul", t.l, r, r, t.alpha)
	}
	f.Text("CMP $%d, %v", t.columns(), t.n)
	if exist == nil {
		f.Text("BGE %s", whole)
		f.Text("MOVD $%d, %v", len(rows), t.count)
	} else {
		f.Text("BLT %s", some)
		f.Text("CMP $%d, %v", len(rows), *exist)
		f.Text("BGE %s", whole)
		f.Label(some)
		f.Text("MOVD %v, %v", *exist, t.count)
	}
	for i, r := range rows {
		f.Text("FSTPQ (F%d, F%d), %d(RSP)", r[0], r[1], 16+32*i)
	}
	f.Text("B %s", t.part)
	f.Label(whole)
	f.Text("FCMP%s $(0.0), F%d", t.l.Letter(), t.beta[0])
	f.Text("BEQ %s", zero)
	store := func(r neon.Vec) {
		f.Text("FSTPQ (F%d, F%d), (%v)", r[0], r[1], t.c)
		f.Text("ADD %v, %v", t.ldc, t.c)
	}
	old := f.V(2)
	for _, r := range rows {
		f.Text("FLDPQ (%v), (F%d, F%d)", t.c, old[0], old[1])
		f.Three("fmla", t.l, r, old, t.beta)
		store(r)
	}
	f.Free(old)
	f.Text("B %s", next)
	f.Label(zero)
	for _, r := range rows {
		store(r)
	}
	f.Label(next)
}

// parts writes the loop over rows that were put on the stack, for the tiles of every height. After each row comes what next writes.
func (t *neonTile) parts(next func()) {
	f := t.f
	from, p, row, zero := f.R(), f.R(), f.NewLabel("row"), f.NewLabel("zero")
	x, old := f.V(2), f.V(2)
	f.Label(t.part)
	f.Text("ADD $16, RSP, %v", from)
	f.Label(row)
	f.Text("FLDPQ.P 32(%v), (F%d, F%d)", from, x[0], x[1])
	f.Text("FCMP%s $(0.0), F%d", t.l.Letter(), t.beta[0])
	f.Text("BEQ %s", zero)
	f.Text("MOVD %v, %v", t.c, p)
	f.LoadUpTo(t.l, old, p, t.n)
	f.Three("fmla", t.l, x, old, t.beta)
	f.Label(zero)
	f.Text("MOVD %v, %v", t.c, p)
	f.StoreUpTo(t.l, x, p, t.n)
	f.Text("ADD %v, %v", t.ldc, t.c)
	if next != nil {
		next()
	}
	f.Text("SUBS $1, %v", t.count)
	f.Text("BNE %s", row)
	f.Free(x, old)
	f.FreeR(from, p)
}

// gemmRowsNEON writes the product with A in rows. As many steps of k as a register has lanes share the loads of A: a
// register holds elements of a row, and each serves as a factor for a row of B.
func gemmRowsNEON(file *neon.File, l neon.Lanes) {
	name := "gemm" + l.Suffix() + "NEON"
	f := file.Func(name, strings.ReplaceAll("(c *float, ldc int, a *float, lda int, b *float, ldb int, start *float, "+
		"alpha, beta float, m, n, k int)", "float", l.Type()),
		fmt.Sprintf("%s computes C = alpha·(start + A·B) + beta·C for n ≤ %d columns. start has %d elements, and so "+
			"have the rows of B. With\n"+
			"beta = 0, C is not read. An element's sum runs over k in ascending order, whatever m and n are.", name, 2*l.Count(),
			2*l.Count()))
	a, lda, ldb, m := f.Arg("a"), f.Arg("lda"), f.Arg("ldb"), f.Arg("m")
	t := newNEONTile(f, l, lda, ldb)
	b, k := f.R(), f.R()
	pa := make([]neon.R, neonGemmRows)
	for i := range pa {
		pa[i] = f.R()
	}
	first := ""
	for rows := neonGemmRows; rows > 0; rows /= 2 {
		tile, next := f.NewLabel("tile"), f.NewLabel("fewer")
		if first == "" {
			first = tile
		}
		f.Label(tile)
		f.Text("CMP $%d, %v", rows, m)
		f.Text("BLT %s", next)
		// Every row begins with start.
		f.LoadArg(k, "start")
		sums := []neon.Vec{f.V(2)}
		f.Text("FLDPQ (%v), (F%d, F%d)", k, sums[0][0], sums[0][1])
		f.Text("MOVD %v, %v", a, pa[0])
		for i := 1; i < rows; i++ {
			sums = append(sums, f.V(2))
			f.Mov(sums[i], sums[0])
			f.Text("ADD %v, %v, %v", lda, pa[i-1], pa[i])
		}
		f.LoadArg(b, "b")
		f.LoadArg(k, "k")
		t.rowSteps(sums, pa, b, ldb, k)
		t.finish(sums, nil)
		f.Free(sums...)
		for range rows {
			f.Text("ADD %v, %v", lda, a)
		}
		f.Text("SUB $%d, %v", rows, m)
		f.Text("B %s", tile)
		f.Label(next)
	}
	f.Text("RET")
	t.parts(func() {
		f.Text("ADD %v, %v", lda, a)
		f.Text("SUB $1, %v", m)
	})
	f.Text("B %s", first)
}

// rowSteps adds k steps to the sums of some rows of A.
func (t *neonTile) rowSteps(sums []neon.Vec, pa []neon.R, b, ldb, k neon.R) {
	f, rows, lanes := t.f, len(sums), t.l.Count()
	loop, single, one, finish := f.NewLabel("loop"), f.NewLabel("single"), f.NewLabel("step"), f.NewLabel("finish")
	f.Text("SUBS $%d, %v", lanes, k)
	f.Text("BLT %s", single)
	av, bv := f.V(rows), f.V(2)
	f.Counted(loop, lanes*rows*t.columns(), "multiply-adds", func() {
		for i := range rows {
			f.Text("FMOVQ.P 16(%v), F%d", pa[i], av[i])
		}
		for q := range lanes {
			t.loadPair(bv, b, ldb)
			for i := range rows {
				f.MultiplyAdd(t.l, sums[i], bv, neon.K{Reg: av[i], Lane: q})
			}
		}
		f.Text("SUBS $%d, %v", lanes, k)
		f.Text("BGE %s", loop)
	})
	// The last steps of k, which fill no register; the counter is too low by a register's lanes.
	f.Label(single)
	f.Text("ADDS $%d, %v", lanes, k)
	f.Text("BEQ %s", finish)
	f.Label(one)
	t.loadPair(bv, b, ldb)
	for i := range rows {
		f.Text("FMOV%s.P %d(%v), F%d", t.l.Letter(), t.l.Bits()/8, pa[i], av[i])
		f.MultiplyAdd(t.l, sums[i], bv, neon.K{Reg: av[i]})
	}
	f.Text("SUBS $1, %v", k)
	f.Text("BNE %s", one)
	f.Label(finish)
	f.Free(av, bv)
}

// gemmTransposedNEON writes the product with A transposed, one tile: a row of A holds the factors of all 8 rows of C for one step
// of k.
func gemmTransposedNEON(file *neon.File, l neon.Lanes) {
	name := "gemmTN" + l.Suffix() + "NEON"
	f := file.Func(name, strings.ReplaceAll("(c *float, ldc int, a *float, lda int, b *float, ldb int, alpha, beta float, m, n, k int)",
		"float", l.Type()),
		fmt.Sprintf("%s computes C = alpha·Aᵀ·B + beta·C for 1 ≤ m ≤ 8 rows and n ≤ %d columns; the k rows of A have "+
			"8 elements, those of B %d.\n"+
			"With beta = 0, C is not read.", name, 2*l.Count(), 2*l.Count()))
	a, lda, b, ldb, m, k := f.Arg("a"), f.Arg("lda"), f.Arg("b"), f.Arg("ldb"), f.Arg("m"), f.Arg("k")
	t := newNEONTile(f, l, lda, ldb)
	sums := make([]neon.Vec, neonGemmRows)
	for i := range sums {
		sums[i] = f.V(2)
		f.Clear(sums[i])
	}
	loop, finish := f.NewLabel("loop"), f.NewLabel("finish")
	f.Text("CBZ %v, %s", k, finish)
	lanes := l.Count()
	av, bv := f.V(neonGemmRows/lanes), f.V(2)
	f.Counted(loop, neonGemmRows*t.columns(), "multiply-adds", func() {
		for i := 0; i < len(av); i += 2 {
			f.Text("FLDPQ %d(%v), (F%d, F%d)", 16*i, a, av[i], av[i+1])
		}
		f.Text("ADD %v, %v", lda, a)
		t.loadPair(bv, b, ldb)
		for i := range sums {
			f.MultiplyAdd(l, sums[i], bv, neon.K{Reg: av[i/lanes], Lane: i % lanes})
		}
		f.Text("SUBS $1, %v", k)
		f.Text("BNE %s", loop)
	})
	f.Label(finish)
	f.Free(av, bv)
	t.finish(sums, &m)
	f.Text("RET")
	f.Free(sums...)
	t.parts(nil)
	f.Text("RET")
}
