package cnp

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/layers"
)

// sphereConfig is a small model on the sphere.
func sphereConfig(dx, dy int) Config {
	c := DefaultSphere(3, dy)
	c.DimX, c.PointsPerUnit, c.Channels, c.EncoderLength = dx, 5, []int{5, 6, 7}, 0.4
	return c
}

func sphereModel[T Float](t testing.TB, c Config) *EquivCNP[T] {
	m, err := New[T](c, 3)
	require.NoError(t, err)
	return m.(*EquivCNP[T])
}

// sphereBatch has points all over the globe, dx of whose coordinates are given.
func sphereBatch[T Float](rng *rand.Rand, b, nc, nt, dx, dy int) *Batch[T] {
	out := randomBatch[T](rng, b, nc, nt, 3, dy)
	for _, x := range []*[]float64{&out.XContext, &out.XTarget} {
		var points []float64
		for i := 0; i < len(*x); i += 3 {
			v := [3]float64((*x)[i : i+3])
			l := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
			if dx == 3 {
				points = append(points, v[0]/l, v[1]/l, v[2]/l)
			} else {
				lat, lon := LatLon(v)
				points = append(points, lat, lon)
			}
		}
		*x = points
	}
	return out
}

// TestSphereAlone: a task's prediction depends on its context and the target, bit for bit; a plan's is the same, and so is that of a pass.
func TestSphereAlone(t *testing.T) {
	t.Run("F64", func(t *testing.T) { testSphereAlone[float64](t, 2); testSphereAlone[float64](t, 3) })
	t.Run("F32", func(t *testing.T) { testSphereAlone[float32](t, 2); testSphereAlone[float32](t, 3) })
}

func testSphereAlone[T Float](t *testing.T, dx int) {
	m := sphereModel[T](t, sphereConfig(dx, 2))
	require.Equal(t, dx, m.Config().DimX)
	ctx, rng := context.Background(), rand.New(rand.NewPCG(90, 1))
	b := sphereBatch[T](rng, 4, 7, 9, dx, 2)
	b.ContextMask, b.TargetMask = make([]bool, 28), make([]bool, 36)
	for i := range b.ContextMask {
		b.ContextMask[i] = i < 21 && i%5 != 2 // the last task has no context
	}
	for i := range b.TargetMask {
		b.TargetMask[i] = i%7 != 3
	}
	b.XContext[2*dx], b.XTarget[3*dx] = math.NaN(), 1e9 // padding is not read
	b.XContext[2*dx] = 400
	want, err := m.Predict(ctx, b)
	require.NoError(t, err)
	plan, err := m.PlanInterval(ctx, 0, 1)
	require.NoError(t, err)
	for _, procs := range []int{1, 3} {
		old := runtime.GOMAXPROCS(procs)
		got := newPrediction[T](Normal, len(want.Mean))
		require.NoError(t, plan.Predict(ctx, got, b))
		runtime.GOMAXPROCS(old)
		require.Equal(t, want.Mean, got.Mean)
		require.Equal(t, want.Std, got.Std)
	}
	for task := range 4 {
		for i := range 9 {
			at := task*9 + i
			if !b.TargetMask[at] {
				require.Zero(t, want.Mean[2*at])
				continue
			}
			one := &Batch[T]{B: 1, Nc: 7, Nt: 1, XContext: b.XContext[task*7*dx : (task+1)*7*dx],
				YContext:    b.YContext[task*14 : (task+1)*14],
				ContextMask: b.ContextMask[task*7 : (task+1)*7], XTarget: b.XTarget[at*dx : (at+1)*dx]}
			p, err := m.Predict(ctx, one)
			require.NoError(t, err)
			require.Equal(t, want.Mean[2*at:2*at+2], p.Mean)
			require.Equal(t, want.Std[2*at:2*at+2], p.Std)
		}
	}
	for _, mode := range []layers.Mode{layers.Eval, layers.Train} {
		pass, err := m.Differentiate(ctx, b, mode)
		require.NoError(t, err)
		require.Equal(t, want.Mean, pass.Mean)
		require.Equal(t, want.Std, pass.Std)
	}
	if dx == 3 {
		return
	}
	turns := *b
	turns.XContext, turns.XTarget = append([]float64(nil), b.XContext...), append([]float64(nil), b.XTarget...)
	for i := 1; i < len(turns.XContext); i += 2 {
		turns.XContext[i] = math.Round(turns.XContext[i])
	}
	want, err = m.Predict(ctx, &turns)
	require.NoError(t, err)
	turns.XContext = append([]float64(nil), turns.XContext...)
	for i := 1; i < len(turns.XContext); i += 2 {
		turns.XContext[i] += 360
	}
	got, err := m.Predict(ctx, &turns)
	require.NoError(t, err)
	require.Equal(t, want.Mean, got.Mean, "a whole turn")
}

// TestSphereTurned: when the globe turns under the points, predictions stay what they are, as far as the lattice is
// even: the finer it is for the context's kernel, the less they change.
func TestSphereTurned(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(90, 2))
	last := math.Inf(1)
	for _, points := range []float64{5, 10, 20} {
		c := sphereConfig(2, 1)
		c.PointsPerUnit = points
		m := sphereModel[float64](t, c)
		b := sphereBatch[float64](rand.New(rand.NewPCG(90, 3)), 3, 12, 40, 2, 1)
		want, err := m.Predict(ctx, b)
		require.NoError(t, err)
		mean, variance := 0.0, 0.0
		for _, v := range want.Mean {
			mean += v / float64(len(want.Mean))
		}
		for _, v := range want.Mean {
			variance += (v - mean) * (v - mean) / float64(len(want.Mean))
		}
		change := 0.0
		for range 5 {
			rotation := [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
			turned := *b
			turned.XContext, turned.XTarget = c.Turned(b.XContext, rotation), c.Turned(b.XTarget, rotation)
			got, err := m.Predict(ctx, &turned)
			require.NoError(t, err)
			for i, v := range got.Mean {
				change += (v - want.Mean[i]) * (v - want.Mean[i]) / float64(5*len(got.Mean))
			}
		}
		change = math.Sqrt(change / variance)
		t.Logf("%g points per radian: changed by %.4f of the predictions' deviation", points, change)
		require.Less(t, change, 0.8*last)
		last = change
	}
	require.Less(t, last, 0.008)
}

// TestUnitVector: latitudes and longitudes, there and back; poles are one point each.
func TestUnitVector(t *testing.T) {
	require.Equal(t, [3]float64{1, 0, 0}, UnitVector(0, 0))
	require.Equal(t, UnitVector(90, 12), UnitVector(90, -170))
	require.Equal(t, [3]float64{0, 0, -1}, UnitVector(-90, 0))
	require.Equal(t, UnitVector(10, 190), UnitVector(10, -170))
	for _, p := range [][2]float64{{0, 0}, {45, 90}, {-89.5, 179}, {12.25, -120.5}, {89.999, 3}} {
		lat, lon := LatLon(UnitVector(p[0], p[1]))
		require.InDelta(t, p[0], lat, 1e-11)
		require.InDelta(t, p[1], lon, 1e-9)
	}
	lat, lon := LatLon([3]float64{})
	require.Zero(t, lat)
	require.Zero(t, lon)
}

// TestSphereRefuses: bad configurations and bad points are errors that name the field.
func TestSphereRefuses(t *testing.T) {
	for want, change := range map[string]func(c *Config){
		`placement "sphere" is for group SO(3) with levels`:                     func(c *Config) { c.Group = "SE(3)" },
		"this is SO(3) with 0 levels":                                           func(c *Config) { c.Levels = 0 },
		"with 3 levels and 4 lifts":                                             func(c *Config) { c.Lifts = 4 },
		"dim_x = 4: points on the sphere have 2 coordinates":                    func(c *Config) { c.DimX = 4 },
		"points_per_unit = 1000: 12566371 points on the sphere, at most 262144": func(c *Config) { c.PointsPerUnit = 1000 },
		"the coarsest lattice on the sphere has 1 points, need at least 12":     func(c *Config) { c.PointsPerUnit = 1 },
		"levels need points_per_unit":                                           func(c *Config) { c.FixedStep = false },
	} {
		c := sphereConfig(2, 1)
		change(&c)
		_, err := New[float32](c, 1)
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, want)
	}
	ctx := context.Background()
	for _, bad := range []struct {
		dx   int
		want string
		kind error
		x    []float64
	}{
		{2, "x_context[0, 1] = [90.5 3]: latitude 90.5, need -90 to 90 degrees (the longitude comes second)", ErrRange,
			[]float64{1, 2, 90.5, 3}},
		{2, "x_context[0, 0, 1] = NaN", ErrValue, []float64{1, math.NaN(), 0, 3}},
		{2, "x_context[0, 1, 0] = +Inf", ErrValue, []float64{1, 2, math.Inf(1), 3}},
		{3, "x_context[0, 1] = [1 1 0] has length 1.41421", ErrRange, []float64{1, 0, 0, 1, 1, 0}},
		{3, "x_context[0, 0] = [0 0 0] has length 0", ErrRange, []float64{0, 0, 0, 1, 0, 0}},
		{3, "x_context has 4 values", ErrShape, []float64{1, 2, 3, 4}},
	} {
		m := sphereModel[float32](t, sphereConfig(bad.dx, 1))
		b := &Batch[float32]{B: 1, Nc: 2, Nt: 1, XContext: bad.x, YContext: []float32{1, 2}, XTarget: make([]float64, bad.dx)}
		b.XTarget[0] = 1
		_, err := m.Predict(ctx, b)
		require.ErrorIs(t, err, bad.kind)
		require.ErrorContains(t, err, bad.want)
		_, err = m.Differentiate(ctx, b, layers.Train)
		require.ErrorContains(t, err, bad.want)
		plan, err := m.PlanInterval(ctx, 0, 1)
		require.NoError(t, err)
		require.ErrorContains(t, plan.Predict(ctx, newPrediction[float32](Normal, 1), b), bad.want)
	}
	m := sphereModel[float64](t, sphereConfig(3, 1)) // rounded to two digits
	b := &Batch[float64]{B: 1, Nc: 1, Nt: 1, XContext: []float64{0.58, 0.58, 0.58}, YContext: []float64{1}, XTarget: []float64{1, 0, 0}}
	rounded, err := m.Predict(ctx, b)
	require.NoError(t, err)
	b.XContext = []float64{math.Sqrt(1.0 / 3), math.Sqrt(1.0 / 3), math.Sqrt(1.0 / 3)}
	exact, err := m.Predict(ctx, b)
	require.NoError(t, err)
	require.InDelta(t, exact.Mean[0], rounded.Mean[0], 1e-12)
}

// TestSphereEstimate: a lattice that memory has no room for is refused before it is made.
func TestSphereEstimate(t *testing.T) {
	c := DefaultSphere(4, 1)
	need, err := c.Estimate(Work{Batch: 16, Context: 60, Targets: 50, Train: true})
	require.NoError(t, err)
	require.ErrorIs(t, need.Check(1<<20), ErrMemory)
	c.PointsPerUnit = 140
	fine, err := c.Estimate(Work{Batch: 16, Context: 60, Targets: 50, Train: true})
	require.NoError(t, err)
	require.InEpsilon(t, math.Pow(140.0/10, 2), float64(fine.Bytes())/float64(need.Bytes()), 0.5)
}
