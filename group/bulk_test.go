package group

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// mixedLifts is a set of lifted points with what searches stumble over: duplicates, clusters, the origin, huge and tiny
// points, opposite points.
func mixedLifts(g Group, rng *rand.Rand, n int) *Lifted {
	d := g.PointDim()
	var x []float64
	for i := range n {
		p := randomPoint(g, rng, 1)
		switch i % 8 {
		case 1:
			p = randomPoint(g, rng, math.Pow(10, float64(rng.IntN(21)-10)))
		case 2:
			copy(p, x[len(x)-d:]) // a duplicate
		case 3:
			for c := range p { // a neighbour at a distance of rounding errors
				p[c] = x[len(x)-d+c] * (1 + 1e-14*rng.NormFloat64())
			}
		case 4:
			for c := range p {
				p[c] = -x[len(x)-d+c]
			}
		case 5:
			p[rng.IntN(d)] = 0
		case 6:
			for c := range p {
				p[c] = float64(rng.IntN(5)) - 2 // grid points, the origin among them
			}
		}
		x = append(x, p...)
	}
	k := 1
	if g.MaxLifts() != 1 {
		k = 3
	}
	return LiftPoints(g, x, k, rng.Uint64())
}

func TestDistancesEqualTheScalarPath(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for _, gr := range allGroups() {
		g := gr.(PairComputer)
		l := mixedLifts(g, rng, 60)
		// Extreme and non-finite coordinates take other paths; the two must still agree.
		odd := []float64{0, math.Copysign(0, -1), 1e-300, 1e300, -1e300, math.MaxFloat64, math.Inf(1), math.NaN(), math.Pi,
			-math.Pi, 7, 100}
		for i := range 30 {
			a, q := l.Row(i * 2)
			for c := range a {
				if rng.IntN(2) == 0 {
					a[c] = odd[rng.IntN(len(odd))]
				}
			}
			for c := range q {
				if rng.IntN(2) == 0 {
					q[c] = odd[rng.IntN(len(odd))]
				}
			}
		}
		dist := make([]float64, l.Rows())
		for i := range l.Rows() {
			ai, qi := l.Row(i)
			g.Distances(dist, ai, qi, l.A, l.Q)
			for j := range l.Rows() {
				aj, qj := l.Row(j)
				want := g.Distance(poseOf(g, ai, qi, aj, qj))
				if math.Float64bits(want) != math.Float64bits(dist[j]) && !(math.IsNaN(want) && math.IsNaN(dist[j])) {
					t.Fatalf("%s: i = %v %v, j = %v %v: Distances gives %v, Distance %v", g.Name(), ai, qi, aj, qj, dist[j], want)
				}
			}
			g.Distances(nil, ai, qi, nil, nil)
		}
		require.Zero(t, testing.AllocsPerRun(10, func() {
			ai, qi := l.Row(0)
			g.Distances(dist, ai, qi, l.A, l.Q)
		}), g.Name())
	}
}

// boxHolds reports whether the bounding coordinates ci and cj are within half of each other.
func boxHolds(b Bounder, ci, cj, half []float64) bool {
	for m, p := range b.BoundPeriods() {
		d := math.Abs(ci[m] - cj[m])
		if p > 0 {
			d = math.Min(d, math.Abs(p-d))
		}
		if !(d <= half[m]) {
			return false
		}
	}
	return true
}

// No point of a ball lies outside the ball's box, above all none whose distance is the radius itself.
func TestBoundBoxHoldsTheBall(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 5))
	for _, gr := range allGroups() {
		l := mixedLifts(gr, rng, 150)
		g, ok := gr.(Bounder)
		if set, depends := gr.(SetBounder); depends {
			rows := make([]int32, l.Rows())
			for i := range rows {
				rows[i] = int32(i)
			}
			g, ok = set.BoundsOf(l, rows), true
		}
		require.True(t, ok, gr.Name())
		m := g.BoundDim()
		require.Len(t, g.BoundPeriods(), m)
		coords := make([][]float64, l.Rows())
		for i := range coords {
			coords[i] = make([]float64, m)
			a, q := l.Row(i)
			g.BoundCoords(coords[i], a, q)
			for c, p := range g.BoundPeriods() {
				require.False(t, math.IsNaN(coords[i][c]))
				if p > 0 {
					require.LessOrEqual(t, math.Abs(coords[i][c]), p/2)
				}
			}
		}
		half := make([]float64, m)
		pairs := 0
		for i := range l.Rows() {
			ai, qi := l.Row(i)
			for j := range l.Rows() {
				aj, qj := l.Row(j)
				r := g.Distance(poseOf(g, ai, qi, aj, qj))
				// The allowance is for coordinates up to 10⁵ radii.
				size := 0.0
				switch gr.(type) {
				case *SE2, *Sim2:
					size = math.Hypot(coords[i][0], coords[i][1])
				case *SE3:
					size = math.Hypot(math.Hypot(coords[i][0], coords[i][1]), coords[i][2])
				}
				if size > 1e5*r {
					continue
				}
				pairs++
				g.BoundBox(half, r)
				if !boxHolds(g, coords[i], coords[j], half) {
					t.Fatalf("%s: at distance %v, but %v and %v are farther apart than %v", g.Name(), r, coords[i], coords[j], half)
				}
			}
		}
		require.Greater(t, pairs, l.Rows()*l.Rows()/2)
	}
}

// Adversaries: pairs that differ in one part of the pose only, where the bound of that part is tight.
func TestBoundBoxAtItsTightest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	type pair struct {
		g              Bounder
		ai, qi, aj, qj []float64
		coord          int // the bounding coordinate that should be nearly used up
	}
	for range 200 {
		d := math.Pow(10, -6*rng.Float64())
		th := math.Pi * (2*rng.Float64() - 1)
		r := math.Exp(3 * rng.NormFloat64())
		for n, c := range []pair{
			{NewT(2, 0), []float64{1, 2}, nil, []float64{1 + d, 2}, nil, 0},
			{NewSO2(0), []float64{th}, []float64{r}, []float64{th + d}, []float64{r}, 0},
			{NewSO2(0), []float64{th}, []float64{r}, []float64{th}, []float64{r * (1 + d)}, 1},
			{NewSO2(0), []float64{th}, []float64{0}, []float64{th}, []float64{d}, 1},
			{NewRxSO2(0), []float64{r, th}, nil, []float64{r + d, th}, nil, 0},
			{NewRxSO2(0), []float64{r, math.Pi - d/2}, nil, []float64{r, -math.Pi + d/2}, nil, 1},
			{NewSE2(0), []float64{0, 3, -2}, nil, []float64{0, 3 + d, -2}, nil, 0},
			{NewSE2(0), []float64{th, 0, 0}, nil, []float64{th + d, 0, 0}, nil, 2},
			{NewSO3(0), []float64{0, 0, d / 2}, []float64{r}, []float64{0, 0, -d / 2}, []float64{r}, 2},
			{NewSO3(0), []float64{0, 0, 1}, []float64{r}, []float64{0, 0, 1}, []float64{r * (1 + d)}, 0},
			{NewSE3(0), []float64{0, 0, 0, 1, 0, 0}, nil, []float64{0, 0, 0, 1 + d, 0, 0}, nil, 0},
			{NewTrivial(2, 0), nil, []float64{1, 2}, nil, []float64{1, 2 + d}, 1},
			{NewRx(1, 0), []float64{r}, []float64{1}, []float64{r + d}, []float64{1}, 0},
			{NewRx(2, 0), []float64{r}, []float64{th}, []float64{r}, []float64{th + d}, 1},
			{NewRxSq(0), []float64{r, 1}, nil, []float64{r, 1 + d}, nil, 1},
		} {
			m := c.g.BoundDim()
			ci, cj, half := make([]float64, m), make([]float64, m), make([]float64, m)
			c.g.BoundCoords(ci, c.ai, c.qi)
			c.g.BoundCoords(cj, c.aj, c.qj)
			dist := c.g.Distance(poseOf(c.g, c.ai, c.qi, c.aj, c.qj))
			c.g.BoundBox(half, dist)
			require.True(t, boxHolds(c.g, ci, cj, half), "case %d: %v %v beyond %v", n, ci, cj, half)
			used := math.Abs(ci[c.coord] - cj[c.coord])
			if p := c.g.BoundPeriods()[c.coord]; p > 0 {
				used = math.Min(used, p-used)
			}
			require.Greater(t, used, 0.999*half[c.coord]-1e-9, "case %d: the bound is loose", n)
		}
	}
	// Where a radius bounds nothing, the box has no end.
	half := make([]float64, 4)
	NewSO2(0).BoundBox(half, 0.7)
	require.True(t, math.IsInf(half[1], 1))
	NewSO3(0).BoundBox(half, 0.2*math.Pi)
	require.True(t, math.IsInf(half[1], 1))
}

// Bounding coordinates of many rows under SE(2) are those of each, to the last bit.
func TestBoundCoordsOf(t *testing.T) {
	g := NewSE2(0)
	l := LiftPoints(g, []float64{1, 2, -3, 0.5, 0, 0, 7, -1, 1e-9, 4}, 11, 0)
	rows := []int32{0, 3, 4, 17, 18, 19, 40, 54}
	x, want := make([]float64, 3*len(rows)), make([]float64, 3)
	g.BoundCoordsOf(x, l.A, l.Q, rows)
	for k, j := range rows {
		a, q := l.Row(int(j))
		g.BoundCoords(want, a, q)
		require.Equal(t, want, x[3*k:3*k+3])
	}
}
