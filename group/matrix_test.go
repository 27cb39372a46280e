package group

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/linalg"
)

// logPolarMatrix is R>0×SO(2), described as a user would.
func logPolarMatrix() *Matrix {
	return NewMatrix("spirals", [][4]float64{{1, 0, 0, 1}, {0, -1, 1, 0}}, 0, func(a, _, x []float64) {
		a[0], a[1] = linalg.LogHypot(x[0], x[1]), linalg.Angle(x[0], x[1])
	}, 0.3)
}

// A group described by its Lie algebra gives the poses of its closed form.
func TestMatrixGroupAgainstClosedForm(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	own, closed := logPolarMatrix(), NewRxSO2(0.3)
	for range 300 {
		x := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		l, m := LiftPoints(own, x, 1, 0), LiftPoints(closed, x, 1, 0)
		var p, q [2]float64
		own.RelativePose(p[:], l.A[:2], nil, l.A[2:], nil)
		closed.RelativePose(q[:], m.A[:2], nil, m.A[2:], nil)
		require.InDelta(t, q[0], p[0], 1e-13)
		require.InDelta(t, q[1], p[1], 1e-12)

		// Invariance under the group's own action.
		h := []float64{rng.NormFloat64(), rng.NormFloat64()}
		y := make([]float64, 4)
		own.Act(y[:2], h, x[:2])
		own.Act(y[2:], h, x[2:])
		l = LiftPoints(own, y, 1, 0)
		var moved [2]float64
		own.RelativePose(moved[:], l.A[:2], nil, l.A[2:], nil)
		require.InDeltaSlice(t, p[:], moved[:], 1e-12)
	}
}

// A basis that is neither orthogonal nor of one length: coordinates come back, and composition is the product.
func TestMatrixCoordinates(t *testing.T) {
	g := NewMatrix("affine", [][4]float64{{1, 3, 0, 0}, {0, 2, 0, 0}}, 1, func(a, q, x []float64) {
		a[0], a[1], q[0] = x[0], x[1], x[0]+x[1]
	}, 0)
	rng := rand.New(rand.NewPCG(2, 9))
	zero := []float64{0, 0}
	for range 100 {
		a, b := []float64{rng.NormFloat64(), rng.NormFloat64()}, []float64{rng.NormFloat64(), rng.NormFloat64()}
		var c, back [2]float64
		g.Compose(c[:], a, zero)
		require.InDeltaSlice(t, a, c[:], 1e-12)
		g.Compose(c[:], a, b)
		g.Inverse(back[:], b)
		g.Compose(c[:], c[:], back[:])
		require.InDeltaSlice(t, a, c[:], 1e-10)
		var p [4]float64
		g.RelativePose(p[:], b, []float64{7}, a, []float64{8})
		require.Equal(t, []float64{7, 8}, p[2:])
		g.Compose(c[:], a, p[:2])
		require.InDeltaSlice(t, b, c[:], 1e-10)
	}
	require.InDelta(t, 0.2*5+0.8*2, g.Distance([]float64{3, -4, 1, 3}), 1e-15)
	require.Panics(t, func() { NewMatrix("x", [][4]float64{{1}, {2}}, 0, func(_, _, _ []float64) {}, 0) })
	require.Panics(t, func() { NewMatrix("x", nil, 0, func(_, _, _ []float64) {}, 0) })
}

// A basis that spans no Lie algebra is refused: the commutator of these two is diagonal.
func TestMatrixBasisMustBeClosed(t *testing.T) {
	lift := func(_, _, _ []float64) {}
	require.PanicsWithValue(t, "group: NewMatrix: the basis is not closed under commutators: that of matrices 0 and 1 is not in its span",
		func() { NewMatrix("x", [][4]float64{{0, 1, 0, 0}, {0, 0, 1, 0}}, 0, lift, 0) })
	require.PanicsWithValue(t, "group: NewMatrix3: the basis is not closed under commutators: that of matrices 0 and 2 is not in its span",
		func() { NewMatrix3("x", [][9]float64{{1: 1, 3: -1}, {8: 1}, {2: 1, 6: -1}}, 0, lift, 0) })
	require.NotPanics(t, func() { NewMatrix("x", [][4]float64{{0, 1e-7, 0, 0}, {0, 0, 1e5, 0}, {1, 0, 0, -1}}, 0, lift, 0) })
}

// Rotations of space described by their Lie algebra, in 3×3 matrices: poses, products and action of the closed form.
func TestMatrix3AgainstClosedForm(t *testing.T) {
	own := NewMatrix3("turns", [][9]float64{{0, 0, 0, 0, 0, -1, 0, 1, 0}, {0, 0, 1, 0, 0, 0, -1, 0, 0}, {0, -1, 0, 1, 0, 0, 0, 0, 0}}, 1,
		func(a, q, x []float64) { q[0] = liftSO3((*[3]float64)(a), (*[3]float64)(x), 0) }, 0)
	closed := NewSO3(0)
	require.Equal(t, []int{3, 3, 1, 5}, []int{own.PointDim(), own.AlgebraDim(), own.OrbitDim(), PoseDim(own)})
	rng := rand.New(rand.NewPCG(5, 9))
	for range 200 {
		x := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		l := LiftPoints(own, x, 1, 0)
		ai, qi := l.Row(0)
		aj, qj := l.Row(1)
		want := poseOf(closed, ai, qi, aj, qj)
		if linalg.Norm(want[:3]) > 3.1 { // near a half turn the general logarithm ends
			continue
		}
		requireNear(t, want, poseOf(own, ai, qi, aj, qj), 1e-12, "pose")
		require.InDelta(t, closed.Distance(want), own.Distance(want), 1e-15)
		p, q := make([]float64, 3), make([]float64, 3)
		closed.Act(p, ai, x[3:])
		own.Act(q, ai, x[3:])
		requireNear(t, p, q, 1e-14, "action")
		own.Compose(p, aj, poseOf(own, ai, qi, aj, qj)[:3])
		requireNear(t, ai, p, 1e-11, "a_j·(a_j⁻¹ a_i)")
	}
	half := make([]float64, 5)
	own.RelativePose(half, []float64{math.Pi, 0, 0}, []float64{1}, []float64{0, 0, 0}, []float64{1})
	require.False(t, own.Distance(half) < 3.14*0.2-1e-9) // ±π, or none
	require.Panics(t, func() { NewMatrix3("x", make([][9]float64, 10), 0, func(_, _, _ []float64) {}, 0) })
	require.Panics(t, func() { NewMatrix3("x", [][9]float64{{1}, {1}}, 0, func(_, _, _ []float64) {}, 0) })
}

// Without a bound, a finder compares all pairs and finds the same.
func TestFinderOfMatrixGroup(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	x := make([]float64, 300)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	g := logPolarMatrix()
	l := LiftPoints(g, x, 1, 0)
	f := NewFinder(l, nil, 0.3)
	var w Workspace
	rows := make([]int32, l.Rows())
	for j := range rows {
		rows[j] = int32(j)
	}
	for i := range 20 {
		a, q := l.Row(i)
		require.Equal(t, within(l, rows, a, q, 0.3), append([]int32{}, f.Find(&w, a, q)...))
	}
	// A pose without logarithm is nobody's.
	require.False(t, g.Distance([]float64{math.NaN(), 0}) < math.Inf(1))
}

// A product's poses and distances are those of its parts, its balls what comparing all pairs finds, by the filter where both
// parts have bounds and without where one has none.
func TestProduct(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	for _, parts := range [][2]Group{
		{NewT(1, 0), NewSO2(0)}, {NewSO2(0), NewRx(2, 0)}, {NewRxSO2(0), NewT(2, 0.4)}, {logPolarMatrix(), NewT(1, 0)},
		{NewProduct(NewT(1, 0), NewT(1, 0), 0), NewTrivial(1, 0)}, {NewSE2(0), NewT(1, 0)},
	} {
		g := NewProduct(parts[0], parts[1], 0.3)
		x := make([]float64, g.PointDim()*120)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		d, k := parts[0].PointDim(), 1
		if g.MaxLifts() != 1 {
			k = 2
		}
		l := LiftPoints(g, x, k, 1)
		rows := make([]int32, l.Rows())
		for j := range rows {
			rows[j] = int32(j)
		}
		var w Workspace
		for _, r := range []float64{0.05, 0.3, 2} {
			f := NewFinder(l, nil, r)
			for i := range 10 {
				a, q := l.Row(i)
				require.Equal(t, within(l, rows, a, q, r), append([]int32{}, f.Find(&w, a, q)...), g.Name())
			}
		}
		if k > 1 {
			continue
		}
		for range 20 {
			i, j := rng.IntN(120), rng.IntN(120)
			want := 0.0
			for part, h := range parts {
				lo, hi := 0, d
				if part == 1 {
					lo, hi = d, g.PointDim()
				}
				xi, xj := x[i*g.PointDim()+lo:i*g.PointDim()+hi], x[j*g.PointDim()+lo:j*g.PointDim()+hi]
				m := LiftPoints(h, append(append([]float64{}, xi...), xj...), 1, 1)
				ai, qi := m.Row(0)
				aj, qj := m.Row(1)
				want += []float64{0.3, 0.7}[part] * h.Distance(poseOf(h, ai, qi, aj, qj))
			}
			ai, qi := l.Row(i)
			aj, qj := l.Row(j)
			require.InDelta(t, want, g.Distance(poseOf(g, ai, qi, aj, qj)), 1e-14, g.Name())
		}
	}
}
