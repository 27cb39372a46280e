package cnp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/layers"
)

// levelsConfig is a small model with levels.
func levelsConfig(group string, dy int) Config {
	c := Default(EquivCNPCurve, group, dy)
	c.Levels, c.Channels, c.Kernel, c.Blocks, c.Placement = 3, []int{4, 5, 6}, 5, 1, PlacementContext
	c.PointsPerUnit, c.EncoderLength = 8, 0.2
	if c.DimX > 1 {
		c.Levels, c.Channels, c.Kernel, c.PointsPerUnit, c.EncoderLength = 2, []int{3, 4}, 3, 3, 0.4
	}
	if group == "SE(2)" {
		c.Lifts, c.Channels = 4, []int{2, 1}
	}
	return c
}

func levelsModel[T Float](t testing.TB, group string, dy int) *EquivCNP[T] {
	m, err := New[T](levelsConfig(group, dy), 3)
	require.NoError(t, err)
	return m.(*EquivCNP[T])
}

// TestLevelsAlone: a task's prediction depends on its context and the target, bit for bit, and moves with them; a plan's is the same.
func TestLevelsAlone(t *testing.T) {
	t.Run("F64", func(t *testing.T) { testLevelsAlone[float64](t) })
	t.Run("F32", func(t *testing.T) { testLevelsAlone[float32](t) })
}

func testLevelsAlone[T Float](t *testing.T) {
	for _, group := range []string{"T(1)", "T(2)", "SE(2)"} {
		m := levelsModel[T](t, group, 2)
		dx := m.cfg.DimX
		rng := rand.New(rand.NewPCG(90, 1))
		b := randomBatch[T](rng, 4, 7, 9, dx, 2)
		b.ContextMask, b.TargetMask = make([]bool, 28), make([]bool, 36)
		for i := range b.ContextMask {
			b.ContextMask[i] = i >= 21 || i%5 != 2
		}
		for i := 21; i < 28; i++ { // the last task has no context
			b.ContextMask[i] = false
		}
		for i := range b.TargetMask {
			b.TargetMask[i] = i%7 != 3
		}
		b.XTarget[0], b.XTarget[5*dx] = 300, -1e18 // far away
		want, err := m.Predict(context.Background(), b)
		require.NoError(t, err)
		plan, err := m.PlanInterval(context.Background(), 0, 1)
		require.NoError(t, err)
		for _, procs := range []int{1, 3} {
			old := runtime.GOMAXPROCS(procs)
			got := newPrediction[T](Normal, len(want.Mean))
			require.NoError(t, plan.Predict(context.Background(), got, b))
			runtime.GOMAXPROCS(old)
			require.Equal(t, want.Mean, got.Mean)
			require.Equal(t, want.Std, got.Std)
		}
		for task := range 4 {
			for i := range 9 {
				at := task*9 + i
				if !b.TargetMask[at] {
					require.Zero(t, want.Mean[2*at])
					require.Zero(t, want.Std[2*at])
					continue
				}
				one := &Batch[T]{B: 1, Nc: 7, Nt: 1, XContext: b.XContext[task*7*dx : (task+1)*7*dx],
					YContext:    b.YContext[task*14 : (task+1)*14],
					ContextMask: b.ContextMask[task*7 : (task+1)*7], XTarget: b.XTarget[at*dx : (at+1)*dx]}
				p, err := m.Predict(context.Background(), one)
				require.NoError(t, err)
				require.Equal(t, want.Mean[2*at:2*at+2], p.Mean)
				require.Equal(t, want.Std[2*at:2*at+2], p.Std)
			}
		}
		none, err := m.Predict(context.Background(), &Batch[T]{B: 1, Nt: 1, XTarget: make([]float64, dx)})
		require.NoError(t, err)
		require.Equal(t, none.Mean, want.Mean[:2], "far from the context as without one")
		require.Equal(t, none.Mean, want.Mean[10:12])
		require.Equal(t, none.Mean, want.Mean[2*28:2*29])
		// A shift by a power of two, above all coordinates' last bits.
		moved := *b
		moved.XContext, moved.XTarget = make([]float64, len(b.XContext)), make([]float64, len(b.XTarget))
		for i, v := range b.XContext {
			b.XContext[i] = math.Round(v*1024) / 1024
			moved.XContext[i] = b.XContext[i] + 64
		}
		for i, v := range b.XTarget {
			if math.Abs(v) < 100 {
				b.XTarget[i] = math.Round(v*1024) / 1024
			}
			moved.XTarget[i] = b.XTarget[i] + 64
		}
		want, err = m.Predict(context.Background(), b)
		require.NoError(t, err)
		p, err := m.Predict(context.Background(), &moved)
		require.NoError(t, err)
		for at := range 27 {
			require.Equal(t, want.Mean[2*at:2*at+2], p.Mean[2*at:2*at+2], "target %d", at)
		}
	}
}

// TestLevelsTurns: under SE(2) predictions turn with the data, by quarter turns about any point, exactly but for
// rounding, together with any shift.
func TestLevelsTurns(t *testing.T) {
	m := levelsModel[float64](t, "SE(2)", 2)
	rng := rand.New(rand.NewPCG(90, 3))
	b := randomBatch[float64](rng, 3, 9, 12, 2, 2)
	want, err := m.Predict(context.Background(), b)
	require.NoError(t, err)
	requireVaries(t, want, 2)
	for quarters := range 4 {
		for range 3 {
			a := []float64{math.Pi / 2 * float64(quarters), 5 * rng.NormFloat64(), 5 * rng.NormFloat64()}
			moved := *b
			moved.XContext, moved.XTarget = act(t, m.group, a, b.XContext), act(t, m.group, a, b.XTarget)
			got, err := m.Predict(context.Background(), &moved)
			require.NoError(t, err)
			requireSame(t, fmt.Sprint(a), got, want)
		}
	}
	other := *b // an eighth of a turn is none of the lifts'
	other.XContext, other.XTarget = act(t, m.group, []float64{math.Pi / 4, 0, 0}, b.XContext),
		act(t, m.group, []float64{math.Pi / 4, 0, 0}, b.XTarget)
	got, err := m.Predict(context.Background(), &other)
	require.NoError(t, err)
	require.NotEqual(t, want.Mean, got.Mean)
}

// TestLevelsSteady: a plan's calls in the steady state allocate next to nothing.
func TestLevelsSteady(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	m := levelsModel[float32](t, "T(1)", 1)
	plan, err := m.PlanInterval(context.Background(), 0, 1)
	require.NoError(t, err)
	b := randomBatch[float32](rand.New(rand.NewPCG(90, 2)), 2, 10, 40, 1, 1)
	dst := newPrediction[float32](Normal, 80)
	run := func() { require.NoError(t, plan.Predict(context.Background(), dst, b)) }
	for range 3 {
		run()
	}
	require.LessOrEqual(t, testing.AllocsPerRun(10, run), 40.0)
}

// TestLevelsCancelled: a prediction ends with its context wherever it is, also in the middle of one large task, and leaves nothing behind
// that a later one could take for complete.
func TestLevelsCancelled(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	rng := rand.New(rand.NewPCG(91, 2))
	for _, group := range []string{"T(1)", "T(2)", "SE(2)", "sphere"} {
		m, b := (*EquivCNP[float32])(nil), (*Batch[float32])(nil)
		if group == "sphere" {
			m, b = sphereModel[float32](t, sphereConfig(2, 1)), sphereBatch[float32](rng, 1, 300, 20000, 2, 1)
		} else {
			m = levelsModel[float32](t, group, 1)
			b = randomBatch[float32](rng, 1, 300, 40000, m.cfg.DimX, 1)
		}
		want, err := m.Predict(context.Background(), b)
		require.NoError(t, err)
		whole, asked := false, int64(0)
		for n := int64(0); !whole; n += 1 + n/4 {
			ctx := &lateContext{Context: context.Background()}
			ctx.left.Store(n)
			p, err := m.Predict(ctx, b)
			if whole = err == nil; whole {
				requireSame(t, group, p, want)
				asked = n
				continue
			}
			require.ErrorIs(t, err, context.Canceled, group)
			require.Nil(t, p, group)
		}
		require.Greater(t, asked, int64(40), "%s: how often one task asks", group)
	}
}

func TestLevelsRefuse(t *testing.T) {
	for want, change := range map[string]func(c *Config){
		"levels = 2, channels = [4 5 6]":         func(c *Config) { c.Levels = 2 },
		"levels are for groups T(1)":             func(c *Config) { c.Group, c.DimX = "SE(2)", 2 },
		"this is SE(2) with 3":                   func(c *Config) { c.Group, c.DimX, c.Lifts = "SE(2)", 2, 3 },
		"this is T(2) with 4":                    func(c *Config) { c.Group, c.DimX, c.Lifts = "T(2)", 2, 4 },
		"kernel = 4, need an odd width":          func(c *Config) { c.Kernel = 4 },
		"blocks = 17, need at most 16":           func(c *Config) { c.Blocks = 17 },
		`levels need points_per_unit, placement`: func(c *Config) { c.Placement = PlacementBatch },
		"density_floor = -1, need 0 to":          func(c *Config) { c.DensityFloor = -1 },
		"density_cap = -1, need 0 to":            func(c *Config) { c.DensityCap = -1 },
		"density_cap is for models of":           func(c *Config) { *c = Default(ConvCNPCurve, "", 1); c.DensityCap = 1 },
		"multiplicity = 0":                       func(c *Config) { c.Multiplicity = 0 },
	} {
		c := levelsConfig("T(1)", 1)
		change(&c)
		_, err := New[float32](c, 1)
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, want)
	}
	c := levelsConfig("T(1)", 1)
	c.MaxLattice = 100
	m, err := New[float32](c, 1)
	require.NoError(t, err)
	b := &Batch[float32]{B: 1, Nc: 2, Nt: 1, XContext: []float64{0, 40}, YContext: []float32{1, 2}, XTarget: []float64{3}}
	_, err = m.(*EquivCNP[float32]).Differentiate(context.Background(), b, layers.Train)
	require.ErrorIs(t, err, ErrRange)
	require.ErrorContains(t, err, "more than 100 points")
}

// TestDensityCap: densities above the cap look like the cap, in the model, its plan and its training alike, and nothing
// else changes: the signal is divided by what the density is.
func TestDensityCap(t *testing.T) {
	t.Run("levels", func(t *testing.T) { testDensityCap(t, levelsConfig("T(1)", 1)) })
	t.Run("one lattice", func(t *testing.T) {
		c := Default(EquivCNPCurve, "T(1)", 1)
		c.Channels, c.PointsPerUnit = []int{4, 5, 6}, 8
		testDensityCap(t, c)
	})
}

func testDensityCap(t *testing.T, c Config) {
	rng := rand.New(rand.NewPCG(90, 7))
	predict := func(c Config, points int) (*Prediction[float64], *EquivCNP[float64], *Batch[float64]) {
		made, err := New[float64](c, 3)
		require.NoError(t, err)
		m := made.(*EquivCNP[float64])
		b := &Batch[float64]{B: 1, Nt: 9}
		for i := range points { // as dense as you please, on [0, 2]
			x := 2 * float64(i) / float64(points-1)
			b.Nc, b.XContext, b.YContext = b.Nc+1, append(b.XContext, x), append(b.YContext, math.Sin(2*x))
		}
		for range 9 {
			b.XTarget = append(b.XTarget, 0.5+rng.Float64())
		}
		p, err := m.Predict(context.Background(), b)
		require.NoError(t, err)
		plan, err := m.PlanInterval(context.Background(), 0, 1)
		require.NoError(t, err)
		planned := newPrediction[float64](Normal, 9)
		require.NoError(t, plan.Predict(context.Background(), planned, b))
		require.Equal(t, p.Mean, planned.Mean)
		pass, err := m.Differentiate(context.Background(), b, layers.Eval)
		require.NoError(t, err)
		require.InDeltaSlice(t, p.Mean, pass.Mean, 1e-9)
		return p, m, b
	}
	plain, m, b := predict(c, 40)
	was := m.encoder.Encode(b.XTarget, b.XContext, b.YContext, 0)
	least := math.Inf(1)
	for i := 0; i < len(was); i += 2 {
		least = min(least, was[i])
	}
	c.DensityCap = 1e3
	rng = rand.New(rand.NewPCG(90, 7))
	same, _, _ := predict(c, 40)
	require.Equal(t, plain.Mean, same.Mean, "below the cap nothing changes")
	c.DensityCap = least / 2
	_, capped, _ := predict(c, 40)
	for i := 0; i < len(was); i += 2 {
		was[i] = least / 2
	}
	require.Equal(t, was, capped.encoder.Encode(b.XTarget, b.XContext, b.YContext, 0))
}

// BenchmarkLevelsStep is a step of the benchmark's training without Adam and without drawing: 16 tasks of 30 context
// points and 50 targets, in the plane of twice as many.
func BenchmarkLevelsStep(b *testing.B) {
	for _, s := range []struct {
		group                                        string
		lifts, width, levels, points, kernel, blocks int
	}{{"T(1)", 1, 64, 6, 64, 9, 1}, {"T(1)", 1, 64, 5, 32, 9, 1}, {"T(1)", 1, 64, 6, 64, 5, 1}, {"T(1)", 1, 48, 6, 64, 9, 1},
		{"T(2)", 1, 32, 4, 8, 5, 1}, {"SE(2)", 4, 8, 4, 8, 5, 1}} {
		b.Run(fmt.Sprintf("%s/width=%d/levels=%d/points=%d/kernel=%d/blocks=%d", s.group, s.width, s.levels, s.points, s.kernel,
			s.blocks), func(b *testing.B) {
			dx := 1
			if s.group != "T(1)" {
				dx = 2
			}
			c := DefaultLevels(s.levels, dx, 1)
			c.Group, c.Lifts, c.Kernel, c.Blocks, c.PointsPerUnit, c.EncoderLength = s.group, s.lifts, s.kernel, s.blocks,
				float64(s.points), 2/float64(s.points)
			if dx > 1 {
				c.EncoderLength /= 2
			}
			for l := range c.Channels {
				c.Channels[l] = s.width
			}
			m, err := New[float32](c, 1)
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			for _, p := range m.State() {
				n += len(p.Data)
			}
			nc, nt := 30*dx, 50*dx
			g, rng, y := layers.NewGrads(m.State()), rand.New(rand.NewPCG(1, 1)), make([]float32, 16*nt)
			for b.Loop() {
				batch := randomBatch[float32](rng, 16, nc, nt, dx, 1)
				for _, x := range [][]float64{batch.XContext, batch.XTarget} {
					for i := range x {
						x[i] = 4*rng.Float64() - 2
					}
				}
				p, err := m.(*EquivCNP[float32]).Differentiate(context.Background(), batch, layers.Train)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := p.Gradient(y, g); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n), "parameters")
		})
	}
}

// BenchmarkLevelsPredict is a prediction of 100 tasks of 40 context points at one target each, a step of the chain rule, and of one task at
// 100 targets; in the plane, a step of training.
func BenchmarkLevelsPredict(b *testing.B) {
	for _, s := range []struct{ tasks, targets, levels, points int }{{100, 1, 6, 64}, {100, 1, 5, 32}, {1, 100, 6, 64}} {
		b.Run(fmt.Sprintf("tasks=%d/targets=%d/levels=%d/points=%d", s.tasks, s.targets, s.levels, s.points), func(b *testing.B) {
			c := DefaultLevels(s.levels, 1, 1)
			c.PointsPerUnit, c.EncoderLength = float64(s.points), 2/float64(s.points)
			m, err := New[float32](c, 1)
			if err != nil {
				b.Fatal(err)
			}
			plan, err := m.(*EquivCNP[float32]).PlanInterval(context.Background(), 0, 1)
			if err != nil {
				b.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 1))
			batch := randomBatch[float32](rng, s.tasks, 40, s.targets, 1, 1)
			for _, x := range [][]float64{batch.XContext, batch.XTarget} {
				for i := range x {
					x[i] = 4*rng.Float64() - 2
				}
			}
			dst := newPrediction[float32](Normal, s.tasks*s.targets)
			b.ReportAllocs()
			for b.Loop() {
				if err := plan.Predict(context.Background(), dst, batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
