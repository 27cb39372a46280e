package krige

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInducing compares predictions by way of inducing points, and of values given the others, with those of the whole table.
func TestInducing(t *testing.T) {
	for _, c := range []struct {
		n, d  int
		noise float64
	}{{700, 1, 0.03}, {600, 2, 0.1}, {600, 2, 0.01}, {500, 3, 0.1}} {
		x, y := table(c.n, c.d, c.noise, uint64(c.n))
		m, err := Fit(t.Context(), x, y, Options{Dim: c.d, NoCheck: true})
		require.NoError(t, err)
		require.False(t, m.exact)
		for _, b := range m.members {
			require.NotNil(t, b.inducing, "%+v", c)
			require.Less(t, len(b.inducing.chosen), c.n/2, "%+v", c)
		}
		targets, _ := table(40, c.d, 0, 3)
		at := slices.Concat(m.frame.coordinates(targets), make([]float64, 2*c.d))
		for i := len(at) - 2*c.d; i < len(at); i++ {
			at[i] = 4 * float64(i) // far away
		}
		mean, cov := m.mixtureMoments(t, at)
		nt := len(mean)
		mu, v := make([]float64, nt), make([]float64, nt)
		require.NoError(t, m.processes(t.Context(), places{x: at}, mu, v, m.outside))
		noise, all := 0.0, 0.0
		for _, b := range m.members {
			noise, all = noise+b.weight*b.variance*b.kernel.noise, all+b.weight
		}
		for i := range nt {
			signal := cov[i*nt+i]
			require.InDelta(t, mean[i], mu[i], 0.2*math.Sqrt(signal), "%+v: target %d", c, i)
			known := (v[i] - noise/all) / signal // what the points leave open counts, so that it is rather too large
			require.Greater(t, known, 0.97, "%+v: target %d", c, i)
			require.Less(t, known, 1.15, "%+v: target %d", c, i)
		}
		some := []int{0, c.n / 3, c.n - 1}
		mu, v = make([]float64, len(some)), make([]float64, len(some))
		require.NoError(t, m.leaveOneOut(t.Context(), some, mu, v))
		for i, p := range some {
			without := *m
			without.n--
			without.x, without.y = slices.Delete(slices.Clone(m.x), p*c.d, (p+1)*c.d), slices.Delete(slices.Clone(m.y), p, p+1)
			mean, cov := without.mixtureMoments(t, m.x[p*c.d:(p+1)*c.d])
			require.InDelta(t, mean[0], mu[i], 0.2*math.Sqrt(cov[0]), "%+v: row %d", c, p)
			require.InDelta(t, 1, v[i]/(cov[0]+noise/all), 0.01, "%+v: row %d", c, p)
		}
	}
}

// TestLeaveOneOutNear: values given the others do not depend on which others are asked for, where hundreds of rows are at one place, too,
// and are those of the near rows without them.
func TestLeaveOneOutNear(t *testing.T) {
	x, y := table(900, 2, 0.3, 5)
	for i := range 600 { // 200 at each of three places
		x[2*i], x[2*i+1] = float64(i%3)/4, 0.5
	}
	m, err := Fit(t.Context(), x, y, Options{Dim: 2, NoCheck: true})
	require.NoError(t, err)
	for _, b := range m.members {
		b.inducing = nil
	}
	all := upTo(900)
	mean, variance := make([]float64, 900), make([]float64, 900)
	require.NoError(t, m.leaveOneOut(t.Context(), all, mean, variance))
	var one, v [1]float64
	for i := range all {
		require.NoError(t, m.leaveOneOut(t.Context(), all[i:i+1], one[:], v[:]))
		require.InDelta(t, mean[i], one[0], 1e-9, "row %d", i)
		require.InDelta(t, variance[i], v[0], 1e-9, "row %d", i)
		at := m.x[2*i : 2*i+2]
		require.NoError(t, m.local.visit(t.Context(), at, func(w *desk, some []int32) {
			if p := slices.Index(w.index, int32(i)); p >= 0 {
				w.index = slices.Delete(w.index, p, p+1)
			}
			m.local.solve(w, m.members, places{x: at}, some, nil, one[:], v[:])
		}))
		require.InDelta(t, one[0], mean[i], 1e-7, "row %d", i)
		require.InDelta(t, v[0], variance[i], 1e-7, "row %d", i)
	}
}

// TestInducingRough: a rough table needs too many points, which is seen early, and is predicted from near rows.
func TestInducingRough(t *testing.T) {
	x, _ := table(900, 2, 0, 1)
	y := make([]float64, 900)
	for i := range y { // equal within cells, and independent between them
		h := math.Sin(37.3*math.Floor(12*x[2*i])+91.7*math.Floor(12*x[2*i+1])) * 4321
		y[i] = h - math.Floor(h)
	}
	m, err := Fit(t.Context(), x, y, Options{Dim: 2})
	require.NoError(t, err)
	for _, b := range m.members {
		require.Nil(t, b.inducing)
	}
}
