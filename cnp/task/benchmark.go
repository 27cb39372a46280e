package task

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/simd"
)

// The benchmark is that of the library neuralprocesses (github.com/wesselb/neuralprocesses), on which neural processes are compared
// with each other. Lengths grow with c, the root of the number of coordinates, as distances do.

// BenchmarkProcesses are the names of the benchmark's processes, where c is the root of the number of coordinates:
//
//   - "eq", the kernel exp(-d²/2l²) with l = c/4;
//   - "matern", that of smoothness 5/2 with l = c/4;
//   - "weakly-periodic", exp(-d²/2l²) with l = c/2, times exp(-2·sin²(π·dₖ/p)/q²) with p = c/4 and q = c for every coordinate k;
//   - "sawtooth", (w·<u, x> - φ) mod 1 with w uniform from 2/c to 4/c, a random direction u, and φ uniform from 0 to 1;
//   - "mixture", one of those for every batch.
//
// The Gaussian processes have variance 1, and each of their values is seen with noise of variance 0.05, in the context and at the targets.
// Sawtooth waves have no noise.
var BenchmarkProcesses = []string{"eq", "matern", "weakly-periodic", "sawtooth", "mixture"}

// BenchmarkRegions are the names of where points lie: "int", all where training has them, on [-2, 2]; "ooid", all on [2, 6]; "ext", the
// context on [-2, 2] and the targets on [2, 6]. Along every coordinate.
var BenchmarkRegions = []string{"int", "ooid", "ext"}

// benchmarkNoise is the variance of the noise of the Gaussian processes' values.
const benchmarkNoise = 0.05

// BenchmarkSource is the Source of a process of the benchmark, one of BenchmarkProcesses, in one of BenchmarkRegions (empty: "int"),
// with Dx coordinates. The tasks of a batch have as many context points, at random: up to 30·Dx, of sawtooth waves 75·Dx.
type BenchmarkSource[T cnp.Float] struct {
	Process, Region string
	Dx              int
	// Chain adds the targets but one to the most context points: the chain rule predicts the last of 50·Dx targets, of sawtooth waves
	// 100·Dx, from the context and the others, and a model that never saw so many is sure of too much.
	Chain bool
	// Slow is the number of steps in which sawtooth waves grow faster, from an eighth of their frequency to all of it, by the same
	// factor in every step: in several coordinates there is less than one context point per wave, and a network that has not seen
	// waves yet finds nothing in them. 0: they are as fast as they are from the beginning.
	Slow int
}

// maxBenchmarkDx bounds the coordinates, with which the points grow.
const maxBenchmarkDx = 8

// Validate reports what no task can be drawn from.
func (s BenchmarkSource[T]) Validate() error {
	if !slices.Contains(BenchmarkProcesses, s.Process) {
		return fmt.Errorf("task: benchmark %q is not one of %s", clip(s.Process), strings.Join(BenchmarkProcesses, ", "))
	}
	if s.Region != "" && !slices.Contains(BenchmarkRegions, s.Region) {
		return fmt.Errorf("task: region %q is not one of %s", clip(s.Region), strings.Join(BenchmarkRegions, ", "))
	}
	if s.Dx < 1 || s.Dx > maxBenchmarkDx {
		return fmt.Errorf("task: a benchmark with %d coordinates, need 1 to %d", s.Dx, maxBenchmarkDx)
	}
	if s.Slow < 0 || s.Slow > 0 && s.Process != "sawtooth" {
		return fmt.Errorf("task: slow for %d steps of %s: need 0 or, for sawtooth, more", s.Slow, s.Process)
	}
	return nil
}

// String implements Source.
func (s BenchmarkSource[T]) String() string {
	region := s.Region
	if region == "" {
		region = "int"
	}
	name := fmt.Sprintf("%s of the neuralprocesses benchmark, dx = %d, %s", s.Process, s.Dx, region)
	if s.Chain {
		name += ", contexts as in the chain rule"
	}
	if s.Slow > 0 {
		name += fmt.Sprintf(", slower waves in the first %d steps", s.Slow)
	}
	return name
}

// intervals are where context and targets lie.
func (s BenchmarkSource[T]) intervals() (context, targets [2]float64) {
	near, far := [2]float64{-2, 2}, [2]float64{2, 6}
	switch s.Region {
	case "ooid":
		return far, far
	case "ext":
		return near, far
	}
	return near, near
}

// sizes are the most context points and the number of targets of a process other than the mixture.
func (s BenchmarkSource[T]) sizes(process string) (context, targets int) {
	context, targets = 30*s.Dx, 50*s.Dx
	if process == "sawtooth" {
		context, targets = 75*s.Dx, 100*s.Dx
	}
	if s.Chain {
		context += targets - 1
	}
	return context, targets
}

// Kind says of which of how many kinds a batch is: of the mixture its process.
func (s BenchmarkSource[T]) Kind(seed uint64, step int) (kind, kinds int) {
	if s.Process != "mixture" {
		return 0, 1
	}
	return mixed(StepRand(seed, step)), mixedProcesses
}

// mixedProcesses is how many of BenchmarkProcesses, the first of them, are mixed.
const mixedProcesses = 4

// mixed draws the number of the process that a batch of the mixture is of.
func mixed(rng *rand.Rand) int { return rng.IntN(mixedProcesses) }

// Work implements Sized, for the longest tasks.
func (s BenchmarkSource[T]) Work(n int) cnp.Work {
	process := s.Process
	if process == "mixture" {
		process = "sawtooth"
	}
	context, targets := s.intervals()
	w := cnp.Work{Batch: n, Span: max(context[1], targets[1]) - min(context[0], targets[0])}
	w.Context, w.Targets = s.sizes(process)
	return w
}

// Batch implements Source.
func (s BenchmarkSource[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	rng := StepRand(seed, step)
	process := s.Process
	if process == "mixture" {
		process = BenchmarkProcesses[mixed(rng)]
	}
	most, nt := s.sizes(process)
	nc := rng.IntN(most + 1)
	near, far := s.intervals()
	return drawTasks[T](n, nc, nt, s.Dx, near, far, rng, func(y, x []float64) error {
		if process == "sawtooth" {
			s.waves(y, x, n, s.speed(step), rng)
			return nil
		}
		return drawGaussian(y, x, n, s.Dx, process, benchmarkScales(s.Dx), rng)
	})
}

// drawTasks draws n tasks of nc context points, uniform on near along each of dx coordinates, and nt targets,
// uniform on far. values writes the
// values y [n, nc+nt] at x [n, nc+nt, dx], of every task the context first.
func drawTasks[T cnp.Float](n, nc, nt, dx int, near, far [2]float64, rng *rand.Rand, values func(y, x []float64) error) (*Tasks[T], error) {
	x := make([]float64, n*(nc+nt)*dx)
	for i := range x {
		lim := far
		if i/dx%(nc+nt) < nc {
			lim = near
		}
		x[i] = lim[0] + (lim[1]-lim[0])*rng.Float64()
	}
	y := make([]float64, n*(nc+nt))
	if err := values(y, x); err != nil {
		return nil, err
	}
	b := &cnp.Batch[T]{B: n, Nc: nc, Nt: nt, YContext: make([]T, 0, n*nc)}
	out := &Tasks[T]{Curves: b, Y: make([]T, 0, n*nt)}
	for t := range n {
		at := t * (nc + nt)
		b.XContext = append(b.XContext, x[at*dx:(at+nc)*dx]...)
		b.XTarget = append(b.XTarget, x[(at+nc)*dx:(at+nc+nt)*dx]...)
		for i, v := range y[at : at+nc+nt] {
			if i < nc {
				b.YContext = append(b.YContext, T(v))
			} else {
				out.Y = append(out.Y, T(v))
			}
		}
	}
	return out, nil
}

// slowest is the first factor of the frequencies of waves that grow faster.
const slowest = 1.0 / 8

// speed is the factor of the waves' frequencies in a step.
func (s BenchmarkSource[T]) speed(step int) float64 {
	if step >= s.Slow {
		return 1
	}
	return math.Pow(slowest, 1-float64(step)/float64(s.Slow))
}

// waves draws the values of n sawtooth waves at x [n, points, Dx], their frequencies times speed.
func (s BenchmarkSource[T]) waves(y, x []float64, n int, speed float64, rng *rand.Rand) {
	c := math.Sqrt(float64(s.Dx))
	drawWaves(y, x, n, s.Dx, func() float64 { return speed * (2 + 2*rng.Float64()) / c }, rng)
}

// drawWaves draws the values of n sawtooth waves at x [n, points, dx], each of a frequency of its own.
func drawWaves(y, x []float64, n, dx int, frequency func() float64, rng *rand.Rand) {
	u := make([]float64, dx)
	for t := range n {
		w := frequency()
		length := 0.0
		for d := range u {
			u[d] = rng.NormFloat64()
			length += u[d] * u[d]
		}
		phase := rng.Float64()
		per := len(y) / n
		for i := t * per; i < (t+1)*per; i++ {
			at := 0.0
			for d, v := range u {
				at += v * x[i*dx+d]
			}
			v := w*at/math.Sqrt(length) - phase
			y[i] = v - math.Floor(v)
		}
	}
}

// drawGaussian draws the values of n functions of a Gaussian process at x [n, points, dx].
func drawGaussian(y, x []float64, n, dx int, process string, s scales, rng *rand.Rand) error {
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	per := len(y) / n
	return eachTask(n, func(t int) error {
		l, err := factorProcess(x[t*per*dx:(t+1)*per*dx], dx, process, s)
		if err == nil {
			blas64.Trmv(blas.NoTrans, l, blas64.Vector{N: per, Data: y[t*per : (t+1)*per], Inc: 1})
		}
		return err
	})
}

// scales are the lengths of a benchmark's Gaussian processes: of eq and matern, and the length over which periods drift, the period and the
// length along a period of weakly-periodic.
type scales struct{ length, drift, period, along float64 }

// benchmarkScales are those of BenchmarkSource with dx coordinates.
func benchmarkScales(dx int) scales {
	c := math.Sqrt(float64(dx))
	return scales{length: c / 4, drift: c / 2, period: c / 4, along: c}
}

// factorProcess returns the Cholesky factor of the covariance of a process's values at x [n, dx], noise included.
func factorProcess(x []float64, dx int, process string, s scales) (blas64.Triangular, error) {
	var add func(a, b int) float64
	if process == "weakly-periodic" {
		sin, cos := make([]float64, len(x)), make([]float64, len(x)) // of every coordinate, in periods
		simd.Scale(cos, 2*math.Pi/s.period, x)
		simd.SinCos(sin, cos, cos)
		// exp(-d²/2l² - 2·sin²(π·d/p)/q²) is exp(-(d² + (1 - cos(2π·d/p))·2l²/q²)/2l²).
		ratio := 2 * s.drift * s.drift / (s.along * s.along)
		add = func(a, b int) float64 { return (1 - cos[a]*cos[b] - sin[a]*sin[b]) * ratio }
	}
	return factor(x, dx, benchmarkNoise, func(row []float64) {
		switch process {
		case "eq":
			exponential(row, s.length)
		case "weakly-periodic":
			exponential(row, s.drift)
		default:
			matern52(row, s.length)
		}
	}, add)
}

// factor returns the Cholesky factor of a covariance matrix of values at x [n, dx]: kernel replaces squared distances
// by covariances of values of variance 1, to which that of the noise is added. add, if there is one, is what the
// squared difference of coordinates a and b, numbers in x, is increased by.
func factor(x []float64, dx int, noise float64, kernel func(d2 []float64), add func(a, b int) float64) (blas64.Triangular, error) {
	n := len(x) / dx
	cov := make([]float64, n*n)
	for i := range n {
		row := cov[i*n : i*n+i+1]
		for j := range row {
			for k := range dx {
				a, b := i*dx+k, j*dx+k
				d := x[a] - x[b]
				row[j] += d * d
				if add != nil {
					row[j] += add(a, b)
				}
			}
		}
		kernel(row)
		row[i] = 1 + noise
	}
	l, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Data: cov, Stride: max(1, n)})
	if !ok {
		return l, fmt.Errorf("task: the covariance of %d points is not positive definite", n)
	}
	return l, nil
}

// exponential replaces squared distances by exp(-d²/2l²).
func exponential(d2 []float64, l float64) {
	simd.Scale(d2, -1/(2*l*l), d2)
	simd.Exp(d2, d2)
}

// matern52 replaces squared distances by the values of the kernel Matern52.
func matern52(d2 []float64, l float64) {
	e := make([]float64, len(d2))
	for i, v := range d2 {
		d2[i] = math.Sqrt(5*v) / l
		e[i] = -d2[i]
	}
	simd.Exp(e, e)
	for i, s := range d2 {
		d2[i] = (1 + s + s*s/3) * e[i]
	}
}

// Predictive implements GaussianSource, for batches of Gaussian processes.
func (s BenchmarkSource[T]) Predictive(tasks *Tasks[T]) (mean, factor []float64, err error) {
	if err := s.Validate(); err != nil {
		return nil, nil, err
	}
	if !s.Gaussian() {
		return nil, nil, fmt.Errorf("task: benchmark %q is no Gaussian process", s.Process)
	}
	return predictives(tasks, s.Dx, func(x []float64) (blas64.Triangular, error) {
		return factorProcess(x, s.Dx, s.Process, benchmarkScales(s.Dx))
	})
}

// Exact returns how likely the targets of every task are, given its context, by the process that they were drawn from: the joint
// log-density per target, which nothing beats, and diagonal, the mean of the log-densities of each target alone, which nothing
// beats that predicts targets independently of each other. It is for batches of Gaussian processes.
func (s BenchmarkSource[T]) Exact(tasks *Tasks[T]) (joint, diagonal []float64, err error) {
	if err := s.Validate(); err != nil {
		return nil, nil, err
	}
	if !s.Gaussian() {
		return nil, nil, fmt.Errorf("task: benchmark %q has no density", s.Process)
	}
	return exactDensities(tasks, s.Dx, func(x []float64) (blas64.Triangular, error) {
		return factorProcess(x, s.Dx, s.Process, benchmarkScales(s.Dx))
	})
}

// exactDensities is Exact for a Gaussian process with a zero mean; factor returns the Cholesky factor of its values'
// covariance at x [n, dx].
func exactDensities[T cnp.Float](tasks *Tasks[T], dx int, factor func(x []float64) (blas64.Triangular, error)) (joint,
	diagonal []float64, err error) {
	err = eachFactored(tasks, dx, factor, func(t int, l blas64.Triangular, y []float64) {
		b := tasks.Curves
		joint[t], diagonal[t] = densities(l, y, b.Nc)
		joint[t], diagonal[t] = joint[t]/float64(b.Nt), diagonal[t]/float64(b.Nt)
	}, &joint, &diagonal)
	if err != nil {
		return nil, nil, err
	}
	return joint, diagonal, nil
}

// eachFactored calls f with every task's values y, those of the context first, and the Cholesky factor of their
// covariance, for tasks of one output. It makes room for a number of every task.
func eachFactored[T cnp.Float](tasks *Tasks[T], dx int, factor func(x []float64) (blas64.Triangular, error),
	f func(t int, l blas64.Triangular, y []float64), room ...*[]float64) error {
	b := tasks.Curves
	if b == nil || len(b.XContext) != b.B*b.Nc*dx || len(b.YContext) != b.B*b.Nc || len(b.XTarget) != b.B*b.Nt*dx ||
		len(tasks.Y) != b.B*b.Nt || b.ContextMask != nil || b.TargetMask != nil {
		return fmt.Errorf("task: these are not tasks of the process with %d coordinates", dx)
	}
	for _, r := range room {
		*r = make([]float64, b.B)
	}
	return eachTask(b.B, func(t int) error {
		x := slices.Concat(b.XContext[t*b.Nc*dx:(t+1)*b.Nc*dx], b.XTarget[t*b.Nt*dx:(t+1)*b.Nt*dx])
		y := slices.Concat(wide(b.YContext[t*b.Nc:(t+1)*b.Nc]), wide(tasks.Y[t*b.Nt:(t+1)*b.Nt]))
		l, err := factor(x)
		if err == nil {
			f(t, l, y)
		}
		return err
	})
}

// predictives is Predictive for a Gaussian process with a zero mean.
func predictives[T cnp.Float](tasks *Tasks[T], dx int, factor func(x []float64) (blas64.Triangular, error)) (mean, std []float64,
	err error) {
	mean, std = make([]float64, len(tasks.Y)), make([]float64, len(tasks.Y))
	err = eachFactored(tasks, dx, factor, func(t int, l blas64.Triangular, y []float64) {
		nc, nt := tasks.Curves.Nc, tasks.Curves.Nt
		z := y[:nc]
		if nc > 0 {
			known := l
			known.N = nc
			blas64.Trsv(blas.NoTrans, known, blas64.Vector{N: nc, Data: z, Inc: 1})
		}
		for i := range nt {
			mean[t*nt+i], std[t*nt+i] = given(l, z, nc+i)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return mean, std, nil
}

// Gaussian reports whether the process is Gaussian, so that Exact knows its densities.
func (s BenchmarkSource[T]) Gaussian() bool { return slices.Index(BenchmarkProcesses, s.Process) < 3 }
