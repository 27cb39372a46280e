// Package table has tables of numbers with named columns, as files of CSV, Parquet, NetCDF and numpy, and spreadsheets hold them. Packages
// task and tabletask make tasks of them.
package table

import (
	"io"

	"github.com/equivcnp/equivcnp/internal/tabular"
)

// Table is rows of numbers, row-major, with what a file says of its columns. A missing number is NaN.
type Table = tabular.Table

// Column is a named column, for [Of] and the With method of a table.
type Column = tabular.Column

// Columns says which columns of a table are coordinates, outputs and auxiliary inputs.
type Columns = tabular.Columns

// Clock is the unit of time of a column.
type Clock = tabular.Clock

// Options says how numbers are written in text.
type Options = tabular.Options

// ErrColumns is wrapped by every error about which columns a table has, ErrCell by those about a cell.
var (
	ErrColumns = tabular.ErrColumns
	ErrCell    = tabular.ErrCell
)

// Of returns the table of columns of one length.
func Of(columns ...Column) *Table { return tabular.Of(columns) }

// Read reads a table of text whose cells commas, semicolons, tabs, bars or spaces separate. The name is for errors.
func Read(r io.Reader, name string) (*Table, error) { return tabular.Read(r, name) }
