package simd

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// normSizes are rows and columns on both sides of every block: groups of 64 rows, vectors of 4, 8 and 16 columns.
var normSizes = [][2]int{{0, 3}, {1, 1}, {3, 2}, {5, 7}, {63, 16}, {64, 5}, {65, 17}, {130, 32}, {7, 33}, {9, 49}, {4, 128}, {70, 13}}

func TestNorm(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testNorm[float32])
		t.Run("F64", testNorm[float64])
	})
}

// testNorm compares all three kernels with float64 arithmetic on guarded slices, with means far above the deviations.
func testNorm[T Float](t *testing.T) {
	rng := testkit.Rand(40)
	ulp := eps[T]() / 2
	for _, size := range normSizes {
		rows, c := size[0], size[1]
		for _, place := range []func(testing.TB, []T) []T{testkit.CopyAtEnd[T], testkit.CopyAtStart[T]} {
			name := fmt.Sprintf("rows=%d/c=%d", rows, c)
			mean, low := testkit.Normal[T](rng, c), testkit.Normal[T](rng, c)
			for j := range mean {
				mean[j] = 1000 * mean[j]
				low[j] *= T(ulp) * 500
			}
			x, dz := testkit.Normal[T](rng, rows*c), testkit.Normal[T](rng, rows*c)
			for i := range x {
				x[i] += mean[i%c]
			}
			scale, bias, a := testkit.Normal[T](rng, c), testkit.Normal[T](rng, c), testkit.Normal[T](rng, c)
			weight := make([]int32, rows)
			for i := range weight {
				weight[i] = int32(rng.IntN(1000))
			}
			mean, low, x, dz, scale, bias, a = place(t, mean), place(t, low), place(t, x), place(t, dz), place(t, scale),
				place(t, bias), place(t, a)
			y := place(t, make([]T, rows*c))
			Norm(y, x, mean, low, scale, bias, c)
			d := func(i int) float64 { return (float64(x[i]) - float64(mean[i%c])) - float64(low[i%c]) }
			for i := range y {
				s, b := float64(scale[i%c]), float64(bias[i%c])
				if diff := math.Abs(float64(y[i]) - (d(i)*s + b)); !(diff <= 4*ulp*(math.Abs(d(i)*s)+math.Abs(b))) {
					t.Fatalf("Norm %s: y[%d] is off by %g", name, i, diff)
				}
			}
			same := append([]T(nil), x...)
			Norm(same, same, mean, low, scale, bias, c)
			require.True(t, testkit.SameBits(y, same), "in place")

			sum, sumX := testkit.Normal[float64](rng, c), testkit.Normal[float64](rng, c)
			want, wantX := append([]float64(nil), sum...), append([]float64(nil), sumX...)
			NormSums(sum, sumX, dz, x, mean, low, c)
			bound, boundX := make([]float64, c), make([]float64, c)
			for i := range dz {
				g := float64(dz[i])
				want[i%c] += g
				wantX[i%c] += g * d(i)
				bound[i%c] += math.Abs(g)
				boundX[i%c] += math.Abs(g * d(i))
			}
			for j := range c {
				if diff := math.Abs(sum[j] - want[j]); !(diff <= 68*ulp*bound[j]+1e-14) {
					t.Fatalf("NormSums %s: sum[%d] is off by %g", name, j, diff)
				}
				if diff := math.Abs(sumX[j] - wantX[j]); !(diff <= 68*ulp*boundX[j]+1e-14) {
					t.Fatalf("NormSums %s: sumX[%d] is off by %g", name, j, diff)
				}
			}

			for _, w := range [][]int32{nil, testkit.CopyAtEnd(t, weight)} {
				dx := place(t, make([]T, rows*c))
				NormGrad(dx, dz, x, w, mean, low, a, scale, bias, c)
				for i := range dx {
					m := 1.0
					if w != nil {
						m = float64(w[i/c])
					}
					one, two, three := float64(a[i%c])*float64(dz[i]), m*float64(scale[i%c]), m*float64(bias[i%c])*d(i)
					if diff := math.Abs(float64(dx[i]) - (one - two - three)); !(diff <= 6*ulp*(math.Abs(one)+math.Abs(two)+
						math.Abs(three))) {
						t.Fatalf("NormGrad %s: dx[%d] is off by %g", name, i, diff)
					}
				}
				same := append([]T(nil), dz...)
				NormGrad(same, same, x, w, mean, low, a, scale, bias, c)
				require.True(t, testkit.SameBits(dx, same), "in place")
			}
		}
	}
}

// TestNormPieces: a matrix of more than one piece is the same as its parts.
func TestNormPieces(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, size := range [][2]int{{70000, 2}, {37, 512}, {21, 1024}} {
			testNormPieces[float32](t, size[0], size[1])
			testNormPieces[float64](t, size[0], size[1])
		}
	})
}

func testNormPieces[T Float](t *testing.T, rows, c int) {
	rng := testkit.Rand(41)
	x, dz, p := testkit.Normal[T](rng, rows*c), testkit.Normal[T](rng, rows*c), testkit.Normal[T](rng, 5*c)
	weight := make([]int32, rows)
	for i := range weight {
		weight[i] = int32(i % 7)
	}
	mean, low, a, b, q := p[:c], p[c:2*c], p[2*c:3*c], p[3*c:4*c], p[4*c:]
	whole, part, step := make([]T, rows*c), make([]T, rows*c), rows/7+7
	Norm(whole, x, mean, low, a, b, c)
	for lo := 0; lo < rows; lo += step {
		hi := min(rows, lo+step)
		Norm(part[lo*c:hi*c], x[lo*c:hi*c], mean, low, a, b, c)
	}
	require.True(t, testkit.SameBits(whole, part), "%d x %d", rows, c)
	NormGrad(whole, dz, x, weight, mean, low, a, b, q, c)
	for lo := 0; lo < rows; lo += step {
		hi := min(rows, lo+step)
		NormGrad(part[lo*c:hi*c], dz[lo*c:hi*c], x[lo*c:hi*c], weight[lo:hi], mean, low, a, b, q, c)
	}
	require.True(t, testkit.SameBits(whole, part), "gradient, %d x %d", rows, c)
}

func TestNormContract(t *testing.T) {
	x, d := make([]float32, 6), make([]float64, 2)
	for want, f := range map[string]func(){
		"simd: NormF32: len(y) = 4, need 6":               func() { NormF32(x[:4], x, x[:2], x[:2], x[:2], x[:2], 2) },
		"simd: NormF32: len(low) = 3, need 2":             func() { NormF32(x, x, x[:2], x[:3], x[:2], x[:2], 2) },
		"simd: NormF32: len(x) = 6, need a multiple of 4": func() { NormF32(x, x, x[:4], x[:4], x[:4], x[:4], 4) },
		"simd: NormSumsF32: len(sumX) = 1, need 2":        func() { NormSumsF32(d, d[:1], x, x, x[:2], x[:2], 2) },
		"simd: NormGradF32: len(weight) = 2, need 3": func() {
			NormGradF32(x, x, x, make([]int32, 2), x[:2], x[:2], x[:2], x[:2], x[:2], 2)
		},
	} {
		require.PanicsWithValue(t, want, f, want)
	}
}
