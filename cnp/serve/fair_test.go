package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// imageJob is a job of one image; its model computes a microsecond for a pixel.
func imageJob(m *model, side int) *job {
	return &job{model: m, lane: lane{model: m, h: side, w: side}, merge: true, tasks: 1, values: side, priority: 5,
		images: &cnp.Images[float32]{B: 1, C: 1, H: side, W: side}, done: make(chan struct{})}
}

func pixelQueue() *fakeQueue {
	q := newFakeQueue(1, 16, 1000)
	q.compute = func(ctx context.Context, jobs []*job) error {
		select {
		case <-time.After(time.Duration(len(jobs)*jobs[0].load()) * time.Microsecond):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return q
}

// TestQueueCost: what an image costs is known from others of its model, and what could not be done in its time, or costs more than a
// request may, is refused before it is computed, even if nothing else is.
func TestQueueCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, m := pixelQueue(), &model{name: "m"}
		require.NoError(t, q.do(t.Context(), imageJob(m, 28)))
		require.NoError(t, q.do(t.Context(), imageJob(m, 32)))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		start := time.Now()
		var f *failure
		require.True(t, errors.As(q.do(ctx, imageJob(m, 6000)), &f), "36 s")
		require.Equal(t, "deadline", f.reason)
		require.Zero(t, time.Since(start))
		require.NoError(t, q.do(ctx, imageJob(m, 1024)), "a second")
		q.most = 10 * time.Second
		require.True(t, errors.As(q.do(t.Context(), imageJob(m, 4000)), &f), "16 s")
		require.Equal(t, http.StatusRequestEntityTooLarge, f.status)
		require.NoError(t, q.do(t.Context(), imageJob(m, 3000)), "9 s")
		q.most = 0

		// A belief that is wrong does not last.
		slow := imageJob(m, 64)
		q.costs.know(slow)
		*slow.cost = time.Hour
		for tries := 0; ; tries++ {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			err := q.do(ctx, imageJob(m, 64))
			cancel()
			if err == nil {
				break
			}
			require.Less(t, tries, 100)
		}
	})
}

// TestQueueBeside: while a long image of one model is computed others are answered, of other models and sizes.
func TestQueueBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, a, b := pixelQueue(), &model{name: "a"}, &model{name: "b"}
		var wait sync.WaitGroup
		running := func() int {
			q.queue.mu.Lock()
			defer q.queue.mu.Unlock()
			return len(q.running)
		}
		start := time.Now()
		wait.Go(func() { require.NoError(t, q.do(context.Background(), imageJob(a, 5000))) }) // 25 s
		synctest.Wait()
		for i := range 20 {
			m := []*model{a, b}[i%2]
			wait.Go(func() {
				require.NoError(t, q.do(context.Background(), imageJob(m, 30)))
				require.Less(t, time.Since(start), time.Second)
			})
		}
		synctest.Wait()
		require.Equal(t, 1, running())
		time.Sleep(time.Second)
		require.Equal(t, 1, running(), "the others are done")
		start = time.Now()
		require.NoError(t, q.do(context.Background(), imageJob(b, 30)))
		require.Less(t, time.Since(start), 100*time.Millisecond)
		wait.Go(func() { require.NoError(t, q.do(context.Background(), imageJob(b, 4000))) }) // known to be long: it waits
		synctest.Wait()
		require.Equal(t, 1, running())
		wait.Wait()
		require.Zero(t, running())
	})
}

// curveJob is a job of one curve with so many targets and no context; its model computes a microsecond for a target.
func curveJob(m *model, targets int) *job {
	return &job{model: m, lane: lane{model: m}, merge: true, tasks: 1, values: targets, priority: 5,
		curves: &cnp.Batch[float32]{B: 1, Nt: targets}, done: make(chan struct{})}
}

// TestQueueCurves: curves of one model that are small do not wait for large ones of somebody else, however many wait, nor are they
// refused for them; and the large ones are computed all the same.
func TestQueueCurves(t *testing.T) {
	for _, known := range []bool{true, false} {
		t.Run(fmt.Sprintf("known=%v", known), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, m := pixelQueue(), &model{name: "m"}
				if known {
					require.NoError(t, q.do(t.Context(), curveJob(m, 100)))
					require.NoError(t, q.do(t.Context(), curveJob(m, 1e6)))
				}
				most := 0
				compute := q.compute
				q.compute = func(ctx context.Context, jobs []*job) error {
					q.queue.mu.Lock()
					most = max(most, len(q.running))
					for _, j := range jobs {
						require.True(t, !known || (jobs[0].curves.Nt > 1000) == (j.curves.Nt > 1000), "batched together")
					}
					q.queue.mu.Unlock()
					return compute(ctx, jobs)
				}
				var wait sync.WaitGroup
				for range 20 {
					wait.Go(func() { require.NoError(t, q.do(context.Background(), curveJob(m, 1e6))) }) // a second each
					synctest.Wait()
				}
				for range 200 {
					start := time.Now()
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					require.NoError(t, q.tooLate(m, "", start.Add(time.Second), 5))
					require.NoError(t, q.do(ctx, curveJob(m, 100)))
					cancel()
					require.LessOrEqual(t, time.Since(start), 2*q.long)
					time.Sleep(50 * time.Millisecond)
				}
				wait.Wait()
				require.LessOrEqual(t, most, 2)
			})
		})
	}
}

// TestQueueFair: models take turns by time, however many requests one of them has, and one fills no more than three quarters of the queue.
func TestQueueFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, flood, other := pixelQueue(), &model{name: "flood"}, &model{name: "other"}
		q.maxBatch, q.maxTasks = 1, 100
		require.NoError(t, q.do(t.Context(), imageJob(flood, 100))) // 10 ms
		require.NoError(t, q.do(t.Context(), imageJob(other, 100)))
		var wait sync.WaitGroup
		refused := 0
		for range 200 {
			wait.Go(func() {
				if q.do(context.Background(), imageJob(flood, 100)) != nil {
					refused++
				}
			})
			synctest.Wait()
		}
		require.Equal(t, 200-76, refused, "one is computed, 75 wait")
		for range 5 {
			start := time.Now()
			require.NoError(t, q.do(t.Context(), imageJob(other, 100)))
			require.LessOrEqual(t, time.Since(start), 30*time.Millisecond)
		}
		wait.Wait()
	})
}

// TestPlansWait: where the memory for plans is in use, images of yet another size wait for it, and what could not be prepared in time is
// refused at once. Nothing is lost, and the bound holds.
func TestPlansWait(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models, o.Memory, o.PlanMemory = testSources[:1], 200<<20, 80<<20 })
	done := make(chan struct{})
	var most int64
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			s.plans.mu.Lock()
			most = max(most, s.plans.used)
			s.plans.mu.Unlock()
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	var wait sync.WaitGroup
	var mu sync.Mutex
	status := map[string]int{}
	for i := range 40 {
		h, body := imagesBinary(t, nil, images(rngOf(uint64(i)), 1, 8+i, 8+(7*i)%40))
		wait.Go(func() {
			w := do(s, "POST", "/v2/models/digits/infer", h, body)
			mu.Lock()
			defer mu.Unlock()
			status[fmt.Sprint(w.Code)]++
			if w.Code != 200 {
				require.Regexp(t, "(would|may) take", w.Body.String())
			}
		})
	}
	wait.Wait()
	close(done)
	watch.Wait()
	require.Equal(t, 40, status["200"]+status["503"], "%v", status)
	require.Greater(t, status["200"], 30, "%v", status)
	require.LessOrEqual(t, most, s.plans.limit)

	// A plan that would be made too late is refused before it is begun.
	l := lane{model: s.list()[0], h: 100, w: 100}
	s.plans.mu.Lock()
	s.plans.took[sizeOf(l)] = time.Hour
	s.plans.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, _, err := s.plans.get(ctx, l)
	var f *failure
	require.True(t, errors.As(err, &f), "%v", err)
	require.Equal(t, "deadline", f.reason)
}
