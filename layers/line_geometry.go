package layers

import (
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor"
)

// lineTasks are tasks side by side on a line under translations: blocks of equal length, each with the same ascending lattice
// first and then points of its own, ascending but for padding at the end. There a ball is an interval, so that a row has two runs
// of neighbours, one on the lattice and one among the task's own points.
//
// Lattice points see each other under few poses, the lattice's own distances, which all tasks share. All other pairs have a pose
// each, even where two happen to be equal: looking for such pairs would cost more than it spares. With poses numbered along the
// rows, the poses of a run follow each other as its points do.
type lineTasks struct {
	x       []float64 // [tasks·size] coordinates
	lattice int       // points of the lattice
	size    int       // points of a block
	own     []int     // points of each task's own that are no padding
	alpha   float64   // the distance of x from y is alpha·|x - y|
	reading bool      // points of its own see the lattice, and nothing else is seen; see Geometry.Reading
}

// maxLinePairs is the number of pairs from which on neighbor.Ball may have something to say.
const maxLinePairs = 1 << 24

// lineRun is a row's neighbours on the lattice or among its task's own points: points from point on, under poses from pose on.
type lineRun struct{ point, pose, n int32 }

// lineRows is what pairs on a line look like.
type lineRows struct {
	tasks  *lineTasks
	shared int          // poses 0 to shared are those of lattice points among themselves
	runs   [][2]lineRun // of every row; the first on the lattice
}

// NewLineGeometry is NewGeometry for tasks on a line, under the group T(1): blocks of equal length, each of which starts with the
// same ascending lattice; a block's other points ascend too, but for padding, which comes last. Searching for neighbours and
// differentiating LieConv take a fraction of the time there. Where points are laid out otherwise, it is NewGeometry.
func NewLineGeometry[T Float](points *group.Lifted, mask []bool, blocks []int, lattice int) *Geometry[T] {
	g := NewGeometry[T](points, mask, blocks, 0, 0)
	t, ok := points.Group.(*group.T)
	if !ok || t.PointDim() != 1 || len(blocks) < 2 || blocks[1] < lattice {
		return g
	}
	l := &lineTasks{lattice: lattice, size: blocks[1], alpha: t.Alpha()}
	for i := range points.Rows() {
		a, _ := points.Row(i)
		l.x = append(l.x, a[0])
	}
	for b, at := range blocks[:len(blocks)-1] {
		if at != b*l.size || blocks[b+1] != at+l.size || !slices.Equal(l.x[at:at+lattice], l.x[:lattice]) {
			return g
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

// ascends reports whether x ascends, which no NaN does.
func ascends(x []float64) bool {
	for i := 1; i < len(x); i++ {
		if !(x[i-1] <= x[i]) {
			return false
		}
	}
	return len(x) == 0 || x[0] == x[0]
}

// window returns the range of the ascending points that are neighbours of x: exactly those that neighbor.Ball takes. from and to
// are the range of a query that is not larger.
func (l *lineTasks) window(x float64, points []float64, radius float64, from, to int) (int, int) {
	near := func(y float64) bool { return l.alpha*math.Abs(x-y) < radius }
	for from < len(points) && points[from] < x && !near(points[from]) {
		from++
	}
	for to = max(from, to); to < len(points) && (points[to] < x || near(points[to])); to++ {
	}
	return from, to
}

// pairs returns the neighbourhoods of radius r; nil where they are for neighbor.Ball to refuse.
func (l *lineTasks) pairs(r float64) (*neighbor.Neighborhood, *lineRows) {
	if !(r > 0) {
		return nil, nil
	}
	tasks, rows := len(l.own), len(l.x)
	// The lattice's points among themselves.
	grid := l.x[:l.lattice]
	within := make([]lineRun, l.lattice)
	reach, from, to := 0, 0, 0
	for i, x := range grid {
		if l.reading {
			break
		}
		from, to = l.window(x, grid, r, from, to)
		within[i] = lineRun{point: int32(from), n: int32(to - from)}
		if to > from {
			reach = max(reach, i-from, to-1-i)
		}
	}
	shared := 0
	if len(grid) > 0 && !l.reading {
		shared = 2*reach + 1
	}
	n := &neighbor.Neighborhood{Queries: rows, Points: rows, PoseDim: 1, Offsets: make([]int, rows+1)}
	lr := &lineRows{tasks: l, shared: shared, runs: make([][2]lineRun, rows)}
	// Runs, task by task; own poses are counted from the task's first.
	poses := make([]int, tasks+1)
	parallel.For(tasks, 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			x := l.x[t*l.size : (t+1)*l.size]
			own, pose := x[l.lattice:l.lattice+l.own[t]], 0
			number := func(a, b int) lineRun {
				run := lineRun{point: int32(a), pose: int32(pose), n: int32(b - a)}
				pose += b - a
				return run
			}
			ownFrom, ownTo := 0, 0
			for i, v := range grid {
				if l.reading {
					break
				}
				run := &lr.runs[t*l.size+i]
				run[0] = within[i]
				run[0].pose = int32(reach-i) + run[0].point
				ownFrom, ownTo = l.window(v, own, r, ownFrom, ownTo)
				run[1] = number(ownFrom, ownTo)
			}
			from, to, ownFrom, ownTo := 0, 0, 0, 0
			for i, v := range own {
				run := &lr.runs[t*l.size+l.lattice+i]
				from, to = l.window(v, grid, r, from, to)
				run[0] = number(from, to)
				if !l.reading {
					ownFrom, ownTo = l.window(v, own, r, ownFrom, ownTo)
					run[1] = number(ownFrom, ownTo)
				}
			}
			poses[t+1] = pose
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
		n.Offsets[i+1] = n.Offsets[i] + int(lr.runs[i][0].n+lr.runs[i][1].n)
	}
	n.Index, n.Pose = make([]int32, n.Offsets[rows]), make([]int32, n.Offsets[rows])
	n.Poses, n.Count = make([]float64, poses[tasks]), make([]int32, poses[tasks])
	for i := range grid {
		for k := range within[i].n {
			p := reach - i + int(within[i].point+k)
			if n.Count[p] == 0 {
				n.Poses[p] = grid[i] - grid[within[i].point+k]
			}
			n.Count[p] += int32(tasks)
		}
	}
	parallel.For(tasks, 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			base := t * l.size
			for i := base; i < base+l.size; i++ {
				at := n.Offsets[i]
				for side, first := range [2]int{base, base + l.lattice} {
					run := &lr.runs[i][side]
					run.point += int32(first)
					own := side == 1 || i >= base+l.lattice
					if own {
						run.pose += int32(poses[t])
					}
					for k := range run.n {
						n.Index[at], n.Pose[at] = run.point+k, run.pose+k
						at++
						if own {
							n.Poses[run.pose+k], n.Count[run.pose+k] = l.x[i]-l.x[run.point+k], 1
						}
					}
				}
			}
		}
	})
	return n, lr
}
