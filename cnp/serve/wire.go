package serve

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// codec reads and writes protocol buffers. Inference requests and answers it takes straight from and to the wire: the elements of a
// tensor are copied once, where generated code would copy them twice. Field numbers are those of inference.proto.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(v any) ([]byte, error) { return codec{}.MarshalAppend(nil, v) }

// MarshalAppend implements an optional interface of connect, which hands over a buffer that it reuses.
func (codec) MarshalAppend(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case *wireResponse:
		return v.append(dst), nil
	case *healthResponse:
		return v.append(dst), nil
	case proto.Message:
		return proto.MarshalOptions{}.MarshalAppend(dst, v)
	}
	return nil, fmt.Errorf("%T is no message", v)
}

func (codec) Unmarshal(b []byte, v any) error {
	switch v := v.(type) {
	case *wireRequest:
		return v.read(b)
	case *healthRequest:
		return v.read(b)
	case proto.Message:
		return proto.Unmarshal(b, v)
	}
	return fmt.Errorf("%T is no message", v)
}

// wireRequest is ModelInferRequest.
type wireRequest struct {
	request
	raw bool // the elements came as raw_input_contents, and go back so
	// growth is how many bytes the inputs take beside the message.
	growth int64
}

// fields calls f for every field of a message, with what follows the tag: the value of a varint or a fixed field, or the bytes of one
// that has a length.
func fields(b []byte, f func(n protowire.Number, t protowire.Type, v uint64, s []byte) error) error {
	for len(b) > 0 {
		n, t, size := protowire.ConsumeTag(b)
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		var v uint64
		var s []byte
		switch t {
		case protowire.VarintType:
			v, size = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			v, size = protowire.ConsumeFixed64(b)
		case protowire.Fixed32Type:
			var u uint32
			u, size = protowire.ConsumeFixed32(b)
			v = uint64(u)
		case protowire.BytesType:
			s, size = protowire.ConsumeBytes(b)
		default: // groups, which nobody sends
			size = protowire.ConsumeFieldValue(n, t, b)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		if err := f(n, t, v, s); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}

var errUTF8 = errors.New("a string is not UTF-8")

var errWireType = errors.New("a field has a type that is not its own")

// text is a field of type string.
func text(dst *string, t protowire.Type, s []byte) error {
	if t != protowire.BytesType {
		return errWireType
	}
	if !utf8.Valid(s) {
		return errUTF8
	}
	*dst = string(s)
	return nil
}

// read takes a request from the wire. It keeps nothing of b.
func (r *wireRequest) read(b []byte) error {
	take, err := r.scan(b)
	if err != nil {
		return err
	}
	return take()
}

// scan reads everything but the inputs, and returns what takes them, as long as b is what it was.
func (r *wireRequest) scan(b []byte) (take func() error, err error) {
	r.binary, r.growth = true, 0
	var inputs, raws [][]byte
	err = fields(b, func(n protowire.Number, t protowire.Type, _ uint64, s []byte) error {
		if n >= 1 && n <= 7 && t != protowire.BytesType {
			return errWireType
		}
		switch n {
		case 1:
			return text(&r.model, t, s)
		case 2:
			return text(&r.version, t, s)
		case 3:
			return text(&r.id, t, s)
		case 4:
			return readParameter(&r.params, s)
		case 5:
			inputs = append(inputs, s)
			r.growth += growthOf(s)
		case 6:
			w, err := readOutput(s)
			r.outputs = append(r.outputs, w)
			if err != nil {
				return err
			}
		case 7:
			raws = append(raws, s)
			r.growth += int64(len(s))
		}
		if len(inputs) > maxTensors || len(raws) > maxTensors || len(r.outputs) > maxTensors {
			return invalid("at most %d inputs and outputs are allowed", maxTensors)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := r.params.check(ofRequest, ""); err != nil {
		return nil, err
	}
	if len(raws) > 0 && len(raws) != len(inputs) {
		return nil, invalid("%d inputs have %d raw_input_contents", len(inputs), len(raws))
	}
	r.raw = len(raws) > 0
	return func() error {
		for i, s := range inputs {
			var raw []byte
			if r.raw {
				raw = raws[i]
			}
			t, err := readInput(s, raw, r.raw)
			if err != nil {
				return err
			}
			r.inputs = append(r.inputs, t)
		}
		return checkTwice(r.inputs)
	}, nil
}

// growthOf is how many bytes the elements of an input's contents take: integers, which may be a byte on the wire, become float64.
func growthOf(s []byte) int64 {
	each := int64(8)
	_ = fields(s, func(n protowire.Number, _ protowire.Type, _ uint64, s []byte) error { // what is wrong is said when it is read
		if n == 2 && (string(s) == "FP32" || string(s) == "FP64") {
			each = 1
		}
		return nil
	})
	return each * int64(len(s))
}

// readOutput reads InferRequestedOutputTensor.
func readOutput(s []byte) (w wanted, err error) {
	w.binary = true
	var p params
	err = fields(s, func(n protowire.Number, t protowire.Type, _ uint64, s []byte) error {
		switch {
		case n == 1:
			return text(&w.name, t, s)
		case n == 2 && t == protowire.BytesType:
			return readParameter(&p, s)
		}
		return nil
	})
	if err == nil {
		err = p.check(ofOutput, w.name)
	}
	return w, err
}

// readParameter adds an entry of a map of parameters.
func readParameter(p *params, s []byte) error {
	var key string
	var value any
	err := fields(s, func(n protowire.Number, t protowire.Type, _ uint64, s []byte) error {
		switch n {
		case 1:
			return text(&key, t, s)
		case 2:
			if t != protowire.BytesType {
				return errWireType
			}
			return fields(s, func(n protowire.Number, t protowire.Type, v uint64, s []byte) error {
				switch {
				case n == 1 && t == protowire.VarintType:
					value = v != 0
				case n == 2 && t == protowire.VarintType:
					value = int64(v)
				case n == 3 && t == protowire.BytesType:
					value = string(s)
				case n == 4 && t == protowire.Fixed64Type:
					value = math.Float64frombits(v)
				case n == 5 && t == protowire.VarintType:
					value = v
				}
				return nil
			})
		}
		return nil
	})
	if err != nil || value == nil {
		return err
	}
	if *p == nil {
		*p = params{}
	}
	if len(*p) >= maxTensors {
		return invalid("at most %d parameters are allowed", maxTensors)
	}
	(*p)[key] = value
	return nil
}

// readInput reads InferInputTensor, whose elements are raw or in its contents.
func readInput(s, raw []byte, isRaw bool) (safetensors.Tensor, error) {
	var name, datatype string
	var shape []int64
	var contents []byte
	var p params
	err := fields(s, func(n protowire.Number, t protowire.Type, v uint64, s []byte) error {
		switch n {
		case 1:
			return text(&name, t, s)
		case 2:
			return text(&datatype, t, s)
		case 3:
			return varints(t, v, s, func(v uint64) error {
				if shape = append(shape, int64(v)); len(shape) > maxRank {
					return invalid("input %.40q: a shape of more than %d axes", name, maxRank)
				}
				return nil
			})
		case 4:
			if t != protowire.BytesType {
				return errWireType
			}
			return readParameter(&p, s)
		case 5:
			if t != protowire.BytesType {
				return errWireType
			}
			contents = append(contents, s...) // as messages merge
		}
		return nil
	})
	if err == nil {
		err = p.check(ofInput, name)
	}
	if err != nil {
		return safetensors.Tensor{}, err
	}
	t, count, err := newTensor(name, datatype, shape)
	if err != nil {
		return t, err
	}
	if isRaw {
		if contents != nil {
			return t, invalid("input %.40q has both contents and raw_input_contents", name)
		}
		return t, setRaw(&t, count, aligned(raw))
	}
	return t, readContents(&t, count, contents)
}

// aligned copies bytes to where elements of any type may lie.
func aligned(b []byte) []byte {
	words := make([]uint64, (len(b)+7)/8)
	out := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))[:len(b)]
	copy(out, b)
	return out
}

// varints calls f for the elements of a repeated field, packed or not.
func varints(t protowire.Type, v uint64, s []byte, f func(uint64) error) error {
	switch t {
	case protowire.VarintType:
		return f(v)
	case protowire.BytesType:
		for len(s) > 0 {
			v, size := protowire.ConsumeVarint(s)
			if size < 0 {
				return protowire.ParseError(size)
			}
			if err := f(v); err != nil {
				return err
			}
			s = s[size:]
		}
		return nil
	}
	return errWireType
}

// readContents gives a tensor the elements of InferTensorContents: those of float32 and float64 are on the wire as they are in memory,
// integers become float64.
func readContents(t *safetensors.Tensor, count int, s []byte) error {
	type field struct {
		types []safetensors.DType
		size  int // of an element on the wire; 0 for varints
	}
	kinds := map[protowire.Number]field{
		1: {[]safetensors.DType{safetensors.Bool}, 0},
		2: {[]safetensors.DType{safetensors.I8, safetensors.I16, safetensors.I32}, 0},
		3: {[]safetensors.DType{safetensors.I64}, 0},
		4: {[]safetensors.DType{safetensors.U8, safetensors.U16, safetensors.U32}, 0},
		5: {[]safetensors.DType{safetensors.U64}, 0},
		6: {[]safetensors.DType{safetensors.F32}, 4},
		7: {[]safetensors.DType{safetensors.F64}, 8},
	}
	var fixed []byte
	var numbers []float64
	if kinds[6].types[0] == t.DType || kinds[7].types[0] == t.DType {
		if want := int64(count) * int64(t.DType.Size()); want > int64(len(s)) {
			return invalid("input %.40q: shape %v needs %d elements, contents is too short for them", t.Name, t.Shape, count)
		}
	} else if count > len(s) {
		return invalid("input %.40q: shape %v needs %d elements, contents is too short for them", t.Name, t.Shape, count)
	}
	err := fields(s, func(n protowire.Number, wt protowire.Type, v uint64, s []byte) error {
		kind, known := kinds[n]
		if !known {
			return nil
		}
		mine := false
		for _, dt := range kind.types {
			mine = mine || dt == t.DType
		}
		if !mine {
			return invalid("input %.40q is %s, and has contents in field %d, of %s", t.Name, kindOf(t.DType), n, kindOf(kind.types[0]))
		}
		switch {
		case kind.size == 0:
			return varints(wt, v, s, func(v uint64) error {
				if len(numbers) == count {
					return invalid("input %.40q: shape %v needs %d elements, contents has more", t.Name, t.Shape, count)
				}
				switch {
				case t.DType == safetensors.Bool && v != 0:
					numbers = append(numbers, 1)
				case n == 2:
					numbers = append(numbers, float64(int32(v)))
				case n == 3:
					numbers = append(numbers, float64(int64(v)))
				default:
					numbers = append(numbers, float64(v))
				}
				return nil
			})
		case wt == protowire.BytesType:
			if fixed == nil {
				fixed = aligned(s)
			} else {
				fixed = append(fixed, s...)
			}
		case wt == protowire.Fixed32Type && kind.size == 4:
			fixed = protowire.AppendFixed32(fixed, uint32(v))
		case wt == protowire.Fixed64Type && kind.size == 8:
			fixed = protowire.AppendFixed64(fixed, v)
		default:
			return errWireType
		}
		return nil
	})
	if err != nil {
		return err
	}
	if t.DType == safetensors.F32 || t.DType == safetensors.F64 {
		return setRaw(t, count, fixed)
	}
	if len(numbers) != count {
		return invalid("input %.40q: shape %v needs %d elements, contents has %d", t.Name, t.Shape, count, len(numbers))
	}
	t.DType, t.Data = safetensors.F64, safetensors.Float64Bytes(numbers)
	return nil
}

// wireResponse is ModelInferResponse.
type wireResponse struct {
	model, version, id, note string
	checked                  string
	answers                  []answer
	raw                      bool // elements go into raw_output_contents, else into the outputs' contents
}

// response is the answer to a request that a job has done.
func (r *wireRequest) response(j *job) *wireResponse {
	return &wireResponse{model: j.model.name, version: j.model.version, id: r.id, note: j.said(), checked: j.checked,
		answers: j.answers, raw: r.raw || len(r.inputs) == 0}
}

// size of a field that has a length.
func sizeBytes(n protowire.Number, length int) int {
	return protowire.SizeTag(n) + protowire.SizeBytes(length)
}

func appendText(b []byte, n protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
}

func appendMessage(b []byte, n protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), m)
}

// append writes the response, every element once.
func (r *wireResponse) append(b []byte) []byte {
	total := 256 + len(r.note) + len(r.checked)
	for _, a := range r.answers {
		total += 4*len(a.values) + 128
	}
	if cap(b)-len(b) < total {
		b = append(make([]byte, 0, len(b)+total), b...)
	}
	b = appendText(b, 1, r.model)
	b = appendText(b, 2, r.version)
	b = appendText(b, 3, r.id)
	if r.note != "" {
		b = appendMessage(b, 4, appendMessage(appendText(nil, 1, "note"), 2, appendText(nil, 3, r.note)))
	}
	if r.checked != "" {
		b = appendMessage(b, 4, appendMessage(appendText(nil, 1, "check"), 2, appendText(nil, 3, r.checked)))
	}
	for _, a := range r.answers {
		head := appendText(appendText(nil, 1, a.name), 2, "FP32")
		var shape []byte
		for _, n := range a.shape {
			shape = protowire.AppendVarint(shape, uint64(n))
		}
		head = appendMessage(head, 3, shape)
		if r.raw {
			b = appendMessage(b, 5, head)
			continue
		}
		elements := safetensors.Float32Bytes(a.values)
		contents := sizeBytes(6, len(elements))
		b = protowire.AppendTag(b, 5, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(len(head)+sizeBytes(5, contents)))
		b = append(b, head...)
		b = protowire.AppendTag(b, 5, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(contents))
		b = appendMessage(b, 6, elements)
	}
	if r.raw {
		for _, a := range r.answers {
			b = appendMessage(b, 6, safetensors.Float32Bytes(a.values))
		}
	}
	return b
}
