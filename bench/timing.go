package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"time"
)

// splitmix is the generator of the peers' inputs (Steele, Lea, Flood 2014), so that both sides work on the same numbers.
type splitmix uint64

const peerSeed splitmix = 42

func (s *splitmix) next() uint64 {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// float maps the top 24 bits to [-1, 1), exactly in float32.
func (s *splitmix) float() float32 {
	return float32(int64(s.next()>>40)-1<<23) * 0x1p-23
}

// floats draws n numbers, times scale.
func (s *splitmix) floats(n int, scale float32) []float32 {
	x := onHugePages[float32](n)
	for i := range x {
		x[i] = s.float() * scale
	}
	return x
}

// budget is how long each line is measured, PEER_SECONDS as for the peers.
func budget() time.Duration {
	d, _ := budgetSet() // main has checked the error
	return d
}

func budgetSet() (time.Duration, error) {
	const usual = 400 * time.Millisecond
	set := os.Getenv("PEER_SECONDS")
	if set == "" {
		return usual, nil
	}
	v, err := strconv.ParseFloat(set, 64)
	if err != nil || !(v > 0 && v <= 3600) {
		return usual, fmt.Errorf("PEER_SECONDS=%s: need a number of seconds above 0, 3600 at most", set)
	}
	return time.Duration(v * float64(time.Second)), nil
}

// best is the shortest time of one call of f, in seconds, measured as the peers do. A sample repeats f for at least 50 µs. Samples
// are taken until there are five and the budget is spent. A sample counts if the thread was not preempted (wall time within 2 % of its
// CPU time). If none counts, sampling goes on for up to four times the budget, and in the end the shortest CPU time is the result.
//
// The thread's clock is read outside the wall time: on a virtual machine that takes a microsecond, two hundredths of a short sample, so
// that inside it the fast samples would not count and the slow ones would.
//
// Garbage is collected between samples, so that calls that allocate find memory that others have left, as they do in a program that runs
// for long and as the peers' do: pages that were never touched take longer than a small tree.
func best(f func()) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no garbage collection while f is timed
	inner, rest := callsOf(f), newGarbage()
	clean, cpu, begin, limit := math.Inf(1), math.Inf(1), time.Now(), budget()
	for r := 0; ; r++ {
		spent := time.Since(begin)
		if r >= 5 && spent >= limit && (!math.IsInf(clean, 1) || (r >= 20 && spent >= 4*limit)) {
			break
		}
		rest.collect()
		c0, start := threadTime(), time.Now()
		for range inner {
			f()
		}
		t, c := time.Since(start), threadTime()-c0
		if t <= c+c/50 {
			clean = min(clean, t.Seconds()/float64(inner))
		}
		cpu = min(cpu, c.Seconds()/float64(inner))
	}
	if math.IsInf(clean, 1) {
		return cpu
	}
	return clean
}

// garbageKept is how many bytes are allocated before they are collected: some samples, whose memory a second-level cache holds.
const garbageKept = 1 << 20

// garbage counts what was allocated.
type garbage struct {
	allocated [1]metrics.Sample
	collected uint64 // what had been allocated when garbage was last collected
}

func newGarbage() *garbage {
	g := &garbage{allocated: [1]metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}}
	g.collected = g.bytes()
	return g
}

func (g *garbage) bytes() uint64 {
	metrics.Read(g.allocated[:])
	return g.allocated[0].Value.Uint64()
}

// collect collects what was allocated, if it is much.
func (g *garbage) collect() {
	if g.bytes()-g.collected > garbageKept {
		runtime.GC()
		g.collected = g.bytes()
	}
}

// callsOf returns how many calls of f take 50 µs: a sample has so many, since reading the clock takes as long as the shortest calls.
func callsOf(f func()) int {
	f()
	for inner := 1; ; inner *= 2 {
		start := time.Now()
		for range inner {
			f()
		}
		if time.Since(start) >= 50*time.Microsecond {
			return inner
		}
	}
}

// bestWall is the shortest wall time of f. It is for functions that also work on other threads, whose CPU time threadTime does not see.
func bestWall(f func()) float64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	inner, rest := callsOf(f), newGarbage()
	least, begin, limit := math.Inf(1), time.Now(), budget()
	for r := 0; r < 5 || time.Since(begin) < limit; r++ {
		rest.collect()
		start := time.Now()
		for range inner {
			f()
		}
		least = min(least, time.Since(start).Seconds()/float64(inner))
	}
	return least
}
