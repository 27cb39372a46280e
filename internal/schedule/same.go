package schedule

import (
	"fmt"
	"slices"
)

// Same says of every row whether it has pairs and lists the poses of the row before, in the same order, by comparing them. Who knows it
// from classes has no need to ask (see Tiles).
func (r *Rows) Same() []bool {
	same := make([]bool, r.Len())
	for i := 1; i < len(same); i++ {
		_, before := r.Row(i - 1)
		_, pose := r.Row(i)
		same[i] = len(pose) > 0 && slices.Equal(before, pose)
	}
	return same
}

// SameAs returns which rows have pairs and list the poses of the row before, where a caller of the function fn may know
// it. If known is nil, it compares poses; else it compares only their numbers and panics where these differ, or known
// has another length.
func (r *Rows) SameAs(fn string, known []bool) []bool {
	if known == nil {
		return r.Same()
	}
	if len(known) != r.Len() {
		panic(fmt.Sprintf("%s: len(same) = %d, need %d", fn, len(known), r.Len()))
	}
	out := make([]bool, len(known))
	for i := 1; i < len(known); i++ {
		if !known[i] {
			continue
		}
		n, before := r.Offsets[i+1]-r.Offsets[i], r.Offsets[i]-r.Offsets[i-1]
		if n != before {
			panic(fmt.Sprintf("%s: same[%d] with %d poses, the row before has %d", fn, i, n, before))
		}
		out[i] = n > 0
	}
	return out
}

// ByFirst returns the rows with the pairs of each run of rows that have the same poses, at least so many rows, in the
// order in which the points of the run's first row ascend. Pairs of rows next to each other then share points. Where
// nothing changes it returns r itself; it never changes r.
func (r *Rows) ByFirst(same []bool, least int) *Rows {
	out := r
	var keys []uint64
	var one [2][]int32
	for lo, hi := 0, 0; lo < len(same); lo = hi {
		for hi = lo + 1; hi < len(same) && same[hi]; hi++ {
		}
		first, _ := r.Row(lo)
		if hi-lo < least || slices.IsSorted(first) {
			continue
		}
		if out == r {
			c := *r
			out, c.Index, c.Pose = &c, slices.Clone(r.Index), slices.Clone(r.Pose)
		}
		keys = keys[:0]
		for k, j := range first {
			keys = append(keys, uint64(j)<<32|uint64(k))
		}
		slices.Sort(keys)
		for i := lo; i < hi; i++ {
			index, pose := out.Row(i)
			one[0], one[1] = append(one[0][:0], index...), append(one[1][:0], pose...)
			for k, key := range keys {
				from := uint32(key)
				index[k], pose[k] = one[0][from], one[1][from]
			}
		}
	}
	return out
}
