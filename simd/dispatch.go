package simd

// The dispatchers of kernels that are portable Go on every machine. The others are in files of their own, by family and
// architecture (exp_amd64.go and exp_noasm.go), with a switch on the current level. Callers have checked shapes and sizes.

func sigmoidF64(dst, x []float64)                    { sigmoidF64Generic(dst, x) }
func swishF64(dst, x []float64)                      { swishF64Generic(dst, x) }
func softplusF64(dst, x []float64)                   { softplusF64Generic(dst, x) }
func tanhF64(dst, x []float64)                       { tanhF64Generic(dst, x) }
func reluF64(dst, x []float64)                       { reluGeneric(dst, x) }
func hypotF64(dst, x, y []float64)                   { hypotF64Generic(dst, x, y) }
func addF64(dst, x, y []float64)                     { addGeneric(dst, x, y) }
func axpyF64(dst []float64, a float64, x []float64)  { axpyGeneric(dst, a, x) }
func scaleF64(dst []float64, a float64, x []float64) { scaleGeneric(dst, a, x) }

func depthwiseF64(out, f, w []float64, offsets []int, index, pose []int32, c int, mean bool) {
	depthwiseGeneric(out, f, w, offsets, index, pose, c, mean)
}

func pointConvF64(p, f, w []float64, offsets []int, index, pose []int32, ci, cm int) {
	pointConvGeneric(p, f, w, offsets, index, pose, ci, cm)
}

func setConvF64(h []float64, t, x []float64, phi []float64, d, c int, gamma, scale float64) {
	setConvGeneric(h, t, x, phi, d, c, gamma, scale)
}

func sumF64(x []float64) float64             { return sumGeneric(x) }
func dotF64(x, y []float64) float64          { return dotGeneric(x, y) }
func minMaxF64(x []float64) (lo, hi float64) { return minMaxGeneric(x) }

func weightedMomentsF64(mean, variance []float64, x []float64, weight []int32, c int) float64 {
	return weightedMomentsGeneric(mean, variance, x, weight, c)
}
