package neighbor

import (
	"fmt"
	"math"
)

// Line is a lattice on a line under translations: ascending points that all tasks of a model share, and which of them are
// neighbours of each other. On a line a ball is an interval, so a row of a neighbourhood consists of two runs: one on the
// lattice, and one among the task's own points beside it. Rows finds them in one walk along the line, much faster than Ball does.
// It serves models of curves and time series on a common lattice.
//
// Lattice points see each other under few poses, which the Line numbers. Every other pair has a pose of its own, even where two
// happen to be equal: looking for equal ones would cost more than it saves.
type Line struct {
	// Reach is the greatest difference between the numbers of two lattice points that are neighbours. Poses are the poses of
	// lattice points among each other: point i as seen from point j has pose Reach + j - i. Without pairs there are none. Points
	// that are not evenly spaced have neighbours, but no such poses.
	Reach int
	Poses []float64
	// Pairs is the number of pairs on the lattice.
	Pairs int

	alpha, radius float64
	density       float64 // points per unit if the points are numbered, else 0
	points        []float64
	within        [][2]int32 // of every lattice point: its neighbours on the lattice, [from, to)
}

// LineRun is a run of a row's neighbours: N points from number Point on, under consecutive poses from number Pose on.
type LineRun struct{ Point, Pose, N int32 }

// LineRow lists a row's neighbours: first those on the lattice, then those among its task's own points. Both count points from 0.
// The poses of lattice points among each other are the Line's; all other poses are numbered from 0 along the rows of a task.
type LineRow [2]LineRun

// LineSight says which points are neighbours. A task's own points always see the lattice.
type LineSight struct {
	Lattice bool // lattice points see the lattice
	Own     bool // the task's own points see each other, and lattice points that see anything see them, too
}

// NewLine returns the lattice of these ascending, evenly spaced points. Its neighbours are exactly those that Ball finds under T(1)
// with this alpha: alpha·|x - y| has to be less than radius. If alpha or radius is NaN, there are none. It panics if points do
// not ascend or one is NaN; equal ones are fine.
func NewLine(points []float64, alpha, radius float64) *Line {
	mustAscend("NewLine", "points", points)
	l := &Line{alpha: alpha, radius: radius, points: points, within: make([][2]int32, len(points))}
	from, to := 0, 0
	for i, x := range points {
		from, to = l.window(x, points, from, to)
		l.within[i] = [2]int32{int32(from), int32(to)}
		if from < to {
			l.Reach = max(l.Reach, i-from, to-1-i)
		}
		l.Pairs += to - from
	}
	if l.Pairs == 0 {
		return l
	}
	// The points are evenly spaced, so pairs with the same difference have the same pose, up to the rounding of coordinates; it
	// is taken from the first pair, as Ball does.
	l.Poses = make([]float64, 2*l.Reach+1)
	after, before := -1, 0 // the differences whose poses are known
	for i, w := range l.within {
		for d := after + 1; i+d < int(w[1]); d++ {
			l.Poses[l.Reach+d], after = points[i]-points[i+d], d
		}
		for d := before + 1; w[0] < w[1] && i-d >= int(w[0]); d++ {
			l.Poses[l.Reach-d], before = points[i]-points[i-d], d
		}
	}
	return l
}

// mustAscend panics unless x ascends.
func mustAscend(function, name string, x []float64) {
	for i, v := range x {
		if i > 0 && !(x[i-1] <= v) || v != v {
			panic(fmt.Sprintf("neighbor: %s: %s do not ascend at %d: %v", function, name, i, x[max(0, i-1):i+1]))
		}
	}
}

// maxLine bounds the points that Lay lays.
const maxLine = 1 << 28

// maxReach bounds Line.Reach where points are numbered.
const maxReach = 1 << 20

// NewNumberedLine returns the lattice of the points k/density for all whole numbers k; Lay selects those that a task uses.
// Neighbours and poses on it follow from differences of the numbers and not from rounded coordinates, so parts of the lattice
// that lie anywhere have the same neighbourhoods, bit for bit.
//
// Errors: ErrOption if density or alpha is not a positive, finite number, ErrValue for a NaN radius, ErrTooManyPairs if a point has
// more than about two million neighbours.
func NewNumberedLine(density, alpha, radius float64) (*Line, error) {
	l := &Line{density: density, alpha: alpha, radius: radius}
	near := func(d int) bool { return alpha*(float64(d)/density) < radius }
	switch {
	case !(density > 0) || math.IsInf(density, 1):
		return nil, fmt.Errorf("neighbor: NewNumberedLine: %w: density = %g, need a positive number", ErrOption, density)
	case !(alpha > 0) || math.IsInf(alpha, 1):
		return nil, fmt.Errorf("neighbor: NewNumberedLine: %w: alpha = %g, need a positive number", ErrOption, alpha)
	case math.IsNaN(radius):
		return nil, fmt.Errorf("neighbor: NewNumberedLine: %w: radius = NaN", ErrValue)
	}
	if !near(0) {
		return l, nil
	}
	if near(maxReach) {
		return nil, fmt.Errorf("neighbor: NewNumberedLine: %w: radius %g reaches over more than %d of %g points per unit", ErrTooManyPairs,
			radius, maxReach, density)
	}
	for lo, hi := 0, maxReach; lo+1 < hi; { // near(lo), not near(hi)
		if mid := (lo + hi) / 2; near(mid) {
			lo, l.Reach = mid, mid
		} else {
			hi = mid
		}
	}
	l.Poses = make([]float64, 2*l.Reach+1)
	for d := range l.Reach + 1 {
		l.Poses[l.Reach+d], l.Poses[l.Reach-d] = -float64(d)/density, float64(d)/density
	}
	return l, nil
}

// Lay makes l the part of a numbered lattice that consists of the points of these spans: the numbers from the first of a span up
// to, but not including, the second. Spans ascend, and points of different spans do not see each other. l's memory is used again.
// It panics if all has no numbers, as it was made by NewLine, if spans do not ascend, or if they have too many points.
func (l *Line) Lay(all *Line, spans ...[2]int) {
	if all == nil {
		panic("neighbor: Line.Lay: all = nil")
	}
	if all.density == 0 {
		panic("neighbor: Line.Lay: the points of all have no numbers, need a Line of NewNumberedLine")
	}
	total := 0.0
	for i, s := range spans {
		if s[1] < s[0] || i > 0 && s[0] < spans[i-1][1] {
			panic(fmt.Sprintf("neighbor: Line.Lay: spans do not ascend at %d: %v", i, spans[max(0, i-1):i+1]))
		}
		total += max(0, float64(s[1])-float64(s[0]))
	}
	if total > maxLine {
		panic(fmt.Sprintf("neighbor: Line.Lay: spans of %g points, need at most %d", total, maxLine))
	}
	points, within := l.points[:0], l.within[:0]
	*l = *all
	l.Pairs = 0
	for _, s := range spans {
		lo, hi := len(points), len(points)+s[1]-s[0]
		for k := s[0]; k < s[1]; k++ {
			i := len(points)
			from, to := i, i
			if len(l.Poses) > 0 {
				from, to = max(lo, i-l.Reach), min(hi, i+l.Reach+1)
			}
			points, within = append(points, float64(k)/l.density), append(within, [2]int32{int32(from), int32(to)})
			l.Pairs += to - from
		}
	}
	l.points, l.within = points, within
}

// Points returns the lattice's coordinates.
func (l *Line) Points() []float64 { return l.points }

// window returns the range of those points, which ascend, that are neighbours of x. from and to are the range that a smaller or
// equal x had, or 0.
func (l *Line) window(x float64, points []float64, from, to int) (int, int) {
	near := func(y float64) bool { return l.alpha*math.Abs(x-y) < l.radius }
	for from < len(points) && points[from] < x && !near(points[from]) {
		from++
	}
	for to = max(from, to); to < len(points) && (points[to] < x || near(points[to])); to++ {
	}
	return from, to
}

// Rows appends to dst the rows of a task whose own points ascend: first the rows of the lattice points, then those of its own
// points. It also returns the number of pairs and the number of poses that are not the lattice's. It panics if own does not ascend
// or holds a NaN.
func (l *Line) Rows(dst []LineRow, own []float64, see LineSight) (rows []LineRow, pairs, poses int) {
	mustAscend("Line.Rows", "own points", own)
	seen := own
	if !see.Own {
		seen = nil
	}
	number := func(from, to int) LineRun {
		run := LineRun{Point: int32(from), Pose: int32(poses), N: int32(to - from)}
		poses += to - from
		return run
	}
	from, to := 0, 0
	for i, x := range l.points {
		var row LineRow
		if see.Lattice {
			w := l.within[i]
			row[0] = LineRun{Point: w[0], Pose: int32(l.Reach-i) + w[0], N: w[1] - w[0]}
			from, to = l.window(x, seen, from, to)
			row[1] = number(from, to)
		}
		dst = append(dst, row)
	}
	if see.Lattice {
		pairs = l.Pairs
	}
	from, to = 0, 0
	seenFrom, seenTo := 0, 0
	for _, x := range own {
		var row LineRow
		from, to = l.window(x, l.points, from, to)
		row[0] = number(from, to)
		seenFrom, seenTo = l.window(x, seen, seenFrom, seenTo)
		row[1] = number(seenFrom, seenTo)
		dst = append(dst, row)
	}
	return dst, pairs + poses, poses
}
