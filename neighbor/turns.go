package neighbor

import (
	"math"
	"runtime"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
)

// A turn of a set of points onto itself takes every pair to one with the same pose, if poses do not feel turns. On an image
// three pairs of four are such copies of an earlier one, and need not be looked up in a table: they take over the entry that
// the earlier pair, their leader, was given.
//
// Where a turn takes a point is a guess, from coordinates; that the two poses agree is checked. So nothing depends on the
// guess but time. Of rows that are turned to within a fraction of the tolerance, as all but a few of an image are, a
// group.Turner says that all pairs agree; the poses of other pairs are compared. A follower takes its leader's entry if
//
//   - its pose is within turnReach tolerances of its leader's,
//   - that one is within enterReach tolerances of the entry, and
//   - the entry is alone: no earlier one is within two tolerances.
//
// Then the follower's pose is within the tolerance of that entry, and of no earlier one: it is the entry that a search would
// have found. Where a leader's entry fails these, the tables are filled again without turns.
const (
	turnReach  = 0.25
	enterReach = 0.5 // with turnReach below 1, with room for rounding
	// turnProbes is how many pairs are turned to see whether it is worthwhile.
	turnProbes = 64
	turnGrain  = 512
)

// turnOrders are the turns looked for, in parts of a full one: those of plane lattices.
var turnOrders = [...]int{6, 4, 3, 2}

// turns says where turns by 1, 2, ... parts of a full one take rows; -1 is nowhere.
type turns struct {
	query, point [][]int32
	// querySure and pointSure tell of which rows the error, as group.Turner has it, is at most half of turnReach tolerances,
	// and as small as Turner asks for: the pairs of two of them need no look at their poses. nil are none.
	querySure, pointSure [][]bool
}

// findTurns returns turns under which many poses repeat, or nil.
func (p *problem) findTurns(tol float64) *turns {
	bounder, ok := p.g.(group.Bounder)
	if !ok {
		return nil
	}
	axis := -1
	for k, period := range bounder.BoundPeriods() {
		if period > 0 {
			axis = k
			break
		}
	}
	if axis < 0 || p.queries.Rows() == 0 || p.points.Rows() == 0 {
		return nil
	}
	points := newTurnIndex(bounder, axis, tol, p.points, p.PointMask, p.PointBlocks)
	queries := points
	if p.points != p.queries {
		queries = newTurnIndex(bounder, axis, tol, p.queries, p.QueryMask, p.QueryBlocks)
	}
	for _, order := range turnOrders {
		if !p.probeTurn(queries, points, order, tol) {
			continue
		}
		t := &turns{}
		for k := 1; k < order; k++ {
			part := float64(k) / float64(order)
			t.point = append(t.point, points.turnAll(part))
			if queries == points {
				t.query = t.point
			} else {
				t.query = append(t.query, queries.turnAll(part))
			}
		}
		if turner, ok := p.g.(group.Turner); ok && p.Radius <= 0.98*turner.HalfTurn() {
			t.pointSure = sureTurns(turner, p.points, t.point, tol)
			if t.querySure = t.pointSure; queries != points {
				t.querySure = sureTurns(turner, p.queries, t.query, tol)
			}
		}
		return t
	}
	return nil
}

// sureTurns tells, for every turn of a set, of which rows its error is small enough.
func sureTurns(g group.Turner, l *group.Lifted, turns [][]int32, tol float64) [][]bool {
	sure, most := make([][]bool, len(turns)), min(turnReach*tol, 0.01)/2
	for k, turn := range turns {
		angle := 2 * math.Pi * float64(k+1) / float64(len(turns)+1)
		sure[k] = make([]bool, len(turn))
		parallel.For(len(turn), turnGrain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				if to := turn[i]; to >= 0 {
					a, q := l.Row(i)
					b, p := l.Row(int(to))
					sure[k][i] = g.TurnError(a, q, b, p, angle) <= most
				}
			}
		})
	}
	return sure
}

// probeTurn reports whether at least half of some pairs are turned into pairs of the same pose.
func (p *problem) probeTurn(queries, points *turnIndex, order int, tol float64) bool {
	e := group.PoseDim(p.g)
	pose, turned := make([]float64, e), make([]float64, e)
	key := make([]float64, queries.dim)
	part, good := 1/float64(order), 0
	for s := range turnProbes {
		i := s * queries.rows() / turnProbes
		j := (2*s + 1) % turnProbes * points.rows() / turnProbes
		ti, tj := queries.turn(key, i, part), points.turn(key, j, part)
		if ti < 0 || tj < 0 {
			continue
		}
		p.relativePose(pose, i, j)
		p.relativePose(turned, int(ti), int(tj))
		if within(pose, turned, turnReach*tol) {
			good++
		}
	}
	return good >= turnProbes/2
}

// turnIndex finds rows by their bounding coordinates.
type turnIndex struct {
	table  *poseTable // over the bits of coords
	coords []float64  // [rows, dim]: the number of the row's block, and its bounding coordinates
	dim    int
	axis   int // the coordinate that turns
	period float64
}

func newTurnIndex(bounder group.Bounder, axis int, tol float64, l *group.Lifted, mask []bool, blocks []int) *turnIndex {
	dim := bounder.BoundDim() + 1
	x := &turnIndex{
		table: newPoseTable(dim, dim, tol, make([]uint64, l.Rows()*dim)), coords: make([]float64, l.Rows()*dim), dim: dim,
		axis: axis + 1, period: bounder.BoundPeriods()[axis],
	}
	x.table.reset(l.Rows())
	hashes := make([]uint64, l.Rows())
	parallel.For(l.Rows(), turnGrain, func(lo, hi int) {
		block := 0
		for i := lo; i < hi; i++ {
			for i >= blocks[block+1] {
				block++
			}
			row := x.coords[i*dim : (i+1)*dim]
			row[0] = math.NaN() // found by nobody
			if !counts(mask, i) {
				continue
			}
			a, q := l.Row(i)
			bounder.BoundCoords(row[1:], a, q)
			if firstBad(row[1:]) >= 0 {
				continue
			}
			row[0] = float64(block)
			for c, v := range row {
				x.table.items[i*dim+c] = math.Float64bits(v)
			}
			hashes[i] = x.table.hash(row)
		}
	})
	for i, hash := range hashes {
		if row := x.coords[i*dim : (i+1)*dim]; row[0] == row[0] {
			x.table.enter(row, hash, i)
		}
	}
	return x
}

func (x *turnIndex) rows() int { return len(x.coords) / x.dim }

// turn returns the row that a turn by part of a full one takes row i to, or -1. key [dim] is scratch.
func (x *turnIndex) turn(key []float64, i int, part float64) int32 {
	row := x.coords[i*x.dim : (i+1)*x.dim]
	if row[0] != row[0] {
		return -1
	}
	copy(key, row)
	angle := row[x.axis] + part*x.period
	if angle > x.period/2 {
		angle -= x.period
	}
	key[x.axis] = angle
	id, _ := x.table.search(key, x.table.hash(key))
	if id == absent && math.Abs(angle) > 0.49*x.period { // half a period may stand as either end
		key[x.axis] = angle - math.Copysign(x.period, angle)
		id, _ = x.table.search(key, x.table.hash(key))
	}
	if id == absent {
		return -1
	}
	return int32(id)
}

// turnAll returns where all rows are taken.
func (x *turnIndex) turnAll(part float64) []int32 {
	to := make([]int32, x.rows())
	parallel.For(len(to), turnGrain, func(lo, hi int) {
		key := make([]float64, x.dim)
		for i := lo; i < hi; i++ {
			to[i] = x.turn(key, i, part)
		}
	})
	return to
}

// leaders returns for every query the turn that takes an earlier one, its leader, to it, counted from 1; 0 is none. A leader
// has no leader, and to which queries one leads is said by its turns.
func (t *turns) leaders() (leader []int32, by []uint8) {
	n := len(t.query[0])
	leader, by = make([]int32, n), make([]uint8, n)
	for i := range leader {
		if by[i] != 0 {
			continue
		}
		for k, to := range t.query {
			if f := to[i]; int(f) > i && by[f] == 0 {
				leader[f], by[f] = int32(i), uint8(k+1)
			}
		}
	}
	return leader, by
}

// turnWork is scratch of one goroutine.
type turnWork struct {
	// place says, by row of points, where it may stand in the leader's row, counted from base as followRow has it; what is less
	// is of another query.
	place       []int32
	base        int32
	lead, poses []float64
}

// follow sets Pose of each pair that follows to the complement of its leader, and of each other pair to the number of its
// followers. It returns how many pairs of each query follow.
func (t *turns) follow(p *problem, nb *Neighborhood, tol float64) []int32 {
	leader, by := t.leaders()
	work := make([]turnWork, runtime.GOMAXPROCS(0))
	following := make([]int32, nb.Queries)
	parallel.ForWorkers(nb.Queries, 16, len(work), func(worker, lo, hi int) {
		w := &work[worker]
		if w.place == nil {
			w.place, w.base = make([]int32, nb.Points), 1
		}
		for i := lo; i < hi; i++ {
			if by[i] != 0 || nb.Offsets[i] == nb.Offsets[i+1] {
				continue
			}
			w.lead = w.lead[:0]
			for k := range t.query {
				if f := int(t.query[k][i]); f > i && int(leader[f]) == i && int(by[f]) == k+1 {
					following[f] = int32(w.followRow(p, nb, t, k, i, f, turnReach*tol))
				}
			}
		}
	})
	return following
}

// row returns the poses of row i, in dst if there is room.
func (p *problem) row(dst []float64, nb *Neighborhood, i int) []float64 {
	lo, hi := nb.Offsets[i], nb.Offsets[i+1]
	n := (hi - lo) * nb.PoseDim
	if cap(dst) < n {
		dst = make([]float64, n+n/4)
	}
	dst = dst[:n]
	p.posesOf(dst, i, nb.Index[lo:hi])
	return dst
}

// followRow has the pairs of query f follow those of query i where turn k takes one to the other and their poses differ by at
// most tol. It returns how many do. w.lead is empty or has the poses of row i.
func (w *turnWork) followRow(p *problem, nb *Neighborhood, t *turns, k, i, f int, tol float64) int {
	lo, hi := nb.Offsets[i], nb.Offsets[i+1]
	if hi-lo > math.MaxInt32/4 { // of which place has no room for two
		return 0
	}
	n := int32(hi - lo)
	if int(w.base) > math.MaxInt32-2*int(n) {
		clear(w.place)
		w.base = 1
	}
	// Pairs that are sure to agree are counted from base, others from base + n.
	base, place, turn := w.base, w.place, t.point[k]
	w.base += 2 * n
	sure, unsure := []bool(nil), base+n
	if t.pointSure != nil && t.querySure[k][i] {
		sure = t.pointSure[k]
	}
	for at, j := range nb.Index[lo:hi] {
		if to := turn[j]; to >= 0 {
			if sure != nil && sure[j] {
				place[to] = base + int32(at)
			} else {
				place[to] = unsure + int32(at)
			}
		}
	}
	row, pose, count := nb.Index[nb.Offsets[f]:nb.Offsets[f+1]], nb.Pose[nb.Offsets[f]:nb.Offsets[f+1]], nb.Pose[lo:hi]
	following, compared := 0, false
	for m, j := range row[:len(pose)] {
		at := uint32(place[j] - base)
		if at >= uint32(n) {
			if at -= uint32(n); at >= uint32(n) { // of another query
				continue
			}
			if !compared {
				compared = true
				if len(w.lead) == 0 {
					w.lead = p.row(w.lead, nb, i)
				}
				w.poses = p.row(w.poses, nb, f)
			}
			if !w.agree(m, int(at), nb.PoseDim, tol) {
				continue
			}
		}
		pose[m] = ^(int32(lo) + int32(at))
		count[at]++
		following++
	}
	return following
}

// agree reports whether poses m of w.poses and at of w.lead differ by at most tol.
func (w *turnWork) agree(m, at, e int, tol float64) bool {
	switch e {
	case 2:
		a, b := w.poses[2*m:][:2], w.lead[2*at:][:2]
		return math.Abs(a[0]-b[0]) <= tol && math.Abs(a[1]-b[1]) <= tol
	case 3:
		a, b := w.poses[3*m:][:3], w.lead[3*at:][:3]
		return math.Abs(a[0]-b[0]) <= tol && math.Abs(a[1]-b[1]) <= tol && math.Abs(a[2]-b[2]) <= tol
	}
	return within(w.poses[m*e:(m+1)*e], w.lead[at*e:(at+1)*e], tol)
}

// leadersOnly returns the pairs that follow none, ascending. following says how many pairs of each query follow, all together.
func leadersOnly(nb *Neighborhood, following []int32, all int) []int32 {
	out := make([]int32, nb.Pairs()-all)
	const grain = 64
	start := make([]int, (nb.Queries+grain-1)/grain)
	n := 0
	for i, f := range following {
		if i%grain == 0 {
			start[i/grain] = n
		}
		n += nb.Offsets[i+1] - nb.Offsets[i] - int(f)
	}
	parallel.For(nb.Queries, grain, func(lo, hi int) {
		at := start[lo/grain]
		for i := lo; i < hi; i++ {
			first, end := nb.Offsets[i], nb.Offsets[i+1]
			if int(following[i]) == end-first {
				continue
			}
			for k, v := range nb.Pose[first:end] {
				if v >= 0 {
					out[at] = int32(first + k)
					at++
				}
			}
		}
	})
	return out
}
