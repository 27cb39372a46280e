package cnp

import (
	"fmt"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
)

// Default returns a sensible configuration of the architecture for dy outputs or channels; group is empty for the
// baselines. The widths are the paper's. It is a start, to be changed at will before New.
func Default(a Architecture, groupName string, dy int) Config {
	c := Config{Architecture: a, Group: groupName, DimY: dy, Multiplicity: 1, Output: OutputStd, Floor: 1e-4}
	if m := makers[a]; m.Default != nil {
		m.Default(&c)
	}
	return c
}

func defaultCurve(c *Config) {
	c.Window, c.DimX, c.Lifts, c.Readout = layers.WindowSmooth, 1, 1, ReadoutQueries
	if g, err := group.Parse(c.Group, 0); err == nil {
		if c.DimX = g.PointDim(); g.Name() == "T(1)" {
			c.Placement = PlacementContext
		}
	}
	c.PointsPerUnit, c.Margin, c.FixedStep, c.EncoderLength = 64, 0.1, true, 4.0/64
	c.Channels, c.Hidden, c.Mid = []int{8, 16, 32, 16, 8}, 32, 16
	c.Fill = 4.0 / 64
	c.Output, c.Floor, c.ChannelDensity = OutputVariance, 1e-8, c.DimY > 1
}

func defaultImage(c *Config) {
	c.Window, c.Lifts, c.Channels, c.Blocks, c.Hidden, c.Mid = layers.WindowSmooth, 1, []int{128}, 4, 32, 16
	c.Fill, c.BlockFill, c.RadiusRate = 1.0/10, 1.0/15, 0.5
}

func defaultConvCurve(c *Config) {
	c.DimX, c.PointsPerUnit = 1, 32
	c.Channels, c.Kernel = []int{8, 16, 32, 16, 8}, 5
	c.Output, c.Floor, c.ChannelDensity = OutputVariance, 1e-8, c.DimY > 1
}

func defaultConvImage(c *Config) { c.Channels, c.Blocks, c.Kernel = []int{128}, 4, 9 }

func defaultCNP(c *Config) {
	c.DimX, c.Channels, c.Output, c.Floor = 1, []int{128, 128, 128, 128}, OutputVariance, 0.1
}

func defaultImageCNP(c *Config) { c.Channels, c.Floor = []int{128, 128, 128, 128}, 0.1 }

// DefaultLevels is like Default for a model of curves with levels, under the translations of dx coordinates: a width of 64 on each.
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

// DefaultSphere is like DefaultLevels for points on the sphere, latitudes and longitudes, under its rotations.
func DefaultSphere(levels, dy int) Config {
	c := DefaultLevels(levels, 2, dy)
	c.Group, c.Placement, c.PointsPerUnit = "SO(3)", PlacementSphere, 10
	c.EncoderLength = 2 / c.PointsPerUnit
	for i := range c.Channels {
		c.Channels[i] = 32
	}
	return c
}

// DefaultViews returns the views for digits: from 0.3 of the size in training to all of it.
func DefaultViews() Views { return Views{Min: 0.3, Max: 1, Cell: 2, Trust: 0.25} }
