package krige

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor"
)

// optimism is by how much standard deviations are widened, times the root of the number of values. On public data sets
// anything from 0.4 to 0.7 does as well.
const optimism = 0.4

// few is by how much they are widened besides, over the number of values: a dozen values from a skewed distribution
// say little about the large ones. On public tables of 20 values 3 costs 0.03 nats where all is well, and gains up to a
// nat where a constant would have been better; a quarter of it is a compromise.
const few = 0.75

// outlying is what a squared residual of a small table counts for at most, less a quarter of the number of values.
const outlying = 6

// mostSquare is what a squared residual of n values counts for at most: of few values one that is far off must not decide alone,
// as it makes deviations large already.
func mostSquare(n int) float64 { return min(64, outlying+float64(n)/4) }

// judged is how many values of a large table are predicted from the others. Where deviations differ is known the better the more there are:
// of maps with jumps, 10,000 rows, densities gain 0.05 to 0.5 nats from 8,192 instead of 400.
const judged = 8192

// combine finds the mixture.
func (m *Model) combine(ctx context.Context) error {
	some := upTo(m.n)
	if !m.exact && m.n > judged {
		rng := rand.New(rand.NewPCG(3, uint64(m.n)))
		rng.Shuffle(m.n, func(i, j int) { some[i], some[j] = some[j], some[i] })
		some = some[:judged]
		slices.Sort(some)
	}
	var mean, variance [experts][]float64
	for e := range experts {
		mean[e], variance[e] = make([]float64, len(some)), make([]float64, len(some))
	}
	if err := m.leaveOneOut(ctx, some, mean[gaussian], variance[gaussian]); err != nil {
		return err
	}
	x := &mixture{weight: [experts]float64{gaussian: 1}, scale: 1}
	m.mix = x
	mu, sd := moments(m.y)
	x.y, x.yvar = mu, sd*sd*float64(m.n+1)/float64(max(1, m.n-1))
	n := float64(m.n)
	for i, p := range some {
		without := (mu*n - m.y[p]) / max(1, n-1)
		mean[constant][i] = without
		rest := max(0, (sd*sd+mu*mu)*n-m.y[p]*m.y[p])/max(1, n-1) - without*without
		variance[constant][i] = max(rest*n/max(1, n-2), 1e-12)
	}
	x.idw = newDistances(m.x, m.y, m.frame.dim)
	x.idw.leaveOneOut(some, mean[inverseDistance], variance[inverseDistance], x.yvar)
	y := make([]float64, len(some))
	for i, p := range some {
		y[i] = m.y[p]
	}
	check := !m.opt.NoCheck && !m.opt.MaximumLikelihood
	if m.n >= 8 && check {
		x.stack(y, mean, variance)
	}
	all, each := make([]float64, len(some)), make([]float64, len(some))
	for i := range some {
		var ms, vs [experts]float64
		for e := range experts {
			ms[e], vs[e] = mean[e][i], variance[e][i]
		}
		all[i], each[i] = x.moments(ms, vs)
	}
	if check {
		x.calibrate(m, some, y, all, each)
		// Every value took part in the fit that predicts it, so that the check is a little too good: by half a
		// deviation over the root of their number, and by more where they are few.
		f := 1 + optimism/math.Sqrt(n) + few/n
		x.scale *= f * f
		e2 := make([]float64, len(each))
		for i, v := range y {
			each[i] *= f * f
			e2[i] = (v - all[i]) * (v - all[i])
		}
		x.floor, x.slip = rounding(m.y)*sd*sd, slip(e2, each, m.n-m.opt.Drift, m.frame.dim)
		for i := range each {
			each[i] = x.floored(each[i])
		}
		x.reach = x.newReach(m)
	}
	m.report = newReport(m, y, all, each, mean, variance)
	rows := make([]int, len(some))
	for i, p := range some {
		rows[i] = m.order[p]
	}
	m.report.Far = farRows(rows, y, all, each)
	return nil
}

// leaveOneOut sets mean and variance of the Gaussian processes' mixture for values given the others.
//
// The weights of the members follow from all values. Without one of them a member's weight would be less by the density
// that it gives that value, and members that fit a value because they were fitted to it lose what they won by it.
func (m *Model) leaveOneOut(ctx context.Context, some []int, mean, variance []float64) error {
	if !m.exact {
		return m.local.leaveOneOut(ctx, some, mean, variance)
	}
	n := m.n
	mu, v, density := make([]float64, n), make([]float64, n), make([]float64, n)
	moments := make([][3]float64, 0, len(m.members)*n) // mean, variance and weight, by member and value
	for _, b := range m.members {
		if b.weight == 0 {
			continue
		}
		b.leaveOneOut(m.y, mu, v, density)
		for i := range n {
			moments = append(moments, [3]float64{mu[i], v[i], math.Log(b.weight) - density[i]})
		}
	}
	for i := range n {
		most := math.Inf(-1)
		for k := i; k < len(moments); k += n {
			most = max(most, moments[k][2])
		}
		var total, m1, m2 float64
		for k := i; k < len(moments); k += n {
			w := math.Exp(moments[k][2] - most)
			total, m1, m2 = total+w, m1+w*moments[k][0], m2+w*(moments[k][1]+moments[k][0]*moments[k][0])
		}
		mean[i] = m1 / total
		variance[i] = max(m2/total-mean[i]*mean[i], 1e-14)
	}
	return ctx.Err()
}

// moments are those of a mixture.
func (x *mixture) moments(mean, variance [experts]float64) (m, v float64) {
	for e, w := range x.weight {
		m += w * mean[e]
	}
	for e, w := range x.weight {
		d := mean[e] - m
		v += w * (variance[e] + d*d)
	}
	return m, v
}

// trust is how many values say beforehand that the Gaussian processes predict best.
const trust = 12

// stack finds the weights that make the values most likely, by expectation maximization, with a prior for the Gaussian processes.
func (x *mixture) stack(y []float64, mean, variance [experts][]float64) {
	prior := [experts]float64{gaussian: trust}
	w := [experts]float64{0.8, 0.1, 0.1}
	for range 40 {
		sum := prior
		for i, v := range y {
			var l [experts]float64
			most := math.Inf(-1)
			for e := range experts {
				l[e] = logNormal(v, mean[e][i], variance[e][i])
				most = max(most, l[e])
			}
			var total float64
			for e := range experts {
				l[e] = w[e] * math.Exp(l[e]-most)
				total += l[e]
			}
			for e := range experts {
				sum[e] += l[e] / total
			}
		}
		var total float64
		for _, s := range sum {
			total += s
		}
		for e := range experts {
			w[e] = sum[e] / total
		}
	}
	var total float64
	for e := range w {
		if w[e] < 0.02 {
			w[e] = 0
		}
		total += w[e]
	}
	for e := range w {
		w[e] /= total
	}
	x.weight = w
}

// calibrate finds the scale of the variances, and where they differ from it. It applies both to variance.
func (x *mixture) calibrate(m *Model, some []int, y, mean, variance []float64) {
	most := mostSquare(len(y))
	z2 := make([]float64, len(y))
	for i := range y {
		d := y[i] - mean[i]
		z2[i] = min(d*d/variance[i], most)
	}
	rescale := func() {
		const doubt = 20
		sum := float64(doubt)
		for _, z := range z2 {
			sum += z
		}
		s := sum / (doubt + float64(len(z2)))
		x.scale *= s
		for i := range z2 {
			z2[i] /= s
			variance[i] *= s
		}
	}
	rescale()
	if len(y) < 40 {
		return
	}
	d := m.frame.dim
	at := make([]float64, 0, len(some)*d)
	for _, p := range some {
		at = append(at, m.x[p*d:(p+1)*d]...)
	}
	levels := m.levels(some, mean, variance)
	for range 2 { // where, and at which values: the better one first
		place := findDispersion(at, d, z2)
		level := findDispersion(levels, 1, z2)
		if level != nil {
			level.levels = true
		}
		if place == nil || level != nil && level.gain > place.gain {
			place = level
		}
		if place == nil {
			break
		}
		x.spread = append(x.spread, place)
		for i := range z2 {
			f := place.factorWithout(i)
			z2[i] /= f
			variance[i] *= f
		}
		rescale()
	}
}

// apply takes the Gaussian processes' means and variances at normalised targets to those of the mixture.
func (x *mixture) apply(t, mean, variance []float64) {
	d := len(t) / max(1, len(mean))
	parallel.For(len(mean), 256, func(lo, hi int) {
		var w neighbor.NearestWorkspace
		for i := lo; i < hi; i++ {
			at := t[i*d : (i+1)*d]
			ms, vs := [experts]float64{gaussian: mean[i], constant: x.y}, [experts]float64{gaussian: max(variance[i], 1e-14),
				constant: x.yvar}
			if x.weight[inverseDistance] > 0 {
				ms[inverseDistance], vs[inverseDistance] = x.idw.at(at, -1, &w, x.yvar)
			}
			mean[i], variance[i] = x.moments(ms, vs)
			v := variance[i] * x.scale
			for _, s := range x.spread {
				v *= s.factor(at, mean[i], &w)
			}
			if x.reach != nil {
				v *= x.reach.factor(at, &w)
			}
			variance[i] = x.floored(v)
		}
	})
}

// floored returns a variance with those of rounded values and of slips. A value that slips is like any other, of the variance 1 of all
// values: where a prediction knows no more than that already, slips add nothing.
func (x *mixture) floored(v float64) float64 { return v + x.floor + x.slip*max(0, 1-v) }

func newDistances(x, y []float64, d int) *distances {
	return &distances{y: y, d: d, x: x, tree: newTree(x, d), variance: 1}
}

// at predicts at a place, without point self, if that is one.
func (s *distances) at(place []float64, self int, w *neighbor.NearestWorkspace, most float64) (mean, variance float64) {
	var indexRoom [16]int32
	var distRoom [16]float64
	index, d2 := s.tree.KNearestWithin(indexRoom[:0], distRoom[:0], place, 13, math.Inf(1), w)
	var sum, total, first float64
	used := 0
	for i, p := range index {
		if int(p) == self || used == 12 {
			continue
		}
		if used == 0 {
			first = math.Sqrt(d2[i])
		}
		used++
		f := 1 / (d2[i] + 1e-10)
		sum, total = sum+f*s.y[p], total+f
	}
	if used == 0 {
		return 0, most
	}
	variance = s.variance
	if s.usual > 0 && first > s.usual {
		variance = min(max(most, variance), variance*first/s.usual)
	}
	return sum / total, variance
}

// leaveOneOut sets mean and variance of values given the others, and the predictor's variance.
func (s *distances) leaveOneOut(some []int, mean, variance []float64, most float64) {
	var w neighbor.NearestWorkspace
	var sum float64
	var firsts []float64
	for i, p := range some {
		place := s.x[p*s.d : (p+1)*s.d]
		mean[i], _ = s.at(place, p, &w, most)
		_, d2 := s.tree.KNearestWithin(nil, nil, place, 2, math.Inf(1), &w)
		firsts = append(firsts, math.Sqrt(d2[len(d2)-1]))
		e := mean[i] - s.y[p]
		sum += e * e
	}
	s.variance = max(sum/float64(len(some)), 1e-12)
	slices.Sort(firsts)
	s.usual = firsts[len(firsts)*3/4]
	for i, p := range some {
		mean[i], variance[i] = s.at(s.x[p*s.d:(p+1)*s.d], p, &w, most)
	}
}

// findDispersion returns the best dispersion by how likely residuals are given the others, nil if none is worth it.
func findDispersion(x []float64, d int, z2 []float64) *dispersion {
	n := len(z2)
	s := &dispersion{d: d, x: slices.Clone(x), z2: slices.Clone(z2), tree: newTree(x, d)}
	const most = 48
	k := min(most+1, n-1)
	type other struct{ d2, z2 float64 }
	table := make([][]other, n) // the nearest others
	parallel.For(n, 32, func(lo, hi int) {
		var w neighbor.NearestWorkspace
		for i := lo; i < hi; i++ {
			index, d2 := s.tree.KNearestWithin(nil, nil, x[i*d:(i+1)*d], k+1, math.Inf(1), &w)
			for j, p := range index {
				if int(p) != i && len(table[i]) < k {
					table[i] = append(table[i], other{d2[j], z2[p]})
				}
			}
		}
	})
	for _, near := range []int{8, 16, 32, 48} {
		if near >= k || near > n/2 {
			continue
		}
		for _, prior := range []float64{4, 8, 16, 32} {
			var sum, sum2 float64
			for i, row := range table {
				f, total := prior, prior
				for _, o := range row[:near] {
					w := taper(o.d2, row[near].d2)
					f, total = f+w*o.z2, total+w
				}
				f /= total
				g := -0.5 * (z2[i]/f + math.Log(f) - z2[i])
				sum, sum2 = sum+g, sum2+g*g
			}
			// What chance brings is of the size of the standard error.
			if gain := sum - 1 - 1.3*math.Sqrt(sum2); gain > s.gain {
				s.gain, s.near, s.prior = gain, near, prior
			}
		}
	}
	if s.gain <= 0 {
		return nil
	}
	return s
}

func (s *dispersion) mean(place []float64, self int, w *neighbor.NearestWorkspace) float64 {
	var room [64]int32
	var distRoom [64]float64
	index, d2 := s.tree.KNearestWithin(room[:0], distRoom[:0], place, s.near+2, math.Inf(1), w)
	if self >= 0 {
		if at := slices.Index(index, int32(self)); at >= 0 {
			index, d2 = slices.Delete(index, at, at+1), slices.Delete(d2, at, at+1)
		}
	}
	f, total := s.prior, s.prior
	for i, p := range index[:min(len(index), s.near)] {
		w := taper(d2[i], d2[min(s.near, len(d2)-1)])
		f, total = f+w*s.z2[p], total+w
	}
	return f / total
}

// taper is the weight of a neighbour at a squared distance, which falls to 0 at that of the first one that is left out,
// so that what is made of neighbours has no jumps.
func taper(d2, last float64) float64 {
	if !(last > 0) {
		return 1
	}
	return 1 - d2/last
}

// factor is the factor of the variance at a place whose mean is predicted as mean.
func (s *dispersion) factor(place []float64, mean float64, w *neighbor.NearestWorkspace) float64 {
	if s.levels {
		place = []float64{mean}
	}
	return s.mean(place, -1, w)
}

func (s *dispersion) factorWithout(i int) float64 {
	var w neighbor.NearestWorkspace
	return s.mean(s.x[i*s.d:(i+1)*s.d], i, &w)
}

// levels are the means that values were predicted as from the others, as far as they can be told apart.
//
// A value draws the means of its neighbours to itself, and not its own: of values around one level the one with the
// largest residual has the lowest mean. Residuals must not be found from their own traces, so that equal places have one
// level, and levels are multiples of the usual uncertainty of a mean.
func (m *Model) levels(some []int, mean, variance []float64) []float64 {
	d := m.frame.dim
	out := slices.Clone(mean)
	for lo := 0; lo < len(some); {
		hi, sum := lo, 0.0
		for ; hi < len(some) && slices.Equal(m.x[some[lo]*d:(some[lo]+1)*d], m.x[some[hi]*d:(some[hi]+1)*d]); hi++ {
			sum += mean[hi]
		}
		level := sum / float64(hi-lo)
		for ; lo < hi; lo++ {
			out[lo] = level
		}
	}
	var noise float64
	for _, b := range m.members {
		noise += b.weight * b.variance * b.kernel.noise
	}
	rest := make([]float64, len(variance))
	for i, v := range variance {
		rest[i] = max(0, v-noise*m.mix.scale)
	}
	slices.Sort(rest)
	if step := math.Sqrt(rest[len(rest)/2]); step > 0 {
		for i, v := range out {
			out[i] = step * math.Round(v/step)
		}
	}
	return out
}
