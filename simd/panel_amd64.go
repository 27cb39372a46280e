//go:build !purego

package simd

// packPanel is the width in bytes of the panels of Packed: two vectors of AVX-512 or four of AVX2.
const packPanel = 2 * cacheLine
