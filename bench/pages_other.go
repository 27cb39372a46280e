//go:build !linux

package main

import "github.com/equivcnp/equivcnp/simd"

// onHugePages returns a slice of zeros; which pages it lies on is up to the system.
func onHugePages[T float32 | float64 | simd.BF16 | byte](n int) []T { return make([]T, n) }
