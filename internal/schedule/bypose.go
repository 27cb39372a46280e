package schedule

import (
	"math"
	"runtime"
	"slices"
	"sort"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

// ByPose lists the pairs of a neighbourhood by pose, in the form in which gradients to weights gather them: list l is entries
// Offsets[l] to Offsets[l+1] of Row and Point.
//
// The list of a pose that occurs everywhere would gather from all features. So the poses of a part may be listed segment by
// segment of the rows: what is gathered from a segment then stays in the cache for all poses, each of which has a list for each
// segment.
type ByPose struct {
	Offsets    []int
	Row, Point []int32
	Lists      []List
	Parts      []Part
}

// List says which pose the pairs of a list have, and whether it is the first list of that pose. Together says that this list and
// those after it, as many together as [Rows.ByPose] was asked for, have the same rows and are all the first of their poses, or none.
type List struct {
	Pose            int32
	First, Together bool
}

// Part is the poses Lo to Hi; their lists are From to To. All lists of a pose are in one part, in the order of their rows.
type Part struct{ Lo, Hi, From, To int }

const (
	// longestList bounds the pairs of a list, so that a kernel's call is short.
	longestList = 1 << 13
	// segmentRows is how many rows a segment has. Segments are used where lists then have segmentPairs pairs on average, or where
	// there are hardly more lists than poses.
	segmentRows  = 256
	segmentPairs = 16
)

// ByPose lists pairs by pose. A part has at most so many pairs, or one pose, and so many poses.
//
// If together is not 0, lists of a segment with the same rows stand together in groups of that many, so that what is read of a row
// serves all of them. Groups, and the lists in them, are ordered by their first points: those next to each other then meet the same
// points.
func (r *Rows) ByPose(pairs, poses, together int) *ByPose {
	starts := make([]int, r.Poses+1)
	row, point := make([]int32, len(r.Pose)), make([]int32, len(r.Pose))
	r.sortByPose(starts, row, point)
	b := &ByPose{Offsets: starts, Row: row, Point: point}
	for lo := 0; lo < r.Poses; {
		hi := lo + 1
		for hi < r.Poses && hi-lo < poses && starts[hi+1]-starts[lo] <= pairs {
			hi++
		}
		if n := hi - lo; together > 0 && n > together && hi < r.Poses {
			hi -= n % together
		}
		b.Parts = append(b.Parts, Part{Lo: lo, Hi: hi})
		lo = hi
	}
	blocks := make([][]block, len(b.Parts))
	parallel.For(len(b.Parts), 1, func(k, _ int) {
		blocks[k] = segments(starts[:b.Parts[k].Hi+1], row, b.Parts[k].Lo)
		if together > 0 {
			groups(blocks[k], row, point, together)
		}
	})
	lists := 0
	for k := range b.Parts {
		b.Parts[k].From = lists
		lists += len(blocks[k])
		b.Parts[k].To = lists
	}
	b.Lists = make([]List, 0, lists)
	for k := range b.Parts {
		for _, x := range blocks[k] {
			b.Lists = append(b.Lists, x.List)
		}
	}
	if lists == r.Poses && together == 0 { // a list for every pose, in their order
		return b
	}
	b.Offsets, b.Row, b.Point = make([]int, 1, lists+1), make([]int32, len(row)), make([]int32, len(row))
	for k := range b.Parts {
		for _, x := range blocks[k] {
			b.Offsets = append(b.Offsets, b.Offsets[len(b.Offsets)-1]+x.hi-x.lo)
		}
	}
	parallel.For(len(b.Parts), 1, func(k, _ int) {
		for i, x := range blocks[k] {
			at := b.Offsets[b.Parts[k].From+i]
			copy(b.Row[at:], row[x.lo:x.hi])
			copy(b.Point[at:], point[x.lo:x.hi])
		}
	})
	return b
}

// block is a list: pairs lo to hi of those sorted by pose, which begin in a segment.
type block struct {
	List
	segment int32
	lo, hi  int
}

// segments returns the lists of poses from lo on: one for each segment that has pairs of a pose, if that is worth it, or one for each pose.
func segments(starts []int, row []int32, lo int) (blocks []block) {
	poses := len(starts) - 1 - lo
	most := max(poses+poses/8, (starts[lo+poses]-starts[lo])/segmentPairs)
	blocks = make([]block, 0, poses+poses/8)
	if blocks, ok := divide(blocks, starts, row, lo, segmentRows, most); ok {
		if len(blocks) > poses {
			// Stable: of each pose, the list that was the first stays the first.
			slices.SortStableFunc(blocks, func(a, b block) int { return int(a.segment - b.segment) })
		}
		return blocks
	}
	blocks, _ = divide(blocks, starts, row, lo, math.MaxInt32, math.MaxInt)
	return blocks
}

// divide appends the lists of poses from lo on by segments of so many rows, unless there are more than most.
func divide(blocks []block, starts []int, row []int32, lo int, rows int32, most int) ([]block, bool) {
	for q := lo; q < len(starts)-1; q++ {
		b := block{List: List{Pose: int32(q), First: true}, lo: starts[q], hi: starts[q]}
		for k := starts[q]; k < starts[q+1]; k++ {
			segment := row[k] / rows
			if k == starts[q] {
				b.segment = segment
			}
			if segment != b.segment || k-b.lo == longestList {
				blocks = append(blocks, b)
				b = block{List: List{Pose: int32(q)}, segment: segment, lo: k}
			}
			b.hi = k + 1
		}
		if blocks = append(blocks, b); len(blocks) > most {
			return blocks, false
		}
	}
	return blocks, true
}

// sortShares is the largest number of shares in which sortByPose places pairs; each share goes through all pairs.
const sortShares = 4

// sortByPose sorts pairs by pose; those of one pose stay ordered by row. starts gets where each pose's begin. It is a
// counting sort, in which several goroutines each place a range of poses.
func (r *Rows) sortByPose(starts []int, row, point []int32) {
	for _, q := range r.Pose {
		starts[q+1]++
	}
	for q := range r.Poses {
		starts[q+1] += starts[q]
	}
	shares := min(sortShares, runtime.GOMAXPROCS(0))
	parallel.For(shares, 1, func(share, _ int) {
		// Poses whose places begin in this share of all.
		lo := sort.SearchInts(starts, len(r.Pose)*share/shares)
		hi := sort.SearchInts(starts, len(r.Pose)*(share+1)/shares)
		if share+1 == shares {
			hi = r.Poses
		}
		if lo >= hi {
			return
		}
		next := slices.Clone(starts[lo:hi])
		for i := range r.Len() {
			for k := r.Offsets[i] - r.Offsets[0]; k < r.Offsets[i+1]-r.Offsets[0]; k++ {
				if at := int(r.Pose[k]) - lo; at >= 0 && at < len(next) {
					row[next[at]], point[next[at]] = int32(i), r.Index[k]
					next[at]++
				}
			}
		}
	})
}
