package interpolate

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
)

// validated fits a table without targets and cross-validates it.
func validated(t *testing.T, text string, columns tabletask.Columns, opt Options, folds string, quantiles ...float64) (
	*Interpolation, *Validation, error) {
	t.Helper()
	csv := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(csv, []byte(text), 0o600))
	f, err := ParseFolds(folds)
	if err != nil {
		return nil, nil, err
	}
	columns.Group = f.Column
	in, err := Read(&tabletask.Options{CSV: csv, Columns: columns, NoTargets: true}, opt.Sphere)
	if err == nil {
		err = in.Fit(t.Context(), opt)
	}
	if err != nil {
		return in, nil, err
	}
	v, err := in.Validate(t.Context(), opt, f, quantiles, nil)
	return in, v, err
}

// TestValidate compares a cross-validation with fits by hand to the rows of the other groups: two outputs with missing values of their own,
// amounts, and a drift, which some rows lack.
func TestValidate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("east,site,north,a,b,height,kind\n")
	const n = 60
	var x, height [][]float64
	var a, b []float64
	var site []string
	for i := range n {
		at := []float64{rng.Float64(), rng.Float64()}
		h, kind := 100*rng.Float64(), i%2
		va, vb := math.Exp(at[0]+0.01*h+0.1*rng.NormFloat64()), 5+at[1]+float64(kind)+0.05*rng.NormFloat64()
		ta, tb, th := fmt.Sprint(va), fmt.Sprint(vb), fmt.Sprint(h)
		if i%7 == 3 {
			va, ta = math.NaN(), ""
		}
		if i%5 == 3 || i%7 == 3 && i > 40 {
			vb, tb = math.NaN(), "NA"
		}
		if i%11 == 5 {
			h, th = math.NaN(), ""
		}
		s := []string{"007", "7", "b c", "sea"}[i*i%4+i%3]
		fmt.Fprintf(&text, "%v,%s,%v,%s,%s,%s,k%d\n", at[0], s, at[1], ta, tb, th, kind)
		if h == h && (va == va || vb == vb) {
			x, height = append(x, at), append(height, []float64{h, float64(1 - kind), float64(kind)})
			a, b, site = append(a, va), append(b, vb), append(site, s)
		}
	}
	columns := tabletask.Columns{X: []string{"east", "north"}, Y: []string{"a", "b"}, Aux: []string{"height", "kind"}}
	in, v, err := validated(t, text.String(), columns, Options{Log: []string{"a"}, Positive: true}, "site", 0.05, 0.9)
	require.NoError(t, err)
	require.Equal(t, 4, v.Folds)
	require.Equal(t, "site", v.Column)
	require.Len(t, v.rows, len(x))
	groups := []string{}
	for _, s := range site {
		if !slices.Contains(groups, s) {
			groups = append(groups, s)
		}
	}
	table := v.Table(&columns)
	require.Equal(t, []string{"east", "north", "height", "kind=k0", "kind=k1", "site", "fold", "a", "b", "a_mean", "b_mean",
		"a_std", "b_std", "a_q0.05", "b_q0.05", "a_q0.9", "b_q0.9"}, table.Header)
	for c, y := range [][]float64{a, b} {
		opt := krige.Options{Dim: 5, Drift: 3, Values: []krige.Values{krige.Logarithmic, krige.Positive}[c]}
		var density, square, absolute, bias, within, constant float64
		values := 0
		for k, group := range groups {
			var known, targets, y0, truth []float64
			var rows []int
			for i, s := range site {
				row := slices.Concat(x[i], height[i])
				if s == group {
					rows, targets, truth = append(rows, i), append(targets, row...), append(truth, y[i])
				} else if y[i] == y[i] {
					known, y0 = append(known, row...), append(y0, y[i])
				}
			}
			m, err := krige.Fit(t.Context(), known, y0, opt)
			require.NoError(t, err)
			p, err := m.At(t.Context(), targets)
			require.NoError(t, err)
			flat, _, err := m.Simple(targets)
			require.NoError(t, err)
			lo, hi := p.Quantile(0.025), p.Quantile(0.975)
			for r, i := range rows {
				require.Equal(t, group, table.Cell(i, 5))
				require.Equal(t, float64(k+1), table.Values[i*table.Cols+6])
				require.Equal(t, p.Mean[r], table.Values[i*table.Cols+9+c], "row %d", i)
				require.Equal(t, p.Std[r], table.Values[i*table.Cols+11+c])
				require.Equal(t, p.Quantile(0.9)[r], table.Values[i*table.Cols+15+c])
				if truth[r] != truth[r] {
					require.True(t, math.IsNaN(table.Values[i*table.Cols+7+c]))
					continue
				}
				e := p.Mean[r] - truth[r]
				square, absolute, bias, values = square+e*e, absolute+math.Abs(e), bias+e, values+1
				constant += math.Abs(flat.Mean[r] - truth[r])
				if truth[r] >= lo[r] && truth[r] <= hi[r] {
					within++
				}
			}
			mean, count := p.LogDensity(truth)
			density += mean * float64(count)
		}
		o, own := v.Outputs[in.Names()[c]], in.Models[c]
		n := float64(values)
		require.Equal(t, values, o.Values)
		require.InDelta(t, own.OverDeviation(density/n), o.Model.LogDensity, 1e-9)
		require.InDeltaSlice(t, []float64{math.Sqrt(square / n), absolute / n, bias / n, within / n, constant / n},
			[]float64{o.Model.RMSE, o.Model.MAE, o.Model.MeanError, o.Model.Coverage95, o.Constant.MAE}, 1e-9)
		require.Equal(t, own.Report().LogDensity, *o.LeaveOneOut)
		require.InDelta(t, *o.LeaveOneOut-o.Model.LogDensity, *o.Worse, 1e-12)
	}
	require.Contains(t, v.What(), "4 groups of site")
	require.Len(t, v.Lines(), 6)
	text2, err := json.Marshal(v)
	require.NoError(t, err)
	require.Contains(t, string(text2), `"column":"site","folds":4,"outputs":{"a":{"values":`)
	for _, note := range in.Extra() {
		require.NotContains(t, note, "site", "the column was read")
	}
}

// TestValidateSingles: where every row is a fold, the result is close to the check, whose fit knows all values, and on its scale, whatever
// the values' unit and the scale on which they are normal.
func TestValidateSingles(t *testing.T) {
	for _, opt := range []Options{{}, {Positive: true}, {Log: []string{"y"}}} {
		rng := rand.New(rand.NewPCG(3, 4))
		text := "x,y\n"
		for i := range 40 {
			text += fmt.Sprintf("%d,%g\n", i, 1e4*math.Exp(math.Sin(float64(i)/4)+0.1*rng.NormFloat64()))
		}
		_, v, err := validated(t, text, tabletask.Columns{}, opt, "40")
		require.NoError(t, err)
		require.Equal(t, "40 runs of neighbouring rows, of 1 row", v.What())
		require.InDelta(t, 0, *v.Outputs["y"].Worse, 0.15)
		require.InDelta(t, -1.43, v.Outputs["y"].Constant.LogDensity, 0.3)
	}
}

// TestValidateClustered: rows of one site tell each other, which the check takes for knowledge of the map.
func TestValidateClustered(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	text := "x1,x2,y,site\n"
	for site := range 20 {
		u, v, level := rng.Float64(), rng.Float64(), rng.NormFloat64()
		for range 5 {
			text += fmt.Sprintf("%g,%g,%g,s%d\n", u+0.001*rng.Float64(), v+0.001*rng.Float64(), level+0.1*rng.NormFloat64(), site)
		}
	}
	for _, folds := range []string{"site", "10"} {
		_, v, err := validated(t, text, tabletask.Columns{}, Options{}, folds)
		require.NoError(t, err)
		require.Greater(t, *v.Outputs["y"].Worse, 1.)
		require.Contains(t, strings.Join(v.Lines(), "\n"), "worse than the check")
		require.InDelta(t, v.Outputs["y"].Constant.RMSE, v.Outputs["y"].Model.RMSE, 0.4)
	}
}

// TestBlocks: blocks have about as many rows each, rows at one place stay together, and on a line and on a grid blocks are what one would
// draw. They do not depend on the order of rows, on units, or on an origin.
func TestBlocks(t *testing.T) {
	line := []float64{5, 3, 1, 9, 2, 7, 1, 1}
	block, places := blocks(line, 1, 3)
	require.Equal(t, 6, places)
	require.Equal(t, []int{1, 1, 0, 2, 1, 2, 0, 0}, block)
	block, places = blocks(line, 1, 6)
	require.Equal(t, 6, places)
	require.Equal(t, []int{3, 2, 0, 5, 1, 4, 0, 0}, block)
	_, places = blocks(line, 1, 7)
	require.Equal(t, 6, places)

	rng := rand.New(rand.NewPCG(7, 8))
	var x []float64
	for range 203 {
		x = append(x, rng.Float64(), 0.9*rng.Float64())
	}
	for _, count := range []int{2, 4, 7, 10, 203} {
		block, _ := blocks(x, 2, count)
		sizes := make([]int, count)
		for _, k := range block {
			sizes[k]++
		}
		require.InDelta(t, 203/float64(count), slices.Min(sizes), 2)
		require.InDelta(t, 203/float64(count), slices.Max(sizes), 2)
		var other []float64 // the other way around, in kilometres, elsewhere
		for i := len(x) - 2; i >= 0; i -= 2 {
			other = append(other, 1024*x[i]+64, 1024*x[i+1]-32)
		}
		moved, _ := blocks(other, 2, count)
		slices.Reverse(moved)
		require.Equal(t, block, moved)
	}
	block, _ = blocks(x, 2, 4)
	for i, k := range block { // quarters of the nearly square field
		if math.Abs(x[2*i]-0.5) > 0.1 {
			require.Equal(t, x[2*i] > 0.5, k > 1, "%v", x[2*i:2*i+2])
		}
		if math.Abs(x[2*i+1]-0.45) > 0.1 {
			require.Equal(t, x[2*i+1] > 0.45, k%2 == 1, "%v", x[2*i:2*i+2])
		}
	}
}

// TestValidateErrors: what cannot be left out is said, with the column's name.
func TestValidateErrors(t *testing.T) {
	rows := "x,y,z,site,day\n0,1,1,a,1\n1,2,,a,\n2,4,,b,1\n3,3,,b,1\n3,2,5,a,1\n"
	many := "x,y,site\n"
	for i := range 1002 {
		many += fmt.Sprintf("%d,%d,s%d\n", i, i%7, i)
	}
	for _, c := range []struct{ text, folds, y, want string }{
		{rows, "1", "y", `Folds "1": need a number of blocks from 2 to 1000, or the name of a column`},
		{rows, "-3", "y", "need a number of blocks"},
		{rows, "1001", "y", "need a number of blocks"},
		{rows, "", "y", "need a number of blocks"},
		{rows, "5", "y", "lie at 4 different places, which is too few for so many blocks"},
		{rows, "place", "y", `it has no column "place"`},
		{rows, "day", "y", "t.csv:3:8: the cell of day is missing: which group is the row of?"},
		{strings.ReplaceAll(rows, ",b,", ",a,"), "site", "y", "Folds site: all rows with values are of one group"},
		{many, "site", "y", "Folds site: the column has 1002 different cells, need at most 1000"},
		{rows, "site", "y,z", `z has values in the group "a" of site only: nothing is left to predict it from`},
	} {
		_, _, err := validated(t, c.text, tabletask.Columns{X: []string{"x"}, Y: strings.Split(c.y, ",")}, Options{}, c.folds)
		require.ErrorContains(t, err, c.want, c.folds)
	}
	// On the globe blocks reach over the date line, and the same places in other degrees are one.
	text := "lat,lon,y\n"
	for i := range 24 {
		text += fmt.Sprintf("%d,%d,%d\n", i%5, 180+(i%2*2-1)*i, i%3)
	}
	_, v, err := validated(t, text, tabletask.Columns{}, Options{Sphere: true}, "2")
	require.NoError(t, err)
	require.Equal(t, "2 compact blocks of neighbouring rows, of 12 rows", v.What())
	// Equal values have no spread, and nothing to compare with.
	_, v, err = validated(t, "x,y\n0,1\n1,1\n2,1\n3,1\n", tabletask.Columns{}, Options{}, "2")
	require.NoError(t, err)
	require.Nil(t, v.Outputs["y"].Worse)
	require.Zero(t, v.Outputs["y"].Model.RMSE)
	// Different units: a depth of metres beside a distance of kilometres counts.
	text = "far,deep,y\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,%d,%d\n", i%2*10, i/2, i%7)
	}
	columns := tabletask.Columns{X: []string{"far", "deep"}, Y: []string{"y"}}
	_, v, err = validated(t, text, columns, Options{DifferentUnits: true}, "2")
	require.NoError(t, err)
	table := v.Table(&columns)
	for i := range 40 { // deep is wider where each has its own scale
		require.Equal(t, float64(1+i/20), table.Values[i*table.Cols+2])
	}
}
