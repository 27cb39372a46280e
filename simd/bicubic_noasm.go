//go:build purego || !(amd64 || arm64)

package simd

func bicubic(dst, nodes []float32, code []int32, n, cols, c int) {
	bicubicGeneric(dst, nodes, code, n, cols, c)
}

func bicubicGrad(dnodes, d []float32, code []int32, n, cols, width, c int) {
	bicubicGradGeneric(dnodes, d, code, n, cols, width, c)
}

// race has nothing to announce: the race detector sees what Go does.
func (p *BicubicPlan) race(read, written []float32) {}
