package simd

func rotateGeneric[T Float](x, y []T, c, s T) {
	y = y[:len(x)]
	for i, v := range x {
		w := y[i]
		x[i], y[i] = c*v+s*w, c*w-s*v
	}
}

func swapGeneric[T Float](x, y []T) {
	for len(x) >= 4 && len(y) >= 4 {
		x[0], x[1], x[2], x[3], y[0], y[1], y[2], y[3] = y[0], y[1], y[2], y[3], x[0], x[1], x[2], x[3]
		x, y = x[4:], y[4:]
	}
	y = y[:len(x)]
	for i, v := range x {
		x[i], y[i] = y[i], v
	}
}
