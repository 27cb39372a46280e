package bf16

import "testing"

// BenchmarkPackTiles packs a layer of the paper's image model, as a plan that is made or read does for each.
func BenchmarkPackTiles(b *testing.B) {
	w := make([]float32, 128*128)
	for i := range w {
		w[i] = float32(i%97) / 97
	}
	for b.Loop() {
		PackTiles(w, 128, 128, 128, 2)
	}
}
