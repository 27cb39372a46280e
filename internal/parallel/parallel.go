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
	j, _ := jobs.Get().(*job)
	if j == nil {
		j = &job{}
	}
	j.f, j.n, j.grain, j.chunks = f, n, grain, chunks
	j.next.Store(0)
	for len(j.start) < workers {
		j.start = append(j.start, j.starter(len(j.start)))
	}
	j.wait.Add(workers - 1)
	for _, start := range j.start[1:workers] {
		go start()
	}
	j.work(0)
	j.wait.Wait()
	fault := j.fault.Swap(nil)
	j.f = nil
	jobs.Put(j)
	if fault != nil {
		panic(*fault)
	}
}

// job is one call of ForWorkers. Jobs are used again, so that a call allocates nothing; goroutines are not: they end with the
// call, and the runtime keeps the memory of those that ended.
type job struct {
	f                func(worker, lo, hi int)
	n, grain, chunks int
	next             atomic.Int64
	wait             sync.WaitGroup
	fault            atomic.Pointer[any] // the first panic of f
	start            []func()            // what goroutine 1, 2, .. does; the caller itself is worker 0
}

var jobs sync.Pool // *job

// starter returns what the goroutine of a worker does.
func (j *job) starter(worker int) func() {
	return func() {
		defer j.wait.Done()
		j.work(worker)
	}
}

// work takes chunks until there are none.
func (j *job) work(worker int) {
	defer func() {
		if r := recover(); r != nil {
			fault := r // a variable of its own, so that only a panic allocates it
			j.fault.CompareAndSwap(nil, &fault)
			j.next.Store(int64(j.chunks)) // the others stop at their next chunk
		}
	}()
	for {
		c := int(j.next.Add(1)) - 1
		if c >= j.chunks {
			return
		}
		j.f(worker, c*j.grain, min((c+1)*j.grain, j.n))
	}
}
