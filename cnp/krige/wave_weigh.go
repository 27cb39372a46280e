package krige

import (
	"context"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/simd"
)

// Settings of importance sampling.
const (
	weighCentres = 256   // particles that draws lie around, at most
	weighKept    = 512   // draws that stand for the posterior
	weighMost    = 2048  // draws, at most
	weighLeast   = 768   // and at least
	weighWork    = 2.5e5 // draws times values
	weighPrior   = 16    // one draw of so many is from the prior
	weighFreedom = 5     // degrees of freedom of the Student distributions around particles
	weighFar     = 30.0  // nats by which the mass around a particle may be less than that around the best
	weighRounds  = 3     // of draws, each around those that the one before has left
	weighEnough  = 0.1   // the effective share of draws behind which no other round is needed
	weighLed     = 0.03  // and the one without which a sampler that others have led is not trusted
	weighShared  = 32    // particles that another sampler takes over
	weighClose   = 0.15  // periods that draws differ by, at most, where they are of one wave
	weighLost    = 6     // standard deviations that the likelihood of a wave that was found may be too low
	weighTries   = 4     // times that a wave is looked for, at most
	weighPeaks   = 8     // particles that climb to maxima
)

// posterior draws from the posterior of a table's wave, and estimates the evidence: sequential Monte Carlo finds the wave, and importance
// sampling says how likely each draw is. It stops early with the context.
func (w *waves) posterior(ctx context.Context, t *waveTable, effort waveEffort, seed uint64) *waveSampler {
	s, more := w.search(ctx, t, effort, seed)
	s.weighAll(ctx, more)
	return s
}

// search draws from the posterior by sequential Monte Carlo. A wave that was not found is looked for again. It returns other particles,
// too, some of them at maxima: the draws may lie beside the posterior where this is narrow.
func (w *waves) search(ctx context.Context, t *waveTable, effort waveEffort, seed uint64) (s *waveSampler, more []*particle) {
	for k := range uint64(weighTries) {
		again := w.sample(ctx, t, effort, seed+k<<32)
		peaks := again.peaks()
		if s == nil {
			s = again
		} else {
			if s.best().mass() < again.best().mass() {
				s, again = again, s
			}
			more = append(more, again.some(weighShared)...)
		}
		more = append(more, peaks...)
		if ctx.Err() != nil || len(peaks) == 0 || s.fits(peaks[0]) || k > 0 && w.share < 0.5 {
			break
		}
	}
	return s, more
}

// evidences are those of the first n values of a table, and of all. They stop early with the context.
func (w *waves) evidences(ctx context.Context, x, y []float64, n int) (given, together float64) {
	first := newWaveTable(x[:n*w.dim], y[:n], w.dim, n)
	of := w.posterior(ctx, first, waveEvidence(n), 1)
	if n == len(y) || ctx.Err() != nil {
		return of.logZ, of.logZ
	}
	all := newWaveTable(x, y, w.dim, len(y))
	led := newWaveSampler(w, all, 1)
	led.follow(ctx, of)
	if of.knows(all) { // the wave of all values is near to those of the first ones
		if led.weighAll(ctx, nil); led.enough > weighLed && led.fits(led.best()) {
			return of.logZ, led.logZ
		}
	}
	s, more := w.search(ctx, all, waveEvidence(len(y)), 1)
	// What one of the samplers has found, the other one may have missed.
	s.weighAll(ctx, append(more, led.some(weighShared)...))
	of.weighAll(ctx, s.some(weighShared))
	return of.logZ, s.logZ
}

// mass is the logarithm of the posterior's density, but for a constant.
func (a *particle) mass() float64 { return a.prior + a.like }

// best is the likeliest particle.
func (s *waveSampler) best() *particle {
	best := s.all[0]
	for _, a := range s.all {
		if a.mass() > best.mass() {
			best = a
		}
	}
	return best
}

// some are copies of at most n particles, from all over them.
func (s *waveSampler) some(n int) (out []*particle) {
	for _, i := range evenly(upTo(len(s.all)), n) {
		a := s.particle()
		a.copy(s.all[i])
		out = append(out, a)
	}
	return out
}

// peaks are particles at maxima of the posterior, the first of which is the likeliest.
func (s *waveSampler) peaks() []*particle {
	if len(s.t.y) == 0 {
		return nil
	}
	best := s.particle()
	best.copy(s.best())
	out := append([]*particle{best}, s.some(weighPeaks)...)
	for i, a := range out {
		if s.climb(a, 20); a.mass() > out[0].mass() {
			out[0], out[i] = out[i], out[0]
		}
	}
	s.wander(out[0])
	return out
}

// fits reports whether a particle's likelihood is about as large as that of a table's own wave is.
func (s *waveSampler) fits(a *particle) bool {
	n, w := float64(len(s.t.y)), s.w
	narrow := w.narrow * math.Exp(2*w.apart[waveNoise])
	usual := -math.Log(narrow) - 0.5*math.Log(2*math.Pi*math.E)
	rare := w.rare * (math.Log(w.broad/narrow) - math.Log(w.rare)) // what a value loses by these in the mean
	return a.like > n*(usual-2*rare)-weighLost*math.Sqrt(n)-weighFar
}

// knows reports whether the draws tell the wave at all places of a table.
func (s *waveSampler) knows(t *waveTable) bool {
	if len(s.t.y) == 0 {
		return false
	}
	best, d := s.best(), s.w.dim
	some := evenly(upTo(len(s.all)), weighShared)
	for i := range t.y {
		x := t.x[i*d : (i+1)*d]
		at := s.phase(best, x)
		for _, k := range some {
			if away := s.phase(s.all[k], x) - at; !(math.Abs(away-math.Round(away)) < weighClose) {
				return false
			}
		}
	}
	return true
}

// follow takes over particles of the sampler of a part of the table.
func (s *waveSampler) follow(ctx context.Context, first *waveSampler) {
	s.all = nil
	for _, i := range evenly(upTo(len(first.all)), weighCentres/2) {
		a := s.particle()
		copy(a.theta, first.all[i].theta)
		if ctx.Err() == nil {
			s.climb(a, 10)
		}
		s.all = append(s.all, a)
	}
	s.wander(s.best())
}

// weighAll weighs draws around particles until enough of them count.
func (s *waveSampler) weighAll(ctx context.Context, more []*particle) {
	n := len(s.t.y)
	if n == 0 {
		return
	}
	draws := int(min(weighMost, max(weighLeast, weighWork/float64(n))))
	for range weighRounds {
		if ctx.Err() != nil {
			return
		}
		if s.weighAround(s.centres(more), draws); s.enough > weighEnough {
			return
		}
	}
}

// centres are particles of this sampler and others, looked at with its table, but for those with little of the posterior around them.
func (s *waveSampler) centres(more []*particle) []*particle {
	all := make([]*particle, 0, weighCentres+len(more))
	for _, i := range evenly(upTo(len(s.all)), weighCentres) {
		if a := s.all[i]; len(all) == 0 || !slices.Equal(a.theta, all[len(all)-1].theta) {
			all = append(all, a)
		}
	}
	all = append(all, more...)
	around := make([]float64, len(all)) // of the posterior, by the normal approximation
	most := math.Inf(-1)
	for i, a := range all {
		s.setPrior(a)
		s.look(a, true)
		if around[i] = a.mass() - a.logdet/2; around[i] > most {
			most = around[i]
		}
	}
	out := all[:0]
	for i, a := range all {
		if around[i] > most-weighFar {
			out = append(out, a)
		}
	}
	return out
}

// weighAround draws particles by importance sampling, and estimates the evidence: draws from Student distributions around centres, with the
// precision of the normal approximation, and some from the prior. Sequential draws find where the posterior is; their evidence is a product
// of many estimates, and far less certain.
func (s *waveSampler) weighAround(centres []*particle, n int) {
	if len(centres) == 0 {
		return
	}
	draws, log := make([]*particle, n), make([]float64, n)
	q := s.newStudents(centres)
	for i := range draws {
		a := s.particle()
		if i%weighPrior == 0 {
			s.draw(a)
		} else {
			q.draw(a, i%len(centres))
		}
		s.setPrior(a)
		s.look(a, false)
		density := logAdd(math.Log1p(-1.0/weighPrior)+q.logDensity(a), a.prior-math.Log(weighPrior))
		if log[i] = a.mass() - density; math.IsNaN(log[i]) {
			log[i] = math.Inf(-1)
		}
		draws[i] = a
	}
	if math.IsInf(slices.Max(log), -1) {
		return
	}
	s.logZ = logMean(log)
	s.enough = effective(log) / float64(n)
	s.resample(draws, log, weighKept)
}

// waveStudents is a mixture of Student distributions around particles. Phases go round the circle.
type waveStudents struct {
	s        *waveSampler
	centres  []*particle
	round    []bool // around which ones phases are so uncertain that the other side of the circle counts
	constant float64
	z        []float64
	logs     []float64
	heights  []float64 // what is beside logs
}

func (s *waveSampler) newStudents(centres []*particle) *waveStudents {
	p := float64(s.size)
	above, _ := math.Lgamma((weighFreedom + p) / 2)
	below, _ := math.Lgamma(weighFreedom / 2.0)
	q := &waveStudents{s: s, centres: centres, z: make([]float64, s.size),
		constant: above - below - 0.5*p*math.Log(weighFreedom*math.Pi) - math.Log(float64(len(centres)))}
	for _, c := range centres {
		q.round = append(q.round, !(c.variance(s.w.dim) < 0.05*0.05))
	}
	return q
}

// variance is that of number j of theta, by the normal approximation: the square of the length of L^-1 of a unit vector.
func (a *particle) variance(j int) (v float64) {
	p := len(a.theta)
	e := make([]float64, p)
	e[j] = 1
	for i := range e {
		for k := range i {
			e[i] -= a.lower[i*p+k] * e[k]
		}
		e[i] /= a.lower[i*p+i]
		v += e[i] * e[i]
	}
	return v
}

// draw sets a particle to one around centre k.
func (q *waveStudents) draw(a *particle, k int) {
	var square float64
	for range weighFreedom {
		v := q.s.rng.NormFloat64()
		square += v * v
	}
	for i := range q.z {
		q.z[i] = q.s.rng.NormFloat64() * math.Sqrt(weighFreedom/square)
	}
	c := q.centres[k]
	c.solve(q.z)
	for i, v := range q.z {
		a.theta[i] = c.theta[i] + v
	}
	a.theta[q.s.w.dim] -= math.Floor(a.theta[q.s.w.dim])
}

// logDensity is the logarithm of the density of a particle.
func (q *waveStudents) logDensity(a *particle) float64 {
	p, phase := len(q.z), q.s.w.dim
	q.logs, q.heights = q.logs[:0], q.heights[:0]
	for k, c := range q.centres {
		for i, v := range a.theta {
			q.z[i] = v - c.theta[i]
		}
		away := q.z[phase] - math.Round(q.z[phase])
		turns := 0.0
		if q.round[k] {
			turns = 1
		}
		for turn := -turns; turn <= turns; turn++ {
			q.z[phase] = away + turn
			var square float64 // of the length of L^T z
			for i := range p {
				var v float64
				for j := i; j < p; j++ {
					v += c.lower[j*p+i] * q.z[j]
				}
				square += v * v
			}
			q.logs, q.heights = append(q.logs, 1+square/weighFreedom), append(q.heights, c.logdet/2)
		}
	}
	simd.LogF64(q.logs, q.logs)
	for i, v := range q.logs {
		q.logs[i] = q.heights[i] - 0.5*(weighFreedom+float64(p))*v
	}
	return q.constant + logMean(q.logs) + math.Log(float64(len(q.logs)))
}
