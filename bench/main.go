// Command bench measures the library: kernels and models, against the machine's limits and against what users would pick
// instead. It prints a table, or with --json one object a line, {"name", "n", "metric", "value"}, named and sized as the
// peers' programs name theirs, so that both can be laid side by side.
//
//	go run ./bench models --weights ../shared/weights
//
// Absolute times of one run on a shared machine mean little: compare lines of the same run.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/simd"
)

// sample is one measured number.
type sample struct {
	Name   string  `json:"name"`
	N      int     `json:"n"`
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
}

// report prints samples as they come.
type report struct {
	w    io.Writer
	json bool
}

func (r *report) add(s sample) error {
	if !r.json {
		_, err := fmt.Fprintf(r.w, "%-36s %8d %12.4g %s\n", s.Name, s.N, s.Value, s.Metric)
		return err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.w, "%s\n", b)
	return err
}

func main() {
	root := &cobra.Command{
		Use:           "bench",
		Short:         "Measure kernels and models",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(kernelsCommand(), modelsCommand(), inferenceCommand(), linalgCommand(), trainCommand(), neighborCommand(), childCommand(), &cobra.Command{
		Use:   "levels",
		Short: "Print the instruction set levels of this machine, one a line",
		Args:  cobra.NoArgs,
		Run: func(*cobra.Command, []string) {
			for _, l := range simd.Levels() {
				fmt.Println(l)
			}
		},
	})
	if err := root.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
