package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/proto"

	"github.com/equivcnp/equivcnp/cnp/serve/inference"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// loadFlags say how a server is loaded: by clients that each wait for their answer, or at a rate whatever the answers do.
type loadFlags struct {
	name, model, protocol string
	tasks, clients        int
	rate, capacity        float64
	random                bool
	timeout               time.Duration
}

func (f *loadFlags) register(fl *pflag.FlagSet) {
	fl.StringVar(&f.name, "name", "", "of the samples")
	fl.StringVar(&f.model, "model", "", "image-.. or curve-..")
	fl.StringVar(&f.protocol, "protocol", "rest", "rest or grpc")
	fl.IntVar(&f.tasks, "tasks", 1, "of a request")
	fl.IntVar(&f.clients, "clients", 1, "that wait for their answers")
	fl.Float64Var(&f.rate, "rate", 0, "requests a second, instead of clients")
	fl.Float64Var(&f.capacity, "capacity", 0, "requests a second that an ideal server would answer")
	fl.BoolVar(&f.random, "random", false, "requests come at random times (Poisson)")
	fl.DurationVar(&f.timeout, "timeout", 30*time.Second, "of a request")
}

// outcome is what became of a request.
type outcome struct {
	latency, compute float64 // seconds; compute as the server says
	refused, expired bool    // refused on arrival, or given up when its time was over
}

// asker sends one request.
type asker func(ctx context.Context) (outcome, error)

// run loads the server and reports what came of it.
func (f *loadFlags) run(r *report, url string, seconds float64) error {
	ask, err := f.asker(url)
	if err != nil {
		return err
	}
	for range 3 {
		if _, err := ask(context.Background()); err != nil {
			return err
		}
	}
	var (
		mu       sync.Mutex
		done     []outcome
		failed   error
		inflight sync.WaitGroup
	)
	one := func(from time.Time) {
		ctx, cancel := context.WithTimeout(context.Background(), f.timeout+5*time.Second)
		defer cancel()
		o, err := ask(ctx)
		o.latency = time.Since(from).Seconds()
		mu.Lock()
		defer mu.Unlock()
		if done = append(done, o); err != nil && failed == nil {
			failed = err
		}
	}
	start, cpu := time.Now(), processTime()
	length := time.Duration(seconds * float64(time.Second))
	if f.rate == 0 {
		for range f.clients {
			inflight.Go(func() {
				for time.Since(start) < length {
					one(time.Now())
				}
			})
		}
	} else {
		for _, at := range f.arrivals(seconds) {
			due := start.Add(time.Duration(at * float64(time.Second)))
			time.Sleep(time.Until(due))
			inflight.Go(func() { one(due) })
		}
	}
	inflight.Wait()
	took := time.Since(start).Seconds()
	cpu = processTime() - cpu
	if failed != nil {
		return failed
	}
	if err := f.report(r, done, max(took, seconds)); err != nil {
		return err
	}
	if f.random && f.capacity > 0 {
		waits := idealQueue(f.arrivals(seconds), 1/f.capacity)
		if err := r.add(sample{f.name, f.tasks, "ideal_p99_of_p50", percentile(waits, 99) / percentile(waits, 50)}); err != nil {
			return err
		}
	}
	if err := r.add(sample{f.name, f.tasks, "requests", float64(len(done))}); err != nil {
		return err
	}
	return r.add(sample{f.name, f.tasks, "client_cpu_s", cpu.Seconds() / float64(len(done))})
}

// arrivals are the times at which requests come, in seconds.
func (f *loadFlags) arrivals(seconds float64) (times []float64) {
	rng := rand.New(rand.NewPCG(1, 1))
	for at := 0.0; at < seconds; times = append(times, at) {
		if f.random {
			at += rng.ExpFloat64() / f.rate
		} else {
			at += 1 / f.rate
		}
	}
	return times
}

// idealQueue is how long requests take, sorted, that come at those times to a server which takes exactly so long for each, one after the
// other, and nothing else.
func idealQueue(arrivals []float64, service float64) (took []float64) {
	free := 0.0
	for _, at := range arrivals {
		free = max(free, at) + service
		took = append(took, free-at)
	}
	slices.Sort(took)
	return took
}

// report adds what came of requests.
func (f *loadFlags) report(r *report, done []outcome, took float64) error {
	var answered, computed, added, refused []float64
	late := 0
	for _, o := range done {
		switch {
		case o.refused:
			refused = append(refused, o.latency)
		case o.expired || o.latency > f.timeout.Seconds():
			late++
		default:
			answered, computed, added = append(answered, o.latency), append(computed, o.compute), append(added, o.latency-o.compute)
		}
	}
	if len(answered) == 0 {
		return errors.New("nothing was answered")
	}
	slices.Sort(answered)
	slices.Sort(computed)
	slices.Sort(added)
	slices.Sort(refused)
	samples := []sample{
		{f.name, f.tasks, "requests_per_s", float64(len(answered)) / took},
		{f.name, f.tasks, "p50_s", percentile(answered, 50)},
		{f.name, f.tasks, "p99_s", percentile(answered, 99)},
		{f.name, f.tasks, "compute_p50_s", percentile(computed, 50)},
		{f.name, f.tasks, "compute_p99_s", percentile(computed, 99)},
		{f.name, f.tasks, "compute_max_s", computed[len(computed)-1]},
	}
	if f.clients == 1 && f.rate == 0 {
		samples = append(samples, sample{f.name, f.tasks, "added_p50_s", percentile(added, 50)},
			sample{f.name, f.tasks, "added_least_s", added[0]})
	}
	if len(refused)+late > 0 {
		samples = append(samples, sample{f.name, f.tasks, "late", float64(late)}, sample{f.name, f.tasks, "refused", float64(len(refused))})
	}
	if len(refused) > 0 {
		samples = append(samples, sample{f.name, f.tasks, "refused_p50_s", percentile(refused, 50)},
			sample{f.name, f.tasks, "refused_p99_s", percentile(refused, 99)})
	}
	for _, s := range samples {
		if err := r.add(s); err != nil {
			return err
		}
	}
	return nil
}

// asker returns what sends the same request again and again, encoded once.
func (f *loadFlags) asker(url string) (asker, error) {
	m := &inference.ModelInferRequest{ModelName: f.model, Parameters: map[string]*inference.InferParameter{
		"timeout": {ParameterChoice: &inference.InferParameter_Int64Param{Int64Param: f.timeout.Microseconds()}}}}
	input := func(name, datatype string, data []byte, shape ...int64) {
		m.Inputs = append(m.Inputs, &inference.ModelInferRequest_InferInputTensor{Name: name, Datatype: datatype, Shape: shape})
		m.RawInputContents = append(m.RawInputContents, data)
	}
	if strings.HasPrefix(f.model, "image") {
		const size = 64
		im := benchImages(f.tasks, size)
		mask := make([]byte, len(im.Mask))
		for i, v := range im.Mask {
			if v {
				mask[i] = 1
			}
		}
		b := int64(f.tasks)
		input("image", "FP32", safetensors.Float32Bytes(im.Pixels), b, 1, size, size)
		input("mask", "BOOL", mask, b, 1, size, size)
	} else {
		b := benchTasks(f.tasks, rand.New(rand.NewPCG(1, 1)))
		n, nc, nt := int64(b.B), int64(b.Nc), int64(b.Nt)
		input("x_context", "FP64", safetensors.Float64Bytes(b.XContext), n, nc, 1)
		input("y_context", "FP32", safetensors.Float32Bytes(b.YContext), n, nc, 1)
		input("x_target", "FP64", safetensors.Float64Bytes(b.XTarget), n, nt, 1)
	}
	if f.protocol == "grpc" {
		body, err := proto.Marshal(m)
		return askGRPC(url, body), err
	}
	head := map[string]any{"parameters": map[string]any{"binary_data_output": true, "timeout": f.timeout.Microseconds()}}
	var inputs []any
	var body []byte
	for i, t := range m.Inputs {
		inputs = append(inputs, map[string]any{"name": t.Name, "datatype": t.Datatype, "shape": t.Shape,
			"parameters": map[string]any{"binary_data_size": len(m.RawInputContents[i])}})
		body = append(body, m.RawInputContents[i]...)
	}
	head["inputs"] = inputs
	text, err := json.Marshal(head)
	return askREST(url+"/v2/models/"+f.model+"/infer", len(text), append(text, body...)), err
}

// computed reads how long a server computed, in seconds.
func computed(h http.Header) float64 {
	_, after, _ := strings.Cut(h.Get("Server-Timing"), "compute;dur=")
	word, _, _ := strings.Cut(after, ",")
	if ms, err := strconv.ParseFloat(word, 64); err == nil {
		return ms / 1000
	}
	return math.NaN()
}

// restConn is a connection that has one request under way at a time.
type restConn struct {
	net.Conn
	r *bufio.Reader
}

// askREST sends requests as bytes that were made once, each over a connection of its own for the time, and reads no
// more of an answer than it must: on a machine that server and load share, what the load computes is lost to the
// server.
func askREST(url string, header int, body []byte) asker {
	host, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	request := fmt.Appendf(nil, "POST /%s HTTP/1.1\r\nHost: %s\r\nInference-Header-Content-Length: %d\r\nContent-Length: %d\r\n\r\n",
		path, host, header, len(body))
	request = append(request, body...)
	var mu sync.Mutex
	var idle []*restConn
	return func(ctx context.Context) (o outcome, err error) {
		var c *restConn
		mu.Lock()
		if n := len(idle) - 1; n >= 0 {
			c, idle = idle[n], idle[:n]
		}
		mu.Unlock()
		if c == nil {
			conn, err := net.Dial("tcp", host)
			if err != nil {
				return o, err
			}
			c = &restConn{conn, bufio.NewReader(conn)}
		}
		defer func() {
			if err != nil {
				c.Close()
				return
			}
			mu.Lock()
			defer mu.Unlock()
			idle = append(idle, c)
		}()
		if deadline, ok := ctx.Deadline(); ok {
			c.SetDeadline(deadline)
		}
		if _, err := c.Write(request); err != nil {
			return o, err
		}
		resp, err := http.ReadResponse(c.r, nil)
		if err != nil {
			return o, err
		}
		n, err := io.Copy(io.Discard, resp.Body)
		switch {
		case err != nil:
			return o, err
		case resp.StatusCode == http.StatusServiceUnavailable:
			o.refused = true
		case resp.StatusCode == http.StatusGatewayTimeout:
			o.expired = true
		case resp.StatusCode != http.StatusOK:
			return o, fmt.Errorf("status %d, %d bytes", resp.StatusCode, n)
		}
		o.compute = computed(resp.Header)
		return o, nil
	}
}

// bytesCodec sends what is encoded already, and keeps answers as they are.
type bytesCodec struct{}

func (bytesCodec) Name() string                    { return "proto" }
func (bytesCodec) Marshal(v any) ([]byte, error)   { return slices.Clone(*v.(*[]byte)), nil }
func (bytesCodec) Unmarshal(b []byte, v any) error { *v.(*[]byte) = nil; return nil }

// MarshalAppend writes into a buffer that connect reuses, as it would what Marshal returns.
func (bytesCodec) MarshalAppend(dst []byte, v any) ([]byte, error) {
	return append(dst, *v.(*[]byte)...), nil
}

func askGRPC(url string, body []byte) asker {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	t := &http.Transport{Protocols: p, DisableCompression: true}
	client := connect.NewClient[[]byte, []byte](&http.Client{Transport: t}, url+"/inference.GRPCInferenceService/ModelInfer",
		connect.WithGRPC(), connect.WithCodec(bytesCodec{}))
	return func(ctx context.Context) (o outcome, err error) {
		resp, err := client.CallUnary(ctx, connect.NewRequest(&body))
		switch code := connect.CodeOf(err); {
		case err == nil:
			o.compute = computed(resp.Header())
			return o, nil
		case code == connect.CodeResourceExhausted, code == connect.CodeDeadlineExceeded:
			o.refused, o.expired = code == connect.CodeResourceExhausted, code == connect.CodeDeadlineExceeded
			return o, nil
		}
		return o, err
	}
}

// openIdle opens connections, asks something on each, and leaves them open.
func openIdle(url, protocol string, n int) (closeAll func(), err error) {
	address := strings.TrimPrefix(url, "http://")
	var open []net.Conn
	var transports []*http.Transport
	closeAll = func() {
		for _, c := range open {
			c.Close()
		}
		for _, t := range transports {
			t.CloseIdleConnections()
		}
	}
	for range n {
		if protocol == "rest" {
			c, err := net.Dial("tcp", address)
			if err != nil {
				return closeAll, err
			}
			open = append(open, c)
			if _, err := io.WriteString(c, "GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				return closeAll, err
			}
			if _, err := c.Read(make([]byte, 4096)); err != nil {
				return closeAll, err
			}
			continue
		}
		p := new(http.Protocols)
		p.SetUnencryptedHTTP2(true)
		t := &http.Transport{Protocols: p}
		transports = append(transports, t)
		resp, err := (&http.Client{Transport: t}).Get(url + "/v2/health/live")
		if err != nil {
			return closeAll, err
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	return closeAll, nil
}
