package linalg

import "github.com/equivcnp/equivcnp/simd"

// Batches of SO(2). An element is (cos θ, sin θ), [2] entries; coordinates are
// θ, [1]. Layout, aliasing and errors are those of every batch: see the package comment.

// ExpSO2F32 writes the elements exp(a) of n coordinate vectors a: dst [2, n], a [1, n].
func ExpSO2F32(dst, a []float32, n int) {
	checkBatch("ExpSO2F32", "dst", len(dst), 2, n)
	checkBatch("ExpSO2F32", "a", len(a), 1, n)
	for r := (simd.Matrices{Op: simd.OpExpSO2, N: n}); r.NextF32(dst, a, nil); {
		expSO2Generic(dst, a, n, r.From, r.To)
	}
}

// ExpSO2F64 is ExpSO2F32 for float64.
func ExpSO2F64(dst, a []float64, n int) {
	checkBatch("ExpSO2F64", "dst", len(dst), 2, n)
	checkBatch("ExpSO2F64", "a", len(a), 1, n)
	for r := (simd.Matrices{Op: simd.OpExpSO2, N: n}); r.NextF64(dst, a, nil); {
		expSO2Generic(dst, a, n, r.From, r.To)
	}
}

// LogSO2F32 writes the coordinates of n elements e: dst [1, n], e [2, n]. Accuracy as LogSO2.
func LogSO2F32(dst, e []float32, n int) {
	checkBatch("LogSO2F32", "dst", len(dst), 1, n)
	checkBatch("LogSO2F32", "e", len(e), 2, n)
	for r := (simd.Matrices{Op: simd.OpLogSO2, N: n}); r.NextF32(dst, e, nil); {
		logSO2Generic(dst, e, n, r.From, r.To)
	}
}

// LogSO2F64 is LogSO2F32 for float64.
func LogSO2F64(dst, e []float64, n int) {
	checkBatch("LogSO2F64", "dst", len(dst), 1, n)
	checkBatch("LogSO2F64", "e", len(e), 2, n)
	for r := (simd.Matrices{Op: simd.OpLogSO2, N: n}); r.NextF64(dst, e, nil); {
		logSO2Generic(dst, e, n, r.From, r.To)
	}
}

// ComposeSO2F32 writes the coordinates log(exp(a)·exp(b)) of n pairs of coordinate vectors [1, n].
func ComposeSO2F32(dst, a, b []float32, n int) {
	checkBatch("ComposeSO2F32", "dst", len(dst), 1, n)
	checkBatch("ComposeSO2F32", "a", len(a), 1, n)
	checkBatch("ComposeSO2F32", "b", len(b), 1, n)
	for r := (simd.Matrices{Op: simd.OpComposeSO2, N: n}); r.NextF32(dst, a, b); {
		composeSO2Generic(dst, a, b, n, r.From, r.To)
	}
}

// ComposeSO2F64 is ComposeSO2F32 for float64.
func ComposeSO2F64(dst, a, b []float64, n int) {
	checkBatch("ComposeSO2F64", "dst", len(dst), 1, n)
	checkBatch("ComposeSO2F64", "a", len(a), 1, n)
	checkBatch("ComposeSO2F64", "b", len(b), 1, n)
	for r := (simd.Matrices{Op: simd.OpComposeSO2, N: n}); r.NextF64(dst, a, b); {
		composeSO2Generic(dst, a, b, n, r.From, r.To)
	}
}

// MulSO2F32 writes the products e·f of n pairs of elements [2, n].
func MulSO2F32(dst, e, f []float32, n int) {
	checkBatch("MulSO2F32", "dst", len(dst), 2, n)
	checkBatch("MulSO2F32", "e", len(e), 2, n)
	checkBatch("MulSO2F32", "f", len(f), 2, n)
	for r := (simd.Matrices{Op: simd.OpMulSO2, N: n}); r.NextF32(dst, e, f); {
		mulSO2Generic(dst, e, f, n, r.From, r.To)
	}
}

// MulSO2F64 is MulSO2F32 for float64.
func MulSO2F64(dst, e, f []float64, n int) {
	checkBatch("MulSO2F64", "dst", len(dst), 2, n)
	checkBatch("MulSO2F64", "e", len(e), 2, n)
	checkBatch("MulSO2F64", "f", len(f), 2, n)
	for r := (simd.Matrices{Op: simd.OpMulSO2, N: n}); r.NextF64(dst, e, f); {
		mulSO2Generic(dst, e, f, n, r.From, r.To)
	}
}

// InverseSO2F32 writes the inverses of n elements [2, n]. In coordinates the inverse of a is -a.
func InverseSO2F32(dst, e []float32, n int) {
	checkBatch("InverseSO2F32", "dst", len(dst), 2, n)
	checkBatch("InverseSO2F32", "e", len(e), 2, n)
	for r := (simd.Matrices{Op: simd.OpInverseSO2, N: n}); r.NextF32(dst, e, nil); {
		inverseSO2Generic(dst, e, n, r.From, r.To)
	}
}

// InverseSO2F64 is InverseSO2F32 for float64.
func InverseSO2F64(dst, e []float64, n int) {
	checkBatch("InverseSO2F64", "dst", len(dst), 2, n)
	checkBatch("InverseSO2F64", "e", len(e), 2, n)
	for r := (simd.Matrices{Op: simd.OpInverseSO2, N: n}); r.NextF64(dst, e, nil); {
		inverseSO2Generic(dst, e, n, r.From, r.To)
	}
}

// ActSO2F32 writes the points e·x of n elements e [2, n] and n points x [2, n].
func ActSO2F32(dst, e, x []float32, n int) {
	checkBatch("ActSO2F32", "dst", len(dst), 2, n)
	checkBatch("ActSO2F32", "e", len(e), 2, n)
	checkBatch("ActSO2F32", "x", len(x), 2, n)
	for r := (simd.Matrices{Op: simd.OpMulSO2, N: n}); r.NextF32(dst, e, x); {
		actSO2Generic(dst, e, x, n, r.From, r.To)
	}
}

// ActSO2F64 is ActSO2F32 for float64.
func ActSO2F64(dst, e, x []float64, n int) {
	checkBatch("ActSO2F64", "dst", len(dst), 2, n)
	checkBatch("ActSO2F64", "e", len(e), 2, n)
	checkBatch("ActSO2F64", "x", len(x), 2, n)
	for r := (simd.Matrices{Op: simd.OpMulSO2, N: n}); r.NextF64(dst, e, x); {
		actSO2Generic(dst, e, x, n, r.From, r.To)
	}
}

// HatSO2F32 writes the matrices hat(a) of n coordinate vectors: dst [4, n], a [1, n].
func HatSO2F32(dst, a []float32, n int) {
	checkBatch("HatSO2F32", "dst", len(dst), 4, n)
	checkBatch("HatSO2F32", "a", len(a), 1, n)
	hatSO2Generic(dst, a, n)
}

// HatSO2F64 is HatSO2F32 for float64.
func HatSO2F64(dst, a []float64, n int) {
	checkBatch("HatSO2F64", "dst", len(dst), 4, n)
	checkBatch("HatSO2F64", "a", len(a), 1, n)
	hatSO2Generic(dst, a, n)
}

// VeeSO2F32 undoes HatSO2F32: dst [1, n], m [4, n].
func VeeSO2F32(dst, m []float32, n int) {
	checkBatch("VeeSO2F32", "dst", len(dst), 1, n)
	checkBatch("VeeSO2F32", "m", len(m), 4, n)
	veeSO2Generic(dst, m, n)
}

// VeeSO2F64 is VeeSO2F32 for float64.
func VeeSO2F64(dst, m []float64, n int) {
	checkBatch("VeeSO2F64", "dst", len(dst), 1, n)
	checkBatch("VeeSO2F64", "m", len(m), 4, n)
	veeSO2Generic(dst, m, n)
}

// AdjointSO2F32 writes the adjoint matrices of n elements: dst [1, n], e [2, n].
func AdjointSO2F32(dst, e []float32, n int) {
	checkBatch("AdjointSO2F32", "dst", len(dst), 1, n)
	checkBatch("AdjointSO2F32", "e", len(e), 2, n)
	adjointSO2Generic(dst, e, n)
}

// AdjointSO2F64 is AdjointSO2F32 for float64.
func AdjointSO2F64(dst, e []float64, n int) {
	checkBatch("AdjointSO2F64", "dst", len(dst), 1, n)
	checkBatch("AdjointSO2F64", "e", len(e), 2, n)
	adjointSO2Generic(dst, e, n)
}

// LeftJacobianSO2F32 writes the left Jacobians of the exponential at n coordinate vectors: dst [1, n], a [1, n].
func LeftJacobianSO2F32(dst, a []float32, n int) {
	checkBatch("LeftJacobianSO2F32", "dst", len(dst), 1, n)
	checkBatch("LeftJacobianSO2F32", "a", len(a), 1, n)
	leftJacobianSO2Generic(dst, a, n)
}

// LeftJacobianSO2F64 is LeftJacobianSO2F32 for float64.
func LeftJacobianSO2F64(dst, a []float64, n int) {
	checkBatch("LeftJacobianSO2F64", "dst", len(dst), 1, n)
	checkBatch("LeftJacobianSO2F64", "a", len(a), 1, n)
	leftJacobianSO2Generic(dst, a, n)
}

// LeftJacobianInvSO2F32 writes the inverses of the left Jacobians: dst [1, n], a [1, n].
func LeftJacobianInvSO2F32(dst, a []float32, n int) {
	checkBatch("LeftJacobianInvSO2F32", "dst", len(dst), 1, n)
	checkBatch("LeftJacobianInvSO2F32", "a", len(a), 1, n)
	leftJacobianInvSO2Generic(dst, a, n)
}

// LeftJacobianInvSO2F64 is LeftJacobianInvSO2F32 for float64.
func LeftJacobianInvSO2F64(dst, a []float64, n int) {
	checkBatch("LeftJacobianInvSO2F64", "dst", len(dst), 1, n)
	checkBatch("LeftJacobianInvSO2F64", "a", len(a), 1, n)
	leftJacobianInvSO2Generic(dst, a, n)
}

func expSO2Generic[T Float](dst, a []T, n, from, to int) {
	var x [1]float64
	var y [2]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		expSO2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func logSO2Generic[T Float](dst, e []T, n, from, to int) {
	var x [2]float64
	var y [1]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		logSO2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func composeSO2Generic[T Float](dst, a, b []T, n, from, to int) {
	var x, y [1]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		load(y[:], b, n, i)
		composeSO2(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func mulSO2Generic[T Float](dst, e, f []T, n, from, to int) {
	var x, y [2]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		load(y[:], f, n, i)
		mulSO2(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func inverseSO2Generic[T Float](dst, e []T, n, from, to int) {
	var x [2]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		inverseSO2(&x, &x)
		store(dst, x[:], n, i)
	}
}

func actSO2Generic[T Float](dst, e, x []T, n, from, to int) {
	var g [2]float64
	var p [2]float64
	for i := from; i < to; i++ {
		load(g[:], e, n, i)
		load(p[:], x, n, i)
		actSO2(&p, &g, &p)
		store(dst, p[:], n, i)
	}
}

func hatSO2Generic[T Float](dst, a []T, n int) {
	var x [1]float64
	var y [4]float64
	for i := range n {
		load(x[:], a, n, i)
		HatSO2(&y, x[0])
		store(dst, y[:], n, i)
	}
}

func veeSO2Generic[T Float](dst, m []T, n int) {
	var x [4]float64
	var y [1]float64
	for i := range n {
		load(x[:], m, n, i)
		y[0] = VeeSO2(&x)
		store(dst, y[:], n, i)
	}
}

func adjointSO2Generic[T Float](dst, e []T, n int) {
	var x [2]float64
	var y [1]float64
	for i := range n {
		load(x[:], e, n, i)
		adjointSO2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func leftJacobianSO2Generic[T Float](dst, a []T, n int) {
	var x, y [1]float64
	for i := range n {
		load(x[:], a, n, i)
		y[0] = LeftJacobianSO2(x[0])
		store(dst, y[:], n, i)
	}
}

func leftJacobianInvSO2Generic[T Float](dst, a []T, n int) {
	var x, y [1]float64
	for i := range n {
		load(x[:], a, n, i)
		y[0] = LeftJacobianInvSO2(x[0])
		store(dst, y[:], n, i)
	}
}
