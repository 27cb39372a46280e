package tabletask

import (
	"math"
	"slices"
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
		a := axis{name: inputs[input]}
		if slices.ContainsFunc(axes, func(b axis) bool { return b.name == a.name }) {
			return nil, settings.Errorf("{Grid}: %s is there twice", a.name)
		}
		if a.values, err = gridValues(text, span, func() (*tabular.Clock, error) { return clock(input) }); err != nil {
			return nil, err
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

// isPlace reports whether a text is a number or a date.
func isPlace(text string) bool {
	_, err := ParsePlace(text)
	return err == nil
}

// spanParts takes FROM:TO:STEP apart. Dates may have colons of their own: the longest that is one is the first.
func spanParts(span string) []string {
	end := strings.LastIndexByte(span, ':')
	if end < 0 || isPlace(span) {
		return []string{span}
	}
	for i := strings.LastIndexByte(span[:end], ':'); i > 0; i = strings.LastIndexByte(span[:i], ':') {
		if isPlace(span[:i]) && isPlace(span[i+1:end]) {
			return []string{span[:i], span[i+1 : end], span[end+1:]}
		}
	}
	return strings.Split(span, ":")
}

// step leads from one value of an axis to the next.
type step struct {
	by     float64
	months int // instead, from date to date
}

// gridSpan reads the values of an axis: numbers, or dates, which become numbers on the clock of the column, as then
// does the step, which is one of days where it has no unit of its own.
func gridSpan(text string, parts []string, clock func() (*tabular.Clock, error)) (v []float64, by step, c *tabular.Clock, err error) {
	dates, timed := 0, false
	for k, part := range parts {
		p, err := ParsePlace(part)
		if k == 2 {
			if months, days, ok := tabular.ParseDuration(part); ok {
				p.Value, by.months, timed, err = days, int(months), true, nil
				if float64(by.months) != months || math.Abs(months) > 12*9999 {
					return nil, by, nil, settings.Errorf("{Grid} %s: a step of %s is no whole number of months", text, part)
				}
			} else if err != nil || p.Date {
				return nil, by, nil, settings.Errorf("{Grid} %s: %q is not a number, nor a time such as 1d, 6h or 1mo", text, part)
			}
			by.by = p.Value
		} else if err != nil {
			return nil, by, nil, settings.Errorf("{Grid} %s: %q is not a number", text, part)
		}
		if math.IsNaN(p.Value - p.Value) {
			return nil, by, nil, settings.Errorf("{Grid} %s: %s is not a finite number", text, part)
		}
		if p.Date {
			dates++
		}
		v = append(v, p.Value)
	}
	if dates == 0 && !timed {
		return v, by, nil, nil
	}
	if dates > 0 && dates < min(2, len(parts)) {
		return nil, by, nil, settings.Errorf("{Grid} %s: need two dates or two numbers", text)
	}
	if c, err = clock(); err != nil {
		return nil, by, nil, err
	}
	if c == nil {
		return nil, by, nil, settings.Errorf("{Grid} %s: the column holds numbers without a unit of time, so dates say nothing there", text)
	}
	by.by = c.Span(by.by)
	for k := range v[:min(2, len(v))] {
		if dates == 0 {
			break
		}
		if v[k], err = c.At(v[k]); err != nil {
			return nil, by, nil, settings.Errorf("{Grid} %s: %w", text, err)
		}
	}
	return v, by, c, nil
}

// gridValues returns the values of an axis that is written FROM:TO:STEP, or as one value.
func gridValues(text, span string, clock func() (*tabular.Clock, error)) ([]float64, error) {
	parts := spanParts(span)
	v, by, c, err := gridSpan(text, parts, clock)
	switch {
	case err != nil:
		return nil, err
	case len(parts) == 1:
		return v, nil
	case len(parts) != 3:
		return nil, settings.Errorf("{Grid} %s: need FROM:TO:STEP or one value", text)
	}
	from, to := v[0], v[1]
	at := func(k int) float64 { return from + float64(k)*by.by }
	forward, n := by.by, math.Floor((to-from)/by.by+1e-9)+1
	if by.months != 0 {
		first := c.Days(from)
		if math.Abs(first) > tabular.MostDays || math.Abs(c.Days(to)) > tabular.MostDays {
			return nil, settings.Errorf("{Grid} %s: need dates of the years 1 to 9999 for a step of months", text)
		}
		at = func(k int) float64 { return c.Of(tabular.AddMonths(first, k*by.months)) }
		forward = float64(by.months)
		for n = 1; n <= MaxPoints && (at(int(n))-to)*forward <= 0; {
			n++
		}
	}
	if forward == 0 || to != from && (to > from) != (forward > 0) {
		return nil, settings.Errorf("{Grid} %s: steps of %s do not lead from %s to %s", text, parts[2], parts[0], parts[1])
	}
	if !(n >= 1 && n <= MaxPoints) {
		return nil, settings.Errorf("{Grid} %s: need 1 to %d values from the first to the second", text, MaxPoints)
	}
	values := make([]float64, int(n))
	for k := range values {
		values[k] = at(k)
	}
	return values, nil
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
