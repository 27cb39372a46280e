package linalg

import "github.com/equivcnp/equivcnp/simd"

// Batches of Sim(2). An element is (r cos θ, r sin θ, x, y), [4] entries; coordinates are
// (log r, θ, t_x, t_y), [4]. Layout, aliasing and errors are those of every batch: see the package comment.

// ExpSim2F32 writes the elements exp(a) of n coordinate vectors a: dst [4, n], a [4, n].
func ExpSim2F32(dst, a []float32, n int) {
	checkBatch("ExpSim2F32", "dst", len(dst), 4, n)
	checkBatch("ExpSim2F32", "a", len(a), 4, n)
	for r := (simd.Matrices{Op: simd.OpExpSim2, N: n}); r.NextF32(dst, a, nil); {
		expSim2Generic(dst, a, n, r.From, r.To)
	}
}

// ExpSim2F64 is ExpSim2F32 for float64.
func ExpSim2F64(dst, a []float64, n int) {
	checkBatch("ExpSim2F64", "dst", len(dst), 4, n)
	checkBatch("ExpSim2F64", "a", len(a), 4, n)
	for r := (simd.Matrices{Op: simd.OpExpSim2, N: n}); r.NextF64(dst, a, nil); {
		expSim2Generic(dst, a, n, r.From, r.To)
	}
}

// LogSim2F32 writes the coordinates of n elements e: dst [4, n], e [4, n]. Accuracy as LogSim2.
func LogSim2F32(dst, e []float32, n int) {
	checkBatch("LogSim2F32", "dst", len(dst), 4, n)
	checkBatch("LogSim2F32", "e", len(e), 4, n)
	for r := (simd.Matrices{Op: simd.OpLogSim2, N: n}); r.NextF32(dst, e, nil); {
		logSim2Generic(dst, e, n, r.From, r.To)
	}
}

// LogSim2F64 is LogSim2F32 for float64.
func LogSim2F64(dst, e []float64, n int) {
	checkBatch("LogSim2F64", "dst", len(dst), 4, n)
	checkBatch("LogSim2F64", "e", len(e), 4, n)
	for r := (simd.Matrices{Op: simd.OpLogSim2, N: n}); r.NextF64(dst, e, nil); {
		logSim2Generic(dst, e, n, r.From, r.To)
	}
}

// ComposeSim2F32 writes the coordinates log(exp(a)·exp(b)) of n pairs of coordinate vectors [4, n].
func ComposeSim2F32(dst, a, b []float32, n int) {
	checkBatch("ComposeSim2F32", "dst", len(dst), 4, n)
	checkBatch("ComposeSim2F32", "a", len(a), 4, n)
	checkBatch("ComposeSim2F32", "b", len(b), 4, n)
	for r := (simd.Matrices{Op: simd.OpComposeSim2, N: n}); r.NextF32(dst, a, b); {
		composeSim2Generic(dst, a, b, n, r.From, r.To)
	}
}

// ComposeSim2F64 is ComposeSim2F32 for float64.
func ComposeSim2F64(dst, a, b []float64, n int) {
	checkBatch("ComposeSim2F64", "dst", len(dst), 4, n)
	checkBatch("ComposeSim2F64", "a", len(a), 4, n)
	checkBatch("ComposeSim2F64", "b", len(b), 4, n)
	for r := (simd.Matrices{Op: simd.OpComposeSim2, N: n}); r.NextF64(dst, a, b); {
		composeSim2Generic(dst, a, b, n, r.From, r.To)
	}
}

// MulSim2F32 writes the products e·f of n pairs of elements [4, n].
func MulSim2F32(dst, e, f []float32, n int) {
	checkBatch("MulSim2F32", "dst", len(dst), 4, n)
	checkBatch("MulSim2F32", "e", len(e), 4, n)
	checkBatch("MulSim2F32", "f", len(f), 4, n)
	for r := (simd.Matrices{Op: simd.OpMulPlane, N: n}); r.NextF32(dst, e, f); {
		mulSim2Generic(dst, e, f, n, r.From, r.To)
	}
}

// MulSim2F64 is MulSim2F32 for float64.
func MulSim2F64(dst, e, f []float64, n int) {
	checkBatch("MulSim2F64", "dst", len(dst), 4, n)
	checkBatch("MulSim2F64", "e", len(e), 4, n)
	checkBatch("MulSim2F64", "f", len(f), 4, n)
	for r := (simd.Matrices{Op: simd.OpMulPlane, N: n}); r.NextF64(dst, e, f); {
		mulSim2Generic(dst, e, f, n, r.From, r.To)
	}
}

// InverseSim2F32 writes the inverses of n elements [4, n]. In coordinates the inverse of a is -a.
func InverseSim2F32(dst, e []float32, n int) {
	checkBatch("InverseSim2F32", "dst", len(dst), 4, n)
	checkBatch("InverseSim2F32", "e", len(e), 4, n)
	for r := (simd.Matrices{Op: simd.OpInverseSim2, N: n}); r.NextF32(dst, e, nil); {
		inverseSim2Generic(dst, e, n, r.From, r.To)
	}
}

// InverseSim2F64 is InverseSim2F32 for float64.
func InverseSim2F64(dst, e []float64, n int) {
	checkBatch("InverseSim2F64", "dst", len(dst), 4, n)
	checkBatch("InverseSim2F64", "e", len(e), 4, n)
	for r := (simd.Matrices{Op: simd.OpInverseSim2, N: n}); r.NextF64(dst, e, nil); {
		inverseSim2Generic(dst, e, n, r.From, r.To)
	}
}

// ActSim2F32 writes the points e·x of n elements e [4, n] and n points x [2, n].
func ActSim2F32(dst, e, x []float32, n int) {
	checkBatch("ActSim2F32", "dst", len(dst), 2, n)
	checkBatch("ActSim2F32", "e", len(e), 4, n)
	checkBatch("ActSim2F32", "x", len(x), 2, n)
	for r := (simd.Matrices{Op: simd.OpActPlane, N: n}); r.NextF32(dst, e, x); {
		actSim2Generic(dst, e, x, n, r.From, r.To)
	}
}

// ActSim2F64 is ActSim2F32 for float64.
func ActSim2F64(dst, e, x []float64, n int) {
	checkBatch("ActSim2F64", "dst", len(dst), 2, n)
	checkBatch("ActSim2F64", "e", len(e), 4, n)
	checkBatch("ActSim2F64", "x", len(x), 2, n)
	for r := (simd.Matrices{Op: simd.OpActPlane, N: n}); r.NextF64(dst, e, x); {
		actSim2Generic(dst, e, x, n, r.From, r.To)
	}
}

// HatSim2F32 writes the matrices hat(a) of n coordinate vectors: dst [9, n], a [4, n].
func HatSim2F32(dst, a []float32, n int) {
	checkBatch("HatSim2F32", "dst", len(dst), 9, n)
	checkBatch("HatSim2F32", "a", len(a), 4, n)
	hatSim2Generic(dst, a, n)
}

// HatSim2F64 is HatSim2F32 for float64.
func HatSim2F64(dst, a []float64, n int) {
	checkBatch("HatSim2F64", "dst", len(dst), 9, n)
	checkBatch("HatSim2F64", "a", len(a), 4, n)
	hatSim2Generic(dst, a, n)
}

// VeeSim2F32 undoes HatSim2F32: dst [4, n], m [9, n].
func VeeSim2F32(dst, m []float32, n int) {
	checkBatch("VeeSim2F32", "dst", len(dst), 4, n)
	checkBatch("VeeSim2F32", "m", len(m), 9, n)
	veeSim2Generic(dst, m, n)
}

// VeeSim2F64 is VeeSim2F32 for float64.
func VeeSim2F64(dst, m []float64, n int) {
	checkBatch("VeeSim2F64", "dst", len(dst), 4, n)
	checkBatch("VeeSim2F64", "m", len(m), 9, n)
	veeSim2Generic(dst, m, n)
}

// AdjointSim2F32 writes the adjoint matrices of n elements: dst [16, n], e [4, n].
func AdjointSim2F32(dst, e []float32, n int) {
	checkBatch("AdjointSim2F32", "dst", len(dst), 16, n)
	checkBatch("AdjointSim2F32", "e", len(e), 4, n)
	for r := (simd.Matrices{Op: simd.OpAdjointSim2, N: n}); r.NextF32(dst, e, nil); {
		adjointSim2Generic(dst, e, n, r.From, r.To)
	}
}

// AdjointSim2F64 is AdjointSim2F32 for float64.
func AdjointSim2F64(dst, e []float64, n int) {
	checkBatch("AdjointSim2F64", "dst", len(dst), 16, n)
	checkBatch("AdjointSim2F64", "e", len(e), 4, n)
	for r := (simd.Matrices{Op: simd.OpAdjointSim2, N: n}); r.NextF64(dst, e, nil); {
		adjointSim2Generic(dst, e, n, r.From, r.To)
	}
}

// LeftJacobianSim2F32 writes the left Jacobians of the exponential at n coordinate vectors: dst [16, n], a [4, n].
func LeftJacobianSim2F32(dst, a []float32, n int) {
	checkBatch("LeftJacobianSim2F32", "dst", len(dst), 16, n)
	checkBatch("LeftJacobianSim2F32", "a", len(a), 4, n)
	for r := (simd.Matrices{Op: simd.OpLeftJacobianSim2, N: n}); r.NextF32(dst, a, nil); {
		leftJacobianSim2Generic(dst, a, n, r.From, r.To)
	}
}

// LeftJacobianSim2F64 is LeftJacobianSim2F32 for float64.
func LeftJacobianSim2F64(dst, a []float64, n int) {
	checkBatch("LeftJacobianSim2F64", "dst", len(dst), 16, n)
	checkBatch("LeftJacobianSim2F64", "a", len(a), 4, n)
	for r := (simd.Matrices{Op: simd.OpLeftJacobianSim2, N: n}); r.NextF64(dst, a, nil); {
		leftJacobianSim2Generic(dst, a, n, r.From, r.To)
	}
}

// LeftJacobianInvSim2F32 writes the inverses of the left Jacobians: dst [16, n], a [4, n].
func LeftJacobianInvSim2F32(dst, a []float32, n int) {
	checkBatch("LeftJacobianInvSim2F32", "dst", len(dst), 16, n)
	checkBatch("LeftJacobianInvSim2F32", "a", len(a), 4, n)
	for r := (simd.Matrices{Op: simd.OpLeftJacobianInvSim2, N: n}); r.NextF32(dst, a, nil); {
		leftJacobianInvSim2Generic(dst, a, n, r.From, r.To)
	}
}

// LeftJacobianInvSim2F64 is LeftJacobianInvSim2F32 for float64.
func LeftJacobianInvSim2F64(dst, a []float64, n int) {
	checkBatch("LeftJacobianInvSim2F64", "dst", len(dst), 16, n)
	checkBatch("LeftJacobianInvSim2F64", "a", len(a), 4, n)
	for r := (simd.Matrices{Op: simd.OpLeftJacobianInvSim2, N: n}); r.NextF64(dst, a, nil); {
		leftJacobianInvSim2Generic(dst, a, n, r.From, r.To)
	}
}

func expSim2Generic[T Float](dst, a []T, n, from, to int) {
	var x, y [4]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		expSim2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func logSim2Generic[T Float](dst, e []T, n, from, to int) {
	var x, y [4]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		logSim2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func composeSim2Generic[T Float](dst, a, b []T, n, from, to int) {
	var x, y [4]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		load(y[:], b, n, i)
		ComposeSim2(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func mulSim2Generic[T Float](dst, e, f []T, n, from, to int) {
	var x, y [4]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		load(y[:], f, n, i)
		mulPlane(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func inverseSim2Generic[T Float](dst, e []T, n, from, to int) {
	var x [4]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		inverseSim2(&x, &x)
		store(dst, x[:], n, i)
	}
}

func actSim2Generic[T Float](dst, e, x []T, n, from, to int) {
	var g [4]float64
	var p [2]float64
	for i := from; i < to; i++ {
		load(g[:], e, n, i)
		load(p[:], x, n, i)
		actPlane(&p, &g, &p)
		store(dst, p[:], n, i)
	}
}

func hatSim2Generic[T Float](dst, a []T, n int) {
	var x [4]float64
	var y [9]float64
	for i := range n {
		load(x[:], a, n, i)
		HatSim2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func veeSim2Generic[T Float](dst, m []T, n int) {
	var x [9]float64
	var y [4]float64
	for i := range n {
		load(x[:], m, n, i)
		VeeSim2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func adjointSim2Generic[T Float](dst, e []T, n, from, to int) {
	var x [4]float64
	var y [16]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		adjointSim2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func leftJacobianSim2Generic[T Float](dst, a []T, n, from, to int) {
	var x [4]float64
	var y [16]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		LeftJacobianSim2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func leftJacobianInvSim2Generic[T Float](dst, a []T, n, from, to int) {
	var x [4]float64
	var y [16]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		LeftJacobianInvSim2(&y, &x)
		store(dst, y[:], n, i)
	}
}
