package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// safeBuffer is a buffer that one goroutine writes while another reads.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestServe runs the command, asks it, and stops it as a signal does.
func TestServe(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("secret\n"), 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var log safeBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--model", "rbf=rbf-equivcnp", "--model", "digits-T2-small", "--listen", "127.0.0.1:0",
			"--pprof", "127.0.0.1:0", "--token-file", token, "--memory", "1G", "--log", "debug"}, strings.NewReader(""), io.Discard, &log)
	}()
	addresses := map[string]string{}
	require.Eventually(t, func() bool {
		for line := range strings.Lines(log.String()) {
			var v struct{ Msg, Address string }
			if json.Unmarshal([]byte(line), &v) == nil && v.Address != "" {
				addresses[v.Msg] = v.Address
			}
		}
		return len(addresses) == 2 && strings.Contains(log.String(), `"msg":"ready"`)
	}, 30*time.Second, 10*time.Millisecond, "%s", &log)
	get := func(url string, header string) (int, string) {
		r, err := http.NewRequest("GET", url, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", header)
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(b)
	}
	url := "http://" + addresses["listening"]
	status, body := get(url+"/v2/health/ready", "")
	require.Equal(t, 200, status, body)
	status, _ = get(url+"/v2/models/rbf", "")
	require.Equal(t, 401, status)
	status, body = get(url+"/v2/models/digits-T2-small", "Bearer secret")
	require.Equal(t, 200, status)
	require.Contains(t, body, `"digits-T2-small"`)
	status, _ = get("http://"+addresses["profiles"]+"/debug/pprof/goroutine", "")
	require.Equal(t, 200, status)
	status, _ = get(url+"/debug/pprof/", "Bearer secret")
	require.Equal(t, 404, status, "profiles are on their own address alone")
	http.DefaultClient.CloseIdleConnections()
	cancel()
	require.Equal(t, 0, <-ended, "%s", &log)
	require.Contains(t, log.String(), `"msg":"stopped"`)
}

// TestServeUsage: what the flags get wrong is said at once.
func TestServeUsage(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"--model none=missing.safetensors", 1, "shipped models"},
		{"--model a=rbf-equivcnp --model a=rbf-equivcnp", 1, `two models are called "a"`},
		{"--model a/b=rbf-equivcnp", 1, "no name"},
		{"--memory lots", 2, "--memory"},
		{"--batch 0", 2, "--batch"},
		{"--timeout -1s", 2, "--timeout"},
		{"--precision int8", 2, "--precision"},
		{"--log loud", 2, "--log"},
		{"--tls-cert c.pem", 2, "tls-key"},
		{"--tls-cert c.pem --tls-key k.pem", 1, "c.pem"},
		{"--token-file missing", 1, "missing"},
		{"--listen nowhere:99999", 1, "99999"},
	} {
		var stderr bytes.Buffer
		args := append([]string{"serve", "--listen", "127.0.0.1:0"}, strings.Fields(c.args)...)
		require.Equal(t, c.status, run(context.Background(), args, strings.NewReader(""), io.Discard, &stderr), "%s: %s", c.args, &stderr)
		require.Contains(t, stderr.String(), c.says, c.args)
	}
}
