package krige

import (
	"math"

	"github.com/equivcnp/equivcnp/simd"
)

// shape is a correlation function of distance.
type shape int

const (
	noShape  shape = iota
	matern12       // exp(-r)
	matern32
	matern52
	squared  // exp(-r^2/2)
	rational // 1/(1+r^2/2): many scales at once
	glide    // exp(-r), smoothed: (exp(-r) - q·exp(-r/q)) / (1-q)
)

func (s shape) String() string {
	return [...]string{"none", "Matérn 1/2", "Matérn 3/2", "Matérn 5/2", "squared exponential", "rational quadratic",
		"smoothed Matérn 1/2"}[s]
}

// spec is a family of covariance functions.
type spec struct {
	dim       int
	shape     shape
	second    shape   // of a second scale, noShape where there is none
	period    float64 // of a season, 0 where there is none
	long      float64 // period of a second season, of which the first one is a part, 0 where there is none
	axial     float64 // period along every axis, 0 where there is none
	aniso     bool
	turned    bool // with three coordinates: anisotropy of any direction, not only along them
	different bool // axes have units of their own
	wanders   bool // the first length is far beyond the series, which is a random walk over it
}

// The parameters theta of a family, in order: log length, log noise over signal, log standard deviation of the slope;
// then, where the family has them, anisotropy (two in the plane, one less than axes elsewhere, and the three off the diagonal if it is
// turned), log length of smoothing, second scale (log variance, log length), season (log variance, log width, log decay, log period over
// the one found), long season (the first three of these) and period along every axis (log width, log period over the one found).
const (
	tLength = iota
	tNoise
	tSlope
	tFirst
)

func (s *spec) anisoParams() int {
	switch {
	case !s.aniso:
		return 0
	case s.dim == 2:
		return 2
	case s.turned:
		return 5
	}
	return s.dim - 1
}

// smoothAt, secondAt, seasonAt, longAt and axialAt are the places of these parameters, params their number.
func (s *spec) smoothAt() int { return tFirst + s.anisoParams() }

func (s *spec) secondAt() int {
	if s.shape == glide {
		return s.smoothAt() + 1
	}
	return s.smoothAt()
}

func (s *spec) seasonAt() int {
	if s.second != noShape {
		return s.secondAt() + 2
	}
	return s.secondAt()
}

func (s *spec) longAt() int {
	if s.period > 0 {
		return s.seasonAt() + 4
	}
	return s.seasonAt()
}

func (s *spec) axialAt() int {
	if s.long > 0 {
		return s.longAt() + 3
	}
	return s.longAt()
}

func (s *spec) params() int {
	if s.axial > 0 {
		return s.axialAt() + 2
	}
	return s.axialAt()
}

// part is one summand of a covariance function.
type part struct {
	shape    shape
	variance float64
	inverse  float64 // of the length
	smooth   float64 // of glide: how many times as long the length is as that of smoothing
}

// season is a summand that is periodic, and decays with the distance. There is none where its variance is 0.
type season struct{ variance, width, decay, frequency float64 }

// newSeason takes the log variance, log width and log decay from theta.
func newSeason(theta []float64, period float64) season {
	return season{variance: math.Exp(theta[0]), width: math.Exp(-2 * theta[1]), decay: math.Exp(-theta[2]), frequency: math.Pi / period}
}

// period is that of a season, 0 where there is none.
func (s *season) period() float64 {
	if s.variance > 0 {
		return math.Pi / s.frequency
	}
	return 0
}

// kernel is a covariance function, in units of the signal's variance.
type kernel struct {
	metric [6]float64 // weights of the features of a pair, see features
	parts  []part
	season season
	long   season // beside it
	axial  struct{ width, frequency float64 }
	noise  float64
	slope2 float64 // variance of the slope
	level2 float64 // variance of the level, where the mean is not estimated beside
}

// least is the least share of noise: what keeps matrices positive definite.
const least = 1e-6

func (s *spec) kernel(theta []float64) *kernel {
	k := &kernel{metric: [6]float64{1, 1, 1}}
	k.parts = append(k.parts, part{shape: s.shape, variance: 1, inverse: math.Exp(-theta[tLength])})
	if s.shape == glide {
		k.parts[0].smooth = max(1.01, math.Exp(theta[tLength]-theta[s.smoothAt()]))
	}
	k.noise, k.slope2 = least+math.Exp(theta[tNoise]), math.Exp(2*theta[tSlope])
	if s.dim == 2 { // the second feature is not a square but dx dy
		k.metric[1] = 0
	}
	switch {
	case s.aniso && s.dim == 2: // the exponential of the symmetric matrix (p q; q -p)
		p, q := theta[tFirst], theta[tFirst+1]
		r := math.Hypot(p, q)
		c, sinc := math.Cosh(r), 1.0
		if r > 1e-8 {
			sinc = math.Sinh(r) / r
		}
		k.metric = [6]float64{c + sinc*p, 2 * sinc * q, c - sinc*p}
	case s.turned:
		k.metric = exponentiated(theta[tFirst:])
	case s.aniso:
		var sum float64
		for i := range s.dim - 1 {
			k.metric[i] = math.Exp(theta[tFirst+i])
			sum += theta[tFirst+i]
		}
		k.metric[s.dim-1] = math.Exp(-sum)
	}
	if s.second != noShape {
		at := s.secondAt()
		k.parts = append(k.parts, part{shape: s.second, variance: math.Exp(theta[at]), inverse: math.Exp(-theta[at+1])})
	}
	if s.period > 0 {
		at := s.seasonAt()
		k.season = newSeason(theta[at:], s.period*math.Exp(theta[at+3]))
	}
	if s.long > 0 {
		k.long = newSeason(theta[s.longAt():], s.long)
	}
	if s.axial > 0 {
		at := s.axialAt()
		k.axial.width, k.axial.frequency = math.Exp(theta[at]), math.Pi/(s.axial*math.Exp(theta[at+1]))
	}
	return k
}

// exponentiated returns what the squares and products of three differences weigh (see features) in the metric that is the exponential of
// the symmetric matrix (p0 p2 p3; p2 p1 p4; p3 p4 -p0-p1).
func exponentiated(p []float64) (weights [6]float64) {
	values, vectors := eigen([]float64{p[0], p[2], p[3], p[2], p[1], p[4], p[3], p[4], -p[0] - p[1]}, 3)
	for k, v := range values {
		x, y, z, e := vectors[k], vectors[3+k], vectors[6+k], math.Exp(v)
		for i, product := range [6]float64{x * x, y * y, z * z, 2 * x * y, 2 * x * z, 2 * y * z} {
			weights[i] += e * product
		}
	}
	return weights
}

// variance is that of the signal at x, less the trend's.
func (k *kernel) variance() float64 {
	v := k.season.variance + k.long.variance + k.level2
	for _, p := range k.parts {
		v += p.variance
	}
	return v
}

// prior is the variance of the signal at a place, before any value is known.
func (k *kernel) prior(at []float64) float64 {
	var square float64
	for _, v := range at {
		square += float64(v * v)
	}
	return k.variance() + k.slope2*square
}

// features are what a covariance needs of pairs of points: squared differences, in the plane dx^2, dx dy, dy^2 and in space dx^2, dy^2,
// dz^2, dx dy, dx dz, dy dz, so that a metric is a weighted sum; and the scalar product, for the trend. Periods along axes need the
// differences themselves.
type features struct {
	q    [][]float64
	dot  []float64
	axes [][]float64 // differences along every axis, nil where no kernel has a period along them
}

// grow makes room for n pairs.
func (f *features) grow(dim, n int, aniso bool) {
	want := 1
	switch {
	case aniso && dim == 3:
		want = 6
	case aniso:
		want = 3
	}
	for len(f.q) < want {
		f.q = append(f.q, nil)
	}
	f.q = f.q[:want]
	for i := range f.q {
		if cap(f.q[i]) < n {
			f.q[i] = make([]float64, n)
		}
		f.q[i] = f.q[i][:n]
	}
	if cap(f.dot) < n {
		f.dot = make([]float64, n)
	}
	f.dot = f.dot[:n]
}

// growAxes makes room for the differences of n pairs along every axis.
func (f *features) growAxes(dim, n int) {
	f.axes = make([][]float64, dim)
	for k := range f.axes {
		f.axes[k] = make([]float64, n)
	}
}

// set takes pair p from points a and b.
func (f *features) set(p int, a, b []float64) {
	var dot float64
	for k := range a {
		dot += a[k] * b[k]
	}
	f.dot[p] = dot
	for k := range f.axes {
		f.axes[k][p] = a[k] - b[k]
	}
	switch {
	case len(f.q) == 1:
		var d2 float64
		for k := range a {
			e := a[k] - b[k]
			d2 += e * e
		}
		f.q[0][p] = d2
	case len(a) == 2:
		dx, dy := a[0]-b[0], a[1]-b[1]
		f.q[0][p], f.q[1][p], f.q[2][p] = dx*dx, dx*dy, dy*dy
	default:
		dx, dy, dz := a[0]-b[0], a[1]-b[1], a[2]-b[2]
		f.q[0][p], f.q[1][p], f.q[2][p] = dx*dx, dy*dy, dz*dz
		f.q[3][p], f.q[4][p], f.q[5][p] = dx*dy, dx*dz, dy*dz
	}
}

// scratch is working memory of covariances and their factorizations.
type scratch struct {
	d2, t, e, s []float64
	square      square
}

func (w *scratch) grow(n int) {
	if cap(w.d2) < n {
		w.d2, w.t, w.e, w.s = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	}
	w.d2, w.t, w.e, w.s = w.d2[:n], w.t[:n], w.e[:n], w.s[:n]
}

// covariances sets dst to the covariances of the signal at pairs.
func (k *kernel) covariances(dst []float64, f *features, w *scratch) {
	n := len(dst)
	w.grow(n)
	d2 := w.d2
	if len(f.q) == 1 {
		copy(d2, f.q[0][:n])
	} else {
		q0, q1, q2 := f.q[0][:n], f.q[1][:n], f.q[2][:n]
		m0, m1, m2 := k.metric[0], k.metric[1], k.metric[2]
		for i := range d2 {
			d2[i] = max(0, m0*q0[i]+m1*q1[i]+m2*q2[i])
		}
		if m3, m4, m5 := k.metric[3], k.metric[4], k.metric[5]; m3 != 0 || m4 != 0 || m5 != 0 {
			q3, q4, q5 := f.q[3][:n], f.q[4][:n], f.q[5][:n]
			for i := range d2 {
				d2[i] = max(0, d2[i]+m3*q3[i]+m4*q4[i]+m5*q5[i])
			}
		}
	}
	dot := f.dot[:n]
	if k.axial.width > 0 {
		clear(dst)
		for _, p := range k.parts {
			p.add(dst, d2, w)
		}
		k.multiplyAxial(dst, f, w)
		for i := range dst {
			dst[i] += k.slope2*dot[i] + k.level2
		}
		return
	}
	for i := range dst {
		dst[i] = k.slope2*dot[i] + k.level2
	}
	for _, p := range k.parts {
		p.add(dst, d2, w)
	}
	for _, s := range [...]*season{&k.season, &k.long} {
		if s.variance > 0 {
			s.add(dst, d2, w)
		}
	}
}

// add adds the part's covariances at squared distances.
func (p *part) add(dst, d2 []float64, w *scratch) {
	t, e := w.t[:len(d2)], w.e[:len(d2)]
	il2 := p.inverse * p.inverse
	switch p.shape {
	case squared:
		for i, d := range d2 {
			t[i] = -0.5 * d * il2
		}
	case rational:
		for i, d := range d2 {
			dst[i] += p.variance / (1 + 0.5*d*il2)
		}
		return
	case glide:
		p.addGlide(dst, d2, w)
		return
	default:
		c := il2 * [...]float64{0, 1, 3, 5}[p.shape]
		for i, d := range d2 {
			t[i] = -math.Sqrt(d * c)
		}
	}
	simd.ExpF64(e, t)
	v := p.variance
	switch p.shape {
	case matern32:
		for i, r := range t {
			dst[i] += v * (1 - r) * e[i]
		}
	case matern52:
		for i, r := range t {
			dst[i] += v * (1 - r + r*r*(1./3)) * e[i]
		}
	default:
		for i := range e {
			dst[i] += v * e[i]
		}
	}
}

// addGlide is add of the shape glide.
func (p *part) addGlide(dst, d2 []float64, w *scratch) {
	t, e := w.t[:len(d2)], w.e[:len(d2)]
	for i, d := range d2 {
		t[i] = -p.inverse * math.Sqrt(d)
	}
	simd.ExpF64(e, t)
	simd.ScaleF64(t, p.smooth, t)
	simd.ExpF64(t, t)
	v := p.variance / (p.smooth - 1)
	for i, a := range e {
		dst[i] += v * (p.smooth*a - t[i])
	}
}

// add adds the season's covariances at squared distances.
func (s *season) add(dst, d2 []float64, w *scratch) {
	t, e, sin := w.t[:len(d2)], w.e[:len(d2)], w.s[:len(d2)]
	for i, d := range d2 {
		t[i] = s.frequency * math.Sqrt(d)
	}
	simd.SinCosF64(sin, e, t)
	decay := 0.5 * s.decay * s.decay
	for i, d := range d2 {
		t[i] = -2*sin[i]*sin[i]*s.width - decay*d
	}
	simd.ExpF64(e, t)
	for i := range e {
		dst[i] += s.variance * e[i]
	}
}

// multiplyAxial multiplies covariances by a function that is periodic along every axis, and the product of one along each of them.
func (k *kernel) multiplyAxial(dst []float64, f *features, w *scratch) {
	t, e, s := w.t[:len(dst)], w.e[:len(dst)], w.s[:len(dst)]
	sum := w.d2[:len(dst)] // the parts have used the distances
	clear(sum)
	for _, axis := range f.axes {
		for i, v := range axis[:len(dst)] {
			t[i] = k.axial.frequency * v
		}
		simd.SinCosF64(s, e, t)
		for i, v := range s {
			sum[i] -= 2 * k.axial.width * v * v
		}
	}
	simd.ExpF64(e, sum)
	for i, v := range e {
		dst[i] *= v
	}
}
