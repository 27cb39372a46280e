package describe_test

import (
	"fmt"
	"log"

	"github.com/equivcnp/equivcnp/cnp/describe"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
)

// Example says what a model is made of.
func Example() {
	m, err := pretrained.Load("digits-T2-small")
	if err != nil {
		log.Fatal(err)
	}
	cfg := m.Config()
	for _, line := range describe.Config(&cfg, nil)[:3] {
		fmt.Println(line[0]+":", line[1])
	}
	// Output:
	// group: T(2), alpha 0.2
	// images: 1 channel
	// network: channels [24], 3 residual blocks
}
