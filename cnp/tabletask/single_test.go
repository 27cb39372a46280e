package tabletask

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/table"
)

// TestCheckSingle: values that float32 makes equal, or steps, are refused by column; those that it only rounds are not, and neither are
// those that rounding in float64 alone tells apart.
func TestCheckSingle(t *testing.T) {
	csv := filepath.Join(t.TempDir(), "t.csv")
	for _, c := range []struct {
		level float64
		fits  bool
	}{{0, true}, {1e5, true}, {1e6, true}, {1e7, false}, {1e8, false}, {1e13, false}} {
		var b strings.Builder
		b.WriteString("task,x,rain,level\n")
		for i := range 40 { // of two tasks: the second is far from zero
			fmt.Fprintf(&b, "%d,%d,,%.17g\n", i%2, i, c.level*float64(i%2)+math.Sin(float64(i)))
		}
		require.NoError(t, os.WriteFile(csv, []byte(b.String()), 0o600))
		columns := Columns{X: []string{"x"}, Y: []string{"rain", "level"}, Task: "task"}
		in, err := (&Options{}).ReadTable(csv, nil)
		require.NoError(t, err)
		cfg := krige.Named("universal-1").Outputs(2).Config()
		_, err = TasksOf(&TasksOptions{Columns: columns}, &cfg, in)
		if c.fits {
			require.NoError(t, err, c.level)
			continue
		}
		require.ErrorIs(t, err, cnp.ErrRange)
		require.ErrorContains(t, err, "t.csv:3:")
		require.ErrorContains(t, err, "level has a standard deviation of 0.7")
	}
	tenth, fifth := 0.1, 0.2
	for _, other := range []float64{0.3, tenth + fifth} { // which rounding in float64 makes another number
		equal := &table.Table{Name: "e.csv", Cols: 2, Values: []float64{0, 0.3, 1, 0.3, 2, 0.3, 3, other}}
		cfg := krige.Named("universal-1").Config()
		_, err := TasksOf(&TasksOptions{}, &cfg, equal)
		require.NoError(t, err)
	}
}

// TestOpenNothing: a name that a script left empty is told so.
func TestOpenNothing(t *testing.T) {
	_, err := new(Columns).ReadTable("", strings.NewReader("x,y\n"))
	require.ErrorContains(t, err, "the name of a file is empty")
}
