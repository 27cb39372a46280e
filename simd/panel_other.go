//go:build purego || !amd64

package simd

// packPanelF32 = 0 keeps the rows of Packed[float32] whole, as portable Go and NEON's tiles read them.
const packPanelF32 = 0
