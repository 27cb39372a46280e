package cnp

import (
	"cmp"
	"math"

	"github.com/equivcnp/equivcnp/group"
)

// numbered reports whether every task has a lattice of its own, whose points are numbered.
func (c *Config) numbered() bool { return c.Placement == PlacementContext && c.PointsPerUnit > 0 }

// OnSphere reports whether the model's points lie on the sphere.
func (c *Config) OnSphere() bool { return c.Placement == PlacementSphere }

// Degrees reports whether the model's points are latitudes and longitudes on the sphere.
func (c *Config) Degrees() bool { return c.OnSphere() && c.DimX == 2 }

// SpherePoints returns the number of points of the finest lattice of a model on the sphere.
func (c *Config) SpherePoints() int {
	return int(min(math.Round(4*math.Pi*c.PointsPerUnit*c.PointsPerUnit), math.MaxInt32))
}

// latticeLimit returns the greatest number of points of a lattice.
func (c *Config) latticeLimit() int { return cmp.Or(c.MaxLattice, defaultMaxLattice) }

// defaultMaxLattice bounds a lattice if the configuration does not. Two points a billion units apart are a valid task, but a
// lattice over them is not possible.
const defaultMaxLattice = 1 << 18

// framed reports whether a model with levels sees a task from every lift with a pyramid of its own: of SE(2)'s quarter
// and half turns features of one pyramid know scalars alone.
func (c *Config) framed(g group.Group) bool {
	switch g.(type) {
	case *group.SE2:
		return c.Vectors()
	case *group.SE3:
		return true
	}
	return false
}

// pyramidLifts is how many lifts a pyramid itself has.
func (c *Config) pyramidLifts() int {
	if !c.OnSphere() && (c.Vectors() || c.DimX == 3) {
		return 1
	}
	return max(1, c.Lifts)
}
