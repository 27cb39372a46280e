package linalg_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/equivcnp/equivcnp/linalg"
	"github.com/equivcnp/equivcnp/linalg/batch"
)

func TestLogDomain2x2(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name string
		m    [4]float64
		ok   bool
	}{
		{"identity", [4]float64{1, 0, 0, 1}, true},
		{"half turn", [4]float64{-1, 0, 0, -1}, false},
		{"an ulp from the half turn", [4]float64{-1, 1e-20, -1e-20, -1}, true},
		{"the same, real eigenvalues", [4]float64{-1, 1e-20, 1e-20, -1}, false},
		{"defective, negative", [4]float64{-1, 1, 0, -1}, false},
		{"defective, positive", [4]float64{2, 1, 0, 2}, true},
		{"reflection", [4]float64{1, 0, 0, -1}, false},
		{"zero", [4]float64{}, false},
		{"nilpotent", [4]float64{0, 1, 0, 0}, false},
		{"rank one", [4]float64{1, 2, 2, 4}, false},
		{"rank one, rounded", [4]float64{0.1, 0.3, 0.1, 0.3}, false},
		{"quarter turn", [4]float64{0, -1, 1, 0}, true},
		{"two negative", [4]float64{-1, 0, 0, -2}, false},
		{"tiny", [4]float64{1e-310, 0, 0, 3e-320}, true},
		{"huge", [4]float64{1e308, 0, 0, 1e308}, true},
		{"wide", [4]float64{1e-300, 0, 0, 1e300}, true},
		{"NaN", [4]float64{1, nan, 0, 1}, false},
		{"Inf", [4]float64{inf, 0, 0, 1}, false},
	} {
		var x [4]float64
		ok := Log2x2(&x, &c.m)
		require.Equal(t, c.ok, ok, c.name)
		for i := range x {
			require.Equal(t, !c.ok, math.IsNaN(x[i]), "%s: %v", c.name, x)
		}
		if ok && c.name != "huge" && c.name != "tiny" {
			var back [4]float64
			Exp2x2(&back, &x)
			require.LessOrEqual(t, relErr(back[:], bigOf(c.m[:], 2).v), 1e-13, "%s: exp of log %v is %v", c.name, x, back)
		}
	}
	var x [4]float64
	require.True(t, Log2x2(&x, &[4]float64{-1, 1e-20, -1e-20, -1}))
	require.InDelta(t, math.Pi, x[1], 1e-15)
	require.InDelta(t, -math.Pi, x[2], 1e-15)
	require.True(t, Log2x2(&x, &[4]float64{1e-310, 0, 0, 3e-320}))
	require.InDelta(t, Log(1e-310), x[0], 1e-12)
	require.InDelta(t, Log(3e-320), x[3], 1e-12)
}

func TestLogDomain3x3(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	c7, s7 := math.Cos(math.Pi-1e-7), math.Sin(math.Pi-1e-7)
	for _, c := range []struct {
		name string
		m    [9]float64
		ok   bool
		tol  float64
	}{
		{"identity", [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, true, 0},
		{"half turn", [9]float64{-1, 0, 0, 0, -1, 0, 0, 0, 1}, false, 0},
		{"nearly a half turn", [9]float64{c7, -s7, 0, s7, c7, 0, 0, 0, 1}, true, 1e-8},
		{"two negative", [9]float64{-1, 5, 2, 0, -2, 3, 0, 0, 4}, false, 0},
		{"one negative", [9]float64{1, 0, 0, 0, -2, 0, 0, 0, 4}, false, 0},
		{"three negative", [9]float64{-1, 0, 0, 0, -2, 0, 0, 0, -4}, false, 0},
		{"pair with negative real part", [9]float64{-1, -1, 0, 1, -1, 0, 0, 0, 3}, true, 1e-14},
		{"permutation", [9]float64{0, 1, 0, 0, 0, 1, 1, 0, 0}, true, 1e-14},
		{"defective", [9]float64{2, 1, 0, 0, 2, 1, 0, 0, 2}, true, 1e-15},
		{"far from normal", [9]float64{1, 1e3, 0, 0, 1, 1e3, 0, 0, 1}, true, 1e-10},
		{"singular", [9]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, false, 0},
		{"zero", [9]float64{}, false, 0},
		{"zero row", [9]float64{1, 0, 0, 0, 0, 0, 0, 0, 1}, false, 0},
		{"wide", [9]float64{1e-200, 0, 0, 0, 1, 0, 0, 0, 1e200}, true, 1e-12},
		{"tiny", [9]float64{1e-300, 0, 0, 0, 2e-300, 1e-300, 0, 0, 1e-300}, true, 1e-12},
		{"huge", [9]float64{1e300, 1e299, 0, 0, 2e300, 0, 0, 0, 1e300}, true, 1e-12},
		{"NaN", [9]float64{1, 0, 0, 0, 1, nan, 0, 0, 1}, false, 0},
		{"Inf", [9]float64{1, 0, 0, 0, inf, 0, 0, 0, 1}, false, 0},
	} {
		var x, back [9]float64
		ok := Log3x3(&x, &c.m)
		require.Equal(t, c.ok, ok, c.name)
		for i := range x {
			require.Equal(t, !c.ok, math.IsNaN(x[i]), "%s: %v", c.name, x)
		}
		if ok {
			Exp3x3(&back, &x)
			require.LessOrEqual(t, relErr(back[:], bigOf(c.m[:], 3).v), c.tol, "%s: exp of log %v is %v", c.name, x, back)
		}
	}
}

// Matrices whose exponential is known, with entries at the ends of the range.
func TestExpExtremes(t *testing.T) {
	exp2 := func(m [4]float64) (x [4]float64) { Exp2x2(&x, &m); return x }
	require.Equal(t, [4]float64{1, 1e300, 0, 1}, exp2([4]float64{0, 1e300, 0, 0}))
	require.Equal(t, [4]float64{0, 0, 0, 0}, exp2([4]float64{-1e200, 0, 0, -1e200}))
	require.Equal(t, [4]float64{1, 5e-324, 0, 1}, exp2([4]float64{0, 5e-324, 0, 0}))
	x := exp2([4]float64{-1e5, 0, 0, 0})
	require.InDeltaSlice(t, []float64{0, 0, 0, 1}, x[:], 1e-15)
	x = exp2([4]float64{0, 1e200, -1e-200, 0})
	require.InEpsilon(t, math.Sin(1)*1e200, x[1], 1e-15)
	require.InEpsilon(t, math.Cos(1), x[0], 1e-15)
	x = exp2([4]float64{1000, 0, 0, 0})
	require.Equal(t, math.Inf(1), x[0])
	x = exp2([4]float64{800, -1500, 0, -800}) // the upper right entry is -1500/1600·e^800
	require.Equal(t, math.Inf(-1), x[1])

	exp3 := func(m [9]float64) (x [9]float64) { Exp3x3(&x, &m); return x }
	z := exp3([9]float64{0, 1e150, 0, 0, 0, 1e150, 0, 0, 0})
	require.Equal(t, [9]float64{1, 1e150, z[2], 0, 1, 1e150, 0, 0, 1}, z)
	require.InEpsilon(t, 5e299, z[2], 1e-15)
	require.Equal(t, [9]float64{0, 0, 0, 0, 1, 0, 0, 0, 1}, exp3([9]float64{-1e200, 0, 0, 0, 0, 0, 0, 0, 0}))
	require.Equal(t, [9]float64{}, exp3([9]float64{-1e9, 0, 0, 0, -2e9, 0, 0, 0, -1e300}))
	y := exp3([9]float64{-1000, 0, 0, 0, 0, 0, 0, 0, -400})
	require.InDeltaSlice(t, []float64{0, 0, 0, 0, 1, 0, 0, 0, 0}, y[:], 1e-12)
	y = exp3([9]float64{700, 0, 0, 0, -700, 0, 0, 0, 0})
	require.InEpsilon(t, math.Exp(700), y[0], 1e-12)
	y = exp3([9]float64{2000, 0, 0, 0, 2000, 0, 0, 0, 2000})
	require.Equal(t, [9]float64{math.Inf(1), 0, 0, 0, math.Inf(1), 0, 0, 0, math.Inf(1)}, y)
	y = exp3([9]float64{1e-300, 0, 5e-324, 0, 0, 0, 0, 0, 0})
	require.Equal(t, [9]float64{1, 0, 5e-324, 0, 1, 0, 0, 0, 1}, y)
	y = exp3([9]float64{math.NaN(), 0, 0, 0, 0, 0, 0, 0, 0})
	require.True(t, math.IsNaN(y[8]))
}

// log(exp(a)) = a while the imaginary parts of the eigenvalues stay below π.
func TestRoundTrips(t *testing.T) {
	for n := 2; n <= 3; n++ {
		rng := rand.New(rand.NewPCG(41, uint64(n)))
		for e := -12; e <= 0; e++ {
			for range 12 {
				a := make([]float64, n*n)
				for i := range a {
					a[i] = math.Pow(10, float64(e)) * (2*rng.Float64() - 1)
				}
				m := expOf(a, n)
				x, ok := logOf(m, n)
				require.True(t, ok)
				// Rounding exp(a) costs 2⁻⁵³ beside 1.
				for i := range a {
					require.InDelta(t, a[i], x[i], 1e-15*(1+10*condLog(m, a, n)*Norm(a)))
				}
				back := expOf(x, n)
				require.LessOrEqual(t, diff(m, back), 4e-15)
			}
		}
	}
}

func TestInverseAndDet(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 1))
	for n := 2; n <= 3; n++ {
		var w, d worst
		for range 2000 {
			m := make([]float64, n*n)
			for i := range m {
				m[i] = rng.NormFloat64()
			}
			if rng.IntN(2) == 0 { // nearly singular
				for j := range n {
					m[j] = m[n+j]*(1+1e-9*rng.NormFloat64()) + 1e-9*rng.NormFloat64()
				}
			}
			k := rng.IntN(1200) - 600
			for i := range m {
				m[i] = math.Ldexp(m[i], k/n)
			}
			inv := make([]float64, n*n)
			var ok bool
			var det float64
			if n == 2 {
				ok, det = Inverse2x2((*[4]float64)(inv), (*[4]float64)(m)), Det2x2((*[4]float64)(m))
			} else {
				ok, det = Inverse3x3((*[9]float64)(inv), (*[9]float64)(m)), Det3x3((*[9]float64)(m))
			}
			require.True(t, ok)
			exact := bigOf(m, n).inverse()
			w.see(relErr(inv, exact.v), Norm(m)*Norm(exact.float()), func() string { return "" })
			b := bigOf(m, n).v
			want := bigNum(0).Sub(bigNum(0).Mul(b[0], b[n+1]), bigNum(0).Mul(b[1], b[n]))
			if n == 3 {
				want = bigNum(0)
				for j := range 3 {
					minor := bigNum(0).Sub(bigNum(0).Mul(b[3+(j+1)%3], b[6+(j+2)%3]), bigNum(0).Mul(b[3+(j+2)%3], b[6+(j+1)%3]))
					want.Add(want, bigNum(0).Mul(b[j], minor))
				}
			}
			f, _ := want.Float64()
			d.see(math.Abs(det-f)/math.Abs(f), 1, func() string { return "" })
		}
		w.require(t, "Inverse", 4e-16)
		d.require(t, "Det", 4.5e-16)
	}
	var x [4]float64
	require.False(t, Inverse2x2(&x, &[4]float64{1, 2, 2, 4}))
	require.True(t, math.IsNaN(x[0]))
	require.True(t, Inverse2x2(&x, &[4]float64{1e-200, 0, 0, 1e250}))
	require.InEpsilonSlice(t, []float64{1e200, 1e-250}, []float64{x[0], x[3]}, 1e-15)
	var y [9]float64
	require.False(t, Inverse3x3(&y, &[9]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}))
	require.True(t, Inverse3x3(&y, &[9]float64{1, 0, 0, 0, 1e-200, 0, 0, 0, 1e-250}))
	require.InEpsilonSlice(t, []float64{1, 1e200, 1e250}, []float64{y[0], y[4], y[8]}, 1e-15)
	require.Zero(t, Det3x3(&[9]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}))
	require.InEpsilon(t, 1e-300, Det3x3(&[9]float64{1e-150, 0, 0, 0, 1e-150, 0, 0, 0, 1}), 1e-15)
	norm, f32, ok := []float64{0}, make([]float32, 4), []bool{true}
	batch.Frobenius2x2(norm, []float64{3e200, 4e200, 0, 0}, 1)
	require.InEpsilon(t, 5e200, norm[0], 1e-15)
	batch.Inverse2x2(f32, ok, []float32{1e-40, 0, 0, 1}, 1)
	require.False(t, ok[0], "not representable in float32")
}

// The derivatives against central differences, also where closed forms divide 0 by 0; and the adjoint against its
// definition <L(a, e), f> = <e, L(aᵀ, f)>.
func TestExpFrechetDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 1))
	for n := 2; n <= 3; n++ {
		k := n * n
		frechet := func(a, e []float64) []float64 {
			l := make([]float64, k)
			if n == 2 {
				ExpFrechet2x2((*[4]float64)(l), (*[4]float64)(a), (*[4]float64)(e))
			} else {
				ExpFrechet3x3((*[9]float64)(l), (*[9]float64)(a), (*[9]float64)(e))
			}
			return l
		}
		adjoint := func(a, e []float64) []float64 {
			l := make([]float64, k)
			if n == 2 {
				batch.ExpFrechetAdjoint2x2(l, a, e, 1)
			} else {
				batch.ExpFrechetAdjoint3x3(l, a, e, 1)
			}
			return l
		}
		for _, th := range append(decades(), math.Pi, 4, 2*math.Pi, 30) {
			a, e, f := make([]float64, k), make([]float64, k), make([]float64, k)
			for i := range e {
				e[i], f[i] = rng.NormFloat64(), rng.NormFloat64()
			}
			a[1], a[n] = -th, th
			l := frechet(a, e)
			require.True(t, allFinite(l), "angle %v: %v", th, l)
			const h = 1e-5
			p, m := make([]float64, k), make([]float64, k)
			for i := range a {
				p[i], m[i] = a[i]+h*e[i], a[i]-h*e[i]
			}
			p, m = expOf(p, n), expOf(m, n)
			for i := range l {
				require.InDelta(t, (p[i]-m[i])/(2*h), l[i], 2e-8*(1+th), "angle %v", th)
			}
			x, y := 0.0, 0.0
			for i, v := range adjoint(a, f) {
				x, y = x+l[i]*f[i], y+v*e[i]
			}
			require.InDelta(t, x, y, 1e-13*(1+th))
		}
	}
}

// The left Jacobian is the derivative of the exponential, for every group and next to every angle, and never NaN.
func TestJacobianDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 1))
	for _, c := range compactGroups {
		_, _, at := c.entries()
		for range 400 {
			a := c.sample(rng)
			j, inv := make([]float64, c.g*c.g), make([]float64, c.g*c.g)
			c.jacobian(j, a)
			c.jinv(inv, a)
			require.True(t, allFinite(j) && allFinite(inv), "%s at %v: %v, %v", c.name, a, j, inv)
			requireClose(t, bigIdentity(c.g).float(), matmul(j, inv, c.g), 1e-13*Norm(inv)*Norm(j), c.name+": J·J⁻¹")
			if c.rot == 2 && math.Abs(a[0]) > 3 {
				continue // differences of numbers of size e^20
			}
			// d exp(a)/da_k = hat(J e_k)·exp(a)
			const h = 1e-5
			m := make([]float64, c.n*c.n)
			c.hat(m, a)
			e := bigOf(m, c.n).exp().float()
			for k := range c.g {
				col := make([]float64, c.g)
				for i := range col {
					col[i] = j[c.g*i+k]
				}
				c.hat(m, col)
				want := matmul(m, e, c.n)
				p, q := append([]float64(nil), a...), append([]float64(nil), a...)
				p[k], q[k] = p[k]+h, q[k]-h
				ep, eq := make([]float64, c.k), make([]float64, c.k)
				c.exp(ep, p)
				c.exp(eq, q)
				for i, x := range at {
					require.InDelta(t, want[x], (ep[i]-eq[i])/(2*h), 1e-8*(1+Norm(want)), "%s at %v, coordinate %d", c.name, a, k)
				}
			}
		}
	}
}
