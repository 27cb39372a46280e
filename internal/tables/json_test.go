package tables

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/tabular"
)

// cellsOf are the names and the cells of a table, a line each.
func cellsOf(t *tabular.Table) string {
	var b strings.Builder
	b.WriteString(strings.Join(t.Header, "|"))
	for row := range t.Rows() {
		b.WriteByte('\n')
		for c := range t.Cols {
			if c > 0 {
				b.WriteByte('|')
			}
			b.WriteString(t.Cell(row, c))
		}
	}
	return b.String()
}

// TestJSON reads what pandas, jq, web services and GDAL write as JSON: records in a list or on lines, columns, points of GeoJSON.
func TestJSON(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"records":  {`[{"x":1,"y":2.5},{"x":3,"y":null}]`, "x|y\n1|2.5\n3|"},
		"indented": {"\xef\xbb\xbf[\r\n  {\r\n  \"x\": 1\r\n  }\r\n]\r\n", "x\n1"},
		"lines":    {"{\"x\":1,\"y\":2}\n{\"x\":3,\"y\":4}\n", "x|y\n1|2\n3|4"},
		"one line": {`{"x":1,"y":{"a":2}}`, "x|y.a\n1|2"},
		"unlike":   {`[{"x":1},{"y":"b","x":2},{"z":true}]`, "x|y|z\n1||\n2|b|\n||1"},
		"twice":    {`[{"x":1,"x":"a"},{"x":"b","x":2}]`, "x\na\n2"},
		"nested":   {`[{"at":{"lat":1,"lon":2},"tags":[1]}]`, "at.lat|at.lon\n1|2"},
		"texts": {`[{"v":"5.5","id":"007","n":9007199254740993},{"v":"","id":"008","n":1}]`,
			"v|id|n\n5.5|007|9007199254740993\n|008|1"},
		"comma":   {`[{"v":"5,5"},{"v":"6,25"}]`, "v\n5.5\n6.25"},
		"columns": {`{"x":[1,2],"y":["a",null]}`, "x|y\n1|a\n2|"},
		"service": {`{"lat":48,"units":{"t":"C"},"hourly":{"time":["2024-01-01T00:00"],"t":[1]}}`,
			"hourly.time|hourly.t\n2024-01-01T00:00|1"},
		"wrapped":      {`{"status":"ok","links":["a"],"results": [ {"x":1},{"x":2}]}`, "x\n1\n2"},
		"pandas":       {`{"x":{"0":1,"1":2},"y":{"0":"a","1":"b"}}`, "x|y\n1|a\n2|b"},
		"index":        {`{"0":{"x":1,"y":2},"1":{"x":3,"y":4}}`, "x|y\n1|2\n3|4"},
		"two objects":  {`{"a":{"x":1},"b":{"y":3}}`, "a.x|b.y\n1|3"},
		"empty":        {"[]", ""},
		"empty object": {" {}\n", ""},
		"points": {`{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[16.4,48.2,170]},` +
			`"properties":{"v":1,"lon":2}},{"type":"Feature","geometry":null,"properties":null}]}`,
			"lon|lat|z|v|properties.lon\n16.4|48.2|170|1|2\n||||"},
		"points of a projection": {`{"type":"FeatureCollection",` +
			`"crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::32632"}},` +
			`"features":[` +
			`{"type":"Feature","geometry":{"type":"Point","coordinates":[6e5,5e6]},"properties":{"v":1}}]}`, "x|y|v\n600000|5000000|1"},
		"points on lines": {`{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"v":1}}` + "\n" +
			`{"type":"Feature","geometry":{"type":"Point","coordinates":[3,4]},"properties":{"v":5}}`, "lon|lat|v\n1|2|1\n3|4|5"},
	} {
		table, err := Decode([]byte(c.text), "a.json", nil)
		require.NoError(t, err, name)
		require.Equal(t, c.want, cellsOf(table), name)
	}
	path := filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"day":"2024-01-01","v":1}`+"\n"+`{"day":"2024-01-02","v":2}`), 0o600))
	table, err := ReadFile(path, nil)
	require.NoError(t, err)
	days, err := table.Coordinates(0)
	require.NoError(t, err)
	require.Equal(t, []float64{19723, 19724}, days)
	table, err = Decode([]byte(`[{"x":1,"tags":[1]}]`), "a.json", nil)
	require.NoError(t, err)
	require.Equal(t, []string{"tags"}, table.LeftOut)
}

// TestJSONErrors: what is no table, or no JSON, says what and where.
func TestJSONErrors(t *testing.T) {
	var wide strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&wide, "{\"c%d\":1}\n", i)
	}
	for text, want := range map[string]string{
		"[{\"x\":1},\n{\"x\" 2}]": "a.json: not JSON that can be read: line 2: ",
		`[{"x":NaN}]`:             "null is a missing value",
		`[{"x":1},{"x":`:          "unexpected EOF",
		`[[1,2],[3,4]]`:           "record 1 is \"[1,2]\": need objects",
		`[{"x":1e400}]`:           `"x" of record 1: 1e400 is beyond the range of numbers`,
		`{"x":[1,2],"y":[1]}`:     "lists of 2 and 1 values are no columns of one table",
		`[{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[1,2]]]}}]`: "feature 1 is a Polygon: need points",
		"{\"x\":1}\n2":                       `"2" is no record`,
		wide.String():                        "different members in all are too many cells",
		strings.Repeat("[", 1e5):             "line 1: ",
		strings.Repeat("{\"a\":", 1e5) + "1": "line 1: ",
	} {
		_, err := Decode([]byte(text), "a.json", nil)
		require.ErrorIs(t, err, ErrJSON, "%.50s", text)
		require.ErrorContains(t, err, want)
	}
	table, err := Decode([]byte(strings.Repeat(`{"a":`, 20)+"1"+strings.Repeat("}", 20)), "a.json", nil)
	require.NoError(t, err, "what lies deep is left out")
	require.Len(t, table.LeftOut, 1)
	for _, text := range []string{"[x],y\n1,2\n", "{x},y\n1,2\n", "[]x,y\n1,2\n"} {
		table, err := Decode([]byte(text), "a.csv", nil)
		require.NoError(t, err)
		require.Equal(t, 1, table.Rows(), text)
	}
}
