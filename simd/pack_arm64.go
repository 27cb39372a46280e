//go:build !purego

package simd

// gemmPackedF32 multiplies some rows at a time and applies the activation while they are in the second-level cache. B is packed
// row-major, which gemmPanels reads in place or copies a panel at a time into its own order, once for many rows of A.
func gemmPackedF32(c []float32, ldc int, a []float32, lda int, b *Packed[float32], bias []float32, act Activation, m int) {
	k, n := b.K, b.N
	if level == Generic || m == 0 || n == 0 || k == 0 {
		gemmPackedGeneric(c, ldc, a, lda, b, bias, act, m)
		return
	}
	raceRead(bias)
	gemmRace(c, ldc, m, n, a, lda, m, k, b.data, n, k, n)
	for i := 0; i < m; i += gemmHeight {
		mb := min(gemmHeight, m-i)
		gemmPanels(c[i*ldc:], ldc, a[i*lda:], lda, b.data, n, 1, bias, 1, 0, mb, n, k)
		if act == ActNone {
			continue
		}
		if ldc == n { // the rows follow each other
			activate(c[i*n:(i+mb)*n], act)
			continue
		}
		for r := range mb {
			activate(c[(i+r)*ldc:][:n], act)
		}
	}
}
