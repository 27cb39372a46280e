package mappoints

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/internal/tabular"
)

// families are names that columns of places have, those of x, of y, and then of values; the first family that a header has is taken.
var families = [][3][]string{
	{{"x1"}, {"x2"}, {"y", "y1", "value", "z"}}, // as the program has them
	{{"x"}, {"y"}, {"value", "z"}},
	{{"east", "easting"}, {"north", "northing"}, {"value", "z"}},
	{{"lon", "lng", "long", "longitude"}, {"lat", "latitude"}, {"value", "z"}},
}

// byNames finds the columns of the first family whose places a header has; -1 is none.
func byNames(t *tabular.Table) (found [3]int) {
	for _, family := range families {
		for role, names := range family {
			found[role] = slices.IndexFunc(t.Header, func(h string) bool { return slices.Contains(names, strings.ToLower(h)) })
		}
		if found[0] >= 0 && found[1] >= 0 {
			return found
		}
	}
	return [3]int{-1, -1, -1}
}

// choose finds the columns of x, y and value by their names. Without such names x and y are the first columns of numbers or dates, and
// without that of a value the next of numbers is it; a note says which they are.
func choose(t *tabular.Table) (c tabular.Columns, note string, err error) {
	if t.Cols < 3 {
		row := 0
		if t.Header != nil {
			row = -1
		}
		return c, "", t.Errorf(row, 0, "%w: need three columns, x, y and value, and not %d", tabular.ErrColumns, t.Cols)
	}
	found := byNames(t)
	named, others := found, measures(t, found)
	for role, column := range named {
		if column >= 0 {
			continue
		}
		if len(others) == 0 && named[0] >= 0 {
			return c, "", t.Errorf(-1, 0, "%w: no column of numbers besides those of x and y", tabular.ErrColumns)
		} else if len(others) == 0 {
			found = [3]int{0, 1, 2} // and one of them says why it is no number
			break
		}
		found[role], others = others[0], others[1:]
	}
	if t.Header != nil && named != found || t.Cols > 3 && named != found {
		names := namesOf(t, found[:]...)
		note = fmt.Sprintf("x is column %s, y is column %s, and the value is column %s: Columns can name others", names[0], names[1],
			names[2])
	}
	return tabular.Columns{X: found[:2], Y: found[2:]}, note, nil
}

// measures are the columns of numbers or dates besides those that are found. One without a name beside others that have some, as R and
// pandas write it, names rows. The value is no date.
func measures(t *tabular.Table, found [3]int) (out []int) {
	for column := range t.Cols {
		if slices.Contains(found[:], column) || t.Header != nil && t.Header[column] == "" {
			continue
		}
		dates := false
		if t.IsText(column) {
			if found[0] >= 0 || len(out) == 2 {
				continue
			}
			if _, err := t.Coordinates(column); err != nil {
				continue
			}
			dates = true
		}
		if !dates && empty(t, column) {
			continue
		}
		out = append(out, column)
	}
	return out
}

// empty reports whether a column has no number.
func empty(t *tabular.Table, column int) bool {
	for row := range t.Rows() {
		if v := t.Values[row*t.Cols+column]; v == v {
			return false
		}
	}
	return true
}

// namesOf are the names of columns, or the numbers of those without one.
func namesOf(t *tabular.Table, columns ...int) (names []string) {
	for _, column := range columns {
		name := strconv.Itoa(column + 1)
		if t.Header != nil && t.Header[column] != "" {
			name = t.Header[column]
		}
		names = append(names, name)
	}
	return names
}
