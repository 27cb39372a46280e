package task

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSobolLine: the first 2ⁿ numbers of the sequence lie in as many intervals of one length, one in each.
func TestSobolLine(t *testing.T) {
	for _, n := range []int{1, 2, 64, 256} {
		x := make([]float64, n)
		sobolLine(x, rand.New(rand.NewPCG(1, uint64(n))))
		slices.Sort(x)
		for i := range x {
			require.True(t, x[i] >= 0 && x[i] < 1)
			if i > 0 {
				require.InDelta(t, 1/float64(n), x[i]-x[i-1], 1e-12)
			}
		}
	}
}

// TestJointSource: sizes, places that context and targets share, and exact densities that agree with those of a Gaussian process.
func TestJointSource(t *testing.T) {
	s := JointSource[float64]{Process: "gp", Context: 16, Targets: 16, Pool: 32}
	tasks, exact, err := s.draw(4, 1, 1, nil)
	require.NoError(t, err)
	known, err := s.Known(4, 1, 1)
	require.NoError(t, err)
	require.Equal(t, exact, known)
	b := tasks.Curves
	require.Equal(t, [2]int{16, 16}, [2]int{b.Nc, b.Nt})
	all := func(k int) []float64 {
		x := slices.Concat(b.XContext[k*16:(k+1)*16], b.XTarget[k*16:(k+1)*16])
		slices.Sort(x)
		return x
	}
	require.Equal(t, all(0), all(3), "a batch has one set of places")
	require.InDelta(t, 4.0/32, all(0)[1]-all(0)[0], 1e-9)
	// The density that is returned is that of the values that are returned: of one curve by the definition.
	rng, same := rand.New(rand.NewPCG(7, 8)), rand.New(rand.NewPCG(7, 8))
	x := all(0)
	y, got, err := jointCurve(x, 10, Matern32, rng, nil, nil)
	require.NoError(t, err)
	variance, length := 0.5+same.Float64(), 0.1+0.9*same.Float64()
	g := GP{func(d float64) float64 { return variance * Matern32(length)(d) }, jointNoise}
	want, err := g.LogDensity(x, y, 10)
	require.NoError(t, err)
	require.InDelta(t, want/float64(len(x)-10), got, 1e-6)
	// A pool that has points to spare is shared by the curves of a batch, too.
	for _, pool := range []int{0, 224} {
		s.Pool = pool
		tasks, err := s.Batch(100, 1, 1)
		require.NoError(t, err)
		x := slices.Concat(tasks.Curves.XContext, tasks.Curves.XTarget)
		slices.Sort(x)
		require.Len(t, slices.Compact(x), 192+16+16)
	}
	for want, bad := range map[string]JointSource[float64]{
		`process "eq"`:       {Process: "eq"},
		"-1 context":         {Process: "gp", Context: -1},
		"a pool of 31 point": {Process: "gp", Context: 16, Targets: 16, Pool: 31},
		"a pool of 5000":     {Process: "gp", Context: 16, Targets: 16, Pool: 5000},
		"need at most 4096":  {Process: "gp", Targets: 4000},
		"need 0 to 4096":     {Process: "gp", Context: math.MaxInt, Targets: math.MaxInt},
	} {
		_, err := bad.Batch(1, 1, 1)
		require.ErrorContains(t, err, want)
	}
	_, err = JointSource[float64]{Process: "sawtooth"}.Known(1, 1, 1)
	require.ErrorContains(t, err, "no density")
}

// TestJointMoments: variances are 1 in the mean over curves, those of waves a twelfth and the noise's.
func TestJointMoments(t *testing.T) {
	var gp, wave, noise tally
	for step := range 400 {
		a, err := JointSource[float64]{Process: "gp", Context: 4, Targets: 4}.Batch(4, 2, step)
		require.NoError(t, err)
		b, err := JointSource[float64]{Process: "sawtooth", Context: 8, Targets: 4}.Batch(4, 2, step)
		require.NoError(t, err)
		for k := range 4 {
			gp.add(a.Y[k*4] * a.Y[k*4])
			d := b.Y[k*4] - 0.5
			wave.add(d * d)
			noise.add(max(0, -b.Y[k*4]))
		}
	}
	require.InDelta(t, 1, gp.mean(), 4*gp.error())
	// U[.05, .1] has the mean square (.1³ - .05³)/(3·.05).
	require.InDelta(t, 1.0/12+(0.001-0.000125)/0.15, wave.mean(), 4*wave.error())
	require.Less(t, noise.mean(), 0.01)
	require.Positive(t, noise.mean())
	require.False(t, math.IsNaN(noise.mean()))
}

// TestJointPosterior: targets have the mean and the deviation that Posterior says: of a curve those of the Gaussian process, of a wave
// as standard normal residuals. The tasks are those of Batch.
func TestJointPosterior(t *testing.T) {
	mean, std := make([]float64, 6), make([]float64, 6)
	rng, same := rand.New(rand.NewPCG(7, 8)), rand.New(rand.NewPCG(7, 8))
	x := []float64{-1.9, 0.4, 1.1, -0.2, 0.9, 1.7, -1, 0, 0.5, 1.2}
	y, _, err := jointCurve(x, 4, Matern52, rng, mean, std)
	require.NoError(t, err)
	variance, length := 0.5+same.Float64(), 0.1+0.9*same.Float64()
	g := GP{func(d float64) float64 { return variance * Matern52(length)(d) }, jointNoise}
	wantMean, wantStd, err := g.Predict(x[4:], x[:4], y[:4])
	require.NoError(t, err)
	require.InDeltaSlice(t, wantMean, mean, 1e-9)
	require.InDeltaSlice(t, wantStd, std, 1e-6) // with the noise of a value or without: the same to its variance

	var residual, square tally
	for _, process := range JointProcesses {
		s := JointSource[float64]{Process: process, Context: 8, Targets: 8}
		for step := range 100 {
			tasks, mean, std, err := s.Posterior(4, 3, step)
			require.NoError(t, err)
			drawn, err := s.Batch(4, 3, step)
			require.NoError(t, err)
			require.Equal(t, drawn, tasks)
			for i, v := range tasks.Y {
				z := (v - mean[i]) / std[i]
				residual.add(z)
				square.add(z * z)
			}
		}
	}
	require.InDelta(t, 0, residual.mean(), 5*residual.error())
	require.InDelta(t, 1, square.mean(), 5*square.error())
	require.True(t, KnowsPosterior[float64](JointSource[float64]{Process: "gp"}))
	require.False(t, KnowsPosterior[float64](PredPreySource[float64]{}))
	_, _, _, err = posteriorOf[float64](PredPreySource[float64]{}, 1, 1, 1)
	require.ErrorContains(t, err, "no known posterior")
}

// TestJointChain: contexts reach as far as the chain rule does, and both ends occur.
func TestJointChain(t *testing.T) {
	s := JointSource[float32]{Process: "sawtooth", Targets: 8, Chain: true}
	least, most := 1000, 0
	for step := range 2000 {
		b, err := s.Batch(1, 1, step)
		require.NoError(t, err)
		least, most = min(least, b.Curves.Nc), max(most, b.Curves.Nc)
	}
	require.Equal(t, [2]int{8, 128 + 8 - 1}, [2]int{least, most})
	require.Equal(t, 135, s.Work(1).Context)
}
