package serve

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRefusalThroughProxy: what refuses a call of gRPC has no length. nginx takes a length of 0 for the end of the answer, so that its
// client never sees why, nor that it may come back.
func TestRefusalThroughProxy(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "universal-1", Path: "universal-1"}} })
	url, _ := listen(t, s, Limits{})
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	c := &http.Client{Transport: &http.Transport{Protocols: p}, Timeout: time.Minute}
	for method, status := range map[string]string{"ModelInfer": "5", "Nothing": "12"} { // not found, not implemented
		r, err := http.NewRequest("POST", url+"/"+service+"/"+method, bytes.NewReader(make([]byte, prefixBytes)))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/grpc")
		resp, err := c.Do(r)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, http.StatusOK, resp.StatusCode)
		require.Empty(t, resp.Header.Get("Content-Length"), method)
		require.Equal(t, status, resp.Trailer.Get("Grpc-Status"), method)
	}
}

// TestInferJSONOverConnect: clients of connect's protocol and of gRPC that send JSON are told where it is read.
func TestInferJSONOverConnect(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "universal-1", Path: "universal-1"}} })
	for kind, status := range map[string]int{"application/json": http.StatusBadRequest, "application/json; charset=utf-8": 400,
		"application/grpc+json": http.StatusOK, "application/grpc-web+json": http.StatusOK} {
		w := do(s, "POST", "/"+service+"/ModelInfer", map[string]string{"Content-Type": kind}, []byte(`{"modelName":"universal-1"}`))
		require.Equal(t, status, w.Code, "%s: %s", kind, w.Body)
		said := w.Body.String() + w.Result().Trailer.Get("Grpc-Message") + w.Header().Get("Grpc-Message")
		require.Contains(t, said, "POST /v2/models/MODEL/infer", kind)
		require.NotContains(t, said, "wireRequest")
	}
	w := do(s, "POST", "/"+service+"/ServerLive", map[string]string{"Content-Type": "application/json"}, []byte(`{}`))
	require.JSONEq(t, `{"live":true}`, w.Body.String())
}

// TestCallThatDoesNotEnd: a client that sends its message, and then neither more nor the end of the call, is told which of them is missing.
func TestCallThatDoesNotEnd(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "universal-1", Path: "universal-1"}} })
	message := make([]byte, prefixBytes+3)
	binary.BigEndian.PutUint32(message[1:], 3)
	for n, want := range map[int]string{len(message): "the message came, but not the end of the request", 7: "came too slowly"} {
		r := httptest.NewRequest("POST", "/", io.MultiReader(bytes.NewReader(message[:n]), iotest.ErrReader(os.ErrDeadlineExceeded)))
		res := s.bytes.open(t.Context())
		_, err := s.frame(nil, &grpcCall{res: res, up: newUpload(httptest.NewRecorder(), r, -1)}, "")
		res.release()
		require.ErrorContains(t, err, want)
	}
}
