package simd

// pointConvGeneric adds multiples of the pairs' weight rows to the cm columns of every input channel, four pairs at a time.
func pointConvGeneric[T Float](p, f, w []T, offsets []int, index, pose []int32, ci, cm int) {
	defer nameRow(index, rowsIn(len(f), ci), pose, rowsIn(len(w), cm))
	for i := range len(offsets) - 1 {
		lo, hi := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
		ix, ps := index[lo:hi], pose[lo:hi]
		out := p[i*ci*cm : (i+1)*ci*cm]
		clear(out)
		k := 0
		for ; k+4 <= len(ix); k += 4 {
			x, q := ix[k:k+4:k+4], ps[k:k+4:k+4]
			f0, f1, f2, f3 := rowOf(f, x[0], ci), rowOf(f, x[1], ci), rowOf(f, x[2], ci), rowOf(f, x[3], ci)
			w0, w1, w2, w3 := rowOf(w, q[0], cm), rowOf(w, q[1], cm), rowOf(w, q[2], cm), rowOf(w, q[3], cm)
			f1, f2, f3 = f1[:len(f0)], f2[:len(f0)], f3[:len(f0)]
			for a := range f0 {
				axpy4Generic(out[a*cm:a*cm+cm], w0, w1, w2, w3, f0[a], f1[a], f2[a], f3[a])
			}
		}
		for ; k < len(ix); k++ {
			wk := rowOf(w, ps[k], cm)
			for a, v := range rowOf(f, ix[k], ci) {
				axpyGeneric(out[a*cm:a*cm+cm], v, wk)
			}
		}
	}
}

func pointConvGradFGeneric[T Float](df, dp, w []T, offsets []int, index, pose []int32, ci, cm int) {
	defer nameRow(index, rowsIn(len(dp), ci*cm), pose, rowsIn(len(w), cm))
	clear(df)
	for x := range len(offsets) - 1 {
		out := df[x*ci : x*ci+ci]
		for k := offsets[x] - offsets[0]; k < offsets[x+1]-offsets[0]; k++ {
			d, wk := rowOf(dp, index[k], ci*cm), rowOf(w, pose[k], cm)
			for a := range out {
				da := d[a*cm : a*cm+cm][:len(wk)]
				var sum T
				for b, v := range wk {
					sum += v * da[b]
				}
				out[a] += sum
			}
		}
	}
}

func pointConvGradWGeneric[T Float](dw, dp, f []T, offsets []int, row, index []int32, ci, cm int) {
	defer nameRow(row, rowsIn(len(dp), ci*cm), index, rowsIn(len(f), ci))
	clear(dw)
	for q := range len(offsets) - 1 {
		out := dw[q*cm : q*cm+cm]
		for k := offsets[q] - offsets[0]; k < offsets[q+1]-offsets[0]; k++ {
			d := rowOf(dp, row[k], ci*cm)
			for a, v := range rowOf(f, index[k], ci) {
				axpyGeneric(out, v, d[a*cm:a*cm+cm])
			}
		}
	}
}
