package krige

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// Limits of the search for seasons.
const (
	seasonValues = 20   // so many values at least
	frequencies  = 2400 // at most
	seasonGain   = 5.0  // nats that a pair of a cosine and a sine has to explain
	seasonTries  = 3    // periods that are fitted
	seasonKnown  = 0.25 // cycles in a series by which a period that is found differs from one of the calendar, if it is another
	seasonEqual  = 0.02 // cycles in a series by which two periods that are given differ, if they are two
	seasonLonger = 1.9  // times the period of the shorter of two seasons: that of the longer one at least
	seasonsLess  = 5.0  // nats that a second season has to explain
	seasonCycles = 4.0  // of a season, in the end of a long series, up to which it is looked for in all of it
)

// seasons finds periods and fits families with seasons.
func (m *Model) seasons(ctx context.Context, e *evidence, all *[]*family, best *family) {
	if m.n < seasonValues || ctx.Err() != nil {
		return
	}
	periods := m.calendar()
	calendar := len(periods)
	for _, p := range m.opt.Periods {
		p /= math.Abs(m.frame.unit[0])
		// A season that is named twice would count twice, and drive out others.
		if !slices.ContainsFunc(periods, func(q float64) bool { return m.cyclesApart(p, q) < seasonEqual }) {
			periods = append(periods, p)
		}
	}
	given := len(periods)
	for _, f := range *all { // the family with the least cost explains most of what is not periodic
		if f.cost < best.cost {
			best = f
		}
	}
	found, searched := m.periods(best, m.driftless(e, best))
	for _, p := range found {
		known := func(q float64) bool { return m.cyclesApart(p, q) < seasonKnown }
		if !slices.ContainsFunc(periods[:calendar], known) {
			periods = append(periods, p)
		}
	}
	wave := len(*all)
	for i, p := range periods {
		if ctx.Err() != nil {
			return
		}
		pe := m.seasonEvidence(e, []float64{p})
		// What the other units change: families are compared as if all had been fitted to the same.
		change := pe.cost(best.spec, best.theta) - best.cost
		if i >= given { // the best of many periods looks better than it is
			change -= math.Log(searched)
		}
		s := spec{dim: 1, shape: best.spec.shape, period: p}
		if s.shape == rational {
			s.shape = matern32
		}
		*all = append(*all, &family{spec: &s, units: pe, theta: pe.seasonStart(&s, best), change: change, steps: 25, tolerance: 0.05})
	}
	e.descend(ctx, (*all)[wave:]...)
	var fitted *family
	for _, f := range (*all)[wave:] {
		if fitted == nil || f.cost-f.change < fitted.cost-fitted.change {
			fitted = f
		}
	}
	if fitted == nil || ctx.Err() != nil {
		return
	}
	single := (*all)[wave:]
	wave = len(*all)
	for _, shapes := range [][2]shape{{matern52, matern12}, {matern52, matern52}} {
		two := *fitted.spec
		two.shape, two.second = shapes[0], shapes[1]
		*all = append(*all, &family{spec: &two, units: fitted.units, theta: fitted.units.beside(&two, fitted), change: fitted.change,
			steps: 20, tolerance: 0.05})
	}
	e.descend(ctx, (*all)[wave:]...)
	for _, f := range (*all)[wave:] {
		if f.cost-f.change < fitted.cost-fitted.change {
			fitted = f
		}
	}
	if two := m.twoSeasons(e, fitted, single); two != nil {
		*all = append(*all, two)
		e.descend(ctx, two)
	}
}

// twoSeasons starts a family with two seasons, that of the family that was fitted best and another one, as a day and a week are. The longer
// one is narrow to begin with, a few hours of a week, so that each day of a week may have a shape of its own and values may jump from a
// Friday to a Saturday. It has its period as it was found: two of the shorter one at least, and so long that the series has two. It is nil
// where none of some starts comes near what was fitted: the series has one season then.
func (m *Model) twoSeasons(e *evidence, fitted *family, single []*family) (best *family) {
	extent := (m.x[m.n-1]-m.x[0])*(1+1e-3) + spacing(m.x, 1)
	for _, other := range single {
		short, long := fitted, other
		if short.spec.period > long.spec.period {
			short, long = long, short
		}
		p := long.spec.period
		if p < seasonLonger*short.spec.period || 2*p > extent {
			continue
		}
		s := *fitted.spec
		s.period, s.long = short.spec.period, p
		pe := m.seasonEvidence(e, []float64{s.period, s.long})
		f := &family{spec: &s, units: pe, steps: 25, tolerance: 0.05}
		f.theta, f.cost = pe.bothStart(&s, fitted, other)
		// What the units change is what they change for the family with one season.
		f.change = pe.cost(fitted.spec, fitted.theta) - fitted.cost + fitted.change - seasonsLess
		if f.cost-f.change < fitted.cost-fitted.change+seasonsLess && (best == nil || f.cost-f.change < best.cost-best.change) {
			best = f
		}
	}
	return best
}

// bothStart is the best of some starts of a family with two seasons: what is fitted with one of them, and some of the other.
func (e *evidence) bothStart(s *spec, fitted, other *family) (theta []float64, cost float64) {
	mean, _ := e.prior.normals(s)
	var tries [][]float64
	season, at, from := s.seasonAt(), s.longAt(), other.spec.seasonAt()
	for _, width := range []float64{0.03, 0.1, 0.3} {
		for _, variance := range []float64{0.03, 0.1, 0.3} {
			t := slices.Clone(mean)
			copy(t, fitted.theta[:season])
			if fitted.spec.period == s.period {
				copy(t[season:], fitted.theta[season:])
				t[at], t[at+1] = math.Log(variance), math.Log(width)
			} else {
				copy(t[season:], other.theta[from:])
				copy(t[at:], fitted.theta[season:season+3])
				t[season], t[season+1] = math.Log(variance), math.Log(width)
			}
			stays := slices.Clone(t) // what had to change within weeks, as weekends are none of its own, may now stay
			stays[season+2] = max(stays[season+2], mean[season+2])
			tries = append(tries, t, stays)
		}
	}
	costs := e.costs(s, tries)
	best := 0
	for i, c := range costs {
		if c < costs[best] {
			best = i
		}
	}
	return tries[best], costs[best]
}

// cyclesApart is by how many cycles seasons of the periods p and q have come apart at the end of the series.
func (m *Model) cyclesApart(p, q float64) float64 { return math.Abs(1/p-1/q) * (m.x[m.n-1] - m.x[0]) }

// calendar returns the periods of Options.Calendar of which the series has two cycles and two values in each.
func (m *Model) calendar() (periods []float64) {
	for _, p := range m.opt.Calendar {
		p /= math.Abs(m.frame.unit[0])
		if 2*p <= (m.x[m.n-1]-m.x[0])*(1+1e-3)+spacing(m.x, 1) && 2*spacing(m.x, 1) <= 1.1*p {
			periods = append(periods, p)
		}
	}
	return periods
}

// seasonStart is the best of some starts of a family with a season.
func (e *evidence) seasonStart(s *spec, from *family) []float64 {
	mean, _ := e.prior.normals(s)
	var tries [][]float64
	for _, length := range []float64{from.theta[tLength], math.Log(0.3), math.Log(2)} {
		for _, noise := range []float64{math.Log(0.01), math.Log(0.3)} {
			for _, variance := range []float64{math.Log(0.05), math.Log(1)} {
				t := slices.Clone(mean)
				at := s.seasonAt()
				t[tLength], t[tNoise], t[tSlope], t[at] = length, noise, from.theta[tSlope], variance
				tries = append(tries, t)
			}
		}
	}
	costs := e.costs(s, tries)
	best := 0
	for i, c := range costs {
		if c < costs[best] {
			best = i
		}
	}
	return tries[best]
}

// beside starts a family with a second scale from one without it: the first scale becomes the long one or the short one.
func (e *evidence) beside(s *spec, from *family) []float64 {
	mean, _ := e.prior.normals(s)
	at := s.secondAt()
	season := from.spec.seasonAt()
	var tries [][]float64
	for _, long := range []bool{false, true} {
		for _, variance := range []float64{math.Log(0.03), math.Log(0.3)} {
			t := slices.Clone(mean)
			copy(t, from.theta[:tFirst])
			copy(t[s.seasonAt():], from.theta[season:])
			t[at] = variance
			if long { // what was fitted is the second one
				t[at+1], t[tLength] = t[tLength], math.Log(1.5)
			}
			tries = append(tries, t)
		}
	}
	costs := e.costs(s, tries)
	best := 0
	for i, c := range costs {
		if c < costs[best] {
			best = i
		}
	}
	return tries[best]
}

// seasonEvidence is the likelihood whose runs of a long series are given values one and two of each period before them, too.
func (m *Model) seasonEvidence(e *evidence, periods []float64) *evidence {
	if len(e.units) == 1 {
		return e
	}
	out := &evidence{x: e.x, y: e.y, drift: e.drift, dim: 1, prior: e.prior}
	for _, u := range e.units {
		block := u.index[u.given:]
		first, last := m.x[block[0]], m.x[block[len(block)-1]]
		var given []int
		for k := range 2 * len(periods) {
			period, back := periods[k/2], float64(2-k%2)
			lo, _ := slices.BinarySearch(m.x, first-back*period-0.05*period)
			hi, _ := slices.BinarySearch(m.x, last-back*period+0.05*period)
			hi = min(hi, block[0])
			step := max(1, (hi-lo)*len(periods)/16)
			for i := lo; i < hi; i += step {
				given = append(given, i)
			}
		}
		given = append(given, u.index[:u.given]...)
		slices.Sort(given)
		given = slices.Compact(given)
		v := unit{given: len(given), index: append(given, block...)}
		v.fill(m.x, 1, false)
		out.units, out.seen = append(out.units, v), e.seen
	}
	return out
}

// periods finds periods at which a cosine and a sine explain more than the family that was fitted expects of them, the
// best first. searched is how many independent ones were looked at.
func (m *Model) periods(best *family, values []float64) (periods []float64, searched float64) {
	type peak struct{ gain, frequency float64 }
	var peaks []peak
	look := func(x, y []float64, most float64) {
		gain, frequency := m.spectrum(best, x, y, most)
		for i := 1; i+1 < len(gain); i++ {
			if gain[i] > seasonGain && gain[i] >= gain[i-1] && gain[i] > gain[i+1] {
				// The peak of a parabola through three values.
				shift := 0.5 * (gain[i-1] - gain[i+1]) / (gain[i-1] - 2*gain[i] + gain[i+1])
				peaks = append(peaks, peak{gain[i], frequency[i] + shift*(frequency[i+1]-frequency[i])})
			}
		}
		searched += float64(len(gain)) / 4
	}
	end := max(0, m.n-exactLine)
	look(m.x[end:], values[end:], math.Inf(1))
	if end > 0 { // seasons of which the end of a long series has a few cycles at most: every few of all values
		var x, y []float64
		for i := (m.n - 1) % (m.n/exactLine + 1); i < m.n; i += m.n/exactLine + 1 {
			x, y = append(x, m.x[i]), append(y, values[i])
		}
		look(x, y, seasonCycles/(m.x[m.n-1]-m.x[end]))
	}
	slices.SortFunc(peaks, func(a, b peak) int { return -cmp.Compare(a.gain, b.gain) })
	for _, p := range peaks {
		if len(periods) == seasonTries || p.gain < 0.3*peaks[0].gain {
			break
		}
		harmonic := false // of a period that is tried already
		for _, q := range periods {
			r := q * p.frequency
			harmonic = harmonic || r > 0.97 && math.Abs(r-math.Round(r)) < 0.03*max(1, r/4)
		}
		if !harmonic {
			periods = append(periods, 1/p.frequency)
		}
	}
	return periods, max(1, searched)
}

// driftless are the values less the drift that a family finds.
func (m *Model) driftless(e *evidence, best *family) []float64 {
	if m.opt.Drift == 0 {
		return m.y
	}
	s, ok := e.sums(best.spec.kernel(best.theta))
	if !ok || s.found == nil {
		return m.y
	}
	s.found.knowRows(m.y, m.drift.z, s.level())
	return s.found.rest
}

// spectrum returns the gains of log density by a cosine and a sine of each frequency, from two cycles in a part of the series to
// half the rate of its values, but not above most.
func (m *Model) spectrum(best *family, x, y []float64, most float64) (gain, frequency []float64) {
	n := len(x)
	extent := x[n-1] - x[0]
	gaps := make([]float64, 0, n)
	for i := 1; i < n; i++ {
		if g := x[i] - x[i-1]; g > 1e-6 {
			gaps = append(gaps, g)
		}
	}
	if len(gaps) < seasonValues/2 {
		return nil, nil
	}
	slices.Sort(gaps)
	lowest, highest := 1.9/extent, min(most, 0.5/gaps[len(gaps)/10])
	// A peak is as wide as a cycle in the series, so that a wider step would miss it: the highest frequencies have to go instead.
	highest = min(highest, lowest+frequencies/extent/4)
	count := min(frequencies, int(math.Ceil((highest-lowest)*extent*4)))
	if count < 3 {
		return nil, nil
	}
	k := best.spec.kernel(best.theta)
	u := unit{index: upTo(n)}
	u.fill(x, 1, false)
	a := make([]float64, tri(n))
	var w scratch
	if !u.factor(a, k, &w, nil) {
		return nil, nil
	}
	one, z := make([]float64, n), slices.Clone(y)
	for i := range one {
		one[i] = 1
	}
	forward(a, one, n)
	forward(a, z, n)
	ones := simd.SumSqF64(one)
	simd.AxpyF64(z, -simd.DotF64(one, z)/ones, one)
	scale := (varianceScale + simd.SumSqF64(z)/2) / (varianceShape + float64(n-1)/2)
	gain, frequency = make([]float64, count), make([]float64, count)
	parallel.For(count, 16, func(lo, hi int) {
		t, s, c := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := lo; i < hi; i++ {
			frequency[i] = lowest + (highest-lowest)*float64(i)/float64(count-1)
			for j, v := range x {
				t[j] = 2 * math.Pi * frequency[i] * v
			}
			simd.SinCosF64(s, c, t)
			for _, v := range [][]float64{s, c} {
				forward(a, v, n)
				simd.AxpyF64(v, -simd.DotF64(one, v)/ones, one)
			}
			ss, cc, sc := simd.SumSqF64(s), simd.SumSqF64(c), simd.DotF64(s, c)
			sz, cz := simd.DotF64(s, z), simd.DotF64(c, z)
			det := ss*cc - sc*sc
			if det > 1e-9*ss*cc {
				q := (sz*sz*cc - 2*sz*cz*sc + cz*cz*ss) / det / scale
				gain[i] = 0.5 * q
			}
		}
	})
	return gain, frequency
}
