//go:build !purego

package simd

func gemmRunsF32(c, a, b []float32, runs []Run, beta float32, n, k int) {
	gemmRuns(gemmF32, c, a, b, runs, beta, n, k)
}

func gemmRunsF64(c, a, b []float64, runs []Run, beta float64, n, k int) {
	gemmRuns(gemmF64, c, a, b, runs, beta, n, k)
}

// gemmRuns calls the kernel of the strips directly, for all shapes whose columns fill whole vectors. B is read in place there,
// and a product of a few rows takes less time than deciding how to compute it.
func gemmRuns[T Float](gemm gemmFunc[T], c, a, b []T, runs []Run, beta T, n, k int) {
	columns, strip := stripColumns[T](), stripOf[T]()
	if level == Generic || n == 0 || k == 0 || k > gemmDepth || n%(columns/2) != 0 || (beta != 0 && beta != 1) {
		gemmRunsGeneric(gemm, c, a, b, runs, beta, n, k)
		return
	}
	mode := 0
	if beta == 1 {
		mode = stripAccumulate
	}
	for i := range runs {
		r := &runs[i]
		if raceEnabled && r.N > 0 {
			gemmRace(c[r.C*n:], n, r.N, n, a[r.A*k:], k, r.N, k, b[r.B*k*n:], n, k, n)
		}
		for at := 0; at < r.N; at += gemmStripRows {
			m := min(gemmStripRows, r.N-at)
			for s, w := 0, 0; s < n; s += w {
				left, right := &a[(r.A+at)*k], &b[r.B*k*n+s]
				if w = strip; takesPanel[T](0, n-s, mode) {
					gemmPanel(&c[(r.C+at)*n+s], n, left, k, 1, right, n, nil, m, k, mode)
					continue
				}
				w = min(columns, n-s)
				gemmStrip(&c[(r.C+at)*n+s], n, left, k, 1, right, n, nil, m, k, w, mode)
			}
		}
	}
}
