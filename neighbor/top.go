package neighbor

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/simd"
)

// Top keeps the k best of a stream of scores that never lies in memory as a whole, without sorting it. Scores come in parts of any size,
// such as those which simd.DotRowsF32 computes of rows that are read from a file. Once k scores are known, a part is only searched for its
// extremes, 128 scores at a time, and most parts are done with that. A Top may be used by one goroutine at a time.
type Top struct {
	best    nearest
	largest bool
}

// topScores is how many scores are searched for their extremes at a time: enough for a call of a kernel, and few enough that the one
// better score which makes all be looked at is rare.
const topScores = 128

// NewTop keeps the k largest scores, or else the k smallest. It returns ErrOption if k is negative.
func NewTop(k int, largest bool) (*Top, error) {
	if k < 0 {
		return nil, fmt.Errorf("neighbor: NewTop: %w: k = %d is negative", ErrOption, k)
	}
	return &Top{best: nearest{k: k}, largest: largest}, nil
}

// Reset forgets all scores.
func (t *Top) Reset() { t.best.reset(t.best.k) }

// Len returns how many scores are kept: k, or as many as were offered without those that are NaN.
func (t *Top) Len() int { return len(t.best.dist) }

// Bound returns the worst of the scores that are kept, which another one must beat, once there are k; before, it returns an infinity that
// every number beats. With k = 0 it is an infinity that none beats.
func (t *Top) Bound() float32 {
	bound := math.Inf(1)
	switch {
	case t.best.k == 0:
		bound = math.Inf(-1)
	case t.best.full():
		bound = t.best.dist[0]
	}
	if t.largest {
		bound = -bound
	}
	return float32(bound)
}

// Offer offers the scores of items first, first+1, ..., in any order of parts. NaN is never kept. Of equal scores the items with smaller
// numbers are better. It panics if a number is negative or beyond an int32.
func (t *Top) Offer(scores []float32, first int) {
	if first < 0 || first > math.MaxInt32-len(scores)+1 {
		panic(fmt.Sprintf("neighbor: Top.Offer: items %d to %d: need 0 to %d", first, first+len(scores)-1, math.MaxInt32))
	}
	if t.best.k == 0 {
		return
	}
	for at := 0; at < len(scores); at += topScores {
		part := scores[at:min(at+topScores, len(scores))]
		bound := t.Bound()
		if t.best.full() {
			lo, hi := simd.MinMaxF32(part) // both NaN where one is
			if t.largest && hi < bound || !t.largest && lo > bound {
				continue
			}
		}
		for i, s := range part {
			if t.largest && s < bound || !t.largest && s > bound {
				continue
			}
			cost := float64(s)
			if t.largest {
				cost = -cost
			}
			t.best.offer(cost, int32(first+at+i))
			bound = t.Bound()
		}
	}
}

// Best writes the numbers of the best items into index and their scores into score, the best first, and returns how many there are: at most
// Len. Both may be shorter, and then hold the best of all. It panics if their lengths differ. More scores may be offered afterwards.
func (t *Top) Best(index []int32, score []float32) int {
	if len(index) != len(score) {
		panic(fmt.Sprintf("neighbor: Top.Best: len(index) = %d, len(score) = %d", len(index), len(score)))
	}
	sorted := nearest{k: t.best.k, dist: append([]float64(nil), t.best.dist...), index: append([]int32(nil), t.best.index...)}
	sorted.sort()
	n := min(len(index), len(sorted.dist))
	for i := range n {
		index[i], score[i] = sorted.index[i], float32(sorted.dist[i])
		if t.largest {
			score[i] = -score[i]
		}
	}
	return n
}
