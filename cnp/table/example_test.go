package table_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/table"
)

func Example() {
	t, err := table.Read(strings.NewReader("x,y\n0,1\n1,\n"), "data.csv")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Header, t.Rows(), t.Take(1))
	fmt.Println(table.Of(table.Column{Name: "x", Values: []float64{2, 3}}).Rows())
	// Output:
	// [x y] 2 [1 NaN]
	// 2
}
