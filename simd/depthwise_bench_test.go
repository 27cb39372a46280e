package simd

import (
	"fmt"
	"slices"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// diskPairs returns the neighbourhood of every point of a periodic 64 x 64 grid: the nearest 273 points, and as pose the
// number of their offset. Rows are ordered by index, as a neighbourhood lists them, or else by distance.
func diskPairs(byIndex bool) (offsets []int, index, pose []int32) {
	const side, perRow, reach = 64, 273, 12
	type offset struct{ y, x int }
	var disk []offset
	for y := -reach; y <= reach; y++ {
		for x := -reach; x <= reach; x++ {
			disk = append(disk, offset{y, x})
		}
	}
	slices.SortStableFunc(disk, func(a, b offset) int { return a.y*a.y + a.x*a.x - b.y*b.y - b.x*b.x })
	offsets = []int{0}
	for i := range side * side {
		var row [][2]int32
		for p, d := range disk[:perRow] {
			j := (i/side+d.y+side)%side*side + (i+d.x+side)%side
			row = append(row, [2]int32{int32(j), int32(p)})
		}
		if byIndex {
			slices.SortFunc(row, func(a, b [2]int32) int { return int(a[0] - b[0]) })
		}
		for _, r := range row {
			index, pose = append(index, r[0]), append(pose, r[1])
		}
		offsets = append(offsets, len(index))
	}
	return offsets, index, pose
}

// BenchmarkDepthwiseGridF32 counts two operations per multiply-add as two bytes, so that MB/s reads as Mflop/s.
func BenchmarkDepthwiseGridF32(b *testing.B) {
	const points, poses = 4096, 273
	for _, c := range []int{16, 32, 128} {
		f, w := testkit.Normal[float32](testkit.Rand(1), points*c), testkit.Normal[float32](testkit.Rand(2), poses*c)
		out := make([]float32, points*c)
		for _, order := range []string{"index", "distance", "shuffled"} {
			offsets, index, pose := diskPairs(order == "index")
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
	offsets, index, pose := diskPairs(true)
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
