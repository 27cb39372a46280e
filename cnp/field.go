package cnp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/group"
)

// FieldType says how a field's values move with their places.
type FieldType string

// The types of fields.
const (
	// Scalar is one number at every place, such as a temperature, which stays as it is when the place moves.
	Scalar FieldType = "scalar"
	// Vector is as many numbers as a place has coordinates, such as a wind. They turn when places are turned.
	Vector FieldType = "vector"
)

// FieldTypes lists them in the order of documentation.
var FieldTypes = []FieldType{Scalar, Vector}

// Field is a part of the values of a point: Width numbers from First on.
type Field struct {
	Type         FieldType
	First, Width int
}

// Fields are the parts that a point's values consist of: those that Outputs names, and where it names none DimY scalars.
func (c *Config) Fields() (fields []Field) {
	if len(c.Outputs) == 0 {
		for d := range c.DimY {
			fields = append(fields, Field{Scalar, d, 1})
		}
		return fields
	}
	at := 0
	for _, t := range c.Outputs {
		f := Field{t, at, 1}
		if t == Vector {
			f.Width = c.DimX
		}
		fields, at = append(fields, f), at+f.Width
	}
	return fields
}

// Vectors reports whether there is a vector among the outputs.
func (c *Config) Vectors() bool {
	for _, t := range c.Outputs {
		if t == Vector {
			return true
		}
	}
	return false
}

// Unobserved says of each of the DimY values whether it is one that no context point has, by Inputs; nil: there is none.
func (c *Config) Unobserved() []bool {
	hidden, _ := c.unobserved()
	return hidden
}

// unobserved is Unobserved; at is how many of Inputs are among Outputs.
func (c *Config) unobserved() (hidden []bool, at int) {
	for _, f := range c.Fields() {
		if at < len(c.Inputs) && c.Inputs[at] == f.Type {
			at++
			continue
		}
		if hidden == nil {
			hidden = make([]bool, c.DimY)
		}
		for i := range f.Width {
			hidden[f.First+i] = true
		}
	}
	if len(c.Inputs) == 0 {
		hidden = nil
	}
	return hidden, at
}

// validateInputs reports inputs that are no part of the outputs, or that the model cannot have; the outputs are valid.
func (c *Config) validateInputs() error {
	if len(c.Inputs) == 0 {
		return nil
	}
	for i, t := range c.Inputs {
		if !slices.Contains(FieldTypes, t) {
			return fmt.Errorf("inputs[%d] = %q is none of %q", i, t, FieldTypes)
		}
	}
	switch _, at := c.unobserved(); {
	case len(c.Outputs) == 0:
		return fmt.Errorf("inputs = %q: outputs are not named, of which these are some", c.Inputs)
	case at < len(c.Inputs):
		return fmt.Errorf("inputs = %q: inputs[%d], a %s, is not among outputs = %q in their order; what is observed is predicted, too", c.Inputs, at, c.Inputs[at], c.Outputs)
	case c.Architecture != EquivCNPCurve || c.Levels == 0:
		return fmt.Errorf("inputs = %q: only models of architecture %q with levels have inputs other than their outputs",
			c.Inputs, EquivCNPCurve)
	case !c.ChannelDensity:
		return fmt.Errorf("inputs = %q need channel_density", c.Inputs)
	}
	return nil
}

// ParseOutputs reads the names of fields' types, as in scalar,vector, for points of dx coordinates, and returns how many numbers they are.
func ParseOutputs(text string, dx int) (types []FieldType, dy int, err error) {
	for _, name := range strings.Split(text, ",") {
		switch t := FieldType(strings.TrimSpace(name)); t {
		case Scalar:
			types, dy = append(types, t), dy+1
		case Vector:
			types, dy = append(types, t), dy+dx
		default:
			return nil, 0, fmt.Errorf("%w: outputs %q: %q is none of %q", ErrConfig, text, name, FieldTypes)
		}
	}
	return types, dy, nil
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
			return fmt.Errorf("outputs[%d] = %q is none of %q", i, t, FieldTypes)
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
			fullName, lowRankName)
	}
	return nil
}

// Turning is a Likelihood whose numbers turn with the values that they are of: models with vectors need it.
type Turning interface {
	Likelihood
	// Turn adds to dst what the numbers raw of a target's values become when these are turned by the orthogonal matrix r [values, values];
	// both are [values, Outputs-Constants]. It is linear in raw, and turning by rᵀ is its transpose.
	Turn(dst, raw, r []float64, fields []Field)
}
