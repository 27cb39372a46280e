//go:build !linux

package hugepage

func advise[T float32 | float64 | int32]([]T) {}
