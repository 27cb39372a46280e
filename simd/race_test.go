//go:build race

package simd

// raceBuild says that the race detector watches. What it is told of goes to the heap, so that functions allocate.
const raceBuild = true
