package posetable

import (
	"cmp"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

// This strategy applies where a few rows show nearly all poses, as on a lattice that the group moves along: the 1.1 million pairs
// of a 64 × 64 image under translations have 317 poses. Every pair is then compared with a seed, which is a pose found in a few
// rows, and no table grows.
//
// What is proved: all seeds are more than two tolerances apart. A pair is a member of a seed if its pose is within memberReach
// tolerances of it, and an outlier if its pose is farther than two tolerances from all seeds; if a pair is neither, the strategy
// gives up. Then members of one seed are within one tolerance of each other, and farther than one tolerance from members of other
// seeds and from outliers. So the first member is the entry that all of them would have found. If there are outliers, they and
// the first member of each seed are hashed; otherwise nothing is.
const (
	memberReach = 0.375 // members are at most 2·0.375 < 1 apart, those of two seeds at least 2 - 2·0.375 > 1: room for rounding
	// seedRows is how many rows are examined for every lift of a point, and seedPairs how many of their pairs at most. After
	// trialRows rows the search ends if poses do not repeat. After quietRows rows without a new pose, few poses are missing, and
	// it ends as well.
	seedRows, seedPairs, trialRows, quietRows = 32, 1 << 16, 8, 8
	// seedRepeats is how often the poses of those rows must repeat on average.
	seedRepeats = 4
	// seedGrain is how many rows a goroutine takes at a time.
	seedGrain = 16
)

// seeds are poses that are known before all pairs are examined. They are only read.
type seeds struct {
	e     int
	tol   float64
	table *cellTable
	poses []float64 // [seeds, e]
	id    []int32   // by item of table: the number of the seed
	guess []int32   // by some bits of the hash of a pose: the number of a seed
	shift int
}

// seedWork is scratch of one goroutine.
type seedWork struct {
	poses        []float64
	guess        []int32
	before       []int32 // Pose of the row before, among those of the goroutine
	count, first []int32 // by seed: its members, and the first pair among them
	translation  []int32 // see lattice.assign
}

// findSeeds returns the poses of a few rows, or nil if these do not repeat or if two of them are too close to each other.
func findSeeds(p *Pairs) *seeds {
	e, tol := p.e, p.Tolerance
	k := &seeds{e: e, tol: tol, table: newCellTable(e, e, tol, nil)}
	k.table.reset(1 << 10)
	t := k.table
	var poses []float64
	lifts := p.Queries.K
	rows, pairs, last := min(seedRows*lifts, p.rows()), 0, 0
	for s := range rows {
		// Rows are spread over all rows, at places without the period of a lattice.
		i := int(uint64(p.rows()) * (uint64(s+1) * 0x9e3779b9 & math.MaxUint32) >> 32)
		lo, hi := p.Offsets[i], p.Offsets[i+1]
		if pairs+hi-lo > seedPairs {
			break
		}
		poses = p.row(poses, i)
		for n := range hi - lo {
			pose := poses[n*e : (n+1)*e]
			for _, x := range pose {
				t.items = append(t.items, math.Float64bits(x))
			}
			at := pairs + n
			k.id = append(k.id, int32(len(k.id)))
			id, alone := t.enter(pose, t.hash(pose), at)
			if !alone {
				return nil
			}
			if k.id[at] = k.id[id]; id == at {
				k.id[at] = int32(t.n - 1)
				k.poses = append(k.poses, pose...)
				last = s
			}
		}
		if pairs += hi - lo; s+1 >= trialRows*lifts && 2*t.n > pairs {
			return nil
		}
		if s-last >= quietRows*lifts && t.n*seedRepeats <= pairs {
			break
		}
	}
	if t.n == 0 || t.n*seedRepeats > pairs {
		return nil
	}
	k.shift = 64 - bits.Len(uint(16*t.n))
	k.guess = make([]int32, 1<<(64-k.shift))
	for n := range t.n {
		k.guess[k.slot(k.poses[n*e:(n+1)*e])] = int32(n)
	}
	return k
}

// slot is the place in guess for a pose.
func (k *seeds) slot(pose []float64) uint64 {
	h := uint64(0)
	for c, x := range pose[:min(len(pose), hashDims)] {
		h += math.Float64bits(float64(x*k.table.inv)+roundMagic) * hashFactors[c]
	}
	return mixShort(h) >> k.shift
}

// find returns the seed that a pose is a member of, or -1 for an outlier; ok is false if it is neither.
func (k *seeds) find(pose []float64) (n int32, ok bool) {
	id, alone := k.table.search(pose, k.table.hash(pose))
	if id == absent {
		return -1, alone // not alone: within two tolerances of one
	}
	return k.id[id], k.table.within(id, pose, memberReach*k.tol)
}

// assign sets Pose of the pairs of row i to the seeds that they are members of, and of outliers to -1. It returns the number of
// outliers, and false if a pair is neither a member nor an outlier.
func (k *seeds) assign(w *seedWork, p *Pairs, i int) (outliers int, ok bool) {
	e, reach := k.e, memberReach*k.tol
	w.poses = p.row(w.poses, i)
	lo := p.Offsets[i]
	ids := p.Pose[lo:p.Offsets[i+1]]
	// On a lattice the next query has the same poses in the same order, except at the edges.
	var before []int32
	if len(w.before) == len(ids) {
		before = w.before
	}
	w.before = ids
	count, guess := w.count, w.guess
	for n := 0; n < len(ids); n++ {
		if e == 2 && before != nil {
			if n += k.repeat(ids[n:], before[n:], w.poses[2*n:], count, w.first, int32(lo+n)); n == len(ids) {
				break
			}
		}
		pose := w.poses[n*e : (n+1)*e]
		id, near := int32(-1), false
		if before != nil {
			if id = before[n]; id >= 0 {
				near = k.near(pose, id, reach)
			}
		}
		if !near {
			slot := k.slot(pose)
			id = guess[slot]
			if !k.near(pose, id, reach) {
				if id, ok = k.find(pose); !ok {
					return 0, false
				}
				if id < 0 {
					ids[n] = -1
					outliers++
					continue
				}
				guess[slot] = id // the next pose there is likely to be this one
			}
		}
		ids[n] = id
		if count[id]++; count[id] == 1 {
			w.first[id] = int32(lo + n)
		}
	}
	return outliers, true
}

// repeat assigns the seeds of the row before to this row's poses, of two numbers each, as long as the poses are members of them.
// It returns how many are; pair is the number of the first pair.
func (k *seeds) repeat(ids, before []int32, poses []float64, count, first []int32, pair int32) int {
	reach, known := memberReach*k.tol, k.poses
	before, poses = before[:len(ids)], poses[:2*len(ids)]
	for n := range ids {
		id := before[n]
		if id < 0 {
			return n
		}
		at := known[2*int(id):][:2]
		if !(math.Abs(poses[2*n]-at[0]) <= reach && math.Abs(poses[2*n+1]-at[1]) <= reach) {
			return n
		}
		ids[n] = id
		if count[id]++; count[id] == 1 {
			first[id] = pair + int32(n)
		}
	}
	return len(ids)
}

// near reports whether a pose is within reach of seed id in every coordinate.
func (k *seeds) near(pose []float64, id int32, reach float64) bool {
	known := k.poses[int(id)*k.e:]
	for c, x := range pose {
		if !(math.Abs(x-known[c]) <= reach) {
			return false
		}
	}
	return true
}

// build returns the table. assign is called for each row and assigns its pairs to seeds.
func (k *seeds) build(p *Pairs, assign func(w *seedWork, p *Pairs, i int) (outliers int, ok bool)) (*Table, bool) {
	known := k.table.n
	work := make([]seedWork, runtime.GOMAXPROCS(0))
	for n := range work {
		w := &work[n]
		w.guess, w.count, w.first = slices.Clone(k.guess), make([]int32, known), make([]int32, known)
	}
	var outliers atomic.Int64
	var stop atomic.Bool
	parallel.ForWorkers(p.rows(), seedGrain, len(work), func(worker, lo, hi int) {
		p.pause()
		for i := lo; i < hi && !stop.Load(); i++ {
			n, ok := assign(&work[worker], p, i)
			if !ok || outliers.Add(int64(n)) > int64(len(p.Index)/4) {
				stop.Store(true)
			}
		}
	})
	if stop.Load() || !p.fits(0, known, 0) {
		clear(p.Pose)
		return nil, false
	}
	// The pairs of a goroutine ascend, so the first one that it meets is its least.
	count, first := make([]int32, known), slices.Repeat([]int32{math.MaxInt32}, known)
	for _, w := range work {
		for n, c := range w.count {
			if c > 0 {
				count[n] += c
				first[n] = min(first[n], w.first[n])
			}
		}
	}
	if outliers.Load() == 0 {
		return numberSeeds(p, count, first), true
	}
	entered := make([]int32, 0, int(outliers.Load())+known)
	for pair, n := range p.Pose {
		if n < 0 || int(first[n]) == pair {
			entered = append(entered, int32(pair))
		}
	}
	parallel.For(len(p.Pose), poseGrain, func(lo, hi int) {
		p.pause()
		for pair, n := range p.Pose[lo:hi] {
			switch {
			case n < 0:
				p.Pose[lo+pair] = 0
			case int(first[n]) == lo+pair:
				p.Pose[lo+pair] = count[n] - 1
			default:
				p.Pose[lo+pair] = ^first[n]
			}
		}
	})
	return hash(p, entered, shardsFor(len(entered)), nil)
}

// numberSeeds numbers the seeds that have members by the first of these, and fills Pose, which has the numbers of seeds.
func numberSeeds(p *Pairs, count, first []int32) *Table {
	order := make([]int32, 0, len(count))
	for n, c := range count {
		if c > 0 {
			order = append(order, int32(n))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(first[a], first[b]) })
	pairs, number := make([]int32, len(order)), make([]int32, len(count))
	t := &Table{Poses: make([]float64, len(order)*p.e), Count: make([]int32, len(order))}
	for at, n := range order {
		pairs[at], number[n], t.Count[at] = first[n], int32(at), count[n]
	}
	var scratch []int32
	p.posesOfPairs(&scratch, t.Poses, pairs)
	parallel.For(len(p.Pose), poseGrain, func(lo, hi int) {
		p.pause()
		ids := p.Pose[lo:hi]
		for k, n := range ids {
			ids[k] = number[n]
		}
	})
	return t
}
