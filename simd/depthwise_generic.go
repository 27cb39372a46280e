package simd

import "fmt"

// depthwiseGeneric accumulates in the output row, four pairs at a time: it reads eight rows for every load and store of the
// output row, which stays in the first-level cache.
func depthwiseGeneric[T Float](out, f, w []T, offsets []int, index, pose []int32, c int, mean bool) {
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

// rowOf returns row i of a matrix with c columns, and panics if it has none. Slicing alone would check against the capacity and not
// the length.
func rowOf[T Float | BF16](x []T, i int32, c int) []T {
	at := int64(i) * int64(c) // which int need not hold on 386
	if at < 0 || at+int64(c) > int64(len(x)) {
		panicRow(i, len(x), c)
	}
	return x[at : at+int64(c)]
}

//go:noinline
func panicRow(i int32, length, c int) {
	if c > 0 {
		length /= c
	}
	panic(fmt.Sprintf("simd: an index or a pose is %d, need 0 to %d", i, length-1))
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
