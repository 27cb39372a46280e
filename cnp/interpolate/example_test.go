package interpolate_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/interpolate"
	"github.com/equivcnp/equivcnp/cnp/plot"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
)

// Example interpolates measurements of a plane over a grid, and draws a map of them.
func Example() {
	var csv strings.Builder
	csv.WriteString("east,north,level\n")
	for i := range 40 {
		e, n := float64(i*7%40)/4, float64(i*11%40)/4
		fmt.Fprintf(&csv, "%g,%g,%.3f\n", e, n, math.Sin(e/2)+math.Cos(n/3))
	}
	input := &tabletask.Options{CSV: "-", Stdin: strings.NewReader(csv.String()), Grid: []string{"0.5"}}
	input.X, input.Y = []string{"east", "north"}, []string{"level"}
	in, err := interpolate.Run(context.Background(), input, interpolate.Options{})
	if err != nil {
		log.Fatal(err)
	}
	places, p := in.Table(&input.Columns, nil), in.Predicted[0]
	fmt.Println(places.Header, places.Rows(), "places,", len(p.Mean), "means")

	var picture bytes.Buffer
	if err := plot.Interpolation(context.Background(), &picture, "svg", "Water level", in); err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.Contains(picture.Bytes(), []byte("<svg")))
	// Output:
	// [east north level_mean level_std] 400 places, 400 means
	// true
}

// A series is forecast at its end, and the last values that are known say how good such forecasts are.
func ExampleRunBacktest() {
	var csv strings.Builder
	csv.WriteString("day,load\n")
	for i := range 84 {
		fmt.Fprintf(&csv, "%d,%.2f\n", i, 100+10*math.Sin(2*math.Pi*float64(i)/7)+math.Sin(float64(i*i)))
	}
	input := func() *tabletask.Options {
		o := &tabletask.Options{CSV: "-", Stdin: strings.NewReader(csv.String()), Next: 7}
		o.X, o.Y = []string{"day"}, []string{"load"}
		return o
	}
	ctx, opt := context.Background(), interpolate.Options{}
	in, err := interpolate.Run(ctx, input(), opt)
	if err != nil {
		log.Fatal(err)
	}
	week := in.Predicted[0]
	fmt.Println(len(week.Mean), "days:", week.Std[0] < 3)

	b, err := interpolate.RunBacktest(ctx, input(), opt, interpolate.Rolling{Origins: 2, Steps: 7}, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	load := b.Outputs["load"]
	fmt.Println(load.Model.Overall.Values, "values,", load.Model.Overall.MAE < load.Naive.Overall.MAE)
	// Output:
	// 7 days: true
	// 14 values, true
}
