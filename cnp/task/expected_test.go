package task

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// gaussianSources is a source of every kind, as its tasks are expected.
func gaussianSources() []Expected[float64] {
	return []Expected[float64]{
		{Of: CurveSource[float64]{Name: "rbf", Curves: Curves{GP: GP{RBF(0.5), 1e-3}, Lo: -2, Hi: 2, Targets: 12, MinContext: 3,
			MaxContext: 6}}, Dy: 1},
		{Of: BenchmarkSource[float64]{Process: "weakly-periodic", Dx: 2, Chain: true}, Dy: 1},
		{Of: SphereSource[float64]{Process: "matern", Place: "mid", Dx: 2}, Dy: 1},
		{Of: PlaneSource[float64]{Kind: "none"}, Dy: 1},
		{Of: PlaneSource[float64]{Kind: "stationary"}, Dy: 1},
		{Of: VectorSource[float64]{Kernel: "curl-free", MinContext: 3, MaxContext: 40, Targets: 7}, Dy: 2},
	}
}

// What a process predicts of each target alone has the density that Exact says.
func TestPredictive(t *testing.T) {
	for _, all := range gaussianSources() {
		src, dy := all.Of.(GaussianSource[float64]), all.Dy
		require.True(t, src.Gaussian())
		b, err := src.Batch(3, 5, 2)
		require.NoError(t, err)
		mean, factor, err := src.Predictive(b)
		require.NoError(t, err)
		require.Len(t, mean, len(b.Y))
		require.Len(t, factor, dy*len(b.Y))
		exact, ok := src.(ExactSource[float64])
		if !ok { // curves, whose predictions TestChainRule tests
			continue
		}
		_, diagonal, err := exact.Exact(b)
		require.NoError(t, err)
		per := len(b.Y) / 3
		for i := range 3 {
			sum := 0.0
			for at := i * per; at < (i+1)*per; at += dy {
				var z [2]float64 // L⁻¹ times what the mean misses
				for k := range dy {
					l := factor[(at+k)*dy:]
					z[k] = (b.Y[at+k] - mean[at+k] - l[0]*z[0]*float64(k)) / l[k]
					sum -= 0.5*z[k]*z[k] + math.Log(l[k]) + 0.5*math.Log(2*math.Pi)
				}
			}
			require.InDelta(t, diagonal[i], sum/float64(per), 1e-9, src.String())
		}
	}
}

// The targets of an expected task have the process's means and covariances; the context stays.
func TestExpected(t *testing.T) {
	for _, all := range gaussianSources() {
		src, dy := all.Of.(GaussianSource[float64]), all.Dy
		plain, err := src.Batch(2, 5, 3)
		require.NoError(t, err)
		mean, factor, err := src.Predictive(plain)
		require.NoError(t, err)
		b, err := all.Batch(2, 5, 3)
		require.NoError(t, err)
		c, p, copies := b.Curves, plain.Curves, 2*dy
		require.Equal(t, p.XContext, c.XContext)
		require.Equal(t, p.YContext, c.YContext)
		require.Equal(t, copies*p.Nt, c.Nt)
		if sized, ok := src.(Sized); ok {
			require.GreaterOrEqual(t, all.Work(2).Targets, c.Nt)
			require.Equal(t, copies*sized.Work(2).Targets, all.Work(2).Targets)
		}
		dx := len(c.XTarget) / (c.B * c.Nt)
		for i := range c.B * p.Nt {
			var m, cov [4]float64
			for k := range copies {
				at := i*copies + k
				require.Equal(t, p.XTarget[i*dx:(i+1)*dx], c.XTarget[at*dx:(at+1)*dx])
				for d := range dy {
					e := b.Y[at*dy+d] - mean[i*dy+d]
					m[d] += e / float64(copies)
					for d2 := range dy {
						cov[d*dy+d2] += e * (b.Y[at*dy+d2] - mean[i*dy+d2]) / float64(copies)
					}
				}
			}
			l := factor[i*dy*dy:]
			for d := range dy {
				require.InDelta(t, 0, m[d], 1e-12)
				for d2 := range dy {
					want := 0.0
					for k := range dy {
						want += l[d*dy+k] * l[d2*dy+k]
					}
					require.InDelta(t, want, cov[d*dy+d2], 1e-12)
				}
			}
		}
		require.Contains(t, all.String(), src.String())
		_, err = Expected[float64]{Of: src, Dy: dy + 1}.Batch(2, 5, 3)
		require.ErrorContains(t, err, "outputs of each")
	}
	_, err := Expected[float64]{Of: BenchmarkSource[float64]{Process: "sawtooth", Dx: 1}, Dy: 1}.Batch(1, 1, 1)
	require.ErrorContains(t, err, "no Gaussian process")
	_, err = Expected[float64]{Of: CurveSource[float64]{Name: "saw", Curves: PaperTestOf(Sawtooth{1, 2})}, Dy: 1}.Batch(1, 1, 1)
	require.ErrorContains(t, err, "no Gaussian process")
	for _, all := range gaussianSources() {
		src := all.Of.(GaussianSource[float64])
		_, _, err := src.Predictive(&Tasks[float64]{})
		require.Error(t, err, src.String())
		_, _, err = src.Predictive(&Tasks[float64]{Curves: &cnp.Batch[float64]{B: 1, Nc: 1, Nt: 1, XContext: []float64{1}}})
		require.Error(t, err, src.String())
	}
}
