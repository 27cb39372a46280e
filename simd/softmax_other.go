//go:build purego || !amd64

package simd

func softmax[T Float](dst, x []T, c int) { softmaxGeneric(dst, x, c) }
func logSumExp[T Float](x []T) float64   { return logSumExpGeneric(x) }
func argMaxF32(x []float32) int          { return argMax(x) }
func argMaxF64(x []float64) int          { return argMax(x) }

// argMax finds the largest element, and then its place.
func argMax[T Float](x []T) int {
	const few, piece = 16, 1 << 16 // as many as assembly takes at a time, which cannot be preempted
	if level == Generic || len(x) < few {
		return argMaxGeneric(x)
	}
	_, most := MinMax(x)
	if most != most {
		return argMaxGeneric(x)
	}
	at := 0
	for len(x)-at > piece {
		k := find(x[at:at+piece], most)
		if at += k; k < piece {
			break
		}
	}
	return place(x, most, at+find(x[at:], most))
}
