//go:build purego || !amd64

package simd

func gemmRunsF32(c, a, b []float32, runs []Run, beta float32, n, k int) {
	gemmRunsGeneric(gemmF32, c, a, b, runs, beta, n, k)
}

func gemmRunsF64(c, a, b []float64, runs []Run, beta float64, n, k int) {
	gemmRunsGeneric(gemmF64, c, a, b, runs, beta, n, k)
}
