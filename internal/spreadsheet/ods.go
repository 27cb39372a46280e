package spreadsheet

import (
	"cmp"
	"fmt"
	"strings"
)

// ods reads a table of an OpenDocument spreadsheet.
func (k *book) ods(wanted string) ([]Cell, error) {
	if encrypted, err := k.odsEncrypted(); err != nil || encrypted {
		return nil, cmp.Or(err, fmt.Errorf("%w: it is encrypted: save it without a password", ErrFormat))
	}
	names, err := k.odsNames()
	if err != nil {
		return nil, err
	}
	return sheets(names, wanted, k.odsCells)
}

// odsEncrypted reports whether the document's list of files says that they are encrypted.
func (k *book) odsEncrypted() (bool, error) {
	const manifest = "META-INF/manifest.xml"
	if k.files[partName(manifest)] == nil {
		return false, nil
	}
	e, err := k.open(manifest)
	if err != nil {
		return false, err
	}
	defer e.close()
	for {
		what, name, err := e.next()
		if err != nil || what == over || what == start && name == "encryption-data" {
			return err == nil && what == start, err
		}
	}
}

// odsNames are the names of the tables.
func (k *book) odsNames() (names []string, err error) {
	err = k.odsTables(func(e *elements) (bool, error) {
		names = append(names, e.attr("name"))
		return false, e.skip()
	})
	return names, err
}

// odsCells reads the cells of table i, or its first one.
func (k *book) odsCells(i int, first bool) (cells []Cell, err error) {
	err = k.odsTables(func(e *elements) (bool, error) {
		if i--; i >= 0 {
			return false, e.skip()
		}
		cells, err = k.odsTable(e, first)
		return true, err
	})
	return cells, err
}

// odsTables calls visit at the beginning of every table, until it returns true; visit reads to the table's end otherwise. Tables within
// cells are no sheets.
func (k *book) odsTables(visit func(e *elements) (last bool, err error)) error {
	e, err := k.open(openContent)
	if err != nil {
		return err
	}
	defer e.close()
	for found := false; ; {
		what, name, err := e.next()
		switch {
		case err != nil:
			return err
		case what == over && !found:
			return e.errorf("it is a document of another kind")
		case what == over:
			return nil
		case what == start && name == "spreadsheet":
			found = true
		case what == start && name == "table" && found:
			if last, err := visit(e); last || err != nil {
				return err
			}
		}
	}
}

// odsTable reads the cells of the table that has just begun.
func (k *book) odsTable(e *elements, first bool) (cells []Cell, err error) {
	row := 0
	for depth := len(e.open); ; {
		what, name, err := e.next()
		switch {
		case err != nil:
			return nil, err
		case len(e.open) < depth, first && len(cells) > 0:
			return cells, nil
		case what != start:
		case name == "table", name == "shapes": // pictures, and what they show
			if err := e.skip(); err != nil {
				return nil, err
			}
		case name == "table-row":
			repeated, err := e.number("number-rows-repeated", 1, maxRow, 1)
			if err != nil {
				return nil, err
			}
			from := len(cells)
			if cells, err = k.odsRow(e, cells, row+1); err != nil {
				return nil, err
			}
			if n := len(cells) - from; n > 0 {
				if row+repeated > maxRow {
					return nil, e.errorf("cells in row %d, of at most %d", row+repeated, maxRow)
				}
				if n*(repeated-1) > k.most-len(cells) {
					return nil, e.errorf("more than %d cells", k.most)
				}
				for again := 1; again < repeated; again++ {
					for _, c := range cells[from : from+n] {
						c.Row += again
						cells = append(cells, c)
					}
				}
			}
			row += repeated
		}
	}
}

// odsRow reads the cells of the row that has just begun.
func (k *book) odsRow(e *elements, cells []Cell, row int) ([]Cell, error) {
	column := 0
	for depth := len(e.open); ; {
		what, name, err := e.next()
		switch {
		case err != nil:
			return nil, err
		case len(e.open) < depth:
			return cells, nil
		case what != start:
		case name == "table-cell", name == "covered-table-cell":
			repeated, err := e.number("number-columns-repeated", 1, maxRow, 1)
			if err != nil {
				return nil, err
			}
			c, err := e.odsCell()
			if err != nil {
				return nil, err
			}
			if c.Text = strings.TrimSpace(c.Text); c.Text != "" {
				if column+repeated > maxColumn {
					return nil, e.errorf("a cell in column %d, of at most %d", column+repeated, maxColumn)
				}
				for i := range repeated {
					c.Row, c.Column = row, column+1+i
					if cells, err = k.add(cells, c); err != nil {
						return nil, err
					}
				}
			}
			column += repeated
		}
	}
}

// odsCell reads the cell that has just begun.
func (e *elements) odsCell() (c Cell, err error) {
	kind, formula := e.attr("value-type"), e.attr("formula")
	switch kind {
	case "float", "percentage", "currency":
		c.Text, c.Number = e.attr("value"), true
	case "date":
		c.Text = e.attr("date-value")
	case "boolean":
		c.Text = strings.ToUpper(e.attr("boolean-value"))
	case "string":
		c.Text = e.attr("string-value")
	}
	var shown strings.Builder
	depth := len(e.open)
	for {
		what, name, err := e.next()
		switch {
		case err != nil:
			return c, err
		case len(e.open) < depth:
			if c.Text == "" {
				c.Text, c.Number = shown.String(), false
			}
			if _, of, ok := strings.Cut(formula, "="); ok && c.Text == "" && kind != "string" {
				c.Text = "=" + of
			}
			return c, nil
		case what == start && (name == "annotation" || name == "table" || name == "frame"):
			if err := e.skip(); err != nil {
				return c, err
			}
		case what == start && name == "p" && shown.Len() > 0:
			shown.WriteByte('\n')
		case what == start && (name == "s" || name == "tab" || name == "line-break"):
			shown.WriteByte(' ')
		case what == text && len(e.open) > depth:
			shown.WriteString(name)
		}
	}
}
