//go:build purego || !amd64

package simd

// depthwiseDots is never called: cpu.Dots is false.
func depthwiseDots(out []float32, stride int, f, w []BF16, d *DepthwiseDots) {
	depthwiseDotsGeneric(out, stride, f, w, d)
}
