package cnp

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
)

// inputsModel predicts a scalar and a vector of the scalar.
func inputsModel(t *testing.T) *EquivCNP[float64] {
	t.Helper()
	c := fieldConfigs()["levels/SE(2)/K=4/scalar,vector/full"].c
	c.Inputs, c.ChannelDensity = []FieldType{Scalar}, true
	m, err := New[float64](c, 3)
	require.NoError(t, err)
	lively(m.(*EquivCNP[float64]))
	return m.(*EquivCNP[float64])
}

// TestInputs: what is never observed is not read, by prediction and training alike, what is observed is; and the vector
// that a scalar says something of turns with the places.
func TestInputs(t *testing.T) {
	m, ctx := inputsModel(t), context.Background()
	b := randomBatch[float64](rand.New(rand.NewPCG(7, 7)), 2, 12, 5, 2, 3)
	predict := func(b *Batch[float64]) []float64 {
		p, err := m.Predict(ctx, b)
		require.NoError(t, err)
		pass, err := m.Differentiate(ctx, b, layers.Eval)
		require.NoError(t, err)
		testkit.Close(t, "the pass", pass.Mean, p.Mean, 1e-12)
		testkit.Close(t, "the pass", pass.Std, p.Std, 1e-12)
		return p.Mean
	}
	want := predict(b)
	other := *b
	for _, v := range []float64{math.NaN(), 1e6} {
		other.YContext = append([]float64(nil), b.YContext...)
		for i := range other.YContext {
			if i%3 > 0 {
				other.YContext[i] = v
			}
		}
		require.Equal(t, want, predict(&other))
	}
	other.YContext[0]++
	require.NotEqual(t, want, predict(&other))
	moved, r := moveBatch(t, m, b, []float64{math.Pi / 2, 3, -1})
	p, err := m.Predict(ctx, b)
	require.NoError(t, err)
	q, err := m.Predict(ctx, moved)
	require.NoError(t, err)
	still := []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
	mean, cov := turnedBack(p, still, 3)
	gotMean, gotCov := turnedBack(q, r, 3)
	testkit.Close(t, "mean", gotMean, mean, 1e-9*maxAbs(mean))
	testkit.Close(t, "covariance", gotCov, cov, 1e-9*maxAbs(cov))
	_, err = JointCurves[float64](ctx, m, b, make([]float64, 2*5*3), Chain{})
	require.ErrorIs(t, err, ErrConfig)
	require.ErrorContains(t, err, `inputs = ["scalar"]`)
}

// TestInputsRefused: inputs that are no part of the outputs, or of models that cannot have them, are refused by name.
func TestInputsRefused(t *testing.T) {
	c := inputsModel(t).Config()
	require.Equal(t, []bool{false, true, true}, c.Unobserved())
	for _, wrong := range []struct {
		change func(c *Config)
		want   string
	}{
		{func(c *Config) { c.Inputs = []FieldType{"wind"} }, `inputs[0] = "wind" is not one of`},
		{func(c *Config) { c.Inputs = []FieldType{Vector, Scalar} }, `inputs[1], a scalar, is not among outputs`},
		{func(c *Config) { c.Inputs = []FieldType{Scalar, Scalar} }, `inputs[1], a scalar, is not among outputs`},
		{func(c *Config) { c.Outputs, c.Likelihood = nil, "" }, "outputs are not named"},
		{func(c *Config) { c.ChannelDensity = false }, "need channel_density"},
		{func(c *Config) { c.Levels, c.PointsPerUnit = 0, 0 }, "only models of architecture"},
	} {
		c := inputsModel(t).Config()
		wrong.change(&c)
		require.ErrorContains(t, c.Validate(), wrong.want)
	}
	c.Inputs = []FieldType{Scalar, Vector}
	require.NoError(t, c.Validate())
	require.Nil(t, c.Unobserved())
	c.Outputs, c.Inputs, c.DimY = []FieldType{Vector, Scalar, Vector}, []FieldType{Scalar}, 5
	require.NoError(t, c.Validate())
	require.Equal(t, []bool{true, true, false, true, true}, c.Unobserved())
}
