package task

import (
	"fmt"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
)

// Benchmark is a Source of a published benchmark; see NewBenchmark.
type Benchmark[T cnp.Float] interface {
	Source[T]
	Sized
	// Validate reports what no task can be drawn from.
	Validate() error
}

// BenchmarkOptions are what the benchmarks that have several forms are told.
type BenchmarkOptions struct {
	// Dx is the number of coordinates, Region one of BenchmarkRegions (empty: the first); see BenchmarkSource for Chain and Slow.
	Dx     int
	Region string
	Chain  bool
	Slow   int
}

// rcnpPrefix begins the names of the processes of RCNPSource.
const rcnpPrefix = "rcnp-"

// BenchmarkNames are the names that NewBenchmark knows: BenchmarkProcesses for BenchmarkSource, and behind the prefix "rcnp-" for RCNPSource.
var BenchmarkNames = benchmarkNames()

func benchmarkNames() []string {
	names := append([]string{}, BenchmarkProcesses...)
	for _, p := range BenchmarkProcesses {
		names = append(names, rcnpPrefix+p)
	}
	return names
}

// NewBenchmark returns the source of one of BenchmarkNames, with its numbers of coordinates and outputs.
func NewBenchmark[T cnp.Float](name string, o BenchmarkOptions) (src Benchmark[T], dx, dy int, err error) {
	if process, ok := strings.CutPrefix(name, rcnpPrefix); ok {
		if o.Slow != 0 {
			return nil, 0, 0, fmt.Errorf("task: slow waves are for sawtooth, not for %s", clip(name))
		}
		src = RCNPSource[T]{Process: process, Region: o.Region, Dx: o.Dx, Chain: o.Chain}
	} else {
		src = BenchmarkSource[T]{Process: name, Region: o.Region, Dx: o.Dx, Chain: o.Chain, Slow: o.Slow}
	}
	return src, o.Dx, 1, src.Validate()
}
