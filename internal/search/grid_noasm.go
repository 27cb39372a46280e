//go:build purego || !(amd64 || arm64)

package search

func extentF32(low, high, x []float32) bool { return extentGeneric(low, high, x) }

func extentF64(low, high, x []float64) bool { return extentGeneric(low, high, x) }

func gridCellsF32(at []int32, x []float32, stride int, low, inv float32, last, width int32) {
	gridCellsGeneric(at, x, stride, low, inv, last, width)
}

func gridCellsF64(at []int32, x []float64, stride int, low, inv float64, last, width int32) {
	gridCellsGeneric(at, x, stride, low, inv, last, width)
}
