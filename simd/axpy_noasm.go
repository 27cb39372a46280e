//go:build purego || !(amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package simd

func addF32(dst, x, y []float32)                     { addGeneric(dst, x, y) }
func axpyF32(dst []float32, a float32, x []float32)  { axpyGeneric(dst, a, x) }
func scaleF32(dst []float32, a float32, x []float32) { scaleGeneric(dst, a, x) }

func scaleRowsF32(x, by []float32, c int) { scaleRowsGeneric(x, by, c) }

func addF64(dst, x, y []float64)                     { addGeneric(dst, x, y) }
func axpyF64(dst []float64, a float64, x []float64)  { axpyGeneric(dst, a, x) }
func scaleF64(dst []float64, a float64, x []float64) { scaleGeneric(dst, a, x) }

func scaleRowsF64(x, by []float64, c int) { scaleRowsGeneric(x, by, c) }
