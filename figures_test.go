package equivcnp_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/pretrained"
)

var (
	shippedName = regexp.MustCompile("`([a-zA-Z0-9-]+)`")
	wholeNumber = regexp.MustCompile(`\d+`)
)

// tableRows returns the cells of a page's table rows.
func tableRows(t *testing.T, page string) (rows [][]string) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "|") {
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows = append(rows, cells)
		}
	}
	return rows
}

// rounded writes a mean and a deviation, as reports have them, with two digits.
func rounded(t *testing.T, figure string) string {
	mean, std, ok := strings.Cut(figure, " ± ")
	require.True(t, ok, figure)
	var v [2]float64
	for i, s := range []string{mean, std} {
		var err error
		v[i], err = strconv.ParseFloat(s, 64)
		require.NoError(t, err, figure)
	}
	return fmt.Sprintf("%.2f ± %.2f", v[0], v[1])
}

// TestModelsPage: docs/models.md names every shipped model, and has its size and the log-likelihood that its file says.
func TestModelsPage(t *testing.T) {
	names, seen, scores := pretrained.Names(), map[string]bool{}, 0
	text, err := os.ReadFile("docs/models.md")
	require.NoError(t, err)
	for _, m := range shippedName.FindAllStringSubmatch(string(text), -1) {
		seen[m[1]] = true
	}
	for _, name := range names {
		require.True(t, seen[name], "docs/models.md does not name %s", name)
	}
	for _, cells := range tableRows(t, "docs/models.md") {
		if size := cells[len(cells)-1]; strings.HasSuffix(size, " kB") {
			var want []int
			for _, m := range shippedName.FindAllStringSubmatch(cells[1], -1) {
				file, err := pretrained.File(m[1])
				require.NoError(t, err)
				want = append(want, (len(file)+500)/1000)
			}
			var stated []int
			for _, n := range wholeNumber.FindAllString(strings.ReplaceAll(size, ",", " "), -1) {
				v, err := strconv.Atoi(n)
				require.NoError(t, err)
				stated = append(stated, v)
			}
			if strings.Contains(size, " to ") {
				want = []int{slices.Min(want), slices.Max(want)}
			}
			require.Equal(t, want, stated, "%s", cells)
		}
		if m := shippedName.FindStringSubmatch(cells[0]); m != nil && slices.Contains(names, m[1]) {
			about, err := pretrained.About(m[1])
			require.NoError(t, err)
			require.Equal(t, rounded(t, about.LogLikelihood), cells[1], m[1])
			scores++
		}
	}
	require.Equal(t, 12, scores)
	changes, err := os.ReadFile("CHANGELOG.md")
	require.NoError(t, err)
	require.Contains(t, string(changes), fmt.Sprintf("\n- %d shipped models,", len(names)))
}

// TestPublishedFigures: docs/benchmarks.md quotes the published figures of RCNP as the report of reproduce rcnp does.
func TestPublishedFigures(t *testing.T) {
	report := map[string][]string{} // of RCNP by column
	var columns []string
	for _, cells := range tableRows(t, "bench/results/reproduce/rcnp/rcnp.md") {
		for i := range cells {
			switch {
			case columns == nil && i == 0:
				columns = cells
			case strings.HasPrefix(cells[0], "published: best ") && i > 0:
				report[columns[i]] = append(report[columns[i]], strings.TrimPrefix(cells[i], "0"))
			}
		}
	}
	quoted := 0
	for _, cells := range tableRows(t, "docs/benchmarks.md") {
		process, ok := strings.CutSuffix(cells[0], ", best published: independent; joint")
		if !ok {
			continue
		}
		process = strings.ReplaceAll(strings.TrimPrefix(process, "rcnp-"), " ", "-")
		for i, d := range []int{2, 3, 5} {
			require.Equal(t, strings.Join(report[fmt.Sprintf("%s, d = %d", process, d)], "; "), cells[i+1], "%s, d = %d", process, d)
			quoted++
		}
	}
	require.Equal(t, 12, quoted)
}
