package group

import (
	"math"

	"github.com/equivcnp/equivcnp/internal/search"
)

// BoundsDiamond implements DiamondBounder: the distance is the very sum that a diamond bounds.
func (g *RxSO2) BoundsDiamond() bool { return true }

// BoundsDiamond implements DiamondBounder: the distance is the very sum that a diamond bounds.
func (g *RxSq) BoundsDiamond() bool { return true }

// BoundsDiamond implements DiamondBounder. With w = log(r + 0.0005), h the half-widths of BoundBox and β = 1-α, the radial part
// of the distance is β·tanh(|Δw|/2). That is a concave function of |Δw|, so it lies above its chord from 0 to h_1, where it
// equals the ball's radius ρ: ρ·|Δw|/h_1 ≤ β·tanh(|Δw|/2). Together with α·|Δθ| = ρ·|Δθ|/h_0, a distance of at most ρ makes the
// diamond's sum at most 1.
func (g *SO2) BoundsDiamond() bool { return true }

// A candidateFilter finds the points that may lie in a query's ball of one fixed radius: all points of the ball, and a few
// others. It tests 64 points in a few cycles. It holds their bounding coordinates as whole numbers modulo 2¹⁶, so that angles
// wrap by themselves; see search.Candidates. Rounding to whole units changes the difference of two coordinates by at most one
// unit, and the window is wider by that.
type candidateFilter struct {
	bound  Bounder
	axes   []filterAxis
	x      []uint16 // [axes, 64·words]
	center []float64
	reach  []uint16
	words  int
}

// filterAxis is a sum of bounding coordinates, each times its factor.
type filterAxis struct {
	coord  []int
	factor []float64
	origin float64 // subtracted from the first coordinate, so that units are small beside it
}

const (
	circle = 1 << 16
	// filterSpan is how many units a coordinate that is not periodic extends over.
	filterSpan = 1 << 15
)

// newCandidateFilter returns the filter of rows of l for a radius, or nil if the group has no bounds that exclude any point.
func newCandidateFilter(l *Lifted, rows []int32, r float64) *candidateFilter {
	b, ok := l.Group.(Bounder)
	if set, depends := l.Group.(SetBounder); depends && len(rows) > 0 {
		b, ok = set.BoundsOf(l, rows), true
	}
	if !ok || len(rows) == 0 {
		return nil
	}
	m := b.BoundDim()
	half, periods := make([]float64, m), b.BoundPeriods()
	if m < 1 || len(periods) != m {
		return nil
	}
	b.BoundBox(half, r)
	x := boundCoords(b, m, l, rows)
	s := &candidateFilter{bound: b, center: make([]float64, m), words: (len(rows) + 63) / 64}
	s.choose(x, half, periods)
	if len(s.axes) == 0 {
		return nil
	}
	s.x = make([]uint16, len(s.axes)*64*s.words)
	for c, axis := range s.axes {
		row := s.x[c*64*s.words:]
		for k := range rows {
			row[k] = axis.units(x[k*m : (k+1)*m])
		}
	}
	return s
}

// boundCoords returns the bounding coordinates [len(rows), m] of rows of l.
func boundCoords(b Bounder, m int, l *Lifted, rows []int32) []float64 {
	x := make([]float64, len(rows)*m)
	one := func(dst []float64, j int32) {
		a, q := l.Row(int(j))
		b.BoundCoords(dst, a, q)
	}
	if fast, ok := b.(BoundsComputer); ok {
		fast.BoundCoordsOf(x, l.A, l.Q, rows)
		plain, agree := make([]float64, m), true
		for _, k := range samples(len(rows)) {
			one(plain, rows[k])
			agree = agree && sameNumbers(plain, x[k*m:(k+1)*m])
		}
		if agree {
			return x
		}
	}
	for k, j := range rows {
		one(x[k*m:(k+1)*m], j)
	}
	return x
}

// choose picks the axes: for diamonds the sum and the difference of both coordinates, otherwise the coordinates themselves, and
// among them those first whose windows are small compared with the range of the points.
func (s *candidateFilter) choose(x, half, periods []float64) {
	m := len(half)
	lo, hi := make([]float64, m), make([]float64, m)
	for c := range m {
		lo[c], hi[c] = math.Inf(1), math.Inf(-1)
		for k := c; k < len(x); k += m {
			lo[c], hi[c] = min(lo[c], x[k]), max(hi[c], x[k])
		}
	}
	// usable reports whether units of 1/factor are far coarser than the rounding of coordinate c, and windows narrower than a
	// half circle.
	usable := func(c int, factor, reach float64) bool {
		size := max(math.Abs(lo[c]), math.Abs(hi[c]))
		return factor > 0 && size*factor < 0x1p40 && reach < circle/2
	}
	unit := func(c int) float64 { // units per coordinate
		if periods[c] > 0 {
			return circle / periods[c]
		}
		return filterSpan / max(hi[c]-lo[c], math.SmallestNonzeroFloat64)
	}
	middle := func(c int) float64 {
		if periods[c] > 0 {
			return 0
		}
		return lo[c] + (hi[c]-lo[c])/2
	}
	window := func(half float64) float64 { return math.Floor(half*(1+1e-6)) + 2 }

	if d, ok := s.bound.(DiamondBounder); ok && m == 2 && d.BoundsDiamond() && half[0] > 0 && half[1] > 0 {
		p := 0 // the periodic coordinate sets the unit, else the one with less room
		if periods[1] > 0 || (periods[0] == 0 && unit(1)*half[1] < unit(0)*half[0]) {
			p = 1
		}
		o := 1 - p
		var f [2]float64
		f[p], f[o] = unit(p), unit(p)*half[p]/half[o]
		if w := window(unit(p) * half[p]); periods[o] == 0 && usable(p, f[p], w) && usable(o, f[o], w) {
			for _, sign := range []float64{1, -1} {
				s.axes = append(s.axes, filterAxis{[]int{o, p}, []float64{f[o], sign * f[p]}, middle(o)})
				s.reach = append(s.reach, uint16(w))
			}
			return
		}
	}
	taken := make([]bool, m)
	for len(s.axes) < search.CandidateAxes {
		best, least := -1, circle/2.0
		for c := range m {
			if w := window(unit(c) * half[c]); !taken[c] && usable(c, unit(c), w) && w < least {
				best, least = c, w
			}
		}
		if best < 0 {
			return
		}
		taken[best] = true
		s.axes = append(s.axes, filterAxis{[]int{best}, []float64{unit(best)}, middle(best)})
		s.reach = append(s.reach, uint16(least))
	}
}

// units returns the coordinate in whole units, modulo the circle.
func (a *filterAxis) units(x []float64) uint16 {
	y := (x[a.coord[0]] - a.origin) * a.factor[0]
	for k := 1; k < len(a.coord); k++ {
		y += x[a.coord[k]] * a.factor[k]
	}
	return uint16(int64(math.RoundToEven(y)))
}

// near sets the bits of the points that may lie in the ball of the query (a, q) and reports whether it could.
func (s *candidateFilter) near(bits []uint64, center []float64, a, q []float64) bool {
	s.bound.BoundCoords(center, a, q)
	var u [search.CandidateAxes]uint16
	for c := range s.axes {
		for _, k := range s.axes[c].coord {
			// A query far outside the points' range would lose digits, and has few neighbours to find.
			if v := math.Abs(center[k] * s.axes[c].factor[0]); !(v < 0x1p41) {
				return false
			}
		}
		u[c] = s.axes[c].units(center)
	}
	search.Candidates(bits, s.x, u[:len(s.axes)], s.reach)
	return true
}
