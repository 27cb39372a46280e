package search

func extentGeneric[T Float](low, high, x []T) (finite bool) {
	dim := len(low)
	copy(low, x[:dim])
	copy(high, x[:dim])
	return widenGeneric(low, high, x)
}

// widenGeneric makes low and high hold the points as well.
func widenGeneric[T Float](low, high, x []T) (finite bool) {
	dim := len(low)
	var check T
	for axis := range low {
		l, h := low[axis], high[axis]
		for i := axis; i < len(x); i += dim {
			v := x[i]
			if v < l {
				l = v
			}
			if v > h {
				h = v
			}
			check += v - v // 0, or NaN for good
		}
		low[axis], high[axis] = l, h
	}
	return check == 0
}

func gridCellsGeneric[T Float](at []int32, x []T, stride int, low, inv T, last, width int32) {
	for i := range at {
		k := last
		if f := (x[i*stride] - low) * inv; f > -1 && f < 1<<31 {
			k = min(int32(f), last)
		}
		at[i] += width * k
	}
}
