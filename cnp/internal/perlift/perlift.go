// Package perlift goes between the features of points and those of their k lifts, which follow each other.
package perlift

import (
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// Repeat gives each of the k lifts of a point the point's features x [n, c].
func Repeat[T layers.Float](x []T, c, k int) []T {
	if k == 1 {
		return x
	}
	out := make([]T, 0, len(x)*k)
	for i := 0; i < len(x); i += c {
		for range k {
			out = append(out, x[i:i+c]...)
		}
	}
	return out
}

// Mean averages the features x [n·k, c] of each point's k lifts.
func Mean[T layers.Float](x []T, c, k int) []T {
	if k == 1 {
		return x
	}
	out := make([]T, len(x)/k)
	for i := range len(out) / c {
		row := out[i*c : (i+1)*c]
		for l := range k {
			simd.Add(row, row, x[(i*k+l)*c:][:c])
		}
		simd.Scale(row, 1/T(k), row)
	}
	return out
}

// Resize returns x, n blocks of equal length, as blocks of size/n elements: the first of each, and zeros behind them where
// there are more.
func Resize[T layers.Float](x []T, n, size int) []T {
	from, to := len(x)/n, size/n
	out := make([]T, size)
	for i := range n {
		copy(out[i*to:(i+1)*to], x[i*from:(i+1)*from])
	}
	return out
}

// Sum returns the gradient of Repeat: dx [n·k, c] summed over the k lifts of each point.
func Sum[T layers.Float](dx []T, c, k int) []T {
	if k == 1 {
		return dx
	}
	out := make([]T, len(dx)/k)
	for i := range len(dx) / c {
		row := out[i/k*c:][:c]
		simd.Add(row, row, dx[i*c:(i+1)*c])
	}
	return out
}

// Spread returns the gradient of Mean: a k-th of dx [n, c] for each of a point's k lifts.
func Spread[T layers.Float](dx []T, c, k int) []T {
	if k == 1 {
		return dx
	}
	out := Repeat(dx, c, k)
	simd.Scale(out, 1/T(k), out)
	return out
}
