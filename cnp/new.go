package cnp

import (
	"fmt"

	"github.com/equivcnp/equivcnp/group"
)

// New builds a model with random weights. Equal configurations and seeds give equal models.
func New[T Float](c Config, seed uint64) (Model[T], error) {
	return instance[func(Config, uint64) (Model[T], error)](&newModelInstances)(c, seed)
}

var newModelInstances = instances{newModel[float32], newModel[float64]}

func newModel[T Float](c Config, seed uint64) (Model[T], error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	var g group.Group
	if c.equivariant() {
		var err error
		if g, err = c.group(); err != nil {
			return nil, err
		}
	}
	return made[T](c, g, seed)
}

// NewWithGroup is like New for an EquivCNP under a group of your own. The model's configuration gets the group's name and weight,
// whatever c says, and its file the group's digest (group.Digest). To load the file, put the group into weights.Options.Groups.
//
// Errors wrap ErrConfig: if c does not fit the group, if the group has the name of another one that this library knows or
// contradicts itself (group.Check), or if one of the points at which the radius of a new model is determined has no lift.
func NewWithGroup[T Float](c Config, g group.Group, seed uint64) (Model[T], error) {
	return instance[func(Config, group.Group, uint64) (Model[T], error)](&newWithGroupInstances)(c, g, seed)
}

var newWithGroupInstances = instances{newWithGroupOf[float32], newWithGroupOf[float64]}

func newWithGroupOf[T Float](c Config, g group.Group, seed uint64) (Model[T], error) {
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
	if !c.equivariant() {
		return nil, fmt.Errorf("%w: architecture %q has no group", ErrConfig, c.Architecture)
	}
	return made[T](c, g, seed)
}
