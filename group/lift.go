package group

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Lifted is a set of points lifted to group elements. Lift l of point i is row i·K + l. Searches, layers and Finder take points
// in this form.
type Lifted struct {
	Group Group
	N     int       // points
	K     int       // lifts per point
	A     []float64 // [N·K, g] algebra coordinates
	Q     []float64 // [N·K, orbit] orbit coordinates
	// Across is the number of points in each row of a grid, if the points are a grid's, row by row; 0: they are none.
	// LiftPoints cannot know it and leaves it 0. Neighbourhoods on a grid are found and used faster by whom it is told.
	Across int
}

// LiftPoints lifts x [n, d] with k samples per point. Stabiliser samples are drawn from a generator seeded with seed, in point
// order, so equal arguments give equal lifts. It panics if len(x) is not a multiple of d or k < 1.
func LiftPoints(g Group, x []float64, k int, seed uint64) *Lifted {
	checkGroup("LiftPoints", g)
	d := g.PointDim()
	if d == 0 || len(x)%d != 0 {
		panic(fmt.Sprintf("group: LiftPoints: len(x) = %d, need a multiple of %d", len(x), d))
	}
	if k < 1 {
		panic(fmt.Sprintf("group: LiftPoints: k = %d, need at least 1", k))
	}
	if most := math.MaxInt32 / max(1, len(x)/d); k > most {
		panic(fmt.Sprintf("group: LiftPoints: k = %d lifts of %d points, need at most %d", k, len(x)/d, most))
	}
	n, ga, qa := len(x)/d, g.AlgebraDim(), g.OrbitDim()
	l := &Lifted{Group: g, N: n, K: k, A: make([]float64, n*k*ga), Q: make([]float64, n*k*qa)}
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	for i := range n {
		g.Lift(l.A[i*k*ga:(i+1)*k*ga], l.Q[i*k*qa:(i+1)*k*qa], x[i*d:(i+1)*d], k, rng)
	}
	return l
}

// LiftPointsUniform is like LiftPoints with evenly spread stabiliser samples, the same for every point. Nothing is drawn, and the mean
// over the samples has a smaller error. Groups that are not a UniformLifter are lifted by LiftPoints with seed 0. It panics as
// LiftPoints does.
func LiftPointsUniform(g Group, x []float64, k int) *Lifted {
	u, ok := g.(UniformLifter)
	if !ok {
		return LiftPoints(g, x, k, 0)
	}
	d := g.PointDim()
	if d == 0 || len(x)%d != 0 || k < 1 || k > math.MaxInt32/max(1, len(x)/d) {
		return LiftPoints(g, x, k, 0) // which says what is wrong
	}
	n, ga, qa := len(x)/d, g.AlgebraDim(), g.OrbitDim()
	l := &Lifted{Group: g, N: n, K: k, A: make([]float64, n*k*ga), Q: make([]float64, n*k*qa)}
	for i := range n {
		u.LiftUniform(l.A[i*k*ga:(i+1)*k*ga], l.Q[i*k*qa:(i+1)*k*qa], x[i*d:(i+1)*d], k)
	}
	return l
}

// checkGroup panics if there is no group.
func checkGroup(where string, g Group) {
	if g == nil {
		panic("group: " + where + ": g = nil")
	}
}

// checkRand panics if there is nothing to draw from.
func checkRand(where string, rng *rand.Rand) {
	if rng == nil {
		panic("group: " + where + ": rng = nil")
	}
}

// checkLifted panics if a set is nil, has no group, or not the coordinates of its rows.
func checkLifted(where string, l *Lifted) {
	if l == nil || l.Group == nil {
		panic("group: " + where + ": nil points, or points without a group")
	}
	ga, qa := l.Group.AlgebraDim(), l.Group.OrbitDim()
	if l.N < 0 || l.K < 0 || l.K > 0 && l.N > math.MaxInt/16/l.K || len(l.A) != l.Rows()*ga || len(l.Q) != l.Rows()*qa {
		panic(fmt.Sprintf("group: %s: %d points with %d lifts: len(A) = %d, len(Q) = %d, need %d and %d numbers for each lift",
			where, l.N, l.K,
			len(l.A), len(l.Q), ga, qa))
	}
}

// Rows returns the number of lifted points, N·K.
func (l *Lifted) Rows() int { return l.N * l.K }

// Row returns the algebra and orbit coordinates of lifted point i.
func (l *Lifted) Row(i int) (a, q []float64) {
	ga, qa := l.Group.AlgebraDim(), l.Group.OrbitDim()
	return l.A[i*ga : (i+1)*ga : (i+1)*ga], l.Q[i*qa : (i+1)*qa : (i+1)*qa]
}

// Append adds the rows of m, which must be of the same group and number of lifts. Grids of equally long rows become one grid.
func (l *Lifted) Append(m *Lifted) {
	checkLifted("Append", l)
	checkLifted("Append", m)
	if l.K != m.K || l.Group.AlgebraDim() != m.Group.AlgebraDim() || l.Group.OrbitDim() != m.Group.OrbitDim() {
		panic("group: Append: the two sets were lifted differently")
	}
	l.N += m.N
	if l.Across != m.Across {
		l.Across = 0
	}
	l.A = append(l.A, m.A...)
	l.Q = append(l.Q, m.Q...)
}
