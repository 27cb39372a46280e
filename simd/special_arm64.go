//go:build !purego

package simd

import "unsafe"

// Functions of float32 that are computed in float64: NEON's two lanes at a time, through a buffer that the first-level cache holds.
const specialBuffer = 128

func erfF32NEON(dst, x *float32, n int) {
	var b [specialBuffer]float64
	for at := 0; at < n; at += len(b) {
		m := widenPart(&b, x, at, n)
		erfF64NEON(&b[0], &b[0], m)
		narrowPart(dst, &b, at, m)
	}
}

func geluF32NEON(dst, x *float32, n int) {
	var b [specialBuffer]float64
	for at := 0; at < n; at += len(b) {
		m := widenPart(&b, x, at, n)
		geluF64NEON(&b[0], &b[0], m)
		narrowPart(dst, &b, at, m)
	}
}

func expm1F32NEON(dst, x *float32, n int) {
	var b [specialBuffer]float64
	for at := 0; at < n; at += len(b) {
		m := widenPart(&b, x, at, n)
		expm1F64NEON(&b[0], &b[0], m)
		narrowPart(dst, &b, at, m)
	}
}

func log1pF32NEON(dst, x *float32, n int) {
	var b [specialBuffer]float64
	for at := 0; at < n; at += len(b) {
		m := widenPart(&b, x, at, n)
		log1pF64NEON(&b[0], &b[0], m)
		narrowPart(dst, &b, at, m)
	}
}

func powF32NEON(dst, x, y *float32, n int) {
	var b, c [specialBuffer]float64
	for at := 0; at < n; at += len(b) {
		m := widenPart(&b, x, at, n)
		widenPart(&c, y, at, n)
		powF64NEON(&b[0], &b[0], &c[0], m)
		narrowPart(dst, &b, at, m)
	}
}

// widenPart takes elements of x from at on, of n in all, and returns how many these are.
func widenPart(b *[specialBuffer]float64, x *float32, at, n int) int {
	part := unsafe.Slice(x, n)[at:]
	part = part[:min(len(part), len(b))]
	for i, v := range part {
		b[i] = float64(v)
	}
	return len(part)
}

// narrowPart puts m results back.
func narrowPart(dst *float32, b *[specialBuffer]float64, at, m int) {
	part := unsafe.Slice(dst, at+m)[at:]
	for i := range part {
		part[i] = float32(b[i])
	}
}
