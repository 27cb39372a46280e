package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/recipe"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/cli"
)

// flagOf returns the flag of a field of a recipe, a selection or the server: --min-context of MinContext.
func flagOf(field string) string {
	switch field {
	case "CSV", "MNIST":
		return "--" + strings.ToLower(field)
	case "Folder":
		return "--images"
	case "Body", "Compute", "Connections": // of the server
		return "--max-" + strings.ToLower(field)
	case "Waiting":
		return "--queue"
	}
	var b strings.Builder
	for i, r := range field {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return "--" + b.String()
}

// recipeError names flags where an error of cnp/recipe or cnp/selection names fields, and says by which flags a
// training would take less memory or resume.
func recipeError(err error, less string) error {
	var bad *recipe.Error
	switch {
	case errors.As(err, &bad):
		return cli.Usage(flagError(renamed{strings.Replace(err.Error(), bad.Error(), bad.Named(flagOf), 1), err}))
	case errors.Is(err, cnp.ErrMemory):
		return fmt.Errorf("%w: less with a smaller %s; --memory allows more", err, less)
	case errors.Is(err, recipe.ErrCheckpoint):
		return fmt.Errorf("%w: continue it with --resume, or start again with --overwrite", err)
	}
	return hintColumns(flagged(err))
}

// flagged names flags where an error names fields of options, and makes one about options an error of usage.
func flagged(err error) error {
	var named settings.Named
	if !errors.As(err, &named) {
		return err
	}
	flags := renamed{strings.Replace(err.Error(), named.Error(), named.Named(flagOf), 1), err}
	if bad := (*settings.Error)(nil); errors.As(err, &bad) {
		return cli.Usage(flags)
	}
	return flags
}

// hintColumns says which flags help against an error about columns, if it does not yet.
func hintColumns(err error) error {
	var hint *settings.Hint
	if errors.Is(err, table.ErrColumns) && !errors.As(err, &hint) {
		return fmt.Errorf("%w (--x and --y say which columns to take, --aux which auxiliary inputs)", err)
	}
	return err
}

// renamed is an error with another text.
type renamed struct {
	text string
	error
}

func (r renamed) Error() string { return r.text }
func (r renamed) Unwrap() error { return r.error }

// curveFlags adds the flags that say where curves come from, for training or for tests.
func curveFlags(a *app, cmd *cobra.Command, d *recipe.CurveData, training bool) {
	d.Stdin = a.stdin
	fl := cmd.Flags()
	fl.StringVar(&d.Kernel, "kernel", d.Kernel,
		"curves of a process: rbf, matern (5/2), periodic, sawtooth; rbf+periodic; rbf,sawtooth; gp:2*rbf(0.5)+..")
	fl.Float64Var(&d.Length, "length", d.Length, "--kernel: length scale, if the kernel does not give one")
	fl.Float64Var(&d.From, "from", d.From, "--kernel: where curves begin")
	fl.Float64Var(&d.To, "to", d.To, "--kernel: where curves end")
	fl.StringVar(&d.Benchmark, "benchmark", "", "a published benchmark (docs/benchmarks.md): "+strings.Join(task.BenchmarkNames, ", "))
	fl.StringVar(&d.Sphere, "sphere", "", "a Gaussian process on the sphere: "+strings.Join(task.SphereProcesses, ", "))
	fl.StringVar(&d.Place, "place", d.Place, "--sphere: location of the stations: "+strings.Join(task.SpherePlaces, ", "))
	fl.StringVar(&d.Field, "field", "", "vector fields in the plane: "+strings.Join(task.VectorKernels, ", ")+"; in space: "+
		strings.Join(task.ChargeKinds, ", "))
	fl.StringVar(&d.Plane, "plane", "", "values in the plane, with a known symmetry: "+strings.Join(task.PlaneKinds,
		", ")+"; stationary+0.5 breaks it by half a landscape")
	fl.StringVar(&d.Line, "line", "", "values on the line, whose translations are a symmetry (stationary), or one that is broken by "+
		"half a curve (stationary+0.5)")
	fl.IntVar(&d.Universal, "universal", 0, "tables of any smoothness, noise and layout, with this many coordinates (1 to 3)")
	cli.OptionalVar(fl, &d.MinContext, "min-context", fmt.Sprintf("fewest points in the context (default %d)", recipe.DefaultMinContext))
	cli.OptionalVar(fl, &d.MaxContext, "max-context", fmt.Sprintf("most points in the context (default %d)", recipe.DefaultMaxContext))
	fl.StringVar(&d.CSV, "csv", "", "your own curves: a table (.csv, .tsv, .parquet, .xlsx, .json, .npz, .nc; \"equivcnp help tables\")")
	columnsVar(cmd, &d.Columns)
	fl.Var(&cli.Parsed[map[string]float64]{To: &d.Window.Lengths, Parse: recipe.ParseWindow, Show: recipe.ShowWindow, Kind: "lengths"},
		"window",
		"--csv: a task is the rows around a random one, within these lengths of each input: lon=2,lat=2,time=0.5; "+
			"inputs without a length are unbounded")
	fl.IntVar(&d.Window.Points, "window-points", d.Window.Points, "--window: largest number of rows of a task; more are subsampled")
	fl.StringVar(&d.HoldoutBy, "holdout-by", "",
		"--csv: rows to hold out: a share --holdout of the values of a column (station), or ranges (lat=45:50,lon=0:10, "+
			"time=2024-06-01:2024-07-01); they are predicted from the other rows of their task")
	choices := map[string][]string{"kernel": {"rbf", "matern", "periodic", "sawtooth"}, "benchmark": task.BenchmarkNames,
		"sphere": task.SphereProcesses,
		"place":  task.SpherePlaces, "field": slices.Concat(task.VectorKernels, task.ChargeKinds), "plane": task.PlaneKinds}
	if training {
		fl.IntVar(&d.Targets, "targets", d.Targets, "number of targets of a curve; of a vector field besides the context")
		fl.IntVar(&d.MinTargets, "min-targets", 0,
			"--kernel: smallest number of targets, drawn uniformly up to --targets; 0: always --targets")
		fl.IntVar(&d.Dx, "dx", d.Dx, "--benchmark: number of coordinates")
		fl.BoolVar(&d.Chain, "chain", false,
			"--benchmark: contexts of as many points as the chain rule sees: the context and the other targets")
		fl.IntVar(&d.Slow, "slow", 0, "--benchmark sawtooth: steps over which the frequency of the waves rises from "+
			"an eighth to its value, without which waves of --dx 2 are not learned")
		fl.StringVar(&d.In, "in", "", "your own curves: a file of tensors, .safetensors, .npz or .nc (\"equivcnp help tensors\")")
	} else {
		fl.IntVar(&d.Targets, "targets", d.Targets, "--kernel: number of evenly spaced targets")
		fl.StringVar(&d.Region, "region", d.Region,
			"--benchmark: location of the points: int, all on [-2, 2]; ooid, all on [2, 6]; ext, targets on [2, 6]")
		fl.Float64Var(&d.Holdout, "holdout", d.Holdout, "--holdout-by: the share, as in training")
		fl.BoolVar(&d.ScoreContext, "score-context", d.ScoreContext,
			"--csv, and --in of curves: also score values of the context, which the model was given")
		cli.OptionalVar(fl, &d.HoldoutSeed, "holdout-seed",
			"--holdout-by: seed of the values held out, the --seed of the training")
		fl.StringVar(&d.In, "in", "", "your own tasks: a file of tensors, as for predict; curves need y_target")
		choices["region"] = task.BenchmarkRegions
	}
	must(cmd.MarkFlagFilename("csv", "csv", "tsv", "parquet", "nc"))
	must(cmd.MarkFlagFilename("in", "safetensors", "npz", "nc"))
	cli.Completions(cmd, choices)
}

// columnsVar adds the flags that say what the columns of a table are.
func columnsVar(cmd *cobra.Command, c *tabletask.Columns) {
	fl := cmd.Flags()
	fl.StringSliceVar(&c.X, "x", nil, "tables: columns of the inputs, by name or number (default: x, or x1,x2,..)")
	fl.StringSliceVar(&c.Y, "y", nil, "tables: columns of the outputs, by name or number (default: y, or y1,y2,..)")
	fl.StringSliceVar(&c.Aux, "aux", nil, "tables: columns of auxiliary inputs, known at context and targets, for "+
		"example elevation,hour; a column of texts becomes an indicator for each text; without --model values are linear in "+
		"them (default: the model's names)")
	fl.StringVar(&c.Static, "static", "", "tables: a table of static fields, known at places of their own, such as "+
		"elevation on a grid; columns of the same inputs, and of the fields")
	fl.StringSliceVar(&c.StaticFields, "static-fields", nil,
		"--static: the columns of the fields; for train --in their names (default: the model's names; a new model "+
			"takes all but the inputs)")
	must(cmd.MarkFlagFilename("static"))
	cli.TextFlags(fl, &c.Decimal, &c.Dates, &c.Missing)
	fl.StringVar(&c.Task, "task", "", "tables: column with the task of each row, a number or a text (default: task, if there is one)")
}

// pictureFlags adds the flags that say where images come from, for training or for tests. Curves have --in and --holdout already, in tests.
func pictureFlags(a *app, cmd *cobra.Command, d *recipe.ImageData, training bool) {
	d.Stdin = a.stdin
	fl := cmd.Flags()
	fl.BoolVar(&d.Digits, "digits", false, "digits of a digital clock; in tests turned and scaled as in the paper")
	fl.StringVar(&d.Folder, "images", "", "folder of PNG, JPEG and TIFF images")
	fl.StringVar(&d.MNIST, "mnist", "", "file of images, IDX or .amat")
	fl.StringVar(&d.Array, "array", "", "--in: name of the array [N, H, W] or [N, C, H, W] of images (default: image, or the only one)")
	fl.Var(&cli.Parsed[[2]int]{To: &d.Size, Kind: "size", Show: cli.ShowSize, Parse: func(text string) (s [2]int, err error) {
		s[0], s[1], err = cli.ParseSize(text)
		return s, err
	}}, "size", "size of the images, 64 or 80x48 (width x height; default: 64 for digits, which are drawn finer "+
		"on larger images; of a folder that of the first image). Files of another size are skipped without --resize")
	fl.BoolVar(&d.Resize, "resize", false, "--images: scale every image to cover --size, and crop it around its middle")
	fl.Float64Var(&d.Rates.Min, "min-rate", task.PaperRates.Min, "images: smallest share of observed pixels")
	fl.Float64Var(&d.Rates.Max, "max-rate", task.PaperRates.Max, "images: largest share of observed pixels")
	usual := [3]string{"", "", ""}
	if !training {
		usual = [3]string{" (default: 90 for digits, else 0)", " (default: 0.3 for digits, else 1)", " (default: 0.45 for digits, else 1)"}
	}
	cli.OptionalVar(fl, &d.MaxAngle, "max-angle", "images: largest angle to turn by, in degrees"+usual[0])
	cli.OptionalVar(fl, &d.MinScale, "min-scale", "images: smallest factor to scale by"+usual[1])
	cli.OptionalVar(fl, &d.MaxScale, "max-scale", "images: largest factor to scale by"+usual[2])
	cli.OptionalVar(fl, &d.MaxShift, "max-shift", "images: largest shift along each axis, in pixels")
	must(cmd.MarkFlagDirname("images"))
	if training {
		fl.BoolVar(&d.Colour, "colour", false, "--images: three channels")
		fl.StringVar(&d.In, "in", "", "stack of images: .nc (NetCDF), .npz, .npy or .safetensors")
		fl.BoolVar(&d.HoldoutLast, "holdout-last", false,
			"hold out the last images, for example the latest times of a stack, instead of random ones")
	}
}

// The kinds of data: those of curves, of images, and of all models.
var (
	curveKinds = cli.Kinds{{"kernel", " K"}, {"benchmark", " P"}, {"sphere", " P"}, {"field", " F"}, {"plane", " P"}, {"line", " P"},
		{"universal", " D"}, {"csv", " FILE"}, {"in", " FILE"}}
	imageKinds = cli.Kinds{{"digits", ""}, {"images", " DIR"}, {"mnist", " FILE"}, {"in", " FILE"}}
	taskKinds  = slices.Concat(curveKinds[:7], imageKinds[:3], curveKinds[7:])
)

// taskFlags are the flags that say on which tasks a model is measured, and on how many.
type taskFlags struct {
	curves recipe.CurveData
	images recipe.ImageData
	n      int
	usual  int // number of tasks of a process or of images without --tasks
	seed   uint64
}

// maxTasks bounds what flags may ask for.
const maxTasks = 1 << 24

// register adds the flags, which default to the paper's tests, so many of them with that seed.
func (f *taskFlags) register(a *app, cmd *cobra.Command, tasks int, seed uint64) {
	f.curves, f.usual = recipe.DefaultTestCurves(), tasks
	curveFlags(a, cmd, &f.curves, false)
	pictureFlags(a, cmd, &f.images, false)
	fl := cmd.Flags()
	fl.IntVarP(&f.n, "tasks", "n", 0, fmt.Sprintf("number of tasks (default: %d, or all of a file)", tasks))
	fl.Uint64Var(&f.seed, "seed", seed, "seed of the tasks")
	cmd.MarkFlagsMutuallyExclusive(taskKinds.Flags()...)
	cmd.MarkFlagsOneRequired(taskKinds.Flags()...)
}

// check refuses a number of tasks that is none, or too large.
func (f *taskFlags) check() error {
	if f.n < 0 || f.n > maxTasks {
		return cli.Usagef("--tasks %d: need 1 to %d, or 0 for all", f.n, maxTasks)
	}
	return nil
}

// count is the number of tasks, where the source has size, 0 where there is no end.
func (f *taskFlags) count(size int) int { return cmp.Or(f.n, size, f.usual) }

// inputs are the files that the flags name.
func (f *taskFlags) inputs() []string { return []string{f.images.MNIST, f.curves.CSV, f.curves.In} }

// drawn reports whether tasks are drawn from a process, in units that every model of such tasks knows.
func (f *taskFlags) drawn() bool { return f.curves.CSV == "" && f.curves.In == "" }

// source returns the tasks for a model of that configuration, and how many there are, 0 where there is no end. Finite sets come in order.
func (f *taskFlags) source(ctx context.Context, r *result, cfg *cnp.Config) (src task.Source[float32], n int, err error) {
	image, of := cfg.Architecture.Image(), f.images
	of.In = f.curves.In
	if pictures := of.Digits || of.Folder != "" || of.MNIST != ""; of.In == "" && pictures != image {
		return nil, 0, cli.Usagef("a model of architecture %s needs %s", cfg.Architecture,
			map[bool]string{true: "images: " + imageKinds.List(), false: "curves: " + curveKinds.List()}[image])
	}
	type drawn struct {
		src   task.Source[float32]
		n     int
		notes []string
	}
	d, err := cli.Interruptible(ctx, func() (d drawn, err error) {
		if image {
			d.src, d.n, d.notes, err = of.Test(ctx, cfg)
		} else {
			d.src, d.n, err = f.curves.Test(ctx, cfg)
		}
		return d, err
	})
	r.Notes = append(r.Notes, d.notes...)
	if err != nil {
		return nil, 0, recipeError(err, "")
	}
	if seen := recipe.SeenNote(cfg, d.src); seen != "" {
		r.Note("%s", seen)
	}
	return d.src, d.n, nil
}
