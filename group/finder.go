package group

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/internal/search"
)

// Finder finds the points of a set that lie within a fixed radius of a query: exactly those whose Distance, in float64, is below
// the radius. Use it for repeated queries in a group's distance, where neighbor.Ball, which answers all queries at once, does not
// fit. It looks at every point, but through a filter of whole numbers that tests 64 points in a few cycles: up to some hundred
// thousand points that is faster than any tree. It is read-only and safe for concurrent use; every goroutine brings its own
// Workspace.
type Finder struct {
	g       Group
	r       float64
	l       *Lifted
	fast    PairComputer
	metric  Metric // what the kernels decide by; NoMetric is Distance itself
	ga, qa  int    // algebra and orbit coordinates
	classes []finderClass
	n       int
}

// finderClass is a part of the points. Under rigid motions the points of one angle make a part, under other groups all points do.
type finderClass struct {
	label  []int32
	x      []float64 // [coordinates, n], as the kernel wants them
	alt    []float64 // rigid motions: the algebra's translations, for queries of the same angle
	th     float64   // rigid motions: the angle
	filter *candidateFilter
}

// Workspace is scratch for Finder.Find. The zero value is ready.
type Workspace struct {
	index  []int32
	bits   []uint64
	seen   []uint64 // a bit for each row, all zero between queries
	center []float64
	dist   []float64
	pose   []float64
	u      [kernelDims]float64 // the query as a kernel wants it
	m      [2]float64
}

// kernelDims is the largest number of coordinates of a kernel's points.
const kernelDims = 3

// maxClasses is the largest number of different angles for which the points of rigid motions are separated by angle.
const maxClasses = 16

// NewFinder lays out the rows of l, ascending and distinct, for radius r; nil is all rows. It panics if a row is none of l's.
func NewFinder(l *Lifted, rows []int32, r float64) *Finder {
	checkLifted("NewFinder", l)
	if rows == nil {
		rows = make([]int32, l.Rows())
		for j := range rows {
			rows[j] = int32(j)
		}
	}
	for k, j := range rows {
		if j < 0 || int(j) >= l.Rows() || (k > 0 && rows[k-1] >= j) {
			panic(fmt.Sprintf("group: NewFinder: rows[%d] = %d, need ascending rows below %d", k, j, l.Rows()))
		}
	}
	f := &Finder{g: l.Group, r: r, l: l, n: len(rows), ga: l.Group.AlgebraDim(), qa: l.Group.OrbitDim()}
	f.fast, _ = l.Group.(PairComputer)
	f.metric = f.choose(rows)
	f.verify(rows)
	if f.metric.Form == RigidMotion {
		f.splitByAngle(rows)
	} else {
		f.classes = []finderClass{f.newClass(rows)}
	}
	for k := range f.classes {
		f.classes[k].filter = newCandidateFilter(l, f.classes[k].label, r)
	}
	return f
}

// Fast reports whether a kernel decides membership. Asking the same query twice then costs less than storing its answer.
func (f *Finder) Fast() bool { return f.metric.Form != NoMetric }

// Len returns the number of points.
func (f *Finder) Len() int { return f.n }

// moderate reports whether squares of distances near r/w neither overflow nor underflow. Then plain sums of squares decide as the
// group's own norms do.
func moderate(r, w float64) bool { return r/w > 0x1p-400 && r/w < 0x1p400 }

// choose returns the group's metric if the metric's kernel decides exactly as Distance does: the coordinates are those that the
// kernel wants, the angles lie within a half turn, and no square overflows or underflows.
func (f *Finder) choose(rows []int32) Metric {
	g, ok := f.g.(MetricGroup)
	if !ok {
		return Metric{}
	}
	angles := func(c int) bool {
		for _, j := range rows {
			a, q := f.l.Row(int(j))
			v := 0.0
			if c < f.ga {
				v = a[c]
			} else {
				v = q[c-f.ga]
			}
			if !(math.Abs(v) <= math.Pi) {
				return false
			}
		}
		return true
	}
	m, dim := g.Metric(), f.ga+f.qa
	switch m.Form {
	case Euclidean:
		ok = dim >= 1 && dim <= kernelDims && moderate(f.r, m.Alpha)
	case Polar:
		ok = dim == 2 && angles(0)
	case LogPolar:
		ok = dim == 2 && angles(1)
	case RigidMotion:
		ok = f.ga == 3 && f.qa == 0 && moderate(f.r, 1-m.Alpha) && moderate(f.r, m.Alpha) && angles(0) && f.fewAngles(rows)
	default:
		ok = false
	}
	if !ok {
		return Metric{}
	}
	return m
}

// fewAngles reports whether the first coordinates of the rows take at most maxClasses values.
func (f *Finder) fewAngles(rows []int32) bool {
	seen, last := map[float64]bool{}, math.NaN()
	for _, j := range rows {
		a, _ := f.l.Row(int(j))
		if a[0] == last {
			continue
		}
		if last = a[0]; !seen[last] && len(seen) == maxClasses {
			return false
		}
		seen[last] = true
	}
	return true
}

// samples returns up to four positions spread over 0 .. n-1.
func samples(n int) []int {
	if n <= 4 {
		return []int{0, 1, 2, 3}[:n]
	}
	return []int{0, n / 3, 2 * n / 3, n - 1}
}

// sameNumbers reports whether two slices have the same bits, any NaN being equal to any.
func sameNumbers(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(v, w float64) bool {
		return math.Float64bits(v) == math.Float64bits(w) || (v != v && w != w)
	})
}

// verify compares the metric and the PairComputer with Distance for a few pairs of rows, and drops what differs: a group that
// embeds another one inherits both, and may have a distance of its own.
func (f *Finder) verify(rows []int32) {
	if f.metric.Form == NoMetric && f.fast == nil {
		return
	}
	w := Workspace{pose: make([]float64, max(PoseDim(f.g), 1))}
	pose, dist, index := make([]float64, PoseDim(f.g)), make([]float64, 1), make([]int32, 1)
	for _, j := range samples(len(rows)) {
		aj, qj := f.l.Row(int(rows[j]))
		class := f.newClass(rows[j : j+1])
		for _, i := range samples(len(rows)) {
			ai, qi := f.l.Row(int(rows[i]))
			f.g.RelativePose(pose, ai, qi, aj, qj)
			d := f.g.Distance(pose)
			if f.fast != nil {
				if f.fast.Distances(dist, ai, qi, aj, qj); !sameNumbers(dist, []float64{d}) {
					f.fast = nil
				}
			}
			if f.metric.Form == NoMetric || !(d == 0 || moderate(d, f.metric.Alpha)) {
				continue
			}
			// A ball of radius d does not hold the point, the next larger one does.
			if f.within(&w, &class, index, nil, ai, qi, d) != 0 ||
				f.within(&w, &class, index, nil, ai, qi, math.Nextafter(d, math.Inf(1))) != 1 {
				f.metric = Metric{}
			}
		}
	}
}

// newClass lays out some rows, coordinate by coordinate where there is a kernel, row by row for Distances.
func (f *Finder) newClass(rows []int32) finderClass {
	c := finderClass{label: rows}
	n, ga, qa := len(rows), f.ga, f.qa
	switch f.metric.Form {
	case NoMetric:
		for _, j := range rows {
			a, _ := f.l.Row(int(j))
			c.x = append(c.x, a...)
		}
		for _, j := range rows {
			_, q := f.l.Row(int(j))
			c.alt = append(c.alt, q...)
		}
		return c
	case RigidMotion:
		c.x, c.alt = make([]float64, 2*n), make([]float64, 2*n)
		var v se2View // all have one angle
		for k, j := range rows {
			a, _ := f.l.Row(int(j))
			if k == 0 {
				v = newSE2View(a[0], a[0])
			}
			c.th, c.alt[k], c.alt[n+k] = a[0], a[1], a[2]
			c.x[k], c.x[n+k] = mulComplex(v.vr, v.vi, a[1], a[2])
		}
		return c
	}
	c.x = make([]float64, (ga+qa)*n)
	for k, j := range rows {
		a, q := f.l.Row(int(j))
		for d, v := range a {
			c.x[d*n+k] = v
		}
		for d, v := range q {
			c.x[(ga+d)*n+k] = v
		}
	}
	return c
}

// splitByAngle makes a class of the points of each angle.
func (f *Finder) splitByAngle(rows []int32) {
	at := map[float64]int{}
	var sets [][]int32
	last, k := math.NaN(), 0
	for _, j := range rows {
		a, _ := f.l.Row(int(j))
		if a[0] != last {
			last = a[0]
			var ok bool
			if k, ok = at[last]; !ok {
				k = len(sets)
				at[last] = k
				sets = append(sets, nil)
			}
		}
		sets[k] = append(sets[k], j)
	}
	for _, set := range sets {
		f.classes = append(f.classes, f.newClass(set))
	}
}

// Find returns the rows within the radius of the query (a [g], q [orbit]), ascending. The list belongs to w and is valid until
// the next call. A query with coordinates that are not finite has neighbours only where the group's Distance says so.
func (f *Finder) Find(w *Workspace, a, q []float64) []int32 {
	if w == nil {
		panic("group: Finder: nil Workspace")
	}
	w.index = f.Append(w.index[:0], w, a, q)
	return w.index
}

// Append is like Find, appending to dst. It allocates only if dst has no room for Len more rows.
func (f *Finder) Append(dst []int32, w *Workspace, a, q []float64) []int32 {
	if w == nil || len(a) < f.ga || len(q) < f.qa {
		panic(fmt.Sprintf("group: Finder: nil Workspace, or len(a) = %d, len(q) = %d: need at least %d and %d", len(a), len(q), f.ga, f.qa))
	}
	from := len(dst)
	dst = slices.Grow(dst, f.n)
	index := dst[from : from+f.n]
	w.bits = reuse.Sized(w.bits, (f.n+63)/64)
	if w.pose == nil {
		w.pose, w.dist = make([]float64, max(PoseDim(f.g), 1)), make([]float64, 64)
	}
	m := 0
	for k := range f.classes {
		c := &f.classes[k]
		var candidates []uint64
		if c.filter != nil {
			if len(w.center) < len(c.filter.center) {
				w.center = make([]float64, len(c.filter.center))
			}
			if b := w.bits[:c.filter.words]; c.filter.near(b, w.center, a, q) {
				candidates = b
			}
		}
		m += f.within(w, c, index[m:], candidates, a, q, f.r)
	}
	if len(f.classes) > 1 {
		w.sort(index[:m], f.l.Rows())
	}
	return dst[:from+m]
}

// sort sorts distinct numbers below n. Where they are dense, a bit for each of the n is several times faster than comparing them.
func (w *Workspace) sort(index []int32, n int) {
	words := (n + 63) / 64
	if len(index)*8 < words {
		slices.Sort(index)
		return
	}
	if len(w.seen) < words {
		w.seen = make([]uint64, words)
	}
	seen := w.seen[:words]
	for _, j := range index {
		seen[j>>6] |= 1 << (j & 63)
	}
	m := 0
	for k, word := range seen {
		if word == 0 {
			continue
		}
		seen[k] = 0
		for ; word != 0; word &= word - 1 {
			index[m] = int32(k<<6 + bits.TrailingZeros64(word))
			m++
		}
	}
}

// within writes the points of a class within r to index, which has room for all of them.
func (f *Finder) within(w *Workspace, c *finderClass, index []int32, candidates []uint64, a, q []float64, r float64) int {
	m := &f.metric
	switch m.Form {
	case NoMetric:
		if f.fast != nil {
			return f.scan(w, c, index, candidates, a, q, r)
		}
	case RigidMotion:
		if math.Abs(a[0]) <= math.Pi {
			query, v := newSE2Query(a), newSE2View(a[0], c.th)
			x := c.x
			w.u[0], w.u[1], w.m = query.px, query.py, [2]float64{v.mr, v.mi}
			if v.same {
				w.u[0], w.u[1], x = query.tx, query.ty, c.alt
			}
			return search.WithinRigid(index, c.label, candidates, x, w.u[:2], w.m[:], v.rel, m.Alpha, r)
		}
	default:
		n := copy(w.u[:], a[:f.ga])
		u := w.u[:n+copy(w.u[n:], q[:f.qa])]
		switch {
		case m.Form == Euclidean:
			return search.WithinEuclid(index, c.label, candidates, c.x, u, m.Alpha, r)
		case m.Form == Polar && math.Abs(u[0]) <= math.Pi:
			return search.WithinPolar(index, c.label, candidates, c.x, u, m.Floor, m.Alpha, r)
		case m.Form == LogPolar && math.Abs(u[1]) <= math.Pi:
			return search.WithinLogPolar(index, c.label, candidates, c.x, u, m.Alpha, r)
		}
	}
	return f.one(w, c, index, candidates, a, q, r)
}

// scan computes distances in stretches: for each word of candidates, those from its first candidate to its last.
func (f *Finder) scan(w *Workspace, c *finderClass, index []int32, candidates []uint64, a, q []float64, r float64) (m int) {
	ga, qa := f.ga, f.qa
	for lo := 0; lo < len(c.label); lo += 64 {
		word := ^uint64(0)
		if candidates != nil {
			word = candidates[lo>>6]
		}
		if left := len(c.label) - lo; left < 64 {
			word &= 1<<left - 1
		}
		if word == 0 {
			continue
		}
		first, last := lo+bits.TrailingZeros64(word), lo+bits.Len64(word)
		dist := w.dist[:last-first]
		f.fast.Distances(dist, a, q, c.x[first*ga:last*ga], c.alt[first*qa:last*qa])
		for k, d := range dist {
			if d < r {
				index[m] = c.label[first+k]
				m++
			}
		}
	}
	return m
}

// one computes the distances of the candidates one by one.
func (f *Finder) one(w *Workspace, c *finderClass, index []int32, candidates []uint64, a, q []float64, r float64) (m int) {
	for k, j := range c.label {
		if candidates != nil && candidates[k>>6]>>(k&63)&1 == 0 {
			continue
		}
		aj, qj := f.l.Row(int(j))
		f.g.RelativePose(w.pose, a, q, aj, qj)
		if f.g.Distance(w.pose) < r {
			index[m] = j
			m++
		}
	}
	return m
}
