package cnp

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
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

// ValidateWithGroup is like Validate for a model under a group of the user's own, which NewWithGroup makes.
// Architectures without a group do not look at it.
func (c *Config) ValidateWithGroup(g group.Group) error {
	err := c.problem(g)
	if err == nil || errors.Is(err, ErrConfig) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrConfig, err)
}

// problem returns the first thing that is wrong. First come fields by themselves, then what depends on several.
func (c *Config) problem(g group.Group) error {
	if !slices.Contains(Architectures, c.Architecture) {
		return fmt.Errorf("architecture %q is not one of %v", c.Architecture, Architectures)
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
	if check := checks[c.Architecture]; check != nil {
		return check(c, g)
	}
	return nil
}

// These are what RegisterArchitecture was told of an architecture: whether it has a group, whether it may have
// ChannelDensity and Own, whether scales matter to it, its own checks, and its description.
var (
	grouped    = map[Architecture]bool{}
	absolute   = map[Architecture]bool{}
	gapped     = map[Architecture]bool{}
	owners     = map[Architecture]bool{}
	checks     = map[Architecture]func(c *Config, g group.Group) error{}
	describers = map[Architecture]func(c *Config) string{}
)

// Network says in a line what a valid configuration has in place of a network of Channels; "": it has one.
func (c *Config) Network() string {
	if describe := describers[c.Architecture]; describe != nil {
		return describe(c)
	}
	return ""
}

// equivariant reports whether models of this architecture have a group.
func (c *Config) equivariant() bool {
	return grouped[c.Architecture]
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
	if c.ChannelDensity && !gapped[c.Architecture] {
		return fmt.Errorf("channel_density is not for models of architecture %q", c.Architecture)
	}
	if len(c.Own) > 0 && !owners[c.Architecture] {
		return fmt.Errorf("own is not for models of architecture %q", c.Architecture)
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

func (c *Config) checkNeighbors() error {
	if err := checkWhole(wholeField{"max_neighbors", c.MaxNeighbors, math.MaxInt32},
		wholeField{"block_neighbors", c.BlockNeighbors, math.MaxInt32}); err != nil {
		return err
	}
	switch {
	case c.BlockNeighbors != 0 && c.Architecture != EquivCNPImage:
		return fmt.Errorf("block_neighbors is for models of architecture %q", EquivCNPImage)
	case c.sampled() && c.Architecture != EquivCNPCurve:
		return fmt.Errorf("sampling_fraction is for models of architecture %q: an image model predicts at the pixels that have features",
			EquivCNPCurve)
	case c.sampled() && c.Readout != ReadoutQueries:
		return fmt.Errorf("sampling_fraction needs readout %q, whose last convolution reads at the targets", ReadoutQueries)
	}
	return checkReal(realField{"fill", c.Fill, 1}, realField{"block_fill", c.BlockFill, 1}, realField{"radius_rate", c.RadiusRate, 1e3},
		realField{"sampling_fraction", c.SamplingFraction, 1})
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
	if c.Departure != nil {
		if err := c.Departure.check(c, g); err != nil {
			return err
		}
	}
	if c.Waves != nil {
		return c.Waves.check(c, g)
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
		return fmt.Errorf("window %q is not one of %q", c.Window, layers.Windows)
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

// validateKeep reports why observed pixels cannot be kept.
func (c *Config) validateKeep() error {
	if !c.KeepObserved {
		return nil
	}
	l, err := ParseLikelihood(c)
	if err != nil {
		return err
	}
	_, observer := l.(Observer)
	switch {
	case c.Architecture != EquivCNPImage && c.Architecture != ConvCNPImage:
		return fmt.Errorf("it is for models of architecture %q and %q, this is %s", EquivCNPImage, ConvCNPImage, c.Architecture)
	case c.Views != nil:
		return errors.New("a model with views keeps observed pixels without it")
	case !observer:
		return fmt.Errorf("likelihood %q cannot be told of an observation", c.Likelihood)
	case c.Floor == 0:
		return errors.New("floor = 0: need more, which is the noise that pixels are observed with")
	}
	return nil
}

// check reports what makes no waves for a likelihood of that rank in dx coordinates.
func (w *Waves) check(c *Config, g group.Group) error {
	l, err := ParseLikelihood(c)
	rank, joint := likelihood.LowRank(l)
	switch {
	case err != nil:
		return err
	case !joint:
		return fmt.Errorf("waves are for likelihood %s, this is %s", likelihood.LowRankName, l.Name())
	case c.Architecture != EquivCNPCurve:
		return fmt.Errorf("waves are for models of architecture %q, this is %s", EquivCNPCurve, c.Architecture)
	case w.Count < 2 || w.Count > likelihood.MaxRank:
		return fmt.Errorf("waves: count = %d, need 2 to %d", w.Count, likelihood.MaxRank)
	case !(w.Fastest > 0 && w.Fastest <= 1e9):
		return fmt.Errorf("waves: fastest = %g, need more than 0 and at most 1e9", w.Fastest)
	}
	if _, ok := g.(*group.T); !ok || c.OnSphere() {
		return fmt.Errorf("waves are for groups of translations, T(n): their frequencies have a direction, which group %s would turn",
			g.Name())
	}
	if _, ok := curve.Frequencies(c.DimX, w.Count, rank/2); !ok {
		return fmt.Errorf("waves: count = %d has more frequencies in %d coordinates than the %d pairs of features of rank %d",
			w.Count, c.DimX, rank/2, rank)
	}
	return nil
}

// check reports what no views can be made of.
func (v *Views) check(c *Config, g group.Group) error {
	sim, ok := g.(*group.Sim2)
	switch {
	case c.Architecture != EquivCNPImage || !ok:
		return fmt.Errorf("views are for models of images under Sim(2), this is %s under %s", c.Architecture, g.Name())
	case c.Lifts < 1 || c.Lifts > maxFrames || c.Lifts%sim.Scales() != 0:
		return fmt.Errorf("lifts = %d, views of group %s are a multiple of its number of scales, and at most %d", c.Lifts,
			g.Name(), maxFrames)
	case !(v.Min >= 0.01 && v.Min <= v.Max && v.Max <= 100):
		return fmt.Errorf("views: sizes from %g to %g, need 0.01 <= min <= max <= 100", v.Min, v.Max)
	case !(v.Cell >= 0.25 && v.Cell <= 64):
		return fmt.Errorf("views: cell = %g pixels, need 0.25 to 64", v.Cell)
	case !(v.Trust > 0 && v.Trust <= 1):
		return fmt.Errorf("views: trust = %g, need more than 0 and at most 1", v.Trust)
	case c.Likelihood != "":
		return fmt.Errorf("views: likelihood %q, only the normal one is known to them", c.Likelihood)
	}
	return nil
}
