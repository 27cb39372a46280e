package eval_test

import (
	"context"
	"fmt"
	"log"

	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// The best possible score on the paper's test of the RBF kernel: that of the process which draws the curves.
func ExampleRun() {
	test := task.PaperTest(task.RBF(1))
	src := task.CurveSource[float64]{Name: "rbf", Curves: test}
	r, err := eval.Run(context.Background(), eval.Oracle[float64](test.GP), src, eval.Options{Tasks: 50, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d values; calibrated: %t\n", r.Values, r.CalibrationError < 0.05)
	// Output: 20000 values; calibrated: true
}
