package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// A curve from three points, with a model of random weights.
func Example_regress() {
	dir, err := os.MkdirTemp("", "equivcnp")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	model, csv, pred := filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "data.csv"), filepath.Join(dir, "pred.csv")
	m, err := cnp.New[float32](cnp.Default(cnp.CNPCurve, "", 1), 1)
	if err == nil {
		err = weights.Save(model, m, nil)
	}
	if err == nil {
		err = os.WriteFile(csv, []byte("x,y\n-1,0.5\n0,0\n1,0.5\n"), 0o644)
	}
	if err != nil {
		fmt.Println(err)
		return
	}

	var out strings.Builder
	status := run(context.Background(), []string{"regress", "--model", model, "--csv", csv, "--from", "-2", "--to", "2",
		"--points", "5", "--out", pred, "--json"}, nil, &out, os.Stdout)
	var result struct {
		Architecture string
		Context      int `json:"context_points"`
		Targets      int
	}
	err = json.Unmarshal([]byte(out.String()), &result)
	fmt.Printf("%d %+v %v\n", status, result, err)
	table, err := os.ReadFile(pred)
	fmt.Println(strings.Count(string(table), "\n"), "lines:", strings.SplitN(string(table), "\n", 2)[0], err)
	// Output:
	// 0 {Architecture:cnp Context:3 Targets:5} <nil>
	// 6 lines: x,mean,std <nil>
}

// Errors are one line that names the command; those of usage point at its help and end with status 2.
func Example_usage() {
	status := run(context.Background(), []string{"complete", "--model", "m.safetensors", "--image", "in.png", "--rate", "1.5",
		"--out", "out.png"}, nil, os.Stdout, os.Stdout)
	fmt.Println(status)
	// Output:
	// equivcnp: complete: --rate 1.5: need a number from 0 to 1
	// Run 'equivcnp complete --help' for usage.
	// 2
}
