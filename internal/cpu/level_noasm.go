//go:build purego || !(amd64 || arm64)

package cpu

// detect returns nothing: there are no kernels but the portable ones.
func detect() []Level { return nil }
