package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
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
		{"POST", "/" + service + "/ServerLive", "application/grpc", "secret"},
		{"POST", "/" + service + "/No", "application/grpc", "secret"},
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

// leavingWriter is a client that leaves while net/http writes its answer: over HTTP/2 Write returns before the frame is out.
type leavingWriter struct {
	*httptest.ResponseRecorder
	answer []byte
}

func (w *leavingWriter) SetWriteDeadline(time.Time) error { return nil }
func (w *leavingWriter) SetReadDeadline(time.Time) error  { return nil }

func (w *leavingWriter) Write(b []byte) (int, error) {
	w.answer = b
	return 0, errors.New("http2: stream closed")
}

// TestAnswerKept: an answer that was not taken is not overwritten by that of another client.
func TestAnswerKept(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = testSources[1:] })
	ask := func(w http.ResponseWriter, id string) {
		message := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "rbf")
		message = protowire.AppendString(protowire.AppendTag(message, 3, protowire.BytesType), id)
		for _, input := range []struct {
			name, datatype string
			shape          []uint64
			field          protowire.Number
			contents       []byte
		}{{"x_context", "FP64", []uint64{1, 1, 1}, 7, make([]byte, 8)}, {"y_context", "FP32", []uint64{1, 1, 1}, 6, make([]byte, 4)},
			{"x_target", "FP64", []uint64{1, 1, 1}, 7, make([]byte, 8)}} {
			head := appendText(appendText(nil, 1, input.name), 2, input.datatype)
			var shape []byte
			for _, n := range input.shape {
				shape = protowire.AppendVarint(shape, n)
			}
			head = appendMessage(appendMessage(head, 3, shape), 5, appendMessage(nil, input.field, input.contents))
			message = appendMessage(message, 5, head)
		}
		frame := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
		r := httptest.NewRequest("POST", "/"+service+"/ModelInfer", bytes.NewReader(append(frame, message...)))
		r.Header.Set("Content-Type", "application/grpc")
		r.ProtoMajor, r.ProtoMinor = 2, 0
		s.ServeHTTP(w, r)
	}
	for range 50 { // which buffer a pool gives is chance
		left := &leavingWriter{ResponseRecorder: httptest.NewRecorder()}
		ask(left, "of the one who left")
		require.Contains(t, string(left.answer), "of the one who left")
		ask(httptest.NewRecorder(), "secret of another one")
		require.NotContains(t, string(left.answer), "secret")
	}
}
