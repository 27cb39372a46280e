package layers

import (
	"github.com/equivcnp/equivcnp/internal/bicubic"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/nodal"
	"github.com/equivcnp/equivcnp/simd"
)

// nodeChunks bounds the sums of the gradient that wait beside each other, each with a row for every node.
const nodeChunks = 16

// nodeWeights is a network that runs at the nodes of a grid, in place of the poses between them.
type nodeWeights[T Float] struct {
	*nodal.Table
	tape   *WeightNetTape[T]
	tiling *tiling[T]
}

// backwardFrom passes a gradient to the weights of all poses, computed part by part, on to the nodes, and from there to
// the parameters. Bits do not depend on the number of goroutines.
func (n *nodeWeights[T]) backwardFrom(from weightGradient[T], g *Grads[T]) {
	c, at := n.tape.net.Out(), from.width()
	width := min(buffers.SliceWidth, at)
	each := max(1, (from.parts()+nodeChunks-1)/nodeChunks) // parts of a chunk
	chunks := (from.parts() + each - 1) / each
	sums := make([][]float32, chunks) // slice by slice
	parallel.For(chunks, 1, func(chunk, _ int) {
		sum := buffers.Rent[float32](n.Nodes * c)
		clear(sum)
		for k := chunk * each; k < min((chunk+1)*each, from.parts()); k++ {
			lo, hi := from.part(k)
			places := n.tiling.partPlaces(k).Of(buffers.F32(n.tiling.table[2*lo:2*hi]), n.Table)
			dw := buffers.Rent[T]((hi - lo) * at)
			for first := 0; first < c; first += at {
				from.produce(dw, k, first, first+at)
				for j := 0; j < at; j += width {
					m := min(width, at-j)
					bicubic.Gradient(sum[(first+j)*n.Nodes:(first+j+m)*n.Nodes], buffers.F32(dw), places, j, m, at)
				}
			}
			buffers.GiveBack(dw)
		}
		sums[chunk] = sum
	})
	total := buffers.Rent[T](n.Nodes * c)
	parallel.For(c/at, 1, func(k, _ int) {
		for j := k * at; j < (k+1)*at; j += width {
			m := min(width, (k+1)*at-j)
			part := func(chunk int) []float32 { return sums[chunk][j*n.Nodes : (j+m)*n.Nodes] }
			for chunk := 1; chunk < chunks; chunk++ {
				simd.AddF32(part(0), part(0), part(chunk))
			}
			buffers.CopyRows(buffers.F32(total)[j:], c, part(0), m, m, n.Nodes)
		}
	})
	buffers.GiveBack(sums...)
	n.tape.Backward(nil, total, g)
	buffers.GiveBack(total)
}
