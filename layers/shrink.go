package layers

import (
	"math"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor"
)

// Shrink returns the neighbourhood of a smaller radius, given that of a larger one between the same points, which has no
// bound on the number of neighbours. The result is that of neighbor.Ball at the smaller radius: the same pairs, and poses in the
// order of first use. It costs a fraction of a search.
func Shrink(n *neighbor.Neighborhood, queries, points *group.Lifted, radius float64) *neighbor.Neighborhood {
	z := shrink{n: n, queries: queries, points: points, radius: radius}
	z.judge()
	s := &neighbor.Neighborhood{Queries: n.Queries, Points: n.Points, PoseDim: n.PoseDim, Offsets: z.count()}
	z.number(s)
	s.Index, s.Pose = make([]int32, s.Offsets[s.Queries]), make([]int32, s.Offsets[s.Queries])
	parallel.For(n.Queries, rowGrain, func(lo, hi int) {
		var index, pose []int32
		for i := lo; i < hi; i++ {
			from, poses := n.Row(i)
			if len(index) <= len(from) {
				index, pose = make([]int32, 2*len(from)+1), make([]int32, 2*len(from)+1)
			}
			// Every pair is written, and the next one over it if it is out: no machine could predict a branch here.
			at := 0
			for k, p := range poses {
				v := z.verdict[p]
				if v < outside {
					v = z.doubtful(i, from[k], v)
				}
				index[at], pose[at] = from[k], v
				at += int(^uint32(v) >> 31)
			}
			copy(s.Index[s.Offsets[i]:], index[:at])
			copy(s.Pose[s.Offsets[i]:], pose[:at])
		}
	})
	return s
}

// shrink is the state of Shrink.
type shrink struct {
	n               *neighbor.Neighborhood
	queries, points *group.Lifted
	radius          float64
	// verdict says of every pose of n what becomes of its pairs: from 0 they are in, under a pose of that number; or they are
	// outside; or below that, each is looked at: the pose is doubt[outside-1-verdict].
	verdict []int32
	doubt   []doubt
}

// outside is the verdict for pairs that are not in the smaller ball.
const outside = -1

// doubt is a pose so close to the radius that its pairs are not all on one side: poses that were merged differ a little.
type doubt struct {
	number int32 // of the pose in the result
	pairs  atomic.Int32
	// The first pair with the pose, and the first of them that is in.
	first, firstIn atomic.Int64
}

// judge sets verdict, to 0 for poses whose pairs are in.
func (z *shrink) judge() {
	// A pair's distance is that of its pose, but for what merging poses changed. Where that could decide, it is computed again.
	const blur = 1e-6
	n, e := z.n, z.n.PoseDim
	z.verdict = make([]int32, n.NumPoses())
	parallel.For(n.NumPoses(), 1<<12, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			switch d := z.points.Group.Distance(n.Poses[p*e : (p+1)*e]); {
			case math.Abs(d-z.radius) < blur*(1+math.Abs(z.radius)):
				z.verdict[p] = outside - 1
			case !(d < z.radius):
				z.verdict[p] = outside
			}
		}
	})
	count := 0
	for _, v := range z.verdict {
		if v < outside {
			count++
		}
	}
	z.doubt = make([]doubt, count)
	for p, v := range z.verdict {
		if v < outside {
			count--
			d := &z.doubt[count]
			d.first.Store(math.MaxInt64)
			d.firstIn.Store(math.MaxInt64)
			z.verdict[p] = outside - 1 - int32(count)
		}
	}
}

// near reports whether the pair of query i and point j is in the smaller ball.
func (z *shrink) near(pose []float64, i int, j int32) bool {
	ai, qi := z.queries.Row(i)
	aj, qj := z.points.Row(int(j))
	z.points.Group.RelativePose(pose, ai, qi, aj, qj)
	return z.points.Group.Distance(pose) < z.radius
}

// doubtful returns the verdict for one pair whose pose has verdict v.
func (z *shrink) doubtful(i int, j, v int32) int32 {
	if !z.near(make([]float64, z.n.PoseDim), i, j) {
		return outside
	}
	return z.doubt[outside-1-v].number
}

// count returns the offsets of the result's rows, and fills doubt.
func (z *shrink) count() []int {
	n := z.n
	size := make([]int, n.Queries+1)
	parallel.For(n.Queries, rowGrain, func(lo, hi int) {
		pose := make([]float64, n.PoseDim)
		for i := lo; i < hi; i++ {
			index, poses := n.Row(i)
			in := 0
			for k, p := range poses {
				v := z.verdict[p]
				if v < outside {
					d, pair := &z.doubt[outside-1-v], int64(n.Offsets[i]+k)
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
	})
	for i := range n.Queries {
		size[i+1] += size[i]
	}
	return size
}

// storeMin sets x to v if that is less.
func storeMin(x *atomic.Int64, v int64) {
	for old := x.Load(); v < old && !x.CompareAndSwap(old, v); old = x.Load() {
	}
}

// number numbers the poses that are left, in the order of first use, and sets the tables of s.
func (z *shrink) number(s *neighbor.Neighborhood) {
	n, e := z.n, z.n.PoseDim
	// n has its poses in that order. They keep it, unless one loses its first pair and not all.
	kept, ordered := 0, true
	for i := range z.doubt {
		d := &z.doubt[i]
		ordered = ordered && (d.pairs.Load() == 0 || d.first.Load() == d.firstIn.Load())
	}
	from := make([]int32, 0, n.NumPoses()) // the poses of n that are left
	take := func(p int32) {
		if v := z.verdict[p]; v < outside {
			z.doubt[outside-1-v].number = int32(kept)
		} else {
			z.verdict[p] = int32(kept)
		}
		from = append(from, p)
		kept++
	}
	if ordered {
		for p, v := range z.verdict {
			if v >= 0 || v < outside && z.doubt[outside-1-v].pairs.Load() > 0 {
				take(int32(p))
			}
		}
	} else {
		taken := make([]bool, n.NumPoses())
		for k, p := range n.Pose {
			v := z.verdict[p]
			if !taken[p] && (v >= 0 || v < outside && z.doubt[outside-1-v].firstIn.Load() == int64(k)) {
				taken[p] = true
				take(p)
			}
		}
	}
	s.Poses, s.Count = make([]float64, kept*e), make([]int32, kept)
	parallel.For(kept, 1<<12, func(lo, hi int) {
		for q, p := range from[lo:hi] {
			copy(s.Poses[(lo+q)*e:(lo+q+1)*e], n.Poses[int(p)*e:])
			s.Count[lo+q] = n.Count[p]
		}
	})
	for i := range z.doubt {
		if d := &z.doubt[i]; d.pairs.Load() > 0 {
			s.Count[d.number] = d.pairs.Load()
		}
	}
}
