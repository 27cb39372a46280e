//go:build !purego

package simd

// pastHalves says whether large conversions are stored past the caches by kernels of AVX2, and not through a buffer: at AVX2, and with
// AVX-512 on Zen 4, where they take .87 to .93 of the time (384 MB), and Zen 5 (.63 to .92 for 12 to 256 MB).
func pastHalves() bool { return level == AVX2 || !buffersStream }

func bf16FromF32(dst []BF16, x []float32) {
	if level == Generic {
		bf16FromF32Generic(dst, x)
		return
	}
	if pastHalves() && streams(dst, x) {
		n := toLine(dst)
		bf16FromF32(dst[:n], x[:n])
		dst, x = dst[n:], x[n:]
		raceRead(x)
		raceWrite(dst)
		for n = pastPiece(dst); n > 0; n = pastPiece(dst) {
			bf16FromF32PastAVX2((*uint16)(&dst[0]), &x[0], n)
			dst, x = dst[n:], x[n:]
		}
		storeFenceAVX2()
	} else if streams(dst, x) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, x).next(); ok; p, ok = p.next() {
			bf16FromF32(p.part, x[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			bf16FromF32AVX512((*uint16)(&dst[0]), &x[0], n)
		case AVX2:
			bf16FromF32AVX2((*uint16)(&dst[0]), &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}

func f32FromBF16(dst []float32, x []BF16) {
	if level == Generic {
		f32FromBF16Generic(dst, x)
		return
	}
	if pastHalves() && streams(dst, x) {
		n := toLine(dst)
		f32FromBF16(dst[:n], x[:n])
		dst, x = dst[n:], x[n:]
		raceRead(x)
		raceWrite(dst)
		for n = pastPiece(dst); n > 0; n = pastPiece(dst) {
			f32FromBF16PastAVX2(&dst[0], (*uint16)(&x[0]), n)
			dst, x = dst[n:], x[n:]
		}
		storeFenceAVX2()
	} else if streams(dst, x) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, x).next(); ok; p, ok = p.next() {
			f32FromBF16(p.part, x[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			f32FromBF16AVX512(&dst[0], (*uint16)(&x[0]), n)
		case AVX2:
			f32FromBF16AVX2(&dst[0], (*uint16)(&x[0]), n)
		}
		dst, x = dst[n:], x[n:]
	}
}
