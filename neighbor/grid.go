package neighbor

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/simd"
)

const (
	// maxGridDim bounds the axes of a grid: beyond, balls touch more cells than there are points in them.
	maxGridDim = 3
	// gridGroup is how many queries are answered together, as far as cells allow.
	gridGroup = 16
)

// Grid is a static grid of cubic cells with the points sorted by cell, for balls of about one radius. It is built several
// times faster than a KDTree, answers balls as fast where points are spread evenly, and gives the same answers bit for bit; it
// has no periodic axes. It is immutable and safe for concurrent use.
type Grid[T Float] struct {
	n, dim int
	coord  []T     // [dim, n] by cell, the last axis slowest
	index  []int32 // [n]
	start  []int32 // [cells+1] stored position of the first point of a cell
	cells  [maxGridDim]int
	low    [maxGridDim]T // corner of the first cell
	edge   float64
	inv    T // cells per unit
	slack  float64
}

// NewGrid builds a grid over points [n, dim], 1 ≤ dim ≤ 3, for balls of that radius. Any radius gets right answers, one that
// is several times larger or smaller gets them more slowly. The points are copied.
func NewGrid[T Float](points []T, dim int, radius T) (*Grid[T], error) {
	l, err := rows(len(points), dim)
	if err != nil {
		return nil, fmt.Errorf("neighbor: NewGrid: %w", err)
	}
	return newGrid("NewGrid", points, l, radius)
}

// NewGridAt is NewGrid for points that lie in a slice in some other way.
func NewGridAt[T Float](points []T, layout Layout, radius T) (*Grid[T], error) {
	return newGrid("NewGridAt", points, layout, radius)
}

func newGrid[T Float](op string, points []T, l Layout, radius T) (*Grid[T], error) {
	err := l.check(len(points))
	switch {
	case err != nil:
	case l.Dim > maxGridDim:
		err = fmt.Errorf("%w: dim = %d, need 1 to %d", ErrShape, l.Dim, maxGridDim)
	case !(radius > 0) || math.IsInf(float64(radius), 0):
		err = fmt.Errorf("%w: radius = %g, need a positive number", ErrOption, radius)
	}
	if err != nil {
		return nil, fmt.Errorf("neighbor: %s: %w", op, err)
	}
	g := &Grid[T]{n: l.N, dim: l.Dim}
	var high [maxGridDim]T
	for axis := range g.dim {
		from := points[min(axis*l.AxisStride, len(points)):]
		least, greatest, bad := extent(from, l.N, l.Stride)
		if bad >= 0 {
			return nil, fmt.Errorf("neighbor: %s: %w: point %d, coordinate %d = %g", op, ErrValue, bad, axis, from[bad*l.Stride])
		}
		g.low[axis], high[axis] = least, greatest
	}
	g.layOut(&high, radius)
	g.fill(points, l)
	return g, nil
}

// extent returns the least and the greatest of n numbers and the position of the first that is not finite, or -1.
func extent[T Float](x []T, n, stride int) (least, greatest T, bad int) {
	if n == 0 {
		return 0, 0, -1
	}
	least, greatest = x[0], x[0]
	for i := range n {
		v := x[i*stride]
		if v-v != 0 {
			return 0, 0, i
		}
		if v < least {
			least = v
		}
		if v > greatest {
			greatest = v
		}
	}
	return least, greatest, -1
}

// layOut chooses the cells: about a radius wide, wider where that makes more than about one cell a point.
func (g *Grid[T]) layOut(high *[maxGridDim]T, radius T) {
	largest, ulp, least := 0.0, 0x1p-52, 0x1p-900
	if T(1)+T(ulp) == 1 { // float32
		ulp, least = 0x1p-23, 0x1p-100
	}
	var width [maxGridDim]float64
	for axis := range g.dim {
		width[axis] = float64(high[axis]) - float64(g.low[axis])
		largest = max(largest, math.Abs(float64(g.low[axis])), math.Abs(float64(high[axis])))
	}
	// Cells as narrow as the rounding of a coordinate would separate nothing.
	edge := max(float64(radius)*gridEdge[g.dim], 64*ulp*largest, least)
	for range 200 {
		total := 1.0
		for axis := range maxGridDim {
			count := min(math.Floor(width[axis]/edge)+1, 1<<52)
			total *= count
			g.cells[axis] = int(min(count, 1<<30))
		}
		most := float64(g.n) + 64
		if total <= most {
			g.edge, g.inv = edge, T(1/edge)
			// What rounding may do to a coordinate on its way to a cell.
			g.slack = 8 * ulp * (largest + edge)
			return
		}
		edge *= max(1.01, math.Pow(total/most, 1/float64(g.dim)))
	}
	// Widths that overflow: a single cell.
	g.cells = [maxGridDim]int{1, 1, 1}
	g.edge, g.inv, g.slack = math.Inf(1), 0, math.Inf(1)
}

// gridEdge is the edge of a cell in radii, by dimension.
var gridEdge = [maxGridDim + 1]float64{1: 1, 2: 1, 3: 1}

// cell returns the cell of a coordinate on an axis; it never falls as x grows.
func (g *Grid[T]) cell(axis int, x T) int {
	f := (x - g.low[axis]) * g.inv
	if !(f > 0) {
		return 0
	}
	if last := g.cells[axis] - 1; f >= T(last) {
		return last
	}
	return int(int32(f))
}

// fill sorts the points by cell, by counting.
func (g *Grid[T]) fill(points []T, l Layout) {
	total := g.cells[0] * g.cells[1] * g.cells[2]
	g.start = make([]int32, total+2)
	g.coord, g.index = make([]T, g.dim*g.n), make([]int32, g.n)
	at := make([]int32, g.n)
	next := g.start[1:] // counts shifted by one become starts
	switch {
	case g.n == 0:
		return
	case g.dim == 2 && l.Stride == 2 && l.AxisStride == 1:
		for i := range at {
			p := points[2*i : 2*i+2 : 2*i+2]
			k := g.cell(0, p[0]) + g.cells[0]*g.cell(1, p[1])
			at[i] = int32(k)
			next[k+1]++
		}
	default:
		for i := range at {
			k, width := 0, 1
			for axis := range g.dim {
				k += width * g.cell(axis, points[i*l.Stride+axis*l.AxisStride])
				width *= g.cells[axis]
			}
			at[i] = int32(k)
			next[k+1]++
		}
	}
	sum := int32(0)
	for k, c := range next {
		sum += c
		next[k] = sum
	}
	// next[k] is where cell k starts; it advances to where it ends, which is start[k+1].
	switch {
	case g.dim == 2:
		x, y := g.coord[:g.n], g.coord[g.n:]
		for i, k := range at {
			to := next[k]
			next[k]++
			x[to], y[to], g.index[to] = points[i*l.Stride], points[i*l.Stride+l.AxisStride], int32(i)
		}
	default:
		for i, k := range at {
			to := int(next[k])
			next[k]++
			g.index[to] = int32(i)
			for axis := range g.dim {
				g.coord[axis*g.n+to] = points[i*l.Stride+axis*l.AxisStride]
			}
		}
	}
	g.start = g.start[:total+1]
}

// Len is the number of points.
func (g *Grid[T]) Len() int { return g.n }

// Dim is the number of axes.
func (g *Grid[T]) Dim() int { return g.dim }

func (g *Grid[T]) points() stored[T] { return stored[T]{g.n, g.dim, g.coord, g.index, nil} }

// chunkCells is the number of cells that go to a goroutine as a whole.
func (g *Grid[T]) chunkCells() int {
	return max(1, int(float64(len(g.start)-1)*chunkQueries/float64(max(g.n, 1))))
}

func (g *Grid[T]) chunks() int {
	if g.n == 0 {
		return 0
	}
	c := g.chunkCells()
	return (len(g.start) - 1 + c - 1) / c
}

// chunk returns the cells of a chunk.
func (g *Grid[T]) chunk(k int) (lo, hi int) {
	c := g.chunkCells()
	return k * c, min((k+1)*c, len(g.start)-1)
}

func (g *Grid[T]) chunkBox(chunk int, box []T) {
	a, b := g.chunk(chunk)
	if lo, hi := int(g.start[a]), int(g.start[b]); lo < hi {
		g.boxAround(lo, hi, box)
	}
}

// boxAround writes the box around the points at stored positions lo .. hi-1.
func (g *Grid[T]) boxAround(lo, hi int, box []T) {
	for axis := range g.dim {
		box[2*axis], box[2*axis+1] = simd.MinMax(g.coord[axis*g.n+lo : axis*g.n+hi])
	}
}

// groups takes cells along a row until they hold enough points or reach too far, and divides what is more.
func (g *Grid[T]) groups(chunk int, reach T, f func(lo, hi int, box []T)) {
	first, end := g.chunk(chunk)
	var box [2 * maxGridDim]T
	far := 1 + int(min(2*float64(reach)/g.edge, 1<<20))
	for a := first; a < end; {
		rowEnd := min((a/g.cells[0]+1)*g.cells[0], end, a+far)
		lo := int(g.start[a])
		b := a + 1
		for b < rowEnd && int(g.start[b])-lo < gridGroup {
			b++
		}
		for hi := int(g.start[b]); lo < hi; {
			mid := hi
			if hi-lo > 2*gridGroup {
				mid = lo + gridGroup
			}
			g.boxAround(lo, mid, box[:2*g.dim])
			f(lo, mid, box[:2*g.dim])
			lo = mid
		}
		a = b
	}
}

func (g *Grid[T]) enter(*region[T], []T, T) {}

// candidates takes the rows of cells that the ball around the box touches, each as far as the ball reaches there.
func (g *Grid[T]) candidates(r *region[T], box []T, radius2 T) {
	r.from, r.to = r.from[:0], r.to[:0]
	if !(radius2 > 0) || g.n == 0 {
		return
	}
	r2 := float64(radius2)
	reach := math.Sqrt(r2)*(1+0x1p-20) + g.slack
	var first, last [maxGridDim]int
	for axis := range g.dim {
		first[axis], last[axis] = g.cell(axis, T(float64(box[2*axis])-reach)-T(g.slack)), g.cell(axis, T(float64(box[2*axis+1])+reach)+T(g.slack))
	}
	for z := first[2]; z <= last[2]; z++ {
		gz := 0.0
		if g.dim > 2 {
			gz = g.rowGap(2, z, box)
		}
		for y := first[1]; y <= last[1]; y++ {
			gy := 0.0
			if g.dim > 1 {
				gy = g.rowGap(1, y, box)
			}
			w2 := reach*reach - gy*gy - gz*gz
			if w2 < 0 {
				continue
			}
			w := math.Sqrt(w2) + g.slack
			row := g.cells[0] * (y + g.cells[1]*z)
			from := g.start[row+g.cell(0, T(float64(box[0])-w)-T(g.slack))]
			to := g.start[row+g.cell(0, T(float64(box[1])+w)+T(g.slack))+1]
			if from < to {
				r.from, r.to = append(r.from, from), append(r.to, to)
			}
		}
	}
}

// rowGap is a lower bound of the distance along an axis between a box and the points of the cells numbered k there.
func (g *Grid[T]) rowGap(axis, k int, box []T) float64 {
	if g.cells[axis] == 1 {
		return 0
	}
	lo := float64(g.low[axis]) + float64(k)*g.edge
	return max(lo-float64(box[2*axis+1]), float64(box[2*axis])-lo-g.edge, g.slack) - g.slack
}
