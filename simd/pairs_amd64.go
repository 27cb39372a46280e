//go:build !purego

package simd

func pairsEuclid[T Float](index []int32, pose []T, label []int32, bits []uint64, x, u []T, limit T) int {
	if level == Generic {
		return pairsEuclidGeneric(index, pose, label, bits, x, u, limit)
	}
	var v [3]T
	d := copy(v[:], u)
	p := newPairPieces(index, pose, label, bits, x)
	for p.next() {
		if is32[T]() {
			pose, x := floatsOf[float32](&p, pose, x)
			u0, u1, u2, limit := float32(v[0]), float32(v[1]), float32(v[2]), float32(limit)
			switch {
			case level == AVX512 && d == 1:
				p.kept += pairsEuclid1F32AVX512(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, u0, limit)
			case level == AVX512 && d == 2:
				p.kept += pairsEuclid2F32AVX512(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, u0, u1, limit)
			case level == AVX512:
				p.kept += pairsEuclid3F32AVX512(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, u0, u1, u2, limit)
			case d == 1:
				p.kept += pairsEuclid1F32AVX2(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, u0, limit)
			case d == 2:
				p.kept += pairsEuclid2F32AVX2(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, u0, u1, limit)
			default:
				p.kept += pairsEuclid3F32AVX2(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, u0, u1, u2, limit)
			}
			continue
		}
		pose, x := floatsOf[float64](&p, pose, x)
		u0, u1, u2, limit := float64(v[0]), float64(v[1]), float64(v[2]), float64(limit)
		switch {
		case level == AVX512 && d == 1:
			p.kept += pairsEuclid1F64AVX512(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, u0, limit)
		case level == AVX512 && d == 2:
			p.kept += pairsEuclid2F64AVX512(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, u0, u1, limit)
		case level == AVX512:
			p.kept += pairsEuclid3F64AVX512(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, u0, u1, u2, limit)
		case d == 1:
			p.kept += pairsEuclid1F64AVX2(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, u0, limit)
		case d == 2:
			p.kept += pairsEuclid2F64AVX2(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, u0, u1, limit)
		default:
			p.kept += pairsEuclid3F64AVX2(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, u0, u1, u2, limit)
		}
	}
	return p.kept
}

func pairsRigid[T Float](index []int32, pose []T, label []int32, bits []uint64, x, u, m []T, turn, limit T) int {
	if level == Generic {
		return pairsRigidGeneric(index, pose, label, bits, x, u, m, turn, limit)
	}
	p := newPairPieces(index, pose, label, bits, x)
	for p.next() {
		if is32[T]() {
			pose, x := floatsOf[float32](&p, pose, x)
			if level == AVX512 {
				p.kept += pairsRigidF32AVX512(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, float32(u[0]), float32(u[1]), float32(m[0]), float32(m[1]), float32(turn), float32(limit))
			} else {
				p.kept += pairsRigidF32AVX2(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, float32(u[0]), float32(u[1]), float32(m[0]), float32(m[1]), float32(turn), float32(limit))
			}
			continue
		}
		pose, x := floatsOf[float64](&p, pose, x)
		if level == AVX512 {
			p.kept += pairsRigidF64AVX512(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, float64(u[0]), float64(u[1]), float64(m[0]), float64(m[1]), float64(turn), float64(limit))
		} else {
			p.kept += pairsRigidF64AVX2(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, float64(u[0]), float64(u[1]), float64(m[0]), float64(m[1]), float64(turn), float64(limit))
		}
	}
	return p.kept
}

func pairsPolar[T Float](index []int32, pose []T, label []int32, bits []uint64, x, u []T, floor, alpha, r T) int {
	if level == Generic {
		return pairsPolarGeneric(index, pose, label, bits, x, u, floor, alpha, r)
	}
	p := newPairPieces(index, pose, label, bits, x)
	for p.next() {
		if is32[T]() {
			pose, x := floatsOf[float32](&p, pose, x)
			if level == AVX512 {
				p.kept += pairsPolarF32AVX512(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, float32(u[0]), float32(u[1]), float32(floor), float32(alpha), float32(1-alpha), float32(r))
			} else {
				p.kept += pairsPolarF32AVX2(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, float32(u[0]), float32(u[1]), float32(floor), float32(alpha), float32(1-alpha), float32(r))
			}
			continue
		}
		pose, x := floatsOf[float64](&p, pose, x)
		if level == AVX512 {
			p.kept += pairsPolarF64AVX512(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, float64(u[0]), float64(u[1]), float64(floor), float64(alpha), float64(1-alpha), float64(r))
		} else {
			p.kept += pairsPolarF64AVX2(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, float64(u[0]), float64(u[1]), float64(floor), float64(alpha), float64(1-alpha), float64(r))
		}
	}
	return p.kept
}

func pairsLogPolar[T Float](index []int32, pose []T, label []int32, bits []uint64, x, u []T, alpha, r T) int {
	if level == Generic {
		return pairsLogPolarGeneric(index, pose, label, bits, x, u, alpha, r)
	}
	p := newPairPieces(index, pose, label, bits, x)
	for p.next() {
		if is32[T]() {
			pose, x := floatsOf[float32](&p, pose, x)
			if level == AVX512 {
				p.kept += pairsLogPolarF32AVX512(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, float32(u[0]), float32(u[1]), float32(alpha), float32(1-alpha), float32(r))
			} else {
				p.kept += pairsLogPolarF32AVX2(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, float32(u[0]), float32(u[1]), float32(alpha), float32(1-alpha), float32(r))
			}
			continue
		}
		pose, x := floatsOf[float64](&p, pose, x)
		if level == AVX512 {
			p.kept += pairsLogPolarF64AVX512(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, float64(u[0]), float64(u[1]), float64(alpha), float64(1-alpha), float64(r))
		} else {
			p.kept += pairsLogPolarF64AVX2(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, len(label), p.n, float64(u[0]), float64(u[1]), float64(alpha), float64(1-alpha), float64(r))
		}
	}
	return p.kept
}

func near16(bits []uint64, x, u, r []uint16) {
	d := len(u)
	if level == Generic || d > 3 {
		near16Generic(bits, x, u, r)
		return
	}
	raceRead(x)
	raceWrite(bits)
	var hi, width [3]uint16
	for c := range d {
		hi[c], width[c] = window16(u[c], r[c])
	}
	stride := 64 * len(bits)
	for lo := 0; lo < len(bits); lo += maxPairs {
		part, x := bits[lo:min(lo+maxPairs, len(bits))], &x[64*lo]
		switch {
		case level == AVX512 && d == 1:
			nearWindow1AVX512(&part[0], x, stride, len(part), hi[0], width[0])
		case level == AVX512 && d == 2:
			nearWindow2AVX512(&part[0], x, stride, len(part), hi[0], width[0], hi[1], width[1])
		case level == AVX512:
			nearWindow3AVX512(&part[0], x, stride, len(part), hi[0], width[0], hi[1], width[1], hi[2], width[2])
		case d == 1:
			nearWindow1AVX2(&part[0], x, stride, len(part), hi[0], width[0])
		case d == 2:
			nearWindow2AVX2(&part[0], x, stride, len(part), hi[0], width[0], hi[1], width[1])
		default:
			nearWindow3AVX2(&part[0], x, stride, len(part), hi[0], width[0], hi[1], width[1], hi[2], width[2])
		}
	}
}
