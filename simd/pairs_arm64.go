//go:build !purego

package simd

import "unsafe"

// The assembly takes whole groups of points, 16 bytes of a coordinate; the portable twin does the last few, with the same bits.

// pairRest are the last few points, packed: at most three.
type pairRest[T Float] struct {
	bits [1]uint64
	x    [9]T
	pose [9]T
	n    int // points
}

// wholePairs is how many of n points fill whole groups.
func wholePairs[T Float](n int) int { return n &^ (16/int(unsafe.Sizeof(T(0))) - 1) }

// newPairRest packs the points beyond the last whole group, with d coordinates each.
func newPairRest[T Float](bits []uint64, x []T, n, d int) pairRest[T] {
	lo := wholePairs[T](n)
	r := pairRest[T]{bits: [1]uint64{^uint64(0)}, n: n - lo}
	if bits != nil && r.n > 0 {
		r.bits[0] = bits[lo>>6] >> (lo & 63)
	}
	for c := range d {
		copy(r.x[c*r.n:(c+1)*r.n], x[c*n+lo:])
	}
	return r
}

// unpack puts the e coordinates of m poses behind those that were kept before, and returns how many are kept in all.
func (r *pairRest[T]) unpack(pose []T, n, e, kept, m int) int {
	if pose != nil {
		for c := range e {
			copy(pose[c*n+kept:][:m], r.pose[c*r.n:])
		}
	}
	return kept + m
}

// poses is where the twin puts poses, nil for none.
func (r *pairRest[T]) poses(pose []T) []T {
	if pose == nil {
		return nil
	}
	return r.pose[:]
}

func pairsEuclid[T Float](index []int32, pose []T, label []int32, bits []uint64, x, u []T, limit T) int {
	if level == Generic {
		return pairsEuclidGeneric(index, pose, label, bits, x, u, limit)
	}
	var v [3]T
	d, n := copy(v[:], u), len(label)
	p := newPairPieces(index, pose, label, bits, x)
	for p.next() {
		whole := wholePairs[T](p.n)
		if is32[T]() {
			pose, x := floatsOf[float32](&p, pose, x)
			u0, u1, u2, limit := float32(v[0]), float32(v[1]), float32(v[2]), float32(limit)
			switch d {
			case 1:
				p.kept += pairsEuclid1F32NEON(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, n, whole, u0, limit)
			case 2:
				p.kept += pairsEuclid2F32NEON(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, n, whole, u0, u1, limit)
			default:
				p.kept += pairsEuclid3F32NEON(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, n, whole, u0, u1, u2, limit)
			}
			continue
		}
		pose, x := floatsOf[float64](&p, pose, x)
		u0, u1, u2, limit := float64(v[0]), float64(v[1]), float64(v[2]), float64(limit)
		switch d {
		case 1:
			p.kept += pairsEuclid1F64NEON(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, n, whole, u0, limit)
		case 2:
			p.kept += pairsEuclid2F64NEON(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, n, whole, u0, u1, limit)
		default:
			p.kept += pairsEuclid3F64NEON(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, n, whole, u0, u1, u2, limit)
		}
	}
	rest := newPairRest(bits, x, n, d)
	if rest.n == 0 {
		return p.kept
	}
	m := pairsEuclidGeneric(index[p.kept:], rest.poses(pose), label[n-rest.n:], rest.bits[:], rest.x[:], u, limit)
	return rest.unpack(pose, n, d, p.kept, m)
}

func pairsRigid[T Float](index []int32, pose []T, label []int32, bits []uint64, x, u, m []T, turn, limit T) int {
	if level == Generic {
		return pairsRigidGeneric(index, pose, label, bits, x, u, m, turn, limit)
	}
	n := len(label)
	p := newPairPieces(index, pose, label, bits, x)
	for p.next() {
		whole := wholePairs[T](p.n)
		if is32[T]() {
			pose, x := floatsOf[float32](&p, pose, x)
			p.kept += pairsRigidF32NEON(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, n, whole, float32(u[0]), float32(u[1]), float32(m[0]), float32(m[1]), float32(turn), float32(limit))
			continue
		}
		pose, x := floatsOf[float64](&p, pose, x)
		p.kept += pairsRigidF64NEON(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, n, whole, float64(u[0]), float64(u[1]), float64(m[0]), float64(m[1]), float64(turn), float64(limit))
	}
	rest := newPairRest(bits, x, n, 2)
	if rest.n == 0 {
		return p.kept
	}
	kept := pairsRigidGeneric(index[p.kept:], rest.poses(pose), label[n-rest.n:], rest.bits[:], rest.x[:], u, m, turn, limit)
	return rest.unpack(pose, n, 3, p.kept, kept)
}

func pairsPolar[T Float](index []int32, pose []T, label []int32, bits []uint64, x, u []T, floor, alpha, r T) int {
	if level == Generic {
		return pairsPolarGeneric(index, pose, label, bits, x, u, floor, alpha, r)
	}
	n := len(label)
	p := newPairPieces(index, pose, label, bits, x)
	for p.next() {
		whole := wholePairs[T](p.n)
		if is32[T]() {
			pose, x := floatsOf[float32](&p, pose, x)
			p.kept += pairsPolarF32NEON(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, n, whole, float32(u[0]), float32(u[1]), float32(floor), float32(alpha), float32(1-alpha), float32(r))
			continue
		}
		pose, x := floatsOf[float64](&p, pose, x)
		p.kept += pairsPolarF64NEON(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, n, whole, float64(u[0]), float64(u[1]), float64(floor), float64(alpha), float64(1-alpha), float64(r))
	}
	rest := newPairRest(bits, x, n, 2)
	if rest.n == 0 {
		return p.kept
	}
	m := pairsPolarGeneric(index[p.kept:], rest.poses(pose), label[n-rest.n:], rest.bits[:], rest.x[:], u, floor, alpha, r)
	return rest.unpack(pose, n, 3, p.kept, m)
}

func pairsLogPolar[T Float](index []int32, pose []T, label []int32, bits []uint64, x, u []T, alpha, r T) int {
	if level == Generic {
		return pairsLogPolarGeneric(index, pose, label, bits, x, u, alpha, r)
	}
	n := len(label)
	p := newPairPieces(index, pose, label, bits, x)
	for p.next() {
		whole := wholePairs[T](p.n)
		if is32[T]() {
			pose, x := floatsOf[float32](&p, pose, x)
			p.kept += pairsLogPolarF32NEON(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, n, whole, float32(u[0]), float32(u[1]), float32(alpha), float32(1-alpha), float32(r))
			continue
		}
		pose, x := floatsOf[float64](&p, pose, x)
		p.kept += pairsLogPolarF64NEON(&index[p.kept], pose, &label[p.lo], p.bits(bits), x, n, whole, float64(u[0]), float64(u[1]), float64(alpha), float64(1-alpha), float64(r))
	}
	rest := newPairRest(bits, x, n, 2)
	if rest.n == 0 {
		return p.kept
	}
	m := pairsLogPolarGeneric(index[p.kept:], rest.poses(pose), label[n-rest.n:], rest.bits[:], rest.x[:], u, alpha, r)
	return rest.unpack(pose, n, 2, p.kept, m)
}

func near16(bits []uint64, x, u, r []uint16) {
	d := len(u)
	if level == Generic || d > 3 {
		near16Generic(bits, x, u, r)
		return
	}
	raceRead(x)
	raceWrite(bits)
	var window [6]uint16
	for c := range d {
		window[2*c], window[2*c+1] = window16(u[c], r[c])
	}
	stride := 64 * len(bits)
	for lo := 0; lo < len(bits); lo += maxPairs {
		part, x := bits[lo:min(lo+maxPairs, len(bits))], &x[64*lo]
		switch d {
		case 1:
			nearWindow1NEON(&part[0], x, stride, len(part), &window[0])
		case 2:
			nearWindow2NEON(&part[0], x, stride, len(part), &window[0])
		default:
			nearWindow3NEON(&part[0], x, stride, len(part), &window[0])
		}
	}
}
