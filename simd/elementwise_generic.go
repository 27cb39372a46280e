package simd

import "math"

func subGeneric[T Float](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = v - y[i]
	}
}

func mulGeneric[T Float](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = v * y[i]
	}
}

func divGeneric[T Float](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = v / y[i]
	}
}

// The square root of a float32 in float64, rounded to float32, is the correctly rounded one: float64 has more than twice its bits.
func sqrtGeneric[T Float](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = T(math.Sqrt(float64(v)))
	}
}

func absGeneric[T Float](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = T(math.Abs(float64(v)))
	}
}

func maxGeneric[T Float](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = max(v, y[i])
	}
}

func minGeneric[T Float](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = min(v, y[i])
	}
}

func clipGeneric[T Float](dst, x []T, lo, hi T) {
	dst = dst[:len(x)]
	for i, v := range x {
		if v < lo {
			v = lo
		}
		if v > hi {
			v = hi
		}
		dst[i] = v
	}
}

func floorGeneric[T Float](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = T(math.Floor(float64(v)))
	}
}

func ceilGeneric[T Float](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = T(math.Ceil(float64(v)))
	}
}

func truncGeneric[T Float](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = T(math.Trunc(float64(v)))
	}
}

func roundToEvenGeneric[T Float](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = T(math.RoundToEven(float64(v)))
	}
}
