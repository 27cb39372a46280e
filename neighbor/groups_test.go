package neighbor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
)

// drift is a group of a user's own, without bounds or a fast path: translations of the plane whose distance is not
// symmetric (upstream counts three times) nor the same in both directions.
type drift struct{}

func (drift) Name() string                                { return "drift" }
func (drift) Alpha() float64                              { return 0.5 }
func (drift) PointDim() int                               { return 2 }
func (drift) AlgebraDim() int                             { return 2 }
func (drift) OrbitDim() int                               { return 0 }
func (drift) MaxLifts() int                               { return 1 }
func (drift) Lift(a, _, x []float64, k int, _ *rand.Rand) { copy(a[:2*k], x[:2]) }
func (drift) Act(dst, a, x []float64)                     { dst[0], dst[1] = a[0]+x[0], a[1]+x[1] }
func (drift) RelativePose(pose, ai, _, aj, _ []float64) {
	pose[0], pose[1] = ai[0]-aj[0], ai[1]-aj[1]
}
func (drift) Distance(pose []float64) float64 {
	return math.Max(pose[0], -3*pose[0]) + math.Abs(pose[1])
}

// ring is the circle's rotations with two windings of bounds: a periodic coordinate whose period is not 2π, an orbit
// that bounds nothing, and algebra coordinates far outside one period.
type ring struct{ drift }

func (ring) Name() string    { return "ring" }
func (ring) PointDim() int   { return 2 }
func (ring) AlgebraDim() int { return 1 }
func (ring) OrbitDim() int   { return 1 }
func (ring) Lift(a, q, x []float64, k int, _ *rand.Rand) {
	for l := range k {
		a[l], q[l] = x[0], x[1]
	}
}
func (ring) RelativePose(pose, ai, qi, aj, qj []float64) {
	pose[0], pose[1], pose[2] = math.Remainder(ai[0]-aj[0], 5), qi[0], qj[0]
}
func (ring) Distance(pose []float64) float64    { return math.Abs(pose[0]) }
func (ring) BoundDim() int                      { return 2 }
func (ring) BoundPeriods() []float64            { return []float64{5, 0} }
func (ring) BoundCoords(dst, a, q []float64)    { dst[0], dst[1] = math.Remainder(a[0], 5), q[0] }
func (ring) BoundBox(half []float64, r float64) { half[0], half[1] = r*(1+1e-9)+1e-12, math.Inf(1) }

// wild is drift with bounds that fail: coordinates that overflow for some points, half-widths that are NaN. Its balls
// must be found all the same.
type wild struct{ drift }

func (wild) Name() string            { return "wild" }
func (wild) BoundDim() int           { return 1 }
func (wild) BoundPeriods() []float64 { return nil }
func (wild) BoundCoords(dst, a, _ []float64) {
	if dst[0] = a[0]; a[0] > 0.7 {
		dst[0] = math.Inf(1)
	}
}
func (wild) BoundBox(half []float64, _ float64) { half[0] = math.NaN() }

// broken is a group whose bounds make no sense at all.
type broken struct{ wild }

func (broken) BoundPeriods() []float64 { return []float64{-1} }

// testGroups are all of the library's groups and three of a user's.
func testGroups(t testing.TB) []group.Group {
	t.Helper()
	out := []group.Group{drift{}, ring{}, wild{}}
	for _, name := range group.Names() {
		out = append(out, parse(t, name, 0))
	}
	return out
}

func parse(t testing.TB, name string, alpha float64) group.Group {
	t.Helper()
	g, err := group.Parse(name, alpha)
	require.NoError(t, err)
	return g
}

// cloud is a named way to place n points in d dimensions.
type cloud struct {
	name  string
	place func(rng *rand.Rand, x []float64, d int)
}

// clouds are the shapes that searches go wrong on.
var clouds = []cloud{
	{"normal", func(rng *rand.Rand, x []float64, _ int) {
		for i := range x {
			x[i] = rng.NormFloat64()
		}
	}},
	{"equal", func(_ *rand.Rand, x []float64, d int) {
		for i := range x {
			x[i] = 0.75 - float64(i%d)
		}
	}},
	{"duplicates", func(rng *rand.Rand, x []float64, _ int) {
		for i := range x {
			x[i] = float64(rng.IntN(4)) - 1.5
		}
	}},
	{"collinear", func(rng *rand.Rand, x []float64, d int) {
		for i := 0; i < len(x); i += d {
			s := rng.NormFloat64()
			for c := range d {
				x[i+c] = s * float64(c+1)
			}
		}
	}},
	{"clusters over 12 decades", func(rng *rand.Rand, x []float64, _ int) {
		for i := range x {
			x[i] = math.Pow(10, 12*rng.Float64()-9) * (1 - 2*float64(rng.IntN(2)))
		}
	}},
	{"lattice", func(_ *rand.Rand, x []float64, d int) {
		side := int(math.Ceil(math.Pow(float64(len(x)/d), 1/float64(d))))
		for i := range len(x) / d {
			for c, k := 0, i; c < d; c, k = c+1, k/side {
				x[i*d+c] = -2 + 4*float64(k%side)/float64(side)
			}
		}
	}},
}

// lifted places and lifts n points; groups with a stabiliser get two lifts of each.
func (c cloud) lifted(g group.Group, n int, seed uint64) *group.Lifted {
	x := make([]float64, n*g.PointDim())
	c.place(rand.New(rand.NewPCG(seed, 1)), x, g.PointDim())
	k := 1
	if g.MaxLifts() != 1 {
		k = 2
	}
	return group.LiftPoints(g, x, k, seed)
}

// radii returns radii for which l has few, some and all pairs, among them one that equals a distance.
func radii(t testing.TB, l *group.Lifted) []float64 {
	t.Helper()
	out := []float64{math.Inf(1), 1e-7}
	if l.Rows() == 0 {
		return out
	}
	for _, fill := range []float64{0.05, 0.4} {
		r, err := RadiusForFill(l, fill, Options{})
		require.NoError(t, err)
		out = append(out, r)
	}
	pose := make([]float64, group.PoseDim(l.Group))
	ai, qi := l.Row(0)
	aj, qj := l.Row(l.Rows() / 3)
	l.Group.RelativePose(pose, ai, qi, aj, qj)
	return append(out, l.Group.Distance(pose))
}

// requireSame fails unless two neighbourhoods are the same bits.
func requireSame(t testing.TB, want, got *Neighborhood, msg ...any) {
	t.Helper()
	require.Equal(t, want.Queries, got.Queries, msg...)
	require.Equal(t, want.Points, got.Points, msg...)
	require.Equal(t, want.Offsets, got.Offsets, msg...)
	same(t, want.Index, got.Index, "Index", msg)
	same(t, want.Pose, got.Pose, "Pose", msg)
	same(t, want.Count, got.Count, "Count", msg)
	require.Equal(t, want.PoseDim, got.PoseDim, msg...)
	require.Equal(t, len(want.Poses), len(got.Poses), msg...)
	for k := range want.Poses {
		if math.Float64bits(want.Poses[k]) != math.Float64bits(got.Poses[k]) {
			t.Fatalf("%s: Poses[%d] = %v, want %v", fmt.Sprint(msg...), k, got.Poses[k], want.Poses[k])
		}
	}
}

// same compares two lists, nil being the same as empty.
func same(t testing.TB, want, got []int32, name string, msg []any) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%s: len(%s) = %d, want %d", fmt.Sprint(msg...), name, len(got), len(want))
	}
	for k := range want {
		if want[k] != got[k] {
			t.Fatalf("%s: %s[%d] = %d, want %d", fmt.Sprint(msg...), name, k, got[k], want[k])
		}
	}
}

// TestFarAway: a tree finds the pairs of the group's distance far from the origin, too, where the rounding of coordinates exceeds the
// room that bounding boxes have. Radii are distances of pairs, and the next larger numbers.
func TestFarAway(t *testing.T) {
	radii := 12
	if testing.Short() {
		radii = 4
	}
	rng := rand.New(rand.NewPCG(8, 3))
	for _, name := range []string{"T(2)", "SE(2)", "Sim(2)", "SE(3)", "SO(2)", "T(2) along 0"} {
		for _, at := range []float64{1e6, 1e9, 1e12, 1e15} {
			g := parse(t, name, 0)
			lifts := 1
			if g.MaxLifts() != 1 {
				lifts = 3
			}
			x := make([]float64, 30*g.PointDim())
			for i := range x {
				x[i] = at + float64(rng.IntN(7))
			}
			points := group.LiftPoints(g, x, lifts, 1)
			pose := make([]float64, group.PoseDim(g))
			for range radii {
				ai, qi := points.Row(rng.IntN(points.Rows()))
				aj, qj := points.Row(rng.IntN(points.Rows()))
				g.RelativePose(pose, ai, qi, aj, qj)
				opt := Options{Radius: math.Nextafter(g.Distance(pose), math.Inf(1)), Method: Brute, MergeTolerance: -1}
				want, err := Ball(points, points, opt)
				require.NoError(t, err)
				opt.Method = Tree
				got, err := Ball(points, points, opt)
				require.NoError(t, err)
				require.Equal(t, want.Offsets, got.Offsets, "%s at %g, radius %g", name, at, opt.Radius)
				require.Equal(t, want.Index, got.Index)
			}
		}
	}
}
