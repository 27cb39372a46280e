package simd

import (
	"fmt"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// BenchmarkPointConvShapesF32 counts two operations per multiply-add as two bytes, so that MB/s reads as Mflop/s.
func BenchmarkPointConvShapesF32(b *testing.B) {
	offsets, index, pose := testkit.DiskPairs(true)
	const rows, points, poses = 256, 4096, 273
	offsets = offsets[:rows+1]
	index, pose = index[:offsets[rows]], pose[:offsets[rows]]
	for _, s := range [][2]int{{1, 16}, {8, 16}, {16, 16}, {32, 16}, {3, 16}} {
		ci, cm := s[0], s[1]
		f, w := testkit.Normal[float32](testkit.Rand(1), points*ci), testkit.Normal[float32](testkit.Rand(2), poses*cm)
		p := make([]float32, rows*ci*cm)
		shape := fmt.Sprintf("ci=%d/cm=%d", ci, cm)
		benchLevels(b, shape, 2*len(index)*ci*cm, func() { PointConvF32(p, f, w, offsets, index, pose, ci, cm) })
		dp, df := testkit.Normal[float32](testkit.Rand(3), points*ci*cm), make([]float32, rows*ci)
		benchLevels(b, shape+"/grad=f", 2*len(index)*ci*cm, func() { PointConvGradFF32(df, dp, w, offsets, index, pose, ci, cm) })
		dw := make([]float32, rows*cm)
		benchLevels(b, shape+"/grad=w", 2*len(index)*ci*cm, func() { PointConvGradWF32(dw, dp, f, offsets, index, index, ci, cm) })
	}
}

// BenchmarkDepthwiseBF16F32 has a row of bfloat16 weights for each pair: MB/s is what is read of the weights.
func BenchmarkDepthwiseBF16F32(b *testing.B) {
	const points, c = 4096, 128
	offsets, index, pose := testkit.DiskPairs(true)
	f, w := testkit.Normal[float32](testkit.Rand(1), points*c), make([]BF16, len(index)*c)
	for i := range w {
		w[i] = BF16(0x3f80 + i%7)
	}
	for k := range pose {
		pose[k] = int32(k)
	}
	out := make([]float32, points*c)
	benchLevels(b, fmt.Sprintf("pairs=%d/c=%d", len(index), c), len(w)*2,
		func() { DepthwiseBF16F32(out, f, w, offsets, index, pose, c, true) })
}

func BenchmarkBF16FromF32(b *testing.B) {
	for _, n := range benchLengths {
		x, dst := testkit.Normal[float32](testkit.Rand(1), n), make([]BF16, n)
		benchLevels(b, fmt.Sprintf("n=%d", n), 6*n, func() { BF16FromF32(dst, x) })
	}
}

// BenchmarkSetConvShapesF32 counts pairs as bytes: MB/s reads as pairs per microsecond.
func BenchmarkSetConvShapesF32(b *testing.B) {
	for _, s := range []struct{ targets, n, d, c int }{{256, 100, 1, 2}, {256, 100, 1, 8}, {1024, 1024, 2, 4}, {256, 100, 1, 16}} {
		t, x := testkit.Normal[float64](testkit.Rand(1), s.targets*s.d), testkit.Normal[float64](testkit.Rand(2), s.n*s.d)
		phi, h := testkit.Normal[float32](testkit.Rand(3), s.n*s.c), make([]float32, s.targets*s.c)
		shape := fmt.Sprintf("targets=%d/n=%d/d=%d/c=%d", s.targets, s.n, s.d, s.c)
		benchLevels(b, shape, s.targets*s.n, func() { SetConvF32(h, t, x, phi, s.d, s.c, 0.5, 1) })
		benchLevels(b, shape+"/grad=params", s.targets*s.n, func() { SetConvGradParamsF32(t, x, phi, h, s.d, s.c, 0.5, 1) })
	}
}

func BenchmarkReduceF32(b *testing.B) {
	for _, n := range benchLengths {
		x := testkit.Normal[float32](testkit.Rand(1), n)
		benchLevels(b, fmt.Sprintf("op=sum/n=%d", n), 4*n, func() { SumF32(x) })
		benchLevels(b, fmt.Sprintf("op=sumsq/n=%d", n), 4*n, func() { SumSqF32(x) })
		benchLevels(b, fmt.Sprintf("op=minmax/n=%d", n), 4*n, func() { MinMaxF32(x) })
	}
}
