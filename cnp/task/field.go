package task

import (
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// Field is static fields (cnp.Config.Static), which are the same in many tasks: their places X [n, dx], and values Y
// [n, ds] of which NaN is one that is missing.
type Field struct {
	Names []string
	X, Y  []float64
}

// maxFieldPoints bounds the points of a static field, all of which are part of every task.
const maxFieldPoints = 1 << 20

// FieldOfTable takes static fields from a table with the columns x of dx coordinates and those of the fields; nil
// stands for columns x, or x1, x2, .., and for all other columns. Rows without a value are left out.
func FieldOfTable(t *table.Table, x, fields []string, dx int) (*Field, error) {
	if fields == nil {
		c, err := t.Find(tabular.Want{X: x, Dx: dx, Y: []string{}, OnlyX: true})
		if err != nil {
			return nil, err
		}
		if fields = t.Extra(c); len(fields) == 0 {
			return nil, fmt.Errorf("%s: %w: there is no column of a field beside the coordinates", t.Name, ErrData)
		}
	}
	rows, err := RowsOf(t, CSVOptions{X: x, Y: fields, Dx: dx, Dy: len(fields)}, false)
	if err != nil {
		return nil, err
	}
	f := &Field{Names: slices.Clone(fields)}
	for row := range t.Rows() {
		if rows.Known(row) > 0 {
			f.X, f.Y = append(f.X, rows.X[row*dx:(row+1)*dx]...), append(f.Y, rows.Y[row*len(fields):(row+1)*len(fields)]...)
		}
	}
	for k, name := range fields {
		if !slices.ContainsFunc(f.column(k), func(v float64) bool { return v == v }) {
			return nil, fmt.Errorf("%s: %w: the static field %s has no value at all", t.Name, ErrData, name)
		}
	}
	if n := len(f.Y) / len(fields); n > maxFieldPoints {
		return nil, fmt.Errorf("%s: %w: a static field of %d points, at most %d are allowed: take fewer, or those around the tasks",
			t.Name, ErrData, n, maxFieldPoints)
	}
	return f, nil
}

// column is the values of field k.
func (f *Field) column(k int) (out []float64) {
	for i := k; i < len(f.Y); i += len(f.Names) {
		out = append(out, f.Y[i])
	}
	return out
}

// Join gives every task of a batch the field.
func (f *Field) Join(b *cnp.Batch[float32]) {
	if f == nil {
		return
	}
	joinFields(b, slices.Repeat([]*Field{f}, b.B), len(f.X)/max(1, len(f.Y)/len(f.Names)), len(f.Names))
}

// Tasks returns the number of tasks that go together, of at most that many, so that they have no more points of the
// field than one may have.
func (f *Field) Tasks(most int) int {
	if f == nil {
		return most
	}
	return max(1, min(most, maxFieldPoints/(len(f.Y)/len(f.Names))))
}

// joinFields gives every task of a batch a field of its own, nil where it has none.
func joinFields[T cnp.Float](b *cnp.Batch[T], fields []*Field, dx, ds int) {
	b.Ns = 0
	for _, f := range fields {
		if f != nil {
			b.Ns = max(b.Ns, len(f.Y)/ds)
		}
	}
	b.XStatic, b.YStatic = make([]float64, b.B*b.Ns*dx), slices.Repeat([]T{T(math.NaN())}, b.B*b.Ns*ds)
	for t, f := range fields {
		if f != nil {
			copy(b.XStatic[t*b.Ns*dx:], f.X)
			for i, v := range f.Y {
				b.YStatic[t*b.Ns*ds+i] = T(v)
			}
		}
	}
}

// window is the part of a field that lies within lengths of a place: twice as far as the points of the task itself.
func (f *Field) window(middle, lengths []float64) *Field {
	if f == nil {
		return nil
	}
	out, dx, ds := &Field{Names: f.Names}, len(middle), len(f.Names)
	for i := range len(f.Y) / ds {
		inside := true
		for d, length := range lengths {
			inside = inside && (length == 0 || math.Abs(f.X[i*dx+d]-middle[d]) <= length)
		}
		if inside {
			out.X, out.Y = append(out.X, f.X[i*dx:(i+1)*dx]...), append(out.Y, f.Y[i*ds:(i+1)*ds]...)
		}
	}
	return out
}

// WithField gives all tasks of a set the same static fields.
func (s *CurveSet) WithField(f *Field) {
	if f == nil {
		return
	}
	s.Static = f.Names
	for i := range s.Curves {
		s.Curves[i].Field = f
	}
}
