package serve

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// request is an inference request, whichever way it came.
type request struct {
	model, version, id string
	params             params
	inputs             []safetensors.Tensor // whose Data is as long as their shapes say
	outputs            []wanted             // none: all
	binary             bool                 // of outputs that do not say it
}

// wanted is an output that the request names.
type wanted struct {
	name   string
	binary bool
}

// params are the parameters of a request or of a tensor: bool, int64, uint64, float64 or string.
type params map[string]any

// number returns a parameter that must be a number from lo to hi, and whether it is there. null is not.
func (p params) number(name string, lo, hi float64) (float64, bool, error) {
	v := p[name]
	if v == nil {
		return 0, false, nil
	}
	var f float64
	switch v := v.(type) {
	case float64:
		f = v
	case int64:
		f = float64(v)
	case uint64:
		f = float64(v)
	case string: // gRPC clients of older protocols have no numbers but these
		var err error
		if f, err = strconv.ParseFloat(v, 64); err != nil {
			return 0, false, invalid("parameter %q: %.40q is no number", name, v)
		}
	default:
		return 0, false, invalid("parameter %q: %v is no number", name, v)
	}
	if !(f >= lo && f <= hi) {
		return 0, false, invalid("parameter %q: %g, need a number from %g to %g", name, f, lo, hi)
	}
	return f, true, nil
}

// whole is number for integers.
func (p params) whole(name string, lo, hi float64) (int, bool, error) {
	f, ok, err := p.number(name, lo, hi)
	if err == nil && f != math.Trunc(f) {
		err = invalid("parameter %q: %g, need a whole number", name, f)
	}
	return int(f), ok, err
}

// flag returns a parameter that must be true or false, or what it is by default.
func (p params) flag(name string, byDefault bool) (bool, error) {
	switch v := p[name].(type) {
	case nil:
		return byDefault, nil
	case bool:
		return v, nil
	default:
		return false, invalid("parameter %q: %v, need true or false", name, v)
	}
}

// place is where a parameter stands.
type place int

const (
	ofRequest place = iota
	ofInput
	ofOutput
)

// kind is the type of a parameter's value.
type kind int

const (
	aNumber kind = iota
	aFlag
	aText
	aList // a number, or a text of numbers
)

func (k kind) String() string {
	return [...]string{"a number", "true or false", "a text", `a number, or a text of numbers such as "7,365.25"`}[k]
}

// known are the parameters that the server takes. content_type is what MLServer's clients add to say how they made the tensors.
var known = map[place]map[string]kind{
	ofRequest: {"timeout": aNumber, "priority": aNumber, "samples": aNumber, "seed": aNumber, "block": aNumber, "growth": aNumber,
		"knots":    aNumber,
		"function": aFlag, "order": aText, "quantiles": aText, "standardise": aFlag, "check": aFlag, "binary_data_output": aFlag,
		"content_type": aText, "dates": aFlag, "log": aFlag, "positive": aFlag, "period": aList, "units": aText, "no_check": aFlag,
		"robust": aFlag},
	ofInput:  {"binary_data_size": aNumber, "content_type": aText},
	ofOutput: {"binary_data": aFlag, "content_type": aText},
}

// unserved are parameters of the protocol's extensions that the server does not have, and what to say of them.
var unserved = map[string]string{
	"classification":           "is not supported: the outputs are no classes",
	"shared_memory_region":     "is not supported: the server has no shared memory with its clients",
	"shared_memory_offset":     "is not supported: the server has no shared memory with its clients",
	"shared_memory_byte_size":  "is not supported: the server has no shared memory with its clients",
	"sequence_id":              "is not supported: requests have no state",
	"sequence_start":           "is not supported: requests have no state",
	"sequence_end":             "is not supported: requests have no state",
	"binary_data_output_shape": "is not supported",
}

// check refuses parameters that the server does not know, or of another type than theirs: one that changes nothing would look as if it did.
// name is that of the tensor.
func (p params) check(at place, name string) error {
	where := ""
	switch at {
	case ofInput:
		where = fmt.Sprintf("input %.40q: ", name)
	case ofOutput:
		where = fmt.Sprintf("output %.40q: ", name)
	}
	for key, v := range p {
		if why := unserved[key]; why != "" {
			if idle(v) {
				continue
			}
			return invalid("%sparameter %q %s", where, key, why)
		}
		k, ok := known[at][key]
		if !ok {
			return invalid("%sparameter %.40q is not known, there are %s", where, key,
				strings.Join(slices.Sorted(maps.Keys(known[at])), ", "))
		}
		fits := v == nil
		switch v := v.(type) {
		case float64, int64, uint64:
			fits = k == aNumber || k == aList
		case bool:
			fits = k == aFlag
		case string: // clients of older protocols have no other numbers over gRPC
			if len(v) > maxParameters {
				return invalid("%sparameter %q: a text of %d bytes, at most %d are allowed", where, key, len(v), maxParameters)
			}
			if fits = k != aFlag; !fits {
				return invalid("%sparameter %q: the text %.40q, need %v", where, key, v, k)
			}
		}
		if !fits {
			return invalid("%sparameter %q: %.40v, need %v", where, key, v, k)
		}
	}
	return nil
}

// idle reports whether a parameter has the value that clients send to ask for nothing.
func idle(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case float64:
		return v == 0
	case int64:
		return v == 0
	case uint64:
		return v == 0
	case string:
		return v == ""
	}
	return false
}

// maxTimeout bounds the parameter timeout.
const maxTimeout = 24 * time.Hour

// timeout is the parameter of that name, in microseconds as Triton counts; 0 without. More than maxTimeout is that.
func (p params) timeout() (time.Duration, error) {
	us, _, err := p.number("timeout", 0, math.MaxFloat64)
	return time.Duration(min(us, float64(maxTimeout/time.Microsecond)) * float64(time.Microsecond)), err
}

// maxParameters bounds the parameters of a request or of a tensor in JSON, and a text among them: in memory they may become many times as
// large.
const maxParameters = 64 << 10

// UnmarshalJSON keeps what is a boolean, a number or a string. Others are errors.
func (p *params) UnmarshalJSON(b []byte) error {
	if len(b) > maxParameters {
		return fmt.Errorf("parameters of %d bytes, at most %d are allowed", len(b), maxParameters)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	for k, v := range m {
		switch v.(type) {
		case bool, float64, string, nil:
		default:
			return fmt.Errorf("parameter %q is neither a number, a string nor a boolean", k)
		}
	}
	*p = m
	return nil
}

// datatypes are the names of element types in the protocol.
var datatypes = map[string]safetensors.DType{
	"BOOL": safetensors.Bool, "UINT8": safetensors.U8, "UINT16": safetensors.U16, "UINT32": safetensors.U32, "UINT64": safetensors.U64,
	"INT8": safetensors.I8, "INT16": safetensors.I16, "INT32": safetensors.I32, "INT64": safetensors.I64,
	"FP16": safetensors.F16, "BF16": safetensors.BF16, "FP32": safetensors.F32, "FP64": safetensors.F64,
}

// kindOf is the name of an element type in the protocol.
func kindOf(d safetensors.DType) string {
	for name, t := range datatypes {
		if t == d {
			return name
		}
	}
	return string(d)
}

// maxRank bounds the axes of a tensor, maxTensors the inputs of a request.
const (
	maxRank    = 8
	maxTensors = 32
)

// newTensor checks name, type and shape of an input, and returns it without data, with the number of its elements.
func newTensor(name, datatype string, shape []int64) (safetensors.Tensor, int, error) {
	t := safetensors.Tensor{Name: name, DType: datatypes[datatype]}
	if t.DType == "" {
		return t, 0, invalid("input %.40q: datatype %.40q is not one of %s", name, datatype,
			strings.Join(slices.Sorted(maps.Keys(datatypes)), ", "))
	}
	if len(shape) > maxRank {
		return t, 0, invalid("input %.40q: a shape of more than %d axes", name, maxRank)
	}
	count := 1
	for _, n := range shape {
		if n < 0 || n > math.MaxInt32 {
			return t, 0, invalid("input %.40q: shape %v has an axis of %d", name, shape, n)
		}
		if n > 0 && count > math.MaxInt32/int(n) {
			return t, 0, invalid("input %.40q: shape %v has more elements than can be counted", name, shape)
		}
		count *= int(n)
		t.Shape = append(t.Shape, int(n))
	}
	return t, count, nil
}

// setRaw gives a tensor its elements as bytes.
func setRaw(t *safetensors.Tensor, count int, data []byte) error {
	if want := int64(count) * int64(t.DType.Size()); int64(len(data)) != want {
		return invalid("input %.40q: %s of shape %v needs %d bytes, there are %d", t.Name, kindOf(t.DType), t.Shape, want, len(data))
	}
	t.Data = data
	return nil
}

// holds reports whether a tensor of that type can have the element. Among integers a missing one, NaN, can stand.
func holds(d safetensors.DType, v float64) bool {
	if d == safetensors.F64 || v != v {
		return true
	}
	bits := 8 * d.Size()
	low, end := 0., math.Ldexp(1, bits)
	switch d {
	case safetensors.I8, safetensors.I16, safetensors.I32, safetensors.I64:
		end = math.Ldexp(1, bits-1)
		low = -end
	}
	return v == math.Trunc(v) && low <= v && v <= end-1 // of 64 bits, end-1 is end, which the largest integer is rounded to
}

// setNumbers gives a tensor its elements as numbers in JSON, in nested arrays or not, whose syntax has been checked. null is NaN. The
// tensor becomes one of float32, or of float64 where float32 might not hold the elements; BOOL stays.
func setNumbers(t *safetensors.Tensor, count int, text []byte) error {
	if count > len(text)/2+1 {
		return invalid("input %.40q: shape %v needs %d elements, data is too short for them", t.Name, t.Shape, count)
	}
	var singles []float32
	var doubles []float64
	var bools []byte
	switch t.DType {
	case safetensors.F32, safetensors.F16, safetensors.BF16:
		singles = make([]float32, 0, count)
	case safetensors.Bool:
		bools = make([]byte, 0, count)
	default:
		doubles = make([]float64, 0, count)
	}
	n := 0
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '[', ']', ',', ' ', '\t', '\n', '\r':
			i++
			continue
		case '"', '{', '}', ':':
			return invalid("input %.40q: data has a %q where a number should be", t.Name, c)
		}
		end := i + 1
		for end < len(text) && text[end] != ',' && text[end] != ']' && text[end] > ' ' {
			end++
		}
		word := text[i:end]
		i = end
		if n++; n > count {
			break
		}
		var v float64
		switch word[0] {
		case 't':
			v = 1
		case 'f':
		case 'n':
			v = math.NaN()
		default:
			var err error
			bits := 64
			if singles != nil {
				bits = 32
			}
			if v, err = strconv.ParseFloat(string(word), bits); err != nil {
				return invalid("input %.40q: element %d, %.40q: not a number that %s holds", t.Name, n-1, word, kindOf(t.DType))
			}
		}
		switch {
		case singles != nil:
			singles = append(singles, float32(v))
		case bools != nil:
			if v != 0 && v != 1 {
				return invalid("input %.40q: element %d, %.40q: need true or false", t.Name, n-1, word)
			}
			bools = append(bools, byte(v))
		default:
			if !holds(t.DType, v) {
				return invalid("input %.40q: element %d, %.40q: not a number that %s holds", t.Name, n-1, word, kindOf(t.DType))
			}
			doubles = append(doubles, v)
		}
	}
	if n != count {
		return invalid("input %.40q: shape %v needs %d elements, data has %s", t.Name, t.Shape, count, atLeast(n, count))
	}
	switch {
	case singles != nil:
		t.DType, t.Data = safetensors.F32, safetensors.Float32Bytes(singles)
	case bools != nil:
		t.Data = bools
	default:
		t.DType, t.Data = safetensors.F64, safetensors.Float64Bytes(doubles)
	}
	return nil
}

// atLeast writes a count that stopped beyond a limit.
func atLeast(n, limit int) string {
	if n > limit {
		return "more"
	}
	return strconv.Itoa(n)
}
