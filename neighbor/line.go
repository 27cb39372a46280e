package neighbor

import "math"

// Line is a lattice on a line under translations: ascending points that the points of tasks see, and which of them are
// neighbours of each other. On a line a ball is an interval, so that a row of a neighbourhood is two runs of neighbours: one on
// the lattice and one among the points of its own that a task has beside it. Finding them is one walk along the line (Rows).
//
// Lattice points see each other under few poses, which the Line numbers. All other pairs have a pose each, even where two happen to
// be equal: looking for such pairs would cost more than it spares.
type Line struct {
	// Reach is the greatest difference of the numbers of two lattice points that are neighbours, and Poses are the lattice's own:
	// point j is seen from point i, by as much as Reach away, under pose Reach + j - i. Without pairs there are none.
	Reach int
	Poses []float64
	// Pairs is the number of pairs on the lattice.
	Pairs int

	alpha, radius float64
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
