package layers_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// A rotation-equivariant convolution on five scattered points: the output at a point does not change when all points
// are rotated together.
func ExampleLieConv() {
	so2, err := group.Parse("SO(2)", 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	conv := layers.NewLieConv[float32](1, 2, layers.LieConvConfig{
		PoseDim: group.PoseDim(so2), Hidden: 8, Mid: 4, Radius: 0.6,
	}, rand.New(rand.NewPCG(1, 1)))

	x := []float64{1, 0, 0.5, 0.5, -1, 0.3, 0.2, -0.8, 0, 1.2} // [5, 2]
	f := []float32{1, -1, 0.5, 2, 0}                           // [5, 1]
	var outs [2][]float32
	for i, angle := range []float64{0, 1} {
		moved := make([]float64, len(x))
		for p := 0; p < len(x); p += 2 {
			so2.Act(moved[p:p+2], []float64{angle}, x[p:p+2])
		}
		g := layers.NewGeometry[float32](group.LiftPoints(so2, moved, 1, 0), nil, nil, 0, 0)
		outs[i] = make([]float32, 5*2)
		if err := conv.Forward(outs[i], f, g, 1); err != nil {
			fmt.Println(err)
			return
		}
	}
	worst := float32(0)
	for k := range outs[0] {
		worst = max(worst, outs[0][k]-outs[1][k], outs[1][k]-outs[0][k])
	}
	fmt.Println("same to float32 rounding:", worst < 1e-5)
	// Output: same to float32 rounding: true
}

// A training loop of one's own: a linear layer learns y = 2x + 1 by gradient descent.
func ExampleGrads() {
	l := layers.NewLinear[float64](1, 1, rand.New(rand.NewPCG(1, 1)))
	params := l.Params("linear.")
	g := layers.NewGrads(params)
	x, want := []float64{-1, 0, 1, 2}, []float64{-1, 1, 3, 5}
	y, dy := make([]float64, 4), make([]float64, 4)
	for range 500 {
		l.Forward(y, x, 4, simd.ActNone)
		for i := range y {
			dy[i] = (y[i] - want[i]) / 4 // the gradient of half the mean squared error
		}
		g.Zero()
		l.Backward(nil, dy, x, 4, g)
		for _, p := range params {
			simd.Axpy(p.Data, -0.3, g.Of(p.Data))
		}
	}
	fmt.Printf("%s %.3f, %s %.3f\n", params[0].Name, params[0].Data[0], params[1].Name, params[1].Data[0])
	// Output: linear.weight 2.000, linear.bias 1.000
}
