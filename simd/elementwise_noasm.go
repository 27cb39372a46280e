//go:build purego || !(amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package simd

func subF32(dst, x, y []float32) { subGeneric(dst, x, y) }

func mulF32(dst, x, y []float32) { mulGeneric(dst, x, y) }

func divF32(dst, x, y []float32) { divGeneric(dst, x, y) }

func sqrtF32(dst, x []float32) { sqrtGeneric(dst, x) }

func subF64(dst, x, y []float64) { subGeneric(dst, x, y) }

func mulF64(dst, x, y []float64) { mulGeneric(dst, x, y) }

func divF64(dst, x, y []float64) { divGeneric(dst, x, y) }

func sqrtF64(dst, x []float64) { sqrtGeneric(dst, x) }
