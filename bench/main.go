// Command bench measures the library: kernels and models, against the machine's limits and against what users would pick
// instead. It prints a table, or with --json one object per line: {"name", "n", "metric", "value"}.
//
// In this package "peers" are C++ programs with their own implementations of the same computations (nanoflann, Eigen and
// handwritten loops). They are not part of this repository; bench uses their names, sizes and inputs, so that the lines of both can be
// compared.
//
//	go run ./bench models --weights ../shared/weights
//
// Absolute times of one run on a shared machine mean little: compare lines of the same run.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strings"

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
	w     io.Writer
	json  bool
	lines int
	kept  []sample // for the page of bench report
}

func (r *report) add(s sample) error {
	r.lines++
	r.kept = append(r.kept, s)
	if !r.json {
		_, err := fmt.Fprintf(r.w, "%-36s %8d %12.4g %s\n", s.Name, s.N, s.Value, s.Metric)
		return err
	}
	b, err := json.Marshal(s)
	if err != nil { // JSON has no NaN
		return fmt.Errorf("%s: %s: %w", s.Name, s.Metric, err)
	}
	_, err = fmt.Fprintf(r.w, "%s\n", b)
	return err
}

// child runs this program again with those arguments, for a case named name, and adds the samples that it prints. Every case has a process
// of its own, so that its peak memory is not that of an earlier case.
func (r *report) child(name string, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(self, args...)
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var s sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return fmt.Errorf("%s: %q: %w", name, lines.Text(), err)
		}
		if err := r.add(s); err != nil {
			return err
		}
	}
	return nil
}

// chosen returns the cases whose names start with only. It is an error if there is none.
func chosen(cases []string, only string) ([]string, error) {
	var some []string
	for _, c := range cases {
		if strings.HasPrefix(c, only) {
			some = append(some, c)
		}
	}
	if some == nil {
		return nil, fmt.Errorf("--only %s: no case starts so; there are %s", only, strings.Join(cases, ", "))
	}
	return some, nil
}

// within returns an error unless x, the value of that flag, is between 1 and most.
func within(flag string, x, most int) error {
	if x < 1 || x > most {
		return fmt.Errorf("--%s %d: need 1 to %d", flag, x, most)
	}
	return nil
}

// writable returns an error unless the file that --out names, if any, can be written. It is asked first, as what is to be
// written takes minutes to measure.
func writable(out string) error {
	if out == "" {
		return nil
	}
	_, before := os.Stat(out)
	f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if errors.Is(before, fs.ErrNotExist) {
		defer os.Remove(out)
	}
	return f.Close()
}

// The largest values that flags accept.
const (
	mostSize  = 4096 // of an image's side
	mostTimes = 1_000_000
)

// expression is a regular expression given by --filter.
func expression(filter string) (*regexp.Regexp, error) {
	match, err := regexp.Compile(filter)
	if err != nil {
		return nil, fmt.Errorf("--filter %s: %w", filter, err)
	}
	return match, nil
}

// checkEnvironment returns an error if a variable that measurements depend on has a value that they could not follow.
func checkEnvironment() error {
	if err := simd.LevelError(); err != nil {
		return err // it would measure another level than was asked for
	}
	_, err := budgetSet()
	return err
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:               "bench",
		Short:             "Measure kernels and models",
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return checkEnvironment() },
	}
	root.AddCommand(kernelsCommand(), modelsCommand(), inferenceCommand(), linalgCommand(), blasCommand(), trainCommand(),
		neighborCommand(), serveCommand(), dataCommand(), costsCommand(), dimensionsCommand(), conformanceCommand(),
		compareCommand(), reportCommand(),
		mergeCommand(), limitsCommand(), scenarioCommand(), scalingCommand(), childCommand(), &cobra.Command{
			Use:   "levels",
			Short: "Print the instruction set levels of this machine, one a line",
			Example: "  go run ./bench levels\n" +
				"  for l in $(go run ./bench levels); do EQUIVCNP_SIMD=$l go run ./bench limits; done",
			Args: cobra.NoArgs,
			Run: func(*cobra.Command, []string) {
				for _, l := range simd.Levels() {
					fmt.Println(l)
				}
			},
		})
	return root
}

func main() {
	if err := rootCommand().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
