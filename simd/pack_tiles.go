//go:build !purego && (arm64 || (wasm && goexperiment.simd && go1.27))

package simd

const (
	packedHeight = 64 // rows of A at a time, so that they stay in the second-level cache with the rows of C they make
	// steps of k at a time: 16 KiB of a panel of B stay in the first-level cache, and one call takes some tens of
	// microseconds
	packedDepth = 512
)

func gemmPackedF32(c []float32, ldc int, a []float32, lda int, b *Packed[float32], bias []float32, act Activation, m int) {
	gemmPacked(c, ldc, a, lda, b, bias, act, m)
}

func gemmPackedF64(c []float64, ldc int, a []float64, lda int, b *Packed[float64], bias []float64, act Activation, m int) {
	gemmPacked(c, ldc, a, lda, b, bias, act, m)
}

// gemmPacked computes act(bias + A·B) from panels as wide as a tile, as the kernels need them. The sum of an element begins with
// the bias and runs over k in ascending order in one accumulator per block of k, whatever m is. The activation is applied while
// the rows are in the cache.
func gemmPacked[T Float](c []T, ldc int, a []T, lda int, b *Packed[T], bias []T, act Activation, m int) {
	k, n := b.k, b.n
	columns := gemmColumns[T]()
	if level == Generic || m == 0 || n == 0 || k == 0 {
		gemmPackedGeneric(c, ldc, a, lda, b, bias, act, m)
		return
	}
	raceRead(bias)
	gemmRace(c, ldc, m, n, a, lda, m, k, b.data, columns, k, columns)
	var first, none [gemmTile]T
	for i := 0; i < m; i += packedHeight {
		mb := min(packedHeight, m-i)
		for j := 0; j < n; j += columns {
			nb := min(columns, n-j)
			start, beta := &none[0], T(0)
			if bias != nil {
				copy(first[:], bias[j:j+nb])
				start = &first[0]
			}
			for p := 0; p < k; p += packedDepth {
				gemmRows(&c[i*ldc+j], ldc, &a[i*lda+p], lda, &b.data[j*k+p*columns], columns, start, 1, beta,
					mb, nb, min(packedDepth, k-p))
				start, beta = &none[0], 1
			}
		}
		if act == ActNone {
			continue
		}
		if ldc == n { // the rows follow each other
			activate(c[i*n:(i+mb)*n], act)
			continue
		}
		for r := range mb {
			activate(c[(i+r)*ldc:][:n], act)
		}
	}
}
