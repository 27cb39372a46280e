package serve_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/serve"
)

// TestCloseEmbedded: where the http.Server is another's, Close turns readiness off. Requests are still answered.
func TestCloseEmbedded(t *testing.T) {
	s, err := serve.New(serve.Options{Models: []serve.Source{{Name: "table", Path: "universal-1"}}})
	require.NoError(t, err)
	status := func(path string) int {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code
	}
	require.Equal(t, http.StatusOK, status("/v2/health/ready"))
	s.Close()
	require.Equal(t, http.StatusServiceUnavailable, status("/v2/health/ready"))
	require.Equal(t, http.StatusOK, status("/v2/health/live"))
	require.Equal(t, http.StatusOK, status("/v2/models/table"))
	s.Close()
}
