package blas

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

// TestShortVectors compares level 1 with plain sums in float64, for every length up to past the longest unrolled loop and several
// increments: results within the documented bound, and nothing written beside and between the elements.
func TestShortVectors(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for n := 1; n <= 80; n++ {
			for _, inc := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {3, -2}, {-1, -1}, {-3, 1}} {
				shortVectors(t, in32(Implementation{}), 0x1p-24, n, inc[0], inc[1])
				shortVectors(t, in64(Implementation{}), 0x1p-53, n, inc[0], inc[1])
			}
		}
	})
}

func shortVectors[T simd.Float](t *testing.T, b routines[T], eps float64, n, ix, iy int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(ix+10*iy)))
	const margin = 9
	x, y := data[T](rng, n*max(ix, -ix)+2*margin), data[T](rng, n*max(iy, -iy)+2*margin)
	a, c, s := T(0.7), T(0.8), T(0.6)
	// check calls f for copies of x and y and compares with what want says of the elements xi and yi.
	check := func(name string, f func(x, y []T), want func(xi, yi float64) (float64, float64)) {
		u, v := append([]T(nil), x...), append([]T(nil), y...)
		f(u[margin:len(u)-margin], v[margin:len(v)-margin])
		wantX, wantY := append([]T(nil), x...), append([]T(nil), y...)
		i, j := margin+start(n, ix), margin+start(n, iy)
		for range n {
			xi, yi := want(float64(x[i]), float64(y[j]))
			bound := 3 * eps * (math.Abs(float64(x[i])) + math.Abs(float64(y[j])))
			require.InDelta(t, xi, float64(u[i]), bound, "%s, n = %d, increments %d and %d: x", name, n, ix, iy)
			require.InDelta(t, yi, float64(v[j]), bound, "%s, n = %d, increments %d and %d: y", name, n, ix, iy)
			wantX[i], wantY[j] = u[i], v[j]
			i, j = i+ix, j+iy
		}
		require.Equal(t, wantX, u, "%s, n = %d: x beside the elements", name, n)
		require.Equal(t, wantY, v, "%s, n = %d: y beside the elements", name, n)
	}
	check("axpy", func(x, y []T) { b.axpy(n, a, x, ix, y, iy) }, func(x, y float64) (float64, float64) { return x, y + float64(a)*x })
	check("swap", func(x, y []T) { b.swap(n, x, ix, y, iy) }, func(x, y float64) (float64, float64) { return y, x })
	check("rot", func(x, y []T) { b.rot(n, x, ix, y, iy, c, s) }, func(x, y float64) (float64, float64) {
		return float64(c)*x + float64(s)*y, float64(c)*y - float64(s)*x
	})
	inside := func(x []T) []T { return x[margin : len(x)-margin] }
	if ix > 0 {
		check("scal", func(x, _ []T) { b.scal(n, a, x, ix) }, func(x, y float64) (float64, float64) { return float64(a) * x, y })
		var sum, most float64
		at := 0
		for k := range n {
			v := math.Abs(float64(x[margin+k*ix]))
			if sum += v; v > most {
				at, most = k, v
			}
		}
		require.InDelta(t, sum, float64(b.asum(n, inside(x), ix)), float64(n+8)*eps*sum, "asum, n = %d, increment %d", n, ix)
		require.Equal(t, at, b.iamax(n, inside(x), ix), "iamax, n = %d, increment %d", n, ix)
	}
	var sum, terms float64
	i, j := margin+start(n, ix), margin+start(n, iy)
	for range n {
		v := float64(x[i]) * float64(y[j])
		sum, terms = sum+v, terms+math.Abs(v)
		i, j = i+ix, j+iy
	}
	require.InDelta(t, sum, float64(b.dot(n, inside(x), ix, inside(y), iy)), float64(n+8)*eps*terms, "dot, n = %d, %d and %d", n, ix, iy)
}

// TestShortBounds runs level 1 on vectors that end, and then start, at an unreadable page.
func TestShortBounds(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for n := 1; n <= 70; n++ {
			shortBounds(t, in32(Implementation{}), n)
			shortBounds(t, in64(Implementation{}), n)
		}
	})
}

func shortBounds[T float32 | float64](t *testing.T, b routines[T], n int) {
	for _, at := range []func(testing.TB, int) []T{testkit.AtEnd[T], testkit.AtStart[T]} {
		for _, inc := range []int{1, 3} {
			x, y := at(t, (n-1)*inc+1), at(t, (n-1)*inc+1)
			b.dot(n, x, inc, y, inc)
			b.asum(n, x, inc)
			b.iamax(n, x, inc)
			b.axpy(n, 2, x, inc, y, inc)
			b.scal(n, 2, x, inc)
			b.swap(n, x, inc, y, inc)
			b.rot(n, x, inc, y, inc, 0.6, 0.8)
		}
	}
}

// TestSmallProducts compares products of a few elements with plain sums, within the documented bound. The factors end at an unreadable
// page, and C keeps what lies between its rows.
func TestSmallProducts(t *testing.T) {
	const most = 40 * 40
	a32, b32, a64, b64 := testkit.AtEnd[float32](t, most), testkit.AtEnd[float32](t, most), testkit.AtEnd[float64](t, most),
		testkit.AtEnd[float64](t, most)
	every := 1
	if testing.Short() { // products of one to four steps, and some more
		every = 3
	}
	eachLevel(t, func(t *testing.T) {
		for m := 1; m <= 5; m++ {
			for n := 1; n <= 35; n += 1 + n/10 {
				for k := 1; k <= 18; k += every {
					smallProducts(t, in32(Implementation{}), 0x1p-24, m, n, k, a32, b32)
					smallProducts(t, in64(Implementation{}), 0x1p-53, m, n, k, a64, b64)
				}
			}
		}
	})
}

func smallProducts[T float32 | float64](t *testing.T, r routines[T], eps float64, m, n, k int, a, b []T) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(m*100+n), uint64(k)))
	last := func(x []T, n int) []T { // random numbers in the last n elements
		x = x[len(x)-n:]
		copy(x, data[T](rng, n))
		return x
	}
	for kind := range 8 {
		tA, tB, beta := blas.NoTrans, blas.NoTrans, T(kind&4)/8
		rowsA, colsA, rowsB, colsB := m, k, k, n
		if kind&1 != 0 {
			tA, rowsA, colsA = blas.Trans, k, m
		}
		if kind&2 != 0 {
			tB, rowsB, colsB = blas.Trans, n, k
		}
		lda, ldb, ldc := colsA+rng.IntN(3), colsB+rng.IntN(3), n+1+rng.IntN(3)
		a, b := last(a, (rowsA-1)*lda+colsA), last(b, (rowsB-1)*ldb+colsB)
		c := data[T](rng, m*ldc)
		if beta == 0 {
			c[0] = T(math.NaN()) // not read
		}
		got := append([]T(nil), c...)
		r.gemm(tA, tB, m, n, k, 0.7, a, lda, b, ldb, beta, got, ldc)
		da, aa := strides(tA, lda)
		db, ab := strides(tB, ldb)
		for i := range m {
			for j := range ldc {
				at := i*ldc + j
				if j >= n {
					require.Equal(t, c[at], got[at], "%c%c %d %d %d: beside row %d", tA, tB, m, n, k, i)
					continue
				}
				sum, terms := 0.0, 0.0
				if beta != 0 {
					sum = float64(beta) * float64(c[at])
					terms = math.Abs(sum)
				}
				for l := range k {
					v := float64(T(0.7)) * float64(a[i*da+l*aa]) * float64(b[l*db+j*ab])
					sum, terms = sum+v, terms+math.Abs(v)
				}
				require.InDelta(t, sum, float64(got[at]), float64(k+8)*eps*terms, "%c%c %d %d %d beta %g: [%d, %d]", tA, tB, m, n, k, beta,
					i, j)
			}
		}
	}
}

// TestMatrixBounds runs level 2 on matrices and vectors that end at an unreadable page.
func TestMatrixBounds(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for n := 1; n <= 45; n++ {
			matrixBounds(t, in32(Implementation{}), n)
			matrixBounds(t, in64(Implementation{}), n)
		}
	})
}

func matrixBounds[T float32 | float64](t *testing.T, r routines[T], n int) {
	a, x, y := testkit.AtEnd[T](t, n*n), testkit.AtEnd[T](t, n), testkit.AtEnd[T](t, n)
	for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
		r.gemv(tA, n, n, 1, a, n, x, 1, 2, y, 1)
	}
	r.ger(n, n, 1, x, 1, y, 1, a, n)
	for _, ul := range []blas.Uplo{blas.Upper, blas.Lower} {
		r.symv(ul, n, 1, a, n, x, 1, 2, y, 1)
		r.syr(ul, n, 1, x, 1, a, n)
		r.syr2(ul, n, 1, x, 1, y, 1, a, n)
	}
}
