package recipe

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// Columns names the columns of a table, by name or number. Without names the inputs are x, or x1, x2, ..; the outputs y, or y1, y2, ..;
// and the task of a row stands in the column task, if there is one.
type Columns struct {
	X, Y []string
	// Aux are auxiliary inputs, which are known at the context and at the targets; nil: those of the model.
	Aux  []string
	Task string
	// Static is the file of a table of static fields, which are known at places of their own, and StaticFields its columns of them;
	// nil: the model's, or of a new model all but the inputs.
	Static       string
	StaticFields []string
	// Decimal is what stands before the fraction of a number in tables of text, "." or ","; "": a point.
	Decimal string
}

// maxInput bounds what is read from a reader.
const maxInput = int64(1) << 32

// stdio is the name of a file that stands for a reader.
const stdio = "-"

// read opens a file, or reads what stdin has where the name is "-".
func read[V any](path string, stdin io.Reader, open func(path string) (V, error), decode func(b []byte, name string) (V, error)) (
	none V, err error) {
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

// table reads a table that has these columns.
func (c *Columns) table(path string, stdin io.Reader) (*tabular.Table, error) {
	var wanted []string
	if c.X != nil && c.Y != nil {
		wanted = slices.Concat(c.X, c.Y, c.Aux)
		if c.Task != "" {
			wanted = append(wanted, c.Task)
		}
	}
	var opt tabular.Options
	switch c.Decimal {
	case "":
	case ".", ",":
		opt.Decimal = rune(c.Decimal[0])
	default:
		return nil, Errorf("{Decimal} %q: need a point or a comma", c.Decimal)
	}
	return read(path, stdin, func(path string) (*tabular.Table, error) { return tables.ReadFileAs(path, wanted, opt) },
		func(b []byte, name string) (*tabular.Table, error) { return tables.DecodeAs(b, name, wanted, opt) })
}

// options are the columns for a model of that configuration; the zero one is a model that is yet to be made.
func (c *Columns) options(cfg *cnp.Config) (task.CSVOptions, error) {
	opt := task.CSVOptions{X: c.X, Y: c.Y, Task: c.Task, Dx: cfg.DimX, Dy: cfg.DimY, Aux: c.Aux}
	if c.Aux == nil {
		opt.Aux = cfg.Auxiliary
	}
	if n := len(cfg.Auxiliary); cfg.Architecture != "" && len(opt.Aux) != n {
		if n == 0 {
			return opt, Errorf("{Aux} %s: the model has no auxiliary inputs", strings.Join(c.Aux, ","))
		}
		return opt, Errorf("{Aux} %s: the model has %s, %s", strings.Join(c.Aux, ","), plural(n, "auxiliary input"),
			strings.Join(cfg.Auxiliary, ", "))
	}
	return opt, nil
}

// field reads the static fields of a model of that configuration with dx coordinates, nil where it has none.
func (c *Columns) field(cfg *cnp.Config, dx int) (*task.Field, error) {
	names := c.StaticFields
	if cfg.Architecture != "" {
		switch n := len(cfg.Static); {
		case n == 0 && c.Static != "":
			return nil, Errorf("{Static} %s: the model has no static fields", c.Static)
		case n > 0 && c.Static == "":
			return nil, Errorf("the model has the static fields %s: name a table that has them with {Static}",
				strings.Join(cfg.Static, ", "))
		case names == nil:
			names = cfg.Static
		case n != len(names):
			return nil, Errorf("{StaticFields} %s: the model has %s, %s", strings.Join(names, ","), plural(n, "static field"),
				strings.Join(cfg.Static, ", "))
		}
	}
	if c.Static == "" {
		if c.StaticFields != nil {
			return nil, Errorf("{StaticFields} is for {Static}")
		}
		return nil, nil
	}
	of := Columns{X: c.X, Y: names, Decimal: c.Decimal}
	t, err := of.table(c.Static, nil)
	if err != nil {
		return nil, err
	}
	return task.FieldOfTable(t, c.X, names, dx)
}

// taskFile opens a file of tensors.
func taskFile(path string, stdin io.Reader) (*taskfile.File, error) {
	return read(path, stdin, taskfile.Open, taskfile.Decode)
}

// Window makes a task of the rows around one of a table's rows, drawn at random: those within Lengths of it, by the inputs' names. An
// input without a length has no end. Points bounds the rows of a task; more are subsampled.
type Window struct {
	Lengths map[string]float64 `json:",omitempty"`
	Points  int
}

// of returns the lengths for tables whose inputs have these names, nil without any.
func (w *Window) of(inputs []string) ([]float64, error) {
	if len(w.Lengths) == 0 {
		return nil, nil
	}
	if w.Points < 1 {
		return nil, Errorf("{WindowPoints} %d: need at least 1", w.Points)
	}
	out := make([]float64, len(inputs))
	for _, name := range slices.Sorted(maps.Keys(w.Lengths)) {
		k, v := slices.Index(inputs, name), w.Lengths[name]
		if !(v > 0) || math.IsInf(v, 0) || k < 0 {
			return nil, Errorf("{Window} %s=%g: need an input of %s and a length, as in %s=2", name, v,
				strings.Join(inputs, ", "), inputs[0])
		}
		out[k] = v
	}
	return out, nil
}
