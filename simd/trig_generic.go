package simd

import "math"

// Sine and cosine in float32.
//
//	|x| = k·π/2 + r,  |r| ≤ π/4
//	sin(r) = r + r³·S(r²)         S of degree 2, relative error 4.0e-9
//	cos(r) = 1 - r²/2 + r⁴·C(r²)  C of degree 2, relative error 1.2e-10
//
// A float32 may lie so close to a multiple of π/2 that r has no right digits in float32 arithmetic, therefore r is computed in
// float64, with π/2 = halfPiHi + halfPiLo and 25 bits in halfPiHi, so that k·halfPiHi is exact for k < 2^28 (constants as in
// fdlibm's e_rem_pio2.c). Larger arguments go through the standard library's Payne-Hanek reduction.
// The sign of x is taken off first and put back last, which also keeps sin(-0) = -0.
const (
	sinP0 = -0x1.555546p-3
	sinP1 = 0x1.110778p-7
	sinP2 = -0x1.995402p-13

	cosP0 = 0x1.55554ap-5
	cosP1 = -0x1.6c0c2ap-10
	cosP2 = 0x1.99e91p-16

	twoOverPi    = 2 / math.Pi
	halfPiHi     = 0x1.921fb5p+0
	halfPiLo     = 0x1.110b4611a6263p-26
	roundF64     = 0x1.8p52
	sinCosMaxF32 = 1e8
)

func sinCosF32Generic(s, c, x []float32) {
	s, c = s[:len(x)], c[:len(x)]
	for i, v := range x {
		bits := math.Float32bits(v)
		sign := bits & (1 << 31)
		a := float64(math.Float32frombits(bits &^ (1 << 31)))
		if !(a <= sinCosMaxF32) {
			sin, cos := math.Sincos(float64(v))
			s[i], c[i] = float32(sin), float32(cos)
			continue
		}
		t := float64(a*twoOverPi) + roundF64
		k := t - roundF64
		r := float32(a - float64(k*halfPiHi) - float64(k*halfPiLo))
		z := r * r
		sin := r + r*(z*(sinP0+z*(sinP1+z*sinP2)))
		cos := 1 - (0.5*z - z*z*(cosP0+z*(cosP1+z*cosP2)))
		// Each quarter turn maps (sin, cos) to (cos, -sin).
		q := uint32(math.Float64bits(t))
		if q&1 != 0 {
			sin, cos = cos, sin
		}
		s[i] = math.Float32frombits(math.Float32bits(sin) ^ sign ^ q&2<<30)
		c[i] = math.Float32frombits(math.Float32bits(cos) ^ (q+1)&2<<30)
	}
}

// atan2 in float32: with t = min(|x|,|y|)/max(|x|,|y|), atan(t) = t + t³·P(t²) on [0, 1], P of degree 9, relative error 4.5e-10,
// then reflected at the diagonal and at the axes. π/2 and π carry a low part, so that a reflection costs one rounding.
const (
	atanP0 = -0x1.555552p-2
	atanP1 = 0x1.99981cp-3
	atanP2 = -0x1.247620p-3
	atanP3 = 0x1.c51170p-4
	atanP4 = -0x1.6953bcp-4
	atanP5 = 0x1.150a00p-4
	atanP6 = -0x1.7080bap-5
	atanP7 = 0x1.753040p-6
	atanP8 = -0x1.e6a0ecp-8
	atanP9 = 0x1.29687ep-10

	halfPiHiF32 = 0x1.921fb6p+0
	halfPiLoF32 = -0x1.777a5cp-25
)

func atan2F32Generic(dst, y, x []float32) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, vx := range x {
		vy := y[i]
		ax := math.Float32frombits(math.Float32bits(vx) &^ (1 << 31))
		ay := math.Float32frombits(math.Float32bits(vy) &^ (1 << 31))
		lo, hi := ay, ax
		if ay > ax {
			lo, hi = ax, ay
		}
		if !(lo > 0 && hi <= math.MaxFloat32) { // an axis, the origin, an infinity or NaN
			dst[i] = float32(math.Atan2(float64(vy), float64(vx)))
			continue
		}
		t := lo / hi
		z := t * t
		p := atanP0 + z*(atanP1+z*(atanP2+z*(atanP3+z*(atanP4+z*(atanP5+z*(atanP6+z*(atanP7+z*(atanP8+z*atanP9))))))))
		a := t + t*(z*p)
		if ay > ax {
			a = halfPiHiF32 - (a - halfPiLoF32)
		}
		if vx < 0 {
			a = 2*halfPiHiF32 - (a - 2*halfPiLoF32)
		}
		dst[i] = math.Float32frombits(math.Float32bits(a) | math.Float32bits(vy)&(1<<31))
	}
}

// The square of a float32 neither overflows nor vanishes in float64, and both squares are exact there.
func hypotF32Generic(dst, x, y []float32) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		a, b := float64(v), float64(y[i])
		dst[i] = float32(math.Sqrt(float64(a*a) + float64(b*b)))
	}
}

// Sine and cosine in float64. The standard library subtracts k·π/2 with 90 bits of π/2, and an argument next to a multiple of π/2 has no
// right digit then. Here the remainder comes as r + tail, by the method of fdlibm's e_rem_pio2.c: π/2 in three parts of 33 bits and their
// rests, taken as far as the remainder is small. k·halfPiAF64 and its likes are exact for k < 2^20.
//
//	sin(r + tail) = sin(r) + tail·cos(r),  cos(r + tail) = cos(r) - tail·sin(r)
const (
	halfPiAF64     = 0x1.921fb544p+0
	halfPiATailF64 = 0x1.0b4611a626331p-34
	halfPiBF64     = 0x1.0b4611a6p-34
	halfPiBTailF64 = 0x1.3198a2e037073p-69
	halfPiCF64     = 0x1.3198a2ep-69
	halfPiCTailF64 = 0x1.b839a252049c1p-104

	// sinCosMaxF64 is below 2^20·π/2. Beyond it the standard library's functions are off by less than 1e-15.
	sinCosMaxF64 = 1.6e6
)

func sinCosF64Generic(s, c, x []float64) {
	s, c = s[:len(x)], c[:len(x)]
	for i, v := range x {
		a := math.Abs(v)
		if !(a > math.Pi/4 && a <= sinCosMaxF64) {
			s[i], c[i] = math.Sincos(v)
			continue
		}
		r, tail, q := halfPiRemainder(a)
		sin, cos := math.Sincos(r)
		sin, cos = sin+float64(tail*cos), cos-float64(tail*sin)
		if q&1 != 0 {
			sin, cos = cos, -sin
		}
		if q&2 != 0 {
			sin, cos = -sin, -cos
		}
		if v < 0 {
			sin = -sin
		}
		s[i], c[i] = sin, cos
	}
}

// halfPiRemainder is a = k·π/2 + r + tail for 0 ≤ a ≤ sinCosMaxF64, |r| ≤ π/4 to rounding, and the last bits of k.
func halfPiRemainder(a float64) (r, tail float64, q uint32) {
	t := float64(a*twoOverPi) + roundF64
	k := t - roundF64
	rest := a - float64(k*halfPiAF64)
	w := float64(k * halfPiATailF64)
	r = rest - w
	if math.Abs(r) < a*0x1p-16 {
		before := rest
		w = float64(k * halfPiBF64)
		rest = before - w
		w = float64(k*halfPiBTailF64) - ((before - rest) - w)
		r = rest - w
		if math.Abs(r) < a*0x1p-49 {
			before = rest
			w = float64(k * halfPiCF64)
			rest = before - w
			w = float64(k*halfPiCTailF64) - ((before - rest) - w)
			r = rest - w
		}
	}
	return r, (rest - r) - w, uint32(math.Float64bits(t))
}

// The standard library's function is accurate enough, but takes the sign of the result from y/x, which may underflow.
func atan2F64Generic(dst, y, x []float64) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = math.Copysign(math.Atan2(y[i], v), y[i])
	}
}

func hypotF64Generic(dst, x, y []float64) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		w := y[i]
		h := math.Hypot(v, w)
		if v != v || w != w {
			h = math.NaN() // math.Hypot would return the infinity
		}
		dst[i] = h
	}
}
