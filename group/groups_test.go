package group

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/linalg"
)

// allGroups is one of each kind and of each dimension that has a path of its own.
func allGroups() []Group {
	return []Group{
		NewT(1, 0), NewT(2, 0), NewT(3, 0.4), NewT(5, 0), NewSO2(0), NewSO2(0.2), NewRxSO2(0), NewSE2(0), NewRx(1, 0),
		NewRx(2, 0.3), NewRx(3, 0), NewRxSq(0), NewSO3(0), NewSE3(0), NewTrivial(1, 0), NewTrivial(3, 0.5),
		NewSqueeze(0), NewAxis(2, 0, 0), NewAxis(3, 1, 0.4), NewSim2(1, 0), NewSim2(3, 0.4),
	}
}

// randomPoint draws a point that g can lift, of about the given size.
func randomPoint(g Group, rng *rand.Rand, size float64) []float64 {
	x := make([]float64, g.PointDim())
	for c := range x {
		x[c] = size * rng.NormFloat64()
		switch g.(type) {
		case *RxSq, *Squeeze:
			x[c] = math.Abs(x[c])
		}
	}
	return x
}

// randomElement draws algebra coordinates: every angle up to a half turn, logarithms and translations around 1.
func randomElement(g Group, rng *rand.Rand) []float64 {
	a := make([]float64, g.AlgebraDim())
	for c := range a {
		a[c] = rng.NormFloat64()
	}
	switch g.(type) {
	case *SO2, *SE2:
		a[0] = math.Pi * (2*rng.Float64() - 1)
	case *RxSO2, *Sim2:
		a[1] = math.Pi * (2*rng.Float64() - 1)
	case *SO3, *SE3:
		f := math.Pi * rng.Float64() / linalg.Norm(a[:3])
		a[0], a[1], a[2] = f*a[0], f*a[1], f*a[2]
	}
	return a
}

// origin is o(q), the point that a lift moves to x.
func origin(g Group, q []float64) []float64 {
	o := make([]float64, g.PointDim())
	switch g := g.(type) {
	case *SO2, *SO3:
		o[0] = q[0]
	case *RxSO2:
		o[0] = 1
	case *RxSq:
		o[0], o[1] = 1, 1
	case *Rx:
		if copy(o, q); g.n == 2 {
			o[1], o[0] = math.Sincos(q[0])
		}
	case *Trivial:
		copy(o, q)
	case *Squeeze:
		o[0], o[1] = math.Exp(q[0]), math.Exp(q[0])
	case *Axis:
		copy(o[:g.axis], q)
		copy(o[g.axis+1:], q[g.axis:])
	}
	return o
}

func liftOne(g Group, x []float64, rng *rand.Rand) (a, q []float64) {
	a, q = make([]float64, g.AlgebraDim()), make([]float64, g.OrbitDim())
	g.Lift(a, q, x, 1, rng)
	return a, q
}

func poseOf(g Group, ai, qi, aj, qj []float64) []float64 {
	p := make([]float64, PoseDim(g))
	g.RelativePose(p, ai, qi, aj, qj)
	return p
}

func requireNear(t *testing.T, want, got []float64, tol float64, what string) {
	t.Helper()
	require.Len(t, got, len(want), what)
	s := 1.0
	for i := range want {
		s = max(s, math.Abs(want[i]))
	}
	for i := range want {
		if !(math.Abs(want[i]-got[i]) <= tol*s) {
			t.Fatalf("%s: coordinate %d differs by %.3g\nwant %v\ngot  %v", what, i, math.Abs(want[i]-got[i]), want, got)
		}
	}
}

// exp(a)·o(q) = x for every lift.
func TestLiftedOriginIsThePoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	for _, g := range allGroups() {
		for _, size := range []float64{1, 1e-6, 1e6, 1e-100, 1e100} {
			for range 30 {
				x := randomPoint(g, rng, size)
				k := 1 + rng.IntN(4)
				a, q := make([]float64, k*g.AlgebraDim()), make([]float64, k*g.OrbitDim())
				g.Lift(a, q, x, k, rng)
				for l := range k {
					al, ql := a[l*g.AlgebraDim():(l+1)*g.AlgebraDim()], q[l*g.OrbitDim():(l+1)*g.OrbitDim()]
					y := origin(g, ql)
					g.Act(y, al, y)
					for c := range y {
						y[c], x[c] = y[c]/size, x[c]/size
					}
					requireNear(t, x, y, 2e-13, g.Name()) // |log r| = 230 costs a factor 230
					for c := range x {
						x[c] *= size
					}
				}
			}
		}
	}
}

func TestActionComposeInverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 4))
	for _, gr := range allGroups() {
		g := gr.(Composer)
		for range 50 {
			a, b, x := randomElement(g, rng), randomElement(g, rng), randomPoint(g, rng, 1)
			d := g.PointDim()
			bx, abx, y := make([]float64, d), make([]float64, d), make([]float64, d)
			g.Act(bx, b, x)
			g.Act(abx, a, bx)
			ab := make([]float64, g.AlgebraDim())
			g.Compose(ab, a, b)
			g.Act(y, ab, x)
			requireNear(t, abx, y, 1e-13, g.Name()+": (ab)x = a(bx)")

			inv := make([]float64, g.AlgebraDim())
			g.Inverse(inv, b)
			g.Act(y, inv, bx)
			requireNear(t, x, y, 1e-13, g.Name()+": b⁻¹(bx) = x")

			// The documented aliasing: dst may be an input.
			c := slices.Clone(a)
			g.Compose(c, c, b)
			require.Equal(t, ab, c, g.Name())
			c = append(c[:0], b...)
			g.Compose(c, a, c)
			require.Equal(t, ab, c, g.Name())
			c = append(c[:0], b...)
			g.Inverse(c, c)
			require.Equal(t, inv, c, g.Name())
			y = append(y[:0], x...)
			g.Act(y, b, y)
			require.Equal(t, bx, y, g.Name())
			if IsIsometric(g) {
				x2 := randomPoint(g, rng, 1)
				y2 := make([]float64, d)
				g.Act(y2, b, x2)
				require.InDelta(t, distance(x, x2), distance(bx, y2), 1e-13, g.Name())
			}
		}
	}
}

func distance(x, y []float64) float64 {
	s := 0.0
	for c := range x {
		s += (x[c] - y[c]) * (x[c] - y[c])
	}
	return math.Sqrt(s)
}

// requireSamePose compares poses; at relative angle π, where ±π and ±axis are the same rotation, it compares them by
// the second of the two elements' exponentials acting on points.
func requireSamePose(t *testing.T, g Group, want, got []float64, tol float64) {
	t.Helper()
	near := false
	switch g.(type) {
	case *SO2:
		near = math.Abs(want[0]) > math.Pi-1e-9
	case *RxSO2, *Sim2:
		near = math.Abs(want[1]) > math.Pi-1e-9
	case *SE2:
		near = math.Abs(want[0]) > math.Pi-1e-9
	case *SO3, *SE3:
		near = linalg.Norm(want[:3]) > math.Pi-1e-9
	}
	if !near {
		requireNear(t, want, got, tol, g.Name())
		return
	}
	n := g.AlgebraDim()
	requireNear(t, want[n:], got[n:], tol, g.Name())
	for c := -1; c < g.PointDim(); c++ {
		x := make([]float64, g.PointDim())
		if c >= 0 {
			x[c] = 1
		}
		y := slices.Clone(x)
		g.Act(x, want[:n], x)
		g.Act(y, got[:n], y)
		requireNear(t, x, y, tol, g.Name()+" at a half turn")
	}
}

// The relative pose and the distance do not change when the group acts on both points: for all groups on lifted
// elements, and where the lift is unique also on the points themselves.
func TestPoseIsInvariant(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, gr := range allGroups() {
		g := gr.(Composer)
		for range 50 {
			x, y := randomPoint(g, rng, 2), randomPoint(g, rng, 2)
			ai, qi := liftOne(g, x, rng)
			aj, qj := liftOne(g, y, rng)
			want := poseOf(g, ai, qi, aj, qj)
			h := randomElement(g, rng)
			bi, bj := make([]float64, len(ai)), make([]float64, len(aj))
			g.Compose(bi, h, ai)
			g.Compose(bj, h, aj)
			got := poseOf(g, bi, qi, bj, qj)
			requireSamePose(t, g, want, got, 1e-13)
			require.InDelta(t, g.Distance(want), g.Distance(got), 1e-13, g.Name())

			if g.MaxLifts() != 1 {
				continue
			}
			g.Act(x, h, x)
			g.Act(y, h, y)
			bi, ri := liftOne(g, x, rng)
			bj, rj := liftOne(g, y, rng)
			got = poseOf(g, bi, ri, bj, rj)
			requireSamePose(t, g, want, got, 1e-13)
			require.InDelta(t, g.Distance(want), g.Distance(got), 1e-13, g.Name())
		}
	}
}

// The pose is log(u_j⁻¹ u_i) in the sense of Compose and Inverse, and swapping the points inverts it.
func TestPoseIsTheLogarithm(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, gr := range allGroups() {
		g := gr.(Composer)
		n := g.AlgebraDim()
		for range 50 {
			ai, qi := liftOne(g, randomPoint(g, rng, 2), rng)
			aj, qj := liftOne(g, randomPoint(g, rng, 2), rng)
			got := poseOf(g, ai, qi, aj, qj)
			want := make([]float64, n)
			g.Inverse(want, aj)
			g.Compose(want, want, ai)
			want = append(append(want, qi...), qj...)
			requireSamePose(t, g, want, got, 1e-13)
			require.Zero(t, g.Distance(poseOf(g, ai, qi, ai, qi)), g.Name()+": a point's distance from itself")
			require.InDelta(t, g.Distance(got), g.Distance(poseOf(g, aj, qj, ai, qi)), 1e-13, g.Name()+": symmetry")
		}
	}
}

func TestDimensions(t *testing.T) {
	for _, c := range []struct {
		g                           Group
		name                        string
		point, algebra, orbit, lift int
		alpha                       float64
		isometric                   bool
	}{
		{NewT(2, 0), "T(2)", 2, 2, 0, 1, 0.2, true},
		{NewSO2(0), "SO(2)", 2, 1, 1, 1, 0.3, true},
		{NewRxSO2(0), "R>0xSO(2)", 2, 2, 0, 1, 0.3, false},
		{NewSE2(0), "SE(2)", 2, 3, 0, 0, 0.2, true},
		{NewRx(1, 0), "R>0(1)", 1, 1, 1, 1, 0.2, false},
		{NewRx(2, 0), "R>0(2)", 2, 1, 1, 1, 0.2, false},
		{NewRx(4, 0), "R>0(4)", 4, 1, 4, 1, 0.2, false},
		{NewRxSq(0.7), "R>0xSqueeze", 2, 2, 0, 1, 0.7, false},
		{NewSim2(3, 0), "Sim(2) at 3 scales", 2, 4, 0, 0, 0.2, false},
		{NewSO3(0), "SO(3)", 3, 3, 1, 0, 0.2, true},
		{NewSE3(0), "SE(3)", 3, 6, 0, 0, 0.2, true},
		{NewTrivial(3, 0), "trivial(3)", 3, 0, 3, 1, 0.2, true},
	} {
		require.Equal(t, c.name, c.g.Name())
		require.Equal(t, []int{c.point, c.algebra, c.orbit, c.lift},
			[]int{c.g.PointDim(), c.g.AlgebraDim(), c.g.OrbitDim(), c.g.MaxLifts()}, c.name)
		require.Equal(t, c.alpha, c.g.Alpha(), c.name)
		require.Equal(t, c.isometric, IsIsometric(c.g), c.name)
		require.Equal(t, c.algebra+2*c.orbit, PoseDim(c.g))
	}
	for _, f := range []func(){
		func() { NewT(0, 0) }, func() { NewTrivial(65, 0) }, func() { NewSim2(0, 0) }, func() { NewSim2(17, 0) },
		func() { NewRx(-1, 0) }, func() { NewSO2(1) },
		func() { NewSE2(-0.1) }, func() { NewSE3(math.NaN()) }, func() { NewSO3(math.Inf(1)) },
	} {
		require.Panics(t, f)
	}
}
