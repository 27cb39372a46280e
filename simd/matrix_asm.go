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
	var buf [9 * lanes]float64
	for e := range 9 {
		for i, v := range a[e*n+from : e*n+from+m] {
			buf[e*lanes+i] = float64(v)
		}
	}
	// A kernel stops at a round with hard lanes; the buffer can be done in one go all the same.
	for i := 0; i < m; {
		at, next, h := matrixLevelF64(OpLog3x3, &buf[i], &buf[i], &buf[i], m-i, lanes)
		if next < 0 {
			return 0, -1, 0
		}
		hard |= h << (i + at)
		i += next
	}
	raceRead(a)
	raceWrite(dst)
	for e := range 9 {
		for i := range m {
			if hard>>i&1 == 0 {
				dst[e*n+from+i] = float32(buf[e*lanes+i])
			}
		}
	}
	return 0, m, hard
}
