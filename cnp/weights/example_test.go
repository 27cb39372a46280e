package weights_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// A model goes to a file and comes back with its configuration.
func Example() {
	c := cnp.Default(cnp.CNPCurve, "", 1)
	c.Channels = []int{16, 16, 16}
	m, err := cnp.New[float32](c, 1)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "weights")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")
	if err := weights.Save(path, m, map[string]string{"seed": "1"}); err != nil {
		log.Fatal(err)
	}
	again, err := weights.Load[float32](path, weights.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Config().Architecture, again.Config().Channels)
	// Output: cnp [16 16 16]
}

// A state_dict that PyTorch saved is read without PyTorch, whatever its tensors looked like in memory.
func ExampleReadState() {
	s, err := weights.ReadState("testdata/tensors_legacy.pth")
	if err != nil {
		log.Fatal(err)
	}
	t := s.Get("transposed")
	v, err := t.Float64s()
	fmt.Println(s.Format, t.DType, t.Shape, v[:4], err)
	// Output: pytorch-legacy F32 [6 4] [0 6 12 18] <nil>
}

// A pickle that wants to run a command is an error and nothing else.
func ExampleReadState_hostile() {
	_, err := weights.ReadState("testdata/evil_zip.pth")
	fmt.Println(errors.Is(err, weights.ErrFormat))
	fmt.Println(err)
	// Output:
	// true
	// testdata/evil_zip.pth: not a readable model file: pickle, byte 172: refused the class "posix.system"; a state_dict needs only ordered dictionaries, tensors, parameters and storages, and nothing else is loaded
}
