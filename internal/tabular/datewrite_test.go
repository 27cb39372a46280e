package tabular

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Times in a unit are dates where they are coordinates, and numbers where they got the unit of others, or beside them.
func TestDatedUnits(t *testing.T) {
	in := Of([]Column{{Name: "t", Unit: "hours since 2000-01-01", Values: []float64{0, 36}}})
	numbers := Of([]Column{{Name: "t", Values: []float64{1, 2}}})
	for _, c := range []struct {
		like func(t *Table)
		want string
	}{{func(t *Table) { t.InheritUnit(0, in, 0) }, "1"}, {func(t *Table) { t.InheritDates(0, in, 0) }, "2000-01-01 01:00:00"}} {
		own := *numbers
		c.like(&own)
		var out strings.Builder
		require.NoError(t, Write(&out, own.With(Column{Name: "std", Unit: in.Units[0], Values: []float64{3, 4}}), ','))
		require.True(t, strings.HasPrefix(out.String(), "t,std\n"+c.want+",3\n"), out.String())
		require.Equal(t, in.Units[0], own.Units[0])
	}
	require.Equal(t, "2000-01-02 12:00:00", in.Dated(0)(1))
	for _, none := range []Column{{Unit: "hours since 2000-01-01", Values: []float64{-1e7}}, {Unit: "m", Values: []float64{1}},
		{Unit: "hours since 2000-01-01", Values: []float64{1}, Single: true}, {Unit: "months since 2000-01-01", Values: []float64{1}}} {
		require.Nil(t, Of([]Column{none}).Dated(0), none)
	}
}

// Numbers that are dates are written as the dates of another table are, with as many digits as the longest needs, and read back.
func TestInheritDates(t *testing.T) {
	const noon = 19844.5 // 2024-05-01 12:00
	second := 1 / 86400.
	for _, c := range []struct {
		name, like string
		days       []float64
		want       string
	}{
		{"dates", "2024-01-01\n2024-02-03", []float64{19844, math.NaN(), 19875}, "2024-05-01 NaN 2024-06-01"},
		{"slashes", "2024/01/01", []float64{19844}, "2024/05/01"},
		{"hours between dates", "2024-01-01", []float64{19844, noon}, "2024-05-01 00:00:00,2024-05-01 12:00:00"},
		{"months", "2024-01\n2024-02", []float64{19844, 19875}, "2024-05,2024-06"},
		{"days between months", "2024-01", []float64{19844, 19845}, "2024-05-01,2024-05-02"},
		{"months and days", "2024-01\n2024-02-01", []float64{19844}, "2024-05-01"},
		{"minutes", "2024-01-01 00:00", []float64{19844, noon}, "2024-05-01 00:00,2024-05-01 12:00"},
		{"seconds between minutes", "2024-01-01 00:00", []float64{noon, noon + second}, "2024-05-01 12:00:00,2024-05-01 12:00:01"},
		{"letters", "2024-01-01T00:00:00Z", []float64{noon}, "2024-05-01T12:00:00Z"},
		{"a zone", "2024-01-01 00:00:00+02:00", []float64{noon}, "2024-05-01 14:00:00+02:00"},
		{"a zone's name", "2024-01-01 00:00:00 UTC", []float64{noon}, "2024-05-01 12:00:00 UTC"},
		{"a letter and a zone's name", "2024-01-01T00:00 GMT", []float64{noon}, "2024-05-01T12:00 GMT"},
		{"a zone of half hours", "2024-01-01 00:00 -0330", []float64{19844}, "2024-04-30 20:30 -0330"},
		{"daylight saving", "2024-03-30 23:00:00+01:00\n2024-03-31 05:00:00+02:00", []float64{noon}, "2024-05-01 12:00:00+00:00"},
		{"milliseconds", "2024-01-01 00:00:00.123Z", []float64{noon, noon + 0.02*second},
			"2024-05-01 12:00:00.00Z,2024-05-01 12:00:00.02Z"},
		{"microseconds", "2024-01-01 00:00:00.1", []float64{noon + 3e-6*second}, "2024-05-01 12:00:00.000003"},
		{"before 1970", "2024-01-01", []float64{-1.25}, "1969-12-30 18:00:00"},
		{"rounded up to a day", "2024-01-01", []float64{math.Nextafter(19844, 0)}, "2024-05-01"},
		{"no year of four digits", "2024-01-01", []float64{1, 1e7}, "1,1e+07"},
		{"no dates", "a", []float64{1}, "1"},
	} {
		like, err := Read(strings.NewReader("t,y\n"+strings.ReplaceAll(c.like, "\n", ",1\n")+",1\n"), "a.csv")
		require.NoError(t, err, c.name)
		table := Of([]Column{{Name: "t", Values: c.days}})
		table.InheritDates(0, like, 0)
		again := Of([]Column{{Name: "t", Values: c.days}})
		again.InheritDates(0, table.Only([]int{0}, []string{"t"}).With(Column{Name: "y", Values: c.days}), 0)
		for _, table := range []*Table{table, again} {
			var out strings.Builder
			require.NoError(t, Write(&out, table, ','))
			want := "t\n" + strings.NewReplacer(" NaN ", "\nNaN\n", ",", "\n").Replace(c.want) + "\n"
			require.Equal(t, strings.ReplaceAll(want, "1e+07", "10000000"), out.String(), c.name)
			if c.name == "no dates" || strings.Contains(c.want, "1e+07") || strings.Contains(c.want, "NaN") {
				continue
			}
			read, err := Read(strings.NewReader(out.String()), "b.csv")
			require.NoError(t, err, c.name)
			days, err := read.Coordinates(0)
			require.NoError(t, err, c.name)
			require.InDeltaSlice(t, c.days, days, 1e-11, c.name)
		}
	}
}
