package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/serve"
	"github.com/equivcnp/equivcnp/internal/cli"
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
			"--pprof", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--access-log", "--token-file", token, "--memory", "1G",
			"--log", "debug"}, strings.NewReader(""), io.Discard, &log)
	}()
	addresses := map[string]string{}
	require.Eventually(t, func() bool {
		for line := range strings.Lines(log.String()) {
			var v struct{ Msg, Address string }
			if json.Unmarshal([]byte(line), &v) == nil && v.Address != "" {
				addresses[v.Msg] = v.Address
			}
		}
		return len(addresses) == 3 && strings.Contains(log.String(), `"msg":"ready"`)
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
	status, body = get("http://"+addresses["metrics"]+"/", "")
	require.Equal(t, 200, status)
	require.Contains(t, body, "equivcnp_build_info{")
	for _, args := range [][]string{{"health", "--address", url}, {"health", "--live", "--address", addresses["listening"]}} {
		var out, errs bytes.Buffer
		require.Equal(t, 0, run(ctx, args, strings.NewReader(""), &out, &errs), "%s", &errs)
		require.Contains(t, out.String(), "true")
	}
	var errs bytes.Buffer
	require.Equal(t, 1, run(ctx, []string{"health", "--address", addresses["profiles"]}, strings.NewReader(""), io.Discard, &errs))
	require.Contains(t, errs.String(), "404")
	require.NoError(t, os.WriteFile(token, []byte("other"), 0o600))
	if hangUp != nil {
		require.NoError(t, hangUp())
		require.Eventually(t, func() bool { return strings.Contains(log.String(), `"msg":"reloaded"`) }, 30*time.Second,
			10*time.Millisecond, "%s", &log)
		status, _ = get(url+"/v2/models/digits-T2-small", "bearer other")
		require.Equal(t, 200, status)
	}
	require.Contains(t, log.String(), `"msg":"access"`)
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
		{"--model a/b=rbf-equivcnp", 1, "not a valid model name"},
		{"--model missing/folder/", 1, "folder of models: stat missing/folder/: "},
		{"--model rbf-equivcnp --metrics 127.0.0.1:1:2", 1, "address of metrics: listen tcp: address 127.0.0.1:1:2"},
		{"--model rbf-equivcnp --pprof nohost", 1, "address of profiles: listen tcp: address nohost"},
		{"--memory lots", 2, "--memory"},
		{"--memory 512K --model rbf-equivcnp", 2, "--memory is 524288, need at least 1048576"},
		{"--batch 0", 2, "--batch"},
		{"--batch 3000000000", 2, "--batch is 3000000000, need 1 to"},
		{"--slots 5000", 2, "--slots is 5000, need 1 to 1024"},
		{"--queue 3000000000", 2, "--queue is 3000000000, need 0 to"},
		{"--model rbf-equivcnp --proxies 10.0.0.0/8,proxy", 2, `--proxies "proxy": need an address or a network, for example 10.0.0.0/8`},
		{"--model rbf-equivcnp --max-connections 3000000000", 2, "--max-connections is 3000000000, need 0 to"},
		{"--model rbf-equivcnp --linger 48h", 2, "--linger is 48h0m0s, need 0s to 24h0m0s"},
		{"--timeout -1s", 2, "--timeout"},
		{"--precision int8", 2, "--precision"},
		{"--log loud", 2, "--log"},
		{"--tls-cert c.pem", 2, "tls-key"},
		{"--tls-key k.pem", 2, "tls-cert"},
		{"--tls-cert c.pem --tls-key k.pem", 1, "c.pem"},
		{"--token-file missing", 1, "missing"},
		{"--tls-client-ca ca.pem", 2, "--tls-cert"},
		{"--config missing.yaml", 1, "missing.yaml"},
		{"--listen nowhere:99999", 1, "99999"},
	} {
		var stderr bytes.Buffer
		args := append([]string{"serve", "--listen", "127.0.0.1:0"}, strings.Fields(c.args)...)
		require.Equal(t, c.status, run(context.Background(), args, strings.NewReader(""), io.Discard, &stderr), "%s: %s", c.args, &stderr)
		require.Contains(t, stderr.String(), c.says, c.args)
	}
}

// TestServeSettings: flags stand in the environment and in a file; the command line wins over both, and the environment over the file.
func TestServeSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "serve.yaml")
	require.NoError(t, os.WriteFile(file, []byte(
		"listen: 127.0.0.1:1\nqueue: 7\nbatch: 3\nmodel: [a=rbf-levels, b=globe]\ntimeout: 5s\n"), 0o600))
	t.Setenv("EQUIVCNP_QUEUE", "8")
	t.Setenv("EQUIVCNP_MAX_BODY", "1M")
	t.Setenv("EQUIVCNP_PORT", "tcp://10.0.0.1:80") // as Kubernetes sets it for a service of that name
	cmd := (&app{}).serveCommand()
	require.NoError(t, cmd.ParseFlags([]string{"--batch", "4"}))
	require.NoError(t, serverSettings(cmd, file))
	for flag, want := range map[string]string{"listen": "127.0.0.1:1", "queue": "8", "batch": "4", "max-body": "1M",
		"model": "[a=rbf-levels,b=globe]", "timeout": "5s", "slots": "1"} {
		require.Equal(t, want, cmd.Flags().Lookup(flag).Value.String(), flag)
	}
	t.Setenv("EQUIVCNP_SLOTS", "many")
	require.ErrorContains(t, serverSettings((&app{}).serveCommand(), file), `EQUIVCNP_SLOTS: --slots "many": need a whole number`)
	t.Setenv("EQUIVCNP_SLOTS", "2")
	require.NoError(t, os.WriteFile(file, []byte("bacth: 3\n"), 0o600))
	require.ErrorContains(t, serverSettings((&app{}).serveCommand(), file), `did you mean "batch"?`)

	// What is said of a flag says the same of the environment and of the file.
	for _, c := range []struct{ variable, value, file, says string }{
		{"EQUIVCNP_THREADS", "100000", "", "--threads 100000: need 0 to 1024"},
		{"EQUIVCNP_SLOTS", "1", "threads: 100000", "--threads 100000: need 0 to 1024"},
		{"EQUIVCNP_TLS_KEY", "k.pem", "", "--tls-key needs --tls-cert"},
		{"EQUIVCNP_TLS_CERT", "c.pem", "", "--tls-cert needs --tls-key"},
		{"EQUIVCNP_TLS_CERT", "c.pem", "tls-client-ca: ca.pem", "--tls-cert needs --tls-key"},
	} {
		t.Run(c.variable+" "+c.file, func(t *testing.T) {
			t.Setenv(c.variable, c.value)
			require.NoError(t, os.WriteFile(file, []byte(c.file), 0o600))
			var stderr bytes.Buffer
			args := []string{"serve", "--listen", "127.0.0.1:0", "--config", file, "--model", "missing"}
			require.Equal(t, 2, run(context.Background(), args, strings.NewReader(""), io.Discard, &stderr), "%s", &stderr)
			require.Contains(t, stderr.String(), c.says)
		})
	}
	t.Setenv("EQUIVCNP_TLS_CERT", "c.pem")
	var stderr bytes.Buffer
	args := []string{"serve", "--listen", "127.0.0.1:0", "--tls-key", "k.pem", "--model", "missing"}
	require.Equal(t, 1, run(context.Background(), args, strings.NewReader(""), io.Discard, &stderr), "%s", &stderr)
	require.Contains(t, stderr.String(), "open c.pem")

	models, folders, err := serve.Sources([]string{"shipped", "mine=rbf-levels"})
	require.NoError(t, err)
	require.Empty(t, folders)
	require.Greater(t, len(models), 20)
	require.Equal(t, "mine", models[len(models)-1].Name)
}

// TestServeMemory: the collector keeps to --memory, if GOMEMLIMIT does not say otherwise.
func TestServeMemory(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	before := debug.SetMemoryLimit(-1)
	undo := serve.LimitMemory(1 << 30)
	require.EqualValues(t, 1<<30+(1<<30)/10, debug.SetMemoryLimit(-1))
	undo()
	require.Equal(t, before, debug.SetMemoryLimit(-1))
	t.Setenv("GOMEMLIMIT", "5GiB")
	serve.LimitMemory(1 << 30)()
	require.Equal(t, before, debug.SetMemoryLimit(-1))
}

// TestHealthAddress: where the server of an address is asked.
func TestHealthAddress(t *testing.T) {
	for address, want := range map[string]string{
		":8080": "http://localhost:8080/v2/health/ready", "0.0.0.0:80": "http://localhost:80/v2/health/ready",
		"[::]:80": "http://localhost:80/v2/health/ready",
		"h:1":     "http://h:1/v2/health/ready", "https://h:1/": "https://h:1/v2/health/ready",
		"http://h/below": "http://h/below/v2/health/ready",
	} {
		got, err := serve.HealthURL(address, false)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, address := range []string{"", "http://", "://", "\x00"} {
		_, err := serve.HealthURL(address, false)
		require.Error(t, err, "%q", address)
	}
	var errs bytes.Buffer
	require.Equal(t, 1, run(context.Background(), []string{"health", "--address", "127.0.0.1:1"}, strings.NewReader(""), io.Discard, &errs))
	require.Equal(t, 2, run(context.Background(), []string{"health", "--timeout", "0s"}, strings.NewReader(""), io.Discard, &errs))
}

// TestVersionFlag: a single dash will do.
func TestVersionFlag(t *testing.T) {
	for _, flag := range []string{"-version", "--version"} {
		var out bytes.Buffer
		require.Equal(t, 0, run(context.Background(), []string{flag}, strings.NewReader(""), &out, io.Discard))
		require.Contains(t, out.String(), cli.BuildVersion())
	}
}

// TestServerPage: docs/server.md has every flag of serve, with its default, and no other.
func TestServerPage(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("skipped: no files on " + runtime.GOOS)
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "server.md"))
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(text), "| flag | default | meaning |\n")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n\n")
	defaults := map[string]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		for _, name := range regexp.MustCompile("--([a-z][a-z-]*)").FindAllStringSubmatch(cells[1], -1) {
			defaults[name[1]] = strings.Trim(cells[2], " `")
		}
	}
	delete(defaults, "threads") // of all commands
	cmd := (&app{}).serveCommand()
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		said, there := defaults[f.Name]
		require.True(t, there, "docs/server.md has no --%s", f.Name)
		delete(defaults, f.Name)
		if value := f.DefValue; value != "" && value != "[]" && value != "0s" && value != "false" {
			require.Equal(t, value, said, "--%s", f.Name)
		}
	})
	require.Empty(t, defaults, "docs/server.md has flags that there are not")
}
