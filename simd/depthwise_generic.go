package simd

import (
	"fmt"
	"math"
)

// depthwiseGeneric accumulates in the output row, four pairs at a time: it reads eight rows for every load and store of the
// output row, which stays in the first-level cache.
func depthwiseGeneric[T Float](out, f, w []T, offsets []int, index, pose []int32, c int, mean bool) {
	defer nameRow(index, rowsIn(len(f), c), pose, rowsIn(len(w), c))
	for i := range len(offsets) - 1 {
		lo, hi := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
		ix, ps := index[lo:hi], pose[lo:hi]
		row := out[i*c : i*c+c]
		clear(row)
		k := 0
		for ; k+4 <= len(ix); k += 4 {
			x, p := ix[k:k+4:k+4], ps[k:k+4:k+4]
			mulAdd4Generic(row,
				rowOf(f, x[0], c), rowOf(w, p[0], c), rowOf(f, x[1], c), rowOf(w, p[1], c),
				rowOf(f, x[2], c), rowOf(w, p[2], c), rowOf(f, x[3], c), rowOf(w, p[3], c))
		}
		for ; k < len(ix); k++ {
			mulAddGeneric(row, rowOf(f, ix[k], c), rowOf(w, ps[k], c))
		}
		if mean && len(ix) > 1 {
			n := T(len(ix))
			for j := range row {
				row[j] /= n
			}
		}
	}
}

// depthwiseBF16Generic is depthwiseGeneric with w in bfloat16.
func depthwiseBF16Generic(out, f []float32, w []BF16, offsets []int, index, pose []int32, c int, mean bool) {
	defer nameRow(index, rowsIn(len(f), c), pose, rowsIn(len(w), c))
	for i := range len(offsets) - 1 {
		row := out[i*c : i*c+c]
		clear(row)
		lo, hi := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
		for k := lo; k < hi; k++ {
			fk, wk := rowOf(f, index[k], c)[:len(row)], rowOf(w, pose[k], c)[:len(row)]
			for j := range row {
				row[j] += wk[j].Float32() * fk[j]
			}
		}
		if mean && hi-lo > 1 {
			n := float32(hi - lo)
			for j := range row {
				row[j] /= n
			}
		}
	}
}

// rowOf returns row i of a matrix with c columns. The capacity is cut first, because slicing checks against the capacity and not the
// length.
func rowOf[T Float | BF16](x []T, i int32, c int) []T {
	return x[:len(x):len(x)][int(i)*c : int(i)*c+c]
}

// rowsIn is how many rows of c columns a matrix of that length has. Rows without columns are all there.
func rowsIn(length, c int) int {
	if c == 0 {
		return math.MaxInt
	}
	return length / c
}

// nameRow is deferred by loops that call rowOf, and says which index has named none of so many rows where slicing has failed. A check
// within rowOf would keep it from being compiled into the loops, and cost up to half of their time.
func nameRow(index []int32, rows int, other []int32, otherRows int) {
	failure := recover()
	if failure == nil {
		return
	}
	for k, list := range [][]int32{index, other} {
		most := []int{rows, otherRows}[k]
		for _, i := range list {
			if i < 0 || int(i) >= most {
				panic(fmt.Sprintf("simd: an index or a pose is %d, need 0 to %d", i, most-1))
			}
		}
	}
	panic(failure)
}

// mulAddGeneric adds f·w to out, element by element. f and w are as long as out.
func mulAddGeneric[T Float](out, f, w []T) {
	f, w = f[:len(out)], w[:len(out)]
	for j := range out {
		out[j] += f[j] * w[j]
	}
}

// mulAdd4Generic adds f0·w0 + f1·w1 + f2·w2 + f3·w3 to out, element by element. All are as long as out.
func mulAdd4Generic[T Float](out, f0, w0, f1, w1, f2, w2, f3, w3 []T) {
	f0, w0, f1, w1 = f0[:len(out)], w0[:len(out)], f1[:len(out)], w1[:len(out)]
	f2, w2, f3, w3 = f2[:len(out)], w2[:len(out)], f3[:len(out)], w3[:len(out)]
	for j := range out {
		out[j] += f0[j]*w0[j] + f1[j]*w1[j] + f2[j]*w2[j] + f3[j]*w3[j]
	}
}
