package batch

import "fmt"

// Group is a Lie group whose elements and coordinates come in batches:
//
//	group    coordinates               element
//	SO2      θ                    [1]  cos θ, sin θ                    [2]
//	RxSO2    log r, θ             [2]  r cos θ, r sin θ                [2]
//	SE2      θ, t                 [3]  cos θ, sin θ, x, y              [4]
//	Sim2     log r, θ, t          [4]  r cos θ, r sin θ, x, y          [4]
//	SO3      rotation vector      [3]  the matrix                      [9]
//	SE3      rotation vector, t   [6]  [R | p], three rows             [12]
//
// What is constant or repeated in the matrix of an element is not stored.
type Group uint8

const (
	SO2 Group = iota
	RxSO2
	SE2
	Sim2
	SO3
	SE3
)

// String returns the name of g, "SE3" for example.
func (g Group) String() string {
	if int(g) >= len(groups) {
		return fmt.Sprintf("Group(%d)", uint8(g))
	}
	return groups[g].name
}

// groups is all that the functions below know of a group: how many coordinates, entries of an element and coordinates
// of a point it has, and the operations, in the order of action.
var groups = [...]struct {
	name                   string
	coords, entries, point int
	ops                    [actions]op
}{
	SO2: {"SO2", 1, 2, 2, [actions]op{opExpSO2, opLogSO2, opComposeSO2, opMulSO2, opInverseSO2, opMulSO2, opOne, opOne, opOne}},
	RxSO2: {"RxSO2", 2, 2, 2, [actions]op{opExpRxSO2, opLogRxSO2, opComposeRxSO2, opMulSO2, opInverseRxSO2, opMulSO2,
		opIdentity2x2, opIdentity2x2, opIdentity2x2}},
	SE2: {"SE2", 3, 4, 2, [actions]op{opExpSE2, opLogSE2, opComposeSE2, opMulSE2, opInverseSE2, opActSE2,
		opAdjointSE2, opLeftJacobianSE2, opLeftJacobianInvSE2}},
	Sim2: {"Sim2", 4, 4, 2, [actions]op{opExpSim2, opLogSim2, opComposeSim2, opMulSE2, opInverseSim2, opActSE2,
		opAdjointSim2, opLeftJacobianSim2, opLeftJacobianInvSim2}},
	SO3: {"SO3", 3, 9, 3, [actions]op{opExpSO3, opLogSO3, opComposeSO3, opMul3x3, opInverseSO3, opActSO3,
		opCopy3x3, opLeftJacobianSO3, opLeftJacobianInvSO3}},
	SE3: {"SE3", 6, 12, 3, [actions]op{opExpSE3, opLogSE3, opComposeSE3, opMulSE3, opInverseSE3, opActSE3,
		opAdjointSE3, opLeftJacobianSE3, opLeftJacobianInvSE3}},
}

// action is what can be done with elements of every group.
type action uint8

const (
	actExp action = iota
	actLog
	actCompose
	actMul
	actInverse
	actAct
	actAdjoint
	actLeftJacobian
	actLeftJacobianInv
	actions
)

// Exp writes the elements exp(a) of n coordinate vectors a: dst [element, n], a [coordinates, n].
func Exp[T Float](g Group, dst, a []T, n int) { act(g, actExp, "Exp", dst, a, nil, n) }

// Log writes the coordinates of n elements e: dst [coordinates, n], e [element, n]. Rotation angles lie in [-π, π]; for SO3 and SE3 the
// rotation vector has at most length π, and at π itself, where it and its negative are both right, either may come out.
func Log[T Float](g Group, dst, e []T, n int) { act(g, actLog, "Log", dst, e, nil, n) }

// Compose writes the coordinates log(exp(a)·exp(b)) of n pairs of coordinate vectors.
func Compose[T Float](g Group, dst, a, b []T, n int) { act(g, actCompose, "Compose", dst, a, b, n) }

// Mul writes the products e·f of n pairs of elements: f, then e.
func Mul[T Float](g Group, dst, e, f []T, n int) { act(g, actMul, "Mul", dst, e, f, n) }

// Inverse writes the inverses of n elements. In coordinates the inverse of a is -a.
func Inverse[T Float](g Group, dst, e []T, n int) { act(g, actInverse, "Inverse", dst, e, nil, n) }

// Act writes n points x moved by as many elements e: dst and x [2, n], [3, n] for SO3 and SE3.
func Act[T Float](g Group, dst, e, x []T, n int) { act(g, actAct, "Act", dst, e, x, n) }

// Adjoint writes the matrices of a -> log(e·exp(a)·e⁻¹) of n elements e: dst [coordinates², n]. They take velocities and covariances of
// poses from one frame to another.
func Adjoint[T Float](g Group, dst, e []T, n int) { act(g, actAdjoint, "Adjoint", dst, e, nil, n) }

// LeftJacobian writes the left Jacobians J of the exponential at n coordinate vectors: exp(a + da) = exp(J·da)·exp(a) to first order, which
// is what a gradient through Exp needs. dst is [coordinates², n].
func LeftJacobian[T Float](g Group, dst, a []T, n int) {
	act(g, actLeftJacobian, "LeftJacobian", dst, a, nil, n)
}

// LeftJacobianInv writes the inverses of the left Jacobians, which is what a gradient through Log needs.
func LeftJacobianInv[T Float](g Group, dst, a []T, n int) {
	act(g, actLeftJacobianInv, "LeftJacobianInv", dst, a, nil, n)
}

// act checks the lengths and runs the group's operation.
func act[T Float](g Group, what action, name string, dst, a, b []T, n int) {
	if int(g) >= len(groups) {
		panic(fmt.Sprintf("batch: %s: g = %d, need a group from SO2 to SE3", name, uint8(g)))
	}
	t := &groups[g]
	out, in, second := t.coords, t.coords, 0
	argA, argB := "a", "b"
	switch what {
	case actExp:
		out = t.entries
	case actLog:
		in, argA = t.entries, "e"
	case actCompose:
		second = t.coords
	case actMul:
		out, in, second = t.entries, t.entries, t.entries
		argA, argB = "e", "f"
	case actInverse:
		out, in, argA = t.entries, t.entries, "e"
	case actAct:
		out, in, second = t.point, t.entries, t.point
		argA, argB = "e", "x"
	case actAdjoint:
		out, in, argA = t.coords*t.coords, t.entries, "e"
	case actLeftJacobian, actLeftJacobianInv:
		out = t.coords * t.coords
	}
	check(name, t.name, "dst", len(dst), out, n)
	check(name, t.name, argA, len(a), in, n)
	check(name, t.name, argB, len(b), second, n)
	run(t.ops[what], shape{out, in, second}, dst, nil, a, b, n)
}
