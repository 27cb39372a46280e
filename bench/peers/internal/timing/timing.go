// Package timing has what the programs of this module measure with: input, and the time of a call.
package timing

import (
	"math"
	"math/rand/v2"
	"runtime/debug"
	"time"
)

// Numbers returns n numbers in [-1, 1).
func Numbers(n int, seed uint64) []float32 {
	rng, x := rand.New(rand.NewPCG(seed, 1)), make([]float32, n)
	for i := range x {
		x[i] = 2*rng.Float32() - 1
	}
	return x
}

// Best returns the shortest time of a call in seconds, of samples of at least 50 µs for so long, three at least, without garbage
// collection. The clock, whose reading takes as long as the shortest calls, is read twice a sample.
func Best(f func(), long time.Duration) float64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	sample := func(calls int) time.Duration {
		start := time.Now()
		for range calls {
			f()
		}
		return time.Since(start)
	}
	calls := 1
	for sample(calls) < 50*time.Microsecond {
		calls *= 2
	}
	least, begin := math.Inf(1), time.Now()
	for r := 0; r < 3 || time.Since(begin) < long; r++ {
		least = min(least, sample(calls).Seconds()/float64(calls))
	}
	return least
}
