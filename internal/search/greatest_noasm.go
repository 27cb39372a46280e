//go:build purego || !amd64

package search

func greatest(dst, x, add []int32) { greatestGeneric(dst, x, add) }
