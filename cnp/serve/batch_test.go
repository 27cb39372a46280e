package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/serve/inference"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// block holds the queue's slots until the function that it returns is called, so that what comes meanwhile goes together.
func block(t *testing.T, s *Server) func() {
	held := make(chan struct{})
	s.queue.mu.Lock()
	s.queue.long = time.Hour // nothing goes beside
	s.queue.mu.Unlock()
	compute := s.queue.compute
	s.queue.compute = func(ctx context.Context, jobs []*job) error {
		<-held
		return compute(ctx, jobs)
	}
	var once sync.Once
	release := func() { once.Do(func() { close(held) }) }
	t.Cleanup(release)
	return release
}

// TestBatchBits: requests of different sizes that went together have the bits of each alone.
func TestBatchBits(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Batch = 64 })
	release := block(t, s)
	var wait sync.WaitGroup
	for i := range 12 {
		rng := rngOf(uint64(i))
		if i%3 == 0 {
			im := images(rng, 1+i%2, 24, 24)
			want := wantImages(t, im)
			h, body := imagesBinary(t, nil, im)
			wait.Go(func() {
				w := do(s, "POST", "/v2/models/digits/infer", h, body)
				if w.Code != 200 {
					t.Errorf("%d: %s", w.Code, w.Body)
					return
				}
				got := answerBinary(t, w.Header(), w.Body.Bytes())
				sameBits(t, want.Mean, got["mean"], "mean")
				sameBits(t, want.Std, got["std"], "std")
			})
			continue
		}
		b := curves(rng, 1+i%4, 3*i, 20-i)
		if i%5 == 4 { // masks of its own, and a target out of reach
			b.ContextMask = make([]bool, b.B*b.Nc)
			for k := range b.ContextMask {
				b.ContextMask[k] = k%3 > 0
			}
		}
		want := wantCurves(t, b)
		h, body := curvesBinary(t, nil, b)
		if b.ContextMask != nil {
			h, body = binaryBody(t, nil, []map[string]any{tensorJSON("x_context", "FP64", []int{b.B, b.Nc, 1}, nil),
				tensorJSON("y_context", "FP32", []int{b.B, b.Nc, 1}, nil), tensorJSON("x_target", "FP64", []int{b.B, b.Nt, 1}, nil),
				tensorJSON("context_mask", "BOOL", []int{b.B, b.Nc}, nil)}, b.XContext, b.YContext, b.XTarget, b.ContextMask)
		}
		wait.Go(func() {
			w := do(s, "POST", "/v2/models/rbf/infer", h, body)
			if w.Code != 200 {
				t.Errorf("%d: %s", w.Code, w.Body)
				return
			}
			got := answerBinary(t, w.Header(), w.Body.Bytes())
			sameBits(t, want.Mean, got["mean"], "mean")
			sameBits(t, want.Std, got["std"], "std")
		})
	}
	require.Eventually(t, func() bool {
		s.queue.mu.Lock()
		defer s.queue.mu.Unlock()
		return len(s.queue.waiting) == 11
	}, 30*time.Second, time.Millisecond)
	release()
	wait.Wait()
	require.Zero(t, s.bytes.used)
}

// TestEnsemblePlans: an ensemble of images has a plan of each member, within one budget, and the bits of Complete, alone and together.
func TestEnsemblePlans(t *testing.T) {
	names := []string{"digits-T2-small", "digits-T2"}
	file := filepath.Join(t.TempDir(), "both.ensemble")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(names, "\n")), 0o666))
	s := newServer(t, func(o *Options) {
		o.Models = []Source{{Name: "both", Path: file}}
		o.Memory, o.PlanMemory = 400<<20, 200<<20
	})
	var members []cnp.Model[float32]
	for _, name := range names {
		members = append(members, shipped(t, name))
	}
	both, err := cnp.Ensemble(members...)
	require.NoError(t, err)
	release := block(t, s)
	var wait sync.WaitGroup
	for i := range 4 {
		im := images(rngOf(uint64(i)), 1+i%2, 20+4*(i%2), 20)
		want, err := both.(cnp.Completer[float32]).Complete(context.Background(), im)
		require.NoError(t, err)
		h, body := imagesBinary(t, nil, im)
		wait.Go(func() {
			w := do(s, "POST", "/v2/models/both/infer", h, body)
			require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
			got := answerBinary(t, w.Header(), w.Body.Bytes())
			sameBits(t, want.Mean, got["mean"], "mean")
			sameBits(t, want.Std, got["std"], "std")
		})
	}
	require.Eventually(t, func() bool {
		s.queue.mu.Lock()
		defer s.queue.mu.Unlock()
		return len(s.queue.running) == 1 && len(s.queue.waiting) == 3
	}, time.Minute, time.Millisecond)
	release()
	wait.Wait()
	s.plans.mu.Lock()
	defer s.plans.mu.Unlock()
	require.Len(t, s.plans.entries, 2)
	used := int64(0)
	for l, e := range s.plans.entries {
		require.Equal(t, "mixture", e.plan.NewPrediction(&cnp.Images[float32]{}).Likelihood.Name())
		require.LessOrEqual(t, e.bytes, s.plans.each)
		used += e.bytes
		used += l.model.bytes / int64(len(s.plans.entries))
	}
	require.InDelta(t, s.plans.used, used, 1)
}

// TestBatchOutside: a point out of reach in one request changes nothing for those that went with it.
func TestBatchOutside(t *testing.T) {
	m, err := loadModel(context.Background(), testSources[1], "")
	require.NoError(t, err)
	var jobs []*job
	var wants []*cnp.Prediction[float32]
	for i := range 4 {
		b := curves(rngOf(uint64(i)), 2, 4, 5-i)
		wants = append(wants, wantCurves(t, b))
		if i == 2 {
			b.XTarget[3] = 1e13
		}
		scaled, undo, err := cnp.Standardise(&m.cfg, b)
		require.NoError(t, err)
		jobs = append(jobs, &job{model: m, lane: lane{model: m}, regressor: m.regressor, config: &m.cfg, curves: scaled, given: b,
			undo: undo, tasks: 2, targets: b.Nt, values: 2 * b.Nt})
	}
	require.NoError(t, runJobs(context.Background(), jobs))
	for i, j := range jobs {
		if i == 2 {
			require.Contains(t, j.note, "x_target[1, 0] = 1e+13")
			j.prediction.Mean[3], j.prediction.Std[3] = wants[i].Mean[3], wants[i].Std[3]
		} else {
			require.Empty(t, j.note)
		}
		sameBits(t, wants[i].Mean, j.prediction.Mean, fmt.Sprint("mean of ", i))
		sameBits(t, wants[i].Std, j.prediction.Std, fmt.Sprint("std of ", i))
	}
}

// grpcClient returns a client of generated messages.
func grpcClient[In, Out any](url, method string) *connect.Client[In, Out] {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return connect.NewClient[In, Out](&http.Client{Transport: &http.Transport{Protocols: p}}, url+"/"+service+"/"+method,
		connect.WithGRPC())
}

// TestGRPC: requests and answers as generated code writes and reads them, raw and typed, with the bits of the library.
func TestGRPC(t *testing.T) {
	s := newServer(t, nil)
	url, _ := listen(t, s, Limits{})
	ctx := context.Background()

	live, err := grpcClient[inference.ServerLiveRequest, inference.ServerLiveResponse](url, "ServerLive").CallUnary(ctx,
		connect.NewRequest(&inference.ServerLiveRequest{}))
	require.NoError(t, err)
	require.True(t, live.Msg.Live)
	ready, err := grpcClient[inference.ModelReadyRequest, inference.ModelReadyResponse](url, "ModelReady").CallUnary(ctx,
		connect.NewRequest(&inference.ModelReadyRequest{Name: "no"}))
	require.NoError(t, err)
	require.False(t, ready.Msg.Ready)
	meta, err := grpcClient[inference.ModelMetadataRequest, inference.ModelMetadataResponse](url, "ModelMetadata").CallUnary(ctx,
		connect.NewRequest(&inference.ModelMetadataRequest{Name: "rbf"}))
	require.NoError(t, err)
	require.Equal(t, "x_context", meta.Msg.Inputs[0].Name)
	require.Equal(t, []int64{-1, -1, 1}, meta.Msg.Outputs[1].Shape)

	infer := grpcClient[inference.ModelInferRequest, inference.ModelInferResponse](url, "ModelInfer")
	im := images(rngOf(1), 2, 20, 20)
	want := wantImages(t, im)
	mask := make([]byte, len(im.Mask))
	for i, m := range im.Mask {
		if m {
			mask[i] = 1
		}
	}
	input := func(name, datatype string, contents *inference.InferTensorContents,
		shape ...int64) *inference.ModelInferRequest_InferInputTensor {
		return &inference.ModelInferRequest_InferInputTensor{Name: name, Datatype: datatype, Shape: shape, Contents: contents}
	}
	got, err := infer.CallUnary(ctx, connect.NewRequest(&inference.ModelInferRequest{ModelName: "digits", ModelVersion: "1", Id: "x",
		Parameters: map[string]*inference.InferParameter{"priority": {
			ParameterChoice: &inference.InferParameter_Int64Param{Int64Param: 1}}},
		Inputs: []*inference.ModelInferRequest_InferInputTensor{input("image", "FP32", nil, 2, 1, 20, 20),
			input("mask", "BOOL", nil, 2, 1, 20, 20)},
		RawInputContents: [][]byte{safetensors.Float32Bytes(im.Pixels), mask}}))
	require.NoError(t, err)
	require.Equal(t, "x", got.Msg.Id)
	require.Equal(t, "digits", got.Msg.ModelName)
	require.Equal(t, []int64{2, 1, 20, 20}, got.Msg.Outputs[1].Shape)
	sameBits(t, want.Mean, floats(t, got.Msg.RawOutputContents[0]), "mean")
	sameBits(t, want.Std, floats(t, got.Msg.RawOutputContents[1]), "std")

	b := curves(rngOf(2), 2, 3, 4)
	p := wantCurves(t, b)
	typed := &inference.ModelInferRequest{ModelName: "rbf",
		Inputs: []*inference.ModelInferRequest_InferInputTensor{
			input("x_context", "FP64", &inference.InferTensorContents{Fp64Contents: b.XContext}, 2, 3, 1),
			input("y_context", "FP32", &inference.InferTensorContents{Fp32Contents: b.YContext}, 2, 3, 1),
			input("x_target", "FP64", &inference.InferTensorContents{Fp64Contents: b.XTarget}, 2, 4, 1),
			input("target_mask", "BOOL", &inference.InferTensorContents{BoolContents: []bool{true, true, true, true, true, true,
				true, false}}, 2, 4),
			input("context_mask", "INT32", &inference.InferTensorContents{IntContents: []int32{1, 1, 1, 1, 1, 1}}, 2, 3)},
		Outputs: []*inference.ModelInferRequest_InferRequestedOutputTensor{{Name: "std"}, {Name: "mean"}}}
	got, err = infer.CallUnary(ctx, connect.NewRequest(typed))
	require.NoError(t, err)
	p.Mean[7], p.Std[7] = 0, 0
	require.Equal(t, "mean", got.Msg.Outputs[1].Name)
	sameBits(t, p.Std, got.Msg.Outputs[0].Contents.Fp32Contents, "std")
	sameBits(t, p.Mean, got.Msg.Outputs[1].Contents.Fp32Contents, "mean")

	for name, c := range map[string]struct {
		request *inference.ModelInferRequest
		code    connect.Code
	}{
		"a model": {&inference.ModelInferRequest{ModelName: "no"}, connect.CodeNotFound},
		"raw contents": {&inference.ModelInferRequest{ModelName: "rbf", Inputs: typed.Inputs, RawInputContents: [][]byte{nil}},
			connect.CodeInvalidArgument},
		"a shape": {&inference.ModelInferRequest{ModelName: "rbf", Inputs: []*inference.ModelInferRequest_InferInputTensor{
			input("x_context", "FP64", &inference.InferTensorContents{Fp64Contents: []float64{1}}, 2, -3, 1)}},
			connect.CodeInvalidArgument},
		"a field": {&inference.ModelInferRequest{ModelName: "rbf", Inputs: []*inference.ModelInferRequest_InferInputTensor{
			input("x_context", "FP64", &inference.InferTensorContents{Fp32Contents: []float32{1, 2}}, 1, 1, 1)}},
			connect.CodeInvalidArgument},
	} {
		_, err := infer.CallUnary(ctx, connect.NewRequest(c.request))
		require.Equal(t, c.code, connect.CodeOf(err), "%s: %v", name, err)
	}
	require.Eventually(t, func() bool { s.bytes.mu.Lock(); defer s.bytes.mu.Unlock(); return s.bytes.used == 0 }, 5*time.Second,
		time.Millisecond)

	// A deadline, while another request holds the slot.
	release := block(t, s)
	first := make(chan error, 1)
	go func() {
		_, err := infer.CallUnary(ctx, connect.NewRequest(typed))
		first <- err
	}()
	require.Eventually(t, func() bool { s.queue.mu.Lock(); defer s.queue.mu.Unlock(); return len(s.queue.running) == 1 },
		5*time.Second, time.Millisecond)
	s.queue.mu.Lock()
	clear(s.queue.costs.of) // so that it is taken
	s.queue.mu.Unlock()
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	_, err = infer.CallUnary(short, connect.NewRequest(typed))
	require.Equal(t, connect.CodeDeadlineExceeded, connect.CodeOf(err), "%v", err)
	release()
	require.NoError(t, <-first)
	_, err = infer.CallUnary(ctx, connect.NewRequest(&inference.ModelInferRequest{ModelName: "rbf",
		Inputs:           []*inference.ModelInferRequest_InferInputTensor{input("x_context", "FP64", nil, 1<<23, 1, 1)},
		RawInputContents: [][]byte{make([]byte, 65<<20)}}))
	require.Equal(t, connect.CodeResourceExhausted, connect.CodeOf(err), "%v", err)
	var e *connect.Error
	require.True(t, errors.As(err, &e))
}

// TestFull: where the queue is full a request is refused before it is read, and its connection goes on.
func TestFull(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Waiting = 1 })
	url, _ := listen(t, s, Limits{})
	release := block(t, s)
	header, body := curvesBinary(t, nil, curves(rngOf(1), 1, 50, 50))
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	defer c.Close()
	answers := bufio.NewReader(c)
	send := func(body []byte) int {
		r, err := http.NewRequest("POST", url+"/v2/models/rbf/infer", bytes.NewReader(body))
		require.NoError(t, err)
		for k, v := range header {
			r.Header.Set(k, v)
		}
		require.NoError(t, r.Write(c))
		resp, err := http.ReadResponse(answers, nil)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		if resp.StatusCode == http.StatusServiceUnavailable {
			require.NotEmpty(t, resp.Header.Get("Retry-After"))
			require.Contains(t, string(text), "1 tasks are waiting, at most 1 may")
		}
		return resp.StatusCode
	}
	var wait sync.WaitGroup
	for n := range 2 { // one is computed, one waits
		wait.Go(func() { require.Equal(t, http.StatusOK, do(s, "POST", "/v2/models/rbf/infer", header, body).Code) })
		require.Eventually(t, func() bool {
			s.queue.mu.Lock()
			defer s.queue.mu.Unlock()
			return len(s.queue.running)+s.queue.tasks == n+1
		}, 5*time.Second, time.Millisecond)
	}
	nonsense := bytes.Repeat([]byte{'x'}, len(body))
	require.Equal(t, http.StatusServiceUnavailable, send(nonsense))
	require.Equal(t, http.StatusServiceUnavailable, send(body))
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}}
	for _, as := range []connect.ClientOption{connect.WithGRPC(), connect.WithGRPCWeb(), connect.WithProtoJSON(),
		connect.WithClientOptions()} {
		infer := connect.NewClient[inference.ModelInferRequest, inference.ModelInferResponse](client, url+"/"+service+"/ModelInfer", as)
		for _, b := range []int{1, 1 << 10} { // 2 kB, and more than a stream may have unread
			_, err := infer.CallUnary(context.Background(), connect.NewRequest(curvesMessage(curves(rngOf(1), b, 50, 50))))
			require.Equal(t, connect.CodeResourceExhausted, connect.CodeOf(err), "%v", err)
			var e *connect.Error
			require.True(t, errors.As(err, &e))
			require.Equal(t, "1", e.Meta().Get("Retry-After"))
			require.Contains(t, e.Message(), "1 tasks are waiting")
		}
	}
	release()
	wait.Wait()
	_, err = connect.NewClient[inference.ModelInferRequest, inference.ModelInferResponse](client, url+"/"+service+"/ModelInfer",
		connect.WithGRPC()).
		CallUnary(context.Background(), connect.NewRequest(curvesMessage(curves(rngOf(1), 1, 50, 50))))
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, send(nonsense))
	require.Equal(t, http.StatusOK, send(body))
}

// rawGRPC sends bytes as the body of an inference request over gRPC, and returns its status and message.
func rawGRPC(t *testing.T, client *http.Client, url string, header http.Header, body []byte) (status, message string) {
	t.Helper()
	r, err := http.NewRequest("POST", url+"/"+service+"/ModelInfer", bytes.NewReader(body))
	require.NoError(t, err)
	r.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}}
	for k, v := range header {
		r.Header[k] = v
	}
	resp, err := client.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	if v := resp.Header.Get("Grpc-Status"); v != "" { // nothing but trailers
		return v, resp.Header.Get("Grpc-Message")
	}
	return resp.Trailer.Get("Grpc-Status"), resp.Trailer.Get("Grpc-Message")
}

// framed is a message after its prefix.
func framed(flag byte, length int, message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{flag}, uint32(length)), message...)
}

// TestGRPCMessages: what may be wrong with the framing of a request is said in gRPC's codes, and the same for plain requests and for
// others, which connect reads. Nothing is left reserved.
func TestGRPCMessages(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Body = 1 << 20 })
	url, _ := listen(t, s, Limits{})
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols, DisableCompression: true}}
	message, err := proto.Marshal(curvesMessage(curves(rngOf(1), 16, 50, 50)))
	require.NoError(t, err)
	n := len(message)
	const ok, badArgument, late, full = "0", "3", "4", "8"
	for name, c := range map[string]struct {
		header http.Header
		body   []byte
		want   string // status
	}{
		"whole":                   {nil, framed(0, n, message), ok},
		"with its codec":          {http.Header{"Content-Type": {"application/grpc+proto"}}, framed(0, n, message), ok},
		"with a deadline":         {http.Header{"Grpc-Timeout": {"59S"}}, framed(0, n, message), ok},
		"with a far deadline":     {http.Header{"Grpc-Timeout": {"99999999H"}}, framed(0, n, message), ok},
		"with a past deadline":    {http.Header{"Grpc-Timeout": {"0n"}}, framed(0, n, message), late},
		"with a strange deadline": {http.Header{"Grpc-Timeout": {"5x"}}, framed(0, n, message), badArgument},
		"with a long deadline":    {http.Header{"Grpc-Timeout": {"123456789S"}}, framed(0, n, message), badArgument},
		"nothing":                 {nil, nil, badArgument},
		"half a prefix":           {nil, []byte{0, 0}, badArgument},
		"ends early":              {nil, framed(0, n, message[:n-1]), badArgument},
		"shorter than it is":      {nil, framed(0, n-1, message), badArgument},
		"two messages":            {nil, append(framed(0, n, message), framed(0, n, message)...), badArgument},
		"no message of ours":      {nil, framed(0, 4, []byte{0xff, 0xff, 0xff, 0xff}), badArgument},
		"empty":                   {nil, framed(0, 0, nil), "5"}, // no model of that name
		"promises too much":       {nil, framed(0, 1<<30, nil), full},
		"is too long":             {nil, framed(0, 2<<20, make([]byte, 2<<20)), full},
		"secretly compressed":     {nil, framed(1, n, message), badArgument},
		"of another codec":        {http.Header{"Content-Type": {"application/grpc+json"}}, framed(0, 2, []byte("{}")), badArgument},
	} {
		status, text := rawGRPC(t, client, url, c.header, c.body)
		require.Equal(t, c.want, status, "%s: %s", name, text)
	}
	require.Eventually(t, func() bool {
		s.bytes.mu.Lock()
		defer s.bytes.mu.Unlock()
		return s.bytes.used == 0
	}, 5*time.Second, time.Millisecond)
}

// TestTooLate: what would wait beyond its deadline is refused before its tensors are read, and its connection goes on.
func TestTooLate(t *testing.T) {
	s := newServer(t, nil)
	url, _ := listen(t, s, Limits{})
	b := curves(rngOf(1), 1, 50, 50)
	header, body := curvesBinary(t, nil, b)
	require.Equal(t, http.StatusOK, do(s, "POST", "/v2/models/rbf/infer", header, body).Code)
	release := block(t, s)
	var wait sync.WaitGroup
	wait.Go(func() { do(s, "POST", "/v2/models/rbf/infer", header, body) })
	require.Eventually(t, func() bool {
		s.queue.mu.Lock()
		defer s.queue.mu.Unlock()
		return len(s.queue.running) == 1
	}, 5*time.Second, time.Millisecond)
	s.queue.mu.Lock()
	s.queue.running[0].cost = time.Minute // as if it took long
	s.queue.mu.Unlock()

	header, body = curvesBinary(t, map[string]any{"timeout": 1e6}, b)
	n, err := strconv.Atoi(header[headerLength])
	require.NoError(t, err)
	copy(body[n:], bytes.Repeat([]byte{0xff}, len(body)-n)) // NaN, if anybody looked
	w := do(s, "POST", "/v2/models/rbf/infer", header, body)
	require.Equal(t, http.StatusServiceUnavailable, w.Code, "%s", w.Body)
	require.Contains(t, w.Body.String(), "this may take")
	r, err := http.NewRequest("POST", url+"/v2/models/rbf/infer", bytes.NewReader(body))
	require.NoError(t, err)
	for k, v := range header {
		r.Header.Set(k, v)
	}
	for range 3 { // over one connection
		r.Body, err = r.GetBody()
		require.NoError(t, err)
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	}
	m := curvesMessage(b)
	m.Parameters = map[string]*inference.InferParameter{"timeout": {ParameterChoice: &inference.InferParameter_Int64Param{Int64Param: 1e6}}}
	m.Inputs[0].Shape = []int64{-1} // wrong, if anybody looked
	message, err := proto.Marshal(m)
	require.NoError(t, err)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}}
	status, text := rawGRPC(t, client, url, nil, framed(0, len(message), message))
	require.Equal(t, "8", status, "%s", text)
	release()
	wait.Wait()
	status, text = rawGRPC(t, client, url, nil, framed(0, len(message), message))
	require.Equal(t, "3", status, "%s", text)
}

// TestGRPCCompression: a compressed request is read, and an answer is not compressed because a client could read it so.
func TestGRPCCompression(t *testing.T) {
	s := newServer(t, nil)
	url, _ := listen(t, s, Limits{})
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols, DisableCompression: true}}
	message, err := proto.Marshal(curvesMessage(curves(rngOf(1), 16, 50, 50)))
	require.NoError(t, err)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(message)
	require.NoError(t, z.Close())
	for flag, body := range [][]byte{message, packed.Bytes()} {
		r, err := http.NewRequest("POST", url+"/"+service+"/ModelInfer",
			bytes.NewReader(append(binary.BigEndian.AppendUint32([]byte{byte(flag)}, uint32(len(body))), body...)))
		require.NoError(t, err)
		r.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"},
			"Grpc-Encoding": {[]string{"identity", "gzip"}[flag]}, "Grpc-Accept-Encoding": {"gzip"}}
		resp, err := client.Do(r)
		require.NoError(t, err)
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, "0", resp.Trailer.Get("Grpc-Status"), "%v", resp.Trailer)
		require.Greater(t, len(answer), 16*50*4*2)
		require.Zero(t, answer[0], "it is compressed")
	}
}

// curvesMessage is a request with raw contents.
func curvesMessage(b *cnp.Batch[float32]) *inference.ModelInferRequest {
	n, nc, nt := int64(b.B), int64(b.Nc), int64(b.Nt)
	return &inference.ModelInferRequest{ModelName: "rbf", Inputs: []*inference.ModelInferRequest_InferInputTensor{
		{Name: "x_context", Datatype: "FP64", Shape: []int64{n, nc, 1}}, {Name: "y_context", Datatype: "FP32", Shape: []int64{n, nc, 1}},
		{Name: "x_target", Datatype: "FP64", Shape: []int64{n, nt, 1}}},
		RawInputContents: [][]byte{safetensors.Float64Bytes(b.XContext), safetensors.Float32Bytes(b.YContext),
			safetensors.Float64Bytes(b.XTarget)}}
}

// floats reads raw contents.
func floats(t *testing.T, b []byte) []float32 {
	x := safetensors.Tensor{DType: safetensors.F32, Shape: []int{len(b) / 4}, Data: b}
	v, err := x.Float32s()
	require.NoError(t, err)
	return v
}
