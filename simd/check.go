package simd

import "github.com/equivcnp/equivcnp/internal/dims"

// dimsOf begins the messages about sizes.
const dimsOf = dims.Of("simd")

func checkLen(fn, arg string, got, need int) { dimsOf.Len(fn, arg, got, need) }
func panicLen(fn, arg string, got, need int) { dimsOf.PanicLen(fn, arg, got, need) }
func checkSize(fn, arg string, size int)     { dimsOf.Size(fn, arg, size) }

func checkElements(fn, arg string, got int, factors ...int) {
	dimsOf.Elements(fn, arg, got, factors...)
}
func checkMatrix(fn, arg string, length, rows, cols, ld int) {
	dimsOf.Matrix(fn, arg, length, rows, cols, ld)
}
func matrixFits(length, rows, cols, ld int) bool            { return dims.MatrixFits(length, rows, cols, ld) }
func checkRows(fn, arg string, length, c int) int           { return dimsOf.Rows(fn, arg, length, c) }
func checkPlanIndex(fn, arg string, x []int32, base, n int) { dimsOf.Indices(fn, arg, x, base, n) }
func checkCSR(fn string, offsets []int, index, pose []int32) int {
	return dimsOf.CSR(fn, offsets, index, pose)
}
