package layers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

// The authors' gradients of sum(out·cotangent) with respect to the input and every parameter, in three modes. Both
// instantiations are compared with the float64 record.

type gradTolerance struct {
	Input32 float64  `json:"grad_input_f32_abs"`
	Param64 float64  `json:"param_grad_f64_rel"`
	Zero    []string `json:"zero_grads_ignore"`
}

func largest(v []float64) float64 {
	m := 0.0
	for _, x := range v {
		m = max(m, math.Abs(x))
	}
	return m
}

func (g gradTolerance) input(is32 bool, want []float64) float64 {
	if is32 {
		return g.Input32
	}
	return g.Param64 * largest(want)
}

// requireGrads compares the gradients of all parameters with the recorded ones. Those that are 0 but for rounding are held
// to the size of the others.
func requireGrads[T Float](t *testing.T, g *testkit.Golden, prefix string, grads *Grads[T], tol gradTolerance) {
	t.Helper()
	_, is32 := any(T(0)).(float32)
	n, scale := 0, 0.0
	for _, name := range g.Names(prefix) {
		want, _ := g.F64(prefix + name)
		scale = max(scale, largest(want))
	}
	for i, p := range grads.Params {
		if p.Buffer {
			require.Nil(t, grads.Data[i])
			continue
		}
		want, _ := g.F64(prefix + p.Name)
		limit := tol.Param64 * largest(want)
		if is32 {
			limit = 1e-3*largest(want) + 1e-5 // the manifest's rule
		}
		if slices.Contains(tol.Zero, p.Name) {
			limit = map[bool]float64{true: 1e-5, false: tol.Param64}[is32] * scale
		}
		testkit.Close(t, "gradient of "+p.Name, grads.Data[i], want, limit)
		n++
	}
	require.Equal(t, len(g.Names(prefix)), n, "gradients compared")
}

func testLayerGrad[T Float](t *testing.T, kind string) {
	rng := rand.New(rand.NewPCG(1, 2))
	_, is32 := any(T(0)).(float32)
	for _, grp := range []string{"T2", "SO2", "RxSO2", "SE2"} {
		g := testkit.OpenGolden(t, "layer_"+kind+"_"+grp)
		m := readMeta(g)
		var tol map[string]gradTolerance
		var outTol map[string]modeTolerance
		g.Tolerance(&tol)
		g.Tolerance(&outTol)
		_, in := g.F64("values")
		ci := in[2]
		for _, gm := range goldenModes {
			for _, real := range []bool{false, true} {
				if testing.Short() && !real {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/real=%v", grp, gm.name, real), func(t *testing.T) {
					geometry := recordedGeometry[T]
					if real {
						geometry = realGeometry[T]
					}
					geo := geometry(t, g, m)
					want, outShape := g.F64(gm.name + ".f64.out")
					co := outShape[2]
					cfg := LieConvConfig{PoseDim: group.PoseDim(geo.Points.Group), Hidden: 32, Mid: 16, BatchNorm: gm.norm,
						Radius: m.r, Fill: m.fill, Rate: m.rate}
					f, out, dout := values[T](g, "values"), make([]T, len(want)), values[T](g, "cotangent")
					keep, keepOut := append([]T(nil), f...), append([]T(nil), dout...)
					df := make([]T, len(f))
					var params []Param[T]
					var grads *Grads[T]
					switch kind {
					case "lieconv":
						l := NewLieConv[T](ci, co, cfg, rng)
						params = l.Params("")
						setState(t, g, params)
						grads = NewGrads(params)
						tape, err := l.ForwardTape(out, f, geo, 1, gm.mode)
						require.NoError(t, err)
						tape.Backward(df, dout, grads)
					case "depthwise":
						l := NewDepthwiseLieConv[T](ci, cfg, rng)
						params = l.Params("")
						setState(t, g, params)
						grads = NewGrads(params)
						tape, err := l.ForwardTape(out, f, geo, 1, gm.mode)
						require.NoError(t, err)
						tape.Backward(df, dout, grads)
					case "separable":
						l := NewSeparableLieConv[T](ci, co, cfg, rng)
						params = l.Params("")
						setState(t, g, params)
						grads = NewGrads(params)
						tape, err := l.ForwardTape(out, f, geo, 1, gm.mode, simd.ActNone)
						require.NoError(t, err)
						tape.Backward(df, dout, grads)
					case "resblock":
						l := NewResidualBlock[T](ci, cfg, rng)
						params = l.Params("")
						setState(t, g, params)
						grads = NewGrads(params)
						tape, err := l.ForwardTape(out, f, geo, 1, gm.mode)
						require.NoError(t, err)
						tape.Backward(df, dout, grads)
					}
					require.Equal(t, keep, f, "the input is unmodified")
					require.Equal(t, keepOut, dout, "the gradient given is unmodified")
					o, after := outTol[gm.name].pick(is32)
					testkit.Close(t, "output", out, want, o)
					if gm.mode == Train {
						requireAfter(t, g, gm.name+".f64.after.", params, after)
					}
					wantInput, _ := g.F64(gm.name + ".f64.grad_input")
					testkit.Close(t, "gradient of the input", df, wantInput, tol[gm.name].input(is32, wantInput))
					requireGrads(t, g, gm.name+".f64.grad.", grads, tol[gm.name])
				})
			}
		}
	}
}

func TestGoldenGradientsF64(t *testing.T) {
	for _, kind := range []string{"lieconv", "depthwise", "separable", "resblock"} {
		t.Run(kind, func(t *testing.T) { testLayerGrad[float64](t, kind) })
	}
}

func TestGoldenGradientsF32(t *testing.T) {
	for _, kind := range []string{"lieconv", "depthwise", "separable", "resblock"} {
		t.Run(kind, func(t *testing.T) { testLayerGrad[float32](t, kind) })
	}
}

func testWeightNetGrad[T Float](t *testing.T) {
	g := testkit.OpenGolden(t, "layer_weightnet")
	var tol map[string]gradTolerance
	g.Tolerance(&tol)
	_, is32 := any(T(0)).(float32)
	x, mask, cotangent := values[T](g, "x"), values[T](g, "mask"), values[T](g, "cotangent")
	for _, gm := range goldenModes {
		t.Run(gm.name, func(t *testing.T) {
			net := NewWeightNet[T](3, 32, 16, gm.norm, rand.New(rand.NewPCG(1, 2)))
			setState(t, g, net.Params(""))
			wantInput, _ := g.F64(gm.name + ".f64.grad_input")
			// With normalisation, padding enters the last one as rows of zeros that do not count in the statistics, and its
			// cotangents count. Without normalisation padding is a row like any other.
			var pose, dw, padding []T
			var want []float64
			for i, ok := range mask {
				if ok != 0 || !gm.norm {
					pose = append(pose, x[3*i:3*i+3]...)
					dw = append(dw, cotangent[16*i:16*i+16]...)
					want = append(want, wantInput[3*i:3*i+3]...)
				} else {
					padding = append(padding, cotangent[16*i:16*i+16]...)
				}
			}
			rows := len(pose) / 3
			grads := NewGrads(net.Params(""))
			tape := net.ForwardTape(pose, rows, nil, 1, gm.mode)
			dpose := make([]T, len(pose))
			if padding == nil {
				tape.Backward(dpose, dw, grads)
			} else {
				u := append(append([]T(nil), tape.linear[2]...), make([]T, len(padding))...)
				count := make([]int32, len(u)/16)
				for i := range rows {
					count[i] = 1
				}
				z, dy := make([]T, len(u)), append(dw, padding...)
				norm := net.Norm[2].ForwardTape(z, u, count, 1, gm.mode)
				simd.SwishGrad(dy, dy, z)
				net.Norm[2].Backward(dy, dy, u, norm, grads)
				dh1 := make([]T, rows*32)
				net.Linear[2].Backward(dh1, dy[:rows*16], tape.input(make([]T, rows*32), 2, 0, rows), rows, grads)
				tape.backward(1, dpose, dh1, allRows[T]{tape.rows, 32}, grads)
			}
			testkit.Close(t, "gradient of the poses", dpose, want, tol[gm.name].input(is32, want))
			requireGrads(t, g, gm.name+".f64.grad.", grads, tol[gm.name])
		})
	}
}

func TestGoldenWeightNetGradients(t *testing.T) {
	t.Run("F64", testWeightNetGrad[float64])
	t.Run("F32", testWeightNetGrad[float32])
}
