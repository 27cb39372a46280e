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
	"path/filepath"
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
