package spectral

import (
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// BenchmarkBand is a slab of a layer of the paper's models under T(2): 16 channels of 64 x 64 pixels, 317 taps. Its
// multiply-adds by pairs are counted.
func BenchmarkBand(b *testing.B) {
	offsets, index, pose, poses := hood(64, 64, 10, 10, 10, 10, disk(10))
	p := New(Find(offsets, index, pose, 64).Tiling(), testkit.Normal[float32](testkit.Rand(1), poses*lanes), lanes)
	f, scale := testkit.Normal[float32](testkit.Rand(2), 64*64*lanes), testkit.Normal[float32](testkit.Rand(3), 64*64)
	out := make([]float32, len(f))
	var ws Workspace
	for b.Loop() {
		p.Band(&ws, p.Among(out, lanes, 0), p.Among(f, lanes, 0), scale, nil, 0, 0, 0, 64)
	}
	b.ReportMetric(float64(len(index)*lanes*2)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// BenchmarkCorrelate is the gradient to the weights of the same slab.
func BenchmarkCorrelate(b *testing.B) {
	offsets, index, pose, poses := hood(64, 64, 10, 10, 10, 10, disk(10))
	t := Find(offsets, index, pose, 64).Tiling()
	f, d := testkit.Normal[float32](testkit.Rand(2), 64*64*lanes), testkit.Normal[float32](testkit.Rand(3), 64*64*lanes)
	dw := make([]float32, poses*lanes)
	var ws Workspace
	for b.Loop() {
		t.Correlate(&ws, dw, d, f, lanes, 0, 0)
	}
	b.ReportMetric(float64(len(index)*lanes*2)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
