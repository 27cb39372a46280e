package krige

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// days draws tables of one process in the plane with a length of 0.3, and a level and a unit of their own: n values and
// the targets behind them.
func days(count, n, targets int) (xs, ys [][]float64) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range count {
		all := n + targets
		x, y, a := make([]float64, 2*all), make([]float64, all), make([]float64, 0, tri(all))
		for i := range x {
			x[i] = rng.Float64()
		}
		for i := range all {
			for j := range i + 1 {
				r := math.Sqrt(3) * math.Hypot(x[2*i]-x[2*j], x[2*i+1]-x[2*j+1]) / 0.3
				a = append(a, (1+r)*math.Exp(-r))
			}
			a[tri(i)+i] += 0.02
		}
		var w square
		if !cholesky(a, all, nil, &w) {
			panic("not positive definite")
		}
		level, unit := 10*rng.NormFloat64(), math.Exp(rng.NormFloat64())
		correlated(y, a, rng)
		for i := range y {
			y[i] = level + unit*y[i]
		}
		xs, ys = append(xs, x), append(ys, y)
	}
	return xs, ys
}

// TestSharedHelpsInput: as FitShared does, Helps refuses tables of which some have coordinates alone.
func TestSharedHelpsInput(t *testing.T) {
	xs, ys := days(3, 8, 0)
	_, err := FitShared(t.Context(), xs, ys[:2], Options{Dim: 2})
	require.ErrorIs(t, err, ErrInput)
	s, err := FitShared(t.Context(), xs, ys, Options{Dim: 2})
	require.NoError(t, err)
	_, _, err = s.Helps(t.Context(), xs, ys[:2])
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "coordinates of 3 tables, values of 2")
}

func TestShared(t *testing.T) {
	const n, targets = 16, 30
	ctx := t.Context()
	xs, ys := days(24, n, targets)
	var cx, cy [][]float64
	for i := range xs {
		cx, cy = append(cx, xs[i][:2*n]), append(cy, ys[i][:n])
	}
	s, err := FitShared(ctx, cx, cy, Options{Dim: 2})
	require.NoError(t, err)
	gain, _, err := s.Helps(ctx, cx, cy)
	require.NoError(t, err)
	require.Greater(t, gain, 0.02)

	var gains, moved float64
	for i := range xs {
		together, err := s.Fit(ctx, cx[i], cy[i])
		require.NoError(t, err)
		alone, err := Fit(ctx, cx[i], cy[i], Options{Dim: 2})
		require.NoError(t, err)
		p, err := together.At(ctx, xs[i][2*n:])
		require.NoError(t, err)
		q, err := alone.At(ctx, xs[i][2*n:])
		require.NoError(t, err)
		lp, _ := p.LogDensity(ys[i][n:])
		lq, _ := q.LogDensity(ys[i][n:])
		gains += (lp - lq) / float64(len(xs))
	}
	require.Greater(t, gains, 0.03, "nats a value that was not seen")

	// Other origins and units of all coordinates, and of each table's values, move predictions along.
	ux, uy := make([][]float64, len(cx)), make([][]float64, len(cx))
	for i := range cx {
		for k, v := range cx[i] {
			ux[i] = append(ux[i], 1000+40*v+float64(k%2))
		}
		for _, v := range cy[i] {
			uy[i] = append(uy[i], float64(i)-3*v)
		}
	}
	u, err := FitShared(ctx, ux, uy, Options{Dim: 2})
	require.NoError(t, err)
	for i := range 3 {
		a, err := s.Fit(ctx, cx[i], cy[i])
		require.NoError(t, err)
		b, err := u.Fit(ctx, ux[i], uy[i])
		require.NoError(t, err)
		mean, std, err := a.Predict(ctx, []float64{0.4, 0.6})
		require.NoError(t, err)
		mean2, std2, err := b.Predict(ctx, []float64{1016, 1025})
		require.NoError(t, err)
		moved = max(moved, math.Abs(float64(i)-3*mean[0]-mean2[0])/std2[0], math.Abs(3*std[0]/std2[0]-1))
	}
	if !(moved < 1e-4) {
		t.Errorf("predictions in other units differ by %g deviations", moved)
	}
}

// TestSharedElsewhere: a table far away from those that share is predicted as if it were among them.
func TestSharedElsewhere(t *testing.T) {
	const n = 40
	ctx := t.Context()
	xs, ys := days(6, n, 0)
	s, err := FitShared(ctx, xs, ys, Options{Dim: 2})
	require.NoError(t, err)
	near, err := s.Fit(ctx, xs[0], ys[0])
	require.NoError(t, err)
	mean, std, err := near.Predict(ctx, []float64{0.4, 0.6})
	require.NoError(t, err)
	for _, far := range []float64{1 << 10, 1 << 20} {
		var x []float64
		for _, v := range xs[0] {
			x = append(x, v+far)
		}
		m, err := s.Fit(ctx, x, ys[0])
		require.NoError(t, err)
		mean2, std2, err := m.Predict(ctx, []float64{far + 0.4, far + 0.6})
		require.NoError(t, err)
		require.InDelta(t, mean[0], mean2[0], 1e-4*std[0], "%g away", far)
		require.InEpsilon(t, std[0], std2[0], 1e-4, "%g away", far)
	}
}

// TestSharedApart: tables share as much if each lies at a place of its own.
func TestSharedApart(t *testing.T) {
	ctx := t.Context()
	xs, ys := days(8, 24, 0)
	s, err := FitShared(ctx, xs, ys, Options{Dim: 2})
	require.NoError(t, err)
	want, _, err := s.Helps(ctx, xs, ys)
	require.NoError(t, err)
	for i, x := range xs {
		for k := range x {
			x[k] += float64(i<<17 - k%2<<19)
		}
	}
	s, err = FitShared(ctx, xs, ys, Options{Dim: 2})
	require.NoError(t, err)
	gain, _, err := s.Helps(ctx, xs, ys)
	require.NoError(t, err)
	require.InDelta(t, want, gain, 1e-4)
}

// TestSharedWide: a table much wider than those that share is as if it were alone, and no panic.
func TestSharedWide(t *testing.T) {
	ctx := t.Context()
	xs, ys := days(6, 200, 0)
	s, err := FitShared(ctx, xs, ys, Options{Dim: 2})
	require.NoError(t, err)
	for _, wide := range []float64{1e3, 1e5, 1e7, 1e9, 1e300} {
		var x []float64
		for _, v := range xs[0] {
			x = append(x, wide*v)
		}
		m, err := s.Fit(ctx, x, ys[0])
		require.NoError(t, err)
		alone, err := Fit(ctx, x, ys[0], Options{Dim: 2})
		require.NoError(t, err)
		require.Equal(t, alone.Report(), m.Report(), "%g times as wide", wide)
	}
}

func TestSharedInput(t *testing.T) {
	ctx := t.Context()
	_, err := FitShared(ctx, [][]float64{{1, 2}, {1, 2, 3}}, [][]float64{{1}, {1}}, Options{Dim: 2})
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "table 1")
	_, err = FitShared(ctx, [][]float64{{1, 2}}, nil, Options{Dim: 2})
	require.ErrorContains(t, err, "coordinates of 1 tables, values of 0")
	s, err := FitShared(ctx, [][]float64{{1, 2, 3, 4}, {1, 2, 3, 4}}, [][]float64{{1, 2, 3, 4}, {5, 5, 5, 5}}, Options{Dim: 1})
	require.NoError(t, err)
	require.Nil(t, s, "one table that counts shares nothing")
}

// Tasks that share are better than alone, and whatever is not shared predicts as before.
func TestLearn(t *testing.T) {
	const n, targets = 12, 20
	ctx := t.Context()
	xs, ys := days(12, n, targets)
	b := &cnp.Batch[float32]{B: len(xs), Nc: n, Nt: targets}
	for i := range xs {
		b.XContext, b.XTarget = append(b.XContext, xs[i][:2*n]...), append(b.XTarget, xs[i][2*n:]...)
		for _, v := range ys[i][:n] {
			b.YContext = append(b.YContext, float32(v))
		}
	}
	r := Named("universal-2")
	learned, shared, _, err := r.Learn(ctx, b)
	require.NoError(t, err)
	require.Equal(t, 1, shared)
	density := func(r *Regressor) (sum float64) {
		p, err := r.Predict(ctx, b)
		require.NoError(t, err)
		for i := range xs {
			_, sd := moments(ys[i][:n])
			for k, y := range ys[i][n:] {
				at := i*targets + k
				sum += logNormal(y/sd, float64(p.Mean[at])/sd, float64(p.Std[at]*p.Std[at])/sd/sd) / float64(len(p.Mean))
			}
		}
		return sum
	}
	if alone, together := density(r), density(learned); !(together > alone) {
		t.Errorf("log density %.3f with what tasks share, %.3f without", together, alone)
	}
	few := &cnp.Batch[float32]{B: 2, Nc: n, XContext: b.XContext[:4*n], YContext: b.YContext[:2*n]}
	_, shared, _, err = r.Learn(ctx, few)
	require.NoError(t, err)
	require.Zero(t, shared, "two tasks")
}

// The density of a value given the others is the joint one of all less that of the others, but for what members have in
// common.
func TestLeaveOneOutDensity(t *testing.T) {
	xs, ys := days(1, 14, 0)
	m, err := Fit(t.Context(), xs[0], ys[0], Options{Dim: 2})
	require.NoError(t, err)
	require.Greater(t, len(m.members), 3)
	without := func(b *member, left int) float64 {
		e := &evidence{x: m.x, y: m.y, dim: 2}
		u := unit{}
		for i := range m.n {
			if i != left {
				u.index = append(u.index, i)
			}
		}
		u.fill(m.x, 2, true)
		e.units = []unit{u}
		d, ok := e.density(b.kernel)
		require.True(t, ok)
		return d
	}
	mean, variance := make([]float64, m.n), make([]float64, m.n)
	for _, left := range []int{0, 5, 13} {
		var common float64
		for k, b := range m.members {
			density := make([]float64, m.n)
			b.leaveOneOut(m.y, mean, variance, density)
			c := without(b, -1) - without(b, left) - density[left]
			if k == 0 {
				common = c
			}
			if !(math.Abs(c-common) < 1e-7) {
				t.Errorf("value %d, member %d: %g differs from %g", left, k, c, common)
			}
		}
	}
}

// correlated draws values whose covariance has the factor a [tri(n)], with the inverses of its diagonal.
func correlated(y, a []float64, rng *rand.Rand) {
	z := make([]float64, len(y))
	for i := range z {
		z[i], y[i] = rng.NormFloat64(), 0
		for j, l := range a[tri(i) : tri(i)+i+1] {
			if j == i {
				l = 1 / l
			}
			y[i] += l * z[j]
		}
	}
}
