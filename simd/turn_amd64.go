//go:build !purego

package simd

import "unsafe"

// turnPanel writes n columns of k elements, which begin stride elements apart in b, beside each other into a panel of that width.
func turnPanel[T Float](panel []T, width int, b []T, stride, k, n int) {
	size := int(unsafe.Sizeof(T(0)))
	lanes, q := 32/size, 0
	whole := k / lanes * lanes
	if level == Generic || width != stripOf[T]() || whole == 0 {
		turnPanelGeneric(panel, width, b, stride, 0, k, 0, n)
		return
	}
	for ; q < n && n >= lanes; q += lanes {
		q = min(q, n-lanes) // the last ones overlap those before
		_, _ = panel[(whole-1)*width+q+lanes-1], b[(q+lanes-1)*stride+whole-1]
		to, from := (*byte)(unsafe.Pointer(&panel[q])), (*byte)(unsafe.Pointer(&b[q*stride]))
		if size == 8 {
			gemmTurnF64AVX2(to, from, whole/lanes, stride*size)
		} else {
			gemmTurnF32AVX2(to, from, whole/lanes, stride*size)
		}
	}
	if q == 0 {
		whole = 0
	}
	turnPanelGeneric(panel, width, b, stride, whole, k, 0, n)
}
