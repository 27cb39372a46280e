package krige

import (
	"math"
	"sync"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// unit is a set of points whose joint density is part of the likelihood: that of all but the first given, given these.
type unit struct {
	given    int
	index    []int // points of the table
	features features
}

// evidence is the likelihood of a table as a function of a family's parameters: the level of the mean has a flat prior,
// and the variance an inverse gamma one, over which the likelihood is integrated in closed form.
type evidence struct {
	x, y  []float64 // normalised
	drift driftColumns
	dim   int
	units []unit
	seen  int // points whose densities are in it
	prior prior
	parts []*evidence // of tables that share the parameters, each with a level and a variance of its own, instead of units
	rooms sync.Pool
}

// room is working memory of one evaluation.
type room struct {
	a, right []float64
	scratch  scratch
}

// Parameters of the prior of the variance, in units of that of the values.
const (
	varianceShape = 1.0
	varianceScale = 0.3
)

// sums are what the units add up to.
type sums struct {
	logdet, yy, y1, ones float64
	n                    int
	maximum              bool // the variance is the likeliest one, and has no prior

	drift     *driftSums // of the columns of a drift, until settle estimates it
	found     *drift
	explained float64 // by the drift, of the sum of squares
}

func (s *sums) add(o sums) {
	s.logdet, s.yy, s.y1, s.ones, s.n = s.logdet+o.logdet, s.yy+o.yy, s.y1+o.y1, s.ones+o.ones, s.n+o.n
	switch {
	case o.drift == nil:
	case s.drift == nil:
		s.drift = o.drift
	default:
		s.drift.merge(o.drift)
	}
}

// settle estimates the drift: from then on the density and the residual of the sums are those of the values with it.
func (s *sums) settle() {
	f := s.drift
	if f == nil {
		return
	}
	d := len(f.y)
	found := &drift{level: make([]float64, d), root: make([]float64, tri(d)), coef: make([]float64, d), precision: f.precision}
	for i := range d {
		found.level[i] = f.one[i] / s.ones
		found.coef[i] = f.y[i] - found.level[i]*s.y1
		for j := range i + 1 {
			found.root[tri(i)+j] = f.square[i*d+j] - found.level[i]*f.one[j]
		}
		found.root[tri(i)+i] += f.precision[i]
	}
	s.drift = nil
	if !cholesky(found.root, d, found.coef, new(square)) { // where the sums are no numbers, and so the density is none
		s.yy = math.NaN()
		return
	}
	for i := range d {
		s.logdet -= math.Log(found.root[tri(i)+i]) + 0.5*math.Log(f.precision[i])
	}
	s.found, s.explained = found, simd.SumSqF64(found.coef)
}

// level is the estimate of the mean's level.
func (s *sums) level() float64 { return s.y1 / s.ones }

func (s *sums) residual() float64 { return max(0, s.yy-s.y1*s.y1/s.ones-s.explained) }

// spread is the mean of the posterior of the signal's variance: for few points it is larger than the estimate.
func (s *sums) spread() float64 {
	if s.maximum {
		return max(s.residual(), 1e-12) / float64(max(1, s.n-1))
	}
	return (varianceScale + s.residual()/2) / max(varianceShape+float64(s.n-1)/2-1, 0.5)
}

// density is the logarithm of the likelihood.
func (s *sums) density() float64 {
	if s.maximum {
		n := float64(s.n)
		return -s.logdet - n/2*(math.Log(2*math.Pi*max(s.residual(), 1e-12)/n)+1)
	}
	a := varianceShape + float64(s.n-1)/2
	la, _ := math.Lgamma(a)
	return -s.logdet - 0.5*math.Log(s.ones) + la - a*math.Log(varianceScale+s.residual()/2) - float64(s.n-1)/2*math.Log(2*math.Pi)
}

// fill prepares the features of a unit.
func (u *unit) fill(x []float64, d int, aniso bool) {
	n := len(u.index)
	u.features.grow(d, tri(n), aniso)
	p := 0
	for i, a := range u.index {
		for _, b := range u.index[:i+1] {
			u.features.set(p, x[a*d:(a+1)*d], x[b*d:(b+1)*d])
			p++
		}
	}
}

// factor sets a to the Cholesky factor of the unit's covariance matrix, and solves right-hand sides.
func (u *unit) factor(a []float64, k *kernel, w *scratch, right []float64) bool {
	n := len(u.index)
	k.covariances(a, &u.features, w)
	for i := range n {
		a[tri(i)+i] += k.noise
	}
	return cholesky(a, n, right, &w.square)
}

// evaluate returns the unit's part of the likelihood of values y [n] with a drift.
func (u *unit) evaluate(y []float64, drift *driftColumns, k *kernel, r *room) (s sums, ok bool) {
	n := len(u.index)
	rows := 2 + drift.d
	if cap(r.a) < tri(n) {
		r.a = make([]float64, tri(n))
	}
	if cap(r.right) < rows*n {
		r.right = make([]float64, rows*n)
	}
	a, z, one := r.a[:tri(n)], r.right[:n], r.right[n:2*n]
	for i, p := range u.index {
		z[i], one[i] = y[p], 1
		for c := range drift.d {
			r.right[:rows*n][(2+c)*n+i] = drift.z[p*drift.d+c]
		}
	}
	if !u.factor(a, k, &r.scratch, r.right[:rows*n]) {
		return s, false
	}
	for i := u.given; i < n; i++ {
		s.logdet -= math.Log(a[tri(i)+i])
		s.yy += z[i] * z[i]
		s.y1 += z[i] * one[i]
		s.ones += one[i] * one[i]
	}
	if drift.d > 0 {
		s.drift = newDriftSums(drift.precision)
		s.drift.add(r.right[2*n:rows*n], one, z, u.given, n)
	}
	s.n = n - u.given
	return s, true
}

// sums adds up the units.
func (e *evidence) sums(k *kernel) (total sums, ok bool) {
	r, _ := e.rooms.Get().(*room)
	if r == nil {
		r = new(room)
	}
	defer e.rooms.Put(r)
	total.maximum = e.prior.flat
	for i := range e.units {
		s, ok := e.units[i].evaluate(e.y, &e.drift, k, r)
		if !ok {
			return total, false
		}
		total.add(s)
	}
	total.settle()
	return total, true
}

// density is the logarithm of the likelihood.
func (e *evidence) density(k *kernel) (sum float64, ok bool) {
	for _, part := range e.parts {
		d, ok := part.density(k)
		if !ok {
			return 0, false
		}
		sum += d
	}
	if e.parts != nil {
		return sum, true
	}
	total, ok := e.sums(k)
	return total.density(), ok
}

// cost is the negative log posterior density of a family's parameters.
func (e *evidence) cost(s *spec, theta []float64) float64 {
	p := e.prior.cost(s, theta)
	if !(p < 200) {
		return math.Inf(1)
	}
	density, ok := e.density(s.kernel(theta))
	if !ok {
		return math.Inf(1)
	}
	if c := p - density; !math.IsNaN(c) {
		return c
	}
	return math.Inf(1)
}

// costs evaluates many.
func (e *evidence) costs(s *spec, thetas [][]float64) []float64 {
	out := make([]float64, len(thetas))
	parallel.For(len(thetas), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = e.cost(s, thetas[i])
		}
	})
	return out
}

// prior is the prior of parameters: independent normals.
type prior struct {
	spacing float64 // of the context
	flat    bool    // within bounds, for the likelihood's maximum
}

// stretched is the logarithm of the longest length over the shortest, up to which anisotropy is as likely as its prior has it. Beyond,
// noiseless values with jumps choose it: a metric that is stretched a hundredfold turns until every jump falls between the known values,
// and is then sure of the values on the wrong side of it. That the choice was theirs, leaving single values out does not tell.
const (
	stretched   = 2.0
	stretchCost = 20.0 // nats, times the square of what is beyond
)

// normals returns mean and standard deviation of each parameter.
func (p *prior) normals(s *spec) (mean, std []float64) {
	n := s.params()
	mean, std = make([]float64, n), make([]float64, n)
	mean[tLength], std[tLength] = math.Log(0.5), 1.3
	mean[tNoise], std[tNoise] = math.Log(0.1), 2.5
	mean[tSlope], std[tSlope] = math.Log(0.3), 1.2
	for i := range s.anisoParams() {
		std[tFirst+i] = 0.5
		if s.different && !(s.turned && i >= s.dim-1) {
			std[tFirst+i] = 1.2
		}
	}
	if s.shape == glide {
		mean[s.smoothAt()], std[s.smoothAt()] = math.Log(math.Sqrt(2*p.spacing*0.3)), 1
	}
	if s.second != noShape {
		at := s.secondAt()
		mean[at], std[at] = math.Log(0.3), 1.5
		mean[at+1], std[at+1] = math.Log(math.Sqrt(2*p.spacing*0.3)), 1
	}
	if s.period > 0 {
		at := s.seasonAt()
		mean[at], std[at] = math.Log(0.3), 2
		mean[at+1], std[at+1] = 0, 0.7
		mean[at+2], std[at+2] = math.Log(2), 1.2
		mean[at+3], std[at+3] = 0, 0.02
	}
	if s.long > 0 {
		at := s.longAt()
		mean[at], std[at] = math.Log(0.3), 2
		mean[at+1], std[at+1] = math.Log(0.1), 1
		mean[at+2], std[at+2] = math.Log(2), 0.8
	}
	if s.axial > 0 {
		at := s.axialAt()
		mean[at], std[at] = math.Log(0.1), 2
		mean[at+1], std[at+1] = 0, 0.05
	}
	if s.wanders {
		s.widen(mean, std)
	}
	return mean, std
}

// Prior of the length of a series that wanders, in units of the deviation of its places, and by how much the variance of the signal is
// larger then than that of the values, about.
const (
	wanderLength   = 10
	wanderSpread   = 0.5
	wanderVariance = 8.5
)

// widen changes the prior of a family to that of one that wanders: what it says of parameters over the signal's variance, it says of
// them over that of the values.
func (s *spec) widen(mean, std []float64) {
	more := math.Log(wanderVariance)
	mean[tLength], std[tLength] = math.Log(wanderLength), wanderSpread
	mean[tNoise] -= more
	mean[tSlope] -= more / 2
	if s.second != noShape {
		mean[s.secondAt()] -= more
	}
	if s.period > 0 {
		mean[s.seasonAt()] -= more
	}
	if s.long > 0 {
		mean[s.longAt()] -= more
	}
}

// cost is the negative logarithm of the prior density.
func (p *prior) cost(s *spec, theta []float64) (sum float64) {
	mean, std := p.normals(s)
	if s.aniso && !s.different && !p.flat {
		var r2 float64
		for _, t := range theta[tFirst : tFirst+s.anisoParams()] {
			r2 += t * t
		}
		if r := math.Sqrt(r2); r > stretched {
			sum += stretchCost * (r - stretched) * (r - stretched)
		}
	}
	for i, t := range theta {
		z := (t - mean[i]) / std[i]
		if p.flat {
			if math.Abs(z) > 4 {
				return math.Inf(1)
			}
			continue
		}
		sum += 0.5*z*z + math.Log(std[i]) + 0.5*math.Log(2*math.Pi)
	}
	return sum
}
