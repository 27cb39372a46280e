//go:build !purego

package simd

func bf16FromF32(dst []BF16, x []float32) {
	if level == Generic {
		bf16FromF32Generic(dst, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		bf16FromF32NEON((*uint16)(&dst[0]), &x[0], n)
		dst, x = dst[n:], x[n:]
	}
}

func f32FromBF16(dst []float32, x []BF16) {
	if level == Generic {
		f32FromBF16Generic(dst, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		f32FromBF16NEON(&dst[0], (*uint16)(&x[0]), n)
		dst, x = dst[n:], x[n:]
	}
}
