package linalg

import "math"

// The logarithm of a 3×3 matrix by inverse scaling and squaring: square roots until A^(1/2ᵏ) is near I, a series there,
// times 2ᵏ; S. H. Cheng, N. J. Higham, C. S. Kenney and A. J. Laub, Approximating the logarithm of a matrix to specified
// accuracy, SIAM Journal on Matrix Analysis and Applications 22 (2001), 1112-1125. That paper's roots come without a Schur
// form by the product form of Denman and Beavers' iteration.
//
// The series needs A^(1/2ᵏ) - I, and that subtraction would lose k bits. With E = A - I and the roots S, S', ...
//
//	S - I = E (S + I)⁻¹,   S' - I = (S - I)(S' + I)⁻¹,   ...
//
// no step subtracts, as in A. H. Al-Mohy, A more accurate Briggs method for the logarithm, Numerical Algorithms 59 (2012),
// 393-402.

// logNear is the distance from I below which no further root is taken: Z is then within 1/4.
const logNear = 0.4

// Log3x3 writes the principal logarithm of a and reports whether there is one: false, and dst all NaN, where an
// eigenvalue lies on the closed negative real axis (a singular matrix has the eigenvalue 0) or an entry is not finite.
// dst may be a.
//
//   - Accuracy: error below 1e-15·max(1, cond) of the norm for nearly all matrices (TestTrial), cond the condition number of
//     the logarithm at a, and below 4e-15·max(1, cond) for the worst of many. The sign of the determinant is right; the discriminant, whose
//     sign decides as well, is taken in twice the precision.
//   - Formula: log a = 2ᵏ⁺¹ atanh(Z), Z = (R - I)(R + I)⁻¹, R = a^(1/2ᵏ).
//
//go:noinline
func Log3x3(dst, a *[9]float64) bool {
	x := *a
	fillNaN(dst[:])
	if !allFinite(x[:]) {
		return false
	}
	det, e := det3x3(&x)
	if !(det > 0) || negativePair(&x) {
		return false
	}
	// Divide by the power of two next to the cube root of the determinant. That is exact, and fewer roots are needed.
	if norm1I(&x) <= logNear {
		e = 0
	} else {
		_, k := math.Frexp(det)
		e = int(math.Round(float64(e+k) / 3))
		scalePow2(x[:], -e)
	}

	y := x
	addMinusIdentity(&y)
	roots := 0
	for ; !(norm1(&y) <= logNear); roots++ {
		if roots == 1100 || !sqrt3x3(&x) {
			return false
		}
		r := x
		addIdentity(&r)
		if !divide3x3(&y, &y, &r) {
			return false
		}
	}
	r := y
	for i := 0; i < 9; i += 4 {
		r[i] += 2
	}
	if !divide3x3(&y, &y, &r) {
		return false
	}
	y = atanhSeries(&y)
	scalePow2(y[:], roots+1)
	for i := 0; i < 9; i += 4 {
		y[i] += float64(e) * math.Ln2
	}
	if !allFinite(y[:]) {
		return false
	}
	*dst = y
	return true
}

func addMinusIdentity(y *[9]float64) {
	y[0]--
	y[4]--
	y[8]--
}

// norm1I is ‖x - I‖₁.
func norm1I(x *[9]float64) float64 {
	y := *x
	addMinusIdentity(&y)
	return norm1(&y)
}

// atanhSeries is Σ z²ᵏ⁺¹/(2k+1), k = 0 .. 12, for ‖z‖ ≤ 1/4; the first term left out is below 2⁻⁵⁶ of the sum.
func atanhSeries(z *[9]float64) (y [9]float64) {
	var z2, z4 [9]float64
	Mul3x3(&z2, z, z)
	Mul3x3(&z4, &z2, &z2)
	// z² times a polynomial in z⁴ with coefficients that are linear in z².
	for k := 11; k >= 1; k -= 2 {
		if k < 11 {
			Mul3x3(&y, &y, &z4)
		}
		f, g := 1/float64(2*k+1), 1/float64(2*k+3)
		for i := range y {
			y[i] += float64(f*z2[i]) + float64(g*z4[i])
		}
	}
	Mul3x3(&y, &y, z)
	for i := range y {
		y[i] += z[i]
	}
	return y
}

// divide3x3 writes a·b⁻¹ by elimination with row pivoting on bᵀxᵀ = aᵀ; dst may be a. It reports false if b is singular.
//
//go:noinline
func divide3x3(dst, a, b *[9]float64) bool {
	u, r := transpose3(b), transpose3(a)
	for c := range 3 {
		p := c
		for i := c + 1; i < 3; i++ {
			if math.Abs(u[3*i+c]) > math.Abs(u[3*p+c]) {
				p = i
			}
		}
		if u[3*p+c] == 0 {
			return false
		}
		for j := range 3 {
			u[3*c+j], u[3*p+j] = u[3*p+j], u[3*c+j]
			r[3*c+j], r[3*p+j] = r[3*p+j], r[3*c+j]
		}
		for i := c + 1; i < 3; i++ {
			f := u[3*i+c] / u[3*c+c]
			for j := range 3 {
				u[3*i+j] -= float64(f * u[3*c+j])
				r[3*i+j] -= float64(f * r[3*c+j])
			}
		}
	}
	for c := 2; c >= 0; c-- {
		for j := range 3 {
			v := r[3*c+j]
			for i := c + 1; i < 3; i++ {
				v -= float64(u[3*c+i] * r[3*i+j])
			}
			r[3*c+j] = v / u[3*c+c]
		}
	}
	*dst = transpose3(&r)
	return true
}

// negativePair reports whether a, of positive determinant, has two negative real eigenvalues. With x = a, scaled, and
//
//	det(x + yI) = y³ + I₁y² + I₂y + I₃,   I₃ > 0,
//
// it has none if I₁ and I₂ are not negative. Otherwise the roots decide: if all three eigenvalues are real (the
// discriminant is not negative) then not all are positive, so two are negative.
func negativePair(a *[9]float64) bool {
	x := *a
	_, k := math.Frexp(maxAbs(x[:]))
	scalePow2(x[:], -k)
	i1 := ddSum(x[0], x[4]).add(dd{x[8], 0})
	i2 := ddMinor(x[0], x[4], x[1], x[3]).add(ddMinor(x[0], x[8], x[2], x[6])).add(ddMinor(x[4], x[8], x[5], x[7]))
	if i1.hi >= 0 && i2.hi >= 0 {
		return false
	}
	i3 := detDD(&x)
	// I₁²I₂² - 4I₂³ - 4I₁³I₃ + 18I₁I₂I₃ - 27I₃²
	i22 := i2.mul(i2)
	p := i1.mul(i2)
	d := p.mul(p)
	d = d.add(i22.mul(i2).scale(-4))
	d = d.add(i1.mul(i1).mul(i1).mul(i3).scale(-4))
	d = d.add(p.mul(i3).scale(18))
	d = d.add(i3.mul(i3).scale(-27))
	return d.hi >= 0
}
