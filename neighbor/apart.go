package neighbor

import (
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor/internal/posetable"
)

// ballApart is Ball for Options.Apart: that of each block, one after the other.
func ballApart(p *problem) (*Neighborhood, error) {
	parts, errs := make([]*Neighborhood, len(p.QueryBlocks)-1), make([]error, len(p.QueryBlocks)-1)
	parallel.For(len(parts), 1, func(b, _ int) {
		queries, mask := rowsOf(p.queries, p.QueryMask, p.QueryBlocks[b], p.QueryBlocks[b+1])
		own := p.Options
		own.QueryMask, own.QueryBlocks, own.PointBlocks, own.Apart = mask, nil, nil, false
		points, mask := rowsOf(p.points, p.PointMask, p.PointBlocks[b], p.PointBlocks[b+1])
		if own.PointMask = mask; p.points == p.queries && slices.Equal(p.QueryBlocks, p.PointBlocks) {
			points = queries
		}
		parts[b], errs[b] = Ball(queries, points, own)
	})
	pairs := 0
	for b, err := range errs {
		if err != nil {
			return nil, err
		}
		pairs += parts[b].Pairs()
	}
	if pairs > p.MaxPairs {
		return nil, fmt.Errorf("neighbor: Ball: %w: %d pairs in %d blocks, the limit is %d", ErrTooManyPairs, pairs, len(parts), p.MaxPairs)
	}
	return p.join(parts, pairs), nil
}

// rowsOf returns rows lo to hi of a set and of its mask.
func rowsOf(l *group.Lifted, mask []bool, lo, hi int) (*group.Lifted, []bool) {
	ga, qa := l.Group.AlgebraDim(), l.Group.OrbitDim()
	if mask != nil {
		mask = mask[lo:hi]
	}
	return &group.Lifted{Group: l.Group, N: hi - lo, K: 1, A: l.A[lo*ga : hi*ga], Q: l.Q[lo*qa : hi*qa]}, mask
}

// join puts the neighbourhoods of the blocks into one. Poses that several blocks have become one where looking for them pays.
func (p *problem) join(parts []*Neighborhood, pairs int) *Neighborhood {
	e := group.PoseDim(p.g)
	n := &Neighborhood{Queries: p.queries.Rows(), Points: p.points.Rows(), Offsets: make([]int, 1, p.queries.Rows()+1),
		Index: make([]int32, 0, pairs), Pose: make([]int32, 0, pairs), PoseDim: e}
	poses := 0
	for _, part := range parts {
		poses += part.NumPoses()
	}
	var seen map[uint64][]int32 // by hash
	if poses <= pairs/4 {
		seen = make(map[uint64][]int32, poses)
	}
	for b, part := range parts {
		n.Left += part.Left
		n.merged = max(n.merged, part.merged)
		number := make([]int32, part.NumPoses())
		for i := range number {
			pose := part.Poses[i*e : (i+1)*e]
			hash := uint64(0)
			if seen != nil {
				for _, v := range pose {
					hash = posetable.Mix(hash ^ math.Float64bits(v))
				}
			}
			at := slices.IndexFunc(seen[hash], func(k int32) bool { return equalBits(n.Poses[int(k)*e:][:e], pose) })
			if at >= 0 {
				number[i] = seen[hash][at]
				n.Count[number[i]] += part.Count[i]
				continue
			}
			number[i] = int32(len(n.Count))
			n.Poses, n.Count = append(n.Poses, pose...), append(n.Count, part.Count[i])
			if seen != nil {
				seen[hash] = append(seen[hash], number[i])
			}
		}
		for i := range part.Queries {
			n.Offsets = append(n.Offsets, len(n.Index)+part.Offsets[i+1])
		}
		for k, j := range part.Index {
			n.Index = append(n.Index, j+int32(p.PointBlocks[b]))
			n.Pose = append(n.Pose, number[part.Pose[k]])
		}
	}
	return n
}

func equalBits(a, b []float64) bool {
	for i, v := range a {
		if math.Float64bits(v) != math.Float64bits(b[i]) {
			return false
		}
	}
	return true
}
