// Package client asks a server of the Open Inference Protocol, version 2, over REST with binary tensors. It works with
// package serve and with what else serves models of the same inputs and outputs.
//
//	c := client.New("http://localhost:8080", client.Options{})
//	p, err := c.Complete(ctx, "digits", images)
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// Options of a client. The zero value is fine.
type Options struct {
	HTTP  *http.Client // nil: http.DefaultTransport, without a limit of time but the context's
	Token string       // a bearer token
	// Retries bounds how often a request that a busy server refused is sent again, after the time that the server says.
	Retries int
}

// Client asks one server. It is safe for concurrent use.
type Client struct {
	base string
	opt  Options
}

// New returns a client of the server at a URL.
func New(base string, opt Options) *Client {
	if opt.HTTP == nil {
		opt.HTTP = &http.Client{}
	}
	return &Client{strings.TrimRight(base, "/"), opt}
}

// Error is an answer that is none of success.
type Error struct {
	Status     int // of HTTP
	Message    string
	RetryAfter time.Duration // 0: the server does not say
}

// Error says what the server said.
func (e *Error) Error() string { return fmt.Sprintf("client: %d: %s", e.Status, e.Message) }

// Tensor is an input or output.
type Tensor struct {
	Name, Datatype string // FP32 for example
	Shape          []int
	Data           []byte // little-endian, row-major
}

// Float32s makes an input of type FP32, which may alias v.
func Float32s(name string, shape []int, v []float32) Tensor {
	return Tensor{name, "FP32", shape, safetensors.Float32Bytes(v)}
}

// Float64s makes an input of type FP64, which may alias v.
func Float64s(name string, shape []int, v []float64) Tensor {
	return Tensor{name, "FP64", shape, safetensors.Float64Bytes(v)}
}

// Bools makes an input of type BOOL.
func Bools(name string, shape []int, v []bool) Tensor {
	b := make([]byte, len(v))
	for i, x := range v {
		if x {
			b[i] = 1
		}
	}
	return Tensor{name, "BOOL", shape, b}
}

// Float32s returns the elements of an output of type FP32, which may alias its data.
func (t *Tensor) Float32s() ([]float32, error) {
	if t.Datatype != "FP32" {
		return nil, fmt.Errorf("client: %s is of type %s, not FP32", t.Name, t.Datatype)
	}
	x := safetensors.Tensor{Name: t.Name, DType: safetensors.F32, Shape: t.Shape, Data: t.Data}
	return x.SharedFloat32s()
}

// Request is an inference request.
type Request struct {
	ID         string
	Inputs     []Tensor
	Outputs    []string       // none: all
	Parameters map[string]any // timeout and priority among them
}

// Response is its answer.
type Response struct {
	ID, Model, Version string
	Parameters         map[string]any
	Outputs            []Tensor
}

// Get returns the output of that name, or nil.
func (r *Response) Get(name string) *Tensor {
	for i := range r.Outputs {
		if r.Outputs[i].Name == name {
			return &r.Outputs[i]
		}
	}
	return nil
}

// headerLength says how many bytes of a body are JSON.
const headerLength = "Inference-Header-Content-Length"

type wireTensor struct {
	Name       string         `json:"name"`
	Datatype   string         `json:"datatype,omitempty"`
	Shape      []int          `json:"shape,omitzero"`
	Parameters map[string]any `json:"parameters,omitempty"`
}

type wireRequest struct {
	ID         string         `json:"id,omitempty"`
	Parameters map[string]any `json:"parameters,omitempty"`
	Inputs     []wireTensor   `json:"inputs"`
	Outputs    []wireTensor   `json:"outputs,omitempty"`
}

type wireResponse struct {
	ID         string         `json:"id"`
	Model      string         `json:"model_name"`
	Version    string         `json:"model_version"`
	Parameters map[string]any `json:"parameters"`
	Outputs    []wireTensor   `json:"outputs"`
}

// Infer sends a request to a model. A deadline of ctx goes with it, unless the request has a timeout already. What the server refuses is
// an *Error.
func (c *Client) Infer(ctx context.Context, model string, r *Request) (*Response, error) {
	if r == nil {
		return nil, errors.New("client: no request")
	}
	for try := 0; ; try++ {
		out, err := c.infer(ctx, model, r)
		var e *Error
		if try >= c.opt.Retries || !errors.As(err, &e) || e.Status != http.StatusServiceUnavailable {
			return out, err
		}
		t := time.NewTimer(cmp.Or(e.RetryAfter, time.Second))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		}
	}
}

func (c *Client) infer(ctx context.Context, model string, r *Request) (*Response, error) {
	head := wireRequest{ID: r.ID, Parameters: map[string]any{"binary_data_output": true}}
	if deadline, ok := ctx.Deadline(); ok {
		head.Parameters["timeout"] = max(1, time.Until(deadline).Microseconds())
	}
	maps.Copy(head.Parameters, r.Parameters)
	var body [][]byte
	length := 0
	for _, t := range r.Inputs {
		head.Inputs = append(head.Inputs, wireTensor{t.Name, t.Datatype, t.Shape, map[string]any{"binary_data_size": len(t.Data)}})
		body = append(body, t.Data)
		length += len(t.Data)
	}
	for _, name := range r.Outputs {
		head.Outputs = append(head.Outputs, wireTensor{Name: name, Parameters: map[string]any{"binary_data": true}})
	}
	b, err := json.Marshal(&head)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	all := func() (io.ReadCloser, error) {
		parts := []io.Reader{bytes.NewReader(b)}
		for _, data := range body {
			parts = append(parts, bytes.NewReader(data))
		}
		return io.NopCloser(io.MultiReader(parts...)), nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/v2/models/"+url.PathEscape(model)+"/infer", nil)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	req.GetBody = all // for redirections, and connections that the server closes before it reads
	req.Body, _ = all()
	req.ContentLength = int64(len(b) + length)
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set(headerLength, strconv.Itoa(len(b)))
	if c.opt.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.opt.Token)
	}
	resp, err := c.opt.HTTP.Do(req)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	defer resp.Body.Close()
	if to := resp.Request; to != nil && to.Method != http.MethodPost {
		return nil, fmt.Errorf("client: %s redirects to %s with a status that loses the request: give the client that server's address",
			c.base, to.URL.Redacted())
	}
	if resp.StatusCode != http.StatusOK {
		return nil, refusal(resp)
	}
	out, err := read(resp)
	if err != nil {
		return nil, fmt.Errorf("client: the answer is not one of the protocol: %w", err)
	}
	return out, nil
}

// refusal reads what a server says instead of an answer.
func refusal(resp *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	e := &Error{Status: resp.StatusCode, Message: strings.TrimSpace(string(b))}
	var says struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(b, &says) == nil && says.Error != "" {
		e.Message = says.Error
	}
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 && s <= 1<<20 {
		e.RetryAfter = time.Duration(s) * time.Second
	}
	return e
}

// read reads an answer. Its tensors lie in memory as float32 does.
func read(resp *http.Response) (*Response, error) {
	n, err := strconv.ParseInt(resp.Header.Get(headerLength), 10, 32)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("%s: %q", headerLength, resp.Header.Get(headerLength))
	}
	head, err := io.ReadAll(io.LimitReader(resp.Body, n))
	if err != nil {
		return nil, err
	}
	var w wireResponse
	if err := json.Unmarshal(head, &w); err != nil {
		return nil, err
	}
	out := &Response{ID: w.ID, Model: w.Model, Version: w.Version, Parameters: w.Parameters}
	for _, t := range w.Outputs {
		f, _ := t.Parameters["binary_data_size"].(float64)
		if !(f >= 0 && f <= math.MaxInt32) {
			return nil, fmt.Errorf("%s: binary_data_size is %v", t.Name, t.Parameters["binary_data_size"])
		}
		data, err := io.ReadAll(io.LimitReader(resp.Body, int64(f)))
		if err == nil && len(data) != int(f) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		out.Outputs = append(out.Outputs, Tensor{t.Name, t.Datatype, t.Shape, data})
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return nil, err
	}
	return out, nil
}

// Complete asks a model of images for mean and standard deviation [B, C, H, W].
func (c *Client) Complete(ctx context.Context, model string, im *cnp.Images[float32]) (*cnp.Prediction[float32], error) {
	if im == nil {
		return nil, errors.New("client: no images")
	}
	return c.predict(ctx, model, &Request{Inputs: []Tensor{
		Float32s("image", []int{im.B, im.C, im.H, im.W}, im.Pixels),
		Bools("mask", []int{im.B, 1, im.H, im.W}, im.Mask)}}, im.B*im.C*im.H*im.W)
}

// Predict asks a model of curves, with dx coordinates and dy values a point, for mean and standard deviation [B, Nt, dy].
func (c *Client) Predict(ctx context.Context, model string, b *cnp.Batch[float32], dx, dy int) (*cnp.Prediction[float32], error) {
	if b == nil {
		return nil, errors.New("client: no batch")
	}
	r := &Request{Inputs: []Tensor{Float64s("x_context", []int{b.B, b.Nc, dx}, b.XContext),
		Float32s("y_context", []int{b.B, b.Nc, dy}, b.YContext),
		Float64s("x_target", []int{b.B, b.Nt, dx}, b.XTarget)}}
	if b.AuxContext != nil || b.AuxTarget != nil {
		width := max(len(b.AuxContext)/max(1, b.B*b.Nc), len(b.AuxTarget)/max(1, b.B*b.Nt)) // either may have no points
		r.Inputs = append(r.Inputs, Float32s("aux_context", []int{b.B, b.Nc, width}, b.AuxContext),
			Float32s("aux_target", []int{b.B, b.Nt, width}, b.AuxTarget))
	}
	if b.Ns > 0 || b.YStatic != nil {
		r.Inputs = append(r.Inputs, Float64s("x_static", []int{b.B, b.Ns, dx}, b.XStatic),
			Float32s("y_static", []int{b.B, b.Ns, len(b.YStatic) / max(1, b.B*b.Ns)}, b.YStatic))
	}
	if b.ContextMask != nil {
		r.Inputs = append(r.Inputs, Bools("context_mask", []int{b.B, b.Nc}, b.ContextMask))
	}
	if b.TargetMask != nil {
		r.Inputs = append(r.Inputs, Bools("target_mask", []int{b.B, b.Nt}, b.TargetMask))
	}
	return c.predict(ctx, model, r, b.B*b.Nt*dy)
}

// predict asks for mean and standard deviation of that many values.
func (c *Client) predict(ctx context.Context, model string, r *Request, values int) (*cnp.Prediction[float32], error) {
	r.Outputs = []string{"mean", "std"}
	out, err := c.Infer(ctx, model, r)
	if err != nil {
		return nil, err
	}
	p := &cnp.Prediction[float32]{Likelihood: cnp.Normal}
	for name, to := range map[string]*[]float32{"mean": &p.Mean, "std": &p.Std} {
		t := out.Get(name)
		if t == nil {
			return nil, fmt.Errorf("client: the answer has no %s", name)
		}
		if *to, err = t.Float32s(); err != nil {
			return nil, err
		}
		if len(*to) != values {
			return nil, fmt.Errorf("client: the answer has %d numbers of %s, need %d", len(*to), name, values)
		}
	}
	return p, nil
}

// Ready reports whether the server, or with a name a model, takes requests.
func (c *Client) Ready(ctx context.Context, model string) (bool, error) {
	path := "/v2/health/ready"
	if model != "" {
		path = "/v2/models/" + url.PathEscape(model) + "/ready"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return false, fmt.Errorf("client: %w", err)
	}
	if c.opt.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.opt.Token)
	}
	resp, err := c.opt.HTTP.Do(req)
	if err != nil {
		return false, fmt.Errorf("client: %w", err)
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK, err
}
