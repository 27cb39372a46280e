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

// BenchmarkOptions choose among the forms of a benchmark.
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

// globePrefix begins the names of the processes of GlobeSource, griddedPrefix those of the lengths of GriddedSource.
const globePrefix, griddedPrefix = "globe-", "gridded-"

// BenchmarkNames are the names that NewBenchmark knows: BenchmarkProcesses for BenchmarkSource, behind the prefix
// "rcnp-" for RCNPSource, and
// "predprey" for PredPreySource, also with a mode, as in "predprey-forecasting", and behind "joint-" those of JointSource,
// behind "globe-" those of GlobeSource, and behind "gridded-" the lengths of GriddedSource, on a smaller square.
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
	for _, p := range GlobeProcesses {
		names = append(names, globePrefix+p)
	}
	for _, l := range GriddedLengths {
		names = append(names, griddedPrefix+fmt.Sprint(l))
	}
	return names
}

// NewBenchmark returns the source of one of BenchmarkNames, with its numbers of coordinates and outputs.
func NewBenchmark[T cnp.Float](name string, o BenchmarkOptions) (src Benchmark[T], dx, dy int, err error) {
	mode, prey := strings.CutPrefix(name, predPreyName)
	process, joint := strings.CutPrefix(name, jointPrefix)
	if prey = prey && slices.Contains(BenchmarkNames, name); prey || joint {
		if o.Dx > 1 || o.Slow != 0 || o.Chain && prey || o.Region != "" && o.Region != BenchmarkRegions[0] {
			also := ""
			if prey {
				also = "contexts of the chain rule or "
			}
			return nil, 0, 0, fmt.Errorf("task: %s has one coordinate, one region, and no %sslow waves", clip(name), also)
		}
	}
	if found := plane[T](name); found != nil {
		if o.Dx > 2 || o.Slow != 0 || o.Chain || o.Region != "" && o.Region != BenchmarkRegions[0] {
			return nil, 0, 0, fmt.Errorf("task: %s has two coordinates, one region, and neither contexts of the chain rule nor slow waves",
				clip(name))
		}
		return found, 2, 1, found.Validate()
	}
	if prey {
		return PredPreySource[T]{Mode: strings.TrimPrefix(mode, "-")}, 1, 2, nil
	}
	if joint {
		src = JointSource[T]{Process: process, Chain: o.Chain}
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

// plane is the source of a name of two coordinates, nil where it is none: of GriddedLengths on squares whose sides are as long for the
// length as training needs, with as many points per area as the whole one has.
func plane[T cnp.Float](name string) Benchmark[T] {
	if process, ok := strings.CutPrefix(name, globePrefix); ok {
		return GlobeSource[T]{Process: process}
	}
	for _, l := range GriddedLengths {
		if name == griddedPrefix+fmt.Sprint(l) {
			return GriddedSource[T]{Length: l}.Small()
		}
	}
	return nil
}
