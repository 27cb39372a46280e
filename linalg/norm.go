package linalg

import "math"

// SafeSquare reports whether s, computed as a sum of squares, is large enough that no addend that underflowed matters
// (it is then below 2⁻⁶⁰ of s) and did not overflow. It is false for NaN. Where it holds, Norm2 and its kin are
// math.Sqrt(s), which lets a hot loop keep them in line.
func SafeSquare(s float64) bool { return s >= 0x1p-960 && s <= math.MaxFloat64 }

// Norm2 returns sqrt(x² + y²) without overflow or underflow on the way.
//
// Here and in its kin the products are rounded explicitly, so no compiler fuses them with the sum, and every caller
// gets the same bits. An infinite element gives +Inf even beside a NaN, as in math.Hypot.
func Norm2(x, y float64) float64 {
	if s := float64(x*x) + float64(y*y); SafeSquare(s) {
		return math.Sqrt(s)
	}
	return math.Hypot(x, y)
}

// Norm3 returns sqrt(x² + y² + z²) without overflow or underflow on the way.
func Norm3(x, y, z float64) float64 {
	if s := float64(x*x) + float64(y*y) + float64(z*z); SafeSquare(s) {
		return math.Sqrt(s)
	}
	return math.Hypot(math.Hypot(x, y), z)
}

// Norm returns the Euclidean length of v without overflow or underflow on the way; 0 for an empty v. For one, two and three
// elements it gives the bits of math.Abs, Norm2 and Norm3.
func Norm(v []float64) float64 {
	switch len(v) {
	case 0:
		return 0
	case 1:
		return math.Abs(v[0])
	}
	s := 0.0
	for _, x := range v {
		s += float64(x * x)
	}
	if SafeSquare(s) {
		return math.Sqrt(s)
	}
	h := 0.0
	for _, x := range v {
		h = math.Hypot(h, x)
	}
	return h
}

// LogHypot returns log(sqrt(x² + y²)), accurate also where the radius is close to 1 (the logarithm of a rounded radius has no
// correct digit there) and where it exceeds the largest float64. It is -Inf at the origin.
//
//   - Accuracy: absolute error below 4·2⁻⁵³·max(1, |result|); relative near radius 1, too, as far as
//     (x-1)(x+1) + y² does not cancel.
//   - Symmetry: exchanging x and y or changing a sign changes no bit, so points that a quarter turn maps to each other
//     have the same radius.
func LogHypot(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	if x < y {
		x, y = y, x
	}
	switch {
	case x >= 0.5 && x <= 2 && y <= 2:
		// r² - 1 = (x-1)(x+1) + y², where x-1 is exact (Sterbenz).
		if d := math.FMA(x-1, x+1, float64(y*y)); d > -0.5 && d < 0.5 {
			return 0.5 * math.Log1p(d)
		}
	case x > 0x1p1000 && x <= math.MaxFloat64:
		return math.Log(math.Hypot(x*0x1p-512, y*0x1p-512)) + 512*math.Ln2
	case x < 0x1p-900 && x > 0:
		return math.Log(math.Hypot(x*0x1p512, y*0x1p512)) - 512*math.Ln2
	}
	return math.Log(math.Hypot(x, y))
}

// Log returns the natural logarithm for every float64. (math.Log takes subnormal numbers for normal ones on amd64, where
// Go 1.26 gives -709.09 for log 5e-324 = -744.44.)
func Log(x float64) float64 {
	if x > 0 && x < 0x1p-1000 {
		return math.Log(x*0x1p200) - 200*math.Ln2
	}
	return math.Log(x)
}
