package simd

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestSetConvTiles goes through numbers of targets, channels and coordinates around the tiles of every level, and wants a
// target's sums to be the same bits wherever it stands.
func TestSetConvTiles(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testSetConvTiles[float32])
		t.Run("F64", testSetConvTiles[float64])
	})
}

func testSetConvTiles[T Float](t *testing.T) {
	rng := testkit.Rand(50)
	for _, targets := range []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 33} {
		for _, d := range []int{1, 2, 3, 8, 9} {
			for c := range 19 {
				const n, gamma, scale = 21, 0.3, -1.7
				tt := testkit.CopyAtEnd(t, testkit.Normal[float64](rng, targets*d))
				x := testkit.CopyAtEnd(t, testkit.Normal[float64](rng, n*d))
				phi := testkit.CopyAtEnd(t, testkit.Normal[T](rng, n*c))
				h := testkit.CopyAtEnd(t, testkit.Awkward[T](rng, targets*c))
				SetConv(h, tt, x, phi, d, c, gamma, scale)
				alone := make([]T, len(h))
				for m := range targets {
					SetConv(alone[m*c:m*c+c], tt[m*d:m*d+d], x, phi, d, c, gamma, scale)
					for j := range c {
						sum, size, most := 0.0, 0.0, 0.0
						for i := range n {
							v2 := gamma * dist2(tt[m*d:m*d+d], x[i*d:i*d+d])
							v := scale * float64(phi[i*c+j]) * math.Exp(-v2)
							sum, size, most = sum+v, size+math.Abs(v), max(most, v2)
						}
						if diff := math.Abs(float64(h[m*c+j]) - sum); !(diff <= (n+8+most)*eps[T]()*size) {
							t.Fatalf("targets=%d d=%d c=%d: h[%d,%d] = %g, want %g", targets, d, c, m, j, h[m*c+j], sum)
						}
					}
				}
				require.True(t, testkit.SameBits(h, alone), "targets=%d d=%d c=%d one by one", targets, d, c)
			}
		}
	}
}

// TestSetConvManyPoints has more points than one call takes.
func TestSetConvManyPoints(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		testSetConvManyPoints[float32](t, 1e-4)
		testSetConvManyPoints[float64](t, 1e-11)
	})
}

func testSetConvManyPoints[T Float](t *testing.T, tol float64) {
	const n = 20000
	x, phi, h := make([]float64, n), make([]T, n), make([]T, 1)
	for i := range x {
		x[i], phi[i] = float64(i%2), 1
	}
	SetConv(h, []float64{0}, x, phi, 1, 1, math.Ln2, 1)
	require.InEpsilon(t, n/2*1.5, float64(h[0]), tol)
}

func TestSetConvSpecials(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testSetConvSpecials[float32])
		t.Run("F64", testSetConvSpecials[float64])
	})
}

func testSetConvSpecials[T Float](t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	h := make([]T, 3)
	phi := []T{2}
	SetConv(h, []float64{0, nan, 1e200}, []float64{0}, phi, 1, 1, 1, 1)
	require.Equal(t, T(2), h[0])
	require.True(t, h[1] != h[1])
	require.Zero(t, h[2])
	SetConv(h[:1], []float64{0}, []float64{inf}, phi, 1, 1, 1, 1)
	require.Zero(t, h[0])
	SetConv(h[:1], []float64{0}, []float64{100}, phi, 1, 1, -1, 1) // exp(10000)
	require.True(t, math.IsInf(float64(h[0]), 1))
	dgamma, dscale := SetConvGrad(phi, []float64{0}, []float64{inf}, phi, 1, 1, 1, 1)
	require.Equal(t, []float64{0, 0}, []float64{dgamma, dscale})
	dgamma, _ = SetConvGrad(phi, []float64{0}, []float64{nan}, phi, 1, 1, 1, 1)
	require.True(t, math.IsNaN(dgamma))
}

func TestSetConvGrad(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		// The smallest normal number, what may be lost below it, and what holds the gradient to phi.
		t.Run("F32", func(t *testing.T) { testSetConvGrad(t, SetConvGradPhiF32, 0x1p-126, 1e-35, 1e-4) })
		t.Run("F64", func(t *testing.T) { testSetConvGrad(t, SetConvGradPhiF64, 0x1p-1022, 1e-304, 1e-12) })
	})
}

func testSetConvGrad[T Float](t *testing.T, gradPhi func(dphi []T, t, x []float64, dh []T, d, c int, gamma, scale float64),
	normal, lost, near float64) {
	rng := testkit.Rand(51)
	for _, targets := range []int{0, 1, 8, 17, 40} {
		for _, n := range []int{0, 1, 127, 129} {
			for _, d := range []int{1, 2, 9} {
				for _, c := range []int{0, 1, 3, 8, 9, 20} {
					for _, gamma := range []float64{0.8, 0, 300} {
						const scale = 1.3
						tt := testkit.CopyAtEnd(t, testkit.Normal[float64](rng, targets*d))
						x := testkit.CopyAtEnd(t, testkit.Normal[float64](rng, n*d))
						phi := testkit.CopyAtEnd(t, testkit.Normal[T](rng, n*c))
						dh := testkit.CopyAtEnd(t, testkit.Normal[T](rng, targets*c))
						dgamma, dscale := SetConvGrad(dh, tt, x, phi, d, c, gamma, scale)
						var gammaSum, gammaSize, scaleSum, scaleSize, most float64
						for m := range targets {
							for i := range n {
								r2 := dist2(tt[m*d:m*d+d], x[i*d:i*d+d])
								e := math.Exp(-gamma * r2)
								if e < normal {
									continue
								}
								most = max(most, gamma*r2)
								for j := range c {
									v := e * float64(phi[i*c+j]) * float64(dh[m*c+j])
									scaleSum, scaleSize = scaleSum+v, scaleSize+math.Abs(v)
									gammaSum, gammaSize = gammaSum-scale*r2*v, gammaSize+scale*r2*math.Abs(v)
								}
							}
						}
						tol := (float64(c) + 150 + most) * eps[T]()
						if !(math.Abs(dgamma-gammaSum) <= tol*gammaSize+lost) || !(math.Abs(dscale-scaleSum) <= tol*scaleSize+lost) {
							t.Fatalf("targets=%d n=%d d=%d c=%d gamma=%g: %g %g, want %g %g", targets, n, d, c, gamma,
								dgamma, dscale, gammaSum, scaleSum)
						}
						// Linear in phi: Σ dh·h = Σ dphi·phi.
						h, dphi := make([]T, targets*c), make([]T, n*c)
						SetConv(h, tt, x, phi, d, c, gamma, scale)
						gradPhi(dphi, tt, x, dh, d, c, gamma, scale)
						require.InDelta(t, Dot(dh, h), Dot(dphi, phi), near*(1+scaleSize))
						require.InDelta(t, scale*dscale, Dot(dh, h), near*(1+scaleSize))
					}
				}
			}
		}
	}
}

// TestSetConvGradF64 compares with central differences.
func TestSetConvGradF64(t *testing.T) {
	rng := testkit.Rand(52)
	const targets, n, d, c, gamma, scale, step = 6, 9, 2, 3, 0.7, 1.2, 1e-5
	tt, x := testkit.Normal[float64](rng, targets*d), testkit.Normal[float64](rng, n*d)
	phi, dh := testkit.Normal[float64](rng, n*c), testkit.Normal[float64](rng, targets*c)
	loss := func(gamma, scale float64) float64 {
		h := make([]float64, targets*c)
		SetConvF64(h, tt, x, phi, d, c, gamma, scale)
		return DotF64(h, dh)
	}
	dgamma, dscale := SetConvGradParamsF64(tt, x, phi, dh, d, c, gamma, scale)
	require.InEpsilon(t, (loss(gamma+step, scale)-loss(gamma-step, scale))/(2*step), dgamma, 1e-6)
	require.InEpsilon(t, (loss(gamma, scale+step)-loss(gamma, scale-step))/(2*step), dscale, 1e-6)
	dphi := make([]float64, n*c)
	SetConvGradPhiF64(dphi, tt, x, dh, d, c, gamma, scale)
	for i := range phi {
		at := phi[i]
		phi[i] = at + step
		up := loss(gamma, scale)
		phi[i] = at - step
		require.InDelta(t, (up-loss(gamma, scale))/(2*step), dphi[i], 1e-8)
		phi[i] = at
	}
}
