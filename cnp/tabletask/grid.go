package tabletask

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// axis is the values of one input of a grid.
type axis struct {
	name   string
	values []float64
}

// parseGrid reads the texts of a grid for a model of some inputs, that the table calls by these names. Axes stay in their order, of
// which the first is slowest.
func parseGrid(texts, inputs []string, clock func(input int) (*tabular.Clock, error)) (axes []axis, err error) {
	total := 1
	for i, text := range texts {
		name, span, named := strings.Cut(text, "=")
		if !named {
			span = name
			if name = ""; i < len(inputs) {
				name = inputs[i]
			}
		}
		input := slices.Index(inputs, strings.TrimSpace(name))
		if input < 0 {
			return nil, settings.Errorf("{Grid} %s: the inputs are %s", text, strings.Join(inputs, ", "))
		}
		parts := strings.Split(span, ":")
		v, err := gridNumbers(text, parts, func() (*tabular.Clock, error) { return clock(input) })
		if err != nil {
			return nil, err
		}
		a := axis{name: inputs[input], values: v}
		switch {
		case slices.ContainsFunc(axes, func(b axis) bool { return b.name == a.name }):
			return nil, settings.Errorf("{Grid}: %s is there twice", a.name)
		case len(parts) == 3:
			n := math.Floor((v[1]-v[0])/v[2]+1e-9) + 1
			if v[2] == 0 || v[1] != v[0] && (v[1] > v[0]) != (v[2] > 0) {
				return nil, settings.Errorf("{Grid} %s: steps of %s do not lead from %s to %s", text, parts[2], parts[0], parts[1])
			}
			if !(n >= 1 && n <= MaxPoints) {
				return nil, settings.Errorf("{Grid} %s: need 1 to %d values from the first to the second", text, MaxPoints)
			}
			a.values = make([]float64, int(n))
			for k := range a.values {
				a.values[k] = v[0] + float64(k)*v[2]
			}
		case len(parts) != 1:
			return nil, settings.Errorf("{Grid} %s: need FROM:TO:STEP or one value", text)
		}
		if total > MaxPoints/len(a.values) {
			return nil, settings.Errorf("{Grid}: more than %d places", MaxPoints)
		}
		total *= len(a.values)
		axes = append(axes, a)
	}
	if len(axes) != len(inputs) {
		var missing []string
		for _, name := range inputs {
			if !slices.ContainsFunc(axes, func(a axis) bool { return a.name == name }) {
				missing = append(missing, name)
			}
		}
		return nil, settings.Errorf("{Grid}: need all inputs, %s: there is no %s, as in %s=0:10:1", strings.Join(inputs, ", "),
			strings.Join(missing, " and no "), missing[0])
	}
	return axes, nil
}

// gridNumbers reads the parts of an axis: numbers, or dates, which become numbers on the clock of the column, as then
// does the step, which is one of days.
func gridNumbers(text string, parts []string, clock func() (*tabular.Clock, error)) (v []float64, err error) {
	dates := 0
	for k, part := range parts {
		x, err := strconv.ParseFloat(part, 64)
		if err != nil {
			days, ok := tabular.Days(part)
			if !ok || k == 2 {
				return nil, settings.Errorf("{Grid} %s: %q is not a number", text, part)
			}
			x, dates = days, dates+1
		}
		if math.IsNaN(x - x) {
			return nil, settings.Errorf("{Grid} %s: %s is not a finite number", text, part)
		}
		v = append(v, x)
	}
	if dates == 0 {
		return v, nil
	}
	if dates < min(2, len(parts)) {
		return nil, settings.Errorf("{Grid} %s: need two dates or two numbers", text)
	}
	c, err := clock()
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, settings.Errorf("{Grid} %s: the column holds numbers without a unit of time, so dates say nothing there", text)
	}
	for k := range v {
		if k == 2 {
			v[k] = c.Span(v[k])
		} else if v[k], err = c.At(v[k]); err != nil {
			return nil, settings.Errorf("{Grid} %s: %w", text, err)
		}
	}
	return v, nil
}

// gridTable is the table of a grid's places, with the inputs as columns in the model's order.
func gridTable(axes []axis, inputs []string) *tabular.Table {
	n := 1
	for _, a := range axes {
		n *= len(a.values)
	}
	columns, step := make([]tabular.Column, len(inputs)), n
	for _, a := range axes {
		step /= len(a.values)
		v := make([]float64, n)
		for i := range v {
			v[i] = a.values[i/step%len(a.values)]
		}
		columns[slices.Index(inputs, a.name)] = tabular.Column{Name: a.name, Values: v}
	}
	return tabular.Of(columns)
}
