package layers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
)

// TestOrbitGradients: where pixels come in fours, the results and all gradients in float32 are those of float64, which goes another way and has
// tests against difference quotients; and equal bits for any number of goroutines. Grids of odd size have a pixel that is in no four; where more are
// in none, and in long grids, pairs go another way.
func TestOrbitGradients(t *testing.T) {
	const c, batch = 32, 3
	for _, tt := range []struct {
		group        string
		high, wide   int
		window       Window
		hole         bool
		radius       float64
		fours, alone bool
		most         int
	}{
		{"RxSO(2)", 12, 12, WindowBox, false, 0.6, true, false, 0},
		{"RxSO(2)", 12, 12, WindowSmooth, false, 0.6, true, false, 0},
		{"SO(2)", 11, 11, WindowBox, false, 0.6, true, true, 0},
		{"RxSO(2)", 12, 12, WindowBox, true, 0.6, false, false, 0},
		{"RxSO(2)", 16, 7, WindowBox, false, 0.6, false, false, 0},
		{"RxSO(2)", 12, 12, WindowBox, false, 0.6, false, false, 9}, // drawn neighbours: not all are seen by those that they see
	} {
		t.Run(fmt.Sprintf("%s/%dx%d/%s/hole=%v/most=%d", tt.group, tt.high, tt.wide, tt.window, tt.hole, tt.most), func(t *testing.T) {
			g, err := group.Parse(tt.group, 0)
			require.NoError(t, err)
			var grid []float64
			for i := range tt.high * tt.wide {
				grid = append(grid, float64(i/tt.wide)-float64(tt.high-1)/2, float64(i%tt.wide)-float64(tt.wide-1)/2)
			}
			points := group.LiftPoints(g, grid, 1, 0)
			rows := points.Rows()
			mask := make([]bool, rows)
			for i := range mask {
				mask[i] = !tt.hole || i != 5
			}
			rng := rand.New(rand.NewPCG(61, 1))
			cfg := LieConvConfig{PoseDim: group.PoseDim(g), Hidden: 8, Radius: tt.radius, Window: tt.window}
			wide := NewDepthwiseLieConv[float64](c, cfg, rng)
			spread(wide.Params(""), rng)
			layer := NewDepthwiseLieConv[float32](c, cfg, rng)
			for i, p := range layer.Params("") {
				for k, v := range wide.Params("")[i].Data {
					p.Data[k] = float32(v)
				}
			}
			f, dout := normals[float32](rng, batch*rows*c), normals[float32](rng, batch*rows*c)
			run := func(procs int) [][]float32 {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				geo := NewGeometry[float32](points, mask, nil, tt.most, 3)
				y, df, grads := make([]float32, len(f)), make([]float32, len(f)), NewGrads(layer.Params(""))
				tape, err := layer.ForwardTape(y, f, geo, batch, Train)
				require.NoError(t, err)
				require.Equal(t, tt.fours, tape.fours != nil)
				if tt.fours {
					alone := 0
					for k := range tape.fours.query {
						alone += tape.fours.query[k].orbits.Alone()
					}
					require.Equal(t, tt.alone, alone > 0)
				}
				tape.Backward(df, dout, grads)
				only := NewGrads(layer.Params(""))
				tape.Backward(nil, dout, only)
				require.Equal(t, grads.Data, only.Data)
				return append(grads.Data, y, df)
			}
			got := run(1)
			require.Equal(t, got, run(4))

			exact := NewDepthwiseLieConv[float64](c, cfg, rng)
			for i, p := range exact.Params("") {
				for k, v := range layer.Params("")[i].Data {
					p.Data[k] = float64(v)
				}
			}
			y, df, grads := make([]float64, len(f)), make([]float64, len(f)), NewGrads(exact.Params(""))
			tape, err := exact.ForwardTape(y, asFloat64(f), NewGeometry[float64](points, mask, nil, tt.most, 3), batch, Train)
			require.NoError(t, err)
			tape.Backward(df, asFloat64(dout), grads)
			for i, want := range append(grads.Data, y, df) {
				require.Len(t, got[i], len(want))
				size := largest(want)
				for k, v := range want {
					if d := math.Abs(v - float64(got[i][k])); !(d <= 2e-5*size) {
						t.Fatalf("array %d[%d] is %v, in float64 %v, the largest %v", i, k, got[i][k], v, size)
					}
				}
			}
		})
	}
}
