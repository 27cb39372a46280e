package interpolate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/tabletask"
)

// TestDistances: inputs of different kinds, and the globe taken for a plane, are pointed out.
func TestDistances(t *testing.T) {
	csv := filepath.Join(t.TempDir(), "t.csv")
	for _, c := range []struct {
		text   string
		x      []string
		sphere bool
		units  bool
		want   string // in the only note, none if empty
	}{
		{"east,north,y\n0,0,1\n700,900,2\n", []string{"east", "north"}, false, false, ""},
		{"east,north,y\n0,0,1\n700,9,2\n", []string{"east", "north"}, false, false, "east extends over 700 and north over 9"},
		{"east,north,y\n0,0,1\n700,9,2\n", []string{"east", "north"}, false, true, ""},
		{"east,north,y\n0,5,1\n700,5,2\n", []string{"east", "north"}, false, false, ""}, // on one line
		{"east,day,y\n0,2024-01-01,1\n9,2024-01-09,2\n", []string{"east", "day"}, false, false, "day has times and east has not"},
		{"from,to,y\n2024-01-01,2024-01-01,1\n2024-01-02,2024-01-09,2\n", []string{"from", "to"}, false, false, ""},
		{"day,y\n2024-01-01,1\n2024-01-09,2\n", []string{"day"}, false, false, ""},
		{"lat,lon,y\n0,-179,1\n9,179,2\n80,0,1\n", []string{"lat", "lon"}, false, true, "lat and lon are taken for a plane"},
		{"Longitude,LAT,y\n0,61,1\n9,55,2\n", []string{"Longitude", "LAT"}, false, false, "LAT and Longitude are taken for a plane"},
		{"lat,lon,y\n0,-179,1\n9,179,2\n80,0,1\n", []string{"lat", "lon"}, true, false, ""},
		{"lat,lon,y\n40,5,1\n49,15,2\n", []string{"lat", "lon"}, false, false, ""},
	} {
		require.NoError(t, os.WriteFile(csv, []byte(c.text), 0o600))
		input := &tabletask.Options{CSV: csv, Targets: csv}
		input.X, input.Y = c.x, []string{"y"}
		in, err := Read(input, c.sphere)
		require.NoError(t, err, c.text)
		notes := in.Distances(c.units)
		if c.want == "" {
			require.Empty(t, notes, c.text)
			continue
		}
		require.Len(t, notes, 1, c.text)
		require.Contains(t, notes[0].String(), c.want)
	}
}
