package group

import (
	"errors"
	"fmt"
	"math"
)

// Check is a test for a group of your own, and belongs into the tests of its type. For all pairs of a few points it compares what
// the group's methods say about the same thing, and returns an error that names the first contradiction: a fast path
// (PairComputer, PoseComputer, BoundsComputer, MetricGroup) whose numbers are not those of the plain methods, or a ball that
// reaches out of its BoundBox or diamond. A type that embeds one of this package's groups inherits its fast paths, and
// contradicts itself where it overrides Distance, say, and not Distances.
func Check(g Group) error {
	if g == nil {
		return errors.New("group: Check: g = nil")
	}
	l, _ := trialLifts(g)
	index := make([]int32, l.Rows())
	for j := range index {
		index[j] = int32(j)
	}
	bad := func(fast, plain string) error {
		return fmt.Errorf("group: %s: %s differs from %s: a type that overrides one must override the other", g.Name(), fast, plain)
	}
	e := PoseDim(g)
	poses, plain, dist, want := make([]float64, e*len(index)), make([]float64, e*len(index)), make([]float64, len(index)), make([]float64, len(index))
	for i := range index {
		ai, qi := l.Row(i)
		for j := range index {
			aj, qj := l.Row(j)
			g.RelativePose(plain[j*e:(j+1)*e], ai, qi, aj, qj)
			want[j] = g.Distance(plain[j*e : (j+1)*e])
		}
		if RelativePoses(poses, ai, qi, l, index); !sameNumbers(poses, plain) {
			return bad("RelativePoses", "RelativePose")
		}
		if fast, ok := g.(PairComputer); ok {
			if fast.Distances(dist, ai, qi, l.A, l.Q); !sameNumbers(dist, want) {
				return bad("Distances", "Distance")
			}
		}
		if err := checkBounds(g, l, i, want); err != nil {
			return err
		}
	}
	const r = 0.2
	if f := NewFinder(l, nil, r); f.choose(index) != f.metric {
		return bad("Metric", "Distance")
	}
	return nil
}

// checkBounds compares the bounds of the balls around lift i with the distances of all lifts from it.
func checkBounds(g Group, l *Lifted, i int, dist []float64) error {
	b, ok := g.(Bounder)
	if !ok || b.BoundDim() < 1 {
		return nil
	}
	m := b.BoundDim()
	periods, half, all := b.BoundPeriods(), make([]float64, m), make([]float64, m*len(dist))
	if len(periods) != m {
		return fmt.Errorf("group: %s: %d periods for %d bounding coordinates", g.Name(), len(periods), m)
	}
	index := make([]int32, len(dist))
	for j := range index {
		index[j] = int32(j)
		a, q := l.Row(j)
		b.BoundCoords(all[j*m:(j+1)*m], a, q)
	}
	if fast, ok := g.(BoundsComputer); ok {
		bulk := make([]float64, len(all))
		if fast.BoundCoordsOf(bulk, l.A, l.Q, index); !sameNumbers(bulk, all) {
			return fmt.Errorf("group: %s: BoundCoordsOf differs from BoundCoords", g.Name())
		}
	}
	diamond, _ := g.(DiamondBounder)
	for j, d := range dist {
		if !(d > 0) || math.IsInf(d, 1) {
			continue
		}
		b.BoundBox(half, d)
		sum := 0.0
		for c, h := range half {
			gap := math.Abs(all[i*m+c] - all[j*m+c])
			if periods[c] > 0 {
				gap = math.Min(gap, periods[c]-gap)
			}
			if gap > h {
				return fmt.Errorf("group: %s: a point at distance %g is %g off in bounding coordinate %d, and BoundBox says at most %g", g.Name(), d, gap, c, h)
			}
			sum += gap / h
		}
		if diamond != nil && diamond.BoundsDiamond() && sum > 1 {
			return fmt.Errorf("group: %s: a point at distance %g is outside its diamond", g.Name(), d)
		}
	}
	return nil
}
