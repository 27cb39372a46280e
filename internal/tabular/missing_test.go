package tabular

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Numbers and texts that stand for no value count as missing among values, and stay what they are elsewhere.
func TestCountAsMissing(t *testing.T) {
	text := "x,y,z\n-9999,-9999,5%\n2,<LOD,nd\n3,4,6%\n"
	for _, after := range []bool{false, true} {
		opt := Options{}
		if markers := []string{" -9999", "<lod", "ND", "7"}; !after {
			opt.Missing = markers
		}
		table, err := ReadAs(strings.NewReader(text), "a.csv", opt)
		require.NoError(t, err)
		if after { // as for files that are not text
			require.NoError(t, table.CountAsMissing("-9999", "<lod", "7"))
		} else {
			z, err := table.Numbers(true, 2)
			require.NoError(t, err, "a column of percentages, but for the text")
			require.True(t, z[0] == 5 && z[2] == 6 && math.IsNaN(z[1]), z)
		}
		y, err := table.Numbers(true, 1)
		require.NoError(t, err)
		require.True(t, math.IsNaN(y[0]) && math.IsNaN(y[1]) && y[2] == 4, y)
		x, err := table.Coordinates(0)
		require.NoError(t, err)
		require.Equal(t, []float64{-9999, 2, 3}, x)
		require.Equal(t, "-9999", table.Cell(0, 1), "the table stays as it is")
		notes := strings.Join(table.Remarks(Columns{X: []int{0}, Y: []int{1}}), "\n")
		require.Contains(t, notes, `1 of y ("<LOD")`)
		require.Contains(t, notes, "column y of a.csv is -9999 in 1 row, which counts as missing")
		require.Contains(t, notes, "no value of a.csv is 7, which")
	}
	_, err := ReadAs(strings.NewReader(text), "a.csv", Options{Missing: []string{"1", " "}})
	require.ErrorContains(t, err, "is empty")
	single := Of([]Column{{Name: "y", Values: []float64{float64(float32(9.96921e36)), 1}, Single: true}})
	require.NoError(t, single.CountAsMissing("9.96921e36"))
	v, err := single.Numbers(true, 0)
	require.NoError(t, err)
	require.True(t, math.IsNaN(v[0]) && v[1] == 1)
}

// Texts such as ? are missing values where a column of numbers is asked for, and texts everywhere else.
func TestBlanks(t *testing.T) {
	for _, text := range []string{"None", "NaT", "na", "NA", `\N`, ".", "-", "?", "n/a", "NULL", "--", "..", "–", "-nan(ind)", "1.#QNAN",
		"#DIV/0!"} {
		table, err := Decode([]byte("x,y\n1,2\n2,"+text+"\n3,4\n"), "a.csv")
		require.NoError(t, err, text)
		v, err := table.Numbers(true, 1)
		require.NoError(t, err, text)
		require.Equal(t, []float64{2, 4}, []float64{v[0], v[2]})
		require.True(t, math.IsNaN(v[1]), text)
		require.False(t, table.IsText(1), text)
		_, err = table.Coordinates(1)
		require.ErrorContains(t, err, "a.csv:3:3: not a table of numbers: the cell is missing, and must not be, in column \"y\"", text)
	}
	table, err := Decode([]byte("x,a,b,c,d,e\n1,-,-,?,1,?\n2,3,A,?,-,5\n3,4,2,?,-,.\n"), "a.csv")
	require.NoError(t, err)
	require.Equal(t, `cells of a.csv that are read as missing: 1 of a ("-"); 3 of c ("?"); 2 of e ("?", ".")`, table.Blanks(0, 1, 2, 3, 5))
	require.Empty(t, table.Blanks(0, 2))
	_, err = table.Numbers(true, 2)
	require.ErrorContains(t, err, `a.csv:3:5: not a table of numbers: "A" is not a number`, "- is not why")
	require.True(t, table.IsText(2))
	require.True(t, table.IsText(3), "nothing says that it has numbers")
	v, err := table.Numbers(true, 3)
	require.NoError(t, err, "an output that nobody knows")
	require.True(t, math.IsNaN(v[0]) && math.IsNaN(v[2]))

	names, err := table.Categories([]string{"a", "b"})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b=-", "b=2", "b=A"}, names)
	_, groups, err := table.Groups(1)
	require.NoError(t, err)
	require.Equal(t, 3, groups, "a task may be called -")
	var b strings.Builder
	require.NoError(t, Write(&b, table.Only([]int{1}, []string{"a"}), ','))
	require.Equal(t, "a\n-\n3\n4\n", b.String(), "texts are written as they are")
}

// Errors say what may be meant by texts that look like numbers or dates.
func TestNotANumber(t *testing.T) {
	for text, want := range map[string]string{
		"2,003":      "unless --decimal . or --decimal , says what the comma is",
		"$1,234":     "unless --decimal . or --decimal , says what the comma is",
		"$1,23,4":    "is left out where all of a column are plain numbers besides",
		"31.12.20":   "nor a date like 2006-01-02",
		"1/31/20":    "it has a year of two digits",
		"1-Jan-20":   "it has a year of two digits",
		"1-Mag-2020": "nor a date like 2006-01-02",
		"$":          "is not a number",
		"2020Q5":     "nor a date like 2006-01-02",
		"2020-W54":   "nor a date like 2006-01-02",
		"2020-001":   "nor a date like 2006-01-02",
		"13/2020":    "nor a date like 2006-01-02",
		"13:30":      "a time of day needs its date in the same cell",
		"12 kg":      `"12 kg" is not a number`,
	} {
		table, err := Decode([]byte("x\n"+`"`+text+`"`+"\n"), "a.csv")
		require.NoError(t, err)
		_, err = table.Coordinates(0)
		require.ErrorContains(t, err, `a.csv:2:1: not a table of numbers: "`+text+`" is not a number`, text)
		require.ErrorContains(t, err, want, text)
	}
	table, err := Decode([]byte(",x,y\n#DIV/0!,1,2\n1,2,3\n"), "a.csv")
	require.NoError(t, err)
	c, err := table.Find(Want{})
	require.NoError(t, err)
	require.Equal(t, []string{"1"}, table.Extra(c), "a column without a name")
	v, err := table.Numbers(true, 0)
	require.NoError(t, err)
	require.True(t, math.IsNaN(v[0]))
}

// TestTextHints: a text among numbers may stand for a missing value, which the error says how to say; one of two columns of a date is
// named, and not the other.
func TestTextHints(t *testing.T) {
	for cells, want := range map[string]string{
		"1 M 2":     `a.csv:3:3: not a table of numbers: "M" is not a number: if it stands for a missing value, say --missing M`,
		"1 2 <0.5":  `a.csv:4:3: not a table of numbers: "<0.5" is not a number: if it stands for a missing value, say --missing "<0.5"`,
		"1 2x 3":    `a.csv:3:3: not a table of numbers: "2x" is not a number`,
		"1kg 2kg 3": `a.csv:2:3: not a table of numbers: "1kg" is not a number`,
	} {
		table, err := Decode([]byte("x,y\n1,"+strings.ReplaceAll(cells, " ", "\n1,")+"\n"), "a.csv")
		require.NoError(t, err, cells)
		_, err = table.Numbers(true, 1)
		require.EqualError(t, err, want)
		_, err = table.Numbers(false, 1)
		require.NotContains(t, err.Error(), "--missing", "an input is never missing")
	}
	table, err := Decode([]byte("day,hour,y\n2024-01-01,00:00,1\n2024-01-01,01:00,2\n"), "a.csv")
	require.NoError(t, err)
	_, err = table.Coordinates(0, 1)
	require.EqualError(t, err, `a.csv:2:12: not a table of numbers: "00:00" is not a number: `+
		"a time of day needs its date in the same cell, as in 2006-01-02 15:04, "+
		"or in a column that is joined, as --x Date+Time")
}
