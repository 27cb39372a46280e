//go:build !purego

package simd

// weightNetF32 lets the strips of each layer apply swish to their tiles right after they are stored.
func weightNetF32(dst, pose []float32, net *[3]Dense[float32], rows int, scratch []float32) {
	in, h0, h1, out := net[0].B.K, net[0].B.N, net[1].B.N, net[2].B.N
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
	x, y, tile := scratch, scratch[weightNetTile*h0:], weightNetRows(h0, h1, out)
	// The last layer's tiles wait for their swish where the first hidden layer was, which nobody reads any more.
	last := stripSwish
	if streams(dst, out, rows) && out%gemmWide == 0 && h1 <= gemmWideDepth && weightNetTile*h0 >= gemmWideTile {
		last |= stripStream
	}
	for lo := 0; lo < rows; lo += tile {
		n := min(tile, rows-lo)
		gemmPackedBlock(x, h0, pose, lo*in, in, net[0].B, net[0].Bias, stripSwish, n)
		gemmPackedBlock(y, h1, x, 0, h0, net[1].B, net[1].Bias, stripSwish, n)
		gemmPackedBlockBy(&x[0], dst[lo*out:], out, y, 0, h1, net[2].B, net[2].Bias, last, n)
	}
	if last != stripSwish {
		storeFenceAVX512()
	}
}
