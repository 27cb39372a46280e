package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// docPages are the pages of docs whose commands TestDocs runs. TestStationsWalk and TestShardsWalk run those of the two walks.
var docPages = []string{"accuracy", "images", "one-table", "sampling", "sphere", "training", "vectors"}

// TestDocs runs every command in a block of shell code of docs, shortened and on small files, so that each page does what it says.
func TestDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short; make test runs it")
	}
	if runtime.GOOS == "js" {
		t.Skip("skipped: no files on " + runtime.GOOS)
	}
	for _, page := range docPages {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page+".md"))
		require.NoError(t, err)
		ran := 0
		for _, block := range strings.Split(string(text), "\n```sh\n")[1:] {
			code, _, ok := strings.Cut(block, "\n```")
			require.True(t, ok, "%s: a block does not end", page)
			for line := range strings.Lines(strings.ReplaceAll(code, "\\\n", " ")) {
				line = strings.Join(strings.Fields(line), " ")
				require.True(t, strings.HasPrefix(line, "equivcnp "), "%s: %q", page, line)
				t.Run(page+"/"+strings.ReplaceAll(line, "/", " "), func(t *testing.T) {
					r := csv.NewReader(strings.NewReader(line))
					r.Comma, r.LazyQuotes = ' ', true
					args, err := r.Read()
					require.NoError(t, err)
					b := newBench(t)
					t.Chdir(b.dir)
					b.exampleFiles(args[1:])
					b.docFiles()
					b.example(args[1:])
				})
				ran++
			}
		}
		require.NotZero(t, ran, "%s has no commands", page)
	}
}

// docFiles writes the files that commands of docs read and no example of the help does.
func (b *bench) docFiles() {
	b.write("flow.csv", "x1,x2,y1,y2\n-2,-1,0.3,1\n0,2,-0.4,0.2\n3,-1,0.9,-0.6\n1,0,0.1,0.4\n")
	b.write("where.csv", "x1,x2\n0,0\n1,-2\n-3,2\n")
	b.save("photos.safetensors", imageConfig("T(2)", 3))
}
