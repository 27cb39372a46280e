package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp/recipe"
	"github.com/equivcnp/equivcnp/cnp/selection"
	"github.com/equivcnp/equivcnp/internal/cli"
)

// ownedBySelect are the flags of a training that select sets itself.
var ownedBySelect = []string{"group", "lifts", "alpha", "model", "out", "resume", "overwrite", "config", "json", "steps", "start", "help"}

func (a *app) selectCommand() *cobra.Command {
	c := selection.Default(nil, "")
	cmd := &cobra.Command{
		Use: "select [regression | image] --groups none,T2,SO2,SE2x4,RxSO2 --out-dir D (--budget 10m " +
			"| --steps N) (flags of that training)",
		DisableFlagsInUseLine: true,
		Short:                 "Find the symmetry of data by training models under several groups",
		Long:                  helpText("select"),
		Example: `  equivcnp select --plane isotropic --budget 5m --out-dir found
  equivcnp select --csv stations.csv --x east,north --y rain --task day --groups none,T2,SE2x4 --budget 30m --out-dir rain
  equivcnp select --digits --groups T2,SO2,RxSO2 --steps 400 --out-dir digits`,
		ValidArgs: trainKinds,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && !slices.Contains(trainKinds, args[0]) {
				return fmt.Errorf("unknown arguments %q: need regression, image or none", args)
			}
			return nil
		},
	}
	cmd.RunE = a.action(func(cmd *cobra.Command, args []string) error { return a.selectGroup(cmd, c, args) })
	fl := cmd.Flags()
	fl.StringSliceVar(&c.Groups, "groups", nil,
		"candidates: none, or a group, with the number of lifts after an x: SE2x4 (default: by the data's coordinates)")
	fl.StringVar(&c.Dir, "out-dir", "", "folder of the report and of all models, required")
	fl.DurationVar(&c.Budget, "budget", 0, "time for the whole selection, such as 10m")
	fl.IntVar(&c.Steps, "steps", 0, "number of steps of the last round, instead of --budget")
	fl.IntVar(&c.Tasks, "tasks", c.Tasks, "number of held-out tasks to compare on")
	fl.IntVar(&c.Starts, "starts", c.Starts,
		"trainings of every candidate in the first and the last round, with different seeds; the best counts")
	fl.Float64Var(&c.Errors, "errors", c.Errors, "number of standard errors within which a candidate is as good as the best")
	a.jsonFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("budget", "steps")
	must(cmd.MarkFlagDirname("out-dir"))
	for _, kind := range trainKinds {
		sub, _ := (&app{stdin: a.stdin}).trainKind(kind)
		sub.Flags().VisitAll(func(x *pflag.Flag) {
			if !slices.Contains(ownedBySelect, x.Name) && fl.Lookup(x.Name) == nil {
				fl.AddFlag(x)
			}
		})
	}
	return cmd
}

// imageOnly are flags that only train image has, and that say what images there are.
var imageOnly = []string{"digits", "images", "mnist", "size", "colour", "min-rate", "max-rate", "width"}

// recipeOf returns the recipe of a training whose flags were given to another command.
func (a *app) recipeOf(fl *pflag.FlagSet, args []string) (recipe.Recipe, error) {
	kind := "regression"
	fl.Visit(func(x *pflag.Flag) {
		if slices.Contains(imageOnly, x.Name) {
			kind = "image"
		}
	})
	if len(args) > 0 {
		kind = args[0]
	}
	sub, f := (&app{stdin: a.stdin}).trainKind(kind) // whose flags set nothing of this command
	own, err := map[string]bool{"groups": true, "out-dir": true, "budget": true, "steps": true, "tasks": true, "starts": true,
		"errors": true, "json": true, "quiet": true, "threads": true}, error(nil)
	fl.Visit(func(x *pflag.Flag) {
		if own[x.Name] || err != nil {
			return
		}
		to := sub.Flags().Lookup(x.Name)
		if to == nil {
			err = cli.Usagef("--%s is not for train %s", x.Name, kind)
			return
		}
		if s, ok := x.Value.(pflag.SliceValue); ok {
			if err = to.Value.(pflag.SliceValue).Replace(s.GetSlice()); err == nil {
				to.Changed = true
			}
			return
		}
		err = sub.Flags().Set(x.Name, x.Value.String())
	})
	if err == nil {
		f.recipe.Common().Memory, err = f.memory.limit()
	}
	return f.recipe, err
}

func (a *app) selectGroup(cmd *cobra.Command, c selection.Config, args []string) (err error) {
	if c.Dir == "" {
		return cli.Usagef(`required flag(s) "out-dir" not set`)
	}
	for _, name := range []string{"csv", "in"} {
		if cmd.Flags().Lookup(name).Value.String() == cli.Stdio {
			return cli.Usagef("--%s -: the data are read for every candidate, and need a file", name)
		}
	}
	if c.Recipe, err = a.recipeOf(cmd.Flags(), args); err != nil {
		return err
	}
	report, done := cli.Stages(a.stderr, a.quiet, !a.json)
	c.Progress = report
	rep, err := selection.Run(cmd.Context(), c)
	done()
	if errors.Is(err, context.Canceled) || cmd.Context().Err() != nil && err != nil {
		return fmt.Errorf("interrupted: %s keeps what was finished, the same command resumes", c.Dir)
	}
	if err != nil {
		return recipeError(err, "--batch, --size, --targets, --channels or --width")
	}
	if err := rep.Write(c.Dir); err != nil {
		return err
	}
	r := &result{cli.Result{Notes: rep.Notes, Lines: rep.Lines()}}
	return a.print(r, rep)
}
