package main

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"runtime"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	ourblas "github.com/equivcnp/equivcnp/linalg/blas"
	"github.com/equivcnp/equivcnp/simd"
)

// smallSizes are the numbers of elements of a vector, or of rows and columns, that small calls are compared at.
var smallSizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 15, 16, 20, 24, 31, 32, 33, 40, 48, 63, 64}

const (
	// smallLoop is how long calls are timed at once, and smallTurns how often each implementation: the least time counts, so that other
	// programs disturb little.
	smallLoop  = 8 * time.Microsecond
	smallTurns = 25
	// A ratio below smallBehind is timed up to smallTries times as often.
	smallBehind = 0.97
	smallTries  = 4
)

// smallRoutines are a BLAS's routines in one precision. Calling a function value takes 1 to 2 ns longer than a method, of both
// implementations.
type smallRoutines[T simd.Float] struct {
	dot        func(n int, x []T, incX int, y []T, incY int) T
	nrm2, asum func(n int, x []T, incX int) T
	iamax      func(n int, x []T, incX int) int
	axpy       func(n int, alpha T, x []T, incX int, y []T, incY int)
	swap, copy func(n int, x []T, incX int, y []T, incY int)
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

func small32(b blas.Float32) *smallRoutines[float32] {
	return &smallRoutines[float32]{
		dot: b.Sdot, nrm2: b.Snrm2, asum: b.Sasum, iamax: b.Isamax, axpy: b.Saxpy, swap: b.Sswap, copy: b.Scopy, rot: b.Srot,
		scal: b.Sscal, gemv: b.Sgemv, ger: b.Sger, symv: b.Ssymv, syr: b.Ssyr, syr2: b.Ssyr2, trmv: b.Strmv, trsv: b.Strsv,
		gemm: b.Sgemm, symm: b.Ssymm, syrk: b.Ssyrk, syr2k: b.Ssyr2k, trmm: b.Strmm, trsm: b.Strsm,
	}
}

func small64(b blas.Float64) *smallRoutines[float64] {
	return &smallRoutines[float64]{
		dot: b.Ddot, nrm2: b.Dnrm2, asum: b.Dasum, iamax: b.Idamax, axpy: b.Daxpy, swap: b.Dswap, copy: b.Dcopy, rot: b.Drot,
		scal: b.Dscal, gemv: b.Dgemv, ger: b.Dger, symv: b.Dsymv, syr: b.Dsyr, syr2: b.Dsyr2, trmv: b.Dtrmv, trsv: b.Dtrsv,
		gemm: b.Dgemm, symm: b.Dsymm, syrk: b.Dsyrk, syr2k: b.Dsyr2k, trmm: b.Dtrmm, trsm: b.Dtrsm,
	}
}

// smallCase is a call with everything fixed but the implementation. Its name is that of the operation and, after a space, of its kind.
type smallCase[T simd.Float] struct {
	name string
	run  func(b *smallRoutines[T])
}

// compareSmall writes, for every operation and size, the least ratio of gonum's time and ours among all its kinds.
func (f *blasFlags) compareSmall(w io.Writer) error {
	match, err := f.matcher()
	if err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	fmt.Fprintf(w, "Level %v. How many times as long gonum's BLAS takes, the least among all kinds: triangles, transpositions, sides, "+
		"increments.\n\n| operation |", simd.CurrentLevel())
	for _, n := range smallSizes {
		fmt.Fprintf(w, " %d |", n)
	}
	fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("---:|", len(smallSizes)))
	if err := smallTable(w, match, "d", small64(ourblas.Implementation{}), small64(gonum.Implementation{})); err != nil {
		return err
	}
	return smallTable(w, match, "s", small32(ourblas.Implementation{}), small32(gonum.Implementation{}))
}

func smallTable[T simd.Float](w io.Writer, match *regexp.Regexp, letter string, ours, gonums *smallRoutines[T]) error {
	var names []string
	least := map[string][]float64{}
	for at, n := range smallSizes {
		for _, c := range smallCases[T](n) {
			name, _, _ := strings.Cut(c.name, " ")
			name = letter + name
			if !match.MatchString(name) {
				continue
			}
			if least[name] == nil {
				least[name] = make([]float64, len(smallSizes))
				names = append(names, name)
			}
			if x := smallRatio(c, ours, gonums); least[name][at] == 0 || x < least[name][at] {
				least[name][at] = x
			}
		}
	}
	for _, name := range names {
		fmt.Fprintf(w, "| %s |", name)
		for _, x := range least[name] {
			fmt.Fprintf(w, " %.2f |", x)
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	return nil
}

// smallRatio is gonum's least time by ours, in turns.
func smallRatio[T simd.Float](c smallCase[T], ours, gonums *smallRoutines[T]) float64 {
	count := 1
	timeOf := func(b *smallRoutines[T]) float64 {
		start := time.Now()
		for range count {
			c.run(b)
		}
		return time.Since(start).Seconds()
	}
	for timeOf(gonums) < smallLoop.Seconds() {
		count *= 2
	}
	mine, theirs := math.Inf(1), math.Inf(1)
	for turn := range smallTries * smallTurns {
		if turn > 0 && turn%smallTurns == 0 && theirs > smallBehind*mine {
			break
		}
		mine, theirs = min(mine, timeOf(ours)), min(theirs, timeOf(gonums))
	}
	return theirs / mine
}

// smallCases are all kinds of calls of a size. Numbers stay as they are, or grow slowly, however often a call is repeated.
func smallCases[T simd.Float](n int) []smallCase[T] {
	return append(smallVectors[T](n), smallMatrices[T](n)...)
}

func smallVectors[T simd.Float](n int) (cases []smallCase[T]) {
	type b = *smallRoutines[T]
	add := func(name string, run func(b)) { cases = append(cases, smallCase[T]{name, run}) }
	x, y := blasData[T](3*n), blasData[T](3*n)
	for _, inc := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {3, -2}, {-1, -1}} {
		ix, iy := inc[0], inc[1]
		kind := fmt.Sprint(" ", inc)
		add("dot"+kind, func(b b) { b.dot(n, x, ix, y, iy) })
		add("axpy"+kind, func(b b) { b.axpy(n, 1e-9, x, ix, y, iy) })
		add("swap"+kind, func(b b) { b.swap(n, x, ix, y, iy) })
		add("copy"+kind, func(b b) { b.copy(n, x, ix, y, iy) })
		add("rot"+kind, func(b b) { b.rot(n, x, ix, y, iy, .6, .8) })
	}
	for _, ix := range []int{1, 2} {
		kind := fmt.Sprint(" ", ix)
		add("nrm2"+kind, func(b b) { b.nrm2(n, x, ix) })
		add("asum"+kind, func(b b) { b.asum(n, x, ix) })
		add("iamax"+kind, func(b b) { b.iamax(n, x, ix) })
		add("scal"+kind, func(b b) { b.scal(n, -1, x, ix) })
	}
	return cases
}

func smallMatrices[T simd.Float](n int) (cases []smallCase[T]) {
	type b = *smallRoutines[T]
	add := func(name string, run func(b)) { cases = append(cases, smallCase[T]{name, run}) }
	lda := n + 1
	a, e, c, x, y := blasData[T](n*lda), blasData[T](n*lda), blasData[T](n*lda), blasData[T](3*n), blasData[T](3*n)
	t := make([]T, n*lda) // nearly the identity
	for i := range t {
		t[i] = 1e-12
	}
	for i := range n {
		t[i*lda+i] = 1
	}
	kinds := []blas.Transpose{blas.NoTrans, blas.Trans}
	for _, tA := range kinds {
		for _, inc := range [][2]int{{1, 1}, {1, 2}, {2, 1}} {
			add("gemv", func(b b) { b.gemv(tA, n, n, 1, a, lda, x, inc[0], 0, y, inc[1]) })
		}
		for _, tB := range kinds {
			add("gemm", func(b b) { b.gemm(tA, tB, n, n, n, 1, a, lda, e, lda, 0, c, lda) })
			add("gemm 2 rows", func(b b) { b.gemm(tA, tB, min(n, 2), n, n, 1, a, lda, e, lda, 0, c, lda) })
			add("gemm 2 columns", func(b b) { b.gemm(tA, tB, n, min(n, 2), n, 1, a, lda, e, lda, 0, c, lda) })
			add("gemm 2 terms", func(b b) { b.gemm(tA, tB, n, n, min(n, 2), 1, a, lda, e, lda, 0, c, lda) })
		}
	}
	for _, inc := range [][2]int{{1, 1}, {1, 2}, {2, 1}} {
		add("ger", func(b b) { b.ger(n, n, 1e-9, x, inc[0], y, inc[1], c, lda) })
	}
	for _, ul := range []blas.Uplo{blas.Upper, blas.Lower} {
		for _, inc := range []int{1, 2} {
			add("symv", func(b b) { b.symv(ul, n, 1, a, lda, x, inc, 0, y, inc) })
			add("syr", func(b b) { b.syr(ul, n, 1e-9, x, inc, c, lda) })
			add("syr2", func(b b) { b.syr2(ul, n, 1e-9, x, inc, y, inc, c, lda) })
			for _, tA := range kinds {
				add("trmv", func(b b) { b.trmv(ul, tA, blas.NonUnit, n, t, lda, x, inc) })
				add("trsv", func(b b) { b.trsv(ul, tA, blas.NonUnit, n, t, lda, x, inc) })
			}
		}
		for _, tA := range kinds {
			add("syrk", func(b b) { b.syrk(ul, tA, n, n, 1, a, lda, 0, c, lda) })
			add("syr2k", func(b b) { b.syr2k(ul, tA, n, n, 1, a, lda, e, lda, 0, c, lda) })
		}
		for _, s := range []blas.Side{blas.Left, blas.Right} {
			add("symm", func(b b) { b.symm(s, ul, n, n, 1, a, lda, e, lda, 0, c, lda) })
			for _, tA := range kinds {
				add("trmm", func(b b) { b.trmm(s, ul, tA, blas.NonUnit, n, n, 1, t, lda, e, lda) })
				add("trsm", func(b b) { b.trsm(s, ul, tA, blas.NonUnit, n, n, 1, t, lda, e, lda) })
			}
		}
	}
	return cases
}
