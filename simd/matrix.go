package simd

import "math/bits"

// MatrixOp names a kernel for batches of small matrices. Each computes what the function of that name in package linalg
// documents, which is its portable twin; OpMulPlane and OpActPlane are those of both SE(2) and Sim(2), OpMulSO2 also acts on
// points and multiplies elements of R>0×SO(2).
type MatrixOp uint8

const (
	OpExpSO2 MatrixOp = iota
	OpLogSO2
	OpMulSO2
	OpExpRxSO2
	OpLogRxSO2
	OpInverseRxSO2
	OpExpSE2
	OpLogSE2
	OpComposeSE2
	OpMulPlane
	OpInverseSE2
	OpActPlane
	OpExpSim2
	OpLogSim2
	OpInverseSim2
	OpExpSO3
	OpLogSO3
	OpComposeSO3
	OpActSO3
	OpExpSE3
	OpLogSE3
	OpComposeSE3
	OpMulSE3
	OpInverseSE3
	OpActSE3
	OpExp2x2
	OpLog2x2
	OpMul2x2
	OpInverse2x2
	OpDet2x2
	OpFrobenius2x2
	OpExp3x3
	OpLog3x3
	OpMul3x3
	OpInverse3x3
	OpDet3x3
	OpFrobenius3x3
	OpMul4x4
	OpInverseRigid4x4
	OpComposeSO2
	OpComposeRxSO2
	OpComposeSim2
	OpInverseSO2
	OpInverseSO3
	OpLeftJacobianSO3
	OpLeftJacobianInvSO3
	OpLeftJacobianSE2
	OpLeftJacobianInvSE2
	OpAdjointSE2
	OpLeftJacobianSim2
	OpLeftJacobianInvSim2
	OpAdjointSim2
	OpLeftJacobianSE3
	OpLeftJacobianInvSE3
	OpAdjointSE3
	OpExpFrechet2x2
	OpExpFrechetAdjoint2x2
	OpExpFrechet3x3
	OpExpFrechetAdjoint3x3
)

// Matrices is a run over a batch of N small matrices in structure-of-arrays form: entry e of matrix i stands at a[e·N+i]. The
// kernel computes all matrices but those that are rare and take another way: rotations by enormous angles, entries next to
// the ends of the range, matrices that may have no logarithm, NaN. These it leaves to its caller, in stretches:
//
//	for r := (simd.Matrices{Op: simd.OpExpSO3, N: n}); r.NextF32(dst, a, nil); {
//		// compute matrices r.From .. r.To-1
//	}
//
// Where the current level has no kernel, that is the whole batch. Which matrices are left depends on nothing but their own
// entries and the level. Inputs of matrices that are left are unchanged, even where dst is a or b.
type Matrices struct {
	Op       MatrixOp
	N        int
	From, To int // the matrices to compute, after Next has returned true

	next int
	at   int // the matrix of bit 0 of hard
	hard uint64
}

// matrixPiece is how many matrices a kernel gets at a time, as it cannot be preempted.
const matrixPiece = 1 << 13

// NextF32 continues until matrices are left to the caller, and is false at the end. All calls of a run get the same slices,
// each of some multiple of N elements; b is nil for operations of one matrix.
func (r *Matrices) NextF32(dst, a, b []float32) bool {
	for r.hard == 0 && r.next < r.N {
		at, next, hard := matrixF32(r.Op, dst, a, b, r.next, r.N)
		if !r.advance(at, next, hard) {
			return true
		}
	}
	return r.left()
}

// NextF64 is NextF32 for float64.
func (r *Matrices) NextF64(dst, a, b []float64) bool {
	for r.hard == 0 && r.next < r.N {
		at, next, hard := matrixF64(r.Op, dst, a, b, r.next, r.N)
		if !r.advance(at, next, hard) {
			return true
		}
	}
	return r.left()
}

// advance notes what a kernel did; false if there is none and everything is the caller's.
func (r *Matrices) advance(at, next int, hard uint64) bool {
	if next < 0 {
		r.From, r.To, r.next = r.next, r.N, r.N
		return false
	}
	r.at, r.hard = r.next+at, hard
	r.next += next
	return true
}

// left takes the next stretch of matrices from hard.
func (r *Matrices) left() bool {
	if r.hard == 0 {
		return false
	}
	k := bits.TrailingZeros64(r.hard)
	m := bits.TrailingZeros64(^(r.hard >> k))
	r.From, r.To = r.at+k, r.at+k+m
	r.hard &^= (1<<m - 1) << k
	return true
}
