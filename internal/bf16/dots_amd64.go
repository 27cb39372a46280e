//go:build !purego

package bf16

import (
	"github.com/equivcnp/equivcnp/internal/race"
	"github.com/equivcnp/equivcnp/simd"
)

// gemmDots is GemmDots where the CPU has what it takes, for m > 0 and a bias.
func gemmDots(c []float32, ldc int, a []simd.BF16, b *Dots, bias []float32, act simd.Activation, m int) {
	if race.Enabled {
		for i := range m {
			race.Write(c[i*ldc:][:b.n])
		}
		race.Read(a)
		race.Read(bias)
	}
	relu := 0
	if act == simd.ActReLU {
		relu = 1
	}
	for lo := 0; lo < m; lo += dotsRows {
		gemmF32Dots(&c[lo*ldc], 4*ldc, (*uint16)(&a[lo*b.k]), 2*b.k, (*uint16)(&b.b[0]), &bias[0], min(dotsRows, m-lo),
			b.k/dotsDepth, b.n/dotsColumns, relu)
	}
}
