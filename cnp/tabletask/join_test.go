package tabletask

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestJoinedColumns: the columns of a date and a time of day are one input of the table, of its targets and of pieces of these.
func TestJoinedColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	text := "Date,Time,y\n2024-01-31,9:05,1\n2024-02-01,23:59,2\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	c := &Columns{X: []string{"Date", "Time"}, Y: []string{"y"}}
	for range 2 {
		got, err := c.ReadTable(path, nil)
		require.NoError(t, err)
		require.Equal(t, []string{"Date+Time"}, c.X)
		require.Equal(t, "Date+Time", got.Header[0])
	}
	piece, err := c.Decode([]byte("Date,Time\n2024-02-01,7:00\n"), "piece.csv")
	require.NoError(t, err)
	require.Equal(t, "2024-02-01 07:00:00", piece.Text(0, 0))
	piece, err = c.Decode([]byte("Date+Time\n2024-02-01 07:00:00\n"), "own.csv") // as predictions are written
	require.NoError(t, err)
	require.Equal(t, "2024-02-01 07:00:00", piece.Text(0, 0))
	c = &Columns{X: []string{"Date+Hour"}}
	_, err = c.ReadTable(path, nil)
	require.ErrorContains(t, err, `it has no column "Hour"`)
	require.ErrorContains(t, err, "say which columns to take")
}
