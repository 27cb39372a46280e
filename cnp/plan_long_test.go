package cnp_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// cancelTime is what the long test takes to cancel the plans and predictions of a model.
const cancelTime = 40 * time.Second

// TestCancelSoon cancels plans that are being made, and predictions, at random moments, and reports how long each takes
// to stop. With -long images are large, and 95 % must stop within 50 ms; that takes less than three minutes, and holds
// on a machine that has nothing else to do.
func TestCancelSoon(t *testing.T) {
	size, times := 20, 4
	if cnp.Long() {
		size, times = 128, 40
	}
	rng := rand.New(rand.NewPCG(11, 12))
	var all []time.Duration
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
		im := noise(2, size, size, 1)
		var plan *cnp.ImagePlan[float32]
		var room *cnp.Prediction[float32]
		cases := []*cancelled{
			{what: "plan", run: func(ctx context.Context) error {
				p, err := m.PlanGeometry(ctx, g, cnp.PlanOptions{})
				plan = cmp.Or(p, plan)
				return err
			}},
			{what: "prediction", run: func(ctx context.Context) error { return plan.Predict(ctx, room, im) }},
		}
		for _, c := range cases {
			start := time.Now()
			if plan != nil {
				room = newRoom(2 * plan.Values())
			}
			require.NoError(t, c.run(t.Context()))
			c.whole, c.moments = time.Since(start), rng.Perm(times) // every part of the work is hit once
		}
		for began, i := time.Now(), 0; i < times && time.Since(began) < cancelTime; i++ {
			for _, c := range cases {
				c.once(t, time.Duration((float64(c.moments[i])+rng.Float64())/float64(times)*float64(c.whole)))
			}
		}
		for _, c := range cases {
			t.Logf("%s, %d x %d, %s of %v: %v", name, size, size, c.what, c.whole.Round(time.Millisecond), quantiles(c.took))
			all = append(all, c.took...)
		}
	}
	t.Logf("all: %v", quantiles(all))
	if cnp.Long() {
		require.Greater(t, len(all), 40)
		require.LessOrEqual(t, quantile(all, 0.95), 50*time.Millisecond)
	}
}

// cancelled is work that is cancelled at moments of its whole time, by their numbers, and how long it took to stop.
type cancelled struct {
	what    string
	run     func(context.Context) error
	whole   time.Duration
	moments []int
	took    []time.Duration
}

// once cancels the work after some time. What ends before then tells nothing.
func (c *cancelled) once(t *testing.T, after time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked time.Time
	timer := time.AfterFunc(after, func() {
		asked = time.Now()
		cancel()
	})
	err := c.run(ctx)
	ended := time.Now()
	timer.Stop()
	if !errors.Is(err, context.Canceled) {
		require.NoError(t, err)
		return
	}
	c.took = append(c.took, ended.Sub(asked))
}

func quantile(x []time.Duration, q float64) time.Duration {
	if len(x) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(x))[int(q*float64(len(x)-1)+0.5)]
}

func quantiles(x []time.Duration) string {
	return fmt.Sprintf("%d cancelled: median %v, 95 %% %v, worst %v", len(x), quantile(x, 0.5), quantile(x, 0.95), quantile(x, 1))
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
	plan, err := m.PlanGeometry(t.Context(), cnp.Grid(size, size), cnp.PlanOptions{Memory: 300 << 20})
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
	t.Logf("%d goroutines, %d x %d pixels: %v an image, at worst %v; one alone %v, one of a batch of %d %v; at most "+
		"%d images between two of a goroutine",
		callers, size, size, mean, worst, alone, callers, together, gap)
	require.LessOrEqual(t, gap, 4*callers, "a goroutine fell behind")
	if cnp.Long() {
		require.Less(t, mean, 2*alone)
		require.Less(t, worst, 2*callers*alone)
	}
}
