package neighbor

import (
	"math"
	"slices"
	"sort"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

const (
	// poseBatch is the number of pairs that are looked up in parallel before the new ones among them enter the table.
	// 32768 poses and their hashes are about a megabyte, which stays in the second-level cache.
	poseBatch = 1 << 15
	poseGrain = 1 << 12
)

// buildPoses computes the relative pose of every pair and fills Pose, Poses and Count.
//
// Pairs are taken in batches. All goroutines compute the batch's poses and look them up in the table as it stands, which
// is where the time goes; then those that were not found enter one by one, in order. An entry of this batch has a higher
// number than any found before, so the result is that of entering all poses in order, whatever GOMAXPROCS is.
func (p *problem) buildPoses(nb *Neighborhood) {
	e, pairs := nb.PoseDim, nb.Pairs()
	nb.Pose = make([]int32, pairs)
	tol := p.mergeTolerance()
	if tol < 0 {
		p.separatePoses(nb)
		return
	}
	table := newPoseTable(e, tol)
	batch := make([]float64, min(pairs, poseBatch)*e)
	hash := make([]uint64, min(pairs, poseBatch))
	for start := 0; start < pairs; start += poseBatch {
		ids := nb.Pose[start:min(start+poseBatch, pairs)]
		parallel.For(len(ids), poseGrain, func(lo, hi int) {
			p.poses(batch[lo*e:hi*e], nb, start+lo, start+hi)
			for k := lo; k < hi; k++ {
				hash[k] = table.hash(batch[k*e : (k+1)*e])
			}
			table.lookupAll(ids[lo:hi], batch[lo*e:hi*e], hash[lo:hi])
		})
		for k, id := range ids {
			if id == absent {
				ids[k] = table.enter(batch[k*e:(k+1)*e], hash[k])
			} else {
				table.count[id]++
			}
		}
	}
	nb.Poses, nb.Count = table.poses, table.count
}

// separatePoses gives every pair a pose of its own.
func (p *problem) separatePoses(nb *Neighborhood) {
	e, pairs := nb.PoseDim, nb.Pairs()
	nb.Poses, nb.Count = make([]float64, pairs*e), make([]int32, pairs)
	parallel.For(pairs, poseGrain, func(lo, hi int) {
		p.poses(nb.Poses[lo*e:hi*e], nb, lo, hi)
		for k := lo; k < hi; k++ {
			nb.Pose[k], nb.Count[k] = int32(k), 1
		}
	})
}

// poses writes the relative poses of pairs lo .. hi-1 into dst.
func (p *problem) poses(dst []float64, nb *Neighborhood, lo, hi int) {
	e := nb.PoseDim
	// The row of pair lo is the last that starts at or before it; empty rows before it start there too.
	i := sort.Search(nb.Queries, func(i int) bool { return nb.Offsets[i+1] > lo })
	for k := lo; k < hi; k++ {
		for nb.Offsets[i+1] <= k {
			i++
		}
		p.relativePose(dst[(k-lo)*e:(k-lo+1)*e], i, int(nb.Index[k]))
	}
}

// mergeTolerance returns the tolerance that MergeTolerance asks for.
func (p *problem) mergeTolerance() float64 {
	if p.MergeTolerance != 0 {
		return p.MergeTolerance
	}
	var size []float64
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
		return DefaultMergeUnits
	}
	slices.Sort(size)
	return DefaultMergeUnits * max(1, size[len(size)/2])
}

// within reports whether the first len(b) numbers of a and b differ by at most tol each.
func within(a, b []float64, tol float64) bool {
	for k, x := range b {
		if !(math.Abs(a[k]-x) <= tol) {
			return false
		}
	}
	return true
}

const (
	// cellWidth is the edge, in tolerances, of the cells that poses are hashed by. A wide cell holds many entries that
	// differ, a narrow one often has a border within the tolerance, beyond which the search must look too. At 32, one
	// pose in eight does (two coordinates), and a cell of a crowded cloud holds at most about 33² entries.
	cellWidth = 32
	// hashDims is how many coordinates are hashed. All are compared; leaving out the ones beyond bounds the number of
	// neighbouring cells.
	hashDims = 8
	// exactCells: from this many cells away from zero on, neighbouring float64 numbers are more than a tolerance apart
	// (2⁴⁹ cells are 2⁵⁴ tolerances, and no number has more than 2⁵³ of its steps to zero), so only equal ones merge.
	exactCells = 0x1p49
	// absent is above every entry's number.
	absent = math.MaxInt32
)

// poseTable is the table of distinct poses while it grows: an open-addressing hash table over cells of space.
type poseTable struct {
	e     int
	tol   float64
	inv   float64 // cells per unit
	poses []float64
	count []int32
	// slots hold an entry's number plus one in the low half and the high half of its hash above; 0 is empty. Linear
	// probing without deletion meets entries of a cell by ascending number.
	slots []uint64
}

func newPoseTable(e int, tol float64) *poseTable {
	return &poseTable{e: e, tol: tol, inv: 1 / (cellWidth * max(tol, 0x1p-1000)), slots: make([]uint64, 1<<10)}
}

// cell returns the cell of a coordinate and how far, in cells, it lies above the cell's centre.
func (t *poseTable) cell(x float64) (cell, above float64) {
	y := float64(x * t.inv)
	if !(math.Abs(y) < exactCells) {
		return x + 0, math.NaN()
	}
	cell = math.RoundToEven(y)
	return cell + 0, y - cell // + 0 makes -0 the cell 0
}

// hash is the hash of the cell that a pose lies in.
func (t *poseTable) hash(pose []float64) uint64 {
	h := uint64(0)
	for _, x := range pose[:min(t.e, hashDims)] {
		cell, _ := t.cell(x)
		h = mix(h ^ math.Float64bits(cell))
	}
	return h
}

// lookupAll sets ids[k] to lookup(poses[k], hash[k]). A large table lies in memory, not in a cache, and each lookup
// misses twice; the first two loops do nothing but those loads, all independent, so that their misses overlap.
func (t *poseTable) lookupAll(ids []int32, poses []float64, hash []uint64) {
	const block = 64
	mask := uint64(len(t.slots) - 1)
	for lo := 0; lo < len(ids); lo += block {
		hi := min(lo+block, len(ids))
		for k := lo; k < hi; k++ {
			ids[k] = absent
			if s := t.slots[hash[k]&mask]; s != 0 && (s^hash[k])>>32 == 0 {
				ids[k] = int32(uint32(s)) - 1
			}
		}
		for k := lo; k < hi; k++ {
			// The first entry met in a cell is its first, so one that is near needs no search in the pose's own cell.
			if id := ids[k]; id != absent && !within(t.poses[int(id)*t.e:], poses[k*t.e:(k+1)*t.e], t.tol) {
				ids[k] = absent
			}
		}
		for k := lo; k < hi; k++ {
			pose := poses[k*t.e : (k+1)*t.e]
			if ids[k] == absent {
				ids[k] = t.find(pose, hash[k], absent)
			}
			if t.reaches(pose) {
				ids[k] = t.beyond(pose, 0, 0, hash[k], ids[k])
			}
		}
	}
}

// lookup returns the first entry within the tolerance of a pose with this hash, or absent.
func (t *poseTable) lookup(pose []float64, hash uint64) int32 {
	id := t.find(pose, hash, absent)
	if t.reaches(pose) {
		id = t.beyond(pose, 0, 0, hash, id)
	}
	return id
}

// reaches reports whether the tolerance of a pose reaches into another cell than its own.
func (t *poseTable) reaches(pose []float64) bool {
	for _, x := range pose[:min(t.e, hashDims)] {
		if cell, above := t.cell(x); math.Abs(above) >= reach(cell) {
			return true
		}
	}
	return false
}

// reach is how far, in cells, a coordinate may lie from the centre of its cell without a tolerance reaching out of it.
// The tolerance is 1/cellWidth of a cell; the last term is the rounding of two numbers that were scaled.
func reach(cell float64) float64 { return 0.5 - 1.0/cellWidth - (math.Abs(cell)+1)*0x1p-51 }

// enter counts a pose with this hash and returns the number of its entry, which it adds if there is none.
func (t *poseTable) enter(pose []float64, hash uint64) int32 {
	if id := t.lookup(pose, hash); id != absent {
		t.count[id]++
		return id
	}
	if len(t.count)*8 >= len(t.slots)*5 {
		t.grow()
	}
	id := int32(len(t.count))
	t.poses, t.count = append(t.poses, pose...), append(t.count, 1)
	t.place(hash, id)
	return id
}

// find returns the first entry within the tolerance of pose in the cell with this hash, if it is before best.
func (t *poseTable) find(pose []float64, hash uint64, best int32) int32 {
	mask := uint64(len(t.slots) - 1)
	for s := hash & mask; t.slots[s] != 0; s = (s + 1) & mask {
		if (t.slots[s]^hash)>>32 != 0 {
			continue
		}
		id := int32(uint32(t.slots[s])) - 1
		if id < best && within(t.poses[int(id)*t.e:], pose, t.tol) {
			return id
		}
	}
	return best
}

// beyond looks into the other cells that a pose's tolerance reaches, for coordinates k and later; h is the hash of the
// cells chosen for the coordinates before k and own that of the pose's own cell. It returns the first entry found there
// or best.
func (t *poseTable) beyond(pose []float64, k int, h, own uint64, best int32) int32 {
	if k == min(t.e, hashDims) {
		if h == own { // searched already
			return best
		}
		return t.find(pose, h, best)
	}
	cell, above := t.cell(pose[k])
	best = t.beyond(pose, k+1, mix(h^math.Float64bits(cell)), own, best)
	if above >= reach(cell) {
		best = t.beyond(pose, k+1, mix(h^math.Float64bits(cell+1+0)), own, best)
	}
	if above <= -reach(cell) {
		best = t.beyond(pose, k+1, mix(h^math.Float64bits(cell-1+0)), own, best)
	}
	return best
}

// place puts entry id into the first free slot.
func (t *poseTable) place(hash uint64, id int32) {
	mask := uint64(len(t.slots) - 1)
	s := hash & mask
	for t.slots[s] != 0 {
		s = (s + 1) & mask
	}
	t.slots[s] = hash&^math.MaxUint32 | uint64(id+1)
}

// grow doubles the slots. Entries go in by number, so those of one cell keep their order.
func (t *poseTable) grow() {
	t.slots = make([]uint64, 2*len(t.slots))
	for id := range t.count {
		t.place(t.hash(t.poses[id*t.e:(id+1)*t.e]), int32(id))
	}
}
