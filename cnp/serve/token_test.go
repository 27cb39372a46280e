package serve

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTokenRotated: the token's file is read again when it changes, also as the secrets of Kubernetes do, which are links through a link
// to a folder; what cannot be read changes nothing.
func TestTokenRotated(t *testing.T) {
	dir := t.TempDir()
	swap := func(version, token string) {
		require.NoError(t, os.Mkdir(filepath.Join(dir, version), 0o700))
		if token != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, version, "token"), []byte(token), 0o600))
		}
		require.NoError(t, os.Symlink(version, filepath.Join(dir, "..data_tmp")))
		require.NoError(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	}
	swap("..1", "first")
	file := filepath.Join(dir, "token")
	require.NoError(t, os.Symlink(filepath.Join("..data", "token"), file))
	s := newServer(t, func(o *Options) {
		o.Models, o.TokenFile, o.Poll = []Source{{Name: "universal-1", Path: "universal-1"}}, file, 10*time.Millisecond
	})
	fits := func(token string) bool {
		return do(s, "GET", "/v2", map[string]string{"Authorization": "Bearer " + token}, nil).Code == http.StatusOK
	}
	require.True(t, fits("first"))
	swap("..2", "other")
	require.Eventually(t, func() bool { return fits("other") }, time.Minute, time.Millisecond)
	require.False(t, fits("first"))
	swap("..3", "")
	for range 3 {
		s.lookAtToken()
		require.True(t, fits("other"), "there is no file")
	}
	swap("..4", "other again")
	require.Eventually(t, func() bool { return fits("other again") }, time.Minute, time.Millisecond)
}
