package simd

// The unpacked products. They read their operands in place: C = A·B and C = Aᵀ·B add multiples of rows of B to rows of C, four at
// a time, and C = A·Bᵀ takes dot products of rows, four at a time. Blocks keep the rows that are read again in the first-level
// cache: 64 x 128 float32 are 32 KiB. The sum of an element runs over k in ascending order, whatever m and the blocks are, so
// that callers may divide m.
const (
	gemmBlockK = 64
	gemmBlockN = 128
	gemmBlockM = 64
)

// scaleRows sets the rows of C to beta·C, not reading them if beta is 0.
func scaleRows[T Float](c []T, ldc int, beta T, m, n int) {
	if beta == 1 || n == 0 {
		return
	}
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		if beta == 0 {
			clear(row)
			continue
		}
		for j := range row {
			row[j] *= beta
		}
	}
}

func gemmGeneric[T Float](c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int) {
	scaleRows(c, ldc, beta, m, n)
	for p0 := 0; p0 < k; p0 += gemmBlockK {
		p1 := min(p0+gemmBlockK, k)
		for j0 := 0; j0 < n; j0 += gemmBlockN {
			nb := min(gemmBlockN, n-j0)
			for i := range m {
				row := c[i*ldc+j0:][:nb]
				ai := a[i*lda:][:k]
				p := p0
				for ; p+4 <= p1; p += 4 {
					q := ai[p : p+4 : p+4]
					axpy4Generic(row, b[p*ldb+j0:], b[(p+1)*ldb+j0:], b[(p+2)*ldb+j0:], b[(p+3)*ldb+j0:],
						alpha*q[0], alpha*q[1], alpha*q[2], alpha*q[3])
				}
				for ; p < p1; p++ {
					axpyGeneric(row, alpha*ai[p], b[p*ldb+j0:][:nb])
				}
			}
		}
	}
}

func gemmTNGeneric[T Float](c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int) {
	scaleRows(c, ldc, beta, m, n)
	for j0 := 0; j0 < n; j0 += gemmBlockN {
		nb := min(gemmBlockN, n-j0)
		for i0 := 0; i0 < m; i0 += gemmBlockM {
			mb := min(gemmBlockM, m-i0)
			p := 0
			for ; p+4 <= k; p += 4 {
				b0, b1, b2, b3 := b[p*ldb+j0:], b[(p+1)*ldb+j0:], b[(p+2)*ldb+j0:], b[(p+3)*ldb+j0:]
				a0, a1 := a[p*lda+i0:][:mb], a[(p+1)*lda+i0:][:mb]
				a2, a3 := a[(p+2)*lda+i0:][:mb], a[(p+3)*lda+i0:][:mb]
				for i := range mb {
					axpy4Generic(c[(i0+i)*ldc+j0:][:nb], b0, b1, b2, b3, alpha*a0[i], alpha*a1[i], alpha*a2[i], alpha*a3[i])
				}
			}
			for ; p < k; p++ {
				for i := range mb {
					axpyGeneric(c[(i0+i)*ldc+j0:][:nb], alpha*a[p*lda+i0+i], b[p*ldb+j0:][:nb])
				}
			}
		}
	}
}

func gemmNTGeneric[T Float](c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int) {
	scaleRows(c, ldc, beta, m, n)
	if n == 0 || k == 0 {
		return // rows without elements need not exist
	}
	for i := range m {
		row := c[i*ldc:][:n]
		ai := a[i*lda:][:k]
		j := 0
		for ; j+4 <= n; j += 4 {
			s0, s1, s2, s3 := dot4Generic(ai, b[j*ldb:], b[(j+1)*ldb:], b[(j+2)*ldb:], b[(j+3)*ldb:])
			r := row[j : j+4 : j+4]
			r[0] += alpha * s0
			r[1] += alpha * s1
			r[2] += alpha * s2
			r[3] += alpha * s3
		}
		for ; j < n; j++ {
			var s T
			bj := b[j*ldb:][:k]
			for p, v := range ai {
				s += v * bj[p]
			}
			row[j] += alpha * s
		}
	}
}

// dot4Generic returns the dot products of a with four rows that are at least as long.
func dot4Generic[T Float](a, b0, b1, b2, b3 []T) (s0, s1, s2, s3 T) {
	b0, b1, b2, b3 = b0[:len(a)], b1[:len(a)], b2[:len(a)], b3[:len(a)]
	for p, v := range a {
		s0 += v * b0[p]
		s1 += v * b1[p]
		s2 += v * b2[p]
		s3 += v * b3[p]
	}
	return
}
