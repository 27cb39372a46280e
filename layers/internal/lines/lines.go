// Package lines finds the neighbours of tasks on a line under translations from the order of their points, without a
// search.
package lines

import (
	"math"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor"
)

// Tasks are tasks on a line under translations: blocks of equal length, each of which has first a lattice of ascending
// points, equally many in each block, and then the task's own points, which ascend as well and end with padding. See
// neighbor.Line.
type Tasks struct {
	X       []float64 // [tasks·size] coordinates
	Lattice int       // points of the lattice
	Density float64   // 0: one lattice for all tasks; else a lattice is consecutive whole numbers divided by Density
	Size    int       // points of a block
	Own     []int     // number of each task's own points, without padding
	Alpha   float64   // the distance of x from y is alpha·|x - y|
	Reading bool      // own points see the lattice, and nobody sees anything else; see Geometry.Reading
}

// maxPairs is the number of pairs from which on neighbor.Ball is asked instead, which may refuse.
const maxPairs = 1 << 24

// Rows holds the neighbours of every row as runs of points that follow each other.
type Rows struct {
	Tasks  *Tasks
	Shared int                // poses 0 to shared-1 are those of lattice points among each other
	Runs   []neighbor.LineRow // of every row; points and poses are numbered as in the Neighborhood
}

// BlocksEnd returns where the last block ends, -1 if there is none.
func BlocksEnd(blocks []int) int {
	if len(blocks) == 0 {
		return -1
	}
	return blocks[len(blocks)-1]
}

// Ascends reports whether x ascends; with a NaN it does not.
func Ascends(x []float64) bool {
	for i := 1; i < len(x); i++ {
		if !(x[i-1] <= x[i]) {
			return false
		}
	}
	return len(x) == 0 || x[0] == x[0]
}

// First returns the number of the first lattice point of a task, if lattice points have numbers.
func (l *Tasks) First(task int) int { return int(math.Round(l.X[task*l.Size] * l.Density)) }

// Pairs returns the neighbourhoods of radius r, or nil if neighbor.Ball has to be asked, which may refuse.
func (l *Tasks) Pairs(r float64) (*neighbor.Neighborhood, *Rows) {
	if !(r > 0) {
		return nil, nil
	}
	tasks, rows := len(l.Own), len(l.X)
	all := neighbor.NewLine(l.X[:l.Lattice], l.Alpha, r)
	if l.Density != 0 && l.Lattice > 0 {
		var err error
		if all, err = neighbor.NewNumberedLine(l.Density, l.Alpha, r); err != nil {
			return nil, nil
		}
	}
	see, shared := neighbor.LineSight{Lattice: !l.Reading, Own: !l.Reading}, len(all.Poses)
	if l.Reading {
		shared = 0
	}
	n := &neighbor.Neighborhood{Queries: rows, Points: rows, PoseDim: 1, Offsets: make([]int, rows+1)}
	lr := &Rows{Tasks: l, Shared: shared, Runs: make([]neighbor.LineRow, rows)}
	// Rows are found task by task; a task's own poses are counted from its first.
	poses := make([]int, tasks+1)
	parallel.For(tasks, 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			at := t * l.Size
			line, own := all, l.X[at+l.Lattice:][:l.Own[t]]
			if l.Density != 0 && l.Lattice > 0 {
				line = &neighbor.Line{}
				line.Lay(all, [2]int{l.First(t), l.First(t) + l.Lattice})
			}
			_, _, poses[t+1] = line.Rows(lr.Runs[at:at:at+l.Size], own, see)
		}
	})
	poses[0] = shared
	for t := range tasks {
		poses[t+1] += poses[t]
	}
	for i := range lr.Runs {
		if n.Offsets[i] > maxPairs {
			return nil, nil
		}
		n.Offsets[i+1] = n.Offsets[i] + int(lr.Runs[i][0].N+lr.Runs[i][1].N)
	}
	n.Index, n.Pose = make([]int32, n.Offsets[rows]), make([]int32, n.Offsets[rows])
	n.Poses, n.Count = make([]float64, poses[tasks]), make([]int32, poses[tasks])
	copy(n.Poses[:shared], all.Poses)
	for i := range l.Lattice {
		for run, k := lr.Runs[i][0], int32(0); k < run.N; k++ {
			n.Count[run.Pose+k] += int32(tasks)
		}
	}
	parallel.For(tasks, 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			base := t * l.Size
			for i := base; i < base+l.Size; i++ {
				at := n.Offsets[i]
				for side, first := range [2]int{base, base + l.Lattice} {
					run := &lr.Runs[i][side]
					run.Point += int32(first)
					own := side == 1 || i >= base+l.Lattice
					if own {
						run.Pose += int32(poses[t])
					}
					for k := range run.N {
						n.Index[at], n.Pose[at] = run.Point+k, run.Pose+k
						at++
						if own {
							n.Poses[run.Pose+k], n.Count[run.Pose+k] = l.X[i]-l.X[run.Point+k], 1
						}
					}
				}
			}
		}
	})
	return n, lr
}
