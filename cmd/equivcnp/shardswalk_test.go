package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/tables"
)

// TestShardsWalk runs every command of docs/shards.md, with less training.
func TestShardsWalk(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "shards.md"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("tables", 0o777))
	rows := 0
	for k := range 3 {
		table := "day,hour,t2m\n"
		for i := range 10 * (k + 1) {
			table += fmt.Sprintf("%d,%g,%g\n", i%2, float64(i)/10, float64(i%4)/2)
			rows++
		}
		require.NoError(t, os.WriteFile(fmt.Sprintf("tables/t%d.csv", k), []byte(table), 0o600))
	}
	small := strings.NewReplacer("--steps 4000", "--steps 3", "--eval-tasks 500", "--eval-tasks 2", "--tasks 500", "--tasks 3")
	commands, said := 0, map[string]string{}
	for _, block := range strings.Split(string(text), "\n```")[1:] {
		head, body, _ := strings.Cut(block, "\n")
		if name, ok := strings.CutPrefix(head, "text "); ok {
			require.NoError(t, os.WriteFile(name, []byte(small.Replace(body)), 0o600))
		}
		if head != "sh" {
			continue
		}
		for line := range strings.Lines(small.Replace(body)) {
			args := strings.Fields(line)
			require.Equal(t, "equivcnp", args[0])
			var out, errs bytes.Buffer
			require.Equal(t, 0, run(context.Background(), args[1:], strings.NewReader(""), &out, &errs), "%s: %s", line, &errs)
			commands++
			said[strings.Join(args[1:3], " ")] += out.String()
		}
	}
	require.Equal(t, 7, commands)
	require.Equal(t, 5, strings.Count(said["merge runs"], "log-likelihood"), said["merge runs"])
	require.Contains(t, said["eval --model"], "seeds.ensemble")
	all, err := tables.ReadFile("all.parquet", nil)
	require.NoError(t, err)
	require.Equal(t, rows, all.Rows())
	require.Equal(t, []string{"file", "day", "hour", "t2m_mean", "t2m_std"}, all.Header)
	require.True(t, slices.IsSorted(all.Texts[0]))
}
