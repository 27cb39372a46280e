package task

import (
	"fmt"
	"slices"
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

// predPreyName is the name of PredPreySource, in one of PredPreyModes behind a hyphen; without one, "random".
const predPreyName = "predprey"

// jointPrefix begins the names of the processes of JointSource, with the contexts of training.
const jointPrefix = "joint-"

// BenchmarkNames are the names that NewBenchmark knows: BenchmarkProcesses for BenchmarkSource, behind the prefix
// "rcnp-" for RCNPSource, and
// "predprey" for PredPreySource, also with a mode, as in "predprey-forecasting", and behind "joint-" those of JointSource.
var BenchmarkNames = benchmarkNames()

func benchmarkNames() []string {
	names := append([]string{}, BenchmarkProcesses...)
	for _, p := range BenchmarkProcesses {
		names = append(names, rcnpPrefix+p)
	}
	names = append(names, predPreyName)
	for _, m := range PredPreyModes[:3] {
		names = append(names, predPreyName+"-"+m)
	}
	for _, p := range JointProcesses {
		names = append(names, jointPrefix+p)
	}
	return names
}

// NewBenchmark returns the source of one of BenchmarkNames, with its numbers of coordinates and outputs.
func NewBenchmark[T cnp.Float](name string, o BenchmarkOptions) (src Benchmark[T], dx, dy int, err error) {
	mode, prey := strings.CutPrefix(name, predPreyName)
	process, joint := strings.CutPrefix(name, jointPrefix)
	if prey = prey && slices.Contains(BenchmarkNames, name); prey || joint {
		if o.Dx > 1 || o.Slow != 0 || o.Chain || o.Region != "" && o.Region != BenchmarkRegions[0] {
			return nil, 0, 0, fmt.Errorf("task: %s has one coordinate, one region, and neither contexts of the chain rule nor slow waves",
				clip(name))
		}
	}
	if prey {
		return PredPreySource[T]{Mode: strings.TrimPrefix(mode, "-")}, 1, 2, nil
	}
	if joint {
		src = JointSource[T]{Process: process}
		return src, 1, 1, src.Validate()
	}
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
