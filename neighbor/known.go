package neighbor

import (
	"cmp"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

// Where groups take a lattice to itself, as translations do with an image, few rows show nearly all poses: 317 of the
// 1.1 million pairs of a 64 × 64 image. Then every pair is compared with a guess among the poses known from a few rows, or is certain to
// have the pose of an earlier pair (see shifts), and no table grows.
//
// The known poses are more than two tolerances apart, all of them. A pair is a member of one of them if its pose is within
// memberReach tolerances of it, and an outsider if its pose is farther than two tolerances from all of them; if it is neither,
// nothing is known and tables are filled as for any set. Then members of one known pose are within one tolerance of each
// other, and farther than one from members of others and from outsiders: the first member is the entry that all of them would
// have found. It and outsiders are entered into tables, if there are any; else all is known.
const (
	memberReach = 0.375 // twice that is below 1, and twice two less 2 · memberReach above, with room for rounding
	// knownRows is how many rows are looked at for every lift of a point, knownMost how many pairs of them at most, and trialRows
	// after how many a set whose poses do not repeat is given up. quietRows without a new pose show that few are left.
	knownRows, knownMost, trialRows, quietRows = 32, 1 << 16, 8, 8
	// knownRepeats is how many pairs a pose needs among those.
	knownRepeats = 4
)

// knownPoses are poses that are known before all pairs are looked at. It is read-only.
type knownPoses struct {
	e     int
	tol   float64
	table *poseTable
	poses []float64 // [known, e]
	id    []int32   // by item of table: the number of the known pose
	guess []int32   // by some bits of the hash of a pose: the number of a known one
	shift int
	// shifts, if not nil, is the lattice that all rows stand on.
	shifts *shifts
}

// knownWork is scratch of one goroutine.
type knownWork struct {
	poses        []float64
	guess        []int32
	before       []int32 // Pose of the row before, among those of the goroutine
	count, first []int32 // by known pose: its members, and the first pair among them
	cell         []int32 // see shifts
}

// findKnown returns the poses of a few rows, or nil if these do not repeat, or some are too close to another.
func (p *problem) findKnown(nb *Neighborhood, tol float64) *knownPoses {
	e := nb.PoseDim
	k := &knownPoses{e: e, tol: tol, table: newPoseTable(e, e, tol, nil)}
	k.table.reset(1 << 10)
	t := k.table
	var poses []float64
	lifts := p.queries.K
	rows, pairs, last := min(knownRows*lifts, nb.Queries), 0, 0
	for s := range rows {
		// Spread over all rows, without the period of a lattice.
		i := int(uint64(nb.Queries) * (uint64(s+1) * 0x9e3779b9 & math.MaxUint32) >> 32)
		lo, hi := nb.Offsets[i], nb.Offsets[i+1]
		if pairs+hi-lo > knownMost {
			break
		}
		poses = p.row(poses, nb, i)
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
		if s-last >= quietRows*lifts && t.n*knownRepeats <= pairs {
			break
		}
	}
	if t.n == 0 || t.n*knownRepeats > pairs {
		return nil
	}
	k.shift = 64 - bits.Len(uint(16*t.n))
	k.guess = make([]int32, 1<<(64-k.shift))
	for n := range t.n {
		k.guess[k.slot(k.poses[n*e:(n+1)*e])] = int32(n)
	}
	return k
}

// slot is where to look for a guess.
func (k *knownPoses) slot(pose []float64) uint64 {
	h := uint64(0)
	for c, x := range pose[:min(len(pose), hashDims)] {
		h += math.Float64bits(float64(x*k.table.inv)+roundMagic) * hashFactors[c]
	}
	return mixShort(h) >> k.shift
}

// find returns the known pose that a pose is a member of, or -1 for an outsider; ok is false if it is neither.
func (k *knownPoses) find(pose []float64) (n int32, ok bool) {
	id, alone := k.table.search(pose, k.table.hash(pose))
	if id == absent {
		return -1, alone // not alone: within two tolerances of one
	}
	return k.id[id], k.table.within(id, pose, memberReach*k.tol)
}

// assign sets Pose of the pairs of row i to the known poses that they are members of, and of outsiders to -1. It returns how
// many of these there are, and false if a pair is neither.
func (k *knownPoses) assign(w *knownWork, p *problem, nb *Neighborhood, i int) (outsiders int, ok bool) {
	e, reach := k.e, memberReach*k.tol
	w.poses = p.row(w.poses, nb, i)
	lo := nb.Offsets[i]
	ids := nb.Pose[lo:nb.Offsets[i+1]]
	// On a lattice the next query has the same poses in the same order, but at the edges.
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
					outsiders++
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
	return outsiders, true
}

// repeat takes over the known poses of the row before, as long as poses, of two numbers, are members of those. It returns how
// many are; pair is the first one.
func (k *knownPoses) repeat(ids, before []int32, poses []float64, count, first []int32, pair int32) int {
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

// near reports whether a pose is within reach of known pose id.
func (k *knownPoses) near(pose []float64, id int32, reach float64) bool {
	known := k.poses[int(id)*k.e:]
	for c, x := range pose {
		if !(math.Abs(x-known[c]) <= reach) {
			return false
		}
	}
	return true
}

// knownPairs has pairs follow the first one of the same known pose, and returns, ascending, these and the outsiders, which are
// to be entered; where there are no outsiders, it fills Pose, Poses and Count, and done is true. It returns nil and false, and
// leaves Pose as it was, if there are no known poses, k being nil, or too many outsiders.
func (p *problem) knownPairs(k *knownPoses, nb *Neighborhood, tol float64) (out []int32, done bool) {
	if k == nil {
		return nil, false
	}
	known := k.table.n
	work := make([]knownWork, runtime.GOMAXPROCS(0))
	for n := range work {
		w := &work[n]
		w.guess, w.count, w.first = slices.Clone(k.guess), make([]int32, known), make([]int32, known)
	}
	l := k.shifts
	var outsiders atomic.Int64
	var stop atomic.Bool
	parallel.ForWorkers(nb.Queries, 16, len(work), func(worker, lo, hi int) {
		w := &work[worker]
		if l != nil && w.cell == nil {
			w.cell = make([]int32, l.differences)
		}
		for i := lo; i < hi && !stop.Load(); i++ {
			var n int
			var ok bool
			if l != nil {
				n, ok = l.assign(k, w, p, nb, i)
			} else {
				n, ok = k.assign(w, p, nb, i)
			}
			if !ok || outsiders.Add(int64(n)) > int64(nb.Pairs()/4) {
				stop.Store(true)
			}
		}
	})
	if stop.Load() {
		clear(nb.Pose)
		return nil, false
	}
	// A goroutine's pairs ascend, so its first is the least of them.
	count, first := make([]int32, known), slices.Repeat([]int32{math.MaxInt32}, known)
	for _, w := range work {
		for n, c := range w.count {
			if c > 0 {
				count[n] += c
				first[n] = min(first[n], w.first[n])
			}
		}
	}
	if outsiders.Load() == 0 {
		p.numberKnown(nb, count, first)
		return nil, true
	}
	out = make([]int32, 0, int(outsiders.Load())+known)
	for pair, n := range nb.Pose {
		if n < 0 || int(first[n]) == pair {
			out = append(out, int32(pair))
		}
	}
	parallel.For(nb.Pairs(), poseGrain, func(lo, hi int) {
		for pair, n := range nb.Pose[lo:hi] {
			switch {
			case n < 0:
				nb.Pose[lo+pair] = 0
			case int(first[n]) == lo+pair:
				nb.Pose[lo+pair] = count[n] - 1
			default:
				nb.Pose[lo+pair] = ^first[n]
			}
		}
	})
	return out, false
}

// numberKnown numbers the known poses that have members by the first of these, and fills Pose, which has the numbers that they
// are known by, Poses and Count.
func (p *problem) numberKnown(nb *Neighborhood, count, first []int32) {
	order := make([]int32, 0, len(count))
	for n, c := range count {
		if c > 0 {
			order = append(order, int32(n))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(first[a], first[b]) })
	pairs, number := make([]int32, len(order)), make([]int32, len(count))
	nb.Poses, nb.Count = make([]float64, len(order)*nb.PoseDim), make([]int32, len(order))
	for at, n := range order {
		pairs[at], number[n], nb.Count[at] = first[n], int32(at), count[n]
	}
	p.posesOfPairs(&poseWork{}, nb.Poses, nb, pairs)
	parallel.For(nb.Pairs(), poseGrain, func(lo, hi int) {
		ids := nb.Pose[lo:hi]
		for k, n := range ids {
			ids[k] = number[n]
		}
	})
}
