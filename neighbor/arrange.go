package neighbor

import (
	"errors"
	"fmt"
)

// crowded is the mean number of points in the cell of a point from which on a grid's cells are too full: balls much smaller than
// a cell would scan too many points.
const crowded = 64

// Arrange puts points [n, dim] into the order that suits balls of that radius best. That is a Grid, which is built several times
// faster, or a KDTree where the points crowd in few cells of the grid, where they have more than three axes, or periodic ones.
// EachBall, Balls and BallCounts find the same in either. periods is as for NewTree. Use it when you search many clouds of
// unknown shape and do not want to choose.
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

// crowd returns the mean number of points in the cell of a point.
func (g *Grid[T]) crowd() float64 {
	sum := 0.0
	for k := 1; k < len(g.start); k++ {
		c := float64(g.start[k] - g.start[k-1])
		sum += c * c
	}
	return sum / float64(max(g.n, 1))
}
