package group

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/simd"
)

// finderSets are sets that finders are tried on: difficult points, a lattice, and points far from the origin.
func finderSets(g Group, rng *rand.Rand, n int) map[string]*Lifted {
	d := g.PointDim()
	lattice, far := make([]float64, n*d), make([]float64, n*d)
	side := int(math.Ceil(math.Pow(float64(n), 1/float64(d))))
	for i := range n {
		for c, k := 0, i; c < d; c, k = c+1, k/side {
			lattice[i*d+c] = -2 + 4*(float64(k%side)+0.5)/float64(side)
			far[i*d+c] = 1e6 + rng.NormFloat64()
		}
	}
	k := 1
	if g.MaxLifts() != 1 {
		k = 2
	}
	return map[string]*Lifted{
		"mixed": mixedLifts(g, rng, n), "lattice": LiftPoints(g, lattice, k, 3), "far": LiftPoints(g, far, k, 4),
		"empty": LiftPoints(g, nil, k, 5),
	}
}

// within lists by Distance alone what Find must find.
func within(l *Lifted, rows []int32, a, q []float64, r float64) []int32 {
	out := []int32{}
	for _, j := range rows {
		aj, qj := l.Row(int(j))
		if l.Group.Distance(poseOf(l.Group, a, q, aj, qj)) < r {
			out = append(out, j)
		}
	}
	return out
}

// Find gives what comparing all pairs gives: for every group, at every level, with radii that equal distances, few and many
// neighbours, and queries that are none of the points.
func TestFinderAgainstBruteForce(t *testing.T) {
	before := simd.CurrentLevel()
	defer func() { require.NoError(t, simd.SetLevel(before)) }()
	n, queries := 150, 20
	if testing.Short() {
		n, queries = 100, 6
	}
	for _, g := range allGroups() {
		rng := rand.New(rand.NewPCG(7, 7))
		for name, l := range finderSets(g, rng, n) {
			rows := []int32{}
			for j := range l.Rows() {
				if rng.IntN(10) > 0 {
					rows = append(rows, int32(j))
				}
			}
			others := finderSets(g, rng, 20)["mixed"]
			radii := []float64{0, -1, 1e-9, 0.02, 0.1, 0.4, 2, math.Inf(1), math.NaN()}
			if len(rows) > 1 { // a distance itself
				ai, qi := l.Row(int(rows[0]))
				aj, qj := l.Row(int(rows[1]))
				d := g.Distance(poseOf(g, ai, qi, aj, qj))
				radii = append(radii, d, math.Nextafter(d, 2*d))
			}
			var w Workspace
			for _, r := range radii {
				for _, level := range simd.Levels() {
					require.NoError(t, simd.SetLevel(level))
					f := NewFinder(l, rows, r)
					require.Equal(t, len(rows), f.Len())
					for i := range queries {
						from := l
						if i%3 == 0 || l.Rows() == 0 {
							from = others
						}
						a, q := from.Row((i * 17) % from.Rows())
						want := within(l, rows, a, q, r)
						got := append([]int32{}, f.Find(&w, a, q)...)
						if fmt.Sprint(want) != fmt.Sprint(got) {
							t.Fatalf("%s, %s, level %v, r = %v, query %v %v: found %v, want %v", g.Name(), name, level, r, a, q, got, want)
						}
					}
				}
			}
		}
	}
}

// Where a kernel decides, the finder must have chosen one: without, it is right all the same, and slow.
func TestFinderUsesKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	x := make([]float64, 60)
	for i := range x {
		x[i] = 3 * rng.Float64()
	}
	for name, want := range map[string]MetricForm{
		"T(1)": Euclidean, "T(2)": Euclidean, "T(3)": Euclidean, "trivial(2)": Euclidean, "SE(2)": RigidMotion,
		"SO(2)": Polar, "R>0xSO(2)": LogPolar, "SO(3)": NoMetric, "R>0xSqueeze": NoMetric,
	} {
		g, err := Parse(name, 0)
		require.NoError(t, err)
		f := NewFinder(LiftPoints(g, x, 1, 0), nil, 0.2)
		require.Equal(t, want, f.metric.Form, name)
		require.NotNil(t, f.classes[0].filter, name)
	}
}

// Groups of a user's own that embed one of ours, or none.
type (
	renamed  struct{ *SE2 }  // the same under another name
	steep    struct{ *SO2 }  // a distance of its own, and metric and Distances inherited
	shifted  struct{ *SE2 }  // other bounding coordinates, and the bulk path inherited
	measured struct{ Group } // no interface but Metric
	claiming struct{ Group } // a metric that is not its distance
)

func (renamed) Name() string { return "motions" }

func (g steep) Distance(pose []float64) float64 { return 2 * g.SO2.Distance(pose) }

func (shifted) BoundCoords(dst, a, q []float64) {
	NewSE2(0).BoundCoords(dst, a, q)
	dst[0] += 100
}

func (g measured) Metric() Metric { return g.Group.(MetricGroup).Metric() }

func (claiming) Metric() Metric { return Metric{Form: LogPolar, Alpha: 0.2} }

// A user's own group has the kernels where they decide as its distance does, and is searched by its distance where not.
func TestFinderOfUsersGroups(t *testing.T) {
	for _, c := range []struct {
		g      Group
		metric MetricForm
		fast   bool // a PairComputer that is believed
	}{
		{renamed{NewSE2(0)}, RigidMotion, true},
		{shifted{NewSE2(0)}, RigidMotion, true},
		{steep{NewSO2(0)}, NoMetric, false},
		{measured{NewRxSO2(0)}, LogPolar, false},
		{measured{NewT(3, 0)}, Euclidean, false},
		{claiming{NewRxSq(0)}, NoMetric, false},
		{claiming{NewT(1, 0)}, NoMetric, false},
	} {
		rng := rand.New(rand.NewPCG(11, 11))
		for name, l := range finderSets(c.g, rng, 150) {
			rows := []int32{}
			for j := range l.Rows() {
				rows = append(rows, int32(j))
			}
			for _, r := range []float64{0.02, 0.3, 2} {
				f := NewFinder(l, rows, r)
				if name == "lattice" {
					require.Equal(t, c.metric, f.metric.Form, c.g.Name())
					require.Equal(t, c.fast, f.fast != nil, c.g.Name())
				}
				var w Workspace
				for i := 0; i < l.Rows(); i += 13 {
					a, q := l.Row(i)
					require.Equal(t, within(l, rows, a, q, r), append([]int32{}, f.Find(&w, a, q)...), "%s %s %v", c.g.Name(), name, r)
				}
			}
		}
	}
}

// verify finds nothing wrong with the library's own groups, wherever points lie.
func TestFinderKeepsKernels(t *testing.T) {
	for _, name := range []string{"T(1)", "T(2)", "T(3)", "trivial(2)", "SE(2)", "SO(2)", "R>0xSO(2)"} {
		g, err := Parse(name, 0)
		require.NoError(t, err)
		for seed := range uint64(40) {
			for set, l := range finderSets(g, rand.New(rand.NewPCG(seed, 12)), 40) {
				rows := []int32{}
				for j := range l.Rows() {
					rows = append(rows, int32(j))
				}
				f := NewFinder(l, rows, 0.2)
				require.Equal(t, f.choose(rows), f.metric, "%s %s %d", name, set, seed)
				require.NotNil(t, f.fast, "%s %s %d", name, set, seed)
			}
		}
	}
}

// The filter of candidates is worth having: it lets through little more than the ball, in the groups of the image models.
func TestFilterIsTight(t *testing.T) {
	var x []float64
	for i := range 48 * 48 {
		x = append(x, float64(i/48)-23.5, float64(i%48)-23.5)
	}
	for _, c := range []struct {
		name  string
		r     float64
		waste float64
	}{{"T(2)", 1.2, 1.6}, {"SO(2)", 0.2, 1.5}, {"R>0xSO(2)", 0.2, 1.2}, {"SE(2)", 5, 1.6}} {
		g, err := Parse(c.name, 0)
		require.NoError(t, err)
		l := LiftPoints(g, x, 1, 0)
		f := NewFinder(l, nil, c.r)
		var w Workspace
		found, passed := 0, 0
		for i := 0; i < l.Rows(); i += 37 {
			a, q := l.Row(i)
			found += len(f.Find(&w, a, q))
			for _, word := range w.bits[:f.classes[0].filter.words] {
				for ; word != 0; word &= word - 1 {
					passed++
				}
			}
		}
		require.Less(t, float64(passed), c.waste*float64(found), c.name)
	}
}

func TestFinderAllocatesNothing(t *testing.T) {
	for _, g := range allGroups() {
		l := mixedLifts(g, rand.New(rand.NewPCG(8, 8)), 100)
		f := NewFinder(l, nil, 0.3)
		var w Workspace
		a, q := l.Row(5)
		f.Find(&w, a, q)
		require.Zero(t, testing.AllocsPerRun(5, func() { f.Find(&w, a, q) }), g.Name())
	}
}

func TestFinderRefusesRows(t *testing.T) {
	l := LiftPoints(NewT(1, 0), []float64{1, 2, 3}, 1, 0)
	for _, rows := range [][]int32{{3}, {-1}, {1, 1}, {2, 0}} {
		require.Panics(t, func() { NewFinder(l, rows, 1) })
	}
}

// RelativePoses equals RelativePose bit by bit, for any selection of rows.
func TestRelativePosesEqualOneByOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, g := range allGroups() {
		l := mixedLifts(g, rng, 50)
		e := PoseDim(g)
		var index []int32
		for range 70 {
			index = append(index, int32(rng.IntN(l.Rows())))
		}
		dst := make([]float64, e*len(index))
		for i := range 10 {
			a, q := l.Row(i * 3)
			RelativePoses(dst, a, q, l, index)
			for k, j := range index {
				aj, qj := l.Row(int(j))
				for c, want := range poseOf(g, a, q, aj, qj) {
					require.Equal(t, math.Float64bits(want), math.Float64bits(dst[k*e+c]), "%s: pair %d, %d", g.Name(), i, j)
				}
			}
		}
		require.Panics(t, func() { RelativePoses(dst[1:], nil, nil, l, index) })
	}
}
