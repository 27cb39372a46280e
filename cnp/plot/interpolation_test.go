package plot

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/interpolate"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
)

// TestAxes: what Interpolation cannot draw is known before anything is fitted.
func TestAxes(t *testing.T) {
	csv := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(csv, []byte("a,b,c,y\n1,2,3,1\n1,3,4,2\n1,5,6,3\n"), 0o600))
	for name, c := range map[string]struct {
		x, aux []string
		want   [2]int
		err    string
	}{
		"a curve":              {x: []string{"a"}, want: [2]int{0, 1}},
		"a curve with another": {x: []string{"b"}, aux: []string{"c"}, want: [2]int{0, 1}},
		"a map":                {x: []string{"b", "c"}, want: [2]int{0, 1}},
		"a map with another":   {x: []string{"a", "b"}, aux: []string{"c"}, err: "nobody knows c at all places of the map"},
		"a plane":              {x: []string{"b", "a", "c"}, want: [2]int{0, 2}},
	} {
		columns := tabletask.Columns{X: c.x, Y: []string{"y"}, Aux: c.aux}
		in, err := interpolate.Read(&tabletask.Options{CSV: csv, Targets: csv, Columns: columns}, false)
		require.NoError(t, err, name)
		axes, err := Axes(in)
		if c.err != "" {
			require.EqualError(t, err, c.err, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.want, axes, name)
	}
}
