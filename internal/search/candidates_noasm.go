//go:build purego || !(amd64 || arm64)

package search

func candidates(bits []uint64, x, u, r []uint16) { candidatesGeneric(bits, x, u, r) }
