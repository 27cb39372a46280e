package serve

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/mappoints"
)

// TestTable: tables are read as the page's visitors mean them, what is none is refused with the reader's words, and nothing beyond the
// bounds is read. Afterwards nothing is reserved.
func TestTable(t *testing.T) {
	s, err := New(Options{Token: "secret"})
	require.NoError(t, err)
	defer s.Close()
	ask := func(query string, body []byte, token string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/v2/table"+query, bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		require.Zero(t, s.bytes.used)
		return w
	}
	w := ask("?name=a.csv&columns=b,c,d&decimal=,&dates=dmy&missing=-1",
		[]byte("a;b;c;d\n1;3/1/1970;2,5;1,250\n1;3/1/1970;2;-1\n"), "secret")
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	var p mappoints.Points
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &p))
	require.Equal(t, [][3]float64{{2, 2.5, 1.25}}, p.Points)
	require.Equal(t, [3]string{"b", "c", "d"}, p.Columns)
	w = ask("?name=s.csv&kind=series", []byte("day,sold\n1970-01-02,5\n1970-01-03,6\n"), "secret")
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	var series mappoints.Series
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &series))
	require.Equal(t, [][2]float64{{1, 5}, {2, 6}}, series.Points)
	require.Equal(t, 3.0, series.Ahead[0])
	require.True(t, series.Dates)
	w = ask("?kind=chart", []byte("1,2\n"), "secret")
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Contains(t, w.Body.String(), `kind \"chart\": need map or series`)
	for _, c := range []struct {
		body   []byte
		token  string
		status int
		says   string
	}{
		{[]byte("x,y,value\n1,2,high\n"), "secret", http.StatusBadRequest, `a.csv:2:5: not a table of numbers: \"high\" is not a number`},
		{nil, "secret", http.StatusBadRequest, "a.csv: no rows"},
		{[]byte("x,y,value\n1,2,3\n"), "guess", http.StatusUnauthorized, "a bearer token is needed"},
		{[]byte(strings.Repeat("1,2,3\n", mappoints.MaxBytes/6+1)), "secret", http.StatusRequestEntityTooLarge, "at most 2.1 MB"},
	} {
		w := ask("?name=a.csv", c.body, c.token)
		require.Equal(t, c.status, w.Code, w.Body)
		require.Contains(t, w.Body.String(), c.says)
	}
}
