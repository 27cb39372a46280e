package layers

import (
	"math"
	"sync"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

// Convolution weights are smooth functions of the pose: three linear maps of some dozen channels, with swish in between. Where poses have two coordinates, and there are a
// quarter of a million of them in a ball (pixels under rotations and scalings), far fewer nodes of a grid tell as much. The network then runs at the nodes alone, there and
// back, and the weights of all poses are interpolated between 4 by 4 nodes: 20 multiply-adds for a weight, where the network takes 40 and a swish, and as many for its gradient, where
// the network takes 100. The grid is made fine enough for every network by measurement, up to the error that float32 leaves in the network itself; where that would take too many nodes, the network
// computes the poses one by one, as it does where one of its layers is normalised, since that needs sums over all poses.

const (
	// nodeTolerance is the largest error of interpolated weights, relative to the greatest weight, at nodeSample poses. Rounding in the network leaves 3e-7 to 5e-7 in the shipped models.
	nodeTolerance = 2e-6
	nodeSample    = 512
	// nodePoses is how many poses a node must stand for.
	nodePoses = 8
	// nodeChunks bounds the sums of the gradient that wait beside each other, each with a row for every node.
	nodeChunks = 16
)

// nodeCells is how many cells each of the grids has along its longer side: every grid has a fifth of the error of the one before. Networks of the shipped models need the first or the second.
var nodeCells = [...]int{64, 96, 144}

// poseGrid is a grid of nodes over the poses of a table.
type poseGrid struct {
	lo         [2]float64 // coordinates of the first node
	step       float64    // between nodes
	rows, cols int        // nodes along the first and the second of axes
	axes       [2]int     // the pose's coordinates: the longer one first, so that four rows of nodes stay in the first-level cache
}

// nodes is the number of nodes.
func (g *poseGrid) nodes() int { return g.rows * g.cols }

// newPoseGrid returns a grid with so many cells along the longer side of the box around a table of poses [n, 2]. It returns nil if that has no
// sides, or one that is no number.
func newPoseGrid[T Float](table []T, cells int) *poseGrid {
	if len(table) == 0 {
		return nil
	}
	lo, hi := [2]T{table[0], table[1]}, [2]T{table[0], table[1]}
	for i := 0; i < len(table); i += 2 {
		for k, v := range table[i : i+2] {
			lo[k], hi[k] = min(lo[k], v), max(hi[k], v) // NaN stays NaN
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
func (g *poseGrid) plan(poses []float32) *simd.BicubicPlan {
	at := make([]float64, len(poses))
	for i := 0; i < len(poses); i += 2 {
		for k, axis := range g.axes {
			at[i+k] = (float64(poses[i+axis]) - g.lo[axis]) / g.step
		}
	}
	return simd.NewBicubicPlan(at, g.rows, g.cols)
}

// nodeGrids are the grids over a tiling's poses, made on demand.
type nodeGrids struct {
	level [len(nodeCells)]struct {
		once sync.Once
		grid *poseGrid // nil: it has too many nodes

		nodes  []float32         // the poses of the nodes
		sample []float32         // some poses of the table
		among  *simd.BicubicPlan // and where they lie

		placeOnce sync.Once
		parts     []*simd.BicubicPlan // of the parts of the weights' gradient
	}
}

// grid returns the grid of a level with the poses of its nodes, or nil if it has too many nodes.
func (t *tiling[T]) grid(level int) *poseGrid {
	l := &t.grids.level[level]
	l.once.Do(func() {
		table := f32(t.table)
		g := newPoseGrid(table, nodeCells[level])
		if g == nil || g.nodes()*nodePoses > len(table)/2 {
			return
		}
		l.grid, l.nodes = g, g.table()
		for i := range nodeSample {
			q := i * (len(table) / 2) / nodeSample
			l.sample = append(l.sample, table[2*q:2*q+2]...)
		}
		l.among = g.plan(l.sample)
	})
	return l.grid
}

// place finds all poses between the nodes of a level: tile by tile, and for the parts of the weights' gradient.
func (t *tiling[T]) place(level int) (parts []*simd.BicubicPlan) {
	l := &t.grids.level[level]
	l.placeOnce.Do(func() {
		l.parts = make([]*simd.BicubicPlan, t.poses.Parts())
		sides := [2][]tile[T]{t.query.tiles, t.point.tiles}
		here, both := len(sides[0]), len(sides[0])+len(sides[1])
		parallel.For(both+len(l.parts), 1, func(k, _ int) {
			switch {
			case k < here:
				sides[0][k].between[level] = l.grid.plan(f32(sides[0][k].table))
			case k < both:
				sides[1][k-here].between[level] = l.grid.plan(f32(sides[1][k-here].table))
			default:
				lo, hi := t.poses.Part(k - both)
				l.parts[k-both] = l.grid.plan(f32(t.table[2*lo : 2*hi]))
			}
		})
	})
	return l.parts
}

// nodeWeights is a network that runs at the nodes of a grid, in place of the poses between them.
type nodeWeights[T Float] struct {
	level  int
	nodes  int
	tape   *WeightNetTape[T]
	slices [][]float32 // of all nodes, tileWidth channels each
	parts  []*simd.BicubicPlan
}

// betweenNodes returns the network at the nodes of the coarsest grid that is fine enough for it, or nil if there is none.
func (p *Pairs[T]) betweenNodes(w *WeightNet[T]) *nodeWeights[T] {
	if sizeof[T]() != 4 || p.PoseDim != 2 || w.Norm != [3]*BatchNorm[T]{} || !p.tiled() || simd.CurrentLevel() == simd.Generic || p.NumPoses() < nodePoses*nodeCells[0] {
		return nil
	}
	t, c := p.tiles(), w.Out()
	var exact []T
	for level := range nodeCells {
		g := t.grid(level)
		if g == nil {
			return nil
		}
		l := &t.grids.level[level]
		if exact == nil {
			exact = make([]T, nodeSample*c)
			w.Forward(exact, any(l.sample).([]T), nodeSample)
		}
		n := &nodeWeights[T]{level: level, nodes: g.nodes(), tape: w.ForwardTape(any(l.nodes).([]T), g.nodes(), nil, 1, Eval)}
		weights := f32(n.tape.Weights())
		near := make([]float32, len(exact))
		simd.BicubicF32(near, weights, l.among, c)
		if !(furthest(near, f32(exact)) <= nodeTolerance) {
			n.tape.drop()
			continue
		}
		width := tileWidth[T](c)
		for lo := 0; lo < c; lo += width {
			m := min(width, c-lo)
			slice := make([]float32, n.nodes*m)
			copyRows(slice, m, weights[lo:], c, m, n.nodes)
			n.slices = append(n.slices, slice)
		}
		n.parts = t.place(level)
		return n
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

// slice sets dst [poses, width] to slice k of the weights of a tile's poses.
func (n *nodeWeights[T]) slice(dst []T, tile *tile[T], k int) {
	simd.BicubicF32(f32(dst), n.slices[k], tile.between[n.level], len(dst)/len(tile.poses))
}

// backwardFrom passes a gradient to the weights of all poses, computed part by part, on to the nodes, and from there to the parameters. Bits do not
// depend on the number of goroutines.
func (n *nodeWeights[T]) backwardFrom(from weightGradient[T], g *Grads[T]) {
	c := n.tape.net.Out()
	width := tileWidth[T](c)
	each := max(1, (from.parts()+nodeChunks-1)/nodeChunks) // parts of a chunk
	chunks := (from.parts() + each - 1) / each
	sums := make([][]float32, chunks) // slice by slice
	parallel.For(chunks, 1, func(chunk, _ int) {
		sum := rent[float32](n.nodes * c)
		clear(sum)
		for k := chunk * each; k < min((chunk+1)*each, from.parts()); k++ {
			lo, hi := from.part(k)
			dw := rent[T]((hi - lo) * c)
			from.produce(dw, k)
			for j := 0; j < c; j += width {
				m := min(width, c-j)
				simd.BicubicGradF32(sum[j*n.nodes:(j+m)*n.nodes], f32(dw), n.parts[k], j, m, c)
			}
			giveBack(dw)
		}
		sums[chunk] = sum
	})
	total := rent[T](n.nodes * c)
	parallel.For((c+width-1)/width, 1, func(k, _ int) {
		j := k * width
		m := min(width, c-j)
		part := func(chunk int) []float32 { return sums[chunk][j*n.nodes : (j+m)*n.nodes] }
		for chunk := 1; chunk < chunks; chunk++ {
			simd.AddF32(part(0), part(0), part(chunk))
		}
		copyRows(f32(total)[j:], c, part(0), m, m, n.nodes)
	})
	giveBack(sums...)
	n.tape.Backward(nil, total, g)
	giveBack(total)
}
