package tabular_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/equivcnp/equivcnp/internal/tabular"
)

func Example() {
	t, err := tabular.Read(strings.NewReader("x,y\n\n0.5, 1\n1.5, 2\n"), "data.csv")
	fmt.Println(t.Header, t.Rows(), t.Take(1), err)

	t, err = tabular.Read(strings.NewReader("x,y\n0.5,one\n"), "data.csv")
	if err == nil {
		_, err = t.Numbers(true, 0, 1)
	}
	fmt.Println(err)
	// Output:
	// [x y] 2 [1 2] <nil>
	// data.csv:2:5: not a table of numbers: "one" is not a number
}

func ExampleWrite() {
	mean := float32(0.1)
	t := &tabular.Table{Header: []string{"x", "mean"}, Cols: 2, Single: []bool{false, true}, Values: []float64{0.25, float64(mean)}}
	if err := tabular.Write(os.Stdout, t, ','); err != nil {
		fmt.Println(err)
	}
	// Output:
	// x,mean
	// 0.25,0.1
}
