// Package linalg holds the small matrices of the Lie groups: exponential and logarithm in closed form on SO(2),
// R>0×SO(2), SE(2), SO(3) and SE(3), and what they are made of: angles, norms that neither overflow nor underflow, unit
// quaternions and rigid motions.
//
// # Conventions
//
//   - Matrices are row-major, one matrix per array: [4]float64 is 2×2, [9]float64 3×3, [16]float64 4×4. The size is part
//     of the type, so no call can fail on a shape; a slice s becomes an array pointer by (*[9]float64)(s).
//   - Destination first. It may be the same array as an input of the same size.
//   - The order of algebra coordinates is that of package group: angle first, then translation; log r before the angle.
//   - Quaternions are (w, x, y, z), and w = cos(angle/2).
//   - Logarithms are principal: rotation angles lie in [-π, π], and for rotation vectors the length lies in [0, π].
//   - A NaN in the input gives a NaN in the output. No value makes a function panic.
//
// # Accuracy
//
// No formula here subtracts nearly equal numbers, squares a number that may overflow, or divides by a quantity that
// vanishes at an angle inside [-π, π]; where a textbook formula does, the comment names it. Results are within a few
// units in the last place of the largest entry, and the tests hold them to a matrix exponential of 400 bits.
package linalg
