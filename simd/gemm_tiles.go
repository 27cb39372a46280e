//go:build !purego && (arm64 || (wasm && goexperiment.simd && go1.27))

package simd

import "unsafe"

// The products at levels NEON and WASM128 are computed in tiles of 8 or 4 rows by two registers, 8 columns of float32 or 4 of float64
// (gemmRows, gemmTransposed), for blocks of k whose rows of B stay in the first-level cache while many rows of A use them. The
// kernels need rows of B with as many elements. Where few rows of A use them, whole panels are read in place; otherwise they
// are copied, with zeros for missing columns. The sum of an element runs over k in ascending order in one accumulator
// per block of k, whatever m is.
const (
	gemmTile   = 8   // rows of a tile, and its columns in float32
	gemmDepth  = 128 // steps of k at a time: a panel of B has 4 KiB
	gemmHeight = 256 // rows of A at a time: 128 KiB of float32, for the second-level cache; one call takes some tens of microseconds
	gemmCopy   = 16  // rows of A from which on copying a panel of B pays
)

// gemmColumns is how many columns a tile has.
func gemmColumns[T Float]() int { return packPanel / int(unsafe.Sizeof(T(0))) }

// gemmBlock is a copy of a part of A or B, at most 8 columns of gemmDepth rows, one row after the other.
type gemmBlock[T Float] [gemmDepth * gemmTile]T

// fill copies k rows of n columns from a matrix whose element [p, j] is b[p*rs+j*cs] into rows of that width, and sets
// the other columns to zero.
func (d *gemmBlock[T]) fill(b []T, rs, cs, k, n, width int) {
	for p := range k {
		row := d[p*width:][:width:width]
		if cs == 1 && n == width {
			copy(row, b[p*rs:][:width])
			continue
		}
		clear(row)
		for j := range n {
			row[j] = b[p*rs+j*cs]
		}
	}
}

func gemmF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	gemmPlain(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmF64(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, alpha, beta float64, m, n, k int) {
	gemmPlain(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmNTF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	gemmNT(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmNTF64(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, alpha, beta float64, m, n, k int) {
	gemmNT(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmTNF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	gemmTN(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmTNF64(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, alpha, beta float64, m, n, k int) {
	gemmTN(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmPlain[T Float](c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int) {
	if level == Generic || m == 0 || n == 0 || k == 0 {
		gemmGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
		return
	}
	gemmRace(c, ldc, m, n, a, lda, m, k, b, ldb, k, n)
	gemmPanels(c, ldc, a, lda, b, ldb, 1, alpha, beta, m, n, k)
}

func gemmNT[T Float](c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int) {
	if level == Generic || m == 0 || n == 0 || k == 0 {
		gemmNTGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
		return
	}
	gemmRace(c, ldc, m, n, a, lda, m, k, b, ldb, n, k)
	gemmPanels(c, ldc, a, lda, b, 1, ldb, alpha, beta, m, n, k)
}

// gemmPanels computes C = alpha·A·B + beta·C where the element [p, j] of B is b[p*rs+j*cs] and no size is 0.
func gemmPanels[T Float](c []T, ldc int, a []T, lda int, b []T, rs, cs int, alpha, beta T, m, n, k int) {
	var panel gemmBlock[T]
	var start [gemmTile]T
	columns := gemmColumns[T]()
	for i := 0; i < m; i += gemmHeight {
		mb := min(gemmHeight, m-i)
		for p := 0; p < k; p += gemmDepth {
			// The first block of k scales C by beta, the others add to it.
			kb, scale := min(gemmDepth, k-p), beta
			if p > 0 {
				scale = 1
			}
			for j := 0; j < n; j += columns {
				nb := min(columns, n-j)
				rows, ld := &b[p*rs+j*cs], rs
				if cs != 1 || nb < columns || mb >= gemmCopy {
					panel.fill(b[p*rs+j*cs:], rs, cs, kb, nb, columns)
					rows, ld = &panel[0], columns
				}
				gemmRows(&c[i*ldc+j], ldc, &a[i*lda+p], lda, rows, ld, &start[0], alpha, scale, mb, nb, kb)
			}
		}
	}
}

func gemmTN[T Float](c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int) {
	if level == Generic || m == 0 || n == 0 || k == 0 {
		gemmTNGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
		return
	}
	gemmRace(c, ldc, m, n, a, lda, k, m, b, ldb, k, n)
	var ap, bp gemmBlock[T]
	columns := gemmColumns[T]()
	for p := 0; p < k; p += gemmDepth {
		kb, scale := min(gemmDepth, k-p), beta
		if p > 0 {
			scale = 1
		}
		for j := 0; j < n; j += columns {
			nb := min(columns, n-j)
			bRows, bStride := &b[p*ldb+j], ldb
			if nb < columns {
				bp.fill(b[p*ldb+j:], ldb, 1, kb, nb, columns)
				bRows, bStride = &bp[0], columns
			}
			for i := 0; i < m; i += gemmTile {
				mb := min(gemmTile, m-i)
				aRows, aStride := &a[p*lda+i], lda
				if mb < gemmTile {
					ap.fill(a[p*lda+i:], lda, 1, kb, mb, gemmTile)
					aRows, aStride = &ap[0], gemmTile
				}
				gemmTransposed(&c[i*ldc+j], ldc, aRows, aStride, bRows, bStride, alpha, scale, mb, nb, kb)
			}
		}
	}
}

// gemmRace announces that a product reads A [ar, ac] and B [br, bc] and writes C [m, n].
func gemmRace[T Float](c []T, ldc, m, n int, a []T, lda, ar, ac int, b []T, ldb, br, bc int) {
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
