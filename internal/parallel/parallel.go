// Package parallel splits index ranges over goroutines. How a range is split never depends on the number of goroutines,
// so a result that depends only on its chunk has the same bits for any GOMAXPROCS.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// limit is the number of goroutines that compute, 0 is GOMAXPROCS.
var limit atomic.Int32

// SetLimit bounds the goroutines that calls compute on, and returns the bound so far. 0 is GOMAXPROCS. A server that has more threads than
// processors answers others while it computes. No result depends on it.
func SetLimit(n int) (before int) { return int(limit.Swap(int32(n))) }

// Workers returns the largest number of goroutines that a call uses.
func Workers() int {
	if n := limit.Load(); n > 0 {
		return int(n)
	}
	return runtime.GOMAXPROCS(0)
}

// For calls f(lo, hi) for consecutive chunks of [0, n) of at most grain indices, on up to Workers() goroutines, and
// returns when all are done. f must only write what belongs to its chunk. A panic in f is passed on to the caller.
func For(n, grain int, f func(lo, hi int)) {
	ForWorkers(n, grain, Workers(), func(_, lo, hi int) { f(lo, hi) })
}

// Until is For that asks stop, if not nil, before every chunk. Once stop says true, chunks that have not begun are left out, and Until
// reports false.
func Until(stop func() bool, n, grain int, f func(lo, hi int)) bool {
	return UntilWorkers(stop, n, grain, runtime.GOMAXPROCS(0), func(_, lo, hi int) { f(lo, hi) })
}

// UntilWorkers is Until as ForWorkers is For. With one worker it goes through the chunks in order.
func UntilWorkers(stop func() bool, n, grain, workers int, f func(worker, lo, hi int)) bool {
	if stop == nil {
		ForWorkers(n, grain, workers, f)
		return true
	}
	var stopped atomic.Bool
	ForWorkers(n, grain, workers, func(worker, lo, hi int) {
		if stopped.Load() || stop() {
			stopped.Store(true)
			return
		}
		f(worker, lo, hi)
	})
	return !stopped.Load()
}

// ForWorkers is For with at most workers goroutines; f also learns which of them (0 .. workers-1) calls it, for
// scratch memory. Goroutines end with the call, or soon after: see linger.
func ForWorkers(n, grain, workers int, f func(worker, lo, hi int)) {
	grain = max(grain, 1)
	chunks := (n + grain - 1) / grain
	workers = max(1, min(workers, chunks, maxWorkers))
	if n := int(limit.Load()); n > 0 { // callers may have counted with GOMAXPROCS
		workers = min(workers, n)
	}
	if workers == 1 {
		for lo := 0; lo < n; lo += grain {
			f(0, lo, min(lo+grain, n))
		}
		return
	}
	calls.Add(1)
	j, _ := jobs.Get().(*job)
	if j == nil {
		j = &job{}
		j.start = func() {
			j.pending.Add(-1)
			help(j)
		}
	}
	j.f, j.n, j.grain, j.chunks = f, n, grain, chunks
	j.next.Store(0)
	j.state.Store(uint64(workers-1) * place)
	need := workers - 1
	need -= offer(j, need)
	// Goroutines that were started for an earlier call and have not begun yet will help with this one.
	for n := int(j.pending.Load()); n < need; n++ {
		j.pending.Add(1)
		go j.start()
	}
	j.work(0)
	j.finish()
	calls.Add(-1)
	fault := j.fault.Swap(nil)
	j.f = nil
	jobs.Put(j)
	if fault != nil {
		panic(*fault)
	}
}

// job is one call of ForWorkers. Jobs are reused, so that a call allocates nothing. Nobody waits for helpers that have not
// begun: a helper that comes after the call has ended finds no free place, or helps with the call that uses the job by then.
type job struct {
	f                func(worker, lo, hi int)
	n, grain, chunks int
	next             atomic.Int64
	fault            atomic.Pointer[any] // the first panic of f
	start            func()              // what a new goroutine does
	pending          atomic.Int32        // how many goroutines were started and have not begun
	// state holds three counts: places that are free for helpers, helpers that took a place, and helpers that have left again. The
	// bit sleeping is set while the caller sleeps until all helpers have left.
	state atomic.Uint64
	// asleep is locked while the caller sleeps. It is a mutex because a channel or a WaitGroup would belong to the
	// testing/synctest bubble that used it first, and jobs and helpers are shared between bubbles.
	asleep sync.Mutex
}

const (
	maxWorkers = 1<<20 - 1

	left     = 1
	entered  = 1 << 20
	place    = 1 << 40
	sleeping = 1 << 63
)

var (
	jobs  sync.Pool    // *job
	calls atomic.Int32 // how many are under way
)

// help works on a job, and on those that are offered while it lingers.
func help(j *job) {
	for j != nil {
		worker, ok := j.enter()
		if !ok {
			return // the call ended before this helper could begin
		}
		j.work(worker)
		j.leave()
		j = linger()
	}
}

// enter takes a free place, if there is one, and returns its number.
func (j *job) enter() (worker int, ok bool) {
	for {
		s := j.state.Load()
		if s&^sleeping < place {
			return 0, false
		}
		if j.state.CompareAndSwap(s, s-place+entered) {
			return int(s%place/entered) + 1, true
		}
	}
}

// allLeft reports whether all helpers that took a place have left.
func allLeft(s uint64) bool { return s%entered == s%place/entered }

// leave records that a helper has finished. If it is the last one and the caller sleeps, it wakes the caller.
func (j *job) leave() {
	if s := j.state.Add(left); s&sleeping != 0 && allLeft(s) {
		j.asleep.Unlock()
		runtime.Gosched() // lets the caller run next on this processor
	}
}

// finish closes the job and waits for the helpers that took a place.
func (j *job) finish() {
	s := j.state.And(place-1) & (place - 1)
	if allLeft(s) || patient(func() bool { return allLeft(j.state.Load()) }) {
		return
	}
	j.asleep.Lock()
	if s := j.state.Or(sleeping); !allLeft(s) {
		j.asleep.Lock() // until the last helper leaves
	}
	j.asleep.Unlock()
}

// work computes chunks until none is left.
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
