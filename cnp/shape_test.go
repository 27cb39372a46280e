package cnp

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/internal/axis"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
)

// shapeModels are small models of every architecture, and ensembles.
func shapeModels(t *testing.T) map[string]Model[float32] {
	t.Helper()
	models := map[string]Model[float32]{"T(2)": planModel[float32](t, "T(2)", 1, layers.WindowSmooth),
		"SO(2)": planModel[float32](t, "SO(2)", 1, layers.WindowSmooth)}
	for _, a := range Architectures {
		group := map[Architecture]string{EquivCNPCurve: "T(1)", EquivCNPImage: "Sim(2)"}[a]
		c := Default(a, group, 2)
		if a == EquivCNPImage {
			views := DefaultViews()
			c.Lifts, c.Views = 4, &views
			c.Channels, c.Blocks, c.Hidden, c.Mid, c.Fill, c.BlockFill, c.RadiusRate = []int{4}, 1, 4, 3, 0.006, 0.004, 0
			c.Group = "Sim(2):2"
		}
		if a == EquivCNPCurve {
			c.PointsPerUnit, c.Channels, c.Hidden, c.Mid, c.Fill = 8, []int{4, 4}, 4, 3, 0.1
		}
		m, err := New[float32](c, 3)
		if err != nil && a == EquivCNPImage {
			c.Group = "Sim(2)"
			m, err = New[float32](c, 3)
		}
		require.NoError(t, err, a)
		models[string(a)] = m
	}
	for name, of := range map[string]string{"ensemble of curves": string(EquivCNPCurve), "ensemble of images": "T(2)"} {
		other, err := New[float32](models[of].Config(), 9)
		require.NoError(t, err)
		models[name], err = Ensemble(models[of], other)
		require.NoError(t, err)
	}
	return models
}

// TestPlans: every model makes plans of its shapes, which predict what it predicts, and refuse tasks of any other shape
// by an error that names both.
func TestPlans(t *testing.T) {
	ctx := t.Context()
	for name, m := range shapeModels(t) {
		t.Run(name, func(t *testing.T) {
			if c, ok := m.(Completer[float32]); ok {
				im := planImages[float32](2, 2, 16, 16, 3)
				plan, err := m.Plan(ctx, Pixels(16, 16), PlanOptions{Memory: implicitMemory, Soft: true})
				require.NoError(t, err)
				require.Equal(t, Pixels(16, 16), plan.Shape())
				want, err := c.Complete(ctx, im)
				require.NoError(t, err)
				got := plan.NewPrediction(im)
				require.NoError(t, plan.Predict(ctx, got, im))
				require.True(t, testkit.SameBits(want.Mean, got.Mean) && testkit.SameBits(want.Std, got.Std))
				require.Equal(t, want.Distribution().Name(), got.Likelihood.Name())
				for _, size := range [][2]int{{8, 32}, {256, 1}, {1, 256}, {16, 15}} {
					other := planImages[float32](2, 2, size[0], size[1], 3)
					err := plan.Predict(ctx, plan.NewPrediction(im), other)
					require.ErrorIs(t, err, ErrShape)
					require.ErrorContains(t, err, "16 x 16 pixels")
					require.ErrorContains(t, err, fmt.Sprintf("%d x %d pixels", size[0], size[1]))
				}
				require.ErrorIs(t, plan.Predict(ctx, got, &Batch[float32]{}), ErrShape)
				require.ErrorContains(t, plan.Predict(ctx, got, &Batch[float32]{}), "scattered")
				require.ErrorIs(t, plan.Predict(ctx, got, nil), ErrShape)
				require.ErrorIs(t, plan.Predict(ctx, got, (*Images[float32])(nil)), ErrShape)
				require.ErrorIs(t, plan.Predict(ctx, nil, im), ErrShape)
				for _, s := range []Shape{{}, Interval(0, 1), Scattered(), Sphere(), Pixels(0, 16), Pixels(1<<20, 1<<20),
					Pixels(4, 4).Upsampled(0)} {
					_, err := m.Plan(ctx, s, PlanOptions{})
					require.ErrorIs(t, err, ErrShape, s)
				}
				return
			}
			r, b := m.(Regressor[float32]), randomBatch[float32](testkit.Rand(1), 2, 5, 7, 1, 2)
			want, err := r.Predict(ctx, b)
			require.NoError(t, err)
			for _, s := range []Shape{Interval(-9, 9), Scattered()} {
				plan, err := m.Plan(ctx, s, PlanOptions{})
				require.NoError(t, err)
				require.Equal(t, s, plan.Shape())
				got := plan.NewPrediction(b)
				require.NoError(t, plan.Predict(ctx, got, b))
				require.True(t, testkit.SameBits(want.Mean, got.Mean) && testkit.SameBits(want.Std, got.Std))
				require.ErrorIs(t, plan.Predict(ctx, got, planImages[float32](1, 2, 3, 3, 1)), ErrShape)
				require.ErrorContains(t, plan.Predict(ctx, got, planImages[float32](1, 2, 3, 3, 1)), "3 x 3 pixels")
			}
			_, err = m.Plan(ctx, Pixels(4, 4), PlanOptions{})
			require.ErrorIs(t, err, ErrNoPlan)
			_, err = m.Plan(ctx, Scattered(), PlanOptions{Precision: BFloat16})
			require.ErrorIs(t, err, ErrConfig)
		})
	}
	c := Default(EquivCNPCurve, "SO(2)", 1)
	c.PointsPerUnit, c.Channels = 0, []int{4, 4}
	m, err := New[float32](c, 1)
	require.NoError(t, err)
	_, err = m.Plan(ctx, Scattered(), PlanOptions{})
	require.ErrorIs(t, err, ErrNoPlan)
}

// TestPlanScattered: points that nobody called a grid are predicted as those of one, and of images their number alone counts.
func TestPlanScattered(t *testing.T) {
	m, im := planModel[float32](t, "SO(2)", 1, layers.WindowSmooth), planImages[float32](1, 2, 6, 8, 3)
	grid, err := m.PlanGeometry(t.Context(), Grid(6, 8), PlanOptions{})
	require.NoError(t, err)
	loose, err := m.PlanGeometry(t.Context(), Geometry{Points: axis.Grid(6, 8)}, PlanOptions{})
	require.NoError(t, err)
	require.Equal(t, Scattered(), loose.Shape())
	require.Equal(t, predictPlan(t, grid, im), predictPlan(t, loose, im))
	im.H, im.W = 12, 4
	require.NoError(t, loose.Predict(t.Context(), loose.NewPrediction(im), im))
	require.ErrorIs(t, grid.Predict(t.Context(), grid.NewPrediction(im), im), ErrShape)
	for _, g := range []Geometry{{Points: axis.Grid(6, 8), H: 6}, {Points: axis.Grid(6, 8), H: 8, W: 8},
		{Points: axis.Grid(6, 8), H: -6, W: -8}} {
		_, err := m.PlanGeometry(t.Context(), g, PlanOptions{})
		require.ErrorIs(t, err, ErrShape)
	}
}

// TestThinImages: images that are one pixel wide or high lie in the middle, so that a half turn of the image turns the prediction.
func TestThinImages(t *testing.T) {
	for _, name := range []string{"T(2)", "SO(2)"} {
		m := planModel[float64](t, name, 1, layers.WindowSmooth)
		for _, size := range [][2]int{{1, 8}, {8, 1}, {1, 1}} {
			im := planImages[float64](1, 2, size[0], size[1], 5)
			turned := planImages[float64](1, 2, size[0], size[1], 5)
			n := size[0] * size[1]
			slices.Reverse(turned.Mask)
			for c := range 2 {
				slices.Reverse(turned.Pixels[c*n : (c+1)*n])
			}
			if name == "T(2)" { // which half turns do not leave as it is: that the points are even says all
				g := Grid(size[0], size[1])
				for i, v := range g.Points {
					require.InDelta(t, -v, g.Points[len(g.Points)-2-i/2*2+i%2], 1e-12)
				}
				continue
			}
			p, err := m.Complete(context.Background(), im)
			require.NoError(t, err)
			q, err := m.Complete(context.Background(), turned)
			require.NoError(t, err)
			for c := range 2 {
				slices.Reverse(q.Mean[c*n : (c+1)*n])
			}
			testkit.Close(t, "mean", q.Mean, p.Mean, 1e-9)
		}
	}
	for _, v := range subpixels(1, 2) {
		require.InDelta(t, 0.25, v*v*4, 1e-12)
	}
}

// TestWith: a model with other options shares the parameters, and leaves the model as it is.
func TestWith(t *testing.T) {
	dir := t.TempDir()
	for name, m := range shapeModels(t) {
		other, err := With(m, Options{Plans: dir})
		require.NoError(t, err, name)
		require.Same(t, &m.State()[0].Data[0], &other.State()[0].Data[0], name)
		_, err = With(m, Options{Precision: "float16"})
		require.ErrorIs(t, err, ErrConfig)
		if _, err = With(m, Options{Precision: BFloat16}); m.Config().Architecture != EquivCNPImage {
			require.ErrorIs(t, err, ErrConfig, name)
		} else {
			require.NoError(t, err, name)
		}
	}
	m := planModel[float32](t, "T(2)", 1, layers.WindowSmooth)
	_, err := With[float32](m, Options{Precision: BFloat16, Plans: dir})
	require.NoError(t, err)
	require.Equal(t, Options{}, m.opt)
}
