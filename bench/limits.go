package main

import (
	"fmt"
	"math"
	"sync"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/limits"
	"github.com/equivcnp/equivcnp/simd"
)

func limitsCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "limits",
		Short:   "Measure what one core can do at most: multiply-adds, and reads from each cache",
		Example: "  go run ./bench limits\n  EQUIVCNP_SIMD=avx2 go run ./bench limits --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return limitsOf(simd.CurrentLevel()).report(&report{w: cmd.OutOrStdout(), json: asJSON})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one object a line")
	return cmd
}

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
		// Virtual machines report the cache of the whole host, of which a core may get only a part.
		{name: "L3", bytes: min(c.L3/2, 8*c.L2)},
		{name: "memory", bytes: memoryBytes},
	} {
		r.bytes = max(512, r.bytes&^511)
		if len(readBuffer) < r.bytes {
			readBuffer = onHugePages[byte](r.bytes)
			for i := range readBuffer { // pages never written to all share one physical page, which would stay in L1
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

// memoryBytes is larger than any cache, and about what the convolution with a weight per pair reads.
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

// LimitLines are the limits as the page of bench report lists them.
func (m *machine) LimitLines() []struct{ Name, Value string } {
	lines := []struct{ Name, Value string }{{"Multiply-adds, one core", fmt.Sprintf("%.4g GFLOP/s", m.peak)}}
	for _, x := range m.reads {
		lines = append(lines, struct{ Name, Value string }{"Reads, " + x.name, fmt.Sprintf("%.4g GB/s (%d KiB)", x.gbps, x.bytes>>10)})
	}
	return lines
}

// lanes is how many float32 a vector of the level holds.
func (m *machine) lanes() int {
	if n, ok := map[string]int{"amx": 16, "avx512": 16, "avx2": 8, "neon": 4}[m.level]; ok {
		return n
	}
	return 1
}

// work is the least that a kernel must do: its operations, and the bytes that it moves, in total, to and from data of a certain
// size (the footprint, which decides in which cache they lie). A byte written counts like a byte read.
type work struct {
	flop, bytes, footprint int
}

// once is the work of a kernel that must read or write that many float32 once each.
func once(flop, floats int) work { return work{flop, 4 * floats, 4 * floats} }

// least returns the shortest time in seconds in which the machine could do the work, and which limit decides it. For work without
// operations and bytes it returns NaN.
func (m *machine) least(w work) (seconds float64, bound string) {
	seconds = math.NaN()
	if w.flop > 0 {
		seconds, bound = float64(w.flop)/m.peak*1e-9, "FMA"
	}
	if w.bytes > 0 {
		last := m.reads[len(m.reads)-1]
		for _, r := range m.reads {
			// r.bytes is half of the cache, so that other data there did not disturb the measurement.
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
