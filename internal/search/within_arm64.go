//go:build !purego

package search

import "github.com/equivcnp/equivcnp/internal/cpu"

// The assembly takes pairs of points; the portable twin decides about the last one, with the same bits, if their number is odd.

// lastPoint is one point as an array of points.
type lastPoint struct {
	bits [1]uint64
	x    [3]float64
}

// newLastPoint copies the last of n points, with d coordinates.
func newLastPoint(bits []uint64, x []float64, n, d int) (p lastPoint) {
	p.bits[0] = 1
	if bits != nil {
		p.bits[0] = bits[(n-1)>>6] >> ((n - 1) & 63)
	}
	for c := range d {
		p.x[c] = x[c*n+n-1]
	}
	return p
}

func withinEuclid(index, label []int32, bits []uint64, x, u []float64, limit float64) int {
	if level == cpu.Generic {
		return withinEuclidGeneric(index, label, bits, x, u, limit)
	}
	n := len(label)
	p := newWithinPieces(index, label, bits, x)
	for p.next() {
		switch len(u) {
		case 1:
			p.kept += withinEuclid1NEON(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], n, p.n&^1, u[0], limit)
		case 2:
			p.kept += withinEuclid2NEON(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], n, p.n&^1, u[0], u[1], limit)
		default:
			p.kept += withinEuclid3NEON(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], n, p.n&^1, u[0], u[1], u[2], limit)
		}
	}
	if n&1 == 1 {
		last := newLastPoint(bits, x, n, len(u))
		p.kept += withinEuclidGeneric(index[p.kept:], label[n-1:], last.bits[:], last.x[:], u, limit)
	}
	return p.kept
}

func withinRigid(index, label []int32, bits []uint64, x, u, m []float64, limit float64) int {
	if level == cpu.Generic {
		return withinRigidGeneric(index, label, bits, x, u, m, limit)
	}
	n := len(label)
	p := newWithinPieces(index, label, bits, x)
	for p.next() {
		p.kept += withinRigidNEON(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], n, p.n&^1, u[0], u[1], m[0], m[1], limit)
	}
	if n&1 == 1 {
		last := newLastPoint(bits, x, n, 2)
		p.kept += withinRigidGeneric(index[p.kept:], label[n-1:], last.bits[:], last.x[:], u, m, limit)
	}
	return p.kept
}

func withinPolar(index, label []int32, bits []uint64, x, u []float64, floor, alpha, r float64) int {
	if level == cpu.Generic {
		return withinPolarGeneric(index, label, bits, x, u, floor, alpha, r)
	}
	n := len(label)
	p := newWithinPieces(index, label, bits, x)
	for p.next() {
		p.kept += withinPolarNEON(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], n, p.n&^1, u[0], u[1], floor, alpha, 1-alpha, r)
	}
	if n&1 == 1 {
		last := newLastPoint(bits, x, n, 2)
		p.kept += withinPolarGeneric(index[p.kept:], label[n-1:], last.bits[:], last.x[:], u, floor, alpha, r)
	}
	return p.kept
}

func withinLogPolar(index, label []int32, bits []uint64, x, u []float64, alpha, r float64) int {
	if level == cpu.Generic {
		return withinLogPolarGeneric(index, label, bits, x, u, alpha, r)
	}
	n := len(label)
	p := newWithinPieces(index, label, bits, x)
	for p.next() {
		p.kept += withinLogPolarNEON(&index[p.kept], &label[p.lo], p.bits(bits), &x[p.lo], n, p.n&^1, u[0], u[1], alpha, 1-alpha, r)
	}
	if n&1 == 1 {
		last := newLastPoint(bits, x, n, 2)
		p.kept += withinLogPolarGeneric(index[p.kept:], label[n-1:], last.bits[:], last.x[:], u, alpha, r)
	}
	return p.kept
}
