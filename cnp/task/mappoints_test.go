package task

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/mappoints"
)

// TestPagesTables: the points that the server's page takes from a table are those that tasks of the program have of the same columns.
func TestPagesTables(t *testing.T) {
	files, err := filepath.Glob("../../internal/mappoints/testdata/*")
	require.NoError(t, err)
	compared := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		page, err := mappoints.Read(b, mappoints.Options{Name: file})
		if err != nil {
			continue
		}
		set, err := DecodeCSV(bytes.NewReader(b), file, CSVOptions{X: page.Columns[:2], Y: page.Columns[2:]})
		require.NoError(t, err, file)
		var own [][3]float64
		for _, c := range set.Curves {
			for i, y := range c.Y {
				own = append(own, [3]float64{c.X[2*i], c.X[2*i+1], y})
			}
		}
		require.Equal(t, own, page.Points, file)
		compared++
	}
	require.Greater(t, compared, 20)
}
