package linalg

import "math"

// A 2×2 matrix is split into a multiple of the identity and a part N without trace,
//
//	A = m I + N,   N = [[δ, b], [c, -δ]],   N² = x I,   x = δ² + bc,
//
// so that every function of it is C I + S N with two numbers. The two parts are orthogonal in the Frobenius inner
// product: their sum cannot cancel, and an accurate C and S make an accurate matrix.

// Det2x2 returns the determinant of a, right to two units in the last place however much it cancels, as long as products of
// entries neither overflow nor underflow.
//
//   - Formula: W. Kahan's difference of products with a fused multiply-add.
func Det2x2(a *[4]float64) float64 { return sumOfProducts(a[0], a[3], -a[1], a[2]) }

// sumOfProducts is ab + cd with a relative error of at most 1.5·2⁻⁵², after W. Kahan; see C.-P. Jeannerod, N. Louvet and
// J.-M. Muller, Further analysis of Kahan's algorithm for the accurate computation of 2×2 determinants, Mathematics of
// Computation 82 (2013), 2245-2264.
func sumOfProducts(a, b, c, d float64) float64 {
	w := float64(c * d)
	e := math.FMA(c, d, -w)
	return math.FMA(a, b, w) + e
}

// split2x2 returns m, δ and x of the matrix a, and √|x|. Where x overflows it is ±Inf and the root is still right.
func split2x2(a *[4]float64) (m, delta, x, root float64) {
	m, delta = float64(a[0]/2)+float64(a[3]/2), float64(a[0]/2)-float64(a[3]/2)
	x = sumOfProducts(delta, delta, a[1], a[2])
	if math.Abs(x) <= math.MaxFloat64 {
		return m, delta, x, math.Sqrt(math.Abs(x))
	}
	d := delta * 0x1p-600
	x = sumOfProducts(d, d, a[1]*0x1p-600, a[2]*0x1p-600)
	return m, delta, x * 0x1p600 * 0x1p600, math.Sqrt(math.Abs(x)) * 0x1p600
}

// coshSinhc returns C, S and D with cosh √x = C·exp(g), sinh √x/√x = S·exp(g) and the derivative of the latter with
// respect to x = D·exp(g); g is √x for large x, so that nothing overflows, and 0 otherwise. root is √|x|.
func coshSinhc(x, root float64) (c, s, d, g float64) {
	switch {
	case x > 1:
		e := math.Exp(-2 * root)
		c, s, g = 0.5*(1+e), -0.5*math.Expm1(-2*root)/root, root
	case x < -1:
		s, c = math.Sincos(root)
		s /= root
	default:
		// Σ xᵏ/(2k)!, Σ xᵏ/(2k+1)! and Σ (k+1)xᵏ/(2k+3)!, Taylor; NaN comes here too.
		c = 1 + x*(1./2+x*(1./24+x*(1./720+x*(1./40320+x*(1./3628800+x*(1./479001600+x*(1./87178291200+
			x*(1./20922789888000+x*(1./6402373705728000)))))))))
		s = 1 + x*(1./6+x*(1./120+x*(1./5040+x*(1./362880+x*(1./39916800+x*(1./6227020800+x*(1./1307674368000+
			x*(1./355687428096000+x*(1./121645100408832000)))))))))
		d = 1./6 + x*(2./120+x*(3./5040+x*(4./362880+x*(5./39916800+x*(6./6227020800+x*(7./1307674368000+
			x*(8./355687428096000+x*(9./121645100408832000))))))))
		return c, s, d, 0
	}
	return c, s, 0.5 * (c - s) / root / math.Copysign(root, x), g
}

// Exp2x2 writes exp(a); dst may be a.
//
//   - Errors: an entry that is not finite gives NaN or ±Inf, never a panic. Entries beyond the range become ±Inf or 0.
//   - Accuracy: error below 1e-15·max(1, cond) of the norm, cond the condition number of the exponential at a, for every
//     norm (TestTrial).
//   - Formula: exp(m)·(cosh √x I + sinh √x/√x N); cos and sin for x < 0, a series in x near 0.
//
//go:noinline
func Exp2x2(dst, a *[4]float64) {
	m, delta, x, root := split2x2(a)
	c, s, _, g := coshSinhc(x, root)
	// exp(m)·exp(g) is computed as exp(m + g), because one factor may overflow where the other vanishes.
	e := m + g
	*dst = [4]float64{
		ScaleExp(e, c+float64(s*delta)), ScaleExp(e, s*a[1]),
		ScaleExp(e, s*a[2]), ScaleExp(e, c-float64(s*delta)),
	}
}

// ExpFrechet2x2 writes L(a, e), the derivative of the exponential at a in the direction e: exp(a + te) = exp(a) + t·L +
// O(t²). dst may be a or e.
//
//   - Accuracy: error below 2e-15·max(1, ‖a‖, cond) of the largest derivative of a direction of that length
//     (TestExpFrechet2x2Accuracy). It is smooth: no value of a is special.
//   - Formula: the derivative of Exp2x2's, term by term.
//
//go:noinline
func ExpFrechet2x2(dst, a, e *[4]float64) {
	m, delta, x, root := split2x2(a)
	c, s, d, g := coshSinhc(x, root)
	dm, dd := float64(e[0]/2)+float64(e[3]/2), float64(e[0]/2)-float64(e[3]/2)
	dx := 2*float64(delta*dd) + sumOfProducts(a[1], e[2], a[2], e[1])
	// d/dx cosh √x = S/2.
	p, q := float64(c*dm)+float64(0.5*s*dx), float64(s*dm)+float64(d*dx)
	k := m + g
	*dst = [4]float64{
		ScaleExp(k, p+float64(q*delta)+float64(s*dd)), ScaleExp(k, float64(q*a[1])+float64(s*e[1])),
		ScaleExp(k, float64(q*a[2])+float64(s*e[2])), ScaleExp(k, p-float64(q*delta)-float64(s*dd)),
	}
}

// Log2x2 writes the principal logarithm of a and reports whether there is one: false, and dst all NaN, where an
// eigenvalue lies on the closed negative real axis (a singular matrix has the eigenvalue 0) or an entry is not finite.
// dst may be a.
//
//   - Accuracy: error below 1e-15·max(1, cond) of the norm (TestTrial). The signs that
//     decide are right to the last bit, so a matrix an ulp off the forbidden axis still has its logarithm.
//   - Formula: ½ log det I + β N with β = atanh(√x/m)/√x; atan2 for x < 0, a series in x/m² near 0.
//
//go:noinline
func Log2x2(dst, a *[4]float64) bool {
	a = &[4]float64{a[0], a[1], a[2], a[3]} // dst may be a
	*dst = [4]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	if !allFinite(a[:]) {
		return false
	}
	// m, h and x depend on the off-diagonal entries only through their product. So both get the same magnitude, and the largest entry
	// is brought to size 1 if it is far from that. Then no square that matters leaves the range.
	fb, eb := math.Frexp(a[1])
	fc, ec := math.Frexp(a[2])
	p := [4]float64{a[0], 0, 0, a[3]}
	if fb != 0 && fc != 0 {
		q := (eb + ec) >> 1
		p[1], p[2] = math.Ldexp(fb, q), math.Ldexp(fc, eb+ec-q)
	}
	k := scaleExponent(p[:], 100)
	if k == badScale {
		return false // nilpotent
	}
	scalePow2(p[:], -k)
	m := 0.5 * (p[0] + p[3])
	// a - d is computed together with its rounding error: without it x might have the wrong sign.
	h := p[0] - p[3]
	t := h - p[0]
	lost := (p[0] - (h - t)) - (p[3] + t)
	x := 0.25 * (sumOfProducts(h, h, 4*p[1], p[2]) + 2*float64(h*lost))
	if x >= 0 && m <= 0 {
		return false
	}
	logDet, root, ok := logDet2x2(a)
	if !ok {
		return false
	}
	s := math.Sqrt(math.Abs(x))
	var beta float64
	switch z := x / (m * m); {
	case m > 0 && math.Abs(z) <= 0.0625:
		// Σ zᵏ/(2k+1); the first term left out is below 2⁻⁵⁶.
		beta = (1 + z*(1./3+z*(1./5+z*(1./7+z*(1./9+z*(1./11+z*(1./13+z*(1./15+z*(1./17+z*(1./19+z*(1./21+
			z*(1./23+z*(1./25))))))))))))) / m
	case x < 0:
		beta = math.Atan2(s, m) / s
	case s < 0.5*m:
		beta = math.Atanh(s/m) / s
	case root > 0:
		// atanh(s/m) = log((m+s)/√det), and the determinant is accurate where m - s is not.
		beta = math.Log((m+s)/math.Ldexp(root, -k)) / s
	default:
		beta = (math.Log(m+s) + float64(k)*math.Ln2 - 0.5*logDet) / s
	}
	alpha := 0.5 * logDet
	d := 0.5 * h * beta
	*dst = [4]float64{alpha + d, math.Ldexp(beta*fb, eb-k), math.Ldexp(beta*fc, ec-k), alpha - d}
	if !allFinite(dst[:]) {
		*dst = [4]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
		return false
	}
	return true
}

// logDet2x2 returns log(det p) and √(det p), 0 for the root where the determinant leaves the range; ok is false unless det p > 0.
func logDet2x2(p *[4]float64) (logDet, root float64, ok bool) {
	x, y := math.Abs(p[0]*p[3]), math.Abs(p[1]*p[2])
	if (x >= 0x1p-900 || y >= 0x1p-900) && x <= 0x1p1000 && y <= 0x1p1000 {
		det := sumOfProducts(p[0], p[3], -p[1], p[2])
		if !(det > 0) {
			return 0, 0, false
		}
		if p[0] > 0.5 && p[0] < 2 && p[3] > 0.5 && p[3] < 2 && det > 0.5 && det < 2 {
			// Both differences are exact, and so next to the identity no digit is lost.
			u, v := p[0]-1, p[3]-1
			return math.Log1p((u + v) + sumOfProducts(u, v, -p[1], p[2])), math.Sqrt(det), true
		}
		return math.Log(det), math.Sqrt(det), true
	}
	// The products leave the range: take the exponents apart.
	f, e := frexpProduct(p[0], p[3])
	g, h := frexpProduct(p[1], p[2])
	if f == 0 {
		e = h
	} else if g == 0 {
		h = e
	}
	k := max(e, h)
	det := math.Ldexp(f, e-k) - math.Ldexp(g, h-k)
	if e == h {
		fa, _ := math.Frexp(p[0])
		fb, _ := math.Frexp(p[1])
		fc, _ := math.Frexp(p[2])
		fd, _ := math.Frexp(p[3])
		det = sumOfProducts(fa, fd, -fb, fc)
	}
	if !(det > 0) {
		return 0, 0, false
	}
	return math.Log(det) + float64(k)*math.Ln2, 0, true
}

// frexpProduct is x·y as a number of size 1/4 to 1, or 0, and an exponent.
func frexpProduct(x, y float64) (float64, int) {
	f, e := math.Frexp(x)
	g, h := math.Frexp(y)
	return f * g, e + h
}

// Mul2x2 writes the product a·b; dst may be a or b.
//
//go:noinline
func Mul2x2(dst, a, b *[4]float64) {
	*dst = [4]float64{
		float64(a[0]*b[0]) + float64(a[1]*b[2]), float64(a[0]*b[1]) + float64(a[1]*b[3]),
		float64(a[2]*b[0]) + float64(a[3]*b[2]), float64(a[2]*b[1]) + float64(a[3]*b[3]),
	}
}

// Inverse2x2 writes the inverse of a and reports whether there is one that can be represented; otherwise dst is all NaN.
// dst may be a. The determinant is accurate to two units in the last place, and so is every entry, nearly.
//
//go:noinline
func Inverse2x2(dst, a *[4]float64) bool {
	p := *a
	*dst = [4]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	row, col, ok := equilibrate(p[:], 2)
	if !ok {
		return false
	}
	det := sumOfProducts(p[0], p[3], -p[1], p[2])
	if det == 0 {
		return false
	}
	q := [4]float64{p[3] / det, -p[1] / det, -p[2] / det, p[0] / det}
	for i := range 2 {
		for j := range 2 {
			q[2*i+j] = math.Ldexp(q[2*i+j], -col[i]-row[j])
		}
	}
	if !allFinite(q[:]) {
		return false
	}
	*dst = q
	return true
}
