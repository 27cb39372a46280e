package cnp_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
)

func shippedImage(t *testing.T, name string) *cnp.ImageEquivCNP[float32] {
	t.Helper()
	m, err := pretrained.Load(name)
	require.NoError(t, err)
	return m.(*cnp.ImageEquivCNP[float32])
}

// noise is images of which two fifths are observed.
func noise(b, h, w int, seed uint64) *cnp.Images[float32] {
	rng := rand.New(rand.NewPCG(seed, 1))
	im := &cnp.Images[float32]{B: b, C: 1, H: h, W: w, Pixels: make([]float32, b*h*w), Mask: make([]bool, b*h*w)}
	for i := range im.Mask {
		im.Mask[i], im.Pixels[i] = rng.Float64() < 0.4, rng.Float32()
	}
	return im
}

func newRoom(n int) *cnp.Prediction[float32] {
	return &cnp.Prediction[float32]{Mean: make([]float32, n), Std: make([]float32, n)}
}

// TestCancelSoon cancels plans that are being made, and predictions, at random moments, and reports how long each takes to stop. With
// -long images are large, and 95 % must stop within 50 ms; that holds on a machine that has nothing else to do.
func TestCancelSoon(t *testing.T) {
	size, times := 20, 4
	if cnp.Long() {
		size, times = 128, 40
	}
	rng := rand.New(rand.NewPCG(11, 12))
	for _, name := range []string{"digits-T2", "digits-RxSO2", "digits-SE2x4"} {
		m := shippedImage(t, name)
		cfg := m.Config()
		need, err := cnp.EstimateModel(m, cnp.Work{Batch: 1, H: size, W: size})
		require.NoError(t, err)
		if need.Check(cnp.MemoryLimit()) != nil {
			t.Logf("%s: %d x %d pixels need %v, more than this machine has", name, size, size, need)
			continue
		}
		g := cnp.Grid(size, size)
		for i := range g.Points { // as far apart as in training: the balls hold as many points as they ever do
			g.Points[i] *= float64(cfg.ImageSize[0]) / float64(max(size, cfg.ImageSize[0]))
		}
		start := time.Now()
		plan, err := m.Plan(t.Context(), g, cnp.PlanOptions{})
		require.NoError(t, err)
		whole := map[string]time.Duration{"plan": time.Since(start)}
		im, room := noise(4, size, size, 1), newRoom(4*plan.Values())
		start = time.Now()
		require.NoError(t, plan.Predict(t.Context(), room, im))
		whole["prediction"] = time.Since(start)
		for what, run := range map[string]func(context.Context) error{
			"plan":       func(ctx context.Context) error { _, err := m.Plan(ctx, g, cnp.PlanOptions{}); return err },
			"prediction": func(ctx context.Context) error { return plan.Predict(ctx, room, im) },
		} {
			var took []time.Duration
			for range times {
				ctx, cancel := context.WithCancel(t.Context())
				var asked time.Time
				timer := time.AfterFunc(time.Duration(rng.Float64()*float64(whole[what])), func() {
					asked = time.Now()
					cancel()
				})
				err := run(ctx)
				ended := time.Now()
				timer.Stop()
				if errors.Is(err, context.Canceled) {
					took = append(took, ended.Sub(asked))
				} else {
					require.NoError(t, err)
				}
				cancel()
			}
			slices.Sort(took)
			if len(took) == 0 {
				continue
			}
			at := func(q float64) time.Duration { return took[int(q*float64(len(took)-1)+0.5)] }
			t.Logf("%s, %d x %d, %s of %v: %d cancelled: median %v, 95 %% %v, worst %v", name, size, size, what, whole[what].Round(time.Millisecond),
				len(took), at(0.5), at(0.95), at(1))
			if cnp.Long() {
				require.LessOrEqual(t, at(0.95), 50*time.Millisecond)
			}
		}
	}
}

// TestPlanFair: of 16 goroutines that complete images under one plan, none falls rounds behind the others, and with -long, under a plan of
// 300 MB, an image takes about as long as one of a batch that a single call completes, and waits no longer than for its turn.
func TestPlanFair(t *testing.T) {
	const callers = 16
	size, each := 12, 20
	if cnp.Long() {
		size, each = 64, 8
	}
	m := shippedImage(t, "digits-RxSO2")
	plan, err := m.Plan(t.Context(), cnp.Grid(size, size), cnp.PlanOptions{Memory: 300 << 20})
	require.NoError(t, err)
	im := noise(1, size, size, 2)
	batch, room := noise(callers, size, size, 2), newRoom(callers*plan.Values())
	require.NoError(t, plan.Predict(t.Context(), room, batch)) // makes its memory
	start := time.Now()
	require.NoError(t, plan.Predict(t.Context(), room, batch))
	together := time.Since(start) / callers

	one := newRoom(plan.Values())
	start = time.Now()
	require.NoError(t, plan.Predict(t.Context(), one, im))
	alone := time.Since(start)

	var wg sync.WaitGroup
	var mu sync.Mutex
	var order []int
	var worst time.Duration
	errs := make([]error, callers)
	start = time.Now()
	for k := range callers {
		wg.Go(func() {
			mine := newRoom(plan.Values())
			for range each {
				began := time.Now()
				if errs[k] = plan.Predict(t.Context(), mine, im); errs[k] != nil {
					return
				}
				mu.Lock()
				order = append(order, k)
				worst = max(worst, time.Since(began))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	mean := time.Since(start) / time.Duration(callers*each)
	require.NoError(t, errors.Join(errs...))

	last, gap := make([]int, callers), 0
	for i, k := range order {
		gap = max(gap, i-last[k])
		last[k] = i
	}
	t.Logf("%d goroutines, %d x %d pixels: %v an image, at worst %v; one alone %v, one of a batch of %d %v; at most %d images between two of a goroutine",
		callers, size, size, mean, worst, alone, callers, together, gap)
	require.LessOrEqual(t, gap, 4*callers, "a goroutine fell behind")
	if cnp.Long() {
		require.Less(t, mean, 2*alone)
		require.Less(t, worst, 2*callers*alone)
	}
}
