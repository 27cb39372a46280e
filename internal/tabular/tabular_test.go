package tabular

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, text string
		header     []string
		cols       int
		values     []float64
	}{
		{"plain", "1,2\n3,4\n", nil, 2, []float64{1, 2, 3, 4}},
		{"no newline at the end", "1,2\n3,4", nil, 2, []float64{1, 2, 3, 4}},
		{"header", "x,y\n1,2\n", []string{"x", "y"}, 2, []float64{1, 2}},
		{"header with spaces", " x , y \n1,2\n", []string{"x", "y"}, 2, []float64{1, 2}},
		{"quoted", "\"time, s\",y\n\"1\",\"2\"\n", []string{"time, s", "y"}, 2, []float64{1, 2}},
		{"blank lines", "\n\nx,y\n\n1,2\n   \n\t\n3,4\n\n", []string{"x", "y"}, 2, []float64{1, 2, 3, 4}},
		{"carriage returns", "x,y\r\n1,2\r\n\r\n3,4\r\n", []string{"x", "y"}, 2, []float64{1, 2, 3, 4}},
		{"byte order mark", "\ufeff1,2\n", nil, 2, []float64{1, 2}},
		{"comments", "# made by hand\nx,y\n#1,2\n3,4\n", []string{"x", "y"}, 2, []float64{3, 4}},
		{"forms of numbers", " +1.5 ,-2e-3\n.5,1E3\n", nil, 2, []float64{1.5, -2e-3, .5, 1000}},
		{"duplicates stay", "1,2\n1,2\n", nil, 2, []float64{1, 2, 1, 2}},
		{"semicolons", "x;y\n1;2\n", []string{"x", "y"}, 2, []float64{1, 2}},
		{"semicolons after comments", "# a,b\n\n1 ; 2\n", nil, 2, []float64{1, 2}},
		{"tabs", "time\tx\n1\t 2 \n", []string{"time", "x"}, 2, []float64{1, 2}},
		{"commas and tabs", "1,\t2\n3\t,4\n", nil, 2, []float64{1, 2, 3, 4}},
		{"a quoted semicolon", "\"a;b\",c\n1,2\n", []string{"a;b", "c"}, 2, []float64{1, 2}},
		{"one column", "x\n1\n2\n", []string{"x"}, 1, []float64{1, 2}},
		{"empty", "", nil, 0, nil},
		{"blank lines only", "\n \n\n", nil, 0, nil},
		{"header only", "x,y\n", []string{"x", "y"}, 2, nil},
		{"an index without a name", ",x,y\n0,1,2\n", []string{"", "x", "y"}, 3, []float64{0, 1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Read(strings.NewReader(c.text), "data.csv")
			require.NoError(t, err)
			require.Equal(t, Table{Name: "data.csv", Header: c.header, Cols: c.cols, Values: c.values, places: got.places}, *got)
			require.Len(t, got.places, len(c.header)+len(c.values))
		})
	}
}

// Cells that are text or missing read, and are refused by whoever needs numbers there.
func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"letters", "x,y\n1,2\n3,four\n", `data.csv:3:3: not a table of numbers: "four" is not a number`},
		{"letters after blank lines", "\n\n1,2\n\n3,four\n", `data.csv:5:3: `},
		{"letters in the first row", "1,two\n", `data.csv:1:3: not a table of numbers: "two" is not a number`},
		{"a table below", "x,y\n1,2\n\na,b\n3,4\n", `data.csv:4:1: not a table of numbers: "a" is not a number: the row has texts alone`},
		{"a wider table below", "x,y\n1,2\n\na,b,c\n", `this row has 3 cells, the first has 2: does another table begin here?`},
		{"lines above", "a station\nx,y\n1,2\n", `this row has 2 cells, the first has 1: lines above a table begin with #`},
		{"a sum", "x,y\n1,2\nTotal,2\n", `"Total" is not a number: leave out the last row if it is a sum or a mean`},
		{"names of rows that are none", "x,y\n7,1,2\n7,3,4\n", `data.csv:2:1: not a table of numbers: rows have 3 cells, the header has 2`},
		{"blank cell", "x,y\n1,\n", `data.csv:2:3: not a table of numbers: the cell is missing, and must not be, in column "y"`},
		{"blank cells", "1,2,3\n , ,1\n", `the cell is missing`},
		{"blank first cell", ",2\n", `data.csv:1:1: not a table of numbers: the cell is missing`},
		{"nan", "1,NaN\n", `data.csv:1:3: not a table of numbers: the cell is missing`},
		{"NA", "1,NA\n", `data.csv:1:3: not a table of numbers: the cell is missing`},
		{"inf", "1,-inf\n", `"-inf" is not a finite number`},
		{"beyond float64", "1,1e999\n", `"1e999" is beyond the range of numbers`},
		{"short row", "x,y\n1,2\n3\n", `data.csv:3:1: not a table of numbers: this row has 1 cell, the first has 2`},
		{"long row", "1,2\n3,4,5\n", `data.csv:2:5: not a table of numbers: this row has 3 cells, the first has 2`},
		{"quote", "1,2\n3,\"4\n", `data.csv:2:`},
		{"decimal commas", "x;y\n1,5;2.5\n", `data.csv:2:1: not a table of numbers: "1,5" is not a number: decimals need a point`},
		{"a blank cell between tabs", "1\t\t2\n", `data.csv:1:3: not a table of numbers: the cell is missing`},
		{"long text", "1," + strings.Repeat("a", 5000) + "\n", `aaaa"... is not a number`},
		{"binary", "1,2\n\x00\x01,\xff\xfe\n", `is not a number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Read(strings.NewReader(c.text), "data.csv")
			if err == nil {
				all := make([]int, got.Cols)
				for i := range all {
					all[i] = i
				}
				_, err = got.Numbers(false, all...)
			}
			require.ErrorIs(t, err, ErrCell)
			require.ErrorContains(t, err, c.want)
			require.Less(t, len(err.Error()), 200)
		})
	}
}

func TestReadFile(t *testing.T) {
	_, err := ReadFile(filepath.Join(t.TempDir(), "none.csv"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = ReadFile(t.TempDir()) // a folder opens, but does not read
	require.Error(t, err)
	path := filepath.Join(t.TempDir(), "d.csv")
	require.NoError(t, os.WriteFile(path, []byte("1,2"), 0o600))
	got, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, got.Rows())
}

func TestTake(t *testing.T) {
	tab := &Table{Cols: 3, Values: []float64{1, 2, 3, 4, 5, 6}}
	require.Equal(t, []float64{1, 4}, tab.Take(0))
	require.Equal(t, []float64{3, 2, 6, 5}, tab.Take(2, 1))
	require.Empty(t, (&Table{}).Take(0))
}

// Columns are found by the header's names wherever there is a header, and by order only without one.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Want
		x, y, rest []int
	}{
		{"in another order", "y,x\n1,2\n", Want{Dx: 1, Dy: 1}, []int{1}, []int{0}, nil},
		{"numbered", "y1,task,x2,x1\n1,2,3,4\n", Want{}, []int{3, 2}, []int{0}, []int{1}},
		{"capitals", "X,Y\n1,2\n", Want{Dx: 1, Dy: 1}, []int{0}, []int{1}, nil},
		{"named", "temp,time,x\n1,2,3\n", Want{X: []string{"time"}, Y: []string{"temp"}, Dx: 1, Dy: 1}, []int{1}, []int{0}, []int{2}},
		{"one named", "temp,x\n1,2\n", Want{Y: []string{"temp"}}, []int{1}, []int{0}, nil},
		{"by number", "1,2\n", Want{X: []string{"2"}, Y: []string{"1"}}, []int{1}, []int{0}, nil},
		{"no header", "1,2,3\n", Want{Dx: 2, Dy: 1}, []int{0, 1}, []int{2}, nil},
		{"no header, nothing known", "1,2\n", Want{}, []int{0}, []int{1}, nil},
		{"targets", "x\n1\n", Want{Dx: 1, Dy: 1, OnlyX: true}, []int{0}, nil, nil},
		{"targets with truth", "y,x\n1,2\n", Want{Dx: 1, Dy: 1, OnlyX: true}, []int{1}, []int{0}, nil},
		{"targets, the truth named and not there", "t\n1\n", Want{X: []string{"t"}, Y: []string{"v"}, Dx: 1, Dy: 1, OnlyX: true},
			[]int{0}, nil, nil},
		{"targets without a header", "1\n", Want{X: []string{"2"}, Dx: 1, Dy: 1, OnlyX: true}, []int{0}, []int{}, nil},
		{"nothing", "", Want{Dx: 1, Dy: 1}, nil, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab, err := Read(strings.NewReader(c.text), "data.csv")
			require.NoError(t, err)
			got, err := tab.Find(c.want)
			require.NoError(t, err)
			require.Equal(t, Columns{X: c.x, Y: c.y, Rest: c.rest}, got)
		})
	}
	for _, c := range []struct {
		name, text string
		want       Want
		words      string
	}{
		{"two inputs", "x1,x2,y\n1,2,3\n", Want{Dx: 1, Dy: 2},
			`data.csv:1:1: the columns do not fit: header "x1,x2,y": 2 columns of x, the model needs 1`},
		{"other names", "# c\ntime,temp\n1,2\n", Want{Dx: 1, Dy: 1},
			`data.csv:2:1: the columns do not fit: header "time,temp": it has no column x or x1`},
		{"no outputs", "x\n1\n", Want{Dx: 1, Dy: 1}, "it has no column y or y1"},
		{"both", "x,x1,y\n1,2,3\n", Want{}, "it has both x and x1"},
		{"twice", "x,y,y\n1,2,3\n", Want{}, `it has two columns "y"`},
		{"taken twice", "x,y\n1,2\n", Want{X: []string{"x"}, Y: []string{"x"}}, "column 1 is taken twice"},
		{"a name that is not there", "x,y\n1,2\n", Want{Y: []string{"z"}}, `it has no column "z"`},
		{"targets with one of two outputs", "x,u\n1,2\n", Want{Y: []string{"u", "v"}, OnlyX: true},
			`it has no column "v", but column "u": targets have the values of all outputs`},
		{"an empty name", "x,y\n1,2\n", Want{Y: []string{"", ""}}, `it has no column ""`},
		{"an empty list of inputs", "x,y\n1,2\n", Want{X: []string{}}, "the list of columns of x is empty"},
		{"an empty list of outputs", "x,y\n1,2\n", Want{Y: []string{}}, "the list of columns of y is empty"},
		{"empty lists without a header", "1,2\n", Want{X: []string{}, Y: []string{}}, "the list of columns of x is empty"},
		{"three without a header", "1,2,3\n", Want{Dx: 1, Dy: 1},
			"data.csv:1:1: the columns do not fit: 3 columns without a header: the model needs 1 of x, then 1 of y"},
		{"three, and nothing known", "1,2,3\n", Want{}, "which are x and which y?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab, err := Read(strings.NewReader(c.text), "data.csv")
			require.NoError(t, err)
			_, err = tab.Find(c.want)
			require.ErrorIs(t, err, ErrColumns)
			require.ErrorContains(t, err, c.words)
		})
	}
}

// What Write writes reads back bit for bit, and float32 columns are as short as float32 values can be.
func TestWriteRoundTrip(t *testing.T) {
	in := &Table{Header: []string{"x", "mean"}, Cols: 2, Single: []bool{false, true}, Values: []float64{
		0.1, float64(float32(0.1)), math.Pi, float64(float32(math.Pi)), -5e-324, 0, math.MaxFloat64, -1,
	}}
	var b bytes.Buffer
	require.NoError(t, Write(&b, in, ','))
	require.Contains(t, b.String(), "x,mean\n0.1,0.1\n")
	out, err := Read(&b, "back")
	require.NoError(t, err)
	require.Equal(t, in.Header, out.Header)
	for i, v := range in.Values {
		got := out.Values[i]
		if i%2 == 1 {
			got = float64(float32(got))
		}
		require.Equal(t, math.Float64bits(v), math.Float64bits(got), "value %d", i)
	}
}

// Text and missing cells stay what they are, and dates become days where they are coordinates.
func TestMixedColumns(t *testing.T) {
	const text = "station,date,t2m\nA,1970-01-02,1\nB,1970-01-03T12:00,\nA,1971-01-01 00:00:00,3\n"
	tab, err := Read(strings.NewReader(text), "data.csv")
	require.NoError(t, err)
	x, err := tab.Coordinates(1)
	require.NoError(t, err)
	require.Equal(t, []float64{1, 2.5, 365}, x)
	y, err := tab.Numbers(true, 2)
	require.NoError(t, err)
	require.Equal(t, []float64{1, 3}, []float64{y[0], y[2]})
	require.True(t, math.IsNaN(y[1]))
	group, n, err := tab.Groups(0)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 0}, group)
	require.Equal(t, 2, n)
	_, err = tab.Coordinates(0)
	require.ErrorContains(t, err, `data.csv:2:1: not a table of numbers: "A" is not a number`)
	_, _, err = tab.Groups(2)
	require.ErrorContains(t, err, "data.csv:3:20: ")

	more := tab.With(Column{Name: "mean", Values: []float64{0.5, math.NaN(), 0.25}})
	var b bytes.Buffer
	require.NoError(t, Write(&b, more, ','))
	require.Equal(t, "station,date,t2m,mean\nA,1970-01-02,1,0.5\nB,1970-01-03T12:00,,\nA,1971-01-01 00:00:00,3,0.25\n", b.String())
	require.Equal(t, []string{"t2m", "station"}, more.Only([]int{2, 0}, []string{"a", "b"}).Header)
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }
func (failing) Read([]byte) (int, error)  { return 0, errors.New("disk gone") }

func TestStreamErrors(t *testing.T) {
	require.ErrorContains(t, Write(failing{}, &Table{Header: []string{"x"}, Cols: 1, Values: make([]float64, 1<<14)}, ','), "disk full")
	_, err := Read(failing{}, "tape")
	require.ErrorContains(t, err, "tape: disk gone")
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"x;y\n1;2", "1\t\t2", "", "x,y\n1,2\n", "1,\n", "\"", "\ufeff", "#\n1", "1,2\n3", "1e400", " \n,\n",
		"x y\n\"a \\\"\" 1\n", "x|y\n1|2,5\n", "x,y\n8/17/2016,66%\n17-Aug-2016,5%",
		"x;y\nmm;s\n1,5;$ 1.234,5\n2;3\n4;5\n", "x,y\na,1,2\nb,3,4\nx,y",
		"x,y\n1,2,\n\x00\x1a", "x;H\xf6he\n\u22121D+02;1\xa0234,5\n2;3", "x y\n8/7/2016 -9999\n13/7/2016 -9999\n1.1.2016 1\n2.1.2016 2",
		"lat,lon\n48.85N,2\u00b021'E\n-,0\u00b0W\n", "t,y\n2024Q1,5.066\n2024 K2,839\n1/2024,1.111\nW,1.222\n",
		"\ufeff\"Title, a\"\n\"a, b\",y\n1/31/2024 3:45 PM,1e30\n1/1/2024 12 am,2\n1/2/2024 1:00,3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Read(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		if err := got.Check(); err != nil {
			t.Fatal(err)
		}
		if c, err := got.Find(Want{}); err == nil {
			got.Take(c.X...)
			got.Extra(c)
			got.Remarks(c)
			_, _ = got.Coordinates(c.X...)
		}
		for c := range got.Cols {
			got.IsText(c)
			_, _ = got.Coordinates(c)
		}
		for row := range got.Rows() {
			for c := range got.Cols {
				got.Cell(row, c)
			}
		}
		if got.Rows()*got.Cols != len(got.Values) {
			t.Fatalf("%d rows of %d columns hold %d values", got.Rows(), got.Cols, len(got.Values))
		}
		for i, v := range got.Values {
			if math.IsInf(v, 0) {
				t.Fatalf("value %d is %v", i, v)
			}
		}
	})
}

// TestOnlyExact: keys keep their digits in a table of some of the columns, and of some of the rows.
func TestOnlyExact(t *testing.T) {
	table, err := ReadAs(strings.NewReader("site,y\n007,1\n7,2\n12345678901234567890,3\n"), "t.csv", Options{Keys: []string{"site"}})
	require.NoError(t, err)
	part := table.Only([]int{1, 0}, []string{"a", "b"}).Rearranged([]int{2, 0, 1}).With(Column{Name: "z", Values: []float64{4, 5, 6}})
	var b bytes.Buffer
	require.NoError(t, Write(&b, part, ','))
	require.Equal(t, "y,site,z\n3,12345678901234567890,4\n1,007,5\n2,7,6\n", b.String())
}
