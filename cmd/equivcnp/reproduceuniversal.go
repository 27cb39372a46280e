package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/words"
)

// universalRow is how interpolation without a model does on draws of the prior with some number of inputs.
type universalRow struct {
	Inputs   int    `json:"inputs"`
	Tables   int    `json:"tables"`
	Exact    number `json:"exact"`        // mean log density by the covariance that the table was drawn from, nats, over its deviation
	Behind   number `json:"behind"`       // how far interpolation is behind that
	Error    number `json:"behind_error"` // standard error
	Likely   number `json:"likely"`       // how far the likeliest covariance is behind it
	LikelyBy number `json:"likely_error"` // standard error
	Constant number `json:"constant"`     // how far a constant is behind it
	Coverage number `json:"coverage_95"`
	Seconds  number `json:"seconds"` // of a table
}

// reproduceUniversal scores interpolation without a model on draws of the universal prior.
func (a *app) reproduceUniversal() *cobra.Command {
	var out string
	var n int
	var seed uint64
	cmd := &cobra.Command{
		Use:                   "universal --out DIR",
		DisableFlagsInUseLine: true,
		Short:                 "Draws of a wide prior, beside predictions by the true covariance",
		Long: `Log densities of interpolation without a model (equivcnp regress without --model) on Gaussian processes
of random smoothness, scale, anisotropy, trend and noise, 30 to 300 values each, with one input, two and
three, beside predictions by the covariance that each table was drawn from, which nothing beats on average,
and by the likeliest covariance alone (ML-II), as Gaussian process packages have it.`,
		Example: "  equivcnp reproduce universal --out out/universal",
		Args:    cobra.NoArgs,
		RunE: a.action(func(cmd *cobra.Command, _ []string) error {
			if n < 2 {
				return cli.Usagef("--tasks %d: need at least 2", n)
			}
			var rows []universalRow
			for d := 1; d <= 3; d++ {
				row, err := scoreUniversal(cmd.Context(), d, n, seed)
				if err != nil {
					return err
				}
				rows = append(rows, row)
			}
			if err := writeUniversal(out, rows); err != nil {
				return err
			}
			r := &result{}
			for _, row := range rows {
				r.Line(words.Plural(row.Inputs, "input"), "%.4f ± %.4f nats behind the true covariance", float64(row.Behind), float64(row.Error))
			}
			r.Line("written", "%s", out)
			return a.print(r, rows)
		}),
	}
	fl := cmd.Flags()
	fl.StringVarP(&out, "out", "o", "", "folder for the report, made if missing, required")
	fl.IntVarP(&n, "tasks", "n", 200, "tables with each number of inputs")
	fl.Uint64Var(&seed, "seed", 1000, "seed of the tables")
	fl.BoolVar(&a.json, "json", false, "print one JSON object")
	must(cmd.MarkFlagRequired("out"))
	must(cmd.MarkFlagDirname("out"))
	return cmd
}

// scoreUniversal scores n draws with d inputs.
func scoreUniversal(ctx context.Context, d, n int, seed uint64) (universalRow, error) {
	prior := task.Universal{Dim: d, Least: 30, Most: 300, Targets: 50, Gaussian: true}
	row := universalRow{Inputs: d, Tables: n}
	var exact, constant, inside, seconds float64
	behind, likely := make([]float64, n), make([]float64, n)
	for i := range n {
		t, err := prior.Draw(seed, i)
		if err != nil {
			return row, err
		}
		start := time.Now()
		m, err := krige.Fit(ctx, t.X, t.Y, krige.Options{Dim: d})
		if err != nil {
			return row, err
		}
		mean, std, err := m.Predict(ctx, t.XTarget)
		if err != nil {
			return row, err
		}
		seconds += time.Since(start).Seconds()
		m, err = krige.Fit(ctx, t.X, t.Y, krige.Options{Dim: d, MaximumLikelihood: true})
		if err != nil {
			return row, err
		}
		mean2, std2, err := m.Predict(ctx, t.XTarget)
		if err != nil {
			return row, err
		}
		level, spread := momentsOf(t.Y)
		targets := float64(len(t.YTarget))
		for k, y := range t.YTarget {
			best := logNormal(y, t.Mean[k], t.Std[k])
			exact += (best + math.Log(spread)) / targets / float64(n)
			behind[i] += (best - logNormal(y, mean[k], std[k])) / targets
			likely[i] += (best - logNormal(y, mean2[k], std2[k])) / targets
			constant += (best - logNormal(y, level, spread)) / targets / float64(n)
			if math.Abs(y-mean[k]) <= 1.95996398*std[k] {
				inside += 1 / targets / float64(n)
			}
		}
	}
	average, deviation := momentsOf(behind)
	row.Exact, row.Behind, row.Error, row.Constant = number(exact), number(average), number(deviation/math.Sqrt(float64(n))),
		number(constant)
	average, deviation = momentsOf(likely)
	row.Likely, row.LikelyBy = number(average), number(deviation/math.Sqrt(float64(n)))
	row.Coverage, row.Seconds = number(inside), number(seconds/float64(n))
	return row, nil
}

// momentsOf are mean and standard deviation.
func momentsOf(v []float64) (mean, std float64) {
	for _, a := range v {
		mean += a / float64(len(v))
	}
	for _, a := range v {
		std += (a - mean) * (a - mean) / float64(len(v)-1)
	}
	return mean, math.Sqrt(std)
}

// logNormal is the log density of a normal distribution.
func logNormal(y, mean, std float64) float64 {
	z := (y - mean) / std
	return -0.5*z*z - math.Log(std) - 0.5*math.Log(2*math.Pi)
}

// writeUniversal writes the report into a folder.
func writeUniversal(dir string, rows []universalRow) error {
	var b strings.Builder
	b.WriteString("# One table, no training: draws of a wide prior\n\n`equivcnp regress` without `--model` on Gaussian processes of random smoothness, scale, anisotropy, trend and noise, " +
		"30 to 300 values and 50 targets each. Log densities are in nats a target, of values over the context's standard deviation; behind: less than by the covariance that the table was " +
		"drawn from, mean ± standard error over tables. ML-II: the likeliest covariance of four families alone, with noise and a trend, in the plane and in space with anisotropy.\n\n" +
		"| inputs | tables | true covariance | behind it | ML-II behind it | a constant behind it | coverage of 95 % | seconds |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %d | %d | %.3f | %.4f ± %.4f | %.4f ± %.4f | %.3f | %.3f | %.3f |\n", r.Inputs, r.Tables, float64(r.Exact),
			float64(r.Behind), float64(r.Error), float64(r.Likely), float64(r.LikelyBy), float64(r.Constant),
			float64(r.Coverage), float64(r.Seconds))
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	outs, err := cli.NewOutputs(nil, cli.Out("out", filepath.Join(dir, "universal.md"), ".md"))
	if err != nil {
		return err
	}
	defer outs.Discard()
	if err := outs.Write("out", func(w io.Writer) error { _, err := io.WriteString(w, b.String()); return err }); err != nil {
		return err
	}
	return outs.Commit()
}
