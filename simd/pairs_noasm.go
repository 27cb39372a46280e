//go:build purego || !(amd64 || arm64)

package simd

func pairsEuclid[T Float](index []int32, pose []T, label []int32, bits []uint64, x, u []T, limit T) int {
	return pairsEuclidGeneric(index, pose, label, bits, x, u, limit)
}

func pairsRigid[T Float](index []int32, pose []T, label []int32, bits []uint64, x, u, m []T, turn, limit T) int {
	return pairsRigidGeneric(index, pose, label, bits, x, u, m, turn, limit)
}

func pairsPolar[T Float](index []int32, pose []T, label []int32, bits []uint64, x, u []T, floor, alpha, r T) int {
	return pairsPolarGeneric(index, pose, label, bits, x, u, floor, alpha, r)
}

func pairsLogPolar[T Float](index []int32, pose []T, label []int32, bits []uint64, x, u []T, alpha, r T) int {
	return pairsLogPolarGeneric(index, pose, label, bits, x, u, alpha, r)
}

func near16(bits []uint64, x, u, r []uint16) { near16Generic(bits, x, u, r) }
