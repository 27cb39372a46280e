package cnp_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
)

// A translation-equivariant model on scattered points: moving context and target together moves nothing in the answer.
// The weights are random here; package weights reads trained ones.
func Example() {
	c := cnp.Default(cnp.EquivCNPCurve, "T(2)", 1)
	c.PointsPerUnit = 0 // no lattice: the context points and targets carry the features
	m, err := cnp.New[float64](c, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	model := m.(cnp.Regressor[float64])
	predict := func(shift float64) float64 {
		p, err := model.Predict(context.Background(), &cnp.Batch[float64]{
			B: 1, Nc: 3, Nt: 1,
			XContext: []float64{0 + shift, 0, 1 + shift, 0.5, 0.2 + shift, 1},
			YContext: []float64{1, -1, 0.5},
			XTarget:  []float64{0.4 + shift, 0.4},
		})
		if err != nil {
			fmt.Println(err)
			return 0
		}
		return p.Mean[0]
	}
	d := predict(0) - predict(100)
	fmt.Println("unchanged by a shift of 100:", d < 1e-9 && d > -1e-9)
	// Output: unchanged by a shift of 100: true
}

// Completing an image: half of a 6 x 6 picture is observed, the model predicts all of it.
func ExampleNew() {
	c := cnp.Default(cnp.EquivCNPImage, "SO(2)", 1)
	c.Channels, c.Blocks = []int{8}, 1
	m, err := cnp.New[float32](c, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	im := &cnp.Images[float32]{B: 1, C: 1, H: 6, W: 6, Pixels: make([]float32, 36), Mask: make([]bool, 36)}
	for i := range im.Pixels {
		im.Pixels[i], im.Mask[i] = float32(i%6)/5, i%2 == 0
	}
	p, err := m.(cnp.Completer[float32]).Complete(context.Background(), im)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(p.Mean), len(p.Std), p.Std[0] > 0)
	// Output: 36 36 true
}

// A plan holds what does not depend on the image; batches run through it, here predicted at twice as many places along each
// side as there are pixels.
func ExamplePlanner_images() {
	c := cnp.Default(cnp.EquivCNPImage, "T(2)", 1)
	c.Channels, c.Blocks = []int{8}, 1
	m, err := cnp.New[float32](c, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	plan, err := m.Plan(ctx, cnp.Pixels(6, 6).Upsampled(2), cnp.PlanOptions{Memory: 64 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	im := &cnp.Images[float32]{B: 2, C: 1, H: 6, W: 6, Pixels: make([]float32, 72), Mask: make([]bool, 72)}
	for i := range im.Pixels {
		im.Pixels[i], im.Mask[i] = float32(i%6)/5, i%3 == 0
	}
	dst := plan.NewPrediction(im)
	if err := plan.Predict(ctx, dst, im); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(dst.Mean), dst.Std[0] > 0)
	// Output: 288 true
}

// A curve plan fixes the lattice: a task's answer does not depend on the others of its batch.
func ExamplePlanner_curves() {
	m, err := cnp.New[float32](cnp.Default(cnp.EquivCNPCurve, "T(1)", 1), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	plan, err := m.Plan(ctx, cnp.Interval(-2, 2), cnp.PlanOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	task := &cnp.Batch[float32]{B: 1, Nc: 2, Nt: 3, XContext: []float64{-1, 1}, YContext: []float32{0.5, -0.5},
		XTarget: []float64{-2, 0, 1.5}}
	dst := plan.NewPrediction(task)
	if err := plan.Predict(ctx, dst, task); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(dst.Mean), dst.Std[0] > 0)
	// Output: 3 true
}

// Joint samples of the values at four targets: each is drawn given those that were drawn before it. A sample depends on the seed and its
// number alone.
func ExampleSampleCurves() {
	m, err := cnp.New[float32](cnp.Default(cnp.EquivCNPCurve, "T(1)", 1), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	model := m.(cnp.Regressor[float32])
	task := &cnp.Batch[float32]{B: 1, Nc: 2, Nt: 4, XContext: []float64{-1, 1}, YContext: []float32{0.5, -0.5},
		XTarget: []float64{-1.5, -0.5, 0.5, 1.5}}
	draw := func(samples int) []float32 { // [samples, B, Nt, outputs]
		s, err := cnp.SampleCurves(context.Background(), model, task,
			cnp.SampleOptions{Samples: samples, Chain: cnp.Chain{Order: cnp.OrderLeftToRight, Seed: 7}})
		if err != nil {
			fmt.Println(err)
		}
		return s
	}
	three, five := draw(3), draw(5)
	fmt.Println(len(three), len(five), slices.Equal(three, five[:len(three)]))
	// Output: 12 20 true
}

func ExampleLogLikelihood() {
	sum, n := cnp.LogLikelihood([]float64{0, 1}, []float64{1, 1}, []float64{0, 1}, nil)
	fmt.Printf("%.4f over %d values\n", sum, n)
	// Output: -1.8379 over 2 values
}
