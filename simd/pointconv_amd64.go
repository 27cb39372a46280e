//go:build !purego

package simd

import "unsafe"

// gatherLanes is how many numbers a vector of the level holds.
func gatherLanes[T Float]() int {
	var x T
	if level == AVX512 {
		return 64 / int(unsafe.Sizeof(x))
	}
	return 32 / int(unsafe.Sizeof(x))
}

func pointConvF32(p, f, w []float32, offsets []int, index, pose []int32, ci, cm int) {
	pointConvPairs("PointConvF32", p, f, w, offsets, index, pose, ci, cm)
}

func pointConvF64(p, f, w []float64, offsets []int, index, pose []int32, ci, cm int) {
	pointConvPairs("PointConvF64", p, f, w, offsets, index, pose, ci, cm)
}

func pointConvGradFF32(df, dp, w []float32, offsets []int, index, pose []int32, ci, cm int) {
	pointConvGradFPairs("PointConvGradFF32", df, dp, w, offsets, index, pose, ci, cm)
}

func pointConvGradFF64(df, dp, w []float64, offsets []int, index, pose []int32, ci, cm int) {
	pointConvGradFPairs("PointConvGradFF64", df, dp, w, offsets, index, pose, ci, cm)
}

func pointConvGradWF32(dw, dp, f []float32, offsets []int, row, index []int32, ci, cm int) {
	pointConvGradWPairs("PointConvGradWF32", dw, dp, f, offsets, row, index, ci, cm)
}

func pointConvGradWF64(dw, dp, f []float64, offsets []int, row, index []int32, ci, cm int) {
	pointConvGradWPairs("PointConvGradWF64", dw, dp, f, offsets, row, index, ci, cm)
}

// pointConvChannels is how many of the input channels that are left a kernel takes beside that many vectors.
func pointConvChannels[T Float](vecs, left int) int {
	var x T
	channels := 4
	switch {
	case unsafe.Sizeof(x) == 8:
		if left < channels {
			return 1
		}
	case level == AVX512:
		channels = 16 / vecs
	}
	for channels > left {
		channels /= 2
	}
	return channels
}

// pointConvGradChannels is the same for the gradient to the features.
func pointConvGradChannels[T Float](left int) int {
	var x T
	if unsafe.Sizeof(x) == 8 {
		return pointConvChannels[T](1, left)
	}
	channels := 8
	for channels > left {
		channels /= 2
	}
	return channels
}

func pointConvKernelOf[T Float](channels, vecs int, p, f, w *T, offsets *int, index, pose *int32,
	rows, pstride, fstride, wstride, tail int) {
	size := int(unsafe.Sizeof(*p))
	pstride, fstride, wstride = size*pstride, size*fstride, size*wstride
	if size == 8 {
		pointConvF64Kernel(channels, vecs, (*float64)(unsafe.Pointer(p)), (*float64)(unsafe.Pointer(f)), (*float64)(unsafe.Pointer(w)),
			offsets, index, pose, rows, pstride, fstride, wstride, tail)
		return
	}
	pointConvKernel(channels, vecs, (*float32)(unsafe.Pointer(p)), (*float32)(unsafe.Pointer(f)), (*float32)(unsafe.Pointer(w)),
		offsets, index, pose, rows, pstride, fstride, wstride, tail)
}

func pointConvGradFKernelOf[T Float](channels int, df, dp, w *T, offsets *int, index, pose *int32,
	rows, fstride, pstride, wstride, blocks, tail int) {
	size := int(unsafe.Sizeof(*df))
	fstride, pstride, wstride = size*fstride, size*pstride, size*wstride
	if size == 8 {
		pointConvGradFF64Kernel(channels, (*float64)(unsafe.Pointer(df)), (*float64)(unsafe.Pointer(dp)), (*float64)(unsafe.Pointer(w)),
			offsets, index, pose, rows, fstride, pstride, wstride, blocks, tail)
		return
	}
	pointConvGradFKernel(channels, (*float32)(unsafe.Pointer(df)), (*float32)(unsafe.Pointer(dp)), (*float32)(unsafe.Pointer(w)),
		offsets, index, pose, rows, fstride, pstride, wstride, blocks, tail)
}

func pointConvGradWKernelOf[T Float](vecs int, dw, dp, f *T, offsets *int, index, pose *int32,
	rows, wstride, pstride, fstride, channels, tail int) {
	size := int(unsafe.Sizeof(*dw))
	wstride, pstride, fstride = size*wstride, size*pstride, size*fstride
	if size == 8 {
		pointConvGradWF64Kernel(vecs, (*float64)(unsafe.Pointer(dw)), (*float64)(unsafe.Pointer(dp)), (*float64)(unsafe.Pointer(f)),
			offsets, index, pose, rows, wstride, pstride, fstride, channels, tail)
		return
	}
	pointConvGradWKernel(vecs, (*float32)(unsafe.Pointer(dw)), (*float32)(unsafe.Pointer(dp)), (*float32)(unsafe.Pointer(f)),
		offsets, index, pose, rows, wstride, pstride, fstride, channels, tail)
}

func pointConvPairs[T Float](fn string, p, f, w []T, offsets []int, index, pose []int32, ci, cm int) {
	if level == Generic || ci == 0 || cm == 0 {
		pointConvGeneric(p, f, w, offsets, index, pose, ci, cm)
		return
	}
	raceRead(f)
	raceRead(w)
	raceRead(offsets)
	raceRead(index)
	raceRead(pose)
	raceWrite(p)
	lanes := gatherLanes[T]()
	for lo := 0; lo < len(offsets)-1; {
		hi := gatherChunk(offsets, lo, ci*cm)
		from, to := offsets[lo]-offsets[0], offsets[hi]-offsets[0]
		ix, ps := index[from:to], pose[from:to]
		checkIndex(fn, "index", ix, from, len(f)/ci)
		checkIndex(fn, "pose", ps, from, len(w)/cm)
		part := p[lo*ci*cm : hi*ci*cm]
		if from == to {
			clear(part)
		} else {
			// Blocks of the matrix are two vectors wide where there are two, and have as many input channels as registers allow.
			for b := 0; b < cm; {
				vecs := min(2, (cm-b+lanes-1)/lanes)
				columns := min(vecs*lanes, cm-b)
				for a := 0; a < ci; {
					channels := pointConvChannels[T](vecs, ci-a)
					pointConvKernelOf(channels, vecs, &part[a*cm+b], &f[a], &w[b], &offsets[lo], &ix[0], &ps[0],
						hi-lo, ci*cm, ci, cm, columns-(vecs-1)*lanes)
					a += channels
				}
				b += columns
			}
		}
		lo = hi
	}
}

func pointConvGradFPairs[T Float](fn string, df, dp, w []T, offsets []int, index, pose []int32, ci, cm int) {
	if level == Generic || ci == 0 || cm == 0 {
		pointConvGradFGeneric(df, dp, w, offsets, index, pose, ci, cm)
		return
	}
	raceRead(dp)
	raceRead(w)
	raceRead(offsets)
	raceRead(index)
	raceRead(pose)
	raceWrite(df)
	lanes := gatherLanes[T]()
	blocks := (cm - 1) / lanes
	tail := cm - blocks*lanes
	for lo := 0; lo < len(offsets)-1; {
		hi := gatherChunk(offsets, lo, ci*cm)
		from, to := offsets[lo]-offsets[0], offsets[hi]-offsets[0]
		ix, ps := index[from:to], pose[from:to]
		checkIndex(fn, "index", ix, from, len(dp)/(ci*cm))
		checkIndex(fn, "pose", ps, from, len(w)/cm)
		part := df[lo*ci : hi*ci]
		if from == to {
			clear(part)
		} else {
			for a := 0; a < ci; {
				channels := pointConvGradChannels[T](ci - a)
				pointConvGradFKernelOf(channels, &part[a], &dp[a*cm], &w[0], &offsets[lo], &ix[0], &ps[0],
					hi-lo, ci, ci*cm, cm, blocks, tail)
				a += channels
			}
		}
		lo = hi
	}
}

func pointConvGradWPairs[T Float](fn string, dw, dp, f []T, offsets []int, row, index []int32, ci, cm int) {
	if level == Generic || ci == 0 || cm == 0 {
		pointConvGradWGeneric(dw, dp, f, offsets, row, index, ci, cm)
		return
	}
	raceRead(dp)
	raceRead(f)
	raceRead(offsets)
	raceRead(row)
	raceRead(index)
	raceWrite(dw)
	lanes := gatherLanes[T]()
	for lo := 0; lo < len(offsets)-1; {
		hi := gatherChunk(offsets, lo, ci*cm)
		from, to := offsets[lo]-offsets[0], offsets[hi]-offsets[0]
		rs, ix := row[from:to], index[from:to]
		checkIndex(fn, "row", rs, from, len(dp)/(ci*cm))
		checkIndex(fn, "index", ix, from, len(f)/ci)
		part := dw[lo*cm : hi*cm]
		if from == to {
			clear(part)
		} else {
			for b := 0; b < cm; {
				vecs := min(2, (cm-b+lanes-1)/lanes)
				columns := min(vecs*lanes, cm-b)
				tail := columns - (vecs-1)*lanes
				pointConvGradWKernelOf(vecs, &part[b], &dp[b], &f[0], &offsets[lo], &ix[0], &rs[0], hi-lo, cm, ci*cm, ci, ci, tail)
				b += columns
			}
		}
		lo = hi
	}
}
