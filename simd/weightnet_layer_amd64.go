//go:build !purego

package simd

func denseSwishF32(dst, x []float32, layer *Dense[float32], rows int) {
	in, out := layer.B.k, layer.B.n
	if level == Generic || out == 0 {
		denseSwishGeneric(dst, x, layer, rows)
		return
	}
	raceRead(x)
	raceWrite(dst)
	raceRead(layer.B.data)
	raceRead(layer.Bias)
	tile := cachedRows(in*min(out, stripF32), in+out)
	for lo := 0; lo < rows; lo += tile {
		n := min(tile, rows-lo)
		if swishesApart(out) {
			gemmPackedBlock(dst[lo*out:], out, x, lo*in, in, layer.B, layer.Bias, 0, n)
			swishSums(&dst[lo*out], &dst[lo*out], 1, n*out, 0, 0, false)
			continue
		}
		gemmPackedBlock(dst[lo*out:], out, x, lo*in, in, layer.B, layer.Bias, stripSwish, n)
	}
}
