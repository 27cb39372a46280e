package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/reduce"
	"github.com/equivcnp/equivcnp/simd"
)

// The gradient of a LieConv to its weights is, for every pose, a sum over the pairs that have it, and most of the time
// of such a sum goes into finding the next pair. On a grid nearly every row has a pair of every pose. The sums are then
// a matrix product: the features of all pairs of some rows, [rows, poses], with zeros where there is no pair,
// transposed and multiplied by the gradients of those rows, [rows, mid]. Transforms take less, where there are any and
// enough products for a slab; see byTransforms.

// productRows is how many rows one product takes: their features stay in the second-level cache.
const productRows = 64

// dense reports whether rows have pairs of most poses, and at most one of each.
func (p *Pairs[T]) dense() bool {
	s := &p.sorted
	s.denseOnce.Do(func() {
		if !Flat(p.Neighborhood) || 2*p.Pairs() < p.Queries*p.NumPoses() {
			return
		}
		seen := make([]int32, p.NumPoses()) // the last row that had the pose, from 1 on
		for i := range p.Queries {
			_, pose := p.Row(i)
			for _, q := range pose {
				if seen[q] == int32(i+1) {
					return
				}
				seen[q] = int32(i + 1)
			}
		}
		s.dense = true
	})
	return s.dense
}

// productGradient returns the gradient [poses, mid] to a LieConv's weights, summed over the batch, from rent, given
// that to the sums of outer products, douter [batch, rows, in·mid]. It returns nil where a number is not finite, which
// a zero in the place of a pair that is not there would spread to its pose.
func (p *Pairs[T]) productGradient(douter, f []T, batch, in, mid int) []T {
	rows, poses, c, size := p.Queries, p.NumPoses(), in*mid, len(f)/batch
	grain := reduce.PartRows(batch*rows, productRows)
	sums := make([][]T, (batch*rows+grain-1)/grain)
	parallel.For(batch*rows, grain, func(lo, hi int) {
		sum, x := buffers.Rent[T](poses*mid), buffers.Rent[T](productRows*poses)
		clear(sum)
		sums[lo/grain] = sum
		for lo < hi {
			b, from := lo/rows, lo%rows
			n := min(hi-lo, productRows, rows-from)
			for a := range in {
				p.spreadRows(x[:n*poses], f[b*size+a:(b+1)*size], in, from, n)
				simd.GemmTN(sum, mid, x, poses, douter[lo*c+a*mid:], c, 1, 1, poses, mid, n)
			}
			lo += n
		}
		buffers.GiveBack(x)
	})
	for _, part := range sums[1:] {
		simd.Add(sums[0], sums[0], part)
	}
	buffers.GiveBack(sums[1:]...)
	for _, v := range sums[0] {
		if v-v != 0 {
			buffers.GiveBack(sums[0])
			return nil
		}
	}
	return sums[0]
}

// spreadRows sets x [n, poses] to what rows from on have of an image's features, f [points, stride], at the points of
// their pairs: the first number of each.
func (p *Pairs[T]) spreadRows(x, f []T, stride, from, n int) {
	clear(x)
	poses := len(x) / n
	for i := range n {
		index, pose := p.Row(from + i)
		row := x[i*poses : (i+1)*poses]
		for k, q := range pose {
			row[q] = f[int(index[k])*stride]
		}
	}
}
