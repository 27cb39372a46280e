package pretrained_test

import (
	"fmt"
	"log"

	"github.com/equivcnp/equivcnp/cnp/pretrained"
)

func ExampleLoad() {
	m, err := pretrained.Load("digits-T2-small")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Config().Architecture, m.Config().Group)
	// Output: equivcnp-image T(2)
}
