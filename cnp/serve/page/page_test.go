package page

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/mappoints"
)

func get(method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

// TestHandler: the page and what it names are served, with a policy; nothing else is.
func TestHandler(t *testing.T) {
	w := get("GET", "/")
	require.Equal(t, http.StatusOK, w.Code)
	assert.Contains(t, w.Header().Get("Content-Type"), "text/html")
	assert.Contains(t, w.Header().Get("Content-Security-Policy"), "script-src 'self'")
	assert.Contains(t, w.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'", "default-src says nothing of frames")
	for path, kind := range map[string]string{"/page/main.js": "javascript", "/page/page.css": "text/css", "/page/icon.svg": "image/svg"} {
		w := get("GET", path)
		assert.Equal(t, http.StatusOK, w.Code, path)
		assert.Contains(t, w.Header().Get("Content-Type"), kind, path)
		assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"), path)
	}
	for _, path := range []string{"/page/", "/page", "/pages", "/page/none.js", "/v2", "/static/index.html", "/page/../page.go",
		"/page.go"} {
		assert.Equal(t, http.StatusNotFound, get("GET", path).Code, path)
	}
	assert.Equal(t, http.StatusNotFound, get("POST", "/models/m/infer").Code, "it is not the page that can only be read")
	assert.Equal(t, http.StatusMethodNotAllowed, get("POST", "/").Code)
}

// TestBounds: what the page says of the bounds of tables is what the reader holds them to.
func TestBounds(t *testing.T) {
	b, err := fs.ReadFile(Files(), "page/table.js")
	require.NoError(t, err)
	assert.Contains(t, string(b), fmt.Sprintf("mostRows = %d\n", mappoints.MaxPoints))
	assert.Contains(t, string(b), fmt.Sprintf("mostBytes = %d << 20\n", mappoints.MaxBytes>>20))
}

// TestNothingFromElsewhere: no file names another host, and every file that one names is there.
func TestNothingFromElsewhere(t *testing.T) {
	names := regexp.MustCompile(`(?:from|import|src=|href=)\s*['"]([^'"#]+)['"]`)
	made := []string{"page/wasm_exec.js"} // comes with the WebAssembly engine
	require.NoError(t, fs.WalkDir(Files(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(Files(), path)
		if err != nil {
			return err
		}
		text := strings.ReplaceAll(string(b), "http://www.w3.org/2000/svg", "")
		text = strings.ReplaceAll(text, "http://localhost:8080", "")            // in what people copy
		text = strings.ReplaceAll(text, "https://arxiv.org/abs/2102.08759", "") // which people may follow
		assert.NotRegexp(t, `https?://|['"]//`, text, path)
		for _, m := range names.FindAllStringSubmatch(text, -1) {
			name := strings.TrimPrefix(m[1], "./")
			if strings.HasPrefix(path, "page/") {
				name = "page/" + name
			}
			if !assert.NotContains(t, name, "..") || made[0] == name {
				continue
			}
			_, err := fs.Stat(Files(), name)
			assert.NoError(t, err, "%s names %s", path, m[1])
		}
		return nil
	}))
}
