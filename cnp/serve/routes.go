package serve

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// ServeHTTP answers both protocols.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// routes returns the handler of everything.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	s.healthRoutes(mux)
	mux.HandleFunc("GET /v2", s.serverMetadata)
	mux.HandleFunc("GET /v2/{$}", s.serverMetadata)
	for _, prefix := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		mux.HandleFunc("GET "+prefix, s.withModel(func(w http.ResponseWriter, m *model) { writeJSON(w, http.StatusOK, metadataOf(m)) }))
		mux.HandleFunc("GET "+prefix+"/config",
			s.withModel(func(w http.ResponseWriter, m *model) { writeJSON(w, http.StatusOK, configOf(m)) }))
		mux.HandleFunc("GET "+prefix+"/ready", s.modelReady)
		mux.HandleFunc("GET "+prefix+"/stats", s.withModel(func(w http.ResponseWriter, m *model) {
			writeJSON(w, http.StatusOK, map[string]any{"model_stats": []modelStats{m.stats.report(m)}})
		}))
		mux.HandleFunc("POST "+prefix+"/infer", s.restInfer)
		for _, path := range []string{"", "/config", "/ready", "/stats"} {
			mux.HandleFunc(prefix+path, otherMethod(http.MethodGet, http.MethodHead))
		}
		mux.HandleFunc(prefix+"/infer", otherMethod(http.MethodPost))
	}
	mux.HandleFunc("GET /v2/models", s.describeAll)
	mux.HandleFunc("GET /v2/models/stats", func(w http.ResponseWriter, _ *http.Request) {
		all := []modelStats{}
		for _, m := range s.list() {
			all = append(all, m.stats.report(m))
		}
		writeJSON(w, http.StatusOK, map[string]any{"model_stats": all})
	})
	mux.HandleFunc("GET /v2/repository/index", s.index)
	mux.HandleFunc("POST /v2/repository/index", s.index) // Triton's clients post
	mux.HandleFunc("POST /v2/table", s.readTable)
	for _, path := range []string{"/v2", "/v2/{$}", "/v2/models", "/v2/health/live", "/v2/health/ready", "/metrics"} {
		mux.HandleFunc(path, otherMethod(http.MethodGet, http.MethodHead))
	}
	mux.HandleFunc("/v2/repository/index", otherMethod(http.MethodGet, http.MethodHead, http.MethodPost))
	mux.HandleFunc("/v2/table", otherMethod(http.MethodPost))
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/v2/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, notFound("%s %.200s is nothing that this server answers", r.Method, r.URL.Path))
	})
	s.grpcRoutes(mux)
	page := s.opt.Page
	if page == nil {
		page = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" || r.Method != http.MethodGet {
				http.NotFound(w, r)
				return
			}
			io.WriteString(w, "An EquivCNP server: the Open Inference Protocol is below /v2, metrics are at /metrics.\n")
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			unimplemented(w, r)
			return
		}
		page.ServeHTTP(w, r)
	})
	return s.accessed(impatient(s.guard(mux)))
}

// otherMethod answers requests to an address that exists, by a method that it does not take.
func otherMethod(allowed ...string) http.HandlerFunc {
	methods := strings.Join(allowed, ", ")
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", methods)
		writeError(w, &failure{status: http.StatusMethodNotAllowed, code: connect.CodeUnimplemented,
			text: fmt.Sprintf("%.20s: %.200s takes requests by %s", r.Method, r.URL.Path, allowed[0])})
	}
}

// MetricsHandler answers with the server's metrics, without asking for a token: for an address that only those who collect them can
// reach. With a token they are at /metrics of the server itself. It answers /v2/health/live and /v2/health/ready as well, for probes, which
// bring no certificate where Limits.TLS demands one.
func (s *Server) MetricsHandler() http.Handler {
	mux := http.NewServeMux()
	s.healthRoutes(mux)
	mux.Handle("/", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	return mux
}

// healthRoutes adds the questions of probes.
func (s *Server) healthRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /v2/health/live", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]bool{"live": true})
	})
	mux.HandleFunc("GET /v2/health/ready", func(w http.ResponseWriter, _ *http.Request) { writeReady(w, "ready", s.ready()) })
}

// open are the paths that need no token: probes have none, and the page asks for it.
func open(path string) bool {
	return path == "/" || strings.HasPrefix(path, "/page/") || strings.HasPrefix(path, "/v2/health/") || strings.HasPrefix(path,
		"/grpc.health.v1.Health/")
}

// foreign reports that a browser posts something for a page of another origin without having asked whether it may. The page could not
// read the answer, but it could make a server compute that only its user reaches. Before other types of content than these browsers ask,
// which nothing here allows, but a proxy may.
func foreign(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); r.Method != http.MethodPost || site != "cross-site" && site != "same-site" {
		return false
	}
	content, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.ToLower(strings.TrimSpace(content)) {
	case "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data":
		return true
	}
	return false
}

// guard asks for the token, refuses what comes from pages of other origins, and tells clients of a server that stops to connect elsewhere
// next time.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() && r.ProtoMajor == 1 {
			w.Header().Set("Connection", "close")
		}
		if foreign(r) {
			s.metrics.refused.WithLabelValues("origin").Inc()
			writeFailure(w, r, &failure{status: http.StatusForbidden, code: connect.CodePermissionDenied,
				text: "a browser sends this for a page of another origin"})
			return
		}
		if token := s.token.Load(); token != nil && !open(r.URL.Path) && !token.fits(r.Header.Get("Authorization")) {
			s.metrics.refused.WithLabelValues("token").Inc()
			client, _ := s.from(r)
			s.denied.warn(s.log, client, short(r.URL.Path))
			w.Header().Set("WWW-Authenticate", "Bearer")
			writeFailure(w, r, &failure{status: http.StatusUnauthorized, code: connect.CodeUnauthenticated,
				text: "a bearer token is needed"})
			return
		}
		next.ServeHTTP(w, s.withClient(r))
	})
}
