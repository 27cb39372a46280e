//go:build goexperiment.simd && go1.27 && !purego

package simd

// packPanel is the width in bytes of the panels of Packed: that of the tiles of gemmF32WASM128 and gemmF64WASM128.
const packPanel = 32
