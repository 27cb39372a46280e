package weights

import (
	"fmt"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/group"
)

// Recognize finds the architecture of a state_dict of the authors' code from the names and shapes of its tensors.
//
// What shapes do not say is set as the authors trained those models: points per unit, margin, fills, what the second
// output means. The group follows from the shapes only as far as the length of a relative pose: candidates lists the
// names of the groups that fit, and Config.Group is set when there is one, else left empty for the caller to choose.
// Baselines have no group and no candidates. The result describes the tensors it looked at, not all: whether every
// tensor fits, Load checks.
//
// Errors wrap ErrArchitecture.
func Recognize(s *State) (cfg cnp.Config, candidates []string, err error) {
	if s == nil {
		return cfg, nil, fmt.Errorf("%w: %w", ErrArchitecture, errNoState)
	}
	x := &shapes{of: make(map[string][]int, len(s.Tensors))}
	for _, t := range s.Tensors {
		x.of[t.Name] = t.Shape
	}
	switch {
	case x.has("conv_theta.linear.weight"):
		cfg, candidates = x.imageEquivCNP()
	case x.has("prelinear.0.module.weight"):
		cfg, candidates = x.curveEquivCNP()
	case x.has("pre_mlp.0.weight"):
		cfg = x.convCNP()
	case x.has("encoder.0.weight") && x.has("decoder.0.weight"):
		cfg = x.cnp()
	default:
		x.fail("none of its %d tensors names one (first: %s)", len(s.Tensors), firstNames(s))
	}
	if x.err != nil {
		return cnp.Config{}, nil, x.err
	}
	return cfg, candidates, nil
}

// firstNames lists a few names for an error.
func firstNames(s *State) string {
	var names []string
	for _, t := range s.Tensors[:min(len(s.Tensors), 3)] {
		names = append(names, fmt.Sprintf("%q", short(t.Name)))
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// shapes are a file's shapes by name. The first thing that does not fit is kept in err; after it, answers are
// harmless ones.
type shapes struct {
	of  map[string][]int
	err error
}

func (x *shapes) has(name string) bool { _, ok := x.of[name]; return ok }

func (x *shapes) fail(format string, args ...any) {
	if x.err == nil {
		x.err = fmt.Errorf("%w: %s", ErrArchitecture, fmt.Sprintf(format, args...))
	}
}

// matrix returns the sizes of a linear map's weight [out, in], both at least 1.
func (x *shapes) matrix(name string) (out, in int) {
	s := x.dims(name, 2)
	return s[0], s[1]
}

// dims returns the n sizes of a tensor, each at least 1.
func (x *shapes) dims(name string, n int) []int {
	s, ok := x.of[name]
	good := ok && len(s) == n
	for _, v := range s {
		good = good && v > 0
	}
	switch {
	case good:
		return s
	case !ok:
		x.fail("tensor %q is missing", name)
	default:
		x.fail("tensor %q has shape %v, need %d sizes of at least 1", name, s, n)
	}
	ones := make([]int, n)
	for i := range ones {
		ones[i] = 1
	}
	return ones
}

// quotient returns a/b, which must be whole and at least 1.
func (x *shapes) quotient(a, b int, what string) int {
	if a%b != 0 || a < b {
		x.fail("%s: %d is no multiple of %d", what, a, b)
		return 1
	}
	return a / b
}

// weightNet returns the sizes of a WeightNet, pose → hidden → hidden → out.
func (x *shapes) weightNet(prefix string) (pose, hidden, out int, norm bool) {
	hidden, pose = x.matrix(prefix + "weightnet.net.0.linear.weight")
	out, _ = x.matrix(prefix + "weightnet.net.2.linear.weight")
	return pose, hidden, out, x.has(prefix + "weightnet.net.0.bn.weight")
}

// imageEquivCNP: conv_theta embeds density and signal; cnn.0 joins them, cnn.1 to cnn.B are residual blocks, the next
// one reads out.
func (x *shapes) imageEquivCNP() (cnp.Config, []string) {
	pose, hidden, mid, norm := x.weightNet("conv_theta.")
	width, embedded := x.matrix("conv_theta.linear.weight")
	blocks := 0
	for x.has(fmt.Sprintf("cnn.%d.conv.0.pointwise.weight", blocks+1)) {
		blocks++
	}
	if blocks == 0 {
		x.fail("no residual block: tensor %q is missing", "cnn.1.conv.0.pointwise.weight")
	}
	last := fmt.Sprintf("cnn.%d.module.weight", blocks+1)
	out, _ := x.matrix(last)
	channels := x.quotient(out, 2, last+" gives mean and spread of each channel")
	in := x.quotient(embedded, mid, "conv_theta.linear.weight takes the inputs times the WeightNet's width")
	c := cnp.Config{
		Architecture: cnp.EquivCNPImage, Lifts: 1, DimY: channels,
		Multiplicity: x.quotient(in, channels, "conv_theta takes the powers of each channel"),
		Channels:     []int{width}, Blocks: blocks, Hidden: hidden, Mid: mid,
		NoBatchNorm: !norm, BlockBatchNorm: x.has("cnn.1.conv.0.depthwise.weightnet.net.0.bn.weight"),
		Fill: 1.0 / 10, BlockFill: 1.0 / 15, RadiusRate: 0.5, Output: cnp.OutputStd, ImageSize: [2]int{64, 64},
	}
	candidates := group.Candidates(pose, 2)
	switch len(candidates) {
	case 0:
		x.fail("relative poses of %d coordinates are those of no known group", pose)
	case 1:
		c.Group = candidates[0]
	}
	return c, candidates
}

// The lattices of the authors' curve models; the number of basis functions they trained with decides the fill (4, 12
// and 10 of 64 for the RBF, Matérn and periodic curves) and only training uses it: the file holds the radius.
const (
	equivPointsPerUnit = 64
	equivMargin        = 0.1
	equivFill          = 4.0 / 64
	convPointsPerUnit  = 32
	varianceFloor      = 1e-8
)

// curveEquivCNP: the translation group on the line. Other curve models are not the authors' and carry a configuration.
func (x *shapes) curveEquivCNP() (cnp.Config, []string) {
	pose, hidden, mid, norm := x.weightNet("conv.0.")
	if x.err == nil && pose != 1 {
		x.fail("relative poses of %d coordinates: without a configuration in the file, only curves over one coordinate are known", pose)
	}
	width, _ := x.matrix("prelinear.0.module.weight")
	c := cnp.Config{
		Architecture: cnp.EquivCNPCurve, Group: "T(1)", Lifts: 1, DimX: 1, Channels: []int{width},
		PointsPerUnit: equivPointsPerUnit, Margin: equivMargin, Readout: cnp.ReadoutTargets,
		Hidden: hidden, Mid: mid, NoBatchNorm: !norm, Fill: equivFill, RadiusRate: 0.3,
		Output: cnp.OutputVariance, Floor: varianceFloor,
	}
	for i := 0; x.has(fmt.Sprintf("conv.%d.linear.weight", i)); i += 2 {
		out, _ := x.matrix(fmt.Sprintf("conv.%d.linear.weight", i))
		c.Channels = append(c.Channels, out)
	}
	x.curveInput(&c, "prelinear.0.module.weight")
	return c, []string{c.Group}
}

// curveInput finds outputs, powers and the coordinate feature from the first layer, which takes
// [coordinate,] density, y, y², .. y^K. The authors' models have the coordinate; one input too few for it says that
// this one has not.
func (x *shapes) curveInput(c *cnp.Config, first string) {
	c.DimY, _ = x.matrix("mean_linear.weight")
	_, in := x.matrix(first)
	c.CoordinateFeature = in != 1+c.DimY
	signal := in - 1
	if c.CoordinateFeature {
		signal -= c.DimX
	}
	c.Multiplicity = x.quotient(signal, c.DimY, first+" takes the powers of each output")
}

// convCNP: the one-dimensional baseline.
func (x *shapes) convCNP() cnp.Config {
	width, _ := x.matrix("pre_mlp.0.weight")
	c := cnp.Config{
		Architecture: cnp.ConvCNPCurve, DimX: 1, Channels: []int{width}, PointsPerUnit: convPointsPerUnit,
		Kernel: x.dims("cnn.0.weight", 3)[2], Output: cnp.OutputVariance, Floor: varianceFloor,
	}
	for i := 0; x.has(fmt.Sprintf("cnn.%d.weight", i)); i += 2 {
		c.Channels = append(c.Channels, x.dims(fmt.Sprintf("cnn.%d.weight", i), 3)[0])
	}
	x.curveInput(&c, "pre_mlp.0.weight")
	return c
}

// cnp: the encoder takes (x, y), the decoder (r, x); the spread is 0.1 + 0.9·softplus.
func (x *shapes) cnp() cnp.Config {
	c := cnp.Config{Architecture: cnp.CNPCurve, Output: cnp.OutputVariance, Floor: 0.1}
	for i := 0; x.has(fmt.Sprintf("encoder.%d.weight", i)); i += 2 {
		out, _ := x.matrix(fmt.Sprintf("encoder.%d.weight", i))
		c.Channels = append(c.Channels, out)
	}
	last := ""
	for i := 0; x.has(fmt.Sprintf("decoder.%d.weight", i)); i += 2 {
		last = fmt.Sprintf("decoder.%d.weight", i)
	}
	out, _ := x.matrix(last)
	c.DimY = x.quotient(out, 2, last+" gives mean and spread of each output")
	_, in := x.matrix("encoder.0.weight")
	if c.DimX = in - c.DimY; c.DimX < 1 {
		x.fail("encoder.0.weight takes %d inputs, %d of them outputs: no coordinate is left", in, c.DimY)
	}
	return c
}
