package simd

// The dispatchers: each calls the implementation for the current level. There is portable Go only, so each calls the
// generic twin; an architecture that brings its own replaces a dispatcher in a file of its own, with a switch on level.
// Callers have checked shapes and sizes.

func expF32(dst, x []float32) { expF32Generic(dst, x) }
func expF64(dst, x []float64) { expF64Generic(dst, x) }

func logF32(dst, x []float32) { logF32Generic(dst, x) }
func logF64(dst, x []float64) { logF64Generic(dst, x) }

func sigmoidF32(dst, x []float32) { sigmoidF32Generic(dst, x) }
func sigmoidF64(dst, x []float64) { sigmoidF64Generic(dst, x) }

func swishF32(dst, x []float32) { swishF32Generic(dst, x) }
func swishF64(dst, x []float64) { swishF64Generic(dst, x) }

func softplusF32(dst, x []float32) { softplusF32Generic(dst, x) }
func softplusF64(dst, x []float64) { softplusF64Generic(dst, x) }

func tanhF32(dst, x []float32) { tanhF32Generic(dst, x) }
func tanhF64(dst, x []float64) { tanhF64Generic(dst, x) }

func reluF32(dst, x []float32) { reluGeneric(dst, x) }
func reluF64(dst, x []float64) { reluGeneric(dst, x) }

func sinCosF32(s, c, x []float32) { sinCosF32Generic(s, c, x) }
func sinCosF64(s, c, x []float64) { sinCosF64Generic(s, c, x) }

func atan2F32(dst, y, x []float32) { atan2F32Generic(dst, y, x) }
func atan2F64(dst, y, x []float64) { atan2F64Generic(dst, y, x) }

func hypotF32(dst, x, y []float32) { hypotF32Generic(dst, x, y) }
func hypotF64(dst, x, y []float64) { hypotF64Generic(dst, x, y) }

func addF32(dst, x, y []float32) { addGeneric(dst, x, y) }
func addF64(dst, x, y []float64) { addGeneric(dst, x, y) }

func axpyF32(dst []float32, a float32, x []float32) { axpyGeneric(dst, a, x) }
func axpyF64(dst []float64, a float64, x []float64) { axpyGeneric(dst, a, x) }

func scaleF32(dst []float32, a float32, x []float32) { scaleGeneric(dst, a, x) }
func scaleF64(dst []float64, a float64, x []float64) { scaleGeneric(dst, a, x) }

func gemmF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	gemmGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmF64(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, alpha, beta float64, m, n, k int) {
	gemmGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmTNF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	gemmTNGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmTNF64(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, alpha, beta float64, m, n, k int) {
	gemmTNGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmNTF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	gemmNTGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmNTF64(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, alpha, beta float64, m, n, k int) {
	gemmNTGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmPackedF32(c []float32, ldc int, a []float32, lda int, b *Packed[float32], bias []float32, act Activation, m int) {
	gemmPackedGeneric(c, ldc, a, lda, b, bias, act, m)
}

func gemmPackedF64(c []float64, ldc int, a []float64, lda int, b *Packed[float64], bias []float64, act Activation, m int) {
	gemmPackedGeneric(c, ldc, a, lda, b, bias, act, m)
}

func depthwiseF32(out, f, w []float32, offsets []int, index, pose []int32, c int, mean bool) {
	depthwiseGeneric(out, f, w, offsets, index, pose, c, mean)
}

func depthwiseF64(out, f, w []float64, offsets []int, index, pose []int32, c int, mean bool) {
	depthwiseGeneric(out, f, w, offsets, index, pose, c, mean)
}

func pointConvF32(p, f, w []float32, offsets []int, index, pose []int32, ci, cm int) {
	pointConvGeneric(p, f, w, offsets, index, pose, ci, cm)
}

func pointConvF64(p, f, w []float64, offsets []int, index, pose []int32, ci, cm int) {
	pointConvGeneric(p, f, w, offsets, index, pose, ci, cm)
}

func setConvF32(h []float32, t, x []float64, phi []float32, d, c int, gamma, scale float64) {
	setConvGeneric(h, t, x, phi, d, c, gamma, scale)
}

func setConvF64(h []float64, t, x []float64, phi []float64, d, c int, gamma, scale float64) {
	setConvGeneric(h, t, x, phi, d, c, gamma, scale)
}

func sumF32(x []float32) float64 { return sumGeneric(x) }
func sumF64(x []float64) float64 { return sumGeneric(x) }

func dotF32(x, y []float32) float64 { return dotGeneric(x, y) }
func dotF64(x, y []float64) float64 { return dotGeneric(x, y) }

func minMaxF32(x []float32) (lo, hi float32) { return minMaxGeneric(x) }
func minMaxF64(x []float64) (lo, hi float64) { return minMaxGeneric(x) }

func weightedMomentsF32(mean, variance []float64, x []float32, weight []int32, c int) float64 {
	return weightedMomentsGeneric(mean, variance, x, weight, c)
}

func weightedMomentsF64(mean, variance []float64, x []float64, weight []int32, c int) float64 {
	return weightedMomentsGeneric(mean, variance, x, weight, c)
}
