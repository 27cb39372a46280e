package main

import (
	"fmt"
	"math"
	"sync"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/limits"
	"github.com/equivcnp/equivcnp/simd"
)

// machine is what one core can do at a level, as measured: the most operations, and the fastest reads from each cache and from
// memory.
type machine struct {
	level string
	peak  float64 // GFLOP/s of float32 multiply-adds
	reads []readLimit
}

// readLimit is the speed of reading as many bytes again and again.
type readLimit struct {
	name  string
	bytes int
	gbps  float64
}

// limitsOf measures the machine at a level, once.
func limitsOf(l simd.Level) *machine {
	measured.Lock()
	defer measured.Unlock()
	if m, ok := measured.levels[l]; ok {
		return m
	}
	m := &machine{level: l.String()}
	const rounds = 1 << 10
	flop := 0
	t := best(func() { flop = limits.FMA(m.level, rounds) })
	m.peak = float64(flop) / t * 1e-9
	c := cpu.DataCaches()
	for _, r := range []readLimit{
		{name: "L1", bytes: c.L1 / 2},
		{name: "L2", bytes: c.L2 / 2},
		// Virtual machines report the cache of the whole host; what a core gets of it is another matter.
		{name: "L3", bytes: min(c.L3/2, 8*c.L2)},
		{name: "memory", bytes: memoryBytes},
	} {
		r.bytes = max(512, r.bytes&^511)
		if len(readBuffer) < r.bytes {
			readBuffer = onHugePages[byte](r.bytes)
			for i := range readBuffer { // pages that nobody wrote are all the same one
				readBuffer[i] = byte(i)
			}
		}
		b := readBuffer[:r.bytes]
		r.gbps = float64(r.bytes) / best(func() { limits.Read(m.level, b) }) * 1e-9
		m.reads = append(m.reads, r)
	}
	if measured.levels == nil {
		measured.levels = map[simd.Level]*machine{}
	}
	measured.levels[l] = m
	return m
}

// memoryBytes is more than a core gets of any cache; the streamed convolution reads about as much.
var memoryBytes = 512 << 20

var (
	measured struct {
		sync.Mutex
		levels map[simd.Level]*machine
	}
	readBuffer []byte
)

// report lists the limits under the names that the peers' program gives them.
func (m *machine) report(r *report) error {
	if err := r.add(sample{"limits/fma/" + m.level, m.lanes(), "gflops", m.peak}); err != nil {
		return err
	}
	for _, x := range m.reads {
		if err := r.add(sample{fmt.Sprintf("limits/read/%s/%s", m.level, x.name), x.bytes, "gbps", x.gbps}); err != nil {
			return err
		}
	}
	return nil
}

// lanes is how many float32 a vector of the level holds.
func (m *machine) lanes() int {
	if n, ok := map[string]int{"avx512": 16, "avx2": 8, "neon": 4}[m.level]; ok {
		return n
	}
	return 1
}

// work is what a kernel must do at least: operations, and bytes that it moves once or more while so many bytes in all are in
// turn. Reads set the pace; a write counts as one.
type work struct {
	flop, bytes, footprint int
}

// least returns the least time in seconds that the machine could take for it, and what it would be busy with. Without anything
// to count, it returns NaN.
func (m *machine) least(w work) (seconds float64, bound string) {
	seconds = math.NaN()
	if w.flop > 0 {
		seconds, bound = float64(w.flop)/m.peak*1e-9, "FMA"
	}
	if w.bytes > 0 {
		last := m.reads[len(m.reads)-1]
		for _, r := range m.reads {
			// Halves were measured, so that what else is in a cache does not matter.
			if w.footprint <= 2*r.bytes || r.name == last.name {
				if t := float64(w.bytes) / r.gbps * 1e-9; !(seconds >= t) {
					seconds, bound = t, r.name
				}
				break
			}
		}
	}
	return seconds, bound
}
