package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/equivcnp/equivcnp/linalg"
	"github.com/equivcnp/equivcnp/linalg/batch"
)

// TestComposeAccuracy compares log(exp(a)·exp(b)), a and b far from where the angle of the product jumps, with the logarithm of
// the product in 300 bits: the linear part relative to its size, the translation per condition.
func TestComposeAccuracy(t *testing.T) { eachLevel(t, testComposeAccuracy) }

func testComposeAccuracy(t *testing.T) {
	count := 150
	if testing.Short() {
		count = 20
	}
	for _, c := range compactGroups {
		rng := rand.New(rand.NewPCG(35, uint64(c.k)))
		var w, w32 worst
		for range count {
			a, b := make([]float64, c.g), make([]float64, c.g)
			for i := range a {
				// Numbers of float32, so that both see the same elements; rotations of less than π together.
				a[i], b[i] = float64(float32(0.8*(2*rng.Float64()-1))), float64(float32(0.8*(2*rng.Float64()-1)))
			}
			what := func() string { return fmt.Sprint(a, b) }
			ma, mb := make([]float64, c.n*c.n), make([]float64, c.n*c.n)
			c.hat(ma, a)
			c.hat(mb, b)
			want := c.vee(bigOf(ma, c.n).exp().mul(bigOf(mb, c.n).exp()).log())
			// The terms of the sum may be larger than their sum; errors are judged by the size of the terms.
			size := Norm(a) + Norm(b)
			cond := size / Norm(bigMat{v: want}.float())
			got := make([]float64, c.g)
			batch.Compose(c.Group, got, a, b, 1)
			w.see(relErr(got, want), cond, what)

			a32, b32, got32 := make([]float32, c.g), make([]float32, c.g), make([]float32, c.g)
			narrow(a32, a)
			narrow(b32, b)
			batch.Compose(c.Group, got32, a32, b32, 1)
			widen(got, got32)
			w32.see(relErr(got, want), cond, what)
		}
		w.require(t, "Compose"+c.name, 6e-16)
		w32.require(t, "Compose"+c.name+", float32", 3.5e-7)
	}
}

// TestInverseAndDetBatches holds the batches of Inverse and Det, at every level, to the bounds of the functions for one matrix:
// ordinary matrices, next to singular ones, small determinants and large entries; and checks what they report where there is no inverse.
func TestInverseAndDetBatches(t *testing.T) { eachLevel(t, testInverseAndDetBatches) }

func testInverseAndDetBatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 1))
	count := 1500
	if testing.Short() {
		count = 300
	}
	var inv, inv32, det, det32 worst
	for i := range count {
		m := make([]float64, 9)
		for k := range m {
			m[k] = rng.NormFloat64()
		}
		scale := 0
		switch i % 5 {
		case 1: // nearly singular
			gap := math.Pow(10, -9*rng.Float64())
			for j := range 3 {
				m[j] = m[3+j]*(1+gap*rng.NormFloat64()) + gap*rng.NormFloat64()
			}
		case 2:
			scale = rng.IntN(60) - 30
		case 3: // rows of different size
			for j := range 3 {
				m[3+j] = math.Ldexp(m[3+j], -rng.IntN(20))
			}
		}
		m32 := make([]float32, 9)
		for k := range m {
			m32[k] = float32(math.Ldexp(m[k], scale))
			m[k] = float64(m32[k])
		}
		what := func() string { return fmt.Sprint(m) }
		b := bigOf(m, 3)
		want := bigNum(0)
		for j := range 3 {
			minor := bigNum(0).Sub(bigNum(0).Mul(b.v[3+(j+1)%3], b.v[6+(j+2)%3]), bigNum(0).Mul(b.v[3+(j+2)%3], b.v[6+(j+1)%3]))
			want.Add(want, bigNum(0).Mul(b.v[j], minor))
		}
		if want.Sign() == 0 {
			continue
		}
		exact := b.inverse()
		cond := Norm(m) * Norm(exact.float())
		got, got32, ok := make([]float64, 9), make([]float32, 9), []bool{false}
		batch.Inverse3x3(got, ok, m, 1)
		require.True(t, ok[0])
		inv.see(relErr(got, exact.v), cond, what)
		batch.Inverse3x3(got32, ok, m32, 1)
		if f := Norm(exact.float()); f < 1e37 {
			require.True(t, ok[0])
			widen(got, got32)
			inv32.see(relErr(got, exact.v), cond, what)
		}
		f, _ := want.Float64()
		d, d32 := []float64{0}, []float32{0}
		batch.Det3x3(d, m, 1)
		det.see(math.Abs(d[0]-f)/math.Abs(f), 1, what)
		batch.Det3x3(d32, m32, 1)
		if math.Abs(f) > 1e-36 && math.Abs(f) < 1e38 {
			det32.see(math.Abs(float64(d32[0])-f)/math.Abs(f), 1, what)
		}
	}
	inv.require(t, "Inverse3x3", 4e-16)
	inv32.require(t, "Inverse3x3, float32", 2.5e-7)
	det.require(t, "Det3x3", 2.3e-16)
	det32.require(t, "Det3x3, float32", 1.2e-7)
	testSingularBatches(t)
}

// testSingularBatches: matrices without an inverse say so, small ones have one.
func testSingularBatches(t *testing.T) {
	singular := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	x, ok, d := make([]float64, 9), []bool{true}, []float64{1}
	batch.Inverse3x3(x, ok, singular, 1)
	require.False(t, ok[0])
	require.True(t, math.IsNaN(x[4]))
	batch.Det3x3(d, singular, 1)
	require.Zero(t, d[0])
	tiny := []float32{1e-30, 0, 0, 0, 1e-30, 0, 0, 0, 1e-30}
	x32 := make([]float32, 9)
	batch.Inverse3x3(x32, ok, tiny, 1)
	require.True(t, ok[0])
	require.InEpsilon(t, 1e30, x32[0], 1e-6)
	tiny[0] = 1e-40
	batch.Inverse3x3(x32, ok, tiny, 1)
	require.False(t, ok[0], "not representable in float32")
}
