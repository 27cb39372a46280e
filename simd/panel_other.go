//go:build purego || !(amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package simd

// packPanel = 0 leaves the rows of Packed whole, as portable Go reads them.
const packPanel = 0
