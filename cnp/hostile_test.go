package cnp

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
)

// TestHostile calls what is exported with what nobody should pass: a configuration in which one field is absurd, a batch of another shape.
func TestHostile(t *testing.T) {
	ctx := context.Background()
	named := func(name string, f any, good ...any) {
		t.Helper()
		testkit.Hostile(t, "cnp", name, f, good...)
	}
	for _, c := range []Config{small(CNPCurve, "", 1), small(ConvCNPCurve, "", 1), small(EquivCNPCurve, "T(1)", 1),
		small(EquivCNPCurve, "SO(2)", 1),
		DefaultLevels(3, 2, 1), DefaultSphere(2, 1), small(CNPImage, "", 1), small(ConvCNPImage, "", 1), small(EquivCNPImage, "SE(2)", 1)} {
		what := string(c.Architecture) + " " + c.Group + ": "
		named(what+"Estimate", func(c Config, w Work) { _, _ = c.Estimate(w) }, c,
			Work{Batch: 2, H: 8, W: 8, Context: 3, Targets: 4, Span: 2})
		named(what+"Validate", func(c Config) {
			if c.Validate() != nil {
				return
			}
			if need, err := c.Estimate(Work{Batch: 1}); err == nil && need.Bytes() < 32<<20 { // a model may be large if it is asked for
				_, _ = New[float32](c, 1)
			}
		}, c)
	}
	named("Default", func(a Architecture, g string, dy int) { _ = Default(a, g, dy) }, EquivCNPCurve, "T(1)", 1)
	named("DefaultLevels", DefaultLevels, 3, 1, 1)
	named("DefaultSphere", DefaultSphere, 3, 1)
	named("NewWithGroup", func(c Config, g group.Group) { _, _ = NewWithGroup[float32](c, g, 1) },
		small(EquivCNPCurve, "SO(2)", 1), group.Group(group.NewSO2(0)))
	named("Grid", Grid, 4, 4)
	named("Upsampled", Upsampled, 4, 4, 2)
	named("UnitVector", UnitVector, 10.0, 20.0)
	named("ParseLikelihood", ParseLikelihood, &Config{Likelihood: "lowrank:2", DimX: 1, DimY: 1})
	named("ParseOutputs", ParseOutputs, "vector,scalar", 2)
	named("LogLikelihood", LogLikelihood[float32], []float32{1, 2}, []float32{1, 1}, []float32{0, 0}, []bool{true, true})

	rng := rand.New(rand.NewPCG(1, 2))
	curve := lineModel[float32](t, func(*Config) {})
	for name, m := range map[string]Regressor[float32]{"equivcnp": curve, "cnp": newOf(t, small(CNPCurve, "", 2)).(Regressor[float32])} {
		b := randomBatch[float32](rng, 2, 3, 4, 1, 2)
		b.ContextMask, b.TargetMask = []bool{true, true, true, true, true, false}, []bool{true, true, true, true, true, true, true, false}
		y := make([]float32, 16)
		named(name+": Predict", func(b Batch[float32]) { _, _ = m.Predict(ctx, &b) }, *b)
		named(name+": Differentiate", func(b Batch[float32], mode layers.Mode, y []float32) {
			p, err := m.(TrainableRegressor[float32]).Differentiate(ctx, &b, mode)
			if err == nil {
				_, _ = p.Gradient(y, layers.NewGrads(m.State()))
			}
		}, *b, layers.Train, y)
		named(name+": EstimateModel", func(w Work) { _, _ = EstimateModel[float32](m, w) }, Work{Batch: 2, Context: 3, Targets: 4, Span: 2})
		named(name+": SampleCurves", func(b Batch[float32], o SampleOptions) { _, _ = SampleCurves(ctx, m, &b, o) }, *b,
			SampleOptions{Samples: 1, Knots: 4, Chain: Chain{Block: 2}})
		named(name+": JointCurves", func(b Batch[float32], y []float32, c Chain) { _, _ = JointCurves(ctx, m, &b, y, c) }, *b, y,
			Chain{Block: 2})
		named(name+": Work", func(b Batch[float32], dx int) { b.Work(dx) }, *b, 1)
		named(name+": Notes", func(c Config, b Batch[float32]) { Notes(&c, &b); OtherScale(&c, &b) }, m.Config(), *b)
		named(name+": Standardise", func(b Batch[float32], y []float32) {
			c := m.Config()
			_, _, _ = StandardiseTasks(&c, &b, y)
		}, *b, y)
		p, err := m.Predict(ctx, b)
		require.NoError(t, err)
		named(name+": Prediction", func(p Prediction[float32], y []float32, mask []bool, tasks int) {
			p.LogDensity(y, mask)
			p.LogDensities(tasks, y, mask)
			p.Sample(y, rng, mask)
			p.Quantiles(y, 0.5)
			p.Deviations()
			p.Covariance()
			p.Marginals()
			p.Extras()
		}, *p, y, slicesOfTrue(16), 2)
		testkit.HostileIndexed(t, "cnp", name+": Prediction's parts", func(p Prediction[float32], lo, hi, task, tasks int) {
			p.Slice(lo, hi)
			p.Task(task, tasks)
			p.LogDensityAt(lo, 1)
		}, *p, 0, 8, 0, 2)
	}
	named("CurvePlan", func(lo, hi float64, b Batch[float32]) {
		p, err := curve.PlanInterval(ctx, lo, hi)
		if err == nil {
			_ = p.Predict(ctx, newPrediction[float32](Normal, len(b.XTarget)*2), &b)
		}
	}, -2.0, 2.0, *randomBatch[float32](rng, 2, 3, 4, 1, 2))

	for name, m := range map[string]Completer[float32]{"equivcnp": imageModel[float32](t, "SE(2)", 1, 1),
		"cnp": newOf(t, small(CNPImage, "", 1)).(Completer[float32])} {
		im := randomImages[float32](rng, 2, 1, 5, 6)
		named(name+": Complete", func(im Images[float32]) { _, _ = m.Complete(ctx, &im) }, *im)
		named(name+": Differentiate", func(im Images[float32], mode layers.Mode, y []float32) {
			p, err := m.(TrainableCompleter[float32]).Differentiate(ctx, &im, mode)
			if err == nil {
				_, _ = p.Gradient(y, layers.NewGrads(m.State()))
			}
		}, *im, layers.Train, im.Pixels)
		named(name+": EstimateModel", func(w Work) { _, _ = EstimateModel[float32](m, w) }, Work{Batch: 2, H: 8, W: 8})
		named(name+": SampleImages", func(im Images[float32], o SampleOptions) { _, _ = SampleImages(ctx, m, &im, o) }, *im,
			SampleOptions{Samples: 1, Chain: Chain{Block: 20}})
		named(name+": ImageNotes", func(c Config, im Images[float32]) { ImageNotes(&c, &im) }, m.Config(), *im)
		named(name+": Plan", func(h, w, scale int, im Images[float32]) {
			if p, err := m.Plan(ctx, Pixels(h, w).Upsampled(scale), PlanOptions{}); err == nil {
				_ = p.Predict(ctx, p.NewPrediction(&Images[float32]{}), &im)
			}
		}, 8, 8, 1, *im)
		e, ok := m.(*ImageEquivCNP[float32])
		if !ok {
			continue
		}
		named("Geometry", e.Geometry, 4, 4, 1)
		named("RasterGeometry", e.RasterGeometry, 4, 4)
		named("Within", e.within, Work{Batch: 2, H: 8, W: 8}, int64(1<<20))
		named("Plan", func(g Geometry, opt PlanOptions) {
			opt.Plans = "" // which would be a folder somewhere
			p, err := e.PlanGeometry(ctx, g, opt)
			if err == nil {
				p.Info()
			}
		}, Grid(4, 4), PlanOptions{Memory: 1 << 24, Concurrency: 1})
		named("Raster", func(h, w int, opt RasterOptions) {
			p, err := PlanRaster[float32](ctx, e, h, w, opt)
			if err == nil {
				p.Bytes()
			}
		}, 6, 6, RasterOptions{Memory: 1 << 24})
		plan, err := e.PlanGeometry(ctx, Grid(5, 6), PlanOptions{})
		require.NoError(t, err)
		named("ImagePlan.Predict", func(d Prediction[float32], im Images[float32]) { _ = plan.Predict(ctx, &d, &im) },
			Prediction[float32]{Mean: make([]float32, 60), Std: make([]float32, 60)}, *im)
	}
	one := newOf(t, small(CNPCurve, "", 1))
	named("Ensemble", func(all []Model[float32]) { _, _ = Ensemble(all...) }, []Model[float32]{one, one})
	named("Calibrated", func(m Model[float32], all []Mixture) { _, _ = Calibrated(m, all...) }, newOf(t, small(EquivCNPCurve, "T(1)", 1)),
		[]Mixture{{At: 0, Share: []float64{1}, Factor: []float64{1}}})
	named("EstimateModel", func(m Model[float32]) { _, _ = EstimateModel(m, Work{}) }, one)
	named("GroupOf", func(m Model[float32]) { GroupOf(m) }, one)
}

func newOf(t *testing.T, c Config) Model[float32] {
	t.Helper()
	m, err := New[float32](c, 1)
	require.NoError(t, err)
	return m
}

func slicesOfTrue(n int) []bool {
	b := make([]bool, n)
	for i := range b {
		b[i] = true
	}
	return b
}
