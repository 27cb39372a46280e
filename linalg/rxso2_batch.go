package linalg

import "github.com/equivcnp/equivcnp/simd"

// Batches of R>0×SO(2). An element is (r cos θ, r sin θ), [2] entries; coordinates are
// (log r, θ), [2]. Layout, aliasing and errors are those of every batch: see the package comment.

// ExpRxSO2F32 writes the elements exp(a) of n coordinate vectors a: dst [2, n], a [2, n].
func ExpRxSO2F32(dst, a []float32, n int) {
	checkBatch("ExpRxSO2F32", "dst", len(dst), 2, n)
	checkBatch("ExpRxSO2F32", "a", len(a), 2, n)
	for r := (simd.Matrices{Op: simd.OpExpRxSO2, N: n}); r.NextF32(dst, a, nil); {
		expRxSO2Generic(dst, a, n, r.From, r.To)
	}
}

// ExpRxSO2F64 is ExpRxSO2F32 for float64.
func ExpRxSO2F64(dst, a []float64, n int) {
	checkBatch("ExpRxSO2F64", "dst", len(dst), 2, n)
	checkBatch("ExpRxSO2F64", "a", len(a), 2, n)
	for r := (simd.Matrices{Op: simd.OpExpRxSO2, N: n}); r.NextF64(dst, a, nil); {
		expRxSO2Generic(dst, a, n, r.From, r.To)
	}
}

// LogRxSO2F32 writes the coordinates of n elements e: dst [2, n], e [2, n]. Accuracy as LogRxSO2.
func LogRxSO2F32(dst, e []float32, n int) {
	checkBatch("LogRxSO2F32", "dst", len(dst), 2, n)
	checkBatch("LogRxSO2F32", "e", len(e), 2, n)
	for r := (simd.Matrices{Op: simd.OpLogRxSO2, N: n}); r.NextF32(dst, e, nil); {
		logRxSO2Generic(dst, e, n, r.From, r.To)
	}
}

// LogRxSO2F64 is LogRxSO2F32 for float64.
func LogRxSO2F64(dst, e []float64, n int) {
	checkBatch("LogRxSO2F64", "dst", len(dst), 2, n)
	checkBatch("LogRxSO2F64", "e", len(e), 2, n)
	for r := (simd.Matrices{Op: simd.OpLogRxSO2, N: n}); r.NextF64(dst, e, nil); {
		logRxSO2Generic(dst, e, n, r.From, r.To)
	}
}

// ComposeRxSO2F32 writes the coordinates log(exp(a)·exp(b)) of n pairs of coordinate vectors [2, n].
func ComposeRxSO2F32(dst, a, b []float32, n int) {
	checkBatch("ComposeRxSO2F32", "dst", len(dst), 2, n)
	checkBatch("ComposeRxSO2F32", "a", len(a), 2, n)
	checkBatch("ComposeRxSO2F32", "b", len(b), 2, n)
	for r := (simd.Matrices{Op: simd.OpComposeRxSO2, N: n}); r.NextF32(dst, a, b); {
		composeRxSO2Generic(dst, a, b, n, r.From, r.To)
	}
}

// ComposeRxSO2F64 is ComposeRxSO2F32 for float64.
func ComposeRxSO2F64(dst, a, b []float64, n int) {
	checkBatch("ComposeRxSO2F64", "dst", len(dst), 2, n)
	checkBatch("ComposeRxSO2F64", "a", len(a), 2, n)
	checkBatch("ComposeRxSO2F64", "b", len(b), 2, n)
	for r := (simd.Matrices{Op: simd.OpComposeRxSO2, N: n}); r.NextF64(dst, a, b); {
		composeRxSO2Generic(dst, a, b, n, r.From, r.To)
	}
}

// MulRxSO2F32 writes the products e·f of n pairs of elements [2, n].
func MulRxSO2F32(dst, e, f []float32, n int) {
	checkBatch("MulRxSO2F32", "dst", len(dst), 2, n)
	checkBatch("MulRxSO2F32", "e", len(e), 2, n)
	checkBatch("MulRxSO2F32", "f", len(f), 2, n)
	for r := (simd.Matrices{Op: simd.OpMulSO2, N: n}); r.NextF32(dst, e, f); {
		mulRxSO2Generic(dst, e, f, n, r.From, r.To)
	}
}

// MulRxSO2F64 is MulRxSO2F32 for float64.
func MulRxSO2F64(dst, e, f []float64, n int) {
	checkBatch("MulRxSO2F64", "dst", len(dst), 2, n)
	checkBatch("MulRxSO2F64", "e", len(e), 2, n)
	checkBatch("MulRxSO2F64", "f", len(f), 2, n)
	for r := (simd.Matrices{Op: simd.OpMulSO2, N: n}); r.NextF64(dst, e, f); {
		mulRxSO2Generic(dst, e, f, n, r.From, r.To)
	}
}

// InverseRxSO2F32 writes the inverses of n elements [2, n]. In coordinates the inverse of a is -a.
func InverseRxSO2F32(dst, e []float32, n int) {
	checkBatch("InverseRxSO2F32", "dst", len(dst), 2, n)
	checkBatch("InverseRxSO2F32", "e", len(e), 2, n)
	for r := (simd.Matrices{Op: simd.OpInverseRxSO2, N: n}); r.NextF32(dst, e, nil); {
		inverseRxSO2Generic(dst, e, n, r.From, r.To)
	}
}

// InverseRxSO2F64 is InverseRxSO2F32 for float64.
func InverseRxSO2F64(dst, e []float64, n int) {
	checkBatch("InverseRxSO2F64", "dst", len(dst), 2, n)
	checkBatch("InverseRxSO2F64", "e", len(e), 2, n)
	for r := (simd.Matrices{Op: simd.OpInverseRxSO2, N: n}); r.NextF64(dst, e, nil); {
		inverseRxSO2Generic(dst, e, n, r.From, r.To)
	}
}

// ActRxSO2F32 writes the points e·x of n elements e [2, n] and n points x [2, n].
func ActRxSO2F32(dst, e, x []float32, n int) {
	checkBatch("ActRxSO2F32", "dst", len(dst), 2, n)
	checkBatch("ActRxSO2F32", "e", len(e), 2, n)
	checkBatch("ActRxSO2F32", "x", len(x), 2, n)
	for r := (simd.Matrices{Op: simd.OpMulSO2, N: n}); r.NextF32(dst, e, x); {
		actRxSO2Generic(dst, e, x, n, r.From, r.To)
	}
}

// ActRxSO2F64 is ActRxSO2F32 for float64.
func ActRxSO2F64(dst, e, x []float64, n int) {
	checkBatch("ActRxSO2F64", "dst", len(dst), 2, n)
	checkBatch("ActRxSO2F64", "e", len(e), 2, n)
	checkBatch("ActRxSO2F64", "x", len(x), 2, n)
	for r := (simd.Matrices{Op: simd.OpMulSO2, N: n}); r.NextF64(dst, e, x); {
		actRxSO2Generic(dst, e, x, n, r.From, r.To)
	}
}

// HatRxSO2F32 writes the matrices hat(a) of n coordinate vectors: dst [4, n], a [2, n].
func HatRxSO2F32(dst, a []float32, n int) {
	checkBatch("HatRxSO2F32", "dst", len(dst), 4, n)
	checkBatch("HatRxSO2F32", "a", len(a), 2, n)
	hatRxSO2Generic(dst, a, n)
}

// HatRxSO2F64 is HatRxSO2F32 for float64.
func HatRxSO2F64(dst, a []float64, n int) {
	checkBatch("HatRxSO2F64", "dst", len(dst), 4, n)
	checkBatch("HatRxSO2F64", "a", len(a), 2, n)
	hatRxSO2Generic(dst, a, n)
}

// VeeRxSO2F32 undoes HatRxSO2F32: dst [2, n], m [4, n].
func VeeRxSO2F32(dst, m []float32, n int) {
	checkBatch("VeeRxSO2F32", "dst", len(dst), 2, n)
	checkBatch("VeeRxSO2F32", "m", len(m), 4, n)
	veeRxSO2Generic(dst, m, n)
}

// VeeRxSO2F64 is VeeRxSO2F32 for float64.
func VeeRxSO2F64(dst, m []float64, n int) {
	checkBatch("VeeRxSO2F64", "dst", len(dst), 2, n)
	checkBatch("VeeRxSO2F64", "m", len(m), 4, n)
	veeRxSO2Generic(dst, m, n)
}

// AdjointRxSO2F32 writes the adjoint matrices of n elements: dst [4, n], e [2, n].
func AdjointRxSO2F32(dst, e []float32, n int) {
	checkBatch("AdjointRxSO2F32", "dst", len(dst), 4, n)
	checkBatch("AdjointRxSO2F32", "e", len(e), 2, n)
	adjointRxSO2Generic(dst, e, n)
}

// AdjointRxSO2F64 is AdjointRxSO2F32 for float64.
func AdjointRxSO2F64(dst, e []float64, n int) {
	checkBatch("AdjointRxSO2F64", "dst", len(dst), 4, n)
	checkBatch("AdjointRxSO2F64", "e", len(e), 2, n)
	adjointRxSO2Generic(dst, e, n)
}

// LeftJacobianRxSO2F32 writes the left Jacobians of the exponential at n coordinate vectors: dst [4, n], a [2, n].
func LeftJacobianRxSO2F32(dst, a []float32, n int) {
	checkBatch("LeftJacobianRxSO2F32", "dst", len(dst), 4, n)
	checkBatch("LeftJacobianRxSO2F32", "a", len(a), 2, n)
	leftJacobianRxSO2Generic(dst, a, n)
}

// LeftJacobianRxSO2F64 is LeftJacobianRxSO2F32 for float64.
func LeftJacobianRxSO2F64(dst, a []float64, n int) {
	checkBatch("LeftJacobianRxSO2F64", "dst", len(dst), 4, n)
	checkBatch("LeftJacobianRxSO2F64", "a", len(a), 2, n)
	leftJacobianRxSO2Generic(dst, a, n)
}

// LeftJacobianInvRxSO2F32 writes the inverses of the left Jacobians: dst [4, n], a [2, n].
func LeftJacobianInvRxSO2F32(dst, a []float32, n int) {
	checkBatch("LeftJacobianInvRxSO2F32", "dst", len(dst), 4, n)
	checkBatch("LeftJacobianInvRxSO2F32", "a", len(a), 2, n)
	leftJacobianInvRxSO2Generic(dst, a, n)
}

// LeftJacobianInvRxSO2F64 is LeftJacobianInvRxSO2F32 for float64.
func LeftJacobianInvRxSO2F64(dst, a []float64, n int) {
	checkBatch("LeftJacobianInvRxSO2F64", "dst", len(dst), 4, n)
	checkBatch("LeftJacobianInvRxSO2F64", "a", len(a), 2, n)
	leftJacobianInvRxSO2Generic(dst, a, n)
}

func expRxSO2Generic[T Float](dst, a []T, n, from, to int) {
	var x, y [2]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		expRxSO2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func logRxSO2Generic[T Float](dst, e []T, n, from, to int) {
	var x, y [2]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		logRxSO2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func composeRxSO2Generic[T Float](dst, a, b []T, n, from, to int) {
	var x, y [2]float64
	for i := from; i < to; i++ {
		load(x[:], a, n, i)
		load(y[:], b, n, i)
		ComposeRxSO2(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func mulRxSO2Generic[T Float](dst, e, f []T, n, from, to int) {
	var x, y [2]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		load(y[:], f, n, i)
		mulSO2(&x, &x, &y)
		store(dst, x[:], n, i)
	}
}

func inverseRxSO2Generic[T Float](dst, e []T, n, from, to int) {
	var x [2]float64
	for i := from; i < to; i++ {
		load(x[:], e, n, i)
		inverseRxSO2(&x, &x)
		store(dst, x[:], n, i)
	}
}

func actRxSO2Generic[T Float](dst, e, x []T, n, from, to int) {
	var g [2]float64
	var p [2]float64
	for i := from; i < to; i++ {
		load(g[:], e, n, i)
		load(p[:], x, n, i)
		actSO2(&p, &g, &p)
		store(dst, p[:], n, i)
	}
}

func hatRxSO2Generic[T Float](dst, a []T, n int) {
	var x [2]float64
	var y [4]float64
	for i := range n {
		load(x[:], a, n, i)
		HatRxSO2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func veeRxSO2Generic[T Float](dst, m []T, n int) {
	var x [4]float64
	var y [2]float64
	for i := range n {
		load(x[:], m, n, i)
		VeeRxSO2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func adjointRxSO2Generic[T Float](dst, e []T, n int) {
	var x [2]float64
	var y [4]float64
	for i := range n {
		load(x[:], e, n, i)
		adjointRxSO2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func leftJacobianRxSO2Generic[T Float](dst, a []T, n int) {
	var x [2]float64
	var y [4]float64
	for i := range n {
		load(x[:], a, n, i)
		LeftJacobianRxSO2(&y, &x)
		store(dst, y[:], n, i)
	}
}

func leftJacobianInvRxSO2Generic[T Float](dst, a []T, n int) {
	var x [2]float64
	var y [4]float64
	for i := range n {
		load(x[:], a, n, i)
		LeftJacobianInvRxSO2(&y, &x)
		store(dst, y[:], n, i)
	}
}
