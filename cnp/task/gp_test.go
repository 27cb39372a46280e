package task

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/equivcnp/equivcnp/cnp"
)

func kernels(t *testing.T) map[string]Kernel {
	out := map[string]Kernel{"short": RBF(0.3)}
	for _, name := range []string{"rbf", "matern", "periodic"} {
		k, err := KernelByName(name)
		require.NoError(t, err)
		out[name] = k
	}
	return out
}

func TestKernels(t *testing.T) {
	_, err := KernelByName("linear")
	require.ErrorContains(t, err, `kernel "linear"`)
	for name, k := range kernels(t) {
		require.Equal(t, 1.0, k(0), name)
	}
	require.InDelta(t, math.Exp(-0.5), RBF(2)(2), 1e-15)
	require.InDelta(t, (1+math.Sqrt(5)+5.0/3)*math.Exp(-math.Sqrt(5)), Matern52(1)(1), 1e-15)
	require.InDelta(t, math.Exp(-2), Periodic(1, 1)(0.5), 1e-15)
	require.InDelta(t, 1, Periodic(3, 1)(6), 1e-15)
}

// TestChainRule: the density of a curve is the product of the predictions of each value from those before it.
func TestChainRule(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, k := range kernels(t) {
		g := GP{k, 1e-4}
		x := make([]float64, 12)
		for i := range x {
			x[i] = 6*rng.Float64() - 3
		}
		y, err := g.Sample(x, rng)
		require.NoError(t, err)
		chol, err := g.factor(x)
		require.NoError(t, err)
		var s mat.VecDense
		require.NoError(t, chol.SolveVecTo(&s, mat.NewVecDense(len(y), y)))
		want := -0.5 * (mat.Dot(&s, mat.NewVecDense(len(y), y)) + chol.LogDet() + float64(len(y))*math.Log(2*math.Pi))
		density, err := g.LogDensity(x, y, 0)
		require.NoError(t, err)
		require.InDelta(t, want, density, 1e-7*math.Abs(want), name)
		first, err := g.LogDensity(x[:5], y[:5], 0)
		require.NoError(t, err)
		rest, err := g.LogDensity(x, y, 5)
		require.NoError(t, err)
		require.InDelta(t, want, first+rest, 1e-7*math.Abs(want), name)
		got := 0.0
		for i := range x {
			mean, std, err := g.Predict(x[i:i+1], x[:i], y[:i])
			require.NoError(t, err)
			ll, _ := cnp.LogLikelihood(mean, std, y[i:i+1], nil)
			got += ll
		}
		require.InDelta(t, want, got, 1e-7*math.Abs(want), name)
	}
}

// TestSampleCovariance: over many draws, the products of values average to the kernel.
func TestSampleCovariance(t *testing.T) {
	const draws = 20000
	rng := rand.New(rand.NewPCG(2, 1))
	x := []float64{-1, 0, 0.4, 2}
	for name, k := range kernels(t) {
		g := GP{k, DefaultJitter}
		draw := g.At(x)
		var sum [4][4]float64
		y := make([]float64, 4)
		for range draws {
			require.NoError(t, draw(y, rng))
			for i := range y {
				for j := range y {
					sum[i][j] += y[i] * y[j] / draws
				}
			}
		}
		for i := range x {
			for j := range x {
				// The standard deviation of such a mean is at most √2/√draws; five of them.
				require.InDelta(t, k(math.Abs(x[i]-x[j])), sum[i][j], 5*math.Sqrt2/math.Sqrt(draws), name)
			}
		}
	}
}

func TestPredictEdges(t *testing.T) {
	g := GP{RBF(1), DefaultJitter}
	mean, std, err := g.Predict([]float64{0, 5}, nil, nil)
	require.NoError(t, err)
	require.Equal(t, []float64{0, 0}, mean)
	require.InDelta(t, 1, std[1], 1e-8)
	mean, std, err = g.Predict([]float64{1, 50}, []float64{1, 2}, []float64{3, -1})
	require.NoError(t, err)
	require.InDelta(t, 3, mean[0], 1e-6)
	require.InDelta(t, 0, std[0], 2e-4)
	require.InDelta(t, 0, mean[1], 1e-12)
	_, _, err = g.Predict(nil, []float64{1}, nil)
	require.ErrorContains(t, err, "1 inputs with 0 outputs")
	_, err = GP{RBF(1), 0}.Sample([]float64{1, 1}, rand.New(rand.NewPCG(1, 1)))
	require.ErrorContains(t, err, "not positive definite")
	y, err := g.Sample(nil, nil)
	require.NoError(t, err)
	require.Empty(t, y)
}

// TestDraw: the context is part of the targets, in number and place as asked for, and a seed draws one batch.
func TestDraw(t *testing.T) {
	k, err := KernelByName("matern")
	require.NoError(t, err)
	for _, even := range []bool{true, false} {
		c := Curves{GP: GP{k, DefaultJitter}, Lo: -2, Hi: 2, Targets: 30, Even: even, MinContext: 2, MaxContext: 9}
		b, y, err := Draw[float32](c, 40, rand.New(rand.NewPCG(3, 1)))
		require.NoError(t, err)
		again, y2, err := Draw[float32](c, 40, rand.New(rand.NewPCG(3, 1)))
		require.NoError(t, err)
		require.Equal(t, b, again)
		require.Equal(t, y, y2)
		require.Len(t, y, 40*30)
		counts := map[int]int{}
		for task := range 40 {
			at := map[float64]float32{}
			for i := range 30 {
				x := b.XTarget[task*30+i]
				require.True(t, x >= -2 && x <= 2)
				at[x] = y[task*30+i]
			}
			n := 0
			for i := range b.Nc {
				if p := task*b.Nc + i; b.ContextMask[p] {
					v, ok := at[b.XContext[p]]
					require.True(t, ok)
					require.Equal(t, v, b.YContext[p])
					n++
				}
			}
			counts[n]++
		}
		require.Len(t, counts, 8, "every size from 2 to 9")
		if even {
			require.Equal(t, -2.0, b.XTarget[0])
			require.Equal(t, 2.0, b.XTarget[29])
		}
	}
	b, _, err := Draw[float64](PaperTest(RBF(1)), 1, rand.New(rand.NewPCG(4, 1)))
	require.NoError(t, err)
	require.Equal(t, 400, b.Nt)
	require.InDelta(t, 8.0/399, b.XTarget[1]-b.XTarget[0], 1e-12)

	good := PaperTest(RBF(1))
	bad := good
	bad.MinTargets = good.Targets + 1
	require.ErrorContains(t, bad.Validate(), "at least 401 of 400 targets")
	for want, change := range map[string]func(c *Curves){
		"no kernel":                              func(c *Curves) { c.GP.Kernel = nil },
		"jitter = NaN":                           func(c *Curves) { c.GP.Jitter = math.NaN() },
		"empty or too long":                      func(c *Curves) { c.Hi = c.Lo },
		"targets = 0":                            func(c *Curves) { c.Targets = 0 },
		"context points 3 to 401 of 400 targets": func(c *Curves) { c.MaxContext = 401 },
	} {
		c := good
		change(&c)
		_, _, err := Draw[float32](c, 1, rand.New(rand.NewPCG(1, 1)))
		require.ErrorContains(t, err, want)
	}
}

// The number of targets is uniform, as in the paper's appendix D.1; without that, tasks are as they were.
func TestMinTargets(t *testing.T) {
	c := PaperTest(RBF(1))
	c.Targets, c.MinTargets, c.MaxContext = 20, 5, 10
	b, y, err := Draw[float64](c, 600, rand.New(rand.NewPCG(1, 2)))
	require.NoError(t, err)
	require.Len(t, y, 600*20)
	seen := map[int]int{}
	for k := range 600 {
		n := 0
		for _, m := range b.TargetMask[k*20 : (k+1)*20] {
			if m {
				n++
			}
		}
		seen[n]++
	}
	require.Len(t, seen, 16)
	for n := 5; n <= 20; n++ {
		require.InDelta(t, 600./16, seen[n], 30, "%d targets", n)
	}
	c.MinTargets = 0
	b, _, err = Draw[float64](c, 2, rand.New(rand.NewPCG(1, 2)))
	require.NoError(t, err)
	require.Nil(t, b.TargetMask)
}
