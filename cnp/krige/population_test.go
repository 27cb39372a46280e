package krige

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// processDraw draws n values at places of a line with exp(-r^2/2), a variance of 4, noise of a variance of 0.04 and a mean of 3.
func processDraw(rng *rand.Rand, n int) (x, y, covariance []float64) {
	x, y = make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 6 * rng.Float64()
	}
	a := processCovariance(x)
	covariance = append(covariance, a...)
	var w square
	if !cholesky(a, n, nil, &w) {
		panic("not positive definite")
	}
	z := make([]float64, n)
	for i := range z {
		z[i] = rng.NormFloat64()
		y[i] = 3
		for j, l := range a[tri(i) : tri(i)+i+1] {
			if j == i {
				l = 1 / l // the diagonal holds inverses
			}
			y[i] += l * z[j]
		}
	}
	return x, y, covariance
}

func processCovariance(x []float64) (a []float64) {
	for i := range x {
		for j := range i + 1 {
			r := x[i] - x[j]
			a = append(a, 4*math.Exp(-0.5*r*r))
		}
		a[tri(i)+i] += 0.04
	}
	return a
}

// processDensity is the log density of the process.
func processDensity(x, y []float64) float64 {
	a, right := processCovariance(x), make([]float64, len(x))
	for i, v := range y {
		right[i] = v - 3
	}
	var w square
	if !cholesky(a, len(x), right, &w) {
		panic("not positive definite")
	}
	sum := -float64(len(x)) / 2 * math.Log(2*math.Pi)
	for i, z := range right {
		sum += math.Log(a[tri(i)+i]) - z*z/2
	}
	return sum
}

// learnedProcess is the population of some draws.
func learnedProcess(t *testing.T) *Population {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var xs, ys [][]float64
	for range 24 {
		x, y, _ := processDraw(rng, 30)
		xs, ys = append(xs, x), append(ys, y)
	}
	p, err := FitPopulation(t.Context(), xs, ys, Options{Dim: 1})
	require.NoError(t, err)
	require.NotNil(t, p)
	return p
}

// TestPopulationFarAway: of a table so far away that none of its covariances can be factored, small or large, and of its samples nothing is
// known but how the population's values are spread.
func TestPopulationFarAway(t *testing.T) {
	p := learnedProcess(t)
	x, y := make([]float64, populationExact+1), make([]float64, populationExact+1)
	for i := range x {
		x[i], y[i] = 1e12+float64(i), math.Sin(float64(i))
	}
	for _, n := range []int{populationExact, populationExact + 1} {
		mean, std, err := p.Predict(t.Context(), x[:n], y[:n], []float64{1e12, 5})
		require.NoError(t, err)
		require.Equal(t, []float64{p.frame.y0, p.frame.y0}, mean, "%d values", n)
		require.Equal(t, []float64{p.frame.ys, p.frame.ys}, std, "%d values", n)
	}
	_, err := p.LogDensity(t.Context(), x[:30], y[:30], x[30:31], y[30:31])
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "positive definite")
}

// A population of one process predicts tasks of a few values about as well as the process itself, and far better than a table that
// is fitted alone, down to tables without any value.
func TestPopulation(t *testing.T) {
	p := learnedProcess(t)
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 6} {
		const tasks, targets = 24, 12
		var behind, gain float64
		for range tasks {
			x, y, _ := processDraw(rng, n+targets)
			exact := processDensity(x, y)
			if n > 0 {
				exact -= processDensity(x[:n], y[:n])
			}
			found, err := p.LogDensity(ctx, x[:n], y[:n], x[n:], y[n:])
			require.NoError(t, err)
			behind += (exact - found) / targets / tasks
			if n < 2 {
				continue
			}
			alone, err := Fit(ctx, x[:n], y[:n], Options{Dim: 1})
			require.NoError(t, err)
			for _, way := range []struct {
				predict func() (mean, std []float64, err error)
				sign    float64
			}{{func() ([]float64, []float64, error) { return p.Predict(ctx, x[:n], y[:n], x[n:]) }, 1},
				{func() ([]float64, []float64, error) { return alone.Predict(ctx, x[n:]) }, -1}} {
				mean, std, err := way.predict()
				require.NoError(t, err)
				for i := range mean {
					gain += way.sign * logNormal(y[n+i], mean[i], std[i]*std[i]) / targets / tasks
				}
			}
		}
		if !(behind < 0.05 && behind > -0.05) {
			t.Errorf("%d values: %g nats a target behind the process", n, behind)
		}
		if n >= 2 && !(gain > 0.1) {
			t.Errorf("%d values: %g nats a target better than a fit alone", n, gain)
		}
	}
}

// Joint densities are those of one distribution: the density of two targets is that of the first times that of the second given the
// first, in either order, and a single target's density integrates to 1 with the mean and the deviation of Predict.
func TestPopulationIsOneDistribution(t *testing.T) {
	p := learnedProcess(t)
	ctx := t.Context()
	x, y := []float64{0.3, 1.1, 4}, []float64{2, 2.5, 5}
	density := func(x, y, targets, values []float64) float64 {
		d, err := p.LogDensity(ctx, x, y, targets, values)
		require.NoError(t, err)
		return d
	}
	both := density(x, y, []float64{0.7, 5}, []float64{2.2, 4})
	first := density(x, y, []float64{0.7}, []float64{2.2}) + density(append(x[:3:3], 0.7), append(y[:3:3], 2.2), []float64{5}, []float64{4})
	second := density(x, y, []float64{5}, []float64{4}) + density(append(x[:3:3], 5), append(y[:3:3], 4), []float64{0.7}, []float64{2.2})
	require.InDelta(t, both, first, 1e-9)
	require.InDelta(t, both, second, 1e-9)

	mean, std, err := p.Predict(ctx, x, y, []float64{2})
	require.NoError(t, err)
	const step = 0.02
	var total, m1, m2 float64
	for v := mean[0] - 20*std[0]; v < mean[0]+20*std[0]; v += step * std[0] {
		d := math.Exp(density(x, y, []float64{2}, []float64{v})) * step * std[0]
		total, m1, m2 = total+d, m1+d*v, m2+d*(v-mean[0])*(v-mean[0])
	}
	require.InDelta(t, 1, total, 1e-4)
	require.InDelta(t, mean[0], m1, 1e-3)
	require.InDelta(t, std[0], math.Sqrt(m2), 2e-3*std[0])
}

// Other origins and units of all tables move predictions along.
func TestPopulationUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var xs, ys, ux, uy [][]float64
	for range 12 {
		x, y, _ := processDraw(rng, 16)
		xs, ys = append(xs, x), append(ys, y)
		var a, b []float64
		for i := range x {
			a, b = append(a, 100-7*x[i]), append(b, 20*y[i]-5)
		}
		ux, uy = append(ux, a), append(uy, b)
	}
	p, err := FitPopulation(t.Context(), xs, ys, Options{Dim: 1})
	require.NoError(t, err)
	q, err := FitPopulation(t.Context(), ux, uy, Options{Dim: 1})
	require.NoError(t, err)
	mean, std, err := p.Predict(t.Context(), xs[0][:3], ys[0][:3], []float64{2, 5})
	require.NoError(t, err)
	mean2, std2, err := q.Predict(t.Context(), ux[0][:3], uy[0][:3], []float64{86, 65})
	require.NoError(t, err)
	for i := range mean {
		require.InDelta(t, 20*mean[i]-5, mean2[i], 1e-3*std2[i])
		require.InDelta(t, 20*std[i], std2[i], 1e-3*std2[i])
	}
}

// TestLatitudes: a latitude beyond a pole is an error about the input, which names the targets where it is theirs.
func TestLatitudes(t *testing.T) {
	ctx, opt, beyond := t.Context(), Options{Dim: 2, Sphere: true}, []float64{0, 0, 91, 0}
	m, err := Fit(ctx, []float64{10, 20, -30, 40, 5, 70}, []float64{1, 2, 4}, opt)
	require.NoError(t, err)
	_, _, err = m.Predict(ctx, beyond)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "targets: row 1: latitude 91")
	err = (&Population{opt: opt}).check(nil, nil, beyond)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "targets: row 1: latitude 91")
}

func TestPopulationInput(t *testing.T) {
	ctx := t.Context()
	_, err := FitPopulation(ctx, [][]float64{{1}}, nil, Options{Dim: 1})
	require.ErrorIs(t, err, ErrInput)
	_, err = FitPopulation(ctx, nil, nil, Options{Dim: 1, MaximumLikelihood: true})
	require.ErrorIs(t, err, ErrInput)
	_, err = FitPopulation(ctx, [][]float64{{1, 2}}, [][]float64{{1, -2}}, Options{Dim: 1, Values: Positive})
	require.ErrorContains(t, err, "table 0: krige: input: y: row 1: a value of -2: amounts")
	_, err = FitPopulation(ctx, [][]float64{{1, 2}}, [][]float64{{1, 0}}, Options{Dim: 1, Values: Logarithmic})
	require.ErrorContains(t, err, "0 has no logarithm")
	_, err = FitPopulation(ctx, [][]float64{{1, math.NaN()}}, [][]float64{{1, 2}}, Options{Dim: 1})
	require.ErrorIs(t, err, ErrInput)
	p, err := FitPopulation(ctx, [][]float64{{1, 2}}, [][]float64{{1, 2}}, Options{Dim: 1})
	require.NoError(t, err)
	require.Nil(t, p)

	p = learnedProcess(t)
	_, err = p.LogDensity(ctx, []float64{1}, []float64{1}, []float64{2}, []float64{3, 4})
	require.ErrorIs(t, err, ErrInput)
	_, _, err = p.Predict(ctx, []float64{1}, []float64{math.Inf(1)}, []float64{2})
	require.ErrorIs(t, err, ErrInput)
	_, _, err = p.Predict(ctx, nil, nil, []float64{math.NaN()})
	require.ErrorIs(t, err, ErrInput)
}

// A large table is predicted from the nearest values, and from what blocks of it say about the covariance: as if all values counted.
func TestPopulationLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	lengths := []float64{0.1, 0.3}
	p := &Population{opt: Options{Dim: 2}}
	x, y := wavesOf(rng, 400, lengths[0])
	p.frame = newFrame(x, y, &p.opt)
	for _, length := range lengths {
		k := populationKernel{spec: &spec{dim: 2, shape: squared, aniso: true}}
		k.theta = make([]float64, k.spec.params())
		k.theta[tLength] = math.Log(length * (p.frame.coordinates([]float64{1, 0})[0] - p.frame.coordinates([]float64{0, 0})[0]))
		k.theta[tNoise], k.theta[tSlope] = math.Log(0.01), math.Log(0.01)
		k.kernel = k.spec.kernel(k.theta)
		for _, level := range populationLevels {
			k.atoms = append(k.atoms, atom{share: 1.0 / 6, shape: 8, scale: 7, level2: level})
		}
		p.kernels = append(p.kernels, k)
	}
	for _, length := range lengths {
		const n, targets = 900, 100
		x, y := wavesOf(rng, n+targets, length)
		var densities [2]float64
		type predictor func(ctx context.Context, x, y, targets []float64) (mean, std []float64, err error)
		for k, predict := range []predictor{p.predictExact, p.predictLarge} {
			mean, std, err := predict(t.Context(), x[:2*n], y[:n], x[2*n:])
			require.NoError(t, err)
			for i := range mean {
				densities[k] += logNormal(y[n+i], mean[i], std[i]*std[i]) / targets
			}
		}
		if !(math.Abs(densities[0]-densities[1]) < 0.02 && densities[0] > 0) {
			t.Errorf("length %g: %g nats a target from all values, %g from the nearest", length, densities[0], densities[1])
		}
	}
	x, y = wavesOf(rng, 900, 0.3)
	many, _ := wavesOf(rng, 2*populationRoomOf/len(y), 0.3) // some at a time
	mean, std, err := p.Predict(t.Context(), x, y, many)
	require.NoError(t, err)
	for _, i := range []int{0, len(mean)/2 - 1, len(mean) / 2, len(mean) - 1} {
		one, deviation, err := p.Predict(t.Context(), x, y, many[2*i:2*i+2])
		require.NoError(t, err)
		require.Equal(t, [2]float64{one[0], deviation[0]}, [2]float64{mean[i], std[i]})
	}
	_, err = p.LogDensity(t.Context(), make([]float64, 2*populationJoint), make([]float64, populationJoint), []float64{0, 0}, []float64{0})
	require.ErrorIs(t, err, ErrInput)
	x, y = wavesOf(rng, populationExact+1, 0.2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = p.Predict(ctx, x, y, x)
	require.ErrorIs(t, err, context.Canceled)
}

// Of a large table, half of the values that a population is estimated from are neighbours of each other.
func TestThin(t *testing.T) {
	x, y := wavesOf(rand.New(rand.NewPCG(9, 1)), 4000, 0.2)
	m := &Model{opt: Options{Dim: 2}, n: len(y)}
	m.frame = newFrame(x, y, &m.opt)
	m.x, m.y, _ = m.frame.table(x, y)
	all := spacing(m.x, 2)
	m.thin(populationMost)
	require.Len(t, m.x, 2*m.n)
	require.InDelta(t, populationMost, m.n, 2)
	close := 0
	for i := range m.n {
		least := math.Inf(1)
		for j := range m.n {
			if i != j {
				least = min(least, math.Hypot(m.x[2*i]-m.x[2*j], m.x[2*i+1]-m.x[2*j+1]))
			}
		}
		if least < 3*all {
			close++
		}
	}
	require.GreaterOrEqual(t, close, populationMost/2)
}

// wavesOf draws n values in the unit square from a sum of many waves with random directions, whose covariance is about exp(-r^2/2) for
// distances r in units of the length, with a variance of 1, and noise with a variance of 0.01.
func wavesOf(rng *rand.Rand, n int, length float64) (x, y []float64) {
	const waves = 200
	var w [waves][3]float64
	for i := range w {
		w[i] = [3]float64{rng.NormFloat64() / length, rng.NormFloat64() / length, 2 * math.Pi * rng.Float64()}
	}
	x, y = make([]float64, 2*n), make([]float64, n)
	for i := range y {
		x[2*i], x[2*i+1] = rng.Float64(), rng.Float64()
		for _, v := range w {
			y[i] += math.Cos(v[0]*x[2*i]+v[1]*x[2*i+1]+v[2]) * math.Sqrt(2.0/waves)
		}
		y[i] += 0.1 * rng.NormFloat64()
	}
	return x, y
}

// TestEmptyPopulation: what nothing has filled says so.
func TestEmptyPopulation(t *testing.T) {
	var p Population
	_, _, err := p.Predict(t.Context(), []float64{0, 1}, []float64{1, 2}, []float64{0.5})
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "the population is empty")
	_, err = p.LogDensity(t.Context(), nil, nil, []float64{0.5}, []float64{1})
	require.ErrorIs(t, err, ErrInput)
	_, err = Fit(t.Context(), []float64{0, 1}, []float64{1, 2}, Options{Dim: 1, Values: 99})
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "Values = 99")
}
