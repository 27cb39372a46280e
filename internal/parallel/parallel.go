// Package parallel splits index ranges over goroutines. How a range is split never depends on how many goroutines run,
// so results that only depend on their chunk are the same bits for any GOMAXPROCS.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// For calls f(lo, hi) for consecutive chunks of [0, n) of at most grain indices, on up to GOMAXPROCS goroutines, and
// returns when all are done. f must only write what belongs to its chunk. A panic in f is passed on to the caller.
func For(n, grain int, f func(lo, hi int)) {
	ForWorkers(n, grain, runtime.GOMAXPROCS(0), func(_, lo, hi int) { f(lo, hi) })
}

// ForWorkers is For with at most workers goroutines; f also learns which of them (0 .. workers-1) calls it, for
// scratch memory.
func ForWorkers(n, grain, workers int, f func(worker, lo, hi int)) {
	grain = max(grain, 1)
	chunks := (n + grain - 1) / grain
	workers = max(1, min(workers, chunks))
	if workers == 1 {
		for lo := 0; lo < n; lo += grain {
			f(0, lo, min(lo+grain, n))
		}
		return
	}
	var (
		next  atomic.Int64
		wg    sync.WaitGroup
		once  sync.Once
		fault any
	)
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() {
				if r := recover(); r != nil {
					once.Do(func() { fault = r })
					next.Store(int64(chunks)) // the others stop at their next chunk
				}
			}()
			for {
				c := int(next.Add(1)) - 1
				if c >= chunks {
					return
				}
				f(w, c*grain, min((c+1)*grain, n))
			}
		}()
	}
	wg.Wait()
	if fault != nil {
		panic(fault)
	}
}
