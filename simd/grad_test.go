package simd

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/race"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestActivationGrad compares with the derivatives in float64, in place and not.
func TestActivationGrad(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testActivationGrad[float32])
		t.Run("F64", testActivationGrad[float64])
	})
}

// TestActivationGradSpecial holds every level to the documented values at the ends of the range, and to passing NaN on.
func TestActivationGradSpecial(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	eachLevel(t, func(t *testing.T) {
		for _, c := range []struct {
			name        string
			grad        func(dx, dy, x []float32)
			x, dy, want float32
		}{
			{"swish", SwishGradF32, inf, 3, 3}, {"swish", SwishGradF32, -inf, 3, 0}, {"swish", SwishGradF32, 1e30, 3, 3},
			{"swish", SwishGradF32, -1e30, 3, 0}, {"swish", SwishGradF32, 0, 3, 1.5}, {"swish", SwishGradF32, nan, 3, nan},
			{"swish", SwishGradF32, -inf, nan, nan},
			{"relu", ReLUGradF32, 0, nan, 0}, {"relu", ReLUGradF32, -1, nan, 0}, {"relu", ReLUGradF32, inf, 3, 3},
			{"relu", ReLUGradF32, nan, 3, 3}, {"relu", ReLUGradF32, 1e-45, 3, 3},
			{"sigmoid", SigmoidGradF32, 0, 3, 0}, {"sigmoid", SigmoidGradF32, 1, 3, 0}, {"sigmoid", SigmoidGradF32, nan, 3, nan},
			{"softplus", SoftplusGradF32, 0, 3, 0}, {"softplus", SoftplusGradF32, inf, 3, 3}, {"softplus", SoftplusGradF32, nan, 3, nan},
			{"softplus", SoftplusGradF32, 100, nan, nan},
		} {
			for _, n := range []int{1, 7, 40} { // one, the tail, whole vectors
				x, dy, dx := make([]float32, n), make([]float32, n), make([]float32, n)
				for i := range x {
					x[i], dy[i] = c.x, c.dy
				}
				c.grad(dx, dy, x)
				for _, got := range dx {
					if got != c.want && !(got != got && c.want != c.want) {
						t.Fatalf("%s at %g, dy %g: %g, want %g", c.name, c.x, c.dy, got, c.want)
					}
				}
			}
		}
	})
}

func testActivationGrad[T Float](t *testing.T) {
	rng := testkit.Rand(60)
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for _, n := range lengths() {
		x, dy := testkit.Normal[T](rng, n), testkit.Normal[T](rng, n)
		for i := range x {
			x[i] *= T(math.Pow(10, 3*rng.Float64()-1))
		}
		for _, f := range []struct {
			name  string
			grad  func(dx, dy, v []T)
			y     func(x float64) float64 // what the kernel takes
			deriv func(y float64) float64 // of what it takes
		}{
			{"swish", SwishGrad[T], func(x float64) float64 { return x },
				func(x float64) float64 { return sigmoid(x) + x*sigmoid(x)*sigmoid(-x) }},
			{"relu", ReLUGrad[T], func(x float64) float64 { return max(x, 0) },
				func(y float64) float64 { return map[bool]float64{true: 1}[y > 0] }},
			{"sigmoid", SigmoidGrad[T], sigmoid, func(y float64) float64 { return y * (1 - y) }},
			{"tanh", TanhGrad[T], math.Tanh, func(y float64) float64 { return 1 - y*y }},
			{"gelu", GELUGrad[T], func(x float64) float64 { return x },
				func(x float64) float64 { return math.Erfc(-x/math.Sqrt2)/2 + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi) }},
			{"softplus", SoftplusGrad[T], func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) },
				func(y float64) float64 { return -math.Expm1(-y) }},
		} {
			v := make([]T, n)
			for i := range v {
				v[i] = T(f.y(float64(x[i])))
			}
			in, out := testkit.CopyAtEnd(t, v), testkit.CopyAtStart(t, testkit.Awkward[T](rng, n))
			f.grad(out, dy, in)
			for i := range out {
				want, tol := float64(dy[i])*f.deriv(float64(v[i])), 4*eps[T]()*math.Abs(float64(dy[i]))
				if diff := math.Abs(float64(out[i]) - want); !(diff <= tol) {
					t.Fatalf("%s n=%d: at %v, dy %v: %v, want %v", f.name, n, v[i], dy[i], out[i], want)
				}
			}
			own := append([]T(nil), dy...)
			f.grad(own, own, v)
			require.True(t, testkit.SameBits(own, out), "%s in place of dy", f.name)
			own = append([]T(nil), v...)
			f.grad(own, dy, own)
			require.True(t, testkit.SameBits(own, out), "%s in place of its argument", f.name)
		}
	}
	inf, nan := T(math.Inf(1)), T(math.NaN())
	dx := make([]T, 3)
	SwishGrad(dx, []T{2, 2, 2}, []T{inf, -inf, nan})
	require.Equal(t, T(2), dx[0])
	require.Zero(t, dx[1])
	require.True(t, dx[2] != dx[2])
	ReLUGrad(dx, []T{nan, nan, 3}, []T{0, 1, 1})
	require.Zero(t, dx[0])
	require.True(t, dx[1] != dx[1])
	require.Equal(t, T(3), dx[2])
}

// TestPairGradients compares the gradients of the gathering kernels with their definitions, whole and in chunks of rows.
func TestPairGradients(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testPairGradients[float32])
		t.Run("F64", testPairGradients[float64])
	})
}

func testPairGradients[T Float](t *testing.T) {
	const rows, firsts, seconds = 9, 7, 5
	rng := testkit.Rand(61)
	for _, ci := range []int{0, 1, 3, 4, 8, 17, 65} {
		for _, cm := range []int{0, 1, 2, 15, 16, 33} {
			for _, k := range []struct {
				name               string
				out, first, second int // channels
				kernel             func(out, a, b []T, offsets []int, first, second []int32)
				term               func(a, b []T, ch int) (sum, size float64, n int)
			}{
				{"PointConvGradF", ci, ci * cm, cm,
					func(out, a, b []T, o []int, x, y []int32) { PointConvGradF(out, a, b, o, x, y, ci, cm) },
					func(a, b []T, ch int) (sum, size float64, n int) {
						for i := range cm {
							v := float64(a[ch*cm+i]) * float64(b[i])
							sum, size = sum+v, size+math.Abs(v)
						}
						return sum, size, cm
					}},
				{"PointConvGradW", cm, ci * cm, ci,
					func(out, a, b []T, o []int, x, y []int32) { PointConvGradW(out, a, b, o, x, y, ci, cm) },
					func(a, b []T, ch int) (sum, size float64, n int) {
						for i := range ci {
							v := float64(a[i*cm+ch]) * float64(b[i])
							sum, size = sum+v, size+math.Abs(v)
						}
						return sum, size, ci
					}},
			} {
				offsets, first, second := testkit.Pairs(rng, rows, firsts, seconds)
				a := testkit.CopyAtEnd(t, testkit.Normal[T](rng, firsts*k.first))
				b := testkit.CopyAtStart(t, testkit.Normal[T](rng, seconds*k.second))
				out := testkit.CopyAtEnd(t, testkit.Awkward[T](rng, rows*k.out)) // must be overwritten
				k.kernel(out, a, b, offsets, first, second)
				for i := range rows {
					for ch := range k.out {
						sum, size, n := 0.0, 0.0, 8
						for p := offsets[i] - offsets[0]; p < offsets[i+1]-offsets[0]; p++ {
							s, z, m := k.term(a[int(first[p])*k.first:], b[int(second[p])*k.second:], ch)
							sum, size, n = sum+s, size+z, n+m
						}
						if diff := math.Abs(float64(out[i*k.out+ch]) - sum); !(diff <= float64(n)*eps[T]()*size) {
							t.Fatalf("%s ci=%d cm=%d: out[%d,%d] = %v, want %v", k.name, ci, cm, i, ch, out[i*k.out+ch], sum)
						}
					}
				}
				parts := make([]T, rows*k.out)
				for lo := 0; lo < rows; {
					hi := min(lo+1+rng.IntN(3), rows)
					x, y := offsets[lo]-offsets[0], offsets[hi]-offsets[0]
					k.kernel(parts[lo*k.out:hi*k.out], a, b, offsets[lo:hi+1], first[x:y], second[x:y])
					lo = hi
				}
				require.True(t, testkit.SameBits(parts, out), "%s ci=%d cm=%d in chunks", k.name, ci, cm)
			}
		}
	}
}

func TestSetConvGradParams(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testSetConvGradParams[float32])
		t.Run("F64", testSetConvGradParams[float64])
	})
}

func testSetConvGradParams[T Float](t *testing.T) {
	rng := testkit.Rand(62)
	for _, n := range []int{0, 1, 2, 127, 128, 129, 300} {
		for _, d := range []int{1, 3} {
			for _, c := range []int{0, 1, 5} {
				const m, gamma, scale = 4, 0.7, 1.3
				at, x := testkit.Normal[float64](rng, m*d), testkit.Normal[float64](rng, n*d)
				dh, phi := testkit.Normal[T](rng, m*c), testkit.Normal[T](rng, n*c)
				wantG, wantS, size := 0.0, 0.0, 0.0
				for i := range m {
					for j := range n {
						dist2, dot, abs := 0.0, 0.0, 0.0
						for a := range d {
							dist2 += (at[i*d+a] - x[j*d+a]) * (at[i*d+a] - x[j*d+a])
						}
						for ch := range c {
							v := float64(dh[i*c+ch]) * float64(phi[j*c+ch])
							dot, abs = dot+v, abs+math.Abs(v)
						}
						e := math.Exp(-gamma * dist2)
						wantS, wantG = wantS+e*dot, wantG-scale*dist2*e*dot
						size += e * abs * (1 + dist2) * (float64(c+8) + gamma*dist2)
					}
				}
				g, s := SetConvGrad(dh, at, x, phi, d, c, gamma, scale)
				tol := scale * eps[T]() * size
				if !(math.Abs(g-wantG) <= tol && math.Abs(s-wantS) <= tol) {
					t.Errorf("n=%d d=%d c=%d: %v, %v, want %v, %v", n, d, c, g, s, wantG, wantS)
				}
			}
		}
	}
}

// TestAdam: ten steps against the published formula, with the bias corrections written out.
func TestAdam(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testAdam[float32])
		t.Run("F64", testAdam[float64])
	})
}

func testAdam[T Float](t *testing.T) {
	const lr, beta1, beta2, small = 1e-2, 0.9, 0.999, 1e-8
	rng := testkit.Rand(63)
	for _, n := range []int{0, 1, 7, 16, 33} {
		p, m, v := testkit.Normal[T](rng, n), make([]T, n), make([]T, n)
		q, qm, qv := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range p {
			q[i] = float64(p[i])
		}
		for step := 1; step <= 10; step++ {
			g := testkit.Normal[T](rng, n)
			c1, c2 := 1-math.Pow(beta1, float64(step)), 1-math.Pow(beta2, float64(step))
			Adam(p, m, v, g, lr/c1, beta1, beta2, 1/math.Sqrt(c2), small)
			for i := range g {
				d := float64(g[i])
				qm[i], qv[i] = beta1*qm[i]+(1-beta1)*d, beta2*qv[i]+(1-beta2)*d*d
				q[i] -= lr * (qm[i] / c1) / (math.Sqrt(qv[i]/c2) + small)
			}
		}
		for i := range p {
			require.InDelta(t, q[i], float64(p[i]), 40*eps[T]()*(1+math.Abs(q[i])), fmt.Sprintf("n=%d", n))
		}
	}
}

// TestAdamBits: every level gives the portable twin's bits at any length, beside unreadable pages.
func TestAdamBits(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(64)
		for _, n := range lengths() {
			var in, want [4][]float32
			for i := range in {
				x := testkit.Normal[float32](rng, n)
				for k := range x {
					x[k] *= float32(math.Pow(10, 20*rng.Float64()-15))
					if i == 2 { // the second moment
						x[k] = max(x[k], 0)
					}
				}
				want[i] = append([]float32(nil), x...)
				in[i] = testkit.CopyAtEnd(t, x)
				if n%2 == 1 {
					in[i] = testkit.CopyAtStart(t, x)
				}
			}
			AdamF32(in[0], in[1], in[2], in[3], 3e-4, 0.9, 0.999, 1.5, 1e-8)
			adamGeneric(want[0], want[1], want[2], want[3], 3e-4, 0.9, 0.999, 1.5, 1e-8)
			for i := range in {
				require.True(t, testkit.SameBits(in[i], want[i]), "n=%d, argument %d", n, i)
			}
		}
	})
}

func BenchmarkAdamF32(b *testing.B) {
	const n = 1 << 14
	x := testkit.Normal[float32](testkit.Rand(65), 4*n)
	clear(x[2*n : 3*n])
	benchLevels(b, fmt.Sprintf("n=%d", n), 28*n, func() {
		AdamF32(x[:n], x[n:2*n], x[2*n:3*n], x[3*n:], 1e-4, 0.9, 0.999, 1, 1e-8)
	})
}

func TestGradPanics(t *testing.T) {
	x, ix := make([]float32, 100), make([]int32, 10)
	for want, f := range map[string]func(){
		"simd: SwishGradF32: len(dx) = 3, need 4": func() { SwishGradF32(x[:3], x[:4], x[:4]) },
		"simd: ReLUGradF32: len(dy) = 3, need 4":  func() { ReLUGradF32(x[:4], x[:3], x[:4]) },
		"simd: PointConvGradFF32: len(df) = 3, need 2": func() {
			PointConvGradFF32(x[:3], x[:6], x[:9], []int{0, 1}, ix[:1],
				ix[:1], 2, 3)
		},
		"simd: PointConvGradWF32: len(dw) = 2, need 3": func() {
			PointConvGradWF32(x[:2], x[:6], x[:8], []int{0, 1}, ix[:1],
				ix[:1], 2, 3)
		},
		"simd: SetConvGradParamsF32: len(dh) = 1, need 2": func() {
			SetConvGradParamsF32([]float64{1}, []float64{1}, x[:2], x[:1],
				1, 2, 1, 1)
		},
		"simd: TanhGradF32: len(dx) = 3, need 4":                 func() { TanhGradF32(x[:3], x[:4], x[:4]) },
		"simd: GELUGradF32: len(dy) = 3, need 4":                 func() { GELUGradF32(x[:4], x[:3], x[:4]) },
		"simd: SoftmaxGradF32: len(y) = 4, need a multiple of 3": func() { SoftmaxGradF32(x[:4], x[:4], x[:4], 3) },
		"simd: LayerNormF32: len(gain) = 2, need 3":              func() { LayerNormF32(x[:3], x[:3], x[:2], nil, 3, 0) },
		"simd: LayerNormF32: eps = NaN, need 0 or more":          func() { LayerNormF32(x[:3], x[:3], nil, nil, 3, math.NaN()) },
		"simd: LayerNormGradF32: len(dbias) = 2, need 3":         func() { LayerNormGradF32(x[:3], nil, x[:2], x[:3], x[:3], nil, 3, 0) },
		"simd: AdamF32: len(m) = 2, need 3":                      func() { AdamF32(x[:3], x[:2], x[:3], x[:3], 1, 0, 0, 1, 1) },
	} {
		require.PanicsWithValue(t, want, f, want)
	}
}

func TestGradAllocationFree(t *testing.T) {
	if race.Enabled {
		t.Skip("skipped: race builds tell the detector what assembly touches, which allocates")
	}
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testGradAllocationFree[float32])
		t.Run("F64", testGradAllocationFree[float64])
	})
}

func testGradAllocationFree[T Float](t *testing.T) {
	const n = 300
	x, y, z, u := make([]T, n), make([]T, n), make([]T, n), make([]T, n)
	d, e := make([]float64, n), make([]float64, n)
	offsets, ix := []int{0, 5, 9}, make([]int32, 9)
	for name, f := range map[string]func(){
		"SwishGrad": func() { SwishGrad(x, y, z) }, "ReLUGrad": func() { ReLUGrad(x, y, z) },
		"SigmoidGrad": func() { SigmoidGrad(x, y, z) }, "SoftplusGrad": func() { SoftplusGrad(x, y, z) },
		"TanhGrad": func() { TanhGrad(x, y, z) }, "GELUGrad": func() { GELUGrad(x, y, z) },
		"SoftmaxGrad": func() { SoftmaxGrad(x, y, z, 100) }, "ArgMin": func() { ArgMin(x) },
		"LayerNorm":      func() { LayerNorm(x, y, z[:100], u[:100], 100, 1e-5) },
		"LayerNormGrad":  func() { LayerNormGrad(x, z[:100], u[:100], y, y, z[100:200], 100, 1e-5) },
		"PointConvGradF": func() { PointConvGradF(x[:20], y, z, offsets, ix, ix, 10, 2) },
		"PointConvGradW": func() { PointConvGradW(x[:4], y, z, offsets, ix, ix, 10, 2) },
		"SetConvGrad":    func() { SetConvGrad(x, d[:150], e[:150], y, 1, 2, 1, 1) },
		"Adam":           func() { Adam(x, y, z, u, 1e-3, 0.9, 0.999, 1, 1e-8) },
	} {
		if got := testing.AllocsPerRun(10, f); got != 0 {
			t.Errorf("%s allocates %g times", name, got)
		}
	}
}
