//go:build purego || !(amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package search

func treeBoxes[T Float](outFrom, outTo []int32, boxes []T, ld int, from, to []int32, box []T, radius2 T, dim int) int {
	return treeBoxesGeneric(outFrom, outTo, boxes, ld, from, to, box, radius2, dim)
}

func treeFilter[T Float](out []T, ldo int, dist2 []T, outID []int32, c []T, ldc int, id, from, to []int32, box []T, radius2 T,
	dim int) int {
	return treeFilterGeneric(out, ldo, dist2, outID, c, ldc, id, from, to, box, radius2, dim)
}

func treeScan[T Float](index []int32, dist2 []T, end []int32, q []T, ldq int, c []T, ldc int, id []int32, radius2, period []T, dim int) {
	treeScanGeneric(index, dist2, end, q, ldq, c, ldc, id, radius2, period, dim)
}

func treeCount[T Float](count []int32, q []T, ldq int, c []T, ldc, nc int, radius2, period []T, dim int) {
	treeCountGeneric(count, q, ldq, c, ldc, nc, radius2, period, dim)
}

func treePartition[T Float](x []T, ldx, rows int, scratch []T, lds, n, key int, pivot T) int {
	return treePartitionGeneric(x, ldx, rows, scratch, lds, n, key, pivot)
}
