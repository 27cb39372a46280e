package fuzz

import (
	"math"
	"testing"

	"github.com/equivcnp/equivcnp/simd"
)

// moderate makes numbers of float64 from bytes, with the bits of float32 in front and others below them. NaN and infinities stay.
func moderate(bytes []byte, n int) []float64 {
	x := make([]float64, n)
	for i, v := range wrap(floats32(bytes), n) {
		x[i] = float64(v) * (1 + float64(i%5)*0x1p-40)
	}
	return x
}

// magnitudes returns |x|.
func magnitudes(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = math.Abs(v)
	}
	return y
}

// FuzzGatherF64 compares the gathered sums of float64 of every level, and their gradients, with those of portable Go, on any
// neighbourhood and bit patterns. Sums of the terms' magnitudes bound the difference.
func FuzzGatherF64(f *testing.F) {
	for i, b := range seedBytes() {
		f.Add(b, []byte{1, 2, 3, 48, 5, 24, 9, 200, 77, 5, 0, 96}, uint8(i*7), uint8(3*i), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, bytes, shape []byte, uc, ucm uint8, mean bool) {
		const points, poses = 5, 3
		c, ci, cm := int(uc), int(uc)%20, int(ucm%40)
		offsets, index, pose := neighbourhood(shape, points, poses)
		rows, pairs := len(offsets)-1, len(index)
		a, b, dp := moderate(bytes, points*max(c, ci*cm)), moderate(bytes, poses*max(c, ci, cm)), moderate(bytes, points*ci*cm)
		for _, op := range []struct {
			name  string
			size  int // of the result
			terms int // the most of an element
			run   func(dst, a, b, dp []float64)
		}{
			{"Depthwise", rows * c, pairs,
				func(dst, a, b, _ []float64) {
					simd.DepthwiseF64(dst, a[:points*c], b[:poses*c], offsets, index, pose, c, mean)
				}},
			{"PointConv", rows * ci * cm, pairs,
				func(dst, a, b, _ []float64) {
					simd.PointConvF64(dst, a[:points*ci], b[:poses*cm], offsets, index, pose, ci, cm)
				}},
			{"PointConvGradF", rows * ci, pairs * cm,
				func(dst, _, b, dp []float64) {
					simd.PointConvGradFF64(dst, dp, b[:poses*cm], offsets, index, pose, ci, cm)
				}},
			{"PointConvGradW", rows * cm, pairs * ci,
				func(dst, _, b, dp []float64) {
					simd.PointConvGradWF64(dst, dp, b[:poses*ci], offsets, index, pose, ci, cm)
				}},
		} {
			got, want, size := make([]float64, op.size), make([]float64, op.size), make([]float64, op.size)
			first := true
			atLevels(t, func(level simd.Level) {
				if first { // portable Go
					op.run(want, a, b, dp)
					op.run(size, magnitudes(a), magnitudes(b), magnitudes(dp))
					first = false
					return
				}
				op.run(got, a, b, dp)
				for i, v := range got {
					if v == want[i] || v != v && want[i] != want[i] {
						continue
					}
					tol := float64(op.terms+8) * 0x1p-52 * size[i]
					if !math.IsInf(tol, 0) && tol == tol && !(math.Abs(v-want[i]) <= tol) {
						t.Fatalf("level=%v: %s c=%d ci=%d cm=%d: [%d] = %g, want %g", level, op.name, c, ci, cm, i, v, want[i])
					}
				}
			})
		}
	})
}
