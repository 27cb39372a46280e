package linalg

import "math"

// Scaling by powers of two is exact, so every function that multiplies entries can bring them into a safe range first.

// badScale is the exponent of a matrix that is zero or not finite.
const badScale = math.MinInt32

// scaleExponent returns 0 if the largest entry of m lies within 2^±limit, else its exponent; badScale if m is zero or not
// finite.
func scaleExponent(m []float64, limit int) int {
	h := maxAbs(m)
	if !(h > 0 && h <= math.MaxFloat64) {
		return badScale
	}
	_, e := math.Frexp(h)
	if e >= -limit && e <= limit {
		return 0
	}
	return e
}

// scalePow2 multiplies m by 2ᵉ.
func scalePow2(m []float64, e int) {
	if e == 0 {
		return
	}
	for i, v := range m {
		m[i] = math.Ldexp(v, e)
	}
}

// maxAbs returns the largest absolute value in m, NaN if m holds one.
func maxAbs(m []float64) float64 {
	h := 0.0
	for _, v := range m {
		h = max(h, math.Abs(v))
	}
	return h
}

func allFinite(m []float64) bool {
	for _, v := range m {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// equilibrate divides the rows and columns of the k×k matrix p, k ≤ 3, by powers of two until each has a largest entry
// of about 1: p becomes diag(2^-row)·p·diag(2^-col). It reports false if p is not finite or has a zero row or column.
// Matrices of moderate size are left alone.
func equilibrate(p []float64, k int) (row, col [3]int, ok bool) {
	moderate := true
	for i := range k {
		r, c := 0.0, 0.0
		for j := range k {
			r, c = max(r, math.Abs(p[k*i+j])), max(c, math.Abs(p[k*j+i]))
		}
		if !(r > 0 && c > 0 && r <= math.MaxFloat64 && c <= math.MaxFloat64) {
			return row, col, false
		}
		moderate = moderate && r >= 0x1p-200 && c >= 0x1p-200 && r <= 0x1p200 && c <= 0x1p200
	}
	if moderate {
		return row, col, true
	}
	for i := range k {
		_, row[i] = math.Frexp(maxAbs(p[k*i : k*i+k]))
		scalePow2(p[k*i:k*i+k], -row[i])
	}
	for j := range k {
		c := 0.0
		for i := range k {
			c = max(c, math.Abs(p[k*i+j]))
		}
		if c == 0 {
			return row, col, false // all entries of the column became 0 when their rows were scaled
		}
		_, col[j] = math.Frexp(c)
		for i := range k {
			p[k*i+j] = math.Ldexp(p[k*i+j], -col[j])
		}
	}
	return row, col, true
}
