package shards

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLines(t *testing.T) {
	items, err := Lines(strings.NewReader("\ufeffa.npz\n\n # a comment\n  b c.npz \r\n#\nd"), "list")
	require.NoError(t, err)
	require.Equal(t, []Item{{0, 1, "a.npz"}, {1, 4, "b c.npz"}, {2, 6, "d"}}, items)
	for text, words := range map[string]string{
		"":                                     "list: no line names anything",
		"# a\n\n":                              "list: no line names anything",
		"a\nb\x00c":                            "list:2",
		"a\n\xff":                              "list:2",
		"a\n" + strings.Repeat("x", maxLine+1): "list:2: longer than",
	} {
		_, err := Lines(strings.NewReader(text), "list")
		require.ErrorIs(t, err, ErrManifest)
		require.ErrorContains(t, err, words)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b1.npz", "a1.npz", "a2.npz", "odd[1].npz"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
	}
	lines := func(words ...string) (out []Item) {
		for i, w := range words {
			out = append(out, Item{i, i + 1, w})
		}
		return out
	}
	files, err := Files(lines("b1.npz", "a*.npz", "odd[1].npz", "/else/where.npz", "missing.npz"), dir, "list")
	require.NoError(t, err)
	var names []string
	for i, f := range files {
		require.Equal(t, i, f.ID)
		names = append(names, fmt.Sprintf("%d %s", f.Line, strings.TrimPrefix(f.Name, dir)))
	}
	require.Equal(t, []string{"1 /b1.npz", "2 /a1.npz", "2 /a2.npz", "3 /odd[1].npz", "4 /else/where.npz", "5 /missing.npz"}, names)
	for words, l := range map[string][]Item{
		"list:2: no file matches c*.npz": lines("a1.npz", "c*.npz"),
		"named in line 1 already":        lines("a1.npz", "a*.npz"),
		"list:1":                         lines("a[.npz"),
	} {
		_, err := Files(l, dir, "list")
		require.ErrorIs(t, err, ErrManifest, words)
		require.ErrorContains(t, err, words)
	}
}

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		`regression --kernel rbf`:            {"regression", "--kernel", "rbf"},
		` --group "T(2)"  --out 'a b\' c\ d`: {"--group", "T(2)", "--out", `a b\`, "c d"},
		`a""b '' "x\"y"`:                     {"ab", "", `x"y`},
		"":                                   nil,
	} {
		got, err := Words(line)
		require.NoError(t, err, line)
		require.Equal(t, want, got, line)
	}
	for _, line := range []string{`a "b`, `a 'b`, `a \`} {
		_, err := Words(line)
		require.Error(t, err, line)
	}
}

func TestShard(t *testing.T) {
	for text, want := range map[string]Shard{"0/1": {0, 1}, "3/64": {3, 64}} {
		got, err := ParseShard(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "3", "64/64", "-1/4", "1/0", "a/b", "1/2/3", "0/99999999"} {
		_, err := ParseShard(text)
		require.Error(t, err, text)
	}
	env := map[string]string{}
	lookup := func(k string) (string, bool) { v, ok := env[k]; return v, ok }
	_, err := FromEnvironment(4, lookup)
	require.ErrorContains(t, err, "JOB_COMPLETION_INDEX")
	env["SLURM_ARRAY_TASK_ID"] = "3"
	s, err := FromEnvironment(4, lookup)
	require.NoError(t, err)
	require.Equal(t, Shard{3, 4}, s)
	env["SLURM_ARRAY_TASK_ID"] = "4"
	_, err = FromEnvironment(4, lookup)
	require.ErrorContains(t, err, "SLURM_ARRAY_TASK_ID=4")
}

// job is a job of n items, whose files hold their names; fail says which fail.
func job(t *testing.T, dir string, n int) *Job {
	j := &Job{Kind: "test", Settings: []string{"a"}, Folder: dir}
	for i := range n {
		j.Items = append(j.Items, Item{i, 2*i + 1, fmt.Sprintf("item%d", i)})
	}
	return j
}

func nameOf(it Item) string { return it.Name + ".txt" }

// Every item is done once by one shard, whatever the number of shards; a second run does nothing; merge finds all.
func TestRunAndMerge(t *testing.T) {
	ctx := context.Background()
	for _, shards := range []int{1, 3, 7, 40} {
		dir := t.TempDir()
		j := job(t, dir, 20)
		times := map[string]int{}
		work := func(_ context.Context, it Item, out string) (any, error) {
			times[it.Name]++
			return map[string]int{"id": it.ID}, Create(out, func(w io.Writer) error { _, err := io.WriteString(w, it.Name); return err })
		}
		for i := range shards {
			_, err := Merge(ctx, dir)
			require.ErrorIs(t, err, ErrIncomplete)
			o, err := j.Run(ctx, Shard{i, shards}, "list", nameOf, work)
			require.NoError(t, err)
			require.Zero(t, o.Kept)
			o, err = j.Run(ctx, Shard{i, shards}, "list", nameOf, work)
			require.NoError(t, err)
			require.Zero(t, o.Done)
		}
		require.Len(t, times, 20)
		for name, n := range times {
			require.Equal(t, 1, n, name)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".x.1"+leftover), nil, 0o666))
		m, err := Merge(ctx, dir)
		require.NoError(t, err)
		require.Len(t, m.Records, 20)
		for i, r := range m.Records {
			require.Equal(t, i, r.Item)
			require.JSONEq(t, fmt.Sprintf(`{"id": %d}`, i), string(r.Result))
		}
		left, err := filepath.Glob(filepath.Join(dir, ".*"))
		require.NoError(t, err)
		require.Empty(t, left)

		// A changed or missing file is found, and its shard makes it again.
		require.NoError(t, os.WriteFile(filepath.Join(dir, "item3.txt"), []byte("ITEM3"), 0o666))
		_, err = Merge(ctx, dir)
		require.ErrorIs(t, err, ErrIncomplete)
		require.ErrorContains(t, err, "line 7: item3.txt is not what was written")
		require.NoError(t, os.Remove(filepath.Join(dir, "item3.txt")))
		_, err = j.Run(ctx, Shard{3 % shards, shards}, "list", nameOf, work)
		require.NoError(t, err)
		require.Equal(t, 2, times["item3"])
		_, err = Merge(ctx, dir)
		require.NoError(t, err)

		// Another job, or another number of shards, does not mix with it.
		other := *j
		other.Settings = []string{"b"}
		_, err = other.Run(ctx, Shard{0, shards}, "list", nameOf, work)
		require.ErrorIs(t, err, ErrOther)
		_, err = other.Run(ctx, Shard{0, shards + 1}, "list", nameOf, work) // its files would replace those of the same names
		require.ErrorIs(t, err, ErrOther)
		_, err = j.Run(ctx, Shard{0, shards + 1}, "list", nameOf, work)
		require.NoError(t, err)
		_, err = Merge(ctx, dir)
		require.ErrorIs(t, err, ErrOther)
	}
}

// A job that has only begun keeps other jobs out, too, by whatever number of shards they have.
func TestRunBesideBegunJob(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	j := job(t, dir, 12)
	stop, cancel := context.WithCancel(ctx)
	_, err := j.Run(stop, Shard{0, 1}, "list", nameOf, func(_ context.Context, it Item, out string) (any, error) {
		if it.ID == 2 {
			cancel()
		}
		return nil, os.WriteFile(out, []byte("first"), 0o666)
	})
	require.ErrorIs(t, err, context.Canceled)
	require.FileExists(t, filepath.Join(dir, "shard-00000-of-00001.journal"))

	other := *j
	other.Settings = []string{"b"}
	_, err = other.Run(ctx, Shard{0, 2}, "list", nameOf, func(_ context.Context, _ Item, out string) (any, error) {
		return nil, os.WriteFile(out, []byte("other"), 0o666)
	})
	require.ErrorIs(t, err, ErrOther)
	have, err := os.ReadFile(filepath.Join(dir, "item0.txt"))
	require.NoError(t, err)
	require.Equal(t, "first", string(have))

	// A runner without a journal of ours is told the same, and that another number of shards is one.
	require.NoError(t, j.Alone(1))
	require.ErrorIs(t, j.Alone(2), ErrOther)
	require.ErrorIs(t, other.Alone(1), ErrOther)
	other.Folder = t.TempDir()
	require.NoError(t, other.Alone(3))
}

// A process may end anywhere: what is recorded is kept, what is not is done again, and a torn line harms nobody.
func TestRunAfterKill(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	j := job(t, dir, 12)
	stop := errors.New("killed")
	did := 0
	work := func(limit int) func(context.Context, Item, string) (any, error) {
		return func(_ context.Context, it Item, out string) (any, error) {
			if did == limit {
				panic(stop)
			}
			did++
			return nil, Create(out, func(w io.Writer) error { _, err := io.WriteString(w, it.Name); return err })
		}
	}
	journal := filepath.Join(dir, "shard-00000-of-00001.journal")
	for limit := 2; limit <= 10; limit += 4 {
		require.PanicsWithValue(t, stop, func() { _, _ = j.Run(ctx, Shard{0, 1}, "list", nameOf, work(limit)) })
		require.Equal(t, limit, did)
		f, err := os.OpenFile(journal, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString(`{"item": 11, "na`)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "item5.txt"), []byte("other"), 0o666)) // not what was recorded
	o, err := j.Run(ctx, Shard{0, 1}, "list", nameOf, work(99))
	require.NoError(t, err)
	require.Equal(t, []int{9, 3}, []int{o.Kept, o.Done})
	require.NoFileExists(t, journal)
	_, err = Merge(ctx, dir)
	require.NoError(t, err)
}

// Items that fail stop nothing else, are named by their lines, and are tried again or recorded.
func TestRunFailures(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	j := job(t, dir, 5)
	bad := map[int]bool{1: true, 3: true}
	work := func(_ context.Context, it Item, out string) (any, error) {
		if bad[it.ID] {
			return nil, errors.New("spoilt")
		}
		return nil, Create(out, func(w io.Writer) error { return nil })
	}
	o, err := j.Run(ctx, Shard{0, 1}, "list", nameOf, work)
	require.ErrorIs(t, err, ErrFailed)
	require.ErrorContains(t, err, "list:3: spoilt\n  list:7: spoilt")
	require.Equal(t, 3, o.Done)
	_, err = Merge(ctx, dir)
	require.ErrorIs(t, err, ErrIncomplete)
	bad[1] = false
	o, err = j.Run(ctx, Shard{0, 1}, "list", nameOf, work)
	require.ErrorIs(t, err, ErrFailed)
	require.Equal(t, []int{3, 1}, []int{o.Kept, o.Done})
	j.SkipBad = true
	_, err = j.Run(ctx, Shard{0, 1}, "list", nameOf, work)
	require.NoError(t, err)
	m, err := Merge(ctx, dir)
	require.NoError(t, err)
	require.Equal(t, "spoilt", m.Records[3].Error)
	require.Empty(t, m.Records[3].Out)
	bad[3] = false // without the flag it is tried again
	j.SkipBad = false
	_, err = j.Run(ctx, Shard{0, 1}, "list", nameOf, work)
	require.NoError(t, err)
	m, err = Merge(ctx, dir)
	require.NoError(t, err)
	require.Empty(t, m.Records[3].Error)
}

func TestProgress(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	p, err := OpenProgress(path, "work", map[string]int{"a": 1})
	require.NoError(t, err)
	require.Empty(t, p.Steps)
	require.NoError(t, p.Step(1))
	require.NoError(t, p.Step(2))
	require.NoError(t, p.Close())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(b, `{"torn`...), 0o666))
	p, err = OpenProgress(path, "work", map[string]int{"a": 2})
	require.NoError(t, err)
	require.Len(t, p.Steps, 2)
	require.JSONEq(t, `{"a": 1}`, string(p.First))
	require.NoError(t, p.Step(3))
	require.NoError(t, p.Close())
	p, err = OpenProgress(path, "work", nil)
	require.NoError(t, err)
	require.Len(t, p.Steps, 3)
	require.NoError(t, p.Close())
	p, err = OpenProgress(path, "other", nil)
	require.NoError(t, err)
	require.Empty(t, p.Steps)
	require.NoError(t, p.End())
	require.NoFileExists(t, path)
}
