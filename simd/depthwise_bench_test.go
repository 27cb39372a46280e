package simd

import (
	"fmt"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// BenchmarkDepthwiseGridF32 counts two operations per multiply-add as two bytes, so that MB/s reads as Mflop/s.
func BenchmarkDepthwiseGridF32(b *testing.B) {
	const points, poses = 4096, 273
	for _, c := range []int{16, 32, 128} {
		f, w := testkit.Normal[float32](testkit.Rand(1), points*c), testkit.Normal[float32](testkit.Rand(2), poses*c)
		out := make([]float32, points*c)
		for _, order := range []string{"index", "distance", "shuffled"} {
			offsets, index, pose := testkit.DiskPairs(order == "index")
			if order == "shuffled" { // no two rows have the same poses
				rng := testkit.Rand(3)
				for i := range points {
					ix, ps := index[offsets[i]:offsets[i+1]], pose[offsets[i]:offsets[i+1]]
					rng.Shuffle(4, func(a, b int) { ix[a], ix[b], ps[a], ps[b] = ix[b], ix[a], ps[b], ps[a] })
				}
			}
			benchLevels(b, fmt.Sprintf("c=%d/order=%s", c, order), 2*len(index)*c,
				func() { DepthwiseF32(out, f, w, offsets, index, pose, c, true) })
		}
	}
}

// BenchmarkDepthwiseStreamF32 has a row of weights for each pair, 573 MB of them: MB/s is what is read of the weights.
func BenchmarkDepthwiseStreamF32(b *testing.B) {
	const points, c = 4096, 128
	offsets, index, pose := testkit.DiskPairs(true)
	f, w := testkit.Normal[float32](testkit.Rand(1), points*c), make([]float32, len(index)*c)
	for i := range w {
		w[i] = float32(i % 7)
	}
	for k := range pose {
		pose[k] = int32(k)
	}
	out := make([]float32, points*c)
	benchLevels(b, fmt.Sprintf("pairs=%d/c=%d", len(index), c), len(w)*4,
		func() { DepthwiseF32(out, f, w, offsets, index, pose, c, true) })
}
