package cnp

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/stretchr/testify/require"
)

// TestCalibratedModels: one factor of 1 is the model itself; others change its deviations and no mean; what a file would keep is enough.
func TestCalibratedModels(t *testing.T) {
	for _, c := range []struct {
		a     Architecture
		group string
	}{{EquivCNPCurve, "T(1)"}, {ConvCNPCurve, ""}, {EquivCNPImage, "SE(2)"}, {ConvCNPImage, ""}} {
		t.Run(string(c.a), func(t *testing.T) {
			cfg := small(c.a, c.group, 2)
			m, err := New[float64](cfg, 3)
			require.NoError(t, err)
			perturb(m.State(), 4)
			predict := func(m Model[float64]) *Prediction[float64] {
				rng := testkit.Rand(5)
				if r, ok := m.(Regressor[float64]); ok {
					p, err := r.Predict(context.Background(), randomBatch[float64](rng, 2, 4, 7, 1, 2))
					require.NoError(t, err)
					return p
				}
				im := &Images[float64]{B: 1, C: 2, H: 6, W: 6, Pixels: make([]float64, 72), Mask: make([]bool, 36)}
				for i := range im.Pixels {
					im.Pixels[i], im.Mask[i%36] = rng.Float64(), i%3 == 0
				}
				p, err := m.(Completer[float64]).Complete(context.Background(), im)
				require.NoError(t, err)
				return p
			}
			want := predict(m)
			same, err := Calibrated(m, Mixture{Share: []float64{1}, Factor: []float64{1}})
			require.NoError(t, err)
			got := predict(same)
			testkit.Close(t, "mean", got.Mean, want.Mean, 1e-12)
			testkit.Close(t, "std", got.Std, want.Std, 1e-12)
			mixed, err := Calibrated(same, Mixture{Share: []float64{0.75, 0.25}, Factor: []float64{0.5, 2}})
			require.NoError(t, err)
			require.Equal(t, "scales:0.75*0.5,0.25*2", mixed.Config().Likelihood)
			got = predict(mixed)
			testkit.Close(t, "mean", got.Mean, want.Mean, 1e-12)
			testkit.Close(t, "deviations", got.Deviations(), want.Std, 1e-12)
			for i, s := range want.Std {
				require.InEpsilon(t, s*math.Sqrt(0.75*0.25+0.25*4), got.Std[i], 1e-9)
			}
			again, err := New[float64](mixed.Config(), 1)
			require.NoError(t, err)
			for i, p := range again.State() {
				require.Equal(t, mixed.State()[i].Name, p.Name)
				copy(p.Data, mixed.State()[i].Data)
			}
			require.Equal(t, got, predict(again))
		})
	}
}

func TestCalibratedRefuses(t *testing.T) {
	for want, change := range map[string]func(c *Config) (share, factor []float64){
		"only normal deviations":  func(c *Config) (_, _ []float64) { c.Likelihood = "normal:noise"; return []float64{1}, []float64{1} },
		"of a cnp are not":        func(c *Config) (_, _ []float64) { *c = small(CNPCurve, "", 1); return []float64{1}, []float64{1} },
		"1 shares and 2 factors":  func(c *Config) (_, _ []float64) { return []float64{1}, []float64{1, 2} },
		"sum is 0.9":              func(c *Config) (_, _ []float64) { return []float64{0.9}, []float64{1} },
		"factors from 0.0001":     func(c *Config) (_, _ []float64) { return []float64{1}, []float64{0} },
		"need shares and factors": func(c *Config) (_, _ []float64) { return []float64{math.NaN()}, []float64{1} },
	} {
		c := small(EquivCNPCurve, "T(1)", 1)
		share, factor := change(&c)
		m, err := New[float64](c, 1)
		require.NoError(t, err)
		_, err = Calibrated(m, Mixture{Share: share, Factor: factor})
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, want)
	}
	c := small(EquivCNPCurve, "T(1)", 1)
	c.Trained = &Trained{X: []Range{{}}, Y: []Range{{}}, Units: &Scaler{X: []Affine{{Offset: 0, Factor: 2}},
		Y: []Affine{{Offset: 0, Factor: 2}}}}
	m, err := New[float64](c, 1)
	require.NoError(t, err)
	one := Mixture{At: 1, Share: []float64{1}, Factor: []float64{1}}
	_, err = Calibrated(m, one)
	require.NoError(t, err)
	_, err = Calibrated(m, one, Mixture{At: 2, Share: []float64{1}, Factor: []float64{1}})
	require.ErrorContains(t, err, "units of its own takes one mixture")
	for _, arg := range []string{"", ":", ":1@1*1;", ":1@1*1;1@1*1", ":2@1*1;1@1*1", ":1*1;2@1*1", ":0@1*1;1@1*1",
		":1@0.5*1;2@1*1", ":NaN@1*1;2@1*1", ":1", ":1*", ":*1", ":1*1,", ":1*1*1", ":0.5*1,0.5", ":0.5*1,0.6*1", ":-1*1,2*1"} {
		_, err := ParseLikelihood(&Config{Likelihood: "scales" + arg})
		require.ErrorIs(t, err, ErrConfig, fmt.Sprintf("scales%s", arg))
	}
}
