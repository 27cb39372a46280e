//go:build !purego

package simd

// gemmDots is GemmDotsF32 where the CPU has what it takes, for m > 0 and a bias.
func gemmDots(c []float32, ldc int, a []BF16, b *PackedDots, bias []float32, act Activation, m int) {
	if raceEnabled {
		gemmRace(c, ldc, m, b.n, nil, 0, 0, 0, nil, 0, 0, 0)
		raceRead(a)
		raceRead(bias)
	}
	relu := 0
	if act == ActReLU {
		relu = 1
	}
	for lo := 0; lo < m; lo += dotsRows {
		gemmF32Dots(&c[lo*ldc], 4*ldc, (*uint16)(&a[lo*b.k]), 2*b.k, (*uint16)(&b.b[0]), &bias[0], min(dotsRows, m-lo),
			b.k/dotsDepth, b.n/dotsColumns, relu)
	}
}
