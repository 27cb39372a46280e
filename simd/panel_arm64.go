//go:build !purego

package simd

// packPanelF32 is the width of the tiles of gemmF32NEON.
const packPanelF32 = gemmTile
