// Package linalg holds the small matrices of the Lie groups, one at a time in float64: exponential, logarithm, product, inverse and
// derivatives of general 2×2 and 3×3 matrices; the same in closed form on SO(2), R>0×SO(2), SE(2), Sim(2), SO(3) and SE(3); and what they
// are made of: angles, norms that neither overflow nor underflow, unit quaternions and rigid motions. Package linalg/batch computes many
// at once, in float32 and float64.
//
// # Conventions
//
//   - Matrices are row-major, one matrix per array: [4]float64 is 2×2, [9]float64 3×3, [16]float64 4×4. The size is part
//     of the type, so no call can fail on a shape; a slice s becomes an array pointer by (*[9]float64)(s).
//   - Elements of a group are stored without what is constant or repeated: (cos θ, sin θ) for SO(2), that times r for
//     R>0×SO(2), (cos θ, sin θ, x, y) for SE(2) and likewise Sim(2), the nine entries for SO(3), the upper three rows
//     [R | p] for SE(3). MatrixSE2 and MatrixSE3 write the homogeneous matrix. Functions that serve both SE(2) and Sim(2) have SE2 in
//     their names, those that serve both SO(2) and R>0×SO(2) have SO2; rotations of space multiply as any 3×3 matrices.
//   - Destination first. It may be the same array as an input of the same size.
//   - The order of algebra coordinates is that of package group: angle first, then translation; log r before the angle.
//     For SE(3) that is GTSAM's order; Sophus and Barfoot's book put the translation first.
//   - Jacobians are left Jacobians: exp(a + da) = exp(J(a)·da)·exp(a) to first order. The right one is J(-a).
//   - Quaternions are (w, x, y, z), and w = cos(angle/2).
//   - Logarithms are principal: rotation angles lie in [-π, π], and for rotation vectors the length lies in [0, π].
//   - A NaN in the input gives a NaN in the output. No value makes a function panic.
//
// # Accuracy
//
// No formula here subtracts nearly equal numbers, squares a number that may overflow, or divides by a quantity that
// vanishes at an angle inside [-π, π]; where a textbook formula does, the comment names it. The tests compare with
// arithmetic of 106 bits, and that with 300, relative to the norm of the result, linear part and translation separately:
//
//   - closed forms: at most 4e-16·max(1, cond), at every angle up to π and for translations of every size; for SE(2), ExpSE3
//     and LogSim2 at most 5e-16, for ExpSim2 and LogSO3 6e-16, for LogSE3, next to the angle π, 1e-15;
//   - general Exp and Log: at most 1e-15·max(1, cond), cond the condition number of the function there, but of 3×3 matrices
//     4e-15·max(1, cond) for the worst of many. The derivative of Exp: 2e-15, relative to the largest derivative of a direction of
//     that length;
//   - left Jacobians: at most 1e-15, their inverses 1e-15·cond of the Jacobian; adjoints 2e-15.
package linalg
