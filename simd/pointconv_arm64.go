//go:build !purego

package simd

func pointConvF32(p, f, w []float32, offsets []int, index, pose []int32, ci, cm int) {
	if level == Generic || ci == 0 || cm == 0 {
		pointConvGeneric(p, f, w, offsets, index, pose, ci, cm)
		return
	}
	checkIndex("PointConvF32", "index", index, 0, len(f)/ci)
	checkIndex("PointConvF32", "pose", pose, 0, len(w)/cm)
	raceRead(f)
	raceRead(w)
	raceRead(index)
	raceRead(pose)
	raceWrite(p)
	for i := range len(offsets) - 1 {
		lo, hi := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
		row := p[i*ci*cm : (i+1)*ci*cm]
		if lo == hi {
			clear(row)
			continue
		}
		more := 0
		for k := lo; k < hi; k += gatherPairs {
			pointConvRowF32NEON(&row[0], &f[0], &w[0], &index[k], &pose[k], min(gatherPairs, hi-k), ci, cm, more)
			more = 1
		}
	}
}
