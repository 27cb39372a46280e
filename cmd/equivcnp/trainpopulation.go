package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp/recipe"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/words"
)

// populationFlags are the flags of equivcnp train population.
type populationFlags struct {
	recipe   recipe.Population
	patterns []string
	units    string
	out      string
}

func (a *app) trainPopulationCommand() *cobra.Command {
	f := &populationFlags{recipe: recipe.DefaultPopulation()}
	cmd := &cobra.Command{
		Use:                   "population --csv 'FILES' [--x COLUMNS] [--y COLUMNS] [--task COLUMN] --out model.safetensors",
		DisableFlagsInUseLine: true,
		Short:                 "Learn from many tables of one source, without a network",
		Long:                  helpText("train-population"),
		Example: `  # Each day is a table of its own: learn from all of them, then predict a new one from a few stations.
  equivcnp train population --csv "days/*.csv" --x east,north --y temperature --out days.safetensors

  # One table, in which a column says which rows belong together.
  equivcnp train population --csv history.csv --x lat,lon --y t2m --task day --sphere --out t2m.safetensors

  # Concentrations, which are never negative.
  equivcnp train population --csv "surveys/*.csv" --x east,north --y zinc,lead --positive --out metals.safetensors`,
		Args: noArguments,
		RunE: a.action(func(cmd *cobra.Command, _ []string) error { return a.trainPopulation(cmd.Context(), f) }),
	}
	fl, r := cmd.Flags(), &f.recipe
	fl.StringArrayVar(&f.patterns, "csv", nil, "tables of the same columns, each a task or more (.csv, .tsv, .parquet, .xlsx, .json, "+
		".npz, .npy, .nc); * and ? stand for any letters; may be repeated, required")
	fl.StringSliceVar(&r.X, "x", nil, "columns of the inputs, by name or number (default: x, or x1,x2,..)")
	fl.StringSliceVar(&r.Y, "y", nil, "columns of the outputs, by name or number (default: y, or y1,y2,..)")
	fl.StringVar(&r.Task, "task", "", "column with the task of each row, a number or a text (default: task, if there is one)")
	cli.TextFlags(fl, &r.Decimal, &r.Dates, &r.Missing)
	fl.BoolVar(&r.Sphere, "sphere", false, "the inputs are latitude and longitude in degrees")
	fl.StringVar(&f.units, "units", "same", "units of the inputs: same, or different, as in metres beside hours")
	fl.StringSliceVar(&r.Log, "log", nil, "outputs whose logarithms are alike, by name")
	fl.BoolVar(&r.Positive, "positive", false,
		"values are amounts, never negative; they are taken as they are, as square roots or as logarithms, whichever makes them likeliest")
	fl.Float64Var(&r.Holdout, "holdout", r.Holdout, "share of the tasks to hold out, for a score; 0: none")
	fl.Uint64Var(&r.Seed, "seed", r.Seed, "seed of the tasks that are held out")
	fl.StringVarP(&f.out, "out", "o", "", "model file to write (.safetensors), required")
	a.jsonFlag(cmd)
	r.Stdin = a.stdin
	for _, name := range []string{"csv", "out"} {
		must(cmd.MarkFlagRequired(name))
	}
	must(cmd.MarkFlagFilename("csv", "csv", "tsv", "parquet", "npz", "npy", "nc"))
	must(cmd.MarkFlagFilename("out", "safetensors"))
	cli.Completions(cmd, map[string][]string{"units": {"same", "different"}})
	return cmd
}

// populationResult is what train population --json prints.
type populationResult struct {
	Out          string                  `json:"out"`
	Architecture string                  `json:"architecture"`
	Inputs       int                     `json:"inputs"`
	Outputs      int                     `json:"outputs"`
	Tasks        int                     `json:"tasks"`
	Consists     string                  `json:"consists_of"`
	Score        *recipe.PopulationScore `json:"score,omitempty"`
	Notes        []string                `json:"notes"`
}

// trainPopulation estimates the model of a command line, writes it, and prints what it is.
func (a *app) trainPopulation(ctx context.Context, f *populationFlags) error {
	switch f.units {
	case "same", "different":
		f.recipe.DifferentUnits = f.units == "different"
	default:
		return cli.Usagef("--units %q: need same or different", f.units)
	}
	if f.out == cli.Stdio {
		return cli.Usagef("--out -: a model needs a file")
	}
	var err error
	if f.recipe.CSV, err = cli.Files("csv", f.patterns); err != nil {
		return err
	}
	outs, err := cli.NewOutputs(f.recipe.CSV, cli.OutWhole("out", f.out, tensorFiles))
	if err != nil {
		return err
	}
	defer outs.Discard()
	work, done := a.withProgress(ctx, "estimating")
	e, err := cli.Interruptible(work, func() (*recipe.Estimated, error) { return f.recipe.Estimate(work) })
	done()
	if err != nil {
		return recipeError(err, "--csv")
	}
	if err := outs.WriteFile("out", e.Save); err != nil {
		return err
	}
	if err := outs.CommitUnlessDone(ctx); err != nil {
		return err
	}
	c := e.Model.Config()
	r := &result{cli.Result{Notes: e.Notes}}
	r.Line("model", "%s: %s, %s and %s", f.out, c.Architecture, words.Plural(c.DimX, "input"), words.Plural(c.DimY, "output"))
	r.Line("learned from", "%s", words.Plural(e.Tasks, "task"))
	r.Line("consists of", "%s", c.Network())
	if s := e.Score; s != nil {
		r.Line("log-likelihood", "%.4f ± %.4f per value, over %s held out", s.LogLikelihood, s.Error, words.Plural(s.Tasks, "task"))
		r.Line("gain", "%.4f ± %.4f to the interpolation of each task on its own", s.Gain.Mean, s.Gain.Error)
	}
	return a.print(r, populationResult{Out: f.out, Architecture: string(c.Architecture), Inputs: c.DimX, Outputs: c.DimY, Tasks: e.Tasks,
		Consists: c.Network(), Score: e.Score, Notes: r.AllNotes()})
}
