//go:build !purego

package simd

// depthwiseScaledF32 is both gradients; fn is the one that was called.
func depthwiseScaledF32(fn string, out, f, w []float32, offsets []int, index, pose []int32, scale []float32, c int) {
	if level == Generic || c == 0 {
		depthwiseScaledGeneric(out, f, w, offsets, index, pose, scale, c)
		return
	}
	checkIndex(fn, "index", index, 0, len(f)/c)
	checkIndex(fn, "pose", pose, 0, len(w)/c)
	raceRead(f)
	raceRead(w)
	raceRead(index)
	raceRead(pose)
	raceRead(scale)
	raceWrite(out)
	for i := range len(offsets) - 1 {
		lo, hi := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
		row := out[i*c : i*c+c]
		if lo == hi {
			clear(row)
			continue
		}
		more := 0
		for k := lo; k < hi; k += gatherPairs {
			n := min(gatherPairs, hi-k)
			if scale == nil {
				depthwiseRowF32NEON(&row[0], &f[0], &w[0], &index[k], &pose[k], n, c, more, 1)
			} else {
				depthwiseScaledRowF32NEON(&row[0], &f[0], &w[0], &index[k], &pose[k], n, c, more, &scale[0])
			}
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
	for i := range len(offsets) - 1 {
		lo, hi := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
		row := out[i*c : i*c+c]
		if lo == hi {
			clear(row)
			continue
		}
		more := 0
		for k := lo; k < hi; k += gatherPairs {
			n, scale := min(gatherPairs, hi-k), float32(1)
			if mean && k+n == hi {
				scale = 1 / float32(hi-lo)
			}
			depthwiseBF16RowF32NEON(&row[0], &f[0], (*uint16)(&w[0]), &index[k], &pose[k], n, c, more, scale)
			more = 1
		}
	}
}
