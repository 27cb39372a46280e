package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/words"
)

func (a *app) inspectCommand() *cobra.Command {
	var size string
	cmd := &cobra.Command{
		Use:                   "inspect M",
		DisableFlagsInUseLine: true,
		Short:                 "Say what a model file holds",
		Long: `Say what a model file or a shipped model holds: its architecture, its group or the groups it fits,
the number of parameters, the radii of its convolutions, where it is from as far as it says so, and
every tensor with its range. With --size also about how much memory a completion of one image of that
size takes, and a step of training on one: the same estimates by which other commands refuse what
does not fit.`,
		Example: `  equivcnp inspect T2.pth
  equivcnp inspect digits-T2
  equivcnp inspect digits-SO2 --size 256x256
  equivcnp inspect model.safetensors --json`,
		Args: cobra.ExactArgs(1),
		RunE: a.action(func(cmd *cobra.Command, args []string) error { return a.inspect(cmd.Context(), args[0], size) }),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"safetensors", "pth"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	cmd.Flags().StringVar(&size, "size", "", "image models: also say what memory images of that size need, 256x256 for example")
	cmd.Flags().BoolVar(&a.json, "json", false, "print one JSON object")
	return cmd
}

func (a *app) inspect(ctx context.Context, path, size string) error {
	s, err := a.readState(ctx, path)
	if err != nil {
		return err
	}
	d, err := weights.DescribeState(path, s)
	if err != nil {
		return err
	}
	r := &result{}
	r.Line("file", "%s (%s)", d.Path, d.Format)
	if d.Config == nil {
		r.Line("model", "none: %s", d.Problem)
	} else {
		from := "its own metadata"
		if d.ConfigFrom != "metadata" {
			from = "the tensors' names and shapes"
		}
		r.Line("architecture", "%s, known from %s", d.Config.Architecture, from)
		describeConfig(r, d.Config, d.Groups)
	}
	r.Line("parameters", "%d, with buffers %d", d.Parameters, d.Elements)
	for i := range d.Tensors {
		if t := &d.Tensors[i]; (t.Name == "r" || strings.HasSuffix(t.Name, ".r")) && t.Mean != nil {
			r.Line("radius", "%.6g  %s", *t.Mean, t.Name)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(d.Metadata)) {
		if !strings.HasPrefix(k, "equivcnp.") { // those are what is shown above
			r.Line(strings.ReplaceAll(oneLine(k), "_", " "), "%s", oneLine(d.Metadata[k]))
		}
	}
	if d.NonFinite > 0 {
		r.Note("%s not finite", words.Plural(d.NonFinite, "value"))
	}
	if smooth, ok := strings.CutSuffix(d.Path, "-equivcnp"); ok && slices.Contains(pretrained.Names(), d.Path) {
		r.Note("kept for the paper's tables: its predictions have small jumps between targets; %s-levels is smooth, and more accurate", smooth)
	}
	shown := inspection{Description: d}
	if size != "" {
		if shown.Memory, err = sizeMemory(s, size); err != nil {
			return err
		}
		r.Line("memory", "%v to complete %s pixels", shown.Memory.Complete, size)
		r.Line("", "%v to train on one", shown.Memory.Train)
	}
	if err := a.print(r, shown); err != nil || a.json {
		return err
	}

	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\ntensor\ttype\tshape\tmin\tmean\tmax\n")
	for i := range d.Tensors {
		t := &d.Tensors[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", t.Name, t.DType, shapeText(t.Shape), short(t.Min), short(t.Mean), short(t.Max))
	}
	return w.Flush()
}

// inspection is what inspect --json prints.
type inspection struct {
	*weights.Description
	Memory *memoryOfSize `json:"memory,omitempty"`
}

// memoryOfSize is what one image needs.
type memoryOfSize struct {
	Complete cnp.Need `json:"complete"`
	Train    cnp.Need `json:"train"`
}

// sizeMemory estimates what an image of a size like 256x128 needs.
func sizeMemory(s *weights.State, size string) (*memoryOfSize, error) {
	w, h, err := cli.ParseSize(size)
	if err != nil {
		return nil, err
	}
	m, err := weights.Build[float32](s, weights.Options{})
	if err != nil {
		return nil, fmt.Errorf("--size: %w", err)
	}
	c := m.Config()
	if !c.Architecture.Image() {
		return nil, cli.Usagef("--size: this %s model regresses curves", c.Architecture)
	}
	out := &memoryOfSize{}
	if out.Complete, err = cnp.EstimateModel(m, cnp.Work{Batch: 1, H: h, W: w, Weights: implicitWeights}); err == nil {
		out.Train, err = c.Estimate(cnp.Work{Batch: 1, H: h, W: w, Train: true})
	}
	return out, err
}

// oneLine shows a text from a file on one line, without its end where it is long, quoted where it would not print as it is.
func oneLine(s string) string {
	const most = 240
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// describeConfig says in words what a configuration fixes.
func describeConfig(r *result, c *cnp.Config, groups []string) {
	switch {
	case c.Group != "" && c.Alpha != 0:
		r.Line("group", "%s, alpha %g", c.Group, c.Alpha)
	case c.Group != "":
		r.Line("group", "%s", c.Group)
	case len(groups) > 0:
		r.Line("group", "one of %s: say which with --group", strings.Join(groups, ", "))
	}
	if c.Architecture.Image() {
		r.Line("images", "%s", words.Plural(c.DimY, "channel"))
	} else {
		r.Line("curves", "%s, %s", words.Plural(c.DimX, "input"), words.Plural(c.DimY, "output"))
	}
	if len(c.Auxiliary) > 0 {
		r.Line("auxiliary inputs", "%s: known at the context and at the targets, not predicted; tensors aux_context and aux_target", strings.Join(c.Auxiliary, ", "))
	}
	if len(c.Static) > 0 {
		r.Line("static fields", "%s: known at places of their own, not predicted; tensors x_static and y_static",
			strings.Join(c.Static, ", "))
	}
	describeFields(r, c)
	s := fmt.Sprintf("channels %d", c.Channels)
	if c.Blocks > 0 {
		s += ", " + words.Plural(c.Blocks, "residual block")
		if c.BlockBatchNorm {
			s += " with batch normalisation"
		}
	}
	if c.Levels > 0 {
		s += fmt.Sprintf(" each way on %s", words.Plural(c.Levels, "level"))
	}
	if c.Kernel > 0 {
		s += fmt.Sprintf(", kernel %d", c.Kernel)
	}
	r.Line("network", "%s", s)
	if v := c.Views; v != nil {
		r.Line("views", "every lift sees the image turned and scaled, things from %g to %g times as large as in training, on cells of %g pixels; the better a view predicts some observed pixels from others, the more it counts", v.Min, v.Max, v.Cell)
	}
	if c.OnSphere() {
		r.Line("lattice", "%d nearly even points on the sphere, %g per radian; points are %s", c.SpherePoints(), c.PointsPerUnit,
			map[bool]string{true: "latitude and longitude in degrees", false: "unit vectors"}[c.Degrees()])
	} else if c.PointsPerUnit > 0 {
		r.Line("lattice", "%g points per unit, margin %g", c.PointsPerUnit, c.Margin)
	}
	if c.Window != "" {
		r.Line("window", "%s: how much a neighbour counts by its distance", c.Window)
	}
	if c.KeepObserved {
		r.Line("observed", "pixels keep their values, with a noise of %.3g", c.Floor)
	}
	if c.CoordinateFeature {
		r.Line("coordinate", "is a feature, so this model is not equivariant")
	}
	describeLikelihood(r, c)
	if c.Likelihood == "" {
		r.Line("second output", "%s", c.Output)
	}
}

// describeFields says what types the values have, and what lifts do.
func describeFields(r *result, c *cnp.Config) {
	if len(c.Outputs) > 0 {
		var parts []string
		hidden := c.Unobserved()
		for _, f := range c.Fields() {
			columns := fmt.Sprintf("column %d", f.First+1)
			if f.Width > 1 {
				columns = fmt.Sprintf("columns %d to %d", f.First+1, f.First+f.Width)
			}
			if hidden != nil && hidden[f.First] {
				columns += ", never observed"
			}
			parts = append(parts, fmt.Sprintf("%s (%s)", f.Type, columns))
		}
		r.Line("values", "%s", strings.Join(parts, ", "))
		if c.Vectors() {
			r.Line("", "a vector turns when places turn; its prediction has a full covariance that turns along")
		}
	}
	g, err := group.Parse(c.Group, c.Alpha)
	if err != nil || g.MaxLifts() == 1 {
		return
	}
	s := fmt.Sprintf("%d for every place", c.Lifts)
	switch g := g.(type) {
	case *group.Sim2:
		angles := max(1, c.Lifts/g.Scales())
		s = fmt.Sprintf("%d for every place: angles %.4g degrees apart, each at %s, powers of 2", c.Lifts,
			360/float64(angles), words.Plural(g.Scales(), "scale"))
	case *group.SE2:
		if s = fmt.Sprintf("%d for every place: angles %.4g degrees apart", c.Lifts, 360/float64(max(1, c.Lifts))); c.Levels > 0 {
			s += "; turns by one of them are exact"
		}
	case *group.SE3:
		switch {
		case c.LiftSamples == cnp.SamplesRandom:
			s = fmt.Sprintf("%d random lifts with seed %d, resampled for every batch of the training",
				c.Lifts, c.LiftSeed)
		case c.Levels > 0 && slices.Contains([]int{4, 12, 24, 60}, c.Lifts):
			s += ", a group of rotations; turns by one of them are exact"
		}
	}
	r.Line("lifts", "%s", s)
}

// shapeText writes a shape as [64, 3].
func shapeText(shape []int) string {
	s := make([]string, len(shape))
	for i, n := range shape {
		s[i] = strconv.Itoa(n)
	}
	return "[" + strings.Join(s, ", ") + "]"
}

// short writes a number with four digits, "-" for none.
func short(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'g', 4, 64)
}
