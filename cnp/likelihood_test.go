package cnp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/stretchr/testify/require"
)

// otherLikelihoods are those beside the normal one, each with every way that it takes.
var otherLikelihoods = []string{"normal:noise", "lowrank:3", "lowrank:2:noise", "bernoulli-gamma", "spiked-beta", "gamma", "log-normal",
	"scales:0.5*0.3,0.4*1,0.1*2.5", "scales:0.3@0.5*0.3,0.5*1;1.5@1*0.8"}

// likelihoodOf is a likelihood by name, with a floor.
func likelihoodOf(t *testing.T, name string, o Output, floor float64) Likelihood {
	t.Helper()
	l, err := ParseLikelihood(&Config{Likelihood: name, Output: o, Floor: floor})
	require.NoError(t, err)
	require.Equal(t, name, l.Name())
	return l
}

// TestNormalLikelihood: the normal likelihood, value by value, is what models compute by kernels.
func TestNormalLikelihood(t *testing.T) {
	for _, o := range []Output{OutputVariance, OutputStd} {
		c := Default(ConvCNPCurve, "", 2)
		c.PointsPerUnit, c.Channels, c.Kernel, c.Output, c.Floor = 4, []int{3, 3, 3}, 3, o, 0
		b := randomBatch[float64](testkit.Rand(1), 2, 3, 40, 1, 2)
		predict := func() *Prediction[float64] {
			m, err := New[float64](c, 1)
			require.NoError(t, err)
			perturb(m.State(), 2)
			p, err := m.(Regressor[float64]).Predict(context.Background(), b)
			require.NoError(t, err)
			require.Implements(t, (*Gaussian)(nil), p.Likelihood)
			return p
		}
		free := predict()
		sorted := slices.Sorted(slices.Values(free.Std))
		if c.Floor = sorted[len(sorted)/2]; o == OutputVariance {
			c.Floor *= c.Floor
		}
		p, floored := predict(), 0
		l := likelihoodOf(t, "normal", o, c.Floor)
		for i, mean := range p.Mean {
			// The raw number that this deviation comes from.
			v := free.Std[i]
			if o == OutputVariance {
				v *= v
			}
			raw, params := []float64{mean, v + math.Log(-math.Expm1(-v))}, make([]float64, 2)
			l.Parameters(params, raw)
			require.InDelta(t, p.Std[i], params[1], 1e-12)
			if p.Std[i] > free.Std[i] {
				floored++
			}
			at, std := l.Moments(params)
			require.Equal(t, mean, at)
			sum, n := LogLikelihood(p.Mean[i:i+1], p.Std[i:i+1], []float64{0.3}, nil)
			require.Equal(t, 1, n)
			require.InDelta(t, sum, p.LogDensityAt(i, 0.3), 1e-12)
			require.InDelta(t, mean+std, p.QuantileAt(i, 0.5*math.Erfc(-1/math.Sqrt2)), 1e-9)
		}
		require.Greater(t, floored, 10)
	}
}

// TestSupport: a value that a likelihood cannot give is named with its row.
func TestSupport(t *testing.T) {
	l := likelihoodOf(t, "spiked-beta", OutputStd, 0)
	y := []float32{0, 1, 0.5, 1.25}
	require.ErrorIs(t, CheckSupport(l, "y", y, nil, 2), ErrRange)
	require.ErrorContains(t, CheckSupport(l, "y", y, nil, 2), "y2 of row 1 is 1.25, likelihood spiked-beta is for values from 0 to 1")
	require.NoError(t, CheckSupport(l, "y", y, []bool{true, true, true, false}, 2))
	require.ErrorContains(t, CheckSupport(likelihoodOf(t, "gamma", OutputStd, 0), "y", y, nil, 2),
		"y1 of row 0 is 0, likelihood gamma is for positive values")
	require.Error(t, CheckSupport(likelihoodOf(t, "bernoulli-gamma", OutputStd, 0), "y", []float64{math.Inf(1)}, nil, 1))
	require.Error(t, CheckSupport(l, "y", []float64{math.NaN()}, nil, 1))

	c := Default(CNPCurve, "", 1)
	c.Likelihood = "bernoulli-gamma"
	m, err := New[float64](c, 1)
	require.NoError(t, err)
	b := randomBatch[float64](testkit.Rand(1), 2, 3, 2, 1, 1)
	p, err := m.(TrainableRegressor[float64]).Differentiate(context.Background(), b, layers.Train)
	require.NoError(t, err)
	g := layers.NewGrads(m.State())
	_, err = p.Gradient([]float64{1, 2, -0.5, 0}, g)
	require.ErrorContains(t, err, "y of row 2 is -0.5")
	_, err = p.GradientOf(Objective{Noise: 0.1}, []float64{1, 2, 0.5, 0}, g)
	require.ErrorIs(t, err, ErrConfig)
	// Values of such a kind stay as they are, whatever the model was trained on.
	c.Trained = &Trained{X: []Range{{-2, 2, 0, 1}}, Y: []Range{{0, 1, 0.5, 0.2}}, Span: 4, Context: [2]int{3, 50}}
	s := c.Scaler([]float64{0, 100}, []float64{5, 900})
	require.Equal(t, identity, s.Y[0])
	require.NotEqual(t, identity, s.X[0])
}

// TestLikelihoodNames: unknown names and arguments are refused by name, and what is registered is found.
func TestLikelihoodNames(t *testing.T) {
	for _, name := range []string{"gamma:2", "normal:loud", "normal:", " normal", "lowrank:0", "lowrank:x", "lowrank:100000"} {
		c := Default(CNPCurve, "", 1)
		c.Likelihood = name
		err := c.Validate()
		if name == "normal:" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrConfig, name)
		require.ErrorContains(t, err, name)
	}
	require.Panics(t, func() {
		RegisterLikelihood("normal", func(likelihood.Options, string) (Likelihood, error) { return nil, nil })
	})
	RegisterLikelihood("laplace", func(likelihood.Options, string) (Likelihood, error) { return laplace{}, nil })
	require.Contains(t, Likelihoods(), "laplace")
	c := Default(CNPCurve, "", 1)
	c.Likelihood = "laplace"
	m, err := New[float32](c, 1)
	require.NoError(t, err)
	p, err := m.(Regressor[float32]).Predict(context.Background(), randomBatch[float32](testkit.Rand(1), 1, 3, 4, 1, 1))
	require.NoError(t, err)
	require.Equal(t, laplace{}, p.Likelihood)
	require.NoError(t, p.Check(nil))
}

// laplace is a user's own likelihood.
type laplace struct{}

func (laplace) Name() string { return "laplace" }

func (laplace) Outputs() int { return 2 }

func (laplace) Constants() int { return 0 }

func (laplace) Parameters(params, raw []float64) {
	params[0], params[1] = raw[0], math.Exp(raw[1])
}

func (laplace) Moments(p []float64) (float64, float64) { return p[0], math.Sqrt2 * p[1] }

func (laplace) LogDensity(y float64, p []float64) float64 {
	return -math.Abs(y-p[0])/p[1] - math.Log(2*p[1])
}

func (laplace) Gradient(d []float64, y float64, p, _ []float64) {
	d[0], d[1] = math.Copysign(1/p[1], y-p[0]), math.Abs(y-p[0])/p[1]-1
}

func (laplace) Quantile(q float64, p []float64) float64 {
	if q < 0.5 {
		return p[0] + p[1]*math.Log(2*q)
	}
	return p[0] - p[1]*math.Log(2*(1-q))
}

func (l laplace) Sample(rng *rand.Rand, p []float64) float64 { return l.Quantile(rng.Float64(), p) }

func (laplace) Support() (float64, float64) { return math.Inf(-1), math.Inf(1) }

// TestSliceBounds: a part of a prediction is never one of values that it does not have, which its slices' capacities may hold.
func TestSliceBounds(t *testing.T) {
	p := &Prediction[float64]{Mean: []float64{1, 2, 3, 4, 5, 6}, Std: []float64{1, 1, 1, 1, 1, 1}}
	require.Equal(t, []float64{3, 4}, p.Task(1, 3).Mean)
	first := p.Slice(0, 3)
	require.PanicsWithValue(t, "cnp: Prediction.Slice: values 1 to 4 of 3", func() { first.Slice(1, 4) })
	require.PanicsWithValue(t, "cnp: Prediction.Slice: values 2 to 1 of 3", func() { first.Slice(2, 1) })
	require.PanicsWithValue(t, "cnp: Prediction.Task: task 3 of 3 with 3 values in all", func() { first.Task(3, 3) })
	require.PanicsWithValue(t, "cnp: Prediction.Task: task 0 of 4 with 6 values in all", func() { p.Task(0, 4) })
}
