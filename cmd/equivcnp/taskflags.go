package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
)

// taskFlags say which tasks a model is measured on.
type taskFlags struct {
	app                    *app
	kernel                 string
	benchmark, region      string
	sphere, place          string
	field, plane           string
	length                 float64
	from, to               float64
	targets                int
	minContext, maxContext int

	digits             bool
	images, mnist      string
	size               string
	rates              task.Rates
	maxAngle           float64 // degrees
	minScale, maxScale float64
	maxShift           float64

	csv, in string
	array   string
	columns columnFlags
	apart   holdoutFlags
	windows windowFlags
}

// windowFlags make tasks of windows in a table.
type windowFlags struct {
	lengths []string
	most    int
}

func (f *windowFlags) register(fl *pflag.FlagSet) {
	fl.StringSliceVar(&f.lengths, "window", nil, "--csv: a task is the rows around one of its own, drawn at random, within so much of each input: lon=2,lat=2,time=0.5;\ninputs that are not named have no end")
	fl.IntVar(&f.most, "window-points", 256, "--window: most rows of a task, picked at random")
}

// of are the lengths for tables whose inputs have these names.
func (f *windowFlags) of(inputs []string) ([]float64, error) {
	if len(f.lengths) == 0 {
		return nil, nil
	}
	if f.most < 1 {
		return nil, usagef("--window-points %d: need at least 1", f.most)
	}
	out := make([]float64, len(inputs))
	for _, text := range f.lengths {
		name, length, _ := strings.Cut(text, "=")
		v, err := strconv.ParseFloat(length, 64)
		k := slices.Index(inputs, strings.TrimSpace(name))
		if err != nil || !(v > 0) || math.IsInf(v, 0) || k < 0 {
			return nil, usagef("--window %s: need an input of %s and a length, as in %s=2", text, strings.Join(inputs, ", "), inputs[0])
		}
		out[k] = v
	}
	return out, nil
}

// holdoutFlags say which rows of a table are held out of training.
type holdoutFlags struct {
	by    string
	share float64
	seed  uint64
}

const holdoutByUsage = "--csv: hold rows out of training by a column, of whose values --holdout is a share (station), or within ranges\n(lat=45:50,lon=0:10, time=2024-06-01:2024-07-01): they are predicted given the other rows of their task"

// taskKinds are the flags of which one names the tasks.
var taskKinds = []string{"kernel", "benchmark", "sphere", "field", "plane", "digits", "images", "mnist", "csv", "in"}

// register adds the flags; they default to the paper's tests.
func (f *taskFlags) register(a *app, cmd *cobra.Command) {
	f.app = a
	fl := cmd.Flags()
	test := task.PaperTest(nil)
	fl.StringVar(&f.kernel, "kernel", "", "curves of a process: rbf, matern, periodic, sawtooth, rbf+periodic, rbf,sawtooth, gp:2*rbf(0.5)+...")
	fl.StringVar(&f.benchmark, "benchmark", "", "a process of the neuralprocesses benchmark: "+strings.Join(task.BenchmarkProcesses, ", "))
	fl.StringVar(&f.field, "field", "", "vector fields in the plane: "+strings.Join(task.VectorKernels, ", ")+"; in space: "+strings.Join(task.ChargeKinds, ", "))
	fl.StringVar(&f.plane, "plane", "", "values in the plane of known symmetry: "+strings.Join(task.PlaneKinds, ", "))
	fl.StringVar(&f.region, "region", task.BenchmarkRegions[0], "--benchmark: where points lie: int, all on [-2, 2]; ooid, all on [2, 6]; ext, targets on [2, 6]")
	fl.StringVar(&f.sphere, "sphere", "", "a Gaussian process on the sphere: "+strings.Join(task.SphereProcesses, ", "))
	fl.StringVar(&f.place, "place", task.SpherePlaces[0], "--sphere: where the stations lie: "+strings.Join(task.SpherePlaces, ", "))
	fl.Float64Var(&f.length, "length", 1, "--kernel: length scale where it says none")
	fl.Float64Var(&f.from, "from", test.Lo, "--kernel: where the curves begin")
	fl.Float64Var(&f.to, "to", test.Hi, "--kernel: where they end")
	fl.IntVar(&f.targets, "targets", test.Targets, "--kernel: even places at which a curve is seen")
	fl.IntVar(&f.minContext, "min-context", test.MinContext, "curves: fewest points in the context")
	fl.IntVar(&f.maxContext, "max-context", test.MaxContext, "curves: most points in the context")
	fl.BoolVar(&f.digits, "digits", false, "a digital clock's digits, turned and scaled as in the paper's test")
	fl.StringVar(&f.images, "images", "", "a folder's PNG, JPEG and TIFF images")
	fl.StringVar(&f.mnist, "mnist", "", "the images of an IDX or .amat file")
	fl.StringVar(&f.size, "size", "", "size of the images, 64 or 80x48 (width x height; default: 64 for digits, which are drawn finer on\nlarger images; images of a folder: that of the first)")
	fl.Float64Var(&f.rates.Min, "min-rate", task.PaperRates.Min, "images: least share of pixels that are seen")
	fl.Float64Var(&f.rates.Max, "max-rate", task.PaperRates.Max, "images: largest share of pixels that are seen")
	fl.Float64Var(&f.maxAngle, "max-angle", 0, "images: turn by up to so many degrees (default: 90 for digits, else 0)")
	fl.Float64Var(&f.minScale, "min-scale", 0, "images: scale by at least that (default: 0.3 for digits, else 1)")
	fl.Float64Var(&f.maxScale, "max-scale", 0, "images: scale by at most that (default: 0.45 for digits, else 1)")
	fl.Float64Var(&f.maxShift, "max-shift", 0, "images: shift by up to so many pixels, along both axes")
	fl.StringVar(&f.csv, "csv", "", "curves of a table (.csv, .tsv, .npz, .npy, .nc) with columns x, y, optionally task and context")
	f.columns.register(cmd)
	f.windows.register(fl)
	fl.StringVar(&f.apart.by, "holdout-by", "", holdoutByUsage)
	fl.Float64Var(&f.apart.share, "holdout", 0.1, "--holdout-by: the share, as in training")
	fl.Uint64Var(&f.apart.seed, "holdout-seed", 1, "--holdout-by: the seed by which values are drawn: training's --seed")
	fl.StringVar(&f.in, "in", "", "tasks of a safetensors, npz or NetCDF file, as for predict; curves need y_target")
	fl.StringVar(&f.array, "array", "", "--in: of images, the array [N, H, W] or [N, C, H, W] of the file (default: image, or the only one)")
	must(cmd.MarkFlagDirname("images"))
	must(cmd.MarkFlagFilename("csv", "csv"))
	must(cmd.MarkFlagFilename("in", "safetensors"))
	must(cmd.RegisterFlagCompletionFunc("benchmark", cobra.FixedCompletions(task.BenchmarkProcesses, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("sphere", cobra.FixedCompletions(task.SphereProcesses, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("place", cobra.FixedCompletions(task.SpherePlaces, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("field", cobra.FixedCompletions(task.VectorKernels, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("plane", cobra.FixedCompletions(task.PlaneKinds, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("region", cobra.FixedCompletions(task.BenchmarkRegions, cobra.ShellCompDirectiveNoFileComp)))
	cmd.MarkFlagsMutuallyExclusive(taskKinds...)
	cmd.MarkFlagsOneRequired(taskKinds...)
}

// inputs are the files that the flags name.
func (f *taskFlags) inputs() []string { return []string{f.mnist, f.csv, f.in} }

// motions are what the images undergo; unchanged flags have the defaults.
func (f *taskFlags) motions(changed func(string) bool, m task.Motions) (task.Motions, error) {
	for name, v := range map[string]struct {
		to *float64
		v  float64
	}{
		"max-angle": {&m.MaxAngle, f.maxAngle * math.Pi / 180}, "min-scale": {&m.MinScale, f.minScale},
		"max-scale": {&m.MaxScale, f.maxScale}, "max-shift": {&m.MaxShift, f.maxShift},
	} {
		if changed(name) {
			*v.to = v.v
		}
	}
	if err := m.Validate(); err != nil {
		return m, usageError{flagError(err)}
	}
	return m, nil
}

// fieldSource returns the vector fields that --field names, with so many context points (0 to 0: the usual numbers) and targets, and how many coordinates they have.
func fieldSource(name string, least, most, targets int) (task.Source[float32], int, error) {
	var src interface {
		task.Source[float32]
		Validate() error
	}
	dx := 2
	src = task.VectorSource[float32]{Kernel: name, MinContext: least, MaxContext: most, Targets: targets}
	if slices.Contains(task.ChargeKinds, name) {
		src, dx = task.ChargeSource[float32]{Kind: name, MinContext: least, MaxContext: most, Targets: targets}, 3
	} else if !slices.Contains(task.VectorKernels, name) {
		return nil, 0, usagef("--field %q: need one of %s", name, strings.Join(slices.Concat(task.VectorKernels, task.ChargeKinds), ", "))
	}
	if err := src.Validate(); err != nil {
		return nil, 0, usageError{fmt.Errorf("--field: %w", err)}
	}
	return src, dx, nil
}

// source returns the tasks for a model of that configuration, and how many there are, 0 where there is no end. Finite sets
// come in order.
func (f *taskFlags) source(ctx context.Context, r *result, cfg cnp.Config, changed func(string) bool) (task.Source[float32], int, error) {
	image := cfg.Architecture.Image()
	if curves := f.kernel != "" || f.benchmark != "" || f.sphere != "" || f.field != "" || f.plane != "" || f.csv != ""; f.in == "" && curves == image {
		return nil, 0, usagef("a model of architecture %s needs %s", cfg.Architecture,
			map[bool]string{true: "images: --digits, --images, --mnist or --in", false: "curves: --kernel, --benchmark, --sphere, --field, --plane, --csv or --in"}[image])
	}
	if f.minContext < 0 || f.maxContext < f.minContext {
		return nil, 0, usagef("--min-context %d --max-context %d: need 0 <= min <= max", f.minContext, f.maxContext)
	}
	if len(cfg.Static) > 0 && f.csv == "" && f.in == "" {
		return nil, 0, usagef("the model has the static fields %s, which only --csv (with --static) and --in have", strings.Join(cfg.Static, ", "))
	}
	if len(cfg.Auxiliary) > 0 && f.csv == "" && f.in == "" {
		return nil, 0, usagef("the model has the auxiliary inputs %s, which only --csv and --in have", strings.Join(cfg.Auxiliary, ", "))
	}
	switch {
	case f.kernel != "":
		p, err := task.ParseProcess(f.kernel, f.length)
		if err != nil {
			return nil, 0, usageError{fmt.Errorf("--kernel: %w", err)}
		}
		if cfg.DimX != 1 || cfg.DimY != 1 {
			return nil, 0, usagef("--kernel draws curves with one coordinate and one output, the model has %d and %d", cfg.DimX, cfg.DimY)
		}
		c := task.PaperTestOf(p)
		c.Lo, c.Hi, c.Targets, c.MinContext, c.MaxContext = f.from, f.to, f.targets, f.minContext, f.maxContext
		if err := c.Validate(); err != nil {
			return nil, 0, usageError{flagError(err)}
		}
		if err := checkTargets(c.Targets); err != nil {
			return nil, 0, err
		}
		name := f.kernel
		if f.length != 1 {
			name += fmt.Sprintf(" of length %g", f.length)
		}
		return task.CurveSource[float32]{Name: name, Curves: c}, 0, nil
	case f.benchmark != "":
		if cfg.DimY != 1 {
			return nil, 0, usagef("--benchmark has one output, the model has %d", cfg.DimY)
		}
		src := task.BenchmarkSource[float32]{Process: f.benchmark, Region: f.region, Dx: cfg.DimX}
		if err := src.Validate(); err != nil {
			return nil, 0, usageError{fmt.Errorf("--benchmark: %w", err)}
		}
		return src, 0, nil
	case f.sphere != "":
		if cfg.DimY != 1 {
			return nil, 0, usagef("--sphere has one output, the model has %d", cfg.DimY)
		}
		src := task.SphereSource[float32]{Process: f.sphere, Place: f.place, Dx: cfg.DimX}
		if err := src.Validate(); err != nil {
			return nil, 0, usageError{fmt.Errorf("--sphere: %w", err)}
		}
		return src, 0, nil
	case f.plane != "":
		if cfg.DimX != 2 || cfg.DimY != 1 {
			return nil, 0, usagef("--plane has two coordinates and one output, the model has %d and %d", cfg.DimX, cfg.DimY)
		}
		src := task.PlaneSource[float32]{Kind: f.plane}
		if err := src.Validate(); err != nil {
			return nil, 0, usageError{fmt.Errorf("--plane: %w", err)}
		}
		return src, 0, nil
	case f.field != "":
		least, most := 0, 0
		if changed("min-context") || changed("max-context") {
			least, most = f.minContext, f.maxContext
		}
		src, dx, err := fieldSource(f.field, least, most, 0)
		if err != nil {
			return nil, 0, err
		}
		if cfg.DimX != dx || cfg.DimY != dx {
			return nil, 0, usagef("--field %s has %d coordinates and as many outputs, the model has %d and %d", f.field, dx, cfg.DimX, cfg.DimY)
		}
		return src, 0, nil
	case f.csv != "" || (f.in != "" && !image):
		var set *task.CurveSet
		var err error
		if f.apart.by != "" {
			_, set, err = f.split(ctx, &cfg)
		} else {
			set, err = f.curves(ctx, &cfg)
		}
		if err != nil {
			return nil, 0, hintColumns(err)
		}
		if err := checkCurves(&cfg, set); err != nil {
			return nil, 0, err
		}
		window, err := f.windows.of(set.Inputs())
		if err != nil {
			return nil, 0, err
		}
		return task.CurveSetSource[float32]{Set: set, Window: window, Most: f.windows.most, MinContext: f.minContext, MaxContext: f.maxContext, Gaps: cfg.ChannelDensity, InOrder: true}, len(set.Curves), nil
	}
	if err := f.rates.Validate(); err != nil {
		return nil, 0, usageError{flagError(err)}
	}
	p, n, err := f.pictures(ctx, r, cfg.DimY, changed)
	if err != nil {
		return nil, 0, err
	}
	if c, _, _ := p.Size(); c != cfg.DimY {
		return nil, 0, fmt.Errorf("the images have %s, the model has %d", plural(c, "channel"), cfg.DimY)
	}
	return task.ImageSource[float32]{Pictures: p, Rates: f.rates, InOrder: true}, n, nil
}

// split reads the tasks of --csv, and takes rows out of them.
func (f *taskFlags) split(ctx context.Context, cfg *cnp.Config) (kept, apart *task.CurveSet, err error) {
	if f.csv == "" {
		return nil, nil, usagef("--holdout-by is for --csv")
	}
	by, err := task.ParseHoldoutRows(f.apart.by, f.apart.share, f.apart.seed)
	if err != nil {
		return nil, nil, usageError{fmt.Errorf("--holdout-by: %w", err)}
	}
	t, err := f.columns.table(ctx, f.app, f.csv)
	if err != nil {
		return nil, nil, err
	}
	opt, err := f.columns.options(cfg)
	if err != nil {
		return nil, nil, err
	}
	if kept, apart, err = task.SplitTable(t, opt, by); err != nil {
		return nil, nil, err
	}
	field, err := f.columns.field(ctx, f.app, cfg, kept.Dx)
	if err != nil {
		return nil, nil, err
	}
	kept.WithField(field)
	apart.WithField(field)
	return kept, apart, nil
}

// curves reads the tasks of --csv or --in.
func (f *taskFlags) curves(ctx context.Context, cfg *cnp.Config) (*task.CurveSet, error) {
	opt, err := f.columns.options(cfg)
	if err != nil {
		return nil, err
	}
	if f.csv != "" {
		t, err := f.columns.table(ctx, f.app, f.csv)
		if err != nil {
			return nil, err
		}
		set, err := task.CurvesOfTable(t, opt)
		if err != nil {
			return nil, err
		}
		field, err := f.columns.field(ctx, f.app, cfg, set.Dx)
		if err != nil {
			return nil, err
		}
		set.WithField(field)
		return set, nil
	}
	static := cfg.Static
	if cfg.Architecture == "" {
		static = f.columns.fields
	}
	if f.columns.static != "" {
		return nil, usagef("--static %s: a file of tensors has the fields of its tasks, x_static and y_static", f.columns.static)
	}
	file, err := fromInput(ctx, f.app, f.in, taskfile.Open, taskfile.Decode)
	if err != nil {
		return nil, err
	}
	return task.CurvesOf(file, cfg.DimX, cfg.DimY, opt.Aux, static)
}

// pictures reads or draws what the flags name, and says how many there are, 0 where there is no end.
func (f *taskFlags) pictures(ctx context.Context, r *result, channels int, changed func(string) bool) (task.Pictures, int, error) {
	usual := task.Upright
	if f.digits {
		usual = task.PaperMotions
	}
	motions, err := f.motions(changed, usual)
	if err != nil {
		return nil, 0, err
	}
	var h, w int
	if f.size != "" {
		if w, h, err = parseSize(f.size); err != nil {
			return nil, 0, err
		}
	}
	if f.digits {
		d := task.TestDigits()
		d.Motions = motions
		if f.size != "" {
			d = d.Resized(h, w)
		}
		if err := motions.Validate(); err != nil {
			return nil, 0, usageError{err}
		}
		if err := d.Validate(); err != nil {
			return nil, 0, usagef("--size %s: %w", f.size, err)
		}
		return d, 0, nil
	}
	var set *task.ImageSet
	switch {
	case f.size != "" && f.images == "":
		return nil, 0, usagef("--size is for --digits and --images")
	case f.images != "":
		if channels != 1 && channels != 3 {
			return nil, 0, fmt.Errorf("the model has %d channels; an image file is grey (1) or in colour (3), use --in", channels)
		}
		set, err = interruptible(ctx, func() (*task.ImageSet, error) {
			return task.ReadFolder(f.images, task.FolderOptions{Channels: channels, H: h, W: w})
		})
	case f.mnist != "":
		set, err = interruptible(ctx, func() (*task.ImageSet, error) { return readMNIST(f.mnist) })
	default:
		var file *taskfile.File
		if file, err = fromInput(ctx, f.app, f.in, taskfile.Open, taskfile.Decode); err == nil {
			set, err = task.StackOf(file, f.array, channels)
		}
	}
	if err != nil {
		return nil, 0, err
	}
	noteSkipped(r, set.Skipped)
	if note := missingPixels(set); note != "" {
		r.note("%s", note)
	}
	return task.Moved{ImageSet: set, Motions: motions}, set.N, nil
}

// readMNIST reads an IDX or .amat file, whichever the name says.
func readMNIST(path string) (*task.ImageSet, error) {
	if strings.EqualFold(filepath.Ext(strings.TrimSuffix(path, ".gz")), ".amat") {
		return task.ReadAmat(path)
	}
	return task.ReadIDX(path)
}

// missingPixels says how many pixels of a set are missing, "" if none are.
func missingPixels(set *task.ImageSet) string {
	n := set.Missing()
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s missing: they are never observed, and what they lack is not scored", n, plural(set.N*set.H*set.W, "pixel"))
}

// noteSkipped names a few images that were left out, and says how many there are.
func noteSkipped(r *result, skipped []string) {
	for _, s := range skipped[:min(len(skipped), namedSkips)] {
		r.note("skipped %s", s)
	}
	if len(skipped) > namedSkips {
		r.note("%s skipped in all", plural(len(skipped), "image"))
	}
}
