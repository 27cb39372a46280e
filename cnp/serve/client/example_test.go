package client_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/serve"
	"github.com/equivcnp/equivcnp/cnp/serve/client"
)

func Example() {
	s, err := serve.New(serve.Options{Models: []serve.Source{{Name: "rbf", Path: "rbf-equivcnp"}}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	web := httptest.NewServer(s) // or equivcnp serve on another machine
	defer web.Close()

	c := client.New(web.URL, client.Options{})
	p, err := c.Predict(context.Background(), "rbf", &cnp.Batch[float32]{B: 1, Nc: 2, Nt: 1,
		XContext: []float64{-1, 0.5}, YContext: []float32{0.2, -0.7}, XTarget: []float64{0}}, 1, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f ± %.2f\n", p.Mean[0], p.Std[0])

	_, err = c.Infer(context.Background(), "none", &client.Request{})
	fmt.Println(err)
	// Output:
	// -0.56 ± 0.63
	// client: 404: no model "none"
}
