package neighbor

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor/internal/posetable"
)

// queryGrain is the number of queries that are answered into one buffer.
const queryGrain = 64

// Ball finds, for every query, the points within opt.Radius of it, and the table of their relative poses.
//
//   - Shape: queries and points have any number of rows, 0 included, of one group with one alpha; they may be the same
//     set. A lift is a row.
//   - Order: rows ascend in index; poses are numbered in the order in which (query, point) first shows them.
//   - Exactness: the pairs are those of the group's Distance in float64, strictly below the radius, by any Method.
//   - Errors: ErrShape, ErrOption, ErrValue for a NaN radius or a coordinate that is not finite at an unmasked row,
//     ErrTooManyPairs; each names the argument and its position or size.
//   - Cost: time and memory grow with the number of pairs (for groups with bounds, and otherwise pairs of rows in
//     time, not in memory); about 8 bytes per pair and 24 per distinct pose remain.
func Ball(queries, points *group.Lifted, opt Options) (n *Neighborhood, err error) {
	p, err := newProblem("Ball", queries, points, opt)
	if err != nil {
		return nil, err
	}
	defer func() {
		if n != nil && queries == points {
			n.Across = points.Across
		}
	}()
	if p.Apart && len(p.QueryBlocks) > 2 {
		return ballApart(p)
	}
	defer func() {
		if r := recover(); r == (stopped{}) {
			n, err = nil, ErrStopped
		} else if r != nil {
			panic(r)
		}
	}()
	nb := &Neighborhood{
		Queries: queries.Rows(), Points: points.Rows(),
		Offsets: make([]int, queries.Rows()+1), PoseDim: group.PoseDim(p.g),
	}
	// Tolerance and finders are made side by side; where the other cores sleep, this also wakes one before the search begins.
	var finders []*group.Finder
	tol := 0.0
	parallel.For(2, 1, func(task, _ int) {
		switch {
		case task == 1:
			tol = p.mergeTolerance()
		case p.Radius > 0 && p.scans():
			finders = p.finders()
		}
	})
	p.limitPairs(finders != nil && p.MaxNeighbors == 0 && finders[0].Fast())
	if p.Radius > 0 {
		if err := p.search(nb, finders); err != nil {
			return nil, err
		}
	}
	if err := p.buildPoses(nb, tol); err != nil {
		return nil, err
	}
	return nb, nil
}

// buildPoses computes the relative poses of all pairs, which merge within tol.
func (p *problem) buildPoses(nb *Neighborhood, tol float64) error {
	if nb.Pose == nil {
		nb.Pose = []int32{} // nothing was searched for
	}
	table, err := posetable.Build(p.posePairs(nb, tol))
	if err != nil {
		return fmt.Errorf("neighbor: Ball: %w: %w", ErrTooManyPairs, err)
	}
	nb.Poses, nb.Count, nb.twins, nb.merged = table.Poses, table.Count, table.Twins, max(0, tol)
	return nil
}

func (p *problem) posePairs(nb *Neighborhood, tol float64) *posetable.Pairs {
	return &posetable.Pairs{
		Group: p.g, Queries: p.queries, Points: p.points, QueryMask: p.QueryMask, PointMask: p.PointMask,
		QueryBlocks: p.QueryBlocks, PointBlocks: p.PointBlocks, Offsets: nb.Offsets, Index: nb.Index, Radius: p.Radius,
		Sampled: p.MaxNeighbors > 0, Tolerance: tol, MaxBytes: p.MaxBytes, Pause: p.pause, Pose: nb.Pose,
	}
}

// mergeTolerance returns the tolerance that MergeTolerance asks for.
func (p *problem) mergeTolerance() float64 {
	if p.MergeTolerance != 0 {
		return p.MergeTolerance
	}
	size := make([]float64, 0, p.queries.Rows()+p.points.Rows())
	add := func(a, q []float64) {
		m := 0.0
		for _, x := range a {
			m = max(m, math.Abs(x))
		}
		for _, x := range q {
			m = max(m, math.Abs(x))
		}
		size = append(size, m)
	}
	for i := range p.queries.Rows() {
		if counts(p.QueryMask, i) {
			add(p.queries.Row(i))
		}
	}
	if p.points != p.queries {
		for j := range p.points.Rows() {
			if counts(p.PointMask, j) {
				add(p.points.Row(j))
			}
		}
	}
	if len(size) == 0 {
		return mergeUnits
	}
	return mergeUnits * max(1, kthSmallest(size, len(size)/2))
}

// finderPoints is the largest block of which Auto looks at all points, through a group.Finder: a query then takes about 4 µs.
const finderPoints = 1 << 17

// scans reports whether all points of a block are looked at, through finders.
func (p *problem) scans() bool {
	most := 0
	for b := 1; b < len(p.PointBlocks); b++ {
		most = max(most, p.PointBlocks[b]-p.PointBlocks[b-1])
	}
	return p.Method == Auto && most <= finderPoints
}

// search finds all pairs, by the method asked for; finders is nil if not all points are looked at.
func (p *problem) search(nb *Neighborhood, finders []*group.Finder) error {
	workers := runtime.GOMAXPROCS(0)
	if finders != nil {
		work := make([]group.Workspace, workers)
		if p.MaxNeighbors == 0 {
			return p.fillFast(nb, finders, work, keptPairs)
		}
		return p.fill(nb, func(worker, block, i int) []int32 {
			a, q := p.queries.Row(i)
			return finders[block].Find(&work[worker], a, q)
		})
	}
	s, err := p.newSearcher()
	if err != nil {
		return err
	}
	scratches := make([]*scratch, workers)
	return p.fill(nb, func(worker, block, i int) []int32 {
		if scratches[worker] == nil {
			scratches[worker] = s.newScratch()
		}
		return s.ball(scratches[worker], &s.blocks[block], i)
	})
}

// finders lays out the unmasked points of every block.
func (p *problem) finders() []*group.Finder {
	var finders []*group.Finder
	for b := 1; b < len(p.PointBlocks); b++ {
		rows := make([]int32, 0, p.PointBlocks[b]-p.PointBlocks[b-1])
		for j := p.PointBlocks[b-1]; j < p.PointBlocks[b]; j++ {
			if counts(p.PointMask, j) {
				rows = append(rows, int32(j))
			}
		}
		finders = append(finders, group.NewFinder(p.points, rows, p.Radius))
	}
	return finders
}

const (
	// slabPairs is how many pairs a goroutine finds into one piece of memory: 1 MiB.
	slabPairs = 1 << 18
	// keptPairs is about how many pairs are kept until their place is known: 64 MiB. Pairs beyond that are found a second time,
	// if a kernel decides.
	keptPairs = 1 << 24
)

// slabPool keeps slabs between calls. The pool drops what was unused during two collections.
var slabPool sync.Pool

// slabs is where one goroutine finds pairs.
type slabs struct {
	now  []int32
	used []*[]int32 // all slabs, in the order of their use
}

// room makes room for n more pairs after the last len(now)-from ones, which stay together with them, and returns the position
// where those start.
func (s *slabs) room(from, n int) int {
	if cap(s.now)-len(s.now) >= n {
		return from
	}
	begun := s.now[from:]
	slab, _ := slabPool.Get().(*[]int32)
	if need := len(begun) + n; slab == nil || cap(*slab) < need {
		fresh := make([]int32, max(slabPairs, 2*need))
		slab = &fresh
	}
	s.used = append(s.used, slab)
	s.now = append((*slab)[:0], begun...)
	return 0
}

// fillFast finds all pairs, each chunk of queries into memory of its goroutine, and copies them to their places. Beyond about
// most pairs it only counts, and finds these pairs again once their places are known: a fast search costs little more than a
// copy, and no memory.
func (p *problem) fillFast(nb *Neighborhood, finders []*group.Finder, work []group.Workspace, most int64) error {
	chunks := make([][]int32, (nb.Queries+queryGrain-1)/queryGrain)
	all := make([]slabs, len(work))
	var pairs, kept atomic.Int64
	parallel.ForWorkers(nb.Queries, queryGrain, len(work), func(worker, lo, hi int) {
		w, s := &work[worker], &all[worker]
		p.pause()
		keep := !finders[0].Fast() || kept.Load() < most
		from, block := len(s.now), 0
		for i := lo; i < hi; i++ {
			if !counts(p.QueryMask, i) {
				continue
			}
			block = p.blockOf(i, block)
			a, q := p.queries.Row(i)
			found := 0
			if keep {
				from = s.room(from, finders[block].Len())
				before := len(s.now)
				s.now = finders[block].Append(s.now, w, a, q)
				found = len(s.now) - before
			} else {
				found = len(finders[block].Find(w, a, q))
			}
			nb.Offsets[i+1] = found
			if pairs.Add(int64(found)) > int64(p.MaxPairs) {
				return // the others stop at their next query, too
			}
		}
		if keep {
			chunks[lo/queryGrain] = s.now[from:len(s.now):len(s.now)]
			kept.Add(int64(len(s.now) - from))
		}
	})
	if pairs.Load() > int64(p.MaxPairs) {
		return p.tooMany()
	}
	p.pause()
	nb.makePairs()
	parallel.ForWorkers(nb.Queries, queryGrain, len(work), func(worker, lo, hi int) {
		p.pause()
		if found := chunks[lo/queryGrain]; found != nil {
			copy(nb.Index[nb.Offsets[lo]:], found)
			return
		}
		block := 0
		for i := lo; i < hi; i++ {
			if counts(p.QueryMask, i) {
				block = p.blockOf(i, block)
				a, q := p.queries.Row(i)
				copy(nb.Index[nb.Offsets[i]:nb.Offsets[i+1]], finders[block].Find(&work[worker], a, q))
			}
		}
	})
	for _, s := range all {
		for _, slab := range s.used {
			slabPool.Put(slab)
		}
	}
	return nil
}

// makePairs turns the lengths of rows into Offsets and makes Index and Pose. The allocator clears a slice on one core, so the two
// are made side by side.
func (n *Neighborhood) makePairs() {
	for i := range n.Queries {
		n.Offsets[i+1] += n.Offsets[i]
	}
	pairs := n.Offsets[n.Queries]
	parallel.For(2, 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			if k == 0 {
				n.Index = make([]int32, pairs)
			} else {
				n.Pose = make([]int32, pairs)
			}
		}
	})
}

// limitPairs lowers MaxPairs to the number of pairs that MaxBytes allows the search. fast says that pairs beyond keptPairs are
// not kept.
func (p *problem) limitPairs(fast bool) {
	if p.MaxBytes == 0 {
		return
	}
	left := max(p.MaxBytes-8*int64(p.queries.Rows()+1), 0)
	most := left / 12
	if fast && most > keptPairs {
		most = (left - 4*keptPairs) / 8
	}
	if most < int64(p.MaxPairs) {
		p.MaxPairs, p.byBytes = int(most), true
	}
}

func (p *problem) tooMany() error {
	limit := fmt.Sprintf("MaxPairs = %d", p.MaxPairs)
	if p.byBytes {
		limit = fmt.Sprintf("the %d pairs that MaxBytes = %d allows", p.MaxPairs, p.MaxBytes)
	}
	return fmt.Errorf("neighbor: Ball: %w: radius %g gives more than %s among %d queries and %d points",
		ErrTooManyPairs, p.Radius, limit, p.queries.Rows(), p.points.Rows())
}

// smallSample is up to how many sampled neighbours of a query room is made in advance for.
const smallSample = 128

// fill finds all pairs once, and samples them if MaxNeighbors is set. Each chunk of queries is answered into a list of its own,
// which is then copied to its place.
func (p *problem) fill(nb *Neighborhood, find func(worker, block, i int) []int32) error {
	chunks := make([][]int32, (nb.Queries+queryGrain-1)/queryGrain)
	workers := runtime.GOMAXPROCS(0)
	pickers := make([]picker, workers)
	var pairs, left atomic.Int64
	parallel.ForWorkers(nb.Queries, queryGrain, workers, func(worker, lo, hi int) {
		p.pause()
		// Sampled rows are mostly full. A list that grew instead would leave as much memory again to the collector.
		out := make([]int32, 0, (hi-lo)*min(p.MaxNeighbors, smallSample))
		k := 0
		for i := lo; i < hi; i++ {
			if !counts(p.QueryMask, i) {
				continue
			}
			k = p.blockOf(i, k)
			found := find(worker, k, i)
			if p.MaxNeighbors > 0 {
				all := len(found)
				found = pickers[worker].sample(found, p.MaxNeighbors, p.Seed, i)
				left.Add(int64(all - len(found)))
			}
			if pairs.Add(int64(len(found))) > int64(p.MaxPairs) {
				return // the others stop at their next query, too
			}
			out = append(out, found...)
			nb.Offsets[i+1] = len(found)
		}
		chunks[lo/queryGrain] = out
	})
	if pairs.Load() > int64(p.MaxPairs) {
		return p.tooMany()
	}
	nb.Left = int(left.Load())
	nb.makePairs()
	parallel.For(len(chunks), 1, func(c, _ int) {
		copy(nb.Index[nb.Offsets[c*queryGrain]:], chunks[c])
		chunks[c] = nil
	})
	return nil
}
