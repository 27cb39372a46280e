//go:build !purego

package simd

import "unsafe"

func pointConvF32(p, f, w []float32, offsets []int, index, pose []int32, ci, cm int) {
	pointConvPairs("PointConvF32", p, f, w, offsets, index, pose, ci, cm)
}

func pointConvF64(p, f, w []float64, offsets []int, index, pose []int32, ci, cm int) {
	pointConvPairs("PointConvF64", p, f, w, offsets, index, pose, ci, cm)
}

func pointConvRow[T Float](p, f, w *T, index, pose *int32, pairs, ci, cm, more int) {
	if unsafe.Sizeof(*p) == 8 {
		pointConvRowF64NEON((*float64)(unsafe.Pointer(p)), (*float64)(unsafe.Pointer(f)), (*float64)(unsafe.Pointer(w)),
			index, pose, pairs, ci, cm, more)
		return
	}
	pointConvRowF32NEON((*float32)(unsafe.Pointer(p)), (*float32)(unsafe.Pointer(f)), (*float32)(unsafe.Pointer(w)),
		index, pose, pairs, ci, cm, more)
}

func pointConvPairs[T Float](fn string, p, f, w []T, offsets []int, index, pose []int32, ci, cm int) {
	if level == Generic || ci == 0 || cm == 0 {
		pointConvGeneric(p, f, w, offsets, index, pose, ci, cm)
		return
	}
	checkIndex(fn, "index", index, 0, len(f)/ci)
	checkIndex(fn, "pose", pose, 0, len(w)/cm)
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
			pointConvRow(&row[0], &f[0], &w[0], &index[k], &pose[k], min(gatherPairs, hi-k), ci, cm, more)
			more = 1
		}
	}
}
