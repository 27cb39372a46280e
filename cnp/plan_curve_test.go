package cnp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/neighbor"
)

// lineModel is a small curve model on a line with everything that its plan has to get right.
func lineModel[T Float](t *testing.T, change func(c *Config)) *EquivCNP[T] {
	t.Helper()
	c := Default(EquivCNPCurve, "T(1)", 2)
	c.PointsPerUnit, c.Multiplicity, c.Channels, c.Hidden, c.Mid = 16, 2, []int{5, 7, 6}, 9, 5
	change(&c)
	if c.Readout != ReadoutQueries || c.MaxNeighbors != 0 {
		c.Placement = PlacementBatch
	}
	m, err := New[T](c, 3)
	require.NoError(t, err)
	perturb(m.State(), 4)
	return m.(*EquivCNP[T])
}

// lineBatch draws tasks of different sizes, with duplicated points; padding is NaN.
func lineBatch[T Float](b, nc, nt, dy int, seed uint64) *Batch[T] {
	rng := rand.New(rand.NewPCG(seed, 3))
	out := &Batch[T]{B: b, Nc: nc, Nt: nt}
	point := func(i, n int, mask *[]bool) float64 {
		ok := i%n < 1+rng.IntN(n)
		*mask = append(*mask, ok)
		if !ok {
			return math.NaN()
		}
		return math.Round(64*(4*rng.Float64()-2)) / 64
	}
	for i := range b * nc {
		out.XContext = append(out.XContext, point(i, nc, &out.ContextMask))
		for range dy {
			out.YContext = append(out.YContext, T(rng.NormFloat64()))
		}
	}
	for i := range b * nt {
		out.XTarget = append(out.XTarget, point(i, nt, &out.TargetMask))
	}
	return out
}

// TestCurvePlanAgainstLayers: on a line, the shared lattice gives what general neighbourhoods give.
func TestCurvePlanAgainstLayers(t *testing.T) {
	t.Run("F64", func(t *testing.T) { testCurvePlanAgainstLayers[float64](t, 1e-11) })
	t.Run("F32", func(t *testing.T) { testCurvePlanAgainstLayers[float32](t, 3e-5) })
}

func testCurvePlanAgainstLayers[T Float](t *testing.T, tol float64) {
	for name, change := range map[string]func(c *Config){
		"default":         func(c *Config) {},
		"targets":         func(c *Config) { c.Readout = ReadoutTargets },
		"one layer":       func(c *Config) { c.Channels = []int{5, 6} },
		"coordinate":      func(c *Config) { c.CoordinateFeature = true },
		"basis functions": func(c *Config) { c.Readout = ReadoutRBF },
		"standard deviation, three layers": func(c *Config) {
			c.Output, c.Channels, c.NoBatchNorm, c.Readout = OutputStd, []int{3, 4, 5, 6}, true, ReadoutTargets
		},
		"wide":            func(c *Config) { c.Fill = 0.7 },
		"narrow":          func(c *Config) { c.Fill = 0.001 },
		"wide, targets":   func(c *Config) { c.Fill, c.Readout = 0.7, ReadoutTargets },
		"narrow, targets": func(c *Config) { c.Fill, c.Readout = 0.001, ReadoutTargets },
	} {
		t.Run(name, func(t *testing.T) {
			m := lineModel[T](t, change)
			pointsOf(m).conv[0].R[0] *= 1.25 // layers need not agree
			for _, b := range []*Batch[T]{lineBatch[T](3, 9, 11, 2, 1), lineBatch[T](1, 1, 1, 2, 2), lineBatch[T](2, 4, 150, 2, 3)} {
				want, err := pointsOf(m).forward(context.Background(), b, lineOf(m))
				require.NoError(t, err)
				got, err := m.Predict(context.Background(), b)
				require.NoError(t, err)
				testkit.Close(t, "mean", got.Mean, asF64(want.Mean), tol*max(1, maxAbs(asF64(want.Mean))))
				testkit.Close(t, "std", got.Std, asF64(want.Std), tol*max(1, maxAbs(asF64(want.Std))))
			}
		})
	}
}

// TestCurvePlan: by a plan a task's prediction does not depend on its batch or on the number of threads; and it is Predict's, under
// PlacementBatch where the lattice is the batch's own.
func TestCurvePlan(t *testing.T) {
	m := lineModel[float32](t, func(*Config) {})
	p, err := m.PlanInterval(context.Background(), -2, 2)
	require.NoError(t, err)
	const tasks, nt, dy = 32, 20, 2
	b := lineBatch[float32](tasks, 10, nt, dy, 6)
	predict := func(b *Batch[float32]) *Prediction[float32] {
		out := newPrediction[float32](Normal, b.B*b.Nt*dy)
		for i := range out.Mean {
			out.Mean[i] = float32(math.NaN()) // all is written
		}
		require.NoError(t, p.Predict(context.Background(), out, b))
		return out
	}
	want := predict(b)
	for _, threads := range []int{1, 2, 3} {
		t.Run(fmt.Sprintf("threads=%d", threads), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
			require.Equal(t, want, predict(b))
			for _, k := range []int{0, 17, 31} {
				one := &Batch[float32]{B: 1, Nc: b.Nc, Nt: nt, XContext: b.XContext[k*10 : (k+1)*10],
					YContext: b.YContext[k*10*dy : (k+1)*10*dy],
					XTarget:  b.XTarget[k*nt : (k+1)*nt], ContextMask: b.ContextMask[k*10 : (k+1)*10],
					TargetMask: b.TargetMask[k*nt : (k+1)*nt]}
				got := predict(one)
				require.Equal(t, want.Mean[k*nt*dy:(k+1)*nt*dy], got.Mean)
				require.Equal(t, want.Std[k*nt*dy:(k+1)*nt*dy], got.Std)
			}
		})
	}
	own, err := m.Predict(context.Background(), b)
	require.NoError(t, err)
	require.Equal(t, own, want)

	m = lineModel[float32](t, func(c *Config) { c.Placement = PlacementBatch })
	p, err = m.PlanInterval(context.Background(), -2, 2)
	require.NoError(t, err)
	// Extremes at the interval's ends make Predict lay the same lattice.
	b.XTarget[0], b.XTarget[nt], b.TargetMask[0], b.TargetMask[nt] = -2, 2, true, true
	own, err = m.Predict(context.Background(), b)
	require.NoError(t, err)
	require.Equal(t, own, predict(b))
}

func TestCurvePlanConcurrent(t *testing.T) {
	m := lineModel[float32](t, func(*Config) {})
	b := lineBatch[float32](3, 8, 9, 2, 7)
	want, err := m.Predict(context.Background(), b)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 4 {
				if _, err := m.Predict(context.Background(), lineBatch[float32](2, 5, 6, 2, uint64(k+i))); err != nil { // other lattices
					t.Error(err)
				}
				got, err := m.Predict(context.Background(), b)
				if err != nil || got.Mean[0] != want.Mean[0] || got.Std[len(got.Std)-1] != want.Std[len(got.Std)-1] {
					t.Errorf("a different answer, or %v", err)
				}
			}
		}()
	}
	wg.Wait()
	require.LessOrEqual(t, len(lineOf(m).cache.lattices), keepPlans)
}

func TestCurvePlanFollowsState(t *testing.T) {
	m, b := lineModel[float32](t, func(*Config) {}), lineBatch[float32](2, 8, 9, 2, 8)
	first, err := m.Predict(context.Background(), b)
	require.NoError(t, err)
	perturb(m.State(), 11)
	second, err := m.Predict(context.Background(), b)
	require.NoError(t, err)
	require.NotEqual(t, first, second)
}

func TestCurvePlanCancelled(t *testing.T) {
	m, b := lineModel[float32](t, func(*Config) {}), lineBatch[float32](6, 8, 9, 2, 8)
	p, err := m.PlanInterval(context.Background(), -2, 2)
	require.NoError(t, err)
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(context.Background())
	out := newPrediction[float32](Normal, b.B*b.Nt*2)
	require.ErrorIs(t, p.Predict(WithProgress(ctx, func(int, int) { cancel() }), out, b), context.Canceled)
	require.ErrorIs(t, p.Predict(ctx, out, b), context.Canceled)
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(end); {
		runtime.Gosched()
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

func TestCurvePlanRefuses(t *testing.T) {
	m := lineModel[float64](t, func(*Config) {})
	for name, c := range map[string]struct {
		lo, hi float64
		is     error
	}{"backwards": {1, 0, ErrRange}, "NaN": {math.NaN(), 1, ErrValue}, "infinite": {math.Inf(-1), 1, ErrValue}} {
		_, err := m.PlanInterval(context.Background(), c.lo, c.hi)
		require.ErrorIs(t, err, c.is, name)
	}
	m = lineModel[float64](t, func(c *Config) { c.Placement = PlacementBatch })
	_, err := m.PlanInterval(context.Background(), 0, 1e9)
	require.ErrorIs(t, err, ErrRange, "a lattice that is too large")
	_, err = lineModel[float64](t, func(c *Config) { c.MaxNeighbors = 3 }).PlanInterval(context.Background(), 0, 1)
	require.ErrorIs(t, err, ErrConfig)

	p, err := m.PlanInterval(context.Background(), 0, 1)
	require.NoError(t, err)
	b := &Batch[float64]{B: 1, Nt: 1, XTarget: []float64{1.5}}
	require.ErrorIs(t, p.Predict(context.Background(), newPrediction[float64](Normal, 2), b), ErrRange, "outside")
	require.ErrorIs(t, p.Predict(context.Background(), newPrediction[float64](Normal, 3), b), ErrShape)
	b.TargetMask = []bool{false}
	require.NoError(t, p.Predict(context.Background(), newPrediction[float64](Normal, 2), b), "padding may lie anywhere")

	// A hundred thousand equal targets are all neighbours of each other, unless they only look at the lattice.
	crowd := &Batch[float64]{B: 1, Nt: 100_000, XTarget: make([]float64, 100_000)}
	_, err = lineModel[float64](t, func(c *Config) { c.Readout = ReadoutTargets }).Predict(context.Background(), crowd)
	require.ErrorIs(t, err, neighbor.ErrTooManyPairs)
	_, err = m.Predict(context.Background(), crowd)
	require.NoError(t, err)
}

// TestQueriesStandAlone: where targets are queries, a prediction is the same to the last bit whatever else is asked for; where they are
// among the points it is not, even on the same lattice.
func TestQueriesStandAlone(t *testing.T) {
	for _, readout := range []Readout{ReadoutQueries, ReadoutTargets} {
		m := lineModel[float32](t, func(c *Config) { c.Readout = readout })
		b := lineBatch[float32](2, 9, 30, 2, 1)
		b.TargetMask = nil
		for i := range b.XTarget {
			b.XTarget[i] = -2 + 4*float64(i%b.Nt)/float64(b.Nt-1)
		}
		few := *b
		few.Nt, few.XTarget = 4, nil
		kept := []int{5, 7, 8, 23}
		if readout == ReadoutTargets {
			kept = []int{0, 7, 8, 29} // the ends fix the lattice
		}
		for i := range b.B {
			for _, k := range kept {
				few.XTarget = append(few.XTarget, b.XTarget[i*b.Nt+k])
			}
		}
		for name, predict := range map[string]func(*Batch[float32]) (*Prediction[float32], error){
			"plan": func(b *Batch[float32]) (*Prediction[float32], error) { return m.Predict(context.Background(), b) },
			"layers": func(b *Batch[float32]) (*Prediction[float32], error) {
				p, err := m.Differentiate(context.Background(), b, layers.Eval)
				if err != nil {
					return nil, err
				}
				return p.Prediction, nil
			},
		} {
			all, err := predict(b)
			require.NoError(t, err)
			some, err := predict(&few)
			require.NoError(t, err)
			same := true
			for i := range b.B {
				for j, k := range kept {
					for d := range 2 {
						at, of := (i*few.Nt+j)*2+d, (i*b.Nt+k)*2+d
						same = same && some.Mean[at] == all.Mean[of] && some.Std[at] == all.Std[of]
					}
				}
			}
			require.Equal(t, readout == ReadoutQueries, same, "%s, %s", readout, name)
		}
	}
}

// TestFixedStep: on a lattice of fixed step, interior neighbourhoods are the same whatever the interval and wherever it lies, since the
// radius lies in the middle between two distances.
func TestFixedStep(t *testing.T) {
	c := Default(EquivCNPCurve, "T(1)", 1)
	c.Placement = PlacementBatch
	for _, density := range []float64{16, 64, 100} {
		c.PointsPerUnit = density
		model, err := New[float64](c, 1)
		require.NoError(t, err)
		m := model.(*EquivCNP[float64])
		want := int(math.Round((c.Fill*(4.2*density+1) - 1) / 2)) // on each side
		numbered, err := neighbor.NewNumberedLine(density, m.group.Alpha(), pointsOf(m).conv[0].Radius())
		require.NoError(t, err)
		require.InDelta(t, want, numbered.Reach, 1)
		for _, ends := range [][2]float64{{-2, 2}, {-4, 4}, {0.1, 1.2345}, {1e6, 1e6 + 3.3}, {-math.Pi, 10}} {
			grid, _, err := lattice(&Batch[float64]{B: 1, Nt: 2, XTarget: ends[:]}, &m.cfg)
			require.NoError(t, err)
			require.LessOrEqual(t, grid[0], ends[0]-c.Margin)
			require.GreaterOrEqual(t, grid[len(grid)-1], ends[1]+c.Margin)
			l, err := lineOf(m).net().newLattice(grid)
			require.NoError(t, err)
			rows, _, _ := l.lines[0].Rows(nil, nil, neighbor.LineSight{Lattice: true})
			for i := 3 * want; i < len(grid)-3*want; i++ {
				require.InDelta(t, 2*want+1, rows[i][0].N, 2, "density %g", density)
				require.Equal(t, rows[3*want][0].N, rows[i][0].N)
			}
			require.InDelta(t, 1/density, (grid[len(grid)-1]-grid[0])/float64(len(grid)-1), 1e-9)
			_, frac := math.Modf(pointsOf(m).conv[0].Radius() / m.group.Alpha() * density)
			require.InDelta(t, 0.5, frac, 0.01, "the radius in steps")
		}
	}
}

// TestEncoderLength: a new model's kernel begins with the length that its configuration says.
func TestEncoderLength(t *testing.T) {
	for length, want := range map[float64]float64{4.0 / 64: 4.0 / 64, 0.3: 0.3, 0: curve.PsiLength} {
		c := Default(EquivCNPCurve, "T(1)", 1)
		require.Equal(t, 4.0/64, c.EncoderLength)
		c.EncoderLength = length
		m, err := New[float64](c, 1)
		require.NoError(t, err)
		require.InEpsilon(t, want, m.(*EquivCNP[float64]).encoder.Psi.Length(), 1e-12)
	}
}
