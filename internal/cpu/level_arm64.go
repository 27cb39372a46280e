//go:build !purego

package cpu

// detect returns NEON: Advanced SIMD belongs to every arm64 machine that Go runs on.
func detect() []Level { return []Level{NEON} }
