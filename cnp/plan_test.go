package cnp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/internal/axis"
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
)

// planModel is a small image model with everything that a plan has to get right: two channels, powers, normalisation with
// statistics of its own, lifts, and a width that ends within a slice.
func planModel[T Float](t *testing.T, name string, lifts int, window layers.Window) *ImageEquivCNP[T] {
	t.Helper()
	c := Default(EquivCNPImage, name, 2)
	c.Window = window
	c.Lifts, c.Multiplicity, c.Channels, c.Blocks, c.Hidden, c.Mid, c.BlockBatchNorm = lifts, 2, []int{41}, 2, 7, 5, true
	m, err := New[T](c, 7)
	require.NoError(t, err)
	perturb(m.State(), 8)
	return m.(*ImageEquivCNP[T])
}

func planImages[T Float](b, c, h, w int, seed uint64) *Images[T] {
	rng := rand.New(rand.NewPCG(seed, 2))
	im := &Images[T]{B: b, C: c, H: h, W: w, Pixels: make([]T, b*c*h*w), Mask: make([]bool, b*h*w)}
	for i := range im.Mask {
		im.Mask[i] = rng.Float64() < 0.4
	}
	for i := range im.Pixels {
		im.Pixels[i] = T(math.NaN()) // unobserved values are never read
		if im.Mask[i/(c*h*w)*h*w+i%(h*w)] {
			im.Pixels[i] = T(rng.NormFloat64())
		}
	}
	return im
}

// inner is what a plan is made of.
func inner[T Float](p *ImagePlan[T]) *imagePlan[T] { return p.plan.(*imagePlan[T]) }

func predictPlan[T Float](t *testing.T, p *ImagePlan[T], im *Images[T]) *Prediction[T] {
	t.Helper()
	out := newPrediction[T](Normal, im.B*p.Values())
	require.NoError(t, p.Predict(context.Background(), out, im))
	return out
}

// storages are the ways to keep weights that a plan can be forced into.
var storages = map[string]PlanOptions{
	"evaluated": {Memory: -1},
	"stored":    {},
	"bfloat16":  {Precision: BFloat16},

	"direct":     {Algorithm: layers.Direct},
	"transforms": {Algorithm: layers.Transforms},
}

// TestPlanAgainstLayers: a plan computes what the layers do one after the other, under every group and way to keep weights.
func TestPlanAgainstLayers(t *testing.T) {
	t.Run("F64", func(t *testing.T) { testPlanAgainstLayers[float64](t, 1e-12) })
	t.Run("F32", func(t *testing.T) { testPlanAgainstLayers[float32](t, 2e-5) })
}

func testPlanAgainstLayers[T Float](t *testing.T, tol float64) {
	for i, c := range slices.Repeat([]struct {
		group string
		lifts int
	}{{"T(2)", 1}, {"SE(2)", 1}, {"SE(2)", 3}, {"SE(2)", 4}, {"SO(2)", 1}, {"R>0xSO(2)", 1}, {"R>0(2)", 1}, {"trivial(2)", 1}}, 2) {
		window := layers.Windows[i/8]
		m := planModel[T](t, c.group, c.lifts, window)
		im := planImages[T](3, 2, 9, 8, 3)
		want, err := m.Differentiate(context.Background(), im, layers.Eval)
		require.NoError(t, err)
		for name, opt := range storages {
			t.Run(fmt.Sprintf("%s/lifts=%d/%s/%s", c.group, c.lifts, window, name), func(t *testing.T) {
				p, err := m.PlanGeometry(context.Background(), Grid(9, 8), opt)
				require.NoError(t, err)
				if c.lifts == 4 {
					require.True(t, p.Info().Flat, "quarter turns take the grid to itself")
				}
				got, tol := predictPlan(t, p, im), tol
				if rounded := p.Info().Rounded; rounded != (layers.Rounded{}) {
					require.True(t, opt.Precision == BFloat16 && is32[T](), "%+v", rounded)
					tol = 0x1p-6
					if window == layers.WindowSmooth { // as of the authors' models: values that cancel are large beside what is left
						tol = 0x1p-5
					}
				}
				if name == "evaluated" && !p.Info().Flat {
					require.Zero(t, p.Info().WeightBytes)
				}
				testkit.Close(t, "mean", got.Mean, asF64(want.Mean), tol*max(1, maxAbs(asF64(want.Mean))))
				testkit.Close(t, "std", got.Std, asF64(want.Std), tol*max(1, maxAbs(asF64(want.Std))))
			})
		}
	}
}

func asF64[T Float](x []T) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// TestPlanGolden: the authors' models through plans that keep no weights, a part of them, all in bfloat16 and, where the machine
// has the memory, all; TestGoldenImages goes through Complete's own plan. In bfloat16 the bound is 1/32 of the largest value. Without
// -long, the model under SO(2) without batch normalisation takes every plan, those under R>0xSO(2) and with it take two each.
func TestPlanGolden(t *testing.T) {
	for _, grp := range []string{"T2", "SE2", "SO2", "RxSO2"} {
		for _, set := range []string{"2d", "2d_bn"} {
			if set == "2d_bn" && (grp != "SO2" || testing.Short()) {
				continue
			}
			g := testkit.OpenGolden(t, fmt.Sprintf("%s_%s_img0", set, grp))
			c := officialConfig(EquivCNPImage, grp)
			c.BlockBatchNorm = set == "2d_bn"
			g.Meta("alpha", &c.Alpha)
			m := official[float32](t, c, filepath.Join(set, grp)).(*ImageEquivCNP[float32])
			image, _ := g.F64("image")
			maskv, _ := g.F64("mask")
			im := &Images[float32]{B: 1, C: 1, H: 64, W: 64, Pixels: asT[float32](image), Mask: make([]bool, len(maskv))}
			for i, v := range maskv {
				im.Mask[i] = v != 0
			}
			var tol struct {
				F32 struct {
					Mean float64 `json:"mean_abs"`
					Std  float64 `json:"std_abs"`
				} `json:"f32"`
			}
			g.Tolerance(&tol)
			mean, _ := g.F64("mean_f64")
			std, _ := g.F64("std_f64")
			for name, opt := range map[string]PlanOptions{
				"evaluated": {Memory: -1}, "part": {Memory: 320 << 20}, "bfloat16": {Memory: 700 << 20, Precision: BFloat16},
				"stored": {Memory: 4 << 30}, "direct": {Algorithm: layers.Direct}, "transforms": {Algorithm: layers.Transforms},
			} {
				if name == "stored" && (testing.Short() || cpu.Memory() < 6<<30) {
					continue
				}
				if flat := grp == "T2" || grp == "SE2"; flat != (opt.Algorithm != "") && name != "bfloat16" {
					continue // flat plans store everything, and others know one algorithm
				}
				few := map[string][]string{"2d_bn/SO2": {"evaluated", "part"}, "2d/RxSO2": {"stored", "bfloat16"}}[set+"/"+grp]
				if !*long && few != nil && !slices.Contains(few, name) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", set, grp, name), func(t *testing.T) {
					p, err := m.PlanGeometry(context.Background(), Grid(64, 64), opt)
					require.NoError(t, err)
					if opt.Algorithm != "" {
						require.Equal(t, opt.Algorithm, p.Info().Algorithm)
					}
					got, meanTol, stdTol := predictPlan(t, p, im), tol.F32.Mean, tol.F32.Std
					rounded := p.Info().Rounded
					if opt.Precision == BFloat16 {
						flat := p.Info().Flat
						all := cpu.Tiles() && flat
						require.Equal(t, all, p.Info().Precision == BFloat16)
						require.Equal(t, layers.Rounded{Weights: all || !flat, Features: all || !flat && cpu.Dots(), Dense: all ||
							flat && cpu.FastDots()}, rounded)
					} else {
						require.Zero(t, rounded)
					}
					if rounded != (layers.Rounded{}) {
						meanTol, stdTol = maxAbs(mean)/32, maxAbs(std)/32
					}
					testkit.Close(t, "mean", got.Mean, mean, meanTol)
					testkit.Close(t, "std", got.Std, std, stdTol)
				})
			}
		}
	}
}

// TestPlanPrecision: in bfloat16 an image has the same bits alone, in a batch and on any number of threads, from a plan
// that was read or made and from Complete; the log-likelihood of the pixels moves by less than 0.001 here, and the
// chain rule refuses. Levels that multiply neither tiles nor pairs, and other algorithms, compute in float32.
func TestPlanPrecision(t *testing.T) {
	ctx := context.Background()
	for _, side := range []int{64, 28} {
		m := official[float32](t, officialConfig(EquivCNPImage, "T2"), filepath.Join("2d", "T2")).(*ImageEquivCNP[float32])
		im := planImages[float32](3, 1, side, side, 5)
		for i := range im.Pixels { // strokes, as of digits
			im.Pixels[i] = 0
			if y, x := i/side%side-side/2, i%side-side/3; x*x <= side && y*y <= side*side/9 || i%side > side/2 && y*y <= side/2 {
				im.Pixels[i] = 1
			}
		}
		plan := func(opt PlanOptions) (*ImagePlan[float32], *Prediction[float32]) {
			p, err := m.PlanGeometry(ctx, Grid(side, side), opt)
			require.NoError(t, err)
			return p, predictPlan(t, p, im)
		}
		_, exact := plan(PlanOptions{})
		p, want := plan(PlanOptions{Precision: BFloat16})
		other, same := plan(PlanOptions{Precision: BFloat16, Algorithm: layers.Transforms})
		require.Equal(t, Float32, other.Info().Precision)
		testkit.Close(t, "mean by transforms", same.Mean, asF64(exact.Mean), 1e-4)
		if !cpu.Tiles() && !cpu.FastDots() { // the few weights of a flat plan are float32, too
			require.Equal(t, exact, want)
			require.Equal(t, Float32, p.Info().Precision)
			continue
		}
		require.Equal(t, cpu.Tiles(), p.Info().Precision == BFloat16)
		require.NotEqual(t, exact.Mean, want.Mean)
		change := 0.0
		for i, v := range im.Pixels {
			density := func(q *Prediction[float32]) float64 {
				z := (float64(v) - float64(q.Mean[i])) / float64(q.Std[i])
				return -z*z/2 - math.Log(float64(q.Std[i]))
			}
			change += density(want) - density(exact)
		}
		require.LessOrEqual(t, math.Abs(change/float64(len(im.Pixels))), 1e-3)
		for _, threads := range []int{1, 3} {
			before := runtime.GOMAXPROCS(threads)
			for b := range im.B {
				got := predictPlan(t, p, &Images[float32]{B: 1, C: 1, H: side, W: side,
					Pixels: im.Pixels[b*side*side:][:side*side], Mask: im.Mask[b*side*side:][:side*side]})
				require.Equal(t, want.Mean[b*side*side:][:side*side], got.Mean)
				require.Equal(t, want.Std[b*side*side:][:side*side], got.Std)
			}
			runtime.GOMAXPROCS(before)
		}
		path := filepath.Join(t.TempDir(), "plan")
		opt := PlanOptions{Precision: BFloat16}
		_, err := m.SavePlan(ctx, path, Grid(side, side), opt)
		require.NoError(t, err)
		read, err := m.LoadPlan(ctx, path, Grid(side, side), opt)
		require.NoError(t, err)
		require.Equal(t, want, predictPlan(t, read, im))
		_, err = m.LoadPlan(ctx, path, Grid(side, side), PlanOptions{})
		require.ErrorIs(t, err, ErrPlanFile)

		rounds, err := With[float32](m, Options{Precision: BFloat16})
		require.NoError(t, err)
		complete, err := rounds.(Completer[float32]).Complete(ctx, im)
		require.NoError(t, err)
		require.Equal(t, want.Mean, complete.Mean)
		_, err = SampleImages(ctx, rounds.(Completer[float32]), im, SampleOptions{Samples: 1})
		require.ErrorIs(t, err, ErrConfig)
		_, err = JointImages(ctx, rounds.(Completer[float32]), im, im.Pixels, Chain{})
		require.ErrorIs(t, err, ErrConfig)
		_, err = With[float32](m, Options{Precision: "float16"})
		require.ErrorIs(t, err, ErrConfig)
		require.Empty(t, m.opt, "the model is as it was")
	}
}

// TestPlanBits: an image gets the same bits alone and in a batch, on one thread and on several, from weights that are stored
// or evaluated.
func TestPlanBits(t *testing.T) {
	for _, name := range []string{"T(2)", "SO(2)"} {
		m, im := planModel[float32](t, name, 1, layers.WindowSmooth), planImages[float32](32, 2, 12, 11, 4)
		whole, err := m.PlanGeometry(context.Background(), Grid(12, 11), PlanOptions{})
		require.NoError(t, err)
		info := whole.Info()
		some := info.Bytes + info.CallBytes - info.WeightBytes/3
		var want *Prediction[float32]
		for _, threads := range []int{1, 2, 5} {
			for kind, opt := range map[string]PlanOptions{"evaluated": {Memory: -1}, "some": {Memory: some}, "stored": {}} {
				t.Run(fmt.Sprintf("%s/threads=%d/%s", name, threads, kind), func(t *testing.T) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
					p, err := m.PlanGeometry(context.Background(), Grid(12, 11), opt)
					require.NoError(t, err)
					got := predictPlan(t, p, im)
					if want == nil {
						want = got
					}
					require.Equal(t, want, got, "batch of 32")
					n, v := im.C*im.H*im.W, p.Values()
					for _, b := range []int{0, 13, 31} {
						one := &Images[float32]{B: 1, C: im.C, H: im.H, W: im.W, Pixels: im.Pixels[b*n : (b+1)*n],
							Mask: im.Mask[b*im.H*im.W : (b+1)*im.H*im.W]}
						alone := predictPlan(t, p, one)
						require.Equal(t, want.Mean[b*v:(b+1)*v], alone.Mean, "image %d", b)
						require.Equal(t, want.Std[b*v:(b+1)*v], alone.Std, "image %d", b)
					}
				})
			}
		}
	}
}

// TestPlanConcurrent: one plan and one model under many goroutines, as in a service.
func TestPlanConcurrent(t *testing.T) {
	m, im := planModel[float32](t, "SO(2)", 1, layers.WindowSmooth), planImages[float32](2, 2, 8, 8, 5)
	p, err := m.PlanGeometry(context.Background(), Grid(8, 8), PlanOptions{})
	require.NoError(t, err)
	want := predictPlan(t, p, im)
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			out := newPrediction[float32](Normal, im.B*p.Values())
			for range 3 {
				if err := p.Predict(context.Background(), out, im); err != nil {
					t.Error(err)
				}
				whole, err := m.Complete(context.Background(), im)
				if err != nil {
					t.Error(err)
				}
				for i := range want.Mean {
					if out.Mean[i] != want.Mean[i] || out.Std[i] != want.Std[i] || whole.Mean[i] != want.Mean[i] {
						t.Errorf("value %d differs", i)
						return
					}
				}
			}
		}()
	}
	wg.Wait()
}

// TestPlanTargets: a target on a pixel gets the pixel's prediction, and the others see the same image.
func TestPlanTargets(t *testing.T) {
	for _, c := range []struct {
		group string
		lifts int
	}{{"T(2)", 1}, {"SE(2)", 3}, {"SE(2)", 4}, {"R>0xSO(2)", 1}} {
		t.Run(fmt.Sprintf("%s/lifts=%d", c.group, c.lifts), func(t *testing.T) {
			m, im := planModel[float64](t, c.group, c.lifts, layers.WindowSmooth), planImages[float64](2, 2, 7, 6, 6)
			grid, err := m.PlanGeometry(context.Background(), Grid(7, 6), PlanOptions{})
			require.NoError(t, err)
			want := predictPlan(t, grid, im)
			g := Upsampled(7, 6, 3)
			require.Len(t, g.Targets, 2*7*6*9)
			fine, err := m.PlanGeometry(context.Background(), g, PlanOptions{})
			require.NoError(t, err)
			got := predictPlan(t, fine, im)
			for bc := range im.B * im.C {
				for y := range 7 {
					for x := range 6 {
						at := bc*7*6*9 + (3*y+1)*3*6 + 3*x + 1 // the middle of nine
						// Positions agree to rounding, and whether a point at the ball's edge counts may not.
						require.InDelta(t, want.Mean[(bc*7+y)*6+x], got.Mean[at], 1e-10*max(1, maxAbs(want.Mean)))
						require.InDelta(t, want.Std[(bc*7+y)*6+x], got.Std[at], 1e-10*max(1, maxAbs(want.Std)))
					}
				}
			}
			// A few targets in any order are those of the many.
			some := Geometry{Points: g.Points, Targets: append(append([]float64(nil), g.Targets[40:42]...), g.Targets[10:12]...)}
			few, err := m.PlanGeometry(context.Background(), some, PlanOptions{Memory: -1})
			require.NoError(t, err)
			one := predictPlan(t, few, im)
			scale := max(1, maxAbs(want.Mean))
			require.InDelta(t, got.Mean[20], one.Mean[0], 1e-12*scale)
			require.InDelta(t, got.Mean[5], one.Mean[1], 1e-12*scale)
		})
	}
}

// TestUpsampled: the parts of a pixel average to its place, and all are evenly spaced.
func TestUpsampled(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		axis := axis.Pixels(n)
		for _, scale := range []int{1, 2, 3, 4} {
			fine := subpixels(n, scale)
			require.Len(t, fine, n*scale)
			for i, x := range axis {
				sum := 0.0
				for _, v := range fine[i*scale : (i+1)*scale] {
					sum += v / float64(scale)
				}
				require.InDelta(t, x, sum, 1e-14)
			}
			for i := 2; i < len(fine); i++ {
				require.InDelta(t, fine[1]-fine[0], fine[i]-fine[i-1], 1e-14)
			}
		}
	}
}

// TestPlanCancelled: a cancelled call says so at once and leaves no goroutine.
func TestPlanCancelled(t *testing.T) {
	m, im := planModel[float32](t, "SO(2)", 1, layers.WindowSmooth), planImages[float32](4, 2, 12, 12, 7)
	p, err := m.PlanGeometry(context.Background(), Grid(12, 12), PlanOptions{Memory: -1})
	require.NoError(t, err)
	before := runtime.NumGoroutine()
	out := newPrediction[float32](Normal, im.B*p.Values())
	for stop := range 5 {
		ctx, cancel := context.WithCancel(context.Background())
		steps := 0
		err := p.Predict(WithProgress(ctx, func(int, int) {
			if steps == stop {
				cancel()
			}
			steps++
		}), out, im)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, stop+1, steps, "nothing more is begun")
		cancel()
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = m.PlanGeometry(ctx, Grid(12, 12), PlanOptions{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = m.Complete(ctx, im)
	require.ErrorIs(t, err, context.Canceled)
	_, err = m.Complete(context.Background(), im) // the cache holds nothing half made
	require.NoError(t, err)
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(end); {
		runtime.Gosched()
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

// TestPlanCacheFollowsState: Complete notices that parameters changed, and a plan does not.
func TestPlanCacheFollowsState(t *testing.T) {
	m, im := planModel[float32](t, "T(2)", 1, layers.WindowSmooth), planImages[float32](1, 2, 8, 8, 9)
	p, err := m.PlanGeometry(context.Background(), Grid(8, 8), PlanOptions{})
	require.NoError(t, err)
	first, err := m.Complete(context.Background(), im)
	require.NoError(t, err)
	perturb(m.State(), 10)
	second, err := m.Complete(context.Background(), im)
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	require.Equal(t, first, predictPlan(t, p, im))
	for size := 3; size < 3+2*keepPlans; size++ { // the cache stays bounded
		_, err := m.Complete(context.Background(), planImages[float32](1, 2, size, size, 9))
		require.NoError(t, err)
	}
	require.Len(t, m.plans.entries, keepPlans)
	require.Equal(t, Pixels(2+2*keepPlans, 2+2*keepPlans), m.plans.entries[keepPlans-1].shape)
}

// TestPlanSteadyState: after the first calls nothing is allocated, however many images there are, whatever the collector does and
// although goroutines come and go.
func TestPlanSteadyState(t *testing.T) {
	for _, name := range []string{"T(2)", "SO(2)"} {
		m, im := planModel[float32](t, name, 1, layers.WindowSmooth), planImages[float32](4, 2, 16, 16, 9)
		for kind, opt := range storages {
			for _, threads := range []int{1, 2} {
				t.Run(fmt.Sprintf("%s/%s/threads=%d", name, kind, threads), func(t *testing.T) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
					p, err := m.PlanGeometry(context.Background(), Grid(16, 16), opt)
					require.NoError(t, err)
					out := newPrediction[float32](Normal, im.B*p.Values())
					call := func() { require.NoError(t, p.Predict(context.Background(), out, im)) }
					requireSteady(t, call)
				})
			}
		}
	}
}

// requireSteady requires that a call, some time after the first ones and the collector, allocates nothing.
func requireSteady(t *testing.T, call func()) {
	t.Helper()
	if raceEnabled {
		t.Skip("skipped: the race detector makes pools forget (make test runs it)")
	}
	const tries, calls = 20, 8
	var objects, bytes uint64
	for range tries { // goroutines may meet their largest piece of work late, and the runtime allocates for itself now and then
		runtime.GC()
		call() // the collector empties pools
		var a, b runtime.MemStats
		runtime.ReadMemStats(&a)
		for range calls {
			call()
		}
		runtime.ReadMemStats(&b)
		if objects, bytes = b.Mallocs-a.Mallocs, b.TotalAlloc-a.TotalAlloc; objects == 0 {
			return
		}
	}
	t.Errorf("%d calls allocate %d objects, %d bytes", calls, objects, bytes)
}

// TestPlanMemory: the budget covers weights, neighbourhoods and the memory of a call of 16 images, whose account is true.
func TestPlanMemory(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, name := range []string{"T(2)", "SO(2)"} {
		m := planModel[float32](t, name, 1, layers.WindowSmooth)
		p, err := m.PlanGeometry(context.Background(), Grid(16, 16), PlanOptions{Memory: -1})
		require.NoError(t, err)
		im := planImages[float32](16, 2, 16, 16, 9)
		require.NoError(t, p.Predict(context.Background(), newPrediction[float32](Normal, im.B*p.Values()), im))
		used := inner(p).idle.Load().bytes()
		require.InDelta(t, float64(used), float64(p.Info().CallBytes), 0.25*float64(used), name)
		if p.Info().Flat {
			continue
		}
		least := p.Info().Bytes + p.Info().CallBytes
		for _, more := range []int64{0, 1 << 18, 1 << 30} {
			p, err := m.PlanGeometry(context.Background(), Grid(16, 16), PlanOptions{Memory: least + more})
			require.NoError(t, err)
			info := p.Info()
			require.LessOrEqual(t, info.Bytes+info.CallBytes, least+more)
			require.Equal(t, more == 1<<30, info.Evaluated == 0)
			require.Equal(t, more == 0, info.WeightBytes == 0, "%d", more)
		}
		// With less, fewer images are taken at a time, with the same bits; with too little for one, nothing is made.
		want := newPrediction[float32](Normal, im.B*p.Values())
		require.NoError(t, p.Predict(context.Background(), want, im))
		few, err := m.PlanGeometry(context.Background(), Grid(16, 16), PlanOptions{Memory: least - p.Info().CallBytes/2})
		require.NoError(t, err)
		require.Less(t, inner(few).most, 16)
		require.LessOrEqual(t, few.Info().Bytes+few.Info().CallBytes, least-p.Info().CallBytes/2)
		// With more images at hand than the budget is made for, a call takes so many at a time as the memory has room for.
		many := planImages[float32](70, 2, 16, 16, 9)
		for _, extra := range []int64{0, p.Info().CallBytes, 1 << 30} {
			p, err := m.PlanGeometry(context.Background(), Grid(16, 16), PlanOptions{Memory: least + extra})
			require.NoError(t, err)
			require.NoError(t, p.Predict(context.Background(), newPrediction[float32](Normal, many.B*p.Values()), many))
			require.LessOrEqual(t, float64(p.Info().Bytes+inner(p).idle.Load().bytes()), 1.02*float64(least+extra), "%d more", extra)
			require.Equal(t, extra == 1<<30, inner(p).most >= many.B)
		}
		got := newPrediction[float32](Normal, im.B*p.Values())
		require.NoError(t, few.Predict(context.Background(), got, im))
		require.Equal(t, want, got)
		for _, memory := range []int64{1, p.Info().Bytes / 2, p.Info().Bytes + 1} {
			_, err = m.PlanGeometry(context.Background(), Grid(16, 16), PlanOptions{Memory: memory})
			require.ErrorIs(t, err, ErrMemory)
			_, err = m.PlanGeometry(context.Background(), Grid(16, 16), PlanOptions{Memory: memory, Soft: true})
			require.NoError(t, err)
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	m := planModel[float32](t, "T(2)", 1, layers.WindowSmooth)
	for name, c := range map[string]struct {
		g    Geometry
		opt  PlanOptions
		want error
	}{
		"no points":       {Geometry{}, PlanOptions{}, ErrShape},
		"half a point":    {Geometry{Points: []float64{1}}, PlanOptions{}, ErrShape},
		"half a target":   {Geometry{Points: []float64{1, 2}, Targets: []float64{1, 2, 3}}, PlanOptions{}, ErrShape},
		"NaN point":       {Geometry{Points: []float64{1, math.NaN()}}, PlanOptions{}, ErrValue},
		"infinite target": {Geometry{Points: []float64{1, 2}, Targets: []float64{math.Inf(1), 2}}, PlanOptions{}, ErrValue},
		"precision":       {Grid(2, 2), PlanOptions{Precision: "float16"}, ErrConfig},
	} {
		_, err := m.PlanGeometry(context.Background(), c.g, c.opt)
		require.ErrorIs(t, err, c.want, name)
	}
	p, err := m.PlanGeometry(context.Background(), Grid(4, 5), PlanOptions{})
	require.NoError(t, err)
	im := planImages[float32](2, 2, 4, 5, 1)
	require.ErrorIs(t, p.Predict(context.Background(), newPrediction[float32](Normal, 3), im), ErrShape)
	require.ErrorIs(t, p.Predict(context.Background(), newPrediction[float32](Normal, 80), planImages[float32](2, 2, 5, 5, 1)), ErrShape)
	require.ErrorIs(t, p.Predict(context.Background(), newPrediction[float32](Normal, 80), planImages[float32](2, 1, 4, 5, 1)), ErrShape)
	im.Pixels[0], im.Mask[0] = float32(math.NaN()), true
	require.ErrorIs(t, p.Predict(context.Background(), newPrediction[float32](Normal, 80), im), ErrValue)
	require.NoError(t, p.Predict(context.Background(), newPrediction[float32](Normal, 0), &Images[float32]{C: 2, H: 4, W: 5}))
}
