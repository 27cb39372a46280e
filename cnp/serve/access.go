package serve

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// access is a line of the access log while its request is answered.
type access struct {
	id, model, code string
	tasks           int
}

type accessKey struct{}

// maxID bounds the request ids that are taken from clients.
const maxID = 128

// maxLogged bounds what a client says of its request in a line of the log: a header may have 64 kB, and who collects logs splits lines
// that are longer than 16 kB, after which they are no longer JSON.
const maxLogged = 512

// short is such a text, as far as a line has room for it.
func short(text string) string {
	if len(text) <= maxLogged {
		return text
	}
	return strings.ToValidUTF8(text[:maxLogged], "") + "..."
}

// requestID returns the id that a client gave its request or, if it has none that can stand in a log, a new one.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	if id == "" || len(id) > maxID || strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return rand.Text()
	}
	return id
}

// accessed gives every request an id, which goes back as X-Request-Id, and, with Options.Access, writes a line for it.
func (s *Server) accessed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &access{id: requestID(r)}
		w.Header().Set("X-Request-Id", a.id)
		if !s.opt.Access {
			next.ServeHTTP(w, r)
			return
		}
		start, seen := time.Now(), &statusWriter{ResponseWriter: w}
		next.ServeHTTP(seen, r.WithContext(context.WithValue(r.Context(), accessKey{}, a)))
		client, proxy := s.from(r)
		attrs := []any{"id", a.id, "client", client, "method", short(r.Method), "path", short(r.URL.Path), "protocol", r.Proto, "status",
			seen.status(),
			"bytes", seen.bytes, "seconds", time.Since(start).Seconds()}
		for _, more := range []struct{ key, value string }{{"model", a.model}, {"grpc", a.code},
			{"proxy", proxy},
			{"traceparent", r.Header.Get("Traceparent")},
			{"agent", r.UserAgent()}} {
			if more.value != "" {
				attrs = append(attrs, more.key, short(more.value))
			}
		}
		if a.tasks > 0 {
			attrs = append(attrs, "tasks", a.tasks)
		}
		s.log.Log(r.Context(), slog.LevelInfo, "access", attrs...)
	})
}

// from is how the log names the client of a request, and the trusted proxy that it came through, "" without.
func (s *Server) from(r *http.Request) (client, proxy string) {
	if address, forwarded := senderOf(r, s.opt.Proxies); forwarded {
		return address.String(), r.RemoteAddr
	}
	return r.RemoteAddr, ""
}

// statusWriter notes the status and the size of an answer.
type statusWriter struct {
	http.ResponseWriter
	code  int
	bytes int64
}

func (w *statusWriter) status() int {
	if w.code == 0 {
		return http.StatusOK
	}
	return w.code
}

func (w *statusWriter) WriteHeader(code int) {
	if w.code == 0 && code >= 200 {
		w.code = code
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController find deadlines.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush sends what was written; connect asks it of a writer that streams.
func (w *statusWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }
