package posetable

import (
	"math"

	"github.com/equivcnp/equivcnp/internal/reuse"
)

const (
	// cellWidth is the edge, in tolerances, of the cells that poses are hashed by. A wide cell holds many different entries; a
	// narrow one often has a border within two tolerances of a pose, beyond which the search must look as well. At 64, one pose
	// in eight is that near a border (with two coordinates), and a cell of a crowded cloud holds at most about 65² entries.
	cellWidth = 64
	// hashDims is how many coordinates are hashed, which bounds the number of neighbouring cells. All coordinates are compared.
	hashDims = 8
	// exactCells is the distance from zero, in cells, from which on neighbouring float64 numbers are more than a tolerance apart,
	// so that only equal ones merge: 2⁴⁹ cells are 2⁵⁵ tolerances, and a number is at most 2⁵³ of its own steps away from zero.
	exactCells = 0x1p49
	// roundMagic, added to a number below 2⁵¹, leaves the nearest whole number in the last bits, ties to even.
	roundMagic = 0x1.8p52
	// insideBit in an item says that inside holds for its pose. Without it, inside has to be asked.
	insideBit = 1 << 31
	// aloneBit in a slot says that its entry is alone: no earlier entry is within two tolerances of it, in any cell. A pose near
	// this entry can then merge with no earlier one, so the search ends here. (Beyond exactCells/2 only equal coordinates merge,
	// and looking at cells with equal coordinates is enough.)
	aloneBit = 1 << 31
	// absent is above every item's number.
	absent = int(math.MaxInt32)
	// mostSlots is the largest number of slots that a table starts with. More are made when they are needed.
	mostSlots = 1 << 15
	// enterReach is how far, in tolerances, the pose of a pair that others follow may be from its entry. The sum with
	// rotationReach is below 1, which leaves room for rounding.
	enterReach = 0.5
)

// hashFactors are odd numbers without pattern: the fractional parts of the square roots of the first primes.
var hashFactors = [hashDims]uint64{
	0x6a09e667f3bcc909, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
}

// cellTable finds, among items that are entered in ascending order, the items that represent others. It is an open-addressing
// hash table over cells of space, and holds numbers of items, not poses.
type cellTable struct {
	e, stride int
	tol, inv  float64 // inv: cells per unit
	// items [.., stride] belong to the caller. Each starts with the bits of the e numbers of its pose. The items that enterItems
	// uses have one more word: the pose's tag in the upper half, below it insideBit, then the number of the pair that has the
	// pose.
	items []uint64
	// A slot holds the upper half of an entry's hash, its tag; then aloneBit; then the number of its item plus one; 0 is empty.
	// Linear probing without deletion meets the entries of a cell by ascending number.
	slots []uint64
	n     int       // entries
	key   []float64 // scratch
}

// newCellTable returns an empty table over items that start with poses of e numbers.
func newCellTable(e, stride int, tol float64, items []uint64) *cellTable {
	return &cellTable{e: e, stride: stride, tol: tol, inv: 1 / (cellWidth * max(tol, 0x1p-1000)), items: items, key: make([]float64, e)}
}

// reset empties the table and makes slots for n items.
func (t *cellTable) reset(n int) {
	size := 1 << 4
	for size < 2*n && size < mostSlots {
		size *= 2
	}
	t.n, t.slots = 0, reuse.Sized(t.slots, size)
	clear(t.slots)
}

// pair is the pair that has the pose of item id.
func (t *cellTable) pair(id int) int32 { return int32(t.items[id*t.stride+t.e] & (insideBit - 1)) }

// within reports whether a pose differs from that of item id by at most tol in every coordinate.
func (t *cellTable) within(id int, pose []float64, tol float64) bool {
	item := t.items[id*t.stride:]
	for c, x := range pose {
		if !(math.Abs(math.Float64frombits(item[c])-x) <= tol) {
			return false
		}
	}
	return true
}

// cell returns a number that names the cell of a coordinate, and how far above the cell's centre the coordinate lies, in cells;
// that is NaN where only equal numbers merge. Cells next to each other have consecutive numbers.
func (t *cellTable) cell(x float64) (cell uint64, above float64) {
	y := float64(x * t.inv)
	if !(math.Abs(y) < exactCells) {
		return math.Float64bits(x + 0), math.NaN()
	}
	shifted := y + roundMagic
	return math.Float64bits(shifted), y - (shifted - roundMagic)
}

// hash is the hash of the cell that a pose lies in.
func (t *cellTable) hash(pose []float64) uint64 {
	h := uint64(0)
	for k, x := range pose[:min(t.e, hashDims)] {
		y := float64(x * t.inv)
		cell := math.Float64bits(y + roundMagic)
		if !(math.Abs(y) < exactCells) {
			cell = math.Float64bits(x + 0)
		}
		h += cell * hashFactors[k]
	}
	return Mix(h)
}

// tagOf is the part of a hash that slots keep, and by which they are found.
func tagOf(hash uint64) uint32 { return uint32(hash >> 32) }

// enterItems enters items from .. to-1. Before, ids says for the pair of each item how many other pairs follow it. After, ids
// says for the pair of an entry how many other pairs share the entry, and holds for every other pair the complement of the
// entry's pair. It returns false if a pose that others follow merged into an entry that the followers might not merge into; see
// rotationReach.
func (t *cellTable) enterItems(ids []int32, from, to int) bool {
	clear := true
	var shared [64]uint64 // see share
	n := 0
	for at := from; at < to; at++ {
		if n == len(shared) {
			share(ids, shared[:])
			n = 0
		}
		if t.full() {
			t.grow()
		}
		item := t.items[at*t.stride:][:t.e+1]
		word := item[t.e]
		tag, slots := uint32(word>>32), t.slots
		mask := uint32(len(slots) - 1)
		s := tag & mask
		slot := slots[s]
		for slot != 0 && uint32(slot>>32) != tag {
			s = (s + 1) & mask
			slot = slots[s]
		}
		pair := int32(word & (insideBit - 1))
		if slot == 0 {
			// Most poses of pairs that lead are new. If the cell is empty and no other cell is near, this pose is new as well.
			if word&insideBit != 0 {
				slots[s] = uint64(tag)<<32 | aloneBit | uint64(at+1)
				t.n++
				continue
			}
		} else if slot&aloneBit != 0 {
			// The first entry met in a cell is its earliest. If it is near the pose and alone, the pose belongs to it.
			first := t.items[(int(slot&(aloneBit-1))-1)*t.stride:][:t.stride:t.stride]
			near := true
			for c, x := range item[:t.e] {
				d := math.Float64frombits(x) - math.Float64frombits(first[c])
				near = near && math.Abs(d) <= enterReach*t.tol
			}
			if near {
				shared[n] = uint64(pair)<<32 | first[t.e]&(insideBit-1)
				n++
				continue
			}
		}
		for c := range t.key {
			t.key[c] = math.Float64frombits(item[c])
		}
		id, alone := absent, true
		if slot != 0 {
			id, alone = t.find(t.key, uint64(tag)<<32, id, alone)
		}
		if id, alone = t.searchBeside(t.key, uint64(tag)<<32, id, alone); id == absent {
			id = at
			if slot == 0 {
				slots[s] = newSlot(uint64(tag)<<32, at, alone)
			} else {
				t.place(newSlot(uint64(tag)<<32, at, alone))
			}
			if t.n++; alone {
				continue // does not read ids, which are in no cache
			}
		}
		followers := ids[pair]
		if followers > 0 && (!alone || !t.within(id, t.key, enterReach*t.tol)) {
			clear = false
		}
		if id != at {
			shared[n] = uint64(pair)<<32 | uint64(t.pair(id))
			n++
		}
	}
	share(ids, shared[:n])
	return clear
}

// share tells ids of pairs that share the entry of another: each is the pair's number, followed by the entry's. That changes two
// places far from each other in memory, so it is done for many pairs together, and the loads overlap.
func share(ids []int32, pairs []uint64) {
	for _, s := range pairs {
		pair, leader := int32(s>>32), int32(uint32(s))
		ids[leader] += 1 + ids[pair]
		ids[pair] = ^leader
	}
}

// full reports whether one more entry would be too many for the slots.
func (t *cellTable) full() bool { return 2*t.n >= len(t.slots) }

// enter returns the entry that represents item at, whose pose has this hash, and whether that entry is alone. If no earlier entry
// does, the item becomes one.
func (t *cellTable) enter(pose []float64, hash uint64, at int) (id int, alone bool) {
	id, alone = t.search(pose, hash)
	if id != absent {
		return id, alone
	}
	if t.full() {
		t.grow()
	}
	t.place(newSlot(hash, at, alone))
	t.n++
	return at, alone
}

// newSlot is the slot of an entry.
func newSlot(hash uint64, at int, alone bool) uint64 {
	slot := uint64(tagOf(hash))<<32 | uint64(at+1)
	if alone {
		slot |= aloneBit
	}
	return slot
}

// enterCell enters item at unless an entry in its own cell is within the tolerance. Of poses that differ by little, several may
// become entries. It is for guesses, where that does no harm.
func (t *cellTable) enterCell(pose []float64, hash uint64, at int) {
	if id, _ := t.find(pose, hash, absent, true); id != absent {
		return
	}
	if t.full() {
		t.grow()
	}
	t.place(newSlot(hash, at, false))
	t.n++
}

// search returns the earliest entry within the tolerance of pose and whether that is alone. If there is none, it returns absent
// and whether a new entry for the pose would be alone.
func (t *cellTable) search(pose []float64, hash uint64) (id int, alone bool) {
	id, alone = t.find(pose, hash, absent, true)
	return t.searchBeside(pose, hash, id, alone)
}

// searchBeside completes search in the other cells, given the result of find in the pose's own cell.
func (t *cellTable) searchBeside(pose []float64, hash uint64, id int, alone bool) (int, bool) {
	// Mostly two tolerances extend out of the cell nowhere or on one side, and at most one other cell has to be searched.
	sides, sum, side := 0, uint64(0), uint64(0)
	for c, x := range pose[:min(t.e, hashDims)] {
		cell, above := t.cell(x)
		sum += cell * hashFactors[c]
		switch reach := t.reach(x); {
		case above >= reach:
			sides, side = sides+1, hashFactors[c]
		case above <= -reach:
			sides, side = sides+1, -hashFactors[c]
		}
	}
	switch sides {
	case 0:
	case 1:
		if h := Mix(sum + side); tagOf(h) != tagOf(hash) { // else searched already
			id, alone = t.find(pose, h, id, alone)
		}
	default:
		id, alone = t.beyond(pose, 0, 0, hash, id, alone)
	}
	return id, alone
}

// inside reports whether no cell but the pose's own can be within two tolerances of it.
func (t *cellTable) inside(pose []float64) bool {
	for _, x := range pose[:min(t.e, hashDims)] {
		if _, above := t.cell(x); !(math.Abs(above) < t.reach(x)) {
			return false
		}
	}
	return true
}

// reach is how far from the centre of its cell, in cells, a coordinate may lie so that two tolerances around it stay inside the
// cell. The tolerance is 1/cellWidth of a cell; the last term is the rounding of two numbers that were scaled.
func (t *cellTable) reach(x float64) float64 {
	return 0.5 - 2.0/cellWidth - (math.Abs(x*t.inv)+1)*0x1p-50
}

// find returns the earliest entry within the tolerance of pose in the cell with this hash, if it is earlier than best, and
// whether it is alone. If there is none, alone becomes false where an entry is within two tolerances.
func (t *cellTable) find(pose []float64, hash uint64, best int, alone bool) (int, bool) {
	mask, tag := uint32(len(t.slots)-1), tagOf(hash)
	for s := tag & mask; t.slots[s] != 0; s = (s + 1) & mask {
		slot := t.slots[s]
		if uint32(slot>>32) != tag {
			continue
		}
		if id := int(slot&(aloneBit-1)) - 1; t.within(id, pose, 2*t.tol) {
			switch {
			case !t.within(id, pose, t.tol):
				if best == absent {
					alone = false
				}
			case id < best:
				return id, slot&aloneBit != 0
			default:
				return best, alone
			}
		}
	}
	return best, alone
}

// beyond searches the other cells that lie within two tolerances of a pose. It chooses cells for coordinates k and later; sum is
// the hash sum of the cells chosen for the coordinates before k, and own the hash of the pose's own cell. It returns what find
// does, for all these cells.
func (t *cellTable) beyond(pose []float64, k int, sum, own uint64, best int, alone bool) (int, bool) {
	if k == min(t.e, hashDims) {
		if h := Mix(sum); tagOf(h) != tagOf(own) { // else searched already
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

// place puts a slot's content into the first free slot.
func (t *cellTable) place(slot uint64) {
	mask := uint32(len(t.slots) - 1)
	s := uint32(slot>>32) & mask
	for t.slots[s] != 0 {
		s = (s + 1) & mask
	}
	t.slots[s] = slot
}

// grow makes four times as many slots. Entries are moved starting behind a free slot, so those of one cell are met, and stored,
// in their order.
func (t *cellTable) grow() {
	old := t.slots
	t.slots = make([]uint64, 4*len(old))
	free := 0
	for old[free] != 0 {
		free++
	}
	for k := range old {
		if slot := old[(free+k)&(len(old)-1)]; slot != 0 {
			t.place(slot)
		}
	}
}

// slotBytes is the largest size that the slots of a table with n entries can have while they grow.
func slotBytes(n int) int64 {
	size := int64(mostSlots)
	for size < 2*int64(n) {
		size *= 4
	}
	return 8 * (size + size/4)
}

// Mix scrambles a number so that similar ones give unrelated results; it is a bijection (the finalizer of splitmix64,
// Steele, Lea and Flood, OOPSLA 2014).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// mixShort is enough of Mix for its upper bits.
func mixShort(x uint64) uint64 { return (x ^ x>>32) * 0x9e3779b97f4a7c15 }
