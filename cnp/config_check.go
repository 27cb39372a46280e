package cnp

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
)

// limits on what a file may ask for, far above any sensible model.
const (
	maxChannels  = 1 << 16
	maxImageSide = 1 << 14
	maxLayers    = 1 << 10
)

// Validate reports the first field that no model can be built from.
func (c *Config) Validate() error {
	if !c.equivariant() {
		return c.ValidateWithGroup(nil)
	}
	g, err := c.group()
	if err != nil {
		return fmt.Errorf("%w: %v", ErrConfig, err)
	}
	return c.ValidateWithGroup(g)
}

// ValidateWithGroup is Validate for a model under a group of the user's own, which NewWithGroup makes. Architectures without a group do
// not look at it.
func (c *Config) ValidateWithGroup(g group.Group) error {
	err := c.problem(g)
	if err == nil || errors.Is(err, ErrConfig) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrConfig, err)
}

// problem is the first thing that is wrong. First come fields by themselves, then what depends on several.
func (c *Config) problem(g group.Group) error {
	if !slices.Contains(Architectures, c.Architecture) {
		return fmt.Errorf("architecture %q is none of %v", c.Architecture, Architectures)
	}
	for _, check := range []func(*Config) error{(*Config).checkValues, (*Config).checkNetwork, (*Config).checkSymmetry,
		(*Config).checkEncoder, (*Config).checkLattice, (*Config).checkNeighbors, (*Config).checkTrained} {
		if err := check(c); err != nil {
			return err
		}
	}
	if err := c.checkPredicted(g); err != nil {
		return err
	}
	if err := c.checkFields(g); err != nil {
		return err
	}
	switch c.Architecture {
	case EquivCNPCurve:
		return c.checkCurve(g)
	case EquivCNPImage:
		return c.checkImage(g)
	case ConvCNPCurve, ConvCNPImage:
		return c.checkConvolutions()
	}
	return nil
}

// equivariant reports whether models of this architecture have a group.
func (c *Config) equivariant() bool {
	return c.Architecture == EquivCNPCurve || c.Architecture == EquivCNPImage
}

// wholeField is a field from 0 to hi, and realField one that may have a fraction.
type wholeField struct {
	name  string
	v, hi int
}

type realField struct {
	name  string
	v, hi float64
}

func checkWhole(fields ...wholeField) error {
	for _, f := range fields {
		if f.v < 0 || f.v > f.hi {
			return fmt.Errorf("%s = %d, need 0 to %d", f.name, f.v, f.hi)
		}
	}
	return nil
}

func checkReal(fields ...realField) error {
	for _, f := range fields {
		if !(f.v >= 0 && f.v <= f.hi) {
			return fmt.Errorf("%s = %g, need 0 to %g", f.name, f.v, f.hi)
		}
	}
	return nil
}

func (c *Config) checkValues() error {
	if c.DimY < 1 || c.DimY > maxChannels {
		return fmt.Errorf("dim_y = %d, need 1 to %d", c.DimY, maxChannels)
	}
	if !c.Architecture.Image() && (c.DimX < 1 || c.DimX > 64) {
		return fmt.Errorf("dim_x = %d, need 1 to 64", c.DimX)
	}
	if h, w := c.ImageSize[0], c.ImageSize[1]; c.ImageSize != [2]int{} && !(h >= 1 && w >= 1 && h <= maxImageSide && w <= maxImageSide) {
		return fmt.Errorf("image_size = %d x %d, need sides of 1 to %d", h, w, maxImageSide)
	}
	if c.ChannelDensity && c.Architecture != EquivCNPCurve && c.Architecture != ConvCNPCurve {
		return fmt.Errorf("channel_density is for models of architecture %q and %q", EquivCNPCurve, ConvCNPCurve)
	}
	return nil
}

func (c *Config) checkNetwork() error {
	if k := len(c.Channels); k == 0 || k > maxLayers {
		return fmt.Errorf("channels = %v: %d widths, need 1 to %d", c.Channels[:min(k, 8)], k, maxLayers)
	}
	for _, w := range c.Channels {
		if w < 1 || w > maxChannels {
			return fmt.Errorf("channels = %v, need widths of 1 to %d", c.Channels, maxChannels)
		}
	}
	return checkWhole(wholeField{"blocks", c.Blocks, maxLayers}, wholeField{"kernel", c.Kernel, 1 << 10},
		wholeField{"hidden", c.Hidden, maxChannels},
		wholeField{"mid", c.Mid, maxChannels}, wholeField{"levels", c.Levels, maxLayers})
}

func (c *Config) checkSymmetry() error {
	if err := checkWhole(wholeField{"lifts", c.Lifts, 1 << 10}); err != nil {
		return err
	}
	return checkReal(realField{"alpha", c.Alpha, 1})
}

func (c *Config) checkEncoder() error {
	if err := checkWhole(wholeField{"multiplicity", c.Multiplicity, 64}); err != nil {
		return err
	}
	if c.DensityCap > 0 && c.Architecture != EquivCNPCurve {
		return fmt.Errorf("density_cap is for models of architecture %q", EquivCNPCurve)
	}
	return checkReal(realField{"encoder_length", c.EncoderLength, 1e9}, realField{"density_floor", c.DensityFloor, 1e3},
		realField{"density_cap", c.DensityCap, 1e9})
}

func (c *Config) checkLattice() error {
	if err := checkWhole(wholeField{"max_lattice", c.MaxLattice, 1 << 22}); err != nil {
		return err
	}
	return checkReal(realField{"points_per_unit", c.PointsPerUnit, 1e9}, realField{"margin", c.Margin, 1e9})
}

func (c *Config) checkNeighbors() error {
	if err := checkWhole(wholeField{"max_neighbors", c.MaxNeighbors, math.MaxInt32}); err != nil {
		return err
	}
	return checkReal(realField{"fill", c.Fill, 1}, realField{"block_fill", c.BlockFill, 1}, realField{"radius_rate", c.RadiusRate, 1e3})
}

// checkTrained reports what training cannot have seen.
func (c *Config) checkTrained() error {
	coordinates := c.DimX
	if c.Architecture.Image() {
		coordinates = 0
	}
	return c.Trained.check(coordinates, c.DimY, len(c.Auxiliary), len(c.Static))
}

func (c *Config) checkPredicted(g group.Group) error {
	if err := checkReal(realField{"floor", c.Floor, 1e3}); err != nil {
		return err
	}
	if c.Output != OutputVariance && c.Output != OutputStd {
		return fmt.Errorf("output %q is neither %q nor %q", c.Output, OutputVariance, OutputStd)
	}
	if _, err := ParseLikelihood(c); err != nil {
		return err
	}
	if err := c.validateKeep(); err != nil {
		return fmt.Errorf("keep_observed: %w", err)
	}
	if c.Waves != nil {
		return c.Waves.check(c, g)
	}
	return nil
}

// checkFields reports fields of points that do not fit together.
func (c *Config) checkFields(g group.Group) error {
	if err := c.validateOutputs(g); err != nil {
		return err
	}
	if err := c.validateInputs(); err != nil {
		return err
	}
	if err := c.validateNames("auxiliary", c.Auxiliary); err != nil {
		return err
	}
	return c.validateStatic()
}

// checkCurve reports why there is no EquivCNP of curves.
func (c *Config) checkCurve(g group.Group) error {
	if err := c.validateLiftSamples(g); err != nil {
		return err
	}
	switch {
	case !slices.Contains(Readouts, c.Readout):
		return fmt.Errorf("readout %q is none of %q", c.Readout, Readouts)
	case c.Readout == ReadoutRBF && c.PointsPerUnit == 0:
		return fmt.Errorf("readout %q needs a lattice: points_per_unit = 0", c.Readout)
	}
	dim := c.DimX
	if c.OnSphere() {
		if err := c.validateSphere(g); err != nil {
			return err
		}
		dim = 3
	}
	if err := c.checkDimension(g, dim); err != nil {
		return err
	}
	if c.Levels > 0 {
		return c.validateLevels(g)
	}
	if c.Views != nil {
		if err := c.Views.check(c, g); err != nil {
			return err
		}
	}
	if _, ok := g.(*group.Sim2); ok {
		return fmt.Errorf("group %s is for images: the set convolution of a model of curves has a length of its own", g.Name())
	}
	if err := c.checkConvolution(g); err != nil {
		return err
	}
	if len(c.Channels) < 2 {
		return fmt.Errorf("channels = %v, need the pointwise width and at least one convolution", c.Channels)
	}
	return c.checkPlacement(g)
}

// checkPlacement reports a lattice that the model cannot have there.
func (c *Config) checkPlacement(g group.Group) error {
	switch c.Placement {
	case PlacementBatch:
		return nil
	case PlacementContext:
	default:
		return fmt.Errorf("placement %q is neither %q nor %q", c.Placement, PlacementBatch, PlacementContext)
	}
	if _, ok := g.(*group.T); c.PointsPerUnit != 0 && (!ok || c.DimX != 1 || c.Lifts != 1 || c.MaxNeighbors != 0 ||
		c.Readout != ReadoutQueries || !c.FixedStep) {
		return fmt.Errorf("placement %q is for group T(1) with one lift, readout %q, max_neighbors 0 and fixed_step", c.Placement,
			ReadoutQueries)
	}
	return nil
}

// checkImage reports why there is no EquivCNP of images.
func (c *Config) checkImage(g group.Group) error {
	if err := c.validateLiftSamples(g); err != nil {
		return err
	}
	if c.Blocks < 1 {
		return fmt.Errorf("blocks = %d, need at least 1", c.Blocks)
	}
	if c.Levels != 0 {
		return fmt.Errorf("levels = %d: only models of curves have them", c.Levels)
	}
	if err := c.checkDimension(g, 2); err != nil {
		return err
	}
	if c.Views != nil {
		if err := c.Views.check(c, g); err != nil {
			return err
		}
	}
	if sim, ok := g.(*group.Sim2); ok && c.Lifts%sim.Scales() != 0 {
		return fmt.Errorf("lifts = %d, group %s takes multiples of its number of scales", c.Lifts, g.Name())
	}
	return c.checkConvolution(g)
}

func (c *Config) checkDimension(g group.Group, dim int) error {
	if g.PointDim() != dim {
		return fmt.Errorf("group %s acts on %d coordinates, the model has %d", g.Name(), g.PointDim(), dim)
	}
	return nil
}

// checkConvolution reports why there are no LieConvs.
func (c *Config) checkConvolution(g group.Group) error {
	if m := g.MaxLifts(); c.Lifts < 1 || (m > 0 && c.Lifts > m) {
		return fmt.Errorf("lifts = %d, group %s takes 1 to %d", c.Lifts, g.Name(), m)
	}
	if c.Window != "" && !slices.Contains(layers.Windows, c.Window) {
		return fmt.Errorf("window %q is none of %q", c.Window, layers.Windows)
	}
	if c.Hidden < 1 || c.Mid < 1 || c.Multiplicity < 1 {
		return fmt.Errorf("hidden = %d, mid = %d, multiplicity = %d, need at least 1 of each", c.Hidden, c.Mid, c.Multiplicity)
	}
	return nil
}

// checkConvolutions reports why there is no ConvCNP.
func (c *Config) checkConvolutions() error {
	switch curve := c.Architecture == ConvCNPCurve; {
	case c.Kernel%2 != 1:
		return fmt.Errorf("kernel = %d, need an odd width", c.Kernel)
	case curve && c.DimX != 1:
		return fmt.Errorf("dim_x = %d: this baseline is one-dimensional", c.DimX)
	case curve && c.PointsPerUnit <= 0:
		return fmt.Errorf("points_per_unit = %g, need a lattice", c.PointsPerUnit)
	case curve && len(c.Channels) < 2:
		return fmt.Errorf("channels = %v, need the pointwise width and at least one convolution", c.Channels)
	case !curve && c.Blocks < 1:
		return fmt.Errorf("blocks = %d, need at least 1", c.Blocks)
	case c.Multiplicity < 1:
		return fmt.Errorf("multiplicity = %d, need at least 1", c.Multiplicity)
	}
	return nil
}

// validateLiftSamples reports samples that nobody knows, or that the model does not take.
func (c *Config) validateLiftSamples(g group.Group) error {
	switch c.LiftSamples {
	case SamplesEven:
		return nil
	case SamplesRandom:
		if _, ok := g.(*group.SE3); ok && c.Levels > 0 {
			return nil
		}
		return fmt.Errorf("lift_samples %q is for models with levels under SE(3), this is %s with levels = %d", c.LiftSamples,
			g.Name(), c.Levels)
	}
	return fmt.Errorf("lift_samples %q is neither empty, for even ones, nor %q", c.LiftSamples, SamplesRandom)
}
