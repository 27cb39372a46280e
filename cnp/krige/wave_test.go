package krige

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// formOf is the waveform of a function of period 1.
func formOf(f func(u float64) float64) *waveform {
	g := new(waveform)
	for i := range waveCells {
		const inside = 1e-9
		g.lo[i], g.hi[i] = f((float64(i)+inside)/waveCells), f((float64(i)+1-inside)/waveCells)
	}
	return g
}

// knownWaves are tables of a waveform with wave vectors of lengths from 1 to 2.
func knownWaves(dim int, g *waveform, narrow float64) *waves {
	return &waves{dim: dim, forms: blurred(g), narrow: narrow, broad: 1, rare: 0.002, share: 1,
		prior: wavePrior{dim: dim, least: 1, most: 2, other: 1}}
}

func sawtooth(u float64) float64 { return 2*u - 1 }

// waveDraw draws n values of a wave, at places from -1 to 1 along every coordinate.
func waveDraw(w *waves, rng *rand.Rand, n int) (t *waveTable, theta []float64) {
	theta = make([]float64, w.dim+1)
	w.prior.draw(theta[:w.dim], rng)
	theta[w.dim] = rng.Float64()
	t = &waveTable{dim: w.dim}
	for range n {
		u := -theta[w.dim]
		for k := range w.dim {
			v := 2*rng.Float64() - 1
			t.x, u = append(t.x, v), u+theta[k]*v
		}
		y, _ := w.forms[0].at(u)
		t.y = append(t.y, y+w.narrow*rng.NormFloat64())
	}
	return t, theta
}

// The evidence of a wave, and the mean of wave vectors, are those of a fine grid. With -long, of tables of more sizes.
func TestWavePosterior(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	w := knownWaves(1, formOf(sawtooth), 0.1)
	for _, n := range []int{0, 1, 2, 3, 5, 8, 20, 60} {
		table, _ := waveDraw(w, rng, n)
		if !*long && (n == 2 || n == 5 || n == 20) {
			continue
		}
		grid := newWaveSampler(w, table, 1)
		a := grid.particle()
		const vectors, phases = 800, 400
		logs, at := make([]float64, 0, vectors*phases), make([]float64, 0, vectors)
		for i := range vectors {
			v := -2 + 4*(float64(i)+0.5)/vectors
			if math.Abs(v) < 1 {
				continue
			}
			at = append(at, v)
			for k := range phases {
				a.theta[0], a.theta[1] = v, (float64(k)+0.5)/phases
				grid.look(a, false)
				logs = append(logs, a.like)
			}
		}
		exact := logMean(logs)
		var mean, square, total float64
		for i, l := range logs {
			p := math.Exp(l - exact)
			mean, square, total = mean+at[i/phases]*p, square+at[i/phases]*at[i/phases]*p, total+p
		}
		mean /= total
		sd := math.Sqrt(square/total - mean*mean)
		const runs = 8
		var found, centre float64
		for seed := range uint64(runs) {
			s := w.posterior(t.Context(), table, waveEvidence(n), seed)
			require.InDelta(t, exact, s.logZ, 0.15, "%d values: evidence", n)
			found += s.logZ / runs
			for _, a := range s.all {
				centre += a.theta[0] / runs / float64(len(s.all))
			}
		}
		require.InDelta(t, exact, found, 0.03, "%d values: evidence", n)
		require.InDelta(t, mean, centre, 0.15*sd+0.002, "%d values: wave vector", n)
	}
}

// Many values tell a wave, in any number of coordinates, down to the deviation of residuals.
func TestWaveFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for _, d := range []int{1, 2, 3, 5} {
		w := knownWaves(d, formOf(sawtooth), 0.002)
		if d == 5 {
			w.prior.least, w.prior.most = 0.5, 1
		}
		table, theta := waveDraw(w, rng, 60*d)
		s := w.sample(t.Context(), table, waveEvidence(len(table.y)), 1)
		for _, a := range s.all {
			for k := range d {
				require.InDelta(t, theta[k], a.theta[k], 0.002, "%d coordinates", d)
			}
		}
	}
}

// Draws that lie beside the posterior of a wave without noise lead to it, and the joint density of further values is that of residuals as
// small as they are.
func TestWaveIsNotLost(t *testing.T) {
	const n, known = 160, 100
	w := knownWaves(3, formOf(sawtooth), foldFloor)
	w.apart[waveGain], w.rare, w.broad, w.share = 0.0137, 0.004, 2, 0.99
	table, theta := waveDraw(w, rand.New(rand.NewPCG(3, 1)), n)
	s := newWaveSampler(w, table, 1)
	for range weighShared {
		a := s.particle()
		copy(a.theta, theta)
		for k := range a.theta {
			a.theta[k] += 5e-4 * s.rng.NormFloat64()
		}
		s.setPrior(a)
		s.look(a, true)
		require.False(t, s.fits(a))
		s.all = append(s.all, a)
	}
	s.weighAll(t.Context(), s.peaks())
	require.True(t, s.fits(s.best()))
	given, together := w.evidences(t.Context(), table.x, table.y, known)
	require.InDelta(t, together, s.logZ, 1)
	perValue := -math.Log(foldFloor) - 0.5*math.Log(2*math.Pi*math.E)
	require.InDelta(t, perValue, (together-given)/(n-known), 0.6)
}

// populationOfWaves draws tables of waves in the plane: value = level + gain g + noise.
func populationOfWaves(rng *rand.Rand, tables, values int, g func(u float64) float64, noise, level, gain float64) (xs, ys [][]float64) {
	for range tables {
		w, angle, phase := 0.4+0.4*rng.Float64(), 2*math.Pi*rng.Float64(), rng.Float64()
		c, a := level*rng.NormFloat64(), math.Exp(gain*rng.NormFloat64())
		var x, y []float64
		for range values {
			p, q := 4*rng.Float64()-2, 4*rng.Float64()-2
			u := w*(p*math.Cos(angle)+q*math.Sin(angle)) - phase
			x, y = append(x, p, q), append(y, 5+3*(c+a*g(u-math.Floor(u))+noise*rng.NormFloat64()))
		}
		xs, ys = append(xs, x), append(ys, y)
	}
	return xs, ys
}

// A population of waves of any form is found out, and predicts far better than Gaussian processes. With -long, of more forms, more tables
// that are learned from, and more that are predicted.
func TestPopulationOfWaves(t *testing.T) {
	for name, c := range map[string]struct {
		g                  func(u float64) float64
		noise, level, gain float64
		least              float64 // mean log density of values in units of the waveform that predictions reach
		long               bool    // like others: with jumps and noise, or smooth
	}{
		"sawtooth":       {sawtooth, 0, 0, 0, 3, false},
		"noisy sawtooth": {sawtooth, 0.2, 0, 0, 0, true},
		"square, levels and gains": {func(u float64) float64 {
			if u < 0.3 {
				return 1
			}
			return -0.5
		}, 0.05, 1, 0.2, 1, false},
		"two harmonics": {func(u float64) float64 { return math.Sin(2*math.Pi*u) + 0.6*math.Sin(4*math.Pi*u+1) }, 0.1, 0, 0.3, 0.6, false},
		"spikes":        {func(u float64) float64 { return 2 * math.Exp(-0.5*math.Pow((u-0.5)/0.06, 2)) }, 0.05, 0, 0, 1, true},
	} {
		if c.long && !*long {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "sawtooth" {
				t.Skip("one waveform is enough with -short")
			}
			learned, values, predicted := 10, 60, 3
			if *long {
				learned, values, predicted = 14, 100, 6
			}
			rng := rand.New(rand.NewPCG(4, 1))
			xs, ys := populationOfWaves(rng, learned, values, c.g, c.noise, c.level, c.gain)
			p, err := FitPopulation(t.Context(), xs, ys, Options{Dim: 2})
			require.NoError(t, err)
			require.NotNil(t, p.waves, "no waves were found")
			text, err := json.Marshal(p)
			require.NoError(t, err)
			read := new(Population)
			require.NoError(t, read.UnmarshalJSON(text))
			require.Equal(t, p, read)
			xs, ys = populationOfWaves(rng, predicted, 80, c.g, c.noise, c.level, c.gain)
			var each, joint float64
			for i := range xs {
				const n = 60
				all, err := p.LogDensities(t.Context(), xs[i][:2*n], ys[i][:n], xs[i][2*n:], ys[i][n:])
				require.NoError(t, err)
				for _, v := range all {
					each += (v + math.Log(3)) / float64(len(all)*len(xs))
				}
				v, err := p.LogDensity(t.Context(), xs[i][:2*n], ys[i][:n], xs[i][2*n:], ys[i][n:])
				require.NoError(t, err)
				joint += (v/float64(len(all)) + math.Log(3)) / float64(len(xs))
			}
			t.Logf("%.3f nats a target, jointly %.3f", each, joint)
			if !(each > c.least && joint > c.least) {
				t.Errorf("%g nats a target, jointly %g, need %g", each, joint, c.least)
			}
		})
	}
}

// wavesKnown is a population of waves whose parameters are given.
func wavesKnown() *Population {
	k := populationKernel{spec: &spec{dim: 1, shape: squared}}
	k.theta = make([]float64, k.spec.params())
	k.theta[tNoise], k.theta[tSlope] = math.Log(0.1), math.Log(0.01)
	k.kernel = k.spec.kernel(k.theta)
	k.atoms = []atom{{share: 0.1, shape: 8, scale: 7}}
	w := knownWaves(1, formOf(sawtooth), 0.05)
	w.share = 0.9
	return &Population{opt: Options{Dim: 1}, frame: &frame{dim: 1, centre: []float64{0}, unit: []float64{1}, ys: 1},
		kernels: []populationKernel{k}, waves: w}
}

// Joint densities follow from densities of one value after the other, and these are densities with the mean and deviation of Predict.
func TestWavesAreOneDistribution(t *testing.T) {
	p := wavesKnown()
	table, _ := waveDraw(p.waves, rand.New(rand.NewPCG(6, 1)), 24)
	next := make([]float64, len(table.y)) // the density of a value given those before it
	for i := range next {
		one, err := p.LogDensities(t.Context(), table.x[:i], table.y[:i], table.x[i:i+1], table.y[i:i+1])
		require.NoError(t, err)
		next[i] = one[0]
	}
	for _, n := range []int{0, 2, 6} {
		joint, err := p.LogDensity(t.Context(), table.x[:n], table.y[:n], table.x[n:], table.y[n:])
		require.NoError(t, err)
		var chain float64
		for _, v := range next[n:] {
			chain += v
		}
		require.InDelta(t, chain, joint, 0.08*float64(len(table.y)-n), "%d values are known", n)
	}
	for _, n := range []int{0, 3, 12} {
		const step = 0.01
		var values, places []float64
		for v := -4.0; v < 4; v += step {
			values, places = append(values, v), append(places, 0.7)
		}
		log, err := p.LogDensities(t.Context(), table.x[:n], table.y[:n], places, values)
		require.NoError(t, err)
		mean, std, err := p.Predict(t.Context(), table.x[:n], table.y[:n], []float64{0.7})
		require.NoError(t, err)
		var total, m1, m2 float64
		for i, l := range log {
			d := step * math.Exp(l)
			total, m1, m2 = total+d, m1+d*values[i], m2+d*values[i]*values[i]
		}
		require.InDelta(t, 1, total, 0.01)
		require.InDelta(t, mean[0], m1, 0.03)
		require.InDelta(t, std[0], math.Sqrt(m2-m1*m1), 0.05*std[0]+0.01)
	}
}

// Predictions have the same bits on any number of goroutines, and of permuted rows.
func TestWavesRepeat(t *testing.T) {
	p := wavesKnown()
	table, _ := waveDraw(p.waves, rand.New(rand.NewPCG(7, 1)), 12)
	targets := []float64{-1, 0, 0.4, 1.5}
	mean, std, err := p.Predict(t.Context(), table.x, table.y, targets)
	require.NoError(t, err)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	again, deviations, err := p.Predict(t.Context(), table.x, table.y, targets)
	require.NoError(t, err)
	require.Equal(t, mean, again)
	require.Equal(t, std, deviations)
	var x, y []float64
	for _, i := range rand.New(rand.NewPCG(8, 1)).Perm(len(table.y)) {
		x, y = append(x, table.x[i]), append(y, table.y[i])
	}
	again, deviations, err = p.Predict(t.Context(), x, y, targets)
	require.NoError(t, err)
	require.InDeltaSlice(t, mean, again, 1e-6)
	require.InDeltaSlice(t, std, deviations, 1e-6)
}

// Tables that are no waves, or no tables, do no harm: predictions are finite, or refused.
func TestWavesHostile(t *testing.T) {
	p := wavesKnown()
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(9, 1))
	many := make([]float64, 20_000)
	for i := range many {
		many[i] = rng.NormFloat64()
	}
	for name, c := range map[string]struct{ x, y []float64 }{
		"nothing": {nil, nil}, "one value": {[]float64{1}, []float64{2}},
		"equal values": {many[:20], make([]float64, 20)}, "one place": {make([]float64, 20), many[:20]},
		"far places": {[]float64{0, 1e59, -1e30}, []float64{1, 2, 3}}, "large values": {[]float64{0, 1, 2}, []float64{1e58, 1, -1e59}},
		"noise": {many[:80], many[80:160]}, "many": {many, many},
	} {
		t.Run(name, func(t *testing.T) {
			mean, std, err := p.Predict(ctx, c.x, c.y, []float64{0, 3, 1e40})
			require.NoError(t, err)
			log, err := p.LogDensities(ctx, c.x, c.y, []float64{0, 3, 1e40}, []float64{1, 0, 1e5})
			require.NoError(t, err)
			for i := range mean {
				finite := !math.IsNaN(mean[i]+std[i]+log[i]) && !math.IsInf(mean[i]+std[i], 0)
				require.True(t, finite && std[i] > 0, "%g %g %g", mean, std, log)
			}
			if len(c.y) < 1000 {
				joint, err := p.LogDensity(ctx, c.x, c.y, []float64{0, 3}, []float64{1, 0})
				require.NoError(t, err)
				require.False(t, math.IsNaN(joint))
			}
		})
	}
	_, err := p.LogDensities(ctx, []float64{1}, []float64{1}, []float64{2}, []float64{math.NaN()})
	require.ErrorIs(t, err, ErrInput)
	_, err = p.LogDensities(ctx, []float64{1}, []float64{1}, []float64{2}, []float64{1, 2})
	require.ErrorIs(t, err, ErrInput)
	_, err = p.LogDensities(ctx, []float64{1}, []float64{math.Inf(1)}, []float64{2}, []float64{1})
	require.ErrorIs(t, err, ErrInput)
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	_, _, err = p.Predict(stopped, []float64{1, 2}, []float64{1, 2}, []float64{2})
	require.ErrorIs(t, err, context.Canceled)
}

// Gaussian processes are no waves: the population is the one that it was.
func TestNoWaves(t *testing.T) {
	require.Nil(t, learnedProcess(t).waves)
}
