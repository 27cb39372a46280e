package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/reproduce"
)

func (a *app) reproduceCommand() *cobra.Command {
	var names []string
	for _, part := range reproduce.Parts {
		names = append(names, part.Name)
	}
	names = append(names, "real", "universal")
	cmd := &cobra.Command{
		Use:                   "reproduce (" + strings.Join(names, " | ") + ") --out DIR",
		DisableFlagsInUseLine: true, FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true}, // those of a misspelt part
		Short: "Reproduce the paper's tables and figures, and benchmarks of the field",
		Long:  helpText("reproduce"),
		Args: func(_ *cobra.Command, args []string) error {
			choices := strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
			if len(args) > 0 {
				return fmt.Errorf("unknown part of the paper %q: need %s", args[0], choices)
			}
			return fmt.Errorf("say what to make: %s", choices)
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // never reached: Args refuses everything
	}
	for _, part := range reproduce.Parts {
		cmd.AddCommand(a.reproducePart(&part))
	}
	cmd.AddCommand(a.reproduceReal(), a.reproduceUniversal())
	return cmd
}

// reproducePart is the command of one table or set of figures.
func (a *app) reproducePart(part *reproduce.Part) *cobra.Command {
	c := reproduce.Config{Version: cli.BuildVersion()}
	use, models := part.Name+" --out DIR [--models DIR]...", " --models weights"
	if part.Steps > 0 { // it trains its own
		use, models = part.Name+" --out DIR", ""
	}
	sub := &cobra.Command{
		Use: use, DisableFlagsInUseLine: true, Short: part.Short, Long: part.Long,
		Example: "  equivcnp reproduce " + part.Name + models + " --out out/" + part.Name,
		Args:    noArguments,
		RunE:    a.action(func(cmd *cobra.Command, _ []string) error { return a.reproduce(cmd.Context(), part, c) }),
	}
	fl := sub.Flags()
	if models != "" {
		fl.StringArrayVar(&c.Folders, "models", nil, "folder of models to take instead of the shipped ones; may be repeated")
		must(sub.MarkFlagDirname("models"))
	}
	fl.StringVarP(&c.Out, "out", "o", "", "folder for the report, made if missing, required")
	fl.IntVarP(&c.Tasks, "tasks", "n", part.Tasks, "tasks behind every number")
	fl.Uint64Var(&c.Seed, "seed", 1000, "seed of the tasks")
	if part.Chain != "" {
		fl.IntVar(&c.Chain, "chain", 0, part.Chain)
	}
	if part.Learns {
		fl.IntVar(&c.Learn, "learn", reproduce.DefaultLearn, reproduce.LearnUsage)
		fl.StringArrayVar(&c.Columns, "columns", nil, part.ColumnsUsage())
	}
	if part.Steps > 0 {
		fl.IntVar(&c.Steps, "steps", part.Steps, "training steps of each model")
	}
	if part.MNIST {
		fl.StringVar(&c.MNIST, "mnist", "", "IDX or .amat file whose images are turned and completed too")
	}
	if part.Data != "" {
		fl.StringVar(&c.Data, "data", "", part.Data)
		must(sub.MarkFlagFilename("data", "csv"))
	}
	a.jsonFlag(sub)
	must(sub.MarkFlagRequired("out"))
	must(sub.MarkFlagDirname("out"))
	return sub
}

// reproduceResult is what reproduce --json prints.
type reproduceResult struct {
	Part    string   `json:"part"`
	Tasks   int      `json:"tasks"`
	Seed    uint64   `json:"seed"`
	Out     string   `json:"out"`
	Files   []string `json:"files"`
	Seconds number   `json:"seconds"`
	Notes   []string `json:"notes"`
}

func (a *app) reproduce(ctx context.Context, part *reproduce.Part, c reproduce.Config) error {
	if c.Tasks < 1 || c.Tasks > maxTasks {
		return cli.Usagef("--tasks %d: need 1 to %d", c.Tasks, maxTasks)
	}
	if c.Chain < 0 || c.Chain > c.Tasks {
		return cli.Usagef("--chain %d: need 0 to %d, the number of --tasks", c.Chain, c.Tasks)
	}
	if c.Learn != 0 && (c.Learn < reproduce.LeastLearn || c.Learn > maxTasks) {
		return cli.Usagef("--learn %d: need 0, or %d to %d", c.Learn, reproduce.LeastLearn, maxTasks)
	}
	if c.Steps < 0 || part.Steps > 0 && c.Steps == 0 {
		return cli.Usagef("--steps %d: need 1 or more", c.Steps)
	}
	if _, _, err := reproduce.Models(c.Folders); err != nil { // before the folder is made
		return err
	}
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		return err
	}
	if _, err := cli.NewOutputs(nil, cli.Out("out", filepath.Join(c.Out, part.Name+".md"), "")); err != nil {
		return err // before the work
	}
	start := time.Now()
	report, remove := cli.Tasks(a.stderr, part.Name, a.quiet, !a.json)
	c.Progress = report
	made, err := part.Run(ctx, c)
	remove()
	if err != nil && ctx.Err() != nil && part.Resumes() {
		return fmt.Errorf("interrupted: %s keeps what was finished, the same command resumes", c.Out)
	}
	if err != nil {
		return err
	}
	var names []string
	files := map[string]string{}
	for _, file := range made.Files {
		names = append(names, filepath.Join(c.Out, file.Name))
		files[file.Name] = string(file.Content)
	}
	if err := writeReport(c.Out, files); err != nil {
		return err
	}
	r, seconds := &result{cli.Result{Notes: made.Notes}}, time.Since(start).Seconds()
	r.Line("time", "%.1f s", seconds)
	for _, name := range names {
		r.Line("written", "%s", name)
	}
	return a.print(r, reproduceResult{Part: part.Name, Tasks: c.Tasks, Seed: c.Seed, Out: c.Out, Files: names,
		Seconds: number(seconds), Notes: r.AllNotes()})
}
