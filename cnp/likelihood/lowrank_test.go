package likelihood

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/equivcnp/equivcnp/cnp/internal/failure"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/stretchr/testify/require"
)

// denseLogDensity is the log-density by the whole covariance.
func denseLogDensity(l Joint, y, params []float64) float64 {
	n, k, p := len(y), l.Rank(), l.Outputs()
	f, diag := make([]float64, n*k), make([]float64, n)
	l.Factors(f, diag, params)
	cov, r := make([]float64, n*n), make([]float64, n)
	for i := range n {
		for j := range n {
			for c := range k {
				cov[i*n+j] += f[i*k+c] * f[j*k+c]
			}
		}
		cov[i*n+i] += diag[i]
		r[i] = y[i] - params[i*p]
	}
	if !cholesky(cov, n) {
		return math.NaN()
	}
	sum := -0.5 * float64(n) * math.Log(2*math.Pi)
	for i := range n {
		s := r[i]
		for j := range i {
			s -= cov[i*n+j] * r[j]
		}
		r[i] = s / cov[i*n+i]
		sum -= 0.5*r[i]*r[i] + math.Log(cov[i*n+i])
	}
	return sum
}

// TestLowRank: densities are those of the whole covariance, gradients their derivatives, from no value to more than the rank, with large
// noise and with small.
func TestLowRank(t *testing.T) {
	for _, name := range []string{"lowrank:1", "lowrank:5", "lowrank:8", "lowrank:5:noise", "lowrank:64"} {
		l := likelihoodOf(t, name, OutputStd, 1e-9).(Joint)
		for _, n := range []int{0, 1, 2, 7, 40} {
			for _, noise := range []float64{0, -6, -12} {
				rng := testkit.Rand(uint64(n) + 3)
				y, raw, params := randomTask(l, rng, n, noise)
				want, tol := denseLogDensity(l, y, params), 1e-9
				if noise == -12 { // a deviation of 1e-5, whose square is 1e-10 of the variances: as many digits are lost
					tol = 1e-5
				}
				got := l.LogDensityOf(y, params)
				require.InDelta(t, want, got, tol*(1+math.Abs(want)), "%s, %d values, noise %g", name, n, noise)
				d := make([]float64, len(raw))
				require.Equal(t, got, l.GradientOf(d, y, params, raw))
				if noise == -12 || n > 7 && l.Rank() > 8 { // difference quotients lose digits, too
					continue
				}
				near := make([]float64, len(params))
				for i, was := range raw {
					// Means and features matter as far as the noise lets them.
					h := 1e-4 * min(1, params[i/l.Outputs()*l.Outputs()+1])
					if at := i % l.Outputs(); at == 1 || at == 2+l.Rank() {
						h = 1e-4
					}
					value := func(at float64) float64 {
						raw[i] = at
						for v := range n {
							p := l.Outputs()
							l.Parameters(near[v*p:(v+1)*p], raw[v*p:(v+1)*p])
						}
						raw[i] = was
						return l.LogDensityOf(y, near)
					}
					slope := (value(was+h) - value(was-h)) / (2 * h)
					require.InDelta(t, slope, d[i], 1e-5*(1+math.Abs(slope)+math.Abs(d[i]))+1e-9/h,
						"%s, %d values, noise %g, number %d", name, n, noise, i)
				}
			}
		}
	}
}

// TestLowRankObjective: under a noise the loss is the mean over values seen with it, and gradients are its derivatives.
func TestLowRankObjective(t *testing.T) {
	const noise, h, n = 0.4, 1e-6, 6
	for _, name := range []string{"lowrank:3", "lowrank:9", "lowrank:3:noise"} {
		own := likelihoodOf(t, name, OutputVariance, 0).(Joint)
		under, err := own.(objective).under(Objective{Noise: noise})
		require.NoError(t, err)
		l := under.(Joint)
		y, raw, params := randomTask(l, testkit.Rand(5), n, -1)
		p := l.Outputs()
		// The mean of a quadratic form over independent noises is the sum over the noises, each on its own.
		mean := own.LogDensityOf(y, params)
		for i := range y {
			for _, e := range []float64{-noise, noise} {
				y[i] += e
				mean += (own.LogDensityOf(y, params) - own.LogDensityOf(append(append(append([]float64(nil), y[:i]...), y[i]-e),
					y[i+1:]...), params)) / 2
				y[i] -= e
			}
		}
		d, scratch := make([]float64, len(raw)), make([]float64, len(raw))
		require.InDelta(t, mean, l.GradientOf(d, y, params, raw), 1e-9)
		for i, was := range raw {
			value := func(at float64) float64 {
				raw[i] = at
				for v := range n {
					l.Parameters(params[v*p:(v+1)*p], raw[v*p:(v+1)*p])
				}
				v := l.GradientOf(scratch, y, params, raw)
				raw[i] = was
				return v
			}
			want := (value(was+h) - value(was-h)) / (2 * h)
			value(was)
			require.InDelta(t, want, d[i], 1e-6*(1+math.Abs(want)), "%s, number %d", name, i)
		}
		_, err = own.(objective).under(Objective{Beta: 0.5})
		require.ErrorIs(t, err, failure.ErrConfig)
	}
}

// randomTask draws raw numbers of n values, their parameters, and true values from their distribution.
func randomTask(l Joint, rng *rand.Rand, n int, noise float64) (y, raw, params []float64) {
	p := l.Outputs()
	raw, params, y = make([]float64, n*p), make([]float64, n*p), make([]float64, n)
	for i := range raw {
		raw[i] = rng.NormFloat64()
	}
	for i := range n {
		raw[i*p+1] += noise
		if l.Constants() > 0 { // of one channel
			raw[i*p+p-1] = raw[p-1] + noise*float64(min(i, 1)-i)
		}
		l.Parameters(params[i*p:(i+1)*p], raw[i*p:(i+1)*p])
	}
	l.SampleOf(y, rng, params, false)
	return y, raw, params
}
