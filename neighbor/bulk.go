package neighbor

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/radix"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/internal/search"
)

const (
	// bulkPairs bounds the pairs of queries and candidates that are examined at a time, and with them the scratch memory of a
	// goroutine. The candidates of one query are never divided.
	bulkPairs = 1 << 16
	// chunkQueries is about how many queries a goroutine takes at a time.
	chunkQueries = 512
)

// Cloud is a set of points, stored in an order in which neighbours stand near each other: a *KDTree or a *Grid. Either can be
// searched, and either can be the queries of a search. It lets your code work with whatever Arrange has chosen.
type Cloud[T Float] interface {
	// Len is the number of points and Dim the number of axes.
	Len() int
	Dim() int
	// Ball, Count, KNearest and KNearestWithin answer a single query: see KDTree.
	Ball(dst []int32, center []T, radius2 T) []int32
	Count(center []T, radius2 T) int
	KNearest(center []T, k int) (index []int32, dist2 []T)
	KNearestWithin(index []int32, dist2 []T, center []T, k int, radius2 T, w *NearestWorkspace) ([]int32, []T)

	points() stored[T]
	// chunks is the number of pieces that a cloud of queries is cut into for goroutines. chunkSpan returns the stored positions
	// of a piece, and chunkBox writes the box around it. groups calls f for every group of queries in a piece, with the group's
	// stored positions and the box around it; reach is the largest distance at which the queries look.
	chunks() int
	chunkSpan(chunk int) (lo, hi int)
	chunkBox(chunk int, box []T)
	groups(chunk int, reach T, f func(lo, hi int, box []T))
	// enter prepares r for queries inside a box. For a box inside the one entered, candidates then sets from and to of r to runs
	// of stored positions that hold every point whose squared distance from any point of the box can be less than radius2.
	enter(r *region[T], box []T, radius2 T)
	candidates(r *region[T], box []T, radius2 T)
}

// region is what a goroutine knows about the surroundings of the queries that it is answering.
type region[T Float] struct {
	// The leaves of a tree that are near: their boxes as search.Boxes wants them, and their stored positions.
	nodes    []int32
	ld       int
	boxes    []T // [2·dim, ld]
	lo, hi   []int32
	from, to []int32 // runs of candidates
}

// stored are points axis by axis, in the order of their cloud.
type stored[T Float] struct {
	n, dim int
	coord  []T     // [dim, n]
	index  []int32 // [n]
	period []T     // nil, or per axis, +Inf where there is none
}

func (t *KDTree[T]) points() stored[T] { return stored[T]{t.n, t.dim, t.coord, t.index, t.wrapped} }

// groupLevel returns the level of the tree whose nodes are answered together: the leaves, or their parents if leaves are half empty.
func (t *KDTree[T]) groupLevel() int {
	if t.levels > 0 && t.n>>t.levels < 12 {
		return t.levels - 1
	}
	return t.levels
}

// chunkLevel returns the level of the tree whose nodes go to a goroutine as a whole.
func (t *KDTree[T]) chunkLevel() int {
	l := 0
	for l < t.groupLevel() && t.n>>l > chunkQueries {
		l++
	}
	return l
}

func (t *KDTree[T]) chunks() int {
	if t.n == 0 {
		return 0
	}
	return 1 << t.chunkLevel()
}

func (t *KDTree[T]) chunkSpan(chunk int) (lo, hi int) { return t.span(t.chunkLevel(), chunk) }

func (t *KDTree[T]) chunkBox(chunk int, box []T) {
	copy(box, t.nodeBox(1<<t.chunkLevel()-1+chunk))
}

func (t *KDTree[T]) groups(chunk int, _ T, f func(lo, hi int, box []T)) {
	l := t.groupLevel()
	per := 1 << (l - t.chunkLevel())
	for k := chunk * per; k < (chunk+1)*per; k++ {
		lo, hi := t.span(l, k)
		f(lo, hi, t.nodeBox(1<<l-1+k))
	}
}

// enter lists the leaves near a box. Each group inside the box then searches that list with vectors, instead of descending the
// tree.
func (t *KDTree[T]) enter(r *region[T], box []T, radius2 T) {
	r.nodes = r.nodes[:0]
	if t.n == 0 {
		return
	}
	var stack [64]int32
	first := int32(1)<<t.levels - 1
	top := 1
	for top > 0 {
		top--
		node := stack[top]
		switch {
		case !(t.boxBound2(int(node), box) < radius2):
		case node >= first:
			r.nodes = append(r.nodes, node)
		default:
			stack[top], stack[top+1] = 2*node+2, 2*node+1
			top += 2
		}
	}
	n := len(r.nodes)
	if n+search.Slack > r.ld || len(r.boxes) < 2*t.dim*r.ld {
		r.ld = max(r.ld, n+n/2+search.Slack)
		r.boxes, r.lo, r.hi = make([]T, 2*t.dim*r.ld), make([]int32, r.ld), make([]int32, r.ld)
		r.from, r.to = make([]int32, r.ld), make([]int32, r.ld)
	}
	for k, node := range r.nodes {
		lo, hi := t.span(t.levels, int(node-first))
		r.lo[k], r.hi[k] = int32(lo), int32(hi)
		for c, v := range t.nodeBox(int(node)) {
			r.boxes[c*r.ld+k] = v
		}
	}
}

func (t *KDTree[T]) candidates(r *region[T], box []T, radius2 T) {
	n := len(r.nodes)
	r.from, r.to = r.from[:cap(r.from)], r.to[:cap(r.to)]
	if t.wrapped == nil {
		m := search.Boxes(r.from, r.to, r.boxes, r.ld, r.lo[:n], r.hi[:n], box, radius2)
		r.from, r.to = r.from[:m], r.to[:m]
		return
	}
	m := 0
	for k, node := range r.nodes {
		if t.boxBound2(int(node), box) < radius2 {
			r.from[m], r.to[m] = r.lo[k], r.hi[k]
			m++
		}
	}
	r.from, r.to = r.from[:m], r.to[:m]
}

// boxBound2 returns a lower bound of the squared distances between points of a node and points in a box.
func (t *KDTree[T]) boxBound2(node int, box []T) T {
	own := t.nodeBox(node)
	switch {
	case t.wrapped != nil:
		var sum T
		for axis, p := range t.periods {
			d := axisGap(own[2*axis], own[2*axis+1], box[2*axis], box[2*axis+1], p)
			sum += T(d * d)
		}
		return sum
	case t.dim == 2:
		own, box := own[:4], box[:4]
		x, y := gap(own[0], own[1], box[0], box[1]), gap(own[2], own[3], box[2], box[3])
		return T(x*x) + T(y*y)
	case t.dim == 3:
		own, box := own[:6], box[:6]
		x, y, z := gap(own[0], own[1], box[0], box[1]), gap(own[2], own[3], box[2], box[3]), gap(own[4], own[5], box[4], box[5])
		return T(x*x) + T(y*y) + T(z*z)
	}
	var sum T
	for axis := range t.dim {
		d := gap(own[2*axis], own[2*axis+1], box[2*axis], box[2*axis+1])
		sum += T(d * d)
	}
	return sum
}

// bulk is what one goroutine needs to answer groups of queries.
type bulk[T Float] struct {
	region[T]
	box []T // around a chunk
	// The candidates of a group: points near its box.
	room  int
	coord []T // [dim, room]
	dist2 []T
	id    []int32
	key   []uint64 // to sort them by number
	swap  []uint64
	moved []T
	// What is found.
	index []int32
	found []T
	end   []int32
	limit []T // squared radius: one for all queries, or one for each
}

// enter prepares for a chunk of queries.
func (w *bulk[T]) enter(p, queries Cloud[T], chunk int, radius2 T) {
	w.box = reuse.Sized(w.box, 2*p.Dim())
	queries.chunkBox(chunk, w.box)
	p.enter(&w.region, w.box, radius2)
}

// gather collects the points that can be nearer than radius2 to a point of the box and returns their number. If they are in
// ascending order of their numbers, the results of scanning them are ascending as well.
func (w *bulk[T]) gather(c Cloud[T], p *stored[T], box []T, radius2 T, ascending bool) int {
	c.candidates(&w.region, box, radius2)
	total := 0
	for k, lo := range w.from {
		total += int(w.to[k] - lo)
	}
	w.makeRoom(total, p.dim)
	m := 0
	if p.period == nil {
		m = search.Filter(w.coord, w.room, w.dist2, w.id, p.coord, p.n, p.index, w.from, w.to, box, radius2)
	} else { // the filter knows no periods
		for k := range w.from {
			lo, hi := int(w.from[k]), int(w.to[k])
			for axis := range p.dim {
				copy(w.coord[axis*w.room+m:], p.coord[axis*p.n+lo:axis*p.n+hi])
			}
			m += copy(w.id[m:], p.index[lo:hi])
		}
	}
	if ascending {
		w.sort(m, p.dim)
	}
	return m
}

// makeRoom makes room for that many candidates.
func (w *bulk[T]) makeRoom(m, dim int) {
	if need := m + search.Slack; need > w.room || len(w.coord) < dim*w.room {
		w.room = max(w.room, need+need/2)
		w.coord, w.dist2, w.id = make([]T, dim*w.room), make([]T, w.room), make([]int32, w.room)
	}
}

// sort puts the m candidates in ascending order of their numbers.
func (w *bulk[T]) sort(m, dim int) {
	w.key, w.swap, w.moved = reuse.Roomy(w.key, m, w.room), reuse.Roomy(w.swap, m, w.room), reuse.Roomy(w.moved, m, w.room)
	key := w.key
	most := int32(0)
	for i, j := range w.id[:m] {
		key[i] = uint64(j)<<32 | uint64(i)
		most |= j
	}
	key, _ = radix.ByUpper(key, w.swap, uint32(most))
	for i, k := range key {
		w.id[i] = int32(k >> 32)
	}
	for axis := range dim {
		row := w.coord[axis*w.room:][:m]
		for i, k := range key {
			w.moved[i] = row[uint32(k)]
		}
		copy(row, w.moved)
	}
}

// scan finds, for the queries at stored positions lo .. hi-1, which of the first m candidates are nearer than limit.
func (w *bulk[T]) scan(q *stored[T], lo, hi, m int, limit, period []T) {
	need := (hi-lo)*m + search.Slack
	w.index, w.found = reuse.Roomy(w.index, need, need+need/2), reuse.Roomy(w.found, need, need+need/2)
	w.end = reuse.Sized(w.end, hi-lo)
	search.Scan(w.index, w.found, w.end, q.coord[lo:], q.n, w.coord, w.room, w.id[:m], limit, period, q.dim)
}

// step is how many queries are answered at a time, given the number of candidates.
func step(m int) int { return max(1, bulkPairs/max(m, 1)) }

// Batch holds the answers to some queries of EachBall or EachNearest. It is valid until the function that received it returns.
type Batch[T Float] struct {
	// Query are the numbers of the queries.
	Query []int32
	// End says where each answer ends in Index and Dist2; it starts where the one before it ends, the first at 0.
	End []int32
	// Index are the numbers of the points found and Dist2 their squared distances.
	Index []int32
	Dist2 []T
}

// Row returns the answer to query Query[i].
func (b *Batch[T]) Row(i int) (index []int32, dist2 []T) {
	lo := int32(0)
	if i > 0 {
		lo = b.End[i-1]
	}
	return b.Index[lo:b.End[i]], b.Dist2[lo:b.End[i]]
}

// BulkOptions are the options of searches for many queries at once. The zero value is ready to use.
type BulkOptions struct {
	// Ascending asks for answers in ascending order of the points' numbers. Without it their order is that of the cloud, which is
	// the same every time and takes as little as half of the time.
	Ascending bool
	// Workers is the number of goroutines, at most 1024; 0 means GOMAXPROCS. No result depends on it.
	Workers int
	// MaxPairs bounds the pairs that are returned; more are ErrTooManyPairs. 0 means DefaultMaxPairs. EachBall and EachNearest
	// return none.
	MaxPairs int
}

// maxWorkers bounds BulkOptions.Workers: each has memory of its own.
const maxWorkers = 1024

// workers returns the number of goroutines.
func (o *BulkOptions) workers() int {
	if o.Workers > 0 {
		return min(o.Workers, maxWorkers)
	}
	return runtime.GOMAXPROCS(0)
}

// EachBall finds, for every point of queries, the points of p whose squared distance from it is strictly smaller than radius2. It
// hands the answers to f, batch by batch; each query occurs once. f runs on several goroutines at a time, and worker (0 to
// Workers-1) says on which of them. Use it where the pairs are consumed as they are found: forces between particles, clustering,
// density estimates.
//
// Memory does not grow with the number of pairs. KDTree says how distances are computed. p and queries may be the same cloud;
// then each point finds itself, too. Errors: ErrShape if the clouds differ in axes or periods, ErrValue if radius2 is NaN.
//
// Neighbouring queries are answered together: what could be near any of them is collected once, and every query scans it
// with vectors, 16 points at a time.
func EachBall[T Float](p, queries Cloud[T], radius2 T, opt BulkOptions, f func(worker int, b *Batch[T])) error {
	if err := checkClouds("EachBall", p, queries, radius2); err != nil {
		return err
	}
	if f == nil {
		return fmt.Errorf("neighbor: EachBall: %w: f = nil", ErrOption)
	}
	eachBall(p, queries, radius2, opt, f)
	return nil
}

func checkClouds[T Float](op string, p, queries Cloud[T], radius2 T) error {
	if p == nil || queries == nil {
		return fmt.Errorf("neighbor: %s: %w: nil set of points or of queries", op, ErrShape)
	}
	a, b := p.points(), queries.points()
	if a.dim != b.dim {
		return fmt.Errorf("neighbor: %s: %w: points have %d axes, queries %d", op, ErrShape, a.dim, b.dim)
	}
	if len(a.period) != len(b.period) {
		return fmt.Errorf("neighbor: %s: %w: of points and queries, one is periodic", op, ErrShape)
	}
	for axis, x := range a.period {
		if x != b.period[axis] {
			return fmt.Errorf("neighbor: %s: %w: period %d is %g for points and %g for queries", op, ErrShape, axis, x, b.period[axis])
		}
	}
	if radius2 != radius2 {
		return fmt.Errorf("neighbor: %s: %w: radius2 = NaN", op, ErrValue)
	}
	return nil
}

func eachBall[T Float](p, queries Cloud[T], radius2 T, opt BulkOptions, f func(worker int, b *Batch[T])) {
	scanBalls(p, queries, radius2, opt, scansAll[T](p.Len(), opt.Ascending), f)
}

// scanBalls is EachBall in one of two ways, which find the same in the same order: looking at the surroundings, or at all points.
func scanBalls[T Float](p, queries Cloud[T], radius2 T, opt BulkOptions, all bool, f func(worker int, b *Batch[T])) {
	pts, qs := p.points(), queries.points()
	workers := opt.workers()
	batches := make([]Batch[T], workers)
	eachGroup(p, queries, radius2, opt.Ascending, all, workers, func(worker int, w *bulk[T], lo, hi, m int) {
		out := &batches[worker]
		for s := step(m); lo < hi; lo += s {
			mid := min(lo+s, hi)
			w.scan(&qs, lo, mid, m, w.limit, pts.period)
			found := w.end[mid-lo-1]
			*out = Batch[T]{qs.index[lo:mid], w.end, w.index[:found], w.found[:found]}
			f(worker, out)
		}
	})
}

// eachGroup calls f with the queries at stored positions lo .. hi-1, group by group. w then holds the m points that can be near
// any of them; all points, if all is set.
func eachGroup[T Float](p, queries Cloud[T], radius2 T, ascending, all bool, workers int, f func(worker int, w *bulk[T], lo, hi, m int)) {
	pts := p.points()
	pool := bulkPool[T]()
	scratches := make([]*bulk[T], workers)
	reach := T(math.Sqrt(max(float64(radius2), 0)))
	parallel.ForWorkers(queries.chunks(), 1, workers, func(worker, chunk, _ int) {
		w := scratches[worker]
		if w == nil {
			w = pool.Get().(*bulk[T])
			scratches[worker] = w
			w.limit = append(w.limit[:0], radius2)
			if all {
				w.gatherAll(&pts, ascending)
			}
		}
		if all {
			for lo, end := queries.chunkSpan(chunk); lo < end; lo += flatGroup {
				f(worker, w, lo, min(lo+flatGroup, end), pts.n)
			}
			return
		}
		w.enter(p, queries, chunk, radius2)
		queries.groups(chunk, reach, func(lo, hi int, box []T) {
			f(worker, w, lo, hi, w.gather(p, &pts, box, radius2, ascending))
		})
	})
	for _, w := range scratches {
		if w != nil {
			pool.Put(w)
		}
	}
}

// Scratch memory is kept for the next search: for few points, making it takes longer than the search.
var bulkPoolF32, bulkPoolF64 sync.Pool

func init() {
	bulkPoolF32.New = func() any { return new(bulk[float32]) }
	bulkPoolF64.New = func() any { return new(bulk[float64]) }
}

func bulkPool[T Float]() *sync.Pool {
	if _, ok := any(T(0)).(float32); ok {
		return &bulkPoolF32
	}
	return &bulkPoolF64
}

// BallCounts returns, for every point of queries, the number of points of p that EachBall finds: the density of a cloud, for
// example to find outliers.
func BallCounts[T Float](p, queries Cloud[T], radius2 T, opt BulkOptions) ([]int32, error) {
	if err := checkClouds("BallCounts", p, queries, radius2); err != nil {
		return nil, err
	}
	count := make([]int32, queries.Len())
	ballCounts(p, queries, radius2, opt, count)
	return count, nil
}

func ballCounts[T Float](p, queries Cloud[T], radius2 T, opt BulkOptions, count []int32) {
	countBalls(p, queries, radius2, opt, scansAll[T](p.Len(), false), count)
}

// countBalls is scanBalls for BallCounts.
func countBalls[T Float](p, queries Cloud[T], radius2 T, opt BulkOptions, all bool, count []int32) {
	pts, qs := p.points(), queries.points()
	eachGroup(p, queries, radius2, false, all, opt.workers(), func(_ int, w *bulk[T], lo, hi, m int) {
		w.end = reuse.Sized(w.end, hi-lo)
		search.Count(w.end, qs.coord[lo:], qs.n, w.coord, w.room, m, w.limit, pts.period, qs.dim)
		for i, c := range w.end {
			count[qs.index[lo+i]] = c
		}
	})
}

// Rows are lists of points, one for each query, in compressed sparse rows.
type Rows[T Float] struct {
	// Offsets has one entry more than there are queries.
	Offsets []int
	// Index are the numbers of the points, ascending in each row, and Dist2 their squared distances.
	Index []int32
	Dist2 []T
}

// Row returns the points of query i.
func (r *Rows[T]) Row(i int) (index []int32, dist2 []T) {
	lo, hi := r.Offsets[i], r.Offsets[i+1]
	return r.Index[lo:hi], r.Dist2[lo:hi]
}

// Balls returns what EachBall finds as rows, one for every query, ascending. Pairs are counted first, so that what is
// allocated is what is returned. Errors are those of EachBall, and ErrTooManyPairs.
func Balls[T Float](p, queries Cloud[T], radius2 T, opt BulkOptions) (*Rows[T], error) {
	if err := checkClouds("Balls", p, queries, radius2); err != nil {
		return nil, err
	}
	most := opt.MaxPairs
	if most == 0 {
		most = DefaultMaxPairs
	}
	r := &Rows[T]{Offsets: make([]int, queries.Len()+1)}
	count := make([]int32, queries.Len())
	ballCounts(p, queries, radius2, opt, count)
	for i, c := range count {
		r.Offsets[i+1] = r.Offsets[i] + int(c)
		if r.Offsets[i+1] > most {
			return nil, fmt.Errorf("neighbor: Balls: %w: squared radius %g gives more than MaxPairs = %d", ErrTooManyPairs, radius2, most)
		}
	}
	pairs := r.Offsets[len(count)]
	r.Index, r.Dist2 = make([]int32, pairs), make([]T, pairs)
	opt.Ascending = true
	var wrong atomic.Bool
	eachBall(p, queries, radius2, opt, func(_ int, b *Batch[T]) {
		for i, q := range b.Query {
			index, dist2 := b.Row(i)
			to := r.Offsets[q]
			if len(index) != r.Offsets[q+1]-to {
				wrong.Store(true)
				continue
			}
			copy(r.Index[to:], index)
			copy(r.Dist2[to:], dist2)
		}
	})
	if wrong.Load() {
		panic("neighbor: Balls: counting and finding disagree")
	}
	return r, nil
}
