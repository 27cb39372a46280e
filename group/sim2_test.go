package group

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Lifts lie at the angles of SE(2) and at powers of 2.
func TestSim2Lifts(t *testing.T) {
	g := NewSim2(3, 0)
	a := make([]float64, 4*12)
	g.Lift(a, nil, []float64{3, -4}, 12, nil)
	for l := range 12 {
		require.InDelta(t, []float64{-math.Ln2, 0, math.Ln2}[l%3], a[4*l], 0)
		require.InDelta(t, []float64{-math.Pi / 2, 0, math.Pi / 2, math.Pi}[l/3], a[4*l+1], 0)
	}
}

// Poses of lifted points stay the same when the points move by what takes lifts to lifts: a quarter turn, and a scaling
// by 2, which takes each scale to the next, about any point.
func TestSim2PosesOfLifts(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	g := NewSim2(3, 0)
	const k = 12
	for range 50 {
		x := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		move := []float64{math.Ln2, math.Pi / 2, rng.NormFloat64(), rng.NormFloat64()}
		y := slices.Clone(x)
		for i := 0; i < 4; i += 2 {
			g.Act(y[i:i+2], move, y[i:i+2])
		}
		at := func(x []float64, i, angle, scale int) []float64 {
			row, _ := LiftPoints(g, x, k, 0).Row(i*k + angle*3 + scale)
			return row
		}
		for n := range 4 * 2 * 4 * 2 {
			ai, si, aj, sj := n%4, n/4%2, n/8%4, n/32
			want := poseOf(g, at(x, 0, ai, si), nil, at(x, 1, aj, sj), nil)
			got := poseOf(g, at(y, 0, (ai+1)%4, si+1), nil, at(y, 1, (aj+1)%4, sj+1), nil)
			requireSamePose(t, g, want, got, 1e-13)
		}
	}
}

// A box holds the balls around the points that it was made for, and around others of no larger scale. Larger ones have no box.
func TestSim2Bounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	g := NewSim2(2, 0.3)
	var x []float64
	for range 40 {
		x = append(x, 3*rng.NormFloat64(), 3*rng.NormFloat64())
	}
	l := LiftPoints(g, x, 8, 0)
	rows := make([]int32, l.Rows())
	for i := range rows {
		rows[i] = int32(i)
	}
	b := g.BoundsOf(l, rows)
	center, half, other := make([]float64, 4), make([]float64, 4), make([]float64, 4)
	near := 0
	for range 3000 {
		q := randomElement(g, rng)
		q[0] = 0.3 - math.Abs(q[0])
		aj, _ := l.Row(rng.IntN(l.Rows()))
		r := g.Distance(poseOf(g, q, nil, aj, nil)) * (1 + 1e-12)
		b.BoundCoords(center, q, nil)
		b.BoundCoords(other, aj, nil)
		b.BoundBox(half, r)
		for c, period := range b.BoundPeriods() {
			d := math.Abs(center[c] - other[c])
			if period > 0 {
				d = min(d, period-d)
			}
			require.LessOrEqual(t, d, half[c], "coordinate %d", c)
			if d > 0.5*half[c] {
				near++
			}
		}
	}
	require.Greater(t, near, 100, "boxes are not much too large")
	b.BoundCoords(center, []float64{2, 0, 1, 1}, nil)
	require.True(t, math.IsInf(center[0], 1))

	// A Finder finds what looking at all points finds, for queries with and without a box.
	for _, r := range []float64{0.2, 0.7, 2} {
		f := NewFinder(l, nil, r)
		var w Workspace
		for i := range 60 {
			q, _ := l.Row(rng.IntN(l.Rows()))
			if i%3 == 0 {
				q = []float64{1.5 * rng.NormFloat64(), 0.4, rng.NormFloat64(), rng.NormFloat64()}
			}
			var want []int32
			for j := range l.Rows() {
				if aj, _ := l.Row(j); g.Distance(poseOf(g, q, nil, aj, nil)) < r {
					want = append(want, int32(j))
				}
			}
			require.Equal(t, want, append([]int32(nil), f.Find(&w, q, nil)...))
		}
	}
}

// The poses of two lifts and of the same two shifted differ by no more than TranslationError says, and kinds tell angles and scales apart.
func TestSim2Translation(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	g := NewSim2(3, 0)
	tight := math.Inf(1)
	for range 20000 {
		size := math.Ldexp(1, rng.IntN(24)-12)
		noise := size * math.Ldexp(float64(rng.IntN(2)), -rng.IntN(60)-1)
		k, li, lj := 3*(1+rng.IntN(6)), rng.IntN(18), rng.IntN(18)
		li, lj = li%k, lj%k
		p := [4][2]float64{}
		for c := range 2 {
			by := size * rng.NormFloat64()
			p[0][c], p[1][c] = size*rng.NormFloat64(), size*rng.NormFloat64()
			p[2][c], p[3][c] = p[0][c]+by, p[1][c]+by+noise*(2*rng.Float64()-1)
		}
		var a, x [4][]float64
		kind, most := make([]float64, 4), 0.0
		for i := range p {
			l := li
			if i%2 == 1 {
				l = lj
			}
			row, _ := LiftPoints(g, p[i][:], k, 0).Row(l)
			a[i], x[i] = row, make([]float64, 2)
			g.TranslationCoords(x[i], kind[i:i+1], row, nil)
			most = max(most, math.Abs(x[i][0]), math.Abs(x[i][1]))
		}
		require.True(t, kind[0] == kind[2] && kind[1] == kind[3] && (kind[0] == kind[1]) == (li == lj), kind)
		s := 0x1p-52 * most
		for c := range 2 {
			s = max(s, math.Abs((x[2][c]-x[0][c])-(x[3][c]-x[1][c]))+0x1p-52*most)
		}
		want, got := poseOf(g, a[0], nil, a[1], nil), poseOf(g, a[2], nil, a[3], nil)
		bound := g.TranslationError(s, most)
		for c := range want {
			diff := math.Abs(want[c] - got[c])
			require.LessOrEqual(t, diff, bound)
			if noise > 1e-9*size && diff > 0 {
				tight = min(tight, bound/diff)
			}
		}
	}
	require.Less(t, tight, 1.6, "a bound that is never reached")
	for _, bad := range []float64{math.Inf(1), math.NaN()} {
		require.False(t, g.TranslationError(bad, 1) < 1e300)
		require.False(t, g.TranslationError(0, bad) < 1e300)
	}
	x, kind := make([]float64, 2), make([]float64, 1)
	g.TranslationCoords(x, kind, []float64{0.1, 0, 1, 1}, nil)
	require.True(t, math.IsNaN(kind[0]), "a scale of nobody's")
}
