package krige

import (
	"math"
	"slices"
)

// outlierDeviations is how many of its own standard deviations an outlier lies from what the others say. The deviations are such that half
// of the values lie within .67 of them, whatever outliers do to the noise.
const outlierDeviations = 6

// farRows returns those of rows whose values y are far from what the others say, by mean and variance, in robust deviations.
func farRows(rows []int, y, mean, variance []float64) (far []int) {
	z := make([]float64, len(y))
	for i, v := range y {
		z[i] = math.Abs(v-mean[i]) / math.Sqrt(variance[i])
	}
	limit := outlierDeviations * min(1, max(leastDeviation, median(z)/normalMedian))
	for i, v := range z {
		if v > limit {
			far = append(far, rows[i])
		}
	}
	slices.Sort(far)
	return far
}

// leastDeviation is the least robust deviation of values over the one that they are expected to have: where most values are equal, what
// differs is no outlier for that.
const leastDeviation = 0.1

// normalMedian is the median of the magnitude of a standard normal number.
const normalMedian = 0.67448975

// median is that of a number of values: of an even one the mean of the two in the middle, so that it is reflected where they are.
func median(v []float64) float64 {
	s := slices.Clone(v)
	slices.Sort(s)
	n := len(s)
	return s[(n-1)/2]/2 + s[n/2]/2
}
