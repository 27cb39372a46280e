package layers

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// The authors' layers with random weights: outputs and updated buffers in three modes, recorded in float64 and float32.
// Both instantiations are compared with the float64 record, each within the tolerance that the manifest gives it.

type modeTolerance struct {
	Out32   float64 `json:"out_f32_abs"`
	Out64   float64 `json:"out_f64_abs"`
	After32 float64 `json:"after_f32_abs"`
}

func (m modeTolerance) pick(is32 bool) (out, after float64) {
	if is32 {
		return m.Out32, m.After32
	}
	return m.Out64, 1e-9
}

var goldenModes = []struct {
	name string
	mode Mode
	norm bool
}{{"eval", Eval, true}, {"train", Train, true}, {"nobn", Train, false}}

// values returns a recorded tensor as T.
func values[T Float](g *testkit.Golden, name string) []T {
	w, _ := g.F64(name)
	v := make([]T, len(w))
	for i := range w {
		v[i] = T(w[i])
	}
	return v
}

// setState copies the recorded parameters and buffers into a layer; every one must be there, with its shape.
func setState[T Float](t *testing.T, g *testkit.Golden, ps []Param[T]) {
	t.Helper()
	for _, p := range ps {
		kind := "param."
		if p.Buffer {
			kind = "buffer."
		}
		_, shape := g.F64(kind + p.Name)
		require.Equal(t, p.Shape, shape, p.Name)
		copy(p.Data, values[T](g, kind+p.Name))
	}
}

// requireAfter compares the buffers after a training step.
func requireAfter[T Float](t *testing.T, g *testkit.Golden, prefix string, ps []Param[T], tol float64) {
	t.Helper()
	n := 0
	for _, p := range ps {
		if p.Buffer && g.Has(prefix+p.Name) {
			want, _ := g.F64(prefix + p.Name)
			testkit.Close(t, p.Name+" after the step", p.Data, want, tol)
			n++
		}
	}
	require.Equal(t, len(g.Names(prefix)), n, "buffers compared")
}

type layerMeta struct {
	group      string
	alpha, r   float64
	fill, rate float64
	b, n       int
}

func readMeta(g *testkit.Golden) layerMeta {
	var m layerMeta
	g.Meta("group", &m.group)
	g.Meta("alpha", &m.alpha)
	g.Meta("r", &m.r)
	g.Meta("fill_target", &m.fill)
	g.Meta("coeff", &m.rate)
	g.Meta("B", &m.b)
	g.Meta("N", &m.n)
	return m
}

// recordedGeometry builds a geometry whose neighbourhoods and relative poses are the recorded ones, to the bit.
func recordedGeometry[T Float](t *testing.T, g *testkit.Golden, m layerMeta) *Geometry[T] {
	geo := testkit.OpenGolden(t, "layer_geometry_"+m.group)
	x, _ := geo.F64("coords")
	grp, err := group.Parse(m.group, m.alpha)
	require.NoError(t, err)
	maskv, _ := g.F64("mask")
	mask := make([]bool, len(maskv))
	for i := range mask {
		mask[i] = maskv[i] != 0
	}
	near, _ := g.F64("neighbours")
	pairs, shape := geo.F64("pairs_f64")
	e := shape[3]
	nb := &neighbor.Neighborhood{Queries: m.b * m.n, Points: m.b * m.n, Offsets: []int{0}, PoseDim: e}
	for i := range m.b * m.n {
		for j := range m.n {
			if at := i*m.n + j; near[at] != 0 {
				nb.Index = append(nb.Index, int32(i/m.n*m.n+j))
				nb.Pose = append(nb.Pose, int32(len(nb.Count)))
				nb.Poses = append(nb.Poses, pairs[at*e:(at+1)*e]...)
				nb.Count = append(nb.Count, 1)
			}
		}
		nb.Offsets = append(nb.Offsets, len(nb.Index))
	}
	out := NewGeometry[T](group.LiftPoints(grp, x, 1, 0), mask, []int{0, m.n, 2 * m.n}, 0, 0)
	p := NewPairs[T](nb)
	p.Radius = float64(T(m.r))
	out.all = append(out.all, p)
	return out
}

// realGeometry lets the library find the neighbourhoods.
func realGeometry[T Float](t *testing.T, g *testkit.Golden, m layerMeta) *Geometry[T] {
	r := recordedGeometry[T](t, g, m)
	r.all = nil
	return r
}

type goldenLayer[T Float] interface {
	Params(prefix string) []Param[T]
}

func testLayer[T Float](t *testing.T, kind string) {
	rng := rand.New(rand.NewPCG(1, 2))
	var zero T
	_, is32 := any(zero).(float32)
	for _, grp := range []string{"T2", "SO2", "RxSO2", "SE2"} {
		g := testkit.OpenGolden(t, "layer_"+kind+"_"+grp)
		m := readMeta(g)
		var tol map[string]modeTolerance
		g.Tolerance(&tol)
		_, in := g.F64("values")
		ci := in[2]
		for _, gm := range goldenModes {
			for _, real := range []bool{false, true} {
				if testing.Short() && real && gm.mode == Train {
					continue // the tests of gradients compare the same output
				}
				t.Run(fmt.Sprintf("%s/%s/real=%v", grp, gm.name, real), func(t *testing.T) {
					var geo *Geometry[T]
					outTol, afterTol := tol[gm.name].pick(is32)
					if real {
						geo = realGeometry[T](t, g, m)
					} else {
						geo = recordedGeometry[T](t, g, m)
					}
					want, outShape := g.F64(gm.name + ".f64.out")
					co := outShape[2]
					cfg := LieConvConfig{PoseDim: group.PoseDim(geo.Points.Group), Hidden: 32, Mid: 16, BatchNorm: gm.norm,
						Radius: m.r, Fill: m.fill, Rate: m.rate}
					f, out := values[T](g, "values"), make([]T, len(want))
					keep := append([]T(nil), f...)
					var layer goldenLayer[T]
					var err error
					switch kind {
					case "lieconv":
						l := NewLieConv[T](ci, co, cfg, rng)
						setState(t, g, l.Params(""))
						layer = l
						if _, err = l.ForwardTape(out, f, geo, 1, gm.mode); err == nil && gm.mode == Eval {
							testkit.Close(t, "ForwardTape's output", out, want, outTol)
							err = l.Forward(out, f, geo, 1)
						}
					case "depthwise":
						l := NewDepthwiseLieConv[T](ci, cfg, rng)
						setState(t, g, l.Params(""))
						layer = l
						if _, err = l.ForwardTape(out, f, geo, 1, gm.mode); err == nil && gm.mode == Eval {
							testkit.Close(t, "ForwardTape's output", out, want, outTol)
							err = l.Forward(out, f, geo, 1)
						}
					case "separable":
						l := NewSeparableLieConv[T](ci, co, cfg, rng)
						setState(t, g, l.Params(""))
						layer = l
						if _, err = l.ForwardTape(out, f, geo, 1, gm.mode, simd.ActNone); err == nil && gm.mode == Eval {
							testkit.Close(t, "ForwardTape's output", out, want, outTol)
							err = l.Forward(out, f, geo, 1, simd.ActNone)
						}
					case "resblock":
						l := NewResidualBlock[T](ci, cfg, rng)
						setState(t, g, l.Params(""))
						layer = l
						if _, err = l.ForwardTape(out, f, geo, 1, gm.mode); err == nil && gm.mode == Eval {
							testkit.Close(t, "ForwardTape's output", out, want, outTol)
							copy(out, f)
							err = l.Forward(out, geo, 1)
						}
					}
					require.NoError(t, err)
					require.Equal(t, keep, f, "the input is unmodified")
					testkit.Close(t, "output", out, want, outTol)
					if gm.mode == Train {
						requireAfter(t, g, gm.name+".f64.after.", layer.Params(""), afterTol)
					}
				})
			}
		}
	}
}

func TestGoldenLayersF64(t *testing.T) {
	for _, kind := range []string{"lieconv", "depthwise", "separable", "resblock"} {
		t.Run(kind, func(t *testing.T) { testLayer[float64](t, kind) })
	}
}

func TestGoldenLayersF32(t *testing.T) {
	for _, kind := range []string{"lieconv", "depthwise", "separable", "resblock"} {
		t.Run(kind, func(t *testing.T) { testLayer[float32](t, kind) })
	}
}

func testWeightNet[T Float](t *testing.T) {
	g := testkit.OpenGolden(t, "layer_weightnet")
	var tol map[string]modeTolerance
	g.Tolerance(&tol)
	var zero T
	_, is32 := any(zero).(float32)
	x, mask := values[T](g, "x"), values[T](g, "mask")
	for _, gm := range goldenModes {
		t.Run(gm.name, func(t *testing.T) {
			outTol, afterTol := tol[gm.name].pick(is32)
			net := NewWeightNet[T](3, 32, 16, gm.norm, rand.New(rand.NewPCG(1, 2)))
			setState(t, g, net.Params(""))
			all, _ := g.F64(gm.name + ".f64.out")
			var pose []T // the rows that count; padding holds junk and is simply not there
			var want []float64
			for i, ok := range mask {
				if ok != 0 {
					pose = append(pose, x[3*i:3*i+3]...)
					want = append(want, all[16*i:16*i+16]...)
				}
			}
			n := len(pose) / 3
			out := make([]T, 16*n)
			if gm.mode == Eval {
				net.Forward(out, pose, n)
			} else {
				copy(out, net.ForwardTape(pose, n, nil, 1, Train).Weights())
				requireAfter(t, g, gm.name+".f64.after.", net.Params(""), afterTol)
			}
			testkit.Close(t, "output", out, want, outTol)
		})
	}
}

func TestGoldenWeightNetF64(t *testing.T) { testWeightNet[float64](t) }
func TestGoldenWeightNetF32(t *testing.T) { testWeightNet[float32](t) }
