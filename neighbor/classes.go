package neighbor

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor/internal/posetable"
)

// RowClasses says which rows of a [Neighborhood] share their poses: two rows are of one class exactly if they have the same
// poses, each equally often. On an image under translations, all pixels away from the edges are one class; under rotations, a
// pixel and its copies under quarter turns are. Rows without neighbours are one class. Whatever depends on a row's poses alone,
// such as convolution weights, has to be computed once per class.
//
// Corresponding pairs: order the pairs of every row by pose, pairs of one pose as they stand in the row. Then the k-th pairs of
// all rows of a class have the same pose. Where [RowClasses.By] is Shift, the k-th pairs correspond as they stand.
//
// It may be read by any number of goroutines.
type RowClasses struct {
	// Of is the class of each row [queries]. Classes are numbered in the order of their first rows.
	Of []int32
	// Lead is the first row of each class [classes].
	Lead []int32
	// By says for each row why it is known to belong to its class [queries].
	By []Relation
}

// Relation says why a row is known to have the poses of the first row of its class.
type Relation uint8

// The relations.
const (
	First Relation = iota // it is the first row
	Shift                 // it lists the same poses in the same order, as a copy moved along a lattice does
	Turn                  // it is a rotated copy; this was found when the poses were
	Value                 // it lists the same poses in another order, which comparing all of them has shown
)

// Classes returns the classes of rows. They are found at the first call, in time that grows with the number of pairs (a 64 × 64
// image: a millisecond), and kept: rows may not change from then on. Any number of goroutines may call it.
func (n *Neighborhood) Classes() *RowClasses { return n.ClassesUntil(nil) }

// ClassesUntil is like Classes, but asks stop, if that is not nil, now and then. Once stop says true, it keeps nothing and returns nil.
func (n *Neighborhood) ClassesUntil(stop func() bool) *RowClasses {
	if found := n.classes.found.Load(); found != nil {
		return found
	}
	n.classes.Lock()
	defer n.classes.Unlock()
	if n.classes.found.Load() == nil {
		if hash, alike := n.rowHashes(stop); hash != nil {
			n.classes.found.Store(n.findClasses(hash, alike, stop))
		}
	}
	return n.classes.found.Load()
}

// keptClasses holds the result of Classes for later calls.
type keptClasses struct {
	sync.Mutex // held while they are sought
	found      atomic.Pointer[RowClasses]
}

// classGrain is how many rows a goroutine takes at a time.
const classGrain = 64

// twin returns an earlier row that is known to have the same poses as row i, or NoTwin. A twin has no twin itself.
func (n *Neighborhood) twin(i int) int32 {
	if n.twins == nil {
		return posetable.NoTwin
	}
	return n.twins[i]
}

// rowHashes returns a number for every row, equal for rows with the same poses. It is 0, and means nothing, for rows that have a
// twin and for those that list the same poses as the row before, as neighbours on a lattice do; alike marks the latter.
// It returns nil if it was stopped.
func (n *Neighborhood) rowHashes(stop func() bool) (hash []uint64, alike []bool) {
	hash, alike = make([]uint64, n.Queries), make([]bool, n.Queries)
	if !parallel.Until(stop, n.Queries, classGrain, func(lo, hi int) {
		var before []int32
		for i := lo; i < hi; i++ {
			if n.twin(i) != posetable.NoTwin {
				continue
			}
			_, pose := n.Row(i)
			if i > lo && n.twin(i-1) == posetable.NoTwin && slices.Equal(pose, before) {
				alike[i] = true
				continue
			}
			before = pose
			sum := uint64(len(pose))
			for _, p := range pose {
				sum += posetable.Mix(uint64(p))
			}
			hash[i] = sum
		}
	}) {
		return nil, nil
	}
	return hash, alike
}

// findClasses divides rows into classes. Rows of different hashes are in different classes; rows of the same hash are compared.
// It returns nil if it was stopped.
func (n *Neighborhood) findClasses(hash []uint64, alike []bool, stop func() bool) *RowClasses {
	c := &RowClasses{Of: make([]int32, n.Queries), By: make([]Relation, n.Queries)}
	lead := make([]int32, n.Queries) // an earlier row of the same class, or the row itself
	// An open-addressing table of the first rows of each hash.
	slots := make([]int32, 1<<bits.Len(uint(2*n.Queries)))
	for i := range n.Queries {
		if lead[i] = n.twin(i); lead[i] != posetable.NoTwin {
			c.By[i] = Turn
			continue
		}
		if alike[i] {
			lead[i], c.By[i] = int32(i-1), Shift
			continue
		}
		at := hash[i] & uint64(len(slots)-1)
		for slots[at] != 0 && hash[slots[at]-1] != hash[i] {
			at = (at + 1) & uint64(len(slots)-1)
		}
		if slots[at] == 0 {
			slots[at] = int32(i + 1)
		}
		lead[i] = slots[at] - 1
	}
	counts := make([][]int32, runtime.GOMAXPROCS(0))
	var differ atomic.Bool
	if !parallel.UntilWorkers(stop, n.Queries, classGrain, len(counts), func(worker, lo, hi int) {
		for i := lo; i < hi; i++ {
			if c.By[i] == First && int(lead[i]) != i {
				if c.By[i] = n.compareRows(&counts[worker], i, int(lead[i])); c.By[i] == First {
					differ.Store(true)
				}
			}
		}
	}) || differ.Load() && !n.splitClasses(c, lead, hash, stop) {
		return nil
	}
	for i := range c.Of {
		first := int(lead[i])
		if first == i {
			c.Of[i] = int32(len(c.Lead))
			c.Lead = append(c.Lead, int32(i))
			continue
		}
		c.Of[i] = c.Of[first]
		if by := c.By[first]; by != First && by != Shift || by == Shift && c.By[i] != Shift { // first is a later row of the class
			c.By[i] = Value
		}
	}
	return c
}

// splitClasses finds another first row for rows that share only the hash with theirs.
// It reports false if it was stopped.
func (n *Neighborhood) splitClasses(c *RowClasses, lead []int32, hash []uint64, stop func() bool) bool {
	var count []int32
	first := map[uint64][]int32{} // the rows that lead others, by hash, but for the first of each
	for i := range lead {
		if c.By[i] != First || int(lead[i]) == i {
			continue
		}
		if stop != nil && stop() {
			return false
		}
		lead[i] = int32(i)
		for _, l := range first[hash[i]] {
			if c.By[i] = n.compareRows(&count, i, int(l)); c.By[i] != First {
				lead[i] = l
				break
			}
		}
		if int(lead[i]) == i {
			first[hash[i]] = append(first[hash[i]], int32(i))
		}
	}
	return true
}

// compareRows says why the poses of row i are known to be those of row l: Shift or Value, or First if they are not the same.
// count is scratch.
func (n *Neighborhood) compareRows(count *[]int32, i, l int) Relation {
	_, row := n.Row(i)
	_, lead := n.Row(l)
	if len(row) != len(lead) {
		return First
	}
	if slices.Equal(row, lead) {
		return Shift
	}
	if *count == nil {
		*count = make([]int32, n.NumPoses())
	}
	left := *count // how many pairs of each pose are left of those of lead, all zero between calls
	for _, p := range lead {
		left[p]++
	}
	by := Value
	for _, p := range row {
		if left[p]--; left[p] < 0 {
			by = First
			break
		}
	}
	if by == First {
		for k := range row {
			left[row[k]], left[lead[k]] = 0, 0
		}
	}
	return by
}
