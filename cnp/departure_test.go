package cnp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/layers"
)

// departing lists small models of every engine that has a departure.
func departing(t *testing.T) map[string]Config {
	t.Helper()
	points := small(EquivCNPCurve, "T(2)", 1)
	points.PointsPerUnit = 0
	lifts := small(EquivCNPCurve, "SE(2)", 1)
	lifts.PointsPerUnit, lifts.Lifts = 0, 2
	ball := DefaultSphere(2, 1)
	ball.PointsPerUnit, ball.Channels, ball.EncoderLength = 3, []int{4, 4}, 0.5
	all := map[string]Config{"line": small(EquivCNPCurve, "T(1)", 1), "points": points, "lifts": lifts,
		"levels": levelsConfig("T(1)", 1), "plane": levelsConfig("T(2)", 1), "turns": levelsConfig("SE(2)", 1), "sphere": ball}
	for name, c := range all {
		c.Departure = &Departure{Channels: 3, Drop: 0.5}
		all[name] = c
	}
	return all
}

// departingModel is a model whose departure is visible.
func departingModel(t *testing.T, c Config) *EquivCNP[float64] {
	t.Helper()
	m, err := New[float64](c, 8)
	require.NoError(t, err)
	for _, p := range m.State() {
		if p.Name == "departure.scale" {
			for i := range p.Data {
				p.Data[i] = 1.5 - 2*float64(i%2)
			}
		}
	}
	return m.(*EquivCNP[float64])
}

// elsewhereBatch returns the batch with all places moved, on the sphere by 90 degrees of longitude.
func elsewhereBatch(c *Config, b *Batch[float64], by float64) *Batch[float64] {
	out := *b
	move := func(x []float64) []float64 {
		x = slices.Clone(x)
		for i := range x {
			switch {
			case !c.OnSphere():
				x[i] += by
			case i%2 == 1:
				x[i] += 90
			}
		}
		return x
	}
	out.XContext, out.XTarget = move(b.XContext), move(b.XTarget)
	return &out
}

// With the departure off a model is the equivariant one, with the very parameters of a model that never had any; with it on, it
// depends on where a task lies. What it departs by stays within the scales, wherever that is.
func TestDeparture(t *testing.T) {
	ctx := context.Background()
	for name, c := range departing(t) {
		t.Run(name, func(t *testing.T) {
			m := departingModel(t, c)
			exact, err := m.Exact()
			require.NoError(t, err)
			again, err := exact.(*EquivCNP[float64]).Exact()
			require.NoError(t, err)
			require.Same(t, exact, again)
			none := c
			none.Departure = nil
			plain, err := New[float64](none, 8)
			require.NoError(t, err)
			entrance := false
			for i, p := range plain.State() { // all parameters are there, and have as many numbers but where features enter
				q := m.State()[i]
				require.Equal(t, p.Name, q.Name)
				entrance = entrance || len(p.Data) != len(q.Data)
			}
			require.True(t, entrance)

			rng := rand.New(rand.NewPCG(1, 2))
			b := randomBatch[float64](rng, 2, 6, 5, c.DimX, 1)
			for i := range b.XContext { // multiples of a power of two, which a shift does not round
				b.XContext[i] = math.Round(8*b.XContext[i]) / 8
			}
			for i := range b.XTarget {
				b.XTarget[i] = math.Round(8*b.XTarget[i]) / 8
			}
			p, err := m.Predict(ctx, b)
			require.NoError(t, err)
			q, err := exact.Predict(ctx, b)
			require.NoError(t, err)
			require.Greater(t, largest(p.Mean, q.Mean), 1e-6, "the departure changes nothing")
			moved := elsewhereBatch(&c, b, 16)
			pm, err := m.Predict(ctx, moved)
			require.NoError(t, err)
			require.Greater(t, largest(p.Mean, pm.Mean), 1e-6, "a model that departs does not see where it is")
			if !c.OnSphere() { // whose lattice stays where it is
				qm, err := exact.Predict(ctx, moved)
				require.NoError(t, err)
				require.LessOrEqual(t, largest(q.Mean, qm.Mean), 1e-12)
			}

			far := elsewhereBatch(&c, b, 1<<40)
			pf, err := m.Predict(ctx, far)
			require.NoError(t, err)
			for _, v := range append(pf.Mean, pf.Std...) {
				require.False(t, math.IsNaN(v-v), "a prediction of %g", v)
			}
			n := m.encoder.Departure
			tape := n.Record([]float64{1e12, -1e12, 1e300, 0, 3, -3, math.Pi, 1, -1, 1e-300, 7, 8}[:12/m.cfg.DimX*m.cfg.DimX])
			row := make([]float64, n.Channels())
			for i := range tape.Density {
				for _, density := range []float64{0, 1e-9, 1, 1e6} {
					curve.Weighed(row, tape.Tanh[i*n.Channels():(i+1)*n.Channels()], n.Scale, density, 0.01)
					for e, v := range row {
						if !(math.Abs(v) <= math.Abs(n.Scale[e])) || density == 0 && v != 0 {
							t.Fatalf("density %g: an input of %g, the scale is %g", density, v, n.Scale[e])
						}
					}
				}
			}

			// A plan has the bits of Predict.
			shape := Scattered()
			if c.OnSphere() {
				shape = Sphere()
			}
			plan, err := m.Plan(ctx, shape, PlanOptions{})
			if err != nil {
				require.ErrorIs(t, err, ErrNoPlan)
				return
			}
			planned := plan.NewPrediction(b)
			require.NoError(t, plan.Predict(ctx, planned, b))
			require.Equal(t, p.Mean, planned.Mean)
			require.Equal(t, p.Std, planned.Std)
		})
	}
}

// largest is the largest difference; NaN if there is one.
func largest(a, b []float64) (most float64) {
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}

// Training drops the inputs of a task as often as the configuration says, and always with a probability of 1: then it is the training
// of the equivariant model.
func TestDepartureIsDropped(t *testing.T) {
	ctx := context.Background()
	c := departing(t)["plane"]
	rng := rand.New(rand.NewPCG(3, 4))
	dropped := 0
	n := func(b *Batch[float64], task int, mode layers.Mode, t, origin []float64) []float64 {
		return departureAt(&c, b, task, mode, t, origin)
	}
	const tasks = 4000
	for range tasks / 4 {
		b := randomBatch[float64](rng, 4, 3, 1, 2, 1)
		for task := range 4 {
			first := n(b, task, layers.Train, []float64{1, 2}, []float64{0, 0})
			require.Equal(t, first, n(b, task, layers.Train, []float64{1, 2}, []float64{0, 0}), "not a function of the batch")
			if first == nil {
				dropped++
			}
		}
	}
	require.InDelta(t, 0.5, float64(dropped)/tasks, 4*math.Sqrt(0.25/tasks))
	require.Equal(t, []float64{4, 1}, n(randomBatch[float64](rng, 1, 3, 1, 2, 1), 0, layers.Eval, []float64{1, 2}, []float64{3, -1}))

	c.Departure = &Departure{Channels: 3, Drop: 1}
	m := departingModel(t, c)
	exact, err := m.Exact()
	require.NoError(t, err)
	b := randomBatch[float64](rng, 2, 5, 4, 2, 1)
	p, err := m.Differentiate(ctx, b, layers.Train)
	require.NoError(t, err)
	q, err := exact.Differentiate(ctx, b, layers.Train)
	require.NoError(t, err)
	require.Equal(t, q.Mean, p.Mean)
	g := layers.NewGrads(m.State())
	ones := slices.Repeat([]float64{1}, len(p.Mean))
	p.Backward(ones, ones, g)
	for i, s := range m.State() {
		if s.Name == "departure.scale" {
			require.Equal(t, make([]float64, 3), g.Data[i])
		}
	}
}

func TestDepartureConfig(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"departure.channels": func(c *Config) { c.Departure.Channels = 0 },
		"departure.drop":     func(c *Config) { c.Departure.Drop = math.NaN() },
		"architecture":       func(c *Config) { *c = Default(ConvCNPCurve, "", 1); c.Departure = &Departure{Channels: 1} },
		"scalar":             func(c *Config) { c.DimY, c.Outputs = 2, []FieldType{Vector} },
	} {
		c := departing(t)["points"]
		change(&c)
		err := c.Validate()
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, name)
	}
}
