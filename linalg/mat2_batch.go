package linalg

import "github.com/equivcnp/equivcnp/simd"

// Batches of 2×2 matrices. Layout, aliasing and errors are those of every batch: see the package comment.

// Exp2x2F32 writes exp(a) of each of n matrices; accuracy as Exp2x2.
func Exp2x2F32(dst, a []float32, n int) {
	checkBatch("Exp2x2F32", "dst", len(dst), 4, n)
	checkBatch("Exp2x2F32", "a", len(a), 4, n)
	for r := (simd.Matrices{Op: simd.OpExp2x2, N: n}); r.NextF32(dst, a, nil); {
		exp2x2Generic(dst, a, n, r.From, r.To)
	}
}

// Exp2x2F64 is Exp2x2F32 for float64.
func Exp2x2F64(dst, a []float64, n int) {
	checkBatch("Exp2x2F64", "dst", len(dst), 4, n)
	checkBatch("Exp2x2F64", "a", len(a), 4, n)
	for r := (simd.Matrices{Op: simd.OpExp2x2, N: n}); r.NextF64(dst, a, nil); {
		exp2x2Generic(dst, a, n, r.From, r.To)
	}
}

// Log2x2F32 writes the principal logarithm of each of n matrices, and ok[i], whether matrix i has one, as Log2x2
// reports it.
func Log2x2F32(dst []float32, ok []bool, a []float32, n int) {
	checkBatch("Log2x2F32", "dst", len(dst), 4, n)
	checkBatch("Log2x2F32", "ok", len(ok), 1, n)
	checkBatch("Log2x2F32", "a", len(a), 4, n)
	fillTrue(ok)
	for r := (simd.Matrices{Op: simd.OpLog2x2, N: n}); r.NextF32(dst, a, nil); {
		log2x2Generic(dst, ok, a, n, r.From, r.To)
	}
}

// Log2x2F64 is Log2x2F32 for float64.
func Log2x2F64(dst []float64, ok []bool, a []float64, n int) {
	checkBatch("Log2x2F64", "dst", len(dst), 4, n)
	checkBatch("Log2x2F64", "ok", len(ok), 1, n)
	checkBatch("Log2x2F64", "a", len(a), 4, n)
	fillTrue(ok)
	for r := (simd.Matrices{Op: simd.OpLog2x2, N: n}); r.NextF64(dst, a, nil); {
		log2x2Generic(dst, ok, a, n, r.From, r.To)
	}
}

// Mul2x2F32 writes the products a·b of n pairs of matrices.
func Mul2x2F32(dst, a, b []float32, n int) {
	checkBatch("Mul2x2F32", "dst", len(dst), 4, n)
	checkBatch("Mul2x2F32", "a", len(a), 4, n)
	checkBatch("Mul2x2F32", "b", len(b), 4, n)
	for r := (simd.Matrices{Op: simd.OpMul2x2, N: n}); r.NextF32(dst, a, b); {
		mul2x2Generic(dst, a, b, n, r.From, r.To)
	}
}

// Mul2x2F64 is Mul2x2F32 for float64.
func Mul2x2F64(dst, a, b []float64, n int) {
	checkBatch("Mul2x2F64", "dst", len(dst), 4, n)
	checkBatch("Mul2x2F64", "a", len(a), 4, n)
	checkBatch("Mul2x2F64", "b", len(b), 4, n)
	for r := (simd.Matrices{Op: simd.OpMul2x2, N: n}); r.NextF64(dst, a, b); {
		mul2x2Generic(dst, a, b, n, r.From, r.To)
	}
}

// Inverse2x2F32 writes the inverse of each of n matrices, and ok[i], whether matrix i has one, as Inverse2x2 reports it.
func Inverse2x2F32(dst []float32, ok []bool, a []float32, n int) {
	checkBatch("Inverse2x2F32", "dst", len(dst), 4, n)
	checkBatch("Inverse2x2F32", "ok", len(ok), 1, n)
	checkBatch("Inverse2x2F32", "a", len(a), 4, n)
	fillTrue(ok)
	for r := (simd.Matrices{Op: simd.OpInverse2x2, N: n}); r.NextF32(dst, a, nil); {
		inverse2x2Generic(dst, ok, a, n, r.From, r.To)
	}
}

// Inverse2x2F64 is Inverse2x2F32 for float64.
func Inverse2x2F64(dst []float64, ok []bool, a []float64, n int) {
	checkBatch("Inverse2x2F64", "dst", len(dst), 4, n)
	checkBatch("Inverse2x2F64", "ok", len(ok), 1, n)
	checkBatch("Inverse2x2F64", "a", len(a), 4, n)
	fillTrue(ok)
	for r := (simd.Matrices{Op: simd.OpInverse2x2, N: n}); r.NextF64(dst, a, nil); {
		inverse2x2Generic(dst, ok, a, n, r.From, r.To)
	}
}

// Det2x2F32 writes the determinant of each of n matrices into dst [n]; accuracy as Det2x2. dst must not overlap a.
func Det2x2F32(dst, a []float32, n int) {
	checkBatch("Det2x2F32", "dst", len(dst), 1, n)
	checkBatch("Det2x2F32", "a", len(a), 4, n)
	for r := (simd.Matrices{Op: simd.OpDet2x2, N: n}); r.NextF32(dst, a, nil); {
		det2x2Generic(dst, a, n, r.From, r.To)
	}
}

// Det2x2F64 is Det2x2F32 for float64.
func Det2x2F64(dst, a []float64, n int) {
	checkBatch("Det2x2F64", "dst", len(dst), 1, n)
	checkBatch("Det2x2F64", "a", len(a), 4, n)
	for r := (simd.Matrices{Op: simd.OpDet2x2, N: n}); r.NextF64(dst, a, nil); {
		det2x2Generic(dst, a, n, r.From, r.To)
	}
}

// Frobenius2x2F32 writes the Frobenius norm of each of n matrices into dst [n]. dst must not overlap a.
func Frobenius2x2F32(dst, a []float32, n int) {
	checkBatch("Frobenius2x2F32", "dst", len(dst), 1, n)
	checkBatch("Frobenius2x2F32", "a", len(a), 4, n)
	for r := (simd.Matrices{Op: simd.OpFrobenius2x2, N: n}); r.NextF32(dst, a, nil); {
		frobenius2x2Generic(dst, a, n, r.From, r.To)
	}
}

// Frobenius2x2F64 is Frobenius2x2F32 for float64.
func Frobenius2x2F64(dst, a []float64, n int) {
	checkBatch("Frobenius2x2F64", "dst", len(dst), 1, n)
	checkBatch("Frobenius2x2F64", "a", len(a), 4, n)
	for r := (simd.Matrices{Op: simd.OpFrobenius2x2, N: n}); r.NextF64(dst, a, nil); {
		frobenius2x2Generic(dst, a, n, r.From, r.To)
	}
}

// ExpFrechet2x2F32 writes the derivative L(a, e) of the exponential of each of n matrices a in its direction e; accuracy
// as ExpFrechet2x2.
func ExpFrechet2x2F32(dst, a, e []float32, n int) {
	checkBatch("ExpFrechet2x2F32", "dst", len(dst), 4, n)
	checkBatch("ExpFrechet2x2F32", "a", len(a), 4, n)
	checkBatch("ExpFrechet2x2F32", "e", len(e), 4, n)
	for r := (simd.Matrices{Op: simd.OpExpFrechet2x2, N: n}); r.NextF32(dst, a, e); {
		expFrechet2x2Generic(dst, a, e, n, r.From, r.To)
	}
}

// ExpFrechet2x2F64 is ExpFrechet2x2F32 for float64.
func ExpFrechet2x2F64(dst, a, e []float64, n int) {
	checkBatch("ExpFrechet2x2F64", "dst", len(dst), 4, n)
	checkBatch("ExpFrechet2x2F64", "a", len(a), 4, n)
	checkBatch("ExpFrechet2x2F64", "e", len(e), 4, n)
	for r := (simd.Matrices{Op: simd.OpExpFrechet2x2, N: n}); r.NextF64(dst, a, e); {
		expFrechet2x2Generic(dst, a, e, n, r.From, r.To)
	}
}

// ExpFrechetAdjoint2x2F32 writes L(aᵀ, e) of each of n matrices: the gradient with respect to a of a loss whose gradient
// with respect to exp(a) is e.
func ExpFrechetAdjoint2x2F32(dst, a, e []float32, n int) {
	checkBatch("ExpFrechetAdjoint2x2F32", "dst", len(dst), 4, n)
	checkBatch("ExpFrechetAdjoint2x2F32", "a", len(a), 4, n)
	checkBatch("ExpFrechetAdjoint2x2F32", "e", len(e), 4, n)
	for r := (simd.Matrices{Op: simd.OpExpFrechetAdjoint2x2, N: n}); r.NextF32(dst, a, e); {
		expFrechetAdjoint2x2Generic(dst, a, e, n, r.From, r.To)
	}
}

// ExpFrechetAdjoint2x2F64 is ExpFrechetAdjoint2x2F32 for float64.
func ExpFrechetAdjoint2x2F64(dst, a, e []float64, n int) {
	checkBatch("ExpFrechetAdjoint2x2F64", "dst", len(dst), 4, n)
	checkBatch("ExpFrechetAdjoint2x2F64", "a", len(a), 4, n)
	checkBatch("ExpFrechetAdjoint2x2F64", "e", len(e), 4, n)
	for r := (simd.Matrices{Op: simd.OpExpFrechetAdjoint2x2, N: n}); r.NextF64(dst, a, e); {
		expFrechetAdjoint2x2Generic(dst, a, e, n, r.From, r.To)
	}
}

func exp2x2Generic[T Float](dst, a []T, n, from, to int) {
	var x [4]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		exp2x2(&x, &x)
		store(dst, x[:], n, i)
	}
}

func log2x2Generic[T Float](dst []T, ok []bool, a []T, n, from, to int) {
	var x [4]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		ok[i] = log2x2(&x, &x)
		store(dst, x[:], n, i)
	}
}

func mul2x2Generic[T Float](dst, a, b []T, n, from, to int) {
	var x, y [4]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		load(y[:], b, n, i)
		mul2x2(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func inverse2x2Generic[T Float](dst []T, ok []bool, a []T, n, from, to int) {
	var x [4]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		ok[i] = inverse2x2(&x, &x)
		store(dst, x[:], n, i)
		if ok[i] {
			ok[i] = finiteAt(dst, 4, n, i)
		}
	}
}

func det2x2Generic[T Float](dst, a []T, n, from, to int) {
	var x [4]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		dst[i] = T(Det2x2(&x))
	}
}

func frobenius2x2Generic[T Float](dst, a []T, n, from, to int) {
	var x [4]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		dst[i] = T(Norm(x[:]))
	}
}

func expFrechet2x2Generic[T Float](dst, a, e []T, n, from, to int) {
	var x, y [4]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		load(y[:], e, n, i)
		expFrechet2x2(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func expFrechetAdjoint2x2Generic[T Float](dst, a, e []T, n, from, to int) {
	var x, y [4]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		load(y[:], e, n, i)
		x[1], x[2] = x[2], x[1]
		expFrechet2x2(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}
