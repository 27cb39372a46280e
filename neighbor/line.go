package neighbor

import (
	"fmt"
	"math"
)

// Line is a lattice on a line under translations: ascending points that the points of tasks see, and which of them are
// neighbours of each other. On a line a ball is an interval, so that a row of a neighbourhood is two runs of neighbours: one on
// the lattice and one among the points of its own that a task has beside it. Finding them is one walk along the line (Rows).
//
// Lattice points see each other under few poses, which the Line numbers. All other pairs have a pose each, even where two happen to
// be equal: looking for such pairs would cost more than it spares.
type Line struct {
	// Reach is the greatest difference of the numbers of two lattice points that are neighbours, and Poses are the lattice's own:
	// point i as seen from point j, up to Reach away, has pose Reach + j - i. Without pairs there are none.
	Reach int
	Poses []float64
	// Pairs is the number of pairs on the lattice.
	Pairs int

	alpha, radius float64
	density       float64 // points per unit of a lattice of numbered points; 0: of any points
	points        []float64
	within        [][2]int32 // of every lattice point: its neighbours on the lattice, [from, to)
}

// LineRun is a run of a row's neighbours: N points from Point on, under poses from Pose on. Poses follow each other as points do.
type LineRun struct{ Point, Pose, N int32 }

// LineRow is a row's neighbours on the lattice, and among its task's own points. Both count points from 0. Poses of lattice points
// among themselves are the Line's; the others are numbered from 0 along the rows of a task.
type LineRow [2]LineRun

// LineSight says who sees what, beside a task's own points, which always see the lattice.
type LineSight struct {
	Lattice bool // lattice points see the lattice
	Own     bool // everybody sees the task's own points: those too, and lattice points where they see anything
}

// NewLine returns the lattice of ascending points, whose neighbours are exactly those that Ball finds under T(1) with this alpha:
// the distance of x from y is alpha·|x - y|, and has to be less than radius.
func NewLine(points []float64, alpha, radius float64) *Line {
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
	// The points lie evenly, so a pose is that of any pair with the same difference, up to the rounding of the coordinates; it is taken
	// from the first pair, as Ball does.
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

// maxReach bounds Line.Reach of numbered points.
const maxReach = 1 << 20

// NewNumberedLine returns the lattice of the points k/density for all whole numbers k; Lay says which of them are there. Who is a
// neighbour of whom on it, and under which pose, follows from the difference of the numbers and not from rounded coordinates: parts of
// the lattice that lie anywhere have the same neighbourhoods, bit by bit.
func NewNumberedLine(density, alpha, radius float64) (*Line, error) {
	l := &Line{density: density, alpha: alpha, radius: radius}
	near := func(d int) bool { return alpha*(float64(d)/density) < radius }
	if math.IsNaN(radius) {
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

// Lay makes l the part of a numbered lattice that has the points of these spans: the numbers from the first of a span up to, not
// including, the second. Spans ascend; points of different spans do not see each other. l's memory is used again.
func (l *Line) Lay(all *Line, spans ...[2]int) {
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

// Points are the lattice's coordinates.
func (l *Line) Points() []float64 { return l.points }

// window returns the range of the ascending points that are neighbours of x. from and to are the range of a query that is not
// larger, or 0.
func (l *Line) window(x float64, points []float64, from, to int) (int, int) {
	near := func(y float64) bool { return l.alpha*math.Abs(x-y) < l.radius }
	for from < len(points) && points[from] < x && !near(points[from]) {
		from++
	}
	for to = max(from, to); to < len(points) && (points[to] < x || near(points[to])); to++ {
	}
	return from, to
}

// Rows appends to dst the rows of a task with ascending points of its own: first those of the lattice, then those of its own.
// It returns the number of pairs too, and that of poses beside the lattice's.
func (l *Line) Rows(dst []LineRow, own []float64, see LineSight) (rows []LineRow, pairs, poses int) {
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
