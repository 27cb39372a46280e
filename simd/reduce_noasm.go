//go:build purego || !(amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package simd

func sumF32(x []float32) float64             { return sumGeneric(x) }
func dotF32(x, y []float32) float64          { return dotGeneric(x, y) }
func sumSqF32(x []float32) float64           { return dotGeneric(x, x) }
func sumAbsF32(x []float32) float64          { return sumAbsGeneric(x) }
func minMaxF32(x []float32) (lo, hi float32) { return minMaxGeneric(x) }

func sumF64(x []float64) float64             { return sumGeneric(x) }
func dotF64(x, y []float64) float64          { return dotGeneric(x, y) }
func sumSqF64(x []float64) float64           { return dotGeneric(x, x) }
func sumAbsF64(x []float64) float64          { return sumAbsGeneric(x) }
func minMaxF64(x []float64) (lo, hi float64) { return minMaxGeneric(x) }

func dotSingleF32(x, y []float32) float32 { return dotSingleGeneric(x, y) }
