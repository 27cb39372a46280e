package serve

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
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
