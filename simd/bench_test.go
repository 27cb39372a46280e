package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// benchLengths fit the first-level cache, the second (twice), the third, and none of them (float32).
var benchLengths = []int{1 << 10, 1 << 12, 1 << 16, 1 << 20, 1 << 24}

// benchLevels runs a benchmark at every level, as n=1024/impl=generic.
func benchLevels(b *testing.B, shape string, bytes int, f func()) {
	before := CurrentLevel()
	defer func() {
		if err := SetLevel(before); err != nil {
			b.Fatal(err)
		}
	}()
	for _, l := range Levels() {
		b.Run(fmt.Sprintf("%s/impl=%v", shape, l), func(b *testing.B) {
			if err := SetLevel(l); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(bytes))
			for b.Loop() {
				f()
			}
		})
	}
}

func benchUnary[T Float](b *testing.B, f func(dst, x []T)) { benchUnaryOn(b, testkit.Normal[T], f) }

func benchUnaryOn[T Float](b *testing.B, data func(rng *rand.Rand, n int) []T, f func(dst, x []T)) {
	for _, n := range benchLengths {
		x, dst := data(testkit.Rand(1), n), make([]T, n)
		benchLevels(b, fmt.Sprintf("n=%d", n), 2*n*int(unsafe.Sizeof(x[0])), func() { f(dst, x) })
	}
}

// positive is what logarithms are asked for.
func positive(rng *rand.Rand, n int) []float32 {
	x := testkit.Normal[float32](rng, n)
	for i, v := range x {
		x[i] = max(v, -v)
	}
	return x
}

// BenchmarkCopy moves the bytes of an elementwise function without computing: the ceiling of the others.
func BenchmarkCopy(b *testing.B) { benchUnary(b, func(dst, x []float32) { copy(dst, x) }) }

func BenchmarkExpF32(b *testing.B)      { benchUnary(b, ExpF32) }
func BenchmarkExpF64(b *testing.B)      { benchUnary(b, ExpF64) }
func BenchmarkLogF32(b *testing.B)      { benchUnaryOn(b, positive, LogF32) }
func BenchmarkSigmoidF32(b *testing.B)  { benchUnary(b, SigmoidF32) }
func BenchmarkSwishF32(b *testing.B)    { benchUnary(b, SwishF32) }
func BenchmarkSwishF64(b *testing.B)    { benchUnary(b, SwishF64) }
func BenchmarkSoftplusF32(b *testing.B) { benchUnary(b, SoftplusF32) }
func BenchmarkTanhF32(b *testing.B)     { benchUnary(b, TanhF32) }
func BenchmarkReLUF32(b *testing.B)     { benchUnary(b, ReLUF32) }
func BenchmarkSinCosF32(b *testing.B) {
	c := make([]float32, benchLengths[len(benchLengths)-1])
	benchUnary(b, func(dst, x []float32) { SinCosF32(dst, c[:len(x)], x) })
}
func BenchmarkAtan2F32(b *testing.B) { benchUnary(b, func(dst, x []float32) { Atan2F32(dst, x, x) }) }
func BenchmarkHypotF32(b *testing.B) { benchUnary(b, func(dst, x []float32) { HypotF32(dst, x, x) }) }
func BenchmarkAxpyF32(b *testing.B)  { benchUnary(b, func(dst, x []float32) { AxpyF32(dst, 0.5, x) }) }
func BenchmarkSumF32(b *testing.B)   { benchUnary(b, func(_, x []float32) { SumF32(x) }) }
func BenchmarkDotF32(b *testing.B)   { benchUnary(b, func(dst, x []float32) { DotF32(dst, x) }) }

// benchShapes, as m, n, k, are the products of the models: the WeightNet's layers, pointwise layers, a LieConv's linear map, a
// head, and tiny ones.
var benchShapes = [][3]int{{4096, 32, 2}, {4096, 32, 32}, {4096, 128, 32}, {4096, 128, 128}, {4096, 128, 256}, {512, 32, 512},
	{4096, 2, 128}, {16, 16, 50}, {50, 16, 25}}

// benchProduct counts two operations per multiply-add as two bytes, so that MB/s reads as Mflop/s.
func benchProduct(b *testing.B, run func(c, a, w []float32, m, n, k int)) {
	for _, s := range benchShapes {
		m, n, k := s[0], s[1], s[2]
		rng := testkit.Rand(1)
		a, w, c := testkit.Normal[float32](rng, m*k), testkit.Normal[float32](rng, n*k), make([]float32, m*n)
		benchLevels(b, fmt.Sprintf("m=%d/n=%d/k=%d", m, n, k), 2*m*n*k, func() { run(c, a, w, m, n, k) })
	}
}

func BenchmarkGemmF32(b *testing.B) {
	benchProduct(b, func(c, a, w []float32, m, n, k int) { GemmF32(c, n, a, k, w, n, 1, 0, m, n, k) })
}

func BenchmarkGemmNTF32(b *testing.B) {
	benchProduct(b, func(c, a, w []float32, m, n, k int) { GemmNTF32(c, n, a, k, w, k, 1, 0, m, n, k) })
}

func BenchmarkGemmTNF32(b *testing.B) {
	benchProduct(b, func(c, a, w []float32, m, n, k int) { GemmTNF32(w, n, a, k, c, n, 1, 0, k, n, m) })
}

func BenchmarkGemmPackedF32(b *testing.B) {
	for _, act := range []Activation{ActNone, ActSwish} {
		b.Run("act="+act.String(), func(b *testing.B) {
			var packed *Packed[float32]
			benchProduct(b, func(c, a, w []float32, m, n, k int) {
				if packed == nil || packed.K() != k || packed.N() != n {
					packed = Pack(w, n, k, n)
				}
				GemmPackedF32(c, n, a, k, packed, nil, act, m)
			})
		})
	}
}

// gridPairs resembles a 64 x 64 image under a scaled rotation group: 270 neighbours per row, many distinct poses.
func gridPairs(rows int) (offsets []int, index, pose []int32, points, poses int) {
	const n, perRow = 4096, 270
	rng := rand.New(rand.NewPCG(1, 1))
	offsets = []int{0}
	for i := range rows {
		for k := range perRow {
			index = append(index, int32((i+k/16*64+k%16)%n))
			pose = append(pose, int32(rng.IntN(20000)))
		}
		offsets = append(offsets, len(index))
	}
	return offsets, index, pose, n, 20000
}

func BenchmarkDepthwiseF32(b *testing.B) {
	offsets, index, pose, points, poses := gridPairs(256)
	for _, c := range []int{16, 128} {
		f, w := testkit.Normal[float32](testkit.Rand(1), points*c), testkit.Normal[float32](testkit.Rand(2), poses*c)
		out := make([]float32, 256*c)
		benchLevels(b, fmt.Sprintf("pairs=%d/c=%d", len(index), c), 2*len(index)*c,
			func() { DepthwiseF32(out, f, w, offsets, index, pose, c, true) })
	}
}

func BenchmarkPointConvF32(b *testing.B) {
	offsets, index, pose, points, poses := gridPairs(256)
	const ci, cm = 16, 16
	f, w := testkit.Normal[float32](testkit.Rand(1), points*ci), testkit.Normal[float32](testkit.Rand(2), poses*cm)
	p := make([]float32, 256*ci*cm)
	benchLevels(b, fmt.Sprintf("pairs=%d/ci=%d/cm=%d", len(index), ci, cm), 2*len(index)*ci*cm,
		func() { PointConvF32(p, f, w, offsets, index, pose, ci, cm) })
}

func BenchmarkSetConvF32(b *testing.B) {
	const targets, n, c = 256, 100, 2
	t, x := testkit.Normal[float64](testkit.Rand(1), targets), testkit.Normal[float64](testkit.Rand(2), n)
	phi, h := testkit.Normal[float32](testkit.Rand(3), n*c), make([]float32, targets*c)
	benchLevels(b, fmt.Sprintf("pairs=%d/c=%d", targets*n, c), targets*n*4, func() { SetConvF32(h, t, x, phi, 1, c, 0.5, 1) })
}

func BenchmarkWeightedMomentsF32(b *testing.B) {
	const rows, c = 4096, 32
	x, mean, variance := testkit.Normal[float32](testkit.Rand(1), rows*c), make([]float64, c), make([]float64, c)
	benchLevels(b, fmt.Sprintf("rows=%d/c=%d", rows, c), rows*c*4, func() { WeightedMomentsF32(mean, variance, x, nil, c) })
}

// BenchmarkGemmShapes multiplies squares, tall and flat matrices, a row with a matrix and a matrix with a column, in
// both types; MB/s are MFLOP/s.
func BenchmarkGemmShapes(b *testing.B) {
	b.Run("F32", benchGemmShapes[float32])
	b.Run("F64", benchGemmShapes[float64])
}

func benchGemmShapes[T Float](b *testing.B) {
	for _, s := range [][3]int{{64, 64, 64}, {128, 128, 128}, {512, 512, 512}, {1024, 1024, 1024}, {4096, 128, 128},
		{4096, 128, 8}, {1, 1024, 1024}, {1024, 1, 1024}} {
		m, n, k := s[0], s[1], s[2]
		rng := testkit.Rand(1)
		a, w, c := testkit.Normal[T](rng, m*k), testkit.Normal[T](rng, n*k), make([]T, m*n)
		benchLevels(b, fmt.Sprintf("m=%d/n=%d/k=%d", m, n, k), 2*m*n*k, func() { Gemm(c, n, a, k, w, n, 1, 0, m, n, k) })
	}
}
