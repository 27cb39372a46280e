package linalg

import "math"

// The exponential of a 3×3 matrix by scaling and squaring; N. J. Higham, The scaling and squaring method for the matrix
// exponential revisited, SIAM Journal on Matrix Analysis and Applications 26 (2005), 1179-1193. Three things differ:
//
//   - A Taylor polynomial instead of a Padé approximant: no inverse, and every matrix takes the same steps.
//   - Y = exp(X) - I is squared instead of exp(X), by Y <- 2Y + Y². While Y is small its rounding errors are, too; squares of
//     I + Y would double an error of size 2⁻⁵³ at every step. Before, the trace is taken out, so that exp(X) has
//     determinant 1 and is never small beside I.
//   - The running matrix carries an exponent of its own. Nothing overflows before the result does.
//
// Above shiftLimit the condition number alone costs nine bits, and the trace stays in: beside one very large eigenvalue the
// difference to the mean would destroy the others. There exp(X) itself is squared once all of it is small.
const (
	shiftLimit = 512
	smallLimit = 0x1p-300
)

// scaleForExp subtracts the mean mu of the diagonal from x, unless x is above shiftLimit, and divides x by 2ˢ so that its norm is at most
// 1. It reports false if x is not finite.
func scaleForExp(x *[9]float64) (mu float64, s int, ok bool) {
	if !allFinite(x[:]) {
		return 0, 0, false
	}
	n := norm1(x)
	if n <= shiftLimit {
		mu = (x[0] + x[4] + x[8]) / 3
		for i := 0; i < 9; i += 4 {
			x[i] -= mu
		}
		n = norm1(x)
	}
	if n > math.MaxFloat64 {
		s = 2
		scalePow2(x[:], -s)
		n = norm1(x)
	}
	if n > 1 {
		_, e := math.Frexp(n)
		scalePow2(x[:], -e)
		s += e
	}
	return mu, s, true
}

// unscaleExp multiplies m by exp(mu)·2ᵉ, in two halves since each alone may be out of range.
func unscaleExp(m *[9]float64, mu float64, e int) {
	if e == 0 {
		f := math.Exp(mu)
		for i := range m {
			m[i] *= f
		}
		return
	}
	h := math.Exp(mu / 2)
	f, g := math.Ldexp(h, e/2), math.Ldexp(h, e-e/2)
	for i, v := range m {
		if v != 0 {
			m[i] = v * f * g
		}
	}
}

// clampExp keeps exponents within bounds that nothing finite reaches, so that doubling them cannot overflow.
func clampExp(e int) int { return min(max(e, -1<<20), 1<<20) }

// rangeShift returns the exponent to take out of y before it is squared; 0 if its square q is fine as it is. That
// entries of y are large is no reason by itself: for a nilpotent N, the square of I + N is no larger than N.
func rangeShift(y, q *[9]float64, plain bool) int {
	h := maxAbs(y[:])
	if allFinite(q[:]) && (!plain || h >= smallLimit || h == 0) || !(h <= math.MaxFloat64) {
		return 0
	}
	_, k := math.Frexp(h)
	return k
}

// leaveShifted turns y = exp(X) - I into exp(X), and reports true, where exp(X) is so small that y would lose its
// digits. Where the trace was taken out, exp(X) is never small.
func leaveShifted(y *[9]float64, mu float64) bool {
	if mu != 0 {
		return false
	}
	x := *y
	addIdentity(&x)
	if norm1(&x) < 0.5 {
		*y = x
		return true
	}
	return false
}

// Exp3x3 writes exp(a); dst may be a.
//
//   - Errors: an entry that is not finite gives a matrix of NaN. Entries beyond the range become ±Inf or 0.
//   - Accuracy: error below 1e-15·max(1, cond) of the norm for nearly all matrices, 4e-15·max(1, cond) for all that were tried, cond the
//     condition number of the exponential at a, for every norm (TestTrial).
//   - Formula: scaling to ‖X‖₁ ≤ 1, Taylor polynomial of degree 18 by M. S. Paterson and L. J. Stockmeyer's scheme,
//     squaring.
//
//go:noinline
func Exp3x3(dst, a *[9]float64) {
	x := *a
	mu, s, ok := scaleForExp(&x)
	if !ok {
		fillNaN(dst[:])
		return
	}
	y := taylorExpm1(&x)
	e, plain := 0, false
	for range s {
		var q [9]float64
		plain = plain || leaveShifted(&y, mu)
		Mul3x3(&q, &y, &y)
		if k := rangeShift(&y, &q, plain); k != 0 {
			if !plain {
				plain = true
				addIdentity(&y)
			}
			scalePow2(y[:], -k)
			e = clampExp(e + k)
			Mul3x3(&q, &y, &y)
		}
		if plain {
			e = clampExp(2 * e)
			y = q
			continue
		}
		for i := range y {
			y[i] = 2*y[i] + q[i]
		}
	}
	if !plain {
		addIdentity(&y)
	}
	unscaleExp(&y, mu, e)
	*dst = y
}

func addIdentity(y *[9]float64) {
	y[0]++
	y[4]++
	y[8]++
}

// taylorExpm1 is Σ xᵏ/k!, k = 1 .. 18, for ‖x‖ ≤ 1; the first term left out is below 2⁻⁵⁶ of the sum.
func taylorExpm1(x *[9]float64) (y [9]float64) {
	var x2, x3 [9]float64
	Mul3x3(&x2, x, x)
	Mul3x3(&x3, &x2, x)
	// Six groups of three powers, from the highest: y <- x³y + I·f + x·f' + x²·f''.
	const groups = 6
	for g := groups - 1; g >= 0; g-- {
		if g < groups-1 {
			Mul3x3(&y, &y, &x3)
		}
		c1, c2, c3 := inverseFactorial[3*g+1], inverseFactorial[3*g+2], inverseFactorial[3*g+3]
		for i := range y {
			// The group of powers 3g+1, 3g+2, 3g+3; the last is x³ of the group and goes in with it.
			y[i] += float64(c3*x3[i]) + float64(c2*x2[i]) + float64(c1*x[i])
		}
	}
	return y
}

// inverseFactorial[k] is 1/k!.
var inverseFactorial = [...]float64{
	1, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800, 1. / 39916800,
	1. / 479001600, 1. / 6227020800, 1. / 87178291200, 1. / 1307674368000, 1. / 20922789888000, 1. / 355687428096000,
	1. / 6402373705728000,
}

// ExpFrechet3x3 writes L(a, e), the derivative of the exponential at a in the direction e: exp(a + te) = exp(a) + t·L +
// O(t²). dst may be a or e.
//
//   - Accuracy: error below 2e-15·max(1, ‖a‖, cond) of the largest derivative of a direction of that length
//     (TestExpFrechet3x3Accuracy). It is smooth: no value of a is special.
//   - Formula: Exp3x3's steps, differentiated; A. H. Al-Mohy and N. J. Higham, Computing the Fréchet derivative of the
//     matrix exponential, SIAM Journal on Matrix Analysis and Applications 30 (2009), 1639-1657.
//
//go:noinline
func ExpFrechet3x3(dst, a, e *[9]float64) {
	x, dx := *a, *e
	mu, s, ok := scaleForExp(&x)
	if !ok {
		fillNaN(dst[:])
		return
	}
	scalePow2(dx[:], -s)
	// Terms and their derivatives: t <- t·x/k, dt <- (dt·x + t·dx)/k.
	t, dt := x, dx
	y, dy := x, dx
	for k := 2.0; k <= 19; k++ {
		var p, q [9]float64
		Mul3x3(&p, &dt, &x)
		Mul3x3(&q, &t, &dx)
		Mul3x3(&t, &t, &x)
		for i := range t {
			t[i] /= k
			dt[i] = (p[i] + q[i]) / k
			y[i] += t[i]
			dy[i] += dt[i]
		}
	}
	ex, plain := 0, false
	for range s {
		var p, q, r [9]float64
		plain = plain || leaveShifted(&y, mu)
		Mul3x3(&r, &y, &y)
		if k := rangeShift(&y, &r, plain); k != 0 {
			if !plain {
				plain = true
				addIdentity(&y)
			}
			scalePow2(y[:], -k)
			scalePow2(dy[:], -k)
			ex = clampExp(ex + k)
			Mul3x3(&r, &y, &y)
		}
		Mul3x3(&p, &dy, &y)
		Mul3x3(&q, &y, &dy)
		if plain {
			ex = clampExp(2 * ex)
		}
		for i := range y {
			if plain {
				y[i], dy[i] = r[i], p[i]+q[i]
			} else {
				y[i], dy[i] = 2*y[i]+r[i], 2*dy[i]+(p[i]+q[i])
			}
		}
	}
	unscaleExp(&dy, mu, ex)
	*dst = dy
}
