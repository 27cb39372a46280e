//go:build goexperiment.simd && go1.27 && !purego

package simd

func scaleRowsF32(x, by []float32, c int) {
	for i, a := range by {
		row := x[i*c : (i+1)*c]
		scaleF32(row, a, row)
	}
}

func scaleRowsF64(x, by []float64, c int) {
	for i, a := range by {
		row := x[i*c : (i+1)*c]
		scaleF64(row, a, row)
	}
}
