package krige

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

func (m *Model) newLocal(ctx context.Context) error {
	for _, b := range m.members {
		b.kernel.level2 = 1 / b.ones // the level is known as well as the fit knows it
	}
	m.local = m.nearest(near)
	m.local.induce(ctx)
	return ctx.Err()
}

// induce finds inducing points for the members that then know more than from the rows near a target.
func (l *local) induce(ctx context.Context) {
	m := l.m
	order := along(m.x, m.frame.dim)
	table := &rows{x: m.x, y: m.y, d: m.frame.dim, n: m.n, aniso: m.aniso(), axial: m.axial}
	some := thinned(order, inducingRows)
	probe := make([]float64, 0, inducingProbe*m.frame.dim)
	for _, i := range thinned(order, inducingProbe) {
		probe = append(probe, m.x[i*m.frame.dim:(i+1)*m.frame.dim]...)
	}
	parallel.For(len(m.members), 1, func(lo, hi int) {
		for _, b := range m.members[lo:hi] {
			if ctx.Err() == nil {
				b.inducing = newInducing(ctx, table, b.kernel, b.level, b.drift, some)
			}
		}
	})
	nearby := make([]float64, len(m.members))
	l.knowledge(ctx, probe, nearby)
	for i, b := range m.members {
		if u := b.inducing; u != nil && !(u.knowledge(probe) < inducingWorth*nearby[i]) {
			b.inducing = nil
		}
	}
}

// thinned is some of an order, evenly.
func thinned(order []int32, most int) []int {
	n := len(order)
	out := make([]int, min(n, most))
	for k := range out {
		out[k] = int(order[int64(k)*int64(n)/int64(len(out))])
	}
	return out
}

// knowledge sets v to the sums over places of every member's variance of the signal given the rows near them.
func (l *local) knowledge(ctx context.Context, places, v []float64) {
	d := l.m.frame.dim
	nt := len(places) / d
	each := make([]float64, nt*len(v))
	l.visit(ctx, places, func(w *desk, some []int32) { // an error is the context's, which the caller asks
		l.fill(w, places, some)
		n := len(w.index)
		for k, b := range l.m.members {
			_, cov, _, ok := l.factor(w, b, len(some), nil)
			for i, s := range some {
				if each[int(s)*len(v)+k] = math.Inf(1); ok {
					each[int(s)*len(v)+k] = max(0, b.kernel.prior(places[int(s)*d:int(s+1)*d])-simd.SumSqF64(cov[i*n:(i+1)*n]))
				}
			}
		}
	})
	for i, e := range each {
		v[i%len(v)] += e
	}
}

// nearest predicts targets from so many points.
func (m *Model) nearest(count int) *local {
	l := &local{m: m, near: count, seasons: m.seasonsOf(), turn: metricRoot(m.members[0])}
	l.at = l.turned(m.x)
	d := m.frame.dim
	l.tree = newTree(l.at, d)
	for k, i := range along(l.at, d) {
		if k%apart == 0 {
			l.anchorAt = append(l.anchorAt, l.at[int(i)*d:int(i+1)*d]...)
		}
	}
	l.anchors = newTree(l.anchorAt, d)
	return l
}

// metricRoot is a matrix whose product with differences has the metric's length, nil for the Euclidean metric.
func metricRoot(m *member) []float64 {
	d, w := m.spec.dim, m.kernel.metric
	switch {
	case !m.spec.aniso:
		return nil
	case d == 2:
		a := math.Sqrt(w[0])
		c := w[1] / 2 / a
		return []float64{a, c, 0, math.Sqrt(max(w[2]-c*c, 1e-12))}
	}
	// Cholesky's factor, transposed: the rows of a triangle.
	a := math.Sqrt(w[0])
	b1, b2 := w[3]/2/a, w[4]/2/a
	c := math.Sqrt(max(w[1]-b1*b1, 1e-12))
	e := (w[5]/2 - b1*b2) / c
	return []float64{a, b1, b2, 0, c, e, 0, 0, math.Sqrt(max(w[2]-b2*b2-e*e, 1e-12))}
}

func (l *local) turned(x []float64) []float64 {
	if l.turn == nil {
		return x
	}
	d := l.m.frame.dim
	out := make([]float64, len(x))
	for i := 0; i < len(x); i += d {
		for r := range d {
			for c := range d {
				out[i+r] += l.turn[r*d+c] * x[i+c]
			}
		}
	}
	return out
}

// desk is a goroutine's working memory.
type desk struct {
	search       neighbor.NearestWorkspace
	index        []int32
	dist2        []float64
	inner, cross features
	a, cov       []float64
	scratch      scratch
	far          []int32
}

// predict sets mean and variance of the mixture at targets.
func (l *local) predict(ctx context.Context, t places, mean, variance []float64) error {
	return l.mixture(ctx, t, nil, mean, variance)
}

// mixture sets mean and variance of the mixture at targets, or at rows of the table given the others.
func (l *local) mixture(ctx context.Context, t places, rows []int, mean, variance []float64) error {
	clear(mean)
	clear(variance)
	if some := l.members(); len(some) > 0 {
		err := l.visit(ctx, t.x, func(w *desk, at []int32) {
			if rows == nil {
				l.solve(w, some, t, at, nil, mean, variance)
				return
			}
			// So many points may be at one place that the near ones are others, and a row is predicted from them as any target is.
			var inside, outside []int32
			for _, i := range at {
				if slices.Contains(w.index, int32(rows[i])) {
					inside = append(inside, i)
				} else {
					outside = append(outside, i)
				}
			}
			l.solve(w, some, t, inside, rows, mean, variance)
			l.solve(w, some, t, outside, nil, mean, variance)
		})
		if err != nil {
			return err
		}
	}
	return l.join(ctx, t, rows, mean, variance)
}

// members are those that predict from the rows near a target, and not by inducing points.
func (l *local) members() (some []*member) {
	for _, b := range l.m.members {
		if b.inducing == nil {
			some = append(some, b)
		}
	}
	return some
}

// join adds to the moments of these members those of the others, at targets, or at rows given the others.
func (l *local) join(ctx context.Context, t places, rows []int, mean, variance []float64) error {
	var all, share float64
	for _, b := range l.m.members {
		if all += b.weight; b.inducing == nil {
			share += b.weight
		}
	}
	if share == all {
		return nil
	}
	for i, m := range mean {
		mean[i], variance[i] = share*m, share*(variance[i]+m*m)
	}
	for _, b := range l.m.members {
		if b.inducing == nil {
			continue
		}
		if err := b.inducing.predict(ctx, b.weight, b.variance, t, rows, mean, variance); err != nil {
			return err
		}
	}
	for i := range mean {
		mean[i] /= all
		variance[i] = max(variance[i]/all-mean[i]*mean[i], 1e-14)
	}
	return nil
}

// visit calls f with targets, at most group at a time, and the points that these are predicted from as the desk's index. Targets near the
// same anchor share the points near it, and one factorization. Which anchor that is depends on the table and on the target alone, and so
// does the prediction, whatever the other targets.
func (l *local) visit(ctx context.Context, t []float64, f func(w *desk, some []int32)) error {
	d := l.m.frame.dim
	nt := len(t) / d
	at := l.turned(t)
	desks := make([]desk, parallel.Workers())
	anchor, dist2 := make([]int32, nt), make([]float64, nt)
	stopped := func() bool { return ctx.Err() != nil }
	parallel.UntilWorkers(stopped, nt, 16*group, len(desks), func(worker, lo, hi int) {
		w := &desks[worker]
		for i := lo; i < hi; i++ {
			w.index, w.dist2 = l.anchors.KNearestWithin(w.index[:0], w.dist2[:0], at[i*d:(i+1)*d], 1, math.Inf(1), &w.search)
			anchor[i], dist2[i] = w.index[0], w.dist2[0]
		}
	})
	if stopped() {
		return ctx.Err()
	}
	order := make([]int32, nt)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(anchor[a], anchor[b]), cmp.Compare(a, b)) })
	parallel.UntilWorkers(stopped, nt, 16*group, len(desks), func(worker, lo, hi int) {
		for next := lo; lo < hi; lo = next {
			k := anchor[order[lo]]
			for next < hi && anchor[order[next]] == k {
				next++
			}
			l.around(&desks[worker], int(k), at, order[lo:next], dist2, f)
		}
	})
	return ctx.Err()
}

// around visits targets, of which an anchor is the nearest, at these squared distances: with the points near the anchor where those
// surround the target as well, and those that know the season at the anchor surround the target's place in it; otherwise with the target's
// own.
func (l *local) around(w *desk, anchor int, at []float64, some []int32, dist2 []float64, f func(w *desk, some []int32)) {
	d := l.m.frame.dim
	find := func(x []float64) (reach float64) {
		w.index, w.dist2 = l.tree.KNearestWithin(w.index[:0], w.dist2[:0], x, l.near, math.Inf(1), &w.search)
		var season float64
		w.index, season = l.addSeasons(w.index, x[0], l.m.n)
		return min(0.16*w.dist2[len(w.dist2)-1], season*season)
	}
	reach, far := find(l.anchorAt[anchor*d:(anchor+1)*d]), w.far[:0]
	shared := some[:0] // in place: what is kept comes no later than it was
	for _, i := range some {
		if dist2[i] > reach {
			far = append(far, i)
		} else {
			shared = append(shared, i)
		}
	}
	for from := 0; from < len(shared); from += group {
		f(w, shared[from:min(from+group, len(shared))])
	}
	for k, i := range far {
		find(at[int(i)*d : int(i+1)*d])
		f(w, far[k:k+1])
	}
	w.far = far
}

// along orders points so that neighbours in the order are neighbours in space: by Morton codes.
func along(x []float64, d int) []int32 {
	n := len(x) / d
	bits := min(21, 63/d)
	code := make([]uint64, n)
	for k := range d {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := k; i < len(x); i += d {
			lo, hi = min(lo, x[i]), max(hi, x[i])
		}
		scale := 0.0
		if hi > lo {
			scale = (float64(uint64(1)<<bits) - 1) / (hi - lo)
		}
		for i := range n {
			v := uint64((x[i*d+k] - lo) * scale)
			for b := range bits {
				code[i] |= (v >> b & 1) << (b*d + k)
			}
		}
	}
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := cmp.Compare(code[a], code[b]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return order
}

// fill prepares the features of the points of the desk's index, and those of some targets with them.
func (l *local) fill(w *desk, t []float64, some []int32) {
	m := l.m
	d, n, c := m.frame.dim, len(w.index), len(some)
	w.inner.grow(d, tri(n), m.aniso())
	w.cross.grow(d, c*n, m.aniso())
	if m.axial {
		w.inner.growAxes(d, tri(n))
		w.cross.growAxes(d, c*n)
	}
	p := 0
	for i, a := range w.index {
		xa := m.x[int(a)*d : int(a+1)*d]
		for _, b := range w.index[:i+1] {
			w.inner.set(p, xa, m.x[int(b)*d:int(b+1)*d])
			p++
		}
	}
	for i, s := range some {
		xt := t[int(s)*d : int(s+1)*d]
		for j, a := range w.index {
			w.cross.set(i*n+j, xt, m.x[int(a)*d:int(a+1)*d])
		}
	}
}

// factor returns, of a member and c targets whose features are filled in, the factor L of the covariance of the points, and L^-1 times the
// covariances [c, n] with each target and times the values less the level. Where the targets are points, it is L^-1 times the unit vectors
// at these places instead. Behind the values stand, solved alike, the coordinates of a drift [D, n]. ok is false where the covariance is
// not positive definite.
func (l *local) factor(w *desk, b *member, c int, places []int) (a, cov, z []float64, ok bool) {
	n, d := len(w.index), l.m.opt.Drift
	if cap(w.a) < tri(n) {
		w.a = make([]float64, tri(n))
	}
	if cap(w.cov) < (c+1+d)*n {
		w.cov = make([]float64, (group+1+d)*n)
	}
	a, cov, z = w.a[:tri(n)], w.cov[:c*n], w.cov[c*n:(c+1+d)*n]
	b.kernel.covariances(a, &w.inner, &w.scratch)
	for i := range n {
		a[tri(i)+i] += b.kernel.noise
	}
	if places == nil {
		b.kernel.covariances(cov, &w.cross, &w.scratch)
	}
	for i, p := range places {
		clear(cov[i*n : (i+1)*n])
		cov[i*n+p] = 1
	}
	for i, p := range w.index {
		z[i] = b.drift.less(l.m.y, b.level, int(p))
		for k := range d {
			z[(1+k)*n+i] = b.drift.rows[k*l.m.n+int(p)]
		}
	}
	return a, cov, z, cholesky(a, n, w.cov[:(c+1+d)*n], &w.scratch.square)
}

// solve predicts targets by some members from the points of the desk's index; or, where rows is not nil, targets that are among these
// points from the others.
func (l *local) solve(w *desk, members []*member, at places, some []int32, rows []int, mean, variance []float64) {
	if len(some) == 0 {
		return
	}
	m, t := l.m, at.x
	var places []int
	if rows == nil {
		l.fill(w, t, some)
	} else {
		for _, s := range some {
			places = append(places, slices.Index(w.index, int32(rows[s])))
		}
		l.fill(w, t, nil)
	}
	for _, s := range some {
		mean[s], variance[s] = 0, 0
	}
	d, n := m.frame.dim, len(w.index)
	beside := make([]float64, m.opt.Drift)
	var used float64
	for _, b := range members {
		_, cov, z, ok := l.factor(w, b, len(some), places)
		if !ok {
			continue
		}
		used += b.weight
		k := b.kernel
		for i, s := range some {
			row := cov[i*n : (i+1)*n]
			mu, v := dot(row, z, n), simd.SumSqF64(row)
			if rows == nil {
				mu, v = b.level+mu, max(0, k.prior(t[int(s)*d:int(s+1)*d])-v)+k.noise
				if b.drift != nil {
					add, doubt := b.drift.near(beside, at.row(int(s), len(beside)), row, z[n:])
					mu, v = mu+add, v+doubt
				}
			} else { // the inverse has v on its diagonal, and its product with the values less the level is mu
				mu, v = m.y[rows[s]]-mu/v, 1/v
			}
			mean[s] += b.weight * mu
			variance[s] += b.weight * (b.variance*v + mu*mu)
		}
	}
	if used == 0 { // no member could: the values' own moments
		for _, s := range some {
			mean[s], variance[s] = 0, 1
		}
		return
	}
	for _, s := range some {
		mean[s] /= used
		variance[s] = max(variance[s]/used-mean[s]*mean[s], 1e-14)
	}
}

// leaveOneOut sets mean and variance of some values given the others.
func (l *local) leaveOneOut(ctx context.Context, some []int, mean, variance []float64) error {
	d := l.m.frame.dim
	at, beside := places{x: make([]float64, 0, len(some)*d)}, l.m.opt.Drift
	for _, i := range some {
		at.x = append(at.x, l.m.x[i*d:(i+1)*d]...)
		at.z = append(at.z, l.m.drift.z[i*beside:(i+1)*beside]...)
	}
	return l.mixture(ctx, at, some, mean, variance)
}

// addSeasons adds to the nearest points of a place on a line those that know its seasons. They surround what lies within reach of it.
func (l *local) addSeasons(index []int32, x float64, some int) (with []int32, reach float64) {
	reach = math.Inf(1)
	nearest := index[:len(index):len(index)]
	for i, period := range l.seasons {
		had := len(index)
		var r float64
		index, r = l.m.addSeason(index, x, period, some)
		if reach = min(reach, r); i > 0 && len(index) > had {
			index = l.m.addBeside(index, nearest, x, period, some)
		}
	}
	return index, reach
}

// addBeside adds every few of the rows that are a longer season away from the nearest ones of a place. What the rows near it say of those
// that are a season away from it is else as well a change of the level as one with the season, as from a Friday to a Saturday.
func (m *Model) addBeside(index, nearest []int32, x, period float64, some int) []int32 {
	places := []float64{-period, period}
	switch {
	case x > m.x[some-1]:
		places[1] = -2 * period
	case x < m.x[0]:
		places[0] = 2 * period
	}
	for _, away := range places {
		for i := 0; i < len(nearest); i += near / seasonNear {
			p, _ := slices.BinarySearch(m.x[:some], m.x[nearest[i]]+away)
			if p > 0 && p < some && !slices.Contains(index, int32(p)) {
				index = append(index, int32(p))
			}
		}
	}
	return index
}

// addSeason adds to the nearest points of a place on a line, where these span less than three seasons, the points near the places one and
// two periods away from it, on either side: only they know the season there. Of all points it takes those of the first some.
// They surround what lies within reach of the place, which is infinite where none is added.
func (m *Model) addSeason(index []int32, x, period float64, some int) (with []int32, reach float64) {
	const around = seasonNear / 2
	reach = math.Inf(1)
	if len(index) == 0 {
		return index, reach
	}
	at := m.x[:some]
	if at[slices.Max(index)]-at[slices.Min(index)] > 3*period {
		return index, reach
	}
	for _, side := range [2]float64{-1, 1} {
		// A place beyond the end goes as many periods back as it takes to come among the points.
		first := max(1, math.Ceil(max(at[0]-x, x-at[some-1])/period))
		for k := first; k < first+2; k++ {
			place := x + side*k*period
			if place < at[0] || place > at[some-1] {
				continue
			}
			middle, _ := slices.BinarySearch(at, place)
			from, to := max(0, middle-around), min(some, middle+around)
			reach = min(reach, place-at[from], at[to-1]-place)
			for i := from; i < to; i++ {
				if p := int32(i); !slices.Contains(index, p) {
					index = append(index, p)
				}
			}
		}
	}
	return index, reach
}

// seasonsOf are the periods of the likeliest member that has one, the shorter one first, none where none has.
func (m *Model) seasonsOf() (periods []float64) {
	for _, b := range m.members {
		for _, s := range [...]*season{&b.kernel.season, &b.kernel.long} {
			if p := s.period(); p > 0 {
				periods = append(periods, p)
			}
		}
		if periods != nil {
			return periods
		}
	}
	return nil
}

// forecast predicts a block of a line from the points before it alone.
func (l *local) forecast(b *block) {
	var w desk
	from := b.index[0]
	b.mean, b.variance = make([]float64, len(b.index)), make([]float64, len(b.index))
	beside := l.m.opt.Drift
	t := places{x: make([]float64, len(b.index))}
	for i, p := range b.index {
		t.x[i] = l.m.x[p]
		t.z = append(t.z, l.m.drift.z[p*beside:(p+1)*beside]...)
		w.index = w.index[:0]
		for q := max(0, from-l.near); q < from; q++ {
			w.index = append(w.index, int32(q))
		}
		w.index, _ = l.addSeasons(w.index, t.x[i], from)
		l.solve(&w, l.m.members, t, []int32{int32(i)}, nil, b.mean, b.variance)
	}
}
