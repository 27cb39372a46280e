// Package page is the page that "equivcnp serve" shows at /: it lets people play with the models that are served. The files in static are
// what browsers get, plain JavaScript modules without a build step; they speak the server's own protocol.
package page

import (
	"embed"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed static
var files embed.FS

// Files are those of the page: index.html, and what it needs in the folder page.
func Files() fs.FS {
	f, err := fs.Sub(files, "static")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return f
}

// policy lets the page load and ask nothing but this server, and no other page show it in a frame, since visitors type a token. It draws on
// canvases and loads pictures of the user as blobs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src " +
	"'self'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'"

// Handler serves the page.
func Handler() http.Handler {
	static := http.FileServerFS(Files())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" && (!strings.HasPrefix(r.URL.Path, "/page/") || strings.HasSuffix(r.URL.Path, "/")) {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "the page can only be read", http.StatusMethodNotAllowed)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-cache") // the files have no dates, and the next version's are others
		static.ServeHTTP(w, r)
	})
}
