package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp/krige/realdata"
	"github.com/equivcnp/equivcnp/internal/cli"
)

// reproduceRealResult is what reproduce real --json prints.
type reproduceRealResult struct {
	Summary realdata.Summary `json:"summary"`
	Seconds number           `json:"seconds"`
	Out     string           `json:"out"`
}

// reproduceReal scores interpolation without a model on a folder of real data sets.
func (a *app) reproduceReal() *cobra.Command {
	var dir, out string
	var opt realdata.Options
	cmd := &cobra.Command{
		Use:                   "real --data DIR --out DIR",
		DisableFlagsInUseLine: true,
		Short:                 "Real data sets, without training, beside kriging and Gaussian processes",
		Long:                  helpText("reproduce-real"),
		Example:               "  equivcnp reproduce real --data fields --out out/real",
		Args:                  noArguments,
		RunE: a.action(func(cmd *cobra.Command, _ []string) error {
			for _, kind := range opt.Kinds {
				if !slices.Contains(realdata.Kinds, kind) {
					return cli.Usagef("--kinds %s: need some of %s", kind, strings.Join(realdata.Kinds, ", "))
				}
			}
			if opt.Most < 0 {
				return cli.Usagef("--splits %d: need 0 or more", opt.Most)
			}
			start := time.Now()
			rows, err := realdata.Run(cmd.Context(), dir, opt)
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				return fmt.Errorf("%s: no set with such splits", dir)
			}
			var numbers strings.Builder
			if err := realdata.WriteCSV(&numbers, rows); err != nil {
				return err
			}
			if err := writeReport(out, map[string]string{"real.md": realdata.Markdown(rows), "real.csv": numbers.String()}); err != nil {
				return err
			}
			s := realdata.Summarize(rows, "")
			r := &result{}
			r.Line("set-kinds", "%d", s.Rows)
			r.Line("better", "%d than the best of %s", s.Better, strings.Join(realdata.Strong, ", "))
			r.Line("difference", "%+.4f ± %.4f nats, worst %+.3f", s.Difference, s.Error, s.Worst)
			r.Line("ratios", "CRPS %.4f, RMSE %.4f", s.CRPS, s.RMSE)
			r.Line("coverage", "%.3f of 95 %% intervals", s.Coverage)
			r.Line("written", "%s", out)
			return a.print(r, reproduceRealResult{s, number(time.Since(start).Seconds()), out})
		}),
	}
	fl := cmd.Flags()
	fl.StringVar(&dir, "data", "", "folder of the data sets, required")
	fl.StringVarP(&out, "out", "o", "", "folder for the report, made if missing, required")
	fl.StringSliceVar(&opt.Sets, "sets", nil, "sets, by name (default: all)")
	fl.StringSliceVar(&opt.Kinds, "kinds", nil, "kinds of splits: "+strings.Join(realdata.Kinds, ", ")+" (default: all)")
	fl.IntVar(&opt.Most, "splits", 0, "splits of a set and kind at most; 0: all")
	fl.BoolVar(&opt.Sphere, "sphere", false, "places on the earth by latitude and longitude, instead of the plane they are projected to")
	a.jsonFlag(cmd)
	for _, name := range []string{"data", "out"} {
		must(cmd.MarkFlagRequired(name))
		must(cmd.MarkFlagDirname(name))
	}
	return cmd
}

// writeReport writes files into a folder, which is made if missing: all, or none.
func writeReport(dir string, files map[string]string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var flags []cli.OutFile
	for name := range files {
		flags = append(flags, cli.Out("out "+name, filepath.Join(dir, name), ""))
	}
	outs, err := cli.NewOutputs(nil, flags...)
	if err != nil {
		return err
	}
	defer outs.Discard()
	for name, text := range files {
		if err := outs.Write("out "+name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
			return err
		}
	}
	return outs.Commit()
}
