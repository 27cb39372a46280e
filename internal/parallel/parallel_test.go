package parallel

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestForCoversOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 64, 1000} {
		for _, grain := range []int{-1, 0, 1, 3, 64, 5000} {
			for _, workers := range []int{-1, 1, 2, 9} {
				t.Run(fmt.Sprintf("n=%d/grain=%d/workers=%d", n, grain, workers), func(t *testing.T) {
					var mu sync.Mutex
					seen, chunks := make([]int, n), map[[2]int]bool{}
					ForWorkers(n, grain, workers, func(w, lo, hi int) {
						mu.Lock()
						defer mu.Unlock()
						require.True(t, w >= 0 && w < max(1, workers), "worker %d", w)
						chunks[[2]int{lo, hi}] = true
						for i := lo; i < hi; i++ {
							seen[i]++
						}
					})
					for i, k := range seen {
						require.Equal(t, 1, k, "index %d", i)
					}
					for c := range chunks { // chunks depend on the grain alone
						require.Zero(t, c[0]%max(1, grain))
						require.LessOrEqual(t, c[1]-c[0], max(1, grain))
					}
				})
			}
		}
	}
}

// goroutines returns how many goroutines run once those that lingered for an earlier test have ended: the least number of some moments, as
// a helper that has left its call and does not linger yet is counted nowhere else.
func goroutines() int {
	n := runtime.NumGoroutine()
	for range 20 {
		time.Sleep(lingerFor)
		n = min(n, runtime.NumGoroutine())
	}
	return n
}

// ended waits until at most before goroutines run: helpers linger for a moment.
func ended(t *testing.T, before int) {
	t.Helper()
	running, lingering, open := runtime.NumGoroutine(), taken.Load(), calls.Load()
	for end := time.Now().Add(5 * time.Second); (running > before || lingering != 0 || open != 0) && time.Now().Before(end); {
		time.Sleep(lingerFor)
		running, lingering, open = runtime.NumGoroutine(), taken.Load(), calls.Load()
	}
	require.LessOrEqual(t, running, before)
	require.Zero(t, lingering, "nobody lingers")
	require.Zero(t, open, "no call is under way")
}

// TestPanic: a panic in a goroutine reaches the caller, who may recover from it, and no goroutine is left behind.
func TestPanic(t *testing.T) {
	before := goroutines()
	for _, workers := range []int{1, 4} {
		require.PanicsWithValue(t, "index 37", func() {
			ForWorkers(100, 1, workers, func(_, lo, _ int) {
				if lo == 37 {
					panic("index 37")
				}
			})
		})
	}
	ended(t, before)
}

// TestCallsShare makes calls with all numbers of workers and lengths, in sequence, concurrently and nested. When a call returns all of its
// chunks are done, and no two goroutines have the same worker number at the same time.
func TestCallsShare(t *testing.T) {
	before := goroutines()
	call := func(n, workers, depth int) error {
		busy, done := make([]atomic.Int32, workers), 0
		each := make([]int, n) // plain writes: the race detector sees whether returning is in order
		var fault atomic.Bool
		var inner func(depth int) int
		inner = func(depth int) int {
			if depth == 0 {
				return 1
			}
			sums := make([]int, 5)
			ForWorkers(5, 1, 3, func(_, lo, _ int) { sums[lo] = inner(depth - 1) })
			return sums[0] + sums[1] + sums[2] + sums[3] + sums[4]
		}
		ForWorkers(n, 1, workers, func(w, lo, _ int) {
			if busy[w].Add(1) != 1 {
				fault.Store(true)
			}
			if lo%7 == 0 {
				runtime.Gosched()
			}
			each[lo] = inner(depth)
			busy[w].Add(-1)
		})
		want := 1
		for range depth {
			want *= 5
		}
		for _, e := range each {
			if e == want {
				done++
			}
		}
		if done != n || fault.Load() {
			return fmt.Errorf("n = %d, workers = %d, depth = %d: %d done, fault %v", n, workers, depth, done, fault.Load())
		}
		return nil
	}
	rounds := 120
	if testing.Short() {
		rounds = 40
	}
	var wait sync.WaitGroup
	faults := make(chan error, 4)
	for g := range 4 {
		wait.Go(func() {
			for k := range rounds {
				if err := call(1+(k*13+g*5)%20, 1+(k+g)%9, k%3); err != nil {
					faults <- err
					return
				}
				if k%16 == 0 {
					time.Sleep(lingerFor / 2 * time.Duration(k%5))
				}
			}
		})
	}
	wait.Wait()
	select {
	case err := <-faults:
		t.Error(err)
	default:
	}
	ended(t, before)
	for k := range rounds { // alone: goroutines linger from call to call
		require.NoError(t, call(1+k%40, 1+k%9, 0))
	}
	ended(t, before)
}

// TestSleep: a caller sleeps until a helper that works for a long time has left.
func TestSleep(t *testing.T) {
	var helped, left atomic.Int32
	for range 20 {
		var begun atomic.Bool
		ForWorkers(2, 1, 2, func(w, _, _ int) {
			if w != 0 {
				helped.Add(1)
				begun.Store(true)
				time.Sleep(5 * lingerFor)
				left.Add(1)
				return
			}
			for end := time.Now().Add(time.Second); !begun.Load() && time.Now().Before(end); {
				runtime.Gosched()
			}
		})
		require.Equal(t, helped.Load(), left.Load())
	}
	require.NotZero(t, helped.Load())
}

// TestBubble: calls in a bubble of testing/synctest, where the clock stands still, and outside of it hand goroutines to each other.
func TestBubble(t *testing.T) {
	for range 50 {
		n := atomic.Int32{}
		f := func(int, int, int) { n.Add(1) }
		ForWorkers(64, 1, 4, f)
		synctest.Test(t, func(*testing.T) { ForWorkers(64, 1, 4, f) })
		ForWorkers(64, 1, 4, f)
		require.EqualValues(t, 3*64, n.Load())
	}
}

// TestUntil: no chunk begins after stop has said true, and one worker goes in order.
func TestUntil(t *testing.T) {
	for _, workers := range []int{1, 4} {
		for left := range 12 {
			var asked, done atomic.Int64
			whole := UntilWorkers(func() bool { return asked.Add(1) > int64(left) }, 10, 1, workers, func(_, lo, _ int) {
				if workers == 1 {
					require.Equal(t, done.Load(), int64(lo))
				}
				done.Add(1)
			})
			require.Equal(t, left >= 10, whole)
			require.Equal(t, int64(min(left, 10)), done.Load())
		}
	}
	require.True(t, Until(nil, 10, 3, func(int, int) {}))
}

// TestSetLimit: calls use no more goroutines than the limit, even where a caller asks for more, and all indices are covered.
func TestSetLimit(t *testing.T) {
	defer SetLimit(SetLimit(2))
	require.Equal(t, 2, Workers())
	var sum atomic.Int64
	ForWorkers(100, 1, 8, func(worker, lo, _ int) {
		if worker >= 2 {
			t.Errorf("worker %d of at most 2", worker)
		}
		sum.Add(int64(lo))
	})
	require.EqualValues(t, 99*50, sum.Load())
	require.Equal(t, 2, SetLimit(0))
	require.Equal(t, runtime.GOMAXPROCS(0), Workers())
}
