package serve

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestClientOf: who sent a request is told by the certificate, or else by the address without its port.
func TestClientOf(t *testing.T) {
	for address, want := range map[string]string{"192.0.2.1:123": "192.0.2.1", "[::ffff:192.0.2.1]:5": "192.0.2.1",
		"[2001:db8:1:2:3:4:5:6]:7": "2001:db8:1:2::/64", "[fe80::1%eth0]:8": "fe80::/64", "@": "@"} {
		require.Equal(t, want, clientOf(&http.Request{RemoteAddr: address, TLS: &tls.ConnectionState{}}, nil))
	}
	of := func(c x509.Certificate) string {
		return clientOf(&http.Request{RemoteAddr: "192.0.2.1:1", TLS: &tls.ConnectionState{PeerCertificates: []*x509.Certificate{&c}}}, nil)
	}
	require.Equal(t, of(x509.Certificate{Subject: pkix.Name{CommonName: "a"}}), of(x509.Certificate{Subject: pkix.Name{CommonName: "a"}}))
	named := map[string]bool{of(x509.Certificate{Subject: pkix.Name{CommonName: "a"}}): true,
		of(x509.Certificate{Subject: pkix.Name{CommonName: "b"}}):                                   true,
		of(x509.Certificate{DNSNames: []string{"a"}}):                                               true,
		of(x509.Certificate{URIs: []*url.URL{{Scheme: "spiffe", Host: "example.org", Path: "/a"}}}): true}
	require.Len(t, named, 4)
}

// TestClientBehindProxy: what a proxy in the list reports is believed, and no more of the header than proxies of the list have written.
func TestClientBehindProxy(t *testing.T) {
	proxies, err := ParseProxies([]string{"10.0.0.0/8", " 192.0.2.1", "2001:db8::/32", "::ffff:198.51.100.7"})
	require.NoError(t, err)
	for _, c := range []struct {
		remote  string
		headers []string
		want    string
	}{
		{"10.1.2.3:5", []string{"203.0.113.9"}, "203.0.113.9"},
		{"192.0.2.1:5", []string{"203.0.113.9:4711"}, "203.0.113.9"},
		{"198.51.100.7:5", []string{"203.0.113.9"}, "203.0.113.9"},
		{"[::ffff:10.1.2.3]:5", []string{" ::ffff:203.0.113.9 "}, "203.0.113.9"},
		{"[2001:db8::1]:5", []string{"[2001:470:1:2:3::4]:80"}, "2001:470:1:2::/64"},
		{"10.1.2.3:5", []string{"[2001:470:1:2:3::4]"}, "2001:470:1:2::/64"},
		{"10.1.2.3:5", []string{"1.1.1.1, 203.0.113.9, 10.9.9.9"}, "203.0.113.9"},        // the first one is what a client wrote
		{"10.1.2.3:5", []string{"1.1.1.1", "203.0.113.9,10.9.9.9"}, "203.0.113.9"},       // of two headers
		{"10.1.2.3:5", []string{"10.7.7.7, 10.9.9.9"}, "10.7.7.7"},                       // a client of the own network
		{"10.1.2.3:5", []string{"203.0.113.9, unknown, 10.9.9.9"}, "10.9.9.9"},           // nobody says who asked that proxy
		{"10.1.2.3:5", []string{"203.0.113.9, "}, "10.1.2.3"},                            // nor this one
		{"10.1.2.3:5", nil, "10.1.2.3"},                                                  // the proxy itself
		{"203.0.113.1:5", []string{"10.1.2.3"}, "203.0.113.1"},                           // no proxy
		{"192.0.2.2:5", []string{"1.1.1.1"}, "192.0.2.2"},                                // beside one
		{"@", []string{"1.1.1.1"}, "@"},                                                  // a socket
		{"10.1.2.3:5", []string{"203.0.113.9\x00", "999.1.1.1", "1.2.3.4:"}, "10.1.2.3"}, // nonsense
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{"X-Forwarded-For": c.headers}, TLS: &tls.ConnectionState{}}
		require.Equal(t, c.want, clientOf(r, proxies), "%+v", c)
	}
	r := &http.Request{RemoteAddr: "10.1.2.3:5", Header: http.Header{"X-Forwarded-For": {"203.0.113.9"}}}
	require.Equal(t, "10.1.2.3", clientOf(r, nil), "no proxy is trusted without being named")
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{Subject: pkix.Name{CommonName: "proxy"}}}}
	require.Equal(t, "203.0.113.9", clientOf(r, proxies), "the certificate is the proxy's")
	for _, wrong := range []string{"", "10.0.0.0/33", "proxy", "10.0.0.1:80", "*", "::ffff:10.0.0.0/104"} {
		_, err := ParseProxies([]string{"10.0.0.0/8", wrong})
		require.ErrorContains(t, err, "need an address or a network", wrong)
	}
}

// TestAccessBehindProxy: the log names the client and the proxy.
func TestAccessBehindProxy(t *testing.T) {
	var log bytes.Buffer
	s := newServer(t, func(o *Options) {
		o.Models, o.Access, o.Log = []Source{{Name: "universal-1", Path: "universal-1"}}, true, slog.New(slog.NewJSONHandler(&log, nil))
		o.Proxies, _ = ParseProxies([]string{"192.0.2.0/24"})
	})
	log.Reset()
	r := httptest.NewRequest("GET", "/v2/health/live", nil) // from 192.0.2.1
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	s.ServeHTTP(httptest.NewRecorder(), r)
	var line struct{ Client, Proxy string }
	require.NoError(t, json.Unmarshal(log.Bytes(), &line), "%s", log.String())
	require.Equal(t, "203.0.113.9", line.Client)
	require.Equal(t, r.RemoteAddr, line.Proxy)
}
