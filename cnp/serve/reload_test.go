package serve

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/serve/inference"
)

// TestFolderLinks: a link to itself, and one that may not be followed, hide no other file, are said once, and are served once they can be.
func TestFolderLinks(t *testing.T) {
	dir := t.TempDir()
	saveModel(t, filepath.Join(dir, "a.safetensors"), "rbf-equivcnp")
	loop := filepath.Join(dir, "b.safetensors")
	require.NoError(t, os.Symlink(loop, loop))
	var log bytes.Buffer
	s := newServer(t, func(o *Options) {
		o.Models, o.Folders, o.Poll, o.Log = nil, []string{dir}, time.Hour, slog.New(slog.NewJSONHandler(&log, nil))
	})
	for range 3 {
		require.NoError(t, s.Rescan())
	}
	require.Equal(t, 200, do(s, "GET", "/v2/models/a", nil, nil).Code)
	require.Equal(t, 1, strings.Count(log.String(), `"model file not served"`), "%s", &log)
	index := do(s, "POST", "/v2/repository/index", nil, []byte(`{"ready": false}`)).Body.String()
	require.Contains(t, index, `"name":"b","state":"UNAVAILABLE","reason":"`)
	require.NotContains(t, do(s, "POST", "/v2/repository/index", nil, []byte(`{"ready": true}`)).Body.String(), `"b"`)
	require.Equal(t, 400, do(s, "POST", "/v2/repository/index", nil, []byte(`{`)).Code)
	saveModel(t, filepath.Join(dir, "c.safetensors"), "rbf-equivcnp")
	require.NoError(t, s.Rescan())
	require.Equal(t, 200, do(s, "GET", "/v2/models/c", nil, nil).Code)
	require.NoError(t, os.Remove(loop))
	require.NoError(t, os.Symlink(filepath.Join(dir, "a.safetensors"), loop))
	require.NoError(t, s.Rescan())
	require.Equal(t, 200, do(s, "GET", "/v2/models/b", nil, nil).Code)
	require.NoError(t, os.Remove(loop)) // what was served becomes a loop: it goes on
	require.NoError(t, os.Symlink(loop, loop))
	require.NoError(t, s.Rescan())
	require.Equal(t, 200, do(s, "GET", "/v2/models/b", nil, nil).Code)
	require.Equal(t, 1, strings.Count(log.String(), "not served; what was served under its name goes on"), "%s", &log)
}

// TestFolderMode: a file that could not be read is tried again when its mode changes, though neither its size nor its time does.
func TestFolderMode(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root reads everything: only the state is compared")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a.safetensors")
	saveModel(t, path, "rbf-equivcnp")
	require.NoError(t, os.Chmod(path, 0))
	state := func() fileState {
		f := newFolderState()
		require.NoError(t, f.list(dir))
		return f.found["a"]
	}
	s := newServer(t, func(o *Options) { o.Models, o.Folders, o.Poll = nil, []string{dir}, time.Hour })
	before := state()
	require.NoError(t, os.Chmod(path, 0o644))
	require.False(t, state().same(before))
	require.NoError(t, s.Rescan())
	require.Equal(t, 200, do(s, "GET", "/v2/models/a", nil, nil).Code)
}

// TestFolderRename: a file that is renamed over another is noticed, though it is as long and as old, as one from an archive may be.
func TestFolderRename(t *testing.T) {
	dir := t.TempDir()
	path, next, old := filepath.Join(dir, "a.safetensors"), filepath.Join(dir, "next"), time.Unix(1e9, 0)
	saveModel(t, path, "rbf-equivcnp")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	b[len(b)-1] ^= 0x80 // the sign of the last parameter
	require.NoError(t, os.WriteFile(next, b, 0o600))
	for _, file := range []string{path, next} {
		require.NoError(t, os.Chmod(file, 0o644))
		require.NoError(t, os.Chtimes(file, old, old))
	}
	s := newServer(t, func(o *Options) { o.Models, o.Folders, o.Poll = nil, []string{dir}, time.Hour })
	digest := func() any {
		return object(t, do(s, "GET", "/v2/models/a", nil, nil).Body.Bytes())["properties"].(map[string]any)["digest"]
	}
	before := digest()
	require.NoError(t, s.Rescan())
	require.Equal(t, before, digest())
	require.NoError(t, os.Rename(next, path))
	require.NoError(t, s.Rescan())
	require.NotEqual(t, before, digest())
}

// TestStopWhileWarming: a server that is closed before its plans are made does not say that it is ready.
func TestStopWhileWarming(t *testing.T) {
	var log bytes.Buffer
	s := newServer(t, func(o *Options) { o.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.warming.Store(true)
	s.warmAll(ctx)
	require.False(t, s.ready())
	require.NotContains(t, log.String(), `"ready"`)
	require.NotContains(t, log.String(), "no plan")
	s.warmAll(t.Context())
	require.True(t, s.ready())
	require.Contains(t, log.String(), `"ready"`)
}

// TestFolderTwice: of models of one name the first is served, and the log has the files of the others, once.
func TestFolderTwice(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for _, dir := range []string{one, two} {
		saveModel(t, filepath.Join(dir, "a.safetensors"), "rbf-equivcnp")
		saveModel(t, filepath.Join(dir, "b.safetensors"), "rbf-equivcnp")
	}
	saveModel(t, filepath.Join(one, "own.safetensors"), "rbf-equivcnp")
	var log bytes.Buffer
	s := newServer(t, func(o *Options) {
		o.Models = []Source{{Name: "a", Path: "rbf-equivcnp"}, {Name: "own", Path: filepath.Join(one, "own.safetensors")}}
		o.Folders, o.Poll, o.Log = []string{one, two, one}, time.Hour, slog.New(slog.NewJSONHandler(&log, nil))
	})
	require.NoError(t, s.Rescan())
	var hidden []string
	for line := range strings.Lines(log.String()) {
		if v := object(t, []byte(line)); v["msg"] == "model file not served: another model has its name" {
			hidden = append(hidden, v["path"].(string)+" "+v["served"].(string))
		}
	}
	require.ElementsMatch(t, []string{
		filepath.Join(one, "a.safetensors") + " rbf-equivcnp", filepath.Join(two, "a.safetensors") + " rbf-equivcnp",
		filepath.Join(two, "b.safetensors") + " " + filepath.Join(one, "b.safetensors"),
	}, hidden)
	require.Equal(t, 200, do(s, "GET", "/v2/models/b", nil, nil).Code)
}

// TestReload: models and token are read again, and what cannot be stays as it was.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	path, token := filepath.Join(dir, "m.safetensors"), filepath.Join(dir, "token")
	saveModel(t, path, "rbf-equivcnp")
	require.NoError(t, os.WriteFile(token, []byte("  first \n"), 0o600))
	var log bytes.Buffer
	s := newServer(t, func(o *Options) {
		o.Models, o.TokenFile, o.Log = []Source{{Name: "m", Path: path}}, token, slog.New(slog.NewJSONHandler(&log, nil))
		o.Poll = time.Hour
	})
	get := func(auth string) (int, string) {
		w := do(s, "GET", "/v2/models/m", map[string]string{"Authorization": auth}, nil)
		return w.Code, w.Body.String()
	}
	for _, auth := range []string{"Bearer first", "bearer first", "BEARER   first  "} {
		code, _ := get(auth)
		require.Equal(t, 200, code, auth)
	}
	for _, auth := range []string{"", "first", "Bearer second", "Basic first", "Bearer"} {
		code, _ := get(auth)
		require.Equal(t, 401, code, auth)
	}
	require.Contains(t, do(s, "GET", "/metrics", map[string]string{"Authorization": "Bearer first"}, nil).Body.String(),
		`equivcnp_refused_total{reason="token"} 5`)
	require.Contains(t, log.String(), "requests without the token")
	_, first := get("Bearer first")

	require.NoError(t, os.WriteFile(token, []byte("second"), 0o600))
	saveModel(t, path, "matern-equivcnp")
	require.NoError(t, s.Reload())
	code, second := get("Bearer second")
	require.Equal(t, 200, code)
	require.NotEqual(t, first, second, "the digest is another")
	code, _ = get("Bearer first")
	require.Equal(t, 401, code)

	require.NoError(t, os.WriteFile(token, nil, 0o600))
	require.NoError(t, os.WriteFile(path, []byte("garbage"), 0o600))
	err := s.Reload()
	require.ErrorContains(t, err, "token")
	require.ErrorContains(t, err, `model "m"`)
	code, again := get("Bearer second")
	require.Equal(t, 200, code)
	require.Equal(t, second, again)
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue writes a certificate and its key to PEM files; a nil authority signs itself.
func issue(t *testing.T, a *authority, serial int64, cert, key string) *authority {
	t.Helper()
	return issueUntil(t, a, serial, cert, key, time.Now().Add(time.Hour))
}

func issueUntil(t *testing.T, a *authority, serial int64, cert, key string, end time.Time) *authority {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test"},
		NotBefore: end.Add(-2 * time.Hour), NotAfter: end,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: a == nil, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	parent, signer := template, own
	if a != nil {
		parent, signer = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &own.PublicKey, signer)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(own)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &authority{parsed, own}
}

// lockedBuffer is a log that is read while others write it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestCertificates: certificates are read again when their files change, kept when those are damaged, and asked of clients.
func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	ca := issue(t, nil, 1, file("ca.pem"), file("ca.key"))
	issue(t, ca, 2, file("cert.pem"), file("key.pem"))
	issue(t, ca, 3, file("client.pem"), file("client.key"))
	var log lockedBuffer
	config, err := Certificates(file("cert.pem"), file("key.pem"), file("ca.pem"), slog.New(slog.NewJSONHandler(&log, nil)))
	require.NoError(t, err)
	s := newServer(t, func(o *Options) { o.Models = testSources[1:] })
	url, _ := listen(t, s, Limits{TLS: config})
	url = strings.Replace(url, "http:", "https:", 1)
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	pair, err := tls.LoadX509KeyPair(file("client.pem"), file("client.key"))
	require.NoError(t, err)
	get := func(client []tls.Certificate) (serial int64, err error) {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: client}, ForceAttemptHTTP2: true}
		defer transport.CloseIdleConnections()
		resp, err := (&http.Client{Transport: transport}).Get(url + "/v2/health/ready")
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		require.Equal(t, 200, resp.StatusCode)
		require.Equal(t, 2, resp.ProtoMajor)
		return resp.TLS.PeerCertificates[0].SerialNumber.Int64(), nil
	}
	mine := []tls.Certificate{pair}
	serial, err := get(mine)
	require.NoError(t, err)
	require.EqualValues(t, 2, serial)
	_, err = get(nil)
	require.Error(t, err, "a client without a certificate")
	issue(t, ca, 4, file("cert.pem"), file("key.pem"))
	require.Eventually(t, func() bool { serial, err = get(mine); return err == nil && serial == 4 }, 10*time.Second, 100*time.Millisecond)
	require.NoError(t, os.WriteFile(file("cert.pem"), []byte("garbage"), 0o600))
	for range 2 { // tried twice, said once
		time.Sleep(lookEvery + 100*time.Millisecond)
		serial, err = get(mine)
		require.NoError(t, err)
		require.EqualValues(t, 4, serial)
	}
	require.Equal(t, 1, strings.Count(log.String(), "certificates not replaced"), log.String())
	_, err = Certificates(file("cert.pem"), file("key.pem"), "", nil)
	require.ErrorContains(t, err, "certificate "+file("cert.pem")+" and key "+file("key.pem")+": ")
	issue(t, ca, 5, file("cert.pem"), file("key.pem"))
	_, err = Certificates(file("cert.pem"), file("key.pem"), file("key.pem"), nil)
	require.ErrorContains(t, err, "no certificate in PEM")
	require.NotContains(t, log.String(), "not valid now")
	for _, end := range []time.Time{time.Now().Add(-time.Minute), time.Now().Add(3 * time.Hour)} {
		var log lockedBuffer
		issueUntil(t, ca, 6, file("cert.pem"), file("key.pem"), end)
		_, err = Certificates(file("cert.pem"), file("key.pem"), "", slog.New(slog.NewJSONHandler(&log, nil)))
		require.NoError(t, err)
		require.Contains(t, log.String(), "not valid now")
		require.Contains(t, log.String(), file("cert.pem"))
	}
}

// TestErrorLog: what the listener cannot do is a warning; what single clients do wrong is for those who look for it.
func TestErrorLog(t *testing.T) {
	var out bytes.Buffer
	l := errorLog{slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for text, level := range map[string]string{
		"http: Accept error: accept tcp [::]:8080: accept4: too many open files; retrying in 5ms\n": "WARN",
		"http: TLS handshake error from 1.2.3.4:5: EOF\n":                                           "DEBUG",
		"http: panic serving 1.2.3.4:5: x\n":                                                        "ERROR",
	} {
		out.Reset()
		_, err := l.Write([]byte(text))
		require.NoError(t, err)
		require.Contains(t, out.String(), "level="+level)
	}
}

// TestAccess: with Options.Access every request has a line, with the id that its client gave it, or one of the server's.
func TestAccess(t *testing.T) {
	var out bytes.Buffer
	s := newServer(t, func(o *Options) {
		o.Models, o.Access, o.Log = testSources[1:], true, slog.New(slog.NewJSONHandler(&out, nil))
	})
	last := func() map[string]any {
		lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
		return object(t, lines[len(lines)-1])
	}
	trace := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	w := do(s, "POST", "/v2/models/rbf/infer", map[string]string{"X-Request-Id": "seven", "Traceparent": trace},
		curvesJSON(t, curves(rngOf(1), 3, 2, 2)))
	require.Equal(t, "seven", w.Header().Get("X-Request-Id"))
	line := last()
	for key, want := range map[string]any{"msg": "access", "id": "seven", "status": 200., "model": "rbf", "tasks": 3.,
		"traceparent": trace, "method": "POST", "path": "/v2/models/rbf/infer"} {
		require.Equal(t, want, line[key], key)
	}
	require.NotEmpty(t, line["client"])
	require.EqualValues(t, w.Body.Len(), line["bytes"])
	w = do(s, "GET", "/v2/models/none", map[string]string{"X-Request-Id": "two words"}, nil)
	require.NotEqual(t, "two words", w.Header().Get("X-Request-Id"))
	require.Equal(t, w.Header().Get("X-Request-Id"), last()["id"])
	require.Equal(t, 404., last()["status"])
	long := strings.Repeat("é", 20000) // of what may be as long as a header, a line holds the beginning
	do(s, "GET", "/v2/"+url.PathEscape(long), map[string]string{"User-Agent": long, "Traceparent": long}, nil)
	require.Less(t, out.Len()-bytes.LastIndexByte(out.Bytes()[:out.Len()-1], '\n'), 16<<10)
	require.Equal(t, strings.Repeat("é", maxLogged/2)+"...", last()["agent"])
	url, _ := listen(t, s, Limits{})
	status, _ := rawGRPC(t, h2(t), url, nil, framed(0, 0, nil))
	require.Equal(t, "5", status)
	require.Eventually(t, func() bool { return last()["grpc"] == "not_found" }, 5*time.Second, 10*time.Millisecond)
}

// TestFolderNames: a file whose name is not UTF-8 is not served, and the index is answered over both protocols all the same.
func TestFolderNames(t *testing.T) {
	dir := t.TempDir()
	saveModel(t, filepath.Join(dir, "a.safetensors"), "rbf-equivcnp")
	bad := filepath.Join(dir, "b\xff.safetensors")
	if err := os.Symlink(filepath.Join(dir, "a.safetensors"), bad); err != nil {
		require.NotEqual(t, "linux", runtime.GOOS, err) // which has such names
		t.Skipf("skipped: file systems of %s have no such names: %v", runtime.GOOS, err)
	}
	s := newServer(t, func(o *Options) { o.Models, o.Folders, o.Poll = nil, []string{dir}, time.Hour })
	url, _ := listen(t, s, Limits{})
	require.Equal(t, 404, do(s, "GET", "/v2/models/b%FF", nil, nil).Code)
	require.Equal(t, 404, do(s, "POST", "/v2/models/b%FF/infer", nil, curvesJSON(t, curves(rngOf(1), 1, 2, 3))).Code)
	require.Contains(t, do(s, "GET", "/v2/repository/index", nil, nil).Body.String(), `"name":"b?","state":"UNAVAILABLE","reason":"`)
	index, err := grpcClient[inference.RepositoryIndexRequest, inference.RepositoryIndexResponse](url, "RepositoryIndex").CallUnary(
		t.Context(), connect.NewRequest(&inference.RepositoryIndexRequest{}))
	require.NoError(t, err)
	require.Len(t, index.Msg.Models, 2)
	require.Equal(t, "b?", index.Msg.Models[1].Name)
}

// TestNames: names that no path can hold are refused where they are given.
func TestNames(t *testing.T) {
	for _, name := range []string{"", ".", "..", "a b", "a/b", "a%b", "\xff", strings.Repeat("a", 129)} {
		_, err := New(Options{Models: []Source{{Name: name, Path: "rbf-equivcnp"}}})
		require.ErrorContains(t, err, "not a valid model name", "%q", name)
	}
	for _, name := range []string{"...", "a.b", "模型"} {
		require.NoError(t, checkName(name), name)
	}
}
