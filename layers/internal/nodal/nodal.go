// Package nodal computes convolution weights at the nodes of a grid over the poses, and interpolates them between.
//
// Convolution weights are smooth functions of the pose: three linear maps of some dozen channels, with swish in
// between. Where poses have two coordinates, and there are a quarter of a million of them in a ball (pixels under
// rotations and scalings), far fewer nodes of a grid tell as much. The network then runs at the nodes alone, there and
// back, and the weights of all poses are interpolated between 4 by 4 nodes: 20 multiply-adds for a weight, where the
// network takes 40 and a swish, and as many for its gradient, where the network takes 100. The grid is made fine enough
// for every network by measurement, up to the error that float32 leaves in the network itself; where that would take
// too many nodes, the network computes the poses one by one, as it does where one of its layers is normalised, since
// that needs sums over all poses.
package nodal

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/bicubic"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/simd"
)

const (
	// Tolerance is the largest error of interpolated weights, relative to the greatest weight, at nodeSample poses.
	// Rounding in the network leaves 3e-7 to 5e-7 in the shipped models.
	Tolerance  = 2e-6
	nodeSample = 256
	// nodeHope is how much less than its power of the step says the error may become on a finer grid.
	nodeHope = 4
	// MulAdds is the number of multiply-adds that an interpolated weight takes: 16 along the rows of nodes, and 4 across.
	MulAdds = 20
	// PlaceBytes is the memory that the place of a pose takes: in a bicubic.Plan, and before.
	PlaceBytes = 40 + 16
	// nodePoses is how many poses a node must stand for.
	nodePoses = 8
)

// Cells is the number of cells that each of the grids has along its longer side: every grid has a fifth of the error of the
// one before. Networks of the shipped models need the first or the second.
var Cells = [...]int{64, 96, 144}

// poseGrid is a grid of nodes over the poses of a table.
type poseGrid struct {
	lo         [2]float64 // coordinates of the first node
	step       float64    // between nodes
	rows, cols int        // nodes along the first and the second of axes
	axes       [2]int     // the pose's coordinates: the longer one first, so that four rows of nodes stay in the first-level cache
}

// nodes is the number of nodes.
func (g *poseGrid) nodes() int { return g.rows * g.cols }

// newPoseGrid returns a grid with so many cells along the longer side of the box around the poses of some tables [n,
// 2]. It returns nil if that has no sides, or one that is no number.
func newPoseGrid(tables [][]float32, cells int) *poseGrid {
	inf := float32(math.Inf(1))
	lo, hi := [2]float32{inf, inf}, [2]float32{-inf, -inf}
	for _, table := range tables {
		for i := 0; i < len(table); i += 2 {
			for k, v := range table[i : i+2] {
				lo[k], hi[k] = min(lo[k], v), max(hi[k], v) // NaN stays NaN
			}
		}
	}
	size := [2]float64{float64(hi[0]) - float64(lo[0]), float64(hi[1]) - float64(lo[1])}
	g := &poseGrid{axes: [2]int{0, 1}}
	if size[1] > size[0] {
		g.axes = [2]int{1, 0}
	}
	g.step = size[g.axes[0]] / float64(cells)
	if !(g.step > 0) || math.IsInf(g.step, 0) || math.IsNaN(size[g.axes[1]]) {
		return nil
	}
	// One node before the first pose, two behind the last one, and half a step so that rounding leaves none outside.
	count := func(axis int) int { return int(math.Ceil(size[axis]/g.step+0.5)) + 3 }
	g.rows, g.cols = count(g.axes[0]), count(g.axes[1])
	for k := range 2 {
		g.lo[k] = float64(lo[k]) - 1.25*g.step
	}
	return g
}

// table returns the poses of all nodes [rows, cols, 2].
func (g *poseGrid) table() []float32 {
	x := make([]float32, 2*g.nodes())
	for i := range g.rows {
		for j := range g.cols {
			at := x[2*(i*g.cols+j):]
			at[g.axes[0]] = float32(g.lo[g.axes[0]] + float64(i)*g.step)
			at[g.axes[1]] = float32(g.lo[g.axes[1]] + float64(j)*g.step)
		}
	}
	return x
}

// plan returns where poses [n, 2] lie between the nodes.
func (g *poseGrid) plan(poses []float32) *bicubic.Plan {
	at := buffers.Rent[float64](len(poses))
	defer buffers.GiveBack(at)
	for i := 0; i < len(poses); i += 2 {
		for k, axis := range g.axes {
			at[i+k] = (float64(poses[i+axis]) - g.lo[axis]) / g.step
		}
	}
	return bicubic.New(at, g.rows, g.cols)
}

// Grids are the grids over the poses of a neighbourhood, made on demand.
type Grids [len(Cells)]struct {
	once sync.Once
	grid *poseGrid // nil: it has too many nodes

	nodes  []float32     // the poses of the nodes
	sample []float32     // some of the poses
	among  *bicubic.Plan // and where they lie
}

// Places locates some poses between the nodes of each grid, found when it is first needed; twice, perhaps, by two goroutines.
type Places [len(Cells)]atomic.Pointer[bicubic.Plan]

// Of returns where the poses of a table lie between the nodes of n.
func (p *Places) Of(table []float32, n *Table) *bicubic.Plan {
	plan := p[n.Level].Load()
	if plan == nil {
		plan = n.grids[n.Level].grid.plan(table)
		p[n.Level].Store(plan)
	}
	return plan
}

// make determines the grid of a level, given all poses, unless it would have too many nodes.
func (g *Grids) make(level int, tables [][]float32) {
	l := &g[level]
	l.once.Do(func() {
		poses := 0
		for _, t := range tables {
			poses += len(t) / 2
		}
		grid := newPoseGrid(tables, Cells[level])
		if grid == nil || grid.nodes()*nodePoses > poses {
			return
		}
		l.grid, l.nodes = grid, grid.table()
		at, next := 0, 0 // the poses before this table, and the next one of the sample
		for _, t := range tables {
			for ; next < at+len(t)/2; next = len(l.sample) / 2 * poses / nodeSample {
				l.sample = append(l.sample, t[2*(next-at):2*(next-at)+2]...)
			}
			at += len(t) / 2
		}
		l.among = grid.plan(l.sample)
	})
}

// Smooth reports whether weights of so many poses of e coordinates may be interpolated.
func Smooth[T simd.Float](e, poses int) bool {
	return buffers.SizeOf[T]() == 4 && e == 2 && bicubic.Fast() && poses >= nodePoses*Cells[0]
}

// Table is the weights of all nodes of a grid, slice by slice, [nodes, width] each.
type Table struct {
	Nodes  int // their number
	grids  *Grids
	Level  int // the number of its grid
	slices [][]float32
}

// Bytes is the memory that the weights take.
func (n *Table) Bytes() (size int64) {
	if n != nil {
		for _, s := range n.slices {
			size += 4 * int64(len(s))
		}
	}
	return size
}

// Slice sets dst [poses, width] to slice k of the weights of poses.
func (n *Table) Slice(dst []float32, at *bicubic.Plan, k int) {
	bicubic.Interpolate(dst, n.slices[k], at, len(n.slices[k])/n.Nodes)
}

// FineEnough returns the weights at the nodes of the coarsest grid that is fine enough for a network, in slices of
// width channels, or nil if there is none. net sets dst [n, c] to the network's weights of poses; keep says whether it
// should remember what it takes to differentiate that.
func (g *Grids) FineEnough(tables [][]float32, c, width int, net func(dst, poses []float32, keep bool)) *Table {
	var exact []float32
	for level := range Cells {
		g.make(level, tables)
		l := &g[level]
		if l.grid == nil {
			return nil
		}
		if exact == nil {
			exact = make([]float32, len(l.sample)/2*c)
			net(exact, l.sample, false)
		}
		n := &Table{grids: g, Level: level, Nodes: l.grid.nodes()}
		weights, near := make([]float32, n.Nodes*c), make([]float32, len(exact))
		net(weights, l.nodes, true)
		bicubic.Interpolate(near, weights, l.among, c)
		far := furthest(near, exact)
		if far <= Tolerance {
			for lo := 0; lo < c; lo += width {
				m := min(width, c-lo)
				slice := make([]float32, n.Nodes*m)
				buffers.CopyRows(slice, m, weights[lo:], c, m, n.Nodes)
				n.slices = append(n.slices, slice)
			}
			return n
		}
		// The error falls with the fourth power of the step. Where the finest grid would not be fine enough, the others need not be tried.
		if finest := float64(Cells[level]) / float64(Cells[len(Cells)-1]); !(far*math.Pow(finest,
			4) <= nodeHope*Tolerance) {
			return nil
		}
	}
	return nil
}

// furthest returns the greatest difference between two arrays, relative to the greatest number of the second; NaN where one is among them.
func furthest(x, y []float32) float64 {
	var most, size float32
	for i, v := range y {
		d := v - x[i]
		most, size = max(most, d, -d), max(size, v, -v)
	}
	return float64(most) / float64(size)
}
