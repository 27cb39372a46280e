package parallel

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Starting a goroutine is cheap, but waking a sleeping core takes about 10 µs on a physical machine and 100 µs on a virtual one, and
// computing on features and neighbourhoods consists of many calls that take less than a millisecond. So a goroutine that has
// finished a call lingers: it stays awake and checks again and again whether there is another call to help with, until none has been under
// way for about 100 µs. With many processors the last piece of a call often takes longer than that after most helpers have run out of
// work; these linger on, for a millisecond at most, because cores wake each other one by one and the next call would end before many of
// them come. A caller whose helpers have not finished waits in the same way. Neither does so while other calls are running, which need
// the processor.
const (
	lingerFor = 100 * time.Microsecond
	// lingerMost bounds the wait while one call is under way.
	lingerMost = time.Millisecond
	// manyProcessors is from how many processors on lingerMost counts. On two, the only helper finishes shortly before or after the caller,
	// and single images take 5 % less time without the longer wait.
	manyProcessors = 4
	// mostLooks is the largest number of checks. It ends the wait where the clock stands still, as in a bubble of testing/synctest. A check
	// takes about 50 ns.
	mostLooks = 40000
)

// patient waits a short while until done returns true, and reports whether it did.
func patient(done func() bool) bool {
	start := time.Now()
	idle := start // since when no call was seen under way
	most := lingerMost
	if runtime.GOMAXPROCS(0) < manyProcessors {
		most = lingerFor
	}
	for range mostLooks {
		if done() {
			return true
		}
		now := time.Now()
		switch calls.Load() {
		case 0:
			if now.Sub(idle) > lingerFor {
				return false
			}
		case 1:
			if idle = now; now.Sub(start) > most {
				return false
			}
		default:
			return false
		}
	}
	return false
}

// seat is where a goroutine lingers. It holds nil if it is empty, someone if a goroutine waits in it, or the job that this goroutine
// shall take.
type seat struct {
	job atomic.Pointer[job]
	_   [56]byte // a cache line each
}

var (
	seats [64]seat
	// taken is the number of seats whose goroutine still waits for a job. It may briefly be too large by a few.
	taken   atomic.Int32
	someone = &job{}
)

// linger waits for a job and returns it, or nil if none was offered in time.
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

// offer hands a job to at most need lingering goroutines and returns to how many. It goes through the seats once: other processors write
// to them all the time, so that each look takes as long as a cache miss.
func offer(j *job, need int) (given int) {
	for k := range seats {
		if given == need || taken.Load() == 0 {
			break
		}
		if s := &seats[k].job; s.Load() == someone && s.CompareAndSwap(someone, j) {
			taken.Add(-1)
			given++
		}
	}
	return given
}
