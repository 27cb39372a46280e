package serve

import (
	"context"

	"errors"
	"runtime"
	"strconv"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/equivcnp/equivcnp/cnp/serve/inference"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// allowed is what reading a hostile request of n bytes may allocate: a fixed part, and a multiple of what came.
func allowed(n int) uint64 { return 8<<20 + 100*uint64(n) }

// fuzzModels are what requests are prepared for.
func fuzzModels(f *testing.F) []*model {
	var out []*model
	for _, src := range testSources {
		m, err := loadModel(context.Background(), src, "")
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// prepared has every model make a job of what read returns. Errors are those of a request, never the server's, and memory is bounded.
func prepared(t *testing.T, models []*model, n int, read func() (*request, error)) {
	for _, m := range models {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var j *job
		r, err := read()
		if err == nil {
			j, err = m.prepare(r)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > allowed(n) {
			t.Errorf("%d bytes allocated for a request of %d", got, n)
		}
		if err != nil {
			if f := asFailure(err); f.status >= 500 {
				t.Errorf("status %d: %v", f.status, err)
			}
			continue
		}
		want := 1
		for _, d := range j.shapeOf() {
			want *= int(d)
		}
		if want != j.values || (j.images != nil && len(j.images.Mask) != j.images.B*j.images.H*j.images.W) {
			t.Errorf("a job of %d values for an answer of %v", j.values, j.shapeOf())
		}
	}
}

// FuzzREST: any body with any header length is a job or an error.
func FuzzREST(f *testing.F) {
	models := fuzzModels(f)
	add := func(h map[string]string, body []byte) {
		n, _ := strconv.Atoi(h[headerLength])
		f.Add(n, body)
		f.Add(n+1, body)
		f.Add(n, body[:len(body)-1])
	}
	add(imagesBinary(f, map[string]any{"timeout": 5}, images(rngOf(1), 2, 3, 2)))
	add(curvesBinary(f, map[string]any{"priority": 1}, curves(rngOf(1), 2, 2, 1)))
	add(nil, curvesJSON(f, curves(rngOf(1), 2, 2, 1)))
	for _, shape := range []string{"[-1,1,1]", "[4294967296,4294967296,1]", "[2147483647,1,1]", "[0,0,1]", "[1,1,1,1]", "[]", "null"} {
		f.Add(0, []byte(`{"inputs":[{"name":"x_context","datatype":"FP64","shape":`+shape+`,"data":[[[1]]]}]}`))
		f.Add(90, []byte(`{"inputs":[{"name":"x_context","datatype":"BOOL","shape":`+shape+`,"parameters":{"binary_data_size":1e9}}]}`))
	}
	f.Fuzz(func(t *testing.T, header int, body []byte) {
		prepared(t, models, len(body), func() (*request, error) {
			head, rest := body, []byte(nil)
			if header > 0 && header <= len(body) {
				head, rest = body[:header], body[header:]
			}
			in, err := parseHead(head)
			if err != nil {
				return nil, err
			}
			r, err := in.request(rest)
			if err == nil {
				if _, err := r.params.timeout(); err != nil {
					return nil, err
				}
				_, _, err = r.params.whole("priority", 0, maxPriority)
			}
			return r, err
		})
	})
}

// FuzzGRPC: any message is a job or an error, and generated code reads the same request from it.
func FuzzGRPC(f *testing.F) {
	models := fuzzModels(f)
	in := func(name, datatype string, c *inference.InferTensorContents, shape ...int64) *inference.ModelInferRequest_InferInputTensor {
		return &inference.ModelInferRequest_InferInputTensor{Name: name, Datatype: datatype, Shape: shape, Contents: c}
	}
	im := images(rngOf(1), 1, 2, 2)
	for _, r := range []*inference.ModelInferRequest{
		{ModelName: "digits", Id: "x", Inputs: []*inference.ModelInferRequest_InferInputTensor{in("image", "FP32", nil, 1, 1, 2,
			2), in("mask", "BOOL", nil, 1, 2, 2)},
			RawInputContents: [][]byte{safetensors.Float32Bytes(im.Pixels), {1, 0, 1, 0}}},
		{ModelName: "rbf",
			Parameters: map[string]*inference.InferParameter{"timeout": {
				ParameterChoice: &inference.InferParameter_Int64Param{Int64Param: 5}}},
			Inputs: []*inference.ModelInferRequest_InferInputTensor{
				in("x_context", "FP64", &inference.InferTensorContents{Fp64Contents: []float64{1, 2}}, 1, 2, 1),
				in("y_context", "FP32", &inference.InferTensorContents{Fp32Contents: []float32{1, 2}}, 1, 2, 1),
				in("x_target", "INT64", &inference.InferTensorContents{Int64Contents: []int64{-3}}, 1, 1, 1),
				in("target_mask", "BOOL", &inference.InferTensorContents{BoolContents: []bool{true}}, 1, 1)},
			Outputs: []*inference.ModelInferRequest_InferRequestedOutputTensor{{Name: "std"}}},
		{Inputs: []*inference.ModelInferRequest_InferInputTensor{in("image", "FP32", nil, -1, 1<<40, 2, 2)},
			RawInputContents: [][]byte{{1, 2, 3}}},
		{Inputs: []*inference.ModelInferRequest_InferInputTensor{in("image", "UINT8",
			&inference.InferTensorContents{UintContents: []uint32{1 << 31}}, 1<<31-1)}},
	} {
		b, err := proto.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)-1])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var ours wireRequest
		err := ours.read(b)
		prepared(t, models, len(b), func() (*request, error) {
			var r wireRequest
			if err := r.read(b); err != nil {
				var f *failure
				if !errors.As(err, &f) { // connect answers with invalid_argument
					err = invalid("%v", err)
				}
				return nil, err
			}
			return &r.request, nil
		})
		var theirs inference.ModelInferRequest
		if err != nil || proto.Unmarshal(b, &theirs) != nil {
			return
		}
		if ours.model != theirs.ModelName || ours.id != theirs.Id || len(ours.inputs) != len(theirs.Inputs) ||
			len(ours.outputs) != len(theirs.Outputs) {
			t.Errorf("%+v, generated code reads %v", ours.request, &theirs)
		}
	})
}

// FuzzAnswer: what is written for gRPC is what generated code reads.
func FuzzAnswer(f *testing.F) {
	f.Add("m", "1", "id", "", 3, true)
	f.Add("", "", "", "a note", 0, false)
	f.Fuzz(func(t *testing.T, model, version, id, note string, n int, raw bool) {
		values := make([]float32, max(0, min(n, 1000)))
		for i := range values {
			values[i] = float32(i)
		}
		r := wireResponse{model: model, version: version, id: id, note: note, raw: raw,
			answers: []answer{{name: "mean", shape: []int64{int64(len(values)), 1}, values: values}, {name: "std", shape: []int64{0}}}}
		var got inference.ModelInferResponse
		if err := proto.Unmarshal(r.append([]byte{}), &got); err != nil {
			// which readers refuse
			if !utf8.ValidString(model) || !utf8.ValidString(version) || !utf8.ValidString(id) || !utf8.ValidString(note) {
				return
			}
			t.Fatal(err)
		}
		if got.ModelName != model || got.ModelVersion != version || got.Id != id || len(got.Outputs) != 2 ||
			got.Outputs[0].Shape[0] != int64(len(values)) {
			t.Errorf("%v", &got)
		}
		if raw != (len(got.RawOutputContents) == 2) || !raw && len(got.Outputs[0].Contents.GetFp32Contents()) != len(values) {
			t.Errorf("%v", &got)
		}
	})
}
