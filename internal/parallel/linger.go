package parallel

import (
	"sync/atomic"
	"time"
)

// A goroutine costs little, but a core that sleeps costs some 10 µs to call on a bare machine and 100 µs on a virtual one,
// and work on features and neighbourhoods is made of many calls of less than a millisecond each. So a goroutine that has
// finished a call lingers for about that long: it looks, awake, whether there is another one. So does a caller whose helpers
// have not finished. Neither does so while other calls are under way, which need the processor.
const (
	lingerFor = 100 * time.Microsecond
	// mostLooks bounds it where the clock does not advance, as in a bubble of testing/synctest. A look takes about 50 ns.
	mostLooks = 4000
)

// patient waits for done for a while, and reports whether it came.
func patient(done func() bool) bool {
	start := time.Now()
	for range mostLooks {
		if done() {
			return true
		}
		if calls.Load() > 1 || time.Since(start) > lingerFor {
			return false
		}
	}
	return false
}

// seat is where a goroutine lingers: empty, with the goroutine in it, or with the job that it is to take.
type seat struct {
	job atomic.Pointer[job]
	_   [56]byte // a cache line each
}

var (
	seats [64]seat
	// taken is how many seats have somebody in them who was not offered a job, or a few more.
	taken   atomic.Int32
	someone = &job{}
)

// linger returns a job that is offered while the goroutine waits for one, or nil.
func linger() *job {
	if calls.Load() > 1 {
		return nil
	}
	for k := range seats {
		s := &seats[k].job
		if s.Load() != nil || !s.CompareAndSwap(nil, someone) {
			continue
		}
		taken.Add(1)
		if !patient(func() bool { return s.Load() != someone }) && s.CompareAndSwap(someone, nil) {
			taken.Add(-1)
			return nil
		}
		return s.Swap(nil)
	}
	return nil
}

// offer hands a job to a goroutine that lingers, and reports false if there is none.
func offer(j *job) bool {
	if taken.Load() == 0 {
		return false
	}
	for k := range seats {
		if s := &seats[k].job; s.Load() == someone && s.CompareAndSwap(someone, j) {
			taken.Add(-1)
			return true
		}
	}
	return false
}
