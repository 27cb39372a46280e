package main

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// TestScenarios runs every scenario of the library for a moment; accuracy compares the log-likelihood with what the vectors state.
func TestScenarios(t *testing.T) {
	out, err := quiet(t, scenarioCommand(), "all", "--model", "bench-eq", "--vectors", "../testdata/conformance", "--seconds", "0.01",
		"--json", "--latency", "2s") // the search ends with so long a queue
	require.NoError(t, err)
	got := map[string]float64{}
	for line := range strings.Lines(out) {
		var s sample
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		got[strings.TrimPrefix(s.Name, "scenario/library/bench-eq/")+" "+s.Metric] = s.Value
	}
	for _, want := range []string{"single-stream p90_s", "multi-stream p99_s", "offline tasks_per_s", "server tasks_per_s", "server p99_s",
		"accuracy squared_error"} {
		require.Positive(t, got[want], want)
	}
	require.Contains(t, got, "accuracy log_likelihood")
	for want, args := range map[string][]string{
		"there are single-stream":      {"double-stream"},
		"--of nobody":                  {"offline", "--of", "nobody", "--vectors", "../testdata/conformance"},
		"no such model":                {"offline", "--model", "none"},
		"need both above 0":            {"offline", "--seconds", "0"},
		"--model predprey --of server": {"accuracy", "--of", "server", "--model", "predprey", "--vectors", "../testdata/conformance"},
		"a program is no server":       {"server", "--of", "program", "--program", "go", "--vectors", "../testdata/conformance"},
	} {
		_, err := quiet(t, scenarioCommand(), args...)
		require.ErrorContains(t, err, want)
	}
}

// TestScenarioQuery: queries go round the tasks, and answers to several are those to each.
func TestScenarioQuery(t *testing.T) {
	tasks, err := readScenarioTasks(filepath.Join("..", "testdata", "conformance"), "rbf-levels")
	require.NoError(t, err)
	s, err := newLibrarySystem(tasks)
	require.NoError(t, err)
	together, err := s.predict(context.Background(), tasks.query(tasks.b-1, 3))
	require.NoError(t, err)
	per := len(tasks.y) / tasks.b
	for i := range 3 {
		alone, err := s.predict(context.Background(), tasks.query(tasks.b-1+i, 1))
		require.NoError(t, err)
		require.Equal(t, alone.Mean, together.Mean[i*per:(i+1)*per])
	}
}

// TestScenarioAccuracy: the tasks of every kind of distribution are scored, values by themselves and those that were observed, and a
// server's answers, which lack the parameters of some, as the library's.
func TestScenarioAccuracy(t *testing.T) {
	for _, model := range []string{"predprey", "vectors-rbf", "bench-eq-lowrank", "bench-mixture"} {
		tasks, err := readScenarioTasks(filepath.Join("..", "testdata", "conformance"), model)
		require.NoError(t, err)
		s, err := newLibrarySystem(tasks)
		require.NoError(t, err)
		var loglik, bare, n float64
		for i := range tasks.b {
			p, err := s.predict(context.Background(), tasks.query(i, 1))
			require.NoError(t, err)
			l, _, values, err := tasks.score(p, i)
			require.NoError(t, err)
			q, err := tasks.prediction(func(name string) ([]float32, error) {
				return map[string][]float32{"mean": p.Mean, "std": p.Std, "params": p.Params}[name], nil
			})
			require.NoError(t, err)
			lq, _, _, err := tasks.score(q, i)
			require.NoError(t, err)
			loglik, bare, n = loglik+l, bare+lq, n+float64(values)
		}
		require.InDelta(t, tasks.expected, loglik/n, 2e-6*(1+math.Abs(tasks.expected)), model)
		require.InDelta(t, loglik/n, bare/n, 1e-6*(1+math.Abs(loglik/n)), model)
	}
}

// TestScenarioFiles: vectors whose tensors do not fit together are errors that name file and tensor.
func TestScenarioFiles(t *testing.T) {
	f, err := safetensors.Read(filepath.Join("..", "testdata", "conformance", "rbf-levels.safetensors"))
	require.NoError(t, err)
	for want, change := range map[string]func(*safetensors.Tensor){
		`tensor "x_context" has shape []`: func(x *safetensors.Tensor) {
			if x.Name == "x_context" {
				x.Shape, x.Data = nil, x.Data[:8]
			}
		},
		`tensor "y_target" has shape [2`: func(x *safetensors.Tensor) {
			if x.Name == "y_target" {
				x.Shape, x.Data = append([]int{2}, x.Shape[1:]...), x.Data[:len(x.Data)/2]
			}
		},
	} {
		dir, changed := t.TempDir(), &safetensors.File{Metadata: f.Metadata, Tensors: slices.Clone(f.Tensors)}
		for i := range changed.Tensors {
			change(&changed.Tensors[i])
		}
		require.NoError(t, safetensors.Write(filepath.Join(dir, "rbf-levels.safetensors"), changed))
		_, err := readScenarioTasks(dir, "rbf-levels")
		require.ErrorContains(t, err, want)
	}
}

// TestScenarioMoment: a measurement that is shorter than one call still makes one.
func TestScenarioMoment(t *testing.T) {
	out, err := quiet(t, scenarioCommand(), "offline", "--model", "bench-eq", "--vectors", "../testdata/conformance", "--seconds", "1e-9",
		"--json")
	require.NoError(t, err)
	var s sample
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	require.Positive(t, s.Value)
}

// slowSystem takes a while for each query.
type slowSystem struct {
	takes func(call int) time.Duration
	calls atomic.Int64
}

func (s *slowSystem) predict(context.Context, []safetensors.Tensor) (*cnp.Prediction[float32], error) {
	time.Sleep(s.takes(int(s.calls.Add(1))))
	return nil, nil
}

func (*slowSystem) close() error { return nil }

// TestScenarioNoRate: the search for a rate ends early where no answer comes in time, and soon where some task of 20 always comes late.
func TestScenarioNoRate(t *testing.T) {
	const bound = 2 * time.Millisecond
	for name, c := range map[string]struct {
		takes func(call int) time.Duration
		most  int64 // calls: those that measure the rate of batches, and 20 for each rate
	}{
		"every answer is late": {func(int) time.Duration { return 2 * bound }, 1 + 20},
		"some answer is late":  {func(call int) time.Duration { return time.Duration(call%10/9) * 2 * bound }, 9 + 20*(mostHalvings+1)},
	} {
		t.Run(name, func(t *testing.T) {
			s, r := &slowSystem{takes: c.takes}, &report{w: io.Discard}
			b := &scenarioBench{tasks: &scenarioTasks{b: 1}, system: s, seconds: 1e-6, latency: bound.Seconds(), batch: 1, r: r, name: "x"}
			require.NoError(t, b.server(context.Background()))
			require.Equal(t, []sample{{"x/server", 1, "tasks_per_s", 0}}, r.kept)
			require.LessOrEqual(t, s.calls.Load(), c.most)
		})
	}
}
