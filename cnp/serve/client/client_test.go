package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRedirect: a request follows a redirection that keeps its method, as from http to https, with its body.
func TestRedirect(t *testing.T) {
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		bodies = append(bodies, r.Method+string(b))
		if r.URL.Path != "/there" {
			http.Redirect(w, r, "/there", http.StatusPermanentRedirect)
			return
		}
		answer, err := json.Marshal(wireResponse{Model: "m"})
		require.NoError(t, err)
		w.Header().Set(headerLength, "9999")
		_, _ = w.Write(answer)
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := New(server.URL, Options{}).Infer(ctx, "m", &Request{Inputs: []Tensor{Float32s("x", []int{1}, []float32{2})}})
	require.NoError(t, err)
	require.Equal(t, "m", out.Model)
	require.Len(t, bodies, 2)
	require.Equal(t, bodies[0], bodies[1])
}

// TestLosingRedirect: redirections that turn POST into GET are named, as the answer to the GET would only confuse.
func TestLosingRedirect(t *testing.T) {
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/there" {
				http.Redirect(w, r, "/there", status)
				return
			}
			http.Error(w, `{"error": "method not allowed"}`, http.StatusMethodNotAllowed)
		}))
		_, err := New(server.URL, Options{}).Infer(t.Context(), "m", &Request{Inputs: []Tensor{Float32s("x", []int{1}, []float32{2})}})
		require.ErrorContains(t, err, "redirects to "+server.URL+"/there", status)
		server.Close()
	}
}
