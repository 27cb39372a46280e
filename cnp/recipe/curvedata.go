package recipe

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// CurveData says where tasks of curves come from: a random process, or a user's own data. At most one of Benchmark, Sphere, Field, Plane,
// Line, Universal, CSV, In and Set is given; Kernel counts where none is.
type CurveData struct {
	// Kernel is a process of one coordinate (see task.ParseProcess), with Length where it says no length scale.
	Kernel string
	Length float64
	// Benchmark is a published benchmark, one of task.BenchmarkNames, with Dx coordinates. Region says where test points lie.
	// Chain draws contexts as long as those of the chain rule, Slow is the number of steps over which sawtooth waves
	// become fast.
	Benchmark, Region string
	Dx                int
	Chain             bool
	Slow              int
	// Sphere is a process on the sphere, seen at Place.
	Sphere, Place string
	// Field names vector fields, Plane values in the plane of a known symmetry.
	Field, Plane string
	// Line is values on the line whose translations may be broken by a known amount (see task.ParseLine).
	Line string
	// Universal is the number of coordinates, 1 to 3, of tables of any smoothness, noise and design (see task.Universal).
	Universal int
	// CSV is the file of a table with Columns, In a file of tensors. Set has tasks in memory.
	CSV, In string
	Columns
	Set    *task.CurveSet `json:"-"`
	Window Window
	// Stdin is read for the file name -; nil: a file of that name.
	Stdin io.Reader `json:"-"`
	// From and To are the interval of a Kernel's curves, Targets the number of places at which they are seen.
	From, To float64
	Targets  int
	// MinTargets, if it is not 0, makes the number of a curve's targets uniform from it to Targets.
	MinTargets int
	// MinContext and MaxContext bound the number of context points; nil: 3 and 49, or what a vector field has.
	MinContext, MaxContext *int
	// HoldoutBy takes rows of a CSV out of training (see task.ParseHoldoutRows). Holdout is the share that it takes, or
	// that of the tasks; 0: none. Seed draws them; nil: the training's.
	HoldoutBy   string
	Holdout     float64
	HoldoutSeed *uint64
	// ScoreContext takes the context into the targets of tests, too, on which a model is judged more mildly than on what it was not given.
	ScoreContext bool

	even bool // the places of a Kernel's targets
}

// DefaultMinContext and DefaultMaxContext bound the number of context points of tasks that do not say it.
const DefaultMinContext, DefaultMaxContext = 3, 49

// DefaultTestCurves are the tasks of the paper's tests: 400 even places on [-4, 4]. No kernel is named.
func DefaultTestCurves() CurveData {
	test := task.PaperTest(nil)
	return CurveData{Length: 1, Region: task.BenchmarkRegions[0], Place: task.SpherePlaces[0], From: test.Lo, To: test.Hi,
		Targets: test.Targets, even: true,
		Holdout: defaultHoldout, HoldoutSeed: new(uint64(1)), Window: Window{Points: defaultWindow}}
}

const (
	defaultHoldout = 0.1
	defaultWindow  = 256
)

// kind is the name of the field that says where tasks come from.
func (d *CurveData) kind() (string, error) {
	var given []string
	for _, f := range []struct {
		name string
		set  bool
	}{{"Benchmark", d.Benchmark != ""}, {"Sphere", d.Sphere != ""}, {"Field", d.Field != ""}, {"Plane", d.Plane != ""},
		{"Line", d.Line != ""}, {"Universal", d.Universal != 0},
		{"CSV", d.CSV != ""}, {"In", d.In != ""}, {"Set", d.Set != nil}} {
		if f.set {
			given = append(given, f.name)
		}
	}
	switch {
	case len(given) > 1:
		return "", Errorf("{%s} and {%s} exclude each other", given[0], given[1])
	case len(given) == 1:
		return given[0], nil
	case d.Kernel == "":
		return "", Errorf("say where the tasks come from: {Kernel}, {Benchmark}, {Sphere}, {Field}, {Plane}, {Line}, {Universal}, " +
			"{CSV} or {In}")
	}
	return "Kernel", nil
}

// own reports whether the tasks are a user's own.
func (d *CurveData) own() bool { return d.CSV != "" || d.In != "" || d.Set != nil }

// context returns the bounds of the number of context points, and whether they were given.
func (d *CurveData) context() (least, most int, given bool) {
	least, most = DefaultMinContext, DefaultMaxContext
	if d.MinContext != nil {
		least = *d.MinContext
	}
	if d.MaxContext != nil {
		most = *d.MaxContext
	}
	return least, most, d.MinContext != nil || d.MaxContext != nil
}

// checkContext refuses bounds of the number of context points that hold no number.
func (d *CurveData) checkContext() error {
	if least, most, _ := d.context(); least < 0 || most < least {
		return Errorf("{MinContext} %d {MaxContext} %d: need 0 <= min <= max", least, most)
	}
	return nil
}

// process returns the source of the tasks of a process, and their numbers of coordinates and outputs. cfg is the model
// that is tested; nil in training.
func (d *CurveData) process(cfg *cnp.Config) (src task.Source[float32], dx, dy int, err error) {
	kind, err := d.kind()
	if err != nil {
		return nil, 0, 0, err
	}
	dx, dy = 1, 1
	var checked interface {
		task.Source[float32]
		Validate() error
	}
	switch kind {
	case "Benchmark":
		o := task.BenchmarkOptions{Dx: d.Dx, Region: d.Region, Chain: d.Chain, Slow: d.Slow}
		if cfg != nil {
			o.Dx = cfg.DimX
		}
		if checked, dx, dy, err = task.NewBenchmark[float32](d.Benchmark, o); err != nil {
			return nil, 0, 0, Errorf("{%s}: %w", kind, err)
		}
	case "Sphere":
		if dx = 2; cfg != nil {
			dx = cfg.DimX
		}
		checked = task.SphereSource[float32]{Process: d.Sphere, Place: d.Place, Dx: dx}
	case "Plane":
		dx = 2
		checked = task.PlaneSource[float32]{Kind: d.Plane}
	case "Line":
		if checked, err = task.ParseLine[float32](d.Line); err != nil {
			return nil, 0, 0, Errorf("{%s}: %w", kind, err)
		}
	case "Universal":
		least, most, _ := d.context()
		u := task.Universal{Dim: d.Universal, Least: max(1, least), Most: most, Targets: d.Targets, Standard: true}
		if cfg != nil && cfg.DimX != u.Dim {
			return nil, 0, 0, Errorf("{%s} %d: the model has %d coordinates", kind, u.Dim, cfg.DimX)
		}
		checked, dx = u, u.Dim
	case "Field":
		targets := d.Targets
		if cfg != nil {
			targets = 0
		}
		src, dx, err = d.vectors(targets)
		return src, dx, dx, err
	default:
		src, err = d.curves()
		return src, dx, dy, err
	}
	if err := checked.Validate(); err != nil {
		return nil, 0, 0, Errorf("{%s}: %w", kind, err)
	}
	return checked, dx, dy, nil
}

// vectors returns the source of the vector fields with so many targets, and their number of coordinates.
func (d *CurveData) vectors(targets int) (task.Source[float32], int, error) {
	if err := checkTargets(targets); err != nil {
		return nil, 0, err
	}
	least, most, given := d.context()
	if !given {
		least, most = 0, 0 // as many as the fields have by default
	}
	var src interface {
		task.Source[float32]
		Validate() error
	}
	dx := 2
	src = task.VectorSource[float32]{Kernel: d.Field, MinContext: least, MaxContext: most, Targets: targets}
	if slices.Contains(task.ChargeKinds, d.Field) {
		src, dx = task.ChargeSource[float32]{Kind: d.Field, MinContext: least, MaxContext: most, Targets: targets}, 3
	} else if !slices.Contains(task.VectorKernels, d.Field) {
		return nil, 0, Errorf("{Field} %q: need one of %s", d.Field,
			strings.Join(slices.Concat(task.VectorKernels, task.ChargeKinds), ", "))
	}
	if err := src.Validate(); err != nil {
		return nil, 0, Errorf("{Field}: %w", err)
	}
	return src, dx, nil
}

// curves returns the source of the curves of a Kernel.
func (d *CurveData) curves() (task.Source[float32], error) {
	process, err := task.ParseProcess(d.Kernel, d.Length)
	if err != nil {
		return nil, Errorf("{Kernel}: %w", err)
	}
	if err := checkTargets(d.Targets); err != nil {
		return nil, err
	}
	if !(d.From < d.To && d.To-d.From < 1e9) {
		return nil, Errorf("{From} %g {To} %g: the interval is empty or too long", d.From, d.To)
	}
	c := task.PaperTestOf(process)
	c.Lo, c.Hi, c.Targets, c.MinTargets, c.Even = d.From, d.To, d.Targets, d.MinTargets, d.even
	c.MinContext, c.MaxContext, _ = d.context()
	name := d.Kernel
	if d.Length != 1 {
		name += fmt.Sprintf(" of length %g", d.Length)
	}
	if err := c.Validate(); err != nil {
		return nil, invalid(err)
	}
	return task.CurveSource[float32]{Name: name, Curves: c}, nil
}

// maxCurve bounds the targets of a drawn curve, whose covariance is factorised.
const maxCurve = 4096

// checkTargets refuses curves at too many places.
func checkTargets(n int) error {
	if n > maxCurve {
		return Errorf("{Targets} %d: the covariance of so many needs %v; need at most %d", n, cnp.Bytes(24*int64(n)*int64(n)), maxCurve)
	}
	return nil
}

// inMemory returns a set that a caller made, with a name.
func inMemory(given *task.CurveSet) (*task.CurveSet, error) {
	if err := given.Check(); err != nil {
		return nil, err
	}
	set := *given
	set.Name = cmp.Or(set.Name, "tasks in memory")
	return &set, nil
}

// read returns the tasks of a user's own data for a model of that configuration, and those that HoldoutBy takes out of
// them, nil without it.
func (d *CurveData) read(ctx context.Context, cfg *cnp.Config, seed uint64) (set, apart *task.CurveSet, err error) {
	switch {
	case d.HoldoutBy != "" && d.CSV == "":
		return nil, nil, Errorf("{HoldoutBy} is for {CSV}")
	case d.Set != nil:
		set, err = inMemory(d.Set)
		return set, nil, err
	case d.In != "":
		set, err = d.tensors(cfg)
		return set, nil, err
	}
	var by task.HoldoutRows
	if d.HoldoutBy != "" {
		if by, err = task.ParseHoldoutRows(d.HoldoutBy, d.Holdout, seed); err != nil {
			return nil, nil, Errorf("{HoldoutBy}: %w", err)
		}
	}
	opt, err := d.RowsOptions(cfg)
	if err != nil {
		return nil, nil, err
	}
	t, err := d.ReadTable(d.CSV, d.Stdin)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, nil, err
	}
	if d.HoldoutBy != "" {
		set, apart, err = task.SplitTable(t, opt, by)
	} else {
		set, err = task.CurvesOfTable(t, opt)
	}
	if err != nil {
		return nil, nil, err
	}
	field, err := d.StaticField(cfg, set.Dx)
	if err != nil {
		return nil, nil, err
	}
	set.WithField(field)
	if apart != nil {
		apart.WithField(field)
	}
	return set, apart, nil
}

// tensors reads the tasks of In.
func (d *CurveData) tensors(cfg *cnp.Config) (*task.CurveSet, error) {
	opt, err := d.RowsOptions(cfg)
	if err != nil {
		return nil, err
	}
	static := cfg.Static
	if cfg.Architecture == "" {
		static = d.StaticFields
	}
	if d.Static != "" {
		return nil, Errorf("{Static} %s: a file of tensors has the fields of its tasks, x_static and y_static", d.Static)
	}
	file, err := taskFile(d.In, d.Stdin)
	if err != nil {
		return nil, err
	}
	return task.CurvesOf(file, cfg.DimX, cfg.DimY, opt.Aux, static)
}

// source returns the tasks of a set for a model of that configuration.
func (d *CurveData) source(set *task.CurveSet, cfg *cnp.Config, inOrder bool) (task.CurveSetSource[float32], error) {
	if err := d.checkContext(); err != nil {
		return task.CurveSetSource[float32]{}, err
	}
	least, most, _ := d.context()
	window, err := d.Window.of(set.Inputs())
	if err != nil {
		return task.CurveSetSource[float32]{}, err
	}
	return task.CurveSetSource[float32]{Set: set, Window: window, Most: d.Window.Points, MinContext: least, MaxContext: most,
		Gaps: cfg.ChannelDensity, InOrder: inOrder}, nil
}

// Test returns the tasks on which a model of that configuration is measured, and how many there are: 0 where there is
// no end. A user's own come in order; with HoldoutBy they are those that it takes out of training.
func (d CurveData) Test(ctx context.Context, cfg *cnp.Config) (task.Source[float32], int, error) {
	if err := d.checkContext(); err != nil {
		return nil, 0, err
	}
	if !d.own() {
		switch {
		case len(cfg.Static) > 0:
			return nil, 0, Errorf("the model has the static fields %s, which only {CSV} (with {Static}) and {In} have",
				strings.Join(cfg.Static, ", "))
		case len(cfg.Auxiliary) > 0:
			return nil, 0, Errorf("the model has the auxiliary inputs %s, which only {CSV} and {In} have",
				strings.Join(cfg.Auxiliary, ", "))
		}
		src, dx, dy, err := d.process(cfg)
		if err != nil {
			return nil, 0, err
		}
		if kind, _ := d.kind(); cfg.DimX != dx || cfg.DimY != dy {
			return nil, 0, Errorf("{%s} has tasks of %s and %s, the model has %d and %d", kind, worded(dx, "coordinate"),
				worded(dy, "output"), cfg.DimX, cfg.DimY)
		}
		return src, 0, nil
	}
	seed := uint64(1)
	if d.HoldoutSeed != nil {
		seed = *d.HoldoutSeed
	}
	set, apart, err := d.read(ctx, cfg, seed)
	if err != nil {
		return nil, 0, err
	}
	if apart != nil {
		set = apart
	}
	if err := checkSingle(set); err != nil {
		return nil, 0, err
	}
	if err := checkCurves(cfg, set); err != nil {
		return nil, 0, err
	}
	src, err := d.source(set, cfg, true)
	src.Unobserved = !d.ScoreContext
	return src, len(set.Curves), err
}

// checkCurves refuses curves with values that a likelihood cannot give.
func checkCurves(c *cnp.Config, set *task.CurveSet) error {
	l, err := cnp.ParseLikelihood(c)
	if err != nil {
		return err
	}
	known := func(y []float64) []bool {
		out := make([]bool, len(y))
		for i, v := range y {
			out[i] = !math.IsNaN(v)
		}
		return out
	}
	for i, curve := range set.Curves {
		err := cnp.CheckSupport(l, "y", curve.Y, known(curve.Y), set.Dy)
		if err == nil && curve.Context != nil {
			err = cnp.CheckSupport(l, "y of the context", curve.Context.Y, known(curve.Context.Y), set.Dy)
		}
		if err != nil {
			return fmt.Errorf("%s: task %d: %w", set.Name, i, err)
		}
	}
	return nil
}

// checkSingle refuses an output whose values differ, in one of the tasks, by hardly more than float32 tells apart: models are trained and
// scored in float32, in which errors of such values are those of their rounding. Equal values stay equal.
func checkSingle(sets ...*task.CurveSet) error {
	for _, set := range sets {
		if set == nil {
			continue
		}
		for i, curve := range set.Curves {
			of := make([]tabular.Single, set.Dy)
			for j, v := range curve.Y {
				of[j%set.Dy].Add(v)
			}
			if curve.Context != nil {
				for j, v := range curve.Context.Y {
					of[j%set.Dy].Add(v)
				}
			}
			for k := range of {
				if of[k].Loses() {
					mean, std := of[k].Moments()
					return fmt.Errorf("%s: task %d: %w: output %d of %d has a standard deviation of %.3g around %.9g, which is too little "+
						"for float32: subtract a number from all of its values", set.Name, i, cnp.ErrRange, k+1, set.Dy, std, mean)
				}
			}
		}
	}
	return nil
}

// checkValues refuses a set in which an output, an auxiliary input or a static field has no value at all.
func checkValues(set *task.CurveSet) error {
	for _, of := range []struct {
		what  func(k int) string
		n     int
		words func(c *task.Curve) []float64
	}{
		{func(k int) string { return fmt.Sprintf("output %d of %d", k+1, set.Dy) }, set.Dy, func(c *task.Curve) []float64 { return c.Y }},
		{func(k int) string { return "the static field " + set.Static[k] }, len(set.Static), func(c *task.Curve) []float64 {
			if c.Field == nil {
				return nil
			}
			return c.Field.Y
		}},
		{func(k int) string { return "the auxiliary input " + set.Auxiliary[k] }, len(set.Auxiliary),
			func(c *task.Curve) []float64 { return c.Aux }},
	} {
		for k := range of.n {
			if !slices.ContainsFunc(set.Curves, func(c task.Curve) bool {
				v := of.words(&c)
				for i := k; i < len(v); i += of.n {
					if !math.IsNaN(v[i]) {
						return true
					}
				}
				return false
			}) {
				return fmt.Errorf("%s: %s has no value at all", set.Name, of.what(k))
			}
		}
	}
	return nil
}
