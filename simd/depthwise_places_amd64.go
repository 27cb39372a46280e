//go:build !purego

package simd

import (
	"math"
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/reuse"
)

// Slices are read by places: byte offsets from the beginning of a slice. They are written once for all slices, in the order
// in which a kernel for a group of rows reads them. A place need not be proportional to the index. Points above each other in a 64 x 64
// image would lie 4 KiB apart and fall into the same set of the first-level cache, whose eight ways cannot hold the 19 lines of a
// neighbourhood of 273 points. Leaving out three places after every 64 points spreads them over the sets. On Zen 3, in GFLOP/s over
// slices that are in the second-level cache, for neighbours of such an image listed by distance, by index, and at random:
//
//	lists of indices                  45, 54, 40
//	places, none left out             48, 58, 44
//	places, three in 64 left out      63, 59, 45

const (
	placeSlice = 16 // channels
	placeRun   = 64 // rows of a slice between those left out
)

// byPlaces says whether slices of so many rows are read by places, at AVX-512 too: slices of one vector, of which twice as many rows are
// in the first-level cache as of two. A Zen 5 has 1.2 times the pace on average over 2 numbers of points, 3 radii and 4 widths: 1.15 for
// neighbours on a grid by distance, 1.05 by index, 1.4 at random; as given, 128 channels and 273 pairs a row of a grid 99 GFLOP/s instead
// of 78, the gradient to the weights 96 instead of 64. An Emerald Rapids has 1.25 times the pace for these as given, 1.3 times for the
// gradient to the features, 1.2 for that to the weights, and 1.06 and 1.3 for checked rows on the grid and at random.
func byPlaces(points, poses int) bool {
	return level == AVX2 || max(placeOf(points), placeOf(poses)) <= maxPlace
}

// lastPlace is the last place that a list at AVX-512 can name: in 16 bits, in units of 8 bytes. Tests lower maxPlace.
const lastPlace = (1<<16 - 1) / 8

var maxPlace = lastPlace

// placeShape returns how many rows a group has, and how many pairs a block, the last of which is padded.
func placeShape() (rows, block int) {
	if level == AVX2 {
		return 6, 8
	}
	return 16, 16
}

// placeBlocks is n pairs with those that pad their last block.
func placeBlocks(n int) int {
	_, block := placeShape()
	return (n + block - 1) &^ (block - 1)
}

// placePairs is about how many pairs have their places written at a time, at most, with those that pad blocks. It bounds the scratch. All
// slices are copied again for the next pairs.
var placePairs = 1 << 21

// Rows of more than placeLong pairs take placePart of them at a time: all rows take the first ones, then all rows take the next ones.
// In the gradient to weights, rows are long, and a slice of the features and one of the outputs would fill a second-level cache of
// 512 KiB.
var placeLong, placePart = 1024, 256

// placeOf returns the row of a slice that holds row i, with three left out after every 64.
func placeOf(i int) int { return i + i/placeRun*3 }

// runPlaces is runSliced by places. The lists of a neighbourhood that was checked are made once: to write them takes a twentieth of a call.
func (d *depthwiseRun) runPlaces(s *depthwiseScratch, out, f, w []float32, offsets []int, index, pose []int32) {
	whole, c := d.wide(), d.c
	points, poses, rows := len(f)/c, len(w)/c, len(offsets)-1
	s.f = reuse.Sized(s.f, placeSlice*(placeOf(points)+1))
	s.w = reuse.Sized(s.w, placeSlice*(placeOf(poses)+1))
	// What pads blocks at AVX-512: a row of zeros, and weights whose products with them change no sum, not even one of -0.
	clear(s.f[placeSlice*placeOf(points):])
	for i := placeSlice * placeOf(poses); i < len(s.w); i++ {
		s.w[i] = float32(math.Copysign(0, -1))
	}
	part := *d
	part.kind, part.sliced, part.near, part.stride = depthwiseSeq, true, false, 4*placeSlice
	part.f, part.w = unsafe.Pointer(first(s.f)), unsafe.Pointer(first(s.w))
	padded, total := func(i int) int { return placeBlocks(offsets[i+1] - offsets[i]) }, 0
	for i := range rows {
		total += padded(i)
	}
	chunks := max(1, (total+placePairs-1)/placePairs)
	for lo := 0; lo < rows; {
		lists, hi := &s.lists, lo
		if d.checked != &s.rows {
			lists, hi = d.keptLists(), rows
		} else {
			lists.most = 0
			for n := 0; hi < rows && n <= total/chunks; hi++ {
				lists.most, n = max(lists.most, offsets[hi+1]-offsets[hi]), n+padded(hi)
			}
			d.list(lists, offsets, index, pose, lo, hi, points, poses)
		}
		// Rows in no group are computed over all channels where they lie: a row by itself has too few sums in a slice.
		for _, o := range lists.others {
			a, b := offsets[o[0]]-offsets[0], offsets[o[1]]-offsets[0]
			d.chunk(out[o[0]*d.width:], offsets[o[0]:o[1]+1], index[a:b], pose[a:b], d.checked.same[o[0]:o[1]], true)
		}
		for j := 0; j < whole; j += placeSlice {
			part.c = min(placeSlice, whole-j)
			packPlaces(s.f, f[j:], points, part.c, c)
			packPlaces(s.w, w[j:], poses, part.c, c)
			part.groupsByPlace(lists, out[j:], offsets)
		}
		lo = hi
	}
	if whole < c {
		d.from = whole
		d.walk(out, points, poses, offsets, index, pose)
	}
}

// keptLists returns the lists of all rows of a neighbourhood that was checked. Whichever call needs them first makes them.
func (d *depthwiseRun) keptLists() *placeLists {
	p := d.checked
	group, _ := placeShape()
	if lists := p.lists.Load(); lists != nil && lists.rows == group { // as many as at this level
		return lists
	}
	lists, rows := new(placeLists), len(p.offsets)-1
	for i := range rows {
		lists.most = max(lists.most, p.offsets[i+1]-p.offsets[i])
	}
	d.list(lists, p.offsets, p.index, p.pose, 0, rows, p.points, p.poses)
	p.lists.Store(lists)
	return lists
}

// list finds the groups among rows lo to hi, none of which has more than l.most pairs, and writes their places, among so many points and
// poses.
func (d *depthwiseRun) list(l *placeLists, offsets []int, index, pose []int32, lo, hi, points, poses int) {
	l.groups, l.others = l.groups[:0], l.others[:0]
	at := 0
	rows, _ := placeShape()
	l.rows = rows
	group := func(i int) {
		l.groups = append(l.groups, placeGroup{i, at})
		at += (1 + rows) * placeBlocks(offsets[i+1]-offsets[i])
	}
	others := func(i, end int) {
		if i < end {
			l.others = append(l.others, [2]int{i, end})
		}
	}
	single := lo // rows from single on are in neither list yet
	for i := lo; i < hi; {
		end := i + 1
		for end < hi && d.checked.same[end] {
			end++
		}
		if end-i >= rows {
			others(single, i)
			for single = i; single+rows <= end; single += rows {
				group(single)
			}
			if single+1 < end && l.most <= placeLong { // the last rows once more, as sums that are not continued may be computed twice
				group(end - rows)
				single = end
			}
		}
		i = end
	}
	others(single, hi)
	if level == AVX2 {
		l.places = reuse.Sized(l.places, at)
	} else {
		l.fours = reuse.Sized(l.fours, at)
	}
	for _, g := range l.groups {
		a, n := offsets[g.lo]-offsets[0], offsets[g.lo+1]-offsets[g.lo]
		for k := 0; k < n; k += maxGather {
			from, some := g.at+(1+rows)*k, min(maxGather, n-k)
			if level == AVX2 {
				depthwisePlacesOfF32AVX2(&l.places[from], &index[a+k], &pose[a+k], some, n)
			} else {
				depthwisePlacesOfF32AVX512(&l.fours[from], &index[a+k], &pose[a+k], some, n, points, poses)
			}
		}
	}
}

// groupsByPlace computes a slice of two vectors of all groups.
func (d *depthwiseRun) groupsByPlace(l *placeLists, out []float32, offsets []int) {
	step := max(1, l.most)
	if l.most > placeLong {
		step = placePart
	}
	for k := 0; k == 0 || k < l.most; k += step {
		for _, g := range l.groups {
			n := offsets[g.lo+1] - offsets[g.lo]
			if k >= n {
				continue
			}
			more, mean := 0, 0
			if k > 0 {
				more = 1
			}
			if k+step >= n {
				mean = d.mean
			}
			o, from, some := &out[g.lo*d.width], g.at+(1+l.rows)*k, min(step, n-k)
			if f, w := (*float32)(d.f), (*float32)(d.w); level == AVX2 {
				depthwisePlacesF32AVX2(o, f, w, &l.places[from], some, more, 4*d.width, d.c-d.lanes, n, mean)
			} else {
				depthwisePlacesF32AVX512(o, f, w, &l.fours[from], some, more, 4*d.width, d.c, n, mean)
			}
		}
	}
}

// packPlaces copies n columns of x, which has so many rows that lie width apart, to their places in a slice.
func packPlaces(dst, x []float32, rows, n, width int) {
	for i := 0; i < rows; i += placeRun {
		to, count := dst[placeSlice*placeOf(i):], min(placeRun, rows-i)
		if n == placeSlice {
			depthwisePackF32AVX2(&to[0], &x[i*width], count, 4*width)
			continue
		}
		for r := range count {
			row := to[placeSlice*r:][:placeSlice]
			clear(row[copy(row, x[(i+r)*width:][:n]):]) // what stands there is multiplied, too
		}
	}
}
