package neighbor

import (
	"math"

	"github.com/equivcnp/equivcnp/group"
)

// shifts has points and queries that stand, in the coordinates of a group.Shifter, on a lattice with its own step along each
// coordinate, as pixels do: then a pose is known from the difference of two numbers of cells. One pair of each difference is
// compared with the known poses; that all others of that difference are as near as it need be is certain, from how far
// points are off the lattice.
type shifts struct {
	query, point []int32 // the cell of each row
	far          int32   // no difference of two cells is larger
	slack        float64 // how far poses of one difference are from each other at most, in every coordinate
}

const (
	// mostDifferences bounds the differences of cells, of which each goroutine has a table.
	mostDifferences = 1 << 18
	// latticeDims is the number of coordinates up to which lattices are looked for.
	latticeDims = 3
)

// findShifts returns the lattice that points and queries stand on, or nil if they stand on none so nearly that slack is at
// most this.
func (p *problem) findShifts(most float64) *shifts {
	g, ok := p.g.(group.Shifter)
	if !ok {
		return nil
	}
	sets := []struct {
		l    *group.Lifted
		mask []bool
	}{{p.points, p.PointMask}, {p.queries, p.QueryMask}}
	if p.points == p.queries {
		sets = sets[:1]
	}
	// The lattice's box and steps: the least difference of one row and the next, other than rounding's.
	var lo, hi, step [latticeDims]float64
	dim, size, kind := 0, 0.0, math.NaN()
	for _, set := range sets {
		var last []float64
		for i := range set.l.Rows() {
			if !counts(set.mask, i) && (p.points != p.queries || !counts(p.QueryMask, i)) {
				continue
			}
			x, k := g.ShiftCoords(set.l.Row(i))
			if dim == 0 {
				if dim, kind = len(x), k; dim < 1 || dim > latticeDims {
					return nil
				}
				for c, v := range x {
					lo[c], hi[c], step[c] = v, v, math.Inf(1)
				}
			}
			if k != kind { // or NaN
				return nil
			}
			for c, v := range x {
				lo[c], hi[c], size = min(lo[c], v), max(hi[c], v), max(size, math.Abs(v))
				if last != nil {
					if d := math.Abs(v - last[c]); d > most {
						step[c] = min(step[c], d)
					}
				}
			}
			last = x
		}
	}
	if dim == 0 {
		return nil
	}
	// Cells are numbered so that no two differences along coordinates give the same difference of numbers.
	var factor [latticeDims]int32
	cells, far := int64(1), int64(0)
	for c := range dim {
		n := 0.0
		if hi[c] > lo[c] {
			if n = math.Round((hi[c] - lo[c]) / step[c]); !(n >= 1 && n < mostDifferences) {
				return nil
			}
			step[c] = (hi[c] - lo[c]) / n
		} else {
			step[c] = 0
		}
		factor[c] = int32(cells)
		far += cells * int64(n)
		if cells *= 2*int64(n) + 1; cells > mostDifferences {
			return nil
		}
	}
	l, off := &shifts{far: int32(far)}, 0.0
	cellsOf := func(set *group.Lifted, mask, other []bool) []int32 {
		cell := make([]int32, set.Rows())
		for i := range cell {
			if !counts(mask, i) && !counts(other, i) {
				continue
			}
			x, _ := g.ShiftCoords(set.Row(i))
			for c, v := range x {
				if step[c] == 0 {
					continue
				}
				k := math.Round((v - lo[c]) / step[c])
				// Rounded once; the difference is exact where it matters, as the numbers are close.
				off = max(off, math.Abs(v-math.FMA(k, step[c], lo[c])))
				cell[i] += int32(k) * factor[c]
			}
		}
		return cell
	}
	if p.points == p.queries {
		l.point = cellsOf(p.points, p.PointMask, p.QueryMask)
		l.query = l.point
	} else {
		l.point = cellsOf(p.points, p.PointMask, p.PointMask)
		l.query = cellsOf(p.queries, p.QueryMask, p.QueryMask)
	}
	// Four points, each off its cell by no more than off and the rounding of that.
	if l.slack = g.ShiftError(4*(off+0x1p-52*size), size); !(l.slack <= most) {
		return nil
	}
	return l
}

// assign is knownPoses.assign for points of a lattice. w.cell says, by the difference of two cells, which known pose all pairs of
// that difference are members of, plus one; 0 is not known.
func (l *shifts) assign(k *knownPoses, w *knownWork, p *problem, nb *Neighborhood, i int) (outsiders int, ok bool) {
	lo, hi := nb.Offsets[i], nb.Offsets[i+1]
	ids, index := nb.Pose[lo:hi], nb.Index[lo:hi]
	count, base, cells := w.count, l.query[i]+l.far, w.cell
	computed := false
	for n := 0; n < len(ids); n++ {
		index, ids := index[n:], ids[n:]
		ids = ids[:len(index)]
		m := 0
		for ; m < len(index); m++ {
			id := cells[base-l.point[index[m]]] - 1
			if id < 0 {
				break
			}
			ids[m] = id
			count[id]++
		}
		if n += m; m == len(index) {
			break
		}
		// The first pair of a difference, or one that is none's member for certain.
		if !computed {
			w.poses = p.row(w.poses, nb, i)
			computed = true
		}
		pose := w.poses[n*k.e : (n+1)*k.e]
		id, ok := k.find(pose)
		if !ok {
			return 0, false
		}
		if ids[m] = id; id < 0 {
			outsiders++
			continue
		}
		if k.near(pose, id, memberReach*k.tol-l.slack) {
			cells[base-l.point[index[m]]] = id + 1
		}
		if count[id]++; count[id] == 1 {
			w.first[id] = int32(lo + n)
		}
	}
	return outsiders, true
}
