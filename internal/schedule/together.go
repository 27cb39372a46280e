package schedule

import (
	"cmp"
	"slices"
)

// groups puts lists of a segment that have the same rows next to each other, together of them at a time, and marks the first list of
// each group. Lists without a group follow. Segments whose lists are short stay as they are: few of them would have the same rows.
func groups(blocks []block, row, point []int32, together int) {
	for len(blocks) > 0 {
		n, pairs := 0, 0
		for n < len(blocks) && blocks[n].segment == blocks[0].segment {
			pairs += blocks[n].hi - blocks[n].lo
			n++
		}
		if n >= together && pairs >= segmentPairs*n {
			groupsOf(blocks[:n], row, point, together)
		}
		blocks = blocks[n:]
	}
}

// keyed is a list with a hash of its rows and its first point.
type keyed struct {
	block
	rows  uint64
	point int32
}

// groupsOf is groups for one segment.
func groupsOf(blocks []block, row, point []int32, together int) {
	lists, rest := make([]keyed, 0, len(blocks)), []keyed(nil)
	for k, b := range blocks {
		if k > 0 && b.Pose == blocks[k-1].Pose {
			return // the lists of a pose must stay in their order
		}
		if b.lo == b.hi {
			rest = append(rest, keyed{block: b})
			continue
		}
		lists = append(lists, keyed{b, hashOf(b.First, row[b.lo:b.hi]), point[b.lo]})
	}
	slices.SortStableFunc(lists, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.rows, b.rows), cmp.Compare(a.point, b.point)) })
	same := func(a, b *keyed) bool { return a.First == b.First && slices.Equal(row[a.lo:a.hi], row[b.lo:b.hi]) }
	var found [][]keyed
	for len(lists) > 0 {
		n := 1
		for n < min(together, len(lists)) && same(&lists[0], &lists[n]) {
			n++
		}
		if n == together {
			lists[0].Together = true
			found = append(found, lists[:n])
		} else {
			rest = append(rest, lists[:n]...)
		}
		lists = lists[n:]
	}
	byPoint := func(a, b keyed) int { return cmp.Compare(a.point, b.point) }
	slices.SortStableFunc(found, func(a, b []keyed) int { return byPoint(a[0], b[0]) })
	slices.SortStableFunc(rest, byPoint)
	for _, l := range slices.Concat(append(found, rest)...) {
		blocks[0], blocks = l.block, blocks[1:]
	}
}

// hashOf is a hash of rows, after Fowler, Noll and Vo, but of whole numbers.
func hashOf(first bool, rows []int32) uint64 {
	h := uint64(0xcbf29ce484222325)
	if first {
		h++
	}
	for _, i := range rows {
		h = (h ^ uint64(uint32(i))) * 0x100000001b3
	}
	return h
}
