//go:build purego || !(amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package simd

func sigmoidF32(dst, x []float32)  { sigmoidF32Generic(dst, x) }
func swishF32(dst, x []float32)    { swishF32Generic(dst, x) }
func softplusF32(dst, x []float32) { softplusF32Generic(dst, x) }
func tanhF32(dst, x []float32)     { tanhF32Generic(dst, x) }
func reluF32(dst, x []float32)     { reluGeneric(dst, x) }
