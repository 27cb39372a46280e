package simd

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWrongIndices names rows that do not exist, with and without channels, at every level.
func TestWrongIndices(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testWrongIndices[float32])
		t.Run("F64", testWrongIndices[float64])
	})
}

func testWrongIndices[T Float](t *testing.T) {
	x, offsets := make([]T, 64), []int{0, 1}
	for _, bad := range []int32{-1, 2, 3, math.MaxInt32, math.MinInt32} {
		good, wrong := []int32{1}, []int32{bad}
		for name, f := range map[string]func(a, b []int32){
			"Depthwise":      func(a, b []int32) { Depthwise(x[:3], x[:6], x[:6], offsets, a, b, 3, true) },
			"PointConv":      func(a, b []int32) { PointConv(x[:6], x[:4], x[:6], offsets, a, b, 2, 3) },
			"PointConvGradF": func(a, b []int32) { PointConvGradF(x[:2], x[:12], x[:6], offsets, a, b, 2, 3) },
			"PointConvGradW": func(a, b []int32) { PointConvGradW(x[:3], x[:12], x[:4], offsets, a, b, 2, 3) },
			"no outputs":     func(a, b []int32) { PointConv(x[:0], x[:4], x[:0], offsets, a, []int32{0}, 2, 0) },
		} {
			for k, arguments := range [][2][]int32{{wrong, good}, {good, wrong}} {
				if name == "no outputs" && k == 1 {
					continue
				}
				message := fmt.Sprint(panicOf(func() { f(arguments[0], arguments[1]) }))
				require.Regexp(t, fmt.Sprintf(`^simd: .* %d, need 0 to 1$`, bad), message, name)
			}
		}
	}
}

func panicOf(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}
