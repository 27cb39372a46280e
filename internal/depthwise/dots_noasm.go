//go:build purego || !amd64

package depthwise

import "github.com/equivcnp/equivcnp/simd"

// runDots is never called: cpu.Dots is false.
func runDots(out []float32, stride int, f, w []simd.BF16, d *Dots) {
	dotsGeneric(out, stride, f, w, d)
}
