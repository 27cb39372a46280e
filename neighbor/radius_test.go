package neighbor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
)

// Where all distances are looked at, the average is met to within half the ties, and the radius stands in a gap.
func TestRadiusForFillIsMet(t *testing.T) {
	for _, g := range testGroups(t) {
		for _, c := range clouds {
			l := c.lifted(g, 40, 12)
			dist := allDistances(l)
			for _, fill := range []float64{1e-9, 1.0 / 15, 0.1, 0.5, 0.9, 1} {
				name := fmt.Sprintf("%s, %s, fill %g", g.Name(), c.name, fill)
				r, err := RadiusForFill(l, fill, Options{})
				require.NoError(t, err)
				require.GreaterOrEqual(t, r, MinRadius)
				if r == MinRadius {
					continue
				}
				want := fill * float64(len(dist))
				got := sort.SearchFloat64s(dist, r)
				tie := dist[max(0, int(math.Round(want))-1)]
				lo, hi := sort.SearchFloat64s(dist, tie*(1-tieWidth)),
					sort.SearchFloat64s(dist, math.Nextafter(tie*(1+tieWidth), math.Inf(1)))
				allowed := float64(hi-lo)/2 + 1
				if lo == 0 { // nothing is nearer than the ties: their upper side is the only choice
					allowed = float64(hi)
				}
				if !(math.Abs(float64(got)-want) <= allowed) {
					t.Errorf("%s: %d pairs, want %g to %g", name, got, want, allowed)
				}
				if got > 0 && !(dist[got-1] <= r*(1-tieWidth/4)) {
					t.Errorf("%s: radius %g is no more than rounding above the distance %g", name, r, dist[got-1])
				}
				if got < len(dist) && !(dist[got] >= r*(1+tieWidth/4)) {
					t.Errorf("%s: radius %g is no more than rounding below the distance %g", name, r, dist[got])
				}
			}
		}
	}
}

// allDistances is sorted.
func allDistances(l *group.Lifted) (out []float64) {
	pose := make([]float64, group.PoseDim(l.Group))
	for i := range l.Rows() {
		for j := range l.Rows() {
			ai, qi := l.Row(i)
			aj, qj := l.Row(j)
			l.Group.RelativePose(pose, ai, qi, aj, qj)
			out = append(out, l.Group.Distance(pose))
		}
	}
	slices.Sort(out)
	return out
}

// A sample meets the average on the whole set to a few percent, and equal seeds give equal radii.
func TestRadiusForFillBySampling(t *testing.T) {
	g := parse(t, "T(2)", 0)
	l := clouds[5].lifted(g, 64*64, 1)
	for _, fill := range []float64{1.0 / 15, 0.1} {
		if testing.Short() && fill == 0.1 {
			break
		}
		r, err := RadiusForFill(l, fill, Options{Seed: 3})
		require.NoError(t, err)
		again, _ := RadiusForFill(l, fill, Options{Seed: 3})
		require.Equal(t, r, again)
		nb := ball(t, l, l, Options{Radius: r})
		got := float64(nb.Pairs()) / float64(l.N) / float64(l.N)
		if !(math.Abs(got/fill-1) <= 0.03) {
			t.Errorf("fill %g, want %g", got, fill)
		}
	}
	// More points than are looked at.
	many := clouds[0].lifted(parse(t, "T(1)", 0), 150000, 1)
	r, err := RadiusForFill(many, 0.01, Options{})
	require.NoError(t, err)
	// |x - x'| of two standard normals is below s with probability erf(s/2).
	got := math.Erf(r / 0.2 / 2)
	if !(math.Abs(got/0.01-1) <= 0.1) {
		t.Errorf("fill %g, want 0.01", got)
	}
}

func TestRadiusForFillMasksAndBlocks(t *testing.T) {
	g := parse(t, "T(1)", 0.5)
	// Two tasks of 100 points on [0, 1]; 40 of the second are padding.
	l := clouds[0].lifted(g, 200, 1)
	mask := make([]bool, 200)
	for i := range mask {
		l.A[i] = float64(i%100) / 100
		if mask[i] = i < 160; !mask[i] {
			l.A[i] = math.NaN()
		}
	}
	opt := Options{QueryMask: mask, PointMask: mask, QueryBlocks: []int{0, 100, 200}, PointBlocks: []int{0, 100, 200}}
	r, err := RadiusForFill(l, 0.2, opt)
	require.NoError(t, err)
	other, err := RadiusForFill(l, 0.2, Options{QueryMask: mask, QueryBlocks: opt.QueryBlocks})
	require.NoError(t, err)
	require.Equal(t, r, other)
	opt.Radius = r
	nb := ball(t, l, l, opt)
	// The training rule's average, from which it would step no further.
	assert.InDelta(t, 0.2, float64(nb.Pairs())/160/80, 0.01)
}

func TestRadiusForFillErrors(t *testing.T) {
	l := clouds[0].lifted(parse(t, "T(2)", 0), 5, 1)
	for _, fill := range []float64{0, -1, 1.01, math.NaN(), math.Inf(1)} {
		_, err := RadiusForFill(l, fill, Options{})
		assert.ErrorIs(t, err, ErrOption, fill)
	}
	_, err := RadiusForFill(nil, 0.5, Options{})
	assert.ErrorIs(t, err, ErrShape)
	r, err := RadiusForFill(l, 0.5, Options{PointMask: make([]bool, 5)})
	assert.NoError(t, err)
	assert.Equal(t, MinRadius, r)
}

func TestAdaptRadius(t *testing.T) {
	for _, c := range []struct {
		name            string
		r, rate, fill   float64
		pairs, queries  int
		meanPoints, out float64
	}{
		{"too full", 1, 0.5, 0.25, 50, 10, 10, 0.875},
		{"too empty", 1, 0.5, 0.25, 10, 10, 20, 1.1},
		{"just right", 1, 0.5, 0.25, 50, 10, 20, 1},
		{"would become negative", 0.1, 0.5, 0.25, 100, 10, 10, MinRadius},
		{"no queries", 1, 0.5, 0.25, 0, 0, 20, 1},
		{"no points", 1, 0.5, 0.25, 0, 10, 0, 1},
	} {
		got := AdaptRadius(c.r, c.rate, c.fill, c.pairs, c.queries, c.meanPoints)
		assert.InDelta(t, c.out, got, 1e-15, c.name)
	}
}

func TestKthSmallest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	v := []float64{0, math.Copysign(0, -1), math.Inf(1), math.MaxFloat64, math.SmallestNonzeroFloat64, 1, 1, 1, math.Nextafter(1, 2)}
	for range 300 {
		v = append(v, math.Exp(40*rng.NormFloat64()))
	}
	sorted := slices.Sorted(slices.Values(v))
	for k := range v {
		require.Equal(t, math.Abs(sorted[k]), kthSmallest(v, k))
	}
	for range 1 << 16 { // so many that digits are longer
		v = append(v, math.Exp(rng.NormFloat64()))
	}
	sorted = slices.Sorted(slices.Values(v))
	for k := 0; k < len(v); k += 9000 {
		require.Equal(t, math.Abs(sorted[k]), kthSmallest(v, k))
	}
}
