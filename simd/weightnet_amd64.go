//go:build !purego

package simd

// weightNetF32 lets the strips of each layer apply swish to their tiles directly after storing them.
func weightNetF32(dst, pose []float32, net *[3]Dense[float32], rows int, scratch []float32) {
	in, h0, h1, out := net[0].B.k, net[0].B.n, net[1].B.n, net[2].B.n
	if level == Generic || h0 == 0 || h1 == 0 || out == 0 {
		weightNetGeneric(dst, pose, net, rows, scratch)
		return
	}
	raceRead(pose)
	raceWrite(dst)
	raceWrite(scratch[:WeightNetScratch(net)])
	for i := range net {
		raceRead(net[i].B.data)
		raceRead(net[i].Bias)
	}
	if swishesApart(h0) && swishesApart(h1) && swishesApart(out) {
		weightNetApart(dst, pose, net, rows, scratch)
		return
	}
	x, y, tile := scratch, scratch[weightNetTile*h0:], weightNetRows(h0, h1, out)
	// Until their swish, the tiles of the last layer are kept where the first hidden layer was, which is no longer needed.
	last := stripSwish
	if level == AVX512 && pastCaches(dst, out, rows, streamFrom) && out%gemmWide == 0 && h1 <= gemmWideDepth &&
		weightNetTile*h0 >= gemmWideTile {
		last |= stripStream
	}
	for lo := 0; lo < rows; lo += tile {
		n := min(tile, rows-lo)
		gemmPackedBlock(x, h0, pose, lo*in, in, net[0].B, net[0].Bias, stripSwish, n)
		gemmPackedBlock(y, h1, x, 0, h0, net[1].B, net[1].Bias, stripSwish, n)
		gemmPackedColumns(&x[0], nil, dst[lo*out:], out, y, 0, h1, net[2].B, net[2].Bias, last, n, 0, out)
	}
	if last != stripSwish {
		storeFenceAVX2()
	}
}

// swishesApart reports whether the swish of that many columns is computed separately, from stored sums of many rows, with the
// same bits as in the strips: AVX2's tiles are too small to do it on the way.
func swishesApart(columns int) bool {
	return level == AVX2 && columns > 0 && columns%stripColumns[float32]() == 0
}

// weightNetApart is weightNetF32 where swishesApart is true for a layer.
func weightNetApart(dst, pose []float32, net *[3]Dense[float32], rows int, scratch []float32) {
	in, h0, h1, out := net[0].B.k, net[0].B.n, net[1].B.n, net[2].B.n
	x, y, tile := scratch, scratch[weightNetTile*h0:], weightNetRows(h0, h1, out)
	stream := pastCaches(dst, out, rows, streamFrom)
	for lo := 0; lo < rows; lo += tile {
		n := min(tile, rows-lo)
		gemmPackedBlock(x, h0, pose, lo*in, in, net[0].B, net[0].Bias, 0, n)
		swishSums(&x[0], &x[0], 1, n*h0, 0, 0, false)
		gemmPackedBlock(y, h1, x, 0, h0, net[1].B, net[1].Bias, 0, n)
		swishSums(&y[0], &y[0], 1, n*h1, 0, 0, false)
		// Until their swish, columns of the last layer are kept where the first hidden layer was, which is no longer needed.
		for j, w := 0, 0; j < out; j += w {
			w = min(h0, out-j)
			gemmPackedColumns(nil, nil, x, w, y, 0, h1, net[2].B, net[2].Bias, 0, n, j, j+w)
			swishSums(&dst[lo*out+j], &x[0], n, w, out, w, stream)
		}
	}
	if stream {
		storeFenceAVX2()
	}
}

func swishSums(dst, x *float32, rows, cols, ldd, ldx int, stream bool) {
	past := 0
	if stream {
		past = 1
	}
	swishSumsF32AVX2(dst, x, rows, cols, ldd, ldx, past)
}
