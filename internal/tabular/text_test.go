package tabular

import (
	"encoding/binary"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// wide is a text in UTF-16, with a byte order mark or without.
func wide(text string, order binary.AppendByteOrder, mark bool) string {
	units := utf16.Encode([]rune(text))
	if mark {
		units = append([]uint16{0xfeff}, units...)
	}
	var b []byte
	for _, u := range units {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

func TestReadTexts(t *testing.T) {
	comma := Options{Decimal: ','}
	xy := []string{"x", "y"}
	for _, c := range []struct {
		name, text string
		opt        Options
		header     []string
		values     []float64
	}{
		{"CR", "x,y\r1,2\r3,4\r", Options{}, xy, []float64{1, 2, 3, 4}},
		{"CR without an end", "x,y\r1,2", Options{}, xy, []float64{1, 2}},
		{"UTF-16 LE", wide("x,y\r\n1,2\r\n", binary.LittleEndian, true), Options{}, xy, []float64{1, 2}},
		{"UTF-16 BE", wide("x;y\n1;2\n", binary.BigEndian, true), Options{}, xy, []float64{1, 2}},
		{"UTF-16 LE without a mark", wide("x,y\n1,2\n", binary.LittleEndian, false), Options{}, xy, []float64{1, 2}},
		{"UTF-16 BE without a mark", wide("x,y\n1,2\n", binary.BigEndian, false), Options{}, xy, []float64{1, 2}},
		{"sep=;", "sep=;\nx;y\n1;2\n", Options{}, xy, []float64{1, 2}},
		{"sep=|", "sep=|\r\nx|y\r\n1|2\r\n", Options{}, xy, []float64{1, 2}},
		{"decimal commas", "x;y\n1,5;-2,5e-1\n", comma, xy, []float64{1.5, -0.25}},
		{"decimal commas and tabs", "1,5\t2\n", comma, nil, []float64{1.5, 2}},
		{"decimal commas in quotes", "x,y\n\"1,5\",\"2,25\"\n", comma, xy, []float64{1.5, 2.25}},
		{"German thousands", "x;y\n1.234,5;12.345\n", comma, xy, []float64{1234.5, 12345}},
		{"thousands", "x;y\n1,234.5;1,234,567\n", Options{}, xy, []float64{1234.5, 1234567}},
		{"thousands with a point for sure", "x;y\n1,234;2\n", Options{Decimal: '.'}, xy, []float64{1234, 2}},
		{"thousands apart", "x;y\n1 234,5;1\u202f234\n", comma, xy, []float64{1234.5, 1234}},
		{"Swiss thousands", "x;y\n1'234.5;-1’234’567\n", Options{}, xy, []float64{1234.5, -1234567}},
		{"a comment that is the header", "# made by hand\n# y,x\n1,2\n", Options{}, []string{"y", "x"}, []float64{1, 2}},
		{"a comment of savetxt", "# y;x\n1;2\n", Options{}, []string{"y", "x"}, []float64{1, 2}},
		{"a comment above a header", "# a,b\nx,y\n1,2\n", Options{}, xy, []float64{1, 2}},
		{"a comment of prose", "# made by hand, 2020\n1,2\n", Options{}, nil, []float64{1, 2}},
		{"a comment of other length", "# a, b, c\n1,2\n", Options{}, nil, []float64{1, 2}},
		{"a comment that names one twice", "# a, a\n1,2\n", Options{}, nil, []float64{1, 2}},
		{"SEP=;", "SEP=;\nx;y\n1;2\n", Options{}, xy, []float64{1, 2}},
		{"what spreadsheets write is no comment", "x,y\n#N/A,1\n#NAME,2\n#NA,4\n", Options{}, xy,
			[]float64{math.NaN(), 1, math.NaN(), 4}},
		{"missing", "x,y\n<NA>,null\nn/a,1\n", Options{}, xy, []float64{math.NaN(), math.NaN(), math.NaN(), 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ReadAs(strings.NewReader(c.text), "data.csv", c.opt)
			require.NoError(t, err)
			require.Equal(t, c.header, got.Header)
			require.True(t, testkit.SameBits(c.values, got.Values), "%v", got.Values)
			for i, x := range c.values {
				if x == x {
					require.Empty(t, got.Text(i/got.Cols, i%got.Cols))
				}
			}
		})
	}
}

// Keys are told apart by all their digits, and other columns are numbers.
func TestKeyColumns(t *testing.T) {
	for _, c := range []struct {
		text  string
		opt   Options
		tasks int
	}{
		{"Task,x\n0.12345678901234567891,1\n0.12345678901234567892,2\n", Options{}, 2},
		{"station,x\n0.12345678901234567891,1\n0.12345678901234567892,2\n", Options{Keys: []string{"station"}}, 2},
		{"station,x\n0.12345678901234567891,1\n0.12345678901234567892,2\n", Options{}, 1},
		{"station,x\n2023552585717263358,1\n2023552585717263359,2\n", Options{}, 2},
		{"station;x\n2 023 552 585 717 263 358;1\n2 023 552 585 717 263 359;2\n2023552585717263359;3\n", Options{}, 2},
		{"station;x\n1,5;1\n1,50;2\n", Options{Decimal: ','}, 1},
	} {
		table, err := ReadAs(strings.NewReader(c.text), "a.csv", c.opt)
		require.NoError(t, err)
		_, n, err := table.Groups(0)
		require.NoError(t, err)
		require.Equal(t, c.tasks, n, c.text)
	}
	table, err := ReadAs(strings.NewReader("x;y\n1,5;0,10000000000000000555\n1 234;2\n"), "a.csv", Options{Decimal: ','})
	require.NoError(t, err)
	require.Nil(t, table.Exact, "numbers are written as such")
	require.Equal(t, "1.5", table.Cell(0, 0))
	_, err = Decode([]byte("\xff\xfe\x00\x00x\x00\x00\x00"), "a.csv")
	require.ErrorContains(t, err, "UTF-32")
}

func TestNoNumbers(t *testing.T) {
	for _, cell := range []string{"1_12", "0x10", "0x1p-2", "1e5_0", "infinity", "1,234", "12,34,567", "1,2345", "1.234,5",
		"1 23", "1.2.3", "--1", "", "1e", ",5", "1,234,56"} {
		_, err := Options{}.number(cell)
		require.Error(t, err, cell)
	}
	for _, cell := range []string{"1.5", "1.2345,6", "1,2,3"} {
		_, err := Options{Decimal: ','}.number(cell)
		require.Error(t, err, cell)
	}
}

// Keys are text or whole numbers, never float64.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		name string
		ids  []string
		want []int
	}{
		{"long ids", []string{"2023552585717263358", "2023552585717263359", "2023552585717263358"}, []int{0, 1, 0}},
		{"beyond int64", []string{"20235525857172633581", "20235525857172633582"}, []int{0, 1}},
		{"negative", []string{"-9007199254740993", "-9007199254740992"}, []int{0, 1}},
		{"with fractions", []string{"9007199254740993.0", "9007199254740993", "9007199254740992"}, []int{0, 0, 1}},
		{"with zeros", []string{"009007199254740993", "9007199254740993"}, []int{0, 1}},
		{"of places", []string{"00501", "501", "0501", "00501", "0", "00"}, []int{0, 1, 2, 0, 3, 4}},
		{"underscores", []string{"1_12", "11_2", "112"}, []int{0, 1, 2}},
		{"hexadecimal", []string{"0x10", "16"}, []int{0, 1}},
		{"one number", []string{"1", "1.0", "+1", "1e0"}, []int{0, 0, 0, 0}},
		{"long fractions", []string{"0.12345678901234567891", "0.12345678901234567892"}, []int{0, 1}},
		{"text beside numbers", []string{"a", "1", "a", "1"}, []int{0, 1, 0, 1}},
		{"spaces", []string{"12 345", "12345"}, []int{0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, err := Decode([]byte("task;x\n"+strings.Join(c.ids, ";0\n")+";0\n"), "a.csv")
			require.NoError(t, err)
			require.NoError(t, table.Check())
			got, _, err := table.Groups(0)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	for _, name := range []string{"10_task_ids", "11_task_underscore"} {
		table, err := ReadFile(testkit.Shared(t, "cases", name+".csv"))
		require.NoError(t, err)
		_, n, err := table.Groups(0)
		require.NoError(t, err)
		require.Equal(t, 2, n)
	}
	table, err := Decode([]byte("id\n2023552585717263359\n"), "a.csv")
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, Write(&b, table.With(Column{"m", "", []float64{1}, false}), ','))
	require.Equal(t, "id,m\n2023552585717263359,1\n", b.String())
	b.Reset()
	ids := "task,x\n2023552585717263358,1\n2023552585717263400,2\n-1000000000000000000,3\n9007199254740992,4\n"
	round, err := Decode([]byte(ids), "a.csv")
	require.NoError(t, err)
	require.NoError(t, Write(&b, round, ','))
	require.Equal(t, ids, b.String())
	b.Reset()
	zeros, err := Decode([]byte("task\n007\n"), "a.csv")
	require.NoError(t, err)
	require.NoError(t, Write(&b, zeros, ','))
	require.Equal(t, "task\n007\n", b.String())
}

// Files without an end are errors after some megabytes.
func TestReadBounded(t *testing.T) {
	defer func(n int) { maxRecord = n }(maxRecord)
	maxRecord = 1 << 18
	if zero, err := os.Open("/dev/zero"); err == nil {
		_, err = Read(zero, "zero")
		require.ErrorIs(t, err, ErrCell)
		zero.Close()
	}
	for start, line := range map[string]string{"x,y\n": "1,2,", "x,y\n\"": "1,\n", "": "abc"} {
		_, err := Read(io.MultiReader(strings.NewReader(start), &endless{line: line}), "a.csv")
		require.ErrorIs(t, err, ErrCell)
		require.ErrorContains(t, err, "without a line's end")
	}
	_, err := Read(strings.NewReader("# 5\" pipe\n"+strings.Repeat("1,2\n", maxRecord/3)), "a.csv")
	require.NoError(t, err)
}

type endless struct {
	line string
	at   int
}

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = e.line[e.at%len(e.line)]
		e.at++
	}
	return len(b), nil
}

func TestDays(t *testing.T) {
	for text, want := range map[string]float64{
		"1970-01-02": 1, "1970-02": 31,
		"2000-01-01": 10957, "2000/01/01": 10957, "2000-01-01T06:00:00Z": 10957.25, "2000-01-01 06:00": 10957.25,
		"2000-01-01 06:00:00.5":     10957.25 + 0.5/86400,
		"2000-01-01T08:00:00+02:00": 10957.25, "2000-01-01 06:00:00+00:00": 10957.25, "2000-01-01T08:00:00+0200": 10957.25,
		"2000-01-01T08:00:00+02":        10957.25,
		"2000-01-01 08:00:00.000 +0200": 10957.25, "2000-01-01 06:00:00 UTC": 10957.25, "2000-01-01T08:00+02:00": 10957.25,
		"1999-12-31T22:00:00-08:00": 10957.25,
		"1999-12-31 24:00":          10957, "2000-02-29T24:00:00Z": 11017, "1999-12-31T24:00+02:00": 10957 - 2./24,
	} {
		got, ok := Days(text)
		require.True(t, ok, text)
		require.InDelta(t, want, got, 1e-9, text)
	}
	for _, text := range []string{"", "2020", "2020-1", "2020-13", "2020/01", "2020-001",
		"01/02/2020", "2020-13-01", "2020-01-02 00:00:00 EST", "2020-01-02x",
		"2020-01-02 1", "20200102", "2020-01-02 24:01", "2020-01-02 24:00:01", "2020-01-02 24:00:00.5", "2020-01-02 25:00",
		"2020-02-30 24:00", "2020-01-02T00:00:00+02:0"} {
		_, ok := Days(text)
		require.False(t, ok, text)
	}
	for _, text := range []string{"t\n2020-01-01\n2020\n", "t\n2020\n2020-01-01\n"} {
		table, err := Decode([]byte(text), "a.csv")
		require.NoError(t, err)
		_, err = table.Coordinates(0)
		require.ErrorContains(t, err, "2020 is a number in a column of dates")
	}
	for text, want := range map[string]string{
		"t\n2020-01-01\n2020-02-30\n":    `a.csv:3:1: not a table of numbers: "2020-02-30" in a column of dates is none`,
		"t\nsoon\n2020-01-01\n2020\n":    `a.csv:2:1: not a table of numbers: "soon" in a column of dates is none`,
		"t\n2020-02-30\nnow\n2020-2-3\n": `a.csv:3:1: not a table of numbers: "now" is no date like the others`,
	} {
		table, err := Decode([]byte(text), "a.csv")
		require.NoError(t, err)
		_, err = table.Coordinates(0)
		require.ErrorContains(t, err, want)
	}
}

func TestClock(t *testing.T) {
	for _, c := range []struct {
		unit, calendar, date string
		want                 float64
	}{
		{"hours since 2000-01-01 00:00:00", "", "2000-01-02", 24},
		{"days since 1970-01-01", "gregorian", "2000-01-01", 10957},
		{"Seconds since 2000-1-1 0:0:0", "standard", "2000-01-02", 86400},
		{"minutes since 2000-01-01T12:00Z", "proleptic_gregorian", "2000-01-02", 720},
		{"hours since 2000-01-01 00:00:00 +02:00", "", "2000-01-01", 2},
		{"hours since 2000-01-01 00:00:00.0 UTC", "", "2000-01-01", 0},
		{"hours since 1-1-1 00:00:00", "proleptic_gregorian", "1970-01-01", 719162 * 24},
		{"hours since 1-1-1 00:00:00", "standard", "1970-01-01", 719164 * 24}, // NCEP's, two days from the proleptic calendar
		{"days since 1582-10-15", "", "1582-10-16", 1},
		{"days since 1582-10-04", "", "1582-10-15", 1},
	} {
		clock, err := ParseClock(c.unit, c.calendar)
		require.NoError(t, err, c.unit)
		days, ok := Days(c.date)
		require.True(t, ok)
		require.InDelta(t, c.want, clock.Of(days), 1e-6, c.unit)
		require.InDelta(t, days, clock.Days(clock.Of(days)), 1e-6)
	}
	for _, unit := range []string{"", "K", "degrees_north", "m s-1"} {
		clock, err := ParseClock(unit, "360_day")
		require.NoError(t, err)
		require.Nil(t, clock)
	}
	for _, c := range [][2]string{{"days since 2000-01-01", "360_day"}, {"days since 2000-01-01", "noleap"},
		{"days since 2000-01-01", "martian"}, {"months since 2000-01-01", ""},
		{"days since yesterday", ""}, {"days since 2000-13-01", ""}, {"years since 2000-01-01", ""},
		{"days since 2000-02-30", ""}, {"days since 1900-02-29", "proleptic_gregorian"}, {"hours since 1582-10-10", ""},
		{"days since 0000-01-01", ""}, {"days since -4712-01-01 12:00:00", "proleptic_gregorian"}} {
		_, err := ParseClock(c[0], c[1])
		require.ErrorIs(t, err, ErrCell, "%v", c)
	}
	_, err := ParseClock("days since 1500-02-29", "") // a day of the Julian calendar
	require.NoError(t, err)
}

// A date from before the calendars part is not one that the file's clock knows.
func TestClockOfOldDates(t *testing.T) {
	file := &Table{Name: "a.nc", Cols: 1, Header: []string{"t"}, Values: []float64{1}, Units: []string{"days since 1500-01-01"}}
	for calendar, ok := range map[string]bool{"": false, "proleptic_gregorian": true} {
		file.Calendars = []string{calendar}
		targets, err := Decode([]byte("t\n1582-10-14\n"), "t.csv")
		require.NoError(t, err)
		err = targets.SetClock(0, file, 0)
		require.Equal(t, ok, err == nil, "%v", err)
		targets, err = Decode([]byte("t\n1582-10-15\n"), "t.csv")
		require.NoError(t, err)
		require.NoError(t, targets.SetClock(0, file, 0))
		clock, err := file.Clock(0)
		require.NoError(t, err)
		days, _ := Days("1582-10-14")
		_, err = clock.At(days)
		require.Equal(t, ok, err == nil, "%v", err)
		v, err := clock.At(days + 1)
		require.NoError(t, err)
		require.Equal(t, clock.Of(days+1), v)
	}
}

// TestTitledLogger: the header below a title is found by names that have commas, in quotes, as HOBO's loggers write them.
func TestTitledLogger(t *testing.T) {
	text := "\ufeff\"Plot Title: Site 7\"\n\"#\",\"Date Time, GMT-05:00\",\"Temp, °C (S/N: 11)\",\"Intensity, Lux\"\n" +
		"1,01/13/2024 03:45:00 PM,21.5,\"1,234.5\"\n2,01/13/2024 04:45:00 PM,20.5,900.0\n"
	opt := Options{X: []string{"Date Time, GMT-05:00"}, Y: []string{"Intensity, Lux"}}
	table, err := ReadAs(strings.NewReader(text), "a.csv", opt)
	require.NoError(t, err)
	c, err := table.Find(Want{X: opt.X, Y: opt.Y})
	require.NoError(t, err)
	require.Equal(t, "2024-01-13 15:45:00", table.Text(0, c.X[0]))
	require.Equal(t, []float64{1234.5, 900}, table.Take(c.Y...))
}

// TestTabsByName: in a file called .tsv a comma in the header does not separate.
func TestTabsByName(t *testing.T) {
	text := "x\tTemp, °C\ty\n1\t2,5\t3\n2\t2,7\t4\n"
	for name, columns := range map[string]int{"a.tsv": 3, "a.TSV.gz after row 5": 3, "a.tsvx": 2} {
		table, err := ReadAs(strings.NewReader(text), name, Options{})
		require.NoError(t, err)
		require.Equal(t, columns, table.Cols, name)
	}
	table, err := ReadAs(strings.NewReader("x,y\n1,2\n"), "a.tsv", Options{})
	require.NoError(t, err)
	require.Equal(t, 2, table.Cols)
}

// TestColumnsByNumber: a row whose cells are the numbers that --x and --y give columns is no header, below which the rows begin.
func TestColumnsByNumber(t *testing.T) {
	table, err := ReadAs(strings.NewReader("x,y\n5,6\n1,2\n7,8\n"), "a.csv", Options{X: []string{"1"}, Y: []string{"2"}})
	require.NoError(t, err)
	require.Equal(t, []string{"x", "y"}, table.Header)
	require.Equal(t, []float64{5, 6, 1, 2, 7, 8}, table.Values)
	table, err = ReadAs(strings.NewReader("about\n2018,2019\n5,6\n"), "a.csv", Options{X: []string{"2018"}, Y: []string{"2019"}})
	require.NoError(t, err)
	require.Equal(t, []float64{5, 6}, table.Values, "these are no numbers of columns")
}
