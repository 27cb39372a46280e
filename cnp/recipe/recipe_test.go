package recipe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/npy"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// small is a recipe of a second.
func small() Curves {
	c := DefaultCurves()
	c.Model, c.Steps, c.Batch, c.EvalEvery = "cnp", 4, 2, new(2)
	c.EvalTasks = 2
	return c
}

// sines are tasks of a user's own.
func sines(n int) *task.CurveSet {
	set := &task.CurveSet{Name: "sines", Dx: 1, Dy: 1}
	for k := range n {
		var c task.Curve
		for i := range 20 {
			x := float64(i) * 10
			c.X, c.Y = append(c.X, x), append(c.Y, 20+3*math.Sin(x/20+float64(k)))
		}
		set.Curves = append(set.Curves, c)
	}
	return set
}

// What stands beside a model with auxiliary inputs sees them, too.
func TestBaselineAuxiliary(t *testing.T) {
	score := func(aux bool) float64 {
		r := small()
		r.Model, r.Levels, r.Channels, r.Steps = "equivcnp", new(2), []int{4}, 1
		set := sines(12)
		if aux {
			set.Auxiliary = []string{"height"}
		}
		rng := rand.New(rand.NewPCG(3, 4))
		for k := range set.Curves {
			c := &set.Curves[k]
			for i := range c.Y {
				height := rng.Float64()
				if c.Y[i] += 50 * height; aux {
					c.Aux = append(c.Aux, height)
				}
			}
		}
		r.Data.Set = set
		p, err := r.Plan(t.Context())
		require.NoError(t, err)
		trained, err := p.Train(t.Context(), Options{})
		require.NoError(t, err)
		require.Len(t, trained.Baselines, 2)
		require.Equal(t, interpolation, trained.Baselines[1].Name)
		return trained.Baselines[1].RMSE
	}
	with, without := score(true), score(false)
	require.Less(t, with, without/3)
}

// A scale that no lattice has is named as it was given, not in the model's units.
func TestScales(t *testing.T) {
	for want, change := range map[string]func(*Curves){
		"PointsPerUnit -2: need 0 or more":  func(c *Curves) { c.PointsPerUnit = new(-2.0) },
		"PointsPerUnit NaN: need 0 or more": func(c *Curves) { c.PointsPerUnit = new(math.NaN()) },
		"EncoderLength -1: need 0 or more":  func(c *Curves) { c.EncoderLength = new(-1.0) },
	} {
		c := small()
		c.Model, c.Data.Set = "equivcnp", sines(12)
		change(&c)
		_, err := c.Plan(t.Context())
		require.ErrorContains(t, err, want)
		require.ErrorAs(t, err, new(*Error))
	}
}

// A recipe for every kind of data plans a model for its coordinates and outputs; what it leaves open is the kind's.
func TestPlans(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Curves)
		want   string
		dx, dy int
	}{
		"kernel":    {func(*Curves) {}, "T(1)", 1, 1},
		"benchmark": {func(c *Curves) { c.Data.Benchmark, c.Data.Dx, c.PointsPerUnit = "eq", 2, new(2.0) }, "T(2)", 2, 1},
		"sphere":    {func(c *Curves) { c.Data.Sphere = "eq" }, "SO(3)", 2, 1},
		"field":     {func(c *Curves) { c.Data.Field, c.Channels = "rbf", []int{4} }, "T(2)", 2, 2},
		"plane":     {func(c *Curves) { c.Data.Plane = "radial" }, "T(2)", 2, 1},
		"line":      {func(c *Curves) { c.Data.Line = "stationary+0.5" }, "T(1)", 1, 1},
		"universal": {func(c *Curves) { c.Data.Universal, c.Data.Targets, c.Data.MaxContext = 2, 20, new(9) }, "T(2)", 2, 1},
		"memory":    {func(c *Curves) { c.Data.Set = sines(12) }, "T(1)", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := DefaultCurves()
			r.Steps = 10
			c.change(&r)
			p, err := r.Plan(t.Context())
			require.NoError(t, err)
			require.Equal(t, []any{c.want, c.dx, c.dy}, []any{p.Model.Group, p.Model.DimX, p.Model.DimY})
			require.Equal(t, []any{10, 16, uint64(1)}, []any{p.Config.Steps, p.Config.Batch, p.Config.Seed})
			require.Equal(t, name == "memory", p.Model.HasUnits())
		})
	}
	im := DefaultImages()
	im.Data.Digits, im.Data.Size, im.Group = true, [2]int{12, 8}, "T2"
	p, err := im.Plan(t.Context())
	require.NoError(t, err)
	require.Equal(t, [2]int{8, 12}, p.Model.ImageSize)
	require.Equal(t, 4, p.Config.Batch)
	im.Group = ""
	p, err = im.Plan(t.Context())
	require.NoError(t, err)
	require.Equal(t, "T(2)", p.Model.Group)
	im.Lifts, im.Views = Lifts{8, 2}, new(cnp.DefaultViews())
	p, err = im.Plan(t.Context())
	require.NoError(t, err)
	require.Equal(t, "Sim(2) at 2 scales", p.Model.Group)
	require.Equal(t, []int{32}, p.Model.Channels)
	require.Equal(t, 8, p.Config.Batch)
}

// What no training can follow is an Error that names the fields, as Go or as a program calls them.
func TestErrors(t *testing.T) {
	for want, change := range map[string]func(*Curves){
		"Length is for Kernel":             func(c *Curves) { c.Data.Benchmark, c.Data.Length = "eq", 2 },
		"Levels is for Model equivcnp":     func(c *Curves) { c.Model, c.Levels = "cnp", new(2) },
		"CSV and Set exclude each other":   func(c *Curves) { c.Data.CSV, c.Data.Set = "a.csv", sines(2) },
		`Schedule "steep": need constant`:  func(c *Curves) { c.Schedule = "steep" },
		"Holdout 2: need 0 to less than 1": func(c *Curves) { c.Data.Set, c.Data.Holdout = sines(2), 2 },
		"MinContext 5 MaxContext 4: need 0": func(c *Curves) {
			c.Data.Set, c.Data.MinContext, c.Data.MaxContext = sines(3),
				new(5), new(4)
		},
		"Window day=2: need an input of x": func(c *Curves) {
			c.Data.Set, c.Data.Window.Lengths = sines(3),
				map[string]float64{"day": 2}
		},
		"Model \"gp\": need equivcnp":         func(c *Curves) { c.Model = "gp" },
		"Noise or Beta: ":                     func(c *Curves) { c.Likelihood, c.Beta = "bernoulli-gamma", new(0.3) },
		"Expected is for Gaussian processes":  func(c *Curves) { c.Data.Kernel, c.Expected = "sawtooth", true },
		"Outputs scalar,scalar: need as many": func(c *Curves) { c.Outputs = "scalar,scalar" },
	} {
		r := small()
		change(&r)
		_, err := r.Plan(t.Context())
		var bad *Error
		require.ErrorAs(t, err, &bad, want)
		require.Contains(t, bad.Error(), want)
		named := bad.Named(strings.ToLower)
		require.NotContains(t, named, "{")
		if strings.HasPrefix(want, "Length") {
			require.Equal(t, "length is for kernel", named)
		}
	}
	_, err := (&Images{}).Plan(t.Context())
	require.ErrorContains(t, err, "say where the images come from")
	r := small()
	r.Memory = 1
	_, err = r.Plan(t.Context())
	require.ErrorIs(t, err, cnp.ErrMemory)
}

// A training that was interrupted and resumed ends with the bits of one that was not; without Resume its checkpoint is not touched.
func TestResume(t *testing.T) {
	r := small()
	r.Data.Set, r.CheckpointEvery = sines(12), new(1)
	p, err := r.Plan(t.Context())
	require.NoError(t, err)
	whole, err := p.Train(t.Context(), Options{})
	require.NoError(t, err)
	require.Equal(t, 4, whole.Steps)
	require.NotNil(t, whole.Last)
	require.Equal(t, p.Source.String(), whole.About["tasks"])

	dir := t.TempDir()
	opt := Options{Checkpoint: filepath.Join(dir, "run.checkpoint"), Log: filepath.Join(dir, "run.jsonl")}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err = p.Train(ctx, opt)
	require.ErrorContains(t, err, "interrupted after step 0 of 4")
	_, err = p.Train(t.Context(), opt)
	require.ErrorIs(t, err, ErrCheckpoint)
	opt.Resume = true
	again, err := p.Train(t.Context(), opt)
	require.NoError(t, err)
	for i, x := range whole.Model.State() {
		require.Equal(t, x.Data, again.Model.State()[i].Data)
	}
	// After an interruption between the last step and the file there is nothing left to train, and the file says the same.
	done, err := p.Train(t.Context(), opt)
	require.NoError(t, err)
	require.Equal(t, 4, done.Resumed)
	for _, resumed := range []*Trained{again, done} {
		require.Equal(t, whole.Last, resumed.Last)
		require.Equal(t, whole.Baselines, resumed.Baselines)
		require.Equal(t, whole.About, resumed.About)
	}
	path := filepath.Join(dir, "m.safetensors")
	require.NoError(t, again.Save(path))
	require.FileExists(t, path)

	// Another model's parameters to begin with.
	more := small()
	more.Data.Set, more.Steps = sines(12), 0
	p, err = more.Plan(t.Context())
	require.NoError(t, err)
	same, err := p.Train(t.Context(), Options{Start: whole.Model})
	require.NoError(t, err)
	require.Equal(t, whole.Model.State()[0].Data, same.Model.State()[0].Data)
}

// Tests score what a model was not given, of a table and of tasks in memory.
func TestUnobserved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	text := "x,y,task,context\n"
	for i := range 10 {
		text += []string{"0,1,a,1\n", "1,2,a,0\n", "2,3,b,1\n"}[i%3]
	}
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	d := DefaultTestCurves()
	d.CSV = path
	cfg := cnp.Default(cnp.CNPCurve, "", 1)
	for _, whole := range []bool{false, true} {
		d.ScoreContext = whole
		src, n, err := d.Test(t.Context(), &cfg)
		require.NoError(t, err)
		require.Equal(t, 2, n)
		require.Equal(t, !whole, strings.Contains(src.String(), "scored where they are not observed"))
		b, err := src.Batch(2, 1, 0)
		require.NoError(t, err)
		for i := range b.Y {
			if !whole && b.Curves.TargetMask[i] {
				require.Equal(t, b.Curves.XTarget[i] == 1, b.Known[i])
			}
		}
	}
	d = DefaultTestCurves()
	d.Set = sines(3)
	src, _, err := d.Test(t.Context(), &cfg)
	require.NoError(t, err)
	for step := range 20 {
		b, err := src.Batch(3, 1, step)
		require.NoError(t, err)
		for k := range b.Curves.B {
			seen := map[float64]bool{}
			for i := k * b.Curves.Nc; i < (k+1)*b.Curves.Nc; i++ {
				if b.Curves.ContextMask[i] {
					seen[b.Curves.XContext[i]] = true
				}
			}
			left := 0
			for i := k * b.Curves.Nt; i < (k+1)*b.Curves.Nt; i++ {
				known := b.Known == nil || b.Known[i]
				require.Equal(t, !seen[b.Curves.XTarget[i]], known)
				if known {
					left++
				}
			}
			require.Positive(t, left, "a point of every task is scored")
		}
	}
}

// An error keeps its cause.
func TestErrorf(t *testing.T) {
	cause := errors.New("cause")
	err := Errorf("{MinContext}: %w", cause)
	require.ErrorIs(t, err, cause)
	require.Equal(t, "MinContext: cause", err.Error())
}

// Tables of text may have decimal commas, where the recipe says so.
func TestDecimal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	require.NoError(t, os.WriteFile(path, []byte("x;y\n0,5;1,25\n1,5;2\n"), 0o600))
	d := CurveData{CSV: path, Columns: Columns{Decimal: ","}}
	set, _, err := d.read(t.Context(), &cnp.Config{}, 1)
	require.NoError(t, err)
	require.Equal(t, []float64{0.5, 1.5}, set.Curves[0].X)
	d.Missing = []string{"2"}
	set, _, err = d.read(t.Context(), &cnp.Config{}, 1)
	require.NoError(t, err)
	require.Equal(t, []float64{0.5}, set.Curves[0].X)
	require.Contains(t, strings.Join(set.Notes, ""), "is 2 in 1 row, which counts as missing")
	d.Missing = []string{""}
	_, _, err = d.read(t.Context(), &cnp.Config{}, 1)
	require.ErrorContains(t, err, "Missing: a value")
	d.Missing, d.Decimal = nil, "x"
	_, _, err = d.read(t.Context(), &cnp.Config{}, 1)
	require.ErrorContains(t, err, `Decimal "x": need a point or a comma`)
}

// What the paper leaves to its user: powers of values, sampled neighbourhoods, random numbers of targets.
func TestPaperSettings(t *testing.T) {
	c := DefaultCurves()
	c.Multiplicity, c.Data.MinTargets = 3, 10
	p, err := c.Plan(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, p.Model.Multiplicity)
	im := DefaultImages()
	im.Data.Digits, im.Group, im.Multiplicity, im.Neighbors = true, "T2", 2, 25
	p, err = im.Plan(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{2, 25, 0}, []int{p.Model.Multiplicity, p.Model.MaxNeighbors, p.Model.BlockNeighbors})
	im.Neighbors, im.BlockNeighbors = 121, 81
	p, err = im.Plan(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{121, 81}, []int{p.Model.MaxNeighbors, p.Model.BlockNeighbors})
	c = DefaultCurves()
	c.Neighbors, c.SamplingFraction = 25, 0.5
	p, err = c.Plan(t.Context())
	require.NoError(t, err)
	require.NoError(t, p.Model.Validate())
	require.Equal(t, []any{25, 0.5, cnp.PlacementBatch}, []any{p.Model.MaxNeighbors, p.Model.SamplingFraction, p.Model.Placement})
	im.SamplingFraction = 0.5
	_, err = im.Plan(t.Context())
	require.ErrorContains(t, err, "SamplingFraction is for curves")

	for want, change := range map[string]func(*Curves){
		"Multiplicity is not for Model cnp":          func(c *Curves) { c.Model, c.Multiplicity = "cnp", 2 },
		"Neighbors is for Model equivcnp":            func(c *Curves) { c.Model, c.Neighbors = "convcnp", 2 },
		"need at least 0 of each":                    func(c *Curves) { c.Neighbors = -1 },
		"SamplingFraction is for Model equivcnp":     func(c *Curves) { c.Model, c.SamplingFraction = "convcnp", 0.5 },
		"SamplingFraction 2: need more than 0":       func(c *Curves) { c.SamplingFraction = 2 },
		"BlockNeighbors is for images":               func(c *Curves) { c.BlockNeighbors = 3 },
		"Neighbors and SamplingFraction are not for": func(c *Curves) { c.Levels, c.Neighbors = new(int), 3; *c.Levels = 2 },
		"MinTargets is for Kernel":                   func(c *Curves) { c.Data.Benchmark, c.Data.MinTargets = "eq", 2 },
		"at least 101 of 100 targets, need 0 to 100": func(c *Curves) { c.Data.MinTargets = 101 },
	} {
		c := DefaultCurves()
		change(&c)
		_, err := c.Plan(t.Context())
		require.ErrorContains(t, err, want)
	}
}

// TestSingle: values of one's own that float32 makes equal, or steps, are refused wherever a model learns from them or is measured on them.
func TestSingle(t *testing.T) {
	for _, c := range []struct {
		level float64
		fits  bool
	}{{0, true}, {1e6, true}, {1e8, false}, {1e15, false}} {
		set := sines(12)
		for i := range set.Curves[11].Y {
			set.Curves[11].Y[i] += c.level
		}
		data := DefaultTestCurves()
		data.Set = set
		r := small()
		r.Data.Set = set
		_, planned := r.Plan(t.Context())
		_, _, tested := data.Test(t.Context(), &cnp.Config{DimX: 1, DimY: 1, Architecture: cnp.CNPCurve})
		_, learned := (&Population{Set: set}).read(t.Context())
		for _, err := range []error{planned, tested, learned} {
			if c.fits {
				require.NoError(t, err, c.level)
				continue
			}
			require.ErrorIs(t, err, cnp.ErrRange)
			require.ErrorContains(t, err, "sines: task 11: out of range: output 1 of 1 has a standard deviation of ")
		}
	}
}

// TestHeldOutScores: tasks that are held out are scored where they are not observed, or as a whole if their contexts are all of them.
func TestHeldOutScores(t *testing.T) {
	for _, whole := range []bool{false, true} {
		r := small()
		r.Data.Set = sines(20)
		for k := range r.Data.Set.Curves {
			c := &r.Data.Set.Curves[k]
			n := len(c.X)
			if !whole {
				n /= 2
			}
			c.Context = &task.Points{X: c.X[:n], Y: c.Y[:n]}
		}
		p, err := r.Plan(t.Context())
		require.NoError(t, err)
		require.Equal(t, !whole, strings.Contains(p.Test.String(), "scored where they are not observed"))
		require.Equal(t, whole, strings.Contains(strings.Join(p.Notes, " "), "scores are of these contexts"))
		got, err := p.Train(t.Context(), Options{})
		require.NoError(t, err)
		require.False(t, math.IsNaN(got.Last.LogLikelihood))
	}
}

// TestUnscaledStack: a stack of temperatures in kelvin is trained on, with a note; one in [0, 1] without.
func TestUnscaledStack(t *testing.T) {
	for factor, want := range map[float32]int{1: 0, 290: 1, -1e30: 1} {
		v := make([]float32, 4*6*6)
		for i := range v {
			v[i] = factor * (float32(i%7) / 7)
		}
		v[0] = float32(math.NaN())
		x := safetensors.FromFloat32s("", []int{4, 6, 6}, v)
		path := filepath.Join(t.TempDir(), "stack.npy")
		f, err := os.Create(path)
		require.NoError(t, err)
		require.NoError(t, npy.EncodeArray(f, &x))
		require.NoError(t, f.Close())
		r := DefaultImages()
		r.Group, r.Steps, r.Width, r.Data.In, r.Data.Holdout = "T2", 1, 4, path, 0
		p, err := r.Plan(t.Context())
		require.NoError(t, err)
		n := 0
		for _, s := range p.Notes {
			if strings.Contains(s, "near 0 to 1") {
				n++
				require.Contains(t, s, fmt.Sprintf("%s has values like %.6g:", path, factor*(float32(6)/7)))
			}
		}
		require.Equal(t, want, n, p.Notes)
	}
}

// stackFile is a file of n images of 6 x 6 pixels.
func stackFile(t *testing.T, n int) string {
	v := make([]float32, n*36)
	for i := range v {
		v[i] = float32(i*i%11) / 11
	}
	x := safetensors.FromFloat32s("", []int{n, 6, 6}, v)
	path := filepath.Join(t.TempDir(), "stack.npy")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, npy.EncodeArray(f, &x))
	require.NoError(t, f.Close())
	return path
}

// TestHeldOut: a plan knows whether scores are of data of the user's own that are not trained on.
func TestHeldOut(t *testing.T) {
	path := stackFile(t, 10)
	curves := func(set *task.CurveSet, holdout float64) *Curves {
		c := small()
		c.Data.Set, c.Data.Holdout = set, holdout
		return &c
	}
	images := func(holdout float64) *Images {
		im := DefaultImages()
		im.Data.In, im.Data.Holdout = path, holdout
		return &im
	}
	drawn, digits := small(), DefaultImages()
	drawn.Data.Field, drawn.Model, drawn.Channels = "rbf", "equivcnp", []int{4}
	digits.Data.Digits = true
	views := images(0.2)
	views.Lifts, views.Views = Lifts{4, 2}, new(cnp.DefaultViews())
	for _, c := range []struct {
		r    Recipe
		want bool
	}{
		{curves(sines(10), 0.2), true}, {curves(sines(10), 0), false}, {curves(sines(1), defaultHoldout), false}, {&drawn, false},
		{images(0.2), true}, {images(0), false}, {&digits, false}, {views, true},
	} {
		p, err := c.r.Plan(t.Context())
		require.NoError(t, err)
		require.Equal(t, c.want, p.HeldOut(), "%v", p.Source)
	}
}

// TestInMemory: tasks that a caller made are checked before anything is drawn from them, and have a name in all that is said of them.
func TestInMemory(t *testing.T) {
	set := func() *task.CurveSet {
		s := hills(12, 9)
		s.Name = ""
		return s
	}
	for want, change := range map[string]func(s *task.CurveSet){
		"task 3: y has 5 numbers": func(s *task.CurveSet) { s.Curves[3].Y = s.Curves[3].Y[:5] },
		"task 3: x[1, 0] = NaN":   func(s *task.CurveSet) { s.Curves[3].X[2] = math.NaN() },
		"2 coordinates and 0 out": func(s *task.CurveSet) { s.Dy = 0 },
		"task 0: y has 18 number": func(s *task.CurveSet) { s.Dx = 1 },
	} {
		r, p := DefaultCurves(), DefaultPopulation()
		r.Data.Set, p.Set = set(), set()
		change(r.Data.Set)
		change(p.Set)
		_, err := r.Plan(t.Context())
		require.ErrorIs(t, err, task.ErrData)
		require.ErrorContains(t, err, want)
		_, err = p.Estimate(t.Context())
		require.ErrorIs(t, err, task.ErrData)
		require.ErrorContains(t, err, want)
	}
	r := DefaultCurves()
	r.Data.Set = set()
	plan, err := r.Plan(t.Context())
	require.NoError(t, err)
	require.Contains(t, plan.Source.String(), "tasks in memory")
	require.Empty(t, r.Data.Set.Name)
}
