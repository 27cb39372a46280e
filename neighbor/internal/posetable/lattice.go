package posetable

import (
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
)

// This strategy applies where the group moves along the coordinates of a group.TranslationInvariant, and points and queries
// stand, in those coordinates, on a lattice with its own step along each of them, as pixels do. A pair's pose then follows from
// the translation that takes one cell to the other and, where points have several lifts, from the kinds of the two lifts.
//
// What is proved: how far points are off the lattice bounds how much two poses of one translation differ. One pair of each
// translation is compared with the seeds, and the bound shows that all other pairs of it are members of the same seed. Everything
// else is as with seeds.

// lattice says which pairs have the same translation.
type lattice struct {
	// query[i] - point[j] is the number of the translation from point j to query i, from 0 to translations-1. Pairs with the same
	// number have the same difference of cells and the same kinds.
	query, point []int32
	translations int
	slack        float64 // the largest difference, in any coordinate, of two poses of one translation
}

const (
	// mostTranslations bounds the number of translations. Each goroutine has a table of them.
	mostTranslations = 1 << 22
	// latticeDims is the largest number of coordinates for which lattices are looked for, mostKinds the largest number of kinds.
	latticeDims, mostKinds = 3, 16
)

// latticeSet is a set of lifts in the coordinates of a group.TranslationInvariant.
type latticeSet struct {
	dim         int
	x, kind     []float64 // [n, dim], [n]
	label       []int32   // [n] the number of the kind
	mask, other []bool    // a row counts if either mask says so
}

func newLatticeSet(g group.TranslationInvariant, l *group.Lifted, mask, other []bool) *latticeSet {
	n, dim, ga, qa := l.Rows(), g.TranslationDim(), g.AlgebraDim(), g.OrbitDim()
	s := &latticeSet{dim: dim, x: make([]float64, n*dim), kind: make([]float64, n), label: make([]int32, n), mask: mask, other: other}
	parallel.For(n, rowGrain, func(lo, hi int) {
		g.TranslationCoords(s.x[lo*dim:hi*dim], s.kind[lo:hi], l.A[lo*ga:hi*ga], l.Q[lo*qa:hi*qa])
	})
	return s
}

func (s *latticeSet) counts(i int) bool { return counts(s.mask, i) || counts(s.other, i) }

// latticeBox is the box around the rows and the lattice's steps in it.
type latticeBox struct {
	dim          int
	lo, hi, step [latticeDims]float64
	size         float64 // of the largest coordinate
	kinds        []float64
}

// add extends the box by a set, and the list of kinds by its kinds. The steps are the least differences between consecutive rows,
// apart from differences of at most most, which rounding makes. It reports false if a kind is NaN or there are too many kinds.
func (t *latticeBox) add(s *latticeSet, most float64) bool {
	last := -1
	for i := range s.label {
		if !s.counts(i) {
			continue
		}
		x := s.x[i*s.dim : (i+1)*s.dim]
		if len(t.kinds) == 0 {
			for c, v := range x {
				t.lo[c], t.hi[c], t.step[c] = v, v, math.Inf(1)
			}
		}
		kind := slices.Index(t.kinds, s.kind[i])
		if kind < 0 {
			if kind = len(t.kinds); kind == mostKinds || math.IsNaN(s.kind[i]) {
				return false
			}
			t.kinds = append(t.kinds, s.kind[i])
		}
		s.label[i] = int32(kind)
		for c, v := range x {
			t.lo[c], t.hi[c], t.size = min(t.lo[c], v), max(t.hi[c], v), max(t.size, math.Abs(v))
			if last >= 0 {
				if d := math.Abs(v - s.x[last*s.dim+c]); d > most {
					t.step[c] = min(t.step[c], d)
				}
			}
		}
		last = i
	}
	return true
}

// cells returns the number of each row's cell, which is the sum over coordinates of the row's place along each times a factor,
// and the largest distance of a row from its cell.
func (t *latticeBox) cells(s *latticeSet, factor *[latticeDims]int32) (cell []int32, off float64) {
	cell = make([]int32, len(s.label))
	offs := make([]float64, (len(cell)+rowGrain-1)/rowGrain)
	parallel.For(len(cell), rowGrain, func(lo, hi int) {
		off := 0.0
		for i := lo; i < hi; i++ {
			if !s.counts(i) {
				continue
			}
			for c, v := range s.x[i*s.dim : (i+1)*s.dim] {
				k := 0.0
				if t.step[c] > 0 {
					k = math.Round((v - t.lo[c]) / t.step[c])
				}
				// Rounded once; the difference is exact where it matters, as the numbers are close.
				off = max(off, math.Abs(v-math.FMA(k, t.step[c], t.lo[c])))
				cell[i] += int32(k) * factor[c]
			}
		}
		offs[lo/rowGrain] = off
	})
	for _, o := range offs {
		off = max(off, o)
	}
	return cell, off
}

// findLattice returns the lattice that points and queries stand on, or nil if they are so far from any lattice that slack would
// exceed most.
func findLattice(p *Pairs, most float64) *lattice {
	g, ok := p.Group.(group.TranslationInvariant)
	if !ok || g.TranslationDim() < 1 || g.TranslationDim() > latticeDims {
		return nil
	}
	var points, queries *latticeSet
	t := &latticeBox{dim: g.TranslationDim()}
	if p.Points == p.Queries {
		points = newLatticeSet(g, p.Points, p.PointMask, p.QueryMask)
		queries = points
	} else {
		points, queries = newLatticeSet(g, p.Points, p.PointMask, p.PointMask), newLatticeSet(g, p.Queries, p.QueryMask, p.QueryMask)
		if !t.add(queries, most) {
			return nil
		}
	}
	if !t.add(points, most) || len(t.kinds) == 0 {
		return nil
	}
	// Factors are chosen so that different translations get different numbers.
	var factor [latticeDims]int32
	kinds := int64(len(t.kinds))
	cells, far := int64(1), int64(0)
	for c := range t.dim {
		n := 0.0
		if t.hi[c]-t.lo[c] > most { // else all are at one place, but for rounding
			if n = math.Round((t.hi[c] - t.lo[c]) / t.step[c]); !(n >= 1 && n < mostTranslations) {
				return nil
			}
			t.step[c] = (t.hi[c] - t.lo[c]) / n
		} else {
			t.step[c] = 0
		}
		factor[c] = int32(cells)
		far += cells * int64(n)
		if cells *= 2*int64(n) + 1; cells*kinds*kinds > mostTranslations {
			return nil
		}
	}
	l := &lattice{translations: int(cells * kinds * kinds)}
	cell, off := t.cells(points, &factor)
	queryCell := cell
	if queries != points {
		var queryOff float64
		queryCell, queryOff = t.cells(queries, &factor)
		off = max(off, queryOff)
	}
	// Four points enter, each off its cell by at most off and the rounding of that.
	if l.slack = g.TranslationError(4*(off+0x1p-52*t.size), t.size); !(l.slack <= most) {
		return nil
	}
	l.query, l.point = make([]int32, len(queryCell)), make([]int32, len(cell))
	for i, c := range queryCell {
		l.query[i] = c + int32(far) + queries.label[i]*int32(kinds*cells)
	}
	for j, c := range cell {
		l.point[j] = c - points.label[j]*int32(cells)
	}
	return l
}

// assign does what seeds.assign does, for points on a lattice.
func (l *lattice) assign(k *seeds, w *seedWork, p *Pairs, i int) (outliers int, ok bool) {
	// translation holds, by the number of a translation, one plus the seed that all its pairs are members of; 0 means not known
	// yet.
	if w.translation == nil {
		w.translation = make([]int32, l.translations)
	}
	lo, hi := p.Offsets[i], p.Offsets[i+1]
	ids, index := p.Pose[lo:hi], p.Index[lo:hi]
	count, base, seed, point := w.count, l.query[i], w.translation, l.point
	computed := false
	for n := 0; n < len(ids); n++ {
		index, ids := index[n:], ids[n:]
		ids = ids[:len(index)]
		m := 0
		for ; m < len(index); m++ {
			id := seed[base-point[index[m]]] - 1
			if id < 0 {
				break
			}
			ids[m] = id
			count[id]++
		}
		if n += m; m == len(index) {
			break
		}
		// This is the first pair of its translation, or the translation's pairs need not all be members of one seed.
		if !computed {
			w.poses = p.row(w.poses, i)
			computed = true
		}
		pose := w.poses[n*k.e : (n+1)*k.e]
		id, ok := k.find(pose)
		if !ok {
			return 0, false
		}
		if ids[m] = id; id < 0 {
			outliers++
			continue
		}
		if k.near(pose, id, memberReach*k.tol-l.slack) {
			seed[base-point[index[m]]] = id + 1
		}
		if count[id]++; count[id] == 1 {
			w.first[id] = int32(lo + n)
		}
	}
	return outliers, true
}
