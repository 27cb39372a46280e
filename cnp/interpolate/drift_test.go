package interpolate

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
)

// TestAuxiliary: auxiliary inputs, of which one is a column of texts, are a drift: by Run, as a model, and in what is said of them.
func TestAuxiliary(t *testing.T) {
	folder := t.TempDir()
	var context, targets strings.Builder
	context.WriteString("x,height,kind,y\n")
	targets.WriteString("x,height,kind,y\n")
	for i := range 40 {
		x, height, kind := float64(i)/10, 100*math.Mod(float64(7*i), 10), []string{"sea", "land"}[i/3%2]
		y := math.Sin(x) - height/50 + float64(len(kind))
		to := &context
		if i%4 == 1 {
			to = &targets
		}
		fmt.Fprintf(to, "%g,%g,%s,%g\n", x, height, kind, y)
	}
	context.WriteString("1.5,,land,0\n1.6,3,,0\n")
	csv, at := filepath.Join(folder, "c.csv"), filepath.Join(folder, "t.csv")
	require.NoError(t, os.WriteFile(csv, []byte(context.String()), 0o600))
	require.NoError(t, os.WriteFile(at, []byte(targets.String()+"2,2000,sea,\n"), 0o600))
	columns := tabletask.Columns{X: []string{"x"}, Y: []string{"y"}, Aux: []string{"height", "kind"}}
	in, err := Run(t.Context(), &tabletask.Options{CSV: csv, Targets: at, Columns: columns}, Options{})
	require.NoError(t, err)
	require.Equal(t, 2, in.Lacking)
	require.Equal(t, []string{"height", "kind=land", "kind=sea"}, in.Auxiliary())
	require.Len(t, in.Y[0], 30)
	require.Len(t, in.Aux[0], 90)
	for i := range 10 {
		require.InDelta(t, in.Asked.Y[i], in.Predicted[0].Mean[i], 0.1, "target %d", i)
	}
	lines := in.Drift()
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], "y grows by -0.02")
	require.Contains(t, lines[0], "with each unit of height")
	require.Contains(t, lines[1], "y differs by kind: land ")
	require.Contains(t, in.BeyondDrift(), "height, 1 target outside 0 to 900")

	points, err := columns.ReadTable(csv, nil)
	require.NoError(t, err)
	r, err := RegressorOf(&columns, points, Options{})
	require.NoError(t, err)
	require.Equal(t, in.Auxiliary(), r.Config().Auxiliary)
	require.Equal(t, 1, r.Config().DimX)
	require.Equal(t, "universal-1", r.Name())
	b := &cnp.Batch[float32]{B: 1, Nc: 31, Nt: 11, XContext: append(in.X[0], 9), XTarget: in.Asked.X,
		AuxContext: append(tabletask.Single(in.Aux[0]), 1, float32(math.NaN()), 0), AuxTarget: tabletask.Single(in.Asked.Aux)}
	for _, y := range append(in.Y[0], 99) { // without an auxiliary input a row says nothing
		b.YContext = append(b.YContext, float32(y))
	}
	p, err := r.Predict(t.Context(), b)
	require.NoError(t, err)
	for i, m := range in.Predicted[0].Mean {
		require.InDelta(t, m, p.Mean[i], 1e-4)
	}
	learned, shared, _, err := r.Learn(t.Context(), b)
	require.NoError(t, err)
	require.Zero(t, shared)
	require.Equal(t, r.Config(), learned.Config())

	_, err = Run(t.Context(), &tabletask.Options{CSV: csv, Columns: columns, Points: 2}, Options{})
	require.ErrorContains(t, err, "Aux: use Targets with a table that has height, kind=land, kind=sea at the targets, too")
	for text, want := range map[string]string{
		"x,height,kind\n1,,sea\n":  "the cell is missing, and a target needs its auxiliary inputs",
		"x,height\n1,2\n":          `"kind`,
		"x,height,kind\n1,2,ice\n": "ice",
	} {
		require.NoError(t, os.WriteFile(at, []byte(text), 0o600))
		_, err = Run(t.Context(), &tabletask.Options{CSV: csv, Targets: at, Columns: columns}, Options{})
		require.ErrorContains(t, err, want, text)
	}
	columns.Aux = []string{"depth"}
	_, err = Run(t.Context(), &tabletask.Options{CSV: csv, Targets: at, Columns: columns}, Options{})
	require.ErrorContains(t, err, `"depth"`)
	columns.Aux, columns.Static = nil, "map.csv"
	_, err = Run(t.Context(), &tabletask.Options{CSV: csv, Targets: at, Columns: columns}, Options{})
	require.ErrorContains(t, err, "Static: interpolation without a model has no static fields")
	many, err := RegressorFor(1, 65, 1, Options{})
	require.ErrorContains(t, err, "at most 64")
	require.Nil(t, many)
}
