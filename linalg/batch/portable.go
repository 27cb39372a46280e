package batch

import "github.com/equivcnp/equivcnp/linalg"

// op is an operation on one or two small matrices. The generator of the kernels knows them by these names.
type op uint8

const (
	opOne         op = iota // 1, or NaN for what is not finite: the adjoint and the Jacobians of a commutative group of one coordinate
	opIdentity2x2           // the same for two coordinates
	opCopy3x3               // the adjoint of a rotation of space, which is itself
	opExpSO2
	opLogSO2
	opComposeSO2
	opMulSO2 // also RxSO2's, and a point moved by either: a product of complex numbers
	opInverseSO2
	opExpRxSO2
	opLogRxSO2
	opComposeRxSO2
	opInverseRxSO2
	opExpSE2
	opLogSE2
	opComposeSE2
	opMulSE2 // SE2's and Sim2's
	opInverseSE2
	opActSE2 // SE2's and Sim2's
	opAdjointSE2
	opLeftJacobianSE2
	opLeftJacobianInvSE2
	opExpSim2
	opLogSim2
	opComposeSim2
	opInverseSim2
	opAdjointSim2
	opLeftJacobianSim2
	opLeftJacobianInvSim2
	opExpSO3
	opLogSO3
	opComposeSO3
	opInverseSO3
	opActSO3
	opLeftJacobianSO3
	opLeftJacobianInvSO3
	opExpSE3
	opLogSE3
	opComposeSE3
	opMulSE3
	opInverseSE3
	opActSE3
	opAdjointSE3
	opLeftJacobianSE3
	opLeftJacobianInvSE3
	opExp2x2
	opLog2x2
	opMul2x2
	opInverse2x2
	opDet2x2
	opFrobenius2x2
	opExpFrechet2x2
	opExpFrechetAdjoint2x2
	opExp3x3
	opLog3x3
	opMul3x3
	opInverse3x3
	opDet3x3
	opFrobenius3x3
	opExpFrechet3x3
	opExpFrechetAdjoint3x3
	opMul4x4
	opInverseRigid4x4
)

// portable computes an operation for one matrix in float64, or one pair, and reports false if there is no result. It
// defines what the kernels compute. A switch instead of functions in a table: what is passed to those would move to the
// heap.
func portable(o op, y *[maxOut]float64, x, z *[maxIn]float64) bool {
	switch {
	case o >= opExp2x2:
		return portableMatrix(o, y, x, z)
	case o >= opExpSO3:
		portableSpace(o, y, x, z)
	default:
		portablePlane(o, y, x, z)
	}
	return true
}

// portablePlane is portable for the groups of one coordinate and of the plane.
func portablePlane(o op, y *[maxOut]float64, x, z *[maxIn]float64) {
	// The arrays again, in the sizes that the functions want.
	y2, y3, y4, y9, y16 := (*[2]float64)(y[:]), (*[3]float64)(y[:]), (*[4]float64)(y[:]), (*[9]float64)(y[:]), (*[16]float64)(y[:])
	x2, x3, x4, x9 := (*[2]float64)(x[:]), (*[3]float64)(x[:]), (*[4]float64)(x[:]), (*[9]float64)(x[:])
	z2, z3, z4 := (*[2]float64)(z[:]), (*[3]float64)(z[:]), (*[4]float64)(z[:])
	switch o {
	case opOne:
		y[0] = 1 + x[0]*0 + x[1]*0 // x[1] is 0 where there is one coordinate, and not the two entries of an element
	case opIdentity2x2:
		*y4 = [4]float64{1 + x[0]*0, 0, 0, 1 + x[1]*0}
	case opCopy3x3:
		*y9 = *x9
	case opExpSO2:
		linalg.ExpSO2(y2, x[0])
	case opLogSO2:
		y[0] = linalg.LogSO2(x2)
	case opComposeSO2:
		y[0] = linalg.WrapAngle(x[0] + z[0])
	case opMulSO2:
		linalg.MulSO2(y2, x2, z2)
	case opInverseSO2:
		linalg.InverseSO2(y2, x2)
	case opExpRxSO2:
		linalg.ExpRxSO2(y2, x2)
	case opLogRxSO2:
		linalg.LogRxSO2(y2, x2)
	case opComposeRxSO2:
		linalg.ComposeRxSO2(y2, x2, z2)
	case opInverseRxSO2:
		linalg.InverseRxSO2(y2, x2)
	case opExpSE2:
		linalg.ExpSE2(y4, x3)
	case opLogSE2:
		linalg.LogSE2(y3, x4)
	case opComposeSE2:
		linalg.ComposeSE2(y3, x3, z3)
	case opMulSE2:
		linalg.MulSE2(y4, x4, z4)
	case opInverseSE2:
		linalg.InverseSE2(y4, x4)
	case opActSE2:
		linalg.ActSE2(y2, x4, z2)
	case opAdjointSE2:
		linalg.AdjointSE2(y9, x4)
	case opLeftJacobianSE2:
		linalg.LeftJacobianSE2(y9, x3)
	case opLeftJacobianInvSE2:
		linalg.LeftJacobianInvSE2(y9, x3)
	case opExpSim2:
		linalg.ExpSim2(y4, x4)
	case opLogSim2:
		linalg.LogSim2(y4, x4)
	case opComposeSim2:
		linalg.ComposeSim2(y4, x4, z4)
	case opInverseSim2:
		linalg.InverseSim2(y4, x4)
	case opAdjointSim2:
		linalg.AdjointSim2(y16, x4)
	case opLeftJacobianSim2:
		linalg.LeftJacobianSim2(y16, x4)
	case opLeftJacobianInvSim2:
		linalg.LeftJacobianInvSim2(y16, x4)
	}
}

// portableSpace is portable for the groups of space.
func portableSpace(o op, y *[maxOut]float64, x, z *[maxIn]float64) {
	y3, y6, y9, y12 := (*[3]float64)(y[:]), (*[6]float64)(y[:]), (*[9]float64)(y[:]), (*[12]float64)(y[:])
	x3, x6, x9, x12 := (*[3]float64)(x[:]), (*[6]float64)(x[:]), (*[9]float64)(x[:]), (*[12]float64)(x[:])
	z3, z6, z12 := (*[3]float64)(z[:]), (*[6]float64)(z[:]), (*[12]float64)(z[:])
	switch o {
	case opExpSO3:
		linalg.ExpSO3(y9, x3)
	case opLogSO3:
		linalg.LogSO3(y3, x9)
	case opComposeSO3:
		linalg.ComposeSO3(y3, x3, z3)
	case opInverseSO3:
		linalg.InverseSO3(y9, x9)
	case opActSO3:
		linalg.ActSO3(y3, x9, z3)
	case opLeftJacobianSO3:
		linalg.LeftJacobianSO3(y9, x3)
	case opLeftJacobianInvSO3:
		linalg.LeftJacobianInvSO3(y9, x3)
	case opExpSE3:
		linalg.ExpSE3(y12, x6)
	case opLogSE3:
		linalg.LogSE3(y6, x12)
	case opComposeSE3:
		linalg.ComposeSE3(y6, x6, z6)
	case opMulSE3:
		linalg.MulSE3(y12, x12, z12)
	case opInverseSE3:
		linalg.InverseSE3(y12, x12)
	case opActSE3:
		linalg.ActSE3(y3, x12, z3)
	case opAdjointSE3:
		linalg.AdjointSE3(y, x12)
	case opLeftJacobianSE3:
		linalg.LeftJacobianSE3(y, x6)
	case opLeftJacobianInvSE3:
		linalg.LeftJacobianInvSE3(y, x6)
	}
}

// portableMatrix is portable for matrices of no group in particular.
func portableMatrix(o op, y *[maxOut]float64, x, z *[maxIn]float64) bool {
	y4, y9, y16 := (*[4]float64)(y[:]), (*[9]float64)(y[:]), (*[16]float64)(y[:])
	x4, x9 := (*[4]float64)(x[:]), (*[9]float64)(x[:])
	z4, z9 := (*[4]float64)(z[:]), (*[9]float64)(z[:])
	switch o {
	case opExp2x2:
		linalg.Exp2x2(y4, x4)
	case opLog2x2:
		return linalg.Log2x2(y4, x4)
	case opMul2x2:
		linalg.Mul2x2(y4, x4, z4)
	case opInverse2x2:
		return linalg.Inverse2x2(y4, x4)
	case opDet2x2:
		y[0] = linalg.Det2x2(x4)
	case opFrobenius2x2:
		y[0] = linalg.Norm(x4[:])
	case opExpFrechetAdjoint2x2:
		x[1], x[2] = x[2], x[1]
		linalg.ExpFrechet2x2(y4, x4, z4)
	case opExpFrechet2x2:
		linalg.ExpFrechet2x2(y4, x4, z4)
	case opExp3x3:
		linalg.Exp3x3(y9, x9)
	case opLog3x3:
		return linalg.Log3x3(y9, x9)
	case opMul3x3:
		linalg.Mul3x3(y9, x9, z9)
	case opInverse3x3:
		return linalg.Inverse3x3(y9, x9)
	case opDet3x3:
		y[0] = linalg.Det3x3(x9)
	case opFrobenius3x3:
		y[0] = linalg.Norm(x9[:])
	case opExpFrechetAdjoint3x3:
		linalg.InverseSO3(x9, x9) // the transpose
		linalg.ExpFrechet3x3(y9, x9, z9)
	case opExpFrechet3x3:
		linalg.ExpFrechet3x3(y9, x9, z9)
	case opMul4x4:
		linalg.Mul4x4(y16, x, z)
	case opInverseRigid4x4:
		linalg.InverseRigid4x4(y16, x)
	}
	return true
}
