package cnp

import (
	"fmt"

	"github.com/equivcnp/equivcnp/group"
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
