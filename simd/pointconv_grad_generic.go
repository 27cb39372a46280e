package simd

// pointConvGradFGeneric takes, for every pair and input channel, the dot product of the channel's cm gradients with the
// pair's weights; four channels at a time read the weights once.
func pointConvGradFGeneric[T Float](df, dp, w []T, offsets []int, query, pose []int32, ci, cm int) {
	for j := range len(offsets) - 1 {
		lo, hi := offsets[j]-offsets[0], offsets[j+1]-offsets[0]
		qs, ps := query[lo:hi], pose[lo:hi]
		row := df[j*ci : j*ci+ci]
		clear(row)
		for k, q := range qs {
			d, wk := rowOf(dp, q, ci*cm), rowOf(w, ps[k], cm)
			a := 0
			for ; a+4 <= ci; a += 4 {
				s0, s1, s2, s3 := dot4Generic(wk, d[a*cm:], d[(a+1)*cm:], d[(a+2)*cm:], d[(a+3)*cm:])
				r := row[a : a+4 : a+4]
				r[0] += s0
				r[1] += s1
				r[2] += s2
				r[3] += s3
			}
			for ; a < ci; a++ {
				var s T
				da := d[a*cm:][:cm]
				for b, v := range wk {
					s += v * da[b]
				}
				row[a] += s
			}
		}
	}
}

// pointConvGradWGeneric adds, for every pair, the rows of the gradient times the point's features, four channels at a time.
func pointConvGradWGeneric[T Float](dw, dp, f []T, offsets []int, query, point []int32, ci, cm int) {
	for p := range len(offsets) - 1 {
		lo, hi := offsets[p]-offsets[0], offsets[p+1]-offsets[0]
		qs, js := query[lo:hi], point[lo:hi]
		row := dw[p*cm : p*cm+cm]
		clear(row)
		for k, q := range qs {
			d, fk := rowOf(dp, q, ci*cm), rowOf(f, js[k], ci)
			a := 0
			for ; a+4 <= ci; a += 4 {
				v := fk[a : a+4 : a+4]
				axpy4Generic(row, d[a*cm:], d[(a+1)*cm:], d[(a+2)*cm:], d[(a+3)*cm:], v[0], v[1], v[2], v[3])
			}
			for ; a < ci; a++ {
				axpyGeneric(row, fk[a], d[a*cm:a*cm+cm])
			}
		}
	}
}
