package serve

import (
	"crypto/subtle"
	"io"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// ServeHTTP answers both protocols.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// routes returns the handler of everything.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/health/live", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]bool{"live": true})
	})
	mux.HandleFunc("GET /v2/health/ready", func(w http.ResponseWriter, _ *http.Request) { writeReady(w, "ready", s.ready()) })
	mux.HandleFunc("GET /v2", s.serverMetadata)
	mux.HandleFunc("GET /v2/{$}", s.serverMetadata)
	for _, prefix := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		mux.HandleFunc("GET "+prefix, s.withModel(func(w http.ResponseWriter, m *model) { writeJSON(w, http.StatusOK, metadataOf(m)) }))
		mux.HandleFunc("GET "+prefix+"/config", s.withModel(func(w http.ResponseWriter, m *model) { writeJSON(w, http.StatusOK, s.configOf(m)) }))
		mux.HandleFunc("GET "+prefix+"/ready", s.modelReady)
		mux.HandleFunc("POST "+prefix+"/infer", s.restInfer)
	}
	mux.HandleFunc("GET /v2/repository/index", s.index)
	mux.HandleFunc("POST /v2/repository/index", s.index) // Triton's clients post
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/v2/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, notFound("%s %.200s is nothing that this server answers", r.Method, r.URL.Path))
	})
	s.grpcRoutes(mux)
	if s.opt.Page != nil {
		mux.Handle("/", s.opt.Page)
	} else {
		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "An EquivCNP server: the Open Inference Protocol is below /v2, metrics are at /metrics.\n")
		})
	}
	return s.guard(mux)
}

// open are the paths that need no token: probes have none, and the page asks for it.
func open(path string) bool {
	return path == "/" || strings.HasPrefix(path, "/page/") || strings.HasPrefix(path, "/v2/health/") || strings.HasPrefix(path, "/grpc.health.v1.Health/")
}

// guard asks for the token, and tells clients of a server that stops to connect elsewhere next time.
func (s *Server) guard(next http.Handler) http.Handler {
	want := []byte("Bearer " + s.opt.Token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() && r.ProtoMajor == 1 {
			w.Header().Set("Connection", "close")
		}
		if s.opt.Token != "" && !open(r.URL.Path) && subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			writeError(w, &failure{status: http.StatusUnauthorized, text: "a bearer token is needed"})
			return
		}
		next.ServeHTTP(w, r)
	})
}
