package shards

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestHostile calls what is exported with what nobody should pass.
func TestHostile(t *testing.T) {
	named := func(name string, f any, good ...any) {
		t.Helper()
		testkit.Hostile(t, "shards", name, f, good...)
	}
	items := []Item{{Name: "a"}, {Name: "b"}}
	named("Of", func(s Shard, items []Item) { s.Of(items) }, Shard{0, 2}, items)
	named("ParseShard", func(s string) { _, _ = ParseShard(s) }, "0/2")
	named("FromEnvironment", func(n int, look func(string) (string, bool)) {
		if look != nil {
			_, _ = FromEnvironment(n, look)
		}
	}, 2, func(string) (string, bool) { return "1", true })
	named("Lines", func(text string) { _, _ = Lines(strings.NewReader(text), "m.txt") }, "a b\nc\n")
	named("Words", func(line string) { _, _ = Words(line) }, `a "b c"`)
	named("OutName", OutName, 3, "stem", ".png")
	dir := t.TempDir()
	t.Chdir(dir) // where files of hostile names go
	named("Files", func(items []Item) { _, _ = Files(items, dir, "m.txt") }, items)
	named("WriteShard", func(n int, s Shard, r []Record) { _ = WriteShard(dir, "job", "kind", n, s, r) }, 2, Shard{0, 2},
		[]Record{{Item: 1}})
	named("OpenProgress", func(work string, first any) {
		p, err := OpenProgress(filepath.Join(dir, "journal"), work, first)
		if err != nil {
			return
		}
		_ = p.Step(first)
		_ = p.Step(func() {}) // nothing that JSON has
		_ = p.Close()
	}, "work", any(map[string]int{"a": 1}))
	named("OpenProgress of a folder", func(path string) { _, _ = OpenProgress(path, "work", 1) }, dir)
	named("Create", func(write func(io.Writer) error) { _ = Create(filepath.Join(dir, "a"), write) }, func(io.Writer) error { return nil })
	named("Digest", func(path string) { _, _ = Digest(path) }, dir)
	named("Merge", func(folder string) { _, _ = Merge(t.Context(), folder) }, dir)
}
