//go:build purego || !(amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package search

func candidates(bits []uint64, x, u, r []uint16) { candidatesGeneric(bits, x, u, r) }
