package neighbor

import (
	"errors"
	"fmt"
)

// crowded is the number of points in a cell, as its points see it, from which on a grid's cells are too full to be
// scanned for balls much smaller than a cell.
const crowded = 64

// Arrange puts points [n, dim] into the order that suits balls of that radius best: a Grid, which is built several times
// faster, or, where the points crowd in few of its cells, with more than three axes or with periodic ones, a KDTree. What
// EachBall, Balls and BallCounts find is the same. periods is as for NewTree.
func Arrange[T Float](points []T, dim int, radius T, periods []T) (Cloud[T], error) {
	periodic := len(periods) != 0 && len(periods) != dim // NewTree refuses it
	for _, p := range periods {
		periodic = periodic || p != 0
	}
	if err := checkRadius(radius); err != nil {
		return nil, fmt.Errorf("neighbor: Arrange: %w", err)
	}
	if dim <= maxGridDim && !periodic {
		g, err := NewGrid(points, dim, radius)
		if err != nil {
			return nil, fmt.Errorf("neighbor: Arrange: %w", errors.Unwrap(err))
		}
		if g.edge <= 2*float64(radius)*gridEdge[dim] || g.crowd() <= crowded {
			return g, nil
		}
	}
	t, err := NewTree(points, dim, periods)
	if err != nil {
		return nil, fmt.Errorf("neighbor: Arrange: %w", errors.Unwrap(err))
	}
	return t, nil
}

// crowd is the mean number of points in the cell of a point.
func (g *Grid[T]) crowd() float64 {
	sum := 0.0
	for k := 1; k < len(g.start); k++ {
		c := float64(g.start[k] - g.start[k-1])
		sum += c * c
	}
	return sum / float64(max(g.n, 1))
}
