package cnp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/group"
)

// limits on what a file may ask for, far above any sensible model.
const (
	maxChannels  = 1 << 16
	maxImageSide = 1 << 14
	maxLayers    = 1 << 10
)

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

// validateNames reports what names no auxiliary inputs, or static fields.
func (c *Config) validateNames(kind string, names []string) error {
	n := len(names)
	if n == 0 {
		return nil
	}
	if c.Architecture != EquivCNPCurve {
		return fmt.Errorf("%s = %q: a model of architecture %q takes none, only one of %q does", kind, names[:min(n, 8)],
			c.Architecture, EquivCNPCurve)
	}
	if n > maxAuxiliary {
		return fmt.Errorf("%s has %d names, need at most %d", kind, n, maxAuxiliary)
	}
	for i, name := range names {
		if name == "" || len(name) > maxName || strings.TrimSpace(name) != name {
			return fmt.Errorf("%s[%d] = %q: need a name of 1 to %d bytes without spaces around it", kind, i,
				name[:min(len(name), maxName)], maxName)
		}
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("%s[%d] = %q is there twice", kind, i, name)
		}
	}
	return nil
}

const (
	maxAuxiliary = 64 // inputs
	maxName      = 64 // bytes of a name
)

// validateInputs reports inputs that are no part of the outputs, or that the model cannot have; the outputs are valid.
func (c *Config) validateInputs() error {
	if len(c.Inputs) == 0 {
		return nil
	}
	for i, t := range c.Inputs {
		if !slices.Contains(FieldTypes, t) {
			return fmt.Errorf("inputs[%d] = %q is not one of %q", i, t, FieldTypes)
		}
	}
	switch _, at := c.unobserved(); {
	case len(c.Outputs) == 0:
		return fmt.Errorf("inputs = %q: outputs are not named, of which these are some", c.Inputs)
	case at < len(c.Inputs):
		return fmt.Errorf("inputs = %q: inputs[%d], a %s, is not among outputs = %q in their order; what is observed is predicted, too",
			c.Inputs, at, c.Inputs[at], c.Outputs)
	case c.Architecture != EquivCNPCurve || c.Levels == 0:
		return fmt.Errorf("inputs = %q: only models of architecture %q with levels have inputs other than their outputs",
			c.Inputs, EquivCNPCurve)
	case !c.ChannelDensity:
		return fmt.Errorf("inputs = %q need channel_density", c.Inputs)
	}
	return nil
}

// validateOutputs reports types that do not fit the dimensions, the group, which may be nil, or the likelihood.
func (c *Config) validateOutputs(g group.Group) error {
	if len(c.Outputs) == 0 {
		return nil
	}
	columns := 0
	for i, t := range c.Outputs {
		switch t {
		case Scalar:
			columns++
		case Vector:
			columns += c.DimX
		default:
			return fmt.Errorf("outputs[%d] = %q is not one of %q", i, t, FieldTypes)
		}
		if columns > maxChannels {
			break
		}
	}
	if columns != c.DimY {
		return fmt.Errorf("outputs = %q are %d columns where a vector has %d, dim_y = %d", c.Outputs, columns, c.DimX, c.DimY)
	}
	if !c.Vectors() {
		return nil
	}
	switch {
	case c.Architecture.Image():
		return fmt.Errorf("outputs = %q: an image's channels are scalars; models of curves have vectors", c.Outputs)
	case g == nil:
		return fmt.Errorf("outputs = %q: architecture %s knows no group that could turn a vector; %s does", c.Outputs,
			c.Architecture, EquivCNPCurve)
	case c.OnSphere():
		return fmt.Errorf("outputs = %q: placement %q is for scalars", c.Outputs, c.Placement)
	case !group.CanTurn(g):
		return fmt.Errorf("outputs = %q: group %s does not turn vectors; these do: %s", c.Outputs, g.Name(), group.Turners)
	case c.Multiplicity != 1:
		return fmt.Errorf("outputs = %q: multiplicity = %d, the powers of a vector's components are no vectors: need 1",
			c.Outputs, c.Multiplicity)
	case c.Readout == ReadoutRBF:
		return fmt.Errorf("outputs = %q: readout %q is for scalars", c.Outputs, c.Readout)
	}
	l, err := ParseLikelihood(c)
	if err != nil {
		return err
	}
	if _, ok := l.(Turning); !ok {
		return fmt.Errorf("outputs = %q: likelihood %s does not turn with vectors; these do: %s, %s:64", c.Outputs, l.Name(),
			likelihood.FullName, likelihood.LowRankName)
	}
	return nil
}

// validateStatic reports what names no static fields.
func (c *Config) validateStatic() error {
	if err := c.validateNames("static", c.Static); err != nil || len(c.Static) == 0 {
		return err
	}
	if !c.ChannelDensity {
		return fmt.Errorf("static = %q: fields that are known elsewhere than the outputs need channel_density",
			c.Static[:min(len(c.Static), 8)])
	}
	for i, name := range c.Static {
		if slices.Contains(c.Auxiliary, name) {
			return fmt.Errorf("static[%d] = %q is an auxiliary input, too", i, name)
		}
	}
	return nil
}

// check reports what no model of that configuration can have.
func (d *Departure) check(c *Config, g group.Group) error {
	switch {
	case c.Architecture != EquivCNPCurve:
		return fmt.Errorf("departure is for models of architecture %q", EquivCNPCurve)
	case d.Channels < 1 || d.Channels > maxChannels:
		return fmt.Errorf("departure.channels = %d, need 1 to %d", d.Channels, maxChannels)
	case !(d.Drop >= 0 && d.Drop <= 1):
		return fmt.Errorf("departure.drop = %g, need 0 to 1", d.Drop)
	case c.Vectors():
		return fmt.Errorf("departure is for scalar outputs: its inputs would have to turn with vectors")
	case c.Levels > 0 && c.framed(g):
		return fmt.Errorf("departure under %s with levels: a model that sees tasks from several sides has no place for them", g.Name())
	}
	return nil
}
