package cnp_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// oracle is a Gaussian process as a predictor.
type oracle struct{ task.GP }

func (o oracle) Predict(_ context.Context, b *cnp.Batch[float64]) (*cnp.Prediction[float64], error) {
	p := &cnp.Prediction[float64]{Mean: make([]float64, b.B*b.Nt), Std: make([]float64, b.B*b.Nt)}
	for t := range b.B {
		var x, y []float64
		for i := t * b.Nc; i < (t+1)*b.Nc; i++ {
			if b.ContextMask == nil || b.ContextMask[i] {
				x, y = append(x, b.XContext[i]), append(y, b.YContext[i])
			}
		}
		mean, std, err := o.GP.Predict(b.XTarget[t*b.Nt:(t+1)*b.Nt], x, y)
		if err != nil {
			return nil, err
		}
		copy(p.Mean[t*b.Nt:], mean)
		copy(p.Std[t*b.Nt:], std)
	}
	return p, nil
}

// covariance of observations at x.
func (o oracle) covariance(x []float64) *mat.SymDense {
	k := mat.NewSymDense(len(x), nil)
	for i := range x {
		for j := range i + 1 {
			k.SetSym(i, j, o.Kernel(math.Abs(x[i]-x[j])))
		}
		k.SetSym(i, i, o.Kernel(0)+o.Jitter)
	}
	return k
}

// logDensity is the joint one of observations y at x.
func (o oracle) logDensity(t *testing.T, x, y []float64) float64 {
	t.Helper()
	var chol mat.Cholesky
	require.True(t, chol.Factorize(o.covariance(x)))
	var solved mat.VecDense
	require.NoError(t, chol.SolveVecTo(&solved, mat.NewVecDense(len(y), y)))
	return -0.5*mat.Dot(mat.NewVecDense(len(y), y), &solved) - 0.5*chol.LogDet() - 0.5*float64(len(y))*math.Log(2*math.Pi)
}

var process = oracle{task.GP{Kernel: task.RBF(0.7), Jitter: 0.05}}

// chains are some orders and blocks.
func chains() (all []cnp.Chain) {
	for _, o := range []cnp.Order{cnp.OrderRandom, cnp.OrderGiven, cnp.OrderLeftToRight, cnp.OrderSpread} {
		all = append(all, cnp.Chain{Order: o, Seed: 3}, cnp.Chain{Order: o, Block: 4, Seed: 3})
	}
	return append(all, cnp.Chain{Block: 2, Growth: 0.5, Seed: 3})
}

// curveTasks are tasks of dx coordinates and dy values, some of whose points are masked, without a context in the last of them.
func curveTasks[T cnp.Float](seed uint64, tasks, nc, nt, dx, dy int, masks bool) (*cnp.Batch[T], []T) {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := &cnp.Batch[T]{B: tasks, Nc: nc, Nt: nt}
	var y []T
	for range tasks * nc * dx {
		b.XContext = append(b.XContext, 2*rng.Float64()-1)
	}
	for range tasks * nc * dy {
		b.YContext = append(b.YContext, T(rng.NormFloat64()))
	}
	for range tasks * nt * dx {
		b.XTarget = append(b.XTarget, 2*rng.Float64()-1)
	}
	for range tasks * nt * dy {
		y = append(y, T(rng.NormFloat64()))
	}
	if masks {
		for i := range tasks * nc {
			b.ContextMask = append(b.ContextMask, rng.IntN(3) > 0 && i < (tasks-1)*nc)
			if !b.ContextMask[i] {
				b.XContext[i*dx], b.YContext[i*dy] = math.NaN(), T(math.NaN())
			}
		}
		for i := range tasks * nt {
			b.TargetMask = append(b.TargetMask, rng.IntN(4) > 0)
			if !b.TargetMask[i] {
				b.XTarget[i*dx] = math.Inf(1)
			}
		}
	}
	return b, y
}

// TestChainProcess: the chain rule of a Gaussian process gives its joint density, in any order.
func TestChainProcess(t *testing.T) {
	b, y := curveTasks[float64](1, 3, 5, 12, 1, 1, true)
	for _, c := range chains() {
		if c.Block > 1 {
			continue // targets of a block are independent
		}
		j, err := cnp.JointCurves(t.Context(), process, b, y, c)
		require.NoError(t, err)
		for k := range b.B {
			var x, v []float64
			for i := k * b.Nc; i < (k+1)*b.Nc; i++ {
				if b.ContextMask[i] {
					x, v = append(x, b.XContext[i]), append(v, b.YContext[i])
				}
			}
			before, n := 0.0, len(x)
			if n > 0 {
				before = process.logDensity(t, x, v)
			}
			for i := k * b.Nt; i < (k+1)*b.Nt; i++ {
				if b.TargetMask[i] {
					x, v = append(x, b.XTarget[i]), append(v, y[i])
				} else {
					require.Zero(t, j.LogDensity[i])
				}
			}
			sum, values := j.Task(k, b.B)
			require.Equal(t, len(x)-n, values)
			require.InDelta(t, process.logDensity(t, x, v)-before, sum, 1e-9, "%v, task %d", c, k)
		}
	}
}

// TestChainSamplesOfProcess: samples by the chain rule have the mean and the covariance of the process given its
// context, and functions those of the process without noise as far as knots tell.
func TestChainSamplesOfProcess(t *testing.T) {
	const samples = 20000
	b := &cnp.Batch[float64]{B: 1, Nc: 2, Nt: 4, XContext: []float64{-0.5, 0.4}, YContext: []float64{1, -0.3},
		XTarget: []float64{0, 0.2, 0.2, 1.5}}
	k := process.covariance(append(slices.Clone(b.XContext), b.XTarget...))
	var chol mat.Cholesky
	require.True(t, chol.Factorize(k.SliceSym(0, 2).(*mat.SymDense)))
	for _, c := range chains() {
		if c.Block > 1 {
			continue
		}
		y, err := cnp.SampleCurves(t.Context(), process, b, cnp.SampleOptions{Chain: c, Samples: samples})
		require.NoError(t, err)
		mean, err := process.Predict(t.Context(), b)
		require.NoError(t, err)
		for i := range 4 {
			var ki mat.VecDense
			require.NoError(t, chol.SolveVecTo(&ki, mat.NewVecDense(2, []float64{k.At(0, 2+i), k.At(1, 2+i)})))
			for j := range 4 {
				want := k.At(2+i, 2+j) - ki.AtVec(0)*k.At(0, 2+j) - ki.AtVec(1)*k.At(1, 2+j)
				got, sum := 0.0, 0.0
				for s := range samples {
					got += (y[s*4+i] - mean.Mean[i]) * (y[s*4+j] - mean.Mean[j]) / samples
					sum += y[s*4+i] / samples
				}
				require.InDelta(t, mean.Mean[i], sum, 0.03)
				require.InDelta(t, want, got, 0.04, "%v: %d, %d", c, i, j)
			}
		}
	}
	// Functions do not have the noise of observations: at equal targets they are equal.
	y, err := cnp.SampleCurves(t.Context(), process, b, cnp.SampleOptions{Chain: cnp.Chain{Seed: 1}, Samples: 50, Function: true})
	require.NoError(t, err)
	for s := range 50 {
		require.InDelta(t, y[s*4+1], y[s*4+2], 1e-12)
	}
	// Knots are some of the targets.
	y, err = cnp.SampleCurves(t.Context(), process, b, cnp.SampleOptions{Chain: cnp.Chain{Seed: 1}, Samples: 2, Function: true, Knots: 1})
	require.NoError(t, err)
	require.NotContains(t, y, 0.0)
}

// chainModels are models of curves, those with weights that nobody trained.
func chainModels(t *testing.T) map[string]cnp.Regressor[float32] {
	t.Helper()
	out := map[string]cnp.Regressor[float32]{}
	add := func(name string, c cnp.Config) {
		m, err := cnp.New[float32](c, 4)
		require.NoError(t, err)
		out[name] = m.(cnp.Regressor[float32])
	}
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.PointsPerUnit = 16
	add("equivcnp", c)
	c.Placement, c.Readout = cnp.PlacementBatch, cnp.ReadoutTargets
	add("equivcnp of the authors", c)
	c = cnp.Default(cnp.EquivCNPCurve, "SE(2)", 2)
	c.PointsPerUnit, c.DimY, c.Placement = 0, 2, cnp.PlacementBatch
	add("equivcnp on points", c)
	c = cnp.Default(cnp.ConvCNPCurve, "", 1)
	c.PointsPerUnit = 16
	add("convcnp", c)
	add("cnp", cnp.Default(cnp.CNPCurve, "", 1))
	c = cnp.DefaultLevels(3, 1, 2)
	c.PointsPerUnit, c.Channels, c.Multiplicity = 8, []int{4, 5, 6}, 2
	add("levels", c)
	c = cnp.DefaultLevels(2, 2, 3)
	c.Group, c.Lifts, c.Outputs, c.Likelihood = "SE(2)", 3, []cnp.FieldType{cnp.Vector, cnp.Scalar}, "full"
	c.PointsPerUnit, c.Channels, c.Kernel, c.EncoderLength = 3, []int{4, 5}, 3, 0.4
	add("fields", c)
	c = cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.PointsPerUnit, c.DimY, c.Multiplicity, c.Likelihood = 16, 2, 2, "normal:noise"
	add("equivcnp of two values", c)
	return out
}

// bruteForce goes through the chain of one task by the definition: every target is predicted alone, given all that was there before.
// next gives the values of a target, which is number k of the task.
func bruteForce[T cnp.Float](t *testing.T, m cnp.Regressor[T], b *cnp.Batch[T], order []int, chain cnp.Chain,
	next func(k int, mean, std []T) []T) {
	t.Helper()
	dx, dy := m.Config().DimX, m.Config().DimY
	x, y := slices.Clone(b.XContext), slices.Clone(b.YContext)
	for lo := 0; lo < len(order); {
		some := order[lo:min(lo+blockOf(chain, b.Nc+lo), len(order))]
		lo += len(some)
		one := &cnp.Batch[T]{B: 1, Nc: len(x) / dx, Nt: len(some), XContext: x, YContext: y}
		for _, k := range some {
			one.XTarget = append(one.XTarget, b.XTarget[k*dx:(k+1)*dx]...)
		}
		p, err := m.Predict(t.Context(), one)
		require.NoError(t, err)
		for i, k := range some {
			v := next(k, p.Mean[i*dy:(i+1)*dy], p.Std[i*dy:(i+1)*dy])
			x, y = append(x, b.XTarget[k*dx:(k+1)*dx]...), append(y, v...)
		}
	}
}

// blockOf is how many targets go at a time where so many points are known.
func blockOf(c cnp.Chain, known int) int { return max(1, c.Block, int(c.Growth*float64(known))) }

// TestChainBruteForce: densities have the bits of predictions that are made one by one, and so have samples, whose standardised values say
// what was drawn.
func TestChainBruteForce(t *testing.T) {
	for name, m := range chainModels(t) {
		dx, dy := m.Config().DimX, m.Config().DimY
		for _, nc := range []int{0, 5} {
			for _, c := range []cnp.Chain{{Order: cnp.OrderGiven}, {Order: cnp.OrderGiven, Block: 4},
				{Order: cnp.OrderGiven, Growth: 0.3}} {
				t.Run(fmt.Sprintf("%s/context=%d/block=%d,%v", name, nc, c.Block, c.Growth), func(t *testing.T) {
					b, y := curveTasks[float32](2, 1, nc, 9, dx, dy, false)
					copy(b.XTarget[2*dx:], b.XTarget[:dx]) // equal targets
					order := []int{0, 1, 2, 3, 4, 5, 6, 7, 8}
					j, err := cnp.JointCurves(t.Context(), m, b, y, c)
					require.NoError(t, err)
					bruteForce(t, m, b, order, c, func(k int, mean, std []float32) []float32 {
						require.Equal(t, mean, j.Mean[k*dy:(k+1)*dy])
						require.Equal(t, std, j.Std[k*dy:(k+1)*dy])
						density, _ := j.Slice(k*dy, (k+1)*dy).LogDensity(y[k*dy:(k+1)*dy], nil)
						require.InDelta(t, density, j.LogDensity[k], 1e-12*(1+math.Abs(density)))
						return y[k*dy : (k+1)*dy]
					})
					s, err := cnp.SampleCurves(t.Context(), m, b, cnp.SampleOptions{Chain: c, Samples: 3})
					require.NoError(t, err)
					var z [3][]float64
					for i := range z {
						mine := s[i*9*dy : (i+1)*9*dy]
						bruteForce(t, m, b, order, c, func(k int, mean, std []float32) []float32 {
							for d := range dy {
								z[i] = append(z[i], float64(mine[k*dy+d]-mean[d])/float64(std[d]))
							}
							return mine[k*dy : (k+1)*dy]
						})
						if i > 0 {
							require.NotEqual(t, z[0], z[i])
						}
					}
					// What was drawn does not depend on the model's prediction.
					again := cnp.SampleOptions{Chain: c, Samples: 1}
					first, err := cnp.SampleCurves(t.Context(), m, b, again)
					require.NoError(t, err)
					require.Equal(t, s[:9*dy], first, "one sample is the first of three")
					for _, v := range z[0] {
						require.Less(t, math.Abs(v), 5.0)
					}
				})
			}
		}
	}
}

// TestChainBits: a task's samples and densities have the same bits alone and in a batch, with padding and without, and for any number of
// threads; another seed gives others.
func TestChainBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, m := range chainModels(t) {
		dx, dy := m.Config().DimX, m.Config().DimY
		b, y := curveTasks[float32](5, 4, 6, 7, dx, dy, true)
		for _, c := range chains() {
			t.Run(fmt.Sprintf("%s/%s/block=%d", name, c.Order, c.Block), func(t *testing.T) {
				opt := cnp.SampleOptions{Chain: c, Samples: 3, Function: c.Block > 1}
				runtime.GOMAXPROCS(4)
				all, err := cnp.SampleCurves(t.Context(), m, b, opt)
				require.NoError(t, err)
				joint, err := cnp.JointCurves(t.Context(), m, b, y, c)
				require.NoError(t, err)
				runtime.GOMAXPROCS(1)
				for k := range b.B {
					one := &cnp.Batch[float32]{B: 1}
					var truth []float32
					var at []int
					for i := k * b.Nc; i < (k+1)*b.Nc; i++ {
						if b.ContextMask[i] {
							one.Nc++
							one.XContext, one.YContext = append(one.XContext, b.XContext[i*dx:(i+1)*dx]...),
								append(one.YContext, b.YContext[i*dy:(i+1)*dy]...)
						}
					}
					for i := k * b.Nt; i < (k+1)*b.Nt; i++ {
						if b.TargetMask[i] {
							one.Nt++
							one.XTarget, truth, at = append(one.XTarget, b.XTarget[i*dx:(i+1)*dx]...),
								append(truth, y[i*dy:(i+1)*dy]...), append(at, i)
						}
					}
					mine, err := cnp.SampleCurves(t.Context(), m, one, opt)
					require.NoError(t, err)
					j, err := cnp.JointCurves(t.Context(), m, one, truth, c)
					require.NoError(t, err)
					for i, from := range at {
						require.Equal(t, j.LogDensity[i], joint.LogDensity[from])
						require.Equal(t, j.Mean[i*dy:(i+1)*dy], joint.Mean[from*dy:(from+1)*dy])
						for s := range opt.Samples {
							require.Equal(t, mine[(s*one.Nt+i)*dy:][:dy], all[(s*b.B*b.Nt+from)*dy:][:dy])
						}
					}
				}
				for i, ok := range b.TargetMask {
					if !ok {
						require.Zero(t, all[i*dy])
						require.Zero(t, joint.LogDensity[i])
					}
				}
				opt.Seed++
				other, err := cnp.SampleCurves(t.Context(), m, b, opt)
				require.NoError(t, err)
				require.NotEqual(t, all, other)
				opt.Seeds = []uint64{c.Seed, 7, 8, 9}
				other, err = cnp.SampleCurves(t.Context(), m, b, opt)
				require.NoError(t, err)
				require.Equal(t, all[:b.Nt*dy], other[:b.Nt*dy])
				require.NotEqual(t, all[b.Nt*dy:2*b.Nt*dy], other[b.Nt*dy:2*b.Nt*dy])
			})
		}
	}
}

// TestChainOrder: a permuted batch gives the same in an order that does not look at how targets are listed.
func TestChainOrder(t *testing.T) {
	m := chainModels(t)["equivcnp"]
	b, y := curveTasks[float32](6, 1, 4, 8, 1, 1, false)
	c := cnp.Chain{Order: cnp.OrderLeftToRight}
	j, err := cnp.JointCurves(t.Context(), m, b, y, c)
	require.NoError(t, err)
	p := *b
	p.XTarget = nil
	var truth []float32
	perm := rand.New(rand.NewPCG(1, 1)).Perm(8)
	for _, i := range perm {
		p.XTarget, truth = append(p.XTarget, b.XTarget[i]), append(truth, y[i])
	}
	k, err := cnp.JointCurves(t.Context(), m, &p, truth, c)
	require.NoError(t, err)
	for i, from := range perm {
		require.Equal(t, j.LogDensity[from], k.LogDensity[i])
	}
	c.Order = cnp.OrderGiven
	k, err = cnp.JointCurves(t.Context(), m, &p, truth, c)
	require.NoError(t, err)
	a, _ := j.Task(0, 1)
	z, _ := k.Task(0, 1)
	require.NotEqual(t, a, z)
}

// TestChainMissing: a missing value does not count, and its target tells the others nothing; under a model that knows
// which outputs were observed, it tells them the rest.
func TestChainMissing(t *testing.T) {
	each := chainModels(t)["equivcnp on points"]
	cfg := each.Config()
	require.True(t, cfg.ChannelDensity)
	cfg.ChannelDensity = false
	whole, err := cnp.New[float32](cfg, 4)
	require.NoError(t, err)
	m := whole.(cnp.Regressor[float32])
	b, y := curveTasks[float32](7, 2, 4, 6, 2, 2, false)
	c := cnp.Chain{Order: cnp.OrderGiven}
	y[2*2+1] = float32(math.NaN()) // one of two of target 2 of task 0
	j, err := cnp.JointCurves(t.Context(), m, b, y, c)
	require.NoError(t, err)
	_, n := j.Task(0, 2)
	require.Equal(t, 11, n)
	masked := *b
	masked.TargetMask = slices.Repeat([]bool{true}, 12)
	masked.TargetMask[2] = false
	k, err := cnp.JointCurves(t.Context(), m, &masked, y, c)
	require.NoError(t, err)
	for i := range j.LogDensity {
		if i != 2 {
			require.Equal(t, k.LogDensity[i], j.LogDensity[i])
		}
	}
	l, err := cnp.JointCurves(t.Context(), each, b, y, c)
	require.NoError(t, err)
	known := *b // the first target after it, given those before
	known.B, known.Nc, known.Nt = 1, 4+3, 1
	known.XContext = slices.Concat(b.XContext[:8], b.XTarget[:6])
	known.YContext = slices.Concat(b.YContext[:8], y[:6])
	known.XTarget = b.XTarget[6:8]
	after, err := each.Predict(t.Context(), &known)
	require.NoError(t, err)
	require.Equal(t, after.Mean, l.Mean[6:8])
	density, _ := cnp.LogLikelihood(j.Mean[4:5], j.Std[4:5], y[4:5], nil)
	require.InDelta(t, density, j.LogDensity[2], 1e-12)

	y[0] = float32(math.Inf(1))
	_, err = cnp.JointCurves(t.Context(), m, b, y, c)
	require.ErrorIs(t, err, cnp.ErrValue)
}

// TestChainOutside: targets out of the model's reach are NaN and named, and leave the others what they are without them.
func TestChainOutside(t *testing.T) {
	for _, name := range []string{"equivcnp", "equivcnp of the authors", "convcnp"} {
		m := chainModels(t)[name]
		b, y := curveTasks[float32](8, 2, 4, 5, 1, 1, false)
		masked := *b
		masked.TargetMask = slices.Repeat([]bool{true}, 10)
		masked.TargetMask[1], masked.TargetMask[3] = false, false
		far := *b
		far.XTarget = slices.Clone(b.XTarget)
		far.XTarget[1], far.XTarget[3] = -1e12, 1e12
		c := cnp.Chain{Order: cnp.OrderGiven}
		want, err := cnp.JointCurves(t.Context(), m, &masked, y, c)
		require.NoError(t, err)
		got, err := cnp.JointCurves(t.Context(), m, &far, y, c)
		check := func(err error) {
			var out *cnp.OutsideError
			require.True(t, errors.As(err, &out), "%s: %v", name, err)
			require.Len(t, out.Points, 2)
			require.Equal(t, []float64{-1e12}, out.Points[0].X)
			require.Equal(t, []float64{1e12}, out.Points[1].X)
		}
		check(err)
		for i := range want.LogDensity {
			require.Equal(t, want.LogDensity[i], got.LogDensity[i], name)
			require.Equal(t, i == 1 || i == 3, got.Mean[i] != got.Mean[i])
		}
		opt := cnp.SampleOptions{Samples: 2, Function: true}
		opt.Order = cnp.OrderGiven
		s, err := cnp.SampleCurves(t.Context(), m, &far, opt)
		check(err)
		for i, v := range s {
			require.Equal(t, i%10 == 1 || i%10 == 3, v != v)
		}
	}
}

// TestChainMoves: under a model that is equivariant under translations, samples move with their task.
func TestChainMoves(t *testing.T) {
	m := chainModels(t)["equivcnp"]
	b, _ := curveTasks[float32](9, 1, 5, 12, 1, 1, false)
	moved := *b
	moved.XContext, moved.XTarget = slices.Clone(b.XContext), slices.Clone(b.XTarget)
	for _, x := range [][]float64{moved.XContext, moved.XTarget} {
		for i := range x {
			x[i] += 1024
		}
	}
	opt := cnp.SampleOptions{Samples: 4}
	a, err := cnp.SampleCurves(t.Context(), m, b, opt)
	require.NoError(t, err)
	z, err := cnp.SampleCurves(t.Context(), m, &moved, opt)
	require.NoError(t, err)
	for i := range a {
		require.InDelta(t, a[i], z[i], 1e-3)
	}
}

// TestChainErrors: what cannot be done is refused; nothing asked for is nothing given; a context that is done ends the work.
func TestChainErrors(t *testing.T) {
	m := chainModels(t)["equivcnp"]
	b, y := curveTasks[float32](10, 2, 3, 4, 1, 1, false)
	for name, opt := range map[string]cnp.SampleOptions{
		"order":   {Chain: cnp.Chain{Order: "backwards"}, Samples: 1},
		"block":   {Chain: cnp.Chain{Block: -1}, Samples: 1},
		"growth":  {Chain: cnp.Chain{Growth: math.NaN()}, Samples: 1},
		"grown":   {Chain: cnp.Chain{Growth: math.Inf(1)}, Samples: 1},
		"seeds":   {Chain: cnp.Chain{Seeds: []uint64{1}}, Samples: 1},
		"samples": {},
		"many":    {Samples: math.MaxInt},
		"knots":   {Samples: 1, Knots: 3},
	} {
		_, err := cnp.SampleCurves(t.Context(), m, b, opt)
		require.Error(t, err, name)
	}
	_, err := cnp.SampleCurves[float32](t.Context(), m, nil, cnp.SampleOptions{Samples: 1})
	require.ErrorIs(t, err, cnp.ErrShape)
	_, err = cnp.JointCurves(t.Context(), m, b, y[1:], cnp.Chain{})
	require.ErrorIs(t, err, cnp.ErrShape)
	empty := &cnp.Batch[float32]{B: 3}
	s, err := cnp.SampleCurves(t.Context(), m, empty, cnp.SampleOptions{Samples: 1})
	require.NoError(t, err)
	require.Empty(t, s)
	j, err := cnp.JointCurves(t.Context(), m, empty, nil, cnp.Chain{})
	require.NoError(t, err)
	require.Empty(t, j.Mean)

	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	ctx = cnp.WithProgress(ctx, func(done, total int) {
		require.LessOrEqual(t, done, total)
		if calls++; calls == 2 {
			cancel()
		}
	})
	_, err = cnp.SampleCurves(ctx, m, b, cnp.SampleOptions{Samples: 2})
	require.ErrorIs(t, err, context.Canceled)
	_, err = cnp.JointCurves(ctx, m, b, y, cnp.Chain{})
	require.ErrorIs(t, err, context.Canceled)
}

// TestChainStandardised: tasks of another scale are drawn and judged in their own units.
func TestChainStandardised(t *testing.T) {
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.PointsPerUnit = 16
	c.Trained = &cnp.Trained{X: []cnp.Range{{Min: -2, Max: 2, Std: 1}}, Y: []cnp.Range{{Min: -3, Max: 3, Std: 1}}, Span: 2,
		Context: [2]int{1, 50}}
	model, err := cnp.New[float32](c, 4)
	require.NoError(t, err)
	m := model.(cnp.Regressor[float32])
	b, y := curveTasks[float32](11, 2, 6, 5, 1, 1, false)
	large := *b
	large.YContext = slices.Clone(b.YContext)
	truth := slices.Clone(y)
	for _, v := range [][]float32{large.YContext[:6], truth[:5]} { // of the first task
		for i := range v {
			v[i] = 1000 + 100*v[i]
		}
	}
	in, undo, err := cnp.Standardise(&c, &large)
	require.NoError(t, err)
	require.NotEqual(t, in.YContext, large.YContext)
	opt := cnp.SampleOptions{Samples: 2}
	s, err := cnp.SampleCurves(t.Context(), cnp.Standardised(m), &large, opt)
	require.NoError(t, err)
	inside, err := cnp.SampleCurves(t.Context(), m, in, opt)
	require.NoError(t, err)
	for k := range 2 {
		p := &cnp.Prediction[float32]{Mean: inside[k*10 : (k+1)*10], Std: make([]float32, 10)}
		undo(p)
		require.Equal(t, p.Mean, s[k*10:(k+1)*10])
	}
	j, err := cnp.JointCurves(t.Context(), cnp.Standardised(m), &large, truth, cnp.Chain{})
	require.NoError(t, err)
	for k := range 2 {
		sum, _ := cnp.LogLikelihood(j.Mean[k*5:(k+1)*5], j.Std[k*5:(k+1)*5], truth[k*5:(k+1)*5], nil)
		got, n := j.Task(k, 2)
		require.Equal(t, 5, n)
		require.InDelta(t, sum, got, 1e-6)
	}
	require.Greater(t, j.Mean[0], float32(500))
}
