package picture_test

import (
	"bytes"
	"fmt"

	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/raster"
)

// A completed 2 x 2 image, of which one pixel was observed.
func ExampleCompletion() {
	c := picture.Completion{
		Truth: &raster.Image{C: 1, H: 2, W: 2, Pix: []float32{0, 0.5, 0.5, 1}},
		Mask:  []bool{true, false, false, false},
		Mean:  []float32{0, 0.4, 0.4, 0.8},
		Std:   []float32{0.01, 0.1, 0.1, 0.2},
		Title: "T(2)",
	}
	fmt.Println(c.Draw().Bounds().Size())
	// Output: (1102,371)
}

func ExampleWriteCurves() {
	var svg bytes.Buffer
	err := picture.WriteCurves(&svg, "svg", "a line", []picture.Curve{{
		XLabel: "x", YLabel: "y",
		X: []float64{0, 1}, Mean: []float64{0, 2}, Std: []float64{0.1, 0.1},
		ContextX: []float64{0.5}, ContextY: []float64{1},
	}})
	fmt.Println(err, bytes.Contains(svg.Bytes(), []byte("<svg")))
	// Output: <nil> true
}
