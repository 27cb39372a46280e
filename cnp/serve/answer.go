package serve

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"

	"connectrpc.com/connect"
)

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(b)+1))
	w.WriteHeader(status)
	w.Write(append(b, '\n'))
}

// writeReady answers a question of that name: with 200, or 503.
func writeReady(w http.ResponseWriter, name string, ready bool) {
	status := http.StatusOK
	if !ready {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, map[string]any{name: ready})
}

// writeError answers with what went wrong.
func writeError(w http.ResponseWriter, f *failure) {
	if f.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.retry.Seconds()))))
	}
	writeJSON(w, f.status, map[string]string{"error": strings.ToValidUTF8(f.text, "?")})
}

// grpcError is a failure as gRPC says it.
func grpcError(f *failure) *connect.Error {
	err := connect.NewError(f.code, errors.New(f.text))
	if f.retry > 0 {
		err.Meta().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.retry.Seconds()))))
	}
	return err
}

// isRPC reports whether a request is one of gRPC, of gRPC-Web or of connect's protocol.
func isRPC(r *http.Request) bool {
	return refuser.IsSupported(r)
}

var refuser = connect.NewErrorWriter(connect.WithCodec(codec{}))

// writeFailure answers with what went wrong, as the client's protocol says it.
func writeFailure(w http.ResponseWriter, r *http.Request, f *failure) {
	if isRPC(r) && (strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") || strings.HasPrefix(r.URL.Path, "/"+service+"/")) {
		_ = refuser.Write(w, r, grpcError(f))
		// Without this net/http says that there are 0 bytes, and nginx does not hand on the trailers of such an answer.
		_ = http.NewResponseController(w).Flush()
		return
	}
	writeError(w, f)
}

// worthPacking is the length from which on an answer is compressed: one packet takes what is shorter.
const worthPacking = 1400

// compressed returns text, compressed if that is worth it and the client asks for it, and says so in the header.
func compressed(w http.ResponseWriter, r *http.Request, text []byte) []byte {
	w.Header().Set("Vary", "Accept-Encoding")
	if len(text) < worthPacking || !accepts(r.Header.Get("Accept-Encoding"), "gzip") {
		return text
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err == nil {
		if _, err = z.Write(text); err == nil {
			err = z.Close()
		}
	}
	if err != nil {
		return text
	}
	w.Header().Set("Content-Encoding", "gzip")
	return b.Bytes()
}

// accepts reports whether a list of Accept-Encoding has an encoding, and not with a weight of 0.
func accepts(list, encoding string) bool {
	for _, item := range strings.Split(list, ",") {
		name, weight, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(name), encoding) {
			continue
		}
		q, weighted := strings.CutPrefix(strings.TrimSpace(weight), "q=")
		v, err := strconv.ParseFloat(q, 64)
		return !weighted || err != nil || v > 0
	}
	return false
}
