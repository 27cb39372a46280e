//go:build goexperiment.simd && go1.27 && !purego

package cpu

// detect returns WASM128: a program with vectors does not start where WebAssembly has none.
func detect() []Level { return []Level{WASM128} }
