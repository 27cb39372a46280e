package layers

import (
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/group"
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

// NewLineGeometry is NewGeometry for tasks on a line, under the group T(1). Blocks have equal lengths, and each starts with the
// same ascending lattice or, if density is positive, with consecutive points of the lattice k/density, k any whole number. The
// other points of a block ascend too, with padding at the end. Searching for neighbours and differentiating LieConv then take a
// fraction of the time. If the points are not laid out in this way, it does what NewGeometry does.
func NewLineGeometry[T Float](points *group.Lifted, mask []bool, blocks []int, lattice int, density float64) *Geometry[T] {
	g := NewGeometry[T](points, mask, blocks, 0, 0)
	if !wellFormed(points) || mask != nil && len(mask) != points.Rows() || lattice < 0 {
		return g // whose Pairs says what is wrong
	}
	t, ok := points.Group.(*group.T)
	if !ok || points.Rows() != blocksEnd(blocks) || t.PointDim() != 1 || len(blocks) < 2 || blocks[1] < lattice {
		return g
	}
	l := &lineTasks{lattice: lattice, density: density, size: blocks[1], alpha: t.Alpha()}
	for i := range points.Rows() {
		a, _ := points.Row(i)
		l.x = append(l.x, a[0])
	}
	for b, at := range blocks[:len(blocks)-1] {
		if at != b*l.size || blocks[b+1] != at+l.size || (density == 0 && !slices.Equal(l.x[at:at+lattice], l.x[:lattice])) {
			return g
		}
		for i := range lattice {
			if density != 0 && l.x[at+i] != float64(l.first(b)+i)/density {
				return g
			}
		}
		n := lattice
		for n < l.size && (mask == nil || mask[at+n]) {
			n++
		}
		for k := n; k < l.size; k++ {
			if mask[at+k] {
				return g
			}
		}
		if mask != nil && slices.Contains(mask[at:at+lattice], false) {
			return g
		}
		if !ascends(l.x[at:at+lattice]) || !ascends(l.x[at+lattice:at+n]) {
			return g
		}
		l.own = append(l.own, n-lattice)
	}
	g.line = l
	return g
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
