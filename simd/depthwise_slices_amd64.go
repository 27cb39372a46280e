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
// With 64 channels, or 60 pairs a row, these slices gain nothing. They lose up to a fifth where neighbouring rows meet the
// same rows of f in successive pairs, as with neighbours listed by index, for those are in the first level then,
// wherever they lie (56 for 67 with 128 channels, by AVX-512).
//
// Slices that are read by places, as since these measurements at AVX2 and by AMD's AVX-512, gain more: 1.2 times the pace with 64
// channels and AVX2, and with neighbours listed by index as well. By AVX-512 and 128 channels it is 66 and 46 instead of 49 and 40 (of
// another run), with kept lists in the order of the indices 87 and 53 instead of 71 and 42.
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

// depthwiseSlices says whether a convolution of wide channels, more than three vectors, is done slice by slice. kept says that the lists of
// places are kept.
func depthwiseSlices(points, poses, rows, pairs, c int, near, kept bool) bool {
	lanes, caches, row, repeats := depthwiseLanes(), cpu.DataCaches(), depthwiseSliceRow, depthwiseSliceRepeats
	tall := near && level != AVX2 && c%lanes == 0 && pairs/depthwiseLongRow < rows
	switch {
	case level == AVX2 && !near:
		row /= 2 // by places, 1.2 times the pace with 64 channels
	case level == AVX512 && byPlaces(points, poses):
		// A Zen 4, with 29 pairs a row and 128 channels: 1.0 (neighbours on a grid) to 1.3 times the pace, with 81 pairs 1.25 and 1.4, if
		// pairs are near each other 1.0 to 1.3; with lists that are kept, as much from 49 channels on.
		row, repeats, tall = 0, repeats/2, false
		if !near && (kept || c >= 128) {
			repeats = depthwiseSliceRepeats / 5
		}
	}
	return 4*c >= row && 4*points*c > caches.L1 && 4*points*2*lanes <= caches.L2 && pairs >= repeats*(points+poses) && !tall
}

// depthwiseScratch is the copy, what is known about the rows, and their lists as runPlaces reads them.
type depthwiseScratch struct {
	f, w  []float32
	rows  DepthwiseRows
	lists placeLists
}

// depthwiseScratches keeps them between calls. One has the size of the second-level cache at most, the weights of two vectors, and
// the places of placePairs pairs.
var depthwiseScratches = sync.Pool{New: func() any { return new(depthwiseScratch) }}

// runSliced is run slice by slice, for depthwisePlain. Sums have one accumulator as in the wide blocks that slices are cut from,
// so the bits are the same.
func (d *depthwiseRun) runSliced(out, f, w []float32, offsets []int, index, pose []int32, c int) {
	d.begin(out, f, offsets, index, pose, c)
	points, poses := len(f)/c, len(w)/c
	d.places = byPlaces(points, poses)
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
	if d.places {
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
		unlike := a // poses from here on differ from those of the row before, or have not been compared
		for i := lo; i < hi; i++ {
			a, b := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
			if same[i] = i > 0 && a < b && sameIndices(pose[a:b], pose[offsets[i-1]-offsets[0]:a]); same[i] {
				checkIndex(d.fn, "pose", pose[unlike:a], unlike, poses)
				unlike = b
			}
		}
		checkIndex(d.fn, "pose", pose[unlike:b], unlike, poses)
		lo = hi
	}
	return same
}

// mostlyTall says whether at least half of the rows are computed in groups of slices. Rows by themselves are faster in wide blocks.
func (d *depthwiseRun) mostlyTall() bool {
	part := depthwiseRun{sliced: true, places: d.places}
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
