//go:build !purego

package simd

import "unsafe"

func gemmPackedF32(c []float32, ldc int, a []float32, lda int, b *Packed[float32], bias []float32, act Activation, m int) {
	gemmPacked(c, ldc, a, lda, b, bias, act, m)
}

func gemmPackedF64(c []float64, ldc int, a []float64, lda int, b *Packed[float64], bias []float64, act Activation, m int) {
	gemmPacked(c, ldc, a, lda, b, bias, act, m)
}

func gemmPacked[T Float](c []T, ldc int, a []T, lda int, b *Packed[T], bias []T, act Activation, m int) {
	if level == Generic || m == 0 || b.n == 0 {
		gemmPackedGeneric(c, ldc, a, lda, b, bias, act, m)
		return
	}
	if raceEnabled {
		gemmRace(c, ldc, m, b.n, a, lda, m, b.k, b.data, 0, 1, len(b.data))
		raceRead(bias)
	}
	if act != ActNone && act != ActReLU || m > gemmStripRows || b.n > stripColumns[T]() || b.k == 0 || b.k > gemmDepth {
		gemmPackedLarge(c, ldc, a, lda, b, bias, act, m)
		return
	}
	// A single strip, without loops, which would take a tenth of the time of 16 x 16 x 50.
	mode, start := 0, (*T)(nil)
	if act == ActReLU {
		mode = stripReLU
	}
	if bias != nil {
		start = &bias[0]
	}
	gemmStrip(&c[0], ldc, &a[0], lda, 1, &b.data[0], stripOf[T](), start, m, b.k, b.n, mode)
}

// gemmPackedLarge is gemmPacked for products of more than one strip, or with an activation that strips do not have.
func gemmPackedLarge[T Float](c []T, ldc int, a []T, lda int, b *Packed[T], bias []T, act Activation, m int) {
	mode, rows, strip := 0, blockRows[T](b.n, b.k), stripOf[T]()
	if act == ActReLU {
		mode = stripReLU
	}
	if act != ActNone && act != ActReLU {
		rows = blockRows[T](max(b.n, strip+1), b.k) // the activation visits the rows once more, while they are in the first-level cache
	}
	if rowsCrowd[T](lda, m, b.n, b.k) && panelDepth(b.k) <= leftColumns {
		gemmPackedCopied(c, ldc, a, lda, b, bias, act, m, mode, min(rows, leftRows))
		return
	}
	gemmPackedRows(nil, c, ldc, a, lda, b, bias, act, m, mode, rows)
}

// gemmPackedCopied is gemmPackedRows with copies of the rows of A.
//
//go:noinline
func gemmPackedCopied[T Float](c []T, ldc int, a []T, lda int, b *Packed[T], bias []T, act Activation, m, mode, rows int) {
	var left [leftRows * leftStride]T
	gemmPackedRows(left[:], c, ldc, a, lda, b, bias, act, m, mode, rows)
}

// gemmPackedRows computes so many rows at a time.
func gemmPackedRows[T Float](left []T, c []T, ldc int, a []T, lda int, b *Packed[T], bias []T, act Activation, m, mode, rows int) {
	strip := stripOf[T]()
	stream := (mode != 0 || act == ActNone) && b.n%strip == 0 && pastCaches(c, ldc, m, productFrom(b.k)) && b.k <= panelDepth(b.k)
	if stream {
		mode |= stripStream
	}
	for i := 0; i < m; i += rows {
		mb := min(rows, m-i)
		gemmPackedColumns(nil, left, c[i*ldc:], ldc, a, i*lda, lda, b, bias, mode, mb, 0, b.n)
		if mode != 0 || act == ActNone {
			continue
		}
		if ldc == b.n {
			activate(c[i*ldc:][:mb*ldc], act)
			continue
		}
		for q := i; q < i+mb; q++ {
			activate(c[q*ldc:][:b.n], act)
		}
	}
	if stream {
		storeFenceAVX2()
	}
}

// gemmPackedBlock computes C = A·B + bias for m rows, the first of which is a[at:], and then does with the sums what mode asks
// for.
func gemmPackedBlock[T Float](c []T, ldc int, a []T, at, lda int, b *Packed[T], bias []T, mode, m int) {
	gemmPackedColumns(nil, nil, c, ldc, a, at, lda, b, bias, mode, m, 0, b.n)
}

// gemmPackedColumns is gemmPackedBlock for the columns from .. to-1 of B; from is the start of a strip, and c begins with column
// from. For stripSwish with stripStream it may use tile, which has gemmWideTile elements; then the sums must not be divided, and
// the columns must fill wide strips. With room for them in left, rows of A are copied.
func gemmPackedColumns[T Float](tile *T, left []T, c []T, ldc int, a []T, at, lda int, b *Packed[T], bias []T, mode, m, from, to int) {
	columns, strip, depth := stripColumns[T](), stripOf[T](), panelDepth(b.k)
	for p := 0; p == 0 || p < b.k; p += depth {
		now, k := mode, min(depth, b.k-p)
		if p+k < b.k {
			now = 0 // not the last part of the sum
		}
		if p > 0 {
			now |= stripAccumulate
		}
		rows, apart := firstElement(a, at+p, k), lda
		if len(left) > 0 {
			copyLeft(left, a[at+p:], lda, m, k)
			rows, apart = &left[0], leftStride
		}
		for j, w := from, 0; j < to; j += w {
			var start *T
			if bias != nil {
				start = &bias[j]
			}
			panel := j / strip * strip
			right := firstElement(b.data, panel*b.k+p*strip+j-panel, k)
			if w = gemmWide; unsafe.Sizeof(*tile) == 4 && level == AVX512 && k <= gemmWideDepth && to-j >= w {
				gemmWideStrip(&c[j-from], ldc, rows, apart, right, strip*b.k, start, tile, m, k, now)
				continue
			}
			if w = strip; takesPanel[T](j-panel, to-j, now) {
				gemmPanel(&c[j-from], ldc, rows, apart, 1, right, strip, start, m, k, now)
				continue
			}
			w = min(columns, to-j)
			gemmStrip(&c[j-from], ldc, rows, apart, 1, right, strip, start, m, k, w, now)
		}
	}
}

// gemmWideStrip computes a strip of two panels of float32 by AVX-512.
func gemmWideStrip[T Float](c *T, ldc int, a *T, lda int, b *T, panel int, bias, tile *T, m, k, mode int) {
	gemmWideF32AVX512((*float32)(unsafe.Pointer(c)), ldc, (*float32)(unsafe.Pointer(a)), lda, (*float32)(unsafe.Pointer(b)),
		stripF32, panel,
		(*float32)(unsafe.Pointer(bias)), (*float32)(unsafe.Pointer(tile)), m, k, mode)
}
