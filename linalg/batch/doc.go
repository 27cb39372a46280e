// Package batch computes exponentials, logarithms, products, inverses and derivatives of many small matrices at once, by vectors: general
// 2×2, 3×3 and 4×4 matrices, and elements of the Lie groups SO(2), R>0×SO(2), SE(2), Sim(2), SO(3) and SE(3). Package linalg has the same
// for one matrix, in portable Go; what it says about conventions, formulas and accuracy holds here.
//
// # Layout
//
// A batch is a structure of arrays: entry e of matrix i stands at a[e*n+i]. A batch of n matrices with k entries is a
// slice of k·n elements, written [k, n]. n = 0 is fine.
//
// Where n is a multiple of 1024, the entries of a matrix lie a multiple of 4 KB apart and share the same few lines of the first-level
// cache. Operations with many entries then copy them, and take 1.2 to 3 times as long as in a batch of some 16 matrices more.
//
// # Every function
//
//   - Aliasing: dst may be an input with as many entries per matrix; otherwise they must not overlap.
//   - Errors: a panic that names the argument where a length is wrong. What cannot be computed is NaN, and ok[i] says so where there is an
//     ok.
//   - Results do not depend on the position in the batch or on its length. At the portable level they are the bits of linalg's function,
//     and float32 matrices are computed in float64 and rounded once. At AVX2, AVX-512 and NEON (see simd.CurrentLevel) float32 is
//     computed in float32, but for the logarithm of 3×3 matrices: other last bits, the bounds below. What is rare there (enormous angles,
//     entries near the ends of the range, matrices that may have no logarithm, NaN) goes through the portable functions, at their speed.
//     Translations of SE2 and SE3 do not, whose results may be infinite or NaN within a factor of 2⁵ of the largest number.
//     Where an entry is infinite, or a product of two entries of 2×2 matrices, ±Inf there may be NaN here, and NaN ±Inf.
//   - Nothing is allocated, and no goroutine is started.
//
// # Accuracy
//
// Relative to the norm of the result, in float64 and float32:
//
//   - exponentials and logarithms of groups: 4e-16·max(1, cond), cond the condition number of the function there, for some 5e-16 to
//     1e-15·max(1, cond), see linalg; 2.5e-7, for SE(3), the exponential of Sim(2) and the logarithm of SO(3) 3.5e-7;
//   - of general matrices: 1e-15·max(1, cond), for the worst 3×3 matrices 4e-15·max(1, cond); 2.5e-7·max(1, cond), for the worst
//     exponentials of 3×3 matrices 1e-6·max(1, cond). The derivative of the exponential: 2e-15; 5e-7, relative to the largest
//     derivative of a direction of that length;
//   - left Jacobians: 1e-15, their inverses 1e-15·cond of the Jacobian; 2.5e-7. Adjoints: 2e-15; 5e-7.
package batch
