package simd

import (
	"fmt"
	"testing"
)

// BenchmarkGemmI8 multiplies in the caches.
func BenchmarkGemmI8(b *testing.B) {
	for _, size := range [][3]int{{48, 32, 384}, {240, 32, 384}, {240, 64, 384}, {240, 256, 768}} {
		m, n, k := size[0], size[1], size[2]
		a, c, p := make([]int8, m*k), make([]int32, m*n), PackI8(make([]int8, n*k), k, n, k)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				GemmPackedI8(c, n, a, k, p, m)
			}
			b.ReportMetric(float64(m*n*k*b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
		})
	}
}
