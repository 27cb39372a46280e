package likelihood

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/equivcnp/equivcnp/cnp/internal/failure"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/simd"
)

// LowRankName is the name of the low-rank joint normal.
const LowRankName = "lowrank"

// MaxRank bounds a low-rank normal's factor.
const MaxRank = 1 << 10

func init() {
	Register(LowRankName, func(o Options, arg string) (Family, error) {
		rank, noise := strings.CutSuffix(arg, ":noise")
		k, err := strconv.Atoi(rank)
		if err != nil || k < 1 || k > MaxRank {
			return nil, fmt.Errorf("need %s:64 or %[1]s:64:noise, with a rank of 1 to %d", LowRankName, MaxRank)
		}
		return lowRank{spread: o.Spread, rank: k, noise: noise}, nil
	})
}

// lowRank is a joint normal distribution of a task's values: beside mean and deviation the network gives each value a vector f of so many
// features, and the covariance is f_i·f_j/rank between values i and j, plus the square of the deviation where i = j. Features are what
// a model computes at a target: they do not change when the task moves, and so the covariance moves along.
//
// What values have in common, the factor's part, is the function's, and the deviation the noise. With a constant noise of each output
// channel (lowrank:64:noise) the deviation is the function's, too: what the factor's rank leaves out.
//
// All work is O(n·rank²) for n values: with A the factor over √rank, D the squared deviations, B = D^-½·A and C = 1 + Bᵀ·B,
//
//	(A·Aᵀ + D)⁻¹ = D^-½·(1 - B·C⁻¹·Bᵀ)·D^-½,  |A·Aᵀ + D| = |D|·|C|
//
// and with w = C⁻¹·Bᵀ·D^-½·(y - mean), the mean of the factor's coefficients given y, the quadratic form of the residual is the sum of
// squares |D^-½·(y - mean) - B·w|² + |w|², from which nothing cancels. What is lost where the noise is small is what C loses: a log-density
// is right to about n·1e-16 times the largest variance over the least noise's.
//
// Parameters: mean, deviation, the features and, if it is there, the constant noise.
type lowRank struct {
	spread Spread
	rank   int
	noise  bool
	loss   float64 // Objective.Noise
}

// LowRank returns the rank of a low-rank joint normal, and whether l is one. Of the numbers of a value the third is the first
// feature.
func LowRank(l Family) (rank int, ok bool) {
	low, ok := l.(lowRank)
	return low.rank, ok
}

func (l lowRank) Name() string {
	name := fmt.Sprintf("%s:%d", LowRankName, l.rank)
	if l.noise {
		name += ":noise"
	}
	return name
}

func (l lowRank) Outputs() int { return 2 + l.rank + l.Constants() }

func (l lowRank) Constants() int {
	if l.noise {
		return 1
	}
	return 0
}

func (l lowRank) Parameters(params, raw []float64) {
	copy(params, raw)
	params[1] = l.spread.Std(raw[1])
	if l.noise {
		params[2+l.rank] = l.spread.Std(raw[2+l.rank])
	}
}

// deviation returns that of what the factor does not explain.
func (l lowRank) deviation(p []float64) float64 {
	if l.noise {
		return math.Hypot(p[1], p[2+l.rank])
	}
	return p[1]
}

// shared returns the variance that the factor explains.
func (l lowRank) shared(p []float64) float64 {
	s := 0.0
	for _, f := range p[2 : 2+l.rank] {
		s += f * f
	}
	return s / float64(l.rank)
}

func (l lowRank) Moments(p []float64) (mean, std float64) {
	d := l.deviation(p)
	return p[0], math.Sqrt(l.shared(p) + d*d)
}

func (l lowRank) Parts(p []float64) (function, noise float64) {
	if l.noise {
		return math.Sqrt(l.shared(p) + p[1]*p[1]), p[2+l.rank]
	}
	return math.Sqrt(l.shared(p)), p[1]
}

func (l lowRank) LogDensity(y float64, p []float64) float64 {
	mean, std := l.Moments(p)
	return logNormal(y, mean, std)
}

func (l lowRank) Gradient(d []float64, y float64, p, raw []float64) {
	mean, std := l.Moments(p)
	z := (y - mean) / std
	g := (z*z - 1) / (std * std)
	d[0], d[1] = z/std, g*p[1]*l.spread.Slope(raw[1], p[1])
	for i, f := range p[2 : 2+l.rank] {
		d[2+i] = g * f / float64(l.rank)
	}
	if l.noise {
		d[2+l.rank] = g * p[2+l.rank] * l.spread.Slope(raw[2+l.rank], p[2+l.rank])
	}
}

func (l lowRank) Quantile(q float64, p []float64) float64 {
	mean, std := l.Moments(p)
	return normalQuantile(q, mean, std)
}

func (l lowRank) Sample(rng *rand.Rand, p []float64) float64 {
	mean, std := l.Moments(p)
	return mean + std*rng.NormFloat64()
}

func (lowRank) Support() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

func (l lowRank) Rescale(p []float64, a Affine) {
	p[0] = a.Undo(p[0])
	for i := range p[1:] {
		p[1+i] /= a.Factor
	}
}

// Turn implements Turning: means and features turn as the values do. The components of a vector share their deviation,
// which has no direction: the numbers for it are averaged.
func (l lowRank) Turn(dst, raw, r []float64, fields []Field) {
	k := 2 + l.rank
	n := len(raw) / k
	for i := range n {
		for j := range n {
			if v := r[i*n+j]; v != 0 {
				dst[i*k] += v * raw[j*k]
				for c := 2; c < k; c++ {
					dst[i*k+c] += v * raw[j*k+c]
				}
			}
		}
	}
	for _, f := range fields {
		s := 0.0
		for i := range f.Width {
			s += raw[(f.First+i)*k+1] / float64(f.Width)
		}
		for i := range f.Width {
			dst[(f.First+i)*k+1] += s
		}
	}
}

// under: no single value has a deviation whose power could weigh it.
func (l lowRank) under(o Objective) (Family, error) {
	if o.Beta != 0 {
		return nil, fmt.Errorf("%w: beta = %v is for independent values, likelihood %s takes 0", failure.ErrConfig, o.Beta, l.Name())
	}
	l.loss = o.Noise
	return l, nil
}

func (l lowRank) Rank() int { return l.rank }

func (l lowRank) Factors(f, diag, params []float64) {
	p, root := l.Outputs(), math.Sqrt(float64(l.rank))
	for i := range diag {
		own := params[i*p : (i+1)*p]
		for c, v := range own[2 : 2+l.rank] {
			f[i*l.rank+c] = v / root
		}
		d := l.deviation(own)
		diag[i] = d * d
	}
}

func (l lowRank) SampleOf(dst []float64, rng *rand.Rand, params []float64, function bool) {
	p, z := l.Outputs(), make([]float64, l.rank)
	for c := range z {
		z[c] = rng.NormFloat64() / math.Sqrt(float64(l.rank))
	}
	for i := range dst {
		own := params[i*p : (i+1)*p]
		v, d := own[0], l.deviation(own)
		if function {
			d = 0
			if l.noise {
				d = own[1]
			}
		}
		for c, f := range own[2 : 2+l.rank] {
			v += f * z[c]
		}
		dst[i] = v + d*rng.NormFloat64()
	}
}

// lowRankWork is the memory of one task's density.
type lowRankWork struct {
	deviation        []float64 // [n] of D
	residual         []float64 // [n] D^-½·(y - mean), then less B·w
	b, g, h          []float64 // [n, k]: B; B·C⁻¹; D⁻¹·G
	c, inverse, s    []float64 // [k, k]: C, then its Cholesky factor; C⁻¹; products
	coefficient      []float64 // [k] w
	leverage, square []float64 // [n] the diagonals of B·C⁻¹·Bᵀ and of (1 - B·C⁻¹·Bᵀ)·D⁻¹·(1 - B·C⁻¹·Bᵀ)
}

var lowRankPool = sync.Pool{New: func() any { return &lowRankWork{} }}

func (l lowRank) LogDensityOf(y, params []float64) float64 {
	w := lowRankPool.Get().(*lowRankWork)
	defer lowRankPool.Put(w)
	return l.density(w, y, params)
}

// density is LogDensityOf; it leaves in w all but what only gradients need.
func (l lowRank) density(w *lowRankWork, y, params []float64) float64 {
	n, k, p := len(y), l.rank, l.Outputs()
	w.deviation, w.residual, w.b = reuse.Sized(w.deviation, n), reuse.Sized(w.residual, n), reuse.Sized(w.b, n*k)
	w.c, w.coefficient = reuse.Sized(w.c, k*k), reuse.Sized(w.coefficient, k)
	sum := -0.5 * float64(n) * math.Log(2*math.Pi)
	for i := range n {
		own := params[i*p : (i+1)*p]
		d := l.deviation(own)
		w.deviation[i], w.residual[i] = d, (y[i]-own[0])/d
		sum -= math.Log(d)
		scale := 1 / (d * math.Sqrt(float64(k)))
		row := w.b[i*k : (i+1)*k]
		for c, f := range own[2 : 2+k] {
			row[c] = f * scale
		}
	}
	gram(w.c, w.b, n, k, false)
	clear(w.coefficient)
	for i, r := range w.residual {
		for c, v := range w.b[i*k : (i+1)*k] {
			w.coefficient[c] += v * r
		}
	}
	for c := range k {
		w.c[c*k+c]++
	}
	if !cholesky(w.c, k) {
		return math.NaN()
	}
	solveCholesky(w.coefficient, w.c, k)
	for c, v := range w.coefficient {
		sum -= math.Log(w.c[c*k+c]) + 0.5*v*v
	}
	for i, r := range w.residual {
		for c, v := range w.b[i*k : (i+1)*k] {
			r -= v * w.coefficient[c]
		}
		w.residual[i] = r
		sum -= 0.5 * r * r
	}
	return sum
}

// GradientOf: with e = D^-½·(y - mean) - B·w, G = B·C⁻¹ and h its rows' products with those of B, the gradients are e/√D to the means,
// (e·wᵀ - G)/√D to A and (e² - 1 + h)/√D to the deviations. The mean over a noise ν in y takes ν²/2 times the trace of the inverse, whose
// gradients come likewise.
func (l lowRank) GradientOf(d, y, params, raw []float64) float64 {
	w := lowRankPool.Get().(*lowRankWork)
	defer lowRankPool.Put(w)
	n, k, p := len(y), l.rank, l.Outputs()
	sum := l.density(w, y, params)
	if math.IsNaN(sum) {
		for i := range d {
			d[i] = math.NaN()
		}
		return sum
	}
	w.inverse, w.g, w.leverage = reuse.Sized(w.inverse, k*k), reuse.Sized(w.g, n*k), reuse.Sized(w.leverage, n)
	invertCholesky(w.inverse, w.c, k)
	simd.GemmF64(w.g, k, w.b, k, w.inverse, k, 1, 0, n, k, k)
	for i := range n {
		h := 0.0
		for c, g := range w.g[i*k : (i+1)*k] {
			h += g * w.b[i*k+c]
		}
		w.leverage[i] = h
	}
	noise := l.loss * l.loss
	if noise > 0 {
		sum -= 0.5 * noise * l.trace(w, n)
	}
	root := math.Sqrt(float64(k))
	for i := range n {
		own, to, dev, e := params[i*p:(i+1)*p], d[i*p:(i+1)*p], w.deviation[i], w.residual[i]
		to[0] = e / dev
		slope := (e*e - 1 + w.leverage[i]) / dev
		if noise > 0 {
			slope += noise * w.square[i] / dev
		}
		for c, g := range w.g[i*k : (i+1)*k] {
			v := e*w.coefficient[c] - g
			if noise > 0 {
				v += noise * w.h[i*k+c]
			}
			to[2+c] = v / (dev * root)
		}
		at := i * p
		to[1] = slope * own[1] / dev * l.spread.Slope(raw[at+1], own[1])
		if l.noise {
			to[2+k] = slope * own[2+k] / dev * l.spread.Slope(raw[at+2+k], own[2+k])
		}
	}
	return sum
}

// trace returns that of the inverse covariance, and sets w.h [n, k] to √D times its square times A, and w.square [n] to D times its
// square's diagonal.
func (l lowRank) trace(w *lowRankWork, n int) float64 {
	k := l.rank
	w.h, w.s, w.square = reuse.Sized(w.h, n*k), reuse.Sized(w.s, k*k), reuse.Sized(w.square, n)
	sum := 0.0
	for i, d := range w.deviation {
		inverse := 1 / (d * d)
		sum += (1 - w.leverage[i]) * inverse
		for c := range k {
			w.h[i*k+c] = w.b[i*k+c] * inverse
		}
	}
	// S = Bᵀ·D⁻¹·B, then G·S.
	simd.GemmTNF64(w.s, k, w.b, k, w.h, k, 1, 0, k, k, n)
	simd.GemmF64(w.h, k, w.g, k, w.s, k, 1, 0, n, k, k)
	for i, d := range w.deviation {
		q := (1 - 2*w.leverage[i]) / (d * d)
		for c, g := range w.g[i*k : (i+1)*k] {
			q += w.h[i*k+c] * g
		}
		w.square[i] = q
	}
	// D⁻¹·G - G·(Bᵀ·D⁻¹·G), with Bᵀ·D⁻¹·G = S·C⁻¹.
	for i, d := range w.deviation {
		for c, g := range w.g[i*k : (i+1)*k] {
			w.h[i*k+c] = g / (d * d)
		}
	}
	simd.GemmTNF64(w.s, k, w.b, k, w.h, k, 1, 0, k, k, n)
	simd.GemmF64(w.h, k, w.g, k, w.s, k, -1, 1, n, k, k)
	return sum
}

// cholesky replaces the lower triangle of a symmetric matrix a [k, k] by that of its Cholesky factor. It reports whether there is one.
func cholesky(a []float64, k int) bool {
	for i := range k {
		row := a[i*k : (i+1)*k]
		for j := range i {
			other, s := a[j*k:(j+1)*k], row[j]
			for c := range j {
				s -= row[c] * other[c]
			}
			row[j] = s / other[j]
		}
		s := row[i]
		for _, v := range row[:i] {
			s -= v * v
		}
		if !(s > 0) || math.IsInf(s, 0) {
			return false
		}
		row[i] = math.Sqrt(s)
	}
	return true
}

// solveCholesky replaces x [k] by (L·Lᵀ)⁻¹·x.
func solveCholesky(x, l []float64, k int) {
	for i := range k {
		s := x[i]
		for c, v := range l[i*k : i*k+i] {
			s -= v * x[c]
		}
		x[i] = s / l[i*k+i]
	}
	for i := k - 1; i >= 0; i-- {
		x[i] /= l[i*k+i]
		for c, v := range l[i*k : i*k+i] {
			x[c] -= v * x[i]
		}
	}
}

// invertCholesky sets dst [k, k] to (L·Lᵀ)⁻¹, and takes the place of L.
func invertCholesky(dst, l []float64, k int) {
	// L⁻¹ row by row: row i is (e_i - Σ_c<i L_ic·row c)/L_ii.
	for i := range k {
		row := dst[i*k : (i+1)*k]
		clear(row)
		for c, v := range l[i*k : i*k+i] {
			for j, u := range dst[c*k : c*k+c+1] {
				row[j] -= v * u
			}
		}
		inverse := 1 / l[i*k+i]
		for j := range i {
			row[j] *= inverse
		}
		row[i] = inverse
	}
	copy(l, dst)
	gram(dst, l, k, k, true)
	for i := range k {
		for j := range i {
			dst[j*k+i] = dst[i*k+j]
		}
	}
}

// gram sets the lower triangle of c [k, k] to that of bᵀ·b for b [n, k], four rows of b at a time. A lower triangular b holds zeros above
// its diagonal.
func gram(c, b []float64, n, k int, lower bool) {
	clear(c)
	for r := 0; r < n; r += 4 {
		var rows [4][]float64
		for i := range rows {
			if r+i < n {
				rows[i] = b[(r+i)*k : (r+i+1)*k]
			} else {
				rows[i] = b[r*k : (r+1)*k] // times 0
			}
		}
		last := k
		if lower {
			last = min(k, r+4)
		}
		for i := range last {
			x := [4]float64{rows[0][i]}
			for q := 1; q < 4 && r+q < n; q++ {
				x[q] = rows[q][i]
			}
			to := c[i*k : i*k+i+1]
			b0, b1, b2, b3 := rows[0][:len(to)], rows[1][:len(to)], rows[2][:len(to)], rows[3][:len(to)]
			for j := range to {
				to[j] += x[0]*b0[j] + x[1]*b1[j] + x[2]*b2[j] + x[3]*b3[j]
			}
		}
	}
}
