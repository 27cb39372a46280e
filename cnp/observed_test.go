package cnp

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
)

// seenImages are random images, two of whose pixels in five are observed.
func seenImages(b, c, h, w int) *Images[float64] {
	rng := testkit.Rand(7)
	im := &Images[float64]{B: b, C: c, H: h, W: w, Pixels: make([]float64, b*c*h*w), Mask: make([]bool, b*h*w)}
	for i := range im.Mask {
		im.Mask[i] = rng.IntN(5) < 2
	}
	for i := range im.Pixels {
		im.Pixels[i] = rng.NormFloat64()
		if n := h * w; !im.Mask[i/(c*n)*n+i%n] {
			im.Pixels[i] = math.NaN() // never read
		}
	}
	return im
}

// requireKept compares a prediction that keeps observed pixels with one that does not: an observed one has the product
// of the two normals, all others the same bits.
func requireKept(t *testing.T, im *Images[float64], plain, got *Prediction[float64], noise float64) {
	t.Helper()
	require.Len(t, got.Mean, len(plain.Mean))
	require.Len(t, got.Params, len(plain.Params))
	n, seen := im.H*im.W, 0
	deviations := got.Deviations()
	for i, s := range plain.Deviations() {
		if im.Mask[i/(im.C*n)*n+i%n] {
			precision := 1/(s*s) + 1/(noise*noise)
			mean := (plain.Mean[i]/(s*s) + im.Pixels[i]/(noise*noise)) / precision
			require.InDelta(t, mean, got.Mean[i], 1e-12, "value %d", i)
			require.InEpsilon(t, 1/math.Sqrt(precision), deviations[i], 1e-12, "value %d", i)
			if got.Params != nil {
				params := got.Params[2*i : 2*i+2]
				m, sd := got.Likelihood.Moments(params)
				require.Equal(t, [2]float64{got.Mean[i], got.Std[i]}, [2]float64{m, sd}, "value %d", i)
			}
			seen++
			continue
		}
		require.Equal(t, math.Float64bits(plain.Mean[i]), math.Float64bits(got.Mean[i]), "value %d", i)
		require.Equal(t, math.Float64bits(plain.Std[i]), math.Float64bits(got.Std[i]), "value %d", i)
	}
	require.Positive(t, seen)
}

func TestKeepObserved(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name, group string
		a           Architecture
		change      func(c *Config)
	}{
		{"translations", "T(2)", EquivCNPImage, nil},
		{"two lifts", "SE(2)", EquivCNPImage, func(c *Config) { c.Lifts = 2 }},
		{"rotations and scales", "R>0xSO(2)", EquivCNPImage, nil},
		{"calibrated", "SO(2)", EquivCNPImage, func(c *Config) { c.Likelihood = "scales:0.02@0.6*0.5,0.4*2;0.7@1*1.5" }},
		{"variances", "T(2)", EquivCNPImage, func(c *Config) { c.Output = OutputVariance }},
		{"convolutions", "", ConvCNPImage, nil},
		{"convolutions, calibrated", "", ConvCNPImage, func(c *Config) { c.Likelihood = "scales:0.6*0.5,0.4*2" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := small(c.a, c.group, 2)
			cfg.Floor = 0.05
			if c.change != nil {
				c.change(&cfg)
			}
			m, err := New[float64](cfg, 3)
			require.NoError(t, err)
			perturb(m.State(), 4)
			keeper, err := KeepObserved(m, true)
			require.NoError(t, err)
			noise := cfg.Floor
			if cfg.Output == OutputVariance {
				noise = math.Sqrt(noise)
			}
			im := seenImages(2, 2, 6, 6)
			plain, err := m.(Completer[float64]).Complete(ctx, im)
			require.NoError(t, err)
			got, err := keeper.(Completer[float64]).Complete(ctx, im)
			require.NoError(t, err)
			requireKept(t, im, plain, got, noise)

			// Likelihoods go by it, those of observed pixels too, and a model that keeps them no longer is the one it was.
			truth := make([]float64, len(im.Pixels))
			for i, v := range im.Pixels {
				if v == v {
					truth[i] = v
				}
			}
			joint, err := JointImages(ctx, keeper.(Completer[float64]), im, truth, Chain{})
			require.NoError(t, err)
			for i := range got.Mean {
				if n := im.H * im.W; im.Mask[i/(im.C*n)*n+i%n] {
					require.Equal(t, got.Mean[i], joint.Mean[i])
				}
			}
			back, err := KeepObserved(keeper, false)
			require.NoError(t, err)
			again, err := back.(Completer[float64]).Complete(ctx, im)
			require.NoError(t, err)
			require.Equal(t, plain, again)

			// Training is that of the network.
			pass, err := keeper.(interface {
				Differentiate(context.Context, *Images[float64], layers.Mode) (*Pass[float64], error)
			}).Differentiate(ctx, im, layers.Eval)
			require.NoError(t, err)
			testkit.Close(t, "mean in training", pass.Mean, plain.Mean, 1e-9)

			image, ok := keeper.(*ImageEquivCNP[float64])
			if !ok {
				return
			}
			// Plans: without room for parameters, of images that are taken apart, and of targets that are no pixels.
			for _, where := range []struct {
				g     Geometry
				stays bool
			}{{Grid(6, 6), true}, {Geometry{Interleaved: Interleaved{H: 6, W: 6, Stride: 2}, Points: Grid(3, 3).Points}, true},
				{Geometry{Points: Grid(6, 6).Points, Targets: Grid(6, 6).Points}, false}} {
				var p [2]*Prediction[float64]
				for k, model := range []*ImageEquivCNP[float64]{m.(*ImageEquivCNP[float64]), image} {
					plan, err := model.PlanGeometry(ctx, where.g, PlanOptions{})
					require.NoError(t, err)
					p[k] = model.family.newPrediction(len(im.Pixels))
					require.NoError(t, plan.Predict(ctx, p[k], im))
					bare := &Prediction[float64]{Mean: make([]float64, len(im.Pixels)), Std: make([]float64, len(im.Pixels))}
					require.NoError(t, plan.Predict(ctx, bare, im))
					require.Equal(t, p[k].Mean, bare.Mean)
					require.Equal(t, p[k].Std, bare.Std)
				}
				if where.stays {
					requireKept(t, im, p[0], p[1], noise)
				} else {
					require.Equal(t, p[0], p[1])
				}
			}
		})
	}
}

func TestKeepObservedRefuses(t *testing.T) {
	for want, change := range map[string]func(c *Config){
		`it is for models of architecture "equivcnp-image"`: func(c *Config) { *c = small(EquivCNPCurve, "T(1)", 1) },
		"this is cnp-image": func(c *Config) { *c = small(CNPImage, "", 1) },
		`likelihood "bernoulli-gamma" cannot be told of an observation`: func(c *Config) { c.Likelihood = "bernoulli-gamma" },
		"floor = 0: need more": func(c *Config) { c.Floor = 0 },
		"a model with views keeps observed pixels without it": func(c *Config) {
			c.Group, c.Lifts, c.Views = "Sim(2) at 2 scales", 4, &Views{Min: 0.3, Max: 1, Cell: 2, Trust: 0.25}
		},
	} {
		c := small(EquivCNPImage, "T(2)", 1)
		change(&c)
		c.KeepObserved = true
		err := c.Validate()
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, "keep_observed: ")
		require.ErrorContains(t, err, want)
	}
	_, err := KeepObserved[float64](nil, true)
	require.ErrorIs(t, err, ErrConfig)
	m, err := New[float64](small(CNPImage, "", 1), 1)
	require.NoError(t, err)
	_, err = KeepObserved(m, true)
	require.ErrorIs(t, err, ErrConfig)
}
