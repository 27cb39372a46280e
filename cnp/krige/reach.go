package krige

import (
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// reach says by which factor variances are larger far from the data than the Gaussian processes say.
//
// Leaving out single values tests predictions between the rows. A covariance that is wrong at longer distances shows where
// whole blocks of neighbouring values are left out: their squared standardised residuals should be 1 on average.
//
// Beyond the ends of a series blocks are forecast from the values before them, and from nothing else: the level, the variance and
// the weights of the processes are those that the earlier values alone would have given. A series whose level shifts shows only so
// how far it may go.
type reach struct {
	d               int
	tree            *tree
	first, last     float64 // of a line: beyond them lies what was never seen
	inside, outside curve
}

// curve is a factor as a function of the distance to the nearest value: 1 up to the spacing.
type curve struct {
	spacing float64
	at, log []float64 // distances, ascending, and the logarithms of the factors there
}

const (
	reachValues = 20  // so many values at least
	reachBlocks = 8   // of a size
	reachDoubt  = 3   // blocks whose residuals would be as expected
	reachMost   = 400 // a squared residual inside counts for at most that

	reachForecast = 24 // values of a block that are forecast where the model is not exact
)

// block is a set of values that were left out together.
type block struct {
	index          []int
	forecast       bool      // it is predicted from the values before it alone
	distance       []float64 // to the nearest value that was not left out
	mean, variance []float64
}

// newReach tests blocks, nil if variances are right. Of a model that is not exact it tests the forecasts of a line alone.
func (x *mixture) newReach(m *Model) *reach {
	if m.n < reachValues || !m.exact && m.frame.dim > 1 {
		return nil
	}
	d := m.frame.dim
	r := &reach{d: d, tree: x.idw.tree}
	step := spacing(m.x, d)
	var inside, outside [][]block
	for _, size := range []int{max(2, m.n/40), max(4, m.n/20), max(6, m.n/10)} {
		if m.exact {
			inside = append(inside, m.blocks(size, r.tree))
		}
		if d == 1 {
			outside = append(outside, m.forecasts(size))
		}
	}
	r.inside, r.outside = x.curve(m, inside, step), x.curve(m, outside, step)
	if d == 1 {
		r.first, r.last = m.x[0], m.x[m.n-1]
	}
	if r.inside.at == nil && r.outside.at == nil {
		return nil
	}
	return r
}

// blocks are neighbouring values of some size.
func (m *Model) blocks(size int, t *tree) []block {
	d := m.frame.dim
	var w neighbor.NearestWorkspace
	all := make([]block, reachBlocks)
	for k := range all {
		b := &all[k]
		if d == 1 {
			from := 1 + (m.n-size-2)*k/(reachBlocks-1)
			for i := from; i < from+size; i++ {
				b.index = append(b.index, i)
			}
		} else {
			c := (2*k + 1) * m.n / (2 * reachBlocks)
			near, _ := t.KNearestWithin(nil, nil, m.x[c*d:(c+1)*d], size, math.Inf(1), &w)
			for _, i := range near {
				b.index = append(b.index, int(i))
			}
			slices.Sort(b.index)
		}
		b.measure(m.x, d, t)
	}
	return all
}

// forecasts are blocks of a line, of some size, each after the values before it. Large ones are some of their values.
func (m *Model) forecasts(size int) []block {
	step := 1
	if !m.exact {
		step = (size + reachForecast - 1) / reachForecast
	}
	all := make([]block, reachBlocks)
	for k := range all {
		b := &all[k]
		b.forecast = true
		from := m.n/2 + (m.n-size-m.n/2)*k/(reachBlocks-1)
		for i := from; i < from+size; i += step {
			b.index = append(b.index, i)
			b.distance = append(b.distance, m.x[i]-m.x[from-1])
		}
	}
	return all
}

// measure sets the distances to the values that were not left out.
func (b *block) measure(x []float64, d int, t *tree) {
	var w neighbor.NearestWorkspace
	for _, i := range b.index {
		index, d2 := t.KNearestWithin(nil, nil, x[i*d:(i+1)*d], len(b.index)+1, math.Inf(1), &w)
		nearest := 0.0
		for k, j := range index {
			if _, own := slices.BinarySearch(b.index, int(j)); !own {
				nearest = math.Sqrt(d2[k])
				break
			}
		}
		b.distance = append(b.distance, nearest)
	}
}

// curve predicts blocks of several sizes and returns what their residuals say.
func (x *mixture) curve(m *Model, sizes [][]block, spacing float64) (c curve) {
	for _, blocks := range sizes {
		parallel.For(len(blocks), 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				m.leaveOut(&blocks[i])
			}
		})
		sum, distance, far := float64(reachDoubt), 0.0, 0
		for _, b := range blocks {
			square, n := x.residual(m, &b)
			sum += square
			for _, v := range b.distance {
				distance += v
			}
			far += n
		}
		f := sum / float64(reachDoubt+len(blocks))
		at := distance / float64(max(1, far))
		if n := len(c.at); at > 1.2*spacing && (n == 0 || at > 1.1*c.at[n-1]) {
			c.at, c.log = append(c.at, at), append(c.log, math.Log(max(1, f)))
		}
	}
	c.spacing = spacing
	if c.log == nil || slices.Max(c.log) < 0.02 {
		return curve{}
	}
	return c
}

// residual is the mean squared standardised residual of a block, by the mixture, and how many values the block has.
func (x *mixture) residual(m *Model, b *block) (square float64, n int) {
	d := m.frame.dim
	var w neighbor.NearestWorkspace
	most := float64(reachMost)
	if b.forecast {
		most = mostSquare(m.n)
	}
	for k, i := range b.index {
		at := m.x[i*d : (i+1)*d]
		ms := [experts]float64{b.mean[k], b.mean[k], x.y}
		vs := [experts]float64{b.variance[k], b.variance[k], x.yvar}
		mean, v := x.moments(ms, vs)
		v *= x.scale
		for _, s := range x.spread {
			v *= s.factor(at, mean, &w)
		}
		e := m.y[i] - mean
		square += min(e*e/x.floored(v), most) / float64(len(b.index))
	}
	return square, len(b.index)
}

// leaveOut predicts a block by the Gaussian processes.
func (m *Model) leaveOut(b *block) {
	if !m.exact {
		m.local.forecast(b)
		return
	}
	k := len(b.index)
	b.mean, b.variance = make([]float64, k), make([]float64, k)
	var w square
	var total float64
	weights := m.weightsBefore(b)
	for c, g := range m.members {
		if weights[c] == 0 {
			continue
		}
		mu, v := make([]float64, k), make([]float64, k)
		if b.forecast {
			g.forecast(m.drift.z, b.index, mu, v)
		} else if !g.leaveOut(m, b, mu, v, &w) {
			continue
		}
		weight := weights[c]
		total += weight
		for i := range k {
			b.mean[i] += weight * mu[i]
			b.variance[i] += weight * (v[i] + mu[i]*mu[i])
		}
	}
	if total == 0 { // no member could be inverted: the block says nothing
		b.index, b.distance = nil, nil
		return
	}
	for i := range k {
		b.mean[i] /= total
		b.variance[i] = max(b.variance[i]/total-b.mean[i]*b.mean[i], 1e-14)
	}
}

// weightsBefore are the members' weights where a block is left out. Those of a forecast lose what the later values said for them; the
// share of processes that wander stays.
func (m *Model) weightsBefore(b *block) []float64 {
	weights := make([]float64, len(m.members))
	if !b.forecast {
		for i, g := range m.members {
			weights[i] = g.weight
		}
		return weights
	}
	for _, wanders := range []bool{false, true} {
		share, most, total := 1-m.wanders, math.Inf(-1), 0.0
		if wanders {
			share = m.wanders
		}
		for i, g := range m.members {
			if (g.weight == 0) == wanders {
				before, all := g.before(b.index[0]), g.before(m.n)
				weights[i] = math.Log(g.weightAt(1)) + before.density() - all.density()
				most = max(most, weights[i])
			}
		}
		for i, g := range m.members {
			if (g.weight == 0) == wanders {
				weights[i] = math.Exp(weights[i] - most)
				total += weights[i]
			}
		}
		for i, g := range m.members {
			if (g.weight == 0) == wanders {
				weights[i] *= share / total
			}
		}
	}
	return weights
}

// before is what the likelihood of the first k values of a line follows from: the factor of all is that of the first ones, too.
func (b *member) before(k int) (s sums) {
	for i := range k {
		s.logdet -= math.Log(b.lower[tri(i)+i]) // its reciprocal stands there
	}
	z, one := b.white[:k], b.whiteOne[:k]
	s.n, s.yy, s.y1, s.ones, s.maximum = k, simd.SumSqF64(z), simd.DotF64(z, one), simd.SumSqF64(one), b.sums.maximum
	if b.drift != nil {
		s.drift = newDriftSums(b.drift.precision)
		s.drift.add(b.drift.lower, b.whiteOne, b.white, 0, k)
		s.settle()
	}
	return s
}

// forecast predicts neighbouring values of a line from those before them, by one process. z are the columns of a drift.
func (b *member) forecast(z []float64, index []int, mean, variance []float64) {
	from := index[0]
	s := b.before(from)
	level, spread := s.level(), s.spread()
	for i := range index {
		row := b.lower[tri(from+i):][:from+i+1]
		mu := simd.DotF64(row[:from], b.white[:from])
		known := simd.DotF64(row[:from], b.whiteOne[:from]) // how much of the level the earlier values are
		v := simd.SumSqF64(row[from : from+i])
		mean[i] = mu + (1-known)*level
		v += 1/(row[from+i]*row[from+i]) + (1-known)*(1-known)/s.ones
		if s.found != nil {
			add, doubt := s.found.after(b.drift.lower, z, row[:from], from+i, known)
			mean[i], v = mean[i]+add, v+doubt
		}
		variance[i] = spread * v
	}
}

// leaveOut predicts a block by one process.
func (b *member) leaveOut(m *Model, out *block, mean, variance []float64, w *square) bool {
	k := len(out.index)
	// Where P is the precision of all values, that of the block is its part P_B, and residuals are P_B^-1 alpha_B.
	a := make([]float64, 0, tri(k))
	e := make([]float64, k)
	for i, p := range out.index {
		e[i] = b.alpha[p]
		for _, q := range out.index[:i+1] {
			a = append(a, b.precision(p, q))
		}
	}
	if !cholesky(a, k, e, w) {
		return false
	}
	backward(a, e, k)
	v := inverse(a, k)
	for i, p := range out.index {
		mean[i], variance[i] = m.y[p]-e[i], b.variance*v[i*k+i]
	}
	return true
}

// factor is the factor of the variance at a place.
func (r *reach) factor(at []float64, w *neighbor.NearestWorkspace) float64 {
	c, distance := &r.inside, 0.0
	switch {
	case r.d == 1 && at[0] > r.last:
		c, distance = &r.outside, at[0]-r.last
	case r.d == 1 && at[0] < r.first:
		c, distance = &r.outside, r.first-at[0]
	}
	if c.at == nil {
		return 1
	}
	if distance == 0 {
		var index [1]int32
		var d2 [1]float64
		_, near := r.tree.KNearestWithin(index[:0], d2[:0], at, 1, math.Inf(1), w)
		distance = math.Sqrt(near[0])
	}
	return c.factor(distance)
}

// factor interpolates the logarithm in that of the distance.
func (c *curve) factor(distance float64) float64 {
	if !(distance > c.spacing) {
		return 1
	}
	from, low := c.spacing, 0.0
	for i, to := range c.at {
		if distance < to {
			f := math.Log(distance/from) / math.Log(to/from)
			return math.Exp(low + f*(c.log[i]-low))
		}
		from, low = to, c.log[i]
	}
	return math.Exp(low)
}
