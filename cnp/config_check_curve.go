package cnp

import (
	"fmt"
	"slices"

	"github.com/equivcnp/equivcnp/group"
)

// checkCurve reports why there is no EquivCNP of curves.
func (c *Config) checkCurve(g group.Group) error {
	if err := c.validateLiftSamples(g); err != nil {
		return err
	}
	switch {
	case !slices.Contains(Readouts, c.Readout):
		return fmt.Errorf("readout %q is not one of %q", c.Readout, Readouts)
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

func (c *Config) checkLattice() error {
	if err := checkWhole(wholeField{"max_lattice", c.MaxLattice, 1 << 22}); err != nil {
		return err
	}
	return checkReal(realField{"points_per_unit", c.PointsPerUnit, 1e9}, realField{"margin", c.Margin, 1e9})
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
	if _, ok := g.(*group.T); c.PointsPerUnit != 0 && (!ok || c.DimX != 1 || c.Lifts != 1 || c.MaxNeighbors != 0 || c.sampled() ||
		c.Readout != ReadoutQueries || !c.FixedStep) {
		return fmt.Errorf("placement %q is for group T(1) with one lift, readout %q, max_neighbors 0, sampling_fraction 1 and fixed_step",
			c.Placement, ReadoutQueries)
	}
	return nil
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

// validateLevels reports what makes no model with levels.
func (c *Config) validateLevels(g group.Group) error {
	_, translations := g.(*group.T)
	_, motions := g.(*group.SE2)
	switch {
	case c.Levels > maxLevels || c.Levels != len(c.Channels):
		return fmt.Errorf("levels = %d, channels = %v: need at most %d, and a width for each", c.Levels, c.Channels, maxLevels)
	case c.framed(g) && (c.Lifts < 1 || c.Lifts > maxFrames):
		return fmt.Errorf("levels under %s take 1 to %d lifts, these are %d", g.Name(), maxFrames, c.Lifts)
	case !c.OnSphere() && !c.framed(g) && !(translations && c.DimX <= 3 && c.Lifts == 1) && !(motions && (c.Lifts == 2 || c.Lifts == 4)):
		return fmt.Errorf("levels are for groups T(1), T(2) and T(3) with one lift, for SE(2) with 2 or 4 lifts, of "+
			"vectors with any number of them, for SE(3), and for placement %q; "+
			"this is %s with %d", PlacementSphere, g.Name(), c.Lifts)
	case c.Kernel%2 != 1 || c.Kernel < 3 || c.Kernel > 31:
		return fmt.Errorf("kernel = %d, need an odd width from 3 to 31", c.Kernel)
	case c.Blocks > 16:
		return fmt.Errorf("blocks = %d, need at most 16 on every level", c.Blocks)
	case c.PointsPerUnit == 0 || c.Placement == PlacementBatch || c.Readout != ReadoutQueries || !c.FixedStep ||
		c.MaxNeighbors != 0 || c.sampled() || c.CoordinateFeature || c.RadiusRate != 0:
		return fmt.Errorf("levels need points_per_unit, placement %q, readout %q and fixed_step, and no max_neighbors, sampling_fraction, "+
			"coordinate_feature or radius_rate",
			PlacementContext, ReadoutQueries)
	case c.Multiplicity < 1:
		return fmt.Errorf("multiplicity = %d, need at least 1", c.Multiplicity)
	}
	return nil
}

// maxLevels bounds Config.Levels.
const maxLevels = 16

// maxFrames bounds the lifts of a model with levels, each of which takes as long as a model with one.
const maxFrames = 256

// validateSphere reports what makes no model on the sphere; its other fields are those of any model with levels.
func (c *Config) validateSphere(g group.Group) error {
	if _, ok := g.(*group.SO3); !ok || c.Lifts != 1 || c.Levels == 0 {
		return fmt.Errorf("placement %q is for group SO(3) with levels and one lift (lifts of a point would all be the "+
			"same to convolutions that know the angles between points alone); "+
			"this is %s with %d levels and %d lifts", PlacementSphere, g.Name(), c.Levels, c.Lifts)
	}
	if c.DimX != 2 && c.DimX != 3 {
		return fmt.Errorf("dim_x = %d: points on the sphere have 2 coordinates, latitude and longitude in degrees, or "+
			"the 3 of a unit vector", c.DimX)
	}
	n, limit := c.SpherePoints(), c.latticeLimit()
	if n > limit {
		return fmt.Errorf("points_per_unit = %g: %d points on the sphere, at most %d are allowed (max_lattice)", c.PointsPerUnit, n, limit)
	}
	for range c.Levels - 1 {
		n = (n + 2) / 4
	}
	if n < leastSphere {
		return fmt.Errorf("levels = %d with points_per_unit = %g: the coarsest lattice on the sphere has %d points, need at least %d",
			c.Levels, c.PointsPerUnit, n, leastSphere)
	}
	return nil
}

// leastSphere is the least number of points of a lattice on the sphere.
const leastSphere = 12
