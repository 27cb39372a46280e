//go:build purego || !(amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package cpu

// detect returns nothing: there are no kernels but the portable ones.
func detect() []Level { return nil }
