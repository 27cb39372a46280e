package interpolate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/tabletask"
)

// TestPooled: series of several shops in one table, which one forecast would mix, are pointed out, and nothing else is.
func TestPooled(t *testing.T) {
	rows := func(shops, days int, row string) string {
		var text strings.Builder
		for day := range days {
			for shop := range shops {
				fmt.Fprintf(&text, row+"\n", day+1, shop, 10*shop+day%3)
			}
		}
		return text.String()
	}
	for name, c := range map[string]struct {
		text, want string
		task       string
	}{
		"texts":   {text: "date,shop,y\n" + rows(3, 20, "2024-01-%02d,s%d,%d"), want: "the same date, and column shop"},
		"numbers": {text: "date,shop,y\n" + rows(2, 20, "2024-01-%02d,%d,%d"), want: "column shop tells them apart"},
		"one ends later": {text: "date,shop,y\n" + rows(2, 20, "2024-01-%02d,s%d,%d") + "2024-01-21,s0,1\n",
			want: "the same date, and column shop"},
		"a few taken twice":  {text: "date,day,y\n" + rows(1, 20, "2024-01-%02d,%d,%d") + "2024-01-20,1,2\n"},
		"a task":             {text: "date,shop,y\n" + rows(1, 20, "2024-01-%02d,s%d,%d"), task: "shop"},
		"one series":         {text: "date,shop,y\n" + rows(1, 20, "2024-01-%02d,s%d,%d")},
		"values taken twice": {text: "date,shop,y\n" + strings.Repeat(rows(1, 20, "2024-01-%02d,s%d,%d"), 2)},
		"no other column":    {text: "date,y\n" + rows(3, 20, "2024-01-%02d,%d%d")},
	} {
		csv := filepath.Join(t.TempDir(), "t.csv")
		require.NoError(t, os.WriteFile(csv, []byte(c.text), 0o600), name)
		o := &tabletask.Options{CSV: csv, Columns: tabletask.Columns{X: []string{"date"}, Y: []string{"y"}, Task: c.task}, Next: 2}
		in, err := Run(t.Context(), o, Options{})
		require.NoError(t, err, name)
		_, _, cautions := in.Said(nil)
		said := strings.Join(cautions, "\n")
		b, err := RunBacktest(t.Context(), o, Options{}, Rolling{Origins: 2, Steps: 2}, nil, nil)
		require.NoError(t, err, name)
		_, notes := b.Said()
		if c.want == "" {
			require.NotContains(t, said+strings.Join(notes, "\n"), "tells them apart", name)
			continue
		}
		require.Contains(t, said, c.want, name)
		require.Contains(t, strings.Join(notes, "\n"), c.want, name)
	}
}
