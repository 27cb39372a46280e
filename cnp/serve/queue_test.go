package serve

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeQueue is a queue whose batches take a second and note who was in them.
type fakeQueue struct {
	*queue
	mu      sync.Mutex
	batches [][]int // seconds of priority, to tell jobs apart
	fail    func(jobs []*job) error
}

func newFakeQueue(slots, maxBatch, maxTasks int) *fakeQueue {
	f := &fakeQueue{queue: newQueue(slots, maxBatch, maxTasks, slog.New(slog.DiscardHandler), newMetrics(Options{}))}
	f.compute = func(ctx context.Context, jobs []*job) error {
		var names []int
		for _, j := range jobs {
			names = append(names, j.values)
		}
		f.mu.Lock()
		f.batches = append(f.batches, names)
		f.mu.Unlock()
		if f.fail != nil {
			if err := f.fail(jobs); err != nil {
				return err
			}
		}
		select {
		case <-time.After(time.Second):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return f
}

// fakeJob is a job of one task; name tells it from others.
func fakeJob(m *model, name, priority int) *job {
	return &job{model: m, lane: lane{model: m}, merge: true, tasks: 1, values: name, priority: priority, done: make(chan struct{})}
}

// TestQueueOrder: what waits goes by priority, then by arrival; jobs of one lane go together, up to a batch.
func TestQueueOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, a, b := newFakeQueue(1, 3, 100), &model{name: "a"}, &model{name: "b"}
		var wait sync.WaitGroup
		for _, j := range []*job{fakeJob(a, 0, 5), fakeJob(a, 1, 5), fakeJob(b, 2, 5), fakeJob(a, 3, 5), fakeJob(a, 4, 5),
			fakeJob(a, 5, 5), fakeJob(b, 6, 1)} {
			wait.Go(func() { require.NoError(t, q.do(context.Background(), j)) })
			synctest.Wait()
		}
		wait.Wait()
		require.Equal(t, [][]int{{0}, {6, 2}, {1, 3, 4}, {5}}, q.batches)
		synctest.Wait()
		q.queue.mu.Lock()
		defer q.queue.mu.Unlock()
		require.Zero(t, q.tasks)
		require.Empty(t, q.running)
	})
}

// TestQueueDeadline: a deadline holds while waiting, to the moment, and what leaves is not computed. What could not be in time is refused
// before it waits.
func TestQueueDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, m := newFakeQueue(1, 1, 100), &model{name: "m"}
		start := time.Now()
		after := func(d time.Duration) context.Context {
			ctx, cancel := context.WithTimeout(context.Background(), d)
			t.Cleanup(cancel)
			return ctx
		}
		var wait sync.WaitGroup
		wait.Go(func() { require.NoError(t, q.do(context.Background(), fakeJob(m, 0, 5))) })
		synctest.Wait()
		wait.Go(func() { // nothing is known of how long a task takes, so it may wait
			require.ErrorIs(t, q.do(after(500*time.Millisecond), fakeJob(m, 1, 5)), context.DeadlineExceeded)
			require.Equal(t, 500*time.Millisecond, time.Since(start))
		})
		wait.Wait()
		require.Equal(t, [][]int{{0}}, q.batches)

		for i := range 3 {
			wait.Go(func() { require.NoError(t, q.do(context.Background(), fakeJob(m, i, 5))) })
			synctest.Wait()
		}
		start = time.Now()
		err := q.do(after(2*time.Second), fakeJob(m, 9, 5)) // three seconds wait, and it takes one
		var f *failure
		require.True(t, errors.As(err, &f), "%v", err)
		require.Equal(t, "deadline", f.reason)
		require.Equal(t, 3*time.Second, f.retry)
		require.Zero(t, time.Since(start), "it was refused at once")
		err = q.do(after(5*time.Second), fakeJob(m, 7, 5)) // the text says what was compared with the deadline
		require.EqualError(t, err, "this may take 5.4s, and has 5s")
		require.NoError(t, q.do(after(2500*time.Millisecond), fakeJob(m, 8, 1)), "before all that wait")
		wait.Wait()
	})
}

// TestQueueOverload: at twice what can be computed, nearly all that can be is answered in time, nothing is computed in vain, and everything
// else is refused at once.
func TestQueueOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each, deadline, n = 10 * time.Millisecond, time.Second, 2000
		q, m, rng := newFakeQueue(1, 16, 1024), &model{name: "m"}, rngOf(1)
		computed := 0
		q.compute = func(ctx context.Context, jobs []*job) error {
			computed += len(jobs)
			time.Sleep(time.Duration(float64(each) * float64(len(jobs)) * (0.9 + 0.2*rng.Float64())))
			return ctx.Err()
		}
		var mu sync.Mutex
		var wait sync.WaitGroup
		answered, start := 0, time.Now()
		for i := range n {
			ctx, cancel := context.WithTimeout(context.Background(), deadline)
			wait.Go(func() {
				defer cancel()
				came := time.Now()
				err := q.do(ctx, fakeJob(m, i, 5))
				mu.Lock()
				defer mu.Unlock()
				var f *failure
				if errors.As(err, &f) {
					require.Equal(t, "deadline", f.reason)
					require.Zero(t, time.Since(came), "it was refused at once")
				} else {
					require.NoError(t, err)
					require.LessOrEqual(t, time.Since(came), deadline)
					answered++
				}
			})
			time.Sleep(each / 2)
		}
		wait.Wait()
		require.Equal(t, computed, answered)
		require.Greater(t, float64(answered), 0.95*float64(time.Since(start)/each))
	})
}

// TestQueueShed: what can no longer be done in time, because a batch took longer than expected, is refused when its turn comes, not
// computed.
func TestQueueShed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, m := newFakeQueue(1, 1, 100), &model{name: "m"}
		took := 100 * time.Millisecond
		var names []int
		q.compute = func(_ context.Context, jobs []*job) error {
			names = append(names, jobs[0].values)
			time.Sleep(took)
			return nil
		}
		require.NoError(t, q.do(context.Background(), fakeJob(m, 0, 5)))
		took = time.Second
		var wait sync.WaitGroup
		wait.Go(func() { require.NoError(t, q.do(context.Background(), fakeJob(m, 1, 5))) })
		synctest.Wait()
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 1100*time.Millisecond)
			defer cancel()
			start := time.Now()
			var f *failure
			require.True(t, errors.As(q.do(ctx, fakeJob(m, 2, 5)), &f))
			require.Equal(t, "deadline", f.reason)
			require.Equal(t, time.Second, time.Since(start))
		})
		synctest.Wait()
		wait.Go(func() { require.NoError(t, q.do(context.Background(), fakeJob(m, 3, 5))) })
		wait.Wait()
		require.Equal(t, []int{0, 1, 3}, names)
	})
}

// TestQueueFull: no more wait than may.
func TestQueueFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, m := newFakeQueue(1, 1, 2), &model{name: "m"}
		var wait sync.WaitGroup
		for i := range 3 {
			wait.Go(func() { require.NoError(t, q.do(context.Background(), fakeJob(m, i, 5))) })
			synctest.Wait()
		}
		var f *failure
		require.True(t, errors.As(q.do(context.Background(), fakeJob(m, 3, 1)), &f))
		require.Equal(t, "queue", f.reason)
		require.Equal(t, 503, f.status)
		wait.Wait()
	})
}

// TestQueueGone: a batch stops when nobody waits for it any more, and not before.
func TestQueueGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, m := newFakeQueue(1, 4, 100), &model{name: "m"}
		start := time.Now()
		var wait sync.WaitGroup
		ctx, cancel := context.WithCancel(context.Background())
		wait.Go(func() { require.ErrorIs(t, q.do(ctx, fakeJob(m, 0, 5)), context.Canceled) })
		synctest.Wait()
		wait.Go(func() { require.NoError(t, q.do(context.Background(), fakeJob(m, 1, 5))) })
		ctx2, cancel2 := context.WithCancel(context.Background())
		wait.Go(func() { require.ErrorIs(t, q.do(ctx2, fakeJob(m, 2, 5)), context.Canceled) })
		synctest.Wait()
		cancel() // the first batch stops, the second begins
		synctest.Wait()
		require.Len(t, q.batches, 2)
		require.Len(t, q.batches[1], 2)
		cancel2() // somebody still waits for the other job of the second
		wait.Wait()
		require.Equal(t, time.Second, time.Since(start))
	})
}

// TestQueuePoison: what fails with others is tried alone; who panics pays alone.
func TestQueuePoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, m := newFakeQueue(1, 8, 100), &model{name: "m"}
		q.fail = func(jobs []*job) error {
			if slices.ContainsFunc(jobs, func(j *job) bool { return j.values == 2 }) {
				panic("two")
			}
			return nil
		}
		var wait sync.WaitGroup
		for i := range 4 {
			wait.Go(func() {
				err := q.do(context.Background(), fakeJob(m, i, 5))
				require.Equal(t, i == 2, err != nil, "%d: %v", i, err)
			})
			synctest.Wait()
		}
		wait.Wait()
	})
}
