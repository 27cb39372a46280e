//go:build purego || !(amd64 || arm64)

package search

func treeBoxesF32(outFrom, outTo []int32, boxes []float32, ld int, from, to []int32, box []float32, radius2 float32, dim int) int {
	return treeBoxesGeneric(outFrom, outTo, boxes, ld, from, to, box, radius2, dim)
}

func treeFilterF32(out []float32, ldo int, dist2 []float32, outID []int32, c []float32, ldc int, id, from, to []int32, box []float32, radius2 float32, dim int) int {
	return treeFilterGeneric(out, ldo, dist2, outID, c, ldc, id, from, to, box, radius2, dim)
}

func treeScanF32(index []int32, dist2 []float32, end []int32, q []float32, ldq int, c []float32, ldc int, id []int32, radius2, period []float32, dim int) {
	treeScanGeneric(index, dist2, end, q, ldq, c, ldc, id, radius2, period, dim)
}

func treeCountF32(count []int32, q []float32, ldq int, c []float32, ldc, nc int, radius2, period []float32, dim int) {
	treeCountGeneric(count, q, ldq, c, ldc, nc, radius2, period, dim)
}

func treePartitionF32(x []float32, ldx, rows int, scratch []float32, lds, n, key int, pivot float32) int {
	return treePartitionGeneric(x, ldx, rows, scratch, lds, n, key, pivot)
}

func treeBoxesF64(outFrom, outTo []int32, boxes []float64, ld int, from, to []int32, box []float64, radius2 float64, dim int) int {
	return treeBoxesGeneric(outFrom, outTo, boxes, ld, from, to, box, radius2, dim)
}

func treeFilterF64(out []float64, ldo int, dist2 []float64, outID []int32, c []float64, ldc int, id, from, to []int32, box []float64, radius2 float64, dim int) int {
	return treeFilterGeneric(out, ldo, dist2, outID, c, ldc, id, from, to, box, radius2, dim)
}

func treeScanF64(index []int32, dist2 []float64, end []int32, q []float64, ldq int, c []float64, ldc int, id []int32, radius2, period []float64, dim int) {
	treeScanGeneric(index, dist2, end, q, ldq, c, ldc, id, radius2, period, dim)
}

func treeCountF64(count []int32, q []float64, ldq int, c []float64, ldc, nc int, radius2, period []float64, dim int) {
	treeCountGeneric(count, q, ldq, c, ldc, nc, radius2, period, dim)
}

func treePartitionF64(x []float64, ldx, rows int, scratch []float64, lds, n, key int, pivot float64) int {
	return treePartitionGeneric(x, ldx, rows, scratch, lds, n, key, pivot)
}
