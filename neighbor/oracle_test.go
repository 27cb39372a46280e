package neighbor

import (
	"math"

	"github.com/equivcnp/equivcnp/group"
)

// bruteBall is the definition of Ball: every pair's pose and distance, no pair skipped
// by reasoning, and no hash in the pose table.
func bruteBall(p *problem) *Neighborhood {
	nb := &Neighborhood{
		Queries: p.queries.Rows(), Points: p.points.Rows(),
		Offsets: make([]int, p.queries.Rows()+1), PoseDim: group.PoseDim(p.g),
	}
	tol := p.mergeTolerance()
	pose := make([]float64, nb.PoseDim)
	var pick picker
	for b := 1; b < len(p.QueryBlocks); b++ {
		for i := p.QueryBlocks[b-1]; i < p.QueryBlocks[b]; i++ {
			var row []int32
			for j := p.PointBlocks[b-1]; j < p.PointBlocks[b]; j++ {
				if !counts(p.QueryMask, i) || !counts(p.PointMask, j) {
					continue
				}
				p.relativePose(pose, i, j)
				if p.g.Distance(pose) < p.Radius {
					row = append(row, int32(j))
				}
			}
			if p.MaxNeighbors > 0 {
				row = pick.sample(row, p.MaxNeighbors, p.Seed, i)
			}
			for _, j := range row {
				p.relativePose(pose, i, int(j))
				id := nb.firstWithin(pose, tol)
				nb.Count[id]++
				nb.Index, nb.Pose = append(nb.Index, j), append(nb.Pose, int32(id))
			}
			nb.Offsets[i+1] = len(nb.Index)
		}
	}
	return nb
}

// firstWithin returns the first entry of the pose table that differs from pose by at most tol in every coordinate,
// after adding pose as an entry if there is none.
func (n *Neighborhood) firstWithin(pose []float64, tol float64) int {
	for id := range n.Count {
		if within(n.Poses[id*n.PoseDim:], pose, tol) {
			return id
		}
	}
	n.Poses, n.Count = append(n.Poses, pose...), append(n.Count, 0)
	return len(n.Count) - 1
}

// relativePose writes the pose of query i as seen from point j.
func (p *problem) relativePose(pose []float64, i, j int) {
	ai, qi := p.queries.Row(i)
	aj, qj := p.points.Row(j)
	p.g.RelativePose(pose, ai, qi, aj, qj)
}

// within reports whether the first len(b) numbers of a and b differ by at most tol each.
func within(a, b []float64, tol float64) bool {
	for k, x := range b {
		if !(math.Abs(a[k]-x) <= tol) {
			return false
		}
	}
	return true
}
