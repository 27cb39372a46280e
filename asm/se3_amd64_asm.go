package main

import "github.com/equivcnp/equivcnp/asm/internal/x86"

// The groups of space, SO(3) and SE(3); derivations in linalg's so3.go, se3.go and quat.go. With the rotation vector w, θ = |w|
// and h = θ/2,
//
//	exp(w) = I + α·hat(w) + β·hat(w)²,  α = sin θ/θ = cos h·(sin h/h),  β = (1 - cos θ)/θ² = (sin h/h)²/2
//	V(w)   = I + β·hat(w) + γ·hat(w)²,  γ = (1 - α)/θ²
//
// No coefficient is 0/0 except at θ = 0 itself. The digits that γ loses by cancellation do not matter, because it is
// multiplied by θ² again.

type vec3 = [3]x86.Value

func dot3(b *x86.Block, p, q vec3) x86.Value {
	return b.FMA(p[2], q[2], b.FMA(p[1], q[1], b.Mul(p[0], q[0])))
}

func cross3(b *x86.Block, p, q vec3) vec3 {
	return vec3{
		b.FMS(p[1], q[2], b.Mul(p[2], q[1])), b.FMS(p[2], q[0], b.Mul(p[0], q[2])), b.FMS(p[0], q[1], b.Mul(p[1], q[0])),
	}
}

// halfCoefficients is cos h and sin h/h for the half h of the rotation vector's angle, and θ², of which angleHard must hear.
func halfCoefficients(b *x86.Block, w vec3) (th2, cos, sinc x86.Value) {
	th2, _ = angle2(b, w)
	_, cos, sinc = halfTurn(b, b.Sqrt(th2))
	return th2, cos, sinc
}

// angleHard leaves enormous angles to the caller.
func angleHard(b *x86.Block, th2 x86.Value) {
	b.Hard(b.Cmp(x86.NLE, th2, b.Const("theta2Max", byElem(b, 0x1p20, 0x1p40))))
}

// angle2 is θ² and, in float32, what its roundings lost, from the largest component to the smallest.
func angle2(b *x86.Block, w vec3) (th2 x86.Value, lost *x86.Value) {
	if b.Elem == x86.F64 {
		return dot3(b, w, w), nil
	}
	x, y, z := abs(b, w[0]), abs(b, w[1]), abs(b, w[2])
	// In this order a NaN stays in one of them.
	hi, mid := b.Max(x, y), b.Min(y, x)
	hi, lo := b.Max(hi, z), b.Min(z, hi)
	p := b.Mul(hi, hi)
	s := b.FMA(mid, mid, p)
	r := b.Add(b.FMS(hi, hi, p), b.FMS(mid, mid, b.Sub(s, p)))
	th2 = b.FMA(lo, lo, s)
	r = b.Add(r, b.FMS(lo, lo, b.Sub(th2, s)))
	return th2, &r
}

// coefficients is α, β, cos θ and θ², of which angleHard must hear. For motions β must be right relative to 1 - cos θ, which is
// sin²θ/(1 + cos θ) in the right half-plane; for rotations its absolute error matters.
func coefficients(b *x86.Block, w vec3, motion bool) (alpha, beta, cos, th2 x86.Value) {
	full, lost := angle2(b, w)
	th2 = b.Max(full, rootMin(b))
	th, inv := positiveRoot(b, th2)
	sin, cos := sinCosNear(b, th)
	if lost != nil {
		// The rest of the angle: near π one ulp of it is three of the sine.
		rest := b.Mul(b.Mul(b.Add(b.FNMA(th, th, th2), *lost), half(b)), inv)
		sin, cos = b.FMA(cos, rest, sin), b.FNMA(sin, rest, cos)
	}
	num := b.Sub(one(b), cos)
	if motion {
		ahead := b.Cmp(x86.GT, cos, zero(b))
		num = b.Select(ahead, quotient(b, b.Mul(sin, sin), b.Add(one(b), b.Max(cos, zero(b)))), num)
	}
	if b.Elem == x86.F64 {
		return quotient(b, sin, th), quotient(b, num, th2), cos, full
	}
	// The quotient by θ², with what its remainder and the rest of θ² add.
	inv2 := b.Mul(inv, inv)
	q := b.Mul(num, inv2)
	beta = b.FMA(b.FNMA(*lost, q, b.FNMA(th2, q, num)), inv2, q)
	if motion {
		return quotient(b, sin, th), beta, cos, full
	}
	return b.Mul(sin, inv), beta, cos, full
}

// rodrigues is cos θ I + α·hat(w) + β·wwᵀ, which is I + α·hat(w) + β·hat(w)² with one term less on the diagonal.
func rodrigues(b *x86.Block, w vec3, alpha, beta, cos x86.Value) (m [9]x86.Value) {
	x, y, z := w[0], w[1], w[2]
	ax, ay, az := b.Mul(alpha, x), b.Mul(alpha, y), b.Mul(alpha, z)
	bx, by, bz := b.Mul(beta, x), b.Mul(beta, y), b.Mul(beta, z)
	m[0], m[4], m[8] = b.FMA(bx, x, cos), b.FMA(by, y, cos), b.FMA(bz, z, cos)
	m[1], m[3] = b.FMS(bx, y, az), b.FMA(bx, y, az)
	m[6], m[2] = b.FMS(bx, z, ay), b.FMA(bx, z, ay)
	m[5], m[7] = b.FMS(by, z, ax), b.FMA(by, z, ax)
	return m
}

func expSO3(b *x86.Block) {
	w := vec3(load(b, 1, 3))
	alpha, beta, cos, th2 := coefficients(b, w, false)
	angleHard(b, th2)
	m := rodrigues(b, w, alpha, beta, cos)
	outputs(b, m[:]...)
}

// leftJacobianSO3 is V(w) = αI + β·hat(w) + γ·wwᵀ, as rodrigues has it.
func leftJacobianSO3(b *x86.Block) {
	w := vec3(load(b, 1, 3))
	alpha, beta, _, th2 := coefficients(b, w, true)
	angleHard(b, th2)
	m := rodrigues(b, w, beta, gammaSE3(b, th2, alpha), alpha)
	outputs(b, m[:]...)
}

// leftJacobianInvSO3 is V(w)⁻¹ = h cot h·I - hat(w)/2 + δ·wwᵀ, δ = (1 - h cot h)/θ².
func leftJacobianInvSO3(b *x86.Block) {
	w := vec3(load(b, 1, 3))
	th2, cos, sinc := halfCoefficients(b, w)
	angleHard(b, th2)
	hcot := quotient(b, cos, sinc)
	m := rodrigues(b, w, b.Const("minusHalf", -0.5), gammaSE3(b, th2, hcot), hcot)
	outputs(b, m[:]...)
}

// longQuat is a quaternion (w, x, y, z) of length 2 to 4 in the direction of the rotation m: of the four ways to read
// it, whose divisors add up to 4, the one by the trace if its divisor is at least 1, and that of the largest entry of
// the diagonal if not.
func longQuat(b *x86.Block, m [9]x86.Value) (w x86.Value, v vec3) {
	p, q, r := b.Sub(m[7], m[5]), b.Sub(m[2], m[6]), b.Sub(m[3], m[1])
	pq, pr, qr := b.Add(m[1], m[3]), b.Add(m[2], m[6]), b.Add(m[5], m[7])
	rest := b.Add(m[4], m[8])
	gap := b.Sub(m[4], m[8])
	more, less := b.Add(one(b), m[0]), b.Sub(one(b), m[0])
	w0, d1, d2, d3 := b.Add(more, rest), b.Sub(more, rest), b.Add(less, gap), b.Sub(less, gap)
	// From the last choice to the first.
	two := b.Cmp(x86.NLE, m[8], m[4]) // the third diagonal entry is above the second: choice 3
	w, x, y, z := b.Select(two, r, q), b.Select(two, pr, pq), b.Select(two, qr, d2), b.Select(two, d3, qr)
	first := b.Cmp(x86.LE, b.Max(m[4], m[8]), m[0])
	w, x, y, z = b.Select(first, p, w), b.Select(first, d1, x), b.Select(first, pq, y), b.Select(first, pr, z)
	trace := b.Cmp(x86.LE, one(b), w0)
	return b.Select(trace, w0, w), vec3{b.Select(trace, p, x), b.Select(trace, q, y), b.Select(trace, r, z)}
}

// quatHard leaves enormous quaternions to the caller.
func quatHard(b *x86.Block, w, n2 x86.Value) {
	b.Hard(b.Cmp(x86.NLE, b.FMA(w, w, n2), b.Const("quatMax", 100)))
}

// angleOverLength is atan2(|v|, |w|)/|v| of |v|².
func angleOverLength(b *x86.Block, w, n2 x86.Value) x86.Value {
	n2 = b.Max(n2, rootMin(b))
	if b.Level == x86.AVX512 && b.Elem == x86.F32 {
		const smaller, larger = 0x0a, 0x0b // of magnitudes
		n, inv := positiveRoot(b, n2)
		hi := b.Range(larger, n, w)
		a, _ := atanFolded(b, b.Range(smaller, n, w), hi)
		return b.Mul(unfold(b, a, b.Cmp(x86.LE, hi, n), 1), inv)
	}
	n, _ := squareRoot(b, n2)
	return quotient(b, atanQuotient(b, n, abs(b, w)), n)
}

// twice3 is 2fv.
func twice3(b *x86.Block, f x86.Value, v vec3) vec3 {
	f = b.Add(f, f)
	return vec3{b.Mul(f, v[0]), b.Mul(f, v[1]), b.Mul(f, v[2])}
}

// The slots of what ends in the logarithm of a rotation: a quaternion (w, v), |v|² and the angle over |v|, atan2(|v|, |w|)/|v|. A v so
// short that its square underflows counts as 2⁻⁵⁰ long (in float64 2⁻⁴⁵⁰), where that is 1/w already.
const (
	slotQuat   = 0
	slotLength = 4
	slotAngle  = 5
	slotQuats  = 6 // the first that is free
)

// Logarithms have stages: a quaternion, its angle, the rotation vector.
var (
	logSO3     = []func(*x86.Block){logSO3Quat, logQuatAngle, logSO3Vector}
	logSE3     = []func(*x86.Block){logSE3Quat, logQuatAngle, logSE3Vector}
	composeSO3 = []func(*x86.Block){composeSO3First, composeSO3Quat, logQuatAngle, composeSO3Vector}
)

// setQuat puts a quaternion and |v|² into their slots.
func setQuat(b *x86.Block, w x86.Value, v vec3) {
	b.SetLocal(slotLength, dot3(b, v, v))
	for i, x := range []x86.Value{w, v[0], v[1], v[2]} {
		b.SetLocal(slotQuat+i, x)
	}
}

func logSO3Quat(b *x86.Block) {
	w, v := longQuat(b, [9]x86.Value(load(b, 1, 9)))
	setQuat(b, w, v)
}

func logQuatAngle(b *x86.Block) {
	b.SetLocal(slotAngle, angleOverLength(b, b.Local(slotQuat), b.Local(slotLength)))
}

// quatLog is the rotation vector 2·atan2(|v|, w)·v/|v| of the quaternion in the slots and, for the logarithm in SE(3), h cot h, h half
// the angle.
func quatLog(b *x86.Block, motion bool) (log vec3, hcot x86.Value) {
	w, n2 := b.Local(slotQuat), b.Local(slotLength)
	quatHard(b, w, n2)
	f := flipSign(b, b.Local(slotAngle), w)
	if motion {
		hcot = b.Mul(f, w)
	}
	return twice3(b, f, vec3{b.Local(slotQuat + 1), b.Local(slotQuat + 2), b.Local(slotQuat + 3)}), hcot
}

func logSO3Vector(b *x86.Block) {
	log, _ := quatLog(b, false)
	outputs(b, log[:]...)
}

// mulQuat is the quaternion product (w, v)·(c, u). Products that cancel in conj(q)·q are rounded before they are added.
func mulQuat(b *x86.Block, w x86.Value, v vec3, c x86.Value, u vec3) (x86.Value, vec3) {
	mul, add, sub := b.Mul, b.Add, b.Sub
	return sub(sub(sub(mul(w, c), mul(v[0], u[0])), mul(v[1], u[1])), mul(v[2], u[2])), vec3{
		sub(add(add(mul(w, u[0]), mul(v[0], c)), mul(v[1], u[2])), mul(v[2], u[1])),
		sub(add(add(mul(w, u[1]), mul(v[1], c)), mul(v[2], u[0])), mul(v[0], u[2])),
		sub(add(add(mul(w, u[2]), mul(v[2], c)), mul(v[0], u[1])), mul(v[1], u[0])),
	}
}

// expQuat is the unit quaternion of the rotation vector w, with θ² and the coefficients α and β.
func expQuat(b *x86.Block, w vec3) (c x86.Value, v vec3, th2, alpha, beta x86.Value) {
	th2, cos, sinc := halfCoefficients(b, w)
	f := b.Mul(sinc, half(b))
	return cos, vec3{b.Mul(f, w[0]), b.Mul(f, w[1]), b.Mul(f, w[2])}, th2, b.Mul(cos, sinc), b.Mul(f, sinc)
}

// composeSO3First is the quaternion of the first rotation, which the second turns.
func composeSO3First(b *x86.Block) {
	w, v, th2, _, _ := expQuat(b, vec3(load(b, 1, 3)))
	for i, x := range []x86.Value{w, v[0], v[1], v[2], th2} {
		b.SetLocal(slotQuats+i, x)
	}
}

func composeSO3Quat(b *x86.Block) {
	w, v := b.Local(slotQuats), vec3{b.Local(slotQuats + 1), b.Local(slotQuats + 2), b.Local(slotQuats + 3)}
	c, u, th2, _, _ := expQuat(b, vec3(load(b, 2, 3)))
	b.SetLocal(slotQuats+5, th2)
	w, v = mulQuat(b, w, v, c, u)
	setQuat(b, w, v)
}

func composeSO3Vector(b *x86.Block) {
	angleHard(b, b.Local(slotQuats+4))
	angleHard(b, b.Local(slotQuats+5))
	logSO3Vector(b)
}

func inverseSO3(b *x86.Block) {
	e := load(b, 1, 9)
	outputs(b, e[0], e[3], e[6], e[1], e[4], e[7], e[2], e[5], e[8])
}

func actSO3(b *x86.Block) {
	m, x := load(b, 1, 9), vec3(load(b, 2, 3))
	for i := range 3 {
		b.Output(dot3(b, vec3(m[3*i:]), x))
	}
}

// twist is αt + β·w×t + γ·w(w·t), which is t + β·w×t + γ·w×(w×t) where α = 1 - γθ²; nothing cancels.
func twist(b *x86.Block, w, t vec3, alpha, beta, gamma x86.Value) (p vec3) {
	u := cross3(b, w, t)
	along := b.Mul(gamma, dot3(b, w, t))
	for i := range p {
		p[i] = b.FMA(along, w[i], b.FMA(beta, u[i], b.Mul(alpha, t[i])))
	}
	return p
}

// gammaSE3 is (1 - α)/θ². Where θ² is tiny the product with it is below an ulp, and the quotient all error: 0 instead.
func gammaSE3(b *x86.Block, th2, alpha x86.Value) x86.Value {
	border := b.Const("theta2Min", byElem(b, 0x1p-50, 0x1p-108))
	return b.Select(b.Cmp(x86.LT, th2, border), zero(b), quotient(b, b.Sub(one(b), alpha), b.Max(th2, border)))
}

func expSE3(b *x86.Block) {
	a := load(b, 1, 6)
	w, t := vec3(a[:3]), vec3(a[3:])
	alpha, beta, cos, th2 := coefficients(b, w, true)
	angleHard(b, th2)
	p := twist(b, w, t, alpha, beta, gammaSE3(b, th2, alpha))
	m := rodrigues(b, w, alpha, beta, cos)
	outputs(b, m[0], m[1], m[2], p[0], m[3], m[4], m[5], p[1], m[6], m[7], m[8], p[2])
}

// untwist is V(w)⁻¹p = h cot h·p - w×p/2 + δ·w(w·p), δ = (1 - h cot h)/θ².
func untwist(b *x86.Block, w, p vec3, hcot x86.Value) vec3 {
	return twist(b, w, p, hcot, b.Const("minusHalf", -0.5), gammaSE3(b, dot3(b, w, w), hcot))
}

func logSE3Quat(b *x86.Block) {
	e := load(b, 1, 12)
	w, v := longQuat(b, [9]x86.Value{e[0], e[1], e[2], e[4], e[5], e[6], e[8], e[9], e[10]})
	setQuat(b, w, v)
}

func logSE3Vector(b *x86.Block) {
	log, hcot := quatLog(b, true)
	t := untwist(b, log, vec3{b.Load(1, 3), b.Load(1, 7), b.Load(1, 11)}, hcot)
	outputs(b, log[0], log[1], log[2], t[0], t[1], t[2])
}

// rotateQuat turns x by the unit quaternion (w, v): x + 2w(v × x) + 2v × (v × x).
func rotateQuat(b *x86.Block, w x86.Value, v, x vec3) (y vec3) {
	u := cross3(b, v, x)
	for i := range u {
		u[i] = b.Add(u[i], u[i])
	}
	k := cross3(b, v, u)
	for i := range y {
		y[i] = b.Add(x[i], b.FMA(w, u[i], k[i]))
	}
	return y
}

// composeSE3 has stages: the motions of both, their product, its angle, its coordinates.
var composeSE3 = []func(*x86.Block){composeSE3First, composeSE3Second, composeSE3Quat, logQuatAngle, composeSE3Vector}

// The slots of composeSE3: of the first and the second motion the quaternion, the translation and θ²; of the product the translation.
const (
	slotFirst  = slotQuats
	slotSecond = slotQuats + 8
	slotMoved  = slotQuats + 16
)

func composeSE3First(b *x86.Block)  { expSE3Quat(b, 1, slotFirst) }
func composeSE3Second(b *x86.Block) { expSE3Quat(b, 2, slotSecond) }

func expSE3Quat(b *x86.Block, array, slot int) {
	f := load(b, array, 6)
	fw := vec3(f[:3])
	w, v, th2, alpha, beta := expQuat(b, fw)
	p := twist(b, fw, vec3(f[3:]), alpha, beta, gammaSE3(b, th2, alpha))
	for i, x := range []x86.Value{w, v[0], v[1], v[2], p[0], p[1], p[2], th2} {
		b.SetLocal(slot+i, x)
	}
}

func composeSE3Quat(b *x86.Block) {
	var f, g [7]x86.Value
	for i := range f {
		f[i], g[i] = b.Local(slotFirst+i), b.Local(slotSecond+i)
	}
	q := rotateQuat(b, f[0], vec3(f[1:]), vec3(g[4:]))
	for i := range q {
		b.SetLocal(slotMoved+i, b.Add(f[4+i], q[i]))
	}
	w, v := mulQuat(b, f[0], vec3(f[1:]), g[0], vec3(g[1:]))
	setQuat(b, w, v)
}

func composeSE3Vector(b *x86.Block) {
	angleHard(b, b.Local(slotFirst+7))
	angleHard(b, b.Local(slotSecond+7))
	log, hcot := quatLog(b, true)
	t := untwist(b, log, vec3{b.Local(slotMoved), b.Local(slotMoved + 1), b.Local(slotMoved + 2)}, hcot)
	outputs(b, log[0], log[1], log[2], t[0], t[1], t[2])
}

func mulSE3(b *x86.Block) {
	e, f := load(b, 1, 12), load(b, 2, 12)
	for i := 0; i < 12; i += 4 {
		for j := range 4 {
			x := b.Mul(e[i], f[j])
			if j == 3 {
				x = b.FMA(e[i], f[j], e[i+3])
			}
			b.Output(b.FMA(e[i+2], f[8+j], b.FMA(e[i+1], f[4+j], x)))
		}
	}
}

func inverseSE3(b *x86.Block) {
	e := load(b, 1, 12)
	p := vec3{e[3], e[7], e[11]}
	for i := range 3 {
		c := vec3{e[i], e[4+i], e[8+i]}
		outputs(b, c[0], c[1], c[2], neg(b, dot3(b, c, p)))
	}
}

// The 6×6 matrices of SE(3) are [[M, 0], [Q, M]]. In the Jacobian and its inverse M = μI + νW + πwwᵀ, W = hat(w), and Q is the derivative
// of M in direction t. With s = w·t and derivatives with respect to θ² that is
//
//	Q = 2sμ'I + (νT + 2sν'W) + π(twᵀ + wtᵀ) + 2sπ'wwᵀ = dI + hat(u) + pwᵀ + wpᵀ,  u = νt + 2sν'w,  p = πt + sπ'w,  d = 2sμ'

// motionBlocks is the matrix of rows [m, 0] and [q, m].
func motionBlocks(b *x86.Block, m, q [9]x86.Value) {
	o := zero(b)
	for i := 0; i < 9; i += 3 {
		outputs(b, m[i], m[i+1], m[i+2], o, o, o)
	}
	for i := 0; i < 9; i += 3 {
		outputs(b, q[i], q[i+1], q[i+2], m[i], m[i+1], m[i+2])
	}
}

// mixedBlock is dI + hat(u) + pwᵀ + wpᵀ.
func mixedBlock(b *x86.Block, w, u, p vec3, d x86.Value) (q [9]x86.Value) {
	for i := range 3 {
		q[4*i] = b.FMA(b.Add(p[i], p[i]), w[i], d)
		j, k := (i+1)%3, (i+2)%3
		both := b.FMA(p[j], w[k], b.Mul(p[k], w[j]))
		q[3*j+k], q[3*k+j] = b.Sub(both, u[i]), b.Add(both, u[i])
	}
	return q
}

// overTheta2 is x/θ², for an x that would go to 0 with θ² if it had no rounding errors. Where θ² is tiny, a larger
// divisor keeps those bounded.
func overTheta2(b *x86.Block, x, th2 x86.Value) x86.Value {
	return quotient(b, x, b.Max(th2, b.Const("theta2Min", byElem(b, 0x1p-50, 0x1p-108))))
}

// leftJacobianSE3 has μ = α, ν = β, π = γ, of which
//
//	2α' = γ - β,  2β' = (α - 2β)/θ²,  2γ' = (β - 3γ)/θ²
//
// For θ < 2, γ and 2β' come from their series: the quotients would lose digits there.
func leftJacobianSE3(b *x86.Block) {
	a := load(b, 1, 6)
	w, t := vec3(a[:3]), vec3(a[3:])
	alpha, beta, _, th2 := coefficients(b, w, true)
	angleHard(b, th2)
	near := b.Cmp(x86.LT, th2, b.Const("four", 4))
	gamma := b.Select(near, b.Horner(th2, polynomial(b, "gammaSeries", gammaSeries[:byElem(b, 7, 11)])...),
		overTheta2(b, b.Sub(one(b), alpha), th2))
	beta1 := b.Select(near, b.Horner(th2, polynomial(b, "betaSeries", betaSeries[:byElem(b, 7, 11)])...),
		overTheta2(b, b.Sub(b.Sub(alpha, beta), beta), th2))
	gamma1 := overTheta2(b, b.FNMA(gamma, b.Const("three", 3), beta), th2)

	s := dot3(b, w, t)
	sb, sg := b.Mul(s, beta1), b.Mul(b.Mul(s, half(b)), gamma1)
	var u, p vec3
	for i := range 3 {
		u[i] = b.FMA(sb, w[i], b.Mul(beta, t[i]))
		p[i] = b.FMA(sg, w[i], b.Mul(gamma, t[i]))
	}
	motionBlocks(b, rodrigues(b, w, beta, gamma, alpha), mixedBlock(b, w, u, p, b.Mul(s, b.Sub(gamma, beta))))
}

// gammaSeries and betaSeries are γ and 2β' as series in θ²: (-1)ᵏ/(2k+3)! and -2(-1)ᵏ(k+1)/(2k+4)!.
var gammaSeries, betaSeries = func() (gamma, beta []float64) {
	f := 6.0 // (2k+3)!
	for k := range 11 {
		n := float64(2*k + 3)
		gamma = append(gamma, 1/f)
		beta = append(beta, -2*float64(k+1)/(f*(n+1)))
		f *= -(n + 1) * (n + 2)
	}
	return gamma, beta
}()

// leftJacobianInvSE3 has μ = h cot h, ν = -1/2, π = δ = (1 - μ)/θ², of which
//
//	2μ' = (h cot h - (h/sin h)²)/θ²,  2δ' = -(2μ' + 2δ)/θ²
//
// For θ < 1, δ and 2μ' come from their series, whose coefficients are those of halfCotRest and -2(k+1) times these.
func leftJacobianInvSE3(b *x86.Block) {
	a := load(b, 1, 6)
	w, t := vec3(a[:3]), vec3(a[3:])
	th2, cos, sinc := halfCoefficients(b, w)
	angleHard(b, th2)
	hcot := quotient(b, cos, sinc)
	near := b.Cmp(x86.LT, th2, one(b))
	terms := byElem(b, 5, 12)
	slope := make([]float64, terms)
	for k := range slope {
		slope[k] = -2 * float64(k+1) * halfCotRest[k]
	}
	delta := b.Select(near, b.Horner(th2, polynomial(b, "halfCotRest", halfCotRest[:terms])...), overTheta2(b, b.Sub(one(b), hcot), th2))
	mu1 := b.Select(near, b.Horner(th2, polynomial(b, "halfCotSlope", slope)...),
		overTheta2(b, b.Sub(hcot, quotient(b, one(b), b.Mul(sinc, sinc))), th2))
	delta1 := overTheta2(b, b.FMA(mu1, half(b), delta), th2) // -δ'

	s, h := dot3(b, w, t), b.Const("minusHalf", -0.5)
	sd := b.Mul(s, delta1)
	var u, p vec3
	for i := range 3 {
		u[i] = b.Mul(h, t[i])
		p[i] = b.FNMA(sd, w[i], b.Mul(delta, t[i]))
	}
	motionBlocks(b, rodrigues(b, w, h, delta, hcot), mixedBlock(b, w, u, p, b.Mul(s, mu1)))
}

// adjointSE3 is [[R, 0], [hat(p)R, R]].
func adjointSE3(b *x86.Block) {
	e := load(b, 1, 12)
	p := vec3{e[3], e[7], e[11]}
	var r, q [9]x86.Value
	for j := range 3 {
		c := vec3{e[j], e[4+j], e[8+j]}
		for i, v := range cross3(b, p, c) {
			r[3*i+j], q[3*i+j] = c[i], v
		}
	}
	motionBlocks(b, r, q)
}

func actSE3(b *x86.Block) {
	e, x := load(b, 1, 12), vec3(load(b, 2, 3))
	for i := 0; i < 12; i += 4 {
		b.Output(b.FMA(e[i+2], x[2], b.FMA(e[i+1], x[1], b.FMA(e[i], x[0], e[i+3]))))
	}
}

// eightAVX2 is the tile of functions whose stages wait for each other: machines with AVX2 alone hold too few instructions to begin with
// the next vector.
var eightAVX2 = map[x86.Level]int{x86.AVX2: 8}

var se3Ops = matrixFile{batchDir + "zse3", []matrixOp{
	{name: "ExpSO3", doc: "writes the rotation matrices of n rotation vectors.", pinned: pinSome, stages: []func(*x86.Block){expSO3}},
	{name: "LogSO3", doc: "writes the rotation vectors of n rotation matrices.", pinned: pinSome, tile: eightAVX2, stages: logSO3},
	{name: "LeftJacobianSO3", doc: "writes the left Jacobians at n rotation vectors.", pinned: pinSome,
		stages: []func(*x86.Block){leftJacobianSO3}},
	{name: "LeftJacobianInvSO3", doc: "writes the inverses of the left Jacobians at n rotation vectors.", pinned: pinSome,
		stages: []func(*x86.Block){leftJacobianInvSO3}},
	{name: "ComposeSO3", doc: "writes log(exp(a)·exp(b)) of n pairs of rotation vectors.", pinned: pinSome,
		tile: eightAVX2, stages: composeSO3},
	{name: "InverseSO3", doc: "writes the transposes of n matrices.", stages: []func(*x86.Block){inverseSO3}},
	{name: "ActSO3", doc: "writes n vectors turned by as many matrices.", stages: []func(*x86.Block){actSO3}},
	{name: "ExpSE3", doc: "writes the motions of n coordinate vectors.", pinned: pinSome, stages: []func(*x86.Block){expSE3}},
	{name: "LogSE3", doc: "writes the coordinates of n motions of space.", pinned: pinSome, tile: eightAVX2, stages: logSE3},
	{name: "ComposeSE3", doc: "writes log(exp(a)·exp(b)) of n pairs of coordinate vectors.", tile: eightAVX2, stages: composeSE3},
	{name: "MulSE3", doc: "writes the products of n pairs of motions.", stages: []func(*x86.Block){mulSE3}},
	{name: "InverseSE3", doc: "writes the inverses of n motions.", stages: []func(*x86.Block){inverseSE3}},
	{name: "LeftJacobianSE3", doc: "writes the left Jacobians at n coordinate vectors.", pinned: pinSome,
		stages: []func(*x86.Block){leftJacobianSE3}},
	{name: "LeftJacobianInvSE3", doc: "writes the inverses of the left Jacobians at n coordinate vectors.", pinned: pinSome,
		stages: []func(*x86.Block){leftJacobianInvSE3}},
	{name: "AdjointSE3", doc: "writes the adjoint matrices of n motions.", stages: []func(*x86.Block){adjointSE3}},
	{name: "ActSE3", doc: "writes n points moved by as many motions.", stages: []func(*x86.Block){actSE3}},
}}
