package task

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/equivcnp/equivcnp/simd"
)

// GP is a Gaussian process on the line with mean 0, whose values are seen with a little independent noise: their covariance
// is Kernel(|x - x'|), plus Jitter where x and x' are one observation. All is float64.
type GP struct {
	Kernel Kernel
	Jitter float64 // variance of the noise; it also keeps the factorisation away from singular
}

// DefaultJitter is the authors' jitter.
const DefaultJitter = 1e-8

// factor returns the Cholesky factorisation of the covariance of observations at x.
func (g GP) factor(x []float64) (*mat.Cholesky, error) {
	cov := mat.NewSymDense(len(x), nil)
	for i := range x {
		for j := range i {
			cov.SetSym(i, j, g.Kernel(math.Abs(x[i]-x[j])))
		}
		cov.SetSym(i, i, g.Kernel(0)+g.Jitter)
	}
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		return nil, fmt.Errorf("task: the covariance of %d points is not positive definite with jitter %g", len(x), g.Jitter)
	}
	return &chol, nil
}

// sample draws values with the covariance L·Lᵀ, each L·z with z standard normal.
func sample(dst []float64, l *mat.TriDense, rng *rand.Rand) {
	n := len(dst)
	if n == 0 {
		return
	}
	z := mat.NewVecDense(n, nil)
	for i := range n {
		z.SetVec(i, rng.NormFloat64())
	}
	mat.NewVecDense(n, dst).MulVec(l, z)
}

// Sample draws one curve's values at x.
func (g GP) Sample(x []float64, rng *rand.Rand) ([]float64, error) {
	y := make([]float64, len(x))
	if err := g.At(x)(y, rng); err != nil {
		return nil, err
	}
	return y, nil
}

// Predict returns mean and standard deviation of an observation at each target t, given observations y at x: with K the
// covariance of those and k that to the target,
//
//	mean = kᵀK⁻¹y,  var = Kernel(0) + Jitter - kᵀK⁻¹k.
//
// No model that sees the same context has a higher expected log-likelihood.
func (g GP) Predict(t, x, y []float64) (mean, std []float64, err error) {
	if len(x) != len(y) {
		return nil, nil, fmt.Errorf("task: %d inputs with %d outputs", len(x), len(y))
	}
	mean, std = make([]float64, len(t)), make([]float64, len(t))
	if len(x) == 0 {
		for i := range std {
			std[i] = math.Sqrt(g.Kernel(0) + g.Jitter)
		}
		return mean, std, nil
	}
	chol, err := g.factor(x)
	if err != nil {
		return nil, nil, err
	}
	k, values := mat.NewVecDense(len(x), nil), mat.NewVecDense(len(x), append([]float64(nil), y...))
	var weights, solved mat.VecDense
	if err := chol.SolveVecTo(&weights, values); err != nil && !isCondition(err) {
		return nil, nil, fmt.Errorf("task: %w", err)
	}
	for i, at := range t {
		for j, v := range x {
			k.SetVec(j, g.Kernel(math.Abs(at-v)))
		}
		if err := chol.SolveVecTo(&solved, k); err != nil && !isCondition(err) {
			return nil, nil, fmt.Errorf("task: %w", err)
		}
		mean[i] = mat.Dot(k, &weights)
		// Rounding may leave less than the noise, which is the least that there is.
		std[i] = math.Sqrt(max(g.Kernel(0)-mat.Dot(k, &solved), 0) + g.Jitter)
	}
	return mean, std, nil
}

// LogDensity returns the logarithm of the joint density of observations y at x, but for the first given of them, given those.
func (g GP) LogDensity(x, y []float64, given int) (float64, error) {
	if len(x) != len(y) || given < 0 || given > len(y) {
		return 0, fmt.Errorf("task: %d inputs with %d outputs, of which %d are given", len(x), len(y), given)
	}
	if given == len(y) {
		return 0, nil
	}
	chol, err := g.factor(x)
	if err != nil {
		return 0, err
	}
	l := new(mat.TriDense)
	chol.LTo(l)
	joint, _ := densities(l.RawTriangular(), y, given)
	return joint, nil
}

// densities are the log-densities of values y with the covariance L·Lᵀ, given the first nc of them: of all others
// together, and the sum of those of each alone. With z = L⁻¹·y: the squares of z and the diagonal of L, behind the
// first nc, make the joint density; a value's row of L times z up to there is its mean, and the rest of the row,
// squared, its variance.
func densities(l blas64.Triangular, y []float64, nc int) (joint, diagonal float64) {
	z := make([]float64, len(y))
	for i := range z {
		row := l.Data[i*l.Stride:][:i+1]
		z[i] = (y[i] - simd.Dot(row[:i], z[:i])) / row[i]
		if i < nc {
			continue
		}
		joint -= 0.5*z[i]*z[i] + math.Log(row[i]) + 0.5*math.Log(2*math.Pi)
		mean, std := given(l, z[:nc], i)
		e := (y[i] - mean) / std
		diagonal -= 0.5*e*e + math.Log(std) + 0.5*math.Log(2*math.Pi)
	}
	return joint, diagonal
}

// given is what value i is, with the covariance L·Lᵀ, given those before it of which z = L⁻¹·y is known.
func given(l blas64.Triangular, z []float64, i int) (mean, std float64) {
	row := l.Data[i*l.Stride:][:i+1]
	return simd.Dot(row[:len(z)], z), math.Sqrt(simd.SumSq(row[len(z):]))
}

// isCondition reports whether a solution exists and is merely of limited accuracy.
func isCondition(err error) bool {
	_, ok := err.(mat.Condition)
	return ok
}
