//go:build !purego

package search

import "github.com/equivcnp/equivcnp/internal/cpu"

func withinEuclid(index, label []int32, bits []uint64, x, u []float64, limit float64) int {
	if level == cpu.Generic {
		return withinEuclidGeneric(index, label, bits, x, u, limit)
	}
	p := newWithinPieces(index, label, bits, x)
	for p.next() {
		switch d := len(u); {
		case level == cpu.AVX512 && d == 1:
			p.kept += withinEuclid1AVX512(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], len(label), p.n, u[0], limit)
		case level == cpu.AVX512 && d == 2:
			p.kept += withinEuclid2AVX512(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], len(label), p.n, u[0], u[1], limit)
		case level == cpu.AVX512:
			p.kept += withinEuclid3AVX512(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], len(label), p.n, u[0], u[1], u[2], limit)
		case d == 1:
			p.kept += withinEuclid1AVX2(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], len(label), p.n, u[0], limit)
		case d == 2:
			p.kept += withinEuclid2AVX2(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], len(label), p.n, u[0], u[1], limit)
		default:
			p.kept += withinEuclid3AVX2(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], len(label), p.n, u[0], u[1], u[2], limit)
		}
	}
	return p.kept
}

func withinRigid(index, label []int32, bits []uint64, x, u, m []float64, limit float64) int {
	if level == cpu.Generic {
		return withinRigidGeneric(index, label, bits, x, u, m, limit)
	}
	p := newWithinPieces(index, label, bits, x)
	for p.next() {
		if level == cpu.AVX512 {
			p.kept += withinRigidAVX512(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], len(label), p.n, u[0], u[1], m[0],
				m[1], limit)
		} else {
			p.kept += withinRigidAVX2(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], len(label), p.n, u[0], u[1], m[0], m[1], limit)
		}
	}
	return p.kept
}

func withinPolar(index, label []int32, bits []uint64, x, u []float64, floor, alpha, r float64) int {
	if level == cpu.Generic {
		return withinPolarGeneric(index, label, bits, x, u, floor, alpha, r)
	}
	p := newWithinPieces(index, label, bits, x)
	for p.next() {
		if level == cpu.AVX512 {
			p.kept += withinPolarAVX512(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], len(label), p.n, u[0], u[1], floor,
				alpha, 1-alpha, r)
		} else {
			p.kept += withinPolarAVX2(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], len(label), p.n, u[0], u[1], floor,
				alpha, 1-alpha, r)
		}
	}
	return p.kept
}

func withinLogPolar(index, label []int32, bits []uint64, x, u []float64, alpha, r float64) int {
	if level == cpu.Generic {
		return withinLogPolarGeneric(index, label, bits, x, u, alpha, r)
	}
	p := newWithinPieces(index, label, bits, x)
	for p.next() {
		if level == cpu.AVX512 {
			p.kept += withinLogPolarAVX512(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], len(label), p.n, u[0], u[1],
				alpha, 1-alpha, r)
		} else {
			p.kept += withinLogPolarAVX2(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], len(label), p.n, u[0], u[1], alpha,
				1-alpha, r)
		}
	}
	return p.kept
}
