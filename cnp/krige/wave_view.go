package krige

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// waveView is a table as waves have it: draws from the posterior of its wave, and the probability that it is one.
type waveView struct {
	s     *waveSampler
	share float64
}

// draw sets dst to the values at places [n, dim] of one wave drawn from the posterior; with function, residuals are left out.
func (v *waveView) draw(dst, places []float64, rng *rand.Rand, function bool) {
	s, d := v.s, v.s.w.dim
	a := s.all[rng.IntN(len(s.all))]
	level, gain, _, narrow, broad := s.wave(a)
	for i := range dst {
		g, _ := s.w.forms[0].at(s.phase(a, places[i*d:(i+1)*d]))
		dst[i] = level + gain*g
		if function {
			continue
		}
		variance := narrow
		if rng.Float64() < s.w.rare {
			variance = broad
		}
		dst[i] += math.Sqrt(variance) * rng.NormFloat64()
	}
}

// moments are mean and variance of a value at a place.
func (v *waveView) moments(x []float64) (mean, variance float64) {
	s := v.s
	n := float64(len(s.all))
	for _, a := range s.all {
		level, gain, _, narrow, broad := s.wave(a)
		g, _ := s.w.forms[0].at(s.phase(a, x))
		y := level + gain*g
		mean += y / n
		variance += ((1-s.w.rare)*narrow + s.w.rare*broad + y*y) / n
	}
	return mean, max(variance-mean*mean, s.w.narrow*s.w.narrow)
}

// waveNear is how many of the draws' values lie nearer to one than the place that says how far apart they are there.
const waveNear = 8

// nearest returns the distance of number i of sorted values to the k-th nearest other one.
func nearest(sorted []float64, i, k int) float64 {
	k = min(k, len(sorted)-1)
	out := math.Inf(1)
	for lo := max(0, i-k); lo <= i && lo+k < len(sorted); lo++ {
		out = min(out, max(sorted[i]-sorted[lo], sorted[lo+k]-sorted[i]))
	}
	return out
}

// logDensity is the logarithm of the density of a value at a place: the mean over the draws. Where these lie far apart over the deviation
// of residuals, each stands for its neighbourhood.
func (v *waveView) logDensity(x []float64, y float64) float64 {
	s := v.s
	type draw struct{ mean, narrow, broad float64 }
	draws := make([]draw, len(s.all))
	for i, a := range s.all {
		level, gain, _, narrow, broad := s.wave(a)
		g, _ := s.w.forms[0].at(s.phase(a, x))
		draws[i] = draw{level + gain*g, narrow, broad}
	}
	slices.SortFunc(draws, func(a, b draw) int { return cmp.Or(cmp.Compare(a.mean, b.mean), cmp.Compare(a.narrow, b.narrow)) })
	means := make([]float64, len(draws))
	for i, d := range draws {
		means[i] = d.mean
	}
	out := make([]float64, 0, 2*len(draws))
	for i, d := range draws {
		apart := nearest(means, i, waveNear) / 2
		out = append(out, math.Log1p(-s.w.rare)+logNormal(y, d.mean, d.narrow+apart*apart),
			math.Log(s.w.rare)+logNormal(y, d.mean, d.broad+apart*apart))
	}
	return logMean(out) + math.Ln2
}

// waveNormals is how many normals the mixture has that a table's value is predicted as: one for the Gaussian processes, one for the rare
// residuals of waves, and the others for their values.
const waveNormals = 16

// normals are shares, means and deviations [waveNormals, 3], in the unit of values, of a value at a place, given mean and deviation of the
// Gaussian processes. The draws' values are cut into groups, each of which has a normal with its mean and variance, so that the mixture has
// the moments of the draws. A group has waveNear draws at least: fewer are no place of their own.
func (v *waveView) normals(x []float64, f *frame, mean, std float64) []float64 {
	s := v.s
	type draw struct{ value, narrow, broad float64 }
	draws := make([]draw, len(s.all))
	var middle, broad float64
	n := float64(len(draws))
	for i, a := range s.all {
		level, gain, _, narrow, wide := s.wave(a)
		g, _ := s.w.forms[0].at(s.phase(a, x))
		draws[i] = draw{level + gain*g, narrow, wide}
		middle, broad = middle+draws[i].value/n, broad+wide/n
	}
	slices.SortFunc(draws, func(a, b draw) int { return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.narrow, b.narrow)) })
	sums := make([]valueSums, len(draws)+1) // of the first so many
	for i, d := range draws {
		sums[i+1] = sums[i]
		sums[i+1].add(d.value-middle, d.narrow)
	}
	groups := cut(sums, waveNormals-2)
	params := make([]float64, 0, 3*waveNormals)
	add := func(share, value, variance float64) {
		params = append(params, share, f.y0+f.ys*value, f.ys*math.Sqrt(variance))
	}
	params = append(params, 1-v.share, mean, std)
	all := sums[len(draws)]
	add(v.share*s.w.rare, middle, all.rest()/n+broad)
	lo := 0
	for _, hi := range groups {
		g := sums[hi].less(sums[lo])
		add(v.share*(1-s.w.rare)*g.n/n, middle+g.v/g.n, g.rest()/g.n+g.narrow/g.n)
		lo = hi
	}
	for len(params) < 3*waveNormals {
		params = append(params, 0, mean, std)
	}
	return params
}

// valueSums are those of draws' values and their variances.
type valueSums struct{ n, v, vv, narrow float64 }

func (s *valueSums) add(v, narrow float64) {
	s.n, s.v, s.vv, s.narrow = s.n+1, s.v+v, s.vv+v*v, s.narrow+narrow
}

func (s valueSums) less(o valueSums) valueSums {
	return valueSums{s.n - o.n, s.v - o.v, s.vv - o.vv, s.narrow - o.narrow}
}

// rest is the sum of squares about the mean.
func (s valueSums) rest() float64 { return max(0, s.vv-s.v*s.v/s.n) }

// cut cuts values, of which the sums of the first so many are given, into at most n groups, and returns where these end. The group with the
// largest sum of squares is cut in two, so that the least is left, as long as residuals do not hide what it gains.
func cut(sums []valueSums, n int) []int {
	ends := []int{len(sums) - 1}
	done := map[int]bool{} // by end: groups that are not to be cut
	for len(ends) < n {
		at, most := -1, 0.0
		for k, hi := range ends {
			lo := 0
			if k > 0 {
				lo = ends[k-1]
			}
			if rest := sums[hi].less(sums[lo]).rest(); !done[hi] && rest > most {
				at, most = k, rest
			}
		}
		if at < 0 {
			break
		}
		lo, hi := 0, ends[at]
		if at > 0 {
			lo = ends[at-1]
		}
		where, least := 0, most-sums[hi].less(sums[lo]).narrow/16
		for i := lo + waveNear; i+waveNear <= hi; i++ {
			if rest := sums[i].less(sums[lo]).rest() + sums[hi].less(sums[i]).rest(); rest < least {
				where, least = i, rest
			}
		}
		if where == 0 {
			done[hi] = true
			continue
		}
		ends = slices.Insert(ends, at, where)
	}
	return ends
}
