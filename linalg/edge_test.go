package linalg_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/equivcnp/equivcnp/linalg"
	"github.com/equivcnp/equivcnp/linalg/batch"
)

// exactDet is the determinant of a 3×3 matrix without rounding.
func exactDet(m []float64) *big.Rat {
	r := func(i int) *big.Rat { return new(big.Rat).SetFloat64(m[i]) }
	det := new(big.Rat)
	for _, t := range [6][4]int{{0, 4, 8, 1}, {1, 5, 6, 1}, {2, 3, 7, 1}, {0, 5, 7, -1}, {1, 3, 8, -1}, {2, 4, 6, -1}} {
		p := new(big.Rat).Mul(new(big.Rat).Mul(r(t[0]), r(t[1])), r(t[2]))
		det.Add(det, p.Mul(p, big.NewRat(int64(t[3]), 1)))
	}
	return det
}

// TestSingular3x3 wants the right sign of every determinant, 0 for every singular matrix, and neither inverse nor
// logarithm of those: rows that are multiples of each other, or nearly, so that products cancel in 100 bits or in all.
func TestSingular3x3(t *testing.T) { eachLevel(t, testSingular3x3) }

func testSingular3x3(t *testing.T) {
	rng := rand.New(rand.NewPCG(50, 1))
	matrices := [][]float64{{-8.931709991480112, -5.582318744675234, 1.1164637489351783, 17.86341998296088, 11.164637489350797,
		-2.2329274978703566,
		8.931709991482085, 5.582318744676221, -1.1164637489351783}}
	singular := 0
	for range 3000 {
		m := make([]float64, 9)
		for j := range 3 {
			m[j] = rng.NormFloat64()
			m[3+j] = math.Ldexp(m[j], 1)
			m[6+j] = -m[j]
		}
		for range rng.IntN(4) { // a few last bits
			j := rng.IntN(9)
			m[j] *= 1 + float64(rng.IntN(2001)-1000)*0x1p-52
		}
		if rng.IntN(3) == 0 {
			m[0], m[1], m[2], m[6], m[7], m[8] = m[6], m[7], m[8], m[0], m[1], m[2]
		}
		matrices = append(matrices, m)
	}
	for _, m := range matrices {
		det := exactDet(m)
		want, _ := det.Float64()
		if want == 0 {
			singular++
		}
		got, inv, ok := []float64{1}, make([]float64, 9), []bool{true}
		batch.Det3x3(got, m, 1)
		require.LessOrEqual(t, math.Abs(got[0]-want), 0x1p-52*math.Abs(want), "%v", m)
		batch.Inverse3x3(inv, ok, m, 1)
		require.Equal(t, want != 0, ok[0], "%v has determinant %v", m, want)
		if want <= 0 {
			batch.Log3x3(inv, ok, m, 1)
			require.False(t, ok[0], "%v has determinant %v", m, want)
		}
	}
	require.Greater(t, singular, 500)
}

// TestSim2FarOut composes similarities and takes logarithms where numbers on the way leave the range and the result does not.
func TestSim2FarOut(t *testing.T) { eachLevel(t, testSim2FarOut) }

func testSim2FarOut(t *testing.T) {
	got := make([]float64, 4)
	batch.Compose(batch.Sim2, got, []float64{-1e-12, -1e-9, -4.37, -39.6}, []float64{709.5, 1e-4, -1249503, -3050304}, 1)
	require.InEpsilon(t, 709.5, got[0], 1e-14)
	require.InEpsilon(t, 1e-4-1e-9, got[1], 1e-12)
	require.InEpsilon(t, -1249503, got[2], 1e-8)
	require.InEpsilon(t, -3050304, got[3], 1e-8)
	rng := rand.New(rand.NewPCG(51, 1))
	for range 200 { // the identity on either side changes nothing
		b := []float64{690 + 300*rng.Float64(), rng.Float64(), math.Ldexp(rng.NormFloat64(), rng.IntN(1000)),
			math.Ldexp(rng.NormFloat64(), rng.IntN(1000))}
		batch.Compose(batch.Sim2, got, []float64{0, 0, 0, 0}, b, 1)
		near(t, got, b)
		batch.Compose(batch.Sim2, got, b, []float64{0, 0, 0, 0}, 1)
		near(t, got, b)
	}
	for _, e := range [][]float64{{0.5, 0.5, 1e308, 1e308}, {3, -2, -1.5e308, 1e308}, {1e150, 1e150, 1e308, -1e307},
		{1, 1e-9, 1e308, 1e308}, {-1, 0.5, 1.7e308, 1e-300}} {
		batch.Log(batch.Sim2, got, e, 1)
		small := make([]float64, 4)
		batch.Log(batch.Sim2, small, []float64{e[0], e[1], e[2] * 0x1p-100, e[3] * 0x1p-100}, 1)
		near(t, got, []float64{small[0], small[1], math.Ldexp(small[2], 100), math.Ldexp(small[3], 100)})
		var one [4]float64
		LogSim2(&one, (*[4]float64)(e))
		near(t, one[:], got)
	}
}

// near compares translation parts by their size.
func near(t *testing.T, got, want []float64) {
	t.Helper()
	require.InDeltaSlice(t, want[:2], got[:2], 1e-12*(1+math.Abs(want[0])))
	size := math.Hypot(want[2]*0x1p-100, want[3]*0x1p-100)
	for i := 2; i < 4; i++ {
		if want[i] != got[i] && !(math.Abs(want[i]*0x1p-100-got[i]*0x1p-100) <= 1e-14*size) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}

func TestUnknownGroup(t *testing.T) {
	require.Equal(t, "Group(77)", batch.Group(77).String())
	require.Equal(t, "SE3", fmt.Sprint(batch.SE3))
	require.PanicsWithValue(t, "batch: Exp: g = 77, need a group from SO2 to SE3",
		func() { batch.Exp(batch.Group(77), []float64{0}, []float64{0}, 1) })
}

// TestExpSim2Range wants no NaN of finite coordinates, and 128 times the result of a translation 128 times as short.
func TestExpSim2Range(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 1))
	for range 10000 {
		large := func() float64 { return math.MaxFloat64 * (2*rng.Float64() - 1) }
		a := [4]float64{rng.NormFloat64(), 3 * rng.NormFloat64(), large(), large()}
		least := [4]float64{a[0], a[1], math.Ldexp(a[2], -7), math.Ldexp(a[3], -7)}
		var e, f [4]float64
		ExpSim2(&e, &a)
		ExpSim2(&f, &least)
		for i := range 2 {
			require.Equal(t, math.Ldexp(f[2+i], 7), e[2+i], "%v", a)
		}
	}
}
