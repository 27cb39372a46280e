package tabular

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// Names of columns may be numbers, and a first row of numbers may be data.
func TestHeaders(t *testing.T) {
	asked := func(x, y string) Options { return Options{X: []string{x}, Y: []string{y}} }
	for _, c := range []struct {
		name, text string
		opt        Options
		header     string // "": none
		values     []float64
	}{
		{"years above names of places", "id,2019,2020\nA,1,2\nB,3,4\n", asked("2019", "2020"), "id,2019,2020", nil},
		{"without an output", "id,2019\nA,1\nB,3\n", asked("2019", "2020"), "id,2019", nil},
		{"nobody knows", "id,2019,2020\nA,1,2\nB,3,4\n", Options{}, "", nil},
		{"years alone", "2019,2020\n1,2\n", asked("2019", "2020"), "2019,2020", []float64{1, 2}},
		{"years as data", "2019,2020\n1,2\n", Options{}, "", []float64{2019, 2020, 1, 2}},
		{"columns by numbers", "1,5,7\n2,3,4\n", asked("1", "3"), "", []float64{1, 5, 7, 2, 3, 4}},
		{"a number that no column has", "1,5,7\n2,3,4\n", asked("1", "5"), "", []float64{1, 5, 7, 2, 3, 4}},
		{"names with digits", "site,01,17n\nA,1,2\nB,3,4\n", asked("01", "17n"), "site,01,17n", nil},
		{"in any case", "Depth,10,20\n1,2,3\n", asked("depth", "3"), "Depth,10,20", []float64{1, 2, 3}},
		{"a word above numbers", "x,2019\n1,2\n3,4\n", Options{}, "x,2019", []float64{1, 2, 3, 4}},
		{"a word above missing numbers", "x,2019\n?,2\n3,4\n,6\n5,6\n", Options{}, "x,2019", nil},
		{"a word above dates", "day,2019\n2020-01-01,2\n2020-01-02,4\n", Options{}, "day,2019", nil},
		{"an index without a name", ",x,2019\na,1,2\nb,3,4\n", Options{}, ",x,2019", nil},
		{"a word above one number", "x,2019\n1,2\n", Options{}, "", nil},
		{"no year", "A,20\n1,30\n2,40\n", Options{}, "", nil},
		{"no word", "<5,2019\n1,30\n2,40\n", Options{}, "", nil},
		{"equal years", "A,2019,2019\n1,30,1\n2,40,1\n", Options{}, "", nil},
		{"a key that may be a word", "A,2019\n1,2020\n2,2021\n", Options{Keys: []string{"1"}}, "", nil},
		{"inflation", "year,inf,open\n1990,1.5,2\n", Options{}, "year,inf,open", []float64{1990, 1.5, 2}},
		{"infinities", "inf,inf\n1,2\n", Options{}, "", nil},
		{"a text and infinities", "A,inf,inf\nB,1,2\n", Options{}, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ReadAs(strings.NewReader(c.text), "data.csv", c.opt)
			require.NoError(t, err)
			require.NoError(t, got.Check())
			require.Equal(t, c.header, strings.Join(got.Header, ","))
			if c.values != nil {
				require.True(t, testkit.SameBits(c.values, got.Values), "%v", got.Values)
			}
			require.Len(t, got.places, len(got.Header)+len(got.Values))
		})
	}
	got, err := Decode([]byte("task,x,2019\n007,1,2\n07,?,12345678901234567891\n7,5,6\n"), "a.csv")
	require.NoError(t, err)
	require.Equal(t, []string{"007", "07", ""}, []string{got.Key(0, 0), got.Key(1, 0), got.Key(2, 0)}, "keys of a header found late")
	require.Equal(t, "12345678901234567891", got.Key(1, 2))
	require.Equal(t, "?", got.Text(1, 1))
	require.True(t, math.IsNaN(got.Values[4]))
	_, err = got.Coordinates(1)
	require.ErrorContains(t, err, "a.csv:3:4: ", "places are those of the file")
}
