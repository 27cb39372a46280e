package tabular

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCategories(t *testing.T) {
	read := func(text string) *Table {
		table, err := Decode([]byte(text), "a.csv")
		require.NoError(t, err)
		return table
	}
	const text = "x,kind,y\n1,sea,2\n2,land,3\n3,,4\n4,7,5\n"
	table := read(text)
	for range 2 { // as often as one likes
		names, err := table.Categories([]string{"kind", "x"})
		require.NoError(t, err)
		require.Equal(t, []string{"kind=7", "kind=land", "kind=sea", "x"}, names)
	}
	require.NoError(t, table.Check())
	require.Equal(t, []string{"x", "kind", "y", "kind=7", "kind=land", "kind=sea"}, table.Header)
	nan := math.NaN()
	for c, want := range [][]float64{{0, 0, nan, 1}, {0, 1, nan, 0}, {1, 0, nan, 0}} {
		for row, got := range table.Take(3 + c) {
			require.True(t, got == want[row] || got != got && want[row] != want[row], "row %d, column %d: %v", row, c, got)
		}
	}
	columns, err := table.Find(Want{Aux: []string{"kind=7", "kind=land", "kind=sea"}})
	require.NoError(t, err)
	require.Empty(t, table.Extra(columns), "the column is used by its texts")
	_, err = table.Numbers(false, 4)
	require.ErrorContains(t, err, "a.csv:4:3", "the place of the text")

	table = read(text) // as a model's file has them
	_, err = table.Categories([]string{"kind=land", "kind=sea"})
	require.ErrorIs(t, err, ErrCell)
	require.ErrorContains(t, err, `a.csv:5:3`)
	require.ErrorContains(t, err, `"7" is not one of the known categories of "kind": land, sea`)
	table = read("kind,y\nland,1\n")
	names, err := table.Categories([]string{"kind=lake", "kind=land", "kind=sea"})
	require.NoError(t, err)
	require.Equal(t, []string{"kind=lake", "kind=land", "kind=sea"}, names)
	require.Equal(t, []float64{0, 1, 0}, table.Take(2, 3, 4))

	table = read("kind=a,y\n1,2\n") // a column of that very name
	names, err = table.Categories([]string{"kind=a"})
	require.NoError(t, err)
	require.Equal(t, []string{"kind=a"}, names)
	require.Equal(t, 2, table.Cols)

	many := "kind\n"
	for i := range maxCategories + 1 {
		many += "a" + strconv.Itoa(i) + "\n"
	}
	_, err = read(many).Categories([]string{"kind"})
	require.ErrorContains(t, err, "more than 64 different texts")
	_, err = read("1,a\n2,b\n").Categories([]string{"2"})
	require.ErrorContains(t, err, "where the table has a header")
}

func TestOfCategories(t *testing.T) {
	inputs := []string{"elevation", "kind=land", "kind=sea", "use=a", "use=b"}
	require.Equal(t, []string{"e", "k=land", "k=sea", "u=a", "u=b"}, OfCategories([]string{"e", "k", "u"}, inputs))
	for _, columns := range [][]string{{"e", "k"}, {"e", "k", "u", "v"}, {}} {
		require.True(t, slices.Equal(columns, OfCategories(columns, inputs)))
	}
}

// TestCategoriesLikeDates keeps codes as they are written, although all of one file are weeks, and knows those of files of models that
// have them as dates.
func TestCategoriesLikeDates(t *testing.T) {
	read := func(text string) *Table {
		table, err := Decode([]byte(text), "a.csv")
		require.NoError(t, err)
		return table
	}
	codes := read("x,code\n1,2024W06\n2,2024W05\n3,\n").Rearranged([]int{1, 0, 2}).With(Column{Name: "y", Values: []float64{1, 2, 3}})
	names, err := codes.Categories([]string{"code"})
	require.NoError(t, err)
	require.Equal(t, []string{"code=2024W05", "code=2024W06"}, names)
	require.Equal(t, []float64{1, 0}, codes.Take(3)[:2])
	mixed := read("x,code\n1,2024W06\n2,old\n")
	names, err = mixed.Categories([]string{"code"})
	require.NoError(t, err)
	require.Equal(t, []string{"code=2024W06", "code=old"}, names)
	require.NoError(t, read("x,code\n1,2024W06\n2,2024W06\n").KnownCategories(names))
	require.NoError(t, read("x,code\n1,2024W06\n").KnownCategories([]string{"code=2024-02-05"}))
	require.ErrorContains(t, read("x,code\n1,2024W07\n").KnownCategories(names), `"2024W07" is not one of the known categories of "code"`)
}

// TestUnknownCategoryOfMany names some of the texts that are known, not all of hundreds.
func TestUnknownCategoryOfMany(t *testing.T) {
	table, err := Decode([]byte("station,y\ns99,1\n"), "a.csv")
	require.NoError(t, err)
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("station=s%02d", i))
	}
	_, err = table.Categories(names)
	require.ErrorIs(t, err, ErrCell)
	require.ErrorContains(t, err, `"s99" is not one of the known categories of "station": s00, s01, s02,`)
	require.ErrorContains(t, err, "s11 and 38 more")
	require.NotContains(t, err.Error(), "s12")
}
