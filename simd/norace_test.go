//go:build !race

package simd

// raceBuild says that the race detector watches.
const raceBuild = false
