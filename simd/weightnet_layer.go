package simd

// DenseSwishF32 applies one layer to every row of x and computes the same numbers as the layer gives within WeightNetF32. Use it
// where the layers are needed separately, for example because the columns of the last one go to different places (a Dense for
// each range of columns). If the rows stay in the first-level cache between the calls, it is as fast as WeightNetF32.
//
//   - Shape: x is [rows, layer.B.K()], dst [rows, layer.B.N()].
//   - Aliasing: dst must not overlap x or the layer.
//   - Errors: panics on a negative size and wrong lengths. NaN reaches its row only.
//   - Accuracy: as WeightNetF32.
func DenseSwishF32(dst, x []float32, layer *Dense[float32], rows int) {
	checkDenseSwish("DenseSwishF32", len(dst), len(x), rows, layer)
	if len(dst) > 0 {
		denseSwishF32(dst, x, layer, rows)
	}
}

// DenseSwishF64 is DenseSwishF32 for float64, with SwishF64.
func DenseSwishF64(dst, x []float64, layer *Dense[float64], rows int) {
	checkDenseSwish("DenseSwishF64", len(dst), len(x), rows, layer)
	denseSwishGeneric(dst, x, layer, rows)
}

// DenseSwish applies one layer; see DenseSwishF32.
func DenseSwish[T Float](dst, x []T, layer *Dense[T], rows int) {
	switch dst := any(dst).(type) {
	case []float32:
		DenseSwishF32(dst, any(x).([]float32), any(layer).(*Dense[float32]), rows)
	case []float64:
		DenseSwishF64(dst, any(x).([]float64), any(layer).(*Dense[float64]), rows)
	default:
		unreachable("DenseSwish")
	}
}

func checkDenseSwish[T Float](fn string, lenDst, lenX, rows int, layer *Dense[T]) {
	checkSize(fn, "rows", rows)
	checkPacked(fn, layer.B)
	if layer.Bias != nil {
		checkLen(fn, "layer.Bias", len(layer.Bias), layer.B.n)
	}
	checkElements(fn, "x", lenX, rows, layer.B.k)
	checkElements(fn, "dst", lenDst, rows, layer.B.n)
}

func denseSwishGeneric[T Float](dst, x []T, layer *Dense[T], rows int) {
	GemmPacked(dst, layer.B.n, x, layer.B.k, layer.B, layer.Bias, ActSwish, rows)
}
