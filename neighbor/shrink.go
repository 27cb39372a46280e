package neighbor

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
)

// Shrink returns the neighbourhood of a smaller radius between the same points, provided that n was made without MaxNeighbors. It
// has the pairs that [Ball] finds at the smaller radius, with poses numbered in the order of first use; only the number that
// represents poses that were merged may differ. It costs a fraction of a search, so layers of different radii can share one.
func (n *Neighborhood) Shrink(queries, points *group.Lifted, radius float64) *Neighborhood {
	return n.ShrinkUntil(nil, queries, points, radius)
}

// ShrinkUntil is like Shrink, but asks stop, if that is not nil, now and then. Once stop says true, it returns nil.
func (n *Neighborhood) ShrinkUntil(stop func() bool, queries, points *group.Lifted, radius float64) *Neighborhood {
	for _, set := range []struct {
		name string
		l    *group.Lifted
		rows int
	}{{"queries", queries, n.Queries}, {"points", points, n.Points}} {
		l := set.l
		if l == nil || l.Group == nil || l.N < 0 || l.K < 1 || l.Rows() != set.rows || len(l.A) != set.rows*l.Group.AlgebraDim() ||
			len(l.Q) != set.rows*l.Group.OrbitDim() || group.PoseDim(l.Group) != n.PoseDim {
			panic(fmt.Sprintf("neighbor: Shrink: %s are not the %d that the neighbourhoods are of", set.name, set.rows))
		}
	}
	z := shrink{n: n, queries: queries, points: points, radius: radius, stop: stop}
	s := &Neighborhood{Queries: n.Queries, Points: n.Points, PoseDim: n.PoseDim, Across: n.Across, merged: n.merged}
	if !z.measure() || !z.count(s) || !z.renumber(s) {
		return nil
	}
	if len(z.borderline) == 0 {
		s.twins = n.twins // twins lose the same poses, and so the same pairs
	}
	s.Index, s.Pose = make([]int32, s.Offsets[s.Queries]), make([]int32, s.Offsets[s.Queries])
	if !parallel.Until(stop, n.Queries, classGrain, func(lo, hi int) {
		var index, pose []int32
		for i := lo; i < hi; i++ {
			from, poses := n.Row(i)
			if len(index) <= len(from) {
				index, pose = make([]int32, 2*len(from)+1), make([]int32, 2*len(from)+1)
			}
			// Every pair is written, and overwritten by the next one if it is outside the ball: a branch here would be
			// unpredictable.
			at := 0
			for k, p := range poses {
				v := z.number[p]
				if v < outside {
					v = z.numberOf(i, from[k], v)
				}
				index[at], pose[at] = from[k], v
				at += int(^uint32(v) >> 31)
			}
			copy(s.Index[s.Offsets[i]:], index[:at])
			copy(s.Pose[s.Offsets[i]:], pose[:at])
		}
	}) {
		return nil
	}
	return s
}

// shrink holds the state of Shrink. Its methods report false if they were stopped.
type shrink struct {
	n               *Neighborhood
	queries, points *group.Lifted
	radius          float64
	stop            func() bool
	// number says for every pose of n what it becomes. It is the number of a pose of the result; or outside; or, where each pair
	// has to be tested, a smaller number v, and the pose is then borderline[outside-1-v].
	number     []int32
	borderline []borderline
}

// outside marks poses whose pairs are not in the smaller ball.
const outside = -1

// borderline is a pose so close to the radius that its pairs may lie on either side, because poses that were merged differ a
// little.
type borderline struct {
	number int32 // of the pose in the result
	pairs  atomic.Int32
	// The first pair with the pose, and the first such pair inside the smaller ball.
	first, firstIn atomic.Int64
}

// measure sets number to 0 for poses whose pairs are in the smaller ball, and finds those outside and on the border.
func (z *shrink) measure() bool {
	// A pair's distance is that of its pose, up to what merging poses changed. Where that could decide, the distance is computed
	// again. No distance changes by more than its pose's coordinates do together; groups of a user's own get some room.
	n, e := z.n, z.n.PoseDim
	blur := max(1e-6*(1+math.Abs(z.radius)), 4*float64(e)*n.merged)
	z.number = make([]int32, n.NumPoses())
	if !parallel.Until(z.stop, n.NumPoses(), 1<<12, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			switch d := z.points.Group.Distance(n.Poses[p*e : (p+1)*e]); {
			case math.Abs(d-z.radius) < blur:
				z.number[p] = outside - 1
			case !(d < z.radius):
				z.number[p] = outside
			}
		}
	}) {
		return false
	}
	count := 0
	for _, v := range z.number {
		if v < outside {
			count++
		}
	}
	z.borderline = make([]borderline, count)
	for p, v := range z.number {
		if v < outside {
			count--
			d := &z.borderline[count]
			d.first.Store(math.MaxInt64)
			d.firstIn.Store(math.MaxInt64)
			z.number[p] = outside - 1 - int32(count)
		}
	}
	return true
}

// near reports whether the pair of query i and point j is in the smaller ball.
func (z *shrink) near(pose []float64, i int, j int32) bool {
	ai, qi := z.queries.Row(i)
	aj, qj := z.points.Row(int(j))
	z.points.Group.RelativePose(pose, ai, qi, aj, qj)
	return z.points.Group.Distance(pose) < z.radius
}

// numberOf returns what the pose of one borderline pair becomes: a number of the result, or outside. v is the pose's entry of number.
func (z *shrink) numberOf(i int, j, v int32) int32 {
	if !z.near(make([]float64, z.n.PoseDim), i, j) {
		return outside
	}
	return z.borderline[outside-1-v].number
}

// count sets the offsets of the result's rows and fills borderline.
func (z *shrink) count(s *Neighborhood) bool {
	n := z.n
	size := make([]int, n.Queries+1)
	if !parallel.Until(z.stop, n.Queries, classGrain, func(lo, hi int) {
		pose := make([]float64, n.PoseDim)
		for i := lo; i < hi; i++ {
			index, poses := n.Row(i)
			in := 0
			for k, p := range poses {
				v := z.number[p]
				if v < outside {
					d, pair := &z.borderline[outside-1-v], int64(n.Offsets[i]+k)
					storeMin(&d.first, pair)
					if z.near(pose, i, index[k]) {
						storeMin(&d.firstIn, pair)
						d.pairs.Add(1)
						in++
					}
				}
				in += int(^uint32(v) >> 31)
			}
			size[i+1] = in
		}
	}) {
		return false
	}
	for i := range n.Queries {
		size[i+1] += size[i]
	}
	s.Offsets = size
	return true
}

// storeMin sets x to v if that is less.
func storeMin(x *atomic.Int64, v int64) {
	for old := x.Load(); v < old && !x.CompareAndSwap(old, v); old = x.Load() {
	}
}

// renumber numbers the remaining poses in the order of first use, and sets the tables of s.
func (z *shrink) renumber(s *Neighborhood) bool {
	n, e := z.n, z.n.PoseDim
	// The poses of n are already in that order, and keep it unless one loses its first pair but not all.
	kept, ordered := 0, true
	for i := range z.borderline {
		d := &z.borderline[i]
		ordered = ordered && (d.pairs.Load() == 0 || d.first.Load() == d.firstIn.Load())
	}
	from := make([]int32, 0, n.NumPoses()) // the poses of n that are left
	take := func(p int32) {
		if v := z.number[p]; v < outside {
			z.borderline[outside-1-v].number = int32(kept)
		} else {
			z.number[p] = int32(kept)
		}
		from = append(from, p)
		kept++
	}
	if ordered {
		for p, v := range z.number {
			if v >= 0 || v < outside && z.borderline[outside-1-v].pairs.Load() > 0 {
				take(int32(p))
			}
		}
	} else {
		taken := make([]bool, n.NumPoses())
		if !parallel.UntilWorkers(z.stop, len(n.Pose), 1<<20, 1, func(_, lo, hi int) {
			for k, p := range n.Pose[lo:hi] {
				v := z.number[p]
				if !taken[p] && (v >= 0 || v < outside && z.borderline[outside-1-v].firstIn.Load() == int64(lo+k)) {
					taken[p] = true
					take(p)
				}
			}
		}) {
			return false
		}
	}
	s.Poses, s.Count = make([]float64, kept*e), make([]int32, kept)
	if !parallel.Until(z.stop, kept, 1<<12, func(lo, hi int) {
		for q, p := range from[lo:hi] {
			copy(s.Poses[(lo+q)*e:(lo+q+1)*e], n.Poses[int(p)*e:])
			s.Count[lo+q] = n.Count[p]
		}
	}) {
		return false
	}
	for i := range z.borderline {
		if d := &z.borderline[i]; d.pairs.Load() > 0 {
			s.Count[d.number] = d.pairs.Load()
		}
	}
	return true
}
