//go:build linux

package serve

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/serve/client"
)

var long = flag.Bool("long", false, "attack the server for a minute in every way, not for a second")

// attackedMemory is what the attacked server may take, and attackedVariable has the test's program be that server.
const (
	attackedMemory   = 512 << 20
	attackedVariable = "EQUIVCNP_TEST_ATTACKED"
)

// TestAttackedServer is the server that TestMemoryUnderAttack attacks, in a process of its own. It serves until its standard input ends.
func TestAttackedServer(t *testing.T) {
	if os.Getenv(attackedVariable) == "" {
		t.Skip("skipped: TestMemoryUnderAttack runs it")
	}
	debug.SetMemoryLimit(attackedMemory + attackedMemory/10) // as the program does
	s := newServer(t, func(o *Options) { o.Memory, o.Timeout = attackedMemory, 5*time.Second })
	url, _ := listen(t, s, Limits{})
	fmt.Println("address " + url)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// resident is the memory that a process has now, in bytes.
func resident(t *testing.T, pid int) int64 {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	require.NoError(t, err)
	m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(b)
	require.NotNil(t, m)
	kb, err := strconv.ParseInt(string(m[1]), 10, 64)
	require.NoError(t, err)
	return kb << 10
}

// attack does harm to a server until ctx ends.
type attack struct {
	name    string
	clients int
	do      func(t *testing.T, url string, n int, ctx context.Context)
}

// attacks are those of issue and imagination: what becomes large, what does not come, what is long, and what is of ever another size.
func attacks(t *testing.T) []attack {
	bomb := bombOf(t, 48<<20)
	h2 := h2(t)
	send := func(ctx context.Context, url string, header map[string]string, body []byte) {
		r, err := http.NewRequestWithContext(ctx, "POST", url, bytes.NewReader(body))
		if err != nil {
			return
		}
		for k, v := range header {
			r.Header.Set(k, v)
		}
		if resp, err := h2.Do(r); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
	stall := func(ctx context.Context, url string, announced, sent int) {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			return
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /v2/models/rbf/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", announced)
		_ = c.SetWriteDeadline(time.Now().Add(5 * time.Second))
		_, _ = c.Write(bytes.Repeat([]byte{' '}, sent))
		select {
		case <-ctx.Done():
		case <-time.After(15 * time.Second):
		}
	}
	return []attack{
		{"bombs over gRPC", 16, func(_ *testing.T, url string, _ int, ctx context.Context) {
			send(ctx, url+"/"+service+"/ModelInfer", map[string]string{"Content-Type": "application/grpc", "Te": "trailers",
				"Grpc-Encoding": "gzip"}, framed(1, len(bomb), bomb))
		}},
		{"bombs over REST", 16, func(_ *testing.T, url string, _ int, ctx context.Context) {
			send(ctx, url+"/v2/models/rbf/infer", map[string]string{"Content-Encoding": "gzip"}, bomb)
		}},
		{"bodies that do not come", 64, func(_ *testing.T, url string, _ int, ctx context.Context) { stall(ctx, url, 64<<20, 1) }},
		{"bodies that stop", 4, func(_ *testing.T, url string, _ int, ctx context.Context) { stall(ctx, url, 32<<20, 24<<20) }},
		{"long JSON", 4, func(_ *testing.T, url string, _ int, ctx context.Context) {
			n := 400_000
			send(ctx, url+"/v2/models/rbf/infer", nil, []byte(`{"inputs":[{"name":"x_target","datatype":"FP64","shape":[1,`+
				strconv.Itoa(n)+`,1],"data":[`+strings.Repeat("1,", n-1)+`1]}]}`))
		}},
		{"large images", 2, func(t *testing.T, url string, _ int, ctx context.Context) {
			h, body := imagesBinary(t, nil, images(rngOf(1), 1, 1024, 1024))
			send(ctx, url+"/v2/models/digits/infer", h, body)
		}},
		{"images of every size", 8, func(t *testing.T, url string, n int, ctx context.Context) {
			rng := rand.New(rand.NewPCG(uint64(n), rand.Uint64()))
			h, body := imagesBinary(t, nil, images(rng, 1, 4+rng.IntN(60), 4+rng.IntN(60)))
			send(ctx, url+"/v2/models/digits/infer", h, body)
		}},
	}
}

// TestCurvesMemory: curves that would be computed with more memory than the server has are refused, whatever the machine has.
func TestCurvesMemory(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models, o.Memory = []Source{{Name: "levels", Path: "rbf-levels"}}, 64<<20 })
	h, body := curvesBinary(t, nil, curves(rngOf(1), 1, 5, 20_000))
	w := do(s, "POST", "/v2/models/levels/infer", h, body)
	require.Equal(t, http.StatusRequestEntityTooLarge, w.Code, "%.200s", w.Body)
	require.Contains(t, w.Body.String(), "too much memory")
	h, body = curvesBinary(t, nil, curves(rngOf(1), 1, 5, 2_000))
	require.Equal(t, http.StatusOK, do(s, "POST", "/v2/models/levels/infer", h, body).Code)
}

// lastWait is how much longer an attack lasts where nobody else was answered yet: the machine may do other things.
const lastWait = time.Minute

// TestMemoryUnderAttack: whatever clients do, the server's memory stays within a fifth above its bound, and others are answered.
func TestMemoryUnderAttack(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short; the attacks take half a minute (make test runs it)")
	}
	each := time.Second
	if *long {
		each = time.Minute
	}
	program, err := os.Executable()
	require.NoError(t, err)
	server := exec.Command(program, "-test.run", "^TestAttackedServer$")
	server.Env = append(os.Environ(), attackedVariable+"=1")
	server.Stderr = os.Stderr
	stdin, err := server.StdinPipe()
	require.NoError(t, err)
	stdout, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	defer func() {
		stdin.Close()
		_ = server.Wait()
	}()
	lines, url := bufio.NewScanner(stdout), ""
	for url == "" && lines.Scan() {
		url, _ = strings.CutPrefix(lines.Text(), "address ")
	}
	require.NotEmpty(t, url)
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	honest := client.New(url, client.Options{})
	task := curves(rngOf(1), 1, 5, 5)
	for _, a := range attacks(t) {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		var wait sync.WaitGroup
		for n := range a.clients {
			wait.Go(func() {
				for ctx.Err() == nil {
					a.do(t, url, n, ctx)
				}
			})
		}
		var answered, refused atomic.Int64
		wait.Go(func() {
			for ctx.Err() == nil {
				if _, err := honest.Predict(ctx, "rbf", task, 1, 1); err == nil {
					answered.Add(1)
				} else if ctx.Err() == nil {
					refused.Add(1)
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
		most := int64(0)
		for time.Since(began) < each || answered.Load() == 0 && time.Since(began) < each+lastWait {
			most = max(most, resident(t, server.Process.Pid))
			time.Sleep(20 * time.Millisecond)
		}
		cancel()
		wait.Wait()
		t.Logf("%-24s %4d MB of %d, %d others answered, %d refused", a.name, most>>20, attackedMemory>>20, answered.Load(), refused.Load())
		require.LessOrEqual(t, most, int64(attackedMemory)*6/5, a.name)
		require.Positive(t, answered.Load(), a.name)
	}
}
