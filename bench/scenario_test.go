package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
		"there are single-stream": {"double-stream"},
		"--of nobody":             {"offline", "--of", "nobody", "--vectors", "../testdata/conformance"},
		"no such model":           {"offline", "--model", "none"},
		"need both above 0":       {"offline", "--seconds", "0"},
		"a program is no server":  {"server", "--of", "program", "--program", "go", "--vectors", "../testdata/conformance"},
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
