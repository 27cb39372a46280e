package simd

import "slices"

// DepthwiseRows is a neighbourhood whose indices have been checked, once, for any number of convolutions: with few channels at a
// time, as when a slice of the weights is to stay in the cache, looking at every index costs DepthwiseF32 a quarter of its time. It
// also knows which rows have the same poses and are computed together. It is only read, by any number of goroutines.
type DepthwiseRows struct {
	points, poses int
	offsets       []int
	index, pose   []int32
	same          []bool // rows with the poses of the row before, and at least one
}

// NewDepthwiseRows checks a neighbourhood of that many points and poses, given as in DepthwiseF32. It panics if a length does not
// match, offsets descend, or an index or pose names no row. It keeps the slices: nobody may change them afterwards, as kernels follow
// indices without looking.
func NewDepthwiseRows(offsets []int, index, pose []int32, points, poses int) *DepthwiseRows {
	const fn = "NewDepthwiseRows"
	checkSize(fn, "points", points)
	checkSize(fn, "poses", poses)
	rows := checkCSR(fn, offsets, index, pose)
	checkPlanIndex(fn, "index", index, 0, points)
	checkPlanIndex(fn, "pose", pose, 0, poses)
	p := &DepthwiseRows{points: points, poses: poses, offsets: offsets, index: index, pose: pose, same: make([]bool, rows)}
	for i := 1; i < rows; i++ {
		row, last := p.poseRow(i), p.poseRow(i-1)
		p.same[i] = len(row) > 0 && slices.Equal(row, last)
	}
	return p
}

func (p *DepthwiseRows) poseRow(i int) []int32 {
	return p.pose[p.offsets[i]-p.offsets[0] : p.offsets[i+1]-p.offsets[0]]
}

// DepthwiseRowsF32 is DepthwiseF32 over a neighbourhood that has been checked: out is [rows, c], f [points, c], w [poses, c], and
// the bits are DepthwiseF32's.
func DepthwiseRowsF32(out, f, w []float32, p *DepthwiseRows, c int, mean bool) {
	const fn = "DepthwiseRowsF32"
	checkSize(fn, "c", c)
	checkLen(fn, "out", len(out), len(p.same)*c)
	checkLen(fn, "f", len(f), p.points*c)
	checkLen(fn, "w", len(w), p.poses*c)
	depthwiseRowsF32(out, f, w, p, c, mean)
}
