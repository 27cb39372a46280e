package simd

func addGeneric[T Float](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = v + y[i]
	}
}

func axpyGeneric[T Float](dst []T, a T, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += a * v
	}
}

// axpy4Generic adds a0·x0 + a1·x1 + a2·x2 + a3·x3 to dst. Taking four rows at once, it loads and stores dst a quarter as often.
// The rows are at least as long as dst.
func axpy4Generic[T Float](dst, x0, x1, x2, x3 []T, a0, a1, a2, a3 T) {
	x0, x1, x2, x3 = x0[:len(dst)], x1[:len(dst)], x2[:len(dst)], x3[:len(dst)]
	for i := range dst {
		dst[i] += a0*x0[i] + a1*x1[i] + a2*x2[i] + a3*x3[i]
	}
}

func scaleGeneric[T Float](dst []T, a T, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = a * v
	}
}

func scaleRowsGeneric[T Float](x, by []T, c int) {
	for i, a := range by {
		row := x[i*c : (i+1)*c]
		for j, v := range row {
			row[j] = a * v
		}
	}
}
