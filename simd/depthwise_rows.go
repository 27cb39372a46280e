package simd

import (
	"fmt"
	"slices"
)

// DepthwiseRows is a neighbourhood whose indices have been checked, once, for any number of convolutions: with few channels at a
// time, as when a slice of the weights is to stay in the cache, looking at every index costs DepthwiseF32 a quarter of its time. It
// also knows which rows have the same poses and are computed together, and takes their pairs in an order that suits the cache. It is only
// read, by any number of goroutines.
type DepthwiseRows struct {
	points, poses int
	offsets       []int
	index, pose   []int32
	same          []bool // rows with the poses of the row before, and at least one
	near          bool   // see depthwiseNear
}

// NewDepthwiseRows checks a neighbourhood of that many points and poses, given as in DepthwiseF32. same says of every row whether it lists
// the poses of the row before, in the same order, and is trusted beyond their number; nil: all rows are compared. It panics if a length
// does not match, offsets descend, or an index or pose names no row. It keeps the slices: nobody may change them afterwards, as kernels
// follow indices without looking.
//
// Where eight rows or more, one after the other, have the same poses, and the indices of the first of them do not ascend, the pairs of them all
// are summed as if they were listed in the order in which those indices ascend; index and pose are then copied. Neighbours listed by distance
// need that: pairs of rows next to each other then share rows of f while the first-level cache still has them (1.4 to 1.6 times the pace with
// 4096 points of a grid, 273 neighbours and 128 channels, for 3 ms on a million pairs). Any row's sum thus depends, in its rounding, on that first
// row, and on nothing else.
func NewDepthwiseRows(offsets []int, index, pose []int32, same []bool, points, poses int) *DepthwiseRows {
	const fn = "NewDepthwiseRows"
	checkSize(fn, "points", points)
	checkSize(fn, "poses", poses)
	checkCSR(fn, offsets, index, pose)
	checkPlanIndex(fn, "index", index, 0, points)
	checkPlanIndex(fn, "pose", pose, 0, poses)
	p := &DepthwiseRows{points: points, poses: poses, offsets: offsets, index: index, pose: pose,
		same: sameRows(fn, same, offsets, pose)}
	p.sortRuns()
	p.near = depthwiseNear(offsets, p.index)
	return p
}

// depthwiseSortedRows is how many rows with the same poses make it worth while to put their pairs in order: a group of the largest kernel.
const depthwiseSortedRows = 8

// sortRuns lists the pairs of rows with the same poses as the indices of the first of these rows ascend, in slices of its own.
func (p *DepthwiseRows) sortRuns() {
	copied := false
	var keys []uint64
	var one [2][]int32
	for lo, hi := 0, 0; lo < len(p.same); lo = hi {
		for hi = lo + 1; hi < len(p.same) && p.same[hi]; hi++ {
		}
		a := p.offsets[lo] - p.offsets[0]
		n := p.offsets[lo+1] - p.offsets[lo]
		if hi-lo < depthwiseSortedRows || slices.IsSorted(p.index[a:a+n]) {
			continue
		}
		if !copied {
			p.index, p.pose, copied = slices.Clone(p.index), slices.Clone(p.pose), true
		}
		keys = keys[:0]
		for k, j := range p.index[a : a+n] {
			keys = append(keys, uint64(j)<<32|uint64(k))
		}
		slices.Sort(keys)
		one[0], one[1] = append(one[0][:0], p.index[a:a+n]...), append(one[1][:0], p.pose[a:a+n]...)
		for i := lo; i < hi; i++ {
			index, pose := p.index[a:a+n], p.pose[a:a+n]
			copy(one[0], index)
			for k, key := range keys {
				from := uint32(key)
				index[k], pose[k] = one[0][from], one[1][from]
			}
			a += n
		}
	}
}

// sameRows returns which rows have pairs and list the poses of the row before: where same is nil they are compared, else only their
// numbers are, and the function panics where these differ.
func sameRows(fn string, same []bool, offsets []int, pose []int32) []bool {
	rows, out := len(offsets)-1, make([]bool, len(offsets)-1)
	if same != nil {
		checkLen(fn, "same", len(same), rows)
	}
	for i := 1; i < rows; i++ {
		from, at, to := offsets[i-1]-offsets[0], offsets[i]-offsets[0], offsets[i+1]-offsets[0]
		switch {
		case same == nil:
			out[i] = at < to && slices.Equal(pose[from:at], pose[at:to])
		case same[i]:
			if to-at != at-from {
				panic(fmt.Sprintf("simd: %s: same[%d] with %d poses, the row before has %d", fn, i, to-at, at-from))
			}
			out[i] = at < to
		}
	}
	return out
}

// depthwiseReach is how many rows of f apart two successive pairs are near each other.
var depthwiseReach int32 = 4

// depthwiseNear says whether most pairs of some rows name a point near that of the pair before, as with neighbours listed by index. Rows that
// are computed together then find most rows of f where the pairs before have brought them.
func depthwiseNear(offsets []int, index []int32) bool {
	const sample = 8
	rows, near, pairs := len(offsets)-1, 0, 0
	if rows < 8*sample { // looking would cost more than a hundredth
		return false
	}
	for i := 0; i < rows; i += rows/sample + 1 {
		row := index[offsets[i]-offsets[0] : offsets[i+1]-offsets[0]]
		for k := 1; k < len(row); k++ {
			if d := row[k] - row[k-1]; -depthwiseReach <= d && d <= depthwiseReach {
				near++
			}
		}
		pairs += len(row)
	}
	return 2*near > pairs
}

// DepthwiseRowsF32 is DepthwiseF32 over a neighbourhood that has been checked: out is [rows, c], f [points, c], w [poses, c], and
// the bits are DepthwiseF32's over its pairs in the order in which [NewDepthwiseRows] takes them.
func DepthwiseRowsF32(out, f, w []float32, p *DepthwiseRows, c int, mean bool) {
	const fn = "DepthwiseRowsF32"
	checkSize(fn, "c", c)
	checkLen(fn, "out", len(out), len(p.same)*c)
	checkLen(fn, "f", len(f), p.points*c)
	checkLen(fn, "w", len(w), p.poses*c)
	depthwiseRowsF32(out, f, w, p, c, mean)
}
