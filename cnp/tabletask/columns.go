package tabletask

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
	"github.com/equivcnp/equivcnp/internal/words"
)

// Columns names the columns of a table, by name or number. Without names the inputs are x, or x1, x2, ..; the outputs y,
// or y1, y2, ..; and the column task, if there is one, says which task a row belongs to.
type Columns struct {
	// X may join columns of a time, as Date+Time or Year+Month+Day+Hour. A column of dates and the next, of times of day, are joined, too:
	// X says so after a table was read.
	X, Y []string
	// Aux are auxiliary inputs, which are known at the context and at the targets; nil: those of the model.
	Aux  []string
	Task string
	// Group is a column by whose cells rows are grouped, beside tasks, numbers or texts; "": none.
	Group string
	// Static is the file of a table of static fields, which are known at places of their own. StaticFields are its columns
	// of fields; nil: the model's, or of a new model all but the inputs.
	Static       string
	StaticFields []string
	// Decimal is the character before the fraction of a number in tables of text, "." or ","; "": a point.
	Decimal string
	// Dates is "dmy" or "mdy" for tables of text whose dates are written like 8/7/2016; "": as a day above 12 tells.
	Dates string
	// Missing are numbers such as -9999, and texts, that stand for no value in columns of outputs and auxiliary inputs.
	Missing []string
}

// maxInput bounds what is read from a reader.
const maxInput = int64(1) << 32

// stdio is the name of a file that stands for a reader.
const stdio = "-"

// Open opens a file, or decodes what stdin holds where the path is "-" and stdin is not nil.
func Open[V any](path string, stdin io.Reader, open func(path string) (V, error), decode func(b []byte, name string) (V, error)) (
	none V, err error) {
	if path == "" {
		return none, errors.New("the name of a file is empty")
	}
	if path != stdio || stdin == nil {
		return open(path)
	}
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(stdin, maxInput+1))
	if err == nil && n > maxInput {
		err = fmt.Errorf("more than %d bytes", maxInput)
	}
	if err != nil {
		return none, fmt.Errorf("standard input: %w", err)
	}
	return decode(b.Bytes(), "standard input")
}

// ReadTable reads a table that has these columns: the file of that name, or stdin where the name is "-" and stdin is not
// nil.
func (c *Columns) ReadTable(path string, stdin io.Reader) (*table.Table, error) {
	var wanted []string
	if c.X != nil && c.Y != nil {
		wanted = slices.Concat(tabular.Parts(c.X), c.Y, c.Aux)
		if c.Task != "" {
			wanted = append(wanted, c.Task)
		}
		if c.Group != "" && !slices.Contains(wanted, c.Group) {
			wanted = append(wanted, c.Group)
		}
	}
	opt, err := c.text()
	if err != nil {
		return nil, err
	}
	t, err := Open(path, stdin, func(path string) (*table.Table, error) { return tables.ReadFileAs(path, wanted, opt) },
		func(b []byte, name string) (*table.Table, error) { return tables.DecodeAs(b, name, wanted, opt) })
	if err != nil {
		return nil, err
	}
	if err := t.CountAsMissing(c.Missing...); err != nil { // files that are not text
		return nil, err
	}
	return t, c.join(t)
}

// join makes columns of times of those that X joins, or that are a date and a time of day; X has their names then.
func (c *Columns) join(t *table.Table) error {
	names, err := t.Join(c.X)
	if err == nil && names != nil {
		c.X = names
	}
	return rowsHint(err)
}

// Decode decodes a piece of a table of text, of which nothing is read that only all rows tell; name is for errors.
func (c *Columns) Decode(b []byte, name string) (*table.Table, error) {
	opt, err := c.text()
	if err != nil {
		return nil, err
	}
	opt.Piece = true
	t, err := tables.DecodeAs(b, name, nil, opt)
	if err != nil {
		return nil, err
	}
	return t, c.join(t)
}

// text says how the numbers of tables of text are written.
func (c *Columns) text() (opt table.Options, err error) {
	opt.Keys, opt.X, opt.Y, opt.Dates, opt.Missing = []string{c.Task, c.Group}, c.X, c.Y, c.Dates, c.Missing
	switch c.Decimal {
	case "":
	case ".", ",":
		opt.Decimal = rune(c.Decimal[0])
	default:
		err = settings.Errorf("{Decimal} %q: need a point or a comma", c.Decimal)
	}
	if c.Dates != "" && c.Dates != tabular.DayFirst && c.Dates != tabular.MonthFirst {
		err = settings.Errorf("{Dates} %q: need dmy or mdy", c.Dates)
	}
	if wrong := new(table.Table).CountAsMissing(c.Missing...); wrong != nil {
		err = settings.Errorf("{Missing}: %w", wrong)
	}
	return opt, err
}

// RowsOptions returns the columns for a model of that configuration. The zero configuration stands for a model that is
// yet to be made.
func (c *Columns) RowsOptions(cfg *cnp.Config) (task.CSVOptions, error) {
	opt := task.CSVOptions{X: c.X, Y: c.Y, Task: c.Task, Dx: cfg.DimX, Dy: cfg.DimY, Aux: c.Aux,
		AuxKnown: cfg.Architecture != "", Degrees: cfg.Degrees()}
	if c.Aux == nil {
		opt.Aux = cfg.Auxiliary
	} else if len(c.Aux) < len(cfg.Auxiliary) {
		opt.Aux = tabular.OfCategories(c.Aux, cfg.Auxiliary)
	}
	if n := len(cfg.Auxiliary); cfg.Architecture != "" && len(opt.Aux) != n {
		if n == 0 {
			return opt, settings.Errorf("{Aux} %s: the model has no auxiliary inputs", strings.Join(c.Aux, ","))
		}
		return opt, settings.Errorf("{Aux} %s: the model has %s, %s", strings.Join(c.Aux, ","), words.Plural(n, "auxiliary input"),
			strings.Join(cfg.Auxiliary, ", "))
	}
	return opt, nil
}

// StaticField reads the static fields of a model of that configuration with dx coordinates, nil where it has none. A new
// model has those of the columns.
func (c *Columns) StaticField(cfg *cnp.Config, dx int) (*task.Field, error) {
	names := c.StaticFields
	if cfg.Architecture != "" {
		switch n := len(cfg.Static); {
		case n == 0 && c.Static != "":
			return nil, settings.Errorf("{Static} %s: the model has no static fields", c.Static)
		case n > 0 && c.Static == "":
			return nil, settings.Errorf("the model has the static fields %s: name a table that has them with {Static}",
				strings.Join(cfg.Static, ", "))
		case names == nil:
			names = cfg.Static
		case n != len(names):
			return nil, settings.Errorf("{StaticFields} %s: the model has %s, %s", strings.Join(names, ","),
				words.Plural(n, "static field"), strings.Join(cfg.Static, ", "))
		}
	}
	if c.Static == "" {
		if c.StaticFields != nil {
			return nil, settings.Errorf("{StaticFields} is for {Static}")
		}
		return nil, nil
	}
	of := Columns{X: c.X, Y: names, Decimal: c.Decimal, Dates: c.Dates, Missing: c.Missing}
	t, err := of.ReadTable(c.Static, nil)
	if err != nil {
		return nil, err
	}
	f, err := task.FieldOfTable(t, c.X, names, dx)
	if errors.Is(err, table.ErrColumns) {
		err = settings.Hintf("%w ({X} says which columns are the inputs, {StaticFields} which the fields)", err)
	}
	return f, err
}

// rowsHint says which options help against an error about columns.
func rowsHint(err error) error {
	if errors.Is(err, table.ErrColumns) {
		return settings.Hintf("%w ({X} and {Y} say which columns to take, {Aux} which auxiliary inputs)", err)
	}
	return err
}

// RowsOf is [task.RowsOf] with an error that names the options which choose columns.
func RowsOf(t *table.Table, opt task.CSVOptions, onlyX bool) (*task.Rows, error) {
	rows, err := task.RowsOf(t, opt, onlyX)
	return rows, rowsHint(err)
}
