package linalg

import "github.com/equivcnp/equivcnp/simd"

// Batches of 3×3 matrices. Layout, aliasing and errors are those of every batch: see the package comment.

// Exp3x3F32 writes exp(a) of each of n matrices; accuracy as Exp3x3.
func Exp3x3F32(dst, a []float32, n int) {
	checkBatch("Exp3x3F32", "dst", len(dst), 9, n)
	checkBatch("Exp3x3F32", "a", len(a), 9, n)
	for r := (simd.Matrices{Op: simd.OpExp3x3, N: n}); r.NextF32(dst, a, nil); {
		exp3x3Generic(dst, a, n, r.From, r.To)
	}
}

// Exp3x3F64 is Exp3x3F32 for float64.
func Exp3x3F64(dst, a []float64, n int) {
	checkBatch("Exp3x3F64", "dst", len(dst), 9, n)
	checkBatch("Exp3x3F64", "a", len(a), 9, n)
	for r := (simd.Matrices{Op: simd.OpExp3x3, N: n}); r.NextF64(dst, a, nil); {
		exp3x3Generic(dst, a, n, r.From, r.To)
	}
}

// Log3x3F32 writes the principal logarithm of each of n matrices, and ok[i], whether matrix i has one, as Log3x3
// reports it.
func Log3x3F32(dst []float32, ok []bool, a []float32, n int) {
	checkBatch("Log3x3F32", "dst", len(dst), 9, n)
	checkBatch("Log3x3F32", "ok", len(ok), 1, n)
	checkBatch("Log3x3F32", "a", len(a), 9, n)
	fillTrue(ok)
	for r := (simd.Matrices{Op: simd.OpLog3x3, N: n}); r.NextF32(dst, a, nil); {
		log3x3Generic(dst, ok, a, n, r.From, r.To)
	}
}

// Log3x3F64 is Log3x3F32 for float64.
func Log3x3F64(dst []float64, ok []bool, a []float64, n int) {
	checkBatch("Log3x3F64", "dst", len(dst), 9, n)
	checkBatch("Log3x3F64", "ok", len(ok), 1, n)
	checkBatch("Log3x3F64", "a", len(a), 9, n)
	fillTrue(ok)
	for r := (simd.Matrices{Op: simd.OpLog3x3, N: n}); r.NextF64(dst, a, nil); {
		log3x3Generic(dst, ok, a, n, r.From, r.To)
	}
}

// Mul3x3F32 writes the products a·b of n pairs of matrices.
func Mul3x3F32(dst, a, b []float32, n int) {
	checkBatch("Mul3x3F32", "dst", len(dst), 9, n)
	checkBatch("Mul3x3F32", "a", len(a), 9, n)
	checkBatch("Mul3x3F32", "b", len(b), 9, n)
	for r := (simd.Matrices{Op: simd.OpMul3x3, N: n}); r.NextF32(dst, a, b); {
		mul3x3Generic(dst, a, b, n, r.From, r.To)
	}
}

// Mul3x3F64 is Mul3x3F32 for float64.
func Mul3x3F64(dst, a, b []float64, n int) {
	checkBatch("Mul3x3F64", "dst", len(dst), 9, n)
	checkBatch("Mul3x3F64", "a", len(a), 9, n)
	checkBatch("Mul3x3F64", "b", len(b), 9, n)
	for r := (simd.Matrices{Op: simd.OpMul3x3, N: n}); r.NextF64(dst, a, b); {
		mul3x3Generic(dst, a, b, n, r.From, r.To)
	}
}

// Inverse3x3F32 writes the inverse of each of n matrices, and ok[i], whether matrix i has one, as Inverse3x3 reports it.
func Inverse3x3F32(dst []float32, ok []bool, a []float32, n int) {
	checkBatch("Inverse3x3F32", "dst", len(dst), 9, n)
	checkBatch("Inverse3x3F32", "ok", len(ok), 1, n)
	checkBatch("Inverse3x3F32", "a", len(a), 9, n)
	fillTrue(ok)
	for r := (simd.Matrices{Op: simd.OpInverse3x3, N: n}); r.NextF32(dst, a, nil); {
		inverse3x3Generic(dst, ok, a, n, r.From, r.To)
	}
}

// Inverse3x3F64 is Inverse3x3F32 for float64.
func Inverse3x3F64(dst []float64, ok []bool, a []float64, n int) {
	checkBatch("Inverse3x3F64", "dst", len(dst), 9, n)
	checkBatch("Inverse3x3F64", "ok", len(ok), 1, n)
	checkBatch("Inverse3x3F64", "a", len(a), 9, n)
	fillTrue(ok)
	for r := (simd.Matrices{Op: simd.OpInverse3x3, N: n}); r.NextF64(dst, a, nil); {
		inverse3x3Generic(dst, ok, a, n, r.From, r.To)
	}
}

// Det3x3F32 writes the determinant of each of n matrices into dst [n]; accuracy as Det3x3. dst must not overlap a.
func Det3x3F32(dst, a []float32, n int) {
	checkBatch("Det3x3F32", "dst", len(dst), 1, n)
	checkBatch("Det3x3F32", "a", len(a), 9, n)
	for r := (simd.Matrices{Op: simd.OpDet3x3, N: n}); r.NextF32(dst, a, nil); {
		det3x3Generic(dst, a, n, r.From, r.To)
	}
}

// Det3x3F64 is Det3x3F32 for float64.
func Det3x3F64(dst, a []float64, n int) {
	checkBatch("Det3x3F64", "dst", len(dst), 1, n)
	checkBatch("Det3x3F64", "a", len(a), 9, n)
	for r := (simd.Matrices{Op: simd.OpDet3x3, N: n}); r.NextF64(dst, a, nil); {
		det3x3Generic(dst, a, n, r.From, r.To)
	}
}

// Frobenius3x3F32 writes the Frobenius norm of each of n matrices into dst [n]. dst must not overlap a.
func Frobenius3x3F32(dst, a []float32, n int) {
	checkBatch("Frobenius3x3F32", "dst", len(dst), 1, n)
	checkBatch("Frobenius3x3F32", "a", len(a), 9, n)
	for r := (simd.Matrices{Op: simd.OpFrobenius3x3, N: n}); r.NextF32(dst, a, nil); {
		frobenius3x3Generic(dst, a, n, r.From, r.To)
	}
}

// Frobenius3x3F64 is Frobenius3x3F32 for float64.
func Frobenius3x3F64(dst, a []float64, n int) {
	checkBatch("Frobenius3x3F64", "dst", len(dst), 1, n)
	checkBatch("Frobenius3x3F64", "a", len(a), 9, n)
	for r := (simd.Matrices{Op: simd.OpFrobenius3x3, N: n}); r.NextF64(dst, a, nil); {
		frobenius3x3Generic(dst, a, n, r.From, r.To)
	}
}

// ExpFrechet3x3F32 writes the derivative L(a, e) of the exponential of each of n matrices a in its direction e; accuracy
// as ExpFrechet3x3.
func ExpFrechet3x3F32(dst, a, e []float32, n int) {
	checkBatch("ExpFrechet3x3F32", "dst", len(dst), 9, n)
	checkBatch("ExpFrechet3x3F32", "a", len(a), 9, n)
	checkBatch("ExpFrechet3x3F32", "e", len(e), 9, n)
	for r := (simd.Matrices{Op: simd.OpExpFrechet3x3, N: n}); r.NextF32(dst, a, e); {
		expFrechet3x3Generic(dst, a, e, n, r.From, r.To)
	}
}

// ExpFrechet3x3F64 is ExpFrechet3x3F32 for float64.
func ExpFrechet3x3F64(dst, a, e []float64, n int) {
	checkBatch("ExpFrechet3x3F64", "dst", len(dst), 9, n)
	checkBatch("ExpFrechet3x3F64", "a", len(a), 9, n)
	checkBatch("ExpFrechet3x3F64", "e", len(e), 9, n)
	for r := (simd.Matrices{Op: simd.OpExpFrechet3x3, N: n}); r.NextF64(dst, a, e); {
		expFrechet3x3Generic(dst, a, e, n, r.From, r.To)
	}
}

// ExpFrechetAdjoint3x3F32 writes L(aᵀ, e) of each of n matrices: the gradient with respect to a of a loss whose gradient
// with respect to exp(a) is e.
func ExpFrechetAdjoint3x3F32(dst, a, e []float32, n int) {
	checkBatch("ExpFrechetAdjoint3x3F32", "dst", len(dst), 9, n)
	checkBatch("ExpFrechetAdjoint3x3F32", "a", len(a), 9, n)
	checkBatch("ExpFrechetAdjoint3x3F32", "e", len(e), 9, n)
	for r := (simd.Matrices{Op: simd.OpExpFrechetAdjoint3x3, N: n}); r.NextF32(dst, a, e); {
		expFrechetAdjoint3x3Generic(dst, a, e, n, r.From, r.To)
	}
}

// ExpFrechetAdjoint3x3F64 is ExpFrechetAdjoint3x3F32 for float64.
func ExpFrechetAdjoint3x3F64(dst, a, e []float64, n int) {
	checkBatch("ExpFrechetAdjoint3x3F64", "dst", len(dst), 9, n)
	checkBatch("ExpFrechetAdjoint3x3F64", "a", len(a), 9, n)
	checkBatch("ExpFrechetAdjoint3x3F64", "e", len(e), 9, n)
	for r := (simd.Matrices{Op: simd.OpExpFrechetAdjoint3x3, N: n}); r.NextF64(dst, a, e); {
		expFrechetAdjoint3x3Generic(dst, a, e, n, r.From, r.To)
	}
}

func exp3x3Generic[T Float](dst, a []T, n, from, to int) {
	var x [9]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		exp3x3(&x, &x)
		store(dst, x[:], n, i)
	}
}

func log3x3Generic[T Float](dst []T, ok []bool, a []T, n, from, to int) {
	var x [9]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		ok[i] = log3x3(&x, &x)
		store(dst, x[:], n, i)
	}
}

func mul3x3Generic[T Float](dst, a, b []T, n, from, to int) {
	var x, y [9]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		load(y[:], b, n, i)
		mul3x3(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func inverse3x3Generic[T Float](dst []T, ok []bool, a []T, n, from, to int) {
	var x [9]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		ok[i] = inverse3x3(&x, &x)
		store(dst, x[:], n, i)
		if ok[i] {
			ok[i] = finiteAt(dst, 9, n, i)
		}
	}
}

func det3x3Generic[T Float](dst, a []T, n, from, to int) {
	var x [9]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		dst[i] = T(Det3x3(&x))
	}
}

func frobenius3x3Generic[T Float](dst, a []T, n, from, to int) {
	var x [9]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		dst[i] = T(Norm(x[:]))
	}
}

func expFrechet3x3Generic[T Float](dst, a, e []T, n, from, to int) {
	var x, y [9]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		load(y[:], e, n, i)
		expFrechet3x3(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func expFrechetAdjoint3x3Generic[T Float](dst, a, e []T, n, from, to int) {
	var x, y [9]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		load(y[:], e, n, i)
		x = transpose3(&x)
		expFrechet3x3(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}
