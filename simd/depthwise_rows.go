package simd

import (
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/schedule"
)

// DepthwiseRows is a neighbourhood whose indices have been checked once, for any number of convolutions. With few channels at a
// time, as when a slice of the weights is to stay in the cache, checking every index costs DepthwiseF32 a quarter of its time. It
// also knows which rows have the same poses and are computed together, and takes their pairs in an order that suits the cache. Any
// number of goroutines may use it. The first convolution of 49 channels or more may arrange the pairs in a form of its own, of 2 to
// 5 bytes a pair (more if rows have fewer than 16), and keeps that for the next ones.
type DepthwiseRows struct {
	points, poses int
	offsets       []int
	index, pose   []int32
	same          []bool // rows with the poses of the row before, and at least one
	near          bool   // see depthwiseNear
	lists         atomic.Pointer[placeLists]
}

// placeLists are groups of so many rows with the same poses, and their pairs as a kernel reads them; see runPlaces.
type placeLists struct {
	rows   int
	groups []placeGroup
	places []int32  // at AVX2
	fours  []uint16 // at AVX-512
	others [][2]int // rows in no group, from and to
	most   int      // pairs of a row
}

// placeGroup is a group from row lo on. Its places start at entry at.
type placeGroup struct{ lo, at int }

// NewDepthwiseRows checks a neighbourhood of that many points and poses, given as in DepthwiseF32. same says for every row
// whether it lists the poses of the row before, in the same order; only the numbers of poses are checked, the rest is trusted. If
// same is nil, all rows are compared. It panics if a length does not match, offsets descend, or an index or pose names no row. It
// keeps the slices, and nobody may change them afterwards, because kernels trust the indices.
//
// Where eight or more successive rows have the same poses, and the indices of the first of them do not ascend, the pairs of all
// these rows are summed in the order in which those indices ascend; index and pose are then copied. This helps where neighbours
// are listed by distance: successive pairs then use rows of f that are still in the first-level cache (1.4 to 1.6 times as fast
// with 4096 points of a grid, 273 neighbours and 128 channels; sorting a million pairs takes 3 ms). So the rounding of a row's
// sum depends on that first row, and on nothing else.
func NewDepthwiseRows(offsets []int, index, pose []int32, same []bool, points, poses int) *DepthwiseRows {
	const fn = "NewDepthwiseRows"
	checkSize(fn, "points", points)
	checkSize(fn, "poses", poses)
	checkCSR(fn, offsets, index, pose)
	checkPlanIndex(fn, "index", index, 0, points)
	checkPlanIndex(fn, "pose", pose, 0, poses)
	r := &schedule.Rows{Offsets: offsets, Index: index, Pose: pose}
	same = r.SameAs("simd: "+fn, same)
	r = r.ByFirst(same, depthwiseSortedRows)
	return &DepthwiseRows{points: points, poses: poses, offsets: offsets, index: r.Index, pose: r.Pose, same: same,
		near: depthwiseNear(offsets, r.Index)}
}

// depthwiseSortedRows is the number of rows with the same poses from which on sorting their pairs pays: a group of the largest
// kernel.
const depthwiseSortedRows = 8

// depthwiseReach is up to how many rows of f apart two successive pairs count as near each other.
var depthwiseReach int32 = 4

// depthwiseNear reports whether most pairs name a point near that of the pair before, as with neighbours listed by index. Rows
// that are computed together then find most rows of f in the cache, where earlier pairs have brought them.
func depthwiseNear(offsets []int, index []int32) bool {
	if len(offsets)-1 < 8*depthwiseSample { // looking would cost more than a hundredth
		return false
	}
	near, pairs := depthwiseSteps(offsets, index, -depthwiseReach, depthwiseReach)
	return 2*near > pairs
}

// depthwiseSample is how many rows depthwiseSteps looks at.
const depthwiseSample = 8

// depthwiseSteps counts the pairs of some rows, and those whose number exceeds that of the pair before by least to most.
func depthwiseSteps(offsets []int, list []int32, least, most int32) (inside, pairs int) {
	rows := len(offsets) - 1
	for i := 0; i < rows; i += rows/depthwiseSample + 1 {
		row := list[offsets[i]-offsets[0] : offsets[i+1]-offsets[0]]
		for k := 1; k < len(row); k++ {
			if d := row[k] - row[k-1]; least <= d && d <= most {
				inside++
			}
		}
		pairs += len(row)
	}
	return inside, pairs
}

// DepthwiseRowsF32 is DepthwiseF32 over a neighbourhood that has been checked: out is [rows, c], f [points, c], w [poses, c]. The
// bits are those that DepthwiseF32 computes for the pairs in the order in which [NewDepthwiseRows] takes them.
func DepthwiseRowsF32(out, f, w []float32, p *DepthwiseRows, c int, mean bool) {
	const fn = "DepthwiseRowsF32"
	checkSize(fn, "c", c)
	checkElements(fn, "out", len(out), len(p.same), c)
	checkElements(fn, "f", len(f), p.points, c)
	checkElements(fn, "w", len(w), p.poses, c)
	depthwiseRowsF32(out, f, w, p, c, mean)
}
