package batch

// General matrices. A suffix says the size: dst and inputs are [4, n] for 2×2, [9, n] for 3×3 and [16, n] for 4×4 matrices, unless said
// otherwise.

// Exp2x2 writes exp(a) of each of n matrices.
func Exp2x2[T Float](dst, a []T, n int) { general("Exp2x2", opExp2x2, shape{4, 4, 0}, dst, a, nil, n) }

// Log2x2 writes the principal logarithm of each of n matrices, and ok[i], whether matrix i has one, as linalg.Log2x2 reports it.
func Log2x2[T Float](dst []T, ok []bool, a []T, n int) {
	partial("Log2x2", opLog2x2, shape{4, 4, 0}, dst, ok, a, n)
}

// Mul2x2 writes the products a·b of n pairs of matrices.
func Mul2x2[T Float](dst, a, b []T, n int) { general("Mul2x2", opMul2x2, shape{4, 4, 4}, dst, a, b, n) }

// Inverse2x2 writes the inverse of each of n matrices, and ok[i], whether matrix i has one that T can represent.
func Inverse2x2[T Float](dst []T, ok []bool, a []T, n int) {
	partial("Inverse2x2", opInverse2x2, shape{4, 4, 0}, dst, ok, a, n)
}

// Det2x2 writes the determinant of each of n matrices: dst [n].
func Det2x2[T Float](dst, a []T, n int) { general("Det2x2", opDet2x2, shape{1, 4, 0}, dst, a, nil, n) }

// Frobenius2x2 writes the Frobenius norm of each of n matrices, without overflow or underflow on the way: dst [n].
func Frobenius2x2[T Float](dst, a []T, n int) {
	general("Frobenius2x2", opFrobenius2x2, shape{1, 4, 0}, dst, a, nil, n)
}

// ExpFrechet2x2 writes the derivative L(a, e) of the exponential of each of n matrices a in its direction e.
func ExpFrechet2x2[T Float](dst, a, e []T, n int) {
	general("ExpFrechet2x2", opExpFrechet2x2, shape{4, 4, 4}, dst, a, e, n)
}

// ExpFrechetAdjoint2x2 writes L(aᵀ, e) of each of n matrices: the gradient with respect to a of a loss whose gradient
// with respect to exp(a) is e.
func ExpFrechetAdjoint2x2[T Float](dst, a, e []T, n int) {
	general("ExpFrechetAdjoint2x2", opExpFrechetAdjoint2x2, shape{4, 4, 4}, dst, a, e, n)
}

// Exp3x3 writes exp(a) of each of n matrices.
func Exp3x3[T Float](dst, a []T, n int) { general("Exp3x3", opExp3x3, shape{9, 9, 0}, dst, a, nil, n) }

// Log3x3 writes the principal logarithm of each of n matrices, and ok[i], whether matrix i has one, as linalg.Log3x3 reports it.
func Log3x3[T Float](dst []T, ok []bool, a []T, n int) {
	partial("Log3x3", opLog3x3, shape{9, 9, 0}, dst, ok, a, n)
}

// Mul3x3 writes the products a·b of n pairs of matrices.
func Mul3x3[T Float](dst, a, b []T, n int) { general("Mul3x3", opMul3x3, shape{9, 9, 9}, dst, a, b, n) }

// Inverse3x3 writes the inverse of each of n matrices, and ok[i], whether matrix i has one that T can represent.
func Inverse3x3[T Float](dst []T, ok []bool, a []T, n int) {
	partial("Inverse3x3", opInverse3x3, shape{9, 9, 0}, dst, ok, a, n)
}

// Det3x3 writes the determinant of each of n matrices: dst [n].
func Det3x3[T Float](dst, a []T, n int) { general("Det3x3", opDet3x3, shape{1, 9, 0}, dst, a, nil, n) }

// Frobenius3x3 writes the Frobenius norm of each of n matrices, without overflow or underflow on the way: dst [n].
func Frobenius3x3[T Float](dst, a []T, n int) {
	general("Frobenius3x3", opFrobenius3x3, shape{1, 9, 0}, dst, a, nil, n)
}

// ExpFrechet3x3 writes the derivative L(a, e) of the exponential of each of n matrices a in its direction e.
func ExpFrechet3x3[T Float](dst, a, e []T, n int) {
	general("ExpFrechet3x3", opExpFrechet3x3, shape{9, 9, 9}, dst, a, e, n)
}

// ExpFrechetAdjoint3x3 writes L(aᵀ, e) of each of n matrices: the gradient with respect to a of a loss whose gradient
// with respect to exp(a) is e.
func ExpFrechetAdjoint3x3[T Float](dst, a, e []T, n int) {
	general("ExpFrechetAdjoint3x3", opExpFrechetAdjoint3x3, shape{9, 9, 9}, dst, a, e, n)
}

// Mul4x4 writes the products a·b of n pairs of matrices.
func Mul4x4[T Float](dst, a, b []T, n int) {
	general("Mul4x4", opMul4x4, shape{16, 16, 16}, dst, a, b, n)
}

// InverseRigid4x4 writes the inverse of each of n rigid motions [[R, p], [0, 1]], as linalg.InverseRigid4x4.
func InverseRigid4x4[T Float](dst, a []T, n int) {
	general("InverseRigid4x4", opInverseRigid4x4, shape{16, 16, 0}, dst, a, nil, n)
}

// general checks the lengths and runs an operation.
func general[T Float](name string, o op, s shape, dst, a, b []T, n int) {
	check(name, "", "dst", len(dst), s.out, n)
	check(name, "", "a", len(a), s.a, n)
	argB := "b"
	if o >= opExpFrechet2x2 && o <= opExpFrechetAdjoint2x2 || o >= opExpFrechet3x3 && o <= opExpFrechetAdjoint3x3 {
		argB = "e" // a direction
	}
	check(name, "", argB, len(b), s.b, n)
	run(o, s, dst, nil, a, b, n)
}

// partial is general for an operation that some matrices have no result of.
func partial[T Float](name string, o op, s shape, dst []T, ok []bool, a []T, n int) {
	check(name, "", "dst", len(dst), s.out, n)
	check(name, "", "ok", len(ok), 1, n)
	check(name, "", "a", len(a), s.a, n)
	for i := range ok {
		ok[i] = true // of the matrices that a kernel computes; the others have theirs overwritten
	}
	run(o, s, dst, ok, a, nil, n)
}
