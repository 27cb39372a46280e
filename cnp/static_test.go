package cnp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// addStatic gives a batch fields at n points of its tasks, with a value that is missing and, from the second point of
// the last task on, padding.
func addStatic[T Float](rng *rand.Rand, b *Batch[T], c *Config, n int) {
	b.Ns = n
	for range b.B * n * c.DimX {
		b.XStatic = append(b.XStatic, rng.NormFloat64())
	}
	for range b.B * n * len(c.Static) {
		b.YStatic = append(b.YStatic, T(rng.NormFloat64()))
	}
	ds := len(c.Static)
	if b.YStatic[0] = T(math.NaN()); ds == 1 { // the point is one without values
		b.XStatic[0] = math.Inf(1)
	}
	for i := b.B*n - n + 1; i < b.B*n; i++ {
		for k := range ds {
			b.YStatic[i*ds+k] = T(math.NaN())
		}
		b.XStatic[i*c.DimX] = math.NaN()
	}
}

// staticBatch is auxBatch with fields at four points.
func staticBatch[T Float](c *Config) *Batch[T] {
	b := auxBatch[T](c, 2, 6, 5)
	addStatic(rand.New(rand.NewPCG(9, 1)), b, c, 4)
	return b
}

// task is a task of a batch, alone, with its fields at n points.
func staticTask[T Float](b *Batch[T], c *Config, t, n int) *Batch[T] {
	dx, dy, da, ds := c.DimX, c.DimY, len(c.Auxiliary), len(c.Static)
	return &Batch[T]{B: 1, Nc: b.Nc, Nt: b.Nt, Ns: n, XContext: b.XContext[t*b.Nc*dx:][:b.Nc*dx],
		YContext: b.YContext[t*b.Nc*dy:][:b.Nc*dy], XTarget: b.XTarget[t*b.Nt*dx:][:b.Nt*dx],
		AuxContext: b.AuxContext[t*b.Nc*da:][:b.Nc*da], AuxTarget: b.AuxTarget[t*b.Nt*da:][:b.Nt*da],
		XStatic: b.XStatic[t*b.Ns*dx:][:n*dx], YStatic: b.YStatic[t*b.Ns*ds:][:n*ds],
		ContextMask: b.ContextMask[t*b.Nc:][:b.Nc], TargetMask: b.TargetMask[t*b.Nt:][:b.Nt]}
}

// A prediction depends on the fields of its own task: alone, without padding, among others and by a plan it has the same bits.
func TestStaticAlone(t *testing.T) {
	t.Run("F64", func(t *testing.T) { testStaticAlone[float64](t) })
	t.Run("F32", func(t *testing.T) { testStaticAlone[float32](t) })
}

func testStaticAlone[T Float](t *testing.T) {
	ctx := context.Background()
	for name, m := range auxModels[T](t, "slope", "land") {
		t.Run(name, func(t *testing.T) {
			c := m.Config()
			b := staticBatch[T](&c)
			want, err := m.Predict(ctx, b)
			require.NoError(t, err)
			requireNumbers(t, want)
			own := c.Placement != PlacementBatch || c.PointsPerUnit == 0 // lattices
			n := 5 * c.DimY

			other := *b
			other.YStatic = slices.Clone(b.YStatic)
			other.YStatic[3]++
			got, err := m.Predict(ctx, &other)
			require.NoError(t, err)
			require.NotEqual(t, want.Mean[:n], got.Mean[:n], "a value of a field")
			if own {
				require.Equal(t, want.Mean[n:], got.Mean[n:], "of another task")
			}
			other = *b
			other.XStatic = slices.Clone(b.XStatic)
			other.XStatic[c.DimX] += 0.125
			got, err = m.Predict(ctx, &other)
			require.NoError(t, err)
			require.NotEqual(t, want.Mean[:n], got.Mean[:n], "a place of a field")

			// The second task has one point of fields, and padding.
			if own {
				got, err = m.Predict(ctx, staticTask(b, &c, 1, 1))
				require.NoError(t, err)
				if name == "vectors" || name == "points" { // points of several lifts share poses, which rounding decides
					require.InDeltaSlice(t, widen(want.Mean[n:]), widen(got.Mean), 1e-5)
				} else {
					require.Equal(t, want.Mean[n:], got.Mean)
					require.Equal(t, want.Std[n:], got.Std)
				}
			}
			if e := m.(*EquivCNP[T]); c.Levels > 0 || lineOf(e) != nil {
				lo, hi := -4.0, 4.0
				if c.Placement == PlacementBatch {
					lo, hi = span(b.joined(&c))
				}
				plan, err := e.PlanInterval(ctx, lo, hi)
				require.NoError(t, err)
				got, err := NewPrediction[T](&c, len(want.Mean))
				require.NoError(t, err)
				require.NoError(t, plan.Predict(ctx, got, b))
				require.Equal(t, want.Mean, got.Mean)
				require.Equal(t, want.Std, got.Std)
			}
		})
	}
}

// Without stations there are the fields alone; a field without points is none.
func TestStaticWithoutContext(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"line", "points", "levels", "levels/vectors", "globe"} {
		m := auxModels[float64](t, "land")[name]
		c := m.Config()
		b := staticTask(staticBatch[float64](&c), &c, 0, 4)
		b.Nc, b.XContext, b.YContext, b.AuxContext, b.ContextMask = 0, nil, nil, nil, nil
		some, err := m.Predict(ctx, b)
		require.NoError(t, err)
		requireNumbers(t, some)
		b.Ns, b.XStatic, b.YStatic = 0, nil, nil
		none, err := m.Predict(ctx, b)
		require.NoError(t, err)
		requireNumbers(t, none)
		require.NotEqual(t, some.Mean, none.Mean, name)
	}
}

// Fields are scalars that move and turn with a task.
func TestStaticMove(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name string
		a    []float64 // an element under which the lifts are exchanged
	}{{"points", []float64{0, 3, -2}}, {"levels/lifts", []float64{-math.Pi / 2, 3, -2}}, {"levels/vectors", []float64{math.Pi / 2, 1, 2}}} {
		t.Run(c.name, func(t *testing.T) {
			m := auxModels[float64](t, "land")[c.name].(*EquivCNP[float64])
			b := staticTask(staticBatch[float64](&m.cfg), &m.cfg, 0, 4)
			b.TargetMask = slices.Repeat([]bool{true}, b.Nt)
			b.XTarget, b.AuxTarget = finiteOr(b.XTarget, 0.5), finiteOr(b.AuxTarget, 0.5)
			b.XStatic = finiteOr(b.XStatic, 0.5)
			want, err := m.Predict(ctx, b)
			require.NoError(t, err)
			moved, r := moveBatch(t, m, b, c.a)
			moved.XStatic = act(t, m.group, c.a, b.XStatic)
			got, err := m.Predict(ctx, moved)
			require.NoError(t, err)
			dy := m.cfg.DimY
			for i := range b.Nt {
				for k := range dy {
					back := 0.0
					for j := range dy {
						back += r[j*dy+k] * got.Mean[i*dy+j]
					}
					require.InDelta(t, want.Mean[i*dy+k], back, 1e-9)
				}
			}
		})
	}
}

// finiteOr is v, with something else where it is not finite.
func finiteOr(v []float64, other float64) []float64 {
	out := slices.Clone(v)
	for i := range out {
		if out[i]-out[i] != 0 {
			out[i] = other
		}
	}
	return out
}

// The chain rule sees the fields at every step: its predictions are those that the model makes of such contexts, and
// samples of a task are its own.
func TestStaticChain(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"line", "levels", "globe"} {
		t.Run(name, func(t *testing.T) {
			m := auxModels[float64](t, "land")[name]
			c := m.Config()
			b := staticBatch[float64](&c)
			b.TargetMask, b.XTarget, b.AuxTarget = nil, finiteOr(b.XTarget, 0.5), finiteOr(b.AuxTarget, 0.25)
			y := make([]float64, b.B*b.Nt*c.DimY)
			for i := range y {
				y[i] = math.Sin(float64(i))
			}
			j, err := JointCurves(ctx, m, b, y, Chain{Order: OrderGiven})
			require.NoError(t, err)
			for task := range b.B {
				one := *b
				one.TargetMask = slices.Repeat([]bool{true}, b.B*b.Nt)
				one = *staticTask(&one, &c, task, 4)
				targets, aux := one.XTarget, one.AuxTarget
				one.Nt, one.TargetMask = 1, nil
				one.XContext, one.YContext, one.AuxContext, one.ContextMask = slices.Clone(one.XContext),
					slices.Clone(one.YContext), slices.Clone(one.AuxContext), slices.Clone(one.ContextMask)
				for k := range b.Nt {
					at := task*b.Nt + k
					one.XTarget, one.AuxTarget = targets[k*c.DimX:(k+1)*c.DimX], aux[k*2:(k+1)*2]
					p, err := m.Predict(ctx, &one)
					require.NoError(t, err)
					require.Equal(t, p.Mean, j.Mean[at*c.DimY:(at+1)*c.DimY], "target %d", k)
					one.Nc++
					one.XContext, one.YContext = append(one.XContext, one.XTarget...), append(one.YContext, y[at*c.DimY:(at+1)*c.DimY]...)
					one.AuxContext, one.ContextMask = append(one.AuxContext, one.AuxTarget...), append(one.ContextMask, true)
				}
			}
			opt := SampleOptions{Samples: 3, Chain: Chain{Seed: 4}}
			all, err := SampleCurves(ctx, m, b, opt)
			require.NoError(t, err)
			b.TargetMask = slices.Repeat([]bool{true}, b.B*b.Nt)
			alone, err := SampleCurves(ctx, m, staticTask(b, &c, 1, 4), opt)
			require.NoError(t, err)
			for k, per := 0, b.Nt*c.DimY; k < 3; k++ {
				require.Equal(t, alone[k*per:(k+1)*per], all[(2*k+1)*per:(2*k+2)*per])
			}
		})
	}
}

// In the data's units a prediction is that of scaled fields, at scaled places.
func TestStaticUnits(t *testing.T) {
	ctx := context.Background()
	c := levelsConfig("T(2)", 1)
	c.Auxiliary, c.Static, c.ChannelDensity = []string{"hour"}, []string{"land"}, true
	m, err := New[float64](c, 3)
	require.NoError(t, err)
	raw := m.(Regressor[float64])
	wide := Range{-50, 50, 0, 10}
	c.Trained = &Trained{X: []Range{wide, wide}, Y: []Range{wide}, Aux: []Range{wide}, Static: []Range{{0, 1, 0.5, 0.25}},
		Units: &Scaler{X: []Affine{{Offset: 0, Factor: 2}, {Offset: 1, Factor: 2}}, Y: []Affine{{Offset: 3, Factor: 0.5}},
			Aux: []Affine{{Offset: 0, Factor: 1}}, Static: []Affine{{Offset: 0.5, Factor: 4}}}}
	m, err = New[float64](c, 3)
	require.NoError(t, err)
	b := staticTask(staticBatch[float64](&c), &c, 0, 4)
	b.XStatic = finiteOr(b.XStatic, 0.5)
	scaled := *b
	for _, f := range []struct {
		v *[]float64
		a []Affine
	}{{&scaled.XContext, c.Trained.Units.X}, {&scaled.XTarget, c.Trained.Units.X}, {&scaled.YContext, c.Trained.Units.Y},
		{&scaled.XStatic, c.Trained.Units.X}, {&scaled.YStatic, c.Trained.Units.Static}} {
		*f.v = slices.Clone(*f.v)
		for i := range *f.v {
			(*f.v)[i] = f.a[i%len(f.a)].Apply((*f.v)[i])
		}
	}
	want, err := raw.Predict(ctx, &scaled)
	require.NoError(t, err)
	got, err := Standardised(m.(Regressor[float64])).Predict(ctx, b)
	require.NoError(t, err)
	for i := range want.Mean {
		if b.targetOK(0, i) {
			require.InDelta(t, c.Trained.Units.Y[0].Undo(want.Mean[i]), got.Mean[i], 1e-12)
		}
	}
	notes := Notes(&c, b)
	require.Len(t, notes, 1, "a land below 0")
	require.Contains(t, notes[0], "the static field land reaches from")

	var w Witness
	AddCurves(&w, b, make([]float64, b.Nt), 2, 1)
	require.Len(t, w.Trained().Static, 1)
	c.Trained.Units.Static = nil
	require.ErrorContains(t, c.Validate(), "units of 0 static fields, the model has 1")
	c.Trained.Static = nil
	require.ErrorContains(t, c.Validate(), "ranges of 0 static fields, the model has 1")
}

// What does not fit is an error that says so.
func TestStaticErrors(t *testing.T) {
	ctx := context.Background()
	m := auxModels[float64](t, "slope", "land")["levels"]
	c := m.Config()
	for _, f := range []struct {
		text   string
		change func(b *Batch[float64])
	}{
		{"x_static has 0 values", func(b *Batch[float64]) { b.XStatic = nil }},
		{"y_static has 15 values, a batch of 2 tasks with 4 points of static fields needs 16",
			func(b *Batch[float64]) { b.YStatic = b.YStatic[:15] }},
		{"x_static[0, 1, 0] = NaN", func(b *Batch[float64]) { b.XStatic[2] = math.NaN() }},
		{"x_static[0, 0, 1] = +Inf", func(b *Batch[float64]) { b.XStatic[1] = math.Inf(1) }},
		{"y_static[0, 1, 0] = -Inf", func(b *Batch[float64]) { b.YStatic[2] = math.Inf(-1) }},
		{"-1 points of static fields", func(b *Batch[float64]) { b.Ns = -1 }},
	} {
		b := staticBatch[float64](&c)
		f.change(b)
		_, err := m.Predict(ctx, b)
		require.ErrorContains(t, err, f.text)
		_, err = SampleCurves(ctx, m, b, SampleOptions{Samples: 1})
		require.ErrorContains(t, err, f.text)
	}
	without := auxModels[float64](t)["levels"]
	_, err := without.Predict(ctx, staticBatch[float64](&c))
	require.ErrorContains(t, err, "the model has no static fields")
	none := staticBatch[float64](&c)
	none.XStatic, none.YStatic, none.Ns = nil, nil, 1<<30
	_, err = without.Predict(ctx, none)
	require.ErrorContains(t, err, "a batch with 1073741824 points of static fields, and the model has no static fields")
	_, err = Ensemble[float64](m, without)
	require.ErrorIs(t, err, ErrConfig)

	line := auxModels[float64](t, "slope", "land")["line"]
	c = line.Config()
	b := staticBatch[float64](&c)
	b.XStatic[1] = 1e15
	p, err := line.Predict(ctx, b)
	require.ErrorIs(t, err, ErrRange)
	require.ErrorContains(t, err, "x_static[0, 1] = 1e+15 lies outside")
	require.True(t, math.IsNaN(p.Mean[0]) && !math.IsNaN(p.Mean[5*c.DimY]))
	_, err = SampleCurves(ctx, line, b, SampleOptions{Samples: 2})
	require.ErrorContains(t, err, "x_static[0, 1] = 1e+15 lies outside")
	globe := auxModels[float64](t, "slope", "land")["globe"]
	c = globe.Config()
	b = staticBatch[float64](&c)
	b.XStatic[2] = 91
	_, err = globe.Predict(ctx, b)
	require.ErrorContains(t, err, "x_static[0, 1]")

	for _, f := range []struct {
		text   string
		change func(c *Config)
	}{
		{"need channel_density", func(c *Config) { c.ChannelDensity = false }},
		{"an auxiliary input, too", func(c *Config) { c.Auxiliary = []string{"land"} }},
		{"is there twice", func(c *Config) { c.Static = append(c.Static, "land") }},
		{"need at most 64", func(c *Config) { c.Static = make([]string, maxAuxiliary+1) }},
	} {
		c := levelsConfig("T(2)", 1)
		c.Static, c.ChannelDensity = []string{"land"}, true
		require.NoError(t, c.Validate())
		f.change(&c)
		require.ErrorContains(t, c.Validate(), f.text)
	}
	images := Default(EquivCNPImage, "T(2)", 1)
	images.Static = []string{"land"}
	require.ErrorContains(t, images.Validate(), "takes none")
}
