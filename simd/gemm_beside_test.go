package simd

import (
	"sync"
	"testing"
)

// TestGemmBesideWrites multiplies with some columns of a matrix while another goroutine writes the others: no value comes from these, and
// the race detector has nothing to report.
func TestGemmBesideWrites(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		gemmBesideWrites[float32](t)
		gemmBesideWrites[float64](t)
	})
}

func gemmBesideWrites[T Float](t *testing.T) {
	const m, ld, k = 70, 45, 30
	a, b, c := make([]T, m*k), make([]T, k*ld), make([]T, m*ld)
	for i := range a {
		a[i] = T(i%7 - 3)
	}
	for from := 1; from < ld; from += 7 {
		n := ld - from
		for i := range b {
			b[i] = T(i%5 - 2)
		}
		var both sync.WaitGroup
		both.Go(func() {
			for p := range k {
				for j := range from {
					b[p*ld+j] = T(p)
				}
			}
		})
		both.Go(func() { Gemm(c, ld, a, k, b[from:], ld, 1, 0, m, n, k) })
		both.Wait()
		for i := range m {
			for j := range n {
				want := T(0)
				for p := range k {
					want += a[i*k+p] * b[p*ld+from+j]
				}
				if c[i*ld+j] != want {
					t.Fatalf("%d columns: c[%d, %d] = %g, want %g", n, i, j, c[i*ld+j], want)
				}
			}
		}
	}
}
