package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/simd"
)

// reproduceFlags are the flags of equivcnp reproduce.
type reproduceFlags struct {
	models []string
	out    string
	n      int
	seed   uint64
	mnist  string
	chain  int // tasks
}

func (a *app) reproduceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:                   "reproduce (table1 | table2 | figures | benchmark | sphere | vectors | anywhere | precision | real) --out DIR",
		DisableFlagsInUseLine: true,
		Short:                 "Make the paper's tables and figures anew, and the field's own table",
		Long: `Make the paper's tables and figures anew, with the shipped models or with those of the folders that
--models names. Each writes a report in Markdown, the numbers as CSV and drawings as PNG.

In a folder, a curve model is known by the process in its file's name (rbf, matern, periodic, as in
rbf_equivcnp.pth), an image model by its group, where the file itself does not say it (SO2.pth).`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown part of the paper %q: need table1, table2, figures, benchmark, sphere, vectors, anywhere, precision or real", args[0])
			}
			return fmt.Errorf("say what to make: table1, table2, figures, benchmark, sphere, vectors, anywhere, precision or real")
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // never reached: Args refuses everything
	}
	for _, part := range []struct {
		name, short, long string
		tasks             int
		run               func(*reproduction) error
	}{
		{"table1", "Log-likelihood on curves (1D)", `The paper's table 1: log-likelihood on curves of three Gaussian processes seen at 400 even places on
[-4, 4], 3 to 49 of them observed, per place, mean and standard deviation over tasks. Beside the
models stand the paper's numbers and the process's own prediction, which nothing beats; a second
table has the same for [-2, 2], where the paper's models were trained.`, 1000, (*reproduction).table1},
		{"table2", "Log-likelihood on digits (2D)", `The paper's table 2: log-likelihood on digits of a digital clock, 64 x 64 pixels, turned by up to 90
degrees and scaled by 0.3 to 0.45, 1 % to 50 % of the pixels observed, per pixel, mean and standard
deviation over tasks. The paper's digits are not public, so these are drawn anew.`, 1000, (*reproduction).table2},
		{"figures", "Curves inside and outside the training range; digits by scale and by rate", `The paper's figures: curves from points inside the training range, outside it, and with an outlier;
log-likelihood and squared error on digits by scale and by the share of observed pixels; completed
digits of every scale; with --mnist also completed images of that file, turned by any angle.`, 64, (*reproduction).figures},
		{"benchmark", "The tasks of the neuralprocesses benchmark", `The table of the library neuralprocesses, on which neural processes are compared, beside the published
one: Gaussian processes, sawtooth waves and mixtures, with one coordinate and with two, where training
had its points, elsewhere, and beyond the context. A model belongs here if its file says that it was
trained on it (equivcnp train regression --benchmark eq). Every number is kept in benchmark.jsonl as
soon as it is known: after an interruption the same command goes on from there.`, 4096, (*reproduction).benchmark},
		{"sphere", "Stations on the globe, moved to the poles, across the date line, and anywhere", `Log-likelihood of the same tasks on the sphere at middle latitudes, at the poles, across the date line,
and after any rotation of the globe, by every model that was trained on such tasks (equivcnp train
regression --sphere eq): under the globe's rotations, and under translations of latitude and longitude.
Beside the models stands the process's own prediction, which nothing beats.`, 1024, (*reproduction).sphere},
		{"vectors", "Vector fields of Gaussian processes in the plane", `The table of vector fields on the disc, beside the published one: log-likelihoods per target of three
processes, independent and by the chain rule, and the processes' own, which nothing beats. A model
belongs here if its file says that it was trained on them (equivcnp train regression --field
divergence-free).`, 500, (*reproduction).vectors},
		{"anywhere", "Digits anywhere, at any angle and of any size", `Squared error and log-likelihood of every model of grey images on digits of a digital clock turned by
any angle, scaled by 0.3 to 1 and shifted by up to 16 pixels, 1 % to 50 % of the pixels observed.
Models that were trained on upright, centred digits know these by their group alone.`, 200, (*reproduction).anywhere},
		{"precision", "What bfloat16 costs, by model of images", `Log-likelihood and squared error of every model of grey images that can compute in bfloat16, on the
digits of table 2, in both precisions, and how far predictions move.`, 200, (*reproduction).precision},
	} {
		var f reproduceFlags
		sub := &cobra.Command{
			Use: part.name + " --out DIR [--models DIR]...", DisableFlagsInUseLine: true, Short: part.short, Long: part.long,
			Example: "  equivcnp reproduce " + part.name + " --models weights --out out/" + part.name,
			Args:    cobra.NoArgs,
			RunE: a.action(func(cmd *cobra.Command, _ []string) error {
				return a.reproduce(cmd.Context(), &f, part.name, part.run)
			}),
		}
		fl := sub.Flags()
		fl.StringArrayVar(&f.models, "models", nil, "take the models of this folder instead of the shipped ones; may be repeated")
		fl.StringVarP(&f.out, "out", "o", "", "folder for the report, made if missing, required")
		fl.IntVarP(&f.n, "tasks", "n", part.tasks, "tasks behind every number")
		fl.Uint64Var(&f.seed, "seed", 1000, "seed of the tasks")
		if part.name == "table1" {
			fl.IntVar(&f.chain, "chain", 0, "predict whole curves of so many tasks by the chain rule, too: 400 predictions for each; 0: none")
		}
		if part.name == "benchmark" {
			fl.IntVar(&f.chain, "chain", 0, "tasks behind a number by the chain rule that is not known yet, which takes a prediction for each target; 0: as\nmany as --tasks")
		}
		if part.name == "vectors" {
			fl.IntVar(&f.chain, "chain", 0, "predict whole fields of so many tasks by the chain rule, too: 623 predictions for each; 0: none")
		}
		if part.name == "figures" {
			fl.StringVar(&f.mnist, "mnist", "", "IDX or .amat file whose images are turned and completed too")
		}
		fl.BoolVar(&a.json, "json", false, "print one JSON object")
		must(sub.MarkFlagRequired("out"))
		must(sub.MarkFlagDirname("out"))
		must(sub.MarkFlagDirname("models"))
		cmd.AddCommand(sub)
	}
	cmd.AddCommand(a.reproduceReal())
	return cmd
}

// reproduction is one table or set of figures in the making.
type reproduction struct {
	ctx      context.Context
	app      *app
	flags    *reproduceFlags
	result   *result
	models   []listedModel
	report   strings.Builder // Markdown
	files    []madeFile
	progress func(done, total int)
	done     int // tasks, of total
	total    int
}

// madeFile is one file of the result.
type madeFile struct {
	name    string
	content []byte
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

func (a *app) reproduce(ctx context.Context, f *reproduceFlags, part string, run func(*reproduction) error) error {
	if f.n < 1 || f.n > maxTasks {
		return usagef("--tasks %d: need 1 to %d", f.n, maxTasks)
	}
	if f.chain < 0 || f.chain > f.n {
		return usagef("--chain %d: need 0 to %d, the number of --tasks", f.chain, f.n)
	}
	p := &reproduction{ctx: ctx, app: a, flags: f, result: &result{}}
	var err error
	if p.models, err = listModels(p.result, f.models); err != nil {
		return err
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return err
	}
	if _, err := newOutputs(nil, outFile{"out", filepath.Join(f.out, part+".md"), ""}); err != nil {
		return err // before the work
	}
	start := time.Now()
	bar, remove := a.bar(part)
	p.progress = bar
	err = run(p)
	remove()
	if err != nil {
		return err
	}
	p.madeBy(part)
	if len(p.result.notes) > 0 {
		p.printf("\n## Notes\n\n")
		for _, n := range p.result.notes {
			p.printf("- %s\n", n)
		}
	}
	p.files = append(p.files, madeFile{part + ".md", []byte(p.report.String())})
	var names []string
	var flags []outFile
	for _, file := range p.files {
		path := filepath.Join(f.out, file.name)
		names, flags = append(names, path), append(flags, outFile{"out " + file.name, path, ""})
	}
	outs, err := newOutputs(nil, flags...)
	if err != nil {
		return err
	}
	defer outs.discard()
	for _, file := range p.files {
		if err := outs.write("out "+file.name, func(w io.Writer) error { _, err := w.Write(file.content); return err }); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := outs.commit(); err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	p.result.line("time", "%.1f s", seconds)
	for _, name := range names {
		p.result.line("written", "%s", name)
	}
	return a.print(p.result, reproduceResult{Part: part, Tasks: f.n, Seed: f.seed, Out: f.out, Files: names, Seconds: number(seconds),
		Notes: append([]string{}, p.result.notes...)})
}

// madeBy says in the report which command and which models made it; folders go by their own names, not by where they lie.
func (p *reproduction) madeBy(part string) {
	p.printf("\n## Made by\n\n    equivcnp reproduce %s --tasks %d --seed %d", part, p.flags.n, p.flags.seed)
	if p.flags.chain > 0 {
		p.printf(" --chain %d", p.flags.chain)
	}
	for _, dir := range p.flags.models {
		p.printf(" --models %s", filepath.Base(dir))
	}
	p.printf("\n\nversion %s, %s, kernels %v.", buildVersion(), runtime.Version(), simd.CurrentLevel())
	if len(p.flags.models) > 0 {
		p.printf("\n")
		return
	}
	p.printf(" The shipped models:\n\n")
	for _, m := range p.models {
		info, err := pretrained.About(m.name)
		if err == nil && m.partOf(part) {
			p.printf("- %s: `%s`, seed %s, %s steps, on %s\n", info.Name, info.Command, info.Seed, info.Steps, info.Tasks)
		}
	}
}

// partOf reports whether a part's report is about the model.
func (m *listedModel) partOf(part string) bool {
	_, sphere := m.sphereSource()
	if part == "anywhere" {
		return m.cfg.Architecture.Image() && m.cfg.DimY == 1
	}
	return (part == "benchmark") == (m.benchmark() >= 0) && (part == "sphere") == sphere && (part == "vectors") == (m.vectorKernel() >= 0)
}

func (p *reproduction) printf(format string, args ...any) { fmt.Fprintf(&p.report, format, args...) }

// add keeps a file of the result.
func (p *reproduction) add(name string, write func(w io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p.files = append(p.files, madeFile{name, b.Bytes()})
	return nil
}

// table keeps a CSV file.
func (p *reproduction) table(name string, rows [][]string) error {
	return p.add(name, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}

// chart keeps a drawing and shows it in the report.
func (p *reproduction) chart(name string, c *picture.Chart) error {
	p.printf("\n![%s](%s)\n", c.Title, name)
	return p.add(name, func(w io.Writer) error { return picture.WriteCharts(w, "png", c) })
}

// options are those of a measurement of n tasks, which moves the progress bar on.
func (p *reproduction) options(n int) eval.Options {
	base := p.done
	p.done += n
	opt := eval.Options{Tasks: n, Seed: p.flags.seed}
	if p.progress != nil {
		opt.Progress = func(done, _ int) { p.progress(min(base+done, p.total), p.total) }
	}
	return opt
}

// plusMinus writes a mean and a standard deviation.
func plusMinus(s eval.Stat) string { return fmt.Sprintf("%.4f ± %.4f", s.Mean, s.Std) }

// cell writes a number for a CSV file.
func cell(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }

// standardError is that of a mean over the report's tasks.
func standardError(r *eval.Report) float64 {
	return r.LogLikelihood.Std / math.Sqrt(float64(max(1, r.Tasks)))
}

// reportColumns and reportCells are what CSV files say about a measurement.
var reportColumns = []string{"tasks", "log_likelihood", "log_likelihood_std", "squared_error", "squared_error_std", "rmse",
	"calibration_error", "z_square", "not_finite"}

func reportCells(r *eval.Report) []string {
	return []string{strconv.Itoa(r.Tasks), cell(r.LogLikelihood.Mean), cell(r.LogLikelihood.Std), cell(r.SquaredError.Mean),
		cell(r.SquaredError.Std), cell(r.RMSE), cell(r.CalibrationError), cell(r.ZSquare), strconv.Itoa(r.NotFinite)}
}
