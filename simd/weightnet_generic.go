package simd

func weightNetGeneric[T Float](dst, pose []T, net *[3]Dense[T], rows int, scratch []T) {
	in, h0, h1, out := net[0].B.k, net[0].B.n, net[1].B.n, net[2].B.n
	for lo := 0; lo < rows; lo += weightNetTile {
		n := min(weightNetTile, rows-lo)
		x, y := scratch[:n*h0], scratch[weightNetTile*h0:][:n*h1]
		GemmPacked(x, h0, pose[lo*in:][:n*in], in, net[0].B, net[0].Bias, ActSwish, n)
		GemmPacked(y, h1, x, h0, net[1].B, net[1].Bias, ActSwish, n)
		GemmPacked(dst[lo*out:][:n*out], out, y, h1, net[2].B, net[2].Bias, ActSwish, n)
	}
}
