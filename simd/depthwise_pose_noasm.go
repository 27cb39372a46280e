//go:build purego || !(amd64 || arm64)

package simd

func depthwisePose(dw, dout, f []float32, code []int32, blocks, m, c, n int, more bool) {
	depthwisePoseGeneric(dw, dout, f, code, blocks, m, c, n, more)
}

// race has nothing to announce: the race detector sees what Go does.
func (p *DepthwisePosePlan) race(dw, dout, f []float32, from, to, c int) {}
