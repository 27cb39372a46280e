package task_test

import (
	"fmt"
	"log"
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
