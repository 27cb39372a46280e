package krige

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

// Settings of the search for waves.
const (
	waveLooked  = 24   // tables that are looked at first
	waveSmall   = 128  // values of a table by which its wave is searched
	waveBehind  = 0.3  // nats a value that a table's own waveform may be less likely than the Gaussian processes, at the first look
	waveModels  = 3    // tables whose waveforms are tried as that of all
	waveOthers  = 7    // tables that they are tried on, with their own
	waveBeyond  = 0.05 // nats a value that such a table has to be likelier by: among many, one is by chance
	waveRounds  = 5    // of waveform and waves in turns
	waveApart   = 0.5  // deviation of levels and gains between tables before it is known
	wavePenalty = 0.02 // of tables: the least share of waves, or of Gaussian processes
)

// waveLearner learns waves from tables.
type waveLearner struct {
	w      *waves
	tables []*waveLearned
}

// waveLearned is a table that waves are learned from.
type waveLearned struct {
	number int
	t      *waveTable // at most waveValues values, at first standardised: a population's tables may have units of their own
	mean   float64    // that were taken off t
	sd     float64    // that t was divided by, 0 if its values are equal
	seen   *waveTable // those that the Gaussian processes were learned from
	gauss  float64    // their density of these, by the Gaussian processes
	theta  []float64
	size   float64 // mean logSize of its residuals
	joined bool
}

// wavePeriods is the range of wave vectors' lengths that are searched, in periods along the longest side of all tables. Each coordinate
// more leaves fewer periods that draws from the prior find.
func wavePeriods(dim, values int) (least, most float64) {
	switch dim {
	case 1:
		return 1.5, min(64, max(4, float64(values)/3))
	case 2:
		return 0.6, 8
	case 3:
		return 0.6, 4
	}
	return 0.6, 2.5
}

// learnWaves learns waves from tables xs[i] [n, dim] and ys[i], of which the Gaussian processes saw the values of seen[i] and have the
// densities gauss[i] for them. It returns nil where there are none, and the evidences of the waves for the same values.
func learnWaves(ctx context.Context, tables []*waveTable, seen []*evidence, gauss []float64, dim int) (*waves, []float64) {
	w := &waves{dim: dim, forms: blurred(sine()), narrow: 0.6, broad: 1.5, rare: 0.1}
	w.apart[waveLevel], w.apart[waveGain] = waveApart, waveApart
	l := &waveLearner{w: w}
	var side, values float64
	for k := range dim {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, t := range tables {
			for i := k; i < len(t.x); i += dim {
				lo, hi = min(lo, t.x[i]), max(hi, t.x[i])
			}
		}
		side = max(side, hi-lo)
	}
	for i, t := range tables {
		own := &waveLearned{number: i, seen: newWaveTable(seen[i].x, seen[i].y, dim, len(seen[i].y)), gauss: gauss[i]}
		own.theta, own.size = make([]float64, dim+3), math.Inf(1)
		own.mean, own.sd = moments(t.y)
		own.t = &waveTable{x: t.x, dim: dim}
		for _, y := range t.y {
			own.t.y = append(own.t.y, (y-own.mean)/own.sd)
		}
		l.tables = append(l.tables, own)
		values += float64(len(t.y)) / float64(len(tables))
	}
	if !(side > 0 && side < farWave) {
		return nil, nil
	}
	least, most := wavePeriods(dim, int(values))
	w.prior = wavePrior{dim: dim, other: 1, least: least / side, most: most / side}
	// A few tables say whether it is worth looking at all: by waveforms of their own, then by that of one of them.
	some := evenly(upTo(len(tables)), waveLooked)
	l.search(ctx, some)
	if found := l.promising(some); ctx.Err() != nil || len(found) < 2 || !l.align(ctx, found) {
		return nil, nil
	}
	for round, behind := range []float64{waveBehind, 0} {
		l.search(ctx, upTo(len(tables)))
		if ctx.Err() != nil || !l.join(behind) {
			return nil, nil
		}
		if round == 0 {
			l.common()
		}
		for range waveRounds {
			if ctx.Err() != nil || !l.refine(round > 0) {
				return nil, nil
			}
		}
		if !l.join(0) { // of better residuals
			return nil, nil
		}
	}
	if !l.worth() {
		return nil, nil
	}
	l.settle()
	out := make([]float64, len(tables))
	parallel.For(len(tables), 1, func(lo, hi int) {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			out[i] = w.posterior(ctx, l.tables[i].seen, waveEvidence(len(l.tables[i].seen.y)), uint64(i)).logZ
		}
	})
	return w, out
}

// search finds the wave of tables by the waveform as it is.
func (l *waveLearner) search(ctx context.Context, which []int) {
	parallel.For(len(which), 1, func(lo, hi int) {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			if t := l.tables[which[i]]; t.sd > 0 {
				l.find(ctx, t, l.w)
			}
		}
	})
}

// find sets theta to the likeliest wave of a table.
func (l *waveLearner) find(ctx context.Context, t *waveLearned, w *waves) {
	s := w.sample(ctx, newWaveTable(t.t.x, t.t.y, w.dim, waveSmall), waveSearch(w.dim), uint64(t.number))
	best := s.all[0]
	for _, a := range s.all {
		if a.prior+a.like > best.prior+best.like {
			best = a
		}
	}
	s.t = t.t
	s.climb(best, 10)
	t.theta = slices.Clone(best.theta)
	t.size = l.sizeOf(s, best)
}

// sizeOf is the mean size of the residuals of a table's wave.
func (l *waveLearner) sizeOf(s *waveSampler, a *particle) (size float64) {
	for _, p := range l.folded(s, a, 0) {
		g, _ := s.w.forms[0].at(p.u)
		_, gain, _, _, _ := s.wave(a)
		size += logSize(gain*(p.v-g)) / float64(len(s.t.y))
	}
	return size
}

// folded returns the values of a table by its wave.
func (l *waveLearner) folded(s *waveSampler, a *particle, number int) (out []folded) {
	level, gain, _, _, _ := s.wave(a)
	for i, y := range s.t.y {
		u := s.phase(a, s.t.x[i*s.w.dim:(i+1)*s.w.dim])
		out = append(out, folded{u - math.Floor(u), (y - level) / gain, number})
	}
	return out
}

// sampler is that of a table, and its wave.
func (l *waveLearner) sampler(t *waveLearned) (*waveSampler, *particle) {
	s := newWaveSampler(l.w, t.t, 0)
	a := s.particle()
	copy(a.theta, t.theta)
	return s, a
}

// own is a waveform of a table's own, of its wave's vector, the mean size of what it leaves, and the number of parameters.
func (l *waveLearner) own(t *waveLearned) (g *waveform, size float64, parameters int) {
	s, a := l.sampler(t)
	points := l.folded(s, a, 0)
	inOrder(points)
	pieces := foldFew
	if len(points) >= 100 {
		pieces = foldMore
	}
	g = fold(points, pieces, 0, -1)
	_, gain, _, _, _ := s.wave(a)
	for _, p := range points {
		y, _ := g.at(p.u)
		size += logSize(gain*(p.v-y)) / float64(len(points))
	}
	return g, size, 2*pieces + s.size
}

// ahead is by how many nats a value a table is likelier with residuals of this size than by the Gaussian processes, less what so many
// parameters of its own cost.
func (t *waveLearned) ahead(size float64, parameters int) float64 {
	n := float64(len(t.t.y))
	cost := 0.5 * float64(parameters) * math.Log(n) / n
	return -size - math.Log(t.sd) - cost - 0.5*math.Log(2*math.Pi*math.E) - t.gauss/float64(len(t.seen.y))
}

// promising lists the tables whose own waveform is about as likely as the Gaussian processes are, the likeliest first.
func (l *waveLearner) promising(which []int) (found []int) {
	ahead := make(map[int]float64, len(which))
	for _, i := range which {
		t := l.tables[i]
		if !(t.sd > 0) {
			continue
		}
		_, size, parameters := l.own(t)
		if ahead[i] = t.ahead(size, parameters); ahead[i] > -waveBehind {
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(ahead[b], ahead[a]) })
	return found
}

// align chooses the waveform of a table under which others are the likeliest. It reports false where the waveforms of tables that are
// promising fit no others.
func (l *waveLearner) align(ctx context.Context, found []int) bool {
	best, most := (*waves)(nil), 0.0
	others := found[:min(len(found), waveOthers)]
	for _, i := range found[:min(len(found), waveModels)] {
		w := *l.w
		g, _, _ := l.own(l.tables[i])
		w.forms = blurred(g)
		w.narrow, w.broad = 0.3, 1.2
		ahead := make([]float64, len(others))
		parallel.For(len(others), 1, func(lo, hi int) {
			for k := lo; k < hi && ctx.Err() == nil; k++ {
				t := *l.tables[others[k]]
				l.find(ctx, &t, &w)
				ahead[k] = t.ahead(t.size, len(t.theta))
			}
		})
		var sum float64
		good := 0
		for k, v := range ahead {
			if others[k] != i && v > waveBeyond {
				sum, good = sum+v, good+1
			}
		}
		if good >= min(2, (len(others)+1)/2) && 4*good >= len(others)-1 && sum > most {
			best, most = &w, sum
		}
		if 4*good >= 3*(len(others)-1) { // no other can be much better
			break
		}
	}
	if best == nil || ctx.Err() != nil {
		return false
	}
	*l.w = *best
	return true
}

// join lists the tables that the waveform is estimated from: those that it explains better than the Gaussian processes do, or nearly. It
// reports whether there are enough.
func (l *waveLearner) join(behind float64) bool {
	n := 0
	for _, t := range l.tables {
		_, sd := moments(t.t.y)
		if t.joined = t.sd > 0 && t.ahead(t.size, len(t.theta)) > -behind && t.size < math.Log(0.9*sd); t.joined {
			n++
		}
	}
	return n >= 4
}

// worth reports whether the tables that have joined are likelier by half of what a waveform of the fewest pieces costs, at least:
// evidences, which take a while, cannot make up for less.
func (l *waveLearner) worth() bool {
	var gain, values float64
	for _, t := range l.tables {
		values += float64(len(t.seen.y))
		if t.joined {
			gain += float64(len(t.seen.y)) * t.ahead(t.size, len(t.theta))
		}
	}
	return gain > 0.5*float64(foldFew)*math.Log(values)
}

// common takes tables, and the waves that were found, back to the unit that all tables share.
func (l *waveLearner) common() {
	for _, t := range l.tables {
		if !(t.sd > 0) {
			continue
		}
		y := make([]float64, len(t.t.y))
		for i, v := range t.t.y {
			y[i] = t.mean + t.sd*v
		}
		t.t = &waveTable{x: t.t.x, y: y, dim: t.t.dim}
		level, gain := &t.theta[l.w.dim+1], &t.theta[l.w.dim+2]
		*level, *gain = t.mean+t.sd**level, *gain+math.Log(t.sd)
		t.size, t.mean, t.sd = t.size+math.Log(t.sd), 0, 1
	}
}

// centre changes levels and gains so that their means, of the joined tables, are 0 and 1: the waveform, which is to be estimated anew,
// takes the rest.
func (l *waveLearner) centre() {
	at := [waveExtras]int{}
	for k, kind := range l.w.extras() {
		at[kind] = l.w.dim + 1 + k
	}
	var level, gain, n float64
	for _, t := range l.tables {
		if t.joined {
			n++
			if at[waveGain] > 0 {
				gain += t.theta[at[waveGain]]
			}
			if at[waveLevel] > 0 {
				level += t.theta[at[waveLevel]]
			}
		}
	}
	level, gain = level/n, gain/n
	for _, t := range l.tables {
		own := 1.0
		if at[waveGain] > 0 {
			t.theta[at[waveGain]] -= gain
			own = math.Exp(t.theta[at[waveGain]])
		}
		if at[waveLevel] > 0 {
			t.theta[at[waveLevel]] -= own * level
		}
	}
}

// refine estimates the waveform and the residuals from the tables that have joined, and their waves anew.
func (l *waveLearner) refine(last bool) bool {
	w := l.w
	l.centre()
	var points []folded
	tables := 0.0
	for _, t := range l.tables {
		if t.joined {
			tables++
			s, a := l.sampler(t)
			points = append(points, l.folded(s, a, t.number)...)
		}
	}
	g, rest, pieces := foldBest(points, w.forms[0].steepest())
	if g == nil {
		return false
	}
	fitted := tables*float64(w.dim+1+len(w.extras())) + float64(2*pieces)
	d := learnResidual(rest, min(0.5, fitted/float64(len(points))))
	w.forms, w.narrow, w.broad, w.rare = []*waveform{g}, d.narrow, d.broad, d.rare
	parallel.For(len(l.tables), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if t := l.tables[i]; t.joined {
				s, a := l.sampler(t)
				s.climb(a, 12)
				s.wander(a)
				copy(t.theta, a.theta)
				t.size = l.sizeOf(s, a)
			}
		}
	})
	w.forms = blurred(g)
	if last {
		l.drop()
	}
	return true
}

// drop leaves out levels and gains where tables do not differ in them beyond the error of their estimates.
func (l *waveLearner) drop() {
	w := l.w
	kinds := w.extras()
	apart := w.apart
	for k, kind := range kinds {
		var n, over, square float64
		j := w.dim + 1 + k
		for _, t := range l.tables {
			if !t.joined {
				continue
			}
			s, a := l.sampler(t)
			s.look(a, true)
			v := a.variance(j)
			n, over, square = n+1, over+t.theta[j]*t.theta[j]/v, square+t.theta[j]*t.theta[j]
		}
		if over < 4*n {
			apart[kind] = 0
		} else {
			apart[kind] = min(waveApart, max(1e-3, math.Sqrt(square/n)))
		}
	}
	for _, t := range l.tables {
		theta := slices.Clone(t.theta[:w.dim+1])
		for k, kind := range kinds {
			if apart[kind] > 0 {
				theta = append(theta, t.theta[w.dim+1+k])
			}
		}
		t.theta = theta
	}
	w.apart = apart
}

// settle sets the prior of wave vectors, and how deviations of residuals differ between tables.
func (l *waveLearner) settle() {
	w := l.w
	var vectors []float64
	var logs, errors []float64
	d := residual{w.narrow, w.broad, w.rare}
	var rest []folded
	lost, scale := float64(w.pieces()), make(map[int]float64)
	for _, t := range l.tables {
		if !t.joined {
			continue
		}
		vectors = append(vectors, t.theta[:w.dim]...)
		s, a := l.sampler(t)
		_, gain, _, _, _ := s.wave(a)
		var n, square float64
		var own []folded
		for _, p := range l.folded(s, a, 0) {
			g, _ := w.forms[0].at(p.u)
			r := gain * (p.v - g)
			n, square = n+d.usual(r), square+d.usual(r)*r*r
			own = append(own, folded{p.u, r, t.number})
		}
		if n > float64(2*s.size) {
			v := square/(n-float64(s.size)) + foldFloor*foldFloor
			logs, errors = append(logs, 0.5*math.Log(v)), append(errors, 0.5/n)
			rest, lost, scale[t.number] = append(rest, own...), lost+float64(s.size), math.Sqrt(v)
		}
	}
	w.prior = learnWavePrior(vectors, w.dim)
	if len(logs) < 4 || w.narrow < 2*foldFloor {
		return
	}
	mean, sd := moments(logs)
	level, _ := moments(errors)
	if v := sd*sd - level; v > 0.01 {
		w.apart[waveNoise], w.narrow = math.Sqrt(v), math.Exp(mean)
		// Tables of more noise than others have no rare residuals for this.
		for i := range rest {
			rest[i].v *= w.narrow / scale[rest[i].table]
		}
		d = learnResidual(rest, lost/float64(len(rest)))
		w.broad, w.rare = d.broad, d.rare
	}
}
