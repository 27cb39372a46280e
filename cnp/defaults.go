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

// DefaultSphere is DefaultLevels for points on the sphere, latitudes and longitudes, under its rotations.
func DefaultSphere(levels, dy int) Config {
	c := DefaultLevels(levels, 2, dy)
	c.Group, c.Placement, c.PointsPerUnit = "SO(3)", PlacementSphere, 10
	c.EncoderLength = 2 / c.PointsPerUnit
	for i := range c.Channels {
		c.Channels[i] = 32
	}
	return c
}

// DefaultViews are those of digits: from three tenths of the size in training to all of it.
func DefaultViews() Views { return Views{Min: 0.3, Max: 1, Cell: 2, Trust: 0.25} }
