//go:build purego || !amd64

package simd

func turnPanel[T Float](panel []T, width int, b []T, stride, k, n int) {
	turnPanelGeneric(panel, width, b, stride, 0, k, 0, n)
}
