package tables

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/spreadsheet"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// spreadsheetOf is an OpenDocument spreadsheet of tables.
func spreadsheetOf(t *testing.T, tables string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("content.xml")
	require.NoError(t, err)
	_, err = w.Write([]byte(`<content><body><spreadsheet>` + tables + `</spreadsheet></body></content>`))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// TestSheet: a table is the rectangle of the cells, wherever it lies in the sheet, and errors name the row and the column there.
func TestSheet(t *testing.T) {
	text := func(s string) string { return `<table-cell value-type="string"><p>` + s + `</p></table-cell>` }
	number := func(s string) string { return `<table-cell value-type="float" value="` + s + `"/>` }
	row := func(cells string) string { return `<table-row><table-cell/>` + cells + `</table-row>` }
	b := spreadsheetOf(t, `<table name="data"><table-row/>`+row(text("task")+text("x")+text("y")+text("note"))+
		row(text("007")+number("1.5")+number("-2E3"))+`<table-row/>`+
		row(text("8")+text("2,5")+`<table-cell formula="of:=[.A1]"/>`+text("wet"))+
		row(number("9")+`<table-cell value-type="date" date-value="2020-01-01"/>`+text("#N/A"))+
		`</table><table name="more">`+row(number("1"))+`</table>`)
	dir := t.TempDir()
	path := filepath.Join(dir, "soil.ods")
	require.NoError(t, os.WriteFile(path, b, 0o600))
	_, err := ReadFile(path, nil)
	require.ErrorIs(t, err, spreadsheet.ErrFormat)
	require.ErrorContains(t, err, `soil.ods: not a spreadsheet that can be read: 2 sheets have cells, "data", "more": name one behind`)

	for _, decimal := range []rune{0, ','} {
		table, err := ReadFileAs(path+"#data", nil, tabular.Options{Decimal: decimal})
		require.NoError(t, err)
		require.Equal(t, []string{"task", "x", "y", "note"}, table.Header)
		require.Equal(t, 3, table.Rows())
		require.Equal(t, "007", table.Key(0, 0))
		require.Equal(t, []float64{1.5, -2000}, table.Values[1:3])
		require.Equal(t, "2020-01-01", table.Text(2, 1))
		require.Equal(t, "wet", table.Text(1, 3))
		if decimal == ',' {
			require.Equal(t, 2.5, table.Values[5])
		} else {
			_, err = table.Numbers(true, 1)
			require.ErrorContains(t, err, `soil.ods#data:5:3: not a table of numbers: "2,5" is not a number: decimals need a point`)
		}
		_, err = table.Numbers(true, 2)
		require.ErrorContains(t, err, `soil.ods#data:5:4: not a table of numbers: "=[.A1]" is a formula without its value`)
	}

	titled := spreadsheetOf(t, `<table name="a">`+row(text("Survey of")+text("x")+number("2019"))+`<table-row/>`+
		row(text("x")+text("y"))+row(number("1")+number("2"))+`</table>`)
	table, err := Decode(titled, "titled.ods", []string{"x", "y"})
	require.NoError(t, err)
	require.Equal(t, []string{"x", "y"}, table.Header)
	require.Equal(t, []float64{1, 2}, table.Values)
	_, err = Decode(titled, "titled.ods", []string{"x", "z"})
	require.NoError(t, err) // the error is that of who looks for z

	csv := filepath.Join(dir, "soil.csv")
	require.NoError(t, os.WriteFile(csv, []byte("x,y\n1,2\n"), 0o600))
	_, err = ReadFile(csv+"#data", nil)
	require.ErrorIs(t, err, ErrSheet)
	require.NoError(t, os.WriteFile(csv+"#data", []byte("x,y\n1,2\n3,4\n"), 0o600)) // a file of that name is that file
	table, err = ReadFile(csv+"#data", nil)
	require.NoError(t, err)
	require.Equal(t, 2, table.Rows())
	_, err = ReadFile(filepath.Join(dir, "none.ods#data"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Decode(spreadsheetOf(t, `<table name="a"/>`), "standard input", nil)
	require.ErrorContains(t, err, "standard input: not a spreadsheet that can be read: no sheet has any cell")
	wide := `<table name="a"><table-row number-rows-repeated="1200"><table-cell value-type="float" value="1"/></table-row><table-row>` +
		`<table-cell number-columns-repeated="16383"/>` + number("1") + `</table-row></table>`
	_, err = Decode(spreadsheetOf(t, wide), "wide.ods", nil)
	require.ErrorIs(t, err, ErrSheet)
	require.ErrorContains(t, err, "wide.ods: not a sheet with a table: 1201 rows and 16384 columns are too many")
}

// TestLevels: names of columns in several rows, as pandas writes those of several levels, are joined; a title is none of them.
func TestLevels(t *testing.T) {
	cells := func(texts ...string) string {
		out := "<table-row>"
		for _, s := range texts {
			switch {
			case s == "":
				out += "<table-cell/>"
			case s[0] >= '0' && s[0] <= '9':
				out += `<table-cell value-type="float" value="` + s + `"/>`
			default:
				out += `<table-cell value-type="string"><p>` + s + `</p></table-cell>`
			}
		}
		return out + "</table-row>"
	}
	read := func(rows ...string) *tabular.Table {
		got, err := Decode(spreadsheetOf(t, `<table name="s">`+strings.Join(rows, "")+`</table>`), "a.ods", nil)
		require.NoError(t, err)
		return got
	}
	numbers := cells("0", "1.5", "2", "3") + cells("1", "2.5", "3", "4")
	got := read(cells("", "rain", "", "wind"), cells("", "mean", "std", "mean"), cells("day"), numbers)
	require.Equal(t, "day|rain.mean|rain.std|wind.mean\n0|1.5|2|3\n1|2.5|3|4", cellsOf(got))
	require.Contains(t, strings.Join(got.Remarks(tabular.Columns{}), "\n"),
		"the first 3 rows of a.ods are taken as names of columns, joined")
	got = read(cells("", "rain", "", "wind"), cells("", "mean", "std", "mean"), numbers)
	require.Equal(t, []string{"", "rain.mean", "rain.std", "wind.mean"}, got.Header)
	require.Equal(t, 2, got.Rows())
	got = read(cells("Weather of today", "", "", ""), cells("day", "rain", "snow", "wind"), numbers)
	require.Equal(t, "Weather of today", got.Header[0], "a title")
	require.Equal(t, 3, got.Rows())
	got = read(cells("day", "rain", "snow", "wind"), cells("h", "mm", "mm", "m/s"), numbers)
	require.Equal(t, []string{"h", "mm", "mm", "m/s"}, got.Units)
}
