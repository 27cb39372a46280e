//go:build !purego

package simd

import "unsafe"

// The products are computed in strips of C, up to 32 columns wide (16 with AVX2), by gemmStripF32, which reads A in place,
// transposed or not. A strip needs rows of B that can be read to the end of their last vector: panels of Packed, columns of B
// that fill whole vectors, or a copy. The sum of an element runs over k in ascending order in one accumulator, whatever the
// blocks are.
// blocks are.
const (
	stripF32 = 32
	// gemmBlockRows is how many rows of A are multiplied with a panel of B before the next panel: two, five or ten tiles. Their rows
	// of A stay in the first-level cache, and their rows of C are completed while they are near.
	gemmBlockRowsAVX512 = 28
	gemmBlockRowsWide   = 30 // of the strips of gemmWideF32AVX512
	gemmBlockRowsAVX2   = 30
	// gemmStripRows is the same where C is a single strip.
	gemmStripRows = 1008
	// gemmWide is the width of the strips of gemmWideF32AVX512, and gemmWideDepth the largest k for which they are used: their
	// two panels must stay in the first-level cache.
	gemmWide      = 2 * stripF32
	gemmWideDepth = 64
	// gemmWideTile is the size of a tile of these strips. A tile that is streamed after swish is kept beside C until then.
	gemmWideTile = 6 * gemmWide
)

// stripColumns returns the widest strip of the current level. It must not be called at level Generic.
func stripColumns() int {
	if level == AVX512 {
		return stripF32
	}
	return stripF32 / 2
}

// takesPanel reports whether gemmPanelF32AVX2 computes the strip that begins with that column of a panel, of n columns that are left.
func takesPanel(column, n, mode int) bool {
	return level == AVX2 && column == 0 && n >= stripF32 && mode&stripSwish == 0
}

// blockRows returns how many rows a block of the current level has, for n columns and sums of k products.
func blockRows(n, k int) int {
	switch {
	case n <= stripColumns():
		return gemmStripRows
	case level == AVX512 && n >= gemmWide && k <= gemmWideDepth:
		return gemmBlockRowsWide
	case level == AVX512:
		return gemmBlockRowsAVX512
	}
	return gemmBlockRowsAVX2
}

// firstElement returns the address of x[i], or nil where k = 0: rows without elements need not exist.
func firstElement(x []float32, i, k int) *float32 {
	if k == 0 {
		return nil
	}
	return &x[i]
}

// gemmStrip computes a strip of C. The element [i, p] of A is a[i*rsa+p*csa].
func gemmStrip(c *float32, ldc int, a *float32, rsa, csa int, b *float32, ldb int, bias *float32, m, k, n, mode int) {
	if level == AVX512 {
		gemmStripF32AVX512(c, ldc, a, rsa, csa, b, ldb, bias, m, k, n, mode)
	} else {
		gemmStripF32AVX2(c, ldc, a, rsa, csa, b, ldb, bias, m, k, n, mode)
	}
}

// gemmRace announces that a product reads A [ar, ac] and B [br, bc] and writes C [m, n].
func gemmRace(c []float32, ldc, m, n int, a []float32, lda, ar, ac int, b []float32, ldb, br, bc int) {
	if !raceEnabled {
		return
	}
	raceRows(raceRead[float32], a, lda, ar, ac)
	raceRows(raceRead[float32], b, ldb, br, bc)
	raceRows(raceWrite[float32], c, ldc, m, n)
}

func raceRows(announce func([]float32), x []float32, ld, rows, cols int) {
	if cols == 0 {
		return
	}
	for i := range rows {
		announce(x[i*ld:][:cols])
	}
}

// The unpacked products copy B block by block into a buffer on the stack, as panels. A copy pays where enough rows of A use it.
// With fewer rows, B is read in place, except for columns that do not fill whole vectors.
const (
	gemmCopyRows = 64
	// gemmCopyDepth is the number of rows of B per block.
	gemmCopyDepth = 256
	// gemmCopySize and gemmCopyWide are the sizes of the buffer: one panel; or, for tall A, several, so that a block of A is
	// multiplied with all of them while it is in the cache. A small B gets gemmCopySmall: clearing 32 KB and
	// copying took a quarter of the time of 96 x 32 x 32.
	gemmCopySmall = 32 * stripF32
	gemmCopySize  = gemmCopyDepth * stripF32
	gemmCopyWide  = 4 * gemmCopySize
	gemmTallRows  = 1024
)

func gemmF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	if level == Generic || m == 0 || n == 0 || k == 0 {
		gemmGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
		return
	}
	gemmRace(c, ldc, m, n, a, lda, m, k, b, ldb, k, n)
	p := gemmProduct{c, ldc, a, lda, 1, b, ldb, 1, alpha, m, n, k}
	p.run(beta)
}

func gemmTNF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	if level == Generic || m == 0 || n == 0 || k == 0 {
		gemmTNGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
		return
	}
	gemmRace(c, ldc, m, n, a, lda, k, m, b, ldb, k, n)
	p := gemmProduct{c, ldc, a, 1, lda, b, ldb, 1, alpha, m, n, k}
	p.run(beta)
}

func gemmNTF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	if level == Generic || m == 0 || n == 0 || k == 0 {
		gemmNTGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
		return
	}
	gemmRace(c, ldc, m, n, a, lda, m, k, b, ldb, n, k)
	p := gemmProduct{c, ldc, a, lda, 1, b, 1, ldb, alpha, m, n, k}
	p.run(beta)
}

// gemmProduct is C = alpha·A·B + beta·C, where the element [i, p] of A is a[i*rsa+p*csa] and [p, j] of B is b[p*rsb+j*csb].
type gemmProduct struct {
	c        []float32
	ldc      int
	a        []float32
	rsa, csa int
	b        []float32
	rsb, csb int
	alpha    float32
	m, n, k  int
}

func (g *gemmProduct) run(beta float32) {
	mode := 0
	if beta != 0 {
		scaleRows(g.c, g.ldc, beta, g.m, g.n)
		mode = stripAccumulate
	}
	switch {
	case g.inPlace(g.n):
		g.blocks(nil, mode)
	case g.k*((g.n+stripF32-1)/stripF32*stripF32) <= gemmCopySmall:
		g.copiedSmall(mode)
	case g.m < gemmTallRows || g.n <= stripF32:
		g.copied(mode)
	default:
		g.copiedWide(mode)
	}
}

// inPlace reports whether a strip of n columns of B is read in place.
func (g *gemmProduct) inPlace(n int) bool {
	lanes := stripColumns() / 2
	return g.csb == 1 && g.alpha == 1 && (g.m < gemmCopyRows || g.isPanel(lanes)) && n%lanes == 0
}

// isPanel reports whether B is as good as a panel where it lies: narrow, and in whole vectors.
func (g *gemmProduct) isPanel(lanes int) bool {
	return g.rsb <= stripF32 && g.rsb%lanes == 0 && uintptr(unsafe.Pointer(&g.b[0]))%uintptr(4*lanes) == 0
}

// copiedSmall, copied and copiedWide are functions of their own, so that the buffer is cleared only for callers that use it.
//
//go:noinline
func (g *gemmProduct) copiedSmall(mode int) {
	var panels [gemmCopySmall + cacheLine/4]float32
	g.blocks(onLine(panels[:]), mode)
}

//go:noinline
func (g *gemmProduct) copied(mode int) {
	var panels [gemmCopySize + cacheLine/4]float32
	g.blocks(onLine(panels[:]), mode)
}

//go:noinline
func (g *gemmProduct) copiedWide(mode int) {
	var panels [gemmCopyWide]float32 // as large as a variable on the stack may be, so there is no room left to align it
	g.blocks(panels[:], mode)
}

// blocks computes the product for blocks of k and of as many columns as panels holds.
func (g *gemmProduct) blocks(panels []float32, mode int) {
	for p := 0; p < g.k; p += gemmCopyDepth {
		kb := min(gemmCopyDepth, g.k-p)
		width := stripF32
		if len(panels) > 0 {
			width = len(panels) / kb / stripF32 * stripF32
		}
		for j := 0; j < g.n; j += width {
			nb := min(width, g.n-j)
			for i := 0; i < nb; i += stripF32 {
				if w := min(stripF32, nb-i); !g.inPlace(w) {
					g.fill(panels[i*kb:], p, j+i, kb, w)
				}
			}
			rows := blockRows(nb, gemmCopyDepth)
			for i := 0; i < g.m; i += rows {
				g.strips(panels, i, p, j, min(rows, g.m-i), kb, nb, mode)
			}
		}
		mode = stripAccumulate
	}
}

// strips multiplies a block of rows of A with adjacent panels.
func (g *gemmProduct) strips(panels []float32, i, p, j, mb, kb, nb, mode int) {
	columns := stripColumns()
	for s, w := 0, 0; s < nb; s += w {
		var b *float32
		ldb := stripF32
		if panel := s / stripF32 * stripF32; g.inPlace(min(stripF32, nb-panel)) {
			b, ldb = &g.b[p*g.rsb+j+s], g.rsb
		} else {
			b = &panels[panel*kb+s-panel]
		}
		c, a := &g.c[i*g.ldc+j+s], &g.a[i*g.rsa+p*g.csa]
		if w = stripF32; takesPanel(s%stripF32, nb-s, mode) {
			gemmPanelF32AVX2(c, g.ldc, a, g.rsa, g.csa, b, ldb, nil, mb, kb, mode)
			continue
		}
		w = min(columns, nb-s)
		gemmStrip(c, g.ldc, a, g.rsa, g.csa, b, ldb, nil, mb, kb, w, mode)
	}
}

// fill copies alpha·B[p:p+k, j:j+n] into a panel. The other columns are never used, but must be numbers that slow nothing down.
func (g *gemmProduct) fill(panel []float32, p, j, k, n int) {
	b := g.b[p*g.rsb+j*g.csb:]
	if g.csb != 1 {
		for q := range n {
			column := b[q*g.csb:][:k]
			for r, v := range column {
				panel[r*stripF32+q] = g.alpha * v
			}
		}
		return
	}
	for r := range k {
		row := (*[stripF32]float32)(panel[r*stripF32:])
		if g.alpha == 1 && n == stripF32 {
			*row = [stripF32]float32(b[r*g.rsb:])
			continue
		}
		for q, v := range b[r*g.rsb:][:n] {
			row[q] = g.alpha * v
		}
	}
}
