package linalg

import "math"

// sqrt3x3 replaces x by its principal square root; false if the iteration breaks down.
//
// Denman and Beavers' iteration inverts, so what it finds is off by the condition number of x. Newton's method, with the
// residual in twice the precision, then brings the square back to x within the rounding of its root.
func sqrt3x3(x *[9]float64) bool {
	a := *x
	if !denmanBeavers(x) {
		return false
	}
	for range 3 {
		var r [9]float64
		n := residual3x3(&r, &a, x)
		if n <= 0x1p-51*norm1(x)*norm1(x) {
			break
		}
		if !sylvester3x3(&r, x) {
			break
		}
		for i := range x {
			x[i] += r[i]
		}
	}
	return allFinite(x[:])
}

// denmanBeavers replaces x by its square root, by the product form of the iteration; N. J. Higham, Functions of Matrices
// (2008), equation 6.29.
func denmanBeavers(x *[9]float64) bool {
	m := *x
	before := math.Inf(1)
	for range 100 {
		var inv, p [9]float64
		if !Inverse3x3(&inv, &m) {
			return false
		}
		// Scaling by a power of two near |det m|^(-1/6) speeds up the beginning.
		mu, far := 1.0, norm1I(&m)
		if far > 0.5 {
			f, e := det3x3(&m)
			_, k := math.Frexp(f)
			mu = math.Ldexp(1, min(max(-int(math.Round(float64(e+k)/6)), -400), 400))
		}
		for i := range inv {
			inv[i] /= mu * mu
			m[i] *= mu * mu
		}
		Mul3x3(&p, x, &inv)
		for i := range p {
			x[i] = 0.5 * mu * (x[i] + p[i])
			m[i] = 0.25 * (m[i] + inv[i])
		}
		for i := 0; i < 9; i += 4 {
			m[i] += 0.5
		}
		// The step squares the distance; once it stops shrinking it is rounding.
		if far <= 1e-8 || (far < 0.01 && far >= before/2) {
			return true
		}
		before = far
	}
	return allFinite(x[:])
}

// residual3x3 writes a - s², the sum of each entry in double-double, and returns its norm.
func residual3x3(r, a, s *[9]float64) float64 {
	for i := range 3 {
		for j := range 3 {
			d := dd{a[3*i+j], 0}
			for k := range 3 {
				d = d.add(ddProduct(-s[3*i+k], s[3*k+j]))
			}
			r[3*i+j] = d.hi
		}
	}
	return norm1(r)
}

// sylvester3x3 replaces r by the solution d of s·d + d·s = r, nine linear equations, by elimination with row pivoting.
func sylvester3x3(r, s *[9]float64) bool {
	var k [9][10]float64
	for i := range 3 {
		for j := range 3 {
			e := &k[3*i+j]
			for l := range 3 {
				e[3*l+j] += s[3*i+l]
				e[3*i+l] += s[3*l+j]
			}
			e[9] = r[3*i+j]
		}
	}
	for c := range 9 {
		p := c
		for i := c + 1; i < 9; i++ {
			if math.Abs(k[i][c]) > math.Abs(k[p][c]) {
				p = i
			}
		}
		if k[p][c] == 0 {
			return false
		}
		k[c], k[p] = k[p], k[c]
		for i := c + 1; i < 9; i++ {
			f := k[i][c] / k[c][c]
			if f == 0 {
				continue
			}
			for j := c + 1; j < 10; j++ {
				k[i][j] -= float64(f * k[c][j])
			}
		}
	}
	for c := 8; c >= 0; c-- {
		v := k[c][9]
		for j := c + 1; j < 9; j++ {
			v -= float64(k[c][j] * r[j])
		}
		r[c] = v / k[c][c]
	}
	return true
}
