package main

import "github.com/equivcnp/equivcnp/asm/internal/neon"

// The matrix products compute tiles of 8 rows by 8 columns: 16 accumulators, which hide the latency of a multiply-add on
// machines that start four in a cycle. B is read 8 elements of a row at a time, so that its last columns must be followed by readable memory; of C
// no more is read and written than there is.
const (
	neonGemmRows = 8
	neonGemmCols = 8
)

// gemmNEON writes both kernels. Per step of k and tile of 8 x 8 they take 16 instructions that multiply and add, and 4.5 (A in rows)
// or 6 (A transposed) for loads, addresses and the loop: 0.32 and 0.34 instructions per multiply-add of one element.
func gemmNEON(file *neon.File) {
	gemmRowsNEON(file)
	gemmTransposedNEON(file)
}

// neonTile is a tile of accumulators in two registers a row.
type neonTile struct {
	f           *neon.Func
	rows        []neon.Vec // [rows][2]
	alpha, beta neon.Vec
	n           neon.R // columns that exist, 1 to 8
}

// multiply adds the products of factor i with a row of B, in b, to row i of the tile.
func (t neonTile) multiply(i int, b neon.Vec, factor neon.K) {
	t.f.MlaK(t.rows[i], b, factor)
}

// finish stores alpha·tile + beta·C in the n columns from c on, rows ldc bytes apart, and moves c past them. If beta is 0, C is
// not read. When limit is not nil, only that many rows exist and label receives control after the last of them.
func (t neonTile) finish(c, ldc neon.R, limit *neon.R, end string) {
	f, n := t.f, t.n
	part, zero := f.NewLabel("part"), f.NewLabel("zero")
	zeroPart, next := f.NewLabel("zeroPart"), f.NewLabel("finished")
	old := f.V(2)
	p := f.R()
	for _, r := range t.rows {
		f.Mul(r, r, t.alpha)
	}
	f.Text("FCMPS $(0.0), F%d", t.beta[0])
	f.Text("BEQ %s", zero)
	rows := func(row func(r neon.Vec)) {
		for i, r := range t.rows {
			row(r)
			f.Text("ADD %v, %v", ldc, c)
			if limit != nil {
				f.Text("CMP $%d, %v", i+1, *limit)
				f.Text("BEQ %s", end)
			}
		}
		f.Text("B %s", next)
	}
	store := func(r neon.Vec) { f.Text("FSTPQ (F%d, F%d), (%v)", r[0], r[1], c) }
	storePart := func(r neon.Vec) {
		f.Text("MOVD %v, %v", c, p)
		f.StoreUpTo8(r, p, n)
	}
	f.Text("CMP $%d, %v", neonGemmCols, n)
	f.Text("BLT %s", part)
	rows(func(r neon.Vec) {
		f.Text("FLDPQ (%v), (F%d, F%d)", c, old[0], old[1])
		f.Mla(r, old, t.beta)
		store(r)
	})
	f.Label(part)
	rows(func(r neon.Vec) {
		f.Text("MOVD %v, %v", c, p)
		f.LoadUpTo8(old, p, n)
		f.Mla(r, old, t.beta)
		storePart(r)
	})
	f.Label(zero)
	f.Text("CMP $%d, %v", neonGemmCols, n)
	f.Text("BLT %s", zeroPart)
	rows(store)
	f.Label(zeroPart)
	rows(storePart)
	f.Label(next)
	f.Free(old)
	f.FreeR(p)
}

// gemmRowsNEON writes the product with A in rows. Four steps of k share the loads of A: a register holds four elements of a row, and
// each serves as a factor for a row of B.
func gemmRowsNEON(file *neon.File) {
	f := file.Func("gemmF32NEON", "(c *float32, ldc int, a *float32, lda int, b *float32, ldb int, start *float32, alpha, beta float32, m, n, k int)",
		"gemmF32NEON computes C = alpha·(start + A·B) + beta·C for n ≤ 8 columns. start has 8 elements, and so have the rows of B. With\n"+
			"beta = 0, C is not read. An element's sum runs over k in ascending order, whatever m and n are.")
	c, ldc, a, lda := f.Arg("c"), f.Arg("ldc"), f.Arg("a"), f.Arg("lda")
	ldb, m, n := f.Arg("ldb"), f.Arg("m"), f.Arg("n")
	for _, ld := range []neon.R{ldc, lda, ldb} {
		f.Text("LSL $2, %v, %v", ld, ld)
	}
	alpha, beta := f.Splat("alpha"), f.Splat("beta")
	b, k := f.R(), f.R()
	pa := make([]neon.R, neonGemmRows)
	for i := range pa {
		pa[i] = f.R()
	}

	for rows := neonGemmRows; rows > 0; rows /= 2 {
		tile, next := f.NewLabel("tile"), f.NewLabel("fewer")
		loop, single, finish := f.NewLabel("loop"), f.NewLabel("single"), f.NewLabel("finish")
		f.Label(tile)
		f.Text("CMP $%d, %v", rows, m)
		f.Text("BLT %s", next)
		t := neonTile{f: f, alpha: alpha, beta: beta, n: n}

		// Every row begins with start.
		f.LoadArg(k, "start")
		first := f.V(2)
		f.Text("FLDPQ (%v), (F%d, F%d)", k, first[0], first[1])
		t.rows = append(t.rows, first)
		f.Text("MOVD %v, %v", a, pa[0])
		for i := 1; i < rows; i++ {
			r := f.V(2)
			f.Mov(r, first)
			t.rows = append(t.rows, r)
			f.Text("ADD %v, %v, %v", lda, pa[i-1], pa[i])
		}
		f.LoadArg(b, "b")
		f.LoadArg(k, "k")
		f.Text("SUBS $4, %v", k)
		f.Text("BLT %s", single)

		av, bv := f.V(rows), f.V(2)
		f.Counted(loop, 4*rows*neonGemmCols, "multiply-adds", func() {
			for i := range rows {
				f.Text("FMOVQ.P 16(%v), F%d", pa[i], av[i])
			}
			for q := range 4 {
				f.Text("FLDPQ (%v), (F%d, F%d)", b, bv[0], bv[1])
				f.Text("ADD %v, %v", ldb, b)
				for i := range rows {
					t.multiply(i, bv, neon.K{Reg: av[i], Lane: q})
				}
			}
			f.Text("SUBS $4, %v", k)
			f.Text("BGE %s", loop)
		})

		// The last one to three steps of k; the counter is 4 too low.
		f.Label(single)
		f.Text("ADDS $4, %v", k)
		f.Text("BEQ %s", finish)
		one := f.NewLabel("step")
		f.Label(one)
		f.Text("FLDPQ (%v), (F%d, F%d)", b, bv[0], bv[1])
		f.Text("ADD %v, %v", ldb, b)
		for i := range rows {
			f.Text("FMOVS.P 4(%v), F%d", pa[i], av[i])
			t.multiply(i, bv, neon.K{Reg: av[i]})
		}
		f.Text("SUBS $1, %v", k)
		f.Text("BNE %s", one)
		f.Label(finish)
		f.Free(av, bv)

		t.finish(c, ldc, nil, "")
		f.Free(t.rows...)
		for range rows {
			f.Text("ADD %v, %v", lda, a)
		}
		f.Text("SUB $%d, %v", rows, m)
		f.Text("B %s", tile)
		f.Label(next)
	}
	f.Text("RET")
}

// gemmTransposedNEON writes the product with A transposed, one tile: a row of A holds the factors of all 8 rows of C for one step
// of k.
func gemmTransposedNEON(file *neon.File) {
	f := file.Func("gemmTNF32NEON", "(c *float32, ldc int, a *float32, lda int, b *float32, ldb int, alpha, beta float32, m, n, k int)",
		"gemmTNF32NEON computes C = alpha·Aᵀ·B + beta·C for 1 ≤ m ≤ 8 rows and n ≤ 8 columns; the k rows of A and of B have 8 elements.\n"+
			"With beta = 0, C is not read.")
	c, ldc, a, lda := f.Arg("c"), f.Arg("ldc"), f.Arg("a"), f.Arg("lda")
	b, ldb, m, n, k := f.Arg("b"), f.Arg("ldb"), f.Arg("m"), f.Arg("n"), f.Arg("k")
	for _, ld := range []neon.R{ldc, lda, ldb} {
		f.Text("LSL $2, %v, %v", ld, ld)
	}
	t := neonTile{f: f, alpha: f.Splat("alpha"), beta: f.Splat("beta"), n: n}
	for range neonGemmRows {
		r := f.V(2)
		f.Clear(r)
		t.rows = append(t.rows, r)
	}
	loop, finish, end := f.NewLabel("loop"), f.NewLabel("finish"), f.NewLabel("end")
	f.Text("CBZ %v, %s", k, finish)
	av, bv := f.V(2), f.V(2)
	f.Counted(loop, neonGemmRows*neonGemmCols, "multiply-adds", func() {
		f.Text("FLDPQ (%v), (F%d, F%d)", a, av[0], av[1])
		f.Text("ADD %v, %v", lda, a)
		f.Text("FLDPQ (%v), (F%d, F%d)", b, bv[0], bv[1])
		f.Text("ADD %v, %v", ldb, b)
		for i := range t.rows {
			t.multiply(i, bv, neon.K{Reg: av[i/4], Lane: i % 4})
		}
		f.Text("SUBS $1, %v", k)
		f.Text("BNE %s", loop)
	})
	f.Label(finish)
	f.Free(av, bv)
	t.finish(c, ldc, &m, end)
	f.Label(end)
	f.Text("RET")
}
