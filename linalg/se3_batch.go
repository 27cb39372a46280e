package linalg

import "github.com/equivcnp/equivcnp/simd"

// Batches of SE(3). An element is the upper three rows [R | p] of the homogeneous matrix, [12] entries; coordinates are
// (rotation vector, translation part), [6]. Layout, aliasing and errors are those of every batch: see the package comment.

// ExpSE3F32 writes the elements exp(a) of n coordinate vectors a: dst [12, n], a [6, n].
func ExpSE3F32(dst, a []float32, n int) {
	checkBatch("ExpSE3F32", "dst", len(dst), 12, n)
	checkBatch("ExpSE3F32", "a", len(a), 6, n)
	for r := (simd.Matrices{Op: simd.OpExpSE3, N: n}); r.NextF32(dst, a, nil); {
		expSE3Generic(dst, a, n, r.From, r.To)
	}
}

// ExpSE3F64 is ExpSE3F32 for float64.
func ExpSE3F64(dst, a []float64, n int) {
	checkBatch("ExpSE3F64", "dst", len(dst), 12, n)
	checkBatch("ExpSE3F64", "a", len(a), 6, n)
	for r := (simd.Matrices{Op: simd.OpExpSE3, N: n}); r.NextF64(dst, a, nil); {
		expSE3Generic(dst, a, n, r.From, r.To)
	}
}

// LogSE3F32 writes the coordinates of n elements e: dst [6, n], e [12, n]. Accuracy as LogSE3.
func LogSE3F32(dst, e []float32, n int) {
	checkBatch("LogSE3F32", "dst", len(dst), 6, n)
	checkBatch("LogSE3F32", "e", len(e), 12, n)
	for r := (simd.Matrices{Op: simd.OpLogSE3, N: n}); r.NextF32(dst, e, nil); {
		logSE3Generic(dst, e, n, r.From, r.To)
	}
}

// LogSE3F64 is LogSE3F32 for float64.
func LogSE3F64(dst, e []float64, n int) {
	checkBatch("LogSE3F64", "dst", len(dst), 6, n)
	checkBatch("LogSE3F64", "e", len(e), 12, n)
	for r := (simd.Matrices{Op: simd.OpLogSE3, N: n}); r.NextF64(dst, e, nil); {
		logSE3Generic(dst, e, n, r.From, r.To)
	}
}

// ComposeSE3F32 writes the coordinates log(exp(a)·exp(b)) of n pairs of coordinate vectors [6, n].
func ComposeSE3F32(dst, a, b []float32, n int) {
	checkBatch("ComposeSE3F32", "dst", len(dst), 6, n)
	checkBatch("ComposeSE3F32", "a", len(a), 6, n)
	checkBatch("ComposeSE3F32", "b", len(b), 6, n)
	for r := (simd.Matrices{Op: simd.OpComposeSE3, N: n}); r.NextF32(dst, a, b); {
		composeSE3Generic(dst, a, b, n, r.From, r.To)
	}
}

// ComposeSE3F64 is ComposeSE3F32 for float64.
func ComposeSE3F64(dst, a, b []float64, n int) {
	checkBatch("ComposeSE3F64", "dst", len(dst), 6, n)
	checkBatch("ComposeSE3F64", "a", len(a), 6, n)
	checkBatch("ComposeSE3F64", "b", len(b), 6, n)
	for r := (simd.Matrices{Op: simd.OpComposeSE3, N: n}); r.NextF64(dst, a, b); {
		composeSE3Generic(dst, a, b, n, r.From, r.To)
	}
}

// MulSE3F32 writes the products e·f of n pairs of elements [12, n].
func MulSE3F32(dst, e, f []float32, n int) {
	checkBatch("MulSE3F32", "dst", len(dst), 12, n)
	checkBatch("MulSE3F32", "e", len(e), 12, n)
	checkBatch("MulSE3F32", "f", len(f), 12, n)
	for r := (simd.Matrices{Op: simd.OpMulSE3, N: n}); r.NextF32(dst, e, f); {
		mulSE3Generic(dst, e, f, n, r.From, r.To)
	}
}

// MulSE3F64 is MulSE3F32 for float64.
func MulSE3F64(dst, e, f []float64, n int) {
	checkBatch("MulSE3F64", "dst", len(dst), 12, n)
	checkBatch("MulSE3F64", "e", len(e), 12, n)
	checkBatch("MulSE3F64", "f", len(f), 12, n)
	for r := (simd.Matrices{Op: simd.OpMulSE3, N: n}); r.NextF64(dst, e, f); {
		mulSE3Generic(dst, e, f, n, r.From, r.To)
	}
}

// InverseSE3F32 writes the inverses of n elements [12, n]. In coordinates the inverse of a is -a.
func InverseSE3F32(dst, e []float32, n int) {
	checkBatch("InverseSE3F32", "dst", len(dst), 12, n)
	checkBatch("InverseSE3F32", "e", len(e), 12, n)
	for r := (simd.Matrices{Op: simd.OpInverseSE3, N: n}); r.NextF32(dst, e, nil); {
		inverseSE3Generic(dst, e, n, r.From, r.To)
	}
}

// InverseSE3F64 is InverseSE3F32 for float64.
func InverseSE3F64(dst, e []float64, n int) {
	checkBatch("InverseSE3F64", "dst", len(dst), 12, n)
	checkBatch("InverseSE3F64", "e", len(e), 12, n)
	for r := (simd.Matrices{Op: simd.OpInverseSE3, N: n}); r.NextF64(dst, e, nil); {
		inverseSE3Generic(dst, e, n, r.From, r.To)
	}
}

// ActSE3F32 writes the points e·x of n elements e [12, n] and n points x [3, n].
func ActSE3F32(dst, e, x []float32, n int) {
	checkBatch("ActSE3F32", "dst", len(dst), 3, n)
	checkBatch("ActSE3F32", "e", len(e), 12, n)
	checkBatch("ActSE3F32", "x", len(x), 3, n)
	for r := (simd.Matrices{Op: simd.OpActSE3, N: n}); r.NextF32(dst, e, x); {
		actSE3Generic(dst, e, x, n, r.From, r.To)
	}
}

// ActSE3F64 is ActSE3F32 for float64.
func ActSE3F64(dst, e, x []float64, n int) {
	checkBatch("ActSE3F64", "dst", len(dst), 3, n)
	checkBatch("ActSE3F64", "e", len(e), 12, n)
	checkBatch("ActSE3F64", "x", len(x), 3, n)
	for r := (simd.Matrices{Op: simd.OpActSE3, N: n}); r.NextF64(dst, e, x); {
		actSE3Generic(dst, e, x, n, r.From, r.To)
	}
}

// HatSE3F32 writes the matrices hat(a) of n coordinate vectors: dst [16, n], a [6, n].
func HatSE3F32(dst, a []float32, n int) {
	checkBatch("HatSE3F32", "dst", len(dst), 16, n)
	checkBatch("HatSE3F32", "a", len(a), 6, n)
	hatSE3Generic(dst, a, n)
}

// HatSE3F64 is HatSE3F32 for float64.
func HatSE3F64(dst, a []float64, n int) {
	checkBatch("HatSE3F64", "dst", len(dst), 16, n)
	checkBatch("HatSE3F64", "a", len(a), 6, n)
	hatSE3Generic(dst, a, n)
}

// VeeSE3F32 undoes HatSE3F32: dst [6, n], m [16, n].
func VeeSE3F32(dst, m []float32, n int) {
	checkBatch("VeeSE3F32", "dst", len(dst), 6, n)
	checkBatch("VeeSE3F32", "m", len(m), 16, n)
	veeSE3Generic(dst, m, n)
}

// VeeSE3F64 is VeeSE3F32 for float64.
func VeeSE3F64(dst, m []float64, n int) {
	checkBatch("VeeSE3F64", "dst", len(dst), 6, n)
	checkBatch("VeeSE3F64", "m", len(m), 16, n)
	veeSE3Generic(dst, m, n)
}

// AdjointSE3F32 writes the adjoint matrices of n elements: dst [36, n], e [12, n].
func AdjointSE3F32(dst, e []float32, n int) {
	checkBatch("AdjointSE3F32", "dst", len(dst), 36, n)
	checkBatch("AdjointSE3F32", "e", len(e), 12, n)
	for r := (simd.Matrices{Op: simd.OpAdjointSE3, N: n}); r.NextF32(dst, e, nil); {
		adjointSE3Generic(dst, e, n, r.From, r.To)
	}
}

// AdjointSE3F64 is AdjointSE3F32 for float64.
func AdjointSE3F64(dst, e []float64, n int) {
	checkBatch("AdjointSE3F64", "dst", len(dst), 36, n)
	checkBatch("AdjointSE3F64", "e", len(e), 12, n)
	for r := (simd.Matrices{Op: simd.OpAdjointSE3, N: n}); r.NextF64(dst, e, nil); {
		adjointSE3Generic(dst, e, n, r.From, r.To)
	}
}

// LeftJacobianSE3F32 writes the left Jacobians of the exponential at n coordinate vectors: dst [36, n], a [6, n].
func LeftJacobianSE3F32(dst, a []float32, n int) {
	checkBatch("LeftJacobianSE3F32", "dst", len(dst), 36, n)
	checkBatch("LeftJacobianSE3F32", "a", len(a), 6, n)
	for r := (simd.Matrices{Op: simd.OpLeftJacobianSE3, N: n}); r.NextF32(dst, a, nil); {
		leftJacobianSE3Generic(dst, a, n, r.From, r.To)
	}
}

// LeftJacobianSE3F64 is LeftJacobianSE3F32 for float64.
func LeftJacobianSE3F64(dst, a []float64, n int) {
	checkBatch("LeftJacobianSE3F64", "dst", len(dst), 36, n)
	checkBatch("LeftJacobianSE3F64", "a", len(a), 6, n)
	for r := (simd.Matrices{Op: simd.OpLeftJacobianSE3, N: n}); r.NextF64(dst, a, nil); {
		leftJacobianSE3Generic(dst, a, n, r.From, r.To)
	}
}

// LeftJacobianInvSE3F32 writes the inverses of the left Jacobians: dst [36, n], a [6, n].
func LeftJacobianInvSE3F32(dst, a []float32, n int) {
	checkBatch("LeftJacobianInvSE3F32", "dst", len(dst), 36, n)
	checkBatch("LeftJacobianInvSE3F32", "a", len(a), 6, n)
	for r := (simd.Matrices{Op: simd.OpLeftJacobianInvSE3, N: n}); r.NextF32(dst, a, nil); {
		leftJacobianInvSE3Generic(dst, a, n, r.From, r.To)
	}
}

// LeftJacobianInvSE3F64 is LeftJacobianInvSE3F32 for float64.
func LeftJacobianInvSE3F64(dst, a []float64, n int) {
	checkBatch("LeftJacobianInvSE3F64", "dst", len(dst), 36, n)
	checkBatch("LeftJacobianInvSE3F64", "a", len(a), 6, n)
	for r := (simd.Matrices{Op: simd.OpLeftJacobianInvSE3, N: n}); r.NextF64(dst, a, nil); {
		leftJacobianInvSE3Generic(dst, a, n, r.From, r.To)
	}
}

func expSE3Generic[T Float](dst, a []T, n, from, to int) {
	var x [6]float64
	var y [12]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		expSE3(&y, &x)
		store(dst, y[:], n, i)
	}
}

func logSE3Generic[T Float](dst, e []T, n, from, to int) {
	var x [12]float64
	var y [6]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		logSE3(&y, &x)
		store(dst, y[:], n, i)
	}
}

func composeSE3Generic[T Float](dst, a, b []T, n, from, to int) {
	var x, y [6]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		load(y[:], b, n, i)
		ComposeSE3(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func mulSE3Generic[T Float](dst, e, f []T, n, from, to int) {
	var x, y [12]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		load(y[:], f, n, i)
		mulSE3(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func inverseSE3Generic[T Float](dst, e []T, n, from, to int) {
	var x [12]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		inverseSE3(&x, &x)
		store(dst, x[:], n, i)
	}
}

func actSE3Generic[T Float](dst, e, x []T, n, from, to int) {
	var g [12]float64
	var p [3]float64
	for i := from; i < to; i++ {
		load(g[:], e, n, i)
		load(p[:], x, n, i)
		actSE3(&p, &g, &p)
		store(dst, p[:], n, i)
	}
}

func hatSE3Generic[T Float](dst, a []T, n int) {
	var x [6]float64
	var y [16]float64
	for i := range n {
		load(x[:], a, n, i)
		HatSE3(&y, &x)
		store(dst, y[:], n, i)
	}
}

func veeSE3Generic[T Float](dst, m []T, n int) {
	var x [16]float64
	var y [6]float64
	for i := range n {
		load(x[:], m, n, i)
		VeeSE3(&y, &x)
		store(dst, y[:], n, i)
	}
}

func adjointSE3Generic[T Float](dst, e []T, n, from, to int) {
	var x [12]float64
	var y [36]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		adjointSE3(&y, &x)
		store(dst, y[:], n, i)
	}
}

func leftJacobianSE3Generic[T Float](dst, a []T, n, from, to int) {
	var x [6]float64
	var y [36]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		LeftJacobianSE3(&y, &x)
		store(dst, y[:], n, i)
	}
}

func leftJacobianInvSE3Generic[T Float](dst, a []T, n, from, to int) {
	var x [6]float64
	var y [36]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		LeftJacobianInvSE3(&y, &x)
		store(dst, y[:], n, i)
	}
}
