//go:build goexperiment.simd && go1.27 && !purego

package simd

// gatherMax returns the largest index, of which negative ones are the largest.
func gatherMax(x []int32) uint32 {
	most := uint32(0)
	for _, v := range x {
		most = max(most, uint32(v))
	}
	return most
}
