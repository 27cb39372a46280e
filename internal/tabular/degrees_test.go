package tabular

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDegrees: latitudes and longitudes with letters, and angles with the sign of degrees, are numbers; south and west are negative.
func TestDegrees(t *testing.T) {
	for text, want := range map[string][]float64{
		"lat;48.85N;33.9 S;N 12;S7,5":                   {48.85, -33.9, 12, -7.5},
		"Longitude;2.35E;70.6W;180W":                    {2.35, -70.6, -180},
		"place;48°51'N;47°30'36\"N;12°00'00.36″S;12° N": {48.85, 47.51, -12.0001, 12},
		"where;2°21’36.0''E;W 70° 30.5′;0° E":           {2.36, -70 - 30.5/60, 0},
		"angle;-10.5°;+3°;−7º 30′;359°":                 {-10.5, 3, -7.5, 359},
	} {
		cells := strings.Split(text, ";")
		cells[0] += ",y"
		for i, cell := range cells[1:] {
			cells[i+1] = `"` + strings.ReplaceAll(cell, `"`, `""`) + `",1`
		}
		table, err := Decode([]byte(strings.Join(cells, "\n")+"\n"), "a.csv")
		require.NoError(t, err)
		got, err := table.Coordinates(0)
		require.NoError(t, err, text)
		require.InDeltaSlice(t, want, got, 1e-12, text)
		require.Contains(t, strings.Join(table.Remarks(Columns{X: []int{0}}), ""), "has degrees like ")
	}
	table, err := Decode([]byte("lat,y\n48.85N,1\n,2\n-,3\n"), "a.csv")
	require.NoError(t, err)
	v, err := table.Numbers(true, 0)
	require.NoError(t, err)
	require.Equal(t, 48.85, v[0])
	require.NotEqual(t, v[1], v[1])
	for _, text := range []string{"power;100W;20W", "lat;48N;2E", "lat;91N", "latitude;2E", "lon;2N", "lon;181E",
		"lat;48°60'N", "lat;48.5°30'N", "lat;-48N", "lat;N48S",
		"lat;48N;47", "x;48", "lat;48°N;north"} {
		table, err := Decode([]byte(strings.ReplaceAll(strings.Replace(text, ";", ",y\n", 1), ";", ",1\n")+",1\n"), "a.csv")
		require.NoError(t, err)
		require.NotContains(t, strings.Join(table.Remarks(Columns{X: []int{0}}), ""), "has degrees like ", text)
	}
	table, err = Decode([]byte("a,y\n48N,1\n47N,1\n"), "a.csv")
	require.NoError(t, err)
	_, err = table.Coordinates(0)
	require.ErrorContains(t, err, `a.csv:2:1: not a table of numbers: "48N" is not a number: degrees are read in a column of nothing but`)
	require.NotContains(t, err.Error(), "--aux")
}

// TestDegreesPieces reads latitudes of a part of a file where the column's name says what they are, and zero in the south as zero.
func TestDegreesPieces(t *testing.T) {
	for text, want := range map[string][]float64{"lat,y\n33.9S,1\n0S,2\n": {-33.9, 0}, "place,y\n33°S,1\n34°S,2\n": nil,
		"lat,y\n33.9S,1\n34,2\n": nil} {
		table, err := ReadAs(strings.NewReader(text), "a.csv", Options{Piece: true})
		require.NoError(t, err)
		got, err := table.Coordinates(0)
		if want == nil {
			require.ErrorIs(t, err, ErrCell, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, got)
		require.False(t, math.Signbit(got[1]))
	}
}
