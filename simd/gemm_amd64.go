//go:build !purego

package simd

import "unsafe"

// The products are computed in strips of C, two vectors wide (for float32 32 columns, 16 with AVX2; for float64 half as
// many), by gemmStripF32 and gemmStripF64, which read A in place, transposed or not. A strip needs rows of B that can
// be read to the end of their last vector: panels of Packed, columns of B that fill whole vectors, or a copy. The sum
// of an element runs over k in ascending order in one accumulator, whatever the blocks are.
const (
	stripF32 = 32
	stripF64 = 16
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

// stripOf returns how many columns a panel of B has: 128 bytes, two vectors of AVX-512 or four of AVX2.
func stripOf[T Float]() int { return int(2 * cacheLine / unsafe.Sizeof(T(0))) }

// stripColumns returns the widest strip of the current level. It must not be called at level Generic.
func stripColumns[T Float]() int {
	if level == AVX512 {
		return stripOf[T]()
	}
	return stripOf[T]() / 2
}

// takesPanel reports whether gemmPanelF32AVX2 computes the strip that begins with that column of a panel, of n columns that are left.
func takesPanel[T Float](column, n, mode int) bool {
	return unsafe.Sizeof(T(0)) == 4 && level == AVX2 && column == 0 && n >= stripF32 && mode&stripSwish == 0
}

// blockRows returns how many rows a block of the current level has, for n columns and sums of k products.
func blockRows[T Float](n, k int) int {
	switch {
	case n <= stripColumns[T](), takesPanel[T](0, stripOf[T](), 0) && n <= stripOf[T]():
		return gemmStripRows
	case level == AVX512 && n >= gemmWide && k <= gemmWideDepth && unsafe.Sizeof(T(0)) == 4:
		return gemmBlockRowsWide
	case level == AVX512:
		return gemmBlockRowsAVX512
	}
	return gemmBlockRowsAVX2
}

// firstElement returns the address of x[i], or nil where k = 0: rows without elements need not exist.
func firstElement[T Float](x []T, i, k int) *T {
	if k == 0 {
		return nil
	}
	return &x[i]
}

// gemmStrip computes a strip of C. The element [i, p] of A is a[i*rsa+p*csa].
func gemmStrip[T Float](c *T, ldc int, a *T, rsa, csa int, b *T, ldb int, bias *T, m, k, n, mode int) {
	if unsafe.Sizeof(*c) == 8 {
		c, a, b, bias := (*float64)(unsafe.Pointer(c)), (*float64)(unsafe.Pointer(a)), (*float64)(unsafe.Pointer(b)),
			(*float64)(unsafe.Pointer(bias))
		if level == AVX512 {
			gemmStripF64AVX512(c, ldc, a, rsa, csa, b, ldb, bias, m, k, n, mode)
		} else {
			gemmStripF64AVX2(c, ldc, a, rsa, csa, b, ldb, bias, m, k, n, mode)
		}
		return
	}
	gemmStripF32((*float32)(unsafe.Pointer(c)), ldc, (*float32)(unsafe.Pointer(a)), rsa, csa, (*float32)(unsafe.Pointer(b)), ldb,
		(*float32)(unsafe.Pointer(bias)), m, k, n, mode)
}

// gemmStripF32 is gemmStrip for float32.
func gemmStripF32(c *float32, ldc int, a *float32, rsa, csa int, b *float32, ldb int, bias *float32, m, k, n, mode int) {
	if level == AVX512 {
		gemmStripF32AVX512(c, ldc, a, rsa, csa, b, ldb, bias, m, k, n, mode)
	} else {
		gemmStripF32AVX2(c, ldc, a, rsa, csa, b, ldb, bias, m, k, n, mode)
	}
}

// gemmRow computes n columns of a row of C, which fill blocks of eight vectors. Its bits are those of gemmStrip.
func gemmRow[T Float](c, a *T, csa int, b *T, ldb, k, n, mode int) {
	blocks, wide := n/(4*stripColumns[T]()), level == AVX512
	if unsafe.Sizeof(*c) == 8 {
		c, a, b := (*float64)(unsafe.Pointer(c)), (*float64)(unsafe.Pointer(a)), (*float64)(unsafe.Pointer(b))
		if wide {
			gemmRowF64AVX512(c, a, csa, b, ldb, k, blocks, mode)
		} else {
			gemmRowF64AVX2(c, a, csa, b, ldb, k, blocks, mode)
		}
		return
	}
	f, x, y := (*float32)(unsafe.Pointer(c)), (*float32)(unsafe.Pointer(a)), (*float32)(unsafe.Pointer(b))
	if wide {
		gemmRowF32AVX512(f, x, csa, y, ldb, k, blocks, mode)
	} else {
		gemmRowF32AVX2(f, x, csa, y, ldb, k, blocks, mode)
	}
}

// gemmPanel computes a strip of four vectors of float32 by AVX2.
func gemmPanel[T Float](c *T, ldc int, a *T, rsa, csa int, b *T, ldb int, bias *T, m, k, mode int) {
	gemmPanelF32AVX2((*float32)(unsafe.Pointer(c)), ldc, (*float32)(unsafe.Pointer(a)), rsa, csa, (*float32)(unsafe.Pointer(b)), ldb,
		(*float32)(unsafe.Pointer(bias)), m, k, mode)
}

// gemmRace announces that a product reads A [ar, ac] and B [br, bc] and writes C [m, n].
func gemmRace[T Float](c []T, ldc, m, n int, a []T, lda, ar, ac int, b []T, ldb, br, bc int) {
	if !raceEnabled {
		return
	}
	raceRows(raceRead[T], a, lda, ar, ac)
	raceRows(raceRead[T], b, ldb, br, bc)
	raceRows(raceWrite[T], c, ldc, m, n)
}

func raceRows[T Float](announce func([]T), x []T, ld, rows, cols int) {
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
	// copying took a quarter of the time of 96 x 32 x 32. The last rows of a ragged one get gemmCopyFew.
	gemmCopyFew   = 512 // bytes
	gemmCopySmall = 4 << 10
	gemmNegate    = 16 << 10 // of A, where alpha is -1
	gemmCopySize  = gemmCopyDepth * 2 * cacheLine
	gemmCopyWide  = 4 * gemmCopySize
	gemmTallRows  = 1024
	// gemmTransposedDepth is gemmCopyDepth where A is transposed, at AVX2: then a tile reads other lines of A in every step, which
	// shall stay in the first-level cache, beside the panel, for the tiles that share them. In bytes: 128 float32, 64 float64.
	gemmTransposedDepth = 512
	// gemmFarF32 and gemmFarF64 are from how many elements on the rows of a transposed A lie so far apart that their lines crowd a few
	// sets of the caches: then its columns are copied, too, as panels. A tile of float64 takes longer parts of them.
	gemmFarF32 = 640
	gemmFarF64 = 256
)

func gemmF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	if ldb == 1 && isColumn(ldc, n, k) {
		gemvScale(c[:m], beta)
		gemvF32(c[:m], a, lda, b[:k], alpha, m, k)
		return
	}
	gemmPlain(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmTNF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	gemmTN(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmNTF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	if isColumn(ldc, n, k) {
		gemvScale(c[:m], beta)
		gemvF32(c[:m], a, lda, b[:k], alpha, m, k)
		return
	}
	gemmNT(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmF64(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, alpha, beta float64, m, n, k int) {
	if ldb == 1 && isColumn(ldc, n, k) {
		gemvScale(c[:m], beta)
		gemvF64(c[:m], a, lda, b[:k], alpha, m, k)
		return
	}
	gemmPlain(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmTNF64(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, alpha, beta float64, m, n, k int) {
	gemmTN(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmNTF64(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, alpha, beta float64, m, n, k int) {
	if isColumn(ldc, n, k) {
		gemvScale(c[:m], beta)
		gemvF64(c[:m], a, lda, b[:k], alpha, m, k)
		return
	}
	gemmNT(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

// isColumn reports whether C is a column that is computed as a vector: in strips, one lane of each vector would count. The number of its
// rows must not matter, as it must not change a row's bits.
func isColumn(ldc, n, k int) bool { return n == 1 && ldc == 1 && k > 0 && level != Generic }

func gemmPlain[T Float](c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int) {
	if level == Generic || m == 0 || n == 0 || k == 0 {
		gemmGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
		return
	}
	gemmRace(c, ldc, m, n, a, lda, m, k, b, ldb, k, n)
	p := gemmProduct[T]{c, ldc, a, lda, 1, b, ldb, 1, alpha, m, n, k, false}
	p.run(beta)
}

func gemmTN[T Float](c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int) {
	if level == Generic || m == 0 || n == 0 || k == 0 {
		gemmTNGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
		return
	}
	gemmRace(c, ldc, m, n, a, lda, k, m, b, ldb, k, n)
	p := gemmProduct[T]{c, ldc, a, 1, lda, b, ldb, 1, alpha, m, n, k, false}
	if n == 1 && ldb == 1 && ldc == 1 && alpha == 1 { // the row bᵀ·A has the same bits, and fills the vectors
		p = gemmProduct[T]{c, m, b, k, 1, a, lda, 1, alpha, 1, m, k, false}
	}
	p.run(beta)
}

func gemmNT[T Float](c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int) {
	if level == Generic || m == 0 || n == 0 || k == 0 {
		gemmNTGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
		return
	}
	gemmRace(c, ldc, m, n, a, lda, m, k, b, ldb, n, k)
	p := gemmProduct[T]{c, ldc, a, lda, 1, b, 1, ldb, alpha, m, n, k, false}
	p.run(beta)
}

// gemmProduct is C = alpha·A·B + beta·C, where the element [i, p] of A is a[i*rsa+p*csa] and [p, j] of B is b[p*rsb+j*csb].
type gemmProduct[T Float] struct {
	c        []T
	ldc      int
	a        []T
	rsa, csa int
	b        []T
	rsb, csb int
	alpha    T
	m, n, k  int
	// beyond says that rows of B may be read up to the end of their last vector.
	beyond bool
}

func (g *gemmProduct[T]) run(beta T) {
	mode := 0
	if beta != 0 {
		scaleRows(g.c, g.ldc, beta, g.m, g.n)
		mode = stripAccumulate
	}
	if g.m == 1 && g.csb == 1 && g.alpha == 1 {
		g.row(mode)
	}
	if g.alpha == -1 && g.n > 0 && g.csb == 1 && g.m < gemmCopyRows && g.negates() {
		g.negated(mode)
		return
	}
	g.compute(mode)
}

// compute adds the product to C, or sets it.
func (g *gemmProduct[T]) compute(mode int) {
	strip := stripOf[T]()
	if g.n > 0 && g.csb == 1 && g.alpha == 1 && g.m < gemmCopyRows && !g.inPlace(g.n) {
		mode = g.ragged(mode)
	}
	switch {
	case g.n == 0 || g.k == 0:
	case g.isFar(), g.csa == 1 && rowsCrowd[T](g.rsa, g.m, g.n, g.k):
		g.copiedBoth(mode)
	case g.inPlace(g.n):
		g.blocks(nil, mode)
	case g.k*((g.n+strip-1)/strip)*2*cacheLine <= gemmCopyFew:
		g.copiedFew(mode)
	case g.k*((g.n+strip-1)/strip)*2*cacheLine <= gemmCopySmall:
		g.copiedSmall(mode)
	case g.m < gemmTallRows || g.n <= strip:
		g.copied(mode)
	default:
		g.copiedWide(mode)
	}
}

// row computes the columns of a single row that fill blocks of eight vectors, and leaves the others. Few rows of B at a
// time keep their pages at hand.
func (g *gemmProduct[T]) row(mode int) {
	const most, depth = 1 << 13, 64
	for block := 4 * stripColumns[T](); g.n >= block; {
		n := min(g.n/block*block, most)
		for p, now := 0, mode; p < g.k; p += depth {
			gemmRow(&g.c[0], &g.a[p*g.csa], g.csa, &g.b[p*g.rsb], g.rsb, min(depth, g.k-p), n, now)
			now = stripAccumulate
		}
		if g.n -= n; g.n > 0 {
			g.c, g.b = g.c[n:], g.b[n:]
		}
	}
}

// left returns how A lies: its rows, their elements, and how far apart they are.
func (g *gemmProduct[T]) left() (rows, columns, apart int) {
	rows, columns, apart = g.m, g.k, g.rsa
	if g.csa != 1 {
		rows, columns, apart = g.k, g.m, g.csa
	}
	return
}

// negates reports whether A is copied and negated in less time than B. The weights are nanoseconds on Zen 4.
func (g *gemmProduct[T]) negates() bool {
	rows, columns, apart := g.left()
	if columns == apart {
		rows = 1
	}
	strip := stripOf[T]()
	return g.m*g.k <= gemmNegate/int(unsafe.Sizeof(g.alpha)) && 8*rows+g.m*g.k/8 < 3*g.k*((g.n+strip-1)/strip)
}

// negated computes the product for alpha = -1, which LAPACK takes, from a copy of -A: the same bits as from -B, which has more elements.
//
//go:noinline
func (g *gemmProduct[T]) negated(mode int) {
	if bytes := g.m * g.k * int(unsafe.Sizeof(g.alpha)); bytes <= gemmCopyFew {
		var few [gemmCopyFew / 8]uint64
		g.negate(elements[T](few[:]), mode)
		return
	}
	var left [gemmNegate / 8]uint64
	g.negate(elements[T](left[:]), mode)
}

func (g *gemmProduct[T]) negate(left []T, mode int) {
	p := *g
	p.a, p.alpha = left, 1
	rows, columns, apart := g.left()
	if g.csa == 1 {
		p.rsa = columns
	} else {
		p.csa = columns
	}
	if columns == apart {
		rows, columns = 1, rows*columns
	}
	for i := range rows {
		copy(left[i*columns:][:columns], g.a[i*apart:])
	}
	scalePanel(left[:g.m*g.k], -1)
	p.compute(mode)
}

// ragged computes the part of the product for the rows of B that can be read to the end of their last vector, though the columns do not
// fill it: what follows them in B is multiplied with, and dropped. It leaves the last rows, if there are any, and all of a few.
func (g *gemmProduct[T]) ragged(mode int) int {
	const few = 6
	lanes := stripColumns[T]() / 2
	rows := g.readable((g.n + lanes - 1) / lanes * lanes)
	if rows < few {
		return mode
	}
	whole := *g
	whole.k, whole.beyond = rows, true
	whole.blocks(nil, mode)
	if g.k -= rows; g.k > 0 {
		g.a, g.b = g.a[rows*g.csa:], g.b[rows*g.rsb:]
	}
	return stripAccumulate
}

// readable returns how many rows of B, from the first on, hold n elements before the end of the slice.
func (g *gemmProduct[T]) readable(n int) int {
	if len(g.b) < n {
		return 0
	}
	return min(g.k, (len(g.b)-n)/g.rsb+1)
}

// inPlace reports whether a strip of n columns of B is read in place.
func (g *gemmProduct[T]) inPlace(n int) bool {
	lanes := stripColumns[T]() / 2
	return g.csb == 1 && g.alpha == 1 && (g.m < gemmCopyRows || g.isPanel(lanes)) && (n%lanes == 0 || g.beyond)
}

// isPanel reports whether B is as good as a panel where it lies: narrow, and in whole vectors.
func (g *gemmProduct[T]) isPanel(lanes int) bool {
	return g.rsb <= stripOf[T]() && g.rsb%lanes == 0 && uintptr(unsafe.Pointer(&g.b[0]))%(unsafe.Sizeof(g.alpha)*uintptr(lanes)) == 0
}

// copiedFew, copiedSmall, copied and copiedWide are functions of their own, so that the buffer is cleared only for callers that use it.
//
//go:noinline
func (g *gemmProduct[T]) copiedFew(mode int) {
	var panels [(gemmCopyFew + cacheLine) / 8]uint64
	g.blocks(onLine(elements[T](panels[:])), mode)
}

//go:noinline
func (g *gemmProduct[T]) copiedSmall(mode int) {
	var panels [(gemmCopySmall + cacheLine) / 8]uint64
	g.blocks(onLine(elements[T](panels[:])), mode)
}

//go:noinline
func (g *gemmProduct[T]) copied(mode int) {
	var panels [(gemmCopySize + cacheLine) / 8]uint64
	g.blocks(onLine(elements[T](panels[:])), mode)
}

//go:noinline
func (g *gemmProduct[T]) copiedWide(mode int) {
	var panels [gemmCopyWide / 8]uint64 // as large as a variable on the stack may be, so there is no room left to align it
	g.blocks(elements[T](panels[:]), mode)
}

// elements returns the memory of a buffer as numbers.
func elements[T Float](buffer []uint64) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(&buffer[0])), len(buffer)*8/int(unsafe.Sizeof(T(0))))
}

// blocks computes the product for blocks of k and of as many columns as panels holds.
func (g *gemmProduct[T]) blocks(panels []T, mode int) {
	strip := stripOf[T]()
	depth := g.depth()
	for p := 0; p < g.k; p += depth {
		kb := min(depth, g.k-p)
		width := strip
		if len(panels) > 0 {
			width = len(panels) / kb / strip * strip
		}
		for j := 0; j < g.n; j += width {
			nb := min(width, g.n-j)
			g.fillPanels(panels, p, j, kb, nb)
			rows := blockRows[T](nb, gemmCopyDepth)
			for i := 0; i < g.m; i += rows {
				g.strips(panels, &g.a[i*g.rsa+p*g.csa], g.csa, i, p, j, min(rows, g.m-i), kb, nb, mode)
			}
		}
		mode = stripAccumulate
	}
}

// depth returns how many rows of B a block has.
func (g *gemmProduct[T]) depth() int {
	const shared = 16 // with fewer rows a line serves few tiles
	if level == AVX2 && g.csa != 1 && g.m >= shared {
		return gemmTransposedDepth / int(unsafe.Sizeof(g.alpha))
	}
	return gemmCopyDepth
}

// isFar reports whether columns of A are copied, for products that are large enough to pay for it.
func (g *gemmProduct[T]) isFar() bool {
	const rows, work = 64, 1 << 24
	size, far := int(unsafe.Sizeof(g.alpha)), gemmFarF32
	if size == 8 {
		far = gemmFarF64
	}
	return level == AVX2 && g.rsa == 1 && g.csa >= far && min(g.m, g.n, g.k) >= rows && float64(g.m*size)*float64(g.n)*float64(g.k) >= work
}

// rowsCrowd reports whether rows of A are copied, because they lie nearly a multiple of 4 KB apart: of the 14 rows of AVX-512's tiles a
// first-level cache of 32 KB would hold eight. A product of 256 x 512 x 1024 (m, n, k) takes 0.8 of the time, in float64 0.83 (Zen 4). One
// of 48 KB holds twelve: copies would take 1.1 to 1.2 times as long on an Emerald Rapids, and as long on Zen 5.
func rowsCrowd[T Float](lda, m, n, k int) bool {
	const least, work, beside = 64, 1 << 22, 8
	size := int(unsafe.Sizeof(T(0)))
	return level == AVX512 && firstCache <= 32<<10 && (lda*size+beside)%4096 <= 2*beside && min(m, n, k) >= least &&
		float64(m)*float64(n)*float64(k) >= work
}

// leftRows and leftColumns are the largest part of A that is copied, whose rows then lie leftStride apart.
const (
	leftRows    = max(gemmBlockRowsAVX512, gemmBlockRowsWide)
	leftColumns = 288
	leftStride  = leftColumns + 16
)

// copyLeft copies rows of A.
func copyLeft[T Float](left []T, a []T, lda, rows, columns int) {
	for r := range rows {
		copy(left[r*leftStride:][:columns], a[r*lda:])
	}
}

// copiedBoth computes the product from copies of B, in panels, and of A: of its rows, or, where it is transposed, in panels, too.
//
//go:noinline
func (g *gemmProduct[T]) copiedBoth(mode int) {
	var panels [gemmCopyWide / 8]uint64
	var left [leftRows * leftStride]T // panels need less
	right, strip, depth, apart := elements[T](panels[:]), stripOf[T](), g.depth(), 1
	near, columns := *g, gemmProduct[T]{b: g.a, rsb: g.csa, csb: 1, alpha: 1}
	if g.csa == 1 {
		near.rsa = leftStride
	} else {
		apart = strip
	}
	for p := 0; p < g.k; p += depth {
		kb := min(depth, g.k-p)
		width := len(right) / kb / strip * strip
		for j := 0; j < g.n; j += width {
			nb := min(width, g.n-j)
			g.fillPanels(right, p, j, kb, nb)
			rows := strip
			if g.csa == 1 {
				rows = min(blockRows[T](nb, gemmCopyDepth), leftRows)
			}
			for i := 0; i < g.m; i += rows {
				mb := min(rows, g.m-i)
				if g.csa == 1 {
					copyLeft(left[:], g.a[i*g.rsa+p:], g.rsa, mb, kb)
				} else {
					columns.fill(left[:], p, i, kb, mb)
				}
				near.strips(right, &left[0], apart, i, p, j, mb, kb, nb, mode)
			}
		}
		mode = stripAccumulate
	}
}

// fillPanels copies what is not read in place of k rows of n columns.
func (g *gemmProduct[T]) fillPanels(panels []T, p, j, k, n int) {
	strip := stripOf[T]()
	for i := 0; i < n; i += strip {
		if w := min(strip, n-i); !g.inPlace(w) {
			g.fill(panels[i*k:], p, j+i, k, w)
		}
	}
}

// strips multiplies a block of rows of A with adjacent panels. The block is at a, in columns that lie csa apart.
func (g *gemmProduct[T]) strips(panels []T, a *T, csa, i, p, j, mb, kb, nb, mode int) {
	columns, strip := stripColumns[T](), stripOf[T]()
	for s, w := 0, 0; s < nb; s += w {
		var b *T
		ldb := strip
		if panel := s / strip * strip; g.inPlace(min(strip, nb-panel)) {
			b, ldb = &g.b[p*g.rsb+j+s], g.rsb
		} else {
			b = &panels[panel*kb+s-panel]
		}
		c := &g.c[i*g.ldc+j+s]
		if w = strip; takesPanel[T](s%strip, nb-s, mode) {
			gemmPanel(c, g.ldc, a, g.rsa, csa, b, ldb, nil, mb, kb, mode)
			continue
		}
		w = min(columns, nb-s)
		gemmStrip(c, g.ldc, a, g.rsa, csa, b, ldb, nil, mb, kb, w, mode)
	}
}

// fill copies alpha·B[p:p+k, j:j+n] into a panel. The other columns are never used; they hold what follows in B, or what was there.
func (g *gemmProduct[T]) fill(panel []T, p, j, k, n int) {
	b := gemmProduct[T]{b: g.b[p*g.rsb+j*g.csb:], rsb: g.rsb, k: k}
	strip := stripOf[T]()
	if g.csb != 1 {
		turnPanel(panel, strip, b.b, g.csb, k, n)
	} else {
		rows := b.readable(strip)
		if rows > 0 {
			// A check that reads nothing: what follows the columns may be another goroutine's.
			_, _ = panel[:rows*strip:len(panel)], b.b[:(rows-1)*g.rsb+strip:len(b.b)]
			gemmFillAVX2((*byte)(unsafe.Pointer(&panel[0])), (*byte)(unsafe.Pointer(&b.b[0])), rows, g.rsb*int(unsafe.Sizeof(g.alpha)))
		}
		for r := rows; r < k; r++ {
			copy(panel[r*strip:][:strip:strip], b.b[r*g.rsb:][:n])
		}
	}
	if g.alpha != 1 {
		scalePanel(panel[:k*strip], g.alpha)
	}
}

// scalePanel multiplies a copy by alpha. Where races are looked for, scaleF32 would move the caller's buffer to the heap.
func scalePanel[T Float](panel []T, alpha T) {
	x, n := unsafe.Pointer(&panel[0]), len(panel)
	switch {
	case unsafe.Sizeof(alpha) == 8 && level == AVX512:
		scaleF64AVX512((*float64)(x), float64(alpha), (*float64)(x), n)
	case unsafe.Sizeof(alpha) == 8:
		scaleF64AVX2((*float64)(x), float64(alpha), (*float64)(x), n)
	case level == AVX512:
		scaleF32AVX512((*float32)(x), float32(alpha), (*float32)(x), n)
	default:
		scaleF32AVX2((*float32)(x), float32(alpha), (*float32)(x), n)
	}
}
