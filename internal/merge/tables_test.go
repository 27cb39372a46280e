package merge_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/merge"
	"github.com/equivcnp/equivcnp/internal/shards"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// part is a file of predictions, and the manifest's name of what was predicted.
type part struct {
	name, out string
	table     *tabular.Table
}

// join writes the parts, joins them into a file of the name, and reads that.
func join(t *testing.T, name string, parts ...part) (*tabular.Table, error) {
	dir := t.TempDir()
	m := &shards.Merged{Kind: "predict"}
	for i, p := range parts {
		f, err := os.Create(filepath.Join(dir, p.out))
		require.NoError(t, err)
		require.NoError(t, tables.Write(f, p.out, p.table, []int{1}))
		require.NoError(t, f.Close())
		result, err := json.Marshal(map[string]any{"columns": p.table.Header, "inputs": []string{"time"}})
		require.NoError(t, err)
		m.Records = append(m.Records, shards.Record{Line: i + 1, Name: p.name, Out: p.out, Result: result})
	}
	out := filepath.Join(dir, "joined")
	if err := merge.Join(out, name, dir, m); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(out)
	require.NoError(t, err)
	all, err := tables.Decode(b, name, []string{"file", "station", "time", "y_mean"})
	require.NoError(t, err)
	return all, nil
}

// hours is a table of one station, whose times are in the unit.
func hours(unit, calendar string, times ...float64) *tabular.Table {
	station, mean := make([]float64, len(times)), make([]float64, len(times))
	for i := range times {
		station[i], mean[i] = 7, float64(i)/2
	}
	t := tabular.Of([]tabular.Column{{Name: "station", Values: station}, {Name: "time", Unit: unit, Values: times},
		{Name: "y_mean", Values: mean, Single: true}})
	t.Calendars = []string{"", calendar, ""}
	return t
}

// TestJoinUnits: times of files that count from different days, or in different units, are those of the first one's clock, and what
// has no clock in common is not put into one column.
func TestJoinUnits(t *testing.T) {
	const january, february = "hours since 2020-01-01", "minutes since 2020-02-01 12:00"
	for _, name := range []string{"all.nc", "all.parquet"} {
		all, err := join(t, name, part{"a.nc", "0-a.nc", hours(january, "", 0, 6, 12)},
			part{"b.nc", "1-b.nc", hours(february, "", 0, 60, 180)})
		require.NoError(t, err)
		at, err := all.Index("time")
		require.NoError(t, err)
		require.Equal(t, january, all.Units[at])
		require.Equal(t, []float64{0, 6, 12, 756, 757, 759}, all.Take(at))
	}
	_, err := join(t, "all.nc", part{"a.nc", "0-a.nc", hours("hours since 2020-01-01", "noleap", 0, 6)},
		part{"b.nc", "1-b.nc", hours("hours since 2020-02-01", "noleap", 0, 6)})
	require.ErrorContains(t, err, `line 2: 1-b.nc: column "time"`)
	_, err = join(t, "all.nc", part{"a.nc", "0-a.nc", hours("m", "", 0, 6)}, part{"b.nc", "1-b.nc", hours("km", "", 0, 6)})
	require.ErrorContains(t, err, `line 2: 1-b.nc: column "time" is in "km", in the tables before it in "m": without --out they stay apart`)

	all, err := join(t, "all.nc", part{"a.nc", "0-a.nc", hours("days since 2020-01-01", "noleap", 58, 59)},
		part{"b.nc", "1-b.nc", hours("days since 2020-01-01", "noleap", 60, 61)})
	require.NoError(t, err)
	at, err := all.Index("time")
	require.NoError(t, err)
	require.Equal(t, "noleap", all.Calendars[at])
}

// TestJoinIdentifiers: whole numbers beyond 2^53 keep their digits.
func TestJoinIdentifiers(t *testing.T) {
	ids := func(texts ...string) *tabular.Table {
		out := hours("", "", make([]float64, len(texts))...)
		for row, text := range texts {
			out.Values[row*out.Cols] = 9007199254740992
			out.SetExact(row, 0, text)
		}
		return out
	}
	all, err := join(t, "all.csv", part{"a.csv", "0-a.csv", ids("9007199254740993")}, part{"b.csv", "1-b.csv", hours("", "", 1)},
		part{"c.csv", "2-c.csv", ids("9007199254740995", "9007199254740997")})
	require.NoError(t, err)
	var got []string
	for row := range all.Rows() {
		got = append(got, all.Cell(row, 1))
	}
	require.Equal(t, []string{"9007199254740993", "7", "9007199254740995", "9007199254740997"}, got)
}

// TestJoinNames: the column of files tells files of one name in several folders apart.
func TestJoinNames(t *testing.T) {
	files := func(names ...string) []string {
		var parts []part
		for i, name := range names {
			parts = append(parts, part{name, string(rune('0'+i)) + ".csv", hours("", "", 1)})
		}
		all, err := join(t, "all.csv", parts...)
		require.NoError(t, err)
		return all.Texts[0]
	}
	require.Equal(t, []string{"a.csv", "b.csv"}, files("days/a.csv", "days/b.csv"))
	require.Equal(t, []string{"2019/a.csv", "2020/a.csv", "2020/b.csv"}, files("2019/a.csv", "2020/a.csv", "2020/b.csv"))
}
