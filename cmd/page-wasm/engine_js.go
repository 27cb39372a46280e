//go:build js

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"syscall/js"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/mappoints"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// In the browser this program is the engine: it sets globalThis.equivcnp to an object with three functions, which the page's worker calls.
//
//	load(name, bytes) reads a model file; infer(name, inputs, outputs, parameters) asks it, with the tensors of the server's protocol;
//	table(bytes, {kind, name, columns, decimal, dates, missing}) reads a table of text as the server does, and returns {json}, its
//	answer.
//
// They return an object with error, a text, if they failed.
func main() {
	e := engine{}
	js.Global().Set("equivcnp", map[string]any{
		"load": js.FuncOf(func(_ js.Value, a []js.Value) any {
			return answer(func() (map[string]any, error) { return e.load(a[0].String(), bytesOf(a[1])) })
		}),
		"infer": js.FuncOf(func(_ js.Value, a []js.Value) any {
			return answer(func() (map[string]any, error) { return e.infer(a[0].String(), a[1], a[2], a[3]) })
		}),
		"table": js.FuncOf(func(_ js.Value, a []js.Value) any {
			return answer(func() (map[string]any, error) { return tableOf(bytesOf(a[0]), a[1]) })
		}),
	})
	select {}
}

// engine is the models by name.
type engine map[string]cnp.Model[float32]

// answer calls a function; errors and panics become a text.
func answer(f func() (map[string]any, error)) (out map[string]any) {
	defer func() {
		if p := recover(); p != nil {
			out = map[string]any{"error": fmt.Sprint(p)}
		}
	}()
	out, err := f()
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return out
}

func bytesOf(v js.Value) []byte {
	b := make([]byte, v.Get("byteLength").Int())
	js.CopyBytesToGo(b, v)
	return b
}

// load reads a model file. Without one, the name is that of an interpolation, which has none.
func (e engine) load(name string, file []byte) (map[string]any, error) {
	if len(file) == 0 {
		r := krige.Named(name)
		if r == nil {
			return nil, fmt.Errorf("no model %q", name)
		}
		e[name] = r
		return nil, nil
	}
	s, err := weights.DecodeState(file)
	if err != nil {
		return nil, err
	}
	if e[name], err = weights.Build[float32](s, weights.Options{}); err != nil {
		return nil, err
	}
	return nil, nil
}

// tensors reads inputs {name, datatype, shape, data}, whose data are bytes.
func tensors(list js.Value) ([]safetensors.Tensor, error) {
	var out []safetensors.Tensor
	types := map[string]safetensors.DType{"BOOL": safetensors.Bool, "FP32": safetensors.F32, "FP64": safetensors.F64}
	for i := range list.Length() {
		v := list.Index(i)
		t := safetensors.Tensor{Name: v.Get("name").String(), DType: types[v.Get("datatype").String()], Data: bytesOf(v.Get("data"))}
		size := t.DType.Size()
		for k := range v.Get("shape").Length() {
			t.Shape = append(t.Shape, v.Get("shape").Index(k).Int())
			size *= t.Shape[k]
		}
		if t.DType == "" || size != len(t.Data) {
			return nil, fmt.Errorf("input %q: %d bytes are none of shape %v", t.Name, len(t.Data), t.Shape)
		}
		out = append(out, t)
	}
	return out, nil
}

// infer answers as the server does.
func (e engine) infer(name string, inputs, outputs, params js.Value) (map[string]any, error) {
	ctx := context.Background()
	m := e[name]
	if m == nil {
		return nil, fmt.Errorf("no model %q", name)
	}
	list, err := tensors(inputs)
	if err != nil {
		return nil, err
	}
	file, cfg := taskfile.Of("inputs", list), m.Config()
	out := map[string]any{}
	if c, ok := m.(cnp.Completer[float32]); ok {
		im, err := file.Images(cfg.DimY)
		if err != nil {
			return nil, err
		}
		p, err := c.Complete(ctx, &im.Batch)
		if err != nil {
			return nil, err
		}
		shape := []any{im.Batch.B, cfg.DimY, im.Batch.H, im.Batch.W}
		put(out, "mean", shape, p.Mean)
		put(out, "std", shape, p.Std)
		if opt, asked := sampling(outputs, params); asked {
			s, err := cnp.SampleImages(ctx, c, &im.Batch, opt)
			if err != nil {
				return nil, err
			}
			put(out, "samples", append([]any{opt.Samples}, shape...), s)
		}
		return out, nil
	}
	c, err := file.Curves(&cfg)
	if err != nil {
		return nil, err
	}
	b, r := &c.Batch, m.(cnp.Regressor[float32])
	if v := params.Get("standardise"); v.Type() != js.TypeBoolean || v.Bool() || cfg.HasUnits() {
		r = cnp.Standardised(r)
	}
	if r, err = interpolation(m, r, cfg.DimY, params); err != nil {
		return nil, err
	}
	if opt, asked := sampling(outputs, params); asked {
		s, err := cnp.SampleCurves(ctx, r, b, opt)
		if err = inside(err); err != nil {
			return nil, err
		}
		put(out, "samples", []any{opt.Samples, b.B, b.Nt, cfg.DimY}, s)
	}
	p, err := r.Predict(ctx, b)
	if err = inside(err); err != nil {
		return nil, err
	}
	put(out, "mean", []any{b.B, b.Nt, cfg.DimY}, p.Mean)
	put(out, "std", []any{b.B, b.Nt, cfg.DimY}, p.Std)
	return out, putQuantiles(out, []any{b.B, b.Nt, cfg.DimY}, p, params)
}

// interpolation is a model that interpolates, by what the parameters say of values and inputs; it is r where they say nothing.
func interpolation(m cnp.Model[float32], r cnp.Regressor[float32], outputs int, params js.Value) (cnp.Regressor[float32], error) {
	positive, dates, robust := params.Get("positive").Truthy(), params.Get("dates").Truthy(), params.Get("robust").Truthy()
	if !positive && !dates && !robust {
		return r, nil
	}
	own, ok := m.(*krige.Regressor)
	if !ok {
		return nil, errors.New(`parameters "positive", "dates" and "robust" are for models that interpolate, such as universal-1`)
	}
	opt := own.Options()
	opt.Robust = robust
	if positive {
		opt.Values = krige.Positive
	}
	if dates {
		opt.Calendar = krige.CalendarDays()
	}
	own, err := krige.NewRegressor(opt)
	if err != nil {
		return nil, err
	}
	return own.Outputs(outputs), nil
}

// putQuantiles adds the quantiles that the parameter of that name lists, if it is there.
func putQuantiles(out map[string]any, shape []any, p *cnp.Prediction[float32], params js.Value) error {
	v := params.Get("quantiles")
	if v.Type() != js.TypeString {
		return nil
	}
	list := strings.Split(v.String(), ",")
	all, one := make([]float32, len(p.Mean)*len(list)), make([]float32, len(p.Mean))
	for k, text := range list {
		q, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(q > 0 && q < 1) {
			return fmt.Errorf(`parameter "quantiles": %.40q: need numbers between 0 and 1`, v.String())
		}
		p.Quantiles(one, q)
		for i, y := range one {
			all[i*len(list)+k] = y
		}
	}
	put(out, "quantiles", append(shape, len(list)), all)
	return nil
}

// tableOf reads the points of a table.
func tableOf(b []byte, opt js.Value) (map[string]any, error) {
	how := mappoints.Options{Name: opt.Get("name").String(), Columns: opt.Get("columns").String(), Decimal: opt.Get("decimal").String(),
		Dates: opt.Get("dates").String(), Missing: opt.Get("missing").String()}
	var p any
	var err error
	if opt.Get("kind").String() == "series" {
		p, err = mappoints.ReadSeries(b, how)
	} else {
		p, err = mappoints.Read(b, how)
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(p)
	return map[string]any{"json": string(text)}, err
}

// sampling says whether samples are wanted, and which.
func sampling(outputs, params js.Value) (opt cnp.SampleOptions, asked bool) {
	for i := range outputs.Length() {
		asked = asked || outputs.Index(i).String() == "samples"
	}
	opt = cnp.SampleOptions{Samples: number(params, "samples", 1), Knots: number(params, "knots", 0),
		Function: params.Get("function").Truthy()}
	opt.Seed = uint64(number(params, "seed", 0))
	return opt, asked
}

// inside leaves out that some points were too far away: their values are NaN, and the page draws the others.
func inside(err error) error {
	var o *cnp.OutsideError
	if errors.As(err, &o) {
		return nil
	}
	return err
}

func number(params js.Value, name string, byDefault int) int {
	v := params.Get(name)
	if v.Type() != js.TypeNumber || math.IsNaN(v.Float()) {
		return byDefault
	}
	return v.Int()
}

// put adds a tensor to an answer, as bytes.
func put(out map[string]any, name string, shape []any, values []float32) {
	b := safetensors.Float32Bytes(values)
	data := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(data, b)
	out[name] = map[string]any{"shape": shape, "data": data}
}
