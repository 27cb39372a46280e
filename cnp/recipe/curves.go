package recipe

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/group"
)

// Curves is the recipe of a model that regresses curves. Start from [DefaultCurves].
type Curves struct {
	Data CurveData
	Settings
	// Outputs and Inputs are the types of the outputs and, of a model with Levels, of those that are observed, as in "scalar,vector".
	Outputs, Inputs string
	// LiftSamples is even or random.
	LiftSamples string
	// Expected trains on the exact posterior of a Gaussian process instead of on values that are drawn from it.
	Expected bool

	// The following fields say how large the network is. Levels is the number of lattices; nil: one, or 4 on the sphere
	// and for vector fields in the plane. Channels are the widths, KernelWidth and Blocks those of Levels.
	// PointsPerUnit is the density of the lattice. A zero is the default.
	Levels            *int
	Channels          []int
	Hidden, Mid       int
	KernelWidth       int
	Blocks            *int
	PointsPerUnit     *float64
	Fill              float64
	EncoderLength     *float64
	DensityCap        float64
	Readout           string
	CoordinateFeature bool
	// Approximate is the probability with which training drops the inputs of a model that departs from its symmetry; nil: it has none.
	Approximate *float64
}

// DefaultCurves is an equivcnp for curves of a Gaussian process with the kernel rbf, seen at 100 places on [-2, 2].
func DefaultCurves() Curves {
	return Curves{
		Settings: defaultSettings(25600, 0.003), LiftSamples: "even", Readout: string(cnp.ReadoutQueries),
		Data: CurveData{Kernel: "rbf", Length: 1, Dx: 1, Place: task.SpherePlaces[0], From: -2, To: 2, Targets: 100,
			Holdout: defaultHoldout, Window: Window{Points: defaultWindow}},
	}
}

// Clone implements Recipe.
func (c *Curves) Clone() Recipe {
	out := *c
	return &out
}

// departureChannels is how many inputs of the place an approximately equivariant model has.
const departureChannels = 4

// paperFill is the wanted neighbourhood of the paper's 1D models, as a fraction of all points.
var paperFill = map[string]float64{"rbf": 4.0 / 64, "matern": 12.0 / 64, "periodic": 10.0 / 64}

// curvePlan is a recipe on its way to a plan.
type curvePlan struct {
	Curves
	dx, dy    int
	own, held *task.CurveSet       // a user's tasks; those that HoldoutBy takes out
	drawn     task.Source[float32] // without own
	levels    int

	unit      float64 // of x, in those of the data
	src, test task.Source[float32]
	notes     []string
}

// Plan implements Recipe.
func (c *Curves) Plan(ctx context.Context) (*Plan, error) {
	p := &curvePlan{Curves: *c, unit: 1}
	if err := p.checkData(); err != nil {
		return nil, err
	}
	if err := p.load(ctx); err != nil {
		return nil, err
	}
	m, err := p.architecture()
	if err != nil {
		return nil, err
	}
	for _, step := range []func(*cnp.Config) error{p.fields, p.split, p.checkNetwork, p.checkScales, p.network, p.sources} {
		if err := step(&m); err != nil {
			return nil, err
		}
	}
	return p.plan(m, kindDefaults{batch: 16, noise: 0.1}, p.src, p.test, p.notes)
}

// checkData refuses settings of one kind of data beside another kind.
func (p *curvePlan) checkData() error {
	d, usual := &p.Data, DefaultCurves().Data
	kind, err := d.kind()
	if err != nil {
		return err
	}
	_, _, context := d.context()
	for _, c := range []struct {
		given bool
		field string
		kinds []string
		text  string
	}{
		{d.Place != usual.Place, "Place", []string{"Sphere"}, "{Place} is for {Sphere}"},
		{d.Length != usual.Length, "Length", []string{"Kernel"}, "{Length} is for {Kernel}"},
		{d.From != usual.From, "From", []string{"Kernel"}, "{From} is for {Kernel}"},
		{d.To != usual.To, "To", []string{"Kernel"}, "{To} is for {Kernel}"},
		{d.Targets != usual.Targets, "Targets", []string{"Kernel", "Field", "Universal"},
			"{Targets} is for {Kernel}, {Field} and {Universal}"},
		{d.MinTargets != 0, "MinTargets", []string{"Kernel"}, "{MinTargets} is for {Kernel}"},
		{context && d.MinContext != nil, "MinContext", []string{"Kernel", "Field", "Universal", "CSV", "In", "Set"},
			"{MinContext} is not for {Benchmark}, {Sphere}, {Plane} or {Line}, which say how many there are"},
		{context, "MaxContext", []string{"Kernel", "Field", "Universal", "CSV", "In", "Set"},
			"{MaxContext} is not for {Benchmark}, {Sphere}, {Plane} or {Line}, which say how many there are"},
		{d.Dx != usual.Dx || d.Chain || d.Slow != 0, "Dx", []string{"Benchmark"}, "{Dx}, {Chain} and {Slow} are for {Benchmark}"},
		{d.Holdout != usual.Holdout || d.HoldoutBy != "", "Holdout", []string{"CSV", "In", "Set"},
			"{Holdout} is for your own curves, not for {" + kind + "}, which draws new ones for ever"},
		{len(d.Window.Lengths) > 0, "Window", []string{"CSV", "In", "Set"}, "{Window} is for {CSV}"},
	} {
		if c.given && !slices.Contains(c.kinds, kind) {
			return Errorf("%s", c.text)
		}
	}
	return nil
}

// load reads a user's own data, or makes the source of a process, and settles what depends on its kind alone.
func (p *curvePlan) load(ctx context.Context) (err error) {
	d := &p.Data
	if p.Levels != nil {
		p.levels = *p.Levels
	}
	if !d.own() {
		if p.drawn, p.dx, p.dy, err = d.process(nil); err != nil {
			return err
		}
		if p.Model != "equivcnp" {
			return nil
		}
		if d.Sphere != "" {
			if p.levels == 0 {
				p.levels = 4
			}
		} else if d.Field != "" {
			p.Outputs = cmp.Or(p.Outputs, string(cnp.Vector))
		}
		return nil
	}
	seed := p.Seed
	if d.HoldoutSeed != nil {
		seed = *d.HoldoutSeed
	}
	if p.own, p.held, err = d.read(ctx, &cnp.Config{}, seed); err != nil {
		return err
	}
	if err := checkSingle(p.own, p.held); err != nil {
		return err
	}
	p.dx, p.dy = p.own.Dx, p.own.Dy
	return checkValues(p.own)
}

// architecture returns the configuration of the model before its fields and its network are settled.
func (p *curvePlan) architecture() (m cnp.Config, err error) {
	switch p.Model {
	case "equivcnp":
		if m, err = p.equivariant(); err != nil {
			return m, err
		}
	case "convcnp":
		m = cnp.Default(cnp.ConvCNPCurve, "", p.dy)
	case "cnp":
		m = cnp.Default(cnp.CNPCurve, "", p.dy)
	default:
		return m, Errorf("{Model} %q: need equivcnp, convcnp or cnp", p.Model)
	}
	m.DimX = p.dx
	return m, p.paper(&m)
}

func (p *curvePlan) equivariant() (m cnp.Config, err error) {
	usual := fmt.Sprintf("T(%d)", p.dx)
	if p.Data.Sphere != "" {
		usual = "SO(3)"
	}
	g, err := group.Parse(cmp.Or(p.Group, usual), 0)
	if err != nil {
		return m, Errorf("{Group}: %w", err)
	}
	if g, err = p.Lifts.Of(g); err != nil {
		return m, err
	}
	m = cnp.Default(cnp.EquivCNPCurve, g.Name(), p.dy)
	m.Fill = paperFill[p.Data.Kernel]
	if m.Fill == 0 || p.own != nil {
		m.Fill = paperFill["matern"]
	}
	m.Lifts = p.Lifts.Count
	field := p.Data.Field != ""
	if field && p.dx == 2 && p.Levels == nil && slices.Contains([]string{"T(2)", "SE(2)"}, g.Name()) {
		p.levels = 4
	}
	if (p.Data.Plane != "" || p.Data.Universal > 0 || field) && p.levels == 0 {
		m.PointsPerUnit, m.Fill = 0, 0.5 // few points, and no step of a lattice that would suit all kinds
	}
	if p.levels > 0 {
		return p.lattices(g)
	}
	return m, nil
}

// lattices is the configuration of a model with levels.
func (p *curvePlan) lattices(g group.Group) (cnp.Config, error) {
	for _, f := range []struct {
		name  string
		given bool
	}{{"Fill", p.Fill != 0}, {"Hidden", p.Hidden != 0}, {"Mid", p.Mid != 0}, {"Readout", p.Readout != string(cnp.ReadoutQueries)},
		{"CoordinateFeature", p.CoordinateFeature}} {
		if f.given {
			return cnp.Config{}, Errorf("{%s} is not for {Levels}", f.name)
		}
	}
	c := cnp.DefaultLevels(p.levels, p.dx, p.dy)
	if g.Name() == "SO(3)" {
		c = cnp.DefaultSphere(p.levels, p.dy)
	} else if p.Data.Sphere != "" { // in degrees
		c.PointsPerUnit, c.Channels = 0.16, cnp.DefaultSphere(p.levels, p.dy).Channels
	}
	c.Group, c.DimX, c.Lifts = g.Name(), p.dx, p.Lifts.Count
	switch field := p.Data.Field != ""; {
	case field && p.dx == 3:
		c.PointsPerUnit, c.Kernel = 1.5, 3
		for l := range c.Channels {
			c.Channels[l] = 16 + 8*min(l, 2)
		}
	case field: // whose length scale is 2.2: points that are close to each other need a fine lattice
		c.PointsPerUnit = 2
		for l := range c.Channels {
			c.Channels[l] = 32 + 16*max(0, min(l-1, 2))
		}
	}
	if p.KernelWidth != 0 {
		c.Kernel = p.KernelWidth
	}
	c.Blocks = or(p.Blocks, c.Blocks)
	switch len(p.Channels) {
	case 0:
	case 1:
		for i := range c.Channels {
			c.Channels[i] = p.Channels[0]
		}
	default:
		c.Channels = p.Channels
	}
	return c, nil
}

// fields settles auxiliary inputs, static fields, types of outputs and the likelihood.
func (p *curvePlan) fields(m *cnp.Config) (err error) {
	d := &p.Data
	if p.own != nil && len(p.own.Auxiliary) > 0 {
		m.Auxiliary, m.ChannelDensity = p.own.Auxiliary, true
		if p.Model != "equivcnp" {
			return Errorf("{Aux} is for {Model} equivcnp; a %s takes such columns as further inputs, {X}", p.Model)
		}
	} else if d.Aux != nil {
		return Errorf("{Aux} is for {CSV} and {In}")
	}
	if p.own != nil && len(p.own.Static) > 0 {
		m.Static, m.ChannelDensity = p.own.Static, true
		if p.Model != "equivcnp" {
			return Errorf("{Static} is for {Model} equivcnp")
		}
	} else if d.Static != "" || d.StaticFields != nil {
		return Errorf("{Static} is for {CSV}, and {StaticFields} for {Static} and {In}")
	}
	if p.Outputs != "" {
		var columns int
		if m.Outputs, columns, err = cnp.ParseOutputs(p.Outputs, p.dx); err != nil {
			return Errorf("{Outputs}: %w", err)
		}
		if columns != p.dy {
			return Errorf("{Outputs} %s: need as many columns as the data have, %d; these are %d, a vector is %d", p.Outputs,
				p.dy, columns, p.dx)
		}
		if m.Vectors() {
			p.Likelihood = cmp.Or(p.Likelihood, "full")
		}
	}
	if p.Inputs != "" {
		if m.Inputs, _, err = cnp.ParseOutputs(p.Inputs, p.dx); err != nil {
			return Errorf("{Inputs}: %w", err)
		}
	}
	m.Likelihood = p.Likelihood
	if _, err := cnp.ParseLikelihood(m); err != nil {
		return invalid(err)
	}
	if p.own != nil {
		return checkCurves(m, p.own)
	}
	return nil
}

// split holds out a part of a user's own tasks, and tells the model what the others look like.
func (p *curvePlan) split(m *cnp.Config) (err error) {
	if p.own == nil {
		return p.drawnUnits(m)
	}
	d, kept, apart, scored := &p.Data, p.own, p.held, p.held != nil
	src, err := d.source(p.own, m, false)
	if err != nil {
		return err
	}
	if !scored {
		if kept, apart, scored, err = holdOut(d.Holdout, or(d.HoldoutSeed, p.Seed), p.own, len(p.own.Curves), &p.notes); err != nil {
			return err
		}
	}
	noteMissing(p.own, &p.notes)
	src.Set = kept
	if m.Trained, err = witnessed(src, *m, p.Seed); err != nil {
		return err
	}
	p.unit = 1 / m.Trained.Units.X[0].Factor
	p.notes = append(p.notes, noteUnits(m))
	if in := p.own.Inputs(); !m.OnSphere() && degrees(in) {
		p.notes = append(p.notes, fmt.Sprintf("%s and %s are taken as a plane's, where a degree is as long near the poles as at the "+
			"equator: the group SO(3) takes them as places on the globe", in[0], in[1]))
	}
	if p.dx > 1 && m.Levels == 0 {
		m.PointsPerUnit = 0 // the context points carry the features: a fine lattice in several dimensions has too many points
	}
	p.src, p.test = src, src
	if scored {
		src.Set, src.InOrder, src.Unobserved = apart, true, true
		if src.Unobserved, err = scorable(src, p.Seed); err != nil {
			return err
		} else if !src.Unobserved {
			p.notes = append(p.notes, "the contexts of the tasks held out are all that is known of them: scores are of these contexts")
		}
		p.test = src
	}
	return nil
}

// degrees reports whether two inputs have the names of latitude and longitude.
func degrees(inputs []string) bool {
	if len(inputs) != 2 {
		return false
	}
	names := [2]string{strings.ToLower(inputs[0]), strings.ToLower(inputs[1])}
	slices.Sort(names[:])
	return names == [2]string{"lat", "lon"} || names == [2]string{"latitude", "longitude"}
}

// scorable reports whether one of the tasks of a source in order has a known target.
func scorable(src task.CurveSetSource[float32], seed uint64) (bool, error) {
	for k := range src.Set.Curves {
		b, err := src.Batch(1, seed, k)
		if err != nil {
			return false, err
		}
		for i := range b.Y {
			if (b.Known == nil || b.Known[i]) && (b.Curves.TargetMask == nil || b.Curves.TargetMask[i/src.Set.Dy]) {
				return true, nil
			}
		}
	}
	return false, nil
}

// drawnUnits tells the model what drawn tasks look like, if they have units of their own.
func (p *curvePlan) drawnUnits(m *cnp.Config) (err error) {
	if _, own := p.drawn.(interface{ OwnUnits() }); !own {
		return nil
	}
	if m.Trained, err = witnessedTasks(p.drawn, *m, p.Seed); err != nil {
		return err
	}
	p.unit = 1 / m.Trained.Units.X[0].Factor
	p.notes = append(p.notes, noteUnits(m))
	return nil
}

// checkNetwork refuses settings of the network that the model has not.
func (p *curvePlan) checkNetwork(*cnp.Config) error {
	for _, f := range []struct {
		name  string
		given bool
	}{{"KernelWidth", p.KernelWidth != 0}, {"Blocks", p.Blocks != nil}} {
		if p.levels == 0 && f.given {
			return Errorf("{%s} is for {Levels}", f.name)
		}
	}
	if p.Model == "equivcnp" {
		return nil
	}
	if p.levels != 0 {
		return Errorf("{Levels} is for {Model} equivcnp")
	}
	if p.CoordinateFeature || p.Approximate != nil || p.Fill != 0 || p.Readout != string(cnp.ReadoutQueries) || p.DensityCap != 0 ||
		p.EncoderLength != nil || p.Group != "" || p.Lifts != (Lifts{Count: 1}) ||
		p.LiftSamples != "even" || p.Hidden != 0 || p.Mid != 0 {
		return Errorf("{Approximate}, {CoordinateFeature}, {DensityCap}, {EncoderLength}, {Fill}, {Group}, {Hidden}, {Lifts}, " +
			"{LiftSamples}, {Mid} and {Readout} are for {Model} equivcnp")
	}
	if p.Model == "cnp" && p.PointsPerUnit != nil {
		return Errorf("{PointsPerUnit}: a cnp has no lattice")
	}
	return nil
}

// checkScales reports a scale that no lattice has: the checks of the model name it in the model's units, which the user does not know.
func (p *curvePlan) checkScales(*cnp.Config) error {
	for _, scale := range []struct {
		name string
		is   *float64
	}{{"PointsPerUnit", p.PointsPerUnit}, {"EncoderLength", p.EncoderLength}} {
		if scale.is != nil && !(*scale.is >= 0 && *scale.is <= math.MaxFloat64) {
			return Errorf("{"+scale.name+"} %g: need 0 or more", *scale.is)
		}
	}
	return nil
}

// network settles the lattice, the encoder and the widths.
func (p *curvePlan) network(m *cnp.Config) error {
	m.CoordinateFeature = p.CoordinateFeature
	if p.Approximate != nil {
		if !(*p.Approximate >= 0 && *p.Approximate <= 1) {
			return Errorf("{Approximate} %g: need a probability, 0 to 1", *p.Approximate)
		}
		m.Departure = &cnp.Departure{Channels: departureChannels, Drop: *p.Approximate}
	}
	if p.LiftSamples != "even" {
		m.LiftSamples = cnp.LiftSamples(p.LiftSamples)
	}
	if p.Model == "equivcnp" {
		m.Readout = cnp.Readout(p.Readout)
	}
	if p.Fill != 0 {
		m.Fill = p.Fill
	}
	if p.Channels != nil && m.Levels == 0 {
		m.Channels = p.Channels
	}
	if p.Hidden != 0 {
		m.Hidden = p.Hidden
	}
	if p.Mid != 0 {
		m.Mid = p.Mid
	}
	if p.PointsPerUnit != nil {
		m.PointsPerUnit = *p.PointsPerUnit * p.unit
	}
	if m.Architecture == cnp.EquivCNPCurve {
		m.EncoderLength = 0
		if m.PointsPerUnit > 0 && m.Readout != cnp.ReadoutTargets {
			m.EncoderLength = p.latticeSteps(m) / m.PointsPerUnit
		}
		m.DensityCap = p.DensityCap
		if p.EncoderLength != nil {
			m.EncoderLength = *p.EncoderLength / p.unit
		}
	}
	if m.Readout != cnp.ReadoutQueries {
		m.Placement = cnp.PlacementBatch
	}
	if m.Readout == cnp.ReadoutTargets { // the kernel's length, the lattice and the radii, too, are as the authors have them
		m.FixedStep = false
	}
	if m.Architecture == cnp.EquivCNPCurve && (m.PointsPerUnit == 0 || !m.FixedStep) {
		m.RadiusRate = 0.3
	}
	return invalid(m.Validate())
}

// latticeSteps is the length scale that the context's kernel begins with, in steps of the lattice.
func (p *curvePlan) latticeSteps(m *cnp.Config) float64 {
	switch field := p.Data.Field != ""; {
	case m.Levels == 0:
		return 4
	case field && p.dx == 3:
		return 0.7
	case field:
		return 1
	}
	return 2
}

// sources settles what is trained on, and what scores are taken on.
func (p *curvePlan) sources(m *cnp.Config) error {
	if p.Expected && (p.own != nil || !slices.Contains([]string{"", "normal", "normal:noise", "full"}, p.Likelihood)) {
		return Errorf("{Expected} is for processes, and for {Likelihood} normal, normal:noise or full")
	}
	if p.own != nil {
		p.src = task.Standardised[float32]{Source: p.src, Config: *m}
		return nil
	}
	p.src = p.drawn
	if m.Trained != nil && m.Trained.Units != nil {
		p.src, p.test = task.Standardised[float32]{Source: p.drawn, Config: *m}, p.drawn
	}
	if b, ok := p.drawn.(task.BenchmarkSource[float32]); ok && b.Slow > 0 {
		b.Slow = 0
		p.test = b
	}
	if p.Expected {
		if !task.KnowsPosterior(p.src) {
			return Errorf("{Expected} is for Gaussian processes, not for %s", p.src)
		}
		p.src, p.test = task.Expected[float32]{Of: p.src, Dy: p.dy}, p.src
	}
	return nil
}
