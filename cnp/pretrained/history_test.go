package pretrained

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/weights"
)

// TestEarlierFiles: every model file that any commit shipped still loads, and has a configuration that a model can be
// made from, so that files people saved with earlier programs load, too. A shallow clone has those of the commits that it has.
func TestEarlierFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short; a hundred models are read (make test runs it)")
	}
	git := func(args ...string) []byte {
		out, err := exec.Command("git", args...).Output()
		if err != nil {
			t.Skipf("skipped: git %s: %v", args[0], err)
		}
		return out
	}
	read := 0
	for line := range strings.Lines(string(git("rev-list", "--objects", "HEAD", "--", strings.TrimSuffix(folder, "/")))) {
		object, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasSuffix(path, extension) {
			continue
		}
		file := git("cat-file", "blob", object)
		if bytes.HasPrefix(file, []byte("version https://git-lfs")) {
			continue // a pointer, kept elsewhere
		}
		s, err := weights.DecodeState(file)
		require.NoError(t, err, "%s of %s", object, path)
		m, err := weights.Build[float32](s, weights.Options{})
		require.NoError(t, err, "%s of %s", object, path)
		require.NotZero(t, m.Config().DimY, "%s of %s", object, path)
		read++
	}
	require.GreaterOrEqual(t, read, len(Names())) // a shallow clone has those of today at least
	t.Logf("%d files", read)
}
