package group

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/linalg"
)

// Every finite point has a finite lift and finite distances, the origin and the largest floats among them, and an odd
// point leaves the others' poses alone.
func TestExtremePointsAreFinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	vals := []float64{0, math.Copysign(0, -1), 5e-324, -5e-324, 1e-310, 1e-300, -1e-160, 1, -1, 1e160, -1e300}
	for _, g := range allGroups() {
		for range 300 {
			x, y := make([]float64, g.PointDim()), make([]float64, g.PointDim())
			for c := range x {
				x[c], y[c] = vals[rng.IntN(len(vals))], vals[rng.IntN(len(vals))]
			}
			ai, qi := liftOne(g, x, rng)
			aj, qj := liftOne(g, y, rng)
			p := poseOf(g, ai, qi, aj, qj)
			require.True(t, finite(ai) && finite(qi), "%s: lift of %v is %v %v", g.Name(), x, ai, qi)
			require.True(t, finite(p) && finite([]float64{g.Distance(p)}), "%s: pose of %v and %v is %v", g.Name(), x, y, p)
		}
		// NaN never turns into a number.
		x := randomPoint(g, rng, 1)
		x[len(x)-1] = math.NaN()
		a, q := liftOne(g, x, rng)
		require.False(t, finite(a) && finite(q), g.Name())
	}
}

func TestOrigin(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 6))
	zero := math.Copysign(0, -1)
	for _, x := range [][]float64{{0, 0}, {zero, 0}, {0, zero}, {zero, zero}} {
		a, q := liftOne(NewSO2(0), x, rng)
		require.Equal(t, []float64{0, 0}, []float64{a[0], q[0]})

		a, _ = liftOne(NewRxSO2(0), x, rng)
		require.Equal(t, linalg.Log(5e-324), a[0])
		require.Zero(t, a[1])

		a, q = liftOne(NewRx(2, 0), x, rng)
		require.Equal(t, []float64{linalg.Log(5e-324), 0}, []float64{a[0], q[0]})
	}
	a, q := liftOne(NewRx(1, 0), []float64{0}, rng)
	require.Equal(t, []float64{linalg.Log(5e-324), 0}, []float64{a[0], q[0]})
	a, q = liftOne(NewRx(3, 0), []float64{0, zero, 0}, rng)
	require.Equal(t, []float64{linalg.Log(5e-324), 0, 0, 0}, append(a, q...))
	a, _ = liftOne(NewRxSq(0), []float64{-1, 0}, rng)
	require.Equal(t, []float64{linalg.Log(5e-324), 0}, a)
	_, q = liftOne(NewSO3(0), []float64{0, 0, 0}, rng)
	require.Zero(t, q[0])

	// As documented for R>0×SO(2): itself its only neighbour, far from everything else.
	g := NewRxSO2(0)
	o, _ := liftOne(g, []float64{0, 0}, rng)
	require.Zero(t, g.Distance(poseOf(g, o, nil, o, nil)))
	for _, x := range [][]float64{{1e-19, 0}, {0.5, 0.5}, {-30, 40}, {1e8, 1}} {
		a, _ := liftOne(g, x, rng)
		require.Greater(t, g.Distance(poseOf(g, a, nil, o, nil)), 0.7*700)
	}
}

// Quarter turns of the pixel grid leave the radii and the poses of R>0×SO(2) and SO(2) alone: the radii to the last bit,
// the angles to a rounding.
func TestQuarterTurnsOfTheGrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 6))
	for range 500 {
		x, y := -32+float64(rng.IntN(64))*64/63, -32+float64(rng.IntN(64))*64/63
		a, _ := liftOne(NewRxSO2(0), []float64{x, y}, nil)
		b, _ := liftOne(NewRxSO2(0), []float64{-y, x}, nil)
		require.Equal(t, a[0], b[0])
		require.InDelta(t, 0, linalg.WrapAngle(b[1]-a[1]-math.Pi/2), 1e-15)
		_, q := liftOne(NewSO2(0), []float64{x, y}, nil)
		_, p := liftOne(NewSO2(0), []float64{-y, x}, nil)
		require.Equal(t, q, p)
	}
}

// kolmogorov is sqrt(n) times the largest distance of the empirical distribution of u from the uniform one on [0, 1];
// it exceeds 1.95 with probability 1e-3.
func kolmogorov(u []float64) float64 {
	sort.Float64s(u)
	n, d := float64(len(u)), 0.0
	for i, x := range u {
		d = max(d, x-float64(i)/n, float64(i+1)/n-x)
	}
	return d * math.Sqrt(n)
}

// The stabiliser angle of SO(3) lifts is uniform on the circle, for points all around.
func TestSO3SamplesUniformly(t *testing.T) {
	const n = 4000
	rng := rand.New(rand.NewPCG(4, 6))
	for _, x := range [][]float64{{1, 0, 0}, {-1, 0, 0}, {0, 2, 0}, {-3, 1e-9, 0}, {1, -1, 1}} {
		a, q := make([]float64, 3*n), make([]float64, n)
		NewSO3(0).Lift(a, q, x, n, rng)
		u := make([]float64, n)
		back := fromX((*[3]float64)(x)).Conj()
		for l := range n {
			var w [3]float64
			back.Mul(linalg.ExpQuat((*[3]float64)(a[3*l : 3*l+3]))).Log(&w)
			require.InDelta(t, 0, linalg.Norm2(w[1], w[2]), 1e-7) // a rotation about the x axis
			u[l] = (w[0] + math.Pi) / (2 * math.Pi)
		}
		require.Less(t, kolmogorov(u), 1.95, "%v", x)
	}
}

// SE(3) lifts turn by rotations that are uniform in SO(3): each image of each axis is uniform on the sphere (each of its
// coordinates on [-1, 1], by Archimedes), and the angle ω has the distribution (ω - sin ω)/π.
func TestSE3SamplesUniformly(t *testing.T) {
	const n = 4000
	rng := rand.New(rand.NewPCG(5, 6))
	a := make([]float64, 6*n)
	NewSE3(0).Lift(a, nil, []float64{1, -2, 3}, n, rng)
	var u [10][]float64
	for l := range n {
		m := linalg.ExpMotion3((*[6]float64)(a[6*l : 6*l+6]))
		requireNear(t, []float64{1, -2, 3}, m.P[:], 1e-14, "the point")
		var r [9]float64
		m.Q.Matrix(&r)
		for i := range r {
			u[i] = append(u[i], (1+r[i])/2)
		}
		w := linalg.Norm(a[6*l : 6*l+3])
		u[9] = append(u[9], (w-math.Sin(w))/math.Pi)
	}
	for i := range u {
		require.Less(t, kolmogorov(u[i]), 1.95, "statistic %d", i)
	}
}

// Evenly spread lifts are lifts, the same every time, and nearer to the uniform distribution than random ones: Kolmogorov's statistic of
// every entry of the rotation matrices is below 0.5, which random numbers exceed in 96 of 100 cases.
func TestUniformLifts(t *testing.T) {
	x := []float64{1, -2, 3, 0, 0, 0, -4, 0, 0}
	for _, g := range []Group{NewSO3(0), NewSE3(0), NewSE2(0), NewT(3, 0)} {
		d := g.PointDim()
		for _, k := range []int{1, 2, 7} {
			l := LiftPointsUniform(g, x[:d*(len(x)/d)], k)
			require.Equal(t, l, LiftPointsUniform(g, x[:d*(len(x)/d)], k))
			require.Equal(t, k*(len(x)/d), l.Rows())
			for i := range l.Rows() {
				a, q := l.Row(i)
				y := origin(g, q)
				g.Act(y, a, y)
				requireNear(t, x[d*(i/k):d*(i/k)+d], y, 1e-14, g.Name())
			}
		}
	}
	const k = 2000
	l := LiftPointsUniform(NewSE3(0), []float64{1, -2, 3}, k)
	var u [9][]float64
	for i := range k {
		a, _ := l.Row(i)
		var r [9]float64
		linalg.ExpMotion3((*[6]float64)(a)).Q.Matrix(&r)
		for e := range r {
			u[e] = append(u[e], (1+r[e])/2)
		}
	}
	for e := range u {
		require.Less(t, kolmogorov(u[e]), 0.5, "entry %d", e)
	}
	require.Panics(t, func() { LiftPointsUniform(NewSO3(0), x[:4], 1) })
	require.Panics(t, func() { LiftPointsUniform(NewSO3(0), x, 0) })
}

// TestRotationGroups: the finite groups have as many rotations as they say, the identity first, and products of two are among them.
func TestRotationGroups(t *testing.T) {
	for _, k := range []int{1, 4, 12, 24, 60} {
		all := rotationGroup(k)
		require.Len(t, all, k)
		require.Equal(t, linalg.Quat{1, 0, 0, 0}, all[0])
		for _, p := range all {
			require.InDelta(t, 1, p[0]*p[0]+p[1]*p[1]+p[2]*p[2]+p[3]*p[3], 1e-15)
			for _, q := range all {
				r, best := p.Mul(q), 0.0
				for _, s := range all {
					best = max(best, math.Abs(r[0]*s[0]+r[1]*s[1]+r[2]*s[2]+r[3]*s[3]))
				}
				require.InDelta(t, 1, best, 1e-14)
			}
		}
		a, r := make([]float64, 6*k), make([]float64, 9)
		NewSE3(0).LiftUniform(a, nil, []float64{0, 0, 0}, k)
		for l := range k {
			NewSE3(0).Turn(r, a[6*l:6*l+6])
			if k > 24 {
				continue
			}
			for _, v := range r { // axes are turned into axes
				require.Contains(t, []float64{-1, 0, 1}, v)
			}
		}
	}
	require.Nil(t, rotationGroup(2))
}

func TestSE2LiftAngles(t *testing.T) {
	for k := 1; k <= 8; k++ {
		a := make([]float64, 3*k)
		NewSE2(0).Lift(a, nil, []float64{1, 2}, k, nil)
		for l := range k {
			require.InDelta(t, -math.Pi+2*math.Pi*float64(l+1)/float64(k), a[3*l], 1e-15)
		}
		require.Equal(t, math.Pi, a[3*k-3])
		if k%2 == 0 {
			require.Zero(t, a[3*(k/2-1)], "the middle angle is exactly 0")
		}
	}
}

func TestLiftPoints(t *testing.T) {
	x := []float64{1, 2, 3, -4, 5, 6}
	l, same, other := LiftPoints(NewSE3(0), x, 2, 7), LiftPoints(NewSE3(0), x, 2, 7), LiftPoints(NewSE3(0), x, 2, 8)
	require.Equal(t, l.A, same.A)
	require.NotEqual(t, l.A, other.A)
	require.Equal(t, 4, l.Rows())
	l.Append(other)
	require.Equal(t, 4, l.N)
	a, q := l.Row(5)
	require.Equal(t, other.A[6:12], a)
	require.Empty(t, q)

	s := LiftPoints(NewSO2(0), []float64{3, 4}, 1, 0)
	_, q = s.Row(0)
	require.Equal(t, []float64{5}, q)
	require.Zero(t, LiftPoints(NewT(2, 0), nil, 1, 0).Rows())

	require.Panics(t, func() { LiftPoints(NewT(2, 0), x[:3], 1, 0) })
	require.Panics(t, func() { LiftPoints(NewT(2, 0), x, 0, 0) })
	require.Panics(t, func() { l.Append(LiftPoints(NewT(2, 0), x, 2, 0)) })
}

// TestProductRefusesShort: a product has no room for half of what it writes.
func TestProductRefusesShort(t *testing.T) {
	g := NewProduct(NewT(1, 0), NewSO2(0), 0)
	full := func(n int) []float64 { return make([]float64, n, 9) }
	require.PanicsWithValue(t, "group: Product.RelativePose: len(pose) = 3, need 4",
		func() { g.RelativePose(full(3), full(2), full(1), full(2), full(1)) })
	require.PanicsWithValue(t, "group: Product.Lift: len(a) = 3, need 4", func() { g.Lift(full(3), full(2), full(3), 2, nil) })
	require.PanicsWithValue(t, "group: Product.Lift: len(q) = 1, need 2", func() { g.Lift(full(4), full(1), full(3), 2, nil) })
}

// TestSqueezeInfinite: -Inf is no point outside the quadrant, but no number.
func TestSqueezeInfinite(t *testing.T) {
	for _, g := range []Group{NewSqueeze(0), NewRxSq(0)} {
		for _, x := range [][]float64{{math.Inf(-1), 1}, {-2, math.Inf(-1)}, {math.Inf(-1), math.Inf(-1)}} {
			l := LiftPoints(g, x, 1, 0)
			finite := true
			for _, v := range append(l.A, l.Q...) {
				finite = finite && !math.IsNaN(v) && !math.IsInf(v, 0)
			}
			require.False(t, finite, "%s at %v: %v %v", g.Name(), x, l.A, l.Q)
		}
	}
}
