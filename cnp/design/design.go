package design

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"

	fastblas "github.com/equivcnp/equivcnp/linalg/blas"
)

// ErrInput is wrapped by every error about what a belief or a choice is made of.
var ErrInput = errors.New("design: input")

// Goal names the quantity that measurements are to lower.
type Goal string

// The goals: the joint entropy of all targets, in nats, or the sum of the targets' variances, which is their expected squared error.
const (
	Entropy Goal = "entropy"
	Error   Goal = "error"
)

// Goals lists them.
var Goals = []Goal{Entropy, Error}

// Belief holds what is known about candidates and targets together: their function is jointly normal, and a measurement adds noise.
type Belief struct {
	candidates int
	n          int       // candidates and targets
	cov        []float64 // [n, n], the candidates first
	noise      float64   // variance
}

// rounding is how much, of the largest variance, may be wrong with a covariance: a float32's.
const rounding = 1e-6

// FromCovariance returns the belief of a covariance [n, n] of the function at so many candidates, and at targets behind them. noise is the
// variance of a measurement's noise, more than 0. A matrix that is not symmetric, or has negative variances, by more than rounding, is an
// error; whether it is positive definite otherwise is not looked at.
func FromCovariance(cov []float64, candidates int, noise float64) (*Belief, error) {
	n := int(math.Round(math.Sqrt(float64(len(cov)))))
	switch {
	case n*n != len(cov):
		return nil, fmt.Errorf("%w: %d covariances are no square", ErrInput, len(cov))
	case candidates < 1 || candidates >= n:
		return nil, fmt.Errorf("%w: %d candidates of %d places, need at least one, and one target", ErrInput, candidates, n)
	case !(noise > 0) || math.IsInf(noise, 0):
		return nil, fmt.Errorf("%w: the noise's variance is %v, need more than 0", ErrInput, noise)
	}
	most := 0.0 // of the variances
	for i, v := range cov {
		if math.IsNaN(v - v) {
			return nil, fmt.Errorf("%w: the covariance of places %d and %d is %v", ErrInput, i/n, i%n, v)
		}
		if i/n == i%n {
			most = max(most, v)
		}
	}
	for i, v := range cov {
		r, c := i/n, i%n
		if r == c && v < -rounding*most {
			return nil, fmt.Errorf("%w: the variance of place %d is %v", ErrInput, r, v)
		}
		if other := cov[c*n+r]; math.Abs(v-other) > rounding*most {
			return nil, fmt.Errorf("%w: the covariance of places %d and %d is %v, that of %d and %d is %v", ErrInput, r, c, v, c, r, other)
		}
	}
	return &Belief{candidates, n, append([]float64(nil), cov...), noise}, nil
}

// FromFactors returns the belief of a low-rank covariance F·Fᵀ of the function, with the factor f [n, rank].
func FromFactors(f []float64, rank, candidates int, noise float64) (*Belief, error) {
	if rank < 1 || len(f)%rank != 0 {
		return nil, fmt.Errorf("%w: %d numbers are no factor of rank %d", ErrInput, len(f), rank)
	}
	n := len(f) / rank
	cov := make([]float64, n*n)
	kernels.Dsyrk(blas.Lower, blas.NoTrans, n, rank, 1, f, rank, 0, cov, n)
	mirror(cov, n)
	return FromCovariance(cov, candidates, noise)
}

// FromSamples returns the belief of joint samples [count][n] of the function: their mean and their covariance. The
// covariance of few samples is
// uncertain by the root of their number, and choices by it are too: take a thousand, or more.
func FromSamples(samples [][]float64, candidates int, noise float64) (*Belief, error) {
	if len(samples) < 2 {
		return nil, fmt.Errorf("%w: %d samples, need at least 2", ErrInput, len(samples))
	}
	n, root := len(samples[0]), math.Sqrt(float64(len(samples)-1))
	f := make([]float64, n*len(samples))
	for s, row := range samples {
		if len(row) != n {
			return nil, fmt.Errorf("%w: sample %d has %d values, the first has %d", ErrInput, s, len(row), n)
		}
		for i, v := range row {
			if math.IsNaN(v - v) {
				return nil, fmt.Errorf("%w: sample %d has %v at place %d", ErrInput, s, v, i)
			}
			f[i*len(samples)+s] = v
		}
	}
	for i := range n {
		row := f[i*len(samples) : (i+1)*len(samples)]
		mean := 0.0
		for _, v := range row {
			mean += v / float64(len(row))
		}
		for s := range row {
			row[s] = (row[s] - mean) / root
		}
	}
	return FromFactors(f, len(samples), candidates, noise)
}

// Choice is a candidate with what its measurement adds to that of the ones before it.
type Choice struct {
	Candidate int
	// Gain is by how much the goal falls.
	Gain float64
}

// Choose returns count candidates, each the one of the greatest gain given those before it; of equal ones the first. None is chosen twice.
func (b *Belief) Choose(count int, goal Goal) ([]Choice, error) {
	if count < 1 || count > b.candidates {
		return nil, fmt.Errorf("%w: %d of %d candidates, need 1 to all of them", ErrInput, count, b.candidates)
	}
	s, err := b.state(goal)
	if err != nil {
		return nil, err
	}
	var out []Choice
	taken := make([]bool, b.candidates)
	for range count {
		best := Choice{Candidate: -1}
		for c := range b.candidates {
			if gain := s.gain(c); !taken[c] && (best.Candidate < 0 || gain > best.Gain) {
				best = Choice{c, gain}
			}
		}
		taken[best.Candidate] = true
		s.measure(best.Candidate)
		out = append(out, best)
	}
	return out, nil
}

// Value is by how much the goal falls when the candidates of a set are measured.
func (b *Belief) Value(set []int, goal Goal) (float64, error) {
	s, err := b.state(goal)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, c := range set {
		if c < 0 || c >= b.candidates {
			return 0, fmt.Errorf("%w: candidate %d of %d", ErrInput, c, b.candidates)
		}
		sum += s.gain(c)
		s.measure(c)
	}
	return sum, nil
}

// state is what is known after some measurements.
type state struct {
	*Belief
	goal Goal
	cov  []float64
	// told is the candidates' covariance [n, n] if all targets were known, too: what a measurement tells about the
	// targets is the difference
	// of its entropies without and with these.
	told []float64
}

func (b *Belief) state(goal Goal) (*state, error) {
	s := &state{Belief: b, goal: goal, cov: append([]float64(nil), b.cov...)}
	switch goal {
	case Error:
	case Entropy:
		s.told = append([]float64(nil), b.cov...)
		// Targets are known as well as measurements would tell them a thousand times better than one: exact knowledge of a target that is a
		// candidate, too, would leave nothing of it, and logarithms of rounding.
		conditionAll(s.told, b.n, b.candidates, targetNoise*b.noise)
	default:
		return nil, fmt.Errorf("%w: goal %q, need %s or %s", ErrInput, goal, Entropy, Error)
	}
	return s, nil
}

// targetNoise is the share of a measurement's variance up to which targets count as unknown: their entropy is that of values seen with so
// little noise, and so finite however well they are known.
const targetNoise = 1e-3

// condition takes away from a covariance [n, n] what a measurement of value i with that noise tells.
func condition(cov []float64, n, i int, noise float64) {
	v := max(0, cov[i*n+i]) + noise
	row := append([]float64(nil), cov[i*n:(i+1)*n]...)
	for a, ca := range row {
		if ca == 0 {
			continue
		}
		f := ca / v
		to := cov[a*n : (a+1)*n]
		for j, cj := range row {
			to[j] -= f * cj
		}
	}
}

// conditioned is how many values conditionAll takes at a time.
const conditioned = 64

// conditionAll is condition for the values from first on, block by block: the rest loses Wᵀ·W, where W = L⁻¹·(rows of the block) and L·Lᵀ
// is the block with the noise.
func conditionAll(cov []float64, n, first int, noise float64) {
	w, l := make([]float64, conditioned*n), make([]float64, conditioned*conditioned)
	for lo := first; lo < n; lo += conditioned {
		k := min(conditioned, n-lo)
		for i := range k {
			row := w[i*n : (i+1)*n]
			copy(row, cov[(lo+i)*n:(lo+i)*n+lo+i+1])
			for j := lo + i + 1; j < n; j++ { // the triangle above is of before
				row[j] = cov[j*n+lo+i]
			}
			copy(l[i*k:(i+1)*k], row[lo:lo+k])
		}
		factor(l, k, noise)
		kernels.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.NonUnit, k, n, 1, l, k, w, n)
		kernels.Dsyrk(blas.Lower, blas.Trans, n, k, -1, w, n, 1, cov, n)
	}
	mirror(cov, n)
}

// factor replaces a covariance [k, k] by the lower factor of itself and the noise. What rounding makes of a variance is no less than 0.
func factor(a []float64, k int, noise float64) {
	for j := range k {
		row := a[j*k : j*k+j]
		d := a[j*k+j]
		for _, v := range row {
			d -= v * v
		}
		d = math.Sqrt(max(0, d) + noise)
		a[j*k+j] = d
		for i := j + 1; i < k; i++ {
			sum := a[i*k+j]
			for m, v := range row {
				sum -= a[i*k+m] * v
			}
			a[i*k+j] = sum / d
		}
	}
}

// mirror copies the lower triangle of a matrix [n, n] above the diagonal, in squares that stay in the caches.
func mirror(a []float64, n int) {
	const side = 32
	for i0 := 0; i0 < n; i0 += side {
		for j0 := 0; j0 <= i0; j0 += side {
			for i := i0; i < min(n, i0+side); i++ {
				for j := j0; j < min(i, j0+side); j++ {
					a[j*n+i] = a[i*n+j]
				}
			}
		}
	}
}

// kernels compute products of covariances.
var kernels fastblas.Implementation

// gain is by how much a measurement of a candidate lowers the goal.
func (s *state) gain(c int) float64 {
	v := max(0, s.cov[c*s.n+c]) + s.noise
	if s.goal == Entropy {
		return 0.5 * math.Log(v/(max(0, s.told[c*s.n+c])+s.noise))
	}
	sum := 0.0
	for _, x := range s.cov[c*s.n+s.candidates : (c+1)*s.n] {
		sum += x * x
	}
	return sum / v
}

// measure takes a candidate as measured.
func (s *state) measure(c int) {
	condition(s.cov, s.n, c, s.noise)
	if s.told != nil {
		condition(s.told, s.n, c, s.noise)
	}
}
