package taskfile_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// A mistake in a file is named with its place.
func Example() {
	dir, err := os.MkdirTemp("", "taskfile")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tasks.safetensors")
	err = safetensors.Write(path, &safetensors.File{Tensors: []safetensors.Tensor{
		safetensors.FromFloat32s("image", []int{1, 1, 1, 2}, []float32{0, 1}),
		safetensors.FromFloat32s("mask", []int{1, 1, 2}, []float32{1, 3}),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := taskfile.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = f.Images(1)
	fmt.Println(err.Error()[len(path):])
	// Output: : out of range: tensor "mask": [0, 0, 1] = 3, a mask holds 0 and 1
}
