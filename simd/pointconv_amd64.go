//go:build !purego

package simd

// pointConvLanes returns the vector width of the level, and how many registers a kernel for 1 x cm numbers may use.
func pointConvLanes() (lanes, registers int) {
	if level == AVX512 {
		return 16, 16
	}
	return 8, 8
}

func pointConvF32(p, f, w []float32, offsets []int, index, pose []int32, ci, cm int) {
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
	lanes, registers := pointConvLanes()
	for lo := 0; lo < len(offsets)-1; {
		hi := gatherChunk(offsets, lo, ci*cm)
		from, to := offsets[lo]-offsets[0], offsets[hi]-offsets[0]
		ix, ps := index[from:to], pose[from:to]
		checkIndex("PointConvF32", "index", ix, from, len(f)/ci)
		checkIndex("PointConvF32", "pose", ps, from, len(w)/cm)
		part := p[lo*ci*cm : hi*ci*cm]
		if from == to {
			clear(part)
		} else {
			// Blocks of the matrix are two vectors wide where there are two, and have as many input channels as registers allow.
			for b := 0; b < cm; {
				vecs := min(2, (cm-b+lanes-1)/lanes)
				columns := min(vecs*lanes, cm-b)
				for a := 0; a < ci; {
					channels := registers / vecs
					if level == AVX2 {
						channels = 4
					}
					for channels > ci-a {
						channels /= 2
					}
					pointConvKernel(channels, vecs, &part[a*cm+b], &f[a], &w[b], &offsets[lo], &ix[0], &ps[0],
						hi-lo, 4*ci*cm, 4*ci, 4*cm, columns-(vecs-1)*lanes)
					a += channels
				}
				b += columns
			}
		}
		lo = hi
	}
}

func pointConvGradFF32(df, dp, w []float32, offsets []int, index, pose []int32, ci, cm int) {
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
	lanes, _ := pointConvLanes()
	blocks := (cm - 1) / lanes
	tail := cm - blocks*lanes
	for lo := 0; lo < len(offsets)-1; {
		hi := gatherChunk(offsets, lo, ci*cm)
		from, to := offsets[lo]-offsets[0], offsets[hi]-offsets[0]
		ix, ps := index[from:to], pose[from:to]
		checkIndex("PointConvGradFF32", "index", ix, from, len(dp)/(ci*cm))
		checkIndex("PointConvGradFF32", "pose", ps, from, len(w)/cm)
		part := df[lo*ci : hi*ci]
		if from == to {
			clear(part)
		} else {
			for a := 0; a < ci; {
				channels := 8
				for channels > ci-a {
					channels /= 2
				}
				d, o, off := &part[a], &dp[a*cm], &offsets[lo]
				n, fs, pst, ws := hi-lo, 4*ci, 4*ci*cm, 4*cm
				pointConvGradFKernel(channels, d, o, &w[0], off, &ix[0], &ps[0], n, fs, pst, ws, blocks, tail)
				a += channels
			}
		}
		lo = hi
	}
}

func pointConvGradWF32(dw, dp, f []float32, offsets []int, row, index []int32, ci, cm int) {
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
	lanes, _ := pointConvLanes()
	for lo := 0; lo < len(offsets)-1; {
		hi := gatherChunk(offsets, lo, ci*cm)
		from, to := offsets[lo]-offsets[0], offsets[hi]-offsets[0]
		rs, ix := row[from:to], index[from:to]
		checkIndex("PointConvGradWF32", "row", rs, from, len(dp)/(ci*cm))
		checkIndex("PointConvGradWF32", "index", ix, from, len(f)/ci)
		part := dw[lo*cm : hi*cm]
		if from == to {
			clear(part)
		} else {
			for b := 0; b < cm; {
				vecs := min(2, (cm-b+lanes-1)/lanes)
				columns := min(vecs*lanes, cm-b)
				tail := columns - (vecs-1)*lanes
				d, o, off := &part[b], &dp[b], &offsets[lo]
				n, ws, pst, fs := hi-lo, 4*cm, 4*ci*cm, 4*ci
				pointConvGradWKernel(vecs, d, o, &f[0], off, &ix[0], &rs[0], n, ws, pst, fs, ci, tail)
				b += columns
			}
		}
		lo = hi
	}
}
