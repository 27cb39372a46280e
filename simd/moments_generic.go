package simd

// weightedMomentsGeneric subtracts the first counted row before it sums, which costs nothing and keeps the rounding errors of
// the mean in proportion to the spread of the data instead of their size.
func weightedMomentsGeneric[T Float](mean, variance []float64, x []T, weight []int32, c int) (total float64) {
	clear(mean)
	clear(variance)
	if c == 0 {
		for _, w := range weight {
			total += float64(w)
		}
		return total
	}
	rows := len(x) / c
	first := -1
	for i := range rows {
		w := rowWeight(weight, i)
		if w == 0 {
			continue
		}
		if first < 0 {
			first = i
		}
		total += w
		addShifted(mean, x[i*c:i*c+c], x[first*c:first*c+c], w)
	}
	if first < 0 {
		return 0
	}
	for j, v := range x[first*c : first*c+c] {
		mean[j] = float64(v) + mean[j]/total
	}
	for i := range rows {
		if w := rowWeight(weight, i); w != 0 {
			addSquares(variance, x[i*c:i*c+c], mean, w)
		}
	}
	for j := range variance {
		variance[j] /= total
	}
	return total
}

func rowWeight(weight []int32, i int) float64 {
	if weight == nil {
		return 1
	}
	return float64(weight[i])
}

// addShifted adds w·(x - x0) to sum.
func addShifted[T Float](sum []float64, x, x0 []T, w float64) {
	x, x0 = x[:len(sum)], x0[:len(sum)]
	for j := range sum {
		sum[j] += w * (float64(x[j]) - float64(x0[j]))
	}
}

// addSquares adds w·(x - mean)² to sum.
func addSquares[T Float](sum []float64, x []T, mean []float64, w float64) {
	x, mean = x[:len(sum)], mean[:len(sum)]
	for j := range sum {
		d := float64(x[j]) - mean[j]
		sum[j] += w * d * d
	}
}
