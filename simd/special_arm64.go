//go:build !purego

package simd

import "unsafe"

// Functions of float32 that are computed in float64: NEON's two lanes at a time, through a buffer that the first-level cache holds.
type throughFloat64 int

const (
	erfThrough throughFloat64 = iota
	geluThrough
	expm1Through
	log1pThrough
	powThrough
)

func erfF32NEON(dst, x *float32, n int)    { erfThrough.run(dst, x, nil, n) }
func geluF32NEON(dst, x *float32, n int)   { geluThrough.run(dst, x, nil, n) }
func expm1F32NEON(dst, x *float32, n int)  { expm1Through.run(dst, x, nil, n) }
func log1pF32NEON(dst, x *float32, n int)  { log1pThrough.run(dst, x, nil, n) }
func powF32NEON(dst, x, y *float32, n int) { powThrough.run(dst, x, y, n) }

const specialBuffer = 128

func (f throughFloat64) run(dst, x, y *float32, n int) {
	var b, c [specialBuffer]float64
	for at := 0; at < n; at += len(b) {
		m := widenPart(&b, x, at, n)
		switch f {
		case erfThrough:
			erfF64NEON(&b[0], &b[0], m)
		case geluThrough:
			geluF64NEON(&b[0], &b[0], m)
		case expm1Through:
			expm1F64NEON(&b[0], &b[0], m)
		case log1pThrough:
			log1pF64NEON(&b[0], &b[0], m)
		case powThrough:
			widenPart(&c, y, at, n)
			powF64NEON(&b[0], &b[0], &c[0], m)
		}
		part := unsafe.Slice(dst, n)[at : at+m]
		for i := range part {
			part[i] = float32(b[i])
		}
	}
}

// widenPart takes elements of x from at on, of n in all, and returns how many these are.
func widenPart(b *[specialBuffer]float64, x *float32, at, n int) int {
	part := unsafe.Slice(x, n)[at:min(at+specialBuffer, n)]
	for i, v := range part {
		b[i] = float64(v)
	}
	return len(part)
}
