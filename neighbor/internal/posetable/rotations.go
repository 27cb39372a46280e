package posetable

import (
	"math"
	"runtime"
	"slices"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
)

// This strategy applies where rotations of the group map the points to themselves and leave poses unchanged, as with an image
// under rotations: a pair then has the pose of its rotated copies. On an image three of four pairs are copies of an earlier pair,
// and need no look-up: they follow that pair, their leader, to the entry that it gets.
//
// Where a rotation takes a point is guessed from coordinates. What is proved: for rows that are rotated copies up to a fraction
// of the tolerance, as nearly all rows of an image are, group.RotationInvariant guarantees that all pairs agree; the poses of
// other pairs are compared. A follower takes its leader's entry if
//
//   - its pose is within rotationReach tolerances of its leader's,
//   - that one is within enterReach tolerances of the entry, and
//   - the entry is alone: no earlier one is within two tolerances.
//
// Then the follower's pose is within the tolerance of that entry and of no earlier one, so it is the entry that a search would
// have found. If the entry of a leader fails these conditions, the strategy gives up.
const (
	rotationReach = 0.25
	// probePairs is how many pairs are rotated to find out whether the strategy pays.
	probePairs = 64
	// followGrain is how many queries a goroutine takes at a time when followers are found.
	followGrain = 16
)

// rotationOrders are the rotations that are tried, as divisors of a full turn: those of plane lattices.
var rotationOrders = [...]int{6, 4, 3, 2}

// rotations says where rotations by 1, 2, ... parts of a full turn take rows, and which queries follow which.
type rotations struct {
	query, point [][]int32 // -1 is nowhere
	// querySure marks the queries whose error, in the sense of group.RotationInvariant, is at most half of rotationReach
	// tolerances and as small as RotationInvariant requires. The poses of pairs of two such rows need not be compared.
	querySure [][]bool
	// from says which point is taken to each point: its row; or, if its error is larger than for querySure, -2 minus that row; or
	// -1 for none.
	from [][]int32
	// leader says for every query which earlier query is taken to it by the rotation by, counted from 1; by is 0 where there is
	// none. A leader has no leader itself.
	leader []int32
	by     []uint8
	// twins are those of Table: a query's leader, if all pairs of both agree. follow sets it.
	twins []int32
}

// rotationProbe is an order of rotations under which many poses repeat, with what is needed to rotate all points.
type rotationProbe struct {
	queries, points *rowIndex
	order           int
}

// probeRotations looks for rotations under which many poses repeat. It returns nil if there are none.
func probeRotations(p *Pairs) *rotationProbe {
	bounder, ok := p.Group.(group.Bounder)
	if !ok || p.Sampled { // samples do not turn with their queries
		return nil
	}
	axis := -1
	for k, period := range bounder.BoundPeriods() {
		if period > 0 {
			axis = k
			break
		}
	}
	if axis < 0 || p.Queries.Rows() == 0 || p.Points.Rows() == 0 {
		return nil
	}
	points := newRowIndex(bounder, axis, p.Tolerance, p.Points, p.PointMask, p.PointBlocks)
	queries := points
	if p.Points != p.Queries {
		queries = newRowIndex(bounder, axis, p.Tolerance, p.Queries, p.QueryMask, p.QueryBlocks)
	}
	for _, order := range rotationOrders {
		if probeRotation(p, queries, points, order) {
			return &rotationProbe{queries, points, order}
		}
	}
	return nil
}

// rotations rotates all points.
func (f *rotationProbe) rotations(p *Pairs) *rotations {
	rotates, _ := p.Group.(group.RotationInvariant)
	if rotates != nil && !(p.Radius <= 0.98*rotates.HalfTurnDistance()) {
		rotates = nil
	}
	most := min(rotationReach*p.Tolerance, 0.01) / 2
	t := &rotations{}
	var pointSure [][]bool
	t.point, pointSure = f.points.rotateAll(f.order, rotates, most)
	if t.query, t.querySure = t.point, pointSure; f.queries != f.points {
		t.query, t.querySure = f.queries.rotateAll(f.order, rotates, most)
	}
	t.from = make([][]int32, len(t.point))
	parallel.For(len(t.point)+1, 1, func(k, _ int) {
		if k == len(t.point) {
			t.lead()
			return
		}
		from := make([]int32, len(t.point[k]))
		for j := range from {
			from[j] = -1
		}
		for j, to := range t.point[k] {
			switch {
			case to < 0:
			case pointSure[k][j]:
				from[to] = int32(j)
			default:
				from[to] = ^int32(j) - 1
			}
		}
		t.from[k] = from
	})
	return t
}

// probeRotation reports whether at least half of some pairs are rotated into pairs of the same pose.
func probeRotation(p *Pairs, queries, points *rowIndex, order int) bool {
	pose, rotated := make([]float64, p.e), make([]float64, p.e)
	key := make([]float64, queries.dim)
	part, good := 1/float64(order), 0
	for s := range probePairs {
		i := s * queries.rows() / probePairs
		j := (2*s + 1) % probePairs * points.rows() / probePairs
		ti, tj := queries.rotate(key, i, part), points.rotate(key, j, part)
		if ti < 0 || tj < 0 {
			continue
		}
		p.pose(pose, i, j)
		p.pose(rotated, int(ti), int(tj))
		if within(pose, rotated, rotationReach*p.Tolerance) {
			good++
		}
	}
	return good >= probePairs/2
}

// rowIndex finds rows by their bounding coordinates.
type rowIndex struct {
	l      *group.Lifted
	table  *cellTable // over the bits of coords
	coords []float64  // [rows, dim]: the number of the row's block, and its bounding coordinates
	dim    int
	axis   int // the coordinate that is an angle
	period float64
}

func newRowIndex(bounder group.Bounder, axis int, tol float64, l *group.Lifted, mask []bool, blocks []int) *rowIndex {
	dim := bounder.BoundDim() + 1
	x := &rowIndex{
		l: l, table: newCellTable(dim, dim, tol, make([]uint64, l.Rows()*dim)), coords: make([]float64, l.Rows()*dim), dim: dim,
		axis: axis + 1, period: bounder.BoundPeriods()[axis],
	}
	x.table.reset(l.Rows())
	hashes := make([]uint64, l.Rows())
	parallel.For(l.Rows(), rowGrain, func(lo, hi int) {
		block := 0
		for i := lo; i < hi; i++ {
			for i >= blocks[block+1] {
				block++
			}
			row := x.coords[i*dim : (i+1)*dim]
			row[0] = math.NaN() // equal to nothing, so never found
			if !counts(mask, i) {
				continue
			}
			a, q := l.Row(i)
			bounder.BoundCoords(row[1:], a, q)
			if !finite(row[1:]) {
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
			x.table.enterCell(row, hash, i)
		}
	}
	return x
}

func (x *rowIndex) rows() int { return len(x.coords) / x.dim }

// rotate returns the row that a rotation by part, a fraction of a full turn, takes row i to, or -1. key [dim] is scratch.
func (x *rowIndex) rotate(key []float64, i int, part float64) int32 {
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
	if id == absent && math.Abs(angle) > 0.49*x.period { // half a period is stored as plus or minus
		key[x.axis] = angle - math.Copysign(x.period, angle)
		id, _ = x.table.search(key, x.table.hash(key))
	}
	if id == absent {
		return -1
	}
	return int32(id)
}

// rotateAll returns where rotations by 1, 2, ... parts of a full turn take all rows, and marks as sure the rows whose error is at
// most most by g.RotationError; none if g is nil.
func (x *rowIndex) rotateAll(order int, g group.RotationInvariant, most float64) (to [][]int32, sure [][]bool) {
	n := x.rows()
	to, sure = make([][]int32, order-1), make([][]bool, order-1)
	for k := range to {
		to[k], sure[k] = make([]int32, n), make([]bool, n)
	}
	parallel.For(n, rowGrain, func(lo, hi int) {
		key := make([]float64, x.dim)
		for i := lo; i < hi; i++ {
			to[0][i] = x.rotate(key, i, 1/float64(order))
		}
	})
	parallel.For(n, rowGrain, func(lo, hi int) {
		key := make([]float64, x.dim)
		for k := range to {
			part := float64(k+1) / float64(order)
			angle := 2 * math.Pi * part
			for i := lo; i < hi; i++ {
				if k > 0 { // mostly where the previous rotations already took it
					to[k][i] = -1
					if j := to[k-1][i]; j >= 0 {
						to[k][i] = to[0][j]
					}
					if to[k][i] < 0 {
						to[k][i] = x.rotate(key, i, part)
					}
				}
				if j := to[k][i]; j >= 0 && g != nil {
					a, q := x.l.Row(i)
					b, p := x.l.Row(int(j))
					sure[k][i] = g.RotationError(a, q, b, p, angle) <= most
				}
			}
		}
	})
	return to, sure
}

// lead finds the leader of every query.
func (t *rotations) lead() {
	n := len(t.query[0])
	t.leader, t.by = make([]int32, n), make([]uint8, n)
	for i := range t.leader {
		if t.by[i] != 0 {
			continue
		}
		for k, to := range t.query {
			if f := to[i]; int(f) > i && t.by[f] == 0 {
				t.leader[f], t.by[f] = int32(i), uint8(k+1)
			}
		}
	}
}

// follower returns the query that rotation k takes query i to, if i is its leader, or else -1.
func (t *rotations) follower(i, k int) int {
	if f := t.query[k][i]; int(f) > i && int(t.leader[f]) == i && int(t.by[f]) == k+1 {
		return int(f)
	}
	return -1
}

// followWork is scratch of one goroutine.
type followWork struct {
	// place gives, for a row of points, its position in the leader's row, counted from base; smaller numbers are left from other
	// queries.
	place       []int32
	base, n     int32 // n is how many points the leader's row has
	lead, poses []float64
}

// follow sets Pose of each pair that follows another to the complement of its leader, and of each other pair to the number of its
// followers. It returns how many pairs of each query follow others.
func (t *rotations) follow(p *Pairs) []int32 {
	work := make([]followWork, runtime.GOMAXPROCS(0))
	following := make([]int32, p.rows())
	t.twins = slices.Repeat([]int32{NoTwin}, p.rows())
	parallel.ForWorkers(p.rows(), followGrain, len(work), func(worker, lo, hi int) {
		p.pause()
		w := &work[worker]
		if w.place == nil {
			w.place, w.base = make([]int32, p.Points.Rows()), 1
		}
		for i := lo; i < hi; i++ {
			if t.by[i] != 0 || p.Offsets[i] == p.Offsets[i+1] {
				continue
			}
			placed, counted := false, int32(0)
			for k := range t.query {
				f := t.follower(i, k)
				if f < 0 {
					continue
				}
				if !placed {
					placed = true
					w.setPlaces(p.Index[p.Offsets[i]:p.Offsets[i+1]])
				}
				n, all := w.followRow(p, t, k, i, f)
				if following[f] = int32(n); all {
					counted++
					if n == p.Offsets[f+1]-p.Offsets[f] {
						t.twins[f] = int32(i)
					}
				}
			}
			if counted > 0 {
				count := p.Pose[p.Offsets[i]:p.Offsets[i+1]]
				for at := range count {
					count[at] += counted
				}
			}
		}
	})
	return following
}

// setPlaces records in place where each point stands in the row of a leader.
func (w *followWork) setPlaces(row []int32) {
	n := int32(len(row))
	if w.base > math.MaxInt32-w.n-n {
		clear(w.place)
		w.base, w.n = 1, 0
	}
	w.base, w.n = w.base+w.n, n
	base, place := w.base, w.place
	for at, j := range row {
		place[j] = base + int32(at)
	}
	w.lead = w.lead[:0]
}

// followRow makes the pairs of query f follow those of query i, whose places w knows, where rotation k takes one pair to the
// other and their poses differ by little enough. It returns how many pairs follow, and whether each pair of query i is followed
// by exactly one; if not, the pairs of query i count their followers.
func (w *followWork) followRow(p *Pairs, t *rotations, k, i, f int) (following int, all bool) {
	lo, hi := p.Offsets[i], p.Offsets[i+1]
	base, place, from, sure := w.base, w.place, t.from[k], t.querySure[k][i]
	row, pose, count := p.Index[p.Offsets[f]:p.Offsets[f+1]], p.Pose[p.Offsets[f]:p.Offsets[f+1]], p.Pose[lo:hi]
	compared := false
	for m, to := range row[:len(pose)] {
		j := from[to]
		compare := !sure
		if j < 0 {
			compare = true
			if j = ^(j + 1); j < 0 {
				continue
			}
		}
		at := uint32(place[j] - base)
		if at >= uint32(len(count)) { // left from another query
			continue
		}
		if compare {
			if !compared {
				compared = true
				if len(w.lead) == 0 {
					w.lead = p.row(w.lead, i)
				}
				w.poses = p.row(w.poses, f)
			}
			if !w.agree(m, int(at), p.e, rotationReach*p.Tolerance) {
				continue
			}
		}
		pose[m] = ^(int32(lo) + int32(at))
		following++
	}
	if following == hi-lo {
		return following, true
	}
	for _, v := range pose {
		if v < 0 {
			count[int(^v)-lo]++
		}
	}
	return following, false
}

// take ends the numbering: pairs that share another pair's entry get its number. Each leading row is done first and its followers
// directly after it, while it is still in the cache. It returns the twins.
func (t *rotations) take(p *Pairs) []int32 {
	pose := p.Pose
	parallel.For(p.rows(), followGrain, func(lo, hi int) {
		p.pause()
		for i := lo; i < hi; i++ {
			if t.by[i] != 0 {
				continue
			}
			take(pose[p.Offsets[i]:p.Offsets[i+1]], pose)
			for k := range t.query {
				if f := t.follower(i, k); f >= 0 {
					take(pose[p.Offsets[f]:p.Offsets[f+1]], pose)
				}
			}
		}
	})
	return t.twins
}

// agree reports whether poses m of w.poses and at of w.lead differ by at most tol.
func (w *followWork) agree(m, at, e int, tol float64) bool {
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

// leadersOnly returns the pairs that follow no other, ascending. following says how many pairs of each query do follow, all their
// sum.
func leadersOnly(p *Pairs, following []int32, all int) []int32 {
	out := make([]int32, len(p.Index)-all)
	const grain = 64
	start := make([]int, (p.rows()+grain-1)/grain)
	n := 0
	for i, f := range following {
		if i%grain == 0 {
			start[i/grain] = n
		}
		n += p.Offsets[i+1] - p.Offsets[i] - int(f)
	}
	parallel.For(p.rows(), grain, func(lo, hi int) {
		p.pause()
		at := start[lo/grain]
		for i := lo; i < hi; i++ {
			first, end := p.Offsets[i], p.Offsets[i+1]
			if int(following[i]) == end-first {
				continue
			}
			for k, v := range p.Pose[first:end] {
				if v >= 0 {
					out[at] = int32(first + k)
					at++
				}
			}
		}
	})
	return out
}

// finite reports whether all numbers are.
func finite(v []float64) bool {
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}
