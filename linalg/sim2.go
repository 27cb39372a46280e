package linalg

import "math"

// Sim(2), the similarities of the plane, is arithmetic on complex numbers like SE(2): with ζ = λ + iθ, λ = log r, the
// similarity exp(λ, θ, t) maps z to e^ζ z + φ(ζ)t, φ(ζ) = (e^ζ - 1)/ζ. Coordinates are (λ, θ, t_x, t_y).

// ComposeSim2 writes log(exp(a)·exp(b)); dst may be a or b. The rotation-scaling part is added in coordinates and loses
// nothing.
func ComposeSim2(dst, a, b *[4]float64) {
	var e, f [4]float64
	ExpSim2(&e, a)
	ExpSim2(&f, b)
	MulSE2(&e, &e, &f)
	l, th := a[0]+b[0], WrapAngle(a[1]+b[1])
	x, y := divPhi(l, th, e[2], e[3])
	if l-l == 0 && th-th == 0 && !(x-x == 0 && y-y == 0) {
		x, y = composeFar(a, b, l, th)
	}
	*dst = [4]float64{l, th, x, y}
}

// composeFar returns the translation part of ComposeSim2 where the elements themselves leave the range:
//
//	(φ(ζ)t + e^ζ φ(η)u)/φ(ζ + η)
//
// with the exponentials of each term taken together.
func composeFar(a, b *[4]float64, l, th float64) (x, y float64) {
	_, k := math.Frexp(max(math.Abs(a[2]), math.Abs(a[3]), math.Abs(b[2]), math.Abs(b[3])))
	t := complex(math.Ldexp(a[2], -k), math.Ldexp(a[3], -k))
	u := complex(math.Ldexp(b[2], -k), math.Ldexp(b[3], -k))
	p, g := phi(a[0], a[1])
	q, h := phi(b[0], b[1])
	r, f := phi(l, th)
	s, c := math.Sincos(a[1])
	t, u = p*t/r, complex(c, s)*q*u/r
	x = ScaleExp(g-f, real(t)) + ScaleExp(a[0]+(h-f), real(u))
	y = ScaleExp(g-f, imag(t)) + ScaleExp(a[0]+(h-f), imag(u))
	return math.Ldexp(x, k), math.Ldexp(y, k)
}

// LeftJacobianSim2 writes the left Jacobian J of the exponential at a: exp(a + da) = exp(J·da)·exp(a) to first order.
//
//   - Formula: Σ adᵏ/(k+1)!, ad(ζ, t) = (ζ', t') -> (0, ζt' - tζ'). It maps (ζ', t') to (ζ', φ(ζ)t' - ψ(ζ)t ζ') with
//     ψ(z) = (eᶻ - 1 - z)/z².
func LeftJacobianSim2(dst *[16]float64, a *[4]float64) {
	p, g := phi(a[0], a[1])
	re, im := ScaleExp(g, real(p)), ScaleExp(g, imag(p))
	q := psi(a[0], a[1], complex(re, im)) * complex(-a[2], -a[3])
	complexBlocks(dst, q, complex(re, im))
}

// LeftJacobianInvSim2 writes the inverse of the left Jacobian at a, for |θ| < 2π or λ ≠ 0.
func LeftJacobianInvSim2(dst *[16]float64, a *[4]float64) {
	x, y := divPhi(a[0], a[1], 1, 0)
	inv := complex(x, y)
	complexBlocks(dst, psiOverPhi(a[0], a[1], inv)*complex(a[2], a[3]), inv)
}

// complexBlocks writes the real 4×4 matrix of (ζ, t) -> (ζ, qζ + vt).
func complexBlocks(dst *[16]float64, q, v complex128) {
	*dst = [16]float64{
		1, 0, 0, 0,
		0, 1, 0, 0,
		real(q), -imag(q), real(v), -imag(v),
		imag(q), real(q), imag(v), real(v),
	}
}

// nearZero is the size of ζ below which its series are shorter than e^ζ - 1.
const nearZero = 0x1p-17

func small(l, th float64) bool { return math.Abs(l) < nearZero && math.Abs(th) < nearZero }

// expm1Complex returns re, im and g with e^ζ - 1 = (re + i im)·e^g, ζ = λ + iθ; g is λ for large λ, so that nothing
// overflows, and 0 otherwise.
//
// e^ζ - 1 = (e^λ - 1) cos θ - 2 sin²(θ/2) + i e^λ sin θ: where the real part cancels it is small beside the imaginary part.
func expm1Complex(l, th float64) (re, im, g float64) {
	s, c := math.Sincos(th)
	if l > 1 {
		return c - math.Exp(-l), s, l
	}
	h := math.Sin(th / 2)
	return float64(math.Expm1(l)*c) - 2*float64(h*h), math.Exp(l) * s, 0
}

// phi returns p and g with φ(λ + iθ) = p·e^g.
func phi(l, th float64) (p complex128, g float64) {
	if small(l, th) {
		z := complex(l, th)
		return 1 + z*(0.5+z*(1./6+z*(1./24))), 0
	}
	re, im, g := expm1Complex(l, th)
	return complex(re, im) / complex(l, th), g
}

// divPhi is (x + iy)/φ(λ + iθ).
func divPhi(l, th, x, y float64) (float64, float64) {
	if small(l, th) {
		p, _ := phi(l, th)
		return mulDiv(x, y, 1, 0, real(p), imag(p))
	}
	re, im, g := expm1Complex(l, th)
	u, v := mulDiv(x, y, l, th, re, im)
	return ScaleExp(-g, u), ScaleExp(-g, v)
}

// mulDiv is (x + iy)(a + ib)/(c + id) with four roundings in a row. The divisor is brought to size 1 first, and so is x
// + iy if it is so large that its products might overflow.
func mulDiv(x, y, a, b, c, d float64) (re, im float64) {
	_, k := math.Frexp(max(math.Abs(c), math.Abs(d)))
	c, d = math.Ldexp(c, -k), math.Ldexp(d, -k)
	if h := max(math.Abs(x), math.Abs(y)); h > 0x1p900 && h <= math.MaxFloat64 {
		_, e := math.Frexp(h)
		x, y, k = math.Ldexp(x, -e), math.Ldexp(y, -e), k-e
	}
	n := sumOfProducts(c, c, d, d)
	c, d = sumOfProducts(a, c, b, d), sumOfProducts(b, c, -a, d)
	re, im = sumOfProducts(x, c, -y, d)/n, sumOfProducts(y, c, x, d)/n
	return math.Ldexp(re, -k), math.Ldexp(im, -k)
}

// psi is (φ(ζ) - 1)/ζ, given φ(ζ).
func psi(l, th float64, phi complex128) complex128 {
	z := complex(l, th)
	if math.Abs(l) > 1 || math.Abs(th) > 1 {
		return (phi - 1) / z
	}
	// Σ zᵏ/(k+2)!; the first term left out is below 2⁻⁶⁰.
	y := complex(0, 0)
	for k := len(inverseFactorial) - 1; k >= 2; k-- {
		y = y*z + complex(inverseFactorial[k], 0)
	}
	return y
}

// psiOverPhi is ψ(ζ)/φ(ζ) = (1 - 1/φ(ζ))/ζ, given 1/φ(ζ).
func psiOverPhi(l, th float64, inv complex128) complex128 {
	if math.Abs(l) > 1 || math.Abs(th) > 1 {
		return (1 - inv) / complex(l, th)
	}
	return psi(l, th, 0) * inv
}

// ExpSim2 writes exp(a), a = (log r, θ, t_x, t_y), as (r cos θ, r sin θ, x, y). Entries beyond the range become ±Inf or
// 0. The error of (x, y) is below 6e-16·max(1, cond) of its norm.
//
//go:noinline
func ExpSim2(dst *[4]float64, a *[4]float64) {
	s, c := math.Sincos(a[1])
	p, g := phi(a[0], a[1])
	x, y, k := a[2], a[3], 1.0
	if max(math.Abs(x), math.Abs(y)) > 0x1p1000 { // their products with p might overflow where the results do not, or cancel as infinities
		x, y, k = x*0x1p-8, y*0x1p-8, 0x1p8
	}
	*dst = [4]float64{
		ScaleExp(a[0], c), ScaleExp(a[0], s),
		k * ScaleExp(g, sumOfProducts(real(p), x, -imag(p), y)), k * ScaleExp(g, sumOfProducts(imag(p), x, real(p), y)),
	}
}

// LogSim2 writes the coordinates (log r, θ, t_x, t_y) of e, θ in (-π, π].
//
//go:noinline
func LogSim2(dst *[4]float64, e *[4]float64) {
	l, th := logRadius(e[0], e[1]), Angle(e[0], e[1])
	var x, y float64
	if small(l, th) {
		x, y = divPhi(l, th, e[2], e[3])
	} else {
		// ζ/(e^ζ - 1), and e^ζ is in e.
		x, y = mulDiv(e[2], e[3], l, th, e[0]-1, e[1])
	}
	*dst = [4]float64{l, th, x, y}
}

// InverseSim2 writes the inverse of e; dst may be e.
//
//go:noinline
func InverseSim2(dst, e *[4]float64) {
	var w [2]float64
	InverseRxSO2(&w, &[2]float64{e[0], e[1]})
	*dst = [4]float64{w[0], w[1], -sumOfProducts(w[0], e[2], -w[1], e[3]), -sumOfProducts(w[1], e[2], w[0], e[3])}
}

// AdjointSim2 writes the 4×4 matrix of a -> log(e·exp(a)·e⁻¹): (ζ, t) becomes (ζ, w t - p ζ) for the similarity z -> wz + p.
func AdjointSim2(dst *[16]float64, e *[4]float64) {
	complexBlocks(dst, complex(-e[2], -e[3]), complex(e[0], e[1]))
}

// VSim2 returns the real and imaginary part of φ(λ + iθ), the factor from the translation part of a logarithm to the translation.
func VSim2(l, th float64) (re, im float64) {
	p, g := phi(l, th)
	return ScaleExp(g, real(p)), ScaleExp(g, imag(p))
}

// VInvSim2 returns the real and imaginary part of 1/φ(λ + iθ), for |θ| < 2π or λ ≠ 0. |1/φ| is at most (π/2)·exp(-λ/2) for |θ| ≤ π:
// |exp(ζ) - 1|² = (exp(λ) - 1)² + 4 exp(λ) sin²(θ/2), where exp(λ) - 1 = 2 exp(λ/2) sinh(λ/2) and |sin(θ/2)| ≥ |θ|/π.
func VInvSim2(l, th float64) (re, im float64) { return divPhi(l, th, 1, 0) }
