//go:build !purego && (amd64 || arm64)

package simd

// matrixF32 runs the kernel on matrices from .. n-1, or a first part of them, and returns as it does, at and next relative to
// from; next is -1 if there is no kernel.
func matrixF32(op MatrixOp, dst, a, b []float32, from, n int) (at, next int, hard uint64) {
	if level == Generic {
		return 0, -1, 0
	}
	if op == OpLog3x3 {
		return log3x3F32(dst, a, from, n)
	}
	raceRead(a)
	raceRead(b)
	raceWrite(dst)
	if b == nil {
		b = a
	}
	return matrixLevelF32(op, &dst[from], &a[from], &b[from], min(n-from, matrixPiece), n)
}

// matrixF64 is matrixF32 for float64.
func matrixF64(op MatrixOp, dst, a, b []float64, from, n int) (at, next int, hard uint64) {
	if level == Generic {
		return 0, -1, 0
	}
	raceRead(a)
	raceRead(b)
	raceWrite(dst)
	if b == nil {
		b = a
	}
	return matrixLevelF64(op, &dst[from], &a[from], &b[from], min(n-from, matrixPiece), n)
}

// log3x3F32 is the logarithm in float64, rounded: its steps would cost float32 too many digits.
func log3x3F32(dst, a []float32, from, n int) (at, next int, hard uint64) {
	const lanes = 64
	m := min(n-from, lanes)
	all := ^uint64(0) >> (lanes - m)
	raceRead(a)
	raceWrite(dst)
	var buf [9 * lanes]float64
	widen3x3(&buf, a[from:], n, all)
	// A kernel stops at a round with hard lanes; the buffer can be done in one go all the same.
	for i := 0; i < m; {
		at, next, h := log3x3Short(&buf[i], &buf[i], m-i, lanes)
		hard |= h << (i + at)
		i += next
	}
	narrow3x3(dst[from:], &buf, n, all&^hard)
	return 0, m, hard
}
