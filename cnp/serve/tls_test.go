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
