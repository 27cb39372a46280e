//go:build !purego

package simd

func gemmPackedF32(c []float32, ldc int, a []float32, lda int, b *Packed[float32], bias []float32, act Activation, m int) {
	if level == Generic || m == 0 || b.N == 0 {
		gemmPackedGeneric(c, ldc, a, lda, b, bias, act, m)
		return
	}
	if raceEnabled {
		gemmRace(c, ldc, m, b.N, a, lda, m, b.K, b.data, 0, 1, len(b.data))
		raceRead(bias)
	}
	if act != ActNone && act != ActReLU || m > gemmStripRows || b.N > stripColumns() || b.K == 0 || b.K > gemmDepth {
		gemmPackedLarge(c, ldc, a, lda, b, bias, act, m)
		return
	}
	// A single strip, without loops, which would take a tenth of the time of 16 x 16 x 50.
	mode, start := 0, (*float32)(nil)
	if act == ActReLU {
		mode = stripReLU
	}
	if bias != nil {
		start = &bias[0]
	}
	gemmStrip(&c[0], ldc, &a[0], lda, 1, &b.data[0], stripF32, start, m, b.K, b.N, mode)
}

// gemmPackedLarge is gemmPackedF32 for products of more than one strip, or with an activation that strips do not have.
func gemmPackedLarge(c []float32, ldc int, a []float32, lda int, b *Packed[float32], bias []float32, act Activation, m int) {
	mode, rows := 0, blockRows(b.N, b.K)
	if act == ActReLU {
		mode = stripReLU
	}
	if act != ActNone && act != ActReLU {
		rows = blockRows(max(b.N, stripF32+1), b.K) // the activation visits the rows once more, while they are in the first-level cache
	}
	stream := (mode != 0 || act == ActNone) && b.N%stripF32 == 0 && pastCaches(c, ldc, m) && b.K <= panelDepth(b.K)
	if stream {
		mode |= stripStream
	}
	for i := 0; i < m; i += rows {
		mb := min(rows, m-i)
		gemmPackedBlock(c[i*ldc:], ldc, a, i*lda, lda, b, bias, mode, mb)
		if mode != 0 || act == ActNone {
			continue
		}
		if ldc == b.N {
			activate(c[i*ldc:][:mb*ldc], act)
			continue
		}
		for q := i; q < i+mb; q++ {
			activate(c[q*ldc:][:b.N], act)
		}
	}
	if stream {
		storeFenceAVX2()
	}
}

// gemmPackedBlock computes C = A·B + bias for m rows, the first of which is a[at:], and then does with the sums what mode asks
// for.
func gemmPackedBlock(c []float32, ldc int, a []float32, at, lda int, b *Packed[float32], bias []float32, mode, m int) {
	gemmPackedColumns(nil, c, ldc, a, at, lda, b, bias, mode, m, 0, b.N)
}

// gemmPackedColumns is gemmPackedBlock for the columns from .. to-1 of B; from is the start of a strip, and c begins with column
// from. For stripSwish with stripStream it may use tile, which has gemmWideTile elements; then the sums must not be divided, and
// the columns must fill wide strips.
func gemmPackedColumns(tile *float32, c []float32, ldc int, a []float32, at, lda int, b *Packed[float32], bias []float32, mode, m, from, to int) {
	columns, depth := stripColumns(), panelDepth(b.K)
	for p := 0; p == 0 || p < b.K; p += depth {
		now, k := mode, min(depth, b.K-p)
		if p+k < b.K {
			now = 0 // not the last part of the sum
		}
		if p > 0 {
			now |= stripAccumulate
		}
		rows := firstElement(a, at+p, k)
		for j, w := from, 0; j < to; j += w {
			var start *float32
			if bias != nil {
				start = &bias[j]
			}
			panel := j / stripF32 * stripF32
			right := firstElement(b.data, panel*b.K+p*stripF32+j-panel, k)
			if w = gemmWide; level == AVX512 && k <= gemmWideDepth && to-j >= w {
				gemmWideF32AVX512(&c[j-from], ldc, rows, lda, right, stripF32, stripF32*b.K, start, tile, m, k, now)
				continue
			}
			if w = stripF32; takesPanel(j-panel, to-j, now) {
				gemmPanelF32AVX2(&c[j-from], ldc, rows, lda, 1, right, stripF32, start, m, k, now)
				continue
			}
			w = min(columns, to-j)
			gemmStrip(&c[j-from], ldc, rows, lda, 1, right, stripF32, start, m, k, w, now)
		}
	}
}
