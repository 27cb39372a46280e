package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// weightNetOf draws a net of those widths and returns its matrices, too.
func weightNetOf[T Float](rng *rand.Rand, widths [4]int, bias bool) (net [3]Dense[T], w [3][]T) {
	for i := range net {
		k, n := widths[i], widths[i+1]
		w[i] = testkit.Normal[T](rng, k*n)
		for j := range w[i] {
			w[i][j] /= T(math.Sqrt(float64(max(k, 1))))
		}
		net[i].B = Pack(w[i], n, k, n)
		if bias {
			net[i].Bias = testkit.Normal[T](rng, n)
		}
	}
	return net, w
}

// weightNetWidths bracket vectors, strips and blocks.
var weightNetWidths = [][4]int{{2, 32, 32, 128}, {1, 1, 1, 1}, {3, 7, 8, 9}, {6, 15, 16, 17}, {5, 31, 32, 33}, {4, 33, 47, 65},
	{2, 32, 32, 512}, {0, 3, 4, 5},
	{3, 16, 16, 0}, {3, 48, 16, 112}, {1, 16, 208, 32}}

func TestWeightNet(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testWeightNet[float32])
		t.Run("F64", testWeightNet[float64])
	})
}

// testWeightNet compares with float64 arithmetic, carrying a bound of the error from layer to layer: a sum's own rounding, the
// weighted errors of its terms, and what swish makes of it, whose slope is 1.1 at most.
func testWeightNet[T Float](t *testing.T) {
	rng := testkit.Rand(20)
	for _, widths := range weightNetWidths {
		for _, rows := range []int{0, 1, 13, 14, 15, weightNetTile, weightNetTile + 1, 130} {
			t.Run(fmt.Sprintf("%v/rows=%d", widths, rows), func(t *testing.T) {
				net, w := weightNetOf[T](rng, widths, rows%2 == 0)
				pose := testkit.CopyAtEnd(t, testkit.Normal[T](rng, rows*widths[0]))
				dst := testkit.AtEnd[T](t, rows*widths[3])
				scratch := testkit.AtEnd[T](t, WeightNetScratch(&net))
				WeightNet(dst, pose, &net, rows, scratch)
				for r := range rows {
					x, e := make([]float64, widths[0]), make([]float64, widths[0])
					for i := range x {
						x[i] = float64(pose[r*widths[0]+i])
					}
					for l := range net {
						k, n := widths[l], widths[l+1]
						y, f := make([]float64, n), make([]float64, n)
						for j := range n {
							sum, size, carried := 0.0, 0.0, 0.0
							if net[l].Bias != nil {
								sum = float64(net[l].Bias[j])
								size = math.Abs(sum)
							}
							for p := range k {
								v := float64(w[l][p*n+j])
								sum, size, carried = sum+x[p]*v, size+math.Abs(x[p]*v), carried+math.Abs(v)*e[p]
							}
							y[j] = sum / (1 + math.Exp(-sum))
							f[j] = 1.1*(carried+float64(k+10)*eps[T]()*size) + 4*eps[T]()*math.Abs(y[j]) + 0x1p-56
						}
						x, e = y, f
					}
					for j, want := range x {
						if got := float64(dst[r*widths[3]+j]); !(math.Abs(got-want) <= e[j]) {
							t.Fatalf("dst[%d,%d] = %g, want %g ± %g", r, j, got, want, e[j])
						}
					}
				}
			})
		}
	}
}

// TestWeightNetRowsAreIndependent cuts the rows into chunks and wants the same bits.
func TestWeightNetRowsAreIndependent(t *testing.T) {
	const rows = 200
	widths := [4]int{3, 32, 20, 45}
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(21)
		net, _ := weightNetOf[float32](rng, widths, true)
		pose := testkit.Normal[float32](rng, rows*widths[0])
		scratch := make([]float32, WeightNetScratch(&net))
		whole, parts := make([]float32, rows*widths[3]), make([]float32, rows*widths[3])
		WeightNetF32(whole, pose, &net, rows, scratch)
		for lo := 0; lo < rows; {
			n := min(1+rng.IntN(80), rows-lo)
			WeightNetF32(parts[lo*widths[3]:][:n*widths[3]], pose[lo*widths[0]:][:n*widths[0]], &net, n, scratch)
			lo += n
		}
		require.True(t, testkit.SameBits(whole, parts))
		require.Zero(t, testing.AllocsPerRun(3, func() { WeightNetF32(whole, pose, &net, rows, scratch) }))
	})
}

func TestWeightNetPanics(t *testing.T) {
	net, _ := weightNetOf[float32](testkit.Rand(22), [4]int{2, 3, 4, 5}, true)
	scratch := make([]float32, WeightNetScratch(&net))
	require.PanicsWithValue(t, "simd: WeightNetF32: len(pose) = 3, need 4",
		func() { WeightNetF32(make([]float32, 10), make([]float32, 3), &net, 2, scratch) })
	require.PanicsWithValue(t, "simd: WeightNetF32: len(dst) = 9, need 10",
		func() { WeightNetF32(make([]float32, 9), make([]float32, 4), &net, 2, scratch) })
	require.PanicsWithValue(t, fmt.Sprintf("simd: WeightNetF32: len(scratch) = 0, need %d", len(scratch)),
		func() { WeightNetF32(make([]float32, 10), make([]float32, 4), &net, 2, nil) })
	net[1] = net[0]
	require.PanicsWithValue(t, "simd: WeightNetF32: net[1].B.K() = 2, need net[0].B.N() = 3",
		func() { WeightNetF32(make([]float32, 10), make([]float32, 4), &net, 2, scratch) })
}

func BenchmarkWeightNetF32(b *testing.B) {
	const rows = 65536
	widths := [4]int{2, 32, 32, 128}
	net, _ := weightNetOf[float32](testkit.Rand(1), widths, true)
	pose, dst := testkit.Normal[float32](testkit.Rand(2), rows*widths[0]), make([]float32, rows*widths[3])
	scratch := make([]float32, WeightNetScratch(&net))
	for _, n := range []int{504, rows} { // results in the second-level cache, and in memory
		benchLevels(b, fmt.Sprintf("rows=%d", n), 2*n*(2*32+32*32+32*128), func() {
			WeightNetF32(dst[:n*widths[3]], pose[:n*widths[0]], &net, n, scratch)
		})
	}
}
