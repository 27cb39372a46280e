//go:build !purego

package simd

// depthwiseF64 takes rows one by one. Groups of rows, slices and what is fetched ahead pay in models, which are float32.
func depthwiseF64(out, f, w []float64, offsets []int, index, pose []int32, c int, mean bool) {
	if level == Generic || c == 0 {
		depthwiseGeneric(out, f, w, offsets, index, pose, c, mean)
		return
	}
	raceRead(f)
	raceRead(w)
	raceRead(offsets)
	raceRead(index)
	raceRead(pose)
	raceWrite(out)
	lanes, divide := gatherLanes[float64](), 0
	if mean {
		divide = 1
	}
	for lo := 0; lo < len(offsets)-1; {
		hi := gatherChunk(offsets, lo, c)
		from, to := offsets[lo]-offsets[0], offsets[hi]-offsets[0]
		ix, ps := index[from:to], pose[from:to]
		checkIndex("DepthwiseF64", "index", ix, from, len(f)/c)
		checkIndex("DepthwiseF64", "pose", ps, from, len(w)/c)
		part := out[lo*c : hi*c]
		if from == to {
			clear(part)
		} else {
			for j := 0; j < c; {
				vecs := 4
				for vecs > (c-j+lanes-1)/lanes {
					vecs /= 2
				}
				channels := min(vecs*lanes, c-j)
				depthwiseF64Kernel(vecs, &part[j], &f[j], &w[j], &offsets[lo], &ix[0], &ps[0], hi-lo, 8*c, channels-(vecs-1)*lanes, divide)
				j += channels
			}
		}
		lo = hi
	}
}
