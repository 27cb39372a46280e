//go:build purego || !(amd64 || arm64)

package batch

func kernel[T Float](_ op, _ shape, _, _, _ []T, from, _ int) (at, next int, hard uint64) {
	return from, from, 0
}
