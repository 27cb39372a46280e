package neighbor

import "math"

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
	// roundMagic added to a number below 2⁵¹ leaves the nearest whole number in the last bits, ties to even.
	roundMagic = 0x1.8p52
	// insideBit in a hash says that inside holds; without it that is not known. Tables use the upper half of a hash.
	insideBit = 1
	// absent is above every entry's number.
	absent = int(math.MaxInt32)
	// prefetch is how many poses' slots and entries are asked for before they are needed.
	prefetch = 32
)

// hashFactors are odd numbers without pattern: the fractional parts of the square roots of the first primes.
var hashFactors = [hashDims]uint64{
	0x6a09e667f3bcc909, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
}

// poseTable is a table of distinct poses while it grows: an open-addressing hash table over cells of space.
type poseTable struct {
	e, stride int
	tol, inv  float64 // inv: cells per unit
	// data holds the entries, one after the other so that one lies in few cache lines: the bits of the pose's e numbers; the
	// pair that showed the entry first, above how many pairs have it; and, above its tag, whether it is alone: no earlier
	// entry within two tolerances, in any cell. Then of all entries that a pose near this one may merge with none is before
	// it, and the search ends. (From exactCells/2 on only equal coordinates merge, and looking at cells with equal ones is
	// enough.)
	data  []uint64
	n     int // entries
	guess int // how many entries there may become
	// slots hold an entry's number plus one in the low half and the high half of its hash, its tag, above; 0 is empty. Linear
	// probing without deletion meets entries of a cell by ascending number.
	slots []uint64
	// unclear is set when a pose that others follow got an entry that they might not: see turnReach.
	unclear bool
	loads   uint64 // of no meaning: it keeps loads that come before their use
}

// newPoseTable returns an empty table for poses of e numbers; about guess of them are expected if there are many.
func newPoseTable(e int, tol float64, guess int) *poseTable {
	return &poseTable{e: e, stride: e + 2, tol: tol, inv: 1 / (cellWidth * max(tol, 0x1p-1000)), guess: guess, slots: make([]uint64, 1<<8)}
}

// The parts of entry id.
func (t *poseTable) pose(id int) []uint64 { return t.data[id*t.stride:][:t.e:t.e] }
func (t *poseTable) first(id int) int32   { return int32(t.data[id*t.stride+t.e] >> 32) }
func (t *poseTable) count(id int) int32   { return int32(uint32(t.data[id*t.stride+t.e])) }
func (t *poseTable) alone(id int) bool    { return t.data[id*t.stride+t.e+1]>>32 != 0 }
func (t *poseTable) tag(id int) uint32    { return uint32(t.data[id*t.stride+t.e+1]) }

// copyPose writes the pose of entry id.
func (t *poseTable) copyPose(dst []float64, id int) {
	for c, v := range t.pose(id) {
		dst[c] = math.Float64frombits(v)
	}
}

// within reports whether a pose differs from entry id by at most tol in every coordinate.
func (t *poseTable) within(id int, pose []float64, tol float64) bool {
	for c, v := range t.pose(id) {
		if !(math.Abs(math.Float64frombits(v)-pose[c]) <= tol) {
			return false
		}
	}
	return true
}

// cell returns a number that names the cell of a coordinate, and how far, in cells, the coordinate lies above the cell's
// centre, NaN where only equal numbers merge. The cells next to it have the next numbers.
func (t *poseTable) cell(x float64) (cell uint64, above float64) {
	y := float64(x * t.inv)
	if !(math.Abs(y) < exactCells) {
		return math.Float64bits(x + 0), math.NaN()
	}
	shifted := y + roundMagic
	return math.Float64bits(shifted), y - (shifted - roundMagic)
}

// hash is the hash of the cell that a pose lies in, without insideBit.
func (t *poseTable) hash(pose []float64) uint64 {
	h := uint64(0)
	for k, x := range pose[:min(t.e, hashDims)] {
		y := float64(x * t.inv)
		cell := math.Float64bits(y + roundMagic)
		if !(math.Abs(y) < exactCells) {
			cell = math.Float64bits(x + 0)
		}
		h += cell * hashFactors[k]
	}
	return mix(h) &^ insideBit
}

// tagOf is the part of a hash that slots keep, and by which they are found.
func tagOf(hash uint64) uint32 { return uint32(hash >> 32) }

// enterPairs enters poses [n, e] with these hashes and sets ids[pair[k]], which says how many more pairs have the entry of
// pose k because they follow this one, to the pair that showed that entry first. A
// large table lies in memory, not in a cache, and every pose misses twice; the first loop does nothing but loads, all
// independent, so that their misses overlap.
func (t *poseTable) enterPairs(ids []int32, poses []float64, hash []uint64, pair []int32) {
	var slot [prefetch]uint64
	for lo := 0; lo < len(hash); lo += prefetch {
		part := hash[lo:min(lo+prefetch, len(hash))]
		for t.full(len(part)) {
			t.grow()
		}
		mask := uint32(len(t.slots) - 1)
		for k, h := range part {
			slot[k] = t.slots[tagOf(h)&mask]
		}
		for _, s := range slot[:len(part)] {
			if s != 0 {
				t.loads += t.data[(int(uint32(s))-1)*t.stride+t.e+1]
			}
		}
		for k, h := range part {
			at := lo + k
			pose := poses[at*t.e : (at+1)*t.e]
			// The first entry met in a cell is its first: near it and alone, it is the pose's.
			if s := slot[k]; s != 0 && uint32(s>>32) == tagOf(h) {
				entry := t.data[(int(uint32(s))-1)*t.stride:][:t.stride:t.stride]
				near := entry[t.e+1]>>32 != 0
				for c, x := range pose {
					near = near && math.Abs(math.Float64frombits(entry[c])-x) <= enterReach*t.tol
				}
				if near {
					entry[t.e] += 1 + uint64(ids[pair[at]])
					ids[pair[at]] = int32(entry[t.e] >> 32)
					continue
				}
			}
			followers := ids[pair[at]]
			// Most poses of pairs that lead are new. If none is in the cell, and no other cell near, that is known already.
			if h&insideBit != 0 && t.slots[tagOf(h)&mask] == 0 {
				t.slots[tagOf(h)&mask] = uint64(tagOf(h))<<32 | uint64(t.n+1)
				t.add(pose, h, pair[at], 1+followers, 1)
				ids[pair[at]] = pair[at]
				continue
			}
			id := t.enter(pose, h, pair[at], 1+followers)
			if followers > 0 && (!t.alone(id) || !t.within(id, pose, enterReach*t.tol)) {
				t.unclear = true
			}
			ids[pair[at]] = t.first(id)
		}
	}
}

// full reports whether n more entries could be too many for the slots.
func (t *poseTable) full(n int) bool { return (t.n+n)*8 >= len(t.slots)*5 }

// enter counts a pose with this hash, shown by that pair and having count pairs, and returns the number of its entry, which
// it adds if there is none.
func (t *poseTable) enter(pose []float64, hash uint64, pair, count int32) int {
	id, alone := t.search(pose, hash)
	if id != absent {
		t.data[id*t.stride+t.e] += uint64(count)
		return id
	}
	if t.full(1) {
		t.grow()
	}
	id = t.n
	t.add(pose, hash, pair, count, alone)
	t.place(tagOf(hash), id)
	return id
}

// add appends an entry, which has no slot yet.
func (t *poseTable) add(pose []float64, hash uint64, pair, count int32, alone uint32) {
	id := t.n
	t.n++
	if t.n*t.stride > len(t.data) {
		t.reserve()
	}
	entry := t.data[id*t.stride:][:t.stride:t.stride]
	for c, x := range pose {
		entry[c] = math.Float64bits(x)
	}
	entry[t.e], entry[t.e+1] = uint64(pair)<<32|uint64(count), uint64(alone)<<32|uint64(tagOf(hash))
}

// reserve makes data longer than n entries. Once there are many it goes to the expected size at once, so that memory is not
// spent on sizes in between.
func (t *poseTable) reserve() {
	size := max(64, t.n+t.n/2)
	if t.n > 256 && size < t.guess {
		size = t.guess
	}
	data := make([]uint64, size*t.stride)
	copy(data, t.data)
	t.data = data
}

// search returns the first entry within the tolerance of pose, or absent and 1 if a new entry for the pose is alone, 0 if it
// is not.
func (t *poseTable) search(pose []float64, hash uint64) (id int, alone uint32) {
	id, alone = t.find(pose, hash, absent, 1)
	if !t.inside(pose) {
		id, alone = t.beyond(pose, 0, 0, hash, id, alone)
	}
	return id, alone
}

// inside reports whether no other cell than a pose's own is within two tolerances, for certain.
func (t *poseTable) inside(pose []float64) bool {
	for _, x := range pose[:min(t.e, hashDims)] {
		if _, above := t.cell(x); !(math.Abs(above) < t.reach(x)) {
			return false
		}
	}
	return true
}

// reach is how far, in cells, a coordinate may lie from the centre of its cell without two tolerances reaching out of it.
// The tolerance is 1/cellWidth of a cell; the last term is the rounding of two numbers that were scaled.
func (t *poseTable) reach(x float64) float64 {
	return 0.5 - 2.0/cellWidth - (math.Abs(x*t.inv)+1)*0x1p-50
}

// find returns the first entry within the tolerance of pose in the cell with this hash, if it is before best, and 0 for alone
// if an entry is within two.
func (t *poseTable) find(pose []float64, hash uint64, best int, alone uint32) (int, uint32) {
	mask, tag := uint32(len(t.slots)-1), tagOf(hash)
	for s := tag & mask; t.slots[s] != 0; s = (s + 1) & mask {
		if uint32(t.slots[s]>>32) != tag {
			continue
		}
		if id := int(uint32(t.slots[s])) - 1; t.within(id, pose, 2*t.tol) {
			alone = 0
			if t.within(id, pose, t.tol) {
				return min(id, best), 0
			}
		}
	}
	return best, alone
}

// beyond looks into the other cells that two of a pose's tolerances reach, for coordinates k and later; sum is that of the
// cells chosen for the coordinates before k and own the hash of the pose's own cell. It returns what find does, of all.
func (t *poseTable) beyond(pose []float64, k int, sum, own uint64, best int, alone uint32) (int, uint32) {
	if k == min(t.e, hashDims) {
		if h := mix(sum); tagOf(h) != tagOf(own) { // else searched already
			return t.find(pose, h, best, alone)
		}
		return best, alone
	}
	cell, above := t.cell(pose[k])
	reach := t.reach(pose[k])
	best, alone = t.beyond(pose, k+1, sum+cell*hashFactors[k], own, best, alone)
	if above >= reach {
		best, alone = t.beyond(pose, k+1, sum+(cell+1)*hashFactors[k], own, best, alone)
	}
	if above <= -reach {
		best, alone = t.beyond(pose, k+1, sum+(cell-1)*hashFactors[k], own, best, alone)
	}
	return best, alone
}

// place puts entry id into the first free slot.
func (t *poseTable) place(tag uint32, id int) {
	mask := uint32(len(t.slots) - 1)
	s := tag & mask
	for t.slots[s] != 0 {
		s = (s + 1) & mask
	}
	t.slots[s] = uint64(tag)<<32 | uint64(id+1)
}

// grow doubles the slots, or more on the way to the expected number. Entries go in by number, so those of one cell keep their
// order.
func (t *poseTable) grow() {
	size := 2 * len(t.slots)
	for t.n > 256 && size*5 < 8*t.guess {
		size *= 2
	}
	t.slots = make([]uint64, size)
	for id := range t.n {
		t.place(t.tag(id), id)
	}
}
