//go:build purego || !(amd64 || arm64)

package simd

// packPanelF32 = 0 leaves the rows of Packed[float32] whole, as portable Go reads them.
const packPanelF32 = 0
