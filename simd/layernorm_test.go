package simd

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// rowSizes are columns of rows: none, few, a block, and what is left over.
var rowSizes = []int{1, 2, 7, 16, 17, 100, blockSize - 1, blockSize, blockSize + 1, 2*blockSize + 3}

// TestSoftmaxGrad compares the gradient with its definition, at the end of readable memory and in place.
func TestSoftmaxGrad(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testSoftmaxGrad[float32])
		t.Run("F64", testSoftmaxGrad[float64])
	})
}

func testSoftmaxGrad[T Float](t *testing.T) {
	rng := testkit.Rand(71)
	for _, c := range rowSizes {
		const rows = 3
		x, dy := testkit.CopyAtEnd(t, testkit.Normal[T](rng, rows*c)), testkit.CopyAtEnd(t, testkit.Normal[T](rng, rows*c))
		y, dx := testkit.CopyAtEnd(t, x), testkit.CopyAtStart(t, testkit.Awkward[T](rng, rows*c))
		Softmax(y, x, c)
		SoftmaxGrad(dx, dy, y, c)
		for r := range rows {
			var mean, size float64
			for j := r * c; j < (r+1)*c; j++ {
				mean += float64(y[j]) * float64(dy[j])
				size += math.Abs(float64(y[j]) * float64(dy[j]))
			}
			for j := r * c; j < (r+1)*c; j++ {
				want, v := float64(y[j])*(float64(dy[j])-mean), math.Abs(float64(y[j]))
				bound := eps[T]()*3*v*(math.Abs(float64(dy[j]))+math.Abs(mean)) + 0x1p-50*v*size
				if diff := math.Abs(float64(dx[j]) - want); !(diff <= bound) {
					t.Fatalf("c=%d: element %d: %v, want %v", c, j, dx[j], want)
				}
			}
			own := append([]T(nil), dy[r*c:(r+1)*c]...)
			SoftmaxGrad(own, own, y[r*c:(r+1)*c], c)
			require.True(t, testkit.SameBits(own, dx[r*c:(r+1)*c]), "one row, in place of dy")
		}
		SoftmaxGrad(y, dy, y, c)
		require.True(t, testkit.SameBits(y, dx), "in place of y")
	}
}

func TestArgMin(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testArgMin[float32])
		t.Run("F64", testArgMin[float64])
	})
}

func testArgMin[T Float](t *testing.T) {
	rng := testkit.Rand(72)
	inf, nan := T(math.Inf(1)), T(math.NaN())
	require.Equal(t, -1, ArgMin[T](nil))
	require.Equal(t, 0, ArgMin([]T{0, T(math.Copysign(0, -1))}), "zeros are equal")
	require.Equal(t, 0, ArgMin([]T{inf, inf}))
	for _, n := range rowSizes {
		x := testkit.CopyAtEnd(t, testkit.Normal[T](rng, n))
		for i := range x {
			x[i] = T(math.Round(4 * float64(x[i]))) // many are equal
		}
		want := 0
		for i, v := range x {
			if v < x[want] {
				want = i
			}
		}
		require.Equal(t, want, ArgMin(x))
		low, odd := rng.IntN(n), rng.IntN(n)
		x[low] = -inf
		require.Equal(t, low, ArgMin(x))
		x[odd] = nan
		require.Equal(t, odd, ArgMin(x))
		x[n-1] = nan
		require.Equal(t, odd, ArgMin(x), "the first NaN")
	}
}

// TestLayerNorm compares the normalisation and its gradient with their definitions in float64, rows far from zero included, and the
// gradient with differences.
func TestLayerNorm(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testLayerNorm[float32])
		t.Run("F64", testLayerNorm[float64])
	})
	// Differences of the definition, in float64.
	rng := testkit.Rand(74)
	const c, step = 9, 1e-5
	x, dy := testkit.Normal[float64](rng, c), testkit.Normal[float64](rng, c)
	gain, bias := testkit.Normal[float64](rng, c), make([]float64, c)
	loss := func() (sum float64) {
		y := make([]float64, c)
		LayerNorm(y, x, gain, bias, c, 0.1)
		for j, v := range y {
			sum += v * dy[j]
		}
		return sum
	}
	dx, dgain, dbias := make([]float64, c), make([]float64, c), make([]float64, c)
	LayerNormGrad(dx, dgain, dbias, dy, x, gain, c, 0.1)
	for name, of := range map[string][2][]float64{"x": {x, dx}, "gain": {gain, dgain}, "bias": {bias, dbias}} {
		for j := range c {
			v := of[0][j]
			of[0][j] = v + step
			up := loss()
			of[0][j] = v - step
			down := loss()
			of[0][j] = v
			require.InDelta(t, (up-down)/(2*step), of[1][j], 1e-8, "%s[%d]", name, j)
		}
	}
}

func testLayerNorm[T Float](t *testing.T) {
	rng := testkit.Rand(73)
	for k, c := range rowSizes {
		const rows, least = 3, 1e-3
		x, dy := testkit.CopyAtEnd(t, testkit.Normal[T](rng, rows*c)), testkit.CopyAtEnd(t, testkit.Normal[T](rng, rows*c))
		for i := range x {
			x[i] += T(i / c * 1000)
		}
		var gain, bias []T
		if k%2 == 0 {
			gain, bias = testkit.CopyAtEnd(t, testkit.Normal[T](rng, c)), testkit.CopyAtEnd(t, testkit.Normal[T](rng, c))
		}
		at := func(v []T, j int, other float64) float64 {
			if v == nil {
				return other
			}
			return float64(v[j])
		}
		y, dx := testkit.CopyAtStart(t, testkit.Awkward[T](rng, rows*c)), testkit.CopyAtStart(t, testkit.Awkward[T](rng, rows*c))
		dgain, dbias := testkit.CopyAtEnd(t, make([]T, c)), testkit.CopyAtEnd(t, make([]T, c))
		wantGain, wantBias := make([]float64, c), make([]float64, c)
		sizeGain, sizeBias := make([]float64, c), make([]float64, c)
		LayerNorm(y, x, gain, bias, c, least)
		LayerNormGrad(dx, dgain, dbias, dy, x, gain, c, least)
		// What WeightedMoments says of the mean; values are less than 8 apart.
		slack := func(size, by float64) float64 { return (0x1p-50*float64(c) + 0x1p-51*size) * by }
		for r := range rows {
			row, g := x[r*c:(r+1)*c], dy[r*c:(r+1)*c]
			var total, squares testkit.DD
			var spread float64
			for _, v := range row {
				total, spread = total.Add(testkit.Wide(float64(v))), spread+math.Abs(float64(v))/float64(c)
			}
			mean := total.Hi / float64(c)
			for _, v := range row {
				squares = squares.Add(testkit.Product(float64(v)-mean, float64(v)-mean))
			}
			by := 1 / math.Sqrt(squares.Hi/float64(c)+least)
			var sum, along, size, sizeAlong float64
			for j, v := range row {
				n, g := (float64(v)-mean)*by, float64(g[j])*at(gain, j, 1)
				sum, along, size, sizeAlong = sum+g, along+g*n, size+math.Abs(g), sizeAlong+math.Abs(g*n)
			}
			for j, v := range row {
				n, d, w, b := (float64(v)-mean)*by, float64(g[j]), at(gain, j, 1), at(bias, j, 0)
				want, far := n*w+b, slack(spread, by)
				if diff := math.Abs(float64(y[r*c+j]) - want); !(diff <= 4*eps[T]()*(math.Abs(n*w)+math.Abs(b))+far*math.Abs(w)) {
					t.Fatalf("c=%d: y[%d, %d] = %v, want %v", c, r, j, y[r*c+j], want)
				}
				want = (d*w - sum/float64(c) - n*along/float64(c)) * by
				bound := (8*eps[T]() + far) * by * (math.Abs(d*w) + size/float64(c) + math.Abs(n)*sizeAlong/float64(c))
				bound += far * by * (size + sizeAlong) / float64(c) * 4
				if diff := math.Abs(float64(dx[r*c+j]) - want); !(diff <= bound) {
					t.Fatalf("c=%d: dx[%d, %d] = %v, want %v", c, r, j, dx[r*c+j], want)
				}
				wantGain[j], wantBias[j] = wantGain[j]+d*n, wantBias[j]+d
				sizeGain[j], sizeBias[j] = sizeGain[j]+math.Abs(d*n)+far*math.Abs(d)/eps[T](), sizeBias[j]+math.Abs(d)
			}
			own := append([]T(nil), row...)
			LayerNorm(own, own, gain, bias, c, least)
			require.True(t, testkit.SameBits(own, y[r*c:(r+1)*c]), "one row, in place")
		}
		for j := range c {
			require.InDelta(t, wantGain[j], float64(dgain[j]), 8*eps[T]()*sizeGain[j])
			require.InDelta(t, wantBias[j], float64(dbias[j]), 4*eps[T]()*sizeBias[j])
		}
		own := append([]T(nil), dy...)
		LayerNormGrad(own, nil, nil, own, x, gain, c, least)
		require.True(t, testkit.SameBits(own, dx), "in place of dy")
		own = append([]T(nil), x...)
		LayerNormGrad(own, nil, nil, dy, own, gain, c, least)
		require.True(t, testkit.SameBits(own, dx), "in place of x")
	}
	inf, nan := T(math.Inf(1)), T(math.NaN())
	for _, row := range [][]T{{1, nan, 2}, {1, inf, 2}} {
		y := make([]T, 3)
		LayerNorm(y, row, nil, nil, 3, 1e-5)
		require.True(t, y[0] != y[0] && y[1] != y[1] && y[2] != y[2], "%v: %v", row, y)
	}
	y := []T{5, 5}
	LayerNorm(y, y, nil, []T{1, 2}, 2, 1e-5)
	require.Equal(t, []T{1, 2}, y, "a row of equal values")
	LayerNorm[T](nil, nil, nil, nil, math.MaxInt, 0)
	LayerNormGrad[T](nil, nil, nil, nil, nil, nil, math.MaxInt, 0)
	SoftmaxGrad[T](nil, nil, nil, math.MaxInt)
}
