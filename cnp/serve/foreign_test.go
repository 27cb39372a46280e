package serve

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestForeign: what a browser posts for a page of another origin without asking first is refused; programs, the server's own page and
// proxies that let pages of other origins ask are answered.
func TestForeign(t *testing.T) {
	s := newServer(t, nil)
	for _, c := range []struct {
		site, content string
		status        int
	}{
		{"", "", 200},
		{"", "text/plain", 200},
		{"same-origin", "text/plain", 200},
		{"none", "", 200},
		{"cross-site", "application/json", 200},
		{"cross-site", "Text/Plain; charset=utf-8", 403},
		{"cross-site", "", 403},
		{"same-site", "application/x-www-form-urlencoded", 403},
		{"cross-site", "multipart/form-data; boundary=x", 403},
	} {
		header := map[string]string{"Content-Type": c.content, "Sec-Fetch-Site": c.site}
		require.Equal(t, c.status, do(s, "POST", "/v2/repository/index", header, []byte("{}")).Code, c)
	}
	require.Equal(t, 200, do(s, "GET", "/v2", map[string]string{"Sec-Fetch-Site": "cross-site"}, nil).Code)
	require.True(t, strings.Contains(do(s, "GET", "/metrics", nil, nil).Body.String(), `equivcnp_refused_total{reason="origin"} 4`))
}
