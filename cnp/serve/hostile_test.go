package serve

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestHostile calls what is exported with what nobody should pass. Requests are the matter of fuzz targets.
func TestHostile(t *testing.T) {
	named := func(name string, f any, good ...any) {
		t.Helper()
		testkit.Hostile(t, "serve", name, f, good...)
	}
	named("New", func(o Options) {
		if s, err := New(o); err == nil {
			_ = s.Rescan()
			s.Close()
			s.Close()
		}
	}, Options{Models: testSources[1:], Folders: []string{t.TempDir()}, Memory: 1 << 30, PlanMemory: 1 << 28,
		Precision: "float32", Batch: 4, Slots: 1,
		Waiting: 8, Timeout: time.Second, Poll: time.Second, Body: 1 << 20, Token: "t", Version: "v"})
	s := newServer(t, nil)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	named("Serve", func(l Limits) {
		on, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer on.Close()
		_ = s.Serve(done, on, l)
	}, Limits{Connections: 2, Header: 1 << 12, HeaderTime: time.Second, IdleTime: time.Second, Streams: 3,
		Linger: time.Microsecond, Drain: time.Second})
	named("ListenAndServe", func(address string) { _ = s.ListenAndServe(done, address, Limits{}) }, "127.0.0.1:0")
	named("SpareThreads", func(n int) { SpareThreads(n)() }, 2)

	for want, opt := range map[string]Options{
		"serve: Slots is 2000, need 1 to 1024":                     {Slots: 2000},
		"serve: Batch is -1, need 1 to 2147483647":                 {Batch: -1},
		`serve: Precision is "half", need "float32" or "bfloat16"`: {Precision: "half"},
	} {
		_, err := New(opt)
		require.EqualError(t, err, want)
	}
	require.ErrorContains(t, s.Serve(done, nil, Limits{}), "no listener")
	on, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer on.Close()
	require.EqualError(t, s.Serve(done, on, Limits{Streams: -1}), "serve: limits: Streams is -1, need 0 to 2147483647")
}

// TestAmplified: JSON takes no more memory than is reserved for it, whatever it consists of, and neither does what is made of it.
func TestAmplified(t *testing.T) {
	const size = 3 << 20
	fill := func(before, each, after string) []byte {
		return []byte(before + strings.Repeat(each+",", size/(len(each)+1)) + each + after)
	}
	for _, c := range []struct{ says, before, each, after string }{
		{"inputs is of type number", `{"inputs":[`, "0", `]}`},
		{"at most 32 inputs", `{"inputs":[`, "{}", `]}`},
		{"at most 32 inputs", `{"outputs":[`, "{}", `]}`},
		{"more than 8 axes", `{"inputs":[{"name":"x_context","datatype":"FP64","data":0,"shape":[`, "1", `]}]}`},
		{"parameters of", `{"inputs":[],"parameters":{"a":[`, "{}", `]}}`},
		{"parameters of", `{"inputs":[],"parameters":{`, `"a":1`, `}}`},
		{"parameters of", `{"inputs":[{"parameters":{"a":[`, "[]", `]}}]}`},
	} {
		body := fill(c.before, c.each, c.after)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		in, err := parseHead(body)
		if err == nil {
			_, err = in.request(nil)
		}
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, c.says, c.each)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(jsonGrowth*len(body)), "%s%s", c.before, c.each)
	}
	require.ErrorContains(t, params{"quantiles": strings.Repeat(",", maxParameters+1)}.check(ofRequest, ""), "a text of 65537 bytes")

	s := newServer(t, func(o *Options) { o.Models, o.Memory = testSources[1:], 1<<29 })
	var v map[string]any
	require.NoError(t, json.Unmarshal(curvesJSON(t, curves(rngOf(1), 1, 2, 2)), &v))
	v["id"] = strings.Repeat("i", size)
	text, err := json.Marshal(v)
	require.NoError(t, err)
	w := do(s, "POST", "/v2/models/rbf/infer", nil, text)
	require.Equal(t, http.StatusRequestEntityTooLarge, w.Code, "an id comes back, and takes more as JSON: %.100s", w.Body)
}
