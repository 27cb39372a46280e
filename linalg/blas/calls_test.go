package blas

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"

	"github.com/equivcnp/equivcnp/simd"
)

func incr(r *rand.Rand) int { return pick(r, 1, 1, 1, -1, 2, -3) }

func scalar[T simd.Float](r *rand.Rand) T { return pick[T](r, 0, 1, -1, 0.7) }

func transposes(r *rand.Rand) blas.Transpose {
	return pick(r, blas.NoTrans, blas.Trans, blas.ConjTrans)
}

func vector[T simd.Float](r *rand.Rand, n, inc int) []T {
	return data[T](r, max(0, n-1)*max(inc, -inc)+1+r.IntN(3))
}

func matrix[T simd.Float](r *rand.Rand, m, n int) ([]T, int) {
	ld := max(1, n) + r.IntN(3)
	return data[T](r, max(0, m-1)*ld+n+r.IntN(2)), ld
}

func matrixT[T simd.Float](r *rand.Rand, m, n int, t blas.Transpose) ([]T, int) {
	if t == blas.NoTrans {
		return matrix[T](r, m, n)
	}
	return matrix[T](r, n, m)
}

func plainGer[T simd.Float](m, n int, alpha T, x []T, incX int, y []T, incY int, a []T, lda int) {
	for i := range m {
		for j := range n {
			a[i*lda+j] += alpha * x[start(m, incX)+i*incX] * y[start(n, incY)+j*incY]
		}
	}
}

// triangular is a matrix whose triangles are well conditioned.
func triangular[T simd.Float](r *rand.Rand, n int) ([]T, int) {
	a, lda := matrix[T](r, n, n)
	for i := range a {
		a[i] /= T(max(4, n))
	}
	for i := range n {
		a[i*lda+i] = T(1 + r.Float64())
	}
	return a, lda
}

// routines are those of a BLAS in one precision, under their names without it.
type routines[T simd.Float] struct {
	dot        func(n int, x []T, incX int, y []T, incY int) T
	nrm2, asum func(n int, x []T, incX int) T
	iamax      func(n int, x []T, incX int) int
	axpy       func(n int, alpha T, x []T, incX int, y []T, incY int)
	swap       func(n int, x []T, incX int, y []T, incY int)
	rot        func(n int, x []T, incX int, y []T, incY int, c, s T)
	scal       func(n int, alpha T, x []T, incX int)
	gemv       func(t blas.Transpose, m, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int)
	ger        func(m, n int, alpha T, x []T, incX int, y []T, incY int, a []T, lda int)
	symv       func(ul blas.Uplo, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int)
	syr        func(ul blas.Uplo, n int, alpha T, x []T, incX int, a []T, lda int)
	syr2       func(ul blas.Uplo, n int, alpha T, x []T, incX int, y []T, incY int, a []T, lda int)
	trmv, trsv func(ul blas.Uplo, t blas.Transpose, d blas.Diag, n int, a []T, lda int, x []T, incX int)
	gemm       func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)
	symm       func(s blas.Side, ul blas.Uplo, m, n int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)
	syrk       func(ul blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int)
	syr2k      func(ul blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)
	trmm, trsm func(s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha T, a []T, lda int, b []T, ldb int)
}

func in32(implementation any) routines[float32] {
	b := implementation.(blas.Float32)
	return routines[float32]{
		dot: b.Sdot, nrm2: b.Snrm2, asum: b.Sasum, iamax: b.Isamax, axpy: b.Saxpy, swap: b.Sswap, rot: b.Srot,
		scal: b.Sscal, gemv: b.Sgemv, ger: b.Sger, symv: b.Ssymv, syr: b.Ssyr, syr2: b.Ssyr2, trmv: b.Strmv,
		trsv: b.Strsv, gemm: b.Sgemm, symm: b.Ssymm, syrk: b.Ssyrk, syr2k: b.Ssyr2k, trmm: b.Strmm, trsm: b.Strsm,
	}
}

func in64(implementation any) routines[float64] {
	b := implementation.(blas.Float64)
	return routines[float64]{
		dot: b.Ddot, nrm2: b.Dnrm2, asum: b.Dasum, iamax: b.Idamax, axpy: b.Daxpy, swap: b.Dswap, rot: b.Drot,
		scal: b.Dscal, gemv: b.Dgemv, ger: b.Dger, symv: b.Dsymv, syr: b.Dsyr, syr2: b.Dsyr2, trmv: b.Dtrmv,
		trsv: b.Dtrsv, gemm: b.Dgemm, symm: b.Dsymm, syrk: b.Dsyrk, syr2k: b.Dsyr2k, trmm: b.Dtrmm, trsm: b.Dtrsm,
	}
}

// calls are calls of the routines that f returns of an implementation.
func calls[T simd.Float](f func(implementation any) routines[T]) []call[T] {
	return []call[T]{
		{"dot", func(i any, r *rand.Rand) [][]T {
			n, ix, iy := dim(r)*8, incr(r), incr(r)
			x, y := vector[T](r, n, ix), vector[T](r, n, iy)
			return [][]T{{f(i).dot(n, x, ix, y, iy)}}
		}},
		{"norms", func(i any, r *rand.Rand) [][]T {
			n, ix := dim(r)*8, pick(r, 1, 1, 2)
			x := vector[T](r, n, ix)
			if n > 0 && r.IntN(4) == 0 {
				x[r.IntN(n)] *= pick(r, 0, T(math.Inf(1)), T(math.NaN()), 1e30)
			}
			if n > 0 && n < 9 && r.IntN(4) == 0 { // what is NaN is no larger than anything, at any place
				x[r.IntN(n)] = T(math.NaN())
			}
			b := f(i)
			return [][]T{{b.nrm2(n, x, ix)}, {b.asum(n, x, ix)}, {T(b.iamax(n, x, ix))}}
		}},
		{"level 1", func(i any, r *rand.Rand) [][]T {
			n, ix, iy := dim(r)*8, incr(r), incr(r)
			x, y := vector[T](r, n, ix), vector[T](r, n, iy)
			b := f(i)
			b.axpy(n, scalar[T](r), x, ix, y, iy)
			b.swap(n, x, ix, y, iy)
			b.rot(n, x, ix, y, iy, 0.8, 0.6)
			b.scal(n, scalar[T](r), x, max(ix, -ix))
			return [][]T{x, y}
		}},
		{"gemv", func(i any, r *rand.Rand) [][]T {
			m, n, t, ix, iy := dim(r), dim(r), transposes(r), incr(r), incr(r)
			lx, ly := n, m
			if t != blas.NoTrans {
				lx, ly = m, n
			}
			a, lda := matrix[T](r, m, n)
			x, y := vector[T](r, lx, ix), vector[T](r, ly, iy)
			to := y
			if _, ok := i.(Implementation); !ok && iy == 1 { // gonum's function for float32 clears what is behind
				to = y[:ly]
			}
			f(i).gemv(t, m, n, scalar[T](r), a, lda, x, ix, scalar[T](r), to, iy)
			return [][]T{y}
		}},
		{"ger", func(i any, r *rand.Rand) [][]T {
			m, n, ix, iy := dim(r), dim(r), incr(r), incr(r)
			a, lda := matrix[T](r, m, n)
			x, y := vector[T](r, m, ix), vector[T](r, n, iy)
			alpha := scalar[T](r)
			if _, ok := i.(Implementation); !ok && (ix < 0 || iy < 0) { // gonum 0.17 is wrong there
				plainGer(m, n, alpha, x, ix, y, iy, a, lda)
				return [][]T{a}
			}
			f(i).ger(m, n, alpha, x, ix, y, iy, a, lda)
			return [][]T{a}
		}},
		{"symv", func(i any, r *rand.Rand) [][]T {
			n, ix, iy := dim(r), incr(r), incr(r)
			a, lda := matrix[T](r, n, n)
			x, y, ul := vector[T](r, n, ix), vector[T](r, n, iy), pick(r, blas.Upper, blas.Lower)
			b := f(i)
			b.symv(ul, n, scalar[T](r), a, lda, x, ix, scalar[T](r), y, iy)
			b.syr(ul, n, scalar[T](r), x, ix, a, lda)
			b.syr2(ul, n, scalar[T](r), x, ix, y, iy, a, lda)
			return [][]T{a, y}
		}},
		{"trmv, trsv", func(i any, r *rand.Rand) [][]T {
			n, ix, ul, t, d := dim(r), incr(r), pick(r, blas.Upper, blas.Lower), transposes(r), pick(r, blas.Unit, blas.NonUnit)
			a, lda := triangular[T](r, n)
			x, y := vector[T](r, n, ix), vector[T](r, n, ix)
			b := f(i)
			b.trmv(ul, t, d, n, a, lda, x, ix)
			b.trsv(ul, t, d, n, a, lda, y, ix)
			return [][]T{x, y}
		}},
		{"gemm", func(i any, r *rand.Rand) [][]T {
			m, n, k, tA, tB := dim(r), dim(r), dim(r), transposes(r), transposes(r)
			a, lda := matrixT[T](r, m, k, tA)
			b, ldb := matrixT[T](r, k, n, tB)
			c, ldc := matrix[T](r, m, n)
			f(i).gemm(tA, tB, m, n, k, scalar[T](r), a, lda, b, ldb, scalar[T](r), c, ldc)
			return [][]T{c}
		}},
		{"symm", func(i any, r *rand.Rand) [][]T {
			m, n, s, ul := dim(r), dim(r), pick(r, blas.Left, blas.Right), pick(r, blas.Upper, blas.Lower)
			if r.IntN(4) == 0 {
				m, n = m*3, n*3
			}
			k := n
			if s == blas.Left {
				k = m
			}
			a, lda := matrix[T](r, k, k)
			b, ldb := matrix[T](r, m, n)
			c, ldc := matrix[T](r, m, n)
			f(i).symm(s, ul, m, n, scalar[T](r), a, lda, b, ldb, scalar[T](r), c, ldc)
			return [][]T{c}
		}},
		{"syrk, syr2k", func(i any, r *rand.Rand) [][]T {
			n, k, t, ul := dim(r), dim(r), transposes(r), pick(r, blas.Upper, blas.Lower)
			a, lda := matrixT[T](r, n, k, t)
			b, ldb := matrixT[T](r, n, k, t)
			c, ldc := matrix[T](r, n, n)
			e, lde := matrix[T](r, n, n)
			f(i).syrk(ul, t, n, k, scalar[T](r), a, lda, scalar[T](r), c, ldc)
			f(i).syr2k(ul, t, n, k, scalar[T](r), a, lda, b, ldb, scalar[T](r), e, lde)
			return [][]T{c, e}
		}},
		{"trmm, trsm", func(i any, r *rand.Rand) [][]T {
			m, n, s, ul, t, d := dim(r), dim(r), pick(r, blas.Left, blas.Right), pick(r, blas.Upper, blas.Lower), transposes(r),
				pick(r, blas.Unit, blas.NonUnit)
			k := n
			if s == blas.Left {
				k = m
			}
			a, lda := triangular[T](r, k)
			b, ldb := matrix[T](r, m, n)
			c, ldc := matrix[T](r, m, n)
			f(i).trmm(s, ul, t, d, m, n, scalar[T](r), a, lda, b, ldb)
			f(i).trsm(s, ul, t, d, m, n, scalar[T](r), a, lda, c, ldc)
			return [][]T{b, c}
		}},
	}
}
