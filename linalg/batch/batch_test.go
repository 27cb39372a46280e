package batch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/linalg"
)

// eachLevel runs a test at every level that exists here.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	before := cpu.CurrentLevel()
	defer func() { require.NoError(t, cpu.SetLevel(before)) }()
	for _, l := range cpu.Levels() {
		t.Run(fmt.Sprintf("level=%v", l), func(t *testing.T) {
			require.NoError(t, cpu.SetLevel(l))
			f(t)
		})
	}
}

// A batchCase is one function: the entries of its result, of its inputs, and how to call it.
type batchCase struct {
	name  string
	out   int
	in    []int
	f32   func(dst []float32, in [][]float32, ok []bool, n int)
	f64   func(dst []float64, in [][]float64, ok []bool, n int)
	hasOK bool
}

func unary(name string, out, in int, f32 func(d, a []float32, n int), f64 func(d, a []float64, n int)) batchCase {
	return batchCase{name, out, []int{in},
		func(d []float32, x [][]float32, _ []bool, n int) { f32(d, x[0], n) },
		func(d []float64, x [][]float64, _ []bool, n int) { f64(d, x[0], n) }, false}
}

func withOK(name string, k int, f32 func(d []float32, ok []bool, a []float32, n int),
	f64 func(d []float64, ok []bool, a []float64, n int)) batchCase {
	return batchCase{name, k, []int{k},
		func(d []float32, x [][]float32, ok []bool, n int) { f32(d, ok, x[0], n) },
		func(d []float64, x [][]float64, ok []bool, n int) { f64(d, ok, x[0], n) }, true}
}

func binary(name string, out, p, q int, f32 func(d, a, b []float32, n int), f64 func(d, a, b []float64, n int)) batchCase {
	return batchCase{name, out, []int{p, q},
		func(d []float32, x [][]float32, _ []bool, n int) { f32(d, x[0], x[1], n) },
		func(d []float64, x [][]float64, _ []bool, n int) { f64(d, x[0], x[1], n) }, false}
}

// batchCases are all functions: those of general matrices, and those of every group with c coordinates, elements of k
// entries and points of d coordinates.
var batchCases = func() []batchCase {
	all := []batchCase{
		unary("Exp2x2", 4, 4, Exp2x2[float32], Exp2x2[float64]), withOK("Log2x2", 4, Log2x2[float32], Log2x2[float64]),
		binary("Mul2x2", 4, 4, 4, Mul2x2[float32], Mul2x2[float64]), withOK("Inverse2x2", 4, Inverse2x2[float32], Inverse2x2[float64]),
		unary("Det2x2", 1, 4, Det2x2[float32], Det2x2[float64]), unary("Frobenius2x2", 1, 4, Frobenius2x2[float32], Frobenius2x2[float64]),
		binary("ExpFrechet2x2", 4, 4, 4, ExpFrechet2x2[float32], ExpFrechet2x2[float64]),
		binary("ExpFrechetAdjoint2x2", 4, 4, 4, ExpFrechetAdjoint2x2[float32], ExpFrechetAdjoint2x2[float64]),
		unary("Exp3x3", 9, 9, Exp3x3[float32], Exp3x3[float64]), withOK("Log3x3", 9, Log3x3[float32], Log3x3[float64]),
		binary("Mul3x3", 9, 9, 9, Mul3x3[float32], Mul3x3[float64]), withOK("Inverse3x3", 9, Inverse3x3[float32], Inverse3x3[float64]),
		unary("Det3x3", 1, 9, Det3x3[float32], Det3x3[float64]), unary("Frobenius3x3", 1, 9, Frobenius3x3[float32], Frobenius3x3[float64]),
		binary("ExpFrechet3x3", 9, 9, 9, ExpFrechet3x3[float32], ExpFrechet3x3[float64]),
		binary("ExpFrechetAdjoint3x3", 9, 9, 9, ExpFrechetAdjoint3x3[float32], ExpFrechetAdjoint3x3[float64]),
		binary("Mul4x4", 16, 16, 16, Mul4x4[float32], Mul4x4[float64]),
		unary("InverseRigid4x4", 16, 16, InverseRigid4x4[float32], InverseRigid4x4[float64]),
	}
	for _, x := range []struct {
		g       Group
		c, k, d int
	}{{SO2, 1, 2, 2}, {RxSO2, 2, 2, 2}, {SE2, 3, 4, 2}, {Sim2, 4, 4, 2}, {SO3, 3, 9, 3}, {SE3, 6, 12, 3}} {
		one := func(name string, out, in int, f32 func(Group, []float32, []float32, int), f64 func(Group, []float64, []float64, int)) {
			all = append(all, unary(name+x.g.String(), out, in,
				func(d, a []float32, n int) { f32(x.g, d, a, n) }, func(d, a []float64, n int) { f64(x.g, d, a, n) }))
		}
		two := func(name string, out, p, q int, f32 func(Group, []float32, []float32, []float32, int),
			f64 func(Group, []float64, []float64, []float64, int)) {
			all = append(all, binary(name+x.g.String(), out, p, q,
				func(d, a, b []float32, n int) { f32(x.g, d, a, b, n) }, func(d, a, b []float64, n int) { f64(x.g, d, a, b, n) }))
		}
		one("Exp", x.k, x.c, Exp[float32], Exp[float64])
		one("Log", x.c, x.k, Log[float32], Log[float64])
		two("Compose", x.c, x.c, x.c, Compose[float32], Compose[float64])
		two("Mul", x.k, x.k, x.k, Mul[float32], Mul[float64])
		one("Inverse", x.k, x.k, Inverse[float32], Inverse[float64])
		two("Act", x.d, x.k, x.d, Act[float32], Act[float64])
		one("Adjoint", x.c*x.c, x.k, Adjoint[float32], Adjoint[float64])
		one("LeftJacobian", x.c*x.c, x.c, LeftJacobian[float32], LeftJacobian[float64])
		one("LeftJacobianInv", x.c*x.c, x.c, LeftJacobianInv[float32], LeftJacobianInv[float64])
	}
	return all
}()

// matrixOne calls linalg's function for one matrix that a batch must agree with, to the bit.
func matrixOne(name string, y []float64, x [][]float64) (ok, known bool) {
	switch name {
	case "Exp2x2":
		linalg.Exp2x2((*[4]float64)(y), (*[4]float64)(x[0]))
	case "Log2x2":
		ok = linalg.Log2x2((*[4]float64)(y), (*[4]float64)(x[0]))
	case "Mul2x2":
		linalg.Mul2x2((*[4]float64)(y), (*[4]float64)(x[0]), (*[4]float64)(x[1]))
	case "Inverse2x2":
		ok = linalg.Inverse2x2((*[4]float64)(y), (*[4]float64)(x[0]))
	case "Det2x2":
		y[0] = linalg.Det2x2((*[4]float64)(x[0]))
	case "Frobenius2x2", "Frobenius3x3":
		y[0] = linalg.Norm(x[0])
	case "ExpFrechet2x2":
		linalg.ExpFrechet2x2((*[4]float64)(y), (*[4]float64)(x[0]), (*[4]float64)(x[1]))
	case "ExpFrechetAdjoint2x2":
		linalg.ExpFrechet2x2((*[4]float64)(y), &[4]float64{x[0][0], x[0][2], x[0][1], x[0][3]}, (*[4]float64)(x[1]))
	case "Exp3x3":
		linalg.Exp3x3((*[9]float64)(y), (*[9]float64)(x[0]))
	case "Log3x3":
		ok = linalg.Log3x3((*[9]float64)(y), (*[9]float64)(x[0]))
	case "Mul3x3":
		linalg.Mul3x3((*[9]float64)(y), (*[9]float64)(x[0]), (*[9]float64)(x[1]))
	case "Inverse3x3":
		ok = linalg.Inverse3x3((*[9]float64)(y), (*[9]float64)(x[0]))
	case "Det3x3":
		y[0] = linalg.Det3x3((*[9]float64)(x[0]))
	case "ExpFrechet3x3":
		linalg.ExpFrechet3x3((*[9]float64)(y), (*[9]float64)(x[0]), (*[9]float64)(x[1]))
	case "ExpFrechetAdjoint3x3":
		var t [9]float64
		linalg.InverseSO3(&t, (*[9]float64)(x[0]))
		linalg.ExpFrechet3x3((*[9]float64)(y), &t, (*[9]float64)(x[1]))
	case "Mul4x4":
		linalg.Mul4x4((*[16]float64)(y), (*[16]float64)(x[0]), (*[16]float64)(x[1]))
	case "InverseRigid4x4":
		linalg.InverseRigid4x4((*[16]float64)(y), (*[16]float64)(x[0]))
	default:
		return false, false
	}
	return ok, true
}

// rounded is matrixOne for either type: in float64, rounded once.
func rounded[T Float](c *batchCase, y []T, x [][]T) (ok, known bool) {
	wide := make([][]float64, len(x))
	for j := range x {
		for _, v := range x[j] {
			wide[j] = append(wide[j], float64(v))
		}
	}
	out := make([]float64, len(y))
	ok, known = matrixOne(c.name, out, wide)
	for e, v := range out {
		y[e] = T(v)
	}
	if c.name == "Inverse2x2" || c.name == "Inverse3x3" {
		ok = ok && finite(y, len(y), 1, 0)
	}
	return ok, known
}

// testBatch compares one batch with its matrices one by one, in guarded memory, and in place where that is allowed.
func testBatch[T Float](t *testing.T, c *batchCase, call func([]T, [][]T, []bool, int), rng *rand.Rand) {
	for _, n := range []int{0, 1, 2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 64, 71} {
		in := make([][]T, len(c.in))
		for i, k := range c.in {
			x := testkit.Normal[T](rng, k*n)
			if n > 8 {
				copy(x, testkit.Awkward[T](rng, k*n/3))
			}
			in[i] = testkit.CopyAtEnd(t, x)
		}
		dst, ok := testkit.AtEnd[T](t, c.out*n), make([]bool, n)
		call(dst, in, ok, n)
		for i := range n {
			one := make([][]T, len(in))
			for j, k := range c.in {
				one[j] = make([]T, k)
				for e := range k {
					one[j][e] = in[j][e*n+i]
				}
			}
			got, want, want1 := make([]T, c.out), make([]T, c.out), make([]T, c.out)
			for e := range c.out {
				got[e] = dst[e*n+i]
			}
			ok1 := []bool{false}
			call(want, one, ok1, 1)
			if !testkit.SameBits(got, want) || (c.hasOK && ok[i] != ok1[0]) {
				t.Fatalf("n=%d: matrix %d differs from itself alone: %v, want %v, of %v", n, i, got, want, one)
			}
			if ok2, known := rounded(c, want1, one); known && cpu.CurrentLevel() == cpu.Generic {
				if !testkit.SameBits(got, want1) || (c.hasOK && ok[i] != ok2) {
					t.Fatalf("n=%d: matrix %d differs from the one-matrix function: %v, want %v", n, i, got, want1)
				}
			}
		}
		for j, k := range c.in {
			if k != c.out {
				continue
			}
			place := make([][]T, len(in))
			for l := range in {
				place[l] = append([]T(nil), in[l]...)
			}
			call(place[j], place, ok, n)
			require.True(t, testkit.SameBits(dst, place[j]), "n=%d: in place of input %d", n, j)
		}
		if n == 17 {
			require.Zero(t, testing.AllocsPerRun(3, func() { call(dst, in, ok, n) }), "allocations")
		}
	}
	in := make([][]T, len(c.in))
	for i, k := range c.in {
		in[i] = make([]T, 3*k)
	}
	require.Panics(t, func() { call(make([]T, 3*c.out+1), in, make([]bool, 3), 3) })
	in[len(in)-1] = in[len(in)-1][1:]
	require.Panics(t, func() { call(make([]T, 3*c.out), in, make([]bool, 3), 3) })
	require.Panics(t, func() { call(nil, in, nil, -1) })
}

func TestBatches(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, c := range batchCases {
			t.Run(c.name, func(t *testing.T) {
				testBatch(t, &c, c.f32, testkit.Rand(1))
				testBatch(t, &c, c.f64, testkit.Rand(2))
			})
		}
	})
}

// testCrowded compares a batch whose entries lie a multiple of 2 or 4 KB apart, or nearly, with four batches that have the same matrices.
// A few are awkward, and most rows that go through a buffer have none of these.
func testCrowded[T Float](t *testing.T, c *batchCase, n int, call func([]T, [][]T, []bool, int), rng *rand.Rand) {
	part := (n + 3) / 4
	in, parts := make([][]T, len(c.in)), make([][]T, len(c.in))
	for j, k := range c.in {
		in[j], parts[j] = testkit.Normal[T](rng, k*n), make([]T, k*part)
		for e := range k {
			copy(in[j][e*n+3*n/10:], testkit.Awkward[T](rng, 20))
		}
	}
	dst, ok := make([]T, c.out*n), make([]bool, n)
	call(dst, in, ok, n)
	for from := 0; from < n; from += part {
		part := min(part, n-from)
		for j, k := range c.in {
			parts[j] = parts[j][:k*part]
			for e := range k {
				copy(parts[j][e*part:(e+1)*part], in[j][e*n+from:])
			}
		}
		want, wantOK := make([]T, c.out*part), make([]bool, part)
		call(want, parts, wantOK, part)
		for e := range c.out {
			got := dst[e*n+from : e*n+from+part]
			require.True(t, testkit.SameBits(got, want[e*part:(e+1)*part]), "entry %d of matrices from %d of %d", e, from, n)
		}
		require.Equal(t, wantOK, ok[from:from+part])
	}
	for j, k := range c.in {
		if k == c.out {
			call(in[j], in, ok, n)
			require.True(t, testkit.SameBits(dst, in[j]), "in place of input %d", j)
			break
		}
	}
}

// TestSim2Range wants what linalg computes where translations, or what a scale makes of them on the way, leave the range.
func TestSim2Range(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		testSim2Range[float32](t, 1e37, 1e-4)
		testSim2Range[float64](t, 1e307, 1e-12)
	})
}

func testSim2Range[T Float](t *testing.T, most, tol float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(12, 1))
	const n = 64
	a, b, got := make([]T, 4*n), make([]T, 4*n), make([]T, 4*n)
	want := make([]float64, 4*n)
	check := func(name string) {
		t.Helper()
		for i := range n {
			e, f := make([]float64, 4), make([]float64, 4)
			load(e, got, n, i)
			load(f, want, n, i)
			x, y := e[2]-f[2], e[3]-f[3]
			if size := linalg.Norm2(f[2], f[3]); float64(T(4*size)) < math.Inf(1) && !(linalg.Norm2(x, y) <= tol*size) {
				t.Fatalf("%s: %v, want %v, of %v and %v at %d", name, e, f, a, b, i)
			}
		}
	}
	for range 50 {
		for i := range n {
			for _, x := range [][]T{a, b} {
				x[i], x[n+i] = T(20*rng.NormFloat64()), T(2*rng.Float64()-1)
				x[2*n+i], x[3*n+i] = T(most*rng.NormFloat64()), T(most*rng.NormFloat64())
			}
		}
		each := func(f func(dst, a, b *[4]float64), a, b []T) {
			var x, y, z [4]float64
			for i := range n {
				load(x[:], a, n, i)
				load(y[:], b, n, i)
				f(&z, &x, &y)
				store(want, z[:], n, i)
			}
		}
		Compose(Sim2, got, a, b, n)
		each(linalg.ComposeSim2, a, b)
		check("Compose")
		Exp(Sim2, got, a, n)
		each(func(dst, a, _ *[4]float64) { linalg.ExpSim2(dst, a) }, a, b)
		check("Exp")
		for i, v := range got {
			require.False(t, v != v, "a NaN at %d", i)
		}
		copy(b[:2*n], got)
		Log(Sim2, got, b, n)
		each(func(dst, a, _ *[4]float64) { linalg.LogSim2(dst, a) }, b, b)
		check("Log")
	}
}

func TestCrowded(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, c := range batchCases {
			t.Run(c.name, func(t *testing.T) {
				for _, n := range []int{512, 1024, 1025} {
					testCrowded(t, &c, n, c.f32, testkit.Rand(3))
				}
				for _, n := range []int{255, 512, 1023} {
					testCrowded(t, &c, n, c.f64, testkit.Rand(4))
				}
			})
		}
	})
}

func BenchmarkBatch(b *testing.B) {
	for _, c := range batchCases {
		for _, n := range []int{4096} {
			benchBatch(b, fmt.Sprintf("%sF32/n=%d/impl=%v", c.name, n, cpu.CurrentLevel()), &c, c.f32, n)
			benchBatch(b, fmt.Sprintf("%sF64/n=%d/impl=%v", c.name, n, cpu.CurrentLevel()), &c, c.f64, n)
		}
	}
}

func benchBatch[T Float](b *testing.B, name string, c *batchCase, call func([]T, [][]T, []bool, int), n int) {
	b.Run(name, func(b *testing.B) {
		rng := testkit.Rand(1)
		in := make([][]T, len(c.in))
		for i, k := range c.in {
			in[i] = testkit.Normal[T](rng, k*n)
			d := int(math.Sqrt(float64(k)))
			for e := range k { // near the identity where it is a square matrix, so that most have a logarithm
				for j := range n {
					in[i][e*n+j] /= 2
					if d*d == k && e%(d+1) == 0 {
						in[i][e*n+j]++
					}
				}
			}
		}
		dst, ok := make([]T, c.out*n), make([]bool, n)
		for b.Loop() {
			call(dst, in, ok, n)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/matrix")
	})
}
