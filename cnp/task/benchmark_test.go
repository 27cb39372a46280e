package task

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

func benchmark(process, region string, dx int) BenchmarkSource[float32] {
	return BenchmarkSource[float32]{Process: process, Region: region, Dx: dx}
}

// TestBenchmarkDiagonal: per target, the process's joint density exceeds what the best independent prediction reaches by what is
// published (J. Bruinsma's thesis, 4096 tasks each), which shows that the tasks are the same.
func TestBenchmarkDiagonal(t *testing.T) {
	batches := 128
	if testing.Short() {
		batches = 16
	}
	for process, published := range map[string][3]float64{
		"eq": {.40, .40, .95}, "matern": {.40, .40, .84}, "weakly-periodic": {.38, .38, .59},
	} {
		for r, region := range BenchmarkRegions {
			s := benchmark(process, region, 1)
			var sum, squares, n float64
			for step := range batches {
				b, err := s.Batch(16, 1, step)
				require.NoError(t, err)
				joint, diagonal, err := s.Exact(b)
				require.NoError(t, err)
				for i := range joint {
					d := joint[i] - diagonal[i]
					sum, squares, n = sum+d, squares+d*d, n+1
				}
			}
			mean := sum / n
			// The context's size is a batch's: a batch counts as one draw.
			se := math.Sqrt((squares/n - mean*mean) / float64(batches))
			t.Logf("%s %s: %.3f ± %.3f, published %.2f", process, region, mean, se, published[r])
			require.InDelta(t, published[r], mean, 0.005+3*se, "%s %s", process, region)
		}
	}
}

// TestBenchmarkExact: densities are those of the process's predictions, one target after the other.
func TestBenchmarkExact(t *testing.T) {
	s := benchmark("matern", "int", 1)
	b, err := s.Batch(2, 3, 1)
	require.NoError(t, err)
	joint, diagonal, err := s.Exact(b)
	require.NoError(t, err)
	g, c := GP{Matern52(0.25), benchmarkNoise}, b.Curves
	require.Positive(t, c.Nc)
	for k := range 2 {
		x, tx := c.XContext[k*c.Nc:(k+1)*c.Nc:(k+1)*c.Nc], c.XTarget[k*c.Nt:(k+1)*c.Nt]
		var y, ty []float64
		for i := range c.Nc {
			y = append(y, float64(c.YContext[k*c.Nc+i]))
		}
		for i := range c.Nt {
			ty = append(ty, float64(b.Y[k*c.Nt+i]))
		}
		mean, std, err := g.Predict(tx, x, y)
		require.NoError(t, err)
		alone, _ := cnp.LogLikelihood(mean, std, ty, nil)
		require.InDelta(t, alone/float64(c.Nt), diagonal[k], 1e-6)
		chain := 0.0
		for i := range tx {
			mean, std, err := g.Predict(tx[i:i+1], append(x, tx[:i]...), append(y, ty[:i]...))
			require.NoError(t, err)
			ll, _ := cnp.LogLikelihood(mean, std, ty[i:i+1], nil)
			chain += ll
		}
		require.InDelta(t, chain/float64(c.Nt), joint[k], 1e-6)
	}
	_, _, err = benchmark("sawtooth", "", 1).Exact(b)
	require.ErrorContains(t, err, "no density")
	_, _, err = benchmark("eq", "", 2).Exact(b)
	require.ErrorContains(t, err, "2 coordinates")
}

// TestBenchmarkSource: sizes, places, and equal batches for any number of goroutines.
func TestBenchmarkSource(t *testing.T) {
	within := func(x []float64, lo, hi float64) {
		for _, v := range x {
			require.True(t, v >= lo && v < hi, v)
		}
	}
	for _, process := range BenchmarkProcesses {
		for _, dx := range []int{1, 2} {
			sizes := map[int]bool{}
			for step := range 24 {
				s := benchmark(process, BenchmarkRegions[step%3], dx)
				b, err := s.Batch(3, 7, step)
				require.NoError(t, err)
				c := b.Curves
				most := s.Work(3)
				require.True(t, c.Nc <= most.Context && c.Nt <= most.Targets && len(c.XContext) == 3*c.Nc*dx &&
					len(c.YContext) == 3*c.Nc && len(c.XTarget) == 3*c.Nt*dx && len(b.Y) == 3*c.Nt)
				sizes[c.Nt] = true
				within(c.XContext, []float64{-2, 2, -2}[step%3], []float64{2, 6, 2}[step%3])
				within(c.XTarget, []float64{-2, 2, 2}[step%3], []float64{2, 6, 6}[step%3])
				if process == "sawtooth" {
					for _, v := range b.Y {
						require.True(t, v >= 0 && v <= 1)
					}
				}
			}
			want := map[int]bool{50 * dx: process != "sawtooth", 100 * dx: process == "sawtooth" || process == "mixture"}
			for n, ok := range want {
				require.Equal(t, ok, sizes[n], "%s: %d targets", process, n)
			}
		}
	}
	// As many context points as the chain rule sees.
	for process, most := range map[string]int{"eq": 30 + 49, "sawtooth": 75 + 99} {
		s, reached := benchmark(process, "", 1), 0
		s.Chain = true
		require.Equal(t, most, s.Work(1).Context)
		for step := range 100 {
			b, err := s.Batch(1, 3, step)
			require.NoError(t, err)
			reached = max(reached, b.Curves.Nc)
		}
		require.True(t, reached > most*9/10 && reached <= most, "%d of %d", reached, most)
		require.Equal(t, process+" of the neuralprocesses benchmark, dx = 1, int, contexts as in the chain rule", s.String())
	}
	s := benchmark("eq", "", 2)
	b, err := s.Batch(5, 1, 1)
	require.NoError(t, err)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	again, err := s.Batch(5, 1, 1)
	require.NoError(t, err)
	require.Equal(t, b, again)
	require.Equal(t, "eq of the neuralprocesses benchmark, dx = 2, int", s.String())
	for want, s := range map[string]BenchmarkSource[float32]{
		`benchmark "rbf"`: benchmark("rbf", "", 1), `region "out"`: benchmark("eq", "out", 1), "0 coordinates": benchmark("eq", "", 0),
	} {
		_, err := s.Batch(1, 1, 1)
		require.ErrorContains(t, err, want)
	}
}

// TestBenchmarkWave: a sawtooth wave in the plane is constant across its direction, and rises by its frequency along it; the
// first steps' waves are slower.
func TestBenchmarkWave(t *testing.T) {
	const n = 4000
	y, x := make([]float64, n), make([]float64, 2*n)
	for i := range n { // along both axes
		x[2*i+i%2] = float64(i) * 1e-4
	}
	frequency := func(s BenchmarkSource[float32], step int) float64 {
		s.waves(y, x, 1, s.speed(step), StepRand(1, 1))
		var slope [2]float64
		for i := 2; i < n; i++ {
			if d := y[i] - y[i-2]; math.Abs(d) < 0.5 {
				slope[i%2] = d / 2e-4
			}
		}
		return math.Hypot(slope[0], slope[1])
	}
	s := benchmark("sawtooth", "", 2)
	f := frequency(s, 0)
	require.True(t, f >= 2/math.Sqrt2 && f <= 4/math.Sqrt2, f)
	s.Slow = 30
	for step, slower := range map[int]float64{0: 8, 10: 4, 20: 2, 30: 1, 1000: 1} {
		require.InDelta(t, f/slower, frequency(s, step), 1e-6*f, "step %d", step)
	}
	require.Equal(t, "sawtooth of the neuralprocesses benchmark, dx = 2, int, slower waves in the first 30 steps", s.String())
	for want, s := range map[string]BenchmarkSource[float32]{
		"slow for -1 steps of sawtooth": {Process: "sawtooth", Dx: 1, Slow: -1}, "slow for 5 steps of eq": {Process: "eq", Dx: 1, Slow: 5},
	} {
		_, err := s.Batch(1, 1, 1)
		require.ErrorContains(t, err, want)
	}
}

func BenchmarkTasks(b *testing.B) {
	for _, process := range BenchmarkProcesses[:4] {
		for _, dx := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/dx=%d", process, dx), func(b *testing.B) {
				step := 0
				for b.Loop() {
					step++
					if _, err := benchmark(process, "", dx).Batch(16, 1, step); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
