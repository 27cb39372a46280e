package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/serve/client"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// scenarioTasks are the fixed tasks of a model: those of its conformance vectors, with the values that a prediction is scored with.
type scenarioTasks struct {
	model    string
	config   cnp.Config
	inputs   []safetensors.Tensor // [B, ...] each
	y        []float32
	counts   []bool // of y: those that a mask leaves and that were observed
	b        int
	family   cnp.Likelihood
	params   bool    // predictions have parameters besides mean and deviation
	expected float64 // the log-likelihood that the vectors state, NaN if none
}

// readScenarioTasks reads the conformance vectors of a model.
func readScenarioTasks(dir, model string) (*scenarioTasks, error) {
	about, err := pretrained.About(model)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, model+".safetensors")
	f, err := safetensors.Read(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s := &scenarioTasks{model: model, config: about.Config, expected: math.NaN()}
	if s.family, err = cnp.ParseLikelihood(&about.Config); err != nil {
		return nil, err
	}
	for _, t := range f.Tensors {
		switch {
		case t.Name == "expected_params":
			s.params = true
		case strings.HasPrefix(t.Name, "expected_"):
		case len(t.Shape) == 0 || s.b != 0 && t.Shape[0] != s.b:
			return nil, fmt.Errorf("%s: tensor %q has shape %v: need as many tasks in every tensor", path, t.Name, t.Shape)
		case t.Name == "y_target":
			if s.y, err = t.Float32s(); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			s.b = t.Shape[0]
		default:
			s.inputs, s.b = append(s.inputs, t), t.Shape[0]
		}
	}
	if len(s.inputs) == 0 || s.b == 0 || len(s.y) == 0 {
		return nil, fmt.Errorf("%s: no tasks, or no y_target", path)
	}
	s.counts = slices.Repeat([]bool{true}, len(s.y))
	if m := f.Get("target_mask"); m != nil {
		if s.counts, err = maskOf(m, about.Config.DimY); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(s.counts) != len(s.y) {
			return nil, fmt.Errorf("%s: tensor \"target_mask\" has shape %v: need a number for each target of y_target", path, m.Shape)
		}
	}
	for i, v := range s.y {
		s.counts[i] = s.counts[i] && v == v // not NaN, which was not observed
	}
	if text, ok := f.Metadata["log_likelihood"]; ok {
		if s.expected, err = strconv.ParseFloat(text, 64); err != nil {
			return nil, fmt.Errorf("%s: metadata log_likelihood: %w", path, err)
		}
	}
	return s, nil
}

// outputs are the names of what a prediction consists of.
func (s *scenarioTasks) outputs() []string {
	if s.params {
		return []string{"mean", "std", "params"}
	}
	return []string{"mean", "std"}
}

// prediction puts one together from tensors. Where there are no parameters, each value by itself is normal.
func (s *scenarioTasks) prediction(get func(name string) ([]float32, error)) (*cnp.Prediction[float32], error) {
	p := &cnp.Prediction[float32]{Likelihood: cnp.Normal}
	if s.params {
		p.Likelihood = s.family
	}
	for _, name := range s.outputs() {
		v, err := get(name)
		if err != nil {
			return nil, err
		}
		switch name {
		case "mean":
			p.Mean = v
		case "std":
			p.Std = v
		default:
			p.Params = v
		}
	}
	return p, nil
}

// score adds up the log-density and squared error of the values of the i-th task, each value by itself, and how many they are.
func (s *scenarioTasks) score(p *cnp.Prediction[float32], i int) (loglik, square float64, n int, err error) {
	per := len(s.y) / s.b
	if len(p.Mean) != per || len(p.Std) != per {
		return 0, 0, 0, fmt.Errorf("task %d: %d means and %d deviations: need %d", i, len(p.Mean), len(p.Std), per)
	}
	counts, y, alone := s.counts[i*per:(i+1)*per], s.y[i*per:(i+1)*per], p.Marginals()
	for k, v := range y {
		if counts[k] {
			d := float64(v) - float64(p.Mean[k])
			loglik, square, n = loglik+alone.LogDensityAt(k, float64(v)), square+d*d, n+1
		}
	}
	return loglik, square, n, nil
}

// maskOf returns the mask of a tensor, each number repeated so often.
func maskOf(t *safetensors.Tensor, times int) ([]bool, error) {
	v, err := t.Float32s()
	if err != nil {
		return nil, err
	}
	var mask []bool
	for _, x := range v {
		mask = append(mask, slices.Repeat([]bool{x != 0}, times)...)
	}
	return mask, nil
}

// query returns the inputs of n tasks from the i-th on, around the end.
func (s *scenarioTasks) query(i, n int) []safetensors.Tensor {
	out := slices.Clone(s.inputs)
	for k := range out {
		t := &out[k]
		row := len(t.Data) / s.b
		data := make([]byte, 0, n*row)
		for q := range n {
			at := (i + q) % s.b
			data = append(data, t.Data[at*row:(at+1)*row]...)
		}
		t.Data, t.Shape = data, append([]int{n}, t.Shape[1:]...)
	}
	return out
}

// A scenarioSystem is what answers queries. It may be asked by several goroutines at once.
type scenarioSystem interface {
	// predict returns mean, standard deviation and, where the model's distribution has them, parameters of every target of the
	// query's tasks.
	predict(ctx context.Context, query []safetensors.Tensor) (*cnp.Prediction[float32], error)
	close() error
}

// librarySystem is a Go program's own call.
type librarySystem struct {
	config cnp.Config
	call   eval.Predictor[float32]
}

func newLibrarySystem(s *scenarioTasks) (*librarySystem, error) {
	m, err := pretrained.Load(s.model)
	if err != nil {
		return nil, err
	}
	return &librarySystem{s.config, eval.Model(m)}, nil
}

func (l *librarySystem) predict(ctx context.Context, query []safetensors.Tensor) (*cnp.Prediction[float32], error) {
	file, tasks := taskfile.Of("query", query), &task.Tasks[float32]{}
	if l.config.Architecture.Image() {
		im, err := file.Images(l.config.DimY)
		if err != nil {
			return nil, err
		}
		tasks.Images = &im.Batch
	} else {
		c, err := file.Curves(&l.config)
		if err != nil {
			return nil, err
		}
		tasks.Curves = &c.Batch
	}
	return l.call(ctx, tasks)
}

func (*librarySystem) close() error { return nil }

// serverSystem is a server in a process of its own, asked over REST.
type serverSystem struct {
	tasks *scenarioTasks
	child *serverChild
	c     *client.Client
}

func newServerSystem(s *scenarioTasks) (*serverSystem, error) {
	child, err := startChild("scenario", "server", "--role", "server", "--model", s.model)
	if err != nil {
		return nil, err
	}
	return &serverSystem{s, child, client.New(child.url, client.Options{})}, nil
}

func (s *serverSystem) predict(ctx context.Context, query []safetensors.Tensor) (*cnp.Prediction[float32], error) {
	r := &client.Request{Outputs: s.tasks.outputs()}
	for _, t := range query {
		in := client.Tensor{Name: t.Name, Datatype: map[safetensors.DType]string{safetensors.F32: "FP32", safetensors.F64: "FP64"}[t.DType],
			Shape: t.Shape, Data: t.Data}
		if strings.HasSuffix(t.Name, "mask") {
			mask, err := maskOf(&t, 1)
			if err != nil {
				return nil, err
			}
			if t.Name == "mask" {
				in.Shape = append([]int{t.Shape[0], 1}, t.Shape[1:]...)
			}
			in = client.Bools(t.Name, in.Shape, mask)
		}
		if strings.HasPrefix(t.Name, "x_") { // as equivcnp predict --standardise=false does
			r.Parameters = map[string]any{"standardise": false}
		}
		r.Inputs = append(r.Inputs, in)
	}
	resp, err := s.c.Infer(ctx, s.tasks.model, r)
	if err != nil {
		return nil, err
	}
	return s.tasks.prediction(func(name string) ([]float32, error) {
		t := resp.Get(name)
		if t == nil {
			return nil, fmt.Errorf("the server's answer has no output %q", name)
		}
		return t.Float32s()
	})
}

func (s *serverSystem) close() error { return s.child.stop() }

// programSystem runs equivcnp predict, a process a query, with files between.
type programSystem struct {
	tasks        *scenarioTasks
	program, dir string
}

func newProgramSystem(s *scenarioTasks, program string) (*programSystem, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("--program %s: %w: `make` builds it", program, err)
	}
	dir, err := os.MkdirTemp("", "equivcnp-scenario")
	return &programSystem{s, path, dir}, err
}

func (p *programSystem) predict(ctx context.Context, query []safetensors.Tensor) (*cnp.Prediction[float32], error) {
	dir, err := os.MkdirTemp(p.dir, "query")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "in.safetensors"), filepath.Join(dir, "out.safetensors")
	if err := safetensors.Write(in, &safetensors.File{Tensors: query}); err != nil {
		return nil, err
	}
	args := []string{"predict", "--model", p.tasks.model, "--in", in, "--out", out, "--no-check"}
	if query[0].Name != "image" && query[0].Name != "mask" {
		args = append(args, "--standardise=false")
	}
	var says bytes.Buffer
	cmd := exec.CommandContext(ctx, p.program, args...)
	cmd.Stdout, cmd.Stderr = io.Discard, &says
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", p.program, err, bytes.TrimSpace(says.Bytes()))
	}
	f, err := safetensors.Read(out)
	if err != nil {
		return nil, err
	}
	return p.tasks.prediction(func(name string) ([]float32, error) {
		t := f.Get(name)
		if t == nil {
			return nil, fmt.Errorf("the program wrote no tensor %q", name)
		}
		return t.Float32s()
	})
}

func (p *programSystem) close() error { return os.RemoveAll(p.dir) }
