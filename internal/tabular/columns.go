package tabular

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/internal/words"
)

// ErrColumns is wrapped by every error about which columns a table has.
var ErrColumns = errors.New("the columns do not fit")

// Want says which columns of a table are coordinates, and which are outputs.
type Want struct {
	// X and Y name the columns, or give their numbers, counted from 1. Where one is nil, a header is searched for x or x1, x2, ..,
	// and for y or y1, y2, ..; without a header the first columns are x, and the others y. See Join for names like Date+Time.
	X, Y []string
	// Dx and Dy are how many there must be; 0: as many as there are.
	Dx, Dy int
	// OnlyX takes a table without outputs as well.
	OnlyX bool
	// Aux name the columns of auxiliary inputs, or give their numbers.
	Aux []string
}

// Columns are a table's columns by what they mean.
type Columns struct {
	X, Y []int
	Aux  []int
	Rest []int // the others
}

// Find returns where the wanted columns are. A table without a single cell has none, and that is no error.
func (t *Table) Find(w Want) (Columns, error) {
	var c Columns
	if err := t.Check(); err != nil {
		return c, err
	}
	if t.Cols == 0 {
		return c, nil
	}
	if t.Header == nil && w.Aux == nil && (w.X == nil && w.Y == nil || w.OnlyX && t.Cols == w.Dx) {
		return t.byOrder(w)
	}
	var err error
	if c.X, err = t.role("x", w.X, w.Dx, false); err != nil {
		return c, err
	}
	if c.Y, err = t.role("y", w.Y, w.Dy, w.OnlyX); err != nil {
		return c, err
	}
	if w.OnlyX && w.Y == nil { // a coordinate may be called y
		c.Y = slices.DeleteFunc(c.Y, func(k int) bool { return slices.Contains(c.X, k) })
	}
	for _, name := range w.Aux {
		k, err := t.column(name)
		if err != nil {
			return c, err
		}
		if k < 0 {
			return c, t.misfit("it has no column %q, an auxiliary input", name)
		}
		c.Aux = append(c.Aux, k)
	}
	all := slices.Concat(c.X, c.Y, c.Aux)
	for k := range t.Cols {
		switch i := slices.Index(all, k); {
		case i < 0:
			c.Rest = append(c.Rest, k)
		case slices.Contains(all[i+1:], k):
			return c, t.misfit("column %d is taken twice", k+1)
		}
	}
	return c, nil
}

// byOrder is Find for a table without a header: x, then y.
func (t *Table) byOrder(w Want) (Columns, error) {
	dx, dy := w.Dx, w.Dy
	if dx == 0 && dy == 0 && t.Cols == 2 {
		dx, dy = 1, 1
	}
	if w.OnlyX && t.Cols == dx {
		dy = 0
	}
	if dx == 0 || dx+dy != t.Cols {
		if w.Dx == 0 {
			return Columns{}, t.misfit("which are x and which y?")
		}
		return Columns{}, t.misfit("the model needs %d of x, then %d of y", w.Dx, w.Dy)
	}
	c := Columns{X: make([]int, dx), Y: make([]int, dy)}
	for i := range t.Cols {
		if i < dx {
			c.X[i] = i
		} else {
			c.Y[i-dx] = i
		}
	}
	return c, nil
}

// role finds the columns of one letter, n of them if n > 0, or none of them if they are optional.
func (t *Table) role(letter string, named []string, n int, optional bool) ([]int, error) {
	var out []int
	if named != nil {
		var missing []string
		found := ""
		for _, name := range named {
			k, err := t.column(name)
			if err != nil {
				return nil, err
			}
			if k < 0 {
				missing = append(missing, name)
				continue
			}
			out, found = append(out, k), name
		}
		switch {
		case out == nil && optional:
		case missing != nil && optional:
			return nil, t.misfit("it has no column %q, but column %q: targets have the values of all outputs, to compare with, or of none",
				missing[0], found)
		case missing != nil:
			return nil, t.misfit("it has no column %q", missing[0])
		case out == nil:
			return nil, t.misfit("the list of columns of %s is empty", letter)
		}
	} else {
		plain, err := t.column(letter)
		if err != nil {
			return nil, err
		}
		for i := 1; ; i++ {
			k, err := t.column(letter + strconv.Itoa(i))
			if err != nil {
				return nil, err
			}
			if k < 0 {
				break
			}
			out = append(out, k)
		}
		switch {
		case plain >= 0 && out != nil:
			return nil, t.misfit("it has both %s and %s1", letter, letter)
		case plain >= 0:
			out = []int{plain}
		case out == nil && !optional:
			return nil, t.misfit("it has no column %s or %s1", letter, letter)
		}
	}
	if out != nil && n > 0 && len(out) != n {
		return nil, t.misfit("%s of %s, the model needs %d", words.Plural(len(out), "column"), letter, n)
	}
	return out, nil
}

// column returns the place of the column of that name, in any case of letters if no other fits, or of that number; -1 if there is
// none.
func (t *Table) column(name string) (int, error) {
	if k, ok := t.aliases[name]; ok {
		return k, nil
	}
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		at := -1
		for k, h := range t.Header {
			if same(h, name) {
				if at >= 0 {
					return -1, t.misfit("it has two columns %q", name)
				}
				at = k
			}
		}
		if at >= 0 {
			return at, nil
		}
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= t.Cols {
		return n - 1, nil
	}
	return -1, nil
}

// Index is the place of the column of that name, or of that number. Where there is none that is an error.
func (t *Table) Index(name string) (int, error) {
	k, err := t.column(name)
	if err == nil && k < 0 {
		err = t.misfit("it has no column %q", name)
	}
	return k, err
}

// Other returns the column of that name among those that are neither x nor y. Where there is none it is -1, or, if the column is
// required, an error.
func (t *Table) Other(c Columns, name string, required bool) (int, error) {
	k := slices.Index(t.Header, name)
	if k < 0 && required {
		var err error
		if k, err = t.column(name); err != nil {
			return -1, err
		}
	}
	if slices.Contains(c.Rest, k) {
		return k, nil
	}
	if required && t.Cols > 0 {
		return -1, t.misfit("it has no column %q besides x and y", name)
	}
	return -1, nil
}

// misfit is an error about the header, which it quotes.
func (t *Table) misfit(format string, args ...any) error {
	row, what := 0, words.Plural(t.Cols, "column")+" without a header"
	if t.Header != nil {
		row, what = -1, "header "+quote(strings.Join(slices.Concat(t.Header, t.Unasked), ","))
	}
	if len(t.LeftOut) > 0 {
		what += ", without " + quote(strings.Join(t.LeftOut, ",")) + ", which hold lists or other types"
	}
	return t.Errorf(row, 0, "%w: %s: %s", ErrColumns, what, fmt.Sprintf(format, args...))
}

// Extra names the columns that nothing asked for, by their numbers where they have no name.
func (t *Table) Extra(c Columns) []string {
	var out []string
	for _, k := range c.Rest {
		if slices.Contains(t.source, k) {
			continue // asked for by its texts
		}
		if k < len(t.Header) && t.Header[k] != "" {
			out = append(out, t.Header[k])
		} else {
			out = append(out, strconv.Itoa(k+1))
		}
	}
	return out
}

// IsLatitude reports whether a column of this name has latitudes.
func IsLatitude(name string) bool {
	name = strings.ToLower(name)
	return name == "lat" || name == "latitude"
}

// IsLongitude reports whether a column of this name has longitudes.
func IsLongitude(name string) bool {
	return slices.Contains([]string{"lon", "lng", "long", "longitude"}, strings.ToLower(name))
}
