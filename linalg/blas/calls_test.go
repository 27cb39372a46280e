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

var calls32 = []call[float32]{
	{"dot", func(i any, r *rand.Rand) [][]float32 {
		n, ix, iy := dim(r)*8, incr(r), incr(r)
		x, y := vector[float32](r, n, ix), vector[float32](r, n, iy)
		return [][]float32{{i.(blas.Float32).Sdot(n, x, ix, y, iy)}}
	}},
	{"norms", func(i any, r *rand.Rand) [][]float32 {
		n, ix := dim(r)*8, pick(r, 1, 1, 2)
		x := vector[float32](r, n, ix)
		if n > 0 && r.IntN(4) == 0 {
			x[r.IntN(n)] *= pick(r, 0, float32(math.Inf(1)), float32(math.NaN()), 1e30)
		}
		b := i.(blas.Float32)
		return [][]float32{{b.Snrm2(n, x, ix)}, {b.Sasum(n, x, ix)}, {float32(b.Isamax(n, x, ix))}}
	}},
	{"level 1", func(i any, r *rand.Rand) [][]float32 {
		n, ix, iy := dim(r)*8, incr(r), incr(r)
		x, y := vector[float32](r, n, ix), vector[float32](r, n, iy)
		b := i.(blas.Float32)
		b.Saxpy(n, scalar[float32](r), x, ix, y, iy)
		b.Sswap(n, x, ix, y, iy)
		b.Srot(n, x, ix, y, iy, 0.8, 0.6)
		b.Sscal(n, scalar[float32](r), x, max(ix, -ix))
		return [][]float32{x, y}
	}},
	{"gemv", func(i any, r *rand.Rand) [][]float32 {
		m, n, t, ix, iy := dim(r), dim(r), transposes(r), incr(r), incr(r)
		lx, ly := n, m
		if t != blas.NoTrans {
			lx, ly = m, n
		}
		a, lda := matrix[float32](r, m, n)
		x, y := vector[float32](r, lx, ix), vector[float32](r, ly, iy)
		to := y
		if _, ok := i.(Implementation); !ok && iy == 1 { // gonum's function for float32 clears what is behind
			to = y[:ly]
		}
		i.(blas.Float32).Sgemv(t, m, n, scalar[float32](r), a, lda, x, ix, scalar[float32](r), to, iy)
		return [][]float32{y}
	}},
	{"ger", func(i any, r *rand.Rand) [][]float32 {
		m, n, ix, iy := dim(r), dim(r), incr(r), incr(r)
		a, lda := matrix[float32](r, m, n)
		x, y := vector[float32](r, m, ix), vector[float32](r, n, iy)
		alpha := scalar[float32](r)
		if _, ok := i.(Implementation); !ok && (ix < 0 || iy < 0) { // gonum 0.17 is wrong there
			plainGer(m, n, alpha, x, ix, y, iy, a, lda)
			return [][]float32{a}
		}
		i.(blas.Float32).Sger(m, n, alpha, x, ix, y, iy, a, lda)
		return [][]float32{a}
	}},
	{"symv", func(i any, r *rand.Rand) [][]float32 {
		n, ix, iy := dim(r), incr(r), incr(r)
		a, lda := matrix[float32](r, n, n)
		x, y, ul := vector[float32](r, n, ix), vector[float32](r, n, iy), pick(r, blas.Upper, blas.Lower)
		b := i.(blas.Float32)
		b.Ssymv(ul, n, scalar[float32](r), a, lda, x, ix, scalar[float32](r), y, iy)
		b.Ssyr(ul, n, scalar[float32](r), x, ix, a, lda)
		b.Ssyr2(ul, n, scalar[float32](r), x, ix, y, iy, a, lda)
		return [][]float32{a, y}
	}},
	{"trmv, trsv", func(i any, r *rand.Rand) [][]float32 {
		n, ix, ul, t, d := dim(r), incr(r), pick(r, blas.Upper, blas.Lower), transposes(r), pick(r, blas.Unit, blas.NonUnit)
		a, lda := triangular[float32](r, n)
		x, y := vector[float32](r, n, ix), vector[float32](r, n, ix)
		b := i.(blas.Float32)
		b.Strmv(ul, t, d, n, a, lda, x, ix)
		b.Strsv(ul, t, d, n, a, lda, y, ix)
		return [][]float32{x, y}
	}},
	{"gemm", func(i any, r *rand.Rand) [][]float32 {
		m, n, k, tA, tB := dim(r), dim(r), dim(r), transposes(r), transposes(r)
		a, lda := matrixT[float32](r, m, k, tA)
		b, ldb := matrixT[float32](r, k, n, tB)
		c, ldc := matrix[float32](r, m, n)
		i.(blas.Float32).Sgemm(tA, tB, m, n, k, scalar[float32](r), a, lda, b, ldb, scalar[float32](r), c, ldc)
		return [][]float32{c}
	}},
	{"symm", func(i any, r *rand.Rand) [][]float32 {
		m, n, s, ul := dim(r), dim(r), pick(r, blas.Left, blas.Right), pick(r, blas.Upper, blas.Lower)
		if r.IntN(4) == 0 {
			m, n = m*3, n*3
		}
		k := n
		if s == blas.Left {
			k = m
		}
		a, lda := matrix[float32](r, k, k)
		b, ldb := matrix[float32](r, m, n)
		c, ldc := matrix[float32](r, m, n)
		i.(blas.Float32).Ssymm(s, ul, m, n, scalar[float32](r), a, lda, b, ldb, scalar[float32](r), c, ldc)
		return [][]float32{c}
	}},
	{"syrk, syr2k", func(i any, r *rand.Rand) [][]float32 {
		n, k, t, ul := dim(r), dim(r), transposes(r), pick(r, blas.Upper, blas.Lower)
		a, lda := matrixT[float32](r, n, k, t)
		b, ldb := matrixT[float32](r, n, k, t)
		c, ldc := matrix[float32](r, n, n)
		e, lde := matrix[float32](r, n, n)
		i.(blas.Float32).Ssyrk(ul, t, n, k, scalar[float32](r), a, lda, scalar[float32](r), c, ldc)
		i.(blas.Float32).Ssyr2k(ul, t, n, k, scalar[float32](r), a, lda, b, ldb, scalar[float32](r), e, lde)
		return [][]float32{c, e}
	}},
	{"trmm, trsm", func(i any, r *rand.Rand) [][]float32 {
		m, n, s, ul, t, d := dim(r), dim(r), pick(r, blas.Left, blas.Right), pick(r, blas.Upper, blas.Lower), transposes(r),
			pick(r, blas.Unit, blas.NonUnit)
		k := n
		if s == blas.Left {
			k = m
		}
		a, lda := triangular[float32](r, k)
		b, ldb := matrix[float32](r, m, n)
		c, ldc := matrix[float32](r, m, n)
		i.(blas.Float32).Strmm(s, ul, t, d, m, n, scalar[float32](r), a, lda, b, ldb)
		i.(blas.Float32).Strsm(s, ul, t, d, m, n, scalar[float32](r), a, lda, c, ldc)
		return [][]float32{b, c}
	}},
}

var calls64 = []call[float64]{
	{"dot", func(i any, r *rand.Rand) [][]float64 {
		n, ix, iy := dim(r)*8, incr(r), incr(r)
		x, y := vector[float64](r, n, ix), vector[float64](r, n, iy)
		return [][]float64{{i.(blas.Float64).Ddot(n, x, ix, y, iy)}}
	}},
	{"norms", func(i any, r *rand.Rand) [][]float64 {
		n, ix := dim(r)*8, pick(r, 1, 1, 2)
		x := vector[float64](r, n, ix)
		if n > 0 && r.IntN(4) == 0 {
			x[r.IntN(n)] *= pick(r, 0, float64(math.Inf(1)), float64(math.NaN()), 1e30)
		}
		b := i.(blas.Float64)
		return [][]float64{{b.Dnrm2(n, x, ix)}, {b.Dasum(n, x, ix)}, {float64(b.Idamax(n, x, ix))}}
	}},
	{"level 1", func(i any, r *rand.Rand) [][]float64 {
		n, ix, iy := dim(r)*8, incr(r), incr(r)
		x, y := vector[float64](r, n, ix), vector[float64](r, n, iy)
		b := i.(blas.Float64)
		b.Daxpy(n, scalar[float64](r), x, ix, y, iy)
		b.Dswap(n, x, ix, y, iy)
		b.Drot(n, x, ix, y, iy, 0.8, 0.6)
		b.Dscal(n, scalar[float64](r), x, max(ix, -ix))
		return [][]float64{x, y}
	}},
	{"gemv", func(i any, r *rand.Rand) [][]float64 {
		m, n, t, ix, iy := dim(r), dim(r), transposes(r), incr(r), incr(r)
		lx, ly := n, m
		if t != blas.NoTrans {
			lx, ly = m, n
		}
		a, lda := matrix[float64](r, m, n)
		x, y := vector[float64](r, lx, ix), vector[float64](r, ly, iy)
		to := y
		if _, ok := i.(Implementation); !ok && iy == 1 { // gonum's function for float32 clears what is behind
			to = y[:ly]
		}
		i.(blas.Float64).Dgemv(t, m, n, scalar[float64](r), a, lda, x, ix, scalar[float64](r), to, iy)
		return [][]float64{y}
	}},
	{"ger", func(i any, r *rand.Rand) [][]float64 {
		m, n, ix, iy := dim(r), dim(r), incr(r), incr(r)
		a, lda := matrix[float64](r, m, n)
		x, y := vector[float64](r, m, ix), vector[float64](r, n, iy)
		alpha := scalar[float64](r)
		if _, ok := i.(Implementation); !ok && (ix < 0 || iy < 0) { // gonum 0.17 is wrong there
			plainGer(m, n, alpha, x, ix, y, iy, a, lda)
			return [][]float64{a}
		}
		i.(blas.Float64).Dger(m, n, alpha, x, ix, y, iy, a, lda)
		return [][]float64{a}
	}},
	{"symv", func(i any, r *rand.Rand) [][]float64 {
		n, ix, iy := dim(r), incr(r), incr(r)
		a, lda := matrix[float64](r, n, n)
		x, y, ul := vector[float64](r, n, ix), vector[float64](r, n, iy), pick(r, blas.Upper, blas.Lower)
		b := i.(blas.Float64)
		b.Dsymv(ul, n, scalar[float64](r), a, lda, x, ix, scalar[float64](r), y, iy)
		b.Dsyr(ul, n, scalar[float64](r), x, ix, a, lda)
		b.Dsyr2(ul, n, scalar[float64](r), x, ix, y, iy, a, lda)
		return [][]float64{a, y}
	}},
	{"trmv, trsv", func(i any, r *rand.Rand) [][]float64 {
		n, ix, ul, t, d := dim(r), incr(r), pick(r, blas.Upper, blas.Lower), transposes(r), pick(r, blas.Unit, blas.NonUnit)
		a, lda := triangular[float64](r, n)
		x, y := vector[float64](r, n, ix), vector[float64](r, n, ix)
		b := i.(blas.Float64)
		b.Dtrmv(ul, t, d, n, a, lda, x, ix)
		b.Dtrsv(ul, t, d, n, a, lda, y, ix)
		return [][]float64{x, y}
	}},
	{"gemm", func(i any, r *rand.Rand) [][]float64 {
		m, n, k, tA, tB := dim(r), dim(r), dim(r), transposes(r), transposes(r)
		a, lda := matrixT[float64](r, m, k, tA)
		b, ldb := matrixT[float64](r, k, n, tB)
		c, ldc := matrix[float64](r, m, n)
		i.(blas.Float64).Dgemm(tA, tB, m, n, k, scalar[float64](r), a, lda, b, ldb, scalar[float64](r), c, ldc)
		return [][]float64{c}
	}},
	{"symm", func(i any, r *rand.Rand) [][]float64 {
		m, n, s, ul := dim(r), dim(r), pick(r, blas.Left, blas.Right), pick(r, blas.Upper, blas.Lower)
		if r.IntN(4) == 0 {
			m, n = m*3, n*3
		}
		k := n
		if s == blas.Left {
			k = m
		}
		a, lda := matrix[float64](r, k, k)
		b, ldb := matrix[float64](r, m, n)
		c, ldc := matrix[float64](r, m, n)
		i.(blas.Float64).Dsymm(s, ul, m, n, scalar[float64](r), a, lda, b, ldb, scalar[float64](r), c, ldc)
		return [][]float64{c}
	}},
	{"syrk, syr2k", func(i any, r *rand.Rand) [][]float64 {
		n, k, t, ul := dim(r), dim(r), transposes(r), pick(r, blas.Upper, blas.Lower)
		a, lda := matrixT[float64](r, n, k, t)
		b, ldb := matrixT[float64](r, n, k, t)
		c, ldc := matrix[float64](r, n, n)
		e, lde := matrix[float64](r, n, n)
		i.(blas.Float64).Dsyrk(ul, t, n, k, scalar[float64](r), a, lda, scalar[float64](r), c, ldc)
		i.(blas.Float64).Dsyr2k(ul, t, n, k, scalar[float64](r), a, lda, b, ldb, scalar[float64](r), e, lde)
		return [][]float64{c, e}
	}},
	{"trmm, trsm", func(i any, r *rand.Rand) [][]float64 {
		m, n, s, ul, t, d := dim(r), dim(r), pick(r, blas.Left, blas.Right), pick(r, blas.Upper, blas.Lower), transposes(r),
			pick(r, blas.Unit, blas.NonUnit)
		k := n
		if s == blas.Left {
			k = m
		}
		a, lda := triangular[float64](r, k)
		b, ldb := matrix[float64](r, m, n)
		c, ldc := matrix[float64](r, m, n)
		i.(blas.Float64).Dtrmm(s, ul, t, d, m, n, scalar[float64](r), a, lda, b, ldb)
		i.(blas.Float64).Dtrsm(s, ul, t, d, m, n, scalar[float64](r), a, lda, c, ldc)
		return [][]float64{b, c}
	}},
}
