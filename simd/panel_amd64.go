//go:build !purego

package simd

// packPanelF32 is the width of the panels of Packed[float32]: two vectors of AVX-512 or four of AVX2.
const packPanelF32 = stripF32
