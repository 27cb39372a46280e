package task

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/equivcnp/equivcnp/cnp"
)

// rcnpCovariance is the definition of the processes, in plain words; see RCNPSource.
func rcnpCovariance(process string, a, b []float64) float64 {
	c, d2, sin2 := math.Sqrt(float64(len(a))), 0.0, 0.0
	for k := range a {
		d := a[k] - b[k]
		d2 += d * d
		s := math.Sin(math.Pi * d / c)
		sin2 += s * s
	}
	switch process {
	case "eq":
		return math.Exp(-d2 / (2 * c * c))
	case "matern":
		r := math.Sqrt(5*d2) / c
		return (1 + r + r*r/3) * math.Exp(-r)
	}
	return math.Exp(-d2/(8*c*c) - 2*sin2/(16*c*c))
}

// TestRCNPCovariance: the factors are those of the definition's covariances, noise included.
func TestRCNPCovariance(t *testing.T) {
	for _, process := range BenchmarkProcesses[:3] {
		for _, dx := range []int{1, 2, 3, 5} {
			s := RCNPSource[float64]{Process: process, Dx: dx}
			tasks, err := s.Batch(1, 1, dx)
			require.NoError(t, err)
			x := tasks.Curves.XTarget[:12*dx]
			l, err := s.factor(x)
			require.NoError(t, err)
			for i := range 12 {
				for j := range i + 1 {
					want := rcnpCovariance(process, x[i*dx:(i+1)*dx], x[j*dx:(j+1)*dx])
					if i == j {
						want += 0.05
					}
					require.InDelta(t, want, blas64.Dot(blas64.Vector{N: j + 1, Data: l.Data[i*l.Stride:], Inc: 1},
						blas64.Vector{N: j + 1, Data: l.Data[j*l.Stride:], Inc: 1}), 1e-10, "%s, dx = %d, %d and %d", process, dx, i, j)
				}
			}
		}
	}
}

// TestRCNPMoments: over many tasks, values have mean 0 and products of neighbours the covariance of their places.
func TestRCNPMoments(t *testing.T) {
	for _, process := range BenchmarkProcesses[:3] {
		s := RCNPSource[float64]{Process: process, Dx: 2}
		var mean, square, off tally
		for step := range 60 {
			tasks, err := s.Batch(16, 3, step)
			require.NoError(t, err)
			b := tasks.Curves
			for k := range b.B { // tasks are independent, their values are not: one pair of each
				i := k * b.Nt
				y0, y1 := tasks.Y[i], tasks.Y[i+1]
				mean.add(y0)
				square.add(y0*y0 - 1.05)
				off.add(y0*y1 - rcnpCovariance(process, b.XTarget[i*2:i*2+2], b.XTarget[i*2+2:i*2+4]))
			}
		}
		for name, m := range map[string]tally{"mean": mean, "variance": square, "covariance": off} {
			require.InDelta(t, 0, m.mean(), 4*m.error(), "%s: %s", process, name)
		}
	}
}

// tally adds up numbers that are independent of each other.
type tally struct{ n, sum, squares float64 }

func (t *tally) add(v float64) { t.n, t.sum, t.squares = t.n+1, t.sum+v, t.squares+v*v }

func (t *tally) mean() float64 { return t.sum / t.n }

// error is the standard error of the mean.
func (t *tally) error() float64 {
	return math.Sqrt(max(0, t.squares/t.n-t.mean()*t.mean()) / (t.n - 1))
}

// TestRCNPSource: sizes, places and frequencies are those of the definition, in several coordinates.
func TestRCNPSource(t *testing.T) {
	for _, process := range BenchmarkProcesses {
		for _, dx := range []int{1, 2, 5} {
			if dx == 5 && process != "eq" && process != "sawtooth" { // thousands of values that go together
				continue
			}
			for r, region := range RCNPRegions {
				s := RCNPSource[float32]{Process: process, Region: region, Dx: dx}
				least, most := math.MaxInt, 0
				for step := range 16 {
					tasks, err := s.Batch(1, 5, step)
					require.NoError(t, err)
					b := tasks.Curves
					require.Equal(t, [2]int{len(b.XTarget), len(tasks.Y)}, [2]int{b.Nt * dx, b.Nt})
					least, most = min(least, b.Nc), max(most, b.Nc)
					lo := []float64{-2, 2}[r]
					for _, v := range append(b.XTarget, b.XContext...) {
						require.True(t, v >= lo && v < lo+4, v)
					}
					w := s.Work(1)
					require.True(t, b.Nc <= w.Context && b.Nt == w.Targets)
				}
				limit, targets := 30*dx, 50*dx
				if process == "sawtooth" || process == "mixture" {
					limit, targets = 75*dx, 100*dx
					if dx == 1 {
						limit = 30
					}
				} else {
					require.Positive(t, least)
				}
				require.Equal(t, targets, s.Work(1).Targets)
				require.True(t, most > limit/2 && most <= limit, "%s, dx = %d: %d of %d", process, dx, most, limit)
			}
		}
	}
	s := RCNPSource[float32]{Process: "eq", Dx: 2, Chain: true}
	require.Equal(t, "eq of the rcnp benchmark, dx = 2, int, contexts as in the chain rule", s.String())
	require.Equal(t, 60+99, s.Work(1).Context)
}

// TestRCNPWaves: values of a wave lie in [0, 1), are uniform, and repeat after the wave's length, which lies between c and 2c.
func TestRCNPWaves(t *testing.T) {
	s := RCNPSource[float64]{Process: "sawtooth", Dx: 3}
	var mean, square tally
	for step := range 500 {
		tasks, err := s.Batch(1, 9, step)
		require.NoError(t, err)
		for _, v := range tasks.Y {
			require.True(t, v >= 0 && v < 1, v)
		}
		mean.add(tasks.Y[0])
		square.add(tasks.Y[0] * tasks.Y[0])
	}
	require.InDelta(t, 0.5, mean.mean(), 4*mean.error())
	require.InDelta(t, 1.0/3, square.mean(), 4*square.error())
}

// TestRCNPDiagonal: per target, the process's joint density exceeds what the best independent prediction reaches by what the best published
// convolutional models reach, which are at this bound (Huang et al. 2023, tables S3 to S5). This shows that the tasks are the same.
func TestRCNPDiagonal(t *testing.T) {
	batches := 256
	if testing.Short() {
		batches = 48
	}
	for process, published := range map[string][2]float64{"eq": {.21, .22}, "matern": {.24, .26}, "weakly-periodic": {.21, .20}} {
		for i, want := range published {
			var behind tally
			s := RCNPSource[float64]{Process: process, Dx: i + 1}
			for step := range batches {
				tasks, err := s.Batch(2, 1, step)
				require.NoError(t, err)
				joint, diagonal, err := s.Exact(tasks)
				require.NoError(t, err)
				behind.add((joint[0] - diagonal[0] + joint[1] - diagonal[1]) / 2) // a batch has one size of the context
			}
			t.Logf("%s, dx = %d: %.4f ± %.4f, published %.2f", process, i+1, behind.mean(), behind.error(), want)
			require.InDelta(t, want, behind.mean(), 0.005+3*behind.error(), "%s, dx = %d", process, i+1)
		}
	}
}

// TestRCNPExact: densities are those of the predictive normals, one target after the other and each alone.
func TestRCNPExact(t *testing.T) {
	s := RCNPSource[float64]{Process: "weakly-periodic", Dx: 3}
	tasks, err := s.Batch(2, 4, 2)
	require.NoError(t, err)
	_, diagonal, err := s.Exact(tasks)
	require.NoError(t, err)
	mean, std, err := s.Predictive(tasks)
	require.NoError(t, err)
	per := tasks.Curves.Nt
	for k := range diagonal {
		ll, n := cnp.LogLikelihood(mean[k*per:(k+1)*per], std[k*per:(k+1)*per], tasks.Y[k*per:(k+1)*per], nil)
		require.InDelta(t, ll/float64(n), diagonal[k], 1e-10)
	}
	_, _, err = RCNPSource[float64]{Process: "sawtooth", Dx: 3}.Exact(tasks)
	require.ErrorContains(t, err, "no density")
	for want, s := range map[string]RCNPSource[float64]{
		`process "rbf"`: {Process: "rbf", Dx: 1}, `region "ext"`: {Process: "eq", Region: "ext", Dx: 1},
		"9 coordinates": {Process: "eq", Dx: 9},
	} {
		_, err := s.Batch(1, 1, 1)
		require.ErrorContains(t, err, want)
	}
}
