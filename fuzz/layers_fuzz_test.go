package fuzz

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// exactGroups act with a trivial stabiliser, or are sampled so that the drawn element maps the samples to themselves:
// under them moving all points changes no relative pose.
var exactGroups = []string{"T(1)", "T(2)", "T(3)", "SO(2)", "R>0xSO(2)", "R>0(1)", "R>0(2)", "SE(2)", "trivial(2)"}

// element draws algebra coordinates of a moderate element.
func element(g group.Group, rng *rand.Rand) []float64 {
	a := make([]float64, g.AlgebraDim())
	for i := range a {
		a[i] = rng.NormFloat64()
	}
	if g.Name() == "SE(2)" { // its single stabiliser sample turns with a rotation
		a[0] = 0
	}
	return a
}

func moved(g group.Group, a, x []float64) []float64 {
	out, d := make([]float64, len(x)), g.PointDim()
	for i := 0; i < len(x); i += d {
		g.Act(out[i:i+d], a, x[i:i+d])
	}
	return out
}

// farFromBorder reports whether no pair's distance is so close to r that rounding decides who is a neighbour; there two
// right answers exist.
func farFromBorder(g group.Group, x []float64, r float64) bool {
	l := group.LiftPoints(g, x, 1, 0)
	pose := make([]float64, group.PoseDim(g))
	for i := range l.Rows() {
		for j := range l.Rows() {
			ai, qi := l.Row(i)
			aj, qj := l.Row(j)
			g.RelativePose(pose, ai, qi, aj, qj)
			if math.Abs(g.Distance(pose)-r) < 1e-9*(1+r) {
				return false
			}
			for _, v := range pose[:g.AlgebraDim()] { // a half turn has two logarithms
				if math.Abs(math.Abs(v)-math.Pi) < 1e-9 {
					return false
				}
			}
		}
	}
	return true
}

func closeTo(t *testing.T, what string, got, want []float64) {
	t.Helper()
	size := 1.0
	for _, v := range want {
		size = max(size, math.Abs(v))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-8*size) {
			t.Fatalf("%s: value %d is %v, was %v before the points moved", what, i, got[i], want[i])
		}
	}
}

// FuzzLayerEquivariance: the features that a residual block or a LieConv computes at points do not change when all
// points move together.
func FuzzLayerEquivariance(f *testing.F) {
	for i := range exactGroups {
		f.Add(uint64(i), uint8(i), uint8(5+3*i), 0.3)
	}
	f.Fuzz(func(t *testing.T, seed uint64, which, n uint8, radius float64) {
		g, err := group.Parse(exactGroups[int(which)%len(exactGroups)], 0)
		if err != nil {
			t.Fatal(err)
		}
		if !(radius >= 0 && radius < 1e3) {
			t.Skip("no such ball")
		}
		points := 1 + int(n)%40
		rng := rand.New(rand.NewPCG(seed, 1))
		x, features := make([]float64, points*g.PointDim()), make([]float64, points*3)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		for i := range features {
			features[i] = rng.NormFloat64()
		}
		if !farFromBorder(g, x, radius) {
			t.Skip("a pair on the border")
		}
		cfg := layers.LieConvConfig{PoseDim: group.PoseDim(g), Hidden: 6, Mid: 4, BatchNorm: true, Radius: radius}
		conv, block := layers.NewLieConv[float64](3, 5, cfg, rng), layers.NewResidualBlock[float64](5, cfg, rng)
		run := func(x []float64) []float64 {
			geo := layers.NewGeometry[float64](group.LiftPoints(g, x, 1, 0), nil, nil, 0, 0)
			h := make([]float64, points*5)
			if err := conv.Forward(h, features, geo, 1); err != nil {
				t.Fatal(err)
			}
			simd.Swish(h, h)
			if err := block.Forward(h, geo, 1); err != nil {
				t.Fatal(err)
			}
			return h
		}
		closeTo(t, g.Name(), run(moved(g, element(g, rng), x)), run(x))
	})
}

// FuzzModelEquivariance: a model whose features sit on its context points and targets predicts the same wherever the
// group moves them, in whatever order the context comes.
func FuzzModelEquivariance(f *testing.F) {
	for i := range exactGroups {
		f.Add(uint64(i), uint8(i), uint8(i), uint8(3))
	}
	models := map[string]cnp.Regressor[float64]{}
	f.Fuzz(func(t *testing.T, seed uint64, which, nc, nt uint8) {
		name := exactGroups[int(which)%len(exactGroups)]
		g, err := group.Parse(name, 0)
		if err != nil {
			t.Fatal(err)
		}
		if models[name] == nil {
			c := cnp.Default(cnp.EquivCNPCurve, name, 1)
			c.PointsPerUnit, c.Channels, c.Hidden, c.Mid, c.Fill = 0, []int{4, 6, 4}, 6, 3, 0.3
			m, err := cnp.New[float64](c, 1)
			if err != nil {
				t.Fatal(err)
			}
			models[name] = m.(cnp.Regressor[float64])
		}
		m := models[name]
		rng := rand.New(rand.NewPCG(seed, 2))
		b := &cnp.Batch[float64]{B: 1, Nc: int(nc) % 20, Nt: 1 + int(nt)%20}
		d := g.PointDim()
		for range b.Nc * d {
			b.XContext = append(b.XContext, rng.NormFloat64())
		}
		for range b.Nc {
			b.YContext = append(b.YContext, rng.NormFloat64())
		}
		for range b.Nt * d {
			b.XTarget = append(b.XTarget, rng.NormFloat64())
		}
		for _, p := range m.State() {
			if p.Name == "conv.0.r" && !farFromBorder(g, append(append([]float64{}, b.XContext...), b.XTarget...), p.Data[0]) {
				t.Skip("a pair on the border")
			}
		}
		want, err := m.Predict(context.Background(), b)
		if err != nil {
			t.Fatal(err)
		}
		a, other := element(g, rng), *b
		other.XContext, other.YContext = nil, nil
		x := moved(g, a, b.XContext)
		for _, i := range rng.Perm(b.Nc) {
			other.XContext = append(other.XContext, x[i*d:(i+1)*d]...)
			other.YContext = append(other.YContext, b.YContext[i])
		}
		other.XTarget = moved(g, a, b.XTarget)
		got, err := m.Predict(context.Background(), &other)
		if err != nil {
			t.Fatal(err)
		}
		closeTo(t, fmt.Sprint(name, " mean"), got.Mean, want.Mean)
		closeTo(t, fmt.Sprint(name, " std"), got.Std, want.Std)
	})
}
