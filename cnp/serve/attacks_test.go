package serve

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/equivcnp/equivcnp/cnp/serve/inference"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// h2 is a client of HTTP/2 without TLS.
func h2(t testing.TB) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// packed compresses bytes.
func packed(t testing.TB, encoding string, b []byte) []byte {
	var out bytes.Buffer
	var z io.WriteCloser
	switch encoding {
	case "gzip":
		z = gzip.NewWriter(&out)
	case "deflate":
		z = zlib.NewWriter(&out)
	default: // deflate as some clients have it, without a header
		var err error
		z, err = flate.NewWriter(&out, flate.BestCompression)
		require.NoError(t, err)
	}
	_, err := z.Write(b)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return out.Bytes()
}

// bombOf is a gRPC message of one input of zeros, compressed.
func bombOf(t testing.TB, size int) []byte {
	message, err := proto.Marshal(&inference.ModelInferRequest{ModelName: "rbf", Inputs: []*inference.ModelInferRequest_InferInputTensor{
		{Name: "x_context", Datatype: "FP64", Shape: []int64{1, int64(size / 8), 1}}}, RawInputContents: [][]byte{make([]byte, size)}})
	require.NoError(t, err)
	return packed(t, "gzip", message)
}

// heapDuring returns the largest heap while f runs.
func heapDuring(f func()) uint64 {
	runtime.GC()
	done := make(chan struct{})
	most := make(chan uint64)
	go func() {
		var m runtime.MemStats
		largest := uint64(0)
		for {
			runtime.ReadMemStats(&m)
			largest = max(largest, m.HeapInuse)
			select {
			case <-done:
				most <- largest
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	f()
	close(done)
	return <-most
}

// TestCompressionBomb: a compressed message that becomes too large is refused before it has, by every method and protocol, and what
// compressed requests become is reserved.
func TestCompressionBomb(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models, o.Memory = testSources[1:], 256<<20 })
	url, _ := listen(t, s, Limits{})
	client := h2(t)
	bomb := bombOf(t, 24<<20)
	require.Less(t, len(bomb), 64<<10)
	most := heapDuring(func() {
		var wait sync.WaitGroup
		for range 20 {
			wait.Go(func() {
				status, text := rawGRPC(t, client, url, http.Header{"Grpc-Encoding": {"gzip"}}, framed(1, len(bomb), bomb))
				require.Equal(t, "8", status, text)
			})
			wait.Go(func() {
				r, err := http.NewRequest("POST", url+"/v2/models/rbf/infer", bytes.NewReader(bomb))
				require.NoError(t, err)
				r.Header.Set("Content-Encoding", "gzip")
				resp, err := client.Do(r)
				require.NoError(t, err)
				resp.Body.Close()
				require.Contains(t, []int{http.StatusRequestEntityTooLarge, http.StatusServiceUnavailable}, resp.StatusCode)
			})
			for _, method := range []string{service + "/ModelMetadata", "grpc.health.v1.Health/Check",
				"grpc.reflection.v1.ServerReflection/ServerReflectionInfo"} {
				wait.Go(func() {
					r, err := http.NewRequest("POST", url+"/"+method, bytes.NewReader(framed(1, len(bomb), bomb)))
					require.NoError(t, err)
					r.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "Grpc-Encoding": {"gzip"}}
					resp, err := client.Do(r)
					require.NoError(t, err)
					_, err = io.Copy(io.Discard, resp.Body)
					require.NoError(t, err)
					resp.Body.Close()
					require.NotEqual(t, "0", resp.Trailer.Get("Grpc-Status")+resp.Header.Get("Grpc-Status"), method)
				})
			}
		}
		wait.Wait()
	})
	require.Less(t, most, uint64(256<<20)*6/5)
	require.Eventually(t, func() bool { s.bytes.mu.Lock(); defer s.bytes.mu.Unlock(); return s.bytes.used == 0 }, 5*time.Second,
		time.Millisecond)
	for _, as := range []connect.ClientOption{connect.WithGRPCWeb(), connect.WithClientOptions()} { // which may not be compressed
		infer := connect.NewClient[inference.ModelInferRequest, inference.ModelInferResponse](client, url+"/"+service+
			"/ModelInfer", as, connect.WithSendGzip())
		_, err := infer.CallUnary(t.Context(), connect.NewRequest(curvesMessage(curves(rngOf(1), 1, 5, 5))))
		require.Equal(t, connect.CodeUnimplemented, connect.CodeOf(err), "%v", err)
	}
}

// TestCompressed: requests compressed in every way that clients have are read, and answers in JSON are compressed for those who ask.
func TestCompressed(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = testSources[1:] })
	url, _ := listen(t, s, Limits{})
	client := h2(t)
	b := curves(rngOf(1), 4, 50, 50)
	want := wantCurves(t, b)
	message, err := proto.Marshal(curvesMessage(b))
	require.NoError(t, err)
	status, says := rawGRPC(t, client, url, http.Header{"Grpc-Encoding": {"snappy"}}, framed(1, 2, []byte("xx")))
	require.Equal(t, "12", status)
	require.Contains(t, says, `"snappy" is not known, gzip and deflate are`)
	for _, encoding := range []string{"gzip", "deflate", "raw"} {
		name := strings.Replace(encoding, "raw", "deflate", 1)
		z := packed(t, encoding, message)
		status, text := rawGRPC(t, client, url, http.Header{"Grpc-Encoding": {name}}, framed(1, len(z), z))
		require.Equal(t, "0", status, "%s: %s", encoding, text)
		status, _ = rawGRPC(t, client, url, http.Header{"Grpc-Encoding": {name}}, framed(1, len(z)-9, z[:len(z)-9]))
		require.Equal(t, "3", status, encoding)

		h, body := curvesBinary(t, nil, b)
		h["Content-Encoding"] = name
		w := do(s, "POST", "/v2/models/rbf/infer", h, packed(t, encoding, body))
		require.Equal(t, 200, w.Code, "%s: %s", encoding, w.Body)
		sameBits(t, want.Mean, answerBinary(t, w.Header(), w.Body.Bytes())["mean"], "mean")
		w = do(s, "POST", "/v2/models/rbf/infer", map[string]string{"Content-Encoding": name}, packed(t, encoding, curvesJSON(t, b)))
		require.Equal(t, 200, w.Code, "%s: %s", encoding, w.Body)
		w = do(s, "POST", "/v2/models/rbf/infer", h, []byte("no such thing"))
		require.Equal(t, 400, w.Code, "%s: %s", encoding, w.Body)
	}
	w := do(s, "POST", "/v2/models/rbf/infer", map[string]string{"Accept-Encoding": "br, gzip;q=0.5"}, curvesJSON(t, b))
	require.Equal(t, "gzip", w.Header().Get("Content-Encoding"))
	require.Equal(t, "Accept-Encoding", w.Header().Get("Vary"))
	require.Equal(t, strconv.Itoa(w.Body.Len()), w.Header().Get("Content-Length"))
	z, err := gzip.NewReader(w.Body)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	sameBits(t, want.Mean, answerJSON(t, text)["mean"], "mean")
	w = do(s, "POST", "/v2/models/rbf/infer", map[string]string{"Accept-Encoding": "gzip;q=0, identity"}, curvesJSON(t, b))
	require.Empty(t, w.Header().Get("Content-Encoding"))
	require.Zero(t, s.bytes.used)
}

// TestAnnounced: what a client announces takes nothing; what it sends does.
func TestAnnounced(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models, o.Memory = testSources[1:], 512<<20 })
	url, _ := listen(t, s, Limits{})
	address := strings.TrimPrefix(url, "http://")
	for range 32 {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer c.Close()
		fmt.Fprintf(c, "POST /v2/models/rbf/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n{", s.opt.Body)
	}
	time.Sleep(200 * time.Millisecond)
	s.bytes.mu.Lock()
	used := s.bytes.used
	s.bytes.mu.Unlock()
	require.LessOrEqual(t, used, int64(32*firstBuffer))
	status, _, body := post(t, url+"/v2/models/rbf/infer", nil, curvesJSON(t, curves(rngOf(1), 1, 5, 5)))
	require.Equal(t, 200, status, "%s", body)
}

// TestShare: the requests of one connection hold half of what there is for all, unless there is but one.
func TestShare(t *testing.T) {
	g := &bytesGauge{limit: 1000, clients: map[string]*share{}, metrics: newMetrics(Options{})}
	mine, other := context.WithValue(t.Context(), shareKey{}, &share{}), context.WithValue(t.Context(), shareKey{}, &share{})
	a := g.open(mine)
	require.NoError(t, a.take(800), "it is alone")
	require.Equal(t, "bytes", asFailure(g.open(other).take(100)).reason, "the rest is for small ones")
	for range 10 {
		require.NoError(t, g.open(t.Context()).take(15))
	}
	g.used -= 150
	a.release()
	a, b := g.open(mine), g.open(mine)
	require.NoError(t, a.take(400))
	require.NoError(t, b.take(100))
	err := b.take(1)
	require.Error(t, err)
	require.Equal(t, "share", asFailure(err).reason)
	require.NoError(t, g.open(other).take(300))
	require.Equal(t, "bytes", asFailure(g.open(t.Context()).take(100)).reason)
	require.Equal(t, "size", asFailure(g.open(t.Context()).take(1001)).reason)
	a.release()
	b.release()
	require.EqualValues(t, 300, g.used)
}

// TestShareOfClient: a client with many connections leaves room for others, more of it once they are there.
func TestShareOfClient(t *testing.T) {
	g := &bytesGauge{limit: 6400, clients: map[string]*share{}, metrics: newMetrics(Options{})}
	open := func(client string) *reservation {
		ctx := context.WithValue(t.Context(), shareKey{}, &share{}) // a connection of its own
		return g.open(context.WithValue(ctx, clientKey{}, client))
	}
	var greedy []*reservation
	for range 60 {
		r := open("greedy")
		greedy = append(greedy, r)
		if err := r.take(100); err != nil {
			require.Equal(t, "share", asFailure(err).reason)
		}
	}
	require.EqualValues(t, 4800, g.used, "three quarters")
	modest := open("modest")
	require.NoError(t, modest.take(100))
	for _, r := range greedy[:20] {
		r.release()
	}
	require.EqualValues(t, 2900, g.used)
	left := open("greedy")
	require.NoError(t, left.take(400))
	require.Equal(t, "share", asFailure(left.take(1)).reason, "half while others are there")
	modest.release()
	require.NoError(t, left.take(1))
	left.release()
	for _, r := range greedy[20:] {
		r.release()
	}
	require.Zero(t, g.used)
	require.Empty(t, g.clients)
	alone := open("greedy")
	require.NoError(t, alone.take(5600), "one request may hold what one may")
	alone.release()
}

// TestShareBehindProxy: clients whose requests a proxy sends over one connection have no share of that in common.
func TestShareBehindProxy(t *testing.T) {
	proxies, err := ParseProxies([]string{"10.0.0.0/8"})
	require.NoError(t, err)
	s := &Server{opt: Options{Proxies: proxies}}
	g := &bytesGauge{limit: 6400, clients: map[string]*share{}, metrics: newMetrics(Options{})}
	conn := context.WithValue(t.Context(), shareKey{}, &share{})
	open := func(remote, client string) *reservation {
		r := httptest.NewRequestWithContext(conn, "POST", "/", nil)
		r.RemoteAddr = remote
		r.Header.Set("X-Forwarded-For", client)
		return g.open(s.withClient(r).Context())
	}
	greedy, modest := open("10.1.2.3:4", "203.0.113.9"), open("10.1.2.3:4", "203.0.113.10")
	require.NoError(t, greedy.take(3200))
	require.NoError(t, modest.take(100), "the other client has taken its half")
	require.Equal(t, "share", asFailure(open("10.1.2.3:4", "203.0.113.9").take(100)).reason, "a client's own share stays")
	greedy.release()
	direct := open("203.0.113.1:4", "203.0.113.11") // no proxy: what it writes does not free it of the connection's share
	require.NoError(t, direct.take(3200))
	require.Equal(t, "share", asFailure(open("203.0.113.2:4", "203.0.113.12").take(100)).reason)
	require.Equal(t, "share", asFailure(open("10.1.2.3:4", "unknown").take(100)).reason, "the proxy does not say who asks")
}

// TestTimeoutClamped: no request has more time than the server's timeout.
func TestTimeoutClamped(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models, o.Timeout = testSources[1:], 300*time.Millisecond })
	release := block(t, s)
	defer release()
	go do(s, "POST", "/v2/models/rbf/infer", nil, curvesJSON(t, curves(rngOf(1), 1, 5, 5)))
	require.Eventually(t, func() bool { s.queue.mu.Lock(); defer s.queue.mu.Unlock(); return len(s.queue.running) == 1 },
		5*time.Second, time.Millisecond)
	start := time.Now()
	w := do(s, "POST", "/v2/models/rbf/infer", nil, withOutputs(t, curves(rngOf(1), 1, 5, 5), map[string]any{"timeout": 3600e6}))
	require.Equal(t, http.StatusGatewayTimeout, w.Code, "%s", w.Body)
	require.Less(t, time.Since(start), 5*time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	ctx, cancel2, _, err := s.patience(ctx, params{"timeout": 7e9})
	require.NoError(t, err)
	defer cancel2()
	deadline, _ := ctx.Deadline()
	require.LessOrEqual(t, time.Until(deadline), 300*time.Millisecond)
	for _, long := range []any{1e12, uint64(math.MaxUint64), math.MaxFloat64} { // days, and what clients send who mean no limit
		d, err := params{"timeout": long}.timeout()
		require.NoError(t, err, "%v", long)
		require.Equal(t, maxTimeout, d)
	}
}

// TestParameters: a parameter that is not known, or of another type, is an error wherever it stands; those by which clients ask for
// nothing are none.
func TestParameters(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = testSources[1:] })
	url, _ := listen(t, s, Limits{})
	b := curves(rngOf(1), 1, 2, 2)
	number := func(v int64) *inference.InferParameter {
		return &inference.InferParameter{ParameterChoice: &inference.InferParameter_Int64Param{Int64Param: v}}
	}
	infer := grpcClient[inference.ModelInferRequest, inference.ModelInferResponse](url, "ModelInfer")
	for _, c := range []struct {
		at, key string
		value   any
		says    string // empty: it is taken
	}{
		{"", "sampels", 3., `parameter "sampels" is not known`}, {"", "order", 3., `"order": 3, need a text`},
		{"", "standardise", 1., "need true or false"},
		{"", "timeout", true, "need a number"}, {"", "sequence_id", 7., "not supported"}, {"", "sequence_id", 0., ""},
		{"", "sequence_end", false, ""},
		{"", "content_type", "np", ""}, {"", "binary_data_output", "true", `: the text "true", need true or false`},
		{"", "samples", nil, ""}, {"", "timeout", nil, ""}, {"", "quantiles", nil, ""}, {"", "check", nil, ""}, {"", "order", nil, ""},
		{"inputs", "binary_data_size", nil, ""}, {"outputs", "binary_data", nil, ""},
		{"inputs", "shared_memory_region", "r", `input "x_context": parameter "shared_memory_region" is not supported`},
		{"inputs", "content_type", "np", ""}, {"inputs", "axis", 1., "not known"},
		{"outputs", "classification", 3., `output "mean": parameter "classification" is not supported`},
		{"outputs", "classification", 0., ""},
		{"outputs", "shared_memory_region", "r", "not supported"}, {"outputs", "binary_data", 1., "need true or false"},
	} {
		var v map[string]any
		require.NoError(t, json.Unmarshal(curvesJSON(t, b), &v))
		v["outputs"] = []any{map[string]any{"name": "mean"}}
		at := v
		if c.at != "" {
			at = v[c.at].([]any)[0].(map[string]any)
		}
		at["parameters"] = map[string]any{c.key: c.value}
		text, err := json.Marshal(v)
		require.NoError(t, err)
		w := do(s, "POST", "/v2/models/rbf/infer", nil, text)
		if c.says == "" {
			require.Equal(t, 200, w.Code, "%s %s: %s", c.at, c.key, w.Body)
		} else {
			require.Equal(t, 400, w.Code, "%s %s: %s", c.at, c.key, w.Body)
			require.Contains(t, object(t, w.Body.Bytes())["error"], c.says)
		}
		f, isNumber := c.value.(float64)
		if !isNumber || c.key == "order" {
			continue
		}
		m := curvesMessage(b)
		m.Outputs = []*inference.ModelInferRequest_InferRequestedOutputTensor{{Name: "mean"}}
		p := map[string]*inference.InferParameter{c.key: number(int64(f))}
		switch c.at {
		case "":
			m.Parameters = p
		case "inputs":
			m.Inputs[0].Parameters = p
		case "outputs":
			m.Outputs[0].Parameters = p
		}
		_, err = infer.CallUnary(t.Context(), connect.NewRequest(m))
		if c.says == "" {
			require.NoError(t, err)
		} else {
			require.Equal(t, connect.CodeInvalidArgument, connect.CodeOf(err), "%s %s", c.at, c.key)
		}
	}
	require.Greater(t, len(known[ofRequest]), 5)
	require.NoError(t, params{"priority": math.Inf(1)}.check(ofRequest, ""), "its range is checked where it is used")
}

// TestUnknownMethods: what a gRPC service does not have is UNIMPLEMENTED, as gRPC says it.
func TestUnknownMethods(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models, o.Page = testSources[1:], http.NotFoundHandler() })
	url, _ := listen(t, s, Limits{})
	client := h2(t)
	for _, method := range []string{service + "/TraceSetting", service + "/ModelStreamInfer", service + "/",
		"grpc.health.v1.Health/List", "some.other.Service/Method"} {
		r, err := http.NewRequest("POST", url+"/"+method, bytes.NewReader(framed(0, 0, nil)))
		require.NoError(t, err)
		r.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}}
		resp, err := client.Do(r)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, 200, resp.StatusCode, method)
		require.Equal(t, "12", resp.Trailer.Get("Grpc-Status")+resp.Header.Get("Grpc-Status"), method)
	}
}

// TestHealthWatch: a client that watches is told what is, and what changes.
func TestHealthWatch(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models = testSources[1:] })
	url, _ := listen(t, s, Limits{})
	client := connect.NewClient[healthRequest, healthResponse](h2(t), url+watchPath, connect.WithGRPC(), connect.WithCodec(watchCodec{}))
	stream, err := client.CallServerStream(t.Context(), connect.NewRequest(&healthRequest{}))
	require.NoError(t, err)
	require.True(t, stream.Receive(), "%v", stream.Err())
	require.EqualValues(t, 1, stream.Msg().status)
	s.warming.Store(true)
	require.True(t, stream.Receive(), "%v", stream.Err())
	require.EqualValues(t, 2, stream.Msg().status)
	s.warming.Store(false)
	require.True(t, stream.Receive(), "%v", stream.Err())
	require.EqualValues(t, 1, stream.Msg().status)
	s.draining.Store(true)
	require.True(t, stream.Receive(), "%v", stream.Err())
	require.EqualValues(t, 2, stream.Msg().status)
	require.False(t, stream.Receive())
	require.Equal(t, connect.CodeUnavailable, connect.CodeOf(stream.Err()))
	s.draining.Store(false)
	stream, err = client.CallServerStream(t.Context(), connect.NewRequest(&healthRequest{service: "nobody"}))
	require.NoError(t, err)
	require.True(t, stream.Receive(), "%v", stream.Err())
	require.EqualValues(t, 3, stream.Msg().status)
	require.NoError(t, stream.Close())
	require.Eventually(t, func() bool { return s.watches.Load() == 0 }, 5*time.Second, time.Millisecond)
	s.watches.Store(maxWatches)
	stream, err = client.CallServerStream(t.Context(), connect.NewRequest(&healthRequest{}))
	require.NoError(t, err)
	require.False(t, stream.Receive())
	require.Equal(t, connect.CodeResourceExhausted, connect.CodeOf(stream.Err()), "%v", stream.Err())
}

// watchCodec is the client's side of the server's codec.
type watchCodec struct{}

func (watchCodec) Name() string { return "proto" }

func (watchCodec) Marshal(v any) ([]byte, error) {
	if r, ok := v.(*healthRequest); ok {
		return proto.Marshal(&inference.ModelReadyRequest{Name: r.service}) // of the same wire format
	}
	return codec{}.Marshal(v)
}

func (watchCodec) Unmarshal(b []byte, v any) error {
	r, ok := v.(*healthResponse)
	if !ok {
		return codec{}.Unmarshal(b, v)
	}
	if len(b) != 2 || b[0] != 8 {
		return fmt.Errorf("%v is no answer", b)
	}
	r.status = grpchealth.Status(b[1])
	return nil
}

// TestHalfClosed: a client that closes its side once it has asked gets its answer, over TLS, too; one that goes while it still sends is
// noticed.
func TestHalfClosed(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Models, o.Slots = testSources[1:], 3 })
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	issue(t, nil, 1, cert, key)
	secure, err := Certificates(cert, key, "", nil)
	require.NoError(t, err)
	url, _ := listen(t, s, Limits{})
	secureURL, _ := listen(t, s, Limits{TLS: secure})
	compute := s.queue.compute
	s.queue.compute = func(ctx context.Context, jobs []*job) error {
		select {
		case <-time.After(1500 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
		return compute(ctx, jobs)
	}
	body := curvesJSON(t, curves(rngOf(1), 1, 5, 5))
	var asking sync.WaitGroup
	for _, way := range []struct {
		url    string
		send   int
		notify bool // the end is close_notify, not that of TCP
	}{{url, len(body), false}, {url, len(body) / 2, false}, {secureURL, len(body), false}, {secureURL, len(body), true},
		{secureURL, len(body) / 2, true}} {
		tcp, err := net.Dial("tcp", strings.TrimPrefix(way.url, "http://"))
		require.NoError(t, err)
		c := tcp
		if way.url == secureURL {
			c = tls.Client(tcp, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /v2/models/rbf/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:way.send])
		if way.notify {
			require.NoError(t, c.(*tls.Conn).CloseWrite())
		} else {
			require.NoError(t, tcp.(*net.TCPConn).CloseWrite())
		}
		require.NoError(t, c.SetReadDeadline(time.Now().Add(8*time.Second)))
		asking.Go(func() { // the five wait together
			answer, err := io.ReadAll(c)
			assert.NoError(t, err)
			if way.send == len(body) {
				assert.Contains(t, string(answer), "HTTP/1.1 200 OK")
				assert.Contains(t, string(answer), `"mean"`)
			} else {
				assert.Contains(t, string(answer), "HTTP/1.1 400 ")
			}
		})
	}
	asking.Wait()
}

// TestIntegers: a number in JSON is refused if its type of integers does not have it, as nothing else could be what the client meant.
func TestIntegers(t *testing.T) {
	for _, c := range []struct {
		kind safetensors.DType
		text string
		ok   bool
	}{
		{safetensors.I8, "-128", true}, {safetensors.I8, "127.0", true}, {safetensors.I8, "128", false}, {safetensors.I8, "1.5", false},
		{safetensors.U8, "255", true}, {safetensors.U8, "-1", false}, {safetensors.U8, "1e3", false}, {safetensors.U8, "null", true},
		{safetensors.I32, "-2147483648", true}, {safetensors.I32, "2147483648", false}, {safetensors.I16, "null", true},
		{safetensors.I64, "9223372036854775807", true}, {safetensors.I64, "1e19", false}, {safetensors.U64, "18446744073709551615", true},
		{safetensors.U64, "-1", false}, {safetensors.U32, "4294967295", true}, {safetensors.F64, "1.5", true},
		{safetensors.F64, "-1e300", true},
	} {
		tensor := safetensors.Tensor{Name: "x", DType: c.kind, Shape: []int{2}}
		err := setNumbers(&tensor, 2, []byte("[0, "+c.text+"]"))
		if c.ok {
			require.NoError(t, err, "%s %s", c.kind, c.text)
			require.Equal(t, safetensors.F64, tensor.DType)
			continue
		}
		require.ErrorContains(t, err, fmt.Sprintf("element 1, %q: not a number that %s holds", c.text, kindOf(c.kind)))
	}
}
