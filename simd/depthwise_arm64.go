//go:build !purego

package simd

func depthwiseF32(out, f, w []float32, offsets []int, index, pose []int32, c int, mean bool) {
	if level == Generic || c == 0 {
		depthwiseGeneric(out, f, w, offsets, index, pose, c, mean)
		return
	}
	checkIndex("DepthwiseF32", "index", index, 0, len(f)/c)
	checkIndex("DepthwiseF32", "pose", pose, 0, len(w)/c)
	depthwiseCheckedF32(out, f, w, offsets, index, pose, c, mean)
}

func depthwiseRowsF32(out, f, w []float32, p *DepthwiseRows, c int, mean bool) {
	if level == Generic || c == 0 {
		depthwiseGeneric(out, f, w, p.offsets, p.index, p.pose, c, mean)
		return
	}
	depthwiseCheckedF32(out, f, w, p.offsets, p.index, p.pose, c, mean)
}

// depthwiseCheckedF32 trusts the indices.
func depthwiseCheckedF32(out, f, w []float32, offsets []int, index, pose []int32, c int, mean bool) {
	raceRead(f)
	raceRead(w)
	raceRead(index)
	raceRead(pose)
	raceWrite(out)
	depthwisePieces(out, offsets, c, mean, func(row []float32, k, n, more int, scale float32) {
		depthwiseRowF32NEON(&row[0], &f[0], &w[0], &index[k], &pose[k], n, c, more, scale)
	})
}

func depthwiseF64(out, f, w []float64, offsets []int, index, pose []int32, c int, mean bool) {
	if level == Generic || c == 0 {
		depthwiseGeneric(out, f, w, offsets, index, pose, c, mean)
		return
	}
	checkIndex("DepthwiseF64", "index", index, 0, len(f)/c)
	checkIndex("DepthwiseF64", "pose", pose, 0, len(w)/c)
	raceRead(f)
	raceRead(w)
	raceRead(index)
	raceRead(pose)
	raceWrite(out)
	depthwisePieces(out, offsets, c, mean, func(row []float64, k, n, more int, scale float64) {
		depthwiseRowF64NEON(&row[0], &f[0], &w[0], &index[k], &pose[k], n, c, more, scale)
	})
}

// depthwisePieces calls sum for the pairs of every row, in pieces so small that the scheduler need not wait long. A piece has n
// pairs from k on. If more is 1, they are added to what the row holds; after the last piece everything is multiplied by scale.
func depthwisePieces[T Float](out []T, offsets []int, c int, mean bool, sum func(row []T, k, n, more int, scale T)) {
	for i := range len(offsets) - 1 {
		lo, hi := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
		row := out[i*c : i*c+c]
		if lo == hi {
			clear(row)
			continue
		}
		more := 0
		for k := lo; k < hi; k += gatherPairs {
			n, scale := min(gatherPairs, hi-k), T(1)
			if mean && k+n == hi {
				scale = 1 / T(hi-lo)
			}
			sum(row, k, n, more, scale)
			more = 1
		}
	}
}

func depthwiseBF16F32(out, f []float32, w []BF16, offsets []int, index, pose []int32, c int, mean bool) {
	if level == Generic || c == 0 {
		depthwiseBF16Generic(out, f, w, offsets, index, pose, c, mean)
		return
	}
	checkIndex("DepthwiseBF16F32", "index", index, 0, len(f)/c)
	checkIndex("DepthwiseBF16F32", "pose", pose, 0, len(w)/c)
	raceRead(f)
	raceRead(w)
	raceRead(index)
	raceRead(pose)
	raceWrite(out)
	depthwisePieces(out, offsets, c, mean, func(row []float32, k, n, more int, scale float32) {
		depthwiseBF16RowF32NEON(&row[0], &f[0], (*uint16)(&w[0]), &index[k], &pose[k], n, c, more, scale)
	})
}
