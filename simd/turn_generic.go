package simd

// turnPanelGeneric is turnPanel for rows r0 to r1 of the panel's columns j0 to j1. Columns go four at a time, as what it writes of a row
// then lies side by side.
func turnPanelGeneric[T Float](panel []T, width int, b []T, stride, r0, r1, j0, j1 int) {
	j, n := j0, r1-r0
	for ; j+4 <= j1; j += 4 {
		x0, x1, x2, x3 := b[j*stride+r0:][:n], b[(j+1)*stride+r0:][:n], b[(j+2)*stride+r0:][:n], b[(j+3)*stride+r0:][:n]
		for r := range n {
			row := panel[(r0+r)*width+j:][:4:4]
			row[0], row[1], row[2], row[3] = x0[r], x1[r], x2[r], x3[r]
		}
	}
	for ; j < j1; j++ {
		for r, v := range b[j*stride+r0:][:n] {
			panel[(r0+r)*width+j] = v
		}
	}
}
