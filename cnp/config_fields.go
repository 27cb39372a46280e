package cnp

import (
	"fmt"
	"strings"
)

// Fields returns the parts of a point's values: those that Outputs names, or DimY scalars where it names none.
func (c *Config) Fields() (fields []Field) {
	if len(c.Outputs) == 0 {
		for d := range c.DimY {
			fields = append(fields, Field{Type: Scalar, First: d, Width: 1})
		}
		return fields
	}
	at := 0
	for _, t := range c.Outputs {
		f := Field{Type: t, First: at, Width: 1}
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

// Unobserved reports for each of the DimY values whether Inputs excludes it from all context points; nil means that all
// values may be observed.
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

// ParseOutputs reads the names of fields' types, as in scalar,vector, for points of dx coordinates, and returns how many numbers they are.
func ParseOutputs(text string, dx int) (types []FieldType, dy int, err error) {
	for _, name := range strings.Split(text, ",") {
		switch t := FieldType(strings.TrimSpace(name)); t {
		case Scalar:
			types, dy = append(types, t), dy+1
		case Vector:
			types, dy = append(types, t), dy+dx
		default:
			return nil, 0, fmt.Errorf("%w: outputs %q: %q is not one of %q", ErrConfig, text, name, FieldTypes)
		}
	}
	return types, dy, nil
}

// contextValues is how many values a context point has for the network: outputs, auxiliary inputs and static fields.
func (c *Config) contextValues() int { return c.DimY + len(c.Auxiliary) + len(c.Static) }

// densities returns the number of density channels of a model of curves.
func (c *Config) densities() int {
	if c.ChannelDensity {
		return c.contextValues()
	}
	return 1
}
