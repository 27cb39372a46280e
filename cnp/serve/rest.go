package serve

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// headerLength is the header of the binary tensor extension: how many bytes of the body are JSON; the elements of tensors follow.
const headerLength = "Inference-Header-Content-Length"

// restRequest is the JSON of an inference request. Its lists are arrays, one longer than may be: package json skips what is beyond them,
// where a slice would grow by far more than the JSON that it is read from.
type restRequest struct {
	ID         string                      `json:"id"`
	Parameters params                      `json:"parameters"`
	Inputs     [maxTensors + 1]*restInput  `json:"inputs"`
	Outputs    [maxTensors + 1]*restOutput `json:"outputs"`
}

type restInput struct {
	Name       string              `json:"name"`
	Shape      [maxRank + 1]*int64 `json:"shape"`
	Datatype   string              `json:"datatype"`
	Parameters params              `json:"parameters"`
	Data       json.RawMessage     `json:"data"`
}

type restOutput struct {
	Name       string `json:"name"`
	Parameters params `json:"parameters"`
}

// given are the elements of such a list up to the last one that is there.
func given[T any](list []*T) []T {
	n := len(list)
	for n > 0 && list[n-1] == nil {
		n--
	}
	out := make([]T, n)
	for i, v := range list[:n] {
		if v != nil {
			out[i] = *v
		}
	}
	return out
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
	s.setComputeDeadline(w)
	res := s.bytes.open(r.Context())
	defer res.release()
	j, req, err := s.restRun(w, r, res)
	var f *failure
	if err == nil {
		err = s.restAnswer(w, r, req, j)
	}
	if err != nil {
		f = asFailure(err)
		setWriteDeadline(w, 0)
		writeError(w, f)
	}
	s.logged(r.Context(), "rest", r.PathValue("model"), start, j, f)
}

// restRun reads a request and has it answered.
func (s *Server) restRun(w http.ResponseWriter, r *http.Request, res *reservation) (*job, *request, error) {
	m, err := s.find(r.PathValue("model"), r.PathValue("version"))
	if r.ContentLength >= 0 && r.ContentLength <= unread {
		if err == nil {
			err = s.queue.full(m, clientIn(r.Context()))
		}
		if err != nil {
			newUpload(w, r, 0).abandon()
			return nil, nil, err
		}
	}
	var in restRequest
	rest, err := s.readBody(w, r, res, func(head []byte, left int64) (err error) {
		if err := res.take(jsonGrowth * int64(len(head))); err != nil {
			return err
		}
		if in, err = parseHead(head); err != nil || left == 0 || left > unread {
			return err
		}
		return s.tooLate(r.Context(), m, in.Parameters)
	})
	if err != nil {
		return nil, nil, err
	}
	if err := res.take(int64(len(rest))); err != nil {
		return nil, nil, err
	}
	req, err := in.request(rest)
	if err != nil {
		return nil, nil, err
	}
	req.model, req.version = r.PathValue("model"), r.PathValue("version")
	j, err := s.infer(r.Context(), req, res)
	return j, req, err
}

// readBody reads the JSON, calls parse with it and the number of bytes that are still to be read, and returns what follows it, in a slice
// of its own so that the elements of tensors can lie as the machine likes. Bytes are reserved as they come; what could not be reserved in
// the end, if it is as long as it says, is not begun.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, res *reservation, parse func(head []byte,
	left int64) error) (rest []byte, err error) {
	length := r.ContentLength // -1: not known
	if length > s.opt.Body {
		return nil, tooLarge("the request has %v, at most %v are allowed", cnp.Bytes(length), cnp.Bytes(s.opt.Body))
	}
	size := int64(-1) // of the JSON: all
	if h := r.Header.Get(headerLength); h != "" {
		if size, err = strconv.ParseInt(h, 10, 64); err != nil || size < 0 {
			return nil, invalid("%s: %.40q is no number of bytes", headerLength, h)
		}
	}
	if size > s.opt.Body {
		return nil, tooLarge("%s: %v, at most %v are allowed", headerLength, cnp.Bytes(size), cnp.Bytes(s.opt.Body))
	}
	up := newUpload(w, r, length)
	if length > 0 {
		if err := res.fits(length); err != nil {
			up.abandon()
			return nil, err
		}
	}
	var body io.Reader = up
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		if body, err = unpack(up, e); errors.Is(err, errEncoding) {
			return nil, unknownEncoding(e)
		} else if err != nil {
			return nil, unreadable(err)
		}
		length = -1
	}
	if length >= 0 && size > length {
		return nil, invalid("%s: %d, the body has %d bytes", headerLength, size, length)
	}
	head, left, err := []byte(nil), int64(0), error(nil)
	if size < 0 {
		head, err = fill(nil, body, length, s.opt.Body, res)
	} else if head, err = fill(nil, body, size, s.opt.Body, res); err == nil {
		left = -1
		if length >= 0 {
			left = length - size
		}
	}
	if err != nil {
		return nil, unreadable(err)
	}
	if err := parse(head, left); err != nil {
		up.abandon()
		return nil, err
	}
	if left != 0 {
		if rest, err = fill(nil, body, left, s.opt.Body-size, res); err != nil {
			return nil, unreadable(err)
		}
	}
	up.done()
	return rest, nil
}

// slow is what a request is told whose body or message could not be read in time, or, as a mistake of its own, whose body is broken: 408
// would have clients send it again. Of a connection that is gone nobody is told; it is for the log.
func slow(what string, err error) *failure {
	f := &failure{status: http.StatusRequestTimeout, code: connect.CodeCanceled, text: "the " + what + " came too slowly"}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		f.status, f.text = http.StatusBadRequest, "the "+what+" could not be read: "+err.Error()
	}
	return f
}

// unreadable is what an error of reading a body means for its request.
func unreadable(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return invalid("the body ends early")
	}
	if f := asFailure(err); f.status != http.StatusInternalServerError {
		return f
	}
	return slow("body", err)
}

// jsonGrowth is how many more bytes a byte of JSON takes on its way to a tensor: it is copied once, and "1," becomes eight.
const jsonGrowth = 5

// notJSON is what an error of package json means for its request.
func notJSON(err error) *failure {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) { // whose text names types of this program
		at := strings.TrimPrefix(cmp.Or(wrong.Field, "the whole"), ".")
		return invalid("the request is not the JSON of the protocol: %s is of type %s (byte %d)", at, wrong.Value, wrong.Offset)
	}
	return invalid("the request is not the JSON of the protocol: %v", err)
}

// parseHead reads the JSON of a request.
func parseHead(head []byte) (in restRequest, err error) {
	if err := json.Unmarshal(head, &in); err != nil {
		return in, notJSON(err)
	}
	if in.Inputs[maxTensors] != nil || in.Outputs[maxTensors] != nil {
		return in, invalid("at most %d inputs and outputs are allowed", maxTensors)
	}
	return in, in.Parameters.check(ofRequest, "")
}

// request takes the elements of the tensors that say binary_data_size from what follows the JSON, in order.
func (in *restRequest) request(rest []byte) (*request, error) {
	r := &request{id: in.ID, params: in.Parameters}
	for _, x := range given(in.Inputs[:]) {
		if err := x.Parameters.check(ofInput, x.Name); err != nil {
			return nil, err
		}
		t, count, err := newTensor(x.Name, x.Datatype, given(x.Shape[:]))
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
			return nil, invalid("input %.40q: binary_data_size is %d, the body has %d bytes left after its JSON (%s)", x.Name,
				size, len(rest),
				headerLength)
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
	for _, o := range given(in.Outputs[:]) {
		if err := o.Parameters.check(ofOutput, o.Name); err != nil {
			return nil, err
		}
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
func (s *Server) restAnswer(w http.ResponseWriter, hr *http.Request, r *request, j *job) error {
	out := restResponse{ID: r.id, Model: j.model.name, Version: j.model.version}
	if note := j.said(); note != "" {
		out.Parameters = params{"note": note}
	}
	if j.checked != "" {
		if out.Parameters == nil {
			out.Parameters = params{}
		}
		out.Parameters["check"] = j.checked
	}
	var raw [][]byte
	length := 0
	for _, a := range j.answers {
		x := restAnswer{Name: a.name, Shape: a.shape, Datatype: "FP32"}
		if a.binary {
			b := safetensors.Float32Bytes(a.values)
			x.Parameters = params{"binary_data_size": len(b)}
			raw, length = append(raw, b), length+len(b)
		} else {
			var err error
			if x.Data, err = numbers(a.name, a.values); err != nil {
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
		head = compressed(w, hr, head) // binary numbers hardly become shorter
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

// numbers writes the numbers of an output as JSON. It is an error if one is none, as JSON cannot say so.
func numbers(output string, v []float32) ([]byte, error) {
	b := append(make([]byte, 0, 12*len(v)+2), '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		f := float64(x)
		if math.IsNaN(f - f) {
			return nil, invalid("output %q: value %d is %v, which JSON does not have: values of the context are near the ends of FP32; "+
				"ask for binary data", output, i, x)
		}
		b = strconv.AppendFloat(b, f, 'g', -1, 32)
	}
	return append(b, ']'), nil
}
