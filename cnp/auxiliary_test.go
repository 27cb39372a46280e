package cnp

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// auxModels are models with two auxiliary inputs, and static fields of those names, in every way that a prediction takes.
func auxModels[T Float](t testing.TB, static ...string) map[string]Regressor[T] {
	out := map[string]Regressor[T]{}
	add := func(name string, c Config) {
		c.Auxiliary, c.Static, c.ChannelDensity = []string{"elevation", "hour"}, static, true
		m, err := New[T](c, 3)
		require.NoError(t, err)
		if c.Levels == 0 {
			perturb(m.State(), 4)
		}
		out[name] = m.(Regressor[T])
	}
	line := Default(EquivCNPCurve, "T(1)", 2)
	line.Channels, line.Hidden, line.Mid, line.PointsPerUnit, line.Multiplicity = []int{4, 6, 4}, 4, 4, 8, 2
	add("line", line)
	line.Readout, line.Placement = ReadoutRBF, PlacementBatch
	add("line/rbf", line)
	points := Default(EquivCNPCurve, "SE(2)", 1)
	points.Channels, points.Hidden, points.Mid, points.PointsPerUnit, points.Fill = []int{4, 5, 4}, 4, 3, 0, 0.5
	add("points", points)
	add("levels", levelsConfig("T(2)", 1))
	add("levels/lifts", levelsConfig("SE(2)", 1))
	fields := fieldConfigs()
	add("vectors", fields["points/SE(2)/K=4/scalar,vector/full"].c)
	vectors := fields["levels/SE(2)/K=4/scalar,vector/full"].c
	add("levels/vectors", vectors)
	vectors.Inputs = []FieldType{Scalar}
	add("levels/inputs", vectors)
	globe := DefaultSphere(2, 1)
	globe.PointsPerUnit, globe.EncoderLength, globe.Channels, globe.Kernel = 3, 0.6, []int{3, 4}, 3
	add("globe", globe)
	return out
}

// auxBatch is tasks with auxiliary inputs, some of them missing in the context of all but the first, and padding.
func auxBatch[T Float](c *Config, b, nc, nt int) *Batch[T] {
	rng := rand.New(rand.NewPCG(8, uint64(c.DimX)))
	out, da := randomBatch[T](rng, b, nc, nt, c.DimX, c.DimY), len(c.Auxiliary)
	for i := range b * nc * da {
		v := rng.NormFloat64()
		if i >= nc*da && i%3 == 1 {
			v = math.NaN()
		}
		out.AuxContext = append(out.AuxContext, T(v))
	}
	for range b * nt * da {
		out.AuxTarget = append(out.AuxTarget, T(rng.NormFloat64()))
	}
	out.ContextMask, out.TargetMask = make([]bool, b*nc), make([]bool, b*nt)
	for i := range out.ContextMask {
		out.ContextMask[i] = i%5 != 2
	}
	for i := range out.TargetMask {
		if out.TargetMask[i] = i%4 != 1; i%4 == 1 { // padding is never read
			out.AuxTarget[i*da], out.XTarget[i*c.DimX] = T(math.NaN()), math.Inf(1)
		}
	}
	return out
}

// A target's prediction depends on its own auxiliary inputs and on those of the context, and on nothing else: alone,
// among others and by a plan it has the same bits.
func TestAuxiliaryAlone(t *testing.T) {
	t.Run("F64", func(t *testing.T) { testAuxiliaryAlone[float64](t) })
	t.Run("F32", func(t *testing.T) { testAuxiliaryAlone[float32](t) })
}

func testAuxiliaryAlone[T Float](t *testing.T) {
	ctx := context.Background()
	for name, m := range auxModels[T](t) {
		t.Run(name, func(t *testing.T) {
			c := m.Config()
			b := auxBatch[T](&c, 2, 6, 5)
			want, err := m.Predict(ctx, b)
			require.NoError(t, err)
			requireNumbers(t, want)

			other := *b
			other.AuxTarget = slices.Clone(b.AuxTarget)
			other.AuxTarget[0]++
			got, err := m.Predict(ctx, &other)
			require.NoError(t, err)
			require.NotEqual(t, want.Mean[:c.DimY], got.Mean[:c.DimY], "a target's own auxiliary input")
			require.Equal(t, want.Mean[c.DimY:], got.Mean[c.DimY:])
			require.Equal(t, want.Std[c.DimY:], got.Std[c.DimY:])

			other = *b
			other.AuxContext = slices.Clone(b.AuxContext)
			other.AuxContext[1]++
			got, err = m.Predict(ctx, &other)
			require.NoError(t, err)
			require.NotEqual(t, want.Mean[:5*c.DimY], got.Mean[:5*c.DimY], "one of the context")
			if c.Placement != PlacementBatch || c.PointsPerUnit == 0 {
				require.Equal(t, want.Mean[5*c.DimY:], got.Mean[5*c.DimY:], "of another task")
			}

			if c.Placement != PlacementBatch || c.PointsPerUnit == 0 { // the second task's third target
				one := &Batch[T]{B: 1, Nc: 6, Nt: 1, XContext: b.XContext[6*c.DimX:], YContext: b.YContext[6*c.DimY:],
					ContextMask: b.ContextMask[6:],
					XTarget:     b.XTarget[7*c.DimX : 8*c.DimX], AuxContext: b.AuxContext[12:], AuxTarget: b.AuxTarget[14:16]}
				got, err = m.Predict(ctx, one)
				require.NoError(t, err)
				mean, std := want.Mean[7*c.DimY:8*c.DimY], want.Std[7*c.DimY:8*c.DimY]
				if name == "vectors" { // points of several lifts share poses, which rounding decides
					require.InDeltaSlice(t, widen(mean), widen(got.Mean), 1e-5)
					require.InDeltaSlice(t, widen(std), widen(got.Std), 1e-5)
				} else {
					require.Equal(t, mean, got.Mean)
					require.Equal(t, std, got.Std)
				}
			}
			if e := m.(*EquivCNP[T]); c.Levels > 0 || lineOf(e) != nil {
				lo, hi := -3.0, 3.0
				if c.Placement == PlacementBatch { // the batch's own interval has the batch's lattice
					lo, hi = span(b)
				}
				plan, err := e.PlanInterval(ctx, lo, hi)
				require.NoError(t, err)
				for _, procs := range []int{1, 3} {
					old := runtime.GOMAXPROCS(procs)
					got, err := NewPrediction[T](&c, len(want.Mean))
					require.NoError(t, err)
					require.NoError(t, plan.Predict(ctx, got, b))
					runtime.GOMAXPROCS(old)
					require.Equal(t, want.Mean, got.Mean)
					require.Equal(t, want.Std, got.Std)
				}
			}
		})
	}
}

// span is where the points of a batch of one coordinate lie that count.
func span[T Float](b *Batch[T]) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i, x := range b.XContext {
		if b.ContextMask[i] {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	for i, x := range b.XTarget {
		if b.TargetMask[i] {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	return lo, hi
}

func requireNumbers[T Float](t *testing.T, p *Prediction[T]) {
	t.Helper()
	for i := range p.Mean {
		require.Zero(t, p.Mean[i]-p.Mean[i])
		require.Zero(t, p.Std[i]-p.Std[i])
	}
}

// Auxiliary inputs are scalars: predictions move and turn with the places while these stay what they are.
func TestAuxiliaryMove(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name string
		a    []float64 // an element under which the lifts are exchanged
	}{{"points", []float64{0, 3, -2}}, {"levels/lifts", []float64{-math.Pi / 2, 3, -2}},
		{"vectors", []float64{math.Pi / 2, 1, 2}}, {"levels/vectors", []float64{math.Pi / 2, 1, 2}}} {
		t.Run(c.name, func(t *testing.T) {
			m := auxModels[float64](t)[c.name].(*EquivCNP[float64])
			b := auxBatch[float64](&m.cfg, 2, 6, 5)
			for i := range b.TargetMask { // moving infinity is no place
				if !b.TargetMask[i] {
					b.XTarget[i*m.cfg.DimX] = 0
				}
			}
			want, err := m.Predict(ctx, b)
			require.NoError(t, err)
			moved, r := moveBatch(t, m, b, c.a)
			got, err := m.Predict(ctx, moved)
			require.NoError(t, err)
			dy := m.cfg.DimY
			for i := range b.B * b.Nt {
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

// Targets take their auxiliary inputs along when they become context: the chain's predictions are those that the model
// makes of such a context.
func TestAuxiliaryChain(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"line", "points", "levels", "globe"} {
		t.Run(name, func(t *testing.T) {
			m := auxModels[float64](t)[name]
			c := m.Config()
			b := auxBatch[float64](&c, 2, 6, 3)
			b.TargetMask = nil
			for i, v := range b.AuxTarget {
				if v != v {
					b.AuxTarget[i], b.XTarget[i/2*c.DimX] = 0.25, 0.5
				}
			}
			y := make([]float64, b.B*b.Nt*c.DimY)
			for i := range y {
				y[i] = math.Sin(float64(i))
			}
			j, err := JointCurves(ctx, m, b, y, Chain{Order: OrderGiven})
			require.NoError(t, err)
			for task := range b.B {
				one := &Batch[float64]{B: 1, Nt: 1, Nc: 6, XContext: slices.Clone(b.XContext[task*6*c.DimX : (task+1)*6*c.DimX]),
					YContext:    slices.Clone(b.YContext[task*6*c.DimY : (task+1)*6*c.DimY]),
					AuxContext:  slices.Clone(b.AuxContext[task*12 : (task+1)*12]),
					ContextMask: slices.Clone(b.ContextMask[task*6 : (task+1)*6])}
				for k := range b.Nt {
					at := task*b.Nt + k
					one.XTarget, one.AuxTarget = b.XTarget[at*c.DimX:(at+1)*c.DimX], b.AuxTarget[at*2:at*2+2]
					p, err := m.Predict(ctx, one)
					require.NoError(t, err)
					require.Equal(t, p.Mean, j.Mean[at*c.DimY:(at+1)*c.DimY], "target %d", k)
					one.Nc++
					one.XContext, one.YContext = append(one.XContext, one.XTarget...), append(one.YContext, y[at*c.DimY:(at+1)*c.DimY]...)
					one.AuxContext, one.ContextMask = append(one.AuxContext, one.AuxTarget...), append(one.ContextMask, true)
				}
			}

			s, err := SampleCurves(ctx, m, b, SampleOptions{Samples: 3, Chain: Chain{Seed: 4}})
			require.NoError(t, err)
			second := &Batch[float64]{B: 1, Nc: 6, Nt: 3, XContext: b.XContext[6*c.DimX:], YContext: b.YContext[6*c.DimY:],
				XTarget:    b.XTarget[3*c.DimX:],
				AuxContext: b.AuxContext[12:], AuxTarget: b.AuxTarget[6:], ContextMask: b.ContextMask[6:]}
			alone, err := SampleCurves(ctx, m, second, SampleOptions{Samples: 3, Chain: Chain{Seed: 4}})
			require.NoError(t, err)
			per := 3 * c.DimY
			for k := range 3 {
				require.Equal(t, alone[k*per:(k+1)*per], s[(2*k+1)*per:(2*k+2)*per])
			}
		})
	}
}

// In the data's units a prediction is that of scaled auxiliary inputs.
func TestAuxiliaryUnits(t *testing.T) {
	ctx := context.Background()
	c := levelsConfig("T(2)", 1)
	c.Auxiliary, c.ChannelDensity = []string{"elevation", "hour"}, true
	m, err := New[float64](c, 3)
	require.NoError(t, err)
	raw := m.(Regressor[float64])
	c.Trained = &Trained{X: make([]Range, 2), Y: make([]Range, 1), Aux: []Range{{0, 3000, 500, 400}, {0, 24, 12, 7}},
		Units: &Scaler{X: []Affine{{Offset: 0, Factor: 2}, {Offset: 1, Factor: 2}}, Y: []Affine{{Offset: 3, Factor: 0.5}},
			Aux: []Affine{{Offset: 500, Factor: 1.0 / 400}, {Offset: 12, Factor: 1.0 / 7}}}}
	c.Trained.X[0], c.Trained.X[1], c.Trained.Y[0] = Range{-50, 50, 0, 10}, Range{-50, 50, 0, 10}, Range{-50, 50, 0, 10}
	m, err = New[float64](c, 3)
	require.NoError(t, err)
	b := auxBatch[float64](&c, 1, 6, 5)
	for i := range b.AuxTarget {
		b.AuxTarget[i] = 100 + 50*float64(i)
	}
	b.TargetMask, b.XTarget[2] = nil, 0.5
	scaled := *b
	scaled.XContext, scaled.YContext, scaled.XTarget = slices.Clone(b.XContext), slices.Clone(b.YContext), slices.Clone(b.XTarget)
	scaled.AuxContext, scaled.AuxTarget = slices.Clone(b.AuxContext), slices.Clone(b.AuxTarget)
	for _, f := range []struct {
		v []float64
		a []Affine
	}{{scaled.XContext, c.Trained.Units.X}, {scaled.XTarget, c.Trained.Units.X}, {scaled.YContext, c.Trained.Units.Y},
		{scaled.AuxContext, c.Trained.Units.Aux}, {scaled.AuxTarget, c.Trained.Units.Aux}} {
		for i := range f.v {
			f.v[i] = f.a[i%len(f.a)].Apply(f.v[i])
		}
	}
	want, err := raw.Predict(ctx, &scaled)
	require.NoError(t, err)
	got, err := Standardised(m.(Regressor[float64])).Predict(ctx, b)
	require.NoError(t, err)
	for i := range want.Mean {
		require.InDelta(t, c.Trained.Units.Y[0].Undo(want.Mean[i]), got.Mean[i], 1e-12)
	}
	require.Len(t, Notes(&c, b), 1, "hours beyond 24")
	require.Contains(t, Notes(&c, b)[0], "hour reaches from")
}

// What does not fit is an error that says so.
func TestAuxiliaryErrors(t *testing.T) {
	ctx := context.Background()
	m := auxModels[float64](t)["levels"]
	c := m.Config()
	for _, f := range []struct {
		text   string
		change func(b *Batch[float64])
	}{
		{"aux_context has 0 values", func(b *Batch[float64]) { b.AuxContext = nil }},
		{"aux_target has 9 values", func(b *Batch[float64]) { b.AuxTarget = b.AuxTarget[:9] }},
		{"aux_target[0, 2, 1] = NaN", func(b *Batch[float64]) { b.AuxTarget[5] = math.NaN() }},
		{"aux_context[0, 1, 0] = +Inf", func(b *Batch[float64]) { b.AuxContext[2] = math.Inf(1) }},
	} {
		b := auxBatch[float64](&c, 1, 6, 5)
		f.change(b)
		_, err := m.Predict(ctx, b)
		require.ErrorContains(t, err, f.text)
		_, err = SampleCurves(ctx, m, b, SampleOptions{Samples: 1})
		require.ErrorContains(t, err, f.text)
	}
	without := levelsModel[float64](t, "T(2)", 1)
	_, err := without.Predict(ctx, auxBatch[float64](&c, 1, 6, 5))
	require.ErrorContains(t, err, "has no auxiliary inputs")
	_, err = Ensemble[float64](m, without)
	require.ErrorIs(t, err, ErrConfig)

	for _, a := range Architectures {
		bad := Default(a, map[bool]string{true: "T(1)"}[a == EquivCNPCurve], 1)
		if a == EquivCNPImage {
			bad.Group = "T(2)"
		}
		bad.Auxiliary = []string{"elevation"}
		if err := bad.Validate(); a == EquivCNPCurve {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "takes none")
		}
	}
	for _, names := range [][]string{{""}, {" a"}, {"a", "a"}, make([]string, maxAuxiliary+1), {string(make([]byte, maxName+1))}} {
		bad := Default(EquivCNPCurve, "T(1)", 1)
		bad.Auxiliary = names
		require.ErrorIs(t, bad.Validate(), ErrConfig)
	}
}
