package cnp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/neighbor"
)

// New builds a model with random weights. Equal configurations and seeds give equal models.
func New[T Float](c Config, seed uint64) (Model[T], error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Architecture == EquivCNPCurve || c.Architecture == EquivCNPImage {
		g, err := c.group()
		if err != nil {
			return nil, err
		}
		return newWithGroup[T](c, g, seed)
	}
	rng := newRand(seed)
	switch c.Architecture {
	case ConvCNPCurve:
		return newConvCNP[T](c, rng), nil
	case ConvCNPImage:
		return newImageConvCNP[T](c, rng), nil
	case CNPCurve:
		return newCNP[T](c, rng), nil
	case CNPImage:
		return newImageCNP[T](c, rng), nil
	}
	return nil, fmt.Errorf("%w: architecture %q", ErrConfig, c.Architecture)
}

// NewWithGroup is New for an EquivCNP under a group of your own. The model's configuration gets the group's name and weight,
// whatever c says, and its file the group's digest (group.Digest). To load the file, put the group into weights.Options.Groups.
//
// Errors wrap ErrConfig: if c does not fit the group, if the group has the name of another one that this library knows or
// contradicts itself (group.Check), or if one of the points at which the radius of a new model is determined has no lift.
func NewWithGroup[T Float](c Config, g group.Group, seed uint64) (Model[T], error) {
	if g == nil {
		return nil, fmt.Errorf("%w: the group is nil", ErrConfig)
	}
	if known, err := group.Parse(g.Name(), g.Alpha()); err == nil && group.Digest(known) != group.Digest(g) {
		return nil, fmt.Errorf("%w: a group that is not %s has its name: give it one of its own", ErrConfig, g.Name())
	}
	if err := group.Check(g); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	c.Group, c.Alpha = g.Name(), g.Alpha()
	return newWithGroup[T](c, g, seed)
}

func newWithGroup[T Float](c Config, g group.Group, seed uint64) (Model[T], error) {
	if err := c.ValidateWithGroup(g); err != nil {
		return nil, err
	}
	switch c.Architecture {
	case EquivCNPCurve:
		return asModel[T](newEquivCNP[T](c, g, newRand(seed)))
	case EquivCNPImage:
		if c.Views != nil {
			return asModel[T](newImageViews[T](c, g, seed))
		}
		return asModel[T](newImageEquivCNP[T](c, g, newRand(seed)))
	}
	return nil, fmt.Errorf("%w: architecture %q has no group", ErrConfig, c.Architecture)
}

// GroupOf returns the group that a model is equivariant under, nil for an architecture that has none.
func GroupOf[T Float](m Model[T]) group.Group {
	switch m := m.(type) {
	case *EquivCNP[T]:
		return m.group
	case *ImageEquivCNP[T]:
		return m.group
	case *ImageViews[T]:
		return m.sim
	}
	return nil
}

func newRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x45717569764e50)) // a stream of its own: "EquivNP"
}

// asModel keeps a nil pointer from becoming a non-nil interface.
func asModel[T Float, M Model[T]](m M, err error) (Model[T], error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Default returns a sensible configuration of the architecture for dy outputs or channels; group is empty for the
// baselines. The widths are the paper's. It is a start, to be changed at will before New.
func Default(a Architecture, groupName string, dy int) Config {
	c := Config{Architecture: a, Group: groupName, DimY: dy, Multiplicity: 1, Output: OutputStd, Floor: 1e-4}
	if a == EquivCNPCurve || a == EquivCNPImage {
		c.Window = layers.WindowSmooth
	}
	switch a {
	case EquivCNPCurve:
		c.DimX, c.Lifts, c.Readout = 1, 1, ReadoutQueries
		if g, err := group.Parse(groupName, 0); err == nil {
			if c.DimX = g.PointDim(); g.Name() == "T(1)" {
				c.Placement = PlacementContext
			}
		}
		c.PointsPerUnit, c.Margin, c.FixedStep, c.EncoderLength = 64, 0.1, true, 4.0/64
		c.Channels, c.Hidden, c.Mid = []int{8, 16, 32, 16, 8}, 32, 16
		c.Fill = 4.0 / 64
		c.Output, c.Floor, c.ChannelDensity = OutputVariance, 1e-8, dy > 1
	case EquivCNPImage:
		c.Lifts, c.Channels, c.Blocks, c.Hidden, c.Mid = 1, []int{128}, 4, 32, 16
		c.Fill, c.BlockFill, c.RadiusRate = 1.0/10, 1.0/15, 0.5
	case ConvCNPCurve:
		c.DimX, c.PointsPerUnit = 1, 32
		c.Channels, c.Kernel = []int{8, 16, 32, 16, 8}, 5
		c.Output, c.Floor, c.ChannelDensity = OutputVariance, 1e-8, dy > 1
	case ConvCNPImage:
		c.Channels, c.Blocks, c.Kernel = []int{128}, 4, 9
	case CNPCurve:
		c.DimX, c.Channels, c.Output, c.Floor = 1, []int{128, 128, 128, 128}, OutputVariance, 0.1
	case CNPImage:
		c.Channels, c.Floor = []int{128, 128, 128, 128}, 0.1
	}
	return c
}

// DefaultLevels is Default for a model of curves with levels, under the translations of dx coordinates: a width of 64 on each.
func DefaultLevels(levels, dx, dy int) Config {
	c := Default(EquivCNPCurve, fmt.Sprintf("T(%d)", dx), dy)
	c.DimX, c.Levels, c.Kernel, c.Blocks, c.Placement = dx, levels, 9, 1, PlacementContext
	if dx > 1 {
		c.PointsPerUnit, c.Kernel = 16, 5
	}
	c.Channels = nil
	for range min(levels, maxLevels+1) { // Validate refuses more, whatever their widths
		c.Channels = append(c.Channels, 64)
	}
	c.EncoderLength, c.Fill, c.Hidden, c.Mid, c.Margin = 2/c.PointsPerUnit, 0, 0, 0, 0
	return c
}

// The radii of a new model give the wanted fill on an image of referenceSize by referenceSize pixels, or on points over [-2, 2];
// where RadiusRate is not 0, training adapts them to the data. They are determined from referencePoints points, or from a lattice
// of up to referenceLattice points, which takes milliseconds.
const (
	referenceSize    = 64
	referencePoints  = 256
	referenceLattice = 1 << 12
)

// referenceRadius returns the radius that gives a new model's neighbourhoods the wanted fill on reference points: a
// pixel grid for images, the lattice over [-2, 2] for curves, or points scattered there.
func referenceRadius(c Config, g group.Group, fill float64) (float64, error) {
	if fill == 0 {
		return 0, nil
	}
	var x []float64
	rng := rand.New(rand.NewPCG(1, 1))
	if c.Architecture == EquivCNPImage {
		grid := pixelGrid(referenceSize, referenceSize)
		for _, p := range rng.Perm(referenceSize * referenceSize)[:referencePoints] {
			x = append(x, grid[2*p:2*p+2]...)
		}
	} else if n := math.Floor(c.PointsPerUnit * (4 + 2*c.Margin)); c.DimX == 1 && c.FixedStep && n >= 2 && n < referenceLattice {
		x = make([]float64, int(n)+1) // the lattice itself: no distance of its points may equal the radius
		for i := range x {
			x[i] = float64(i) / c.PointsPerUnit
		}
	} else if c.DimX == 1 && n >= 2 {
		x = make([]float64, int(min(n, 2*referencePoints)))
		linspace(x, -2-c.Margin, 2+c.Margin)
	} else {
		for range referencePoints * c.DimX {
			x = append(x, 4*rng.Float64()-2)
		}
	}
	lifted := group.LiftPoints(g, x, c.Lifts, c.LiftSeed)
	for row := range lifted.Rows() {
		a, q := lifted.Row(row)
		for _, v := range slices.Concat(a, q) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				i, d := row/c.Lifts, g.PointDim()
				return 0, fmt.Errorf("%w: group %s has no lift for point %v: the logarithm is %v, the orbit %v", ErrConfig,
					g.Name(), x[i*d:(i+1)*d], a, q)
			}
		}
	}
	return neighbor.RadiusForFill(lifted, fill, neighbor.Options{})
}
