// Package dims checks the sizes of the arguments of kernels, which panic where they do not match. Messages begin with
// the package and the function that was called, and name the argument.
package dims

import (
	"fmt"
	"math"
	"math/bits"
)

// Of is the name of the package whose functions are called.
type Of string

// Len panics unless the argument has exactly the length needed. It is small enough to be inlined, and the message
// is built out of line.
func (p Of) Len(fn, arg string, got, need int) {
	if got != need {
		p.PanicLen(fn, arg, got, need)
	}
}

// PanicLen panics with the message that the argument has another length than it needs.
//
//go:noinline
func (p Of) PanicLen(fn, arg string, got, need int) {
	panic(fmt.Sprintf("%s: %s: len(%s) = %d, need %d", p, fn, arg, got, need))
}

// Elements panics unless the argument has as many elements as the product of the factors says, none of which is
// negative. The product may be larger than an int.
func (p Of) Elements(fn, arg string, got int, factors ...int) {
	need, over := uint64(1), false
	for _, f := range factors {
		if f == 0 {
			need, over = 0, false
			break
		}
		high, low := bits.Mul64(need, uint64(f))
		over = over || high != 0
		need = low
	}
	if over || need != uint64(got) {
		p.panicProduct(fn, arg, got, need, over)
	}
}

//go:noinline
func (p Of) panicProduct(fn, arg string, got int, need uint64, over bool) {
	if over || need > math.MaxInt {
		panic(fmt.Sprintf("%s: %s: len(%s) = %d, need more than an int holds", p, fn, arg, got))
	}
	p.PanicLen(fn, arg, got, int(need))
}

// Size panics if a size is negative.
func (p Of) Size(fn, arg string, size int) {
	if size < 0 {
		p.panicSize(fn, arg, size)
	}
}

//go:noinline
func (p Of) panicSize(fn, arg string, size int) {
	panic(fmt.Sprintf("%s: %s: %s = %d, need at least 0", p, fn, arg, size))
}

// Matrix panics unless a slice of the given length holds a row-major matrix [rows, cols] whose rows start ld
// elements apart. The last row need not be followed by its padding. A matrix without elements needs none.
func (p Of) Matrix(fn, arg string, length, rows, cols, ld int) {
	if ld < cols {
		p.panicStride(fn, arg, ld, cols)
	}
	if !MatrixFits(length, rows, cols, ld) {
		high, low := bits.Mul64(uint64(rows-1), uint64(ld))
		low, carry := bits.Add64(low, uint64(cols), 0)
		p.panicProduct(fn, arg, length, low, high+carry != 0)
	}
}

// MatrixFits reports whether Matrix is satisfied, for rows, cols >= 0.
func MatrixFits(length, rows, cols, ld int) bool {
	// (rows-1)·ld may overflow an int. A division would be a noticeable part of a small product's time.
	high, low := bits.Mul64(uint64(rows-1), uint64(ld))
	return ld >= cols && (rows == 0 || cols == 0 || high == 0 && length >= cols && low <= uint64(length-cols))
}

//go:noinline
func (p Of) panicStride(fn, arg string, ld, cols int) {
	panic(fmt.Sprintf("%s: %s: ld%s = %d, need at least %d", p, fn, arg, ld, cols))
}

// Rows panics unless a slice of the given length holds whole rows of c elements each, and returns how many.
func (p Of) Rows(fn, arg string, length, c int) int {
	if c == 0 {
		p.Len(fn, arg, length, 0)
		return 0
	}
	if length%c != 0 {
		panic(fmt.Sprintf("%s: %s: len(%s) = %d, need a multiple of %d", p, fn, arg, length, c))
	}
	return length / c
}

// CSR panics unless offsets ascend and span exactly the given pairs, and returns the number of rows.
func (p Of) CSR(fn string, offsets []int, index, pose []int32) int {
	if len(offsets) == 0 {
		panic(fmt.Sprintf("%s: %s: len(offsets) = 0, need at least 1", p, fn))
	}
	for i := 1; i < len(offsets); i++ {
		if offsets[i] < offsets[i-1] {
			panic(fmt.Sprintf("%s: %s: offsets[%d] = %d, need at least offsets[%d] = %d",
				p, fn, i, offsets[i], i-1, offsets[i-1]))
		}
	}
	pairs := offsets[len(offsets)-1] - offsets[0]
	p.Len(fn, "index", len(index), pairs)
	p.Len(fn, "pose", len(pose), pairs)
	return len(offsets) - 1
}

// Indices panics unless all of x are from 0 to n-1. x starts at position base of its argument.
func (p Of) Indices(fn, arg string, x []int32, base, n int) {
	for k, v := range x {
		if v < 0 || int(v) >= n {
			panic(fmt.Sprintf("%s: %s: %s[%d] = %d, need 0 to %d", p, fn, arg, base+k, v, n-1))
		}
	}
}
