package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// docPages are the pages whose commands TestDocs runs. TestStationsWalk and TestShardsWalk run those of the two walks.
var docPages = []string{"README", "accuracy", "benchmarks", "images", "one-table", "sampling", "server", "sphere", "training", "vectors"}

// docCommands are the commands of the program in a page's blocks of shell code, and in its indented blocks.
func docCommands(t *testing.T, page, text string) (lines []string) {
	blocks := strings.Split(text, "\n```sh\n")
	for _, block := range blocks[1:] {
		code, _, ok := strings.Cut(block, "\n```")
		require.True(t, ok, "%s: a block does not end", page)
		for line := range strings.Lines(strings.ReplaceAll(code, "\\\n", " ")) {
			require.True(t, strings.HasPrefix(line, "equivcnp "), "%s: %q", page, line)
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
	}
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if strings.HasPrefix(line, "    equivcnp ") {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
	}
	return lines
}

// TestDocs runs every command in a block of code of README and docs, shortened and on small files, so that each page does what it says.
func TestDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short; make test runs it")
	}
	if runtime.GOOS == "js" {
		t.Skip("skipped: no files on " + runtime.GOOS)
	}
	for _, page := range docPages {
		path := filepath.Join("..", "..", "docs", page+".md")
		if page == "README" {
			path = filepath.Join("..", "..", "README.md")
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		lines := docCommands(t, page, string(text))
		for _, line := range lines {
			t.Run(page+"/"+strings.ReplaceAll(line, "/", " "), func(t *testing.T) {
				r := csv.NewReader(strings.NewReader(line))
				r.Comma, r.LazyQuotes = ' ', true
				args, err := r.Read()
				require.NoError(t, err)
				b := newBench(t)
				t.Chdir(b.dir)
				b.exampleFiles(args[1:])
				b.docFiles(page, args)
				for i, arg := range args {
					if arg == "/models" {
						args[i] = "models"
					}
				}
				b.example(args[1:])
			})
		}
		require.NotEmpty(t, lines, "%s has no commands", page)
	}
}

// docFiles writes the files that a command of docs reads and no example of the help does.
func (b *bench) docFiles(page string, args []string) {
	b.write("flow.csv", "x1,x2,y1,y2\n-2,-1,0.3,1\n0,2,-0.4,0.2\n3,-1,0.9,-0.6\n1,0,0.1,0.4\n")
	b.write("where.csv", "x1,x2\n0,0\n1,-2\n-3,2\n")
	b.save("photos.safetensors", imageConfig("T(2)", 3))
	if page == "benchmarks" {
		for _, name := range []string{"m", "a", "exact", "none"} {
			b.save(name+".safetensors", pointConfig(2, 1))
		}
	}
	if page == "one-table" && slices.Contains(args, "days.safetensors") && args[1] != "train" {
		b.ok("train", "population", "--csv", b.path("days")+"/*.csv", "--x", "east,north", "--y", "temperature",
			"--out", "@days.safetensors")
	}
	b.write("sales.csv", salesTable)
	b.write("zinc.csv", "east,north,zinc,dist,soil,site\n0,0,300,0.3,A,P1\n200,0,250,0.5,B,P2\n0,200,410,0.1,A,P1\n"+
		"200,200,380,0.2,B,P3\n100,100,330,0.3,B,P2\n40,140,390,0.1,A,P3\n20,90,380,0.2,A,P4\n60,20,290,0.3,B,P4\n90,190,400,0.1,A,P5\n"+
		"160,60,280,0.4,B,P5\n10,60,350,0.2,A,P6\n")
	if page == "one-table" {
		b.write("grid.csv", "east,north,dist,soil\n0,0,0.3,A\n100,0,0.4,B\n0,100,0.2,A\n100,100,0.3,A\n")
	}
}
