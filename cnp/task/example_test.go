package task_test

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// The process that drew a curve predicts it as well as anybody can.
func ExampleDraw() {
	kernel, err := task.KernelByName("rbf")
	if err != nil {
		log.Fatal(err)
	}
	c := task.PaperTest(kernel)
	c.Targets, c.MinContext, c.MaxContext = 50, 20, 20
	b, y, err := task.Draw[float64](c, 1, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	mean, std, err := c.GP.Predict(b.XTarget, b.XContext, b.YContext)
	if err != nil {
		log.Fatal(err)
	}
	ll, n := cnp.LogLikelihood(mean, std, y, nil)
	fmt.Println(b.Nc, "of", n, "points seen; better than a standard normal:", ll/float64(n) > -1.4)
	// Output: 20 of 50 points seen; better than a standard normal: true
}

// A digit, turned by a quarter: every pixel is the share of it that the digit covers.
func ExampleDrawDigit() {
	const side = 18
	im := make([]float32, side*side)
	task.DrawDigit(im, side, side, 16, 7, task.Motion{Angle: math.Pi / 2, Scale: 1})
	for y := range side {
		for x := range side {
			fmt.Printf("%c", ".:-+*#@"[int(6*im[y*side+x]+0.5)])
		}
		fmt.Println()
	}
	// Output:
	// ..................
	// ..................
	// ..................
	// ..................
	// .-++++++++++++++-.
	// .##@@@@@**@@@@@*..
	// .@#*****..*****...
	// .@@-..............
	// .@@-..............
	// .@@-..............
	// .@@-..............
	// .@#...............
	// .#................
	// ..................
	// ..................
	// ..................
	// ..................
	// ..................
}

// Images some of whose pixels are hidden: the third batch of seed 1 is the same wherever it is drawn.
func ExampleImageSource() {
	src := task.ImageSource[float32]{Pictures: task.TestDigits(), Rates: task.PaperRates}
	b, err := src.Batch(4, 1, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.Images.B, "images of", b.Images.W, "x", b.Images.H, "pixels")
	// Output: 4 images of 64 x 64 pixels
}
