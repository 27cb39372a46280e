package tabular

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// readAll reads the columns x and y of a text, and what is said of them.
func readAll(t *testing.T, text string, opt Options) (x, y []float64, notes string, table *Table) {
	t.Helper()
	table, err := ReadAs(strings.NewReader(text), "a.csv", opt)
	require.NoError(t, err, text)
	c, err := table.Find(Want{X: opt.X, Y: opt.Y, Dx: 1, Dy: 1})
	require.NoError(t, err, text)
	x, err = table.Coordinates(c.X...)
	require.NoError(t, err, text)
	y, err = table.Numbers(true, c.Y...)
	require.NoError(t, err, text)
	require.NoError(t, table.Check())
	return x, y, strings.Join(table.Remarks(c), "\n"), table
}

// Numbers in forms that a whole column shows are read, with a note.
func TestNumberForms(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name, text string
		x, y       []float64
		note       string
	}{
		{"percent", "x,y\n1,66.87%\n2,50 %\n3,-\n4,NA\n", []float64{1, 2, 3, 4}, []float64{66.87, 50, nan, nan},
			`column y of a.csv has numbers like "66.87%", which is read as 66.87`},
		{"currency", "x,y\n1,\"$1,234.50\"\n2,-$12\n3,7\n",
			[]float64{1, 2, 3}, []float64{1234.5, -12, 7}, `"$1,234.50", which is read as 1234.5`},
		{"currency behind", "x;y\n1;1.234,50 €\n2;12 €\n", []float64{1, 2}, []float64{1234.5, 12},
			`"1.234,50 €", which is read as 1234.5`},
		{"thousands beside points", "x,y\n0.5,\"175,901\"\n2,\"12\"\n",
			[]float64{0.5, 2}, []float64{175901, 12}, `"175,901", which is read as 175901`},
		{"thousands by millions", "x,y\n1,\"175,901\"\n2,\"1,175,901\"\n",
			[]float64{1, 2}, []float64{175901, 1175901}, "which is read as 175901"},
		{"decimal commas", "x;y\n1,5;175,901\n2,5;3\n", []float64{1.5, 2.5}, []float64{175.901, 3}, `"175,901", which is read as 175.901`},
		{"decimal commas without a header", "1,5;2\n2,5;3\n", []float64{1.5, 2.5}, []float64{2, 3}, "column 1 of a.csv has numbers like"},
		{"spaces between thousands", "x;y\n1;1 234,5\n2;12,5\n",
			[]float64{1, 2}, []float64{1234.5, 12.5}, `"1 234,5", which is read as 1234.5`},
		{"a minus sign", "x,y\n1,\u22125.5\n2,3\n", []float64{1, 2}, []float64{-5.5, 3}, ""},
		{"exponents of Fortran", "x,y\n1,1.5D+02\n2,-.25d1\n", []float64{1, 2}, []float64{150, -2.5}, ""},
		{"Latin-1", "x;y\n1;1\xa0234,5\n2;\x80 2\n",
			[]float64{1, 2}, []float64{1234.5, 2}, "is not UTF-8: its texts are read as Windows-1252"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, y, notes, _ := readAll(t, c.text, Options{})
			require.True(t, testkit.SameBits(c.x, x) && testkit.SameBits(c.y, y), "%v %v", x, y)
			require.Contains(t, notes, c.note)
			if c.note == "" {
				require.Empty(t, notes)
			}
		})
	}
	for name, text := range map[string]string{
		"groups or fractions":            "x;y\n1;175,901\n2;12,345\n",
		"a point that may be thousands":  "x;y\n1.234;1,5\n2.345;2,5\n",
		"points and commas":              "x;y\n0.5;1,5\n",
		"two currencies":                 "x,y\n1,$5\n2,€5\n",
		"percentages and plain numbers":  "x,y\n1,5%\n2,0.5\n",
		"percentages below a percentage": "x,5%\n1,6%\n2,7%\n",
		"a list":                         "x;y\n1;1,2\n2;1,2,3\n",
		"units":                          "x,y\n1,5 mm\n2,6 mm\n",
		"an accountant's minus":          "x,y\n1,(5)\n2,6\n",
	} {
		table, err := Decode([]byte(text), "a.csv")
		require.NoError(t, err, name)
		_, err = table.Numbers(true, 0, 1)
		require.ErrorIs(t, err, ErrCell, name)
		require.ErrorContains(t, err, "is not a number", name)
	}
	table, err := Decode([]byte("task;y\n1,5;1,5\n1,50;2\n"), "a.csv")
	require.NoError(t, err)
	_, n, err := table.Groups(0)
	require.NoError(t, err)
	require.Equal(t, 2, n, "keys stay what they are")
}

// Dates are read where the column says which of day and month is first, and become those that all read.
func TestDateForms(t *testing.T) {
	for _, c := range []struct {
		dates string
		opt   Options
		want  []string
	}{
		{"8/17/2016;8/7/2016", Options{}, []string{"2016-08-17", "2016-08-07"}},
		{"1.8.2016;17.08.2016 12:30", Options{}, []string{"2016-08-01", "2016-08-17 12:30"}},
		{"17-08-2016 1:02:03.5;18-08-2016", Options{}, []string{"2016-08-17 01:02:03.5", "2016-08-18"}},
		{"8/17/2016 1:30:00 PM;8/7/2016 12:00 am", Options{}, []string{"2016-08-17 13:30:00", "2016-08-07 00:00"}},
		{"8/17/2016 3:45 p.m.;8/7/2016 03:45 a. m.;8/7/2016 12:05:07.5 P.M.", Options{},
			[]string{"2016-08-17 15:45", "2016-08-07 03:45", "2016-08-07 12:05:07.5"}},
		{"8/17/2016 3:45:10\u202fPM;8/7/2016\u00a03 am;8/8/2016", Options{},
			[]string{"2016-08-17 15:45:10", "2016-08-07 03:00", "2016-08-08"}},
		{"2016-08-17 12:00:01 AM;2016/8/17 12:59  pm", Options{}, []string{"2016-08-17 00:00:01", "2016-08-17 12:59"}},
		{"17-Aug-2016 1:00 am +02:00;Aug 17, 2016, 11 PM", Options{}, []string{"2016-08-17 01:00+02:00", "2016-08-17 23:00"}},
		{"17-Aug-2016;3 September 2016", Options{}, []string{"2016-08-17", "2016-09-03"}},
		{"17AUG2016;03SEP2016:12:00:00", Options{}, []string{"2016-08-17", "2016-09-03 12:00:00"}},
		{"Aug 17, 2016;May 1, 2016 10:00", Options{}, []string{"2016-08-17", "2016-05-01 10:00"}},
		{"Aug 2016;September-2016", Options{}, []string{"2016-08-01", "2016-09-01"}},
		{"2016-8-7;2016-08-17 9:05", Options{}, []string{"2016-08-07", "2016-08-17 09:05"}},
		{"1/1/2016;2/2/2016", Options{}, []string{"2016-01-01", "2016-02-02"}},
		{"13. Januar 2024;14. März 2024;1. Mai 2024;2 Dez. 2024", Options{},
			[]string{"2024-01-13", "2024-03-14", "2024-05-01", "2024-12-02"}},
		{"13 janvier 2024;14 févr. 2024;1er août 2024 10:00", Options{}, []string{"2024-01-13", "2024-02-14", "2024-08-01 10:00"}},
		{"1st January 2024;March 22nd, 2024;Mar 3, 2024;Mars 2024", Options{},
			[]string{"2024-01-01", "2024-03-22", "2024-03-03", "2024-03-01"}},
		{"Mon, 01 Jan 2024 00:00:00 GMT;Tuesday, January 2, 2024", Options{}, []string{"2024-01-01 00:00:00GMT", "2024-01-02"}},
		{"2024Q1;2024-Q4;2024 K2;Q3 2024", Options{}, []string{"2024-01-01", "2024-10-01", "2024-04-01", "2024-07-01"}},
		{"2024M01;2024 Feb;12/2024;3/2024", Options{}, []string{"2024-01-01", "2024-02-01", "2024-12-01", "2024-03-01"}},
		{"2020-W53;2021W01;2018-W01-1;2026-W53-7", Options{}, []string{"2020-12-28", "2021-01-04", "2018-01-01", "2027-01-03"}},
		{"20240131T0005Z;20240131 134530.5;20240131T03 +02:00", Options{}, []string{"2024-01-31 00:05Z", "2024-01-31 13:45:30.5",
			"2024-01-31 03:00+02:00"}},
		{"2024-01-31t00:00:00z;2024-01-31 12:00:00,123", Options{}, []string{"2024-01-31 00:00:00Z", "2024-01-31 12:00:00.123"}},
		{"8/7/2016;8/7/2016 10:00 +02:00", Options{Dates: MonthFirst}, []string{"2016-08-07", "2016-08-07 10:00+02:00"}},
		{"8/7/2016;8/8/2016", Options{Dates: DayFirst, Piece: true}, []string{"2016-07-08", "2016-08-08"}},
		{"8/7/2016;NA;?", Options{Dates: DayFirst}, []string{"2016-07-08", "", "?"}},
	} {
		table, err := ReadAs(strings.NewReader("x,y\n\""+strings.ReplaceAll(c.dates, ";", "\",1\n\"")+"\",1\n"), "a.csv", c.opt)
		require.NoError(t, err, c.dates)
		require.Equal(t, c.want, table.Texts[0], c.dates)
		require.Contains(t, strings.Join(table.Remarks(Columns{X: []int{0}}), ""), "which is read as "+c.want[0])
		require.Empty(t, table.Remarks(Columns{X: []int{1}}))
	}
	for dates, want := range map[string]string{
		"8/7/2016;8/8/2016": `a.csv:2:1: not a table of numbers: ` +
			`"8/7/2016" may have the day first or the month: none of the 2 rows has a day above 12`,
		"8/17/2016;17/8/2016": `a.csv:3:1: not a table of numbers: ` +
			`"17/8/2016" has day and month in another order than "8/17/2016" above`,
		"8/17/2016;2/30/2016":   `a.csv:3:1: not a table of numbers: "2/30/2016" is a day that there is not`,
		"8/17/2016;soon":        `a.csv:3:1: not a table of numbers: "soon" is no date like the others`,
		"8/17/16;8/18/16":       "it has a year of two digits",
		"17.08.2016;18/08/16":   `a.csv:3:1: not a table of numbers: "18/08/16" is no date like the others`,
		"17.08-2016;1.1.2016":   "is not a number",
		"8/17/2016 25:00;1":     `a.csv:2:1: not a table of numbers: "8/17/2016 25:00" is a day that there is not`,
		"8/17/2016 13:00 PM;1":  "is not a number",
		"2024Q5;1":              "is not a number, nor a date like 2006-01-02",
		"2021-W53;1":            "is not a number, nor a date like 2006-01-02",
		"2024M13;1":             "is not a number, nor a date like 2006-01-02",
		"13/2024;1":             "is not a number, nor a date like 2006-01-02",
		"2010/11;2011/12":       "is not a number, nor a date like 2006-01-02",
		"Jan-24;1":              "is not a number, nor a date like 2006-01-02",
		"2024-01-31 1:00 CET;1": "is not a number, nor a date like 2006-01-02",
		"8/17/2016 0:30 AM;1":   "is not a number",
		"8/17/2016 3;1":         "is not a number",
		"8/17/2016 3:00 AM;8/17/2016 13:00;8/17/2016 4:00": `a.csv:4:1: not a table of numbers: "8/17/2016 4:00" ` +
			"has neither am nor pm, as others of the column do",
		"17-Foo-2016;1-Jan-2016": "is not a number",
	} {
		table, err := Decode([]byte("x,y\n"+strings.ReplaceAll(dates, ";", ",1\n")+",1\n"), "a.csv")
		require.NoError(t, err, dates)
		_, err = table.Coordinates(0)
		require.ErrorIs(t, err, ErrCell, dates)
		require.ErrorContains(t, err, want, dates)
	}
	for dates, opt := range map[string]Options{"17/8/2016": {Dates: MonthFirst}, "8/17/2016": {Dates: DayFirst},
		"8/17/2017": {Piece: true}} {
		table, err := ReadAs(strings.NewReader("x,y\n"+dates+",1\n"), "a.csv", opt)
		require.NoError(t, err)
		_, err = table.Coordinates(0)
		require.ErrorContains(t, err, "--dates", dates)
	}
	for m, names := range monthNames {
		for name := range strings.FieldsSeq(names) {
			require.Equal(t, m+1, month(name), name)
			for other, names := range monthNames {
				require.Equal(t, m == other, slices.Contains(strings.Fields(names), name), name)
			}
		}
	}
	table, err := Decode([]byte("task,y\n17.08.2016,1\n18.08.2016,1\n"), "a.csv")
	require.NoError(t, err)
	require.Equal(t, "17.08.2016", table.Cell(0, 0), "keys stay what they are")
}

// Rows and columns as R, loggers and instruments write them.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		opt        Options
		x, y       []float64
		note       string
	}{
		{"aligned", "  x     y\n 1.0   2.5\n\n# pause\n10.0  22.5\n", Options{}, []float64{1, 10}, []float64{2.5, 22.5}, ""},
		{"write.table", "\"x\" \"y\"\n\"a \\\"b\\\"\" 21 6\n\"c\" 22.8 4\n", Options{},
			[]float64{21, 22.8}, []float64{6, 4}, "taken as names of rows"},
		{"write.table of commas", "\"x\",\"y\"\n\"1\",1,2\n\"2\",3,4\n", Options{},
			[]float64{1, 3}, []float64{2, 4}, "taken as names of rows"},
		{"spaces and decimal commas", "x y\n1,5 2\n2,5 3\n", Options{}, []float64{1.5, 2.5}, []float64{2, 3}, "which is read as 1.5"},
		{"a comment with names", "# x y\n1 2\n3 4\n", Options{}, []float64{1, 3}, []float64{2, 4}, ""},
		{"bars", "x | y\n1 | 2\n3 | 4\n", Options{}, []float64{1, 3}, []float64{2, 4}, ""},
		{"trailing separators", "x,y\n1,2,\n3,4,\n", Options{}, []float64{1, 3}, []float64{2, 4}, ""},
		{"units", "x,y\nmm,[\u00b0C]\n1,2\n3,4\n", Options{}, []float64{1, 3}, []float64{2, 4}, `taken as units of columns: "mm,[°C]"`},
		{"a logger", "\"TOA5\",\"CR6\",\"1\"\n\"time\",\"n\",\"t\"\n\"TS\",\"RN\",\"C\"\n\"\",\"\",\"Avg\"\n\"1970-01-02 00:00:00\",0,4\n" +
			"\"1970-01-03 00:00:00\",1,5\n", Options{X: []string{"time"}, Y: []string{"t"}}, []float64{1, 2}, []float64{4, 5},
			"skipped 1 line above the header of a.csv\nthe 2 rows below the header of a.csv are taken as units"},
		{"joined", "x,y\n1,2\nx,y\n3,4\n", Options{},
			[]float64{1, 3}, []float64{2, 4}, "skipped 1 row of a.csv that is the header once more"},
		{"an end of zeros", "x,y\n1,2\n3,4\n\x00\x00\x00", Options{}, []float64{1, 3}, []float64{2, 4}, ""},
		{"rows of separators", ";;\nx;y;\n1;2;\n ;;\n3;4;\n;;\n;;;;\n", Options{}, []float64{1, 3}, []float64{2, 4}, ""},
		{"an end of DOS", "x,y\n1,2\n3,4\n\x1a", Options{}, []float64{1, 3}, []float64{2, 4}, ""},
		{"Latin-1", "x,H\xf6he\n1,2\n3,4\n", Options{X: []string{"x"}, Y: []string{"H\u00f6he"}}, []float64{1, 3}, []float64{2, 4},
			"read as Windows-1252, such as \"H\u00f6he\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, y, notes, _ := readAll(t, c.text, c.opt)
			require.Equal(t, c.x, x)
			require.Equal(t, c.y, y)
			require.Contains(t, notes, c.note)
			if c.note == "" {
				require.Empty(t, notes)
			}
		})
	}
	for text, cols := range map[string]int{"1 234\n2 345\n": 1, "a time\n2006-01-02 15:04\n2006-01-02 15:05\n": 1, "x y\n": 1,
		"1 2\n": 2, "x y\n1 234\n": 2} {
		table, err := Decode([]byte(text), "a.csv")
		require.NoError(t, err)
		require.Equal(t, cols, table.Cols, text)
	}
	_, _, _, table := readAll(t, "x,y,kind\nmm,s,\n1,2,a\n3,4,b\n", Options{})
	require.Equal(t, []string{"mm", "s", ""}, table.Units)
	require.Equal(t, []string{"a", "b"}, table.Texts[2])
	require.ErrorContains(t, table.Errorf(0, 1, "why"), "a.csv:3:3: why")
	for _, text := range []string{"x,y\nsoon,1\n2,3\n4,5\n", "x,y\na,b\n1,2\n",
		"Station,A,\nx,y,z\n1,2,3\n4,5,6\n", "x,k\n,a\n1,b\n2,c\n"} {
		table, err := Decode([]byte(text), "a.csv")
		require.NoError(t, err)
		require.Equal(t, strings.Count(text, "\n")-1, table.Rows(), "no row of units: %q", text)
	}
	_, err := Decode([]byte("x y\n1 \"2\n"), "a.csv")
	require.ErrorIs(t, err, ErrCell)
}

// TestDigitsOfDates: inputs that are the digits of dates lie unevenly apart where a day, a month or a year ends, which a note says.
func TestDigitsOfDates(t *testing.T) {
	for text, want := range map[string]string{
		"1871.09 1871.1 1871.11 1871.12 1872.01": "holds numbers such as 1872.01 that look like dates, between which " +
			"distances are no times: write them like 1872-01",
		"1871.09 1871.1 1871.11 1871.13 1872.01": "", "1871.01 1872.01 1873.01 1874.01": "", "2001.04 2001.05 2001.06 2001.07": "",
		"2001.08 2001.081 2001.09 2001.1 2002.01":      "",
		"20240130 20240131 20240201":                   "column x of a.csv holds numbers such as 20240201 that look like dates",
		"2024010122 2024010123 2024010200":             "write them like 2022-12-31 18:00",
		"202401012350 202401012355 202401020000":       "write them like 2022-12-31 18:30",
		"20240101235958 20240101235959 20240102000000": "write them like 2022-12-31 18:30:00",
		"20240130 20240131 20240132":                   "",
		"1704067200 1704070800 1704074400":             "",
		"20240130 20240201":                            "",
	} {
		_, _, notes, _ := readAll(t, "x,y\n"+strings.ReplaceAll(text, " ", ",1\n")+",1\n", Options{})
		if want == "" {
			require.Empty(t, notes, text)
		}
		require.Contains(t, notes, want, text)
	}
}

// TestThousandsByPoints: points that all stand before three digits, beside numbers without, may stand between thousands, which a note says.
func TestThousandsByPoints(t *testing.T) {
	for text, doubt := range map[string]bool{"5.066 -9.080 839 12.345": true, "5.066 9.080 839": false, "5.066 9.080 8.390 1.111": false,
		"5.066 9.08 839 12.345": false, "0.066 9.080 839 12.345 1.234": false, "5.066 9.080 0 12.345 1.234": false,
		"5.066 9.080 839 1234.567 1.234": false, "5.066 9.080 8.390 1000000": false} {
		_, _, notes, _ := readAll(t, "x,y\n1,"+strings.ReplaceAll(text, " ", "\n1,")+"\n", Options{})
		require.Equal(t, doubt, strings.Contains(notes, "column y of a.csv has numbers like 5.066 beside others without a point, "+
			"which is read as decimal: if points stand between thousands, say --decimal ,"), text)
	}
	for _, c := range []struct {
		x   string
		opt Options
	}{{"1.5", Options{}}, {"1", Options{Decimal: '.'}}} {
		_, _, notes, _ := readAll(t, "x,y\n"+c.x+",5.066\n2,9.080\n3,839\n4,12.345\n", c.opt)
		require.Empty(t, notes)
	}
	_, y, _, _ := readAll(t, "x,y\n1,5.066\n2,839\n", Options{Decimal: ','})
	require.Equal(t, []float64{5066, 839}, y)
}

// A number far from all others, which often stands for missing ones, is pointed out, and stays.
func TestSentinels(t *testing.T) {
	for text, want := range map[string]string{
		"-9999 1 2 -9999 3": "column y of a.csv holds -9999 in 2 rows, far from all other values",
		"-9999 1 2 3":       "holds -9999 in 1 row,", "-99.9 1 20 3": "", "999 990 999 985": "",
		"99999 1 99999 8848": "holds 99999", "-99 -40 -99 30": "", "-99 -20 -99 30": "holds -99",
		"-9999 -9999": "", "-9999 5 -9999 5": "", "1e20 1 2 1e20": "holds 1e+20",
	} {
		_, y, notes, _ := readAll(t, "x,y\n1,"+strings.ReplaceAll(text, " ", "\n1,")+"\n", Options{})
		require.Len(t, y, len(strings.Fields(text)))
		if want == "" {
			require.Empty(t, notes, text)
		}
		require.Contains(t, notes, want, text)
	}
}

// TestWeekdays: the name of a day tells which of day and month is first, and one that is wrong is pointed out.
func TestWeekdays(t *testing.T) {
	for cells, want := range map[string]string{
		"Wed 03/01/2024;Thu 04/01/2024": "2024-01-03", "Fri, 03/01/2024;Mon, 04/01/2024": "2024-03-01",
		"Mi. 3.1.2024;Do. 4.1.2024": "2024-01-03", "Sunday Jan 7, 2024;Monday Jan 8, 2024": "2024-01-07", "sam. 30 déc. 2023": "2023-12-30",
		"Wed 31/12/1969;Thu 1/1/1970": "1969-12-31", "Wed 31.1.2024 01:00 +02:00": "2024-01-31 01:00+02:00",
		"Mon Jan 3, 2024;Mon Jan 8, 2024": `"Mon Jan 3, 2024" is a Wednesday`,
		"Wed 03/01/2024;Wed 04/01/2024":   `"Wed 04/01/2024" is on another day of the week`, "Mo 13.1.2024": `"Mo 13.1.2024" is on another`,
		"Thu 01/02/2024;Thu 02/01/2024": "has day and month in another order than",
		"Wed 03/01/2024;Mon 04/01/2024": "has day and month in another order than"} {
		table, err := Decode([]byte("t,y\n\""+strings.ReplaceAll(cells, ";", "\",1\n\"")+"\",1\n"), "a.csv")
		require.NoError(t, err)
		if want[0] == '1' || want[0] == '2' {
			require.Equal(t, want, table.Cell(0, 0), cells)
			continue
		}
		_, err = table.Coordinates(0)
		require.ErrorContains(t, err, want, cells)
	}
}
