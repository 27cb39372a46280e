package serve

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/serve/inference"
)

// TestTLS: both protocols over TLS, and no plain one beside it.
func TestTLS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(leaf)

	s := newServer(t, func(o *Options) { o.Models = testSources[1:] })
	url, _ := listen(t, s, Limits{TLS: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		MinVersion: tls.VersionTLS12}})
	secure := strings.Replace(url, "http:", "https:", 1)
	for _, http2 := range []bool{false, true} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: http2}
		client := &http.Client{Transport: transport}
		resp, err := client.Get(secure + "/v2/health/ready")
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, 200, resp.StatusCode)
		require.Equal(t, map[bool]int{false: 1, true: 2}[http2], resp.ProtoMajor)
		if http2 {
			live := connect.NewClient[inference.ServerLiveRequest, inference.ServerLiveResponse](client, secure+"/"+service+
				"/ServerLive", connect.WithGRPC())
			got, err := live.CallUnary(context.Background(), connect.NewRequest(&inference.ServerLiveRequest{}))
			require.NoError(t, err)
			require.True(t, got.Msg.Live)
		}
		transport.CloseIdleConnections()
	}
	resp, err := http.Get(url + "/v2/health/ready")
	if err == nil {
		resp.Body.Close()
		require.Equal(t, 400, resp.StatusCode)
	}
}

// TestRevokedDoesNotResume: once its authority is no longer among those of clients, a client does not come back by resuming a session that
// began before.
func TestRevokedDoesNotResume(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	ca := issue(t, nil, 1, file("ca.pem"), file("ca.key"))
	issue(t, ca, 2, file("cert.pem"), file("key.pem"))
	issue(t, ca, 3, file("client.pem"), file("client.key"))
	pair, err := tls.LoadX509KeyPair(file("client.pem"), file("client.key"))
	require.NoError(t, err)
	config, err := Certificates(file("cert.pem"), file("key.pem"), file("ca.pem"), nil)
	require.NoError(t, err)
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "universal-1", Path: "universal-1"}} })
	url, _ := listen(t, s, Limits{TLS: config})
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	var gets []func() (resumed bool, err error)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		sessions := tls.NewLRUClientSessionCache(4)
		gets = append(gets, func() (bool, error) {
			transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair},
				ClientSessionCache: sessions, MaxVersion: version}}
			defer transport.CloseIdleConnections()
			resp, err := (&http.Client{Transport: transport}).Get(strings.Replace(url, "http:", "https:", 1) + "/v2/health/ready")
			if err != nil {
				return false, err
			}
			defer resp.Body.Close()
			_, err = io.Copy(io.Discard, resp.Body)
			return resp.TLS.DidResume, err
		})
	}
	for _, get := range gets {
		resumed, err := get()
		require.NoError(t, err)
		require.False(t, resumed)
		resumed, err = get()
		require.NoError(t, err)
		require.True(t, resumed)
	}
	issue(t, nil, 4, file("ca.pem"), file("ca.key"))
	for _, get := range gets {
		require.Eventually(t, func() bool { _, err := get(); return err != nil }, time.Minute, 100*time.Millisecond)
		_, err := get()
		require.ErrorContains(t, err, "unknown certificate authority")
	}
}

// TestExpiryMetric: the metrics say for how long the certificates are valid, those of a file that was replaced, too.
func TestExpiryMetric(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	now := time.Now()
	ca := issueUntil(t, nil, 1, file("ca.pem"), file("ca.key"), now.Add(3*time.Hour))
	issueUntil(t, nil, 2, file("old.pem"), file("old.key"), now.Add(-time.Hour))
	both, err := os.ReadFile(file("ca.pem"))
	require.NoError(t, err)
	old, err := os.ReadFile(file("old.pem"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file("both.pem"), append(both, old...), 0o600))
	issueUntil(t, ca, 3, file("cert.pem"), file("key.pem"), now.Add(2*time.Hour))
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "universal-1", Path: "universal-1"}} })
	seconds := func(certificate string) (v float64, ok bool) {
		text := do(s, "GET", "/metrics", nil, nil).Body.String()
		_, rest, ok := strings.Cut(text, `equivcnp_certificate_expiry_seconds{certificate="`+certificate+`"} `)
		if ok {
			line, _, _ := strings.Cut(rest, "\n")
			v, err := strconv.ParseFloat(line, 64)
			require.NoError(t, err)
			return v, true
		}
		return 0, false
	}
	until := func(certificate string, end time.Time) bool {
		before := time.Until(end).Seconds()
		v, ok := seconds(certificate)
		return ok && v <= before+1 && v >= time.Until(end).Seconds()-1 // certificates have whole seconds
	}
	_, ok := seconds("server")
	require.False(t, ok, "without TLS there is none")
	config, err := Certificates(file("cert.pem"), file("key.pem"), file("ca.pem"), nil)
	require.NoError(t, err)
	_, stop := listen(t, s, Limits{TLS: config})
	soon := func(certificate string, end time.Time) {
		require.Eventually(t, func() bool { return until(certificate, end) }, time.Minute, 10*time.Millisecond)
	}
	soon("server", now.Add(2*time.Hour))
	soon("client_ca", now.Add(3*time.Hour))
	expired, err := Certificates(file("cert.pem"), file("key.pem"), file("both.pem"), nil)
	require.NoError(t, err)
	_, stopped := listen(t, s, Limits{TLS: expired})
	soon("client_ca", now.Add(-time.Hour)) // the first of them, of all listeners
	require.NoError(t, stopped())
	require.True(t, until("client_ca", now.Add(3*time.Hour)))
	issueUntil(t, ca, 4, file("cert.pem"), file("key.pem"), now.Add(5*time.Hour))
	soon("server", now.Add(5*time.Hour))
	require.NoError(t, stop())
	_, ok = seconds("server")
	require.False(t, ok)

	pair, err := tls.LoadX509KeyPair(file("cert.pem"), file("key.pem"))
	require.NoError(t, err)
	pair.Leaf = nil // as programs of their own may have it
	_, _ = listen(t, s, Limits{TLS: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}})
	soon("server", now.Add(5*time.Hour))
	_, ok = seconds("client_ca")
	require.False(t, ok)
}

// TestHealthBeside: the handler of metrics answers probes, which have no certificate, until the server stops.
func TestHealthBeside(t *testing.T) {
	s := newServer(t, func(o *Options) {
		o.Models, o.Token = []Source{{Name: "universal-1", Path: "universal-1"}}, "secret"
	})
	h := s.MetricsHandler()
	for _, path := range []string{"/v2/health/live", "/v2/health/ready"} {
		require.Equal(t, 200, do(h, "GET", path, nil, nil).Code, path)
	}
	for _, path := range []string{"/", "/metrics"} {
		require.Contains(t, do(h, "GET", path, nil, nil).Body.String(), "equivcnp_models 1", path)
	}
	require.NotContains(t, do(h, "GET", "/v2/models/universal-1", nil, nil).Body.String(), "inputs")
	s.Close()
	w := do(h, "GET", "/v2/health/ready", nil, nil)
	require.Equal(t, 503, w.Code)
	require.JSONEq(t, `{"ready":false}`, w.Body.String())
	require.Equal(t, 200, do(h, "GET", "/v2/health/live", nil, nil).Code)
}
