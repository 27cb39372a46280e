package likelihood

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/internal/failure"
	"github.com/equivcnp/equivcnp/internal/reuse"
)

// FullName is the name of the joint normal of a target's values.
const FullName = "full"

// maxFull bounds the values of a target whose covariance is full.
const maxFull = 32

func init() {
	Register(FullName, func(o Options, arg string) (Family, error) {
		switch {
		case arg != "":
			return nil, fmt.Errorf("need %s, and nothing behind it", FullName)
		case o.Image:
			return nil, fmt.Errorf("it is for models of curves and fields, this is %s", o.Architecture)
		case max(1, o.Values) > maxFull:
			return nil, fmt.Errorf("dim_y = %d, need at most %d values of a target", o.Values, maxFull)
		}
		return full{spread: o.Spread, values: max(1, o.Values)}, nil
	})
}

// full is a joint normal distribution of the values of a target, with a full covariance; targets are independent of each other.
//
// The network gives every value its mean and a row of a matrix. The deviations along the axes of that matrix's symmetric part S, its
// eigenvectors, are those that the normal likelihood makes of the eigenvalues: with S = V·diag(λ)·Vᵀ and B = V·diag(std(λ))·Vᵀ the
// covariance is B·Bᵀ. So S turns with the values, and the covariance along; and of a single value it is the normal likelihood.
//
// Parameters: mean, and the row of B. Both rows, that of S and that of B, begin with the value's own column, and the
// others follow in turn: whatever value it is, its deviation is the length of the row.
type full struct {
	spread Spread
	values int
	loss   float64 // Objective.Noise
}

func (full) Name() string { return FullName }

func (l full) Outputs() int { return 1 + l.values }

func (full) Constants() int { return 0 }

func (l full) Values() int { return l.values }

// column is where in the row of value i the entry of value j stands, behind the mean.
func (l full) column(i, j int) int { return 1 + (j-i+l.values)%l.values }

// Parameters implements Family for targets of one value.
func (l full) Parameters(params, raw []float64) {
	if l.values != 1 {
		panic(fmt.Sprintf("likelihood: likelihood %s: Parameters of one of %d values, which go together: see ParametersOf",
			FullName, l.values))
	}
	l.ParametersOf(params, raw)
}

// Moments implements Family.
func (full) Moments(p []float64) (mean, std float64) {
	s := 0.0
	for _, v := range p[1:] {
		s += v * v
	}
	return p[0], math.Sqrt(s)
}

func (l full) LogDensity(y float64, p []float64) float64 {
	mean, std := l.Moments(p)
	e := l.loss / std
	return logNormal(y, mean, std) - 0.5*e*e
}

// Gradient implements Family for targets of one value.
func (l full) Gradient(d []float64, y float64, p, raw []float64) {
	if l.values != 1 {
		panic(fmt.Sprintf("likelihood: likelihood %s: Gradient of one of %d values, which go together: see GradientOf", FullName, l.values))
	}
	l.GradientOf(d, []float64{y}, p, raw, nil)
}

func (l full) Quantile(q float64, p []float64) float64 {
	mean, std := l.Moments(p)
	return normalQuantile(q, mean, std)
}

func (l full) Sample(rng *rand.Rand, p []float64) float64 {
	mean, std := l.Moments(p)
	return mean + std*rng.NormFloat64()
}

func (full) Support() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

// Rescale: a row of B is in the units of its value.
func (full) Rescale(p []float64, a Affine) {
	p[0] = a.Undo(p[0])
	for i := range p[1:] {
		p[1+i] /= a.Factor
	}
}

// under: no single value has a deviation whose power could weigh it.
func (l full) under(o Objective) (Family, error) {
	if o.Beta != 0 {
		return nil, fmt.Errorf("%w: beta = %v is for independent values, likelihood %s takes 0", failure.ErrConfig, o.Beta, l.Name())
	}
	l.loss = o.Noise
	return l, nil
}

// Turn implements Turning: means turn as the values do, S to r·S·rᵀ.
func (l full) Turn(dst, raw, r []float64, _ []Field) {
	n, k := l.values, 1+l.values
	var room [16]float64
	half := reuse.Sized(room[:0], n) // a row of r·S
	for i := range n {
		for j := range n {
			dst[i*k] += r[i*n+j] * raw[j*k]
		}
		for j := range n {
			s := 0.0
			for m := range n {
				s += r[i*n+m] * raw[m*k+l.column(m, j)]
			}
			half[j] = s
		}
		for j := range n {
			s := 0.0
			for m, v := range half {
				s += v * r[j*n+m]
			}
			dst[i*k+l.column(i, j)] += s
		}
	}
}

// fullWork is the memory of a target's density.
type fullWork struct {
	s, v, g, h []float64 // [n, n]
	lambda     []float64 // [n]
	a          []float64 // of the values that are known
	at         []int
}

func (w *fullWork) size(n int) {
	w.s, w.v, w.g, w.h = reuse.Sized(w.s, n*n), reuse.Sized(w.v, n*n), reuse.Sized(w.g, n*n), reuse.Sized(w.h, n*n)
	w.lambda, w.a = reuse.Sized(w.lambda, n), reuse.Sized(w.a, n)
}

// axes sets w.lambda and the columns of w.v to the eigenvalues and eigenvectors of the symmetric part of raw's matrix.
func (l full) axes(w *fullWork, raw []float64) {
	n, k := l.values, 1+l.values
	w.size(n)
	for i := range n {
		for j := range n {
			w.s[i*n+j] = 0.5 * (raw[i*k+l.column(i, j)] + raw[j*k+l.column(j, i)])
		}
	}
	eigen(w.lambda, w.v, w.s, n)
}

func (l full) ParametersOf(params, raw []float64) {
	var w fullWork
	l.parameters(&w, params, raw)
}

func (l full) parameters(w *fullWork, params, raw []float64) {
	n, k := l.values, 1+l.values
	if n == 1 {
		params[0], params[1] = raw[0], l.spread.Std(raw[1])
		return
	}
	l.axes(w, raw)
	for i, u := range w.lambda {
		w.a[i] = l.spread.Std(u)
	}
	for i := range n {
		params[i*k] = raw[i*k]
		for j := range n {
			s := 0.0
			for m, std := range w.a {
				s += std * w.v[i*n+m] * w.v[j*n+m]
			}
			params[i*k+l.column(i, j)] = s
		}
	}
}

func (l full) CovarianceOf(dst, params []float64) {
	n, k := l.values, 1+l.values
	for i := range n {
		for j := range n {
			s := 0.0
			for m := range n {
				s += params[i*k+l.column(i, m)] * params[j*k+l.column(j, m)]
			}
			dst[i*n+j] = s
		}
	}
}

func (l full) SampleOf(dst []float64, rng *rand.Rand, params []float64) {
	n, k := l.values, 1+l.values
	for i := range n {
		dst[i] = params[i*k]
	}
	for m := range n {
		z := rng.NormFloat64()
		for i := range n {
			dst[i] += params[i*k+l.column(i, m)] * z
		}
	}
}

func (l full) LogDensityOf(y, params []float64, known []bool) float64 {
	var w fullWork
	return l.density(&w, y, params, known)
}

// density is LogDensityOf. It leaves in w.at the values that are known, in w.s the Cholesky factor of their covariance, and in w.a its
// inverse times their distance from the mean.
func (l full) density(w *fullWork, y, params []float64, known []bool) float64 {
	n, k := l.values, 1+l.values
	w.size(n)
	w.at = w.at[:0]
	for i := range n {
		if known == nil || known[i] {
			w.at = append(w.at, i)
		}
	}
	l.CovarianceOf(w.h, params)
	m := len(w.at)
	w.a = w.a[:m]
	for p, i := range w.at {
		for q, j := range w.at {
			w.s[p*m+q] = w.h[i*n+j]
		}
		w.a[p] = y[i] - params[i*k]
	}
	if !cholesky(w.s[:m*m], m) {
		return math.NaN()
	}
	sum := -0.5 * float64(m) * math.Log(2*math.Pi)
	e := append([]float64(nil), w.a...)
	solveCholesky(w.a, w.s[:m*m], m)
	for p := range m {
		sum -= math.Log(w.s[p*m+p]) + 0.5*e[p]*w.a[p]
	}
	if l.loss > 0 {
		// The mean over a noise in y takes half its variance times the trace of the inverse.
		copy(w.h[:m*m], w.s[:m*m])
		invertCholesky(w.g[:m*m], w.h[:m*m], m)
		for p := range m {
			sum -= 0.5 * l.loss * l.loss * w.g[p*m+p]
		}
	}
	return sum
}

// GradientOf: with a = Σ⁻¹·(y - mean) the gradients are a to the means and G = (a·aᵀ - Σ⁻¹)/2 to Σ, to which a noise ν
// of the objective adds ν²/2·Σ⁻². And with Σ = V·diag(f(λ))·Vᵀ that to S is V·(F∘Vᵀ·G·V)·Vᵀ, F_ij = (f(λ_i) -
// f(λ_j))/(λ_i - λ_j), the derivative where both are equal (Daleckii and Krein).
func (l full) GradientOf(d, y, params, raw []float64, known []bool) float64 {
	n, k := l.values, 1+l.values
	var w fullWork
	sum := l.density(&w, y, params, known)
	if math.IsNaN(sum) {
		for i := range d {
			d[i] = math.NaN()
		}
		return sum
	}
	clear(d)
	m := len(w.at)
	inverse, factor := make([]float64, m*m), slices.Clone(w.s[:m*m])
	invertCholesky(inverse, factor, m)
	small := make([]float64, m*m)
	for p := range m {
		d[w.at[p]*k] = w.a[p]
		for q := range m {
			small[p*m+q] = 0.5 * (w.a[p]*w.a[q] - inverse[p*m+q])
			if l.loss > 0 {
				for c := range m {
					small[p*m+q] += 0.5 * l.loss * l.loss * inverse[p*m+c] * inverse[c*m+q]
				}
			}
		}
	}
	l.axes(&w, raw)
	clear(w.g)
	for p, i := range w.at {
		for q, j := range w.at {
			w.g[i*n+j] = small[p*m+q]
		}
	}
	conjugate(w.h, w.v, w.g, n, true)
	for i, u := range w.lambda {
		for j, v := range w.lambda {
			w.h[i*n+j] *= l.slope(u, v)
		}
	}
	conjugate(w.g, w.v, w.h, n, false)
	for i := range n {
		for j := range n {
			d[i*k+l.column(i, j)] = w.g[i*n+j]
		}
	}
	return sum
}

// slope is (f(u) - f(v))/(u - v) for the variance f, and its derivative where they are nearly equal.
func (l full) slope(u, v float64) float64 {
	su, sv := l.spread.Std(u), l.spread.Std(v)
	if h := u - v; math.Abs(h) > 1e-5 {
		return (su - sv) * (su + sv) / h
	}
	return su*l.spread.Slope(u, su) + sv*l.spread.Slope(v, sv)
}

// conjugate sets dst to v·a·vᵀ, or vᵀ·a·v if transposed; all are [n, n], a is symmetric.
func conjugate(dst, v, a []float64, n int, transposed bool) {
	at := func(i, j int) float64 {
		if transposed {
			return v[j*n+i]
		}
		return v[i*n+j]
	}
	row := make([]float64, n)
	for i := range n {
		for j := range n {
			row[j] = 0
			for m := range n {
				row[j] += at(i, m) * a[m*n+j]
			}
		}
		for j := range n {
			s := 0.0
			for m := range n {
				s += row[m] * at(j, m)
			}
			dst[i*n+j] = s
		}
	}
}

// eigen sets lambda [n] and the columns of v [n, n] to the eigenvalues and eigenvectors of the symmetric matrix a, which it overwrites, by
// Jacobi's rotations.
func eigen(lambda, v, a []float64, n int) {
	clear(v)
	for i := range n {
		v[i*n+i] = 1
	}
	const sweeps = 30 // a matrix of 32 rows takes 8
	for range sweeps {
		off, all := 0.0, 0.0
		for i := range n {
			for j := range n {
				if all += a[i*n+j] * a[i*n+j]; i != j {
					off += a[i*n+j] * a[i*n+j]
				}
			}
		}
		if !(off > 1e-32*all) { // or NaN
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				if a[p*n+q] == 0 {
					continue
				}
				theta := (a[q*n+q] - a[p*n+p]) / (2 * a[p*n+q])
				t := 1 / (math.Abs(theta) + math.Sqrt(theta*theta+1))
				if theta < 0 {
					t = -t
				}
				c := 1 / math.Sqrt(t*t+1)
				s := t * c
				for i := range n { // columns p and q
					x, y := a[i*n+p], a[i*n+q]
					a[i*n+p], a[i*n+q] = c*x-s*y, s*x+c*y
					x, y = v[i*n+p], v[i*n+q]
					v[i*n+p], v[i*n+q] = c*x-s*y, s*x+c*y
				}
				for i := range n { // and rows
					x, y := a[p*n+i], a[q*n+i]
					a[p*n+i], a[q*n+i] = c*x-s*y, s*x+c*y
				}
			}
		}
	}
	for i := range n {
		lambda[i] = a[i*n+i]
	}
}
