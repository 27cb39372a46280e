package krige

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/simd"
)

// waveValues is how many values of a table its wave is found from, at most, where predictions of others are asked for. A part of a
// table tells a wave that many times as many values repeat.
const waveValues = 512

// waveTable is a table in the population's frame. All of its rows count.
type waveTable struct {
	x, y []float64
	dim  int
}

// farWave bounds coordinates, in units of the frame: no wave is known as far as that.
const farWave = 1e9

// newWaveTable returns at most n rows of a table, from all over it.
func newWaveTable(x, y []float64, dim, n int) *waveTable {
	t := &waveTable{dim: dim}
	for _, i := range evenly(upTo(len(y)), n) {
		t.y = append(t.y, y[i])
		for _, v := range x[i*dim : (i+1)*dim] {
			t.x = append(t.x, min(max(v, -farWave), farWave))
		}
	}
	return t
}

// particle is one wave that may be that of a table: the wave vector, the phase, and what else tables differ in.
type particle struct {
	theta       []float64
	prior, like float64 // logarithms of densities: of theta, and of the table's values
	// The normal approximation around it: Newton's step, the Cholesky factor L [p, p] of the precision, and the logarithm of the
	// precision's determinant.
	step, lower []float64
	logdet      float64
}

// waveSampler draws waves from the posterior of a table, by sequential Monte Carlo. Residuals begin with a large deviation, the heat, by
// which the waveform is smoothed, too, and cool down.
type waveSampler struct {
	w      *waves
	t      *waveTable
	extras []int
	size   int // of theta
	rng    *rand.Rand
	heat   float64
	blur   int     // which of the waveforms
	scale  float64 // of the prior of wave vectors
	crest  float64 // where the waveform's first harmonic has its maximum
	row    []float64
	noise  []float64
	seen   []waveFit
	odds   []float64 // [values]
	all    []*particle
	spare  *particle
	logZ   float64 // the logarithm of the evidence: of the density of the table's values
	enough float64 // the effective share of the draws that it was estimated from by importance sampling
}

func newWaveSampler(w *waves, t *waveTable, seed uint64) *waveSampler {
	s := &waveSampler{w: w, t: t, extras: w.extras(), scale: w.prior.scale(), crest: w.forms[len(w.forms)-1].crest()}
	s.size = w.dim + 1 + len(s.extras)
	s.rng = rand.New(rand.NewPCG(seed, uint64(len(t.y))))
	s.row, s.noise, s.spare = make([]float64, s.size), make([]float64, s.size), s.particle()
	return s
}

func (s *waveSampler) particle() *particle {
	p := s.size
	all := make([]float64, 2*p+p*p)
	return &particle{theta: all[:p], step: all[p : 2*p], lower: all[2*p:]}
}

func (a *particle) copy(b *particle) {
	copy(a.theta, b.theta)
	copy(a.step, b.step)
	copy(a.lower, b.lower)
	a.prior, a.like, a.logdet = b.prior, b.like, b.logdet
}

// wave is what a particle says of values: level and gain, and the variances of residuals with and without heat.
func (s *waveSampler) wave(a *particle) (level, gain, own, narrow, broad float64) {
	gain, own = 1, s.w.narrow*s.w.narrow
	for k, kind := range s.extras {
		switch v := a.theta[s.w.dim+1+k]; kind {
		case waveLevel:
			level = v
		case waveGain:
			gain = math.Exp(v)
		default:
			own *= math.Exp(2 * v)
		}
	}
	return level, gain, own, own + s.heat*s.heat, s.w.broad*s.w.broad + s.heat*s.heat
}

// phase is where in the period a place is.
func (s *waveSampler) phase(a *particle, x []float64) float64 {
	u := -a.theta[s.w.dim]
	for k, v := range x {
		u += a.theta[k] * v
	}
	return u
}

// draw sets a particle to one of the prior.
func (s *waveSampler) draw(a *particle) {
	s.w.prior.draw(a.theta[:s.w.dim], s.rng)
	a.theta[s.w.dim] = s.rng.Float64()
	for k, kind := range s.extras {
		a.theta[s.w.dim+1+k] = s.w.apart[kind] * s.rng.NormFloat64()
	}
}

// setPrior sets the density of theta.
func (s *waveSampler) setPrior(a *particle) {
	a.prior = s.w.prior.logDensity(a.theta[:s.w.dim])
	for k, kind := range s.extras {
		sd := s.w.apart[kind]
		a.prior += logNormal(a.theta[s.w.dim+1+k], 0, sd*sd)
	}
	if math.IsNaN(a.prior) {
		a.prior = math.Inf(-1)
	}
}

// waveFit is what a particle says of one value: the waveform and its slope there, and the residual.
type waveFit struct{ g, slope, r float64 }

// mostRare is the logarithm of the ratio of densities beyond which a residual is one of the rare ones.
const mostRare = 30

// look sets the likelihood of a particle, and with it, if metric, the normal approximation.
func (s *waveSampler) look(a *particle, metric bool) {
	d, p := s.w.dim, s.size
	level, gain, own, narrow, broad := s.wave(a)
	if metric {
		clear(a.lower)
		clear(a.step)
	}
	in, ib := 1/narrow, 1/broad
	ratio := s.w.rare / (1 - s.w.rare) * math.Sqrt(narrow/broad)
	logRatio := math.Log(ratio)
	s.seen, s.odds = s.seen[:0], s.odds[:0]
	for i, y := range s.t.y {
		g, slope := s.w.forms[s.blur].at(s.phase(a, s.t.x[i*d:(i+1)*d]))
		r := y - level - gain*g
		s.seen, s.odds = append(s.seen, waveFit{g, slope, r}), append(s.odds, min(0.5*r*r*(in-ib), mostRare))
	}
	simd.ExpF64(s.odds, s.odds)
	sum, product := 0.0, 1.0
	for i, fit := range s.seen {
		x, g, slope, r := s.t.x[i*d:(i+1)*d], fit.g, fit.slope, fit.r
		r2 := 0.5 * r * r
		usual := 0.0
		if q := r2 * (in - ib); q < mostRare {
			t := 1 + ratio*s.odds[i]
			usual = 1 / t
			sum -= r2 * in
			if product *= t; product > 1e200 {
				sum, product = sum+math.Log(product), 1
			}
		} else {
			sum += logRatio - r2*ib
		}
		if !metric {
			continue
		}
		weight := usual*in + (1-usual)*ib
		row := s.row
		for k, v := range x {
			row[k] = gain * slope * v
		}
		row[d] = -gain * slope
		for k, kind := range s.extras {
			switch j := d + 1 + k; kind {
			case waveLevel:
				row[j] = 1
			case waveGain:
				row[j] = gain * g
			default: // the deviation is no part of the mean
				row[j] = 0
				f := own * in
				a.step[j] += usual * f * (2*r2*in - 1)
				a.lower[j*p+j] += 2 * usual * f * f
			}
		}
		for j, v := range row {
			v *= weight
			a.step[j] += v * r
			l := a.lower[j*p : j*p+j+1]
			for k := range l {
				l[k] += v * row[k]
			}
		}
	}
	n := float64(len(s.t.y))
	a.like = sum + math.Log(product) + n*(math.Log1p(-s.w.rare)-0.5*math.Log(2*math.Pi*narrow))
	if math.IsNaN(a.like) {
		a.like = math.Inf(-1)
	}
	if metric {
		s.approximate(a)
	}
}

// approximate adds the prior's precision, factors the sum and solves for the step.
func (s *waveSampler) approximate(a *particle) {
	d, p := s.w.dim, s.size
	for k := range p {
		precision := 1.0 // of the phase
		if k < d {
			precision = 1 / (s.scale * s.scale)
		} else if k > d {
			sd := s.w.apart[s.extras[k-d-1]]
			precision = 1 / (sd * sd)
			a.step[k] -= a.theta[k] * precision
		}
		a.lower[k*p+k] += precision
	}
	a.logdet = 0
	for i := range p {
		for j := range i + 1 {
			v := a.lower[i*p+j]
			for k := range j {
				v -= a.lower[i*p+k] * a.lower[j*p+k]
			}
			if i == j {
				v = math.Sqrt(max(v, 1e-12*a.lower[i*p+i], 1e-300))
				a.logdet += 2 * math.Log(v)
			} else {
				v /= a.lower[j*p+j]
			}
			a.lower[i*p+j] = v
		}
	}
	for i := range p {
		for k := range i {
			a.step[i] -= a.lower[i*p+k] * a.step[k]
		}
		a.step[i] /= a.lower[i*p+i]
	}
	a.solve(a.step)
}

// solve solves L^T v = z.
func (a *particle) solve(z []float64) {
	p := len(z)
	for i := p - 1; i >= 0; i-- {
		for k := i + 1; k < p; k++ {
			z[i] -= a.lower[k*p+i] * z[k]
		}
		z[i] /= a.lower[i*p+i]
	}
}

// move lets a particle take a step of a Markov chain whose invariant distribution is the posterior: a draw from the normal approximation,
// of which beta says how far it goes, that is accepted after Metropolis and Hastings. In the linear normal case it always is.
func (s *waveSampler) move(a *particle, beta float64) (moved bool) {
	p, b := s.size, s.spare
	drift := 1 - math.Sqrt(1-beta*beta)
	forward := 0.0
	for i := range s.noise {
		s.noise[i] = s.rng.NormFloat64()
		forward -= 0.5 * s.noise[i] * s.noise[i]
	}
	u := s.rng.Float64()
	a.solve(s.noise)
	for i, v := range s.noise {
		b.theta[i] = a.theta[i] + drift*a.step[i] + beta*v
	}
	s.setPrior(b)
	if math.IsInf(b.prior, -1) {
		return false
	}
	s.look(b, true)
	back := 0.0
	for i := range p {
		z := 0.0
		for k := i; k < p; k++ {
			z += b.lower[k*p+i] * (a.theta[k] - b.theta[k] - drift*b.step[k])
		}
		back -= 0.5 * z * z / (beta * beta)
	}
	gain := b.prior + b.like + back + b.logdet/2 - a.prior - a.like - forward - a.logdet/2
	if !(math.Log(u) < gain) {
		return false
	}
	b.theta[s.w.dim] -= math.Floor(b.theta[s.w.dim])
	a.copy(b)
	return true
}

// waveEffort is how much work a sampler does.
type waveEffort struct {
	particles int
	draws     int // of the prior, at most
	values    int // that the draws of the prior are chosen by, at most
}

// waveSearch is the effort of finding the likeliest wave.
func waveSearch(dim int) waveEffort {
	if dim <= 2 {
		return waveEffort{64, 4096, 64}
	}
	return waveEffort{64, 8192, 64}
}

// waveEvidence is the effort of finding the posterior of a table, which is then weighed.
func waveEvidence(values int) waveEffort {
	const most, least, work = 256, 96, 2.5e4
	return waveEffort{int(min(most, max(least, work/float64(values+1)))), 8192, 128}
}

// reflect lets a particle move to the reflected wave, after Metropolis. Of a waveform that is smoothed down to one harmonic both fit alike,
// and only a sharper one tells which is right.
func (s *waveSampler) reflect(a *particle) {
	if s.blur == 0 {
		return
	}
	b, d := s.spare, s.w.dim
	copy(b.theta, a.theta)
	for k := range d {
		b.theta[k] = -a.theta[k]
	}
	b.theta[d] = -a.theta[d] - 2*s.crest
	b.theta[d] -= math.Floor(b.theta[d])
	s.setPrior(b)
	s.look(b, false)
	if math.Log(s.rng.Float64()) < b.prior+b.like-a.prior-a.like {
		s.look(b, true)
		a.copy(b)
	}
}

// Settings of the sampler.
const (
	waveStages = 120 // of cooling, at most
	waveEnough = 0.3 // the least effective share of particles that a stage of cooling shall leave
)

// waveBetas are how far the moves of a stage go.
var waveBetas = []float64{1, 0.4}

// sample draws from the posterior of a table, and estimates its evidence. It stops early with the context.
func (w *waves) sample(ctx context.Context, t *waveTable, effort waveEffort, seed uint64) *waveSampler {
	s := newWaveSampler(w, t, seed)
	s.first(effort)
	if len(t.y) == 0 {
		return s
	}
	cool := 0.7
	for range waveStages {
		if ctx.Err() != nil {
			return s
		}
		for i, a := range s.all {
			if i > 0 && slices.Equal(a.theta, s.all[i-1].theta) {
				a.copy(s.all[i-1])
			} else {
				s.look(a, true)
			}
		}
		for _, beta := range waveBetas {
			for _, a := range s.all {
				s.move(a, beta)
			}
		}
		if s.heat == 0 {
			return s
		}
		for _, a := range s.all {
			s.reflect(a)
		}
		cool = s.cool(cool)
	}
	s.heat, s.blur = 0, 0
	return s
}

// first draws particles: of many from the prior those that are likely at the least heat at which enough are. Of a large table a part says
// which these are, and then, at a heat at which it says about as much, all of it.
func (s *waveSampler) first(effort waveEffort) {
	all, n := s.t, effort.particles
	if len(all.y) > effort.values {
		s.t = newWaveTable(all.x, all.y, all.dim, effort.values)
	}
	draws := make([]*particle, n)
	if len(all.y) > 0 {
		draws = make([]*particle, max(n, effort.draws))
	}
	s.heat = 0.5
	s.blur = s.w.blur(s.heat)
	rest := make([]float64, len(draws))
	for i := range draws {
		a := s.particle()
		s.draw(a)
		s.setPrior(a)
		level, gain, _, _, _ := s.wave(a)
		for k, y := range s.t.y {
			g, _ := s.w.forms[s.blur].at(s.phase(a, s.t.x[k*s.w.dim:(k+1)*s.w.dim]))
			r := y - level - gain*g
			rest[i] += r * r
		}
		draws[i] = a
	}
	if s.all = draws; len(all.y) == 0 {
		s.heat, s.blur = 0, 0
		return
	}
	log := make([]float64, len(draws))
	for s.heat = 0.2; s.heat < 1e3; s.heat *= 1.1 {
		for i, r := range rest {
			log[i] = -r / (2 * s.heat * s.heat)
		}
		if effective(log) >= float64(n)/3 {
			break
		}
	}
	s.blur = s.w.blur(s.heat)
	for i, a := range draws {
		s.look(a, false)
		log[i] = a.like
	}
	s.logZ = logMean(log)
	s.resample(draws, log, n)
	if s.t != all {
		s.heat *= math.Sqrt(float64(len(all.y)) / float64(len(s.t.y)))
		s.t = all
		old := s.likelihoods()
		s.weigh(old)
	}
}

// likelihoods are those of all particles.
func (s *waveSampler) likelihoods() []float64 {
	out := make([]float64, len(s.all))
	for i, a := range s.all {
		out[i] = a.like
	}
	return out
}

// ratios looks at all particles, and returns the logarithms of the ratios of their likelihoods to old ones.
func (s *waveSampler) ratios(old []float64) []float64 {
	out := make([]float64, len(old))
	for i, a := range s.all {
		s.look(a, false)
		out[i] = a.like - old[i]
	}
	return out
}

// weigh draws the particles anew by what their likelihoods are over old ones.
func (s *waveSampler) weigh(old []float64) {
	log := s.ratios(old)
	s.logZ += logMean(log)
	s.resample(s.all, log, len(s.all))
}

// cool takes the particles to the next heat, or to a sharper waveform where both at once would leave too few of them likely. It returns the
// factor by which the heat shall fall next.
func (s *waveSampler) cool(factor float64) float64 {
	before, blur, old := s.heat, s.blur, s.likelihoods()
	enough := 0.0
	try := func(heat float64, blur int) bool {
		s.heat, s.blur = heat, blur
		enough = effective(s.ratios(old)) / float64(len(old))
		return enough > waveEnough
	}
	lower := func() float64 {
		if h := before * factor; h > 0.25*s.w.narrow {
			return h
		}
		return 0
	}
	sharper := min(blur, s.w.blur(lower()))
	if !try(lower(), sharper) && sharper < blur {
		try(before, blur-1)
	} else {
		for k := 0; !(enough > waveEnough) && k < 4; k++ {
			factor = math.Sqrt(factor)
			try(lower(), blur)
		}
	}
	s.weigh(old)
	if enough > 0.6 {
		return max(0.3, factor*factor)
	}
	return min(factor, 0.8)
}

// resample draws n particles by their weights, at even distances.
func (s *waveSampler) resample(from []*particle, log []float64, n int) {
	most := slices.Max(log)
	if math.IsInf(most, -1) || math.IsNaN(most) { // none is possible: all stay as they are
		s.all = from[:n]
		return
	}
	weights := exponentials(log)
	var total float64
	for _, w := range weights {
		total += w
	}
	next := make([]*particle, n)
	at, sum, u := 0, weights[0], s.rng.Float64()
	for i := range next {
		for sum < (float64(i)+u)/float64(n)*total && at+1 < len(from) {
			at++
			sum += weights[at]
		}
		next[i] = s.particle()
		next[i].copy(from[at])
	}
	s.all = next
}

// climb moves a particle to a maximum of the posterior nearby, at the heat and with the waveform that the sampler has.
func (s *waveSampler) climb(a *particle, steps int) {
	s.setPrior(a)
	s.look(a, true)
	b := s.spare
	for range steps {
		better := false
		for _, far := range []float64{1, 0.3, 0.1} {
			for i := range b.theta {
				b.theta[i] = a.theta[i] + far*a.step[i]
			}
			s.setPrior(b)
			if s.look(b, true); b.prior+b.like > a.prior+a.like {
				better = b.prior+b.like > a.prior+a.like+1e-6
				a.copy(b)
				break
			}
		}
		if !better {
			return
		}
	}
}

// waveWander is the number of draws by which a better wave is looked for.
const waveWander = 200

// wander moves a particle to the likeliest of waves that are drawn around it, and climbs from there. Values on the wrong side of a jump
// have no slope that leads there.
func (s *waveSampler) wander(a *particle) {
	b := s.spare
	for range waveWander {
		for i := range s.noise {
			s.noise[i] = s.rng.NormFloat64()
		}
		a.solve(s.noise)
		for i, v := range s.noise {
			b.theta[i] = a.theta[i] + v
		}
		s.setPrior(b)
		if s.look(b, false); b.prior+b.like > a.prior+a.like {
			s.look(b, true)
			a.copy(b)
		}
	}
	s.climb(a, 4)
}
