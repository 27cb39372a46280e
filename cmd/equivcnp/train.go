package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/train"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// trainFlags are the flags that both kinds of training share.
type trainFlags struct {
	config            string
	out, start        string
	resume, overwrite bool
	steps             int
	batch, passes     int
	seed              uint64
	rate              float64
	schedule          string
	warmup            int
	stair             int
	factor            float64
	clip, decay       float64
	noise, lastNoise  float64
	beta              float64
	evalEvery         int
	evalTasks         int
	patience          int
	checkpointEvery   int
	logEvery          int
	holdout           float64
	likelihood        string
	waves             string
	memory            memoryFlag
}

func (a *app) trainCommand() *cobra.Command {
	var config string
	var many shardFlags
	cmd := &cobra.Command{
		Use:                   "train (regression | image | --config run.yaml | --manifest list --out-dir D) ...",
		DisableFlagsInUseLine: true,
		Short:                 "Train a model on curves or on images",
		Long: `Train a model on curves or on images.

A run writes four files: the model under the name of --out, and beside it, with the endings
.checkpoint, .jsonl and .loss.png, its whole state, a log of one JSON object a line, and a drawing of
the log. Of your own images or tasks a tenth, drawn by --seed, is held out, and scores are taken on
it (--holdout). A run that was interrupted, or whose machine failed, goes on with --resume and ends
with the same bits.

With --manifest many models are trained, by any number of processes: a line is the command line of one, such as
regression --kernel rbf --seed 3, without --out. --shard 3/64 takes every 64th line. A process that is started again, after
whatever end, goes on where the last checkpoint was; "equivcnp merge" checks that all is there, and lists the scores.`,
		Example: `  equivcnp train regression --kernel rbf --out rbf.safetensors
  equivcnp train image --group "T(2)" --digits --out digits.safetensors
  equivcnp train --config run.yaml
  equivcnp train --manifest runs.txt --shard 3/64 --out-dir runs`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown kind of training %q: need regression or image", args[0])
			}
			if config == "" && many.manifest == "" {
				return errors.New("say what to train on: regression, image, --config or --manifest")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.started = true
			if many.manifest != "" {
				return a.trainManifest(cmd.Context(), &many)
			}
			file, err := readConfig(config)
			if err != nil {
				return err
			}
			kind, err := file.kind()
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
			return fmt.Errorf("%s: task %q is neither regression nor image", config, kind)
		},
	}
	cmd.Flags().StringVar(&config, "config", "", "YAML file of flags, with task: regression or task: image")
	many.register(cmd, "a training a line")
	cmd.Flags().BoolVar(&a.json, "json", false, "--manifest: print one JSON object")
	cmd.MarkFlagsMutuallyExclusive("config", "manifest")
	must(cmd.MarkFlagFilename("config", "yaml", "yml"))
	cmd.AddCommand(a.trainRegressionCommand(), a.trainImageCommand())
	return cmd
}

// trainDefaults are a kind of training's.
type trainDefaults struct {
	steps, batch           int
	rate, noise, lastNoise float64
}

// register adds the flags.
func (f *trainFlags) register(a *app, cmd *cobra.Command, own trainDefaults) {
	d := train.DefaultConfig(own.steps)
	fl := cmd.Flags()
	fl.StringVar(&f.config, "config", "", "YAML file of these flags, one per line; flags on the command line win")
	fl.StringVarP(&f.out, "out", "o", "", "model file to write (.safetensors), required")
	fl.StringVar(&f.start, "start", "", "begin with the parameters of this model, a file or a shipped one, of the same sizes: after its training on other\ntasks, with other lifts, or with fewer --blocks on the levels of its lattice")
	fl.BoolVar(&f.resume, "resume", false, "continue from the checkpoint beside --out, or begin if there is none")
	fl.BoolVar(&f.overwrite, "overwrite", false, "begin anew even if there is a checkpoint")
	fl.IntVar(&f.steps, "steps", own.steps, "number of steps")
	fl.IntVar(&f.batch, "batch", own.batch, "tasks per pass")
	fl.IntVar(&f.passes, "passes", 1, "passes per step: their gradients are added up, memory is that of one")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of the first parameters and of the tasks")
	fl.Float64Var(&f.rate, "rate", own.rate, "learning rate")
	fl.StringVar(&f.schedule, "schedule", "cosine", "how the rate goes down: constant, cosine, or step")
	fl.IntVar(&f.warmup, "warmup", 0, "steps over which the rate climbs (default: a tenth of --steps, at most 100)")
	fl.IntVar(&f.stair, "stair", 0, "--schedule step: steps between two drops (default: a third of --steps)")
	fl.Float64Var(&f.factor, "factor", 0, "what is left of the rate after the cosine (default 0.01) or a drop (default 0.1)")
	fl.Float64Var(&f.clip, "clip", d.Adam.ClipNorm, "largest norm of a step's gradients; 0: no limit")
	fl.Float64Var(&f.decay, "weight-decay", 0, "decoupled weight decay (AdamW)")
	fl.Float64Var(&f.noise, "noise", own.noise, "deviation of a noise that the true values are taken to have; falls to --last-noise over two thirds of the steps; 0: none")
	fl.Float64Var(&f.lastNoise, "last-noise", own.lastNoise, "what --noise falls to: the least standard deviation that is learned, and the least that the model will predict")
	fl.Float64Var(&f.beta, "beta", 0.5, "weigh a value's gradient by its deviation to the power of twice this: 0, the likelihood, to 1, the squared error")
	fl.IntVar(&f.evalEvery, "eval-every", d.EvalEvery, "steps between two scores; 0: none")
	fl.IntVar(&f.evalTasks, "eval-tasks", d.EvalTasks, "tasks of a score")
	fl.IntVar(&f.patience, "patience", 0, "stop after so many scores that were no better, and write the best model; 0: never")
	fl.IntVar(&f.checkpointEvery, "checkpoint-every", d.CheckpointEvery, "steps between two checkpoints")
	fl.IntVar(&f.logEvery, "log-every", d.LogEvery, "steps between two lines of the log")
	fl.Float64Var(&f.holdout, "holdout", 0.1, "share of your own images or tasks that is not trained on: scores and --patience go by it; 0: none")
	fl.StringVar(&f.likelihood, "likelihood", "", "what values are distributed as: "+likelihoodNames()+" (default normal)")
	fl.StringVar(&f.waves, "waves", "", "COUNT:FASTEST, with --likelihood lowrank under translations: features are amplitudes of waves of so many frequencies along a coordinate,\n"+
		"up to the fastest (radians per unit; 3 over the data's length is a good one), so that values go together even where nothing is known")
	f.memory.register(cmd)
	fl.BoolVar(&a.json, "json", false, "print one JSON object")
	must(cmd.MarkFlagFilename("config", "yaml", "yml"))
	must(cmd.MarkFlagFilename("out", "safetensors"))
	must(cmd.MarkFlagFilename("start", "safetensors"))
	cmd.MarkFlagsMutuallyExclusive("resume", "overwrite")
}

// run turns the flags into a run's configuration.
func (f *trainFlags) run(changed func(string) bool) (train.Config, error) {
	c := train.DefaultConfig(f.steps)
	c.Batch, c.Passes, c.Seed = f.batch, f.passes, f.seed
	c.LogEvery, c.CheckpointEvery = f.logEvery, f.checkpointEvery
	c.EvalEvery, c.EvalTasks, c.Patience = f.evalEvery, f.evalTasks, f.patience
	c.Adam.Rate, c.Adam.ClipNorm = f.rate, f.clip
	c.Adam.WeightDecay, c.Adam.Decoupled = f.decay, f.decay != 0
	s := &c.Adam.Schedule
	switch f.schedule {
	case "constant":
		*s = train.Schedule{Warmup: s.Warmup}
	case "cosine":
	case "step":
		*s = train.Schedule{Kind: train.StepDown, Warmup: s.Warmup, Steps: max(1, f.steps/3), Factor: 0.1}
		if changed("stair") {
			s.Steps = f.stair
		}
	default:
		return c, usagef("--schedule %q: need constant, cosine or step", f.schedule)
	}
	if changed("warmup") {
		s.Warmup = f.warmup
	}
	if changed("factor") && s.Kind != train.Constant {
		s.Factor = f.factor
	}
	c.Beta = f.beta
	if f.noise != 0 {
		c.Noise = train.Noise{From: f.noise, To: min(f.noise, f.lastNoise), Steps: f.steps * 2 / 3}
	}
	if err := c.Validate(); err != nil {
		return c, usageError{flagError(err)}
	}
	return c, nil
}

// likelihoodNames lists the likelihoods, with what may follow a name.
func likelihoodNames() string {
	var names []string
	for _, name := range cnp.Likelihoods() {
		names = append(names, name+map[string]string{"normal": ", normal:noise", "lowrank": ":RANK, lowrank:RANK:noise", "scales": ":SHARE*FACTOR,.."}[name])
	}
	return strings.Join(names, ", ")
}

// distribute gives a model its likelihood, and leaves out what other likelihoods than the normal one do not know unless flags ask for it.
func (f *trainFlags) distribute(mc *cnp.Config, changed func(string) bool) error {
	if mc.Likelihood = f.likelihood; f.likelihood == "normal" {
		mc.Likelihood = ""
	}
	l, err := cnp.ParseLikelihood(mc)
	if err != nil {
		return usageError{fmt.Errorf("--likelihood: %w", err)}
	}
	if f.waves != "" {
		count, fastest, ok := strings.Cut(f.waves, ":")
		w := &cnp.Waves{}
		var bad [2]error
		w.Count, bad[0] = strconv.Atoi(count)
		if w.Fastest, bad[1] = strconv.ParseFloat(fastest, 64); !ok || bad[0] != nil || bad[1] != nil {
			return usagef("--waves %s: need COUNT:FASTEST, for example 32:12", f.waves)
		}
		if mc.Trained != nil && mc.Trained.Units != nil { // per unit of the data
			w.Fastest /= mc.Trained.Units.X[0].Factor
		}
		mc.Waves = w
		if err := mc.Validate(); err != nil {
			return usageError{fmt.Errorf("--waves: %w", err)}
		}
	}
	if (cnp.Objective{Beta: f.beta}).Suits(l) != nil && !changed("beta") {
		f.beta = 0
	}
	if (cnp.Objective{Noise: f.noise}).Suits(l) != nil && !changed("noise") {
		f.noise = 0
	}
	if err := (cnp.Objective{Noise: f.noise, Beta: f.beta}).Suits(l); err != nil {
		return usageError{fmt.Errorf("--noise or --beta: %w", err)}
	}
	return nil
}

// beside is the name of a run's other file.
func (f *trainFlags) beside(ending string) string {
	return strings.TrimSuffix(f.out, filepath.Ext(f.out)) + ending
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
	Notes        []string     `json:"notes"`
}

// training is what the flags of a training ask for.
type training struct {
	model     cnp.Config
	run       train.Config
	src, test task.Source[float32]
}

// train runs the training of a model of that configuration on a source; less names the flags that make it smaller.
func (a *app) train(ctx context.Context, f *trainFlags, mc cnp.Config, src, test task.Source[float32], less string, changed func(string) bool, notes []string) error {
	if f.out == "" {
		return usagef(`required flag(s) "out" not set`)
	}
	if err := f.distribute(&mc, changed); err != nil {
		return err
	}
	c, err := f.run(changed)
	if err != nil {
		return err
	}
	if f.out == stdio {
		return usagef("--out -: train needs a file, beside which its checkpoint and its log lie")
	}
	work := workOf(src, c.Batch)
	work.Train, work.Passes = true, c.Passes
	need, err := mc.Estimate(work)
	if err := f.memory.check(need, err, less); err != nil {
		return err
	}
	if a.onTrain != nil {
		return a.onTrain(&training{mc, c, src, test})
	}
	inputs := []string{f.config, f.start}
	outs, err := newOutputs(inputs, outFile{"out", f.out, tensorFiles}, outFile{"loss", f.beside(".loss.png"), pictureFiles})
	if err != nil {
		return err
	}
	defer outs.discard()
	opt := train.Options[float32]{Test: test, Checkpoint: f.beside(".checkpoint"), Log: f.beside(".jsonl")}
	if _, err := os.Stat(opt.Checkpoint); err == nil && !f.resume && !f.overwrite {
		return fmt.Errorf("%s is the checkpoint of an earlier run: continue it with --resume, or begin anew with --overwrite", opt.Checkpoint)
	}
	model, err := cnp.New[float32](mc, f.seed)
	if err != nil {
		return err
	}
	if f.start != "" {
		if err := a.startFrom(ctx, model, f.start); err != nil {
			return fmt.Errorf("--start %s: %w", f.start, err)
		}
	}
	bar, done := a.trainBar(c.Steps)
	defer done()
	var last *train.Score
	draw := f.drawing(opt.Log)
	opt.Report = func(r train.Record) {
		if r.Score != nil {
			last = r.Score
		}
		bar(r)
		draw()
	}
	if f.resume {
		more, err := f.more(&c, opt.Checkpoint, changed)
		if err != nil {
			return err
		}
		notes = append(notes, more...)
	}
	network := model // what is trained
	if v, ok := model.(*cnp.ImageViews[float32]); ok {
		network = v.Network()
	}
	run, err := train.NewRun(network, src, c, opt)
	if err != nil {
		return err
	}
	if f.resume {
		if err := run.Resume(); errors.Is(err, fs.ErrNotExist) {
			notes = append(notes, "there was no checkpoint: the run began at its beginning")
		} else if err != nil {
			return flagError(givenFirst(err, changed))
		}
	}
	from := run.Step()
	if err := run.Train(ctx); errors.Is(err, train.ErrInterrupted) {
		return fmt.Errorf("%w; %s holds its state, --resume continues", err, opt.Checkpoint)
	} else if err != nil {
		return err
	}
	done()
	trained := mc.Trained
	if trained == nil {
		if trained, err = train.Witnessed(src, mc, c.Seed); err != nil {
			return err
		}
	}
	if model, err = finished(model, c.Noise.To, trained); err != nil {
		return err
	}
	if last != nil { // of the model that is written
		scored := model
		if v, ok := model.(*cnp.ImageViews[float32]); ok {
			scored = v.Network()
		}
		s, err := run.Score(ctx, scored)
		if err != nil {
			return err
		}
		last = &s
	}
	about := map[string]string{"tasks": src.String(), "steps": fmt.Sprint(run.Step()), "seed": fmt.Sprint(f.seed)}
	if test != nil {
		about["scored_on"] = test.String()
	}
	err = outs.writeFile("out", func(path string) error { return weights.Save(path, model, about) })
	if err != nil {
		return err
	}
	drawn := f.beside(".loss.png")
	if err := outs.write("loss", func(w io.Writer) error { return drawLog(w, opt.Log, filepath.Base(f.out)) }); err != nil {
		return err
	}
	if err := outs.commit(); err != nil {
		return err
	}

	if notes == nil {
		notes = []string{}
	}
	best, bestStep := run.Best()
	res := trainResult{Out: f.out, Checkpoint: opt.Checkpoint, Log: opt.Log, Architecture: string(mc.Architecture), Group: mc.Group,
		Tasks: src.String(), Steps: run.Step(), Resumed: from, Best: best, BestStep: bestStep, Last: last, Notes: notes, Picture: drawn}
	if test != nil && test.String() != src.String() {
		res.Test = test.String()
	}
	r := &result{notes: notes}
	r.line("model", "%s: %s%s", f.out, mc.Architecture, suffix(", ", mc.Group))
	r.line("tasks", "%s", res.Tasks)
	if res.Test != "" {
		r.line("scored on", "%s", res.Test)
	}
	r.line("steps", "%d%s", res.Steps, suffix(", continued after ", zeroEmpty(from)))
	if last != nil {
		r.line("log-likelihood", "%.4f ± %.4f over %s, RMSE %.4f", last.LogLikelihood, last.Std, plural(last.Tasks, "task"), last.RMSE)
	}
	if best != nil && c.Patience > 0 {
		r.line("best", "%.4f after step %d, and the model is that one", best.LogLikelihood, bestStep)
	}
	r.line("checkpoint", "%s", opt.Checkpoint)
	r.line("log", "%s", opt.Log)
	r.line("loss", "%s", drawn)
	return a.print(r, res)
}

// startFrom gives a model the parameters of another one. If the other one has fewer residual blocks on each level of its lattice, the blocks that are new add nothing at
// first, so that the model predicts what the other one does.
func (a *app) startFrom(ctx context.Context, model cnp.Model[float32], path string) error {
	s, err := a.readState(ctx, path)
	if err != nil {
		return err
	}
	other, err := weights.Build[float32](s, weights.Options{})
	if err != nil {
		return err
	}
	from, to := other.State(), model.State()
	c := model.Config()
	l, err := cnp.ParseLikelihood(&c)
	if err != nil {
		return err
	}
	_, joint := l.(cnp.JointLikelihood)
	if n := len(from) - 4; joint && n >= 0 && n+2 <= len(to) && from[n].Name == "mean_linear.weight" && to[n].Name == "raw_linear.weight" {
		// Of independent normals a joint one takes over the network and the means; the numbers of each value begin with its mean.
		mean, raw := from[n:n+2], to[n:n+2]
		values := len(mean[1].Data)
		for k, p := range raw {
			row := len(p.Data) / len(raw[1].Data) // of one number
			for d := range values {
				at := d * (len(raw[1].Data) / values) * row
				if k == 0 && len(mean[0].Data) != values*row {
					return fmt.Errorf("tensor %s has shape %v, for features of another width than this model's", mean[0].Name, mean[0].Shape)
				}
				copy(p.Data[at:at+row], mean[k].Data[d*row:])
			}
		}
		from, to = from[:n], to[:n]
	}
	place := map[string]int{} // of a tensor's name in from
	for i, p := range from {
		place[p.Name] = i
	}
	needed := map[string]bool{}
	for _, p := range to {
		needed[p.Name] = true
		i, ok := place[p.Name]
		if !ok && !strings.Contains(p.Name, ".block.") {
			return fmt.Errorf("it has no tensor %s, which this model has", p.Name)
		}
		if ok && len(from[i].Data) != len(p.Data) {
			return fmt.Errorf("tensor %s has shape %v, this model's %v", p.Name, from[i].Shape, p.Shape)
		}
	}
	for _, p := range from {
		if !needed[p.Name] {
			return fmt.Errorf("it has a tensor %s, which this model has not", p.Name)
		}
	}
	for _, p := range to {
		if i, ok := place[p.Name]; ok {
			copy(p.Data, from[i].Data)
		} else if strings.Contains(p.Name, ".conv.1.linear.") { // what a block adds goes through it
			clear(p.Data)
		}
	}
	return nil
}

// finished is the model as its file keeps it: it knows what it was trained on, and its standard deviations are at least noise. Below the
// noise that the true values were taken to have to the end, no deviation was ever learned, and where data lie differently from those of
// training one may come out as small as you please. A CNP's own floor is part of its function, and stays.
func finished(m cnp.Model[float32], noise float64, trained *cnp.Trained) (cnp.Model[float32], error) {
	c, floor := m.Config(), noise
	if c.Output == cnp.OutputVariance {
		floor *= noise
	}
	if c.Architecture != cnp.CNPCurve && c.Architecture != cnp.CNPImage {
		c.Floor = max(c.Floor, floor)
	}
	if trained != nil {
		known := *trained
		known.Noise, c.Trained = noise, &known
	}
	out, err := cnp.New[float32](c, 0)
	if err != nil {
		return nil, err
	}
	from := m.State()
	for i, p := range out.State() {
		copy(p.Data, from[i].Data)
	}
	return out, nil
}

func suffix(sep, s string) string {
	if s == "" {
		return ""
	}
	return sep + s
}

func zeroEmpty(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// prepare is what comes before a kind of training: the configuration file's flags are set, and --threads obeyed.
func (a *app) prepare(cmd *cobra.Command, f *trainFlags) (undo func(), err error) {
	if f.config != "" {
		file, err := readConfig(f.config)
		if err != nil {
			return nil, err
		}
		if err := file.apply(cmd); err != nil {
			return nil, err
		}
	}
	if err := a.checkThreads(); err != nil {
		return nil, err
	}
	if a.threads == 0 {
		return func() {}, nil
	}
	before := runtime.GOMAXPROCS(a.threads)
	return func() { runtime.GOMAXPROCS(before) }, nil
}
