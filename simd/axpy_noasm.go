//go:build purego || !(amd64 || arm64)

package simd

func addF32(dst, x, y []float32)                     { addGeneric(dst, x, y) }
func axpyF32(dst []float32, a float32, x []float32)  { axpyGeneric(dst, a, x) }
func scaleF32(dst []float32, a float32, x []float32) { scaleGeneric(dst, a, x) }

func scaleRowsF32(x, by []float32, c int) { scaleRowsGeneric(x, by, c) }
