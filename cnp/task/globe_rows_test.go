package task

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDegrees: latitude and longitude that changed places are refused by the columns' names, since most longitudes would pass for
// latitudes; others by line.
func TestDegrees(t *testing.T) {
	opt := CSVOptions{X: []string{"Lon", "latitude"}, Y: []string{"t"}}
	for _, c := range []struct {
		text, want string
		x          []string
		degrees    bool
	}{
		{"t,Lon,latitude\n1,9,46\n", "", []string{"latitude", "Lon"}, true},
		{"t,Lon,latitude\n1,9,46\n", "", opt.X, false},
		{"t,Lon,latitude\n1,9,46\n", "x.csv:1:3: the columns do not fit: on the globe the latitude comes first, and then the longitude: " +
			"latitude,Lon", opt.X, true},
		{"t,Lon,latitude\n1,9,46\n", "latitude,Lon", []string{"2", "3"}, true},
		{"t,u,v\n1,-90,9\n,90,540\n", "", []string{"u", "v"}, true},
		{"t,u,v\n1,46,9\n,7,120\n1,-90.5,9\n", "x.csv:4:3: not usable as data: latitude -90.5: need -90 to 90 degrees",
			[]string{"u", "v"}, true},
		{"t,u,v\n", "no rows", []string{"u", "v"}, true},
		{"t,u\n1,100\n", "", []string{"u"}, true},
	} {
		_, err := ReadCSV(save(t, "x.csv", []byte(c.text)), CSVOptions{X: c.x, Y: opt.Y, Degrees: c.degrees})
		if c.want == "" {
			require.NoError(t, err, c.text)
		} else {
			require.ErrorContains(t, err, c.want)
		}
	}
	_, err := ReadCSV(save(t, "x.csv", []byte("46,9,1\n")), CSVOptions{Dx: 2, Dy: 1, Degrees: true}) // no header
	require.NoError(t, err)
}
