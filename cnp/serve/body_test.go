package serve

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// stillReader brings a byte at a time, and remembers the deadlines that were set.
type stillReader struct {
	http.ResponseWriter
	left, pause int
	deadlines   []time.Duration
	start       time.Time
}

func (r *stillReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	time.Sleep(time.Duration(r.pause) * time.Second)
	r.left--
	return 1, nil
}

func (r *stillReader) SetReadDeadline(t time.Time) error {
	if !t.IsZero() {
		r.deadlines = append(r.deadlines, t.Sub(r.start))
	}
	return nil
}

func (r *stillReader) Close() error { return nil }

// TestUploadDeadlines: a body has ten seconds, and what the slowest client takes for as much as it announces, and never pauses for longer
// than ten.
func TestUploadDeadlines(t *testing.T) {
	for _, c := range []struct {
		announced   int64
		first, last time.Duration
	}{
		{1, 10 * time.Second, 10 * time.Second},
		{5 * slowest, 10 * time.Second, 15 * time.Second},
		{1 << 30, 10 * time.Second, 28 * time.Second},
		{-1, 10 * time.Second, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &stillReader{left: 4, pause: 6, start: time.Now(), ResponseWriter: httptest.NewRecorder()}
			u := newUpload(r, &http.Request{Body: r}, c.announced)
			for range 4 {
				_, err := u.Read(make([]byte, 1))
				require.NoError(t, err)
			}
			require.Equal(t, c.first, r.deadlines[0].Round(time.Second), "%d", c.announced)
			require.Equal(t, c.last, r.deadlines[len(r.deadlines)-1].Round(time.Second), "%d", c.announced)
		})
	}
	late := &net.OpError{Op: "read", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, Err: os.ErrDeadlineExceeded}
	require.EqualError(t, unreadable(late), "the body came too slowly", "and nothing of addresses")
}

// TestEveryBodyHasDeadlines: not those of inference alone, or a client could hold all connections, without a token.
func TestEveryBodyHasDeadlines(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models, o.Token = testSources[1:], "t" })
	for path, contentType := range map[string]string{"/v2/health/live": "", "/v2/repository/index": "", "/nowhere": "", "/v2": "",
		"/grpc.health.v1.Health/Check": "application/json", watchPath: "application/connect+proto",
		"/" + service + "/ServerLive": "application/proto"} {
		synctest.Test(t, func(t *testing.T) {
			r := httptest.NewRequest("POST", path, nil)
			w := &stillReader{left: 3, pause: 6, start: time.Now(), ResponseWriter: httptest.NewRecorder()}
			r.Body, r.ContentLength = w, 100
			r.Header.Set("Content-Type", contentType)
			s.ServeHTTP(w, r)
			require.NotEmpty(t, w.deadlines, path)
			require.Equal(t, 10*time.Second, w.deadlines[len(w.deadlines)-1].Round(time.Second), path)
			require.Same(t, w, r.Body, "net/http looks at what is left of it, and at Expect")
		})
	}
}

// gaugeReader notes how much is reserved when it is asked for the first byte, which does not come.
type gaugeReader struct {
	s    *Server
	used int64
}

func (r *gaugeReader) Read([]byte) (int, error) {
	r.s.bytes.mu.Lock()
	defer r.s.bytes.mu.Unlock()
	r.used = r.s.bytes.used
	return 0, io.EOF
}

// TestBufferReserved: a request holds a buffer while nothing of it has come, and it is reserved.
func TestBufferReserved(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = testSources[1:] })
	for path, want := range map[string]int64{"/v2/models/rbf/infer": firstBuffer, "/" + service + "/ModelInfer": firstMessage} {
		body := &gaugeReader{s: s}
		r := httptest.NewRequest("POST", path, body)
		r.ProtoMajor = 2
		r.Header.Set("Content-Type", "application/grpc")
		s.ServeHTTP(httptest.NewRecorder(), r)
		require.Equal(t, want, body.used, path)
	}
	require.Zero(t, s.bytes.used)
}
