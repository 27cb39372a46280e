package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// damaged are reports that are none, and what is wrong with them.
var damaged = map[string]string{
	``: "unexpected end of JSON input",
	`{"machine":{"Level":"avx2"},"lines":[{"name":"a","rounds":[0],"values":[1]}],"version":2}`:    "version 2 with 1 lines",
	`{"machine":{"Level":"avx2"},"lines":[],"version":1}`:                                          "version 1 with 0 lines",
	`{"lines":[{"name":"a","rounds":[0],"values":[1]}],"version":1}`:                               "names no machine",
	`{"machine":{"Level":"avx2"},"lines":[{"name":"a","rounds":[],"values":[]}],"version":1}`:      "0 values and 0 rounds",
	`{"machine":{"Level":"avx2"},"lines":[{"name":"a","rounds":[0],"values":[0]}],"version":1}`:    "values[0] = 0, need more than 0",
	`{"machine":{"Level":"avx2"},"lines":[{"name":"a","rounds":[0],"values":[null]}],"version":1}`: "values[0] = 0, need more than 0",
	`{"machine":{"Level":"avx2"},"lines":[{"name":"a","rounds":[0],"values":[-3]}],"version":1}`:   "values[0] = -3, need more than 0",
	`{"machine":{"Level":"avx2"},"lines":[{"name":"a","rounds":[0],"values":[NaN]}],"version":1}`:  "invalid character 'N'",
}

func TestDamagedReports(t *testing.T) {
	for text, want := range damaged {
		_, err := parseReport("report.json", []byte(text))
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "report.json: ")
	}
}

// FuzzReport lays a damaged report.json beside itself, as bench merge does, and reads damaged journals.
func FuzzReport(f *testing.F) {
	for text := range damaged {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"machine":{"CPU":"A","Level":"avx2"},"peers":[{"name":"gonum","version":"v1"}],` +
		`"steps":[{"part":"blas","name":"blas"}],` +
		`"lines":[{"part":"blas","name":"blas/ours/dgemm","n":64,"metric":"ns_per_call","rounds":[0,1],"values":[1,2]},` +
		`{"part":"blas","name":"blas/gonum/dgemm","n":64,"metric":"ns_per_call","rounds":[0,1],"values":[3,1e300]}],"version":1}`))
	f.Add([]byte(`{"machine":{"CPU":"A"},"program":"p"}` + "\n" +
		`{"part":"blas","name":"blas","round":1,"samples":[{"name":"blas/ours/dgemm","n":64,"metric":"ns_per_call","value":1}]}` + "\n{"))
	page := filepath.Join(f.TempDir(), "page.html")
	f.Fuzz(func(t *testing.T, b []byte) {
		j := &journal{done: map[string]bool{}}
		if whole, err := j.read("journal.jsonl", b); err == nil {
			require.True(t, bytes.HasPrefix(b, whole))
			newReportFile(j)
		} else {
			require.ErrorContains(t, err, "journal.jsonl: ")
		}
		r, err := parseReport("report.json", b)
		if err != nil {
			require.ErrorContains(t, err, "report.json: ")
			return
		}
		all := []*reportFile{r, r}
		text := markdown(mergedMeans(all)) + markdown(mergedLines(all))
		require.NotContains(t, text, "NaN")
		require.False(t, strings.Contains(text, "%!"), text)
		require.NoError(t, mergedPage(page, all))
	})
}
