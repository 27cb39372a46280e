package main

import (
	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/reproduce"
	"github.com/equivcnp/equivcnp/internal/words"
)

// reproduceUniversal scores interpolation without a model on draws of the universal prior.
func (a *app) reproduceUniversal() *cobra.Command {
	var out, path string
	var n int
	var seed uint64
	cmd := &cobra.Command{
		Use:                   "universal --out DIR",
		DisableFlagsInUseLine: true,
		Short:                 "Tables drawn from a wide prior, beside the exact posterior",
		Long:                  helpText("reproduce-universal"),
		Example:               "  equivcnp reproduce universal --out out/universal",
		Args:                  noArguments,
		RunE: a.action(func(cmd *cobra.Command, _ []string) error {
			if n < 2 {
				return cli.Usagef("--tasks %d: need at least 2", n)
			}
			network, err := reproduce.UniversalNetwork(cmd.Context(), path)
			if err != nil {
				return err
			}
			var rows []reproduce.UniversalRow
			for d := 1; d <= 3; d++ {
				row, err := reproduce.ScoreUniversal(cmd.Context(), d, n, seed, network)
				if err != nil {
					return err
				}
				rows = append(rows, row)
			}
			if err := writeReport(out, map[string]string{"universal.md": reproduce.UniversalReport(rows)}); err != nil {
				return err
			}
			r := &result{}
			for _, row := range rows {
				r.Line(words.Plural(row.Inputs, "input"), "%.4f ± %.4f nats behind the true covariance", float64(row.Behind),
					float64(row.Error))
			}
			r.Line("written", "%s", out)
			return a.print(r, rows)
		}),
	}
	fl := cmd.Flags()
	fl.StringVarP(&out, "out", "o", "", "folder for the report, made if missing, required")
	fl.IntVarP(&n, "tasks", "n", 200, "tables with each number of inputs")
	fl.StringVar(&path, "model", "", "a model that was trained with --universal, scored on the same tables")
	fl.Uint64Var(&seed, "seed", 1000, "seed of the tables")
	a.jsonFlag(cmd)
	must(cmd.MarkFlagRequired("out"))
	must(cmd.MarkFlagDirname("out"))
	return cmd
}
