package mappoints

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSeries(t *testing.T) {
	for name, c := range map[string]struct {
		text      string
		opt       Options
		want      Series
		ahead     []float64 // the first of them
		note, err string
	}{
		"dates": {text: "date,sales\n1970-03-01,3\n1970-01-01,1\n1970-02-01,2\n",
			want: Series{Points: [][2]float64{{0, 1}, {31, 2}, {59, 3}}, Dates: true, Step: "1 month",
				Columns: [2]string{"date", "sales"}},
			ahead: []float64{90, 120}},
		"numbers, decimal commas": {text: "0,5;1,5\n1;2,5\n1,5;\n", opt: Options{Decimal: ","},
			want: Series{Points: [][2]float64{{.5, 1.5}, {1, 2.5}}, Step: "0.5", Columns: [2]string{"1", "2"}}, ahead: []float64{1.5, 2},
			note: "1 row of t without a value, left out"},
		"the first dates, the first numbers": {text: "shop,sold,day,price\na,5,2/1/1970,1\na,6,3/1/1970,1\n", opt: Options{Dates: "dmy"},
			want:  Series{Points: [][2]float64{{1, 5}, {2, 6}}, Dates: true, Step: "1 day", Columns: [2]string{"day", "sold"}},
			ahead: []float64{3}, note: "time is column day, and the value is column sold: Columns can name others"},
		"a name that is a time's": {text: "value,year\n5,1990\n6,1991\n",
			want:  Series{Points: [][2]float64{{1990, 5}, {1991, 6}}, Step: "1", Columns: [2]string{"year", "value"}},
			ahead: []float64{1992}, note: "time is column year"},
		"columns that are asked for": {text: "a,b,c\n1,2,3\n2,4,5\n", opt: Options{Columns: "c, a"},
			want: Series{Points: [][2]float64{{3, 1}, {5, 2}}, Step: "2", Columns: [2]string{"c", "a"}}, ahead: []float64{7}},
		"uneven": {text: "t,y\n0,1\n1,1\n3,1\n9,1\n",
			want:  Series{Points: [][2]float64{{0, 1}, {1, 1}, {3, 1}, {9, 1}}, Step: "2", Columns: [2]string{"t", "y"}},
			ahead: []float64{11}, note: "rows are not evenly spaced"},
		"numbers that are dates": {text: "t,y\n202211,1\n202212,2\n202301,3\n",
			want: Series{Points: [][2]float64{{202211, 1}, {202212, 2}, {202301, 3}}, Columns: [2]string{"t", "y"}},
			note: "column t of t holds numbers such as 202301 that look like dates, between which distances are no times: " +
				"write them like 2022-12"},
		"one time, twice": {text: "t,y\n4,1\n4,2\n", want: Series{Points: [][2]float64{{4, 1}, {4, 2}}, Columns: [2]string{"t", "y"}}},
		"one column":      {text: "y\n1\n", err: "need two columns, time and value, and not 1"},
		"texts":           {text: "t,y\na,b\n", err: "no column of numbers besides that of times"},
		"no values":       {text: "t,y\n1,\n", err: "no column of numbers besides that of times"},
		"three are asked": {text: "t,y\n1,2\n", opt: Options{Columns: "t,y,y"}, err: `columns "t,y,y": need two, time and value`},
		"no table":        {text: "", err: "t: no rows: need some of time and value"},
		"too many":        {text: strings.Repeat("1,2\n", MaxPoints+1), err: "has 2001 rows with a value: this page takes 2000 at most"},
		"too close": {text: "t,y\n1,100000000.5\n2,100000001\n3,100000002\n",
			err: "t:2:3: y has a standard deviation of 0.624 around 100000001, which is too little for float32"},
		"beyond float32": {text: "t,y\n1,1e39\n", err: "1e+39 is beyond float32"},
	} {
		t.Run(name, func(t *testing.T) {
			c.opt.Name = "t"
			s, err := ReadSeries([]byte(c.text), c.opt)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				require.NotContains(t, err.Error(), "--")
				return
			}
			require.NoError(t, err)
			require.Contains(t, strings.Join(s.Notes, "; "), c.note)
			if c.ahead == nil {
				require.Empty(t, s.Ahead)
			} else {
				require.Len(t, s.Ahead, MaxAhead)
				require.Equal(t, c.ahead, s.Ahead[:len(c.ahead)])
			}
			s.Ahead, s.Notes = nil, nil
			require.Equal(t, c.want, *s)
		})
	}
}

// TestSeriesOfFiles: whatever a visitor drops is a series or an error in the page's words.
func TestSeriesOfFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	read := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		if s, err := ReadSeries(b, Options{Name: file}); err != nil {
			require.NotContains(t, err.Error(), "--", file)
		} else {
			require.NotEmpty(t, s.Points, file)
			read++
		}
	}
	require.Greater(t, read, len(files)/3)
}
