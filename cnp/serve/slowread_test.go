package serve

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// deadlineWriter notes the deadline under which each part of an answer was written, and the last one.
type deadlineWriter struct {
	*httptest.ResponseRecorder
	now   time.Time
	parts []time.Time
	wrote func()
}

func (w *deadlineWriter) SetWriteDeadline(t time.Time) error { w.now = t; return nil }
func (w *deadlineWriter) SetReadDeadline(time.Time) error    { return nil }

func (w *deadlineWriter) Write(b []byte) (int, error) {
	w.parts = append(w.parts, w.now)
	if w.wrote != nil {
		w.wrote()
	}
	return w.ResponseRecorder.Write(b)
}

// TestSlowReaders: whatever is answered has a deadline, so that a client that asks and does not read keeps nothing for ever. A stream that
// has nothing to say has none.
func TestSlowReaders(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models, o.Token = testSources[1:], "secret" })
	longest := time.Hour
	for _, c := range []struct{ method, path, kind, token string }{
		{"GET", "/", "", ""}, {"GET", "/nothing", "", "secret"}, {"GET", "/v2", "", "secret"}, {"GET", "/v2/models", "", "secret"},
		{"GET", "/v2/models/rbf", "", "secret"}, {"GET", "/v2/models", "", "wrong"}, {"GET", "/v2/models/rbf/infer", "", "secret"},
		{"GET", "/v2/health/ready", "", ""}, {"GET", "/metrics", "", "secret"}, {"POST", "/v2/models/rbf/infer", "", "secret"},
		{"POST", "/" + service + "/ServerLive", "application/grpc", "secret"}, {"POST", "/" + service + "/No", "application/grpc", "secret"},
		{"POST", "/" + service + "/ModelInfer", "application/grpc", "secret"},
	} {
		t.Run(c.method+c.path+" "+c.token, func(t *testing.T) {
			r := httptest.NewRequest(c.method, c.path, bytes.NewReader(make([]byte, prefixBytes)))
			r.Header.Set("Content-Type", c.kind)
			r.Header.Set("Authorization", "Bearer "+c.token)
			r.ProtoMajor, r.ProtoMinor = 2, 0
			w := &deadlineWriter{ResponseRecorder: httptest.NewRecorder()}
			s.ServeHTTP(w, r)
			require.False(t, w.now.IsZero())
			for _, d := range w.parts {
				require.False(t, d.IsZero())
				require.Less(t, time.Until(d), longest)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, watchPath, bytes.NewReader(make([]byte, prefixBytes)))
	r.Header.Set("Content-Type", "application/grpc")
	r.ProtoMajor, r.ProtoMinor = 2, 0
	w := &deadlineWriter{ResponseRecorder: httptest.NewRecorder(), wrote: cancel}
	s.ServeHTTP(w, r)
	require.NotEmpty(t, w.parts)
	for _, d := range w.parts {
		require.False(t, d.IsZero())
	}
	require.True(t, w.now.IsZero(), "of a stream that waits")
}
