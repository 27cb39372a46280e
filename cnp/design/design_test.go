package design

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/equivcnp/equivcnp/cnp/krige"
)

const noise = 0.05

// posterior is the exact covariance of a Gaussian process with the kernel exp(-d²/2l²) at places [n], given measurements at x.
func posterior(places, x []float64, length float64) []float64 {
	kernel := func(a, b float64) float64 { return math.Exp(-(a - b) * (a - b) / (2 * length * length)) }
	n, all := len(places), append(append([]float64{}, places...), x...)
	cov := make([]float64, len(all)*len(all))
	for i, a := range all {
		for j, b := range all {
			cov[i*len(all)+j] = kernel(a, b)
		}
	}
	for k := range x {
		condition(cov, len(all), n+k, noise)
	}
	out := make([]float64, 0, n*n)
	for i := range n {
		out = append(out, cov[i*len(all):i*len(all)+n]...)
	}
	return out
}

// scene is a context with candidates and targets on the line.
func scene() (context, candidates, targets []float64) {
	for i := range 24 {
		candidates = append(candidates, -4+8*float64(i)/23)
	}
	for i := range 30 {
		targets = append(targets, -4+8*float64(i)/29)
	}
	return []float64{-3.5, -3.2, -3, 0.4, 0.6, 0.9, 3.7}, candidates, targets
}

func sceneBelief(t *testing.T) *Belief {
	x, candidates, targets := scene()
	b, err := FromCovariance(posterior(append(append([]float64{}, candidates...), targets...), x, 0.8), len(candidates), noise)
	require.NoError(t, err)
	return b
}

// goalOf computes a goal from its definition, by determinants and traces of dense matrices: no rule that the package uses.
func goalOf(b *Belief, set []int, goal Goal) float64 {
	n, m := b.n, len(set)
	targets := n - b.candidates
	cov := mat.NewSymDense(targets, nil)
	for i := range targets {
		for j := range i + 1 {
			cov.SetSym(i, j, b.cov[(b.candidates+i)*n+b.candidates+j])
		}
	}
	if m > 0 {
		seen, cross := mat.NewSymDense(m, nil), mat.NewDense(targets, m, nil)
		for i, a := range set {
			for j := range i + 1 {
				seen.SetSym(i, j, b.cov[a*n+set[j]])
			}
			seen.SetSym(i, i, b.cov[a*n+a]+b.noise)
			for k := range targets {
				cross.Set(k, i, b.cov[(b.candidates+k)*n+a])
			}
		}
		var solved, told mat.Dense
		if err := solved.Solve(seen, cross.T()); err != nil {
			panic(err)
		}
		told.Mul(cross, &solved)
		for i := range targets {
			for j := range i + 1 {
				cov.SetSym(i, j, cov.At(i, j)-told.At(i, j))
			}
		}
	}
	if goal == Error {
		return mat.Trace(cov)
	}
	for i := range targets {
		cov.SetSym(i, i, cov.At(i, i)+targetNoise*b.noise)
	}
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		panic("not positive definite")
	}
	return chol.LogDet() / 2
}

// TestValue: gains of a set are the fall of the goal by its definition, whatever the order.
func TestValue(t *testing.T) {
	b := sceneBelief(t)
	for _, goal := range Goals {
		for _, set := range [][]int{{3}, {3, 4}, {20, 0, 11}, {11, 20, 0}, {5, 6, 7, 8}} {
			got, err := b.Value(set, goal)
			require.NoError(t, err)
			require.InDelta(t, goalOf(b, nil, goal)-goalOf(b, set, goal), got, 1e-6, "%s %v", goal, set)
		}
	}
}

// TestChoose: a greedy choice has the greatest gain at every step, and nearly the value of the best set.
func TestChoose(t *testing.T) {
	b := sceneBelief(t)
	for _, goal := range Goals {
		chosen, err := b.Choose(3, goal)
		require.NoError(t, err)
		var set []int
		for _, c := range chosen {
			for other := range b.candidates {
				with, err := b.Value(append(append([]int{}, set...), other), goal)
				require.NoError(t, err)
				own, err := b.Value(append(append([]int{}, set...), c.Candidate), goal)
				require.NoError(t, err)
				require.True(t, with <= own+1e-9 || contains(set, other))
			}
			set = append(set, c.Candidate)
		}
		best := 0.0
		for i := range b.candidates {
			for j := range i {
				for k := range j {
					v, err := b.Value([]int{i, j, k}, goal)
					require.NoError(t, err)
					best = max(best, v)
				}
			}
		}
		own, err := b.Value(set, goal)
		require.NoError(t, err)
		require.InDelta(t, own, chosen[0].Gain+chosen[1].Gain+chosen[2].Gain, 1e-9)
		require.Greater(t, own, 0.95*best, goal)
	}
}

func contains(set []int, v int) bool {
	for _, s := range set {
		if s == v {
			return true
		}
	}
	return false
}

// within requires that the set that a belief chooses is worth, by the exact process, at least 98 % of what the exact choice is worth.
func within(t *testing.T, exact, belief *Belief, count int) {
	t.Helper()
	for _, goal := range Goals {
		worth := func(b *Belief) float64 {
			chosen, err := b.Choose(count, goal)
			require.NoError(t, err)
			var set []int
			for _, c := range chosen {
				set = append(set, c.Candidate)
			}
			v, err := exact.Value(set, goal)
			require.NoError(t, err)
			return v
		}
		own, best := worth(belief), worth(exact)
		t.Logf("%s: %.4f of the exact choice", goal, own/best)
		require.Greater(t, own, 0.98*best, goal)
	}
}

// TestFromSamples: choices by joint samples are worth as much as those by the exact covariance.
func TestFromSamples(t *testing.T) {
	b := sceneBelief(t)
	cov := mat.NewSymDense(b.n, append([]float64(nil), b.cov...))
	for i := range b.n {
		cov.SetSym(i, i, cov.At(i, i)+1e-9)
	}
	var chol mat.Cholesky
	require.True(t, chol.Factorize(cov))
	var l mat.TriDense
	chol.LTo(&l)
	rng := rand.New(rand.NewPCG(1, 2))
	samples := make([][]float64, 2000)
	for s := range samples {
		z := mat.NewVecDense(b.n, nil)
		for i := range b.n {
			z.SetVec(i, rng.NormFloat64())
		}
		samples[s] = make([]float64, b.n)
		mat.NewVecDense(b.n, samples[s]).MulVec(&l, z)
	}
	own, err := FromSamples(samples, b.candidates, noise)
	require.NoError(t, err)
	within(t, b, own, 4)
}

// TestFromFactors: a covariance of low rank, as the likelihood lowrank predicts, chooses as well where the rank suffices.
func TestFromFactors(t *testing.T) {
	b := sceneBelief(t)
	var eigen mat.EigenSym
	require.True(t, eigen.Factorize(mat.NewSymDense(b.n, append([]float64(nil), b.cov...)), true))
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values, rank := eigen.Values(nil), 12
	f := make([]float64, b.n*rank)
	for i := range b.n {
		for k := range rank {
			at := b.n - 1 - k
			f[i*rank+k] = vectors.At(i, at) * math.Sqrt(max(0, values[at]))
		}
	}
	own, err := FromFactors(f, rank, b.candidates, noise)
	require.NoError(t, err)
	within(t, b, own, 4)
}

// TestInterpolation: joint samples of the interpolation of a table, which has to find the length scale itself,
// choose as well as the process
// that drew the table.
func TestInterpolation(t *testing.T) {
	var x []float64
	for i := range 40 {
		if at := float64(i) * 0.25; at < 3 || at > 6 && at < 8 {
			x = append(x, at)
		}
	}
	var places []float64
	candidates := 0
	for at := 0.0; at <= 10; at += 0.5 {
		places, candidates = append(places, at), candidates+1
	}
	for at := 0.1; at <= 10; at += 0.4 {
		places = append(places, at)
	}
	exact, err := FromCovariance(posterior(places, x, 0.8), candidates, noise)
	require.NoError(t, err)
	prior := posterior(x, nil, 0.8)
	cov := mat.NewSymDense(len(x), prior)
	for i := range x {
		cov.SetSym(i, i, cov.At(i, i)+noise)
	}
	var chol mat.Cholesky
	require.True(t, chol.Factorize(cov))
	var l mat.TriDense
	chol.LTo(&l)
	rng := rand.New(rand.NewPCG(5, 6))
	z, y := mat.NewVecDense(len(x), nil), make([]float64, len(x))
	for i := range x {
		z.SetVec(i, rng.NormFloat64())
	}
	mat.NewVecDense(len(x), y).MulVec(&l, z)
	m, err := krige.Fit(context.Background(), x, y, krige.Options{Dim: 1})
	require.NoError(t, err)
	samples, err := m.Functions(context.Background(), places, 2000, 1)
	require.NoError(t, err)
	own, err := FromSamples(samples, candidates, noise)
	require.NoError(t, err)
	within(t, exact, own, 3)
}

// TestInput: what is no belief or no choice is refused by name.
func TestInput(t *testing.T) {
	_, err := FromCovariance(make([]float64, 5), 1, 1)
	require.ErrorContains(t, err, "no square")
	_, err = FromCovariance(make([]float64, 4), 2, 1)
	require.ErrorContains(t, err, "2 candidates of 2 places")
	_, err = FromCovariance(make([]float64, 4), 1, 0)
	require.ErrorContains(t, err, "noise's variance is 0")
	_, err = FromCovariance([]float64{1, math.NaN(), 0, 1}, 1, 1)
	require.ErrorContains(t, err, "places 0 and 1")
	_, err = FromSamples([][]float64{{1, 2}, {1}}, 1, 1)
	require.ErrorContains(t, err, "sample 1 has 1 values")
	_, err = FromFactors(make([]float64, 5), 2, 1, 1)
	require.ErrorContains(t, err, "no factor of rank 2")
	b := sceneBelief(t)
	_, err = b.Choose(25, Entropy)
	require.ErrorContains(t, err, "25 of 24 candidates")
	_, err = b.Choose(1, "fun")
	require.ErrorIs(t, err, ErrInput)
	_, err = b.Value([]int{24}, Error)
	require.ErrorContains(t, err, "candidate 24 of 24")
}

// TestConditionAll: block by block, as value by value, also where values repeat and the rank is low.
func TestConditionAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, first, rank = 200, 30, 20 // three blocks, the last not whole
	f := make([]float64, n*rank)
	for i := range f {
		f[i] = rng.NormFloat64()
	}
	copy(f[150*rank:160*rank], f[40*rank:])
	b, err := FromFactors(f, rank, first, 1)
	require.NoError(t, err)
	got, want := slices.Clone(b.cov), slices.Clone(b.cov)
	conditionAll(got, n, first, 1e-3)
	for i := first; i < n; i++ {
		condition(want, n, i, 1e-3)
	}
	require.InDeltaSlice(t, want, got, 1e-9)
	for i := range n {
		for j := range i {
			require.Equal(t, got[i*n+j], got[j*n+i])
		}
	}
}

// TestNoCovariance: what is no covariance, or no sample, is refused by its place, and rounding is not.
func TestNoCovariance(t *testing.T) {
	_, err := FromCovariance([]float64{1, 0, 0, -1}, 1, 1)
	require.EqualError(t, err, "design: input: the variance of place 1 is -1")
	_, err = FromCovariance([]float64{1, 5, 0, 1}, 1, 1)
	require.EqualError(t, err, "design: input: the covariance of places 0 and 1 is 5, that of 1 and 0 is 0")
	_, err = FromCovariance([]float64{1, 0.5, 0.5 + 1e-8, -1e-12}, 1, 1)
	require.NoError(t, err)
	_, err = FromSamples([][]float64{{1, 2}, {1, math.Inf(1)}}, 1, 1)
	require.EqualError(t, err, "design: input: sample 1 has +Inf at place 1")
}
