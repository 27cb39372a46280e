//go:build purego || !(amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package simd

func expF32(dst, x []float32) { expF32Generic(dst, x) }
