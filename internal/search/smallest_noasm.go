//go:build purego || !(amd64 || arm64)

package search

func smallestF32(outIndex []int32, outDist2 []float32, index []int32, dist2 []float32, k int) {
	smallestGeneric(outIndex, outDist2, index, dist2, k)
}
