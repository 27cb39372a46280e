package task

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOptimalWave: densities agree with the mean over waves that the source draws, of one target they are the same jointly and on its own,
// and over a target's values they add up to 1.
func TestOptimalWave(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x := []float64{-0.4, 0.1, 0.7, -1.1, 1.6}
	for _, nc := range []int{0, 1, 3} {
		y := jointWave(x, rng, nil, nil)
		var mean, square float64 // of the likelihood of drawn waves, of the context and of all
		var before, alone [2]float64
		const draws = 100_000
		wave, std := make([]float64, len(x)), make([]float64, len(x))
		for range draws {
			jointWave(x, rng, wave, std)
			var log [2]float64
			for i, v := range y {
				z := (v - wave[i]) / std[i]
				l := -0.5*z*z - math.Log(std[i]) - 0.5*math.Log(2*math.Pi)
				log[1] += l
				if i < nc {
					log[0] += l
				}
			}
			before[0] += math.Exp(log[0]) / draws
			alone[0] += math.Exp(log[1]) / draws
			square += math.Exp(2*log[1]) / draws
		}
		mean = alone[0]
		err := math.Sqrt(square/mean/mean/draws) + 0.01
		joint, _ := optimalWave(x, y, nc)
		require.InDelta(t, math.Log(mean/before[0]), joint*float64(len(x)-nc), 5*err, "%d of the values are given", nc)

		a, b := optimalWave(x[:nc+1], y[:nc+1], nc)
		require.InDelta(t, a, b, 1e-3, "%d of the values are given", nc)
		var total float64
		const step = 0.02
		for v := -0.6; v < 1.6; v += step {
			y[nc] = v
			_, b := optimalWave(x[:nc+1], y[:nc+1], nc)
			total += step * math.Exp(b)
		}
		require.InDelta(t, 1, total, 2e-3, "%d of the values are given", nc)
	}
	joint, independent := optimalWave(x, make([]float64, 5), 5)
	require.Zero(t, joint+independent)
}

// TestOptimalCurve: densities agree with the mean over curves that the source draws, of one target they are the same jointly and on its
// own, and over a target's values they add up to 1. That of one curve is the one by which the source draws it.
func TestOptimalCurve(t *testing.T) {
	x := []float64{-0.4, 0.1, 0.7, -1.1, 1.6}
	for _, nc := range []int{0, 1, 3} {
		rng, again := rand.New(rand.NewPCG(5, uint64(nc))), rand.New(rand.NewPCG(5, uint64(nc)))
		y, exact, err := jointCurve(x, 0, Matern32, rng, nil, nil)
		require.NoError(t, err)
		own := curveNode{kernel: 1, variance: 0.5 + again.Float64(), length: 0.1 + 0.9*again.Float64()}
		require.NoError(t, own.set(x, y))
		require.InDelta(t, exact*float64(len(x)), own.log, 1e-9)
		var before, all, square float64
		const draws = 10_000
		for range draws {
			node := curveNode{variance: 0.5 + rng.Float64(), length: 0.1 + 0.9*rng.Float64()}
			for u := rng.Float64(); u >= jointShares[node.kernel]; {
				node.kernel++
			}
			require.NoError(t, node.set(x[:nc], y[:nc]))
			before += math.Exp(node.log) / draws
			require.NoError(t, node.set(x, y))
			all += math.Exp(node.log) / draws
			square += math.Exp(2*node.log) / draws
		}
		joint, _, err := optimalCurve(x, y, nc)
		require.NoError(t, err)
		require.InDelta(t, math.Log(all/before), joint*float64(len(x)-nc), 5*math.Sqrt(square/all/all/draws)+1e-3,
			"%d of the values are given", nc)

		a, b, err := optimalCurve(x[:nc+1], y[:nc+1], nc)
		require.NoError(t, err)
		require.InDelta(t, a, b, 1e-3, "%d of the values are given", nc)
		var total float64
		const step = 0.05
		for v := -6.0; v < 6; v += step {
			y[nc] = v
			_, b, err := optimalCurve(x[:nc+1], y[:nc+1], nc)
			require.NoError(t, err)
			total += step * math.Exp(b)
		}
		require.InDelta(t, 1, total, 2e-3, "%d of the values are given", nc)
	}
	joint, independent, err := optimalCurve(x, make([]float64, 5), 5)
	require.NoError(t, err)
	require.Zero(t, joint+independent)
}

// TestOptimalCurveSteps: more steps in length and variance change nothing that counts.
func TestOptimalCurveSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{4, 20, 90} {
		for _, kernel := range jointKernels {
			x := make([]float64, n)
			sobolLine(x, rng)
			for i := range x {
				x[i] = 4*x[i] - 2
			}
			y, _, err := jointCurve(x, 0, kernel, rng, nil, nil)
			require.NoError(t, err)
			a, err := curveNodes(x, y, curveSteps, curveVariances, false)
			require.NoError(t, err)
			b, err := curveNodes(x, y, 2*curveSteps+1, 2*curveVariances, false)
			require.NoError(t, err)
			require.InDelta(t, logOfNodes(b), logOfNodes(a), 0.01, "%d values", n)
		}
	}
}

// TestOptimal: on average over tasks, who knows the wave is better than who knows how it was drawn, who is better jointly than for each
// target on its own.
func TestOptimal(t *testing.T) {
	for _, process := range JointProcesses {
		t.Run(process, func(t *testing.T) { testOptimal(t, process) })
	}
}

func testOptimal(t *testing.T, process string) {
	s := JointSource[float64]{Process: process, Context: 16, Targets: 16}
	var joint, alone, known tally
	for step := range 12 {
		tasks, mean, std, err := s.Posterior(4, 9, step)
		require.NoError(t, err)
		a, b, err := s.Optimal(tasks)
		require.NoError(t, err)
		for k := range a {
			var log float64
			for i := k * 16; i < (k+1)*16; i++ {
				z := (tasks.Y[i] - mean[i]) / std[i]
				log += (-0.5*z*z - math.Log(std[i]) - 0.5*math.Log(2*math.Pi)) / 16
			}
			joint.add(a[k])
			alone.add(a[k] - b[k])
			known.add(log - b[k])
		}
	}
	require.Greater(t, alone.mean(), 2*alone.error())
	require.Greater(t, known.mean(), 2*known.error())
	require.Greater(t, joint.mean(), 0.5)
	tasks, err := s.Batch(2, 1, 1)
	require.NoError(t, err)
	tasks.Y = tasks.Y[1:]
	_, _, err = s.Optimal(tasks)
	require.ErrorContains(t, err, "no tasks of "+process)
	other := JointSource[float64]{Process: "cosine"}
	require.Equal(t, [2]bool{true, false}, [2]bool{s.KnowsOptimal(), other.KnowsOptimal()})
	_, _, err = other.Optimal(tasks)
	require.ErrorContains(t, err, `"cosine" are not known`)
}

// TestOptimalSteps: halving the steps of the integral, and twice as many deviations of the noise, change nothing that counts.
func TestOptimalSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{4, 20, 90, 180} {
		for range 3 {
			x := make([]float64, n)
			for i := range x {
				x[i] = 4*rng.Float64() - 2
			}
			y := jointWave(x, rng, nil, nil)
			a := newWaveIntegral(x, y)
			fine := &waveIntegral{x: x, y: y, noise: legendre(2*len(a.noise), waveQuiet, waveLoud), step: a.step / 2}
			var sum logSum
			seen := map[float64]bool{}
			for _, p := range a.pieces {
				if seen[p.w] {
					continue
				}
				seen[p.w] = true
				for _, side := range []float64{-0.25, 0.25} {
					fine.split(p.w + side*a.step)
					for _, q := range fine.pieces {
						fine.add(&sum, q, n)
					}
				}
			}
			require.InDelta(t, sum.log()+math.Log(fine.step), a.log(), 0.01, "%d values", n)
		}
	}
}
