package tables

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/internal/tabular"
)

// ErrJSON is wrapped where JSON does not hold a table.
var ErrJSON = errors.New("not JSON that can be read")

// deepest is how many objects within each other become columns of names like place.lat; what lies deeper is left out.
const deepest = 8

var utf8Mark = []byte("\xef\xbb\xbf")

// isJSON reports whether bytes begin as JSON does: with an object, or a list of objects or lists. A header like {x},y or [x],y does not.
func isJSON(b []byte) bool {
	b = bytes.Trim(bytes.TrimPrefix(b, utf8Mark), " \t\r\n")
	if len(b) < 2 || b[0] != '{' && b[0] != '[' {
		return false
	}
	next := bytes.TrimLeft(b[1:], " \t\r\n")
	if len(next) < 2 {
		return b[0] == '[' && string(next) == "]" || b[0] == '{' && string(next) == "}"
	}
	return b[0] == '{' && next[0] == '"' || b[0] == '[' && (next[0] == '{' || next[0] == '[')
}

// ofJSON makes a table of records: a list of objects, objects one behind another, as on lines, or the points of GeoJSON; or of a single
// object whose members are columns.
func ofJSON(b []byte) (*tabular.Table, error) {
	b = bytes.TrimPrefix(b, utf8Mark)
	r := &records{at: map[string]int{}, most: 1<<16 + 8*len(b)}
	dec := json.NewDecoder(bytes.NewReader(b))
	for {
		var value json.RawMessage
		err := dec.Decode(&value)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, syntaxOf(b, int(dec.InputOffset()), err)
		}
		switch {
		case value[0] == '[':
			err = r.list(value)
		case value[0] == '{' && !dec.More() && r.rows == 0:
			err = r.single(value)
		case value[0] == '{':
			err = r.record(value)
		default:
			err = fmt.Errorf("%w: %.20q is no record: need objects", ErrJSON, value)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.table()
}

// syntaxOf is an error about bytes that are no JSON, with their line.
func syntaxOf(b []byte, offset int, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = int(syntax.Offset)
	}
	hint, at := "", max(0, min(offset, len(b)))
	if rest := b[max(0, at-1):]; len(rest) > 0 && (rest[0] == 'N' || rest[0] == 'I') {
		hint = ": JSON has no NaN or infinity; null is a missing value"
	}
	return fmt.Errorf("%w: line %d: %w%s", ErrJSON, 1+bytes.Count(b[:at], []byte("\n")), err, hint)
}

// member is a part of an object, in the order of the file.
type member struct {
	name  string
	value json.RawMessage
}

// members are those of an object.
func members(object json.RawMessage) (out []member, err error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil { // {
		return nil, err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string)} // JSON has no others, and this one was read once
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// items are those of a list.
func items(list json.RawMessage) (out []json.RawMessage, err error) {
	err = json.Unmarshal(list, &out)
	return out, err
}

// records are rows while they are read.
type records struct {
	columns []*jsonColumn
	at      map[string]int
	rows    int
	most    int // cells
	lists   []string
}

// jsonColumn is a column; rows behind its last cell lack it.
type jsonColumn struct {
	name   string
	values []float64
	texts  []string       // nil: none
	exact  map[int]string // of whole numbers that float64 does not hold
}

// set makes a cell of a row.
func (r *records) set(row int, name string, value json.RawMessage) error {
	k, ok := r.at[name]
	if !ok {
		k = len(r.columns)
		r.at[name], r.columns = k, append(r.columns, &jsonColumn{name: name})
	}
	if len(r.columns) > r.most/(row+1) { // columns that few records have take memory in all rows
		return fmt.Errorf("%w: %d records of %d different members in all are too many cells", ErrJSON, row+1, len(r.columns))
	}
	c := r.columns[k]
	for len(c.values) <= row {
		c.values = append(c.values, math.NaN())
	}
	c.values[row] = math.NaN()
	if c.texts != nil {
		c.setText(row, "")
	}
	switch value[0] {
	case 'n': // null
	case 't':
		c.values[row] = 1
	case 'f':
		c.values[row] = 0
	case '"':
		var text string
		if err := json.Unmarshal(value, &text); err != nil {
			return err
		}
		if text = strings.TrimSpace(text); text != "" {
			c.setText(row, text)
		}
	default:
		v, err := strconv.ParseFloat(string(value), 64)
		if err != nil {
			return fmt.Errorf("%w: %q of record %d: %s is beyond the range of numbers", ErrJSON, name, row+1, value)
		}
		if c.values[row] = v; tabular.WholeText(string(value)) != "" {
			if c.exact == nil {
				c.exact = map[int]string{}
			}
			c.exact[row] = string(value)
		}
	}
	return nil
}

func (c *jsonColumn) setText(row int, text string) {
	for len(c.texts) <= row {
		c.texts = append(c.texts, "")
	}
	c.texts[row] = text
}

// left notes a member that holds a list, or what lies too deep.
func (r *records) left(name string) {
	if !slices.Contains(r.lists, name) && len(r.lists) < 100 {
		r.lists = append(r.lists, name)
	}
}

// fill makes cells of a row of an object's members, whose names stand behind a prefix, those that are taken behind another.
func (r *records) fill(row int, prefix string, object json.RawMessage, depth int, taken ...string) error {
	all, err := members(object)
	if err != nil {
		return err
	}
	for _, m := range all {
		name := prefix + m.name
		if slices.Contains(taken, name) {
			name = "properties." + name
		}
		switch {
		case m.value[0] == '{' && depth < deepest:
			err = r.fill(row, name+".", m.value, depth+1)
		case m.value[0] == '{', m.value[0] == '[':
			r.left(name)
		default:
			err = r.set(row, name, m.value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// record adds a row: of an object's members, or of a feature of GeoJSON its place and its properties.
func (r *records) record(object json.RawMessage) error {
	var f feature
	if err := json.Unmarshal(object, &f); err == nil && f.Type == "Feature" {
		return r.feature(&f, "lon", "lat")
	}
	r.rows++
	return r.fill(r.rows-1, "", object, 1)
}

// list adds the rows of a list of objects.
func (r *records) list(list json.RawMessage) error {
	all, err := items(list)
	if err != nil {
		return err
	}
	for _, value := range all {
		if value[0] != '{' {
			return fmt.Errorf("%w: record %d is %.20q: need objects such as {\"x\": 1, \"y\": 2}", ErrJSON, r.rows+1, value)
		}
		if err := r.record(value); err != nil {
			return err
		}
	}
	return nil
}

// feature is a part of GeoJSON (RFC 7946).
type feature struct {
	Type       string          `json:"type"`
	Properties json.RawMessage `json:"properties"`
	Geometry   *struct {
		Type        string          `json:"type"`
		Coordinates json.RawMessage `json:"coordinates"`
	} `json:"geometry"`
}

// feature adds a row: the coordinates of a point by these names, and its properties, of which those of the same names get a prefix.
func (r *records) feature(f *feature, names ...string) error {
	row := r.rows
	r.rows++
	names = append(names, "z")
	if f.Geometry != nil {
		var place []json.Number
		if f.Geometry.Type != "Point" || json.Unmarshal(f.Geometry.Coordinates, &place) != nil {
			return fmt.Errorf("%w: feature %d is a %.20s: need points, such as the centroids of others", ErrJSON, row+1, f.Geometry.Type)
		}
		for k, v := range place[:min(len(place), len(names))] {
			if v == "" {
				v = "null"
			}
			if err := r.set(row, names[k], json.RawMessage(v)); err != nil {
				return err
			}
		}
	}
	if len(f.Properties) == 0 || f.Properties[0] != '{' {
		return nil
	}
	return r.fill(row, "", f.Properties, 1, names...)
}

// single reads the only object of a file: GeoJSON's features, a list of records beside what says something of them, columns that are lists
// or, as pandas writes them, objects, or else one record.
func (r *records) single(object json.RawMessage) error {
	var c struct {
		Type     string
		CRS      json.RawMessage
		Features []feature
	}
	if err := json.Unmarshal(object, &c); err == nil && c.Type == "FeatureCollection" {
		names := []string{"lon", "lat"}
		if crs := string(c.CRS); len(crs) > 4 && !strings.Contains(crs, "CRS84") && !strings.Contains(crs, "4326") { // of before RFC 7946
			names = []string{"x", "y"}
		}
		for i := range c.Features {
			if err := r.feature(&c.Features[i], names...); err != nil {
				return err
			}
		}
		return nil
	}
	all, err := members(object)
	if err != nil {
		return err
	}
	var lists []member
	objects := 0
	for _, m := range all {
		inner := []member{m}
		if m.value[0] == '{' {
			objects++
			if inner, err = members(m.value); err != nil {
				return err
			}
			for k := range inner {
				inner[k].name = m.name + "." + inner[k].name
			}
		}
		for _, m := range inner {
			if m.value[0] == '[' {
				lists = append(lists, m)
			}
		}
	}
	of := func(m member) bool {
		return m.value[0] == '[' && bytes.HasPrefix(bytes.TrimLeft(m.value[1:], " \t\r\n"), []byte("{"))
	}
	only := slices.IndexFunc(all, of)
	switch {
	case only >= 0 && !slices.ContainsFunc(all[only+1:], of):
		return r.list(all[only].value)
	case len(lists) > 0:
		return r.ofLists(lists, object)
	case objects > 1 && objects == len(all):
		return r.ofObjects(all, object)
	}
	return r.record(object)
}

// ofLists reads lists of one length as columns, or the only list as records.
func (r *records) ofLists(lists []member, object json.RawMessage) error {
	n := -1
	for _, m := range lists {
		all, err := items(m.value)
		if err != nil {
			return err
		}
		nested := slices.ContainsFunc(all, func(v json.RawMessage) bool { return v[0] == '{' || v[0] == '[' })
		switch {
		case nested && len(lists) == 1 && all[0][0] == '{':
			return r.list(m.value)
		case nested:
			r.left(m.name)
			continue
		case n >= 0 && len(all) != n:
			return fmt.Errorf("%w: lists of %d and %d values are no columns of one table: need a list of records, orient=records in pandas",
				ErrJSON, n, len(all))
		}
		n = len(all)
		for row, value := range all {
			if err := r.set(row, m.name, value); err != nil {
				return err
			}
		}
	}
	if n < 0 {
		return r.record(object)
	}
	r.rows = n
	return nil
}

// ofObjects reads objects of the same members: columns of numbered rows, or records by their numbers.
func (r *records) ofObjects(all []member, object json.RawMessage) error {
	numbered := !slices.ContainsFunc(all, func(m member) bool { _, err := strconv.Atoi(m.name); return err != nil })
	rows := map[string]int{}
	for k, m := range all {
		if numbered {
			if err := r.record(m.value); err != nil {
				return err
			}
			continue
		}
		cells, err := members(m.value)
		if err != nil {
			return err
		}
		for i, cell := range cells {
			if k == 0 {
				rows[cell.name] = i
			}
			row, ok := rows[cell.name]
			if !ok || k > 0 && len(cells) != len(rows) || cell.value[0] == '{' {
				*r = records{at: map[string]int{}, most: r.most}
				return r.record(object)
			}
			if err := r.set(row, m.name, cell.value); err != nil {
				return err
			}
		}
	}
	r.rows = max(r.rows, len(rows))
	return nil
}

// table is that of the records.
func (r *records) table() (*tabular.Table, error) {
	columns := make([]tabular.Column, len(r.columns))
	for k, c := range r.columns {
		for len(c.values) < r.rows {
			c.values = append(c.values, math.NaN())
		}
		columns[k] = tabular.Column{Name: c.name, Values: c.values}
	}
	if r.rows > 0 && len(r.columns) > r.most/r.rows {
		return nil, fmt.Errorf("%w: %d records of %d different members in all are too many cells", ErrJSON, r.rows, len(r.columns))
	}
	t := tabular.Of(columns)
	t.LeftOut = r.lists
	for k, c := range r.columns {
		if c.texts != nil {
			c.texts = append(c.texts, make([]string, r.rows-len(c.texts))...)
			if !c.numbers() {
				t.Texts[k] = c.texts
			}
		}
		for row, text := range c.exact {
			t.SetExact(row, k, tabular.WholeText(text))
		}
	}
	for row := range t.Rows() {
		for k, c := range r.columns {
			t.Values[row*t.Cols+k] = c.values[row]
		}
	}
	return t, nil
}

// numbers makes numbers of texts that are all plain numbers, as many services write them, unless one has zeros before it: 007 is a key.
func (c *jsonColumn) numbers() bool {
	values := slices.Clone(c.values)
	for row, text := range c.texts {
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		digits := strings.TrimLeft(text, "+-")
		if err != nil || math.IsNaN(v-v) || len(digits) > 1 && digits[0] == '0' && digits[1] != '.' || tabular.WholeText(text) != "" {
			return false
		}
		values[row] = v
	}
	c.values = values
	return true
}
