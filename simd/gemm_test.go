package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// product is one of the matrix products in a common form.
type product[T Float] struct {
	name   string
	ta, tb bool
	run    func(c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int)
}

func products[T Float]() []product[T] {
	return []product[T]{
		{"Gemm", false, false, Gemm[T]},
		{"GemmTN", true, false, GemmTN[T]},
		{"GemmNT", false, true, GemmNT[T]},
		{"Packed", false, false, viaPacked(Pack[T])},
		{"PackedTransposed", false, true, viaPacked(PackTransposed[T])},
	}
}

// viaPacked gives GemmPacked the form of the others; alpha, beta are taken as 1, 0.
func viaPacked[T Float](pack func(b []T, ldb, k, n int) *Packed[T]) func([]T, int, []T, int, []T, int, T, T, int, int, int) {
	return func(c []T, ldc int, a []T, lda int, b []T, ldb int, _, _ T, m, n, k int) {
		GemmPacked(c, ldc, a, lda, pack(b, ldb, k, n), nil, ActNone, m)
	}
}

// sizes are the shapes that every product is tried on: nothing, one, around each block, and drawn ones.
func sizes(rng *rand.Rand) [][3]int {
	s := [][3]int{
		{0, 0, 0}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {1, 1, 1}, {1, 5, 4}, {7, 1, 9}, {2, 3, 63}, {3, 4, 64}, {2, 5, 65},
		{63, 2, 3}, {64, 3, 5}, {65, 4, 3}, {33, 7, 6}, {2, 127, 3}, {2, 128, 5}, {3, 129, 66}, {130, 131, 67},
	}
	for range 40 {
		s = append(s, [3]int{rng.IntN(20), rng.IntN(20), rng.IntN(40)})
	}
	return s
}

func TestGemm(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testGemm[float32])
		t.Run("F64", testGemm[float64])
	})
}

func testGemm[T Float](t *testing.T) {
	rng := testkit.Rand(10)
	for _, p := range products[T]() {
		t.Run(p.name, func(t *testing.T) {
			for i, s := range sizes(rng) {
				m, n, k := s[0], s[1], s[2]
				alpha, beta := T(1), T(0)
				if p.name[0] == 'G' {
					alpha, beta = []T{1, -0.75, 0, -1, -1}[i%5], []T{0, 1, 2.5, -1}[i%4]
				}
				checkProduct(t, p, m, n, k, rng.IntN(4), alpha, beta, rng)
			}
		})
	}
}

// TestGemmCrowdedRows multiplies an A whose rows lie nearly a multiple of 4 KB apart, so that they are copied. Few of them, which are
// not, give the same bits.
func TestGemmCrowdedRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testGemmCrowdedRows[float32])
		t.Run("F64", testGemmCrowdedRows[float64])
	})
}

func testGemmCrowdedRows[T Float](t *testing.T) {
	rng := testkit.Rand(110)
	const m, n, few = 95, 97, 11
	k := 4096 / int(unsafe.Sizeof(T(0)))
	for _, p := range products[T]() {
		for _, gap := range []int{0, 1} {
			checkProduct(t, p, m, n, k, gap, 1, 0, rng)
		}
		if p.ta {
			continue
		}
		a, b := testkit.Normal[T](rng, m*k), testkit.Normal[T](rng, k*n)
		ldb := n
		if p.tb {
			ldb = k
		}
		all, first := make([]T, m*n), make([]T, few*n)
		p.run(all, n, a, k, b, ldb, 1, 0, m, n, k)
		p.run(first, n, a, k, b, ldb, 1, 0, few, n, k)
		require.True(t, testkit.SameBits(all[:few*n], first), p.name)
	}
}

// checkProduct compares one product with float64 sums, in guarded memory with rows `gap` apart.
func checkProduct[T Float](t *testing.T, p product[T], m, n, k, gap int, alpha, beta T, rng *rand.Rand) {
	t.Helper()
	ar, ac, br, bc := m, k, k, n
	if p.ta {
		ar, ac = k, m
	}
	if p.tb {
		br, bc = n, k
	}
	lda, ldb, ldc := ac+gap, bc+gap, n+gap
	a := testkit.CopyAtEnd(t, withGaps(testkit.Normal[T](rng, span(ar, ac, lda)), lda, ac))
	b := testkit.CopyAtEnd(t, withGaps(testkit.Normal[T](rng, span(br, bc, ldb)), ldb, bc))
	before := testkit.Normal[T](rng, span(m, n, ldc))
	if beta == 0 {
		for i := range before {
			if i%ldc < n {
				before[i] = T(math.NaN()) // must not be read
			}
		}
	}
	c := testkit.CopyAtEnd(t, before)
	a0, b0 := append([]T(nil), a...), append([]T(nil), b...)
	p.run(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
	require.True(t, testkit.SameBits(a, a0) && testkit.SameBits(b, b0), "inputs changed")

	at := func(x []T, ld, i, j int, transposed bool) float64 {
		if transposed {
			i, j = j, i
		}
		return float64(x[i*ld+j])
	}
	row, columns := make([]float64, k), make([]float64, n*k)
	for i := range columns {
		columns[i] = at(b, ldb, i%k, i/k, p.tb)
	}
	for i := range m {
		for q := range row {
			row[q] = float64(alpha) * at(a, lda, i, q, p.ta)
		}
		for j := range n {
			sum, size := 0.0, 0.0
			for q, x := range columns[j*k : (j+1)*k] {
				v := row[q] * x
				sum, size = sum+v, size+math.Abs(v)
			}
			if beta != 0 {
				v := float64(beta) * float64(before[i*ldc+j])
				sum, size = sum+v, size+math.Abs(v)
			}
			tol := float64(k+8) * eps[T]() * size
			if diff := math.Abs(float64(c[i*ldc+j]) - sum); !(diff <= tol) {
				t.Fatalf("%s m=%d n=%d k=%d gap=%d alpha=%g beta=%g: C[%d,%d] = %g, want %g ± %g",
					p.name, m, n, k, gap, alpha, beta, i, j, c[i*ldc+j], sum, tol)
			}
		}
	}
	for i := range c {
		if i%ldc >= n && c[i] != before[i] {
			t.Fatalf("%s m=%d n=%d k=%d: wrote between the rows", p.name, m, n, k)
		}
	}
}

// withGaps sets what lies between the rows to NaN.
func withGaps[T Float](x []T, ld, cols int) []T {
	for i := range x {
		if i%ld >= cols {
			x[i] = T(math.NaN())
		}
	}
	return x
}

// span is the number of elements from the first to the last of a matrix.
func span(rows, cols, ld int) int {
	if rows == 0 || cols == 0 {
		return 0
	}
	return (rows-1)*ld + cols
}

func TestGemmPackedBiasAndActivation(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testBiasAndActivation[float32])
		t.Run("F64", testBiasAndActivation[float64])
	})
}

// testBiasAndActivation wants the bits of the activation's own kernel on top of the product without one, and the bias in it.
func testBiasAndActivation[T Float](t *testing.T) {
	const m, n, k = 37, 11, 6
	rng := testkit.Rand(11)
	a, w, bias := testkit.Normal[T](rng, m*k), testkit.Normal[T](rng, n*k), testkit.Normal[T](rng, n)
	b := PackTransposed(w, k, k, n)
	linear := make([]T, m*n)
	GemmPacked(linear, n, a, k, b, bias, ActNone, m)
	for i := range m {
		for j := range n {
			want, size := float64(bias[j]), math.Abs(float64(bias[j]))
			for q := range k {
				v := float64(a[i*k+q]) * float64(w[j*k+q])
				want, size = want+v, size+math.Abs(v)
			}
			if diff := math.Abs(float64(linear[i*n+j]) - want); !(diff <= (k+8)*eps[T]()*size) {
				t.Fatalf("C[%d,%d] = %g, want %g", i, j, linear[i*n+j], want)
			}
		}
	}
	for act, f := range map[Activation]func(dst, x []T){
		ActNone: func(dst, x []T) { copy(dst, x) }, ActSwish: Swish[T], ActReLU: ReLU[T], ActSigmoid: Sigmoid[T],
		ActSoftplus: Softplus[T], ActTanh: Tanh[T],
	} {
		t.Run(act.String(), func(t *testing.T) {
			want, got := make([]T, m*n), make([]T, m*n)
			f(want, linear)
			GemmPacked(got, n, a, k, b, bias, act, m)
			require.True(t, testkit.SameBits(got, want))
		})
	}
	t.Run("K=0", func(t *testing.T) {
		got := make([]T, 2*n)
		GemmPacked(got, n, nil, 5, Pack[T](nil, n, 0, n), bias, ActNone, 2)
		require.True(t, testkit.SameBits(got[:n], bias) && testkit.SameBits(got[n:], bias))
	})
}

// TestGemmRowsAreIndependent cuts a product into chunks of rows and wants the same bits.
func TestGemmRowsAreIndependent(t *testing.T) {
	const m, n, k = 70, 33, 129
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(12)
		a, b := testkit.Normal[float32](rng, m*k), testkit.Normal[float32](rng, n*k)
		packed := Pack(b, n, k, n)
		whole, parts := make([]float32, m*n), make([]float32, m*n)
		for name, run := range map[string]func(c, a []float32, m int){
			"Gemm":   func(c, a []float32, m int) { GemmF32(c, n, a, k, b, n, 1, 0, m, n, k) },
			"GemmNT": func(c, a []float32, m int) { GemmNTF32(c, n, a, k, b, k, 1, 0, m, n, k) },
			"Packed": func(c, a []float32, m int) { GemmPackedF32(c, n, a, k, packed, nil, ActSwish, m) },
		} {
			run(whole, a, m)
			for lo := 0; lo < m; {
				rows := min(1+rng.IntN(9), m-lo)
				run(parts[lo*n:], a[lo*k:], rows)
				lo += rows
			}
			require.True(t, testkit.SameBits(whole, parts), name)
		}
	})
}

// TestGemmFarRows multiplies a transposed A whose rows lie so far apart that its columns are copied. Any part of its columns gives the
// bits of the whole, also where the part is too small to be copied.
func TestGemmFarRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testGemmFarRows[float32])
		t.Run("F64", testGemmFarRows[float64])
	})
}

func testGemmFarRows[T Float](t *testing.T) {
	const m, n, k, gap = 101, 270, 160, 550
	rng := testkit.Rand(18)
	p := product[T]{"GemmTN", true, false, GemmTN[T]}
	checkProduct(t, p, m, n, k, gap, 1, 0, rng)
	checkProduct(t, p, m, n, k, gap, -0.75, 1, rng)

	const lda = m + gap
	a, b := testkit.Normal[T](rng, span(k, m, lda)), testkit.Normal[T](rng, k*n)
	whole, parts := make([]T, m*n), make([]T, m*n)
	GemmTN(whole, n, a, lda, b, n, 1, 0, m, n, k)
	for lo := 0; lo < m; {
		rows := min(1+rng.IntN(90), m-lo)
		GemmTN(parts[lo*n:], n, a[lo:], lda, b, n, 1, 0, rows, n, k)
		lo += rows
	}
	require.True(t, testkit.SameBits(whole, parts))
}

// TestGemmNaN wants a NaN of A to reach its row and one of B its column, and nothing else, alpha = 0 included.
func TestGemmNaN(t *testing.T) {
	const m, n, k = 5, 6, 7
	eachLevel(t, func(t *testing.T) {
		for _, alpha := range []float64{1, 0} {
			a, b, c := make([]float64, m*k), make([]float64, k*n), make([]float64, m*n)
			a[2*k+6] = math.NaN()
			b[5*n+1] = math.NaN()
			GemmF64(c, n, a, k, b, n, alpha, 0, m, n, k)
			for i, v := range c {
				if want := i/n == 2 || i%n == 1; math.IsNaN(v) != want {
					t.Errorf("alpha=%g: C[%d,%d] = %g", alpha, i/n, i%n, v)
				}
			}
		}
	})
}

// TestGemmTiles tries every height of a tile with widths from nothing to past four vectors, and every width with few rows.
func TestGemmTiles(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng, every, deep := testkit.Rand(13), 1, 127
		if testing.Short() {
			every, deep = 5, 37 // about a third of them, where the machine is emulated or watched
		}
		for _, p := range products[float32]() {
			t.Run(p.name, func(t *testing.T) {
				for m := 0; m < 40; m += 1 + rng.IntN(every) {
					for _, n := range []int{1, 8, 16, 17, 32, 47} {
						checkProduct(t, p, m, n, 1+rng.IntN(5), rng.IntN(3), 1, 0, rng)
					}
				}
				for n := 0; n < 4*16+4; n += 1 + rng.IntN(every) {
					checkProduct(t, p, 5, n, rng.IntN(9), rng.IntN(3), 1, 0, rng)
				}
				beta := float32(1)
				if p.name[0] == 'P' {
					beta = 0
				}
				for _, s := range [][3]int{{70, 33, 300}, {30, 64, 257}, {deep, 40, 2049}, {1100, 65, 20}, {64, 32, 75},
					{65, 16, 300}, {66, 8, 9}, {67, 24, 20}} {
					checkProduct(t, p, s[0], s[1], s[2], 1, 1, 0, rng)
					checkProduct(t, p, s[0], s[1], s[2], 0, 1, beta, rng)
				}
			})
		}
	})
}

// TestGemmPackedAtStart puts every operand right behind an unreadable page, the bias before one.
func TestGemmPackedAtStart(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(14)
		for _, s := range [][3]int{{1, 1, 1}, {3, 7, 5}, {15, 16, 4}, {19, 17, 3}, {29, 33, 6}} {
			m, n, k := s[0], s[1], s[2]
			a := testkit.CopyAtStart(t, testkit.Normal[float32](rng, m*k))
			b, bias := testkit.Normal[float32](rng, k*n), testkit.Normal[float32](rng, n)
			c, want := testkit.AtStart[float32](t, m*n), make([]float32, m*n)
			packed := Pack(b, n, k, n)
			for _, act := range []Activation{ActNone, ActReLU, ActSwish} {
				GemmPackedF32(c, n, a, k, packed, testkit.CopyAtEnd(t, bias), act, m)
				GemmPackedF32(want, n, append([]float32(nil), a...), k, packed, bias, act, m)
				require.True(t, testkit.SameBits(c, want), "m=%d n=%d k=%d act=%v", m, n, k, act)
			}
		}
	})
}

// TestPackedServesEveryLevel packs at one level and multiplies at another.
func TestPackedServesEveryLevel(t *testing.T) {
	const m, n, k = 31, 45, 20
	rng := testkit.Rand(15)
	a, b := testkit.Normal[float32](rng, m*k), testkit.Normal[float32](rng, k*n)
	var packed []*Packed[float32]
	eachLevel(t, func(*testing.T) { packed = append(packed, Pack(b, n, k, n)) })
	eachLevel(t, func(t *testing.T) {
		want, got := make([]float32, m*n), make([]float32, m*n)
		GemmPackedF32(want, n, a, k, packed[0], nil, ActNone, m)
		for _, p := range packed[1:] {
			GemmPackedF32(got, n, a, k, p, nil, ActNone, m)
			require.True(t, testkit.SameBits(got, want))
		}
	})
}

// TestGemmDoesNotAllocate covers the paths with and without a copy of B.
func TestGemmDoesNotAllocate(t *testing.T) {
	const n, k = 70, 40
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(16)
		b := testkit.Normal[float32](rng, k*n)
		packed := Pack(b, n, k, n)
		for _, m := range []int{3, 100, 1100} {
			a, c := testkit.Normal[float32](rng, m*k), make([]float32, m*n)
			require.Zero(t, testing.AllocsPerRun(2, func() {
				GemmF32(c, n, a, k, b, n, 1, 0, m, n, k)
				GemmTNF32(c, n, a, m, b, n, 1, 1, m, n, k)
				GemmNTF32(c, n, a, k, b, k, 1, 0, m, n, k)
				GemmPackedF32(c, n, a, k, packed, nil, ActTanh, m)
			}))
		}
	})
}

func TestPackCopies(t *testing.T) {
	b := []float64{1, 2, 3, 4}
	p := Pack(b, 2, 2, 2)
	b[0] = 99
	c := make([]float64, 2)
	GemmPacked(c, 2, []float64{1, 0}, 2, p, nil, ActNone, 1)
	require.Equal(t, []float64{1, 2}, c)
}

// TestRepack: a matrix that is packed again into the memory of another one is what a new one is, whatever that held.
func TestRepack(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		testRepack[float32](t)
		testRepack[float64](t)
	})
}

func testRepack[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	var again Packed[T]
	for _, size := range [][2]int{{40, 70}, {1, 1}, {7, 5}, {8, 32}, {17, 33}, {0, 4}, {9, 0}, {16, 12}, {100, 64}, {65, 31}} {
		k, n := size[0], size[1]
		ldb := k + 3
		for i := range again.data {
			again.data[i] = T(math.NaN())
		}
		b := make([]T, n*ldb)
		for i := range b {
			b[i] = T(rng.NormFloat64())
		}
		again.RepackTransposed(b, ldb, k, n)
		plain := make([]T, k*n)
		for j := range n {
			for p := range k {
				plain[p*n+j] = b[j*ldb+p]
			}
		}
		want := Pack(plain, n, k, n)
		require.True(t, slices.Equal(want.data, again.data), "k = %d, n = %d", k, n)
		require.Equal(t, []int{k, n, want.panel}, []int{again.K(), again.N(), again.panel})
	}
	b := make([]T, 64)
	require.Zero(t, testing.AllocsPerRun(5, func() { again.RepackTransposed(b, 8, 8, 8) }))
}

// TestGemmPackedNil: a missing matrix is named.
func TestGemmPackedNil(t *testing.T) {
	require.PanicsWithValue(t, "simd: GemmPackedF32: b = nil", func() { GemmPackedF32(nil, 0, nil, 0, nil, nil, ActNone, 0) })
	require.PanicsWithValue(t, "simd: GemmPackedF64: b = nil", func() { GemmPackedF64(nil, 0, nil, 0, nil, nil, ActNone, 0) })
}
