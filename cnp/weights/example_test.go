package weights_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/group"
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

// A model of a group of one's own: its file says the group's name and digest, and whoever loads it brings the group.
func ExampleOptions_groups() {
	shears := group.NewMatrix("shears", [][4]float64{{0, 1, 0, 0}}, 1, func(a, q, x []float64) {
		a[0], q[0] = x[0]/x[1], x[1]
	}, 0)
	c := cnp.Default(cnp.EquivCNPCurve, "T(2)", 1) // two input coordinates
	c.PointsPerUnit = 0
	m, err := cnp.NewWithGroup[float32](c, shears, 1)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "weights")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "sheared.safetensors")
	if err := weights.Save(path, m, nil); err != nil {
		log.Fatal(err)
	}
	_, err = weights.Load[float32](path, weights.Options{})
	fmt.Println(errors.Is(err, weights.ErrGroup))
	again, err := weights.Load[float32](path, weights.Options{Groups: []group.Group{shears}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Config().Group)
	// Output:
	// true
	// shears
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
	fmt.Println(strings.ReplaceAll(err.Error(), "; ", ";\n"))
	// Output:
	// true
	// testdata/evil_zip.pth: not a readable model file: pickle, byte 172: refused the class "posix.system";
	// a state_dict needs only ordered dictionaries, tensors, parameters and storages, and nothing else is loaded
}
