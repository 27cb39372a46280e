//go:build !purego

package simd

// The products are computed in tiles of 8 rows by 8 columns (gemmF32NEON), for blocks of k whose rows of B stay in the
// first-level cache while many rows of A use them. Assembly needs rows of B with 8 elements. Where few rows of A use them, whole
// panels of 8 columns are read in place; otherwise they are copied, with zeros for missing columns. The sum of an element runs
// over k in ascending order in one accumulator per block of k, whatever m is.
const (
	gemmTile   = 8   // rows and columns of a tile
	gemmDepth  = 128 // steps of k at a time: a panel of B has 4 KiB
	gemmHeight = 256 // rows of A at a time: 128 KiB, for the second-level cache; one call takes some tens of microseconds
	gemmCopy   = 16  // rows of A from which on copying a panel of B pays
)

// gemmPanel is 8 columns of B for a block of k, one row after the other.
type gemmPanel [gemmDepth * gemmTile]float32

// fill copies k rows of n columns from a matrix whose element [p, j] is b[p*rs+j*cs], and sets the other columns to zero.
func (d *gemmPanel) fill(b []float32, rs, cs, k, n int) {
	for p := range k {
		row := (*[gemmTile]float32)(d[p*gemmTile:])
		if cs == 1 && n == gemmTile {
			*row = [gemmTile]float32(b[p*rs:])
			continue
		}
		*row = [gemmTile]float32{}
		for j := range n {
			row[j] = b[p*rs+j*cs]
		}
	}
}

func gemmF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	if level == Generic || m == 0 || n == 0 || k == 0 {
		gemmGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
		return
	}
	gemmRace(c, ldc, m, n, a, lda, m, k, b, ldb, k, n)
	gemmPanels(c, ldc, a, lda, b, ldb, 1, alpha, beta, m, n, k)
}

func gemmNTF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	if level == Generic || m == 0 || n == 0 || k == 0 {
		gemmNTGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
		return
	}
	gemmRace(c, ldc, m, n, a, lda, m, k, b, ldb, n, k)
	gemmPanels(c, ldc, a, lda, b, 1, ldb, alpha, beta, m, n, k)
}

// gemmPanels computes C = alpha·A·B + beta·C where the element [p, j] of B is b[p*rs+j*cs] and no size is 0.
func gemmPanels(c []float32, ldc int, a []float32, lda int, b []float32, rs, cs int, alpha, beta float32, m, n, k int) {
	var panel gemmPanel
	var start [gemmTile]float32
	for i := 0; i < m; i += gemmHeight {
		mb := min(gemmHeight, m-i)
		for p := 0; p < k; p += gemmDepth {
			// The first block of k scales C by beta, the others add to it.
			kb, scale := min(gemmDepth, k-p), beta
			if p > 0 {
				scale = 1
			}
			for j := 0; j < n; j += gemmTile {
				nb := min(gemmTile, n-j)
				rows, ld := &b[p*rs+j*cs], rs
				if cs != 1 || nb < gemmTile || mb >= gemmCopy {
					panel.fill(b[p*rs+j*cs:], rs, cs, kb, nb)
					rows, ld = &panel[0], gemmTile
				}
				gemmF32NEON(&c[i*ldc+j], ldc, &a[i*lda+p], lda, rows, ld, &start[0], alpha, scale, mb, nb, kb)
			}
		}
	}
}

func gemmTNF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	if level == Generic || m == 0 || n == 0 || k == 0 {
		gemmTNGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
		return
	}
	gemmRace(c, ldc, m, n, a, lda, k, m, b, ldb, k, n)
	var ap, bp gemmPanel
	for p := 0; p < k; p += gemmDepth {
		kb, scale := min(gemmDepth, k-p), beta
		if p > 0 {
			scale = 1
		}
		for j := 0; j < n; j += gemmTile {
			nb := min(gemmTile, n-j)
			bRows, bStride := &b[p*ldb+j], ldb
			if nb < gemmTile {
				bp.fill(b[p*ldb+j:], ldb, 1, kb, nb)
				bRows, bStride = &bp[0], gemmTile
			}
			for i := 0; i < m; i += gemmTile {
				mb := min(gemmTile, m-i)
				aRows, aStride := &a[p*lda+i], lda
				if mb < gemmTile {
					ap.fill(a[p*lda+i:], lda, 1, kb, mb)
					aRows, aStride = &ap[0], gemmTile
				}
				gemmTNF32NEON(&c[i*ldc+j], ldc, aRows, aStride, bRows, bStride, alpha, scale, mb, nb, kb)
			}
		}
	}
}

// gemmRace announces that a product reads A [ar, ac] and B [br, bc] and writes C [m, n].
func gemmRace(c []float32, ldc, m, n int, a []float32, lda, ar, ac int, b []float32, ldb, br, bc int) {
	if !raceEnabled {
		return
	}
	for i := range ar {
		raceRead(a[i*lda:][:ac])
	}
	for i := range br {
		raceRead(b[i*ldb:][:bc])
	}
	for i := range m {
		raceWrite(c[i*ldc:][:n])
	}
}
