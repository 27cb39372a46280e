package blas

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/blas/testblas"
	lapack "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/testlapack"
	"gonum.org/v1/gonum/mat"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

func TestMain(m *testing.M) {
	blas64.Use(Implementation{}) // for the tests of lapack and mat
	os.Exit(m.Run())
}

func eachLevel(t *testing.T, f func(t *testing.T)) {
	before := simd.CurrentLevel()
	t.Cleanup(func() { require.NoError(t, simd.SetLevel(before)) })
	for _, l := range simd.Levels() {
		require.NoError(t, simd.SetLevel(l))
		t.Run(fmt.Sprintf("level=%v", l), f)
	}
}

// TestGonumBLAS runs gonum's own tests of a BLAS.
func TestGonumBLAS(t *testing.T) {
	impl := Implementation{}
	eachLevel(t, func(t *testing.T) {
		for name, f := range map[string]func(*testing.T){
			"ddot":   func(t *testing.T) { testblas.DdotTest(t, impl) },
			"dnrm2":  func(t *testing.T) { testblas.Dnrm2Test(t, impl) },
			"dasum":  func(t *testing.T) { testblas.DasumTest(t, impl) },
			"idamax": func(t *testing.T) { testblas.IdamaxTest(t, impl) },
			"dswap":  func(t *testing.T) { testblas.DswapTest(t, impl) },
			"dcopy":  func(t *testing.T) { testblas.DcopyTest(t, impl) },
			"daxpy":  func(t *testing.T) { testblas.DaxpyTest(t, impl) },
			"drotg":  func(t *testing.T) { testblas.DrotgTest(t, impl, false) },
			"drotmg": func(t *testing.T) { testblas.DrotmgTest(t, impl) },
			"drot":   func(t *testing.T) { testblas.DrotTest(t, impl) },
			"drotm":  func(t *testing.T) { testblas.DrotmTest(t, impl) },
			"dscal":  func(t *testing.T) { testblas.DscalTest(t, impl) },
			"dgemv":  func(t *testing.T) { testblas.DgemvTest(t, impl) },
			"dger":   func(t *testing.T) { testblas.DgerTest(t, impl) },
			"dtxmv":  func(t *testing.T) { testblas.DtxmvTest(t, impl) },
			"dgbmv":  func(t *testing.T) { testblas.DgbmvTest(t, impl) },
			"dtbsv":  func(t *testing.T) { testblas.DtbsvTest(t, impl) },
			"dsbmv":  func(t *testing.T) { testblas.DsbmvTest(t, impl) },
			"dtbmv":  func(t *testing.T) { testblas.DtbmvTest(t, impl) },
			"dtrsv":  func(t *testing.T) { testblas.DtrsvTest(t, impl) },
			"dtrmv":  func(t *testing.T) { testblas.DtrmvTest(t, impl) },
			"dsymv":  func(t *testing.T) { testblas.DsymvTest(t, impl) },
			"dsyr":   func(t *testing.T) { testblas.DsyrTest(t, impl) },
			"dsyr2":  func(t *testing.T) { testblas.Dsyr2Test(t, impl) },
			"dspr2":  func(t *testing.T) { testblas.Dspr2Test(t, impl) },
			"dspr":   func(t *testing.T) { testblas.DsprTest(t, impl) },
			"dspmv":  func(t *testing.T) { testblas.DspmvTest(t, impl) },
			"dtpsv":  func(t *testing.T) { testblas.DtpsvTest(t, impl) },
			"dtpmv":  func(t *testing.T) { testblas.DtpmvTest(t, impl) },
			"dgemm":  func(t *testing.T) { testblas.TestDgemm(t, impl) },
			"dsymm":  func(t *testing.T) { testblas.DsymmTest(t, impl) },
			"dtrsm":  func(t *testing.T) { testblas.DtrsmTest(t, impl) },
			"dsyrk":  func(t *testing.T) { testblas.DsyrkTest(t, impl) },
			"dsyr2k": func(t *testing.T) { testblas.Dsyr2kTest(t, impl) },
			"dtrmm":  func(t *testing.T) { testblas.DtrmmTest(t, impl) },
		} {
			t.Run(name, f)
		}
	})
}

// TestGonumLAPACK runs gonum's tests of its LAPACK on top of this BLAS.
func TestGonumLAPACK(t *testing.T) {
	impl := lapack.Implementation{}
	tests := map[string]func(*testing.T){
		"dpotrf": func(t *testing.T) { testlapack.DpotrfTest(t, impl) },
		"dpotri": func(t *testing.T) { testlapack.DpotriTest(t, impl) },
		"dgetrf": func(t *testing.T) { testlapack.DgetrfTest(t, impl) },
		"dgetri": func(t *testing.T) { testlapack.DgetriTest(t, impl) },
		"dgetrs": func(t *testing.T) { testlapack.DgetrsTest(t, impl) },
		"dgeqrf": func(t *testing.T) { testlapack.DgeqrfTest(t, impl) },
		"dgelqf": func(t *testing.T) { testlapack.DgelqfTest(t, impl) },
		"dgels":  func(t *testing.T) { testlapack.DgelsTest(t, impl) },
		"dlarfb": func(t *testing.T) { testlapack.DlarfbTest(t, impl) },
		"dtrtri": func(t *testing.T) { testlapack.DtrtriTest(t, impl) },
		"dlauum": func(t *testing.T) { testlapack.DlauumTest(t, impl) },
	}
	if !testing.Short() {
		tests["dsyev"] = func(t *testing.T) { testlapack.DsyevTest(t, impl) }
		tests["dgebrd"] = func(t *testing.T) { testlapack.DgebrdTest(t, impl) }
		tests["dgehrd"] = func(t *testing.T) { testlapack.DgehrdTest(t, impl) }
		tests["dsytrd"] = func(t *testing.T) { testlapack.DsytrdTest(t, impl) }
		tests["dgesvd"] = func(t *testing.T) { testlapack.DgesvdTest(t, impl, 1e-13) }
	}
	for name, f := range tests {
		t.Run(name, f)
	}
}

// data is a vector or a matrix with elements around it that nobody may touch.
func data[T simd.Float](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

// call is one operation of either type, with random arguments drawn from rng, so that the same rng gives both
// implementations the same. It returns everything that may have changed.
type call[T simd.Float] struct {
	name string
	run  func(impl any, rng *rand.Rand) [][]T
}

func pick[V any](rng *rand.Rand, of ...V) V { return of[rng.IntN(len(of))] }

// smallDims makes dim return sizes below 9.
var smallDims bool

func dim(rng *rand.Rand) int {
	if smallDims {
		return rng.IntN(9)
	}
	switch rng.IntN(4) {
	case 0:
		return rng.IntN(5)
	case 1:
		return rng.IntN(40)
	}
	return rng.IntN(200)
}

// TestAgainstGonum compares every operation with gonum's, in both precisions: all flags, sizes, increments and leading dimensions.
func TestAgainstGonum(t *testing.T) {
	count := 60
	if testing.Short() {
		count = 12
	}
	eachLevel(t, func(t *testing.T) {
		for seed := range count {
			for _, c := range calls(in32) {
				compare(t, c, uint64(seed), 1e-5)
			}
			for _, c := range calls(in64) {
				compare(t, c, uint64(seed), 1e-13)
			}
		}
	})
}

// TestSmallAgainstGonum is TestAgainstGonum for the sizes that plain loops compute, in all their combinations.
func TestSmallAgainstGonum(t *testing.T) {
	smallDims = true
	defer func() { smallDims = false }()
	for seed := range 400 {
		for _, c := range calls(in32) {
			compare(t, c, uint64(seed), 1e-5)
		}
		for _, c := range calls(in64) {
			compare(t, c, uint64(seed), 1e-13)
		}
	}
}

func compare[T simd.Float](t *testing.T, c call[T], seed uint64, eps float64) {
	t.Helper()
	got := c.run(Implementation{}, rand.New(rand.NewPCG(seed, 7)))
	want := c.run(gonum.Implementation{}, rand.New(rand.NewPCG(seed, 7)))
	for k := range want {
		size := 1.0
		for _, v := range want[k] {
			if a := math.Abs(float64(v)); !math.IsInf(a, 0) && !math.IsNaN(a) {
				size = max(size, a)
			}
		}
		for i, v := range want[k] {
			g, w := float64(got[k][i]), float64(v)
			if g == w || math.IsNaN(g) && math.IsNaN(w) {
				continue
			}
			if d := math.Abs(g - w); !(d <= eps*size) {
				t.Fatalf("%s, seed %d: result %d[%d] = %g, gonum has %g", c.name, seed, k, i, g, w)
			}
		}
	}
}

// TestSameBits wants the same bits for any number of goroutines.
func TestSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	const n = 400
	a, b, c := data[float64](rng, n*n), data[float64](rng, n*n), data[float64](rng, n*n)
	for i := range n {
		a[i*n+i] += 30
	}
	run := func(procs int) [][]float64 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		impl := Implementation{}
		var out [][]float64
		for _, f := range []func(x []float64){
			func(x []float64) { impl.Dgemm(blas.NoTrans, blas.Trans, n, n, n, 0.7, a, n, b, n, 0.3, x, n) },
			func(x []float64) { impl.Dsyrk(blas.Lower, blas.Trans, n, n, 0.7, a, n, 0.3, x, n) },
			func(x []float64) { impl.Dtrsm(blas.Right, blas.Upper, blas.Trans, blas.NonUnit, n, n, 0.7, a, n, x, n) },
			func(x []float64) {
				impl.Dtrmm(blas.Left, blas.Upper, blas.NoTrans, blas.NonUnit, n, n, 0.7, a, n, x, n)
			},
			func(x []float64) { impl.Dgemv(blas.Trans, n, n, 0.7, a, n, b, 2, 0.3, x, 3) },
			func(x []float64) { impl.Dgemv(blas.NoTrans, n, n, 0.7, a, n, b, 2, 0.3, x, 3) },
			func(x []float64) { impl.Dger(n, n, 0.7, a, 1, b, 2, x, n) },
		} {
			x := append([]float64(nil), c...)
			f(x)
			out = append(out, x)
		}
		return out
	}
	want := run(1)
	for _, procs := range []int{2, 5} {
		require.Equal(t, want, run(procs))
	}
}

// TestCut wants gonum's products and sums where C is cut along both sides, and A into parts, and nothing written beside C.
func TestCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 10))
	for _, size := range [][3]int{{345, 410, 150}, {700, 301, 170}, {513, 512, 64}, {1100, 130, 90}} {
		m, n, k := size[0], size[1], size[2]
		rows, columns := cut(m, n, float64(m)*float64(n)*float64(k))
		require.True(t, rows < m || columns < n, "%v is cut", size)
		for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			for _, tB := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				lda, ldb, ldc := max(m, k)+3, max(n, k)+1, n+5
				a, b, c := data[float64](rng, max(m, k)*lda), data[float64](rng, max(n, k)*ldb), data[float64](rng, m*ldc)
				want := append([]float64(nil), c...)
				gonum.Implementation{}.Dgemm(tA, tB, m, n, k, 0.7, a, lda, b, ldb, 0.3, want, ldc)
				Implementation{}.Dgemm(tA, tB, m, n, k, 0.7, a, lda, b, ldb, 0.3, c, ldc)
				require.InDeltaSlice(t, want, c, 1e-12, "%v %c%c", size, tA, tB)
			}
		}
		for _, beta := range []float64{0, 0.3} {
			a, x, y := data[float64](rng, m*(n+2)), data[float64](rng, m), data[float64](rng, n)
			if beta == 0 {
				y[n/2] = math.NaN() // not read
			}
			want := append([]float64(nil), y...)
			gonum.Implementation{}.Dgemv(blas.Trans, m, n, 0.7, a, n+2, x, 1, beta, want, 1)
			Implementation{}.Dgemv(blas.Trans, m, n, 0.7, a, n+2, x, 1, beta, y, 1)
			require.InDeltaSlice(t, want, y, 1e-11, "%v", size)
		}
	}
}

// TestBetaZero wants no destination read where beta is 0: what it held, NaN here and 9 there, makes no difference.
func TestBetaZero(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		betaZero(t, in32(Implementation{}))
		betaZero(t, in64(Implementation{}))
	})
}

func betaZero[T simd.Float](t *testing.T, b routines[T]) {
	t.Helper()
	r := rand.New(rand.NewPCG(4, 9))
	for range 4000 {
		m, n, k := r.IntN(24), r.IntN(24), r.IntN(24)
		ul, side, tA, tB := pick(r, blas.Upper, blas.Lower), pick(r, blas.Left, blas.Right), transposes(r), transposes(r)
		alpha, inc := scalar[T](r), incr(r)
		s, lds := triangular[T](r, max(m, n))
		a, lda := matrixT[T](r, m, k, tA)
		p, ldp := matrixT[T](r, n, k, tA)
		q, ldq := matrixT[T](r, n, k, tA)
		f, ldf := matrixT[T](r, k, n, tB)
		g, ldg := matrix[T](r, m, n)
		x, ldc := vector[T](r, max(m, n), inc), max(m, n, 1)
		for name, call := range map[string]func(to []T){
			"gemv":  func(to []T) { b.gemv(tA, m, n, alpha, g, ldg, x, inc, 0, to, 1) },
			"symv":  func(to []T) { b.symv(ul, n, alpha, s, lds, x, inc, 0, to, 1) },
			"gemm":  func(to []T) { b.gemm(tA, tB, m, n, k, alpha, a, lda, f, ldf, 0, to, ldc) },
			"symm":  func(to []T) { b.symm(side, ul, m, n, alpha, s, lds, g, ldg, 0, to, ldc) },
			"syrk":  func(to []T) { b.syrk(ul, tA, n, k, alpha, p, ldp, 0, to, ldc) },
			"syr2k": func(to []T) { b.syr2k(ul, tA, n, k, alpha, p, ldp, q, ldq, 0, to, ldc) },
		} {
			want, got := make([]T, ldc*ldc), make([]T, ldc*ldc)
			for i := range got {
				got[i], want[i] = T(math.NaN()), 9
			}
			call(want)
			call(got)
			for i, v := range got {
				if v != want[i] && !(v != v && want[i] == 9) { // NaN and 9 are what was not written
					t.Fatalf("%s, %c%c%c, m, n, k = %d, %d, %d: %g at %d, want %g", name, ul, tA, tB, m, n, k, v, i, want[i])
				}
			}
		}
	}
}

// TestSubnormalDiagonal solves by a diagonal whose reciprocal overflows, but whose quotients do not.
func TestSubnormalDiagonal(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		subnormalDiagonal[float32](t, in32(Implementation{}), 1e-40)
		subnormalDiagonal[float64](t, in64(Implementation{}), 1e-310)
	})
}

func subnormalDiagonal[T simd.Float](t *testing.T, b routines[T], diag T) {
	t.Helper()
	const n = 2 * triangularOrder
	for _, s := range []blas.Side{blas.Left, blas.Right} {
		for _, ul := range []blas.Uplo{blas.Upper, blas.Lower} {
			a, x, want := make([]T, n*n), make([]T, n*n), make([]T, n*n)
			for i := range want {
				want[i] = T(i%7 - 3)
				x[i] = want[i] * diag
			}
			for i := range n {
				a[i*n+i] = diag
			}
			b.trsm(s, ul, blas.NoTrans, blas.NonUnit, n, n, 1, a, n, x, n)
			require.Equal(t, want, x, "%c%c", s, ul)
		}
	}
}

// TestPanics wants gonum's messages for wrong arguments.
func TestPanics(t *testing.T) {
	big := make([]float64, 10000)
	for _, f := range []func(blas.Float64){
		func(i blas.Float64) { i.Dgemm('x', blas.NoTrans, 50, 50, 50, 1, big, 50, big, 50, 0, big, 50) },
		func(i blas.Float64) { i.Dgemm(blas.NoTrans, blas.NoTrans, 50, 50, 50, 1, big, 49, big, 50, 0, big, 50) },
		func(i blas.Float64) {
			i.Dgemm(blas.NoTrans, blas.NoTrans, 50, 50, 50, 1, big[:2499], 50, big, 50, 0, big, 50)
		},
		func(i blas.Float64) { i.Dgemm(blas.NoTrans, blas.NoTrans, -1, 50, 50, 1, big, 50, big, 50, 0, big, 50) },
		func(i blas.Float64) {
			i.Dgemm(blas.NoTrans, blas.Trans, 50, 50, 50, 1, big, 50, big, 50, 0, big[:7], 50)
		},
		func(i blas.Float64) { i.Dgemv(blas.NoTrans, 50, 50, 1, big, 50, big, 0, 0, big, 1) },
		func(i blas.Float64) { i.Dgemv(blas.NoTrans, 50, 50, 1, big, 50, big[:49], -1, 0, big, 1) },
		func(i blas.Float64) { i.Dtrsm(blas.Left, 'q', blas.NoTrans, blas.Unit, 50, 50, 1, big, 50, big, 50) },
		func(i blas.Float64) { i.Dtrsm(blas.Left, blas.Upper, blas.NoTrans, 'q', 50, 50, 1, big, 50, big, 50) },
		func(i blas.Float64) { i.Dtrmm('q', blas.Upper, blas.NoTrans, blas.Unit, 50, 50, 1, big, 50, big, 50) },
		func(i blas.Float64) { i.Dsyrk(blas.Upper, blas.Trans, 50, 60, 1, big, 49, 0, big, 50) },
		func(i blas.Float64) { i.Dsyr2k(blas.Upper, blas.Trans, 50, 60, 1, big, 50, big, 3, 0, big, 50) },
		func(i blas.Float64) { i.Dsymm(blas.Left, blas.All, 50, 60, 1, big, 50, big, 60, 0, big, 60) },
		func(i blas.Float64) { i.Ddot(50, big[:20], 1, big, 1) },
		func(i blas.Float64) { i.Daxpy(50, 1, big, 1, big[:49], 1) },
		func(i blas.Float64) { i.Dnrm2(50, big[:20], 1) },
		func(i blas.Float64) { i.Dger(50, 50, 1, big, 1, big, 1, big, 40) },
		func(i blas.Float64) { i.Dtrsv(blas.Upper, blas.Trans, blas.Unit, 50, big, 50, big[:3], 1) },
		func(i blas.Float64) { i.Dsymv(blas.Upper, 50, 1, big, 50, big, 1, 0, big, 0) },
		func(i blas.Float64) { i.Dsyr2(blas.Upper, 50, 1, big, 1, big, 0, big, 50) },
		func(i blas.Float64) { i.Ddot(3, big[:3], 1, big[:2], 1) },
		func(i blas.Float64) { i.Ddot(3, big[:4], 2, big[:3], 1) },
		func(i blas.Float64) { i.Ddot(-1, big, 1, big, 1) },
		func(i blas.Float64) { i.Ddot(3, big, 0, big, 1) },
		func(i blas.Float64) { i.Dasum(3, big[:2], 1) },
		func(i blas.Float64) { i.Dasum(3, big[:6], 3) },
		func(i blas.Float64) { i.Dnrm2(3, big[:4], 2) },
		func(i blas.Float64) { i.Idamax(2, big[:1], 1) },
		func(i blas.Float64) { i.Idamax(2, big, 0) },
		func(i blas.Float64) { i.Dscal(4, 2, big[:3], 1) },
		func(i blas.Float64) { i.Dscal(4, 2, big[:6], 2) },
		func(i blas.Float64) { i.Drot(2, big[:2], 1, big[:2], -2, 1, 1) },
		func(i blas.Float64) { i.Dswap(2, big[:1], 1, big, 1) },
		func(i blas.Float64) { i.Daxpy(2, 1, big[:2], -2, big, 1) },
		func(i blas.Float64) { i.Dgemv(blas.NoTrans, 3, 3, 1, big, 2, big, 1, 0, big, 1) },
		func(i blas.Float64) { i.Dgemv(blas.Trans, 3, 3, 1, big, 3, big[:2], 1, 0, big, 1) },
		func(i blas.Float64) { i.Dgemv('x', 3, 3, 1, big, 3, big, 1, 0, big, 1) },
		func(i blas.Float64) { i.Dger(3, 3, 1, big, 1, big, 1, big[:8], 3) },
		func(i blas.Float64) { i.Dger(-3, -3, 1, big, 1, big, 1, big, 3) },
		func(i blas.Float64) { i.Dsymv(blas.All, 3, 1, big, 3, big, 1, 0, big, 1) },
		func(i blas.Float64) { i.Dsyr(blas.Lower, 3, 1, big[:2], 1, big, 3) },
		func(i blas.Float64) { i.Dsyr2(blas.Lower, 3, 1, big, 1, big[:2], 1, big, 3) },
		func(i blas.Float64) { i.Dtrmv(blas.Upper, 'x', blas.Unit, 3, big, 3, big, 1) },
		func(i blas.Float64) { i.Dtrsv(blas.Upper, blas.Trans, blas.Unit, 3, big[:8], 3, big, 1) },
		func(i blas.Float64) { i.Dgemm(blas.NoTrans, blas.NoTrans, 2, 2, 2, 1, big, 2, big[:3], 2, 0, big, 2) },
		func(i blas.Float64) { i.Dsymm(blas.Left, blas.Upper, 2, 2, 1, big[:3], 2, big, 2, 0, big, 2) },
		func(i blas.Float64) { i.Dsyrk(blas.Upper, 'x', 2, 2, 1, big, 2, 0, big, 2) },
		func(i blas.Float64) { i.Dsyr2k(blas.Upper, blas.NoTrans, 2, 2, 1, big, 2, big, 1, 0, big, 2) },
		func(i blas.Float64) {
			i.Dtrsm(blas.Right, blas.Upper, blas.NoTrans, blas.Unit, 2, 3, 1, big[:8], 3, big, 3)
		},
		func(i blas.Float64) {
			i.Dtrmm(blas.Left, blas.Upper, blas.NoTrans, blas.Unit, 2, 3, 1, big, 2, big[:5], 3)
		},
	} {
		message := func(i blas.Float64) (m any) {
			defer func() { m = recover() }()
			f(i)
			return nil
		}
		want := message(gonum.Implementation{})
		require.NotNil(t, want)
		require.Equal(t, want, message(Implementation{}))
	}
}

// TestMat factorizes and solves by gonum's mat, which this BLAS now computes.
func TestMat(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	const n = 200
	a := mat.NewDense(n, n, data[float64](rng, n*n))
	var s mat.SymDense
	s.SymOuterK(1, a)
	for i := range n {
		s.SetSym(i, i, s.At(i, i)+1)
	}
	var chol mat.Cholesky
	require.True(t, chol.Factorize(&s))
	var x, back mat.Dense
	require.NoError(t, chol.SolveTo(&x, a))
	back.Mul(&s, &x)
	require.True(t, mat.EqualApprox(&back, a, 1e-9))
	require.NoError(t, x.Solve(a, &s))
	back.Mul(a, &x)
	require.True(t, mat.EqualApprox(&back, &s, 1e-7))
	var svd mat.SVD
	require.True(t, svd.Factorize(a, mat.SVDThin))
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	x.Mul(&u, mat.NewDiagDense(n, svd.Values(nil)))
	back.Mul(&x, v.T())
	require.True(t, mat.EqualApprox(&back, a, 1e-10))
}

// TestFarVectors wants a panic for increments that bring the place of the last element beyond what an int holds, not a read or a write
// outside the vector: a product with n - 1 that wraps around looks like a short vector.
func TestFarVectors(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		farVectors(t, in32(Implementation{}))
		farVectors(t, in64(Implementation{}))
	})
}

func farVectors[T simd.Float](t *testing.T, b routines[T]) {
	const half = bits.UintSize - 2
	x, y := make([]T, 64), make([]T, 64)
	for _, far := range []struct{ n, inc int }{{5, 1<<half + 1}, {17, 1<<(half-2) + 1}, {3, math.MaxInt}, {9, 1 << (half - 1)}} {
		for name, f := range map[string]func(){
			"dot":    func() { b.dot(far.n, x, far.inc, y, 1) },
			"dot y":  func() { b.dot(far.n, x, 1, y, -far.inc) },
			"nrm2":   func() { b.nrm2(far.n, x, far.inc) },
			"asum":   func() { b.asum(far.n, x, far.inc) },
			"iamax":  func() { b.iamax(far.n, x, far.inc) },
			"axpy":   func() { b.axpy(far.n, 2, x, far.inc, y, 2) },
			"axpy y": func() { b.axpy(far.n, 2, x, 1, y, -far.inc) },
			"swap":   func() { b.swap(far.n, x, far.inc, y, 1) },
			"rot":    func() { b.rot(far.n, x, 1, y, far.inc, 0.6, 0.8) },
			"scal":   func() { b.scal(far.n, 2, x, far.inc) },
		} {
			message := "blas: insufficient length of x or y"
			if name == "nrm2" || name == "asum" || name == "iamax" || name == "scal" {
				message = "blas: insufficient length of x"
			}
			require.PanicsWithValue(t, message, f, "%s of %d elements, increment %d", name, far.n, far.inc)
		}
	}
}

// TestGemmOneRow wants the bits of simd.GemvF64 from a product of one row and a transposed matrix, whichever way the row lies.
func TestGemmOneRow(t *testing.T) {
	rng := testkit.Rand(91)
	const n, k = 1001, 200
	row, b, want := testkit.Normal[float64](rng, k), testkit.Normal[float64](rng, n*k), make([]float64, n)
	simd.GemvF64(want, b, k, row, 0.7, 0, n, k)
	got := make([]float64, n)
	Implementation{}.Dgemm(blas.NoTrans, blas.Trans, 1, n, k, 0.7, row, k, b, k, 0, got, n)
	require.True(t, slices.Equal(want, got))
	Implementation{}.Dgemm(blas.Trans, blas.Trans, 1, n, k, 0.7, row, 1, b, k, 0, got, n)
	require.True(t, slices.Equal(want, got))
}
