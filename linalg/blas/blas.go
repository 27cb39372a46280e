// Package blas implements gonum's BLAS interfaces by the kernels of package simd. One line at the start of a program
// makes the packages mat, lapack and stat of gonum use it, in float64, and another one in float32:
//
//	blas64.Use(blas.Implementation{})
//	blas32.Use(blas.Implementation{})
//	c.Mul(a, b) // mat.Dense, now by AVX2, AVX-512 or NEON
//
// # What it computes
//
//   - Level 1 (DOT, NRM2, ASUM, AMAX, SWAP, COPY, AXPY, SCAL, ROT), level 2 (GEMV, GER, SYMV, SYR, SYR2, TRMV, TRSV) and level 3 (GEMM,
//     SYMM, SYRK, SYR2K, TRMM, TRSM) are this package's own.
//   - Packed and band matrices, rotations' parameters (ROTG, ROTMG, ROTM), vectors of AXPY with an increment and more than 160 elements,
//     complex numbers, and sizes where nothing is gained are gonum's: [gonum.org/v1/gonum/blas/gonum.Implementation] is embedded.
//   - Wrong arguments panic with gonum's messages, because gonum's implementation gets them.
//   - Results have other last bits than gonum's: at most (k+8)·eps·Σ|terms| from the exact value for sums of k terms, with eps as in
//     package simd. They are the same for any number of goroutines, because work is cut by its size alone.
//   - A product with 0 is computed, not left out, in what is this package's own: 0·NaN and 0·Inf are NaN. Where a size is left to
//     gonum (see below), and where alpha is 0, some of them are 0, as gonum says.
//   - With beta = 0 the destination is not read, and a triangle that is not named is neither read nor written.
//   - Gonum's GEMM skips the zeros of A. Where 99 % of a dense A of 1,000² are zeros, as in one-hot columns, gonum's takes
//     about half of this package's time, and with 99.9 % a quarter; with 90 %, 1.5 times as long (AVX2). Keep gonum's for such
//     products, or a sparse format.
//
// Large products are split over GOMAXPROCS goroutines.
//
// # Small sizes
//
// A call for a few elements takes no longer than one of gonum's, but for up to 1 ns where gonum's is called. On amd64, a method calls a
// kernel for short vectors or small products itself, from these sizes on (n of vectors, or of rows and columns). The paces are gonum's time
// by ours on one core of a Zen 3 with AVX2 for n up to 64, where they are least among triangles, transpositions, sides and increments:
//
//	operation                          from   pace        what is smaller
//	AXPY, DOT, NRM2, SCAL, SWAP        1      1.0 to 3.6
//	ASUM, COPY, AMAX, ROT              1      0.97 to 1.7
//	GEMV                               1      1.0 to 4
//	GEMV with increments, float64      25     1.1 to 1.6  gonum's
//	GEMV with increments, float32      4      1.0 to 4    gonum's
//	GEMM                               1      0.97 to 4   gonum's: one or two terms, both factors transposed
//	SYMV                               20     1.0 to 4    gonum's or plain loops
//	SYR, SYR2                          36, 48 1.0 to 2.5  gonum's or plain loops
//	SYMM                               1      1.0 to 6
//	SYRK, SYR2K                        5      1.0 to 10   gonum's or plain loops
//	TRMM, TRSM                         36     1.3 to 2.5  gonum's
//	TRSV                               48     1.0 to 1.3  gonum's
//	GER, TRMV                          96     1.0 to 1.5  gonum's or plain loops
//
// Single elements are computed where they are checked. The command bench blas --small measures the table anew, and bench/results has
// what it measured.
package blas

import (
	"math/bits"
	"sync"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/equivcnp/equivcnp/simd"
)

// rest is what Implementation leaves to gonum.
type rest = gonum.Implementation

// Implementation implements gonum's blas.Float32 and blas.Float64, and by gonum's own code blas.Complex64 and
// blas.Complex128. It may be used by any number of goroutines at once.
type Implementation struct {
	rest
	// A struct of one word that is a pointer is what an interface holds directly, so that its methods are called without
	// the compiler's wrapper in between, which takes the address of the value and passes all arguments on: 1 to 5 ns.
	_ *byte
}

var (
	_ blas.Float32 = Implementation{}
	_ blas.Float64 = Implementation{}
)

var scratch32, scratch64 sync.Pool // *[]float32 and *[]float64

// rent returns a slice of n elements, with anything in them, and a function that takes it back.
func rent[T simd.Float](n int) (s []T, back *[]T) {
	p, _ := pool[T]().Get().(*[]T)
	if p == nil || cap(*p) < n {
		fresh := make([]T, n)
		p = &fresh
	}
	return (*p)[:n], p
}

func giveBack[T simd.Float](p *[]T) { pool[T]().Put(p) }

func pool[T simd.Float]() *sync.Pool {
	if unsafe.Sizeof(T(0)) == 4 {
		return &scratch32
	}
	return &scratch64
}

// start is where the first element of a vector of n elements is.
func start(n, inc int) int {
	if inc < 0 {
		return (1 - n) * inc
	}
	return 0
}

// holds reports whether a slice is long enough for a vector of n > 0 elements.
func holds(length, n, inc int) bool {
	high, last := bits.Mul64(uint64(n-1), uint64(max(inc, -inc)))
	return inc != 0 && high == 0 && last < uint64(length)
}

// fits reports whether a slice is long enough for a matrix of r > 0 rows.
func fits(length, r, c, ld int) bool {
	high, last := bits.Mul64(uint64(r-1), uint64(ld)) // a division would take ten times as long
	return ld >= max(1, c) && length >= c && high == 0 && last <= uint64(length-c)
}

// gather copies a vector with an increment; from is the vector's whole slice.
func gather[T simd.Float](to, from []T, inc int) {
	at := start(len(to), inc)
	for i := range to {
		to[i] = from[at]
		at += inc
	}
}

// scatter is gather back.
func scatter[T simd.Float](to, from []T, inc int) {
	at := start(len(from), inc)
	for _, v := range from {
		to[at] = v
		at += inc
	}
}

// contiguous returns the n elements of x in a row: x itself, or a copy. The copy, if any, is given back with giveBack.
func contiguous[T simd.Float](x []T, n, inc int) (row []T, back *[]T) {
	if inc == 1 {
		return x[:n], nil
	}
	row, back = rent[T](n)
	gather(row, x, inc)
	return row, back
}

func isTransposed(t blas.Transpose) bool { return t != blas.NoTrans }

func validTranspose(t blas.Transpose) bool {
	return t == blas.NoTrans || t == blas.Trans || t == blas.ConjTrans
}

func validUplo(u blas.Uplo) bool { return u == blas.Upper || u == blas.Lower }

func validDiag(d blas.Diag) bool { return d == blas.Unit || d == blas.NonUnit }

func validSide(s blas.Side) bool { return s == blas.Left || s == blas.Right }

// scaleTo multiplies x by beta; with 0 it does not read x.
func scaleTo[T simd.Float](x []T, beta T) {
	switch beta {
	case 0:
		clear(x)
	case 1:
	default:
		simd.Scale(x, beta, x)
	}
}

// scaleMatrix is scaleTo for a matrix [m, n].
func scaleMatrix[T simd.Float](c []T, ldc int, beta T, m, n int) {
	if beta == 1 {
		return
	}
	for i := range m {
		scaleTo(c[i*ldc:][:n], beta)
	}
}
