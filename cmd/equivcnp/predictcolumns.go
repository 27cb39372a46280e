package main

import (
	"slices"
	"strconv"

	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// valueNames are the names that a table has for the values of a target, nil without, and their units.
type valueNames struct{ names, units []string }

// sameUnit lists the outputs that have the unit of the values.
var sameUnit = []string{"mean", "std", "std_function", "quantiles", "samples"}

// predicted returns a table with columns for a prediction of dy values a row: the outputs of these names or, without
// any, those that have one number a value, with quantiles and samples if there are any. The columns bear the names of
// the values (t2m_mean) or, without names, mean, or mean1, mean2, and so on. An output with several numbers a value has
// as many columns.
func predicted(t *tabular.Table, r *predict.Result, outputs []string, dy int, values valueNames) (*tabular.Table, error) {
	all, err := r.Tensors(outputs...)
	if err != nil {
		return nil, err
	}
	var columns []tabular.Column
	for _, tensor := range all {
		n := len(tensor.Shape)
		switch {
		case tensor.Name == "covariance":
			return nil, usagef("--outputs covariance is for files of tensors")
		case tensor.Name == "samples":
			own := sampled(tensor.Values, t.Rows(), dy, values.names)
			for i := range own {
				own[i].Unit = values.unit(i % dy)
			}
			columns = append(columns, own...)
		case tensor.Name == "quantiles":
			kinds := make([]string, len(r.Quantiles))
			for k, q := range r.Quantiles {
				kinds[k] = "q" + strconv.FormatFloat(q, 'g', -1, 64)
			}
			columns = append(columns, values.columns(tensor, kinds, dy)...)
		case n == len(r.Shape):
			columns = append(columns, values.columns(tensor, []string{tensor.Name}, dy)...)
		case len(outputs) > 0:
			columns = append(columns, values.columns(tensor, numbered(tensor.Name, tensor.Shape[n-1]), dy)...)
		}
	}
	return t.With(columns...), nil
}

// columns takes a tensor apart into columns of the kinds, of each for all dy values.
func (v valueNames) columns(t predict.Tensor, kinds []string, dy int) (out []tabular.Column) {
	for k, kind := range kinds {
		for c, name := range names(kind, dy) {
			if v.names != nil {
				name = v.names[c] + "_" + kind
			}
			column := tabular.Column{Name: name, Single: true}
			if slices.Contains(sameUnit, t.Name) {
				column.Unit = v.unit(c)
			}
			for i := c * len(kinds); i < len(t.Values); i += dy * len(kinds) {
				column.Values = append(column.Values, float64(t.Values[i+k]))
			}
			out = append(out, column)
		}
	}
	return out
}

func (v valueNames) unit(c int) string {
	if v.units == nil {
		return ""
	}
	return v.units[c]
}
