package search

import "fmt"

// The kernels of the searches among points. Points lie axis by axis: coordinate a of point j is c[a*ldc+j], so that a
// vector holds one coordinate of neighbouring points, and each has a number, id[j].
//
// A squared distance is the sum, axis by axis, of the rounded squares of the rounded differences. No operation is fused:
// every level on every machine gives the same bits, and as rounding is monotonic, a box is never farther from a point than
// anything in the box.

// Slack is the number of elements that a destination must have beyond its result where a function asks for it: results are stored by
// whole vectors, and up to Slack elements behind the last one change.
const Slack = 16

// MaxDim is the largest number of axes.
const MaxDim = 8

// Boxes keeps those of n runs of points whose bounding box is near another box, in their order, and returns how many.
//
//   - Shape: row 2a of boxes [2·dim, n], whose rows are ld apart, has the least coordinates a, row 2a+1 the greatest; from
//     and to [n] are what the runs are called by. box [dim, 2] has the least and the greatest coordinate per axis. outFrom
//     and outTo need room for n + Slack.
//   - Condition: dist2 < radius2, where an axis adds the square of the gap between the intervals.
//   - Aliasing: none allowed.
//   - Errors: panics if a length is too small.
func Boxes[T Float](outFrom, outTo []int32, boxes []T, ld int, from, to []int32, box []T, radius2 T) int {
	const fn = "Boxes"
	n := len(from)
	checkBox(fn, len(box))
	checkLen(fn, "to", len(to), n)
	checkMatrix(fn, "boxes", len(boxes), len(box), n, ld)
	if n == 0 {
		return 0
	}
	checkRoom(fn, "outFrom", len(outFrom), n+Slack)
	checkRoom(fn, "outTo", len(outTo), n+Slack)
	return treeBoxes(outFrom, outTo, boxes, ld, from, to, box, radius2, len(box)/2)
}

// Filter keeps those points of some runs that are near a box, in their order, and returns how many.
//
//   - Shape: c [dim, n] with rows ldc apart and id [n] are the points; run k names the points from[k] .. to[k]-1. box [dim, 2]
//     has the least and the greatest coordinate per axis; for a single place they are equal. The points kept go to
//     out [dim, total] with rows ldo apart, their squared distances from the box to dist2 and their numbers to outID,
//     where total is the number of points named. Each row of out, dist2 and outID needs room for total + Slack.
//   - Condition: dist2 < radius2, where an axis adds the square of the distance from its interval.
//   - Aliasing: none allowed.
//   - Errors: panics if a length is too small or a run is not among the points.
func Filter[T Float](out []T, ldo int, dist2 []T, outID []int32, c []T, ldc int, id, from, to []int32, box []T, radius2 T) int {
	const fn = "Filter"
	dim := len(box) / 2
	checkBox(fn, len(box))
	checkLen(fn, "to", len(to), len(from))
	n, total := len(id), 0
	checkMatrix(fn, "c", len(c), dim, n, ldc)
	for k, lo := range from {
		hi := to[k]
		if lo < 0 || lo > hi || int(hi) > n {
			panic(fmt.Sprintf("search: %s: from[%d] = %d, to[%d] = %d, need 0 to %d", fn, k, lo, k, hi, n))
		}
		total += int(hi - lo)
	}
	if total == 0 {
		return 0
	}
	checkMatrix(fn, "out", len(out), dim, total+Slack, ldo)
	checkRoom(fn, "dist2", len(dist2), total+Slack)
	checkRoom(fn, "outID", len(outID), total+Slack)
	return treeFilter(out, ldo, dist2, outID, c, ldc, id, from, to, box, radius2, dim)
}

// scanPairs bounds the pairs of queries and points of one call of assembly, which the scheduler cannot preempt: some tens of
// microseconds. A query is not divided.
const scanPairs = 1 << 17

// Scan finds the points near each of several queries: for query i the numbers id[j] and squared distances of those j,
// ascending, with dist2 < radius2[i].
//
//   - Shape: q [dim, nq] with rows ldq apart, c [dim, nc] with rows ldc apart and nc = len(id) as in Filter. radius2
//     has one number for each query, or a single one for all; nq = len(end). What query i finds is stored from end[i-1] on
//     (0 for the first) up to end[i] in index and dist2, which need room for nq·nc + Slack.
//   - Periods: period is nil, or has a number for each axis: +Inf where it is not periodic, and where it is, the difference
//     d counts as min(d, |period - d|), which asks for coordinates in [-period/2, period/2].
//   - Errors: panics if a length is too small. A NaN is near nothing.
func Scan[T Float](index []int32, dist2 []T, end []int32, q []T, ldq int, c []T, ldc int, id []int32, radius2, period []T, dim int) int {
	const fn = "Scan"
	nq, nc := len(end), len(id)
	checkScan(fn, nq, nc, q, ldq, c, ldc, radius2, period, dim)
	if nq == 0 {
		return 0
	}
	if nc == 0 {
		clear(end)
		return 0
	}
	found, step := 0, max(1, scanPairs/nc)
	for lo := 0; lo < nq; lo += step {
		hi := min(lo+step, nq)
		room := found + (hi-lo)*nc + Slack
		checkRoom(fn, "index", len(index), room)
		checkRoom(fn, "dist2", len(dist2), room)
		r2 := radius2
		if len(r2) > 1 {
			r2 = r2[lo:hi]
		}
		part := end[lo:hi]
		treeScan(index[found:], dist2[found:], part, q[lo:], ldq, c, ldc, id, r2, period, dim)
		if found > 0 {
			for i := range part {
				part[i] += int32(found)
			}
		}
		found = int(end[hi-1])
	}
	return found
}

// Count sets count[i] to the number of points that Scan finds for query i, of nc points.
func Count[T Float](count []int32, q []T, ldq int, c []T, ldc, nc int, radius2, period []T, dim int) {
	const fn = "Count"
	nq := len(count)
	checkSize(fn, "nc", nc)
	checkScan(fn, nq, nc, q, ldq, c, ldc, radius2, period, dim)
	if nq == 0 {
		return
	}
	if nc == 0 {
		clear(count)
		return
	}
	step := max(1, scanPairs/nc)
	for lo := 0; lo < nq; lo += step {
		hi := min(lo+step, nq)
		r2 := radius2
		if len(r2) > 1 {
			r2 = r2[lo:hi]
		}
		treeCount(count[lo:hi], q[lo:], ldq, c, ldc, nc, r2, period, dim)
	}
}

func checkScan[T Float](fn string, nq, nc int, q []T, ldq int, c []T, ldc int, radius2, period []T, dim int) {
	checkAxes(fn, dim)
	checkMatrix(fn, "q", len(q), dim, nq, ldq)
	checkMatrix(fn, "c", len(c), dim, nc, ldc)
	if len(radius2) != 1 {
		checkLen(fn, "radius2", len(radius2), nq)
	}
	if period != nil {
		checkLen(fn, "period", len(period), dim)
	}
}

// partitionColumns bounds the columns of one call of assembly. Parts are joined by moving what is in front.
const partitionColumns = 1 << 16

// Partition splits the n columns of a matrix by one of its rows: the columns whose entry in row key is less than pivot
// move to the front, the others behind them, both in the order that they had. It returns how many are in front.
//
//   - Shape: x [rows, n] with rows ldx apart; 0 ≤ key < rows. scratch is overwritten; it needs rows·(n + Slack) elements.
//   - NaN is not less than anything. Entries of other rows are moved as bits and may stand for anything.
//   - Errors: panics if a length is too small or key is no row.
func Partition[T Float](x []T, ldx, rows, n, key int, pivot T, scratch []T) int {
	const fn = "Partition"
	checkSize(fn, "n", n)
	checkMatrix(fn, "x", len(x), rows, n, ldx)
	if key < 0 || key >= rows {
		panic(fmt.Sprintf("search: %s: key = %d, need 0 to %d", fn, key, rows-1))
	}
	if n == 0 {
		return 0
	}
	lds := n + Slack
	checkRoom(fn, "scratch", len(scratch), rows*lds)
	// Piece by piece: what is kept moves up to what was kept, the others collect in scratch.
	front := 0
	for lo := 0; lo < n; lo += partitionColumns {
		hi := min(lo+partitionColumns, n)
		kept := treePartition(x[lo:], ldx, rows, scratch[lo-front:], lds, hi-lo, key, pivot)
		if front < lo {
			for r := range rows {
				copy(x[r*ldx+front:][:kept], x[r*ldx+lo:])
			}
		}
		front += kept
	}
	for r := range rows {
		copy(x[r*ldx+front:r*ldx+n], scratch[r*lds:])
	}
	return front
}

// checkBox panics unless a slice of that length holds a box, two numbers for each axis.
func checkBox(fn string, length int) {
	if length%2 != 0 || length < 2 || length > 2*MaxDim {
		panic(fmt.Sprintf("search: %s: len(box) = %d, need two for each of 1 to %d axes", fn, length, MaxDim))
	}
}

// checkAxes panics unless dim is a number of axes that the kernels take.
func checkAxes(fn string, dim int) {
	if dim < 1 || dim > MaxDim {
		panic(fmt.Sprintf("search: %s: dim = %d, need 1 to %d", fn, dim, MaxDim))
	}
}
