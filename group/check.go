package group

import (
	"errors"
	"fmt"
	"math"
)

// Check returns a test for a group of your own, and belongs into the tests of its type. For all pairs of a few points it
// compares what the group's methods say about the same thing, and returns an error that names the first contradiction:
// a fast path (PairComputer, PoseComputer, BoundsComputer, MetricGroup) whose numbers are not those of the plain
// methods, a ball that reaches out of its BoundBox or diamond, a distance that is NaN, or a relative pose that changes
// when the group acts on both points. What the action does can be checked where the group is a Composer or a point has
// one lift. A type that embeds one of this package's groups inherits its fast paths, and contradicts itself where it
// overrides Distance, say, and not Distances.
func Check(g Group) error {
	if g == nil {
		return errors.New("group: Check: g = nil")
	}
	l, x := trialLifts(g)
	index := make([]int32, l.Rows())
	for j := range index {
		index[j] = int32(j)
	}
	bad := func(fast, plain string) error {
		return fmt.Errorf("group: %s: %s differs from %s: a type that overrides one must override the other", g.Name(), fast, plain)
	}
	e := PoseDim(g)
	poses, plain, dist, want := make([]float64, e*len(index)), make([]float64, e*len(index)), make([]float64, len(index)),
		make([]float64, len(index))
	for i := range index {
		ai, qi := l.Row(i)
		for j := range index {
			aj, qj := l.Row(j)
			g.RelativePose(plain[j*e:(j+1)*e], ai, qi, aj, qj)
			want[j] = g.Distance(plain[j*e : (j+1)*e])
			if math.IsNaN(want[j]) {
				return fmt.Errorf("group: %s: Distance(%g) is NaN", g.Name(), plain[j*e:(j+1)*e])
			}
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
	return checkInvariance(g, l, x)
}

// checkInvariance moves the trial points by some of the elements that they were lifted to.
func checkInvariance(g Group, l *Lifted, x []float64) error {
	d, lifts := g.PointDim(), l.Rows()/(len(x)/g.PointDim())
	for _, by := range []int{0, l.Rows() / 2, l.Rows() - 1} {
		u, _ := l.Row(by)
		moved := &Lifted{Group: g, N: l.N, K: l.K, A: make([]float64, len(l.A)), Q: make([]float64, len(l.Q))}
		copy(moved.Q, l.Q)
		if c, ok := g.(Composer); ok {
			if err := moveElements(c, moved, l, u, x); err != nil {
				return err
			}
		} else if g.MaxLifts() == 1 && lifts == 1 {
			y := make([]float64, len(x))
			for i := 0; i < len(x); i += d {
				g.Act(y[i:i+d], u, x[i:i+d])
			}
			moved = LiftPoints(g, y, 1, 13)
		} else {
			return nil
		}
		if err := samePoses(g, l, moved, u); err != nil {
			return err
		}
	}
	return nil
}

// moveElements writes the products of u and the elements of l, and wants Act to move the points as Compose moves their elements.
func moveElements(c Composer, moved, l *Lifted, u, x []float64) error {
	d, lifts := c.PointDim(), l.Rows()/(len(x)/c.PointDim())
	inv, origin, back, want := make([]float64, c.AlgebraDim()), make([]float64, d), make([]float64, d), make([]float64, d)
	for i := range l.Rows() {
		a, _ := l.Row(i)
		b, _ := moved.Row(i)
		c.Compose(b, u, a)
		c.Inverse(inv, a)
		p := x[i/lifts*d:][:d]
		c.Act(origin, inv, p)
		if c.Act(back, a, origin); !nearlySame(back, p) {
			return fmt.Errorf("group: %s: Act by Inverse(a) and then by a moves a point", c.Name())
		}
		c.Act(origin, b, origin)
		c.Act(want, u, p)
		if !nearlySame(origin, want) {
			return fmt.Errorf("group: %s: Act by Compose(u, a) differs from Act by a and then by u", c.Name())
		}
	}
	return nil
}

func samePoses(g Group, l, moved *Lifted, u []float64) error {
	e := PoseDim(g)
	before, after := make([]float64, e), make([]float64, e)
	for i := range l.Rows() {
		ai, qi := l.Row(i)
		bi, ri := moved.Row(i)
		for j := range l.Rows() {
			aj, qj := l.Row(j)
			bj, rj := moved.Row(j)
			g.RelativePose(before, ai, qi, aj, qj)
			g.RelativePose(after, bi, ri, bj, rj)
			if !nearlySame(before, after) {
				return fmt.Errorf("group: %s: the relative pose %g becomes %g when exp(%g) acts on both points", g.Name(), before, after, u)
			}
		}
	}
	return nil
}

// nearlySame compares numbers with an allowance for rounding. Where the angle of a pose is half a turn either sign is right.
func nearlySame(x, y []float64) bool {
	for i, v := range x {
		if d := math.Abs(v - y[i]); !(d <= 1e-7*(1+math.Abs(v))) && !(math.Abs(d-2*math.Pi) <= 1e-7) {
			return false
		}
	}
	return true
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
				return fmt.Errorf("group: %s: a point at distance %g is %g off in bounding coordinate %d, and BoundBox says at most %g",
					g.Name(), d, gap, c, h)
			}
			sum += gap / h
		}
		if diamond != nil && diamond.BoundsDiamond() && sum > 1 {
			return fmt.Errorf("group: %s: a point at distance %g is outside its diamond", g.Name(), d)
		}
	}
	return nil
}
