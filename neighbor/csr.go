package neighbor

import (
	"runtime"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

// Neighborhood lists, for each query i, the points within the ball: row i of the CSR is
// Index[Offsets[i]:Offsets[i+1]], ascending, and Pose names, pair by pair, the relative pose of i as seen from that
// point in the table Poses.
type Neighborhood struct {
	// Queries and Points are the numbers of rows that Offsets and Index refer to.
	Queries, Points int
	// Offsets has Queries+1 entries.
	Offsets []int
	// Index and Pose have one entry per pair.
	Index, Pose []int32
	// PoseDim is the length e of a pose, and Poses the table [p, e] of distinct relative poses.
	PoseDim int
	Poses   []float64
	// Count says how many pairs have each pose [p].
	Count []int32
	// Left is the number of pairs within the radius that MaxNeighbors left out.
	Left int
	// Across is that of the points (group.Lifted), if the queries are the points.
	Across int

	// merged bounds the difference, in any coordinate, of a pair's pose and the entry of Poses that stands for it.
	merged float64
	// twins says for every row, if it is not nil, which earlier row is known to have the same poses; see twin.
	twins   []int32
	classes keptClasses
}

// Pairs returns the number of pairs (i, j).
func (n *Neighborhood) Pairs() int { return len(n.Index) }

// NumPoses returns the number of distinct relative poses.
func (n *Neighborhood) NumPoses() int { return len(n.Count) }

// Bytes returns the memory that the pairs and poses take.
func (n *Neighborhood) Bytes() int64 {
	return 8*int64(len(n.Offsets)) + 4*int64(len(n.Index)+len(n.Pose)+len(n.Count)) + 8*int64(len(n.Poses))
}

// Row returns the neighbours of query i and their poses.
func (n *Neighborhood) Row(i int) (index, pose []int32) {
	return n.Index[n.Offsets[i]:n.Offsets[i+1]], n.Pose[n.Offsets[i]:n.Offsets[i+1]]
}

// Transpose returns the same pairs sorted by point: row j lists, ascending, the queries i that have j in their ball.
// A gradient to the features gathers along these rows, so that no two goroutines add to one place.
//
// The work is shared by GOMAXPROCS goroutines; the result does not depend on how many. A pair keeps its pose, which is
// still that of i as seen from j. Poses and Count are shared with n, not copied.
func (n *Neighborhood) Transpose() *Neighborhood {
	t := &Neighborhood{
		Queries: n.Points, Points: n.Queries,
		Offsets: make([]int, n.Points+1),
		Index:   make([]int32, len(n.Index)),
		Pose:    make([]int32, len(n.Pose)),
		PoseDim: n.PoseDim, Poses: n.Poses, Count: n.Count, merged: n.merged,
	}
	// A counting sort of each part of the queries. The pairs of a part stand after those of earlier parts, and the sort is
	// stable, so the queries of each row stay ascending, however many parts there are.
	parts := min(max(1, n.Pairs()/transposePairs), runtime.GOMAXPROCS(0))
	query := func(part int) int { // the first query of a part; parts have about equally many pairs
		if part == parts {
			return n.Queries
		}
		i, _ := slices.BinarySearch(n.Offsets, int(uint64(n.Pairs())*uint64(part)/uint64(parts)))
		return min(i, n.Queries)
	}
	next := make([][]int, parts) // by part and point: how many pairs, then where the next one goes
	parallel.For(parts, 1, func(lo, hi int) {
		for part := lo; part < hi; part++ {
			count := make([]int, n.Points)
			for _, j := range n.Index[n.Offsets[query(part)]:n.Offsets[query(part+1)]] {
				count[j]++
			}
			next[part] = count
		}
	})
	at := 0
	for j := range n.Points {
		for _, count := range next {
			at, count[j] = at+count[j], at
		}
		t.Offsets[j+1] = at
	}
	parallel.For(parts, 1, func(lo, hi int) {
		for part := lo; part < hi; part++ {
			next := next[part]
			for i := query(part); i < query(part+1); i++ {
				index, pose := n.Row(i)
				for k, j := range index {
					at := next[j]
					next[j]++
					t.Index[at], t.Pose[at] = int32(i), pose[k]
				}
			}
		}
	})
	return t
}

// transposePairs is how many pairs a part of Transpose must have to be worth a goroutine.
const transposePairs = 1 << 16
