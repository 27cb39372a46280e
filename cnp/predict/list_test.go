package predict_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
)

// TestList holds the outputs of every model that has a name to testdata/outputs.txt: names and shapes, in which -1 is a
// number that tasks decide. The tests of the program, the server and the pipeline hold their answers to the same list.
// EQUIVCNP_UPDATE=1 writes it anew.
func TestList(t *testing.T) {
	var lines strings.Builder
	for _, name := range slices.Concat(pretrained.Names(), krige.Names()) {
		m, err := predict.Open(t.Context(), predict.OpenOptions{}, name)
		require.NoError(t, err)
		require.Equal(t, []string{name}, m.Paths)
		l, err := predict.LikelihoodOf(m.Model)
		require.NoError(t, err)
		cfg := m.Config()
		for _, o := range predict.Outputs(l) {
			fmt.Fprintln(&lines, name, o.Name, strings.Trim(fmt.Sprint(o.Shape(predict.TargetShape(&cfg), l)), "[]"))
		}
	}
	path := filepath.Join("testdata", "outputs.txt")
	if os.Getenv("EQUIVCNP_UPDATE") != "" {
		require.NoError(t, os.WriteFile(path, []byte(lines.String()), 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), lines.String())
}
