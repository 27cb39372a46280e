//go:build purego || !(amd64 || arm64)

package depthwise

func runPoses(dw, dout, f []float32, code []int32, blocks, m, c, n int, more bool) {
	poseGeneric(dw, dout, f, code, blocks, m, c, n, more)
}

func runJoinedPoses(dw, dout, f []float32, code []int32, blocks, m, c, n int, more bool) {
	joinedPoseGeneric(dw, dout, f, code, blocks, m, c, n, more)
}

// race has nothing to announce: the race detector sees what Go does.
func (p *Poses) race(dw, dout, f []float32, from, to, c int) {}
