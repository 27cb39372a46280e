//go:build !purego

package simd

import (
	"sync"
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/reuse"
)

// Rows of f with many channels lie a power of two apart more often than not, and a few channels of them fall into few sets of a cache:
// of 128 channels, two vectors have a quarter of the first level's sets, and those of a patch of an image come from the second
// level again and again. So two vectors of channels of all points are copied to where they lie side by side, with those of the
// weights, and all rows go over the copy. On Zen 4, in GFLOP/s of one run, neighbours on a grid and at random:
//
//	4096 points, 273 pairs a row     as they lie     in slices
//	AVX-512, 128 channels            41, 32          44, 35
//	         200                     34, 24          38, 31
//	AVX2,    128                     32, 23          38, 33
//	         200                     27, 22          33, 27
//
// With 64 channels, or 60 pairs a row, slices gain nothing. They lose up to a fifth where neighbouring rows meet the
// same rows of f in successive pairs, as with neighbours listed by index, for those are in the first level then,
// wherever they lie (56 for 67 with 128 channels, by AVX-512).
//
// At AVX2, where slices are read by places since these measurements, they gain 1.2 times the pace with 64 channels, and with neighbours
// listed by index as well.
var (
	// depthwiseSliceRow is from how many bytes in a row of f on slices are made.
	depthwiseSliceRow = 512
	// depthwiseSliceRepeats is how often a row of the copy must be read, on average.
	depthwiseSliceRepeats = 128
	// depthwiseLongRow is from how many pairs a row on, on average, slices are made although successive pairs are near each other: in
	// the gradient to weights, whose rows are the pairs of a pose, rows of f pass that are not met again before the next group of
	// poses. With a grid's 4096 pairs a pose slices have 1.3 times the pace by AVX-512 and 1.2 times by AVX2 (Zen 4). Blocks of 64 to
	// 1000 pairs of all rows at a time, and no fetching of the next group's indices, change that by less than 5 %.
	depthwiseLongRow = 1024
)

// depthwiseSlices says whether a convolution of wide channels, more than three vectors, is done slice by slice.
func depthwiseSlices(points, poses, rows, pairs, c int, near bool) bool {
	lanes, caches, row := depthwiseLanes(), cpu.DataCaches(), depthwiseSliceRow
	if level == AVX2 && !near {
		row /= 2 // by places, 1.2 times the pace with 64 channels
	}
	return 4*c >= row && 4*points*c > caches.L1 && 4*points*2*lanes <= caches.L2 &&
		pairs/depthwiseSliceRepeats >= points+poses &&
		!(near && level != AVX2 && c%lanes == 0 && pairs/depthwiseLongRow < rows)
}

// depthwiseScratch is the copy, what is known about the rows, and their lists as runPlaces reads them.
type depthwiseScratch struct {
	f, w  []float32
	rows  DepthwiseRows
	lists placeLists
}

// depthwiseScratches keeps them between calls. One has the size of the second-level cache at most, the weights of two vectors, and at AVX2
// the places of placePairs pairs.
var depthwiseScratches = sync.Pool{New: func() any { return new(depthwiseScratch) }}

// runSliced is run slice by slice, for depthwisePlain. Sums have one accumulator as in the wide blocks that slices are cut from,
// so the bits are the same.
func (d *depthwiseRun) runSliced(out, f, w []float32, offsets []int, index, pose []int32, c int) {
	d.begin(out, f, offsets, index, pose, c)
	points, poses := len(f)/c, len(w)/c
	s := depthwiseScratches.Get().(*depthwiseScratch)
	defer depthwiseScratches.Put(s)
	if d.checked == nil {
		s.rows.same = d.alike(s.rows.same, points, poses, offsets, index, pose)
		d.checked = &s.rows
	}
	if !d.mostlyTall() {
		d.walk(out, points, poses, offsets, index, pose)
		return
	}
	if level == AVX2 {
		d.runPlaces(s, out, f, w, offsets, index, pose)
		return
	}
	slice, whole := 2*d.lanes, d.wide()
	s.f, s.w = reuse.Sized(s.f, points*slice), reuse.Sized(s.w, poses*slice)
	part := *d
	part.kind, part.sliced, part.near, part.stride = depthwiseSeq, true, false, 4*slice
	part.f, part.w = unsafe.Pointer(first(s.f)), unsafe.Pointer(first(s.w))
	for j := 0; j < whole; j += slice {
		part.c = min(slice, whole-j)
		packColumns(s.f, f[j:], part.c, slice, c)
		packColumns(s.w, w[j:], part.c, slice, c)
		part.walk(out[j:], points, poses, offsets, index, pose)
	}
	if whole < c {
		d.from = whole
		d.walk(out, points, poses, offsets, index, pose)
	}
}

// wide is how many channels are in blocks of at least four vectors.
func (d *depthwiseRun) wide() int {
	return min(d.c, (d.c+d.lanes-1)/d.lanes/4*4*d.lanes)
}

// alike checks the indices of all rows and finds out which rows have the poses of the row before, in the memory of same.
func (d *depthwiseRun) alike(same []bool, points, poses int, offsets []int, index, pose []int32) []bool {
	rows := len(offsets) - 1
	same = reuse.Sized(same, rows)
	for lo := 0; lo < rows; {
		hi := gatherChunk(offsets, lo, d.c)
		a, b := offsets[lo]-offsets[0], offsets[hi]-offsets[0]
		checkIndex(d.fn, "index", index[a:b], a, points)
		checkIndex(d.fn, "pose", pose[a:b], a, poses)
		for i := lo; i < hi; i++ {
			a, b := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
			same[i] = i > 0 && a < b && sameIndices(pose[a:b], pose[offsets[i-1]-offsets[0]:a])
		}
		lo = hi
	}
	return same
}

// mostlyTall says whether at least half of the rows are computed in groups of slices. Rows by themselves are faster in wide blocks.
func (d *depthwiseRun) mostlyTall() bool {
	part := depthwiseRun{sliced: true}
	group, _ := part.groups()
	run, grouped := 0, 0
	for _, same := range d.checked.same {
		if !same {
			run = 0
		}
		if run++; run == group {
			run, grouped = 0, grouped+group
		}
	}
	return 2*grouped >= len(d.checked.same)
}

// packColumns copies n columns of x, whose rows lie width apart, to rows of dst that lie step apart.
func packColumns(dst, x []float32, n, step, width int) {
	for i, j := 0, 0; i < len(dst); i, j = i+step, j+width {
		copy(dst[i:i+n], x[j:j+n])
	}
}
