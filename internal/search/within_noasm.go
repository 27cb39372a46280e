//go:build purego || !(amd64 || arm64)

package search

func withinEuclid(index, label []int32, bits []uint64, x, u []float64, limit float64) int {
	return withinEuclidGeneric(index, label, bits, x, u, limit)
}

func withinRigid(index, label []int32, bits []uint64, x, u, m []float64, limit float64) int {
	return withinRigidGeneric(index, label, bits, x, u, m, limit)
}

func withinPolar(index, label []int32, bits []uint64, x, u []float64, floor, alpha, r float64) int {
	return withinPolarGeneric(index, label, bits, x, u, floor, alpha, r)
}

func withinLogPolar(index, label []int32, bits []uint64, x, u []float64, alpha, r float64) int {
	return withinLogPolarGeneric(index, label, bits, x, u, alpha, r)
}
