package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

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
hold the tensors mean, std and so on. The command fails if a number is not within its tolerance.

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
	compared, failed := 0, 0
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
		tensors, bad, err := f.compare(cmd, path, name)
		if err != nil {
			return err
		}
		compared, failed = compared+tensors, failed+bad
	}
	if compared == 0 {
		return fmt.Errorf("--against %s: no file of these models: need, for example, %s.safetensors", f.against, names[0])
	}
	if failed > 0 {
		return fmt.Errorf("%d tensors are not within their tolerances", failed)
	}
	return nil
}

// compare prints a line for each tensor of a model and returns how many they are, and how many are not as expected.
func (f *conformanceFlags) compare(cmd *cobra.Command, path, name string) (compared, failed int, err error) {
	vectors, err := safetensors.Read(path)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", path, err)
	}
	var theirs *safetensors.File
	if f.against != "" {
		from := filepath.Join(f.against, name+".safetensors")
		theirs, err = safetensors.Read(from)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: not there, the model is left out\n", from)
			return 0, 0, nil
		} else if err != nil {
			return 0, 0, fmt.Errorf("%s: %w", from, err)
		}
	}
	all, err := conformance.Compare(cmd.Context(), vectors, theirs)
	if err != nil {
		return 0, 0, err
	}
	for _, d := range all {
		if !d.Within() {
			failed++
		}
		if err := f.print(cmd.OutOrStdout(), d); err != nil {
			return 0, 0, err
		}
	}
	return len(all), failed, nil
}

func (f *conformanceFlags) print(w io.Writer, d conformance.Difference) error {
	if f.json {
		return json.NewEncoder(w).Encode(map[string]any{"model": d.Model, "tensor": d.Tensor, "difference": fmt.Sprintf("%.3g", d.Largest),
			"tolerance": d.Tolerance, "ok": d.Within()})
	}
	verdict := "ok"
	if !d.Within() {
		verdict = "FAILED"
	}
	_, err := fmt.Fprintf(w, "%-26s %-14s %9.2g of %7.2g  %s\n", d.Model, d.Tensor, d.Largest, d.Tolerance, verdict)
	return err
}
