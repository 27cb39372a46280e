package spreadsheet

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// packed is a zip file of files, by name.
func packed(t testing.TB, files map[string]string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = f.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// workbook is an .xlsx file of sheets, which are named a, b, c.
func workbook(t testing.TB, sheets ...string) []byte {
	files := map[string]string{
		"[Content_Types].xml": `<Types/>`,
		"_rels/.rels":         `<Relationships><Relationship Id="r" Type="x/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/sharedStrings.xml": `<sst><si><t>east</t></si><si><r><t>no</t></r><r><t xml:space="preserve">rth </t></r>` +
			`<rPh><t>NO</t></rPh></si><si><t>&lt;zinc&gt; &#228;</t></si></sst>`,
		"xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy\ hh:mm"/>` +
			`<numFmt numFmtId="165" formatCode="0.0&quot; days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>` +
			`<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/>` +
			`<xf numFmtId="20"/></cellXfs></styleSheet>`,
	}
	book := `<x:workbook xmlns:x="m" xmlns:r="r"><x:workbookPr/><x:sheets>`
	of := `<Relationships><Relationship Id="s" Type="x/sharedStrings" Target="/xl/sharedStrings.xml"/>` +
		`<Relationship Id="y" Type="x/styles" Target="styles.xml"/>`
	for i, sheet := range sheets {
		book += fmt.Sprintf(`<x:sheet name="%c" sheetId="%d" r:id="id%d"/>`, 'a'+i, i+7, i)
		of += fmt.Sprintf(`<Relationship Id="id%d" Type="x/worksheet" Target="sheets/%d.xml"/>`, i, i)
		files[fmt.Sprintf("xl/sheets/%d.xml", i)] = `<worksheet><sheetData>` + sheet + `</sheetData></worksheet>`
	}
	files["xl/workbook.xml"] = book + `</x:sheets></x:workbook>`
	files["xl/_rels/workbook.xml.rels"] = of + `</Relationships>`
	return packed(t, files)
}

// openDocument is an .ods file of what is in its element spreadsheet.
func openDocument(t testing.TB, tables string) []byte {
	return packed(t, map[string]string{"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": `<?xml?>` +
		`<office:document-content xmlns:office="o" xmlns:table="t"><office:body><office:spreadsheet>` + tables +
		`</office:spreadsheet></office:body></office:document-content>`})
}

func TestWorkbook(t *testing.T) {
	b := workbook(t, ``, `<row r="2"><c r="B2" t="s"><v>0</v></c><c r="C2" t="s"><v>1</v></c><c r="AA2" t="s"><v>2</v></c></row>
		<row><c><v>1.5</v></c><c s="1"><v>43831</v></c><c s="2"><v>43831.75</v></c><c s="3"><v>7</v></c><c s="4"><v>0.25</v></c></row>
		<row r="9"><c r="A9" t="b"><v>1</v></c><c r="B9" t="e"><v>#DIV/0!</v></c><c r="C9" t="inlineStr"><is><t>in </t></is></c>
		<c r="D9"><f>A1*2</f><v></v></c><c r="E9" t="str"><f>""</f><v></v></c><c r="F9" t="d"><v>2020-02-03</v></c>
		<c r="G9"><f>A1</f><v>1E-3</v></c><c r="H9"/></row>`)
	require.True(t, Is(b))
	cells, err := Read(b, "")
	require.NoError(t, err)
	require.Equal(t, []Cell{{2, 2, false, "east"}, {2, 3, false, "north"}, {2, 27, false, "<zinc> ä"},
		{3, 1, true, "1.5"}, {3, 2, false, "2020-01-01"}, {3, 3, false, "2020-01-01T18:00:00"}, {3, 4, true, "7"}, {3, 5, true, "0.25"},
		{9, 1, false, "TRUE"}, {9, 2, false, "#DIV/0!"}, {9, 3, false, "in"}, {9, 4, false, "=A1*2"}, {9, 6, false, "2020-02-03"},
		{9, 7, true, "1E-3"}}, cells)
	again, err := Read(b, "b")
	require.NoError(t, err)
	require.Equal(t, cells, again)
	none, err := Read(b, "a")
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestOpenDocument(t *testing.T) {
	b := openDocument(t, `<table:table table:name="first"><table:shapes><p>a picture</p></table:shapes>
		<table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>
		<table:table-header-rows><table:table-row><table:table-cell/><table:table-cell office:value-type="string">
		<office:annotation><text:p>a note</text:p></office:annotation><text:p>ea<text:span>st</text:span></text:p></table:table-cell>
		<table:covered-table-cell/><table:table-cell office:value-type="float" office:value="1.50"><text:p>1,5</text:p></table:table-cell>
		</table:table-row></table:table-header-rows>
		<table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="2" office:value-type="date"
		office:date-value="2020-01-01T10:00:00"><text:p>1.1.20</text:p></table:table-cell>
		<table:table-cell office:value-type="boolean" office:boolean-value="false"/>
		<table:table-cell office:value-type="percentage" office:value="0.5"/>
		<table:table-cell table:formula="of:=[.A1]+1"/></table:table-row>
		<table:table-row table:number-rows-repeated="1048560"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>
		</table:table><table:table table:name="second"/>`)
	require.True(t, Is(b))
	cells, err := Read(b, "")
	require.NoError(t, err)
	want := []Cell{{4, 2, false, "east"}, {4, 4, true, "1.50"}}
	for row := 5; row < 7; row++ {
		want = append(want, Cell{row, 1, false, "2020-01-01T10:00:00"}, Cell{row, 2, false, "2020-01-01T10:00:00"},
			Cell{row, 3, false, "FALSE"},
			Cell{row, 4, true, "0.5"}, Cell{row, 5, false, "=[.A1]+1"})
	}
	require.Equal(t, want, cells)
}

// TestChoice: a sheet is chosen by its name, or because no other has cells.
func TestChoice(t *testing.T) {
	one := `<row><c><v>1</v></c></row>`
	_, err := Read(workbook(t, one, ``, one), "")
	require.ErrorIs(t, err, ErrFormat)
	require.ErrorContains(t, err, `2 sheets have cells, "a", "c": name one behind the file's name and a #`)
	_, err = Read(workbook(t, one, one), "x")
	require.ErrorContains(t, err, `no sheet "x": there is "a", "b"`)
	_, err = Read(workbook(t, ``), "")
	require.ErrorContains(t, err, "no sheet has any cell")
	cells, err := Read(openDocument(t, `<table name="p"><table-row><table-cell><p>1</p></table-cell></table-row></table>
		<table name="q"><table-row><table-cell><p>2</p></table-cell></table-row></table>`), "q")
	require.NoError(t, err)
	require.Equal(t, []Cell{{1, 1, false, "2"}}, cells)
}

// TestDays: numbers of days, in both calendars. That of 1900 has a 29th of February, which is no day.
func TestDays(t *testing.T) {
	for _, c := range []struct {
		from   string
		serial float64
		want   string
	}{
		{"", 1, "1900-01-01"}, {"", 59, "1900-02-28"}, {"", 60, ""}, {"", 61, "1900-03-01"}, {"", 44197.5, "2021-01-01T12:00:00"},
		{"", 44196.999999999, "2021-01-01"}, {"", 44197.0000116, "2021-01-01T00:00:01.002"}, {"", 0.5, ""}, {"", -1, ""}, {"", 3e6, ""},
		{"", 2958465, "9999-12-31"}, {"1904-01-01", 0, "1904-01-01"}, {"1904-01-01", 42735, "2021-01-01"},
	} {
		x := xlsx{from: c.from}
		day, ok := x.date(c.serial)
		require.Equal(t, c.want, day, "%v", c.serial)
		require.Equal(t, c.want != "", ok)
	}
	for format, want := range map[string]bool{
		"yyyy-mm-dd": true, `dd\.mm\.yy`: true, "[$-409]mmm d": true, "mmmm": true, "m/d/yy h:mm": true, "0.00": false, "General": false,
		"h:mm:ss": false, "[h]:mm": false, "mm:ss.0": false, `0" days"`: false, `#,##0.00\d`: false, "[Red]0": false, "@": false,
		"_d0": false, "0;yy": false, "[": false, "": false, `0.0E+00`: false,
	} {
		require.Equal(t, want, isDate(format), "%s", format)
	}
}

// TestHostile: what is no spreadsheet, or would take all memory, is an error that says where.
func TestHostile(t *testing.T) {
	defer func(before int64) { unpacked = before }(unpacked)
	unpacked = 1 << 20
	cells := func(n int) string { return `<row>` + strings.Repeat(`<c><v>1</v></c>`, n) + `</row>` }
	table := func(row string) []byte {
		return openDocument(t, `<table name="a"><table-row>`+row+`</table-row></table>`)
	}
	for _, c := range []struct {
		b    []byte
		says string
	}{
		{[]byte("PK"), "zip"}, {packed(t, nil), `no "xl/_rels/workbook.xml.rels" in it`},
		{packed(t, map[string]string{"content.xml": `<a></b>`}), `an element "b" ends that did not begin`},
		{packed(t, map[string]string{"content.xml": `<a><b>`}), "content.xml: it ends within b"},
		{packed(t, map[string]string{"content.xml": `<a/>`}), "a document of another kind"},
		{workbook(t, `<row r="0"/>`), `r is "0", need 1 to 1048576`}, {workbook(t, `<row r="2"/><row r="2"/>`), `r is "2", need 3`},
		{workbook(t, `<row r="1048576"/><row/>`), `r is 1048577, at most 1048576 is possible`},
		{workbook(t, `<row><c r="B2"/></row>`), `a cell is called "B2", after column 0 of row 1`},
		{workbook(t, `<row><c r="B1"/><c r="A1"/></row>`), `a cell is called "A1"`}, {workbook(t, `<row><c r="XFE1"/></row>`), `"XFE1"`},
		{workbook(t, `<row><c r="ZZZZZZZZZZZZZZZZZZ1"/></row>`), `"ZZZ`}, {workbook(t, cells(maxColumn+1)), `"XFE1"`},
		{workbook(t, `<row><c t="s"><v>3</v></c></row>`), `cell A1 refers to text "3" of 3`},
		{workbook(t, `<row><c t="s"><v>-1</v></c></row>`), `cell A1 refers to text "-1"`},
		{workbook(t, `<row><c><v>1,5</v></c></row>`), `cell A1 holds "1,5" as a number`},
		{workbook(t, strings.Repeat(`<a>`, 100)), "64 deep"}, {workbook(t, `<row>&x;</row>`), "invalid character entity"},
		{table(`<table-cell number-columns-repeated="0"/>`), `number-columns-repeated is "0"`},
		{table(`<table-cell number-columns-repeated="16385"><p>1</p></table-cell>`), "a cell in column 16385"},
		{openDocument(t, `<table name="a"><table-row number-rows-repeated="1048576"><table-cell number-columns-repeated="9"><p>1</p>`+
			`</table-cell></table-row></table>`), "more than 419"},
		{openDocument(t, `<table name="a"><table-row number-rows-repeated="1048576"/><table-row><table-cell><p>1</p>`+
			`</table-cell></table-row></table>`), "cells in row 1048577"},
		{packed(t, map[string]string{"content.xml": strings.Repeat(" ", 1<<21)}), "the file unpacks to too much"},
	} {
		_, err := Read(c.b, "")
		require.ErrorIs(t, err, ErrFormat, "%s", c.says)
		require.ErrorContains(t, err, c.says)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(workbook(f, `<row r="2"><c r="B2" t="s"><v>1</v></c><c s="1"><v>43831</v></c><c><f>A1</f></c></row>`))
	f.Add(openDocument(f, `<table name="a"><table-row number-rows-repeated="2"><table-cell value-type="float" value="1"/></table-row>`+
		`</table>`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		cells, err := Read(b, "")
		if err != nil {
			require.ErrorIs(t, err, ErrFormat)
		}
		before := Cell{}
		for _, c := range cells {
			require.NotEmpty(t, c.Text)
			require.True(t, c.Row > before.Row || c.Row == before.Row && c.Column > before.Column, "%v after %v", c, before)
			require.LessOrEqual(t, c.Row, maxRow)
			require.LessOrEqual(t, c.Column, maxColumn)
			before = c
		}
	})
}

// TestWritersOfOld: names of parts in another case and with backslashes, and a reference to no text, as some programs write them.
func TestWritersOfOld(t *testing.T) {
	b := packed(t, map[string]string{"[Content_Types].xml": "<Types/>", `xl\_rels\Workbook.xml.rels`: `<Relationships>` +
		`<Relationship Id="1" Type="x/worksheet" Target="sheets/A.xml"/><Relationship Type="x/sharedStrings" Target="sharedstrings.xml"/>` +
		`</Relationships>`, "xl/workbook.xml": `<workbook><sheet name="a" id="1"/></workbook>`,
		"xl/SharedStrings.xml": `<sst><si><t>u</t></si></sst>`,
		`xl\Sheets\a.xml`:      `<w><row><c t="s"><v></v></c><c t="s"><v>0</v></c></row></w>`})
	cells, err := Read(b, "")
	require.NoError(t, err)
	require.Equal(t, []Cell{{1, 2, false, "u"}}, cells)
	_, err = Read(packed(t, map[string]string{"content.xml": "\x01", "META-INF/manifest.xml": `<m><f><encryption-data/></f></m>`}), "")
	require.ErrorContains(t, err, "it is encrypted")
}

// TestWriters: files of programs that write spreadsheets.
func TestWriters(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "openpyxl.xlsx"))
	require.NoError(t, err)
	cells, err := Read(b, "")
	require.NoError(t, err)
	require.Equal(t, []Cell{
		{1, 1, false, "site"}, {1, 2, false, "day"}, {1, 3, false, "depth"}, {1, 4, false, "zinc"}, {1, 5, false, "share"},
		{1, 6, false, "ok"}, {1, 7, false, "note"},
		{2, 1, false, "A 1"}, {2, 2, false, "2020-01-31"}, {2, 3, true, "0.1"}, {2, 4, true, "1022.5"}, {2, 5, true, "0.25"},
		{2, 6, false, "TRUE"}, {2, 7, false, "wet & cold"},
		{3, 1, false, "B"}, {3, 2, false, "2020-02-29T13:45:30.25"}, {3, 3, true, "1e-07"}, {3, 6, false, "FALSE"},
		{4, 1, false, "007"}, {4, 2, false, "1999-12-31T23:59:59"}, {4, 3, true, "1.234567890123457e+19"}, {4, 4, false, "=D2*2"},
		{4, 5, false, "=1/0"}, {4, 7, true, "0.2708333333333333"}, {6, 1, false, "merged"},
	}, cells)
}
