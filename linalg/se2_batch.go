package linalg

import "github.com/equivcnp/equivcnp/simd"

// Batches of SE(2). An element is (cos θ, sin θ, x, y), [4] entries; coordinates are
// (θ, t_x, t_y), [3]. Layout, aliasing and errors are those of every batch: see the package comment.

// ExpSE2F32 writes the elements exp(a) of n coordinate vectors a: dst [4, n], a [3, n].
func ExpSE2F32(dst, a []float32, n int) {
	checkBatch("ExpSE2F32", "dst", len(dst), 4, n)
	checkBatch("ExpSE2F32", "a", len(a), 3, n)
	for r := (simd.Matrices{Op: simd.OpExpSE2, N: n}); r.NextF32(dst, a, nil); {
		expSE2Generic(dst, a, n, r.From, r.To)
	}
}

// ExpSE2F64 is ExpSE2F32 for float64.
func ExpSE2F64(dst, a []float64, n int) {
	checkBatch("ExpSE2F64", "dst", len(dst), 4, n)
	checkBatch("ExpSE2F64", "a", len(a), 3, n)
	for r := (simd.Matrices{Op: simd.OpExpSE2, N: n}); r.NextF64(dst, a, nil); {
		expSE2Generic(dst, a, n, r.From, r.To)
	}
}

// LogSE2F32 writes the coordinates of n elements e: dst [3, n], e [4, n]. Accuracy as LogSE2.
func LogSE2F32(dst, e []float32, n int) {
	checkBatch("LogSE2F32", "dst", len(dst), 3, n)
	checkBatch("LogSE2F32", "e", len(e), 4, n)
	for r := (simd.Matrices{Op: simd.OpLogSE2, N: n}); r.NextF32(dst, e, nil); {
		logSE2Generic(dst, e, n, r.From, r.To)
	}
}

// LogSE2F64 is LogSE2F32 for float64.
func LogSE2F64(dst, e []float64, n int) {
	checkBatch("LogSE2F64", "dst", len(dst), 3, n)
	checkBatch("LogSE2F64", "e", len(e), 4, n)
	for r := (simd.Matrices{Op: simd.OpLogSE2, N: n}); r.NextF64(dst, e, nil); {
		logSE2Generic(dst, e, n, r.From, r.To)
	}
}

// ComposeSE2F32 writes the coordinates log(exp(a)·exp(b)) of n pairs of coordinate vectors [3, n].
func ComposeSE2F32(dst, a, b []float32, n int) {
	checkBatch("ComposeSE2F32", "dst", len(dst), 3, n)
	checkBatch("ComposeSE2F32", "a", len(a), 3, n)
	checkBatch("ComposeSE2F32", "b", len(b), 3, n)
	for r := (simd.Matrices{Op: simd.OpComposeSE2, N: n}); r.NextF32(dst, a, b); {
		composeSE2Generic(dst, a, b, n, r.From, r.To)
	}
}

// ComposeSE2F64 is ComposeSE2F32 for float64.
func ComposeSE2F64(dst, a, b []float64, n int) {
	checkBatch("ComposeSE2F64", "dst", len(dst), 3, n)
	checkBatch("ComposeSE2F64", "a", len(a), 3, n)
	checkBatch("ComposeSE2F64", "b", len(b), 3, n)
	for r := (simd.Matrices{Op: simd.OpComposeSE2, N: n}); r.NextF64(dst, a, b); {
		composeSE2Generic(dst, a, b, n, r.From, r.To)
	}
}

// MulSE2F32 writes the products e·f of n pairs of elements [4, n].
func MulSE2F32(dst, e, f []float32, n int) {
	checkBatch("MulSE2F32", "dst", len(dst), 4, n)
	checkBatch("MulSE2F32", "e", len(e), 4, n)
	checkBatch("MulSE2F32", "f", len(f), 4, n)
	for r := (simd.Matrices{Op: simd.OpMulPlane, N: n}); r.NextF32(dst, e, f); {
		mulSE2Generic(dst, e, f, n, r.From, r.To)
	}
}

// MulSE2F64 is MulSE2F32 for float64.
func MulSE2F64(dst, e, f []float64, n int) {
	checkBatch("MulSE2F64", "dst", len(dst), 4, n)
	checkBatch("MulSE2F64", "e", len(e), 4, n)
	checkBatch("MulSE2F64", "f", len(f), 4, n)
	for r := (simd.Matrices{Op: simd.OpMulPlane, N: n}); r.NextF64(dst, e, f); {
		mulSE2Generic(dst, e, f, n, r.From, r.To)
	}
}

// InverseSE2F32 writes the inverses of n elements [4, n]. In coordinates the inverse of a is -a.
func InverseSE2F32(dst, e []float32, n int) {
	checkBatch("InverseSE2F32", "dst", len(dst), 4, n)
	checkBatch("InverseSE2F32", "e", len(e), 4, n)
	for r := (simd.Matrices{Op: simd.OpInverseSE2, N: n}); r.NextF32(dst, e, nil); {
		inverseSE2Generic(dst, e, n, r.From, r.To)
	}
}

// InverseSE2F64 is InverseSE2F32 for float64.
func InverseSE2F64(dst, e []float64, n int) {
	checkBatch("InverseSE2F64", "dst", len(dst), 4, n)
	checkBatch("InverseSE2F64", "e", len(e), 4, n)
	for r := (simd.Matrices{Op: simd.OpInverseSE2, N: n}); r.NextF64(dst, e, nil); {
		inverseSE2Generic(dst, e, n, r.From, r.To)
	}
}

// ActSE2F32 writes the points e·x of n elements e [4, n] and n points x [2, n].
func ActSE2F32(dst, e, x []float32, n int) {
	checkBatch("ActSE2F32", "dst", len(dst), 2, n)
	checkBatch("ActSE2F32", "e", len(e), 4, n)
	checkBatch("ActSE2F32", "x", len(x), 2, n)
	for r := (simd.Matrices{Op: simd.OpActPlane, N: n}); r.NextF32(dst, e, x); {
		actSE2Generic(dst, e, x, n, r.From, r.To)
	}
}

// ActSE2F64 is ActSE2F32 for float64.
func ActSE2F64(dst, e, x []float64, n int) {
	checkBatch("ActSE2F64", "dst", len(dst), 2, n)
	checkBatch("ActSE2F64", "e", len(e), 4, n)
	checkBatch("ActSE2F64", "x", len(x), 2, n)
	for r := (simd.Matrices{Op: simd.OpActPlane, N: n}); r.NextF64(dst, e, x); {
		actSE2Generic(dst, e, x, n, r.From, r.To)
	}
}

// HatSE2F32 writes the matrices hat(a) of n coordinate vectors: dst [9, n], a [3, n].
func HatSE2F32(dst, a []float32, n int) {
	checkBatch("HatSE2F32", "dst", len(dst), 9, n)
	checkBatch("HatSE2F32", "a", len(a), 3, n)
	hatSE2Generic(dst, a, n)
}

// HatSE2F64 is HatSE2F32 for float64.
func HatSE2F64(dst, a []float64, n int) {
	checkBatch("HatSE2F64", "dst", len(dst), 9, n)
	checkBatch("HatSE2F64", "a", len(a), 3, n)
	hatSE2Generic(dst, a, n)
}

// VeeSE2F32 undoes HatSE2F32: dst [3, n], m [9, n].
func VeeSE2F32(dst, m []float32, n int) {
	checkBatch("VeeSE2F32", "dst", len(dst), 3, n)
	checkBatch("VeeSE2F32", "m", len(m), 9, n)
	veeSE2Generic(dst, m, n)
}

// VeeSE2F64 is VeeSE2F32 for float64.
func VeeSE2F64(dst, m []float64, n int) {
	checkBatch("VeeSE2F64", "dst", len(dst), 3, n)
	checkBatch("VeeSE2F64", "m", len(m), 9, n)
	veeSE2Generic(dst, m, n)
}

// AdjointSE2F32 writes the adjoint matrices of n elements: dst [9, n], e [4, n].
func AdjointSE2F32(dst, e []float32, n int) {
	checkBatch("AdjointSE2F32", "dst", len(dst), 9, n)
	checkBatch("AdjointSE2F32", "e", len(e), 4, n)
	for r := (simd.Matrices{Op: simd.OpAdjointSE2, N: n}); r.NextF32(dst, e, nil); {
		adjointSE2Generic(dst, e, n, r.From, r.To)
	}
}

// AdjointSE2F64 is AdjointSE2F32 for float64.
func AdjointSE2F64(dst, e []float64, n int) {
	checkBatch("AdjointSE2F64", "dst", len(dst), 9, n)
	checkBatch("AdjointSE2F64", "e", len(e), 4, n)
	for r := (simd.Matrices{Op: simd.OpAdjointSE2, N: n}); r.NextF64(dst, e, nil); {
		adjointSE2Generic(dst, e, n, r.From, r.To)
	}
}

// LeftJacobianSE2F32 writes the left Jacobians of the exponential at n coordinate vectors: dst [9, n], a [3, n].
func LeftJacobianSE2F32(dst, a []float32, n int) {
	checkBatch("LeftJacobianSE2F32", "dst", len(dst), 9, n)
	checkBatch("LeftJacobianSE2F32", "a", len(a), 3, n)
	for r := (simd.Matrices{Op: simd.OpLeftJacobianSE2, N: n}); r.NextF32(dst, a, nil); {
		leftJacobianSE2Generic(dst, a, n, r.From, r.To)
	}
}

// LeftJacobianSE2F64 is LeftJacobianSE2F32 for float64.
func LeftJacobianSE2F64(dst, a []float64, n int) {
	checkBatch("LeftJacobianSE2F64", "dst", len(dst), 9, n)
	checkBatch("LeftJacobianSE2F64", "a", len(a), 3, n)
	for r := (simd.Matrices{Op: simd.OpLeftJacobianSE2, N: n}); r.NextF64(dst, a, nil); {
		leftJacobianSE2Generic(dst, a, n, r.From, r.To)
	}
}

// LeftJacobianInvSE2F32 writes the inverses of the left Jacobians: dst [9, n], a [3, n].
func LeftJacobianInvSE2F32(dst, a []float32, n int) {
	checkBatch("LeftJacobianInvSE2F32", "dst", len(dst), 9, n)
	checkBatch("LeftJacobianInvSE2F32", "a", len(a), 3, n)
	for r := (simd.Matrices{Op: simd.OpLeftJacobianInvSE2, N: n}); r.NextF32(dst, a, nil); {
		leftJacobianInvSE2Generic(dst, a, n, r.From, r.To)
	}
}

// LeftJacobianInvSE2F64 is LeftJacobianInvSE2F32 for float64.
func LeftJacobianInvSE2F64(dst, a []float64, n int) {
	checkBatch("LeftJacobianInvSE2F64", "dst", len(dst), 9, n)
	checkBatch("LeftJacobianInvSE2F64", "a", len(a), 3, n)
	for r := (simd.Matrices{Op: simd.OpLeftJacobianInvSE2, N: n}); r.NextF64(dst, a, nil); {
		leftJacobianInvSE2Generic(dst, a, n, r.From, r.To)
	}
}

func expSE2Generic[T Float](dst, a []T, n, from, to int) {
	var x [3]float64
	var y [4]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		expSE2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func logSE2Generic[T Float](dst, e []T, n, from, to int) {
	var x [4]float64
	var y [3]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		logSE2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func composeSE2Generic[T Float](dst, a, b []T, n, from, to int) {
	var x, y [3]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		load(y[:], b, n, i)
		ComposeSE2(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func mulSE2Generic[T Float](dst, e, f []T, n, from, to int) {
	var x, y [4]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		load(y[:], f, n, i)
		mulPlane(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func inverseSE2Generic[T Float](dst, e []T, n, from, to int) {
	var x [4]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		inverseSE2(&x, &x)
		store(dst, x[:], n, i)
	}
}

func actSE2Generic[T Float](dst, e, x []T, n, from, to int) {
	var g [4]float64
	var p [2]float64
	for i := from; i < to; i++ {
		load(g[:], e, n, i)
		load(p[:], x, n, i)
		actPlane(&p, &g, &p)
		store(dst, p[:], n, i)
	}
}

func hatSE2Generic[T Float](dst, a []T, n int) {
	var x [3]float64
	var y [9]float64
	for i := range n {
		load(x[:], a, n, i)
		HatSE2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func veeSE2Generic[T Float](dst, m []T, n int) {
	var x [9]float64
	var y [3]float64
	for i := range n {
		load(x[:], m, n, i)
		VeeSE2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func adjointSE2Generic[T Float](dst, e []T, n, from, to int) {
	var x [4]float64
	var y [9]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		adjointSE2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func leftJacobianSE2Generic[T Float](dst, a []T, n, from, to int) {
	var x [3]float64
	var y [9]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		LeftJacobianSE2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func leftJacobianInvSE2Generic[T Float](dst, a []T, n, from, to int) {
	var x [3]float64
	var y [9]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		LeftJacobianInvSE2(&y, &x)
		store(dst, y[:], n, i)
	}
}
