package tabletask

import (
	"slices"
	"strconv"

	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/table"
)

// ValueNames are the names and the units that a table has for the values of a target; nil without.
type ValueNames struct{ Names, Units []string }

// sameUnit lists the outputs that have the unit of the values.
var sameUnit = []string{"mean", "std", "std_function", "quantiles", "samples"}

// Predicted returns a table with columns for a prediction of dy values a row: the outputs of these names or, without
// any, those that have one number a value, with quantiles and samples if there are any. The columns bear the names of
// the values (t2m_mean) or, without names, mean, or mean1, mean2, and so on. An output with several numbers a value has
// as many columns.
func Predicted(t *table.Table, r *predict.Result, outputs []string, dy int, values ValueNames) (*table.Table, error) {
	all, err := r.Tensors(outputs...)
	if err != nil {
		return nil, err
	}
	var columns []table.Column
	for _, tensor := range all {
		n := len(tensor.Shape)
		switch {
		case tensor.Name == "covariance":
			return nil, settings.Errorf("{Outputs} covariance is for files of tensors")
		case tensor.Name == "samples":
			columns = append(columns, values.samples(tensor.Values, t.Rows(), dy)...)
		case tensor.Name == "quantiles":
			columns = append(columns, values.columns(tensor, QuantileKinds(r.Quantiles), dy)...)
		case n == len(r.Shape):
			columns = append(columns, values.columns(tensor, []string{tensor.Name}, dy)...)
		case len(outputs) > 0:
			columns = append(columns, values.columns(tensor, Numbered(tensor.Name, tensor.Shape[n-1]), dy)...)
		}
	}
	return t.With(columns...), nil
}

// QuantileKinds returns the names of the columns of quantiles: q0.05.
func QuantileKinds(quantiles []float64) []string {
	kinds := make([]string, len(quantiles))
	for k, q := range quantiles {
		kinds[k] = "q" + strconv.FormatFloat(q, 'g', -1, 64)
	}
	return kinds
}

// columns takes a tensor apart into columns of the kinds, of each for all dy values.
func (v ValueNames) columns(t predict.Tensor, kinds []string, dy int) (out []table.Column) {
	for k, kind := range kinds {
		for c, name := range Names(kind, dy) {
			if v.Names != nil {
				name = v.Names[c] + "_" + kind
			}
			column := table.Column{Name: name, Single: true}
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

// samples are the columns of samples [S, n, dy]: "sample1", or of several values "sample1_y1", or "t2m_sample1" where
// values have names.
func (v ValueNames) samples(samples []float32, n, dy int) (out []table.Column) {
	if n == 0 {
		return nil
	}
	for s, name := range Numbered("sample", len(samples)/(n*dy)) {
		for c, y := range Names("y", dy) {
			column := table.Column{Name: name, Values: make([]float64, n), Single: true, Unit: v.unit(c)}
			if v.Names != nil {
				column.Name = v.Names[c] + "_" + name
			} else if dy > 1 {
				column.Name += "_" + y
			}
			for i := range n {
				column.Values[i] = float64(samples[(s*n+i)*dy+c])
			}
			out = append(out, column)
		}
	}
	return out
}

func (v ValueNames) unit(c int) string {
	if v.Units == nil {
		return ""
	}
	return v.Units[c]
}

// Table returns the table of the targets' coordinates with columns for a prediction: those of the outputs or, without
// any, what a table has. They bear the names of the outputs that options chose: t2m_mean.
func (t *Task) Table(c *Columns, r *predict.Result, outputs []string) (*table.Table, error) {
	in := t.Observed.Columns
	x, names := t.Chosen(c)
	values := ValueNames{Names: names}
	if t.Points.Units != nil {
		for _, c := range in.Y {
			values.Units = append(values.Units, t.Points.Units[c])
		}
	}
	r.Shape = []int{1, t.Targets.Rows(), t.Dy}
	return Predicted(t.Places(x), r, outputs, t.Dy, values)
}

// Beside are the columns of Places that have auxiliary inputs.
func (t *Task) Beside() []int {
	columns := make([]int, len(t.Asked.Columns.Aux))
	for k := range columns {
		columns[k] = t.Dx + k
	}
	return columns
}

// Places returns the table of the targets' coordinates, in columns of these names, and behind them their auxiliary inputs, which tell rows
// at one place apart. Those coordinates that have no unit of their own have that of the points.
func (t *Task) Places(names []string) *table.Table {
	columns := t.Asked.Columns.X
	if aux := t.Asked.Columns.Aux; len(aux) > 0 {
		columns, names = slices.Concat(columns, aux), slices.Concat(names, Labels(t.Targets, aux, "aux", len(aux)))
	}
	out := t.Targets.Only(columns, names)
	for k, c := range t.Observed.Columns.X {
		out.InheritUnit(k, t.Points, c)
	}
	return out
}
