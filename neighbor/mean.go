package neighbor

import (
	"fmt"
	"math"
)

const (
	// meanQueries bounds the points whose balls RadiusForMean counts; meanPairs the pairs that it counts at a time.
	meanQueries = 4096
	meanPairs   = 1 << 24
)

// RadiusForMean returns a squared radius at which the balls around the points of t hold mean points on average, the centres
// included, 0 < mean ≤ Len. It finds a radius for data whose density you do not know.
//
// It counts the balls of up to 4096 points spread over the cloud (fewer where a ball holds more than 4096 points) and bisects the
// radius until their average is within tolerance·mean. If ties make that impossible, the result is the radius with the nearest
// average. The cost is about fifty times that of those balls, O(N log N) with the tree. The average over all points differs from
// that over the sample by about the standard deviation of the counts divided by the root of the sample's size: for 4096 points,
// 1.5 per cent of it.
func (t *KDTree[T]) RadiusForMean(mean, tolerance float64) (radius2 T, err error) {
	if !(mean > 0 && mean <= float64(t.n)) {
		return 0, fmt.Errorf("neighbor: KDTree.RadiusForMean: %w: mean = %g, need more than 0 and at most %d", ErrOption, mean, t.n)
	}
	if !(tolerance >= 0) {
		return 0, fmt.Errorf("neighbor: KDTree.RadiusForMean: %w: tolerance = %g, need 0 or more", ErrOption, tolerance)
	}
	// Equal steps in tree order are spread over the cloud.
	m := min(t.n, meanQueries, max(64, int(meanPairs/mean)))
	x := make([]T, m*t.dim)
	for i := range m {
		at := int(int64(i) * int64(t.n) / int64(m))
		for axis := range t.dim {
			x[i*t.dim+axis] = t.coord[axis*t.n+at]
		}
	}
	queries, err := NewTree(x, t.dim, t.periods)
	if err != nil {
		return 0, err
	}
	count := make([]int32, m)
	average := func(r2 T) float64 {
		ballCounts(t, queries, r2, BulkOptions{}, count)
		sum := 0.0
		for _, c := range count {
			sum += float64(c)
		}
		return sum / float64(m)
	}
	// Squared distances are not negative, so they are ordered like their bits, and bisecting the bits ends for certain.
	lo, hi := T(0), T(math.Inf(1))
	below, above := 0.0, math.Inf(1) // the averages there
	for r2 := t.middle(mean); lo < r2 && r2 < hi; {
		switch a := average(r2); {
		case math.Abs(a-mean) <= tolerance*mean:
			return r2, nil
		case a < mean:
			lo, below = r2, a
		default:
			hi, above = r2, a
		}
		if r2 = between(lo, hi); r2 == lo {
			break
		}
	}
	if mean-below < above-mean {
		return lo, nil
	}
	return hi, nil
}

// middle returns a first guess: the squared radius of a ball whose share of the volume of the root's box is mean/n.
func (t *KDTree[T]) middle(mean float64) T {
	widest := 0.0
	root := t.nodeBox(0)
	for axis := range t.dim {
		widest = max(widest, float64(root[2*axis+1])-float64(root[2*axis]))
	}
	r := widest / 2 * math.Pow(mean/float64(t.n), 1/float64(t.dim))
	if r2 := T(r * r); r2 > 0 && !math.IsInf(float64(r2), 1) {
		return r2
	}
	return 1
}

// between returns a number between two nonnegative numbers: their middle if they are of similar size, else the middle of their
// bits, which crosses any number of magnitudes in few rounds.
func between[T Float](lo, hi T) T {
	if 0 < lo && hi < 4*lo {
		return lo + (hi-lo)/2
	}
	switch l := any(lo).(type) {
	case float32:
		a, b := math.Float32bits(l), math.Float32bits(float32(hi))
		return T(math.Float32frombits(a + (b-a)/2))
	case float64:
		a, b := math.Float64bits(l), math.Float64bits(float64(hi))
		return T(math.Float64frombits(a + (b-a)/2))
	}
	return lo
}
