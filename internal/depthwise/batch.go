package depthwise

import (
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/schedule"
)

// Batch lists rows of a neighbourhood for a depthwise convolution of several images at once. Making it checks all
// indices. It then serves every slice of channels, and is only read, by any number of goroutines.
//
// Four rows that follow each other and have the same poses, as rotated copies under rotation groups do, are computed together: a vector
// of weights then serves four rows of four images.
type Batch struct {
	rows, points, poses int
	fours, ones         []batchCall // of four rows with the same poses, and of single rows
}

// batchCall is some blocks of the code that one call of a kernel processes. A block is {pairs, the factor of the sums, the
// numbers of its rows, then for each pair its pose and its point in each row}.
type batchCall struct {
	code   []int32
	blocks int
}

// batchRows is the largest number of rows of a block.
const batchRows = 4

// NewBatch lists rows, given as in simd.DepthwiseF32, for a result of so many rows; the k-th row listed becomes its row
// numbers[k]. same is as in [simd.NewDepthwiseRows]. With mean, sums are divided by the number of a row's pairs. It panics if a length
// does not match, offsets descend, or a number, an index or a pose names no row.
func NewBatch(numbers []int32, offsets []int, index, pose []int32, same []bool, rows, points, poses int,
	mean bool) *Batch {
	const fn = "NewBatch"
	check.Size(fn, "rows", rows)
	check.Size(fn, "points", points)
	check.Size(fn, "poses", poses)
	n := check.CSR(fn, offsets, index, pose)
	check.Len(fn, "numbers", len(numbers), n)
	check.Indices(fn, "numbers", numbers, 0, rows)
	check.Indices(fn, "index", index, 0, points)
	check.Indices(fn, "pose", pose, 0, poses)
	r := &schedule.Rows{Offsets: offsets, Index: index, Pose: pose}
	same = r.SameAs("depthwise: "+fn, same)
	p := &Batch{rows: rows, points: points, poses: poses}
	for i := 0; i < n; {
		copies := 1
		_, first := r.Row(i)
		for copies < batchRows && i+copies < n && same[i+copies] {
			copies++
		}
		if copies < batchRows {
			copies = 1
		}
		calls := &p.ones
		if copies > 1 {
			calls = &p.fours
		}
		if k := len(*calls); k == 0 || len((*calls)[k-1].code) > batchCallCode {
			*calls = append(*calls, batchCall{})
		}
		call := &(*calls)[len(*calls)-1]
		scale := float32(1)
		if mean && len(first) > 1 {
			scale = 1 / float32(len(first))
		}
		call.blocks++
		code := slices.Grow(call.code, 2+copies+len(first)*(1+copies))
		code = append(code, int32(len(first)), int32(math.Float32bits(scale)))
		code = append(code, numbers[i:i+copies]...)
		at := len(code)
		code = code[:at+len(first)*(1+copies)]
		for k, q := range first {
			code[at+k*(1+copies)] = q
		}
		for c := range copies {
			points, _ := r.Row(i + c)
			for k, x := range points {
				code[at+k*(1+copies)+1+c] = x
			}
		}
		call.code = code
		i += copies
	}
	return p
}

// batchCallCode is about the largest number of entries of the code that one call of a kernel processes.
const batchCallCode = 1 << 14

// BatchF32 computes the rows of a plan of a depthwise group convolution, for a batch of images and the channels from ≤ j < to:
//
//	out[b, i, j] = scale_i · Σ_k w[pose[k], j-from] · f[b, index[k], j]
//
// over the pairs k of row i, where scale_i is 1 or, if the plan takes means, one over the number of these pairs. Rows of out that
// are not in the plan are not written.
//
//   - Shape: out is [images, rows, c]; f is packed by PackF32, from [images, points, c]; w is [poses, to-from]. from is a
//     multiple of 16, and so is to, or it is c.
//   - Aliasing: out must not overlap f or w.
//   - Errors: panics if a length does not match, a size is negative, or there is no such slice.
//   - Accuracy: at most (n+8)·eps·Σ|w·f|·scale from the exact value, n the number of pairs. Pairs are added in the order in which the
//     plan was given them, so that neither other rows nor other images change the bits.
func BatchF32(out, f, w []float32, plan *Batch, images, from, to, c int) {
	const fn = "BatchF32"
	check.Len(fn, "f", len(f), PackedLen(images, plan.points, c))
	checkSlice(fn, from, to, c)
	check.Elements(fn, "out", len(out), images, plan.rows, c)
	width := to - from
	check.Elements(fn, "w", len(w), plan.poses, width)
	plan.race(out, f, w, images, from, to, c)
	for b := 0; b < images; {
		m := imagesAtOnce(images - b)
		for j := from; j < to; j += poseLanes {
			x := f[b*plan.points*poseWidth(c)+m*plan.points*j:][:m*plan.points*poseLanes]
			k := batchRun{out: tailOf(out, b*plan.rows*c+j), f: x, w: tailOf(w, j-from), images: m, stride: c,
				image:   plan.rows * c,
				wstride: width, n: min(poseLanes, to-j)}
			for _, call := range plan.fours {
				k.run(call, batchRows)
			}
			for _, call := range plan.ones {
				k.run(call, 1)
			}
		}
		b += m
	}
}

// checkSlice panics unless channels from to to of c are whole slices.
func checkSlice(fn string, from, to, c int) {
	if from < 0 || to < from || to > c || from%poseLanes != 0 || to%poseLanes != 0 && to != c {
		panic(fmt.Sprintf("depthwise: %s: channels %d to %d, need slices of %d of 0 to %d", fn, from, to, poseLanes, c))
	}
}

// tailOf returns x from element i on; it is empty if x is not that long.
func tailOf(x []float32, i int) []float32 { return x[min(i, len(x)):] }

// batchRun holds what the calls for a slice of n channels of some images share: out and w begin with the slice.
type batchRun struct {
	out, f, w              []float32
	images                 int
	stride, image, wstride int // elements from row to row of out, image to image, row to row of w
	n                      int
}

func (d *batchRun) generic(call batchCall, copies int) {
	code := call.code
	for range call.blocks {
		pairs, scale, rows := int(code[0]), math.Float32frombits(uint32(code[1])), code[2:2+copies]
		code = code[2+copies:]
		for r, row := range rows {
			for b := range d.images {
				to := d.out[b*d.image+int(row)*d.stride:][:d.n]
				clear(to)
				for k := range pairs {
					q, x := int(code[k*(1+copies)]), code[k*(1+copies)+1+r]
					mulAdd(to, d.w[q*d.wstride:][:d.n], rowOf(d.f, x, d.images*poseLanes)[b*poseLanes:][:d.n])
				}
				for j := range to {
					to[j] *= scale
				}
			}
		}
		code = code[pairs*(1+copies):]
	}
}
