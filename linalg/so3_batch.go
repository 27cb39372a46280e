package linalg

import "github.com/equivcnp/equivcnp/simd"

// Batches of SO(3). An element is the rotation matrix, [9] entries; coordinates are
// the rotation vector, [3]. Layout, aliasing and errors are those of every batch: see the package comment.

// ExpSO3F32 writes the elements exp(a) of n coordinate vectors a: dst [9, n], a [3, n].
func ExpSO3F32(dst, a []float32, n int) {
	checkBatch("ExpSO3F32", "dst", len(dst), 9, n)
	checkBatch("ExpSO3F32", "a", len(a), 3, n)
	for r := (simd.Matrices{Op: simd.OpExpSO3, N: n}); r.NextF32(dst, a, nil); {
		expSO3Generic(dst, a, n, r.From, r.To)
	}
}

// ExpSO3F64 is ExpSO3F32 for float64.
func ExpSO3F64(dst, a []float64, n int) {
	checkBatch("ExpSO3F64", "dst", len(dst), 9, n)
	checkBatch("ExpSO3F64", "a", len(a), 3, n)
	for r := (simd.Matrices{Op: simd.OpExpSO3, N: n}); r.NextF64(dst, a, nil); {
		expSO3Generic(dst, a, n, r.From, r.To)
	}
}

// LogSO3F32 writes the coordinates of n elements e: dst [3, n], e [9, n]. Accuracy as LogSO3.
func LogSO3F32(dst, e []float32, n int) {
	checkBatch("LogSO3F32", "dst", len(dst), 3, n)
	checkBatch("LogSO3F32", "e", len(e), 9, n)
	for r := (simd.Matrices{Op: simd.OpLogSO3, N: n}); r.NextF32(dst, e, nil); {
		logSO3Generic(dst, e, n, r.From, r.To)
	}
}

// LogSO3F64 is LogSO3F32 for float64.
func LogSO3F64(dst, e []float64, n int) {
	checkBatch("LogSO3F64", "dst", len(dst), 3, n)
	checkBatch("LogSO3F64", "e", len(e), 9, n)
	for r := (simd.Matrices{Op: simd.OpLogSO3, N: n}); r.NextF64(dst, e, nil); {
		logSO3Generic(dst, e, n, r.From, r.To)
	}
}

// ComposeSO3F32 writes the coordinates log(exp(a)·exp(b)) of n pairs of coordinate vectors [3, n].
func ComposeSO3F32(dst, a, b []float32, n int) {
	checkBatch("ComposeSO3F32", "dst", len(dst), 3, n)
	checkBatch("ComposeSO3F32", "a", len(a), 3, n)
	checkBatch("ComposeSO3F32", "b", len(b), 3, n)
	for r := (simd.Matrices{Op: simd.OpComposeSO3, N: n}); r.NextF32(dst, a, b); {
		composeSO3Generic(dst, a, b, n, r.From, r.To)
	}
}

// ComposeSO3F64 is ComposeSO3F32 for float64.
func ComposeSO3F64(dst, a, b []float64, n int) {
	checkBatch("ComposeSO3F64", "dst", len(dst), 3, n)
	checkBatch("ComposeSO3F64", "a", len(a), 3, n)
	checkBatch("ComposeSO3F64", "b", len(b), 3, n)
	for r := (simd.Matrices{Op: simd.OpComposeSO3, N: n}); r.NextF64(dst, a, b); {
		composeSO3Generic(dst, a, b, n, r.From, r.To)
	}
}

// MulSO3F32 writes the products e·f of n pairs of elements [9, n].
func MulSO3F32(dst, e, f []float32, n int) {
	checkBatch("MulSO3F32", "dst", len(dst), 9, n)
	checkBatch("MulSO3F32", "e", len(e), 9, n)
	checkBatch("MulSO3F32", "f", len(f), 9, n)
	for r := (simd.Matrices{Op: simd.OpMul3x3, N: n}); r.NextF32(dst, e, f); {
		mulSO3Generic(dst, e, f, n, r.From, r.To)
	}
}

// MulSO3F64 is MulSO3F32 for float64.
func MulSO3F64(dst, e, f []float64, n int) {
	checkBatch("MulSO3F64", "dst", len(dst), 9, n)
	checkBatch("MulSO3F64", "e", len(e), 9, n)
	checkBatch("MulSO3F64", "f", len(f), 9, n)
	for r := (simd.Matrices{Op: simd.OpMul3x3, N: n}); r.NextF64(dst, e, f); {
		mulSO3Generic(dst, e, f, n, r.From, r.To)
	}
}

// InverseSO3F32 writes the inverses of n elements [9, n]. In coordinates the inverse of a is -a.
func InverseSO3F32(dst, e []float32, n int) {
	checkBatch("InverseSO3F32", "dst", len(dst), 9, n)
	checkBatch("InverseSO3F32", "e", len(e), 9, n)
	for r := (simd.Matrices{Op: simd.OpInverseSO3, N: n}); r.NextF32(dst, e, nil); {
		inverseSO3Generic(dst, e, n, r.From, r.To)
	}
}

// InverseSO3F64 is InverseSO3F32 for float64.
func InverseSO3F64(dst, e []float64, n int) {
	checkBatch("InverseSO3F64", "dst", len(dst), 9, n)
	checkBatch("InverseSO3F64", "e", len(e), 9, n)
	for r := (simd.Matrices{Op: simd.OpInverseSO3, N: n}); r.NextF64(dst, e, nil); {
		inverseSO3Generic(dst, e, n, r.From, r.To)
	}
}

// ActSO3F32 writes the points e·x of n elements e [9, n] and n points x [3, n].
func ActSO3F32(dst, e, x []float32, n int) {
	checkBatch("ActSO3F32", "dst", len(dst), 3, n)
	checkBatch("ActSO3F32", "e", len(e), 9, n)
	checkBatch("ActSO3F32", "x", len(x), 3, n)
	for r := (simd.Matrices{Op: simd.OpActSO3, N: n}); r.NextF32(dst, e, x); {
		actSO3Generic(dst, e, x, n, r.From, r.To)
	}
}

// ActSO3F64 is ActSO3F32 for float64.
func ActSO3F64(dst, e, x []float64, n int) {
	checkBatch("ActSO3F64", "dst", len(dst), 3, n)
	checkBatch("ActSO3F64", "e", len(e), 9, n)
	checkBatch("ActSO3F64", "x", len(x), 3, n)
	for r := (simd.Matrices{Op: simd.OpActSO3, N: n}); r.NextF64(dst, e, x); {
		actSO3Generic(dst, e, x, n, r.From, r.To)
	}
}

// HatSO3F32 writes the matrices hat(a) of n coordinate vectors: dst [9, n], a [3, n].
func HatSO3F32(dst, a []float32, n int) {
	checkBatch("HatSO3F32", "dst", len(dst), 9, n)
	checkBatch("HatSO3F32", "a", len(a), 3, n)
	hatSO3Generic(dst, a, n)
}

// HatSO3F64 is HatSO3F32 for float64.
func HatSO3F64(dst, a []float64, n int) {
	checkBatch("HatSO3F64", "dst", len(dst), 9, n)
	checkBatch("HatSO3F64", "a", len(a), 3, n)
	hatSO3Generic(dst, a, n)
}

// VeeSO3F32 undoes HatSO3F32: dst [3, n], m [9, n].
func VeeSO3F32(dst, m []float32, n int) {
	checkBatch("VeeSO3F32", "dst", len(dst), 3, n)
	checkBatch("VeeSO3F32", "m", len(m), 9, n)
	veeSO3Generic(dst, m, n)
}

// VeeSO3F64 is VeeSO3F32 for float64.
func VeeSO3F64(dst, m []float64, n int) {
	checkBatch("VeeSO3F64", "dst", len(dst), 3, n)
	checkBatch("VeeSO3F64", "m", len(m), 9, n)
	veeSO3Generic(dst, m, n)
}

// AdjointSO3F32 writes the adjoint matrices of n elements: dst [9, n], e [9, n].
func AdjointSO3F32(dst, e []float32, n int) {
	checkBatch("AdjointSO3F32", "dst", len(dst), 9, n)
	checkBatch("AdjointSO3F32", "e", len(e), 9, n)
	adjointSO3Generic(dst, e, n)
}

// AdjointSO3F64 is AdjointSO3F32 for float64.
func AdjointSO3F64(dst, e []float64, n int) {
	checkBatch("AdjointSO3F64", "dst", len(dst), 9, n)
	checkBatch("AdjointSO3F64", "e", len(e), 9, n)
	adjointSO3Generic(dst, e, n)
}

// LeftJacobianSO3F32 writes the left Jacobians of the exponential at n coordinate vectors: dst [9, n], a [3, n].
func LeftJacobianSO3F32(dst, a []float32, n int) {
	checkBatch("LeftJacobianSO3F32", "dst", len(dst), 9, n)
	checkBatch("LeftJacobianSO3F32", "a", len(a), 3, n)
	for r := (simd.Matrices{Op: simd.OpLeftJacobianSO3, N: n}); r.NextF32(dst, a, nil); {
		leftJacobianSO3Generic(dst, a, n, r.From, r.To)
	}
}

// LeftJacobianSO3F64 is LeftJacobianSO3F32 for float64.
func LeftJacobianSO3F64(dst, a []float64, n int) {
	checkBatch("LeftJacobianSO3F64", "dst", len(dst), 9, n)
	checkBatch("LeftJacobianSO3F64", "a", len(a), 3, n)
	for r := (simd.Matrices{Op: simd.OpLeftJacobianSO3, N: n}); r.NextF64(dst, a, nil); {
		leftJacobianSO3Generic(dst, a, n, r.From, r.To)
	}
}

// LeftJacobianInvSO3F32 writes the inverses of the left Jacobians: dst [9, n], a [3, n].
func LeftJacobianInvSO3F32(dst, a []float32, n int) {
	checkBatch("LeftJacobianInvSO3F32", "dst", len(dst), 9, n)
	checkBatch("LeftJacobianInvSO3F32", "a", len(a), 3, n)
	for r := (simd.Matrices{Op: simd.OpLeftJacobianInvSO3, N: n}); r.NextF32(dst, a, nil); {
		leftJacobianInvSO3Generic(dst, a, n, r.From, r.To)
	}
}

// LeftJacobianInvSO3F64 is LeftJacobianInvSO3F32 for float64.
func LeftJacobianInvSO3F64(dst, a []float64, n int) {
	checkBatch("LeftJacobianInvSO3F64", "dst", len(dst), 9, n)
	checkBatch("LeftJacobianInvSO3F64", "a", len(a), 3, n)
	for r := (simd.Matrices{Op: simd.OpLeftJacobianInvSO3, N: n}); r.NextF64(dst, a, nil); {
		leftJacobianInvSO3Generic(dst, a, n, r.From, r.To)
	}
}

func expSO3Generic[T Float](dst, a []T, n, from, to int) {
	var x [3]float64
	var y [9]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		expSO3(&y, &x)
		store(dst, y[:], n, i)
	}
}

func logSO3Generic[T Float](dst, e []T, n, from, to int) {
	var x [9]float64
	var y [3]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		logSO3(&y, &x)
		store(dst, y[:], n, i)
	}
}

func composeSO3Generic[T Float](dst, a, b []T, n, from, to int) {
	var x, y [3]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		load(y[:], b, n, i)
		ComposeSO3(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func mulSO3Generic[T Float](dst, e, f []T, n, from, to int) {
	var x, y [9]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		load(y[:], f, n, i)
		mul3x3(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func inverseSO3Generic[T Float](dst, e []T, n, from, to int) {
	var x [9]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		InverseSO3(&x, &x)
		store(dst, x[:], n, i)
	}
}

func actSO3Generic[T Float](dst, e, x []T, n, from, to int) {
	var g [9]float64
	var p [3]float64
	for i := from; i < to; i++ {
		load(g[:], e, n, i)
		load(p[:], x, n, i)
		ActSO3(&p, &g, &p)
		store(dst, p[:], n, i)
	}
}

func hatSO3Generic[T Float](dst, a []T, n int) {
	var x [3]float64
	var y [9]float64
	for i := range n {
		load(x[:], a, n, i)
		HatSO3(&y, &x)
		store(dst, y[:], n, i)
	}
}

func veeSO3Generic[T Float](dst, m []T, n int) {
	var x [9]float64
	var y [3]float64
	for i := range n {
		load(x[:], m, n, i)
		VeeSO3(&y, &x)
		store(dst, y[:], n, i)
	}
}

func adjointSO3Generic[T Float](dst, e []T, n int) {
	var x, y [9]float64
	for i := range n {
		load(x[:], e, n, i)
		AdjointSO3(&y, &x)
		store(dst, y[:], n, i)
	}
}

func leftJacobianSO3Generic[T Float](dst, a []T, n, from, to int) {
	var x [3]float64
	var y [9]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		LeftJacobianSO3(&y, &x)
		store(dst, y[:], n, i)
	}
}

func leftJacobianInvSO3Generic[T Float](dst, a []T, n, from, to int) {
	var x [3]float64
	var y [9]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		LeftJacobianInvSO3(&y, &x)
		store(dst, y[:], n, i)
	}
}
