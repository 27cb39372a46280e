package safetensors_test

import (
	"fmt"
	"log"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

func Example() {
	b, err := safetensors.Encode(&safetensors.File{
		Metadata: map[string]string{"made by": "hand"},
		Tensors:  []safetensors.Tensor{safetensors.FromFloat32s("x", []int{2, 2}, []float32{1, 2, 3, 4})},
	})
	if err != nil {
		log.Fatal(err)
	}
	f, err := safetensors.Decode(b)
	if err != nil {
		log.Fatal(err)
	}
	x := f.Get("x")
	v, err := x.Float64s()
	fmt.Println(f.Metadata, x.DType, x.Shape, v, err)
	// Output: map[made by:hand] F32 [2 2] [1 2 3 4] <nil>
}
