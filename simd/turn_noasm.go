//go:build purego || !amd64

package simd

func turnPanel[T Float](panel []T, width int, b []T, stride, k, n int, alpha T) {
	turnPanelGeneric(panel, width, b, stride, 0, k, 0, n, alpha)
}
