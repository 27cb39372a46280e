package tabular

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// remarksOn are the remarks on a column of outputs of these values.
func remarksOn(v []float64) string {
	return strings.Join(Of([]Column{{Name: "y", Values: v}}).Remarks(Columns{Y: []int{0}}), "\n")
}

// drawn are n values of a distribution.
func drawn(n int, one func() float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = one()
	}
	return v
}

// TestOutliers: values that are too far from the others are named, with what to do.
func TestOutliers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	near := func(n int) []float64 { return drawn(n, func() float64 { return 1 + 0.3*rng.NormFloat64() }) }
	for _, n := range []int{10, 30, 100, 3000} {
		for _, far := range []float64{1e6, -1e6, 1000} {
			v := near(n)
			v[n/2] = far
			require.Regexp(t, `column y of  holds `+regexpOf(far)+` in row .*say --missing `+regexpOf(far), remarksOn(v), n)
			table := Of([]Column{{Name: "y", Values: v}})
			require.NoError(t, table.CountAsMissing(shortest(far)))
			require.NotContains(t, strings.Join(table.Remarks(Columns{Y: []int{0}}), "\n"), "holds")
			require.Empty(t, table.Remarks(Columns{X: []int{0}}), "an input is no output")
		}
	}
	v := near(100)
	v[20] = 50
	require.Regexp(t, `holds 50 in row 21, 1\d\d spreads from the median [01]\.\d+, far from all other values: if that is wrong, `+
		`say --missing 50`, remarksOn(v))
	v[30], v[40] = 50, 70
	require.Contains(t, remarksOn(v), "holds 50, 70 in 3 rows, the first in row 21, ")
	require.Contains(t, remarksOn(v), "say --missing 50,70")
	amounts := drawn(300, func() float64 { return math.Round(10*math.Exp(rng.NormFloat64())) / 10 }) // with zeros
	amounts[7] = 1e7
	require.Contains(t, remarksOn(amounts), "say --missing 1e+07, or --robust without a model; if it is right, --positive or --log may "+
		"suit the column")
	table := Of([]Column{{Name: "y", Values: amounts}})
	require.NotContains(t, strings.Join(table.Remarks(Columns{Aux: []int{0}}), "\n"), "--robust", "an auxiliary input")
	require.NotContains(t, strings.Join(table.Remarks(Columns{Aux: []int{0}}), "\n"), "--positive", "an auxiliary input")
	dry := drawn(300, func() float64 { return max(0, math.Round(10*(rng.NormFloat64()-0.7))) }) // mostly 0
	dry[7] = 1e6
	require.Contains(t, remarksOn(dry), "holds 1e+06 in row 8")
	inFile, err := Decode([]byte("# of today\nx,y\n1,2\n2,2.5\n3,2.25\n4,1e6\n5,1\n6,3.5\n7,2.125\n8,2.75\n9,3\n"), "a.csv")
	require.NoError(t, err)
	require.Contains(t, strings.Join(inFile.Remarks(Columns{X: []int{0}, Y: []int{1}}), "\n"), "column y of a.csv holds 1e+06 in line 6, ")
	sentinel := near(100)
	sentinel[3] = -9999
	require.Equal(t, 1, strings.Count(remarksOn(sentinel), "far from all other values"), "pointed out once")
	for _, v := range []float64{-32767, 65535, 99.99, math.MaxInt32, -math.MaxFloat32, 9.96921e36, 3.40282e38, math.MaxFloat64, -1e31} {
		many := near(100)
		for i := 0; i < 100; i += 7 {
			many[i] = v
		}
		require.Contains(t, remarksOn(many), "holds "+shortest(v)+" in 15 rows, far from all other values")
	}
}

func regexpOf(v float64) string { return strings.ReplaceAll(shortest(v), "+", `\+`) }

// TestNoOutliers: skewed and heavy-tailed columns, counts, codes and constants are what they are.
func TestNoOutliers(t *testing.T) {
	source := rand.NewPCG(3, 4)
	rng := rand.New(source)
	normal, uniform := rng.NormFloat64, rng.Float64
	for name, c := range map[string]struct {
		most float64 // of those that are flagged
		one  func() float64
	}{
		"normal":      {0, normal},
		"exponential": {0, rng.ExpFloat64},
		"log-normal":  {0.01, func() float64 { return math.Exp(2 * normal()) }},
		"Cauchy":      {0.04, func() float64 { return normal() / normal() }},
		"t of 3":      {0.01, func() float64 { return normal() / math.Sqrt((sq(normal())+sq(normal())+sq(normal()))/3) }},
		"small gamma": {0.01, func() float64 { return math.Pow(uniform(), 5) * rng.ExpFloat64() }},
		"rain":        {0.01, func() float64 { return math.Round(10*max(0, math.Exp(1.5*normal())-2)) / 10 }},
		"counts":      {0.01, func() float64 { return math.Floor(rng.ExpFloat64() * math.Exp(normal())) }},
		"mostly 0":    {0, func() float64 { return math.Floor(uniform() * 1.1) }},
		"codes":       {0, func() float64 { return []float64{1, 2, 3, 100000}[rng.IntN(4)] }},
	} {
		source.Seed(3, 4) // the order of a map is another each time
		const columns = 200
		for _, n := range []int{10, 50, 1000} {
			flagged := 0
			for range columns {
				if remarksOn(drawn(n, c.one)) != "" {
					flagged++
				}
			}
			require.LessOrEqual(t, float64(flagged)/columns, c.most, "%s, %d rows", name, n)
		}
	}
	source.Seed(3, 4)
	for _, v := range [][]float64{nil, {1}, {1, 2}, {math.NaN(), math.NaN()}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 500},
		{0, 1, 0, 1, 1, 1, 0, 1, 0},
		{0, 1000, 0, 0, 0, 0, 1000, 0, 0}, {1, 1, 1, 1, 1, 1, 1, 1}, {math.Inf(1), 1, 2, 3, math.Inf(-1)},
		{-math.MaxFloat64, math.MaxFloat64, 1, 2, -math.MaxFloat64, math.MaxFloat64, 0, 5e-324, 1e300, -1e300}} {
		require.Empty(t, remarksOn(v), "%v", v)
	}
}

// TestNoOutliersOfFields: no column of the public data sets is said to hold outliers.
func TestNoOutliersOfFields(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(testkit.Shared(t, "fields", "data"), "*.csv"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		table, err := ReadFile(path)
		require.NoError(t, err)
		require.NotContains(t, strings.Join(table.Remarks(Columns{Y: table.First(table.Cols)}), "\n"), "far from", path)
	}
}

func sq(v float64) float64 { return v * v }

func shortest(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
