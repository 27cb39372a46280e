package linalg

import "github.com/equivcnp/equivcnp/simd"

// Batches of 4×4 matrices. Layout, aliasing and errors are those of every batch: see the package comment.

// Mul4x4F32 writes the products a·b of n pairs of matrices.
func Mul4x4F32(dst, a, b []float32, n int) {
	checkBatch("Mul4x4F32", "dst", len(dst), 16, n)
	checkBatch("Mul4x4F32", "a", len(a), 16, n)
	checkBatch("Mul4x4F32", "b", len(b), 16, n)
	for r := (simd.Matrices{Op: simd.OpMul4x4, N: n}); r.NextF32(dst, a, b); {
		mul4x4Generic(dst, a, b, n, r.From, r.To)
	}
}

// Mul4x4F64 is Mul4x4F32 for float64.
func Mul4x4F64(dst, a, b []float64, n int) {
	checkBatch("Mul4x4F64", "dst", len(dst), 16, n)
	checkBatch("Mul4x4F64", "a", len(a), 16, n)
	checkBatch("Mul4x4F64", "b", len(b), 16, n)
	for r := (simd.Matrices{Op: simd.OpMul4x4, N: n}); r.NextF64(dst, a, b); {
		mul4x4Generic(dst, a, b, n, r.From, r.To)
	}
}

// InverseRigid4x4F32 writes the inverse of each of n rigid motions, as InverseRigid4x4.
func InverseRigid4x4F32(dst, a []float32, n int) {
	checkBatch("InverseRigid4x4F32", "dst", len(dst), 16, n)
	checkBatch("InverseRigid4x4F32", "a", len(a), 16, n)
	for r := (simd.Matrices{Op: simd.OpInverseRigid4x4, N: n}); r.NextF32(dst, a, nil); {
		inverseRigid4x4Generic(dst, a, n, r.From, r.To)
	}
}

// InverseRigid4x4F64 is InverseRigid4x4F32 for float64.
func InverseRigid4x4F64(dst, a []float64, n int) {
	checkBatch("InverseRigid4x4F64", "dst", len(dst), 16, n)
	checkBatch("InverseRigid4x4F64", "a", len(a), 16, n)
	for r := (simd.Matrices{Op: simd.OpInverseRigid4x4, N: n}); r.NextF64(dst, a, nil); {
		inverseRigid4x4Generic(dst, a, n, r.From, r.To)
	}
}

func mul4x4Generic[T Float](dst, a, b []T, n, from, to int) {
	var x, y [16]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		load(y[:], b, n, i)
		mul4x4(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func inverseRigid4x4Generic[T Float](dst, a []T, n, from, to int) {
	var x [16]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		inverseRigid4x4(&x, &x)
		store(dst, x[:], n, i)
	}
}
