package tabular

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// joinedTimes are the times that names join of a table of text, as they are written, with spaces between them.
func joinedTimes(t *testing.T, text string, x ...string) (times string, table *Table, err error) {
	t.Helper()
	table, err = ReadAs(strings.NewReader(text), "a.csv", Options{X: x, Y: []string{"y"}})
	require.NoError(t, err)
	names, err := table.Join(x)
	if err != nil {
		return "", table, err
	}
	c, err := table.Find(Want{X: names, Y: []string{"y"}})
	require.NoError(t, err)
	require.Len(t, c.X, 1)
	_, err = table.Coordinates(c.X...)
	var cells []string
	for row := range table.Rows() {
		cells = append(cells, table.Text(row, c.X[0]))
	}
	return strings.Join(cells, " | "), table, err
}

// TestJoin: a date and a time of day in two columns are one time, and so are numbers of years, months and so on that a name joins.
func TestJoin(t *testing.T) {
	for _, c := range []struct {
		text, x, want string
	}{
		{"Date,Time,y\n2024-01-31,9:05,1\n2024-02-01,23:59:30.5,2\n", "Date,Time", "2024-01-31 09:05:00 | 2024-02-01 23:59:30.5"},
		{"Date,Time,y\n2024-01-31,9:05,1\n2024-02-01,24:00,2\n", "Date+Time", "2024-01-31 09:05:00 | 2024-02-02 00:00:00"},
		{"y,Time,Date\n1,09:05,17.08.2016\n2,10:05,18.08.2016\n", "date + time", "2016-08-17 09:05:00 | 2016-08-18 10:05:00"},
		{"Date,Time,y\n8/17/2016,12:05 AM,1\n8/17/2016,3:45:10 p.m.,2\n8/18/2016,12 pm,3\n", "Date,Time",
			"2016-08-17 00:05:00 | 2016-08-17 15:45:10 | 2016-08-18 12:00:00"},
		{"Y,M,D,t,y\n2024,2,29,7:30\u202fPM,1\n", "Y+M+D+t", "2024-02-29 19:30:00"},
		{"lines above\nDate,Time,y\n2024-01-31,9:05,1\n", "Date+Time", "2024-01-31 09:05:00"},
		{"Date,Hour,y\n2024-12-31,0,1\n2024-12-31,24,2\n", "Date+Hour", "2024-12-31 00:00:00 | 2025-01-01 00:00:00"},
		{"Date,T,y\n2024-12-31,0,1\n2024-12-31,0.75,2\n", "Date+T", "2024-12-31 00:00:00 | 2024-12-31 18:00:00"},
		{"Year,Month,y\n2024,1,1\n2024,12,2\n", "Year+Month", "2024-01-01 | 2024-12-01"},
		{"Year,Month,Day,y\n2024,2,29,1\n2023,12,31,2\n", "Year+Month+Day", "2024-02-29 | 2023-12-31"},
		{"Y,M,D,h,m,s,y\n2024,2,29,23,59,59.25,1\n", "Y+M+D+h+m+s", "2024-02-29 23:59:59.25"},
		{"Year,Quarter,y\n2023,4,1\n2024,2,2\n", "Year+Quarter", "2023-10-01 | 2024-04-01"},
		{"Year,Qtr,y\n2023,Q4,1\n2024,q2,2\n", "Year+Qtr", "2023-10-01 | 2024-04-01"},
		{"Year,Month,y\n2023,Dec,1\n2024,february,2\n", "Year+Month", "2023-12-01 | 2024-02-01"},
		{"Y,M,D,t,y\n2024,2,29,7:30,1\n", "Y+M+D+t", "2024-02-29 07:30:00"},
	} {
		got, table, err := joinedTimes(t, c.text, strings.Split(c.x, ",")...)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, got)
		found, err := table.Find(Want{X: []string{strings.ReplaceAll(c.x, ",", "+")}, Y: []string{"y"}})
		require.NoError(t, err)
		require.Empty(t, table.Extra(found), "the parts are read")
		require.Contains(t, strings.Join(table.Remarks(found), "\n"), "are read as one time, such as ")
	}
	table, err := Decode([]byte("2024-01-31,9:05,1\n2024-02-01,10:00,2\n"), "a.csv")
	require.NoError(t, err)
	names, err := table.Join([]string{"1", "2"})
	require.NoError(t, err)
	require.Equal(t, []string{"1+2"}, names)
	c, err := table.Find(Want{X: names, Y: []string{"3"}})
	require.NoError(t, err)
	require.Equal(t, []int{0}, c.X)
	require.Equal(t, "2024-02-01 10:00:00", table.Text(1, 0))

	same := "a+b,Date,Time,y\n1,2024-01-31,9,1\n2,2024-01-31,8,2\n"
	table, err = Decode([]byte(same), "a.csv")
	require.NoError(t, err)
	for _, x := range [][]string{{"a+b", "y"}, {"Date", "Time"}, {"none", "1"}, {"1+"}, nil} {
		names, err := table.Join(x)
		require.NoError(t, err)
		require.Equal(t, x, names, "no times of day")
	}
	require.Equal(t, "2024-01-31", table.Text(0, 1))
	require.Equal(t, []string{"x", "d+t", "d", "t"}, Parts([]string{"x", "d+t"}))
}

// TestTextInput: a column of texts among inputs is an auxiliary input, perhaps, unless it is a slip among numbers.
func TestTextInput(t *testing.T) {
	table, err := Decode([]byte("x,k,y\n1,red,3\nA,blue,4\n3,red,5\n"), "a.csv")
	require.NoError(t, err)
	_, err = table.Coordinates(1)
	require.ErrorContains(t, err, `a.csv:2:3: not a table of numbers: "red" is not a number: a column of texts, such as kinds, `+
		"is none of inputs, but --aux takes it")
	_, err = table.Coordinates(0)
	require.NotContains(t, err.Error(), "--aux")
	_, err = table.Numbers(true, 1)
	require.NotContains(t, err.Error(), "--aux", "an output")
}

// TestJoinErrors: parts that are no times are named by line and column.
func TestJoinErrors(t *testing.T) {
	for _, c := range []struct {
		text, x, want string
	}{
		{"Y,M,y\n2024,13,1\n", "Y+M", "a.csv:2:6: not a table of numbers: Y+M: 13 is no month"},
		{"Year,Quarter,y\n2024,5,1\n", "Year+Quarter", "a.csv:2:6: not a table of numbers: Year+Quarter: 5 is no quarter"},
		{"Year,Day,y\n2024,5,1\n", "Year+Day", `Year+Day: column "Day" stands where the month belongs`},
		{"Year,Week,y\n2024,5,1\n", "Year+Week", `column "Week" stands where the month belongs`},
		{"Day,Month,Year,y\n5,3,2024,1\n", "Day+Month+Year", `column "Day" stands where the year belongs`},
		{"Date,Minutes,y\n2024-01-01,5,1\n", "Date+Minutes", `column "Minutes" stands where the hour belongs`},
		{"Year,Quarter,Day,y\n2024,3,5,1\n", "Year+Quarter+Day", `column "Quarter" stands where the month belongs`},
		{"Y,M,y\n24,1,1\n", "Y+M", "24 is no year"}, {"Y,M,y\n2024,1.5,1\n", "Y+M", "1.5 is no month"},
		{"Y,M,D,y\n2023,2,29,1\n", "Y+M+D", "there is no day 2023-02-29"},
		{"Date,Hour,y\n2024-12-31,25,1\n", "Date+Hour", "a.csv:2:12: not a table of numbers: Date+Hour: 25 is no hour"},
		{"Date,Time,y\n2024-12-31,24:30,1\n", "Date,Time", "there is no time of day after 24:00"},
		{"Date,Time,y\n2024-12-31,13:00 PM,1\n", "Date,Time",
			`a.csv:2:12: not a table of numbers: Date+Time: "13:00 PM" is no time of day`},
		{"Date,Time,y\n2024-12-31,1:00 PM,1\n2024-12-31,2:00,1\n", "Date,Time",
			`a.csv:3:12: not a table of numbers: Date+Time: "2:00" has neither am nor pm, as others of the column do`},
		{"Date,Time,y\n2024-12-31,morning,1\n", "Date+Time", `"morning" is no hour`},
		{"Date,Time,y\n2024-12-31 10:00,10:00,1\n", "Date+Time", "is no date like 2006-01-02, which a time of day can follow"},
		{"Date,Time,y\n2024-12-31,,1\n", "Date+Time", "the cell is missing, and must not be"},
		{"Date,Time,y\n2024-12-31,1:00,1\n", "Date+Hour", `it has no column "Hour"`},
		{"Date,Time,y\n2024-12-31,1:00,1\n", "Date+Date", `joins column "Date" twice`},
		{"a,b,c,d,e,y\n2024-12-31,1,1,1,1,1\n", "a+b+c+d+e", "joins 5 columns"},
	} {
		_, _, err := joinedTimes(t, c.text, strings.Split(c.x, ",")...)
		require.ErrorContains(t, err, c.want, c.text)
		require.True(t, errors.Is(err, ErrCell) || errors.Is(err, ErrColumns))
	}
}

// FuzzJoin joins columns of any text: what is joined is a time, or missing.
func FuzzJoin(f *testing.F) {
	for _, s := range [][2]string{{"d,t,y\n2024-01-31,9:05,1\n", "d,t"},
		{"2024,1,31\n2024,2,30\n", "1+2+3"}, {"d,h\n1/31/2024,0.5\n,\n", "d+h"},
		{"d,h\n9999-12-31,24\n", "d+h"}, {"a,b,c,d,e,f\n9998,12,31,24,0,0\n", "a+b+c+d+e+f"}, {"a,b\n1e300,NaN\n", "b+a"},
		{"d,t,y\n8/31/2024,12:05 AM,1\n8/31/2024,3:45:10 p.m.,1\n", "d,t"}, {"d,t\n8/31/2024,12 am\n8/31/2024,3:45\n", "d+t"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, text, x string) {
		names := strings.Split(x, ",")
		table, err := ReadAs(strings.NewReader(text), "f", Options{X: names})
		if err != nil {
			return
		}
		before := map[string]int{}
		for _, name := range names {
			before[name], _ = table.column(name)
		}
		joined, err := table.Join(names)
		if err != nil {
			return
		}
		require.NoError(t, table.Check())
		for _, name := range joined {
			k, err := table.column(name)
			if was, asked := before[name]; err != nil || k < 0 || asked && was >= 0 {
				continue
			}
			for row := range table.Rows() {
				_, isTime := Days(table.Text(row, k))
				require.True(t, isTime || table.Text(row, k) == "", "%q", table.Text(row, k))
			}
		}
	})
}
