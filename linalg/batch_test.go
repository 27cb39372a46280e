package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

// eachLevel runs a test at every level that exists here.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	before := simd.CurrentLevel()
	defer func() { require.NoError(t, simd.SetLevel(before)) }()
	for _, l := range simd.Levels() {
		t.Run(fmt.Sprintf("level=%v", l), func(t *testing.T) {
			require.NoError(t, simd.SetLevel(l))
			f(t)
		})
	}
}

// A batchCase is one batched function: the entries of its result, of its inputs, and how to call it.
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

func partial(name string, k int, f32 func(d []float32, ok []bool, a []float32, n int),
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

var batchCases = []batchCase{
	unary("Exp2x2", 4, 4, Exp2x2F32, Exp2x2F64), partial("Log2x2", 4, Log2x2F32, Log2x2F64),
	binary("Mul2x2", 4, 4, 4, Mul2x2F32, Mul2x2F64), partial("Inverse2x2", 4, Inverse2x2F32, Inverse2x2F64),
	unary("Det2x2", 1, 4, Det2x2F32, Det2x2F64), unary("Frobenius2x2", 1, 4, Frobenius2x2F32, Frobenius2x2F64),
	binary("ExpFrechet2x2", 4, 4, 4, ExpFrechet2x2F32, ExpFrechet2x2F64),
	binary("ExpFrechetAdjoint2x2", 4, 4, 4, ExpFrechetAdjoint2x2F32, ExpFrechetAdjoint2x2F64),
	unary("Exp3x3", 9, 9, Exp3x3F32, Exp3x3F64), partial("Log3x3", 9, Log3x3F32, Log3x3F64),
	binary("Mul3x3", 9, 9, 9, Mul3x3F32, Mul3x3F64), partial("Inverse3x3", 9, Inverse3x3F32, Inverse3x3F64),
	unary("Det3x3", 1, 9, Det3x3F32, Det3x3F64), unary("Frobenius3x3", 1, 9, Frobenius3x3F32, Frobenius3x3F64),
	binary("ExpFrechet3x3", 9, 9, 9, ExpFrechet3x3F32, ExpFrechet3x3F64),
	binary("ExpFrechetAdjoint3x3", 9, 9, 9, ExpFrechetAdjoint3x3F32, ExpFrechetAdjoint3x3F64),
	binary("Mul4x4", 16, 16, 16, Mul4x4F32, Mul4x4F64), unary("InverseRigid4x4", 16, 16, InverseRigid4x4F32, InverseRigid4x4F64),

	unary("ExpSO2", 2, 1, ExpSO2F32, ExpSO2F64),
	unary("LogSO2", 1, 2, LogSO2F32, LogSO2F64),
	binary("ComposeSO2", 1, 1, 1, ComposeSO2F32, ComposeSO2F64),
	binary("MulSO2", 2, 2, 2, MulSO2F32, MulSO2F64),
	unary("InverseSO2", 2, 2, InverseSO2F32, InverseSO2F64),
	binary("ActSO2", 2, 2, 2, ActSO2F32, ActSO2F64),
	unary("HatSO2", 4, 1, HatSO2F32, HatSO2F64),
	unary("VeeSO2", 1, 4, VeeSO2F32, VeeSO2F64),
	unary("AdjointSO2", 1, 2, AdjointSO2F32, AdjointSO2F64),
	unary("LeftJacobianSO2", 1, 1, LeftJacobianSO2F32, LeftJacobianSO2F64),
	unary("LeftJacobianInvSO2", 1, 1, LeftJacobianInvSO2F32, LeftJacobianInvSO2F64),

	unary("ExpRxSO2", 2, 2, ExpRxSO2F32, ExpRxSO2F64),
	unary("LogRxSO2", 2, 2, LogRxSO2F32, LogRxSO2F64),
	binary("ComposeRxSO2", 2, 2, 2, ComposeRxSO2F32, ComposeRxSO2F64),
	binary("MulRxSO2", 2, 2, 2, MulRxSO2F32, MulRxSO2F64),
	unary("InverseRxSO2", 2, 2, InverseRxSO2F32, InverseRxSO2F64),
	binary("ActRxSO2", 2, 2, 2, ActRxSO2F32, ActRxSO2F64),
	unary("HatRxSO2", 4, 2, HatRxSO2F32, HatRxSO2F64),
	unary("VeeRxSO2", 2, 4, VeeRxSO2F32, VeeRxSO2F64),
	unary("AdjointRxSO2", 4, 2, AdjointRxSO2F32, AdjointRxSO2F64),
	unary("LeftJacobianRxSO2", 4, 2, LeftJacobianRxSO2F32, LeftJacobianRxSO2F64),
	unary("LeftJacobianInvRxSO2", 4, 2, LeftJacobianInvRxSO2F32, LeftJacobianInvRxSO2F64),

	unary("ExpSE2", 4, 3, ExpSE2F32, ExpSE2F64),
	unary("LogSE2", 3, 4, LogSE2F32, LogSE2F64),
	binary("ComposeSE2", 3, 3, 3, ComposeSE2F32, ComposeSE2F64),
	binary("MulSE2", 4, 4, 4, MulSE2F32, MulSE2F64),
	unary("InverseSE2", 4, 4, InverseSE2F32, InverseSE2F64),
	binary("ActSE2", 2, 4, 2, ActSE2F32, ActSE2F64),
	unary("HatSE2", 9, 3, HatSE2F32, HatSE2F64),
	unary("VeeSE2", 3, 9, VeeSE2F32, VeeSE2F64),
	unary("AdjointSE2", 9, 4, AdjointSE2F32, AdjointSE2F64),
	unary("LeftJacobianSE2", 9, 3, LeftJacobianSE2F32, LeftJacobianSE2F64),
	unary("LeftJacobianInvSE2", 9, 3, LeftJacobianInvSE2F32, LeftJacobianInvSE2F64),

	unary("ExpSim2", 4, 4, ExpSim2F32, ExpSim2F64),
	unary("LogSim2", 4, 4, LogSim2F32, LogSim2F64),
	binary("ComposeSim2", 4, 4, 4, ComposeSim2F32, ComposeSim2F64),
	binary("MulSim2", 4, 4, 4, MulSim2F32, MulSim2F64),
	unary("InverseSim2", 4, 4, InverseSim2F32, InverseSim2F64),
	binary("ActSim2", 2, 4, 2, ActSim2F32, ActSim2F64),
	unary("HatSim2", 9, 4, HatSim2F32, HatSim2F64),
	unary("VeeSim2", 4, 9, VeeSim2F32, VeeSim2F64),
	unary("AdjointSim2", 16, 4, AdjointSim2F32, AdjointSim2F64),
	unary("LeftJacobianSim2", 16, 4, LeftJacobianSim2F32, LeftJacobianSim2F64),
	unary("LeftJacobianInvSim2", 16, 4, LeftJacobianInvSim2F32, LeftJacobianInvSim2F64),

	unary("ExpSO3", 9, 3, ExpSO3F32, ExpSO3F64),
	unary("LogSO3", 3, 9, LogSO3F32, LogSO3F64),
	binary("ComposeSO3", 3, 3, 3, ComposeSO3F32, ComposeSO3F64),
	binary("MulSO3", 9, 9, 9, MulSO3F32, MulSO3F64),
	unary("InverseSO3", 9, 9, InverseSO3F32, InverseSO3F64),
	binary("ActSO3", 3, 9, 3, ActSO3F32, ActSO3F64),
	unary("HatSO3", 9, 3, HatSO3F32, HatSO3F64),
	unary("VeeSO3", 3, 9, VeeSO3F32, VeeSO3F64),
	unary("AdjointSO3", 9, 9, AdjointSO3F32, AdjointSO3F64),
	unary("LeftJacobianSO3", 9, 3, LeftJacobianSO3F32, LeftJacobianSO3F64),
	unary("LeftJacobianInvSO3", 9, 3, LeftJacobianInvSO3F32, LeftJacobianInvSO3F64),

	unary("ExpSE3", 12, 6, ExpSE3F32, ExpSE3F64),
	unary("LogSE3", 6, 12, LogSE3F32, LogSE3F64),
	binary("ComposeSE3", 6, 6, 6, ComposeSE3F32, ComposeSE3F64),
	binary("MulSE3", 12, 12, 12, MulSE3F32, MulSE3F64),
	unary("InverseSE3", 12, 12, InverseSE3F32, InverseSE3F64),
	binary("ActSE3", 3, 12, 3, ActSE3F32, ActSE3F64),
	unary("HatSE3", 16, 6, HatSE3F32, HatSE3F64),
	unary("VeeSE3", 6, 16, VeeSE3F32, VeeSE3F64),
	unary("AdjointSE3", 36, 12, AdjointSE3F32, AdjointSE3F64),
	unary("LeftJacobianSE3", 36, 6, LeftJacobianSE3F32, LeftJacobianSE3F64),
	unary("LeftJacobianInvSE3", 36, 6, LeftJacobianInvSE3F32, LeftJacobianInvSE3F64),
}

// matrixOne calls the function for one matrix that a general batch must agree with, to the bit.
func matrixOne[T Float](name string, dst []T, in [][]T) (ok, known bool) {
	switch name {
	case "Exp2x2":
		Exp2x2((*[4]T)(dst), (*[4]T)(in[0]))
	case "Log2x2":
		ok = Log2x2((*[4]T)(dst), (*[4]T)(in[0]))
	case "Mul2x2":
		Mul2x2((*[4]T)(dst), (*[4]T)(in[0]), (*[4]T)(in[1]))
	case "Inverse2x2":
		ok = Inverse2x2((*[4]T)(dst), (*[4]T)(in[0]))
	case "Det2x2":
		dst[0] = Det2x2((*[4]T)(in[0]))
	case "Frobenius2x2":
		dst[0] = Frobenius2x2((*[4]T)(in[0]))
	case "ExpFrechet2x2":
		ExpFrechet2x2((*[4]T)(dst), (*[4]T)(in[0]), (*[4]T)(in[1]))
	case "ExpFrechetAdjoint2x2":
		ExpFrechetAdjoint2x2((*[4]T)(dst), (*[4]T)(in[0]), (*[4]T)(in[1]))
	case "Exp3x3":
		Exp3x3((*[9]T)(dst), (*[9]T)(in[0]))
	case "Log3x3":
		ok = Log3x3((*[9]T)(dst), (*[9]T)(in[0]))
	case "Mul3x3":
		Mul3x3((*[9]T)(dst), (*[9]T)(in[0]), (*[9]T)(in[1]))
	case "Inverse3x3":
		ok = Inverse3x3((*[9]T)(dst), (*[9]T)(in[0]))
	case "Det3x3":
		dst[0] = Det3x3((*[9]T)(in[0]))
	case "Frobenius3x3":
		dst[0] = Frobenius3x3((*[9]T)(in[0]))
	case "ExpFrechet3x3":
		ExpFrechet3x3((*[9]T)(dst), (*[9]T)(in[0]), (*[9]T)(in[1]))
	case "ExpFrechetAdjoint3x3":
		ExpFrechetAdjoint3x3((*[9]T)(dst), (*[9]T)(in[0]), (*[9]T)(in[1]))
	case "Mul4x4":
		Mul4x4((*[16]T)(dst), (*[16]T)(in[0]), (*[16]T)(in[1]))
	case "InverseRigid4x4":
		InverseRigid4x4((*[16]T)(dst), (*[16]T)(in[0]))
	default:
		return false, false
	}
	return ok, true
}

// testBatch compares one batch with its matrices one by one, in guarded memory, and in place where that is allowed.
func testBatch[T Float](t *testing.T, c *batchCase, call func([]T, [][]T, []bool, int), rng *rand.Rand) {
	for _, n := range []int{0, 1, 2, 3, 7, 8, 9, 16, 17, 33} {
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
			if ok2, known := matrixOne(c.name, want1, one); known && simd.CurrentLevel() == simd.Generic {
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

// The batches of the groups agree with the functions on full matrices, at the portable level to the bit.
func TestBatchesAgreeWithMatrices(t *testing.T) {
	before := simd.CurrentLevel()
	defer func() { require.NoError(t, simd.SetLevel(before)) }()
	require.NoError(t, simd.SetLevel(simd.Generic))
	rng := testkit.Rand(3)
	for _, c := range compactGroups {
		_, _, at := c.entries()
		var l *lieGroup
		for i := range lieGroups {
			if lieGroups[i].name == c.name {
				l = &lieGroups[i]
			}
		}
		require.NotNil(t, l, c.name)
		for range 300 {
			a, e, back := c.sample(rng), make([]float64, c.k), make([]float64, c.g)
			c.exp(e, a)
			m := l.exp(a)
			require.Equal(t, pick(m, at), e, "%s: exp of %v", c.name, a)
			c.log(back, e)
			require.Equal(t, l.log(m), back, "%s: log of %v", c.name, m)
		}
	}
}

func BenchmarkBatch(b *testing.B) {
	for _, c := range batchCases {
		for _, n := range []int{4096} {
			benchBatch(b, fmt.Sprintf("%sF32/n=%d/impl=%v", c.name, n, simd.CurrentLevel()), &c, c.f32, n)
			benchBatch(b, fmt.Sprintf("%sF64/n=%d/impl=%v", c.name, n, simd.CurrentLevel()), &c, c.f64, n)
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
