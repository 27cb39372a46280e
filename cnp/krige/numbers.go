package krige

import (
	"math"
	"slices"
)

// evenly takes at most n elements, from all over a list.
func evenly(list []int, n int) []int {
	if len(list) <= n {
		return list
	}
	out := make([]int, n)
	for k := range out {
		out[k] = list[k*(len(list)-1)/max(1, n-1)]
	}
	return out
}

// exponentials returns the exponentials of numbers less the largest of them.
func exponentials(log []float64) []float64 {
	most := slices.Max(log)
	out := make([]float64, len(log))
	for i, v := range log {
		out[i] = math.Exp(v - most)
	}
	return out
}

// logAdd returns the logarithm of the sum of two numbers whose logarithms these are.
func logAdd(a, b float64) float64 {
	lo, hi := min(a, b), max(a, b)
	if math.IsInf(hi, -1) {
		return hi
	}
	return hi + math.Log1p(math.Exp(lo-hi))
}

// logMean is the logarithm of the mean of numbers whose logarithms these are.
func logMean(log []float64) float64 {
	most := slices.Max(log)
	if math.IsInf(most, -1) {
		return most
	}
	var s float64
	for _, v := range log {
		s += math.Exp(v - most)
	}
	return most + math.Log(s/float64(len(log)))
}

// effective is the effective number of draws whose weights have these logarithms.
func effective(log []float64) float64 {
	var s, s2 float64
	for _, w := range exponentials(log) {
		s, s2 = s+w, s2+w*w
	}
	return s * s / s2
}
