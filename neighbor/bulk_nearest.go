package neighbor

import (
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/internal/search"
)

// nearestGroup is what a goroutine needs to find the nearest points of groups of queries.
type nearestGroup[T Float] struct {
	bulk[T]
	groups  []queryGroup
	boxes   []T
	guesses []T
	pending []int32 // stored positions of queries without an answer
	queries []T     // their coordinates
	best    NearestWorkspace
	// The answer.
	out Batch[T]
}

// queryGroup is a group of queries: stored positions lo .. hi-1.
type queryGroup struct{ lo, hi int }

// EachNearest finds, for every point of queries, the k points of p nearest to it among those with a squared distance strictly
// smaller than radius2 (all points, if that is +Inf), ordered by (dist2, index). It hands the answers to f, batch by batch, as
// EachBall does; Ascending is ignored. Use it instead of Nearest where the answers need not be kept. Errors: those of EachBall,
// and ErrOption if k is negative.
//
// Queries that stand together first look into balls of a radius that is likely to hold k points, given the local density. Queries
// that find at least k there have their answer; the others ask again with a larger ball, and finally descend the tree one by one.
func EachNearest[T Float](p *KDTree[T], queries Cloud[T], k int, radius2 T, opt BulkOptions, f func(worker int, b *Batch[T])) error {
	if err := checkNearest("EachNearest", p, queries, k, radius2); err != nil {
		return err
	}
	if f == nil {
		return fmt.Errorf("neighbor: EachNearest: %w: f = nil", ErrOption)
	}
	pts, qs := p.points(), queries.points()
	workers := opt.workers()
	scratches := make([]nearestGroup[T], workers)
	parallel.ForWorkers(queries.chunks(), 1, workers, func(worker, chunk, _ int) {
		w := &scratches[worker]
		w.groups, w.boxes, w.guesses = w.groups[:0], w.boxes[:0], w.guesses[:0]
		reach := T(0)
		queries.groups(chunk, T(math.Inf(1)), func(lo, hi int, box []T) {
			w.groups, w.boxes = append(w.groups, queryGroup{lo, hi}), append(w.boxes, box...)
		})
		var guess T
		for g := range w.groups {
			if g%4 == 0 { // neighbouring groups have about the same density
				guess = p.guess2(w.boxes[2*p.dim*g:2*p.dim*(g+1)], k, radius2)
			}
			w.guesses = append(w.guesses, guess)
			reach = max(reach, guess)
		}
		for range nearestTries - 1 {
			reach *= p.retry()
		}
		w.enter(p, queries, chunk, min(reach, radius2))
		for g, group := range w.groups {
			box := w.boxes[2*p.dim*g : 2*p.dim*(g+1)]
			w.answer(p, &pts, &qs, group, box, k, w.guesses[g], radius2, func(b *Batch[T]) { f(worker, b) })
		}
	})
	return nil
}

func checkNearest[T Float](op string, p *KDTree[T], queries Cloud[T], k int, radius2 T) error {
	var points Cloud[T]
	if p != nil { // a nil tree would not be a nil Cloud
		points = p
	}
	if err := checkClouds(op, points, queries, radius2); err != nil {
		return err
	}
	if k < 0 {
		return fmt.Errorf("neighbor: %s: %w: k = %d is negative", op, ErrOption, k)
	}
	return nil
}

// guess2 returns the squared radius of a ball that is likely to hold k points around the middle of a box.
func (t *KDTree[T]) guess2(box []T, k int, radius2 T) T {
	want := min(k, t.n)
	if want == 0 {
		return 0
	}
	var c [maxTreeDim]T
	for axis := range t.dim {
		c[axis] = box[2*axis]/2 + box[2*axis+1]/2
	}
	node, l := 0, 0
	for l < t.levels && t.n>>(l+1) >= max(2*want, 48) {
		node, l = 2*node+1, l+1
		if t.bound2(node+1, &c) < t.bound2(node, &c) {
			node++
		}
	}
	lo, hi := t.span(l, node-(1<<l-1))
	m := float64(hi - lo)
	volume, axes := 1.0, 0
	own := t.nodeBox(node)
	for axis := range t.dim {
		// The box around m points is smaller than the region that belongs to them.
		if w := (float64(own[2*axis+1]) - float64(own[2*axis])) * (m + 1) / max(m-1, 1); w > 0 {
			volume *= w
			axes++
		}
	}
	if axes == 0 || math.IsInf(volume, 0) {
		return 0
	}
	// The number of points in a ball has a standard deviation of about its square root.
	mean := float64(want) + nearestSpread*math.Sqrt(float64(want)) + 1.5
	d := float64(axes)
	unit := math.Pow(math.Pi, d/2) / math.Gamma(d/2+1)
	r := math.Pow(mean/m*volume/unit, 1/d)
	return min(T(r*r), radius2)
}

// nearestSpread is how many standard deviations above k the expected number of points in a first ball lies.
const nearestSpread = 2.0

// answer finds the nearest points of a group of queries.
func (w *nearestGroup[T]) answer(p *KDTree[T], pts, qs *stored[T], g queryGroup, box []T, k int, guess, radius2 T, f func(b *Batch[T])) {
	w.pending = w.pending[:0]
	for at := g.lo; at < g.hi; at++ {
		w.pending = append(w.pending, int32(at))
	}
	for range nearestTries {
		if len(w.pending) == 0 || !(guess > 0) {
			break
		}
		m := w.gather(p, pts, box, guess, false)
		if m > 64*(k+leafSize) { // the density was misjudged
			break
		}
		w.try(p, qs, m, k, guess, radius2, f)
		guess = min(guess*p.retry(), radius2)
	}
	if len(w.pending) == 0 {
		return
	}
	w.reset()
	for _, at := range w.pending {
		var c [maxTreeDim]T
		for axis := range p.dim {
			c[axis] = qs.coord[axis*qs.n+int(at)]
		}
		w.out.Index, w.out.Dist2 = p.KNearestWithin(w.out.Index, w.out.Dist2, c[:p.dim], k, radius2, &w.best)
		w.out.Query, w.out.End = append(w.out.Query, qs.index[at]), append(w.out.End, int32(len(w.out.Index)))
	}
	f(&w.out)
}

// nearestTries is how often the queries of a group ask together, with a larger ball each time.
const nearestTries = 2

// retry returns the factor from one squared radius to the next: two and a half times the volume, which is enough for points on a face
// of the cloud, where half of the ball is empty.
func (t *KDTree[T]) retry() T { return T(math.Pow(2.5, 2/float64(t.dim))) }

func (w *nearestGroup[T]) reset() {
	w.out = Batch[T]{w.out.Query[:0], w.out.End[:0], w.out.Index[:0], w.out.Dist2[:0]}
}

// try answers those pending queries that find k of the m candidates within a ball; the others stay pending.
func (w *nearestGroup[T]) try(p *KDTree[T], qs *stored[T], m, k int, guess, radius2 T, f func(b *Batch[T])) {
	n := len(w.pending)
	w.queries = reuse.Roomy(w.queries, n*p.dim, 2*n*p.dim)
	for axis := range p.dim {
		for i, at := range w.pending {
			w.queries[axis*n+i] = qs.coord[axis*qs.n+int(at)]
		}
	}
	asked := stored[T]{n: n, dim: p.dim, coord: w.queries}
	// A ball of the largest allowed radius is an answer even if it holds fewer than k points.
	largest := guess == radius2 && !math.IsInf(float64(radius2), 1)
	w.limit = append(w.limit[:0], guess)
	left := 0
	for lo, s := 0, step(m); lo < n; lo += s {
		hi := min(lo+s, n)
		w.scan(&asked, lo, hi, m, w.limit, p.wrapped)
		w.reset()
		from := int32(0)
		for i, end := range w.end {
			index, found := w.index[from:end], w.found[from:end]
			from = end
			at := w.pending[lo+i]
			if len(index) < min(k, p.n) && !largest {
				w.pending[left] = at
				left++
				continue
			}
			m := len(w.out.Index)
			w.out.Index = slices.Grow(w.out.Index, min(k, len(index))+search.Slack)
			w.out.Dist2 = slices.Grow(w.out.Dist2, min(k, len(index))+search.Slack)
			m += search.Smallest(w.out.Index[m:cap(w.out.Index)], w.out.Dist2[m:cap(w.out.Dist2)], index, found, k)
			w.out.Index, w.out.Dist2 = w.out.Index[:m], w.out.Dist2[:m]
			w.out.Query, w.out.End = append(w.out.Query, qs.index[at]), append(w.out.End, int32(m))
		}
		if len(w.out.Query) > 0 {
			f(&w.out)
		}
	}
	w.pending = w.pending[:left]
}

// Nearest returns what EachNearest finds, k entries for every query. Where there are fewer points, the rest of the entries are -1
// and +Inf. Errors are those of EachNearest, and ErrTooManyPairs if there are more than MaxPairs entries.
func Nearest[T Float](p *KDTree[T], queries Cloud[T], k int, radius2 T, opt BulkOptions) (index []int32, dist2 []T, err error) {
	if err := checkNearest("Nearest", p, queries, k, radius2); err != nil {
		return nil, nil, err
	}
	most := opt.MaxPairs
	if most == 0 {
		most = DefaultMaxPairs
	}
	if k > 0 && queries.Len() > most/k {
		return nil, nil, fmt.Errorf("neighbor: Nearest: %w: %d queries of k = %d make more than MaxPairs = %d", ErrTooManyPairs,
			queries.Len(), k, most)
	}
	index, dist2 = make([]int32, queries.Len()*k), make([]T, queries.Len()*k)
	err = EachNearest(p, queries, k, radius2, opt, func(_ int, b *Batch[T]) {
		for i, q := range b.Query {
			found, d := b.Row(i)
			at := int(q) * k
			copy(index[at:at+k], found)
			copy(dist2[at:at+k], d)
			for j := at + len(found); j < at+k; j++ {
				index[j], dist2[j] = -1, T(math.Inf(1))
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return index, dist2, nil
}
