package task

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUniversal holds draws to their seed, and exact predictions to their coverage.
func TestUniversal(t *testing.T) {
	for d := 1; d <= 3; d++ {
		u := Universal{Dim: d, Least: 5, Most: 60, Targets: 10, Gaussian: true}
		inside, total := 0, 0
		for i := range 250 {
			a, err := u.Draw(3, i)
			require.NoError(t, err)
			b, err := u.Draw(3, i)
			require.NoError(t, err)
			require.Equal(t, a, b)
			require.Len(t, a.X, d*len(a.Y))
			for k, y := range a.YTarget {
				total++
				if math.Abs(y-a.Mean[k]) < 1.96*a.Std[k] {
					inside++
				}
			}
		}
		require.InDelta(t, 0.95, float64(inside)/float64(total), 0.03)
	}
	wide := Universal{Dim: 2, Least: 5, Most: 40, Targets: 4}
	changed := 0
	for i := range 40 {
		a, err := wide.Draw(1, i)
		require.NoError(t, err)
		if a.Mean == nil {
			changed++
		}
	}
	require.Greater(t, changed, 8)
	batch, err := wide.Batch(3, 1, 2)
	require.NoError(t, err)
	first, err := wide.Draw(1, 6)
	require.NoError(t, err)
	require.Equal(t, float32(first.YTarget[0]), batch.Y[0])
	standard := Universal{Dim: 1, Least: 20, Most: 40, Targets: 4, Standard: true}
	a, err := standard.Draw(1, 3)
	require.NoError(t, err)
	mean, square := 0.0, 0.0
	for i, v := range a.Y {
		mean, square = mean+v, square+v*v
		require.InDelta(t, 0.5, a.X[i], 1.5)
	}
	require.InDelta(t, 0, mean, 1e-9)
	require.InDelta(t, float64(len(a.Y)), square, 1e-6)
	_, err = Universal{Dim: 4, Least: 1, Most: 2, Targets: 1}.Draw(1, 1)
	require.ErrorContains(t, err, "4 inputs")
}

var _ Source[float32] = Universal{}

// TestUniversalChanges looks at what each change does to values around 0.
func TestUniversalChanges(t *testing.T) {
	const n = 400
	draw := func(change func(rng *rand.Rand, x, y []float64, d int)) (x, before, after []float64) {
		rng := StepRand(5, 1)
		for range n {
			x, before = append(x, rng.Float64()), append(before, rng.NormFloat64())
		}
		after = slices.Clone(before)
		change(rng, x, after, 1)
		return x, before, after
	}
	count := func(v []float64, f func(a float64) bool) (k int) {
		for _, a := range v {
			if f(a) {
				k++
			}
		}
		return k
	}
	zero := func(a float64) bool { return a == 0 }
	_, _, y := draw(skewed)
	require.Zero(t, count(y, func(a float64) bool { return !(a > 0) }))
	_, _, y = draw(shareOfZeros)
	require.InDelta(t, 0.275*n, count(y, zero), 0.25*n)
	require.Zero(t, count(y, func(a float64) bool { return a < 0 }))
	_, _, y = draw(cutAtZero)
	require.InDelta(t, 0.5*n, count(y, zero), 0.1*n)
	_, _, y = draw(rounded)
	slices.Sort(y)
	require.Less(t, len(slices.Compact(y)), n)
	_, x, y := draw(outliers)
	require.InDelta(t, n/20, n-count(difference(x, y), zero), 15)

	// Of differences of neighbours along the line: a walk has small ones, breaks none but at their places.
	at, before, after := draw(randomWalk)
	walk := difference(before, after)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	var steps, all float64
	for k := 1; k < n; k++ {
		s := walk[order[k]] - walk[order[k-1]]
		steps, all = steps+s*s/n, all+walk[order[k]]*walk[order[k]]/n
	}
	require.Less(t, steps, 0.1*all)
	at, before, after = draw(bent)
	quadratic := difference(before, after)
	vertex := slices.Index(quadratic, slices.MinFunc(quadratic, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) }))
	c := 0.0
	for i, v := range quadratic {
		e := at[i] - at[vertex]
		if c == 0 && math.Abs(e) > 0.3 {
			c = v / e / e
		}
	}
	for i, v := range quadratic {
		e := at[i] - at[vertex]
		require.InDelta(t, c*e*e, v, 0.1*(1+math.Abs(c)))
	}
	_, before, after = draw(broken)
	require.Positive(t, count(difference(before, after), zero), "before the first break nothing changes")
	require.Less(t, count(difference(before, after), zero), n)
}

// difference is b - a.
func difference(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		out[i] = b[i] - a[i]
	}
	return out
}
