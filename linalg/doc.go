// Package linalg holds the small matrices of the Lie groups: exponential, logarithm, product, inverse and derivatives of
// general 2×2 and 3×3 matrices; the same in closed form on SO(2), R>0×SO(2), SE(2), Sim(2), SO(3) and SE(3); and what they
// are made of: angles, norms that neither overflow nor underflow, unit quaternions and rigid motions.
//
// # Conventions
//
//   - Matrices are row-major, one matrix per array: [4]float64 is 2×2, [9]float64 3×3, [16]float64 4×4. The size is part
//     of the type, so no call can fail on a shape; a slice s becomes an array pointer by (*[9]float64)(s).
//   - Destination first. It may be the same array as an input of the same size.
//   - The order of algebra coordinates is that of package group: angle first, then translation; log r before the angle.
//     For SE(3) that is GTSAM's order; Sophus and Barfoot's book put the translation first.
//   - Jacobians are left Jacobians: exp(a + da) = exp(J(a)·da)·exp(a) to first order. The right one is J(-a).
//   - Quaternions are (w, x, y, z), and w = cos(angle/2).
//   - Logarithms are principal: rotation angles lie in [-π, π], and for rotation vectors the length lies in [0, π].
//   - A NaN in the input gives a NaN in the output. No value makes a function panic.
//
// # Batches
//
// Functions whose names end in F32 or F64 take n matrices at once. They hold for all of them:
//
//   - Layout: structure of arrays. Entry e of matrix i stands at a[e*n+i]; a batch of matrices with k entries is a slice
//     of k·n elements, written [k, n]. n = 0 is fine.
//   - Elements of a group are stored without what is constant or repeated: (cos θ, sin θ) for SO(2), that times r for
//     R>0×SO(2), (cos θ, sin θ, x, y) for SE(2) and likewise Sim(2), the nine entries for SO(3), the upper three rows
//     [R | p] for SE(3). Hat and Vee have full matrices.
//   - Aliasing: dst may be an input with as many entries per matrix; otherwise they must not overlap.
//   - Errors: a panic that names the argument where a length is wrong. What cannot be computed is NaN, and ok[i] says so
//     where there is an ok.
//   - Results do not depend on position or n. At the portable level they are the bits of the function for one matrix,
//     and float32 matrices are computed in float64 and rounded once. At AVX2, AVX-512 and NEON (simd.CurrentLevel) the kernels of
//     package simd compute many at a time, float32 in float32 but for the logarithm of 3×3 matrices: other last bits, the
//     same bounds. What is rare there (enormous angles, entries near the ends of the range, matrices that may have no
//     logarithm, NaN) goes through the portable functions, at their speed; so do, at every level, Hat and Vee, which only
//     move numbers. Nothing is allocated.
//   - Sizes: where n is a multiple of 1024, the entries of a matrix lie a multiple of 4 KB apart and share the same few lines of
//     the first-level cache. Results of 6×6 then take two to ten times as long as in a batch of some 16 matrices more.
//
// # Accuracy
//
// No formula here subtracts nearly equal numbers, squares a number that may overflow, or divides by a quantity that
// vanishes at an angle inside [-π, π]; where a textbook formula does, the comment names it. The tests compare with
// arithmetic of 300 bits, relative to the norm of the result, linear part and translation each for itself:
//
//   - closed forms: at most 4e-16·max(1, cond), at every angle up to π and for translations of every size; LogSO3 at most
//     5e-16 over (0, π]; float32 2.5e-7;
//   - general Exp and Log: at most 1e-15·max(1, cond), cond the condition number of the function there; float32 2.5e-7. The
//     derivative of Exp: twice that, relative to the largest derivative of a direction of that length;
//   - left Jacobians: at most 1e-15, their inverses 1e-15·cond of the Jacobian, float32 2.5e-7; adjoints 2e-15, float32 5e-7.
package linalg
