package task

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/equivcnp/equivcnp/cnp"
)

// RCNPSource is the Source of the synthetic tasks of the relational neural processes (Huang et al. 2023; the definitions are those of the
// generators in github.com/acerbilab/relational-neural-processes). The processes are those of BenchmarkProcesses
// with other lengths, where c
// is the root of the number of coordinates:
//
//   - "eq" and "matern" (smoothness 5/2) with l = c;
//   - "weakly-periodic" with l = 2c, p = c and q = 4c;
//   - "sawtooth", whose frequency is uniform from 1/2c to 1/c;
//   - "mixture", one of those for every batch.
//
// Values of the Gaussian processes are seen with noise of variance 0.05, sawtooth waves without. The tasks of a batch have as many context
// points, at random: of the Gaussian processes from 1 to 30·Dx, with 50·Dx targets; of sawtooth waves and the
// mixture up to 75·Dx, with Dx = 1
// up to 30, with 100·Dx targets.
type RCNPSource[T cnp.Float] struct {
	Process string // one of BenchmarkProcesses
	// Region says where points lie: "int" or empty, all on [-2, 2] along every coordinate; "ooid", all on [2, 6].
	Region string
	Dx     int
	// Chain adds the targets but one to the most context points, as BenchmarkSource's does.
	Chain bool
}

// RCNPRegions are the names of where points lie; see BenchmarkRegions.
var RCNPRegions = BenchmarkRegions[:2]

// Validate reports what no task can be drawn from.
func (s RCNPSource[T]) Validate() error {
	if !slices.Contains(BenchmarkProcesses, s.Process) {
		return fmt.Errorf("task: rcnp process %q is not one of %s", clip(s.Process), strings.Join(BenchmarkProcesses, ", "))
	}
	if s.Region != "" && !slices.Contains(RCNPRegions, s.Region) {
		return fmt.Errorf("task: rcnp region %q is not one of %s", clip(s.Region), strings.Join(RCNPRegions, ", "))
	}
	if s.Dx < 1 || s.Dx > maxBenchmarkDx {
		return fmt.Errorf("task: rcnp with %d coordinates, need 1 to %d", s.Dx, maxBenchmarkDx)
	}
	return nil
}

// String implements Source.
func (s RCNPSource[T]) String() string {
	region := s.Region
	if region == "" {
		region = RCNPRegions[0]
	}
	name := fmt.Sprintf("%s of the rcnp benchmark, dx = %d, %s", s.Process, s.Dx, region)
	if s.Chain {
		name += ", contexts as in the chain rule"
	}
	return name
}

// Gaussian reports whether the process is Gaussian, so that Exact knows its densities.
func (s RCNPSource[T]) Gaussian() bool { return slices.Index(BenchmarkProcesses, s.Process) < 3 }

// sizes are the fewest and the most context points, and the number of targets.
func (s RCNPSource[T]) sizes() (least, most, targets int) {
	if s.Gaussian() {
		least, most, targets = 1, 30*s.Dx, 50*s.Dx
	} else if targets = 100 * s.Dx; s.Dx == 1 {
		most = 30
	} else {
		most = 75 * s.Dx
	}
	if s.Chain {
		most += targets - 1
	}
	return least, most, targets
}

// Kind says of which of how many kinds a batch is: of the mixture its process.
func (s RCNPSource[T]) Kind(seed uint64, step int) (kind, kinds int) {
	return BenchmarkSource[T]{Process: s.Process, Dx: s.Dx}.Kind(seed, step)
}

// span is the interval of all points.
func (s RCNPSource[T]) span() [2]float64 {
	if s.Region == "ooid" {
		return [2]float64{2, 6}
	}
	return [2]float64{-2, 2}
}

// Work implements Sized, for the longest tasks.
func (s RCNPSource[T]) Work(n int) cnp.Work {
	_, most, targets := s.sizes()
	return cnp.Work{Batch: n, Context: most, Targets: targets, Span: 4}
}

// rcnpScales are the lengths of the processes with dx coordinates.
func rcnpScales(dx int) scales {
	c := math.Sqrt(float64(dx))
	return scales{length: c, drift: 2 * c, period: c, along: 4 * c}
}

// Batch implements Source.
func (s RCNPSource[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	rng := StepRand(seed, step)
	process := s.Process
	if process == "mixture" {
		process = BenchmarkProcesses[mixed(rng)]
	}
	least, most, nt := s.sizes()
	nc, span := least+rng.IntN(most-least+1), s.span()
	return drawTasks[T](n, nc, nt, s.Dx, span, span, rng, func(y, x []float64) error {
		if process == "sawtooth" {
			c := math.Sqrt(float64(s.Dx))
			drawWaves(y, x, n, s.Dx, func() float64 { return (1 + rng.Float64()) / (2 * c) }, rng)
			return nil
		}
		return drawGaussian(y, x, n, s.Dx, process, rcnpScales(s.Dx), rng)
	})
}

// factor is the Cholesky factor of the covariance of values at x.
func (s RCNPSource[T]) factor(x []float64) (blas64.Triangular, error) {
	return factorProcess(x, s.Dx, s.Process, rcnpScales(s.Dx))
}

// Predictive implements GaussianSource, for batches of Gaussian processes.
func (s RCNPSource[T]) Predictive(tasks *Tasks[T]) (mean, factor []float64, err error) {
	if err := s.hasDensity(); err != nil {
		return nil, nil, err
	}
	return predictives(tasks, s.Dx, s.factor)
}

// Exact returns how likely the targets of every task are by the process; see BenchmarkSource.Exact.
func (s RCNPSource[T]) Exact(tasks *Tasks[T]) (joint, diagonal []float64, err error) {
	if err := s.hasDensity(); err != nil {
		return nil, nil, err
	}
	return exactDensities(tasks, s.Dx, s.factor)
}

// hasDensity refuses processes that are not Gaussian.
func (s RCNPSource[T]) hasDensity() error {
	if err := s.Validate(); err != nil {
		return err
	}
	if !s.Gaussian() {
		return fmt.Errorf("task: rcnp process %q has no density", s.Process)
	}
	return nil
}
