//go:build purego || !(amd64 || arm64)

package simd

// What has no kernels for WebAssembly.

func maxF32(dst, x, y []float32) { maxGeneric(dst, x, y) }
func maxF64(dst, x, y []float64) { maxGeneric(dst, x, y) }

func minF32(dst, x, y []float32) { minGeneric(dst, x, y) }
func minF64(dst, x, y []float64) { minGeneric(dst, x, y) }

func absF32(dst, x []float32) { absGeneric(dst, x) }
func absF64(dst, x []float64) { absGeneric(dst, x) }

func clipF32(dst, x []float32, lo, hi float32) { clipGeneric(dst, x, lo, hi) }
func clipF64(dst, x []float64, lo, hi float64) { clipGeneric(dst, x, lo, hi) }

func floorF32(dst, x []float32) { floorGeneric(dst, x) }
func floorF64(dst, x []float64) { floorGeneric(dst, x) }

func ceilF32(dst, x []float32) { ceilGeneric(dst, x) }
func ceilF64(dst, x []float64) { ceilGeneric(dst, x) }

func truncF32(dst, x []float32) { truncGeneric(dst, x) }
func truncF64(dst, x []float64) { truncGeneric(dst, x) }

func roundToEvenF32(dst, x []float32) { roundToEvenGeneric(dst, x) }
func roundToEvenF64(dst, x []float64) { roundToEvenGeneric(dst, x) }

func erfF32(dst, x []float32) { erfGeneric(dst, x) }
func erfF64(dst, x []float64) { erfGeneric(dst, x) }

func geluF32(dst, x []float32) { geluGeneric(dst, x) }
func geluF64(dst, x []float64) { geluGeneric(dst, x) }

func expm1F32(dst, x []float32) { expm1Generic(dst, x) }
func expm1F64(dst, x []float64) { expm1Generic(dst, x) }

func log1pF32(dst, x []float32) { log1pGeneric(dst, x) }
func log1pF64(dst, x []float64) { log1pGeneric(dst, x) }

func powF32(dst, x, y []float32) { powGeneric(dst, x, y) }
func powF64(dst, x, y []float64) { powGeneric(dst, x, y) }

func findF32(*float32, float32, int) int { return 0 }
func findF64(*float64, float64, int) int { return 0 }
