package group

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/equivcnp/equivcnp/internal/search"
)

// Finder answers, of a set of lifted points, which lie in the ball of a given radius around a query: exactly those whose
// Distance, in float64, is below the radius. It looks at every point, but through a sieve of whole numbers that tells 64
// of them in a few cycles: up to some hundred thousand points that is faster than any tree. It is read-only and safe for
// concurrent use; every goroutine brings its own Workspace.
type Finder struct {
	g       Group
	r       float64
	l       *Lifted
	fast    PairComputer
	kernel  pairKernel
	classes []finderClass
	n       int
}

// finderClass is a part of the points, for SE(2) those of one angle.
type finderClass struct {
	label []int32
	x     []float64 // [coordinates, n], as the kernel wants them
	alt   []float64 // SE(2): the algebra's translations, for queries of the same angle
	th    float64   // SE(2): the angle
	sieve *sieve
}

// Workspace is scratch for Finder.Find. The zero value is ready.
type Workspace struct {
	index  []int32
	bits   []uint64
	seen   []uint64 // a bit for each row, all zero between queries
	center []float64
	dist   []float64
	pose   []float64
	u, m   [2]float64 // the query as a kernel wants it
}

// pairKernel says which of the kernels of internal/search decides like a group.
type pairKernel int

const (
	noKernel pairKernel = iota // Distances, word by word
	euclidKernel
	rigidKernel
	polarKernel
	logPolarKernel
)

// maxClasses is up to how many different angles points of SE(2) are told apart.
const maxClasses = 16

// NewFinder lays out the rows of l, ascending and distinct, for radius r; nil is all rows. It panics if a row is none of l's.
func NewFinder(l *Lifted, rows []int32, r float64) *Finder {
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
	f := &Finder{g: l.Group, r: r, l: l, n: len(rows)}
	f.fast, _ = l.Group.(PairComputer)
	f.kernel = f.choose(rows)
	if f.kernel == rigidKernel {
		f.splitByAngle(rows)
	} else {
		f.classes = []finderClass{f.newClass(rows)}
	}
	return f
}

// Fast reports whether a kernel decides, so that asking twice costs less than remembering.
func (f *Finder) Fast() bool { return f.kernel != noKernel }

// Len is the number of points.
func (f *Finder) Len() int { return f.n }

// moderate reports whether squares of distances about r/w neither overflow nor underflow, so that plain sums of squares
// decide as the group's own norms do.
func moderate(r, w float64) bool { return r/w > 0x1p-400 && r/w < 0x1p400 }

// choose returns the kernel that decides as the group's Distance does, to the last bit.
func (f *Finder) choose(rows []int32) pairKernel {
	angles := func(of func(a, q []float64) float64) bool {
		for _, j := range rows {
			if !(math.Abs(of(f.l.Row(int(j)))) <= math.Pi) {
				return false
			}
		}
		return true
	}
	switch g := f.g.(type) {
	case *T:
		if g.n <= 3 && moderate(f.r, g.alpha) {
			return euclidKernel
		}
	case *Trivial:
		if g.n <= 3 && moderate(f.r, g.beta) {
			return euclidKernel
		}
	case *SE2:
		if moderate(f.r, g.beta) && moderate(f.r, g.alpha) && angles(func(a, _ []float64) float64 { return a[0] }) {
			seen, last := map[float64]bool{}, math.NaN()
			for _, j := range rows {
				a, _ := f.l.Row(int(j))
				if a[0] == last {
					continue
				}
				if last = a[0]; seen[last] || len(seen) < maxClasses {
					seen[last] = true
					continue
				}
				return noKernel
			}
			return rigidKernel
		}
	case *SO2:
		if angles(func(a, _ []float64) float64 { return a[0] }) {
			return polarKernel
		}
	case *RxSO2:
		if angles(func(a, _ []float64) float64 { return a[1] }) {
			return logPolarKernel
		}
	}
	return noKernel
}

// newClass lays out some rows, coordinate by coordinate where there is a kernel, row by row for Distances.
func (f *Finder) newClass(rows []int32) finderClass {
	c := finderClass{label: rows, sieve: newSieve(f.l, rows, f.r)}
	n, ga, qa := len(rows), f.g.AlgebraDim(), f.g.OrbitDim()
	switch f.kernel {
	case noKernel:
		for _, j := range rows {
			a, _ := f.l.Row(int(j))
			c.x = append(c.x, a...)
		}
		for _, j := range rows {
			_, q := f.l.Row(int(j))
			c.alt = append(c.alt, q...)
		}
		return c
	case rigidKernel:
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

// Find returns the rows within the radius of the query (a [g], q [orbit]), ascending. The list is w's and lasts until the
// next call. Coordinates that are not finite have no neighbours but where the group's Distance says so.
func (f *Finder) Find(w *Workspace, a, q []float64) []int32 {
	w.index = f.Append(w.index[:0], w, a, q)
	return w.index
}

// Append is Find, appending to dst. It allocates only if dst has no room for Len more rows.
func (f *Finder) Append(dst []int32, w *Workspace, a, q []float64) []int32 {
	from := len(dst)
	dst = slices.Grow(dst, f.n)
	index := dst[from : from+f.n]
	if words := (f.n + 63) / 64; cap(w.bits) < words {
		w.bits = make([]uint64, words)
	}
	if w.pose == nil {
		w.pose, w.dist = make([]float64, max(PoseDim(f.g), 1)), make([]float64, 64)
	}
	m := 0
	for k := range f.classes {
		c := &f.classes[k]
		var sieved []uint64
		if c.sieve != nil {
			if len(w.center) < len(c.sieve.center) {
				w.center = make([]float64, len(c.sieve.center))
			}
			if b := w.bits[:c.sieve.words]; c.sieve.near(b, w.center, a, q) {
				sieved = b
			}
		}
		m += f.findIn(w, c, index[m:], sieved, a, q)
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

// findIn writes the points of a class that are within to index, which has room for all of them.
func (f *Finder) findIn(w *Workspace, c *finderClass, index []int32, sieved []uint64, a, q []float64) int {
	switch g := f.g.(type) {
	case *T:
		if f.kernel == euclidKernel {
			return search.WithinEuclid(index, c.label, sieved, c.x, a[:g.n], g.alpha, f.r)
		}
	case *Trivial:
		if f.kernel == euclidKernel {
			return search.WithinEuclid(index, c.label, sieved, c.x, q[:g.n], g.beta, f.r)
		}
	case *SE2:
		if f.kernel == rigidKernel && math.Abs(a[0]) <= math.Pi {
			query, v := newSE2Query(a), newSE2View(a[0], c.th)
			x := c.x
			w.u, w.m = [2]float64{query.px, query.py}, [2]float64{v.mr, v.mi}
			if v.same {
				w.u, x = [2]float64{query.tx, query.ty}, c.alt
			}
			return search.WithinRigid(index, c.label, sieved, x, w.u[:], w.m[:], v.rel, g.alpha, f.r)
		}
	case *SO2:
		if f.kernel == polarKernel && math.Abs(a[0]) <= math.Pi {
			w.u = [2]float64{a[0], q[0]}
			return search.WithinPolar(index, c.label, sieved, c.x, w.u[:], radiusFloor, g.alpha, f.r)
		}
	case *RxSO2:
		if f.kernel == logPolarKernel && math.Abs(a[1]) <= math.Pi {
			return search.WithinLogPolar(index, c.label, sieved, c.x, a[:2], g.alpha, f.r)
		}
	}
	if f.kernel == noKernel && f.fast != nil {
		return f.scan(w, c, index, sieved, a, q)
	}
	return f.one(w, c, index, sieved, a, q)
}

// scan computes the distances of the stretch of each word that has bits.
func (f *Finder) scan(w *Workspace, c *finderClass, index []int32, sieved []uint64, a, q []float64) (m int) {
	ga, qa := f.g.AlgebraDim(), f.g.OrbitDim()
	for lo := 0; lo < len(c.label); lo += 64 {
		word := ^uint64(0)
		if sieved != nil {
			word = sieved[lo>>6]
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
			if d < f.r {
				index[m] = c.label[first+k]
				m++
			}
		}
	}
	return m
}

// one computes the distances of the points whose bit is set one by one.
func (f *Finder) one(w *Workspace, c *finderClass, index []int32, sieved []uint64, a, q []float64) (m int) {
	for k, j := range c.label {
		if sieved != nil && sieved[k>>6]>>(k&63)&1 == 0 {
			continue
		}
		aj, qj := f.l.Row(int(j))
		f.g.RelativePose(w.pose, a, q, aj, qj)
		if f.g.Distance(w.pose) < f.r {
			index[m] = j
			m++
		}
	}
	return m
}
