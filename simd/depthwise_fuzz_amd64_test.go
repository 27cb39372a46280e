//go:build !purego

package simd

import (
	encoding "encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// FuzzDepthwiseSlices wants the same bits from rows in slices, in groups of either size and one by one, on any shape and bit patterns. It
// stands here, as slices are otherwise for neighbourhoods of hundreds of thousands of pairs.
func FuzzDepthwiseSlices(f *testing.F) {
	f.Add([]byte{0, 0, 128, 63}, uint64(1), uint16(128), uint8(7), uint8(40), true)
	f.Add([]byte{0, 0, 128, 127, 1, 2, 3, 4}, uint64(2), uint16(49), uint8(80), uint8(3), false)
	f.Add([]byte{}, uint64(3), uint16(300), uint8(1), uint8(0), true)
	row, repeats, tall, reach, most := depthwiseSliceRow, depthwiseSliceRepeats, depthwiseTall, depthwiseReach, maxPlace
	f.Cleanup(func() {
		depthwiseSliceRow, depthwiseSliceRepeats, depthwiseTall, depthwiseReach, maxPlace = row, repeats, tall, reach, most
	})
	f.Fuzz(func(t *testing.T, bits []byte, seed uint64, channels uint16, poses, length uint8, mean bool) {
		depthwiseSliceRow, depthwiseSliceRepeats, depthwiseTall, depthwiseReach = 0, 1, seed%2 == 0, int32(seed>>1%2)<<30
		maxPlace = lastPlace * int(1-seed>>2%2)
		defer func(l Level) {
			if err := SetLevel(l); err != nil {
				t.Fatal(err)
			}
		}(level)
		rng := rand.New(rand.NewPCG(seed, 0))
		c, poseRows := 1+int(channels)%300, 1+int(poses)
		points := cpu.DataCaches().L1/(4*c) + 1
		fill := func(n int) []float32 {
			x := testkit.AtEnd[float32](t, n)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
				if k := i % 97 * 4; k+4 <= len(bits) {
					x[i] = math.Float32frombits(encoding.LittleEndian.Uint32(bits[k:]))
				}
			}
			return x
		}
		var index, pose []int32
		offsets := []int{rng.IntN(3)}
		for len(index) < points+poseRows && len(offsets) < 300 {
			list := make([]int32, rng.IntN(int(length)+2))
			for k := range list {
				list[k] = int32(rng.IntN(poseRows))
			}
			for range 1 + rng.IntN(20) {
				for _, p := range list {
					index, pose = append(index, int32(rng.IntN(points))), append(pose, p)
				}
				offsets = append(offsets, offsets[len(offsets)-1]+len(list))
			}
		}
		rows := len(offsets) - 1
		x, w := fill(points*c), fill(poseRows*c)
		ix, ps := testkit.CopyAtEnd(t, index), testkit.CopyAtEnd(t, pose)
		out := testkit.AtEnd[float32](t, rows*c)
		for _, l := range Levels() {
			if err := SetLevel(l); err != nil {
				t.Fatal(err)
			}
			want := rowByRow(x, w, offsets, ix, ps, c, mean)
			DepthwiseF32(out, x, w, offsets, ix, ps, c, mean)
			if !testkit.SameBits(out, want) {
				t.Errorf("level=%v: %d rows of %d channels, %d points, %d poses, differ from rows one by one", l, rows, c, points, poseRows)
			}
			checked := NewDepthwiseRows(offsets, ix, ps, nil, points, poseRows)
			DepthwiseRowsF32(out, x, w, checked, c, mean)
			if !testkit.SameBits(out, rowByRow(x, w, offsets, checked.index, checked.pose, c, mean)) {
				t.Errorf("level=%v: %d rows of %d channels, %d points, %d poses, in order, differ from rows one by one", l, rows,
					c, points, poseRows)
			}
		}
	})
}
