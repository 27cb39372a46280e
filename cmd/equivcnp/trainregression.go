package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/group"
)

// regressionFlags are the flags of equivcnp train regression.
type regressionFlags struct {
	trainFlags
	kernel, model          string
	benchmark, group       string
	sphere, place          string
	field, outputs, inputs string
	plane                  string
	dx                     int
	chain                  bool
	slow                   int
	lifts                  liftsFlag
	liftSamples            string
	channels               []int
	hidden, mid            int
	levels, blocks, width  int
	length                 float64
	csv, in, holdoutBy     string
	windows                windowFlags
	columns                columnFlags
	encoderLength          float64
	densityCap             float64
	readout                string
	coordinate, expected   bool
	pointsPerUnit, fill    float64
	from, to               float64
	targets                int
	minContext, maxContext int
}

// paperFill is the wanted neighbourhood of the paper's 1D models, as a fraction of all points.
var paperFill = map[string]float64{"rbf": 4.0 / 64, "matern": 12.0 / 64, "periodic": 10.0 / 64}

func (a *app) trainRegressionCommand() *cobra.Command {
	var f regressionFlags
	cmd := &cobra.Command{
		Use:                   "regression (--kernel rbf|matern|periodic|... | --benchmark eq|... | --sphere eq|... | --field rbf|... | --plane isotropic|... | --csv FILE | --in FILE) [--model equivcnp|convcnp|cnp] --out model.safetensors",
		DisableFlagsInUseLine: true,
		Short:                 "Train on curves: drawn from a random process, or your own",
		Long: `Train on curves drawn from a random process, or on your own.

--kernel names a Gaussian process with length scale --length and period 1 (rbf, matern, periodic),
sawtooth waves, the mean of kernels (rbf+periodic), a mixture (rbf,sawtooth), or gp: and a kernel of
your own: sums and products of rbf(length), matern12, matern32, matern52(length),
periodic(period,length), noise(variance) and numbers, as in gp:2*rbf(0.5)+0.1*periodic(1,0.7).

--benchmark draws the tasks of the library neuralprocesses: eq, matern, weakly-periodic, sawtooth or
mixture, with --dx coordinates; under --group "SE(2)" with --lifts 4 a model of two knows that they
have no preferred direction. Sawtooth waves with --dx 2 are learned if they are slow at first (--slow).
Contexts have up to 30 points, those of the chain rule up to 79: a model that is to go by it should end
with some thousand steps of --chain (--start goes on with a model).

--sphere draws a Gaussian process on the sphere, eq or matern, seen at stations that lie as unevenly as
real ones, at --place. Points are latitudes and longitudes in degrees, and the model is one under the
rotations of the globe, SO(3), on --levels lattices of nearly even points, the finest of 10 per radian,
1257 in all; --group "T(2)" takes latitude and longitude for a plane instead. Your own curves are on the
sphere under --group "SO(3)" with --levels, too: two inputs are latitude and longitude, three a unit vector.

--field draws vector fields in the plane, rbf, curl-free or divergence-free, at the points of a 30 x 30 grid
on the disc of radius 10: 25 of them are the context, or from --min-context to --max-context (up to 600 for
models that are to go by the chain rule), and --targets of the others are targets. Vectors turn with the
plane: under --group "SE(2)" with --lifts 4 a field turned by a quarter is predicted turned by a quarter.
Under T(2) and SE(2) models have 4 levels unless --levels says otherwise. --outputs says which columns of your own data are a vector, in their order: --y pressure,u,v
--outputs scalar,vector. Predictions of vectors have a full covariance (--likelihood full).

--field charges draws the electric fields of upright dipoles in space, observed at 20 to 60 places, and turned-charges
the same turned anyhow; under --group "SE(3)" with --levels, --lifts 4, 12, 24 or 60 are a group of rotations, and
--lift-samples random with one or two lifts shows the network all rotations in training.

Of Gaussian processes it is known what a target can be, given the context. With --expected every target stands
for all of it, instead of for one value that was drawn: a model that is near the process already learns
with much less noise in its gradients. It is for the end of a training.

--plane draws values in the plane of which the symmetry is known: stationary, isotropic, radial,
scale-free or none; "equivcnp select" should find it.

--csv takes curves from a file with columns x, or x1, x2, ..; y, or y1, y2, ..; task, a number or
a name for each curve (without it all rows are one); context, 1 where a point is always observed. --x, --y and
--task give other names. An output that is empty, NaN or NA is missing. --in takes them from a safetensors file, as for predict, with y_target. A model has
as many inputs and outputs as the data. It works in units of its own, in which a curve is 4 units long
and y has mean 0 and deviation 1; its file says how data come into them and predictions back. --noise
and --last-noise are in deviations of y; lengths and scores are in the units of the data.

A task is a curve seen at --targets random places between --from and --to, some of which are its
context. EquivCNP is equivariant under translations; --coordinate-feature feeds it the coordinate
itself, as the authors' models are, and ends that.`,
		Example: `  equivcnp train regression --kernel rbf --out rbf.safetensors

  # The paper's baseline, a shorter run.
  equivcnp train regression --kernel matern --model convcnp --steps 10000 --out convcnp.safetensors

  # A process of your own; your own curves.
  equivcnp train regression --kernel "gp:2*rbf(0.5)+0.1*periodic(1,0.7)" --out own.safetensors
  equivcnp train regression --csv stations.csv --x day --y temperature,wind --steps 5000 --out stations.safetensors

  # A day is a task; a fifth of the stations is held out, and scores are those of their rows given the others'.
  equivcnp train regression --csv stations.parquet --x lon,lat,elevation --y t2m,rain --task day --holdout-by station --holdout 0.2 --out t2m.safetensors

  # Weather stations, somewhere on the globe.
  equivcnp train regression --csv stations.csv --x lat,lon --y pressure --group "SO(3)" --levels 4 --out globe.safetensors

  # Wind that turns with the map.
  equivcnp train regression --csv stations.csv --x east,north --y pressure,u,v --outputs scalar,vector \
    --group "SE(2)" --lifts 4 --levels 3 --points-per-unit 8 --out wind.safetensors

  # Go on after an interruption.
  equivcnp train regression --kernel rbf --out rbf.safetensors --resume`,
		Args: cobra.NoArgs,
	}
	cmd.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		undo, err := a.prepare(cmd, &f.trainFlags)
		if err != nil {
			return err
		}
		defer undo()
		return a.trainRegression(cmd, &f)
	})
	fl := cmd.Flags()
	fl.StringVar(&f.kernel, "kernel", "rbf", "the process: rbf, matern (5/2), periodic, sawtooth; rbf+periodic; rbf,sawtooth; gp:2*rbf(0.5)+...")
	fl.Float64Var(&f.length, "length", 1, "--kernel: length scale where it says none")
	fl.StringVar(&f.benchmark, "benchmark", "", "the tasks of the neuralprocesses benchmark: "+strings.Join(task.BenchmarkProcesses, ", "))
	fl.IntVar(&f.dx, "dx", 1, "--benchmark: number of coordinates")
	fl.BoolVar(&f.chain, "chain", false, "--benchmark: contexts of as many points as the chain rule sees, which predicts a target from the context and the\nother targets")
	fl.IntVar(&f.slow, "slow", 0, "--benchmark sawtooth: steps in which the waves grow faster, from an eighth of their frequency; with --dx 2 nothing is learned\nfrom waves that are fast at once")
	fl.StringVar(&f.sphere, "sphere", "", "a Gaussian process on the sphere: "+strings.Join(task.SphereProcesses, ", "))
	fl.StringVar(&f.place, "place", task.SpherePlaces[0], "--sphere: where the stations lie: "+strings.Join(task.SpherePlaces, ", "))
	fl.StringVar(&f.field, "field", "", "vector fields of a Gaussian process in the plane: "+strings.Join(task.VectorKernels, ", ")+";\nin space: "+strings.Join(task.ChargeKinds, ", "))
	fl.StringVar(&f.plane, "plane", "", "values in the plane, of a Gaussian process of known symmetry: "+strings.Join(task.PlaneKinds, ", "))
	fl.StringVar(&f.outputs, "outputs", "", "types of the outputs, in their order, as in scalar,vector: a vector is as many columns as there are inputs\n(default: scalars, for --field a vector)")
	fl.StringVar(&f.inputs, "inputs", "", "--levels: those of the --outputs that are observed, in their order; the others are predicted from these, as a vector from\nscalars (default: all)")
	fl.StringVar(&f.group, "group", "", "equivcnp: the group, one on as many coordinates as the data have (default: their translations,\nwith --sphere SO(3))")
	f.lifts.register(fl, "equivcnp: samples of the group's stabiliser for every point")
	fl.StringVar(&f.liftSamples, "lift-samples", "even", "--levels under SE(3): how these are taken: even; random, for every batch anew")
	fl.StringVar(&f.csv, "csv", "", "train on the curves of a table: .csv, .tsv, .npz, .npy, .nc (NetCDF)")
	f.columns.register(cmd)
	fl.StringVar(&f.in, "in", "", "train on the curves of a safetensors, npz or NetCDF file")
	f.windows.register(fl)
	fl.StringVar(&f.holdoutBy, "holdout-by", "", holdoutByUsage)
	must(cmd.MarkFlagFilename("csv", "csv", "tsv"))
	must(cmd.MarkFlagFilename("in", "safetensors"))
	cmd.MarkFlagsMutuallyExclusive("kernel", "benchmark", "sphere", "field", "plane", "csv", "in")
	fl.StringVar(&f.model, "model", "equivcnp", "the model: equivcnp, convcnp or cnp")
	fl.BoolVar(&f.coordinate, "coordinate-feature", false, "feed the coordinate itself to the model, as the authors do")
	fl.Float64Var(&f.pointsPerUnit, "points-per-unit", 0, "lattice points per unit (default: 64, for convcnp 32, on the sphere 10 per radian)")
	fl.Float64Var(&f.fill, "fill", 0, "equivcnp: mean neighbourhood as a fraction of all points (default: the paper's for the kernel)")
	fl.IntSliceVar(&f.channels, "channels", nil, "widths of the network: the pointwise layer's, then the convolutions' (default: the paper's, 8,16,32,16,8)")
	fl.IntVar(&f.hidden, "hidden", 0, "equivcnp: width of the networks that make convolution weights (default 32)")
	fl.IntVar(&f.mid, "mid", 0, "equivcnp: numbers that such a network makes of a pose, by each of which neighbours are added up (default 16)")
	fl.IntVar(&f.levels, "levels", 0, "equivcnp: lattices, each with twice the step of the one before, and convolutions from one to the next and back; --channels\nthen are their widths (default 64 on each), or one for all; under --group SE2 with 2 or 4 --lifts, of each lift")
	fl.IntVar(&f.width, "kernel-width", 0, "--levels: lattice points that a convolution sees along each coordinate (default 9, in the plane 5)")
	fl.IntVar(&f.blocks, "blocks", 0, "--levels: residual blocks on every level on each way (default 1)")
	fl.Float64Var(&f.encoderLength, "encoder-length", 0, "equivcnp: length scale that the context's kernel begins with (default: 4 lattice steps, with --levels 2;\n0.69 for --readout targets)")
	fl.Float64Var(&f.densityCap, "density-cap", 0, "equivcnp: context that lies denser than this looks as if it were as dense, so that training can show the model all\nthat it will meet; n points per unit of a line have density 2.5·n·--encoder-length; 0: none")
	fl.StringVar(&f.readout, "readout", string(cnp.ReadoutQueries), "equivcnp: how the targets are read: queries of the last layer; targets beside\nthe lattice in all layers, as the authors do; rbf")
	fl.Float64Var(&f.from, "from", -2, "where the curves begin")
	fl.Float64Var(&f.to, "to", 2, "where the curves end")
	fl.IntVar(&f.targets, "targets", 100, "places at which a curve is seen, beside the context where it is a vector field")
	fl.BoolVar(&f.expected, "expected", false, "targets stand for all values that a Gaussian process can have there, given the context, instead of one that was drawn:\ngradients lose most of their noise; takes the cube of the number of context points")
	fl.IntVar(&f.minContext, "min-context", 3, "fewest of them in the context")
	fl.IntVar(&f.maxContext, "max-context", 49, "most of them in the context")
	f.register(a, cmd, trainDefaults{steps: 25600, batch: 16, rate: 0.003, noise: 0.1, lastNoise: 0.003})
	for name, choices := range map[string][]string{"kernel": {"rbf", "matern", "periodic", "sawtooth"}, "model": {"equivcnp", "convcnp", "cnp"}, "benchmark": task.BenchmarkProcesses, "group": group.Names(),
		"field": slices.Concat(task.VectorKernels, task.ChargeKinds), "plane": task.PlaneKinds, "sphere": task.SphereProcesses, "place": task.SpherePlaces,
		"readout": {"queries", "targets", "rbf"}, "lift-samples": {"even", "random"}} {
		must(cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp)))
	}
	return cmd
}

// levelsConfig is the configuration of a model with levels.
func (f *regressionFlags) levelsConfig(cmd *cobra.Command, g group.Group, dx, dy int) (cnp.Config, error) {
	changed := cmd.Flags().Changed
	for _, name := range []string{"fill", "hidden", "mid", "readout", "coordinate-feature"} {
		if changed(name) {
			return cnp.Config{}, usagef("--%s is not for --levels", name)
		}
	}
	c := cnp.DefaultLevels(f.levels, dx, dy)
	if g.Name() == "SO(3)" {
		c = cnp.DefaultSphere(f.levels, dy)
	} else if f.sphere != "" { // in degrees
		c.PointsPerUnit, c.Channels = 0.16, cnp.DefaultSphere(f.levels, dy).Channels
	}
	c.Group, c.DimX, c.Lifts = g.Name(), dx, f.lifts.count
	switch {
	case f.field != "" && dx == 3:
		c.PointsPerUnit, c.Kernel = 1.5, 3
		for l := range c.Channels {
			c.Channels[l] = 16 + 8*min(l, 2)
		}
	case f.field != "": // whose length scale is 2.2: points that are close to each other need a fine lattice
		c.PointsPerUnit = 2
		for l := range c.Channels {
			c.Channels[l] = 32 + 16*max(0, min(l-1, 2))
		}
	}
	if changed("kernel-width") {
		c.Kernel = f.width
	}
	if changed("blocks") {
		c.Blocks = f.blocks
	}
	switch {
	case !changed("channels"):
	case len(f.channels) == 1:
		for i := range c.Channels {
			c.Channels[i] = f.channels[0]
		}
	default:
		c.Channels = f.channels
	}
	return c, nil
}

func (a *app) trainRegression(cmd *cobra.Command, f *regressionFlags) error {
	process, err := task.ParseProcess(f.kernel, f.length)
	if err != nil {
		return usageError{fmt.Errorf("--kernel: %w", err)}
	}
	dx, dy := 1, 1
	var own, held *task.CurveSet
	globe := task.SphereSource[float32]{Process: f.sphere, Place: f.place, Dx: 2}
	if f.sphere != "" {
		if err := globe.Validate(); err != nil {
			return usageError{fmt.Errorf("--sphere: %w", err)}
		}
		dx = globe.Dx
		f.group = cmp.Or(f.group, "SO(3)")
		if f.levels == 0 && f.model == "equivcnp" {
			f.levels = 4
		}
	} else if cmd.Flags().Changed("place") {
		return usagef("--place is for --sphere")
	}
	if f.csv != "" || f.in != "" || f.benchmark != "" || f.sphere != "" || f.field != "" || f.plane != "" {
		for _, name := range []string{"length", "from", "to"} {
			if cmd.Flags().Changed(name) {
				return usagef("--%s is for --kernel", name)
			}
		}
		if f.field == "" && cmd.Flags().Changed("targets") {
			return usagef("--targets is for --kernel and --field")
		}
	}
	bench := task.BenchmarkSource[float32]{Process: f.benchmark, Dx: f.dx, Chain: f.chain, Slow: f.slow}
	if f.benchmark != "" || f.sphere != "" || f.plane != "" {
		for _, name := range []string{"min-context", "max-context"} {
			if cmd.Flags().Changed(name) {
				return usagef("--%s is not for --benchmark, --sphere or --plane, which say how many there are", name)
			}
		}
	}
	if f.benchmark != "" {
		if err := bench.Validate(); err != nil {
			return usageError{fmt.Errorf("--benchmark: %w", err)}
		}
		dx = f.dx
	} else if cmd.Flags().Changed("dx") || f.chain || f.slow != 0 {
		return usagef("--dx, --chain and --slow are for --benchmark")
	}
	plane := task.PlaneSource[float32]{Kind: f.plane}
	if f.plane != "" {
		if err := plane.Validate(); err != nil {
			return usageError{fmt.Errorf("--plane: %w", err)}
		}
		dx = 2
	}
	var fields task.Source[float32]
	if f.field != "" {
		if err := checkTargets(f.targets); err != nil {
			return err
		}
		least, most := 0, 0
		if cmd.Flags().Changed("min-context") || cmd.Flags().Changed("max-context") {
			least, most = f.minContext, f.maxContext
		}
		if fields, dx, err = fieldSource(f.field, least, most, f.targets); err != nil {
			return err
		}
		if dy = dx; f.outputs == "" && f.model == "equivcnp" {
			f.outputs = string(cnp.Vector)
		}
	}
	if f.csv != "" || f.in != "" {
		if own, held, err = f.data(cmd.Context(), a); err != nil {
			return err
		}
		dx, dy = own.Dx, own.Dy
	} else if cmd.Flags().Changed("holdout") || f.holdoutBy != "" {
		return usagef("--holdout is for your own curves, not for --kernel, which draws new ones for ever")
	}
	var c cnp.Config
	switch f.model {
	case "equivcnp":
		g, err := group.Parse(cmp.Or(f.group, fmt.Sprintf("T(%d)", dx)), 0)
		if err != nil {
			return usageError{fmt.Errorf("--group: %w", err)}
		}
		if g, err = f.lifts.of(g); err != nil {
			return err
		}
		c = cnp.Default(cnp.EquivCNPCurve, g.Name(), dy)
		c.Fill = paperFill[f.kernel]
		if c.Fill == 0 || own != nil {
			c.Fill = paperFill["matern"]
		}
		c.Lifts = f.lifts.count
		moves := slices.Contains([]string{"T(2)", "SE(2)"}, g.Name())
		if f.field != "" && dx == 2 && moves && !cmd.Flags().Changed("levels") {
			f.levels = 4
		}
		if (f.plane != "" || f.field != "") && f.levels == 0 {
			c.PointsPerUnit, c.Fill = 0, 0.5 // few points, and no step of a lattice that would suit all kinds
		}
		if f.levels > 0 {
			if c, err = f.levelsConfig(cmd, g, dx, dy); err != nil {
				return err
			}
		}
	case "convcnp":
		c = cnp.Default(cnp.ConvCNPCurve, "", dy)
	case "cnp":
		c = cnp.Default(cnp.CNPCurve, "", dy)
	default:
		return usagef("--model %q: need equivcnp, convcnp or cnp", f.model)
	}
	c.DimX = dx
	if own != nil && len(own.Auxiliary) > 0 {
		c.Auxiliary, c.ChannelDensity = own.Auxiliary, true
		if f.model != "equivcnp" {
			return usagef("--aux is for --model equivcnp; a %s takes such columns as further inputs, --x", f.model)
		}
	} else if f.columns.aux != nil {
		return usagef("--aux is for --csv and --in")
	}
	if own != nil && len(own.Static) > 0 {
		c.Static, c.ChannelDensity = own.Static, true
		if f.model != "equivcnp" {
			return usagef("--static is for --model equivcnp")
		}
	} else if f.columns.static != "" || f.columns.fields != nil {
		return usagef("--static is for --csv, and --static-fields for --static and --in")
	}
	if f.outputs != "" {
		var columns int
		if c.Outputs, columns, err = cnp.ParseOutputs(f.outputs, dx); err != nil {
			return usageError{fmt.Errorf("--outputs: %w", err)}
		}
		if columns != dy {
			return usagef("--outputs %s: need as many columns as the data have, %d; these are %d, a vector is %d", f.outputs, dy, columns, dx)
		}
		if c.Vectors() && !cmd.Flags().Changed("likelihood") {
			f.likelihood = "full"
		}
	}
	if f.inputs != "" {
		if c.Inputs, _, err = cnp.ParseOutputs(f.inputs, dx); err != nil {
			return usageError{fmt.Errorf("--inputs: %w", err)}
		}
	}
	c.Likelihood = f.likelihood
	if _, err := cnp.ParseLikelihood(&c); err != nil {
		return usageError{err}
	}
	if own != nil {
		if err := checkCurves(&c, own); err != nil {
			return err
		}
	}
	changed, notes := cmd.Flags().Changed, []string(nil)
	unit := 1.0 // of x, in those of the data
	var kept, apart *task.CurveSet
	var source func(set *task.CurveSet, inOrder bool) task.Source[float32]
	scored := false
	if own != nil {
		if f.minContext < 0 || f.maxContext < f.minContext {
			return usagef("--min-context %d --max-context %d: need 0 <= min <= max", f.minContext, f.maxContext)
		}
		if kept, apart, scored = own, held, held != nil; !scored {
			if kept, apart, scored, err = holdOut(&f.trainFlags, own, len(own.Curves), changed, &notes); err != nil {
				return err
			}
		}
		window, err := f.windows.of(own.Inputs())
		if err != nil {
			return err
		}
		noteMissing(own, &notes)
		source = func(set *task.CurveSet, inOrder bool) task.Source[float32] {
			return task.CurveSetSource[float32]{Set: set, Window: window, Most: f.windows.most, MinContext: f.minContext, MaxContext: f.maxContext, Gaps: c.ChannelDensity, InOrder: inOrder}
		}
		if c.Trained, err = seen(kept, source(kept, false), window, c, f.seed); err != nil {
			return err
		}
		unit = 1 / c.Trained.Units.X[0].Factor
		notes = append(notes, noteUnits(&c))
		if dx > 1 && c.Levels == 0 {
			c.PointsPerUnit = 0 // the context points carry the features: a fine lattice in several dimensions has too many points
		}
	}
	for _, name := range []string{"kernel-width", "blocks"} {
		if f.levels == 0 && changed(name) {
			return usagef("--%s is for --levels", name)
		}
	}
	if f.model != "equivcnp" && f.levels != 0 {
		return usagef("--levels is for --model equivcnp")
	}
	if f.model != "equivcnp" && (f.coordinate || changed("fill") || changed("readout") || changed("density-cap") || changed("encoder-length") || changed("group") || changed("lifts") || changed("lift-samples") || changed("hidden") || changed("mid")) {
		return usagef("--coordinate-feature, --density-cap, --encoder-length, --fill, --group, --hidden, --lifts, --lift-samples, --mid and --readout are for --model equivcnp")
	}
	c.CoordinateFeature = f.coordinate
	if f.liftSamples != "even" {
		c.LiftSamples = cnp.LiftSamples(f.liftSamples)
	}
	if f.model == "equivcnp" {
		c.Readout = cnp.Readout(f.readout)
	}
	if changed("fill") {
		c.Fill = f.fill
	}
	if changed("channels") && c.Levels == 0 {
		c.Channels = f.channels
	}
	if changed("hidden") {
		c.Hidden = f.hidden
	}
	if changed("mid") {
		c.Mid = f.mid
	}
	if changed("points-per-unit") {
		if f.model == "cnp" {
			return usagef("--points-per-unit: a cnp has no lattice")
		}
		c.PointsPerUnit = f.pointsPerUnit * unit
	}
	if c.Architecture == cnp.EquivCNPCurve {
		if c.EncoderLength = 0; c.PointsPerUnit > 0 && c.Readout != cnp.ReadoutTargets {
			c.EncoderLength = 4 / c.PointsPerUnit
			if c.Levels > 0 {
				c.EncoderLength = 2 / c.PointsPerUnit
			}
			if c.Levels > 0 && f.field != "" {
				c.EncoderLength = 1 / c.PointsPerUnit
				if dx == 3 {
					c.EncoderLength = 0.7 / c.PointsPerUnit
				}
			}
		}
		c.DensityCap = f.densityCap
		if changed("encoder-length") {
			c.EncoderLength = f.encoderLength / unit
		}
	}
	if c.Readout != cnp.ReadoutQueries {
		c.Placement = cnp.PlacementBatch
	}
	if c.Readout == cnp.ReadoutTargets { // the kernel's length, the lattice and the radii, too, are as the authors have them
		c.FixedStep = false
	}
	if c.Architecture == cnp.EquivCNPCurve && (c.PointsPerUnit == 0 || !c.FixedStep) {
		c.RadiusRate = 0.3
	}
	if err := c.Validate(); err != nil {
		return usageError{flagError(err)}
	}
	if f.expected && (own != nil || !slices.Contains([]string{"", "normal", "normal:noise", "full"}, f.likelihood)) {
		return usagef("--expected is for processes, and for --likelihood normal, normal:noise or full")
	}
	const less = "--batch, --targets, --fill, --points-per-unit or interval"
	if own != nil {
		src := source(kept, false)
		test := src
		if scored {
			test = source(apart, true)
		}
		return a.train(cmd.Context(), &f.trainFlags, c, task.Standardised[float32]{Source: src, Config: c}, test, less, changed, notes)
	}
	var src, test task.Source[float32]
	switch {
	case f.sphere != "":
		src = globe
	case f.plane != "":
		src = plane
	case f.field != "":
		src = fields
	case f.benchmark != "":
		src = bench
		if bench.Slow > 0 {
			bench.Slow = 0
			test = bench
		}
	default:
		if src, err = f.curves(process); err != nil {
			return err
		}
	}
	if f.expected {
		known, ok := src.(task.GaussianSource[float32])
		if !ok || !known.Gaussian() {
			return usagef("--expected is for Gaussian processes, not for %s", src)
		}
		src, test = task.Expected[float32]{Of: known, Dy: dy}, src
	}
	return a.train(cmd.Context(), &f.trainFlags, c, src, test, less, changed, notes)
}

// curves is the source of the curves of --kernel.
func (f *regressionFlags) curves(process task.Process) (task.Source[float32], error) {
	if err := checkTargets(f.targets); err != nil {
		return nil, err
	}
	curves := task.PaperTestOf(process)
	curves.Lo, curves.Hi, curves.Targets, curves.Even = f.from, f.to, f.targets, false
	curves.MinContext, curves.MaxContext = f.minContext, f.maxContext
	name := f.kernel
	if f.length != 1 {
		name += fmt.Sprintf(" of length %g", f.length)
	}
	src := task.CurveSource[float32]{Name: name, Curves: curves}
	if err := src.Curves.Validate(); err != nil {
		return nil, usageError{flagError(err)}
	}
	return src, nil
}
