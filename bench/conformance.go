package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/internal/conformance"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// conformanceFlags are the flags of bench conformance.
type conformanceFlags struct {
	vectors, against, only string
	write, json            bool
}

// conformanceVectors is where they lie, from the root of the repository.
const conformanceVectors = "testdata/conformance"

func conformanceCommand() *cobra.Command {
	var f conformanceFlags
	cmd := &cobra.Command{
		Use:   "conformance",
		Short: "Compare an implementation's predictions with the conformance vectors",
		Long: `Compare predictions with the conformance vectors: for every shipped model a few tasks, what the model predicts for them in
float64, and how far an implementation in float32 may be from that. Without --against this program's own models are compared,
at the level of EQUIVCNP_SIMD. --against names a folder with files of another implementation, MODEL.safetensors, which
hold the tensors mean, std and so on; models without a file are left out. The command fails if a number is not within its
tolerance, or a tensor is missing or has another shape.

docs/conformance.md describes the files.`,
		Example: "  go run ./bench conformance\n  go run ./bench conformance --against /tmp/theirs --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.vectors, "vectors", conformanceVectors, "folder with the vectors")
	fl.StringVar(&f.against, "against", "", "folder with another implementation's predictions")
	fl.StringVar(&f.only, "only", "", "models whose names start with this")
	fl.BoolVar(&f.write, "write", false, "make the vectors anew")
	fl.BoolVar(&f.json, "json", false, "print one object a line")
	return cmd
}

// run compares, or writes, the vectors of all models.
func (f *conformanceFlags) run(cmd *cobra.Command) error {
	if f.write && f.against != "" {
		return errors.New("--write makes vectors, --against compares with them: they do not go together")
	}
	cases, err := conformance.Cases()
	if err != nil {
		return err
	}
	var names []string
	of := map[string]conformance.Case{}
	for _, c := range cases {
		names, of[c.Model] = append(names, c.Model), c
	}
	if names, err = chosen(names, f.only); err != nil {
		return err
	}
	var all conformanceSummary
	for _, name := range names {
		path := filepath.Join(f.vectors, name+".safetensors")
		if f.write {
			made, err := conformance.Make(cmd.Context(), of[name])
			if err != nil {
				return err
			}
			if err := safetensors.Write(path, made); err != nil {
				return err
			}
		}
		differences, err := f.compare(cmd, path, name)
		if err != nil {
			return err
		}
		if err := all.add(cmd.OutOrStdout(), differences, f.json); err != nil {
			return err
		}
	}
	if all.models == 0 {
		return fmt.Errorf("--against %s: no file of these models: need, for example, %s.safetensors", f.against, names[0])
	}
	return all.end(cmd.OutOrStdout(), len(names), f.json)
}

// compare returns the differences of a model's tensors: none where the other implementation has no file of it, and one with a Problem
// where that file cannot be read.
func (f *conformanceFlags) compare(cmd *cobra.Command, path, name string) ([]conformance.Difference, error) {
	vectors, err := safetensors.Read(path)
	if err != nil {
		return nil, err
	}
	var theirs *safetensors.File
	if f.against != "" {
		from := filepath.Join(f.against, name+".safetensors")
		theirs, err = safetensors.Read(from)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: not there, the model is left out\n", from)
			return nil, nil
		} else if err != nil {
			return []conformance.Difference{{Model: name, Problem: err.Error()}}, nil
		}
	}
	return conformance.Compare(cmd.Context(), vectors, theirs)
}

// conformanceSummary counts what was compared.
type conformanceSummary struct {
	models, tensors int
	failed          []string // models
}

// add prints a line for each tensor of a model.
func (s *conformanceSummary) add(w io.Writer, all []conformance.Difference, asJSON bool) error {
	ok := true
	for _, d := range all {
		ok = ok && d.Within()
		if d.Tensor != "" {
			s.tensors++
		}
		if err := printDifference(w, d, asJSON); err != nil {
			return err
		}
	}
	if len(all) > 0 {
		s.models++
	}
	if !ok {
		s.failed = append(s.failed, all[0].Model)
	}
	return nil
}

// end prints how many of the models were compared, and returns an error that names those that failed.
func (s *conformanceSummary) end(w io.Writer, models int, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintf(w, "%d of %d models compared, %d tensors: %d models failed\n", s.models, models, s.tensors, len(s.failed))
		if err != nil {
			return err
		}
	}
	if len(s.failed) > 0 {
		return fmt.Errorf("not within the tolerances: %s", strings.Join(s.failed, ", "))
	}
	return nil
}

func printDifference(w io.Writer, d conformance.Difference, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(differenceObject(d))
	}
	if d.Problem != "" {
		_, err := fmt.Fprintf(w, "%-26s %-14s FAILED: %s\n", d.Model, d.Tensor, d.Problem)
		return err
	}
	verdict := "ok"
	if !d.Within() {
		verdict = fmt.Sprintf("FAILED, %d of %d numbers, the worst at %s: %.8g, expected %.8g",
			d.Beyond, d.Numbers, d.Index, d.Number, d.Expected)
	}
	_, err := fmt.Fprintf(w, "%-26s %-14s %9.2g of %7.2g  %s\n", d.Model, d.Tensor, d.Largest, d.Tolerance, verdict)
	return err
}

// differenceObject is what --json prints of a tensor. Numbers that may be NaN are text.
func differenceObject(d conformance.Difference) map[string]any {
	o := map[string]any{"model": d.Model, "tensor": d.Tensor, "tolerance": d.Tolerance, "ok": d.Within()}
	if d.Problem != "" {
		o["problem"] = d.Problem
		return o
	}
	o["difference"] = fmt.Sprintf("%.3g", d.Largest)
	if !d.Within() {
		o["beyond"], o["numbers"], o["index"] = d.Beyond, d.Numbers, d.Index
		o["number"], o["expected"] = fmt.Sprintf("%.9g", d.Number), fmt.Sprintf("%.9g", d.Expected)
	}
	return o
}
