package layers

import (
	"math"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor"
)

// lineTasks are tasks on a line under translations: blocks of equal length, each of which has first a lattice of ascending
// points, equally many in each block, and then the task's own points, which ascend as well and end with padding. See
// neighbor.Line.
type lineTasks struct {
	x       []float64 // [tasks·size] coordinates
	lattice int       // points of the lattice
	density float64   // 0: one lattice for all tasks; else a lattice is consecutive whole numbers divided by density
	size    int       // points of a block
	own     []int     // number of each task's own points, without padding
	alpha   float64   // the distance of x from y is alpha·|x - y|
	reading bool      // own points see the lattice, and nobody sees anything else; see Geometry.Reading
}

// maxLinePairs is the number of pairs from which on neighbor.Ball is asked instead, which may refuse.
const maxLinePairs = 1 << 24

// lineRows describes pairs on a line.
type lineRows struct {
	tasks  *lineTasks
	shared int                // poses 0 to shared-1 are those of lattice points among each other
	runs   []neighbor.LineRow // of every row; points and poses are numbered as in the Neighborhood
}

// blocksEnd is where the last block ends, -1 if there is none.
func blocksEnd(blocks []int) int {
	if len(blocks) == 0 {
		return -1
	}
	return blocks[len(blocks)-1]
}

// ascends reports whether x ascends, which it does not with a NaN.
func ascends(x []float64) bool {
	for i := 1; i < len(x); i++ {
		if !(x[i-1] <= x[i]) {
			return false
		}
	}
	return len(x) == 0 || x[0] == x[0]
}

// first is the number of the first lattice point of a task, if lattice points have numbers.
func (l *lineTasks) first(task int) int { return int(math.Round(l.x[task*l.size] * l.density)) }

// pairs returns the neighbourhoods of radius r, or nil if neighbor.Ball has to be asked, which may refuse.
func (l *lineTasks) pairs(r float64) (*neighbor.Neighborhood, *lineRows) {
	if !(r > 0) {
		return nil, nil
	}
	tasks, rows := len(l.own), len(l.x)
	all := neighbor.NewLine(l.x[:l.lattice], l.alpha, r)
	if l.density != 0 && l.lattice > 0 {
		var err error
		if all, err = neighbor.NewNumberedLine(l.density, l.alpha, r); err != nil {
			return nil, nil
		}
	}
	see, shared := neighbor.LineSight{Lattice: !l.reading, Own: !l.reading}, len(all.Poses)
	if l.reading {
		shared = 0
	}
	n := &neighbor.Neighborhood{Queries: rows, Points: rows, PoseDim: 1, Offsets: make([]int, rows+1)}
	lr := &lineRows{tasks: l, shared: shared, runs: make([]neighbor.LineRow, rows)}
	// Rows are found task by task; a task's own poses are counted from its first.
	poses := make([]int, tasks+1)
	parallel.For(tasks, 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			at := t * l.size
			line, own := all, l.x[at+l.lattice:][:l.own[t]]
			if l.density != 0 && l.lattice > 0 {
				line = &neighbor.Line{}
				line.Lay(all, [2]int{l.first(t), l.first(t) + l.lattice})
			}
			_, _, poses[t+1] = line.Rows(lr.runs[at:at:at+l.size], own, see)
		}
	})
	poses[0] = shared
	for t := range tasks {
		poses[t+1] += poses[t]
	}
	for i := range lr.runs {
		if n.Offsets[i] > maxLinePairs {
			return nil, nil
		}
		n.Offsets[i+1] = n.Offsets[i] + int(lr.runs[i][0].N+lr.runs[i][1].N)
	}
	n.Index, n.Pose = make([]int32, n.Offsets[rows]), make([]int32, n.Offsets[rows])
	n.Poses, n.Count = make([]float64, poses[tasks]), make([]int32, poses[tasks])
	copy(n.Poses[:shared], all.Poses)
	for i := range l.lattice {
		for run, k := lr.runs[i][0], int32(0); k < run.N; k++ {
			n.Count[run.Pose+k] += int32(tasks)
		}
	}
	parallel.For(tasks, 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			base := t * l.size
			for i := base; i < base+l.size; i++ {
				at := n.Offsets[i]
				for side, first := range [2]int{base, base + l.lattice} {
					run := &lr.runs[i][side]
					run.Point += int32(first)
					own := side == 1 || i >= base+l.lattice
					if own {
						run.Pose += int32(poses[t])
					}
					for k := range run.N {
						n.Index[at], n.Pose[at] = run.Point+k, run.Pose+k
						at++
						if own {
							n.Poses[run.Pose+k], n.Count[run.Pose+k] = l.x[i]-l.x[run.Point+k], 1
						}
					}
				}
			}
		}
	})
	return n, lr
}
