package serve

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// headerLength is the header of the binary tensor extension: how many bytes of the body are JSON; the elements of tensors follow.
const headerLength = "Inference-Header-Content-Length"

// extensions are those of the protocol that the server has.
var extensions = []string{"binary_tensor_data", "model_configuration", "model_repository(index)"}

// ServeHTTP answers both protocols.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// routes returns the handler of everything.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/health/live", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]bool{"live": true})
	})
	mux.HandleFunc("GET /v2/health/ready", func(w http.ResponseWriter, _ *http.Request) { writeReady(w, "ready", s.ready()) })
	mux.HandleFunc("GET /v2", s.serverMetadata)
	mux.HandleFunc("GET /v2/{$}", s.serverMetadata)
	for _, prefix := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		mux.HandleFunc("GET "+prefix, s.withModel(func(w http.ResponseWriter, m *model) { writeJSON(w, http.StatusOK, metadataOf(m)) }))
		mux.HandleFunc("GET "+prefix+"/config", s.withModel(func(w http.ResponseWriter, m *model) { writeJSON(w, http.StatusOK, s.configOf(m)) }))
		mux.HandleFunc("GET "+prefix+"/ready", s.modelReady)
		mux.HandleFunc("POST "+prefix+"/infer", s.restInfer)
	}
	mux.HandleFunc("GET /v2/repository/index", s.index)
	mux.HandleFunc("POST /v2/repository/index", s.index) // Triton's clients post
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/v2/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, notFound("%s %.200s is nothing that this server answers", r.Method, r.URL.Path))
	})
	s.grpcRoutes(mux)
	if s.opt.Page != nil {
		mux.Handle("/", s.opt.Page)
	} else {
		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "An EquivCNP server: the Open Inference Protocol is below /v2, metrics are at /metrics.\n")
		})
	}
	return s.guard(mux)
}

// open are the paths that need no token: probes have none, and the page asks for it.
func open(path string) bool {
	return path == "/" || strings.HasPrefix(path, "/page/") || strings.HasPrefix(path, "/v2/health/") || strings.HasPrefix(path, "/grpc.health.v1.Health/")
}

// guard asks for the token, and tells clients of a server that stops to connect elsewhere next time.
func (s *Server) guard(next http.Handler) http.Handler {
	want := []byte("Bearer " + s.opt.Token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() && r.ProtoMajor == 1 {
			w.Header().Set("Connection", "close")
		}
		if s.opt.Token != "" && !open(r.URL.Path) && subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			writeError(w, &failure{status: http.StatusUnauthorized, text: "a bearer token is needed"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(b)+1))
	w.WriteHeader(status)
	w.Write(append(b, '\n'))
}

// writeReady answers a question of that name: with 200, or 503.
func writeReady(w http.ResponseWriter, name string, ready bool) {
	status := http.StatusOK
	if !ready {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, map[string]any{name: ready})
}

// writeError answers with what went wrong.
func writeError(w http.ResponseWriter, f *failure) {
	if f.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.retry.Seconds()))))
	}
	writeJSON(w, f.status, map[string]string{"error": strings.ToValidUTF8(f.text, "?")})
}

func (s *Server) serverMetadata(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"name": "equivcnp", "version": s.opt.Version, "extensions": extensions})
}

// withModel answers for a model, or that there is none.
func (s *Server) withModel(f func(http.ResponseWriter, *model)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m, err := s.find(r.PathValue("model"), r.PathValue("version"))
		if err != nil {
			writeError(w, asFailure(err))
			return
		}
		f(w, m)
	}
}

func (s *Server) modelReady(w http.ResponseWriter, r *http.Request) {
	m, err := s.find(r.PathValue("model"), r.PathValue("version"))
	if err != nil {
		writeError(w, asFailure(err))
		return
	}
	status := http.StatusOK
	if !s.ready() {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, map[string]any{"name": m.name, "ready": s.ready()})
}

// modelMetadata is a model in the protocol.
type modelMetadata struct {
	Name     string       `json:"name"`
	Versions []string     `json:"versions"`
	Platform string       `json:"platform"`
	Inputs   []tensorInfo `json:"inputs"`
	Outputs  []tensorInfo `json:"outputs"`
}

// platform is what a model needs, in the protocol's way of project_format.
const platform = "equivcnp_safetensors"

func metadataOf(m *model) modelMetadata {
	return modelMetadata{m.name, []string{m.version}, platform, m.inputs, m.outputs}
}

// configOf is what else clients may want to know of a model.
func (s *Server) configOf(m *model) map[string]any {
	return map[string]any{"name": m.name, "platform": platform, "max_batch_size": s.opt.Batch, "input": m.inputs, "output": m.outputs,
		"parameters": m.cfg, "trained_on": m.note}
}

// index lists the models, and the files that could not be read.
func (s *Server) index(w http.ResponseWriter, _ *http.Request) {
	type entry struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
		State   string `json:"state"`
		Reason  string `json:"reason"`
	}
	failures, out := *s.failures.Load(), []entry{}
	for _, m := range s.list() {
		out = append(out, entry{m.name, m.version, "READY", failures[m.name]})
	}
	for name, reason := range failures {
		if (*s.models.Load())[name] == nil {
			out = append(out, entry{name, "", "UNAVAILABLE", reason})
		}
	}
	writeJSON(w, http.StatusOK, out)
}

// restRequest is the JSON of an inference request.
type restRequest struct {
	ID         string       `json:"id"`
	Parameters params       `json:"parameters"`
	Inputs     []restInput  `json:"inputs"`
	Outputs    []restOutput `json:"outputs"`
}

type restInput struct {
	Name       string          `json:"name"`
	Shape      []int64         `json:"shape"`
	Datatype   string          `json:"datatype"`
	Parameters params          `json:"parameters"`
	Data       json.RawMessage `json:"data"`
}

type restOutput struct {
	Name       string `json:"name"`
	Parameters params `json:"parameters"`
}

// restResponse is the JSON of an answer. numbers writes its outputs' data.
type restResponse struct {
	ID         string       `json:"id,omitempty"`
	Model      string       `json:"model_name"`
	Version    string       `json:"model_version"`
	Parameters params       `json:"parameters,omitempty"`
	Outputs    []restAnswer `json:"outputs"`
}

type restAnswer struct {
	Name       string          `json:"name"`
	Shape      []int64         `json:"shape"`
	Datatype   string          `json:"datatype"`
	Parameters params          `json:"parameters,omitempty"`
	Data       json.RawMessage `json:"data,omitempty"`
}

// restInfer answers an inference request.
func (s *Server) restInfer(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	var reserved int64
	j, req, err := s.restRun(w, r, &reserved)
	defer func() { s.bytes.give(reserved) }()
	var f *failure
	if err == nil {
		err = s.restAnswer(w, req, j)
	}
	if err != nil {
		f = asFailure(err)
		setWriteDeadline(w, 0)
		writeError(w, f)
	}
	s.logged(r.Context(), "rest", r.PathValue("model"), start, j, f)
}

// logged counts a request and writes it to the log.
func (s *Server) logged(ctx context.Context, protocol, name string, start time.Time, j *job, f *failure) {
	if (*s.models.Load())[name] == nil {
		name = ""
	}
	s.metrics.answered(name, protocol, start, f)
	switch {
	case f != nil && f.status >= 500 && f.reason == "" && f.status != http.StatusServiceUnavailable:
		s.log.Error("request failed", "protocol", protocol, "model", name, "status", f.status, "error", f.text, "seconds", time.Since(start).Seconds())
	case s.log.Enabled(ctx, slog.LevelDebug):
		attrs := []any{"protocol", protocol, "model", name, "seconds", time.Since(start).Seconds()}
		if f != nil {
			attrs = append(attrs, "status", f.status, "error", f.text)
		}
		if j != nil {
			attrs = append(attrs, "tasks", j.tasks, "batch", j.batch, "queue_seconds", j.began.Sub(j.came).Seconds(), "compute_seconds", j.ended.Sub(j.began).Seconds())
		}
		s.log.DebugContext(ctx, "request", attrs...)
	}
}

// restRun reads a request and has it answered.
func (s *Server) restRun(w http.ResponseWriter, r *http.Request, reserved *int64) (*job, *request, error) {
	if _, err := s.find(r.PathValue("model"), r.PathValue("version")); err == nil && r.ContentLength >= 0 && r.ContentLength <= unread {
		if err := s.queue.full(); err != nil {
			http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience))
			return nil, nil, err
		}
	}
	grow := func(n int64) error {
		err := s.bytes.take(n)
		if err == nil {
			*reserved += n
		}
		return err
	}
	var in restRequest
	rest, err := s.readBody(w, r, reserved, func(head []byte, left int64) (err error) {
		if err := grow(jsonGrowth * int64(len(head))); err != nil {
			return err
		}
		if in, err = parseHead(head); err != nil || left == 0 || left > unread {
			return err
		}
		return s.tooLate(r.Context(), in.Parameters)
	})
	if err != nil {
		return nil, nil, err
	}
	if err := grow(int64(len(rest))); err != nil {
		return nil, nil, err
	}
	req, err := in.request(rest)
	if err != nil {
		return nil, nil, err
	}
	req.model, req.version = r.PathValue("model"), r.PathValue("version")
	j, err := s.infer(r.Context(), req, reserved)
	return j, req, err
}

// unread is the body at most that net/http reads by itself, to go on with the connection, when a handler has not.
const unread = 256 << 10

// slowest is how few bytes a second a client may send or take on average, and patience is what it has beyond that.
const (
	slowest  = 32 << 10
	patience = 20 * time.Second
)

// setWriteDeadline gives a client the time to take n bytes. Where the ResponseWriter knows no deadlines, the server's own ones hold.
func setWriteDeadline(w http.ResponseWriter, n int) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience + time.Duration(n/slowest)*time.Second))
}

// readBody reads the JSON, calls parse with it and the number of bytes that are still to be read, and returns what follows it, in a slice of its own so that the
// elements of tensors can lie as the machine likes. The bytes are reserved before they are read: as many as the client says, or as many as came so far.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, reserved *int64, parse func(head []byte, left int64) error) (rest []byte, err error) {
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, &failure{status: http.StatusUnsupportedMediaType, text: fmt.Sprintf("content encoding %.40q is not known", e)}
	}
	size := int64(-1) // of the JSON: all
	if h := r.Header.Get(headerLength); h != "" {
		if size, err = strconv.ParseInt(h, 10, 64); err != nil || size < 0 {
			return nil, invalid("%s: %.40q is no number of bytes", headerLength, h)
		}
	}
	if r.ContentLength > s.opt.Body {
		return nil, tooLarge("the request has %v, at most %v are allowed", cnp.Bytes(r.ContentLength), cnp.Bytes(s.opt.Body))
	}
	if r.ContentLength >= 0 && size > r.ContentLength {
		return nil, invalid("%s: %d, the body has %d bytes", headerLength, size, r.ContentLength)
	}
	http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience + time.Duration(max(r.ContentLength, s.opt.Body)/slowest)*time.Second))
	body := &reservingReader{r: r.Body, left: s.opt.Body, gauge: s.bytes, reserved: reserved}
	if r.ContentLength > 0 {
		if err := body.ahead(r.ContentLength); err != nil {
			return nil, err
		}
	}
	read := func(n int64) ([]byte, error) {
		if n < 0 {
			return io.ReadAll(body)
		}
		b := make([]byte, n)
		_, err := io.ReadFull(body, b)
		return b, err
	}
	broken := func(err error) error {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return invalid("the body ends early")
		}
		if f := asFailure(err); f.status != http.StatusInternalServerError {
			return f
		}
		return &failure{status: http.StatusRequestTimeout, text: "the body could not be read: " + err.Error()}
	}
	left := int64(0)
	var head []byte
	switch {
	case r.ContentLength < 0:
		if head, err = io.ReadAll(body); err == nil && size >= 0 {
			if size > int64(len(head)) {
				return nil, invalid("%s: %d, the body has %d bytes", headerLength, size, len(head))
			}
			rest = bytes.Clone(head[size:])
			head = head[:size]
		}
	case size < 0:
		head, err = read(r.ContentLength)
	default:
		head, err = read(size)
		left = r.ContentLength - size
	}
	if err != nil {
		return nil, broken(err)
	}
	if err := parse(head, left); err != nil {
		return nil, err
	}
	if left > 0 {
		if rest, err = read(left); err != nil {
			return nil, broken(err)
		}
	}
	return rest, nil
}

// jsonGrowth is how many more bytes a byte of JSON takes on its way to a tensor: it is copied once, and "1," becomes eight.
const jsonGrowth = 5

// reservingReader reserves what it reads.
type reservingReader struct {
	r        io.Reader
	left     int64 // that may be read
	credit   int64 // that is reserved already
	gauge    *bytesGauge
	reserved *int64
}

// ahead reserves n bytes that are still to be read.
func (b *reservingReader) ahead(n int64) error {
	if err := b.gauge.take(n); err != nil {
		return err
	}
	*b.reserved += n
	b.credit += n
	return nil
}

func (b *reservingReader) Read(p []byte) (int, error) {
	if b.left == 0 {
		var one [1]byte
		if n, err := b.r.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, tooLarge("the request is longer than is allowed")
	}
	p = p[:min(int64(len(p)), b.left)]
	n, err := b.r.Read(p)
	b.left -= int64(n)
	if b.credit -= int64(n); b.credit < 0 {
		if full := b.ahead(max(-b.credit, 64<<10)); full != nil {
			return n, full
		}
	}
	return n, err
}

// parseHead reads the JSON of a request.
func parseHead(head []byte) (in restRequest, err error) {
	if err := json.Unmarshal(head, &in); err != nil {
		return in, invalid("the request is not the JSON of the protocol: %v", err)
	}
	if len(in.Inputs) > maxTensors || len(in.Outputs) > maxTensors {
		return in, invalid("%d inputs and %d outputs, at most %d of each are allowed", len(in.Inputs), len(in.Outputs), maxTensors)
	}
	return in, nil
}

// request takes the elements of the tensors that say binary_data_size from what follows the JSON, in order.
func (in *restRequest) request(rest []byte) (*request, error) {
	r := &request{id: in.ID, params: in.Parameters}
	for i := range in.Inputs {
		x := &in.Inputs[i]
		t, count, err := newTensor(x.Name, x.Datatype, x.Shape)
		if err != nil {
			return nil, err
		}
		size, binary, err := x.Parameters.whole("binary_data_size", 0, math.MaxInt32)
		switch {
		case err != nil:
			return nil, err
		case binary && len(x.Data) > 0:
			return nil, invalid("input %.40q has both data and binary_data_size", x.Name)
		case binary && size > len(rest):
			return nil, invalid("input %.40q: binary_data_size is %d, the body has %d bytes left after its JSON (%s)", x.Name, size, len(rest), headerLength)
		case binary:
			err = setRaw(&t, count, rest[:size:size])
			rest = rest[size:]
		case len(x.Data) == 0:
			return nil, invalid("input %.40q has no data", x.Name)
		default:
			err = setNumbers(&t, count, x.Data)
		}
		if err != nil {
			return nil, err
		}
		r.inputs = append(r.inputs, t)
	}
	if len(rest) > 0 {
		return nil, invalid("%d bytes follow the elements of all tensors", len(rest))
	}
	if err := checkTwice(r.inputs); err != nil {
		return nil, err
	}
	var err error
	if r.binary, err = r.params.flag("binary_data_output", false); err != nil {
		return nil, err
	}
	for _, o := range in.Outputs {
		binary, err := o.Parameters.flag("binary_data", r.binary)
		if err != nil {
			return nil, err
		}
		r.outputs = append(r.outputs, wanted{o.Name, binary})
	}
	return r, nil
}

// checkTwice refuses inputs of one name.
func checkTwice(inputs []safetensors.Tensor) error {
	for i := range inputs {
		for k := range i {
			if inputs[i].Name == inputs[k].Name {
				return invalid("two inputs are called %.40q", inputs[i].Name)
			}
		}
	}
	return nil
}

// restAnswer writes an answer. After the first byte nothing is left to be said but to the log.
func (s *Server) restAnswer(w http.ResponseWriter, r *request, j *job) error {
	out := restResponse{ID: r.id, Model: j.model.name, Version: j.model.version}
	if j.note != "" {
		out.Parameters = params{"note": j.note}
	}
	var raw [][]byte
	length := 0
	for _, a := range j.answers(r) {
		x := restAnswer{Name: a.name, Shape: a.shape, Datatype: "FP32"}
		if a.binary {
			b := safetensors.Float32Bytes(a.values)
			x.Parameters = params{"binary_data_size": len(b)}
			raw, length = append(raw, b), length+len(b)
		} else {
			var err error
			if x.Data, err = numbers(a.values); err != nil {
				if j.note != "" {
					err = invalid("%s; everything else has its prediction as binary data", j.note)
				}
				return err
			}
		}
		out.Outputs = append(out.Outputs, x)
	}
	head, err := json.Marshal(&out)
	if err != nil {
		return err
	}
	h := w.Header()
	if raw != nil {
		h.Set("Content-Type", "application/octet-stream")
		h.Set(headerLength, strconv.Itoa(len(head)))
	} else {
		h.Set("Content-Type", "application/json")
	}
	h.Set("Content-Length", strconv.Itoa(len(head)+length))
	h.Set("Server-Timing", j.timing())
	setWriteDeadline(w, len(head)+length)
	w.WriteHeader(http.StatusOK)
	for _, b := range append([][]byte{head}, raw...) {
		if _, err := w.Write(b); err != nil {
			s.log.Debug("an answer was not taken", "model", j.model.name, "error", err.Error())
			break
		}
	}
	return nil
}

// numbers writes numbers as JSON. It is an error if one is none, as JSON cannot say so.
func numbers(v []float32) ([]byte, error) {
	b := append(make([]byte, 0, 12*len(v)+2), '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		f := float64(x)
		if math.IsNaN(f - f) {
			return nil, &failure{status: http.StatusInternalServerError, text: fmt.Sprintf("value %d of the prediction is %v", i, x)}
		}
		b = strconv.AppendFloat(b, f, 'g', -1, 32)
	}
	return append(b, ']'), nil
}
