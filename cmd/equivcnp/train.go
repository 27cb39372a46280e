package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/plot"
	"github.com/equivcnp/equivcnp/cnp/recipe"
	"github.com/equivcnp/equivcnp/cnp/train"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/words"
)

// trainFlags are the flags of a training: its recipe, and the files that it reads and writes.
type trainFlags struct {
	recipe            recipe.Recipe
	less              string // the flags by which it takes less memory
	config            string
	out, start        string
	resume, overwrite bool
	memory            memoryFlag
}

func (a *app) trainCommand() *cobra.Command {
	var config string
	var many shardFlags
	cmd := &cobra.Command{
		Use:                   "train (regression | image | population | --config run.yaml | --manifest list --out-dir D) ...",
		DisableFlagsInUseLine: true,
		Short:                 "Train a model on curves or on images, or learn from many tables without a network",
		Long:                  helpText("train"),
		Example: `  equivcnp train regression --kernel rbf --out rbf.safetensors
  equivcnp train image --digits --out digits.safetensors
  equivcnp train population --csv "days/*.csv" --x east,north --y temperature --out days.safetensors
  equivcnp train --config run.yaml
  equivcnp train --manifest runs.txt --shard 3/64 --out-dir runs`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown kind of training %q: need regression, image or population", args[0])
			}
			if config == "" && many.manifest == "" {
				return errors.New("say what to train on: regression, image, population, --config or --manifest")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.started = true
			if many.manifest != "" {
				return a.trainManifest(cmd.Context(), &many)
			}
			file, err := cli.ReadConfig(config)
			if err != nil {
				return err
			}
			kind, err := file.Kind()
			if err != nil {
				return err
			}
			for _, sub := range cmd.Commands() {
				if sub.Name() == kind {
					if err := sub.Flags().Set("config", config); err != nil {
						return err
					}
					sub.SetContext(cmd.Context())
					return sub.RunE(sub, nil)
				}
			}
			return fmt.Errorf("%s: %q is neither regression nor image", config, kind)
		},
	}
	cmd.Flags().StringVar(&config, "config", "", "YAML file of flags, with train: regression or train: image")
	many.register(cmd, "one training a line")
	cmd.Flags().BoolVar(&a.json, "json", false, "--manifest: print one JSON object")
	cmd.MarkFlagsMutuallyExclusive("config", "manifest")
	must(cmd.MarkFlagFilename("config", "yaml", "yml"))
	cmd.AddCommand(a.trainPopulationCommand())
	for _, kind := range trainKinds {
		sub, f := a.trainKind(kind)
		sub.RunE = a.action(func(cmd *cobra.Command, _ []string) error { return a.train(cmd, f) })
		cmd.AddCommand(sub)
	}
	return cmd
}

// trainKinds are the names of the kinds of training.
var trainKinds = []string{"regression", "image"}

// trainKind returns the command that trains a kind of model, yet without an action, and what its flags set.
func (a *app) trainKind(kind string) (*cobra.Command, *trainFlags) {
	if kind == "image" {
		return a.trainImageCommand()
	}
	return a.trainRegressionCommand()
}

// register adds the flags that both kinds share.
func (f *trainFlags) register(a *app, cmd *cobra.Command, batch string, noise float64) {
	fl, s := cmd.Flags(), f.recipe.Common()
	fl.StringVar(&f.config, "config", "", "YAML file of these flags, one per line; flags on the command line win")
	fl.StringVarP(&f.out, "out", "o", "", "model file to write (.safetensors), required")
	fl.StringVar(&f.start, "start", "", "begin with the parameters of this model, a file or a shipped one, of the same "+
		"sizes; it may have been trained on other tasks or with other lifts, and for curves on --levels with fewer --blocks")
	fl.BoolVar(&f.resume, "resume", false, "continue from the checkpoint beside --out, if there is one")
	fl.BoolVar(&f.overwrite, "overwrite", false, "start again even if there is a checkpoint")
	fl.StringVar(&s.Model, "model", s.Model, "the model: equivcnp, convcnp or cnp")
	fl.IntVar(&s.Multiplicity, "multiplicity", 0,
		"equivcnp and convcnp: the encoder sees y, y², .. up to this power, for contexts with several values at one place (default 1)")
	fl.IntVar(&s.Neighbors, "neighbors", 0,
		"equivcnp: largest number of neighbours of a point in a convolution, a sample drawn once (in the paper 25, for images 121); 0: all")
	fl.StringVar(&s.Likelihood, "likelihood", "", "the output distribution: "+likelihoodNames()+" (default normal)")
	fl.Var(&cli.Parsed[*cnp.Waves]{To: &s.Waves, Parse: recipe.ParseWaves, Show: recipe.ShowWaves, Kind: "waves"}, "waves",
		"COUNT:FASTEST, with --likelihood lowrank under translations: features are amplitudes of COUNT waves along a "+
			"coordinate, up to the frequency FASTEST "+
			"in radians per unit (3 over the data's length works well), so that values are correlated even far from the context")
	fl.IntVar(&s.Steps, "steps", s.Steps, "number of steps")
	fl.IntVar(&s.Batch, "batch", 0, "tasks per pass (default "+batch+")")
	fl.IntVar(&s.Passes, "passes", s.Passes, "passes per step, whose gradients are added; memory is that of one pass")
	fl.Uint64Var(&s.Seed, "seed", s.Seed, "seed of the first parameters and of the tasks")
	fl.Float64Var(&s.Rate, "rate", s.Rate, "learning rate")
	fl.StringVar(&s.Schedule, "schedule", s.Schedule, "schedule of the learning rate: constant, cosine or step")
	cli.OptionalVar(fl, &s.Warmup, "warmup", "steps over which the rate rises at first (default: a tenth of --steps, at most 100)")
	fl.IntVar(&s.Stair, "stair", 0, "--schedule step: steps between two drops (default: a third of --steps)")
	cli.OptionalVar(fl, &s.Factor, "factor", "factor of the rate after the cosine (default 0.01) or after a drop (default 0.1)")
	fl.Float64Var(&s.Clip, "clip", s.Clip, "largest norm of the gradient; 0: no limit")
	fl.Float64Var(&s.WeightDecay, "weight-decay", 0, "decoupled weight decay (AdamW)")
	cli.OptionalVar(fl, &s.Noise, "noise", fmt.Sprintf(
		"standard deviation of the noise that true values are given, which decreases to --last-noise over two thirds "+
			"of the steps; 0: none (default %g, or 0 for likelihoods without noise)", noise))
	fl.Float64Var(&s.LastNoise, "last-noise", s.LastNoise,
		"final --noise: the smallest standard deviation that the model learns and predicts")
	cli.OptionalVar(fl, &s.Beta, "beta", "weigh the gradient of a value by its variance to this power: from 0, the "+
		"likelihood, to 1, the squared error (default 0.5, or 0 for likelihoods without such weights)")
	cli.OptionalVar(fl, &s.EvalEvery, "eval-every", "steps between two scores on held-out tasks; 0: none (default 1000)")
	fl.IntVar(&s.EvalTasks, "eval-tasks", s.EvalTasks, "number of tasks of a score")
	fl.IntVar(&s.Patience, "patience", 0, "stop after this many scores without improvement, and write the best model; "+
		"0: never (default 10 where some of your own data are held out)")
	cli.OptionalVar(fl, &s.CheckpointEvery, "checkpoint-every", "steps between checkpoints; 0: none before the end (default: a tenth)")
	fl.IntVar(&s.LogEvery, "log-every", s.LogEvery, "steps between two lines of the log")
	f.memory.register(cmd)
	a.jsonFlag(cmd)
	must(cmd.MarkFlagFilename("config", "yaml", "yml"))
	must(cmd.MarkFlagFilename("out", "safetensors"))
	must(cmd.MarkFlagFilename("start", "safetensors"))
	cli.Completions(cmd, map[string][]string{"model": {"equivcnp", "convcnp", "cnp"}, "schedule": {"constant", "cosine", "step"}})
	cmd.MarkFlagsMutuallyExclusive("resume", "overwrite")
}

// likelihoodNames lists the likelihoods, with what may follow a name.
func likelihoodNames() string {
	var names []string
	for _, name := range cnp.Likelihoods() {
		names = append(names, name+map[string]string{"normal": ", normal:noise", "lowrank": ":RANK, lowrank:RANK:noise",
			"mixture": ":COUNT", "scales": ":SHARE*FACTOR,.."}[name])
	}
	return strings.Join(names, ", ")
}

// beside is the name of a run's other file.
func (f *trainFlags) beside(ending string) string {
	return strings.TrimSuffix(f.out, filepath.Ext(f.out)) + ending
}

// plan settles the training that the flags of a command and its configuration file ask for.
func (f *trainFlags) plan(ctx context.Context, cmd *cobra.Command) (*recipe.Plan, error) {
	if err := cli.ApplyConfig(cmd, f.config); err != nil {
		return nil, err
	}
	switch {
	case f.out == "":
		return nil, cli.Usagef(`required flag(s) "out" not set`)
	case f.out == cli.Stdio:
		return nil, cli.Usagef("--out -: train needs a file, beside which its checkpoint and its log lie")
	case f.recipe.Common().Batch == 0 && cmd.Flags().Changed("batch"):
		return nil, cli.Usagef("--batch 0: need 1 or more")
	}
	if err := misplacedFlag(cmd.Flags().Changed); err != nil {
		return nil, err
	}
	var err error
	if f.recipe.Common().Memory, err = f.memory.limit(); err != nil {
		return nil, err
	}
	plan := func() (*recipe.Plan, error) { return f.recipe.Plan(ctx) }
	var p *recipe.Plan
	if in := cmd.Flags().Lookup("in").Value.String(); in == "" &&
		(cmd.Flags().Lookup("csv") == nil || cmd.Flags().Lookup("csv").Value.String() == "") {
		p, err = plan() // nothing is read that may never end; an interrupted training saves its state
	} else {
		p, err = cli.Interruptible(ctx, plan)
	}
	if err == nil && p.HeldOut() && p.Config.EvalEvery > 0 && !cmd.Flags().Changed("patience") {
		p.Config.Patience = 10 // the best model is kept, and a run that only overfits ends
	}
	return p, recipeError(err, f.less)
}

// misplacedFlag refuses flags of one kind of data beside another kind. The recipe refuses their fields, too, but it
// cannot tell that one was given which has its default.
func misplacedFlag(given func(string) bool) error {
	if given("place") && !given("sphere") {
		return cli.Usagef("--place is for --sphere")
	}
	if given("window-points") && !given("window") {
		return cli.Usagef("--window-points is for --window")
	}
	if !slices.ContainsFunc([]string{"csv", "in", "benchmark", "sphere", "field", "plane", "line", "universal"}, given) {
		return nil
	}
	for _, name := range []string{"length", "from", "to"} {
		if given(name) {
			return cli.Usagef("--%s is for --kernel", name)
		}
	}
	if given("targets") && !given("field") && !given("universal") {
		return cli.Usagef("--targets is for --kernel, --field and --universal")
	}
	return nil
}

// trainResult is what train --json prints.
type trainResult struct {
	Out          string       `json:"out"`
	Checkpoint   string       `json:"checkpoint"`
	Log          string       `json:"log"`
	Picture      string       `json:"picture"`
	Architecture string       `json:"architecture"`
	Group        string       `json:"group,omitempty"`
	Tasks        string       `json:"tasks"`
	Test         string       `json:"scored_on,omitempty"`
	Steps        int          `json:"steps"`
	Resumed      int          `json:"resumed_after,omitempty"`
	Best         *train.Score `json:"best,omitempty"`
	BestStep     int          `json:"best_step,omitempty"`
	Last         *train.Score `json:"last,omitempty"`
	// Baselines are what Last has to beat.
	Baselines []recipe.Baseline `json:"baselines,omitempty"`
	Notes     []string          `json:"notes"`

	patience bool
}

// train runs the training of a command line and prints its result.
func (a *app) train(cmd *cobra.Command, f *trainFlags) error {
	res, err := a.trained(cmd.Context(), cmd, f)
	if err != nil {
		return err
	}
	return a.print(res.lines(), res)
}

// trained runs the training of a command line.
func (a *app) trained(ctx context.Context, cmd *cobra.Command, f *trainFlags) (*trainResult, error) {
	p, err := f.plan(ctx, cmd)
	if err != nil {
		return nil, err
	}
	if err := a.checkThreads(); err != nil { // which a configuration file may have set
		return nil, err
	}
	if a.threads > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(a.threads))
	}
	outs, err := cli.NewOutputs([]string{f.config, f.start}, cli.OutWhole("out", f.out, tensorFiles),
		cli.Out("loss", f.beside(".loss.png"), pictureFiles))
	if err != nil {
		return nil, err
	}
	defer outs.Discard()
	opt := recipe.Options{Checkpoint: f.beside(".checkpoint"), Log: f.beside(".jsonl"), Resume: f.resume, Overwrite: f.overwrite}
	if opt.Start, err = a.startModel(ctx, f.start); err != nil {
		return nil, err
	}
	bar, done := a.trainBar(p.Config.Steps, p.Notes)
	defer done()
	draw := f.drawing(opt.Log)
	opt.Report = func(r train.Record) {
		bar(r)
		draw()
	}
	t, err := p.Train(ctx, opt)
	switch {
	case errors.Is(err, train.ErrInterrupted):
		return nil, fmt.Errorf("%w; %s holds its state, --resume continues", err, opt.Checkpoint)
	case err != nil && f.resume:
		return nil, flagError(givenFirst(flagged(err), cmd.Flags().Changed))
	case err != nil:
		return nil, recipeError(err, f.less)
	}
	done()
	if err := outs.WriteFile("out", t.Save); err != nil {
		return nil, err
	}
	if err := outs.Draw("loss", func(w io.Writer) error { return plot.TrainingLog(w, opt.Log, filepath.Base(f.out)) }); err != nil {
		t.Notes = append(t.Notes, err.Error())
	}
	if err := outs.Commit(); err != nil {
		return nil, err
	}
	res := &trainResult{Out: f.out, Checkpoint: opt.Checkpoint, Log: opt.Log, Picture: f.beside(".loss.png"),
		Architecture: string(p.Model.Architecture), Group: p.Model.Group,
		Tasks: p.Source.String(), Steps: t.Steps, Resumed: t.Resumed, Best: t.Best, BestStep: t.BestStep, Last: t.Last,
		Baselines: t.Baselines, Notes: t.Notes, patience: p.Config.Patience > 0}
	if p.Test != nil && p.Test.String() != res.Tasks {
		res.Test = p.Test.String()
	}
	return res, nil
}

// startModel reads the model of --start, nil without.
func (a *app) startModel(ctx context.Context, path string) (cnp.Model[float32], error) {
	if path == "" {
		return nil, nil
	}
	s, err := a.readState(ctx, path)
	if err == nil {
		var m cnp.Model[float32]
		if m, err = weights.Build[float32](s, weights.Options{}); err == nil {
			return m, nil
		}
	}
	return nil, fmt.Errorf("--start %s: %w", path, err)
}

// lines are the result for people.
func (res *trainResult) lines() *result {
	r := &result{cli.Result{Notes: res.Notes}}
	group, resumed := "", ""
	if res.Group != "" {
		group = ", " + res.Group
	}
	if res.Resumed > 0 {
		resumed = fmt.Sprintf(", continued after %d", res.Resumed)
	}
	r.Line("model", "%s: %s%s", res.Out, res.Architecture, group)
	r.Line("tasks", "%s", res.Tasks)
	if res.Test != "" {
		r.Line("scored on", "%s", res.Test)
	}
	r.Line("steps", "%d%s", res.Steps, resumed)
	if last := res.Last; last != nil {
		r.Line("log-likelihood", "%.4f ± %.4f over %s, RMSE %.4g", last.LogLikelihood, last.Std, words.Plural(last.Tasks, "task"),
			last.RMSE)
	}
	for _, b := range res.Baselines {
		r.Line(b.Name, "%.4f ± %.4f, RMSE %.4g, without training", b.LogLikelihood, b.Std, b.RMSE)
	}
	if res.Best != nil && res.patience {
		r.Line("best", "%.4f after step %d, and the model is that one", res.Best.LogLikelihood, res.BestStep)
	}
	r.Line("checkpoint", "%s", res.Checkpoint)
	r.Line("log", "%s", res.Log)
	r.Line("loss", "%s", res.Picture)
	return r
}

// drawEvery is the least time between two drawings of a run's log.
var drawEvery = 30 * time.Second

// drawing draws a run's log beside its model, while it trains. What fails there is tried again, and at the end for all to see.
func (f *trainFlags) drawing(log string) func() {
	last := time.Now()
	return func() {
		if time.Since(last) < drawEvery {
			return
		}
		last = time.Now()
		outs, err := cli.NewOutputs(nil, cli.Out("loss", f.beside(".loss.png"), pictureFiles))
		if err != nil {
			return
		}
		defer outs.Discard()
		if outs.Write("loss", func(w io.Writer) error { return plot.TrainingLog(w, log, filepath.Base(f.out)) }) == nil {
			_ = outs.Commit()
		}
	}
}
