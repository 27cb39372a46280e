package linalg

import "math"

// ComposeSE3 writes log(exp(a)·exp(b)); dst may be a or b.
func ComposeSE3(dst, a, b *[6]float64) { ExpMotion3(a).Mul(ExpMotion3(b)).Log(dst) }

// LeftJacobianSE3 writes the 6×6 left Jacobian J of the exponential at a: exp(a + da) = exp(J·da)·exp(a) to first order.
//
//   - Formula: [[V, 0], [Q, V]], V(w) the left Jacobian of SO(3) and Q its derivative in direction t; the same as T. D. Barfoot,
//     State Estimation for Robotics (2017), equation 7.86, without its products of matrices. See mixedBlock.
//
//go:noinline
func LeftJacobianSE3(dst *[36]float64, a *[6]float64) {
	n, th, _ := axisAngle((*[3]float64)(a[:3]))
	t := (*[3]float64)(a[3:])
	a2 := oneMinusSinc(th)
	var v, q [9]float64
	jacobianSO3(&v, &n, 2*squareOver(th), a2)
	// (θ - sin θ)/θ² and (2θ - 3 sin θ + θ cos θ)/2θ².
	a1 := 0.0
	if th != 0 {
		a1 = a2 / th
	}
	c := cubicSE3(th)
	// (1 - cos θ)/θ² = (1 - g)²/2, and sin θ/θ less twice that.
	g := oneMinusSinc(th / 2)
	beta, rest := 0.5*(1-g)*(1-g), g*(2-g)-a2
	s := n[0]*t[0] + n[1]*t[1] + n[2]*t[2]
	var u, p [3]float64
	for i := range u {
		u[i] = beta*t[i] + rest*s*n[i]
		p[i] = a1*t[i] - c*s*n[i]
	}
	mixedBlock(&q, &n, &u, &p, 2*(c-a1)*s)
	lowerBlocks(dst, &v, &q)
}

// LeftJacobianInvSE3 writes the inverse of the left Jacobian at a, [[V⁻¹, 0], [-V⁻¹QV⁻¹, V⁻¹]], for |w| < 2π.
//
//   - Formula: what stands below V⁻¹ is its derivative in direction t. See mixedBlock.
//
//go:noinline
func LeftJacobianInvSE3(dst *[36]float64, a *[6]float64) {
	n, th, _ := axisAngle((*[3]float64)(a[:3]))
	t := (*[3]float64)(a[3:])
	b := oneMinusHalfCot(th)
	var v, q [9]float64
	jacobianSO3(&v, &n, -th/2, b)
	b1 := 0.0
	if th != 0 {
		b1 = b / th
	}
	slope := halfCotSlope(th)
	s := n[0]*t[0] + n[1]*t[1] + n[2]*t[2]
	var u, p [3]float64
	for i := range u {
		u[i] = -0.5 * t[i]
		p[i] = b1*t[i] - (0.5*slope+b1)*s*n[i]
	}
	mixedBlock(&q, &n, &u, &p, slope*s)
	lowerBlocks(dst, &v, &q)
}

// mixedBlock writes dI + hat(u) + pnᵀ + npᵀ. With M(w) = μI + νW + πwwᵀ, W = hat(w), μ, ν and π functions of θ² and ' their
// derivatives, the derivative of M in direction t is
//
//	2(w·t)μ'I + (νT + 2(w·t)ν'W) + π(twᵀ + wtᵀ) + 2(w·t)π'wwᵀ
//
// For V these are μ = sin θ/θ, ν = (1 - cos θ)/θ², π = (1 - μ)/θ², for V⁻¹ μ = h cot h, h = θ/2, ν = -1/2, π = (1 - μ)/θ². Written with
// the unit axis n no coefficient is 0/0 or grows beyond what it is multiplied by.
func mixedBlock(q *[9]float64, n, u, p *[3]float64, d float64) {
	x, y, z := p[1]*n[2]+p[2]*n[1], p[2]*n[0]+p[0]*n[2], p[0]*n[1]+p[1]*n[0]
	*q = [9]float64{
		2*p[0]*n[0] + d, z - u[2], y + u[1],
		z + u[2], 2*p[1]*n[1] + d, x - u[0],
		y - u[1], x + u[0], 2*p[2]*n[2] + d,
	}
}

// cubicSE3 is (2x - 3 sin x + x cos x)/2x² for x ≥ 0.
func cubicSE3(x float64) float64 {
	if x > 1 {
		s, c := math.Sincos(x)
		return 0.5 * (2 + c - 3*s/x) / x
	}
	// Σ (-1)ᵏ (k-1)/(2k+1)! x²ᵏ⁻¹, k = 2 .. 10; the first term left out is below 2⁻⁶⁰ of the sum.
	y := x * x
	return x * y * (1./120 - y*(2./5040-y*(3./362880-y*(4./39916800-y*(5./6227020800-y*(6./1307674368000-
		y*(7./355687428096000-y*(8./121645100408832000-y*(9./51090942171709440000)))))))))
}

// halfCotSlope is (h cot h - (h/sin h)²)/x, h = x/2, for 0 ≤ x < 2π: twice the derivative of h cot h.
func halfCotSlope(x float64) float64 {
	if x > 0.5 {
		s, c := math.Sincos(x / 2)
		g := x / 2 / s
		return g * (c - g) / x
	}
	// -Σ 2k|B₂ₖ| x²ᵏ⁻¹/(2k)!, as oneMinusHalfCot; the first term left out is below 2⁻⁵⁵ of the sum.
	y := x * x
	return -x * (2./12 + y*(4./720+y*(6./30240+y*(8./1209600+y*(10./47900160+y*(12*691./1307674368000+
		y*(14./74724249600+y*(16*3617./10670622842880000))))))))
}

// lowerBlocks writes [[v, 0], [q, v]].
func lowerBlocks(dst *[36]float64, v, q *[9]float64) {
	*dst = [36]float64{}
	for i := range 3 {
		for j := range 3 {
			dst[6*i+j], dst[6*(3+i)+3+j], dst[6*(3+i)+j] = v[3*i+j], v[3*i+j], q[3*i+j]
		}
	}
}

// MatrixSE3 writes the homogeneous matrix of e.
func MatrixSE3(dst *[16]float64, e *[12]float64) {
	copy(dst[:12], e[:])
	dst[12], dst[13], dst[14], dst[15] = 0, 0, 0, 1
}

func splitSE3(e *[12]float64) (r [9]float64, p [3]float64) {
	return [9]float64{e[0], e[1], e[2], e[4], e[5], e[6], e[8], e[9], e[10]}, [3]float64{e[3], e[7], e[11]}
}

func joinSE3(e *[12]float64, r *[9]float64, p *[3]float64) {
	*e = [12]float64{r[0], r[1], r[2], p[0], r[3], r[4], r[5], p[1], r[6], r[7], r[8], p[2]}
}

// accurateCross returns a × b, each entry right to an ulp and a half.
func accurateCross(a, b *[3]float64) [3]float64 {
	return [3]float64{
		sumOfProducts(a[1], b[2], -a[2], b[1]), sumOfProducts(a[2], b[0], -a[0], b[2]),
		sumOfProducts(a[0], b[1], -a[1], b[0]),
	}
}

// ExpSE3 writes exp(a), a = (rotation vector, translation part), as the upper three rows [R | p] of its homogeneous matrix.
//
//go:noinline
func ExpSE3(dst *[12]float64, a *[6]float64) {
	t := [3]float64{a[3], a[4], a[5]}
	n, th, lo := axisAngle((*[3]float64)(a[:3]))
	s, k := turn(th, lo)
	var r [9]float64
	jacobianSO3(&r, &n, s, k)
	b := 0.0
	if th != 0 {
		b = k / th
	}
	twist(&t, &n, b, oneMinusSinc(th))
	joinSE3(dst, &r, &t)
}

// twist replaces t by t + b n×t + c n×(n×t).
func twist(t, n *[3]float64, b, c float64) {
	u := accurateCross(n, t)
	v := accurateCross(n, &u)
	for i := range t {
		t[i] += sumOfProducts(b, u[i], c, v[i])
	}
}

// LogSE3 writes the coordinates (w, t) of e, |w| ≤ π. At angle π, where w and -w are both right, either may come out; t is the translation
// part that belongs to it.
//
//go:noinline
func LogSE3(dst *[6]float64, e *[12]float64) {
	r, t := splitSE3(e)
	var w [3]float64
	q := longQuat(&r)
	q.Log(&w)
	n, th, _ := axisAngle(&w)
	twist(&t, &n, -th/2, oneMinusHalfCot(th))
	*dst = [6]float64{w[0], w[1], w[2], t[0], t[1], t[2]}
}

// MulSE3 writes the product e·f: the motion f, then e. dst may be e or f.
//
//go:noinline
func MulSE3(dst, e, f *[12]float64) {
	var g [12]float64
	for i := 0; i < 12; i += 4 {
		for j := range 4 {
			g[i+j] = float64(e[i]*f[j]) + float64(e[i+1]*f[4+j]) + float64(e[i+2]*f[8+j])
		}
		g[i+3] += e[i+3]
	}
	*dst = g
}

// InverseSE3 writes the inverse of e; dst may be e. The rotation is taken to be orthogonal.
func InverseSE3(dst, e *[12]float64) {
	var m [16]float64
	MatrixSE3(&m, e)
	InverseRigid4x4(&m, &m)
	*dst = [12]float64(m[:12])
}

// ActSE3 writes the point x moved by e; dst may be x.
//
//go:noinline
func ActSE3(dst *[3]float64, e *[12]float64, x *[3]float64) {
	a, b, c := x[0], x[1], x[2]
	for i := range 3 {
		dst[i] = float64(e[4*i]*a) + float64(e[4*i+1]*b) + float64(e[4*i+2]*c) + e[4*i+3]
	}
}

// AdjointSE3 writes the 6×6 matrix of a -> log(e·exp(a)·e⁻¹): [[R, 0], [hat(p)R, R]].
//
//go:noinline
func AdjointSE3(dst *[36]float64, e *[12]float64) {
	r, p := splitSE3(e)
	h := [9]float64{0, -p[2], p[1], p[2], 0, -p[0], -p[1], p[0], 0}
	Mul3x3(&h, &h, &r)
	lowerBlocks(dst, &r, &h)
}
