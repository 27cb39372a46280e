package simd

// gemvGeneric adds alpha·A·x to y. Every row has four accumulators.
func gemvGeneric[T Float](y, a []T, lda int, x []T, alpha T, m, n int) {
	for i := range m {
		y[i] += alpha * shortDot(a[i*lda:][:n], x)
	}
}

// shortDot is Σ x·y in the precision of the type.
func shortDot[T Float](x, y []T) T {
	var s0, s1, s2, s3 T
	for len(x) >= 4 && len(y) >= 4 {
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		x, y = x[4:], y[4:]
	}
	y = y[:len(x)]
	for i, v := range x {
		s0 += v * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// gemvTGeneric adds alpha·Aᵀ·x to y, four rows of A at a time. The terms of an element are added in the order of the rows.
func gemvTGeneric[T Float](y, a []T, lda int, x []T, alpha T, m, n int) {
	y = y[:n]
	i := 0
	for ; i+4 <= m; i += 4 {
		r0, r1, r2, r3 := a[i*lda:][:len(y)], a[(i+1)*lda:][:len(y)], a[(i+2)*lda:][:len(y)], a[(i+3)*lda:][:len(y)]
		x0, x1, x2, x3 := alpha*x[i], alpha*x[i+1], alpha*x[i+2], alpha*x[i+3]
		for j, v := range y {
			y[j] = v + x0*r0[j] + x1*r1[j] + x2*r2[j] + x3*r3[j]
		}
	}
	for ; i < m; i++ {
		r, xi := a[i*lda:][:len(y)], alpha*x[i]
		for j, v := range r {
			y[j] += xi * v
		}
	}
}
