package serve

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// goroutines waits until there are no more than n again.
func goroutines(t *testing.T, n int) {
	t.Helper()
	ok := false
	for range 500 {
		if ok = runtime.NumGoroutine() <= n; ok {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !ok {
		b := make([]byte, 1<<20)
		t.Fatalf("%d goroutines, there were %d:\n%s", runtime.NumGoroutine(), n, b[:runtime.Stack(b, true)])
	}
}

// TestBrokenChunks: a body whose chunks cannot be read is a mistake of the client, and no slowness after which it should send it again.
func TestBrokenChunks(t *testing.T) {
	url, _ := listen(t, newServer(t, nil), Limits{})
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	defer c.Close()
	io.WriteString(c, "POST /v2/models/rbf/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, 400, answer.StatusCode)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), "the body could not be read")
}

// TestClientFaults: clients that vanish, send slowly, send nonsense or never read leave nothing behind, and others are answered meanwhile.
func TestClientFaults(t *testing.T) {
	before := runtime.NumGoroutine()
	s := newServer(t, nil)
	url, stop := listen(t, s, Limits{})
	address := strings.TrimPrefix(url, "http://")
	h, body := imagesBinary(t, nil, images(rngOf(1), 4, 32, 32))
	head := fmt.Sprintf("POST /v2/models/digits/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s: %s\r\n\r\n", len(body),
		headerLength, h[headerLength])
	dial := func() net.Conn {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		return c
	}
	var open []net.Conn
	for range 5 {
		c := dial() // vanishes in the middle of the body
		io.WriteString(c, head)
		c.Write(body[:len(body)/2])
		c.Close()

		c = dial() // vanishes while it is computed
		io.WriteString(c, head)
		c.Write(body)
		c.Close()

		c = dial() // never reads
		for range 8 {
			io.WriteString(c, head)
			c.Write(body)
		}
		open = append(open, c)

		c = dial() // sends slowly
		io.WriteString(c, head)
		c.Write(body[:100])
		open = append(open, c)

		c = dial() // sends nonsense
		io.WriteString(c, "\x16\x03\x01 hello\r\n\r\n")
		c.Close()

		c = dial() // says that it speaks HTTP/2, and then nonsense
		io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+strings.Repeat("\xff", 100))
		c.Close()

		status, _, answer := post(t, url+"/v2/models/digits/infer", h, body)
		require.Equal(t, 200, status, "%s", answer)
	}
	for _, c := range open {
		c.Close()
	}
	require.Eventually(t, func() bool {
		s.bytes.mu.Lock()
		defer s.bytes.mu.Unlock()
		s.queue.mu.Lock()
		defer s.queue.mu.Unlock()
		return s.bytes.used == 0 && len(s.queue.waiting) == 0 && len(s.queue.running) == 0 && s.queue.tasks == 0
	}, 20*time.Second, 10*time.Millisecond)
	require.NoError(t, stop())
	s.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	goroutines(t, before+2)
}

// saveModel writes a shipped model to a file, as a program that replaces it does.
func saveModel(t *testing.T, path, name string) {
	t.Helper()
	require.NoError(t, weights.Save(path, shipped(t, name), map[string]string{pretrained.KeyTasks: "a test"}))
}

// TestFolder: files are served, replaced and removed; garbage keeps what was there and is reported; what is under way finishes on the old
// model.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	saveModel(t, filepath.Join(dir, "a.safetensors"), "digits-T2-small")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("x"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.safetensors"), []byte("garbage"), 0o600))
	s := newServer(t, func(o *Options) { o.Models, o.Folders, o.Poll = nil, []string{dir}, time.Hour })
	index := func() string { return do(s, "GET", "/v2/repository/index", nil, nil).Body.String() }
	require.Contains(t, index(), `{"name":"a","version":"1","state":"READY","reason":""}`)
	require.Contains(t, index(), `{"name":"b","state":"UNAVAILABLE","reason":"`)

	im := images(rngOf(1), 1, 24, 24)
	want := wantImages(t, im)
	h, body := imagesBinary(t, nil, im)
	ask := func() {
		w := do(s, "POST", "/v2/models/a/infer", h, body)
		require.Equal(t, 200, w.Code, "%s", w.Body)
		sameBits(t, want.Mean, answerBinary(t, w.Header(), w.Body.Bytes())["mean"], "mean")
	}
	ask()

	// A request under way while its file becomes garbage, and then a model of curves.
	held := make(chan struct{})
	compute := s.queue.compute
	s.queue.compute = func(ctx context.Context, jobs []*job) error {
		<-held
		return compute(ctx, jobs)
	}
	var wait sync.WaitGroup
	wait.Go(ask)
	require.Eventually(t, func() bool { s.queue.mu.Lock(); defer s.queue.mu.Unlock(); return len(s.queue.running) == 1 },
		10*time.Second, time.Millisecond)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.safetensors"), bytes.Repeat([]byte("garbage"), 1000), 0o600))
	require.NoError(t, s.Rescan())
	require.Contains(t, index(), `{"name":"a","version":"1","state":"READY","reason":"`)
	require.NotContains(t, index(), `{"name":"a","version":"1","state":"READY","reason":""}`)
	saveModel(t, filepath.Join(dir, "a.safetensors"), "rbf-equivcnp")
	require.NoError(t, s.Rescan())
	require.Contains(t, do(s, "GET", "/v2/models/a", nil, nil).Body.String(), "x_context")
	close(held)
	wait.Wait()
	require.Equal(t, 400, do(s, "POST", "/v2/models/a/infer", h, body).Code, "it has no images any more")
	s.plans.mu.Lock()
	require.Empty(t, s.plans.entries, "the old model's plans are gone")
	s.plans.mu.Unlock()

	require.NoError(t, os.Remove(filepath.Join(dir, "a.safetensors")))
	require.NoError(t, os.Rename(dir, dir+"2"))
	require.Error(t, s.Rescan(), "a folder that is away for a moment takes no model with it")
	require.Equal(t, 200, do(s, "GET", "/v2/models/a", nil, nil).Code)
	require.NoError(t, os.Rename(dir+"2", dir))
	require.NoError(t, s.Rescan())
	require.Equal(t, 404, do(s, "GET", "/v2/models/a", nil, nil).Code)
	require.Zero(t, s.plans.used)
}

// TestStop: of the requests that were accepted when the end is asked for, under load, none is lost, and what came too late is told so.
func TestStop(t *testing.T) {
	before := runtime.NumGoroutine()
	s := newServer(t, func(o *Options) { o.Batch = 4 })
	url, stop := listen(t, s, Limits{Linger: 300 * time.Millisecond})
	h, body := imagesBinary(t, nil, images(rngOf(1), 1, 32, 32))
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	client := &http.Client{Transport: transport}
	var answered, refused atomic.Int64
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			for {
				r, err := http.NewRequest("POST", url+"/v2/models/digits/infer", bytes.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set(headerLength, h[headerLength])
				r.GetBody = nil // no second try behind the test's back
				resp, err := client.Do(r)
				if err != nil { // the listener is closed: nobody has seen the request, as is checked below
					refused.Add(1)
					return
				}
				b, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != 200 {
					t.Errorf("%d %s: %v", resp.StatusCode, b, err)
					return
				}
				answered.Add(1)
			}
		})
	}
	require.Eventually(t, func() bool { return answered.Load() > 50 }, 60*time.Second, time.Millisecond)
	ready := do(s, "GET", "/v2/health/ready", nil, nil).Code
	require.NoError(t, stop())
	wait.Wait()
	require.Equal(t, 200, ready)
	require.Equal(t, 503, do(s, "GET", "/v2/health/ready", nil, nil).Code)
	require.Equal(t, 503, do(s, "GET", "/v2/models/digits/ready", nil, nil).Code)
	require.EqualValues(t, 16, refused.Load())
	// The server counts the requests that it began with: each of them was answered, and its client has the answer.
	counts := do(s, "GET", "/metrics", nil, nil).Body.String()
	require.Contains(t, counts, fmt.Sprintf("equivcnp_requests_total{model=\"digits\",protocol=\"rest\",status=\"200\"} %d\n",
		answered.Load()))
	require.Equal(t, 1, strings.Count(counts, "\nequivcnp_requests_total{"))
	transport.CloseIdleConnections()
	s.Close()
	goroutines(t, before+2)
}

// TestBounds: bytes, plans and connections beyond their bounds are refused.
func TestBounds(t *testing.T) {
	// With an hour for a request no image is refused because this machine is slow.
	s := newServer(t, func(o *Options) { o.Memory, o.PlanMemory, o.Timeout = 400<<20, 200<<20, time.Hour })
	url, _ := listen(t, s, Limits{Connections: 3})
	ask := func(size int) int {
		h, body := imagesBinary(t, nil, images(rngOf(1), 1, size, size))
		return do(s, "POST", "/v2/models/digits/infer", h, body).Code
	}
	for size := 20; size < 30; size++ { // more plans than there is room for: the oldest goes
		require.Equal(t, 200, ask(size))
		require.LessOrEqual(t, s.plans.used, s.plans.limit)
	}
	require.Equal(t, 413, ask(1500), "a plan beyond --plan-memory")

	s.bytes.mu.Lock()
	s.bytes.used = s.bytes.limit - 10
	s.bytes.mu.Unlock()
	h, body := imagesBinary(t, nil, images(rngOf(1), 1, 20, 20))
	w := do(s, "POST", "/v2/models/digits/infer", h, body)
	require.Equal(t, 503, w.Code)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	s.bytes.mu.Lock()
	s.bytes.used = 0
	s.bytes.mu.Unlock()
	require.Zero(t, s.bytes.used)

	address := strings.TrimPrefix(url, "http://")
	var open []net.Conn
	for range 3 {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		open = append(open, c)
	}
	time.Sleep(100 * time.Millisecond)
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	c.SetDeadline(time.Now().Add(10 * time.Second))
	_, err = c.Read(make([]byte, 1))
	require.Error(t, err, "it is closed at once")
	for _, c := range append(open, c) {
		c.Close()
	}
}

// fullDisk is where logs go when the disk is full.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestFullDisk: the server writes nothing but its log, and answers when that cannot be written.
func TestFullDisk(t *testing.T) {
	s := newServer(t, func(o *Options) {
		o.Log = slog.New(slog.NewJSONHandler(fullDisk{}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	require.Equal(t, 200, do(s, "POST", "/v2/models/rbf/infer", nil, curvesJSON(t, curves(rngOf(1), 1, 2, 3))).Code)
}
