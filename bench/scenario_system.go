package main

import (
	"bytes"
	"context"
	"errors"
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
	b        int
	expected float64 // the log-likelihood that the vectors state, NaN if none
}

// readScenarioTasks reads the conformance vectors of a model whose predictions are normal distributions.
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
	for _, t := range f.Tensors {
		switch {
		case t.Name == "expected_params":
			return nil, fmt.Errorf("--model %s: its predictions are no normal distributions, which the scenarios score", model)
		case strings.HasPrefix(t.Name, "expected_"):
		case t.Name == "y_target":
			if s.y, err = t.Float32s(); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		case strings.HasSuffix(t.Name, "_mask"):
			return nil, fmt.Errorf("--model %s: its tasks have padding, which the scenarios do not score", model)
		default:
			s.inputs, s.b = append(s.inputs, t), t.Shape[0]
		}
	}
	if s.b == 0 || len(s.y) == 0 {
		return nil, fmt.Errorf("%s: no tasks, or no y_target", path)
	}
	if text, ok := f.Metadata["log_likelihood"]; ok {
		if s.expected, err = strconv.ParseFloat(text, 64); err != nil {
			return nil, fmt.Errorf("%s: metadata log_likelihood: %w", path, err)
		}
	}
	return s, nil
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
	// predict returns mean and standard deviation of every target of the query's tasks.
	predict(ctx context.Context, query []safetensors.Tensor) (mean, std []float32, err error)
	close() error
}

// librarySystem is a Go program's own call.
type librarySystem struct {
	config  cnp.Config
	call   eval.Predictor[float32]
}

func newLibrarySystem(s *scenarioTasks) (*librarySystem, error) {
	m, err := pretrained.Load(s.model)
	if err != nil {
		return nil, err
	}
	return &librarySystem{s.config, eval.Model(m)}, nil
}

func (l *librarySystem) predict(ctx context.Context, query []safetensors.Tensor) (mean, std []float32, err error) {
	file, tasks := taskfile.Of("query", query), &task.Tasks[float32]{}
	if l.config.Architecture.Image() {
		im, err := file.Images(l.config.DimY)
		if err != nil {
			return nil, nil, err
		}
		tasks.Images = &im.Batch
	} else {
		c, err := file.Curves(&l.config)
		if err != nil {
			return nil, nil, err
		}
		tasks.Curves = &c.Batch
	}
	p, err := l.call(ctx, tasks)
	if err != nil {
		return nil, nil, err
	}
	return p.Mean, p.Std, nil
}

func (*librarySystem) close() error { return nil }

// serverSystem is a server in a process of its own, asked over REST.
type serverSystem struct {
	model string
	child *serverChild
	c     *client.Client
}

func newServerSystem(s *scenarioTasks) (*serverSystem, error) {
	child, err := startChild("scenario", "server", "--role", "server", "--model", s.model)
	if err != nil {
		return nil, err
	}
	return &serverSystem{s.model, child, client.New(child.url, client.Options{})}, nil
}

func (s *serverSystem) predict(ctx context.Context, query []safetensors.Tensor) (mean, std []float32, err error) {
	r := &client.Request{Outputs: []string{"mean", "std"}}
	for _, t := range query {
		in := client.Tensor{Name: t.Name, Datatype: map[safetensors.DType]string{safetensors.F32: "FP32", safetensors.F64: "FP64"}[t.DType],
			Shape: t.Shape, Data: t.Data}
		if t.Name == "mask" {
			v, err := t.Float32s()
			if err != nil {
				return nil, nil, err
			}
			seen := make([]bool, len(v))
			for i, x := range v {
				seen[i] = x != 0
			}
			in = client.Bools(t.Name, append([]int{t.Shape[0], 1}, t.Shape[1:]...), seen)
		}
		if strings.HasPrefix(t.Name, "x_") { // as equivcnp predict --standardise=false does
			r.Parameters = map[string]any{"standardise": false}
		}
		r.Inputs = append(r.Inputs, in)
	}
	resp, err := s.c.Infer(ctx, s.model, r)
	if err != nil {
		return nil, nil, err
	}
	var out [2][]float32
	for i, name := range r.Outputs {
		t := resp.Get(name)
		if t == nil {
			return nil, nil, fmt.Errorf("the server's answer has no output %q", name)
		}
		if out[i], err = t.Float32s(); err != nil {
			return nil, nil, err
		}
	}
	return out[0], out[1], nil
}

func (s *serverSystem) close() error { return s.child.stop() }

// programSystem runs equivcnp predict, a process a query, with files between.
type programSystem struct {
	model, program, dir string
}

func newProgramSystem(s *scenarioTasks, program string) (*programSystem, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("--program %s: %w: `make` builds it", program, err)
	}
	dir, err := os.MkdirTemp("", "equivcnp-scenario")
	return &programSystem{s.model, path, dir}, err
}

func (p *programSystem) predict(ctx context.Context, query []safetensors.Tensor) (mean, std []float32, err error) {
	dir, err := os.MkdirTemp(p.dir, "query")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "in.safetensors"), filepath.Join(dir, "out.safetensors")
	if err := safetensors.Write(in, &safetensors.File{Tensors: query}); err != nil {
		return nil, nil, err
	}
	args := []string{"predict", "--model", p.model, "--in", in, "--out", out, "--no-check"}
	if query[0].Name != "image" && query[0].Name != "mask" {
		args = append(args, "--standardise=false")
	}
	var says bytes.Buffer
	cmd := exec.CommandContext(ctx, p.program, args...)
	cmd.Stdout, cmd.Stderr = io.Discard, &says
	if err := cmd.Run(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w: %s", p.program, err, bytes.TrimSpace(says.Bytes()))
	}
	f, err := safetensors.Read(out)
	if err != nil {
		return nil, nil, err
	}
	m, s := f.Get("mean"), f.Get("std")
	if m == nil || s == nil {
		return nil, nil, errors.New("the program wrote no mean or no std")
	}
	if mean, err = m.Float32s(); err != nil {
		return nil, nil, err
	}
	std, err = s.Float32s()
	return mean, std, err
}

func (p *programSystem) close() error { return os.RemoveAll(p.dir) }
