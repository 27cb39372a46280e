//go:build !purego

package simd

// packPanel is the width in bytes of the panels of Packed: that of the tiles of gemmF32NEON and gemmF64NEON.
const packPanel = 32
