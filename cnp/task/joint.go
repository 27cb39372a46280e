package task

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/equivcnp/equivcnp/cnp"
)

// JointProcesses are the processes of JointSource.
var JointProcesses = []string{"gp", "sawtooth"}

// JointSource is the Source of the curves on which Hassan et al. (ICLR 2026, "Efficient autoregressive inference for
// transformer probabilistic models", appendix D.2) measure joint likelihoods. Context and targets are a random part of
// points of a Sobol sequence on [-2, 2]:
//
//   - "gp", Gaussian processes with a kernel for every batch, rbf with probability 0.4, Matérn 3/2 and 5/2 with 0.3
//     each; of every curve the variance is uniform from 0.5 to 1.5, the length from 0.1 to 1, and the variance of the
//     noise 1e-5;
//   - "sawtooth", (w·(u·x - φ)) mod 1 with w uniform from 3 to 5, u = ±1 and φ uniform from 0 to 1, and noise of a
//     deviation that is uniform from 0.05 to 0.1 for every curve.
type JointSource[T cnp.Float] struct {
	Process string
	// Context is the number of context points; 0: uniform for every batch, from 4 to 192 of gp and from 8 to 128 of
	// sawtooth, as in the authors' training. Targets is that of the targets; 0: 128.
	Context, Targets int
	// Pool is the number of points that context and targets are drawn from, at least as many as both; 0: the most context
	// points of training, the authors' buffer of 16, and the targets. The paper does not state it. With none to spare, 16
	// targets of gp keep away from the context, as points of the sequence do from each other, and who knows the process has a
	// density below the published ones.
	Pool int
	// Chain draws contexts of as many points as the chain rule sees: up to 128 and all targets but one.
	Chain bool
}

// Validate reports what no task can be drawn from.
func (s JointSource[T]) Validate() error {
	if !slices.Contains(JointProcesses, s.Process) {
		return fmt.Errorf("task: joint process %q is not one of %s", clip(s.Process), strings.Join(JointProcesses, ", "))
	}
	if min(s.Context, s.Targets) < 0 || max(s.Context, s.Targets, s.Context+s.Targets) > 1<<12 {
		return fmt.Errorf("task: %d context points and %d targets, need 0 to %d together", s.Context, s.Targets, 1<<12)
	}
	_, most, targets, pool := s.sizes()
	if most+targets > 1<<12 {
		return fmt.Errorf("task: up to %d context points and %d targets, need at most %d together", most, targets, 1<<12)
	}
	if pool < most+targets || pool > 1<<12 {
		return fmt.Errorf("task: a pool of %d points, need %d to %d for %d context points and %d targets",
			pool, most+targets, 1<<12, most, targets)
	}
	return nil
}

// jointBuffer is the number of points that the authors' buffer holds besides context and targets.
const jointBuffer = 16

// sizes are the bounds of the number of context points, the number of targets, and that of the points that both are drawn from.
func (s JointSource[T]) sizes() (least, most, targets, pool int) {
	least, most = 4, 192
	if s.Process == "sawtooth" {
		least, most = 8, 128
	}
	targets = cmp.Or(s.Targets, 128)
	pool = min(most+jointBuffer+targets, 1<<12)
	if s.Context > 0 {
		least, most = s.Context, s.Context
	}
	if s.Chain {
		most = cmp.Or(s.Context, 128) + targets - 1
	}
	return least, most, targets, cmp.Or(s.Pool, max(pool, most+targets))
}

// String implements Source.
func (s JointSource[T]) String() string {
	least, most, targets, _ := s.sizes()
	context := fmt.Sprint(least)
	if least < most {
		context += fmt.Sprintf(" to %d", most)
	}
	name := fmt.Sprintf("%s of the joint benchmark, %s context points, %d targets", s.Process, context, targets)
	if s.Chain {
		name += ", contexts as in the chain rule"
	}
	if s.Pool > 0 {
		name += fmt.Sprintf(", of %d places", s.Pool)
	}
	return name
}

// Work implements Sized, for the longest tasks.
func (s JointSource[T]) Work(n int) cnp.Work {
	_, most, targets, _ := s.sizes()
	return cnp.Work{Batch: n, Context: most, Targets: targets, Span: 4}
}

// jointKernels are those of a batch of gp, as likely as jointShares say.
var (
	jointKernels = []func(length float64) Kernel{RBF, Matern32, Matern52}
	jointShares  = []float64{0.4, 0.7, 1}
)

// jointNoise is the variance of gp's noise.
const jointNoise = 1e-5

// Batch implements Source.
func (s JointSource[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	tasks, _, err := s.draw(n, seed, step, nil)
	return tasks, err
}

// Posterior implements PosteriorSource: who knows kernel, variance, length and noise of a curve, or the wave itself, predicts
// its targets by a normal distribution each.
func (s JointSource[T]) Posterior(n int, seed uint64, step int) (tasks *Tasks[T], mean, factor []float64, err error) {
	var p posterior
	tasks, _, err = s.draw(n, seed, step, &p)
	return tasks, p.mean, p.std, err
}

// posterior is the mean and the standard deviation [B, Nt] of targets.
type posterior struct{ mean, std []float64 }

// Known returns the exact joint log-densities per target of the tasks of a batch of gp, by who knows kernel,
// variance, length and noise of each
// curve. No model, which has to find these out, reaches them.
func (s JointSource[T]) Known(n int, seed uint64, step int) ([]float64, error) {
	if s.Process != "gp" {
		return nil, fmt.Errorf("task: joint process %q has no density", clip(s.Process))
	}
	_, exact, err := s.draw(n, seed, step, nil)
	return exact, err
}

// draw returns a batch with the exact log-densities of gp's targets, per target, by who knows kernel, variance and length. Where p is
// not nil it is set to what this one predicts.
func (s JointSource[T]) draw(n int, seed uint64, step int, p *posterior) (out *Tasks[T], exact []float64, err error) {
	if err := s.Validate(); err != nil {
		return nil, nil, err
	}
	rng := StepRand(seed, step)
	least, most, nt, pool := s.sizes()
	nc := least + rng.IntN(most-least+1)
	kernel, u := 0, rng.Float64()
	for u >= jointShares[kernel] {
		kernel++
	}
	x := make([]float64, pool)
	sobolLine(x, rng)
	for i := range x {
		x[i] = 4*x[i] - 2
	}
	out = &Tasks[T]{Curves: &cnp.Batch[T]{B: n, Nc: nc, Nt: nt}, Y: make([]T, n*nt)}
	b := out.Curves
	b.XContext, b.YContext, b.XTarget = make([]float64, n*nc), make([]T, n*nc), make([]float64, n*nt)
	seeds := make([][2]uint64, n)
	for t := range seeds {
		seeds[t] = [2]uint64{rng.Uint64(), rng.Uint64()}
	}
	exact = make([]float64, n)
	if p != nil {
		p.mean, p.std = make([]float64, n*nt), make([]float64, n*nt)
	}
	err = eachTask(n, func(t int) error {
		own := rand.New(rand.NewPCG(seeds[t][0], seeds[t][1]))
		at := make([]float64, nc+nt) // the context first
		for i, k := range own.Perm(len(x))[:len(at)] {
			at[i] = x[k]
		}
		var mean, std []float64
		if p != nil {
			mean, std = p.mean[t*nt:(t+1)*nt], p.std[t*nt:(t+1)*nt]
		}
		var y []float64
		if s.Process == "sawtooth" {
			y = jointWave(at, own, mean, std)
		} else if y, exact[t], err = jointCurve(at, nc, jointKernels[kernel], own, mean, std); err != nil {
			return err
		}
		copy(b.XContext[t*nc:], at[:nc])
		copy(b.XTarget[t*nt:(t+1)*nt], at[nc:])
		for i, v := range y {
			if i < nc {
				b.YContext[t*nc+i] = T(v)
			} else {
				out.Y[t*nt+i-nc] = T(v)
			}
		}
		return nil
	})
	return out, exact, err
}

// jointWave draws a sawtooth wave at x. It sets mean and std, which may be empty, to those of the last values, given the wave.
func jointWave(x []float64, rng *rand.Rand, mean, std []float64) []float64 {
	w, phase, noise := 3+2*rng.Float64(), rng.Float64(), 0.05+0.05*rng.Float64()
	if rng.IntN(2) == 1 {
		w = -w // the direction; the phase is uniform either way
	}
	y, first := make([]float64, len(x)), len(x)-len(mean)
	for i, v := range x {
		f := w * v
		f -= math.Abs(w) * phase
		f -= math.Floor(f)
		y[i] = f + noise*rng.NormFloat64()
		if i >= first {
			mean[i-first], std[i-first] = f, noise
		}
	}
	return y
}

// jointCurve draws a curve at x, and says how likely the values behind the first nc are given these, per value. It sets mean and
// std, which may be empty, to those of each of them given the first nc.
func jointCurve(x []float64, nc int, kernel func(float64) Kernel, rng *rand.Rand, mean, std []float64) (y []float64, exact float64,
	err error) {
	variance := curveLeast + (curveMost-curveLeast)*rng.Float64()
	length := curveShortest + 0.9*rng.Float64()
	k := kernel(length)
	// Of values over the root of the variance, which are 1 at distance 0.
	l, err := factor(x, 1, jointNoise/variance, func(row []float64) {
		for i, d2 := range row {
			row[i] = k(math.Sqrt(d2))
		}
	}, nil)
	if err != nil {
		return nil, 0, err
	}
	y = make([]float64, len(x))
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	blas64.Trmv(blas.NoTrans, l, blas64.Vector{N: len(y), Data: y, Inc: 1})
	joint, _ := densities(l, y, nc)
	scale := math.Sqrt(variance)
	if len(mean) > 0 {
		known, z := l, slices.Clone(y[:nc])
		known.N = nc
		blas64.Trsv(blas.NoTrans, known, blas64.Vector{N: nc, Data: z, Inc: 1})
		for i := range mean {
			m, d := given(l, z, nc+i)
			mean[i], std[i] = scale*m, scale*d
		}
	}
	for i := range y {
		y[i] *= scale
	}
	return y, joint/float64(len(y)-nc) - math.Log(variance)/2, nil
}
