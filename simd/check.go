package simd

import (
	"fmt"
	"math"
	"math/bits"
)

// checkLen panics unless the argument has exactly the length needed. It is small enough to be inlined, and the message
// is built out of line.
func checkLen(fn, arg string, got, need int) {
	if got != need {
		panicLen(fn, arg, got, need)
	}
}

//go:noinline
func panicLen(fn, arg string, got, need int) {
	panic(fmt.Sprintf("simd: %s: len(%s) = %d, need %d", fn, arg, got, need))
}

// checkElements panics unless the argument has as many elements as the product of the factors says, none of which is
// negative. The product may be larger than an int.
func checkElements(fn, arg string, got int, factors ...int) {
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
		panicProduct(fn, arg, got, need, over)
	}
}

//go:noinline
func panicProduct(fn, arg string, got int, need uint64, over bool) {
	if over || need > math.MaxInt {
		panic(fmt.Sprintf("simd: %s: len(%s) = %d, need more than an int holds", fn, arg, got))
	}
	panicLen(fn, arg, got, int(need))
}

// checkSize panics if a size is negative.
func checkSize(fn, arg string, size int) {
	if size < 0 {
		panicSize(fn, arg, size)
	}
}

//go:noinline
func panicSize(fn, arg string, size int) {
	panic(fmt.Sprintf("simd: %s: %s = %d, need at least 0", fn, arg, size))
}

// checkMatrix panics unless a slice of the given length holds a row-major matrix [rows, cols] whose rows start ld
// elements apart. The last row need not be followed by its padding. A matrix without elements needs none.
func checkMatrix(fn, arg string, length, rows, cols, ld int) {
	if ld < cols {
		panicStride(fn, arg, ld, cols)
	}
	if !matrixFits(length, rows, cols, ld) {
		high, low := bits.Mul64(uint64(rows-1), uint64(ld))
		low, carry := bits.Add64(low, uint64(cols), 0)
		panicProduct(fn, arg, length, low, high+carry != 0)
	}
}

// matrixFits reports whether checkMatrix is satisfied, for rows, cols >= 0.
func matrixFits(length, rows, cols, ld int) bool {
	// (rows-1)·ld may overflow an int. A division would be a noticeable part of a small product's time.
	high, low := bits.Mul64(uint64(rows-1), uint64(ld))
	return ld >= cols && (rows == 0 || cols == 0 || high == 0 && length >= cols && low <= uint64(length-cols))
}

//go:noinline
func panicStride(fn, arg string, ld, cols int) {
	panic(fmt.Sprintf("simd: %s: ld%s = %d, need at least %d", fn, arg, ld, cols))
}

// checkRows panics unless a slice of the given length holds whole rows of c elements each, and returns how many.
func checkRows(fn, arg string, length, c int) int {
	if c == 0 {
		checkLen(fn, arg, length, 0)
		return 0
	}
	if length%c != 0 {
		panic(fmt.Sprintf("simd: %s: len(%s) = %d, need a multiple of %d", fn, arg, length, c))
	}
	return length / c
}

// checkCSR panics unless offsets ascend and span exactly the given pairs, and returns the number of rows.
func checkCSR(fn string, offsets []int, index, pose []int32) int {
	if len(offsets) == 0 {
		panic(fmt.Sprintf("simd: %s: len(offsets) = 0, need at least 1", fn))
	}
	for i := 1; i < len(offsets); i++ {
		if offsets[i] < offsets[i-1] {
			panic(fmt.Sprintf("simd: %s: offsets[%d] = %d, need at least offsets[%d] = %d",
				fn, i, offsets[i], i-1, offsets[i-1]))
		}
	}
	pairs := offsets[len(offsets)-1] - offsets[0]
	checkLen(fn, "index", len(index), pairs)
	checkLen(fn, "pose", len(pose), pairs)
	return len(offsets) - 1
}
