package selection

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzManifest resumes the folders of selections whose manifests were damaged: what is taken has a number of steps for every round.
func FuzzManifest(f *testing.F) {
	c := small(f.TempDir())
	c.Groups, c.Steps, c.Budget = []string{"T2", "SO2", "SE2"}, 0, time.Minute
	s := &runner{Config: c}
	s.Recipe = prepared(c.Recipe)
	require.NoError(f, s.contenders(f.Context()))
	m, err := s.asked()
	require.NoError(f, err)
	for _, steps := range [][]int{{3, 6}, {6, 3}, {-1, 4}, {0, 0}, {3}, nil} {
		kept := *m
		kept.Steps, kept.StepTimes = steps, []float64{1, 2, 3}
		text, err := json.Marshal(kept)
		require.NoError(f, err)
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, b []byte) {
		now := *m
		s := &runner{Config: s.Config, manifest: &now, all: s.all}
		if err := s.known("select.json", b); err != nil {
			require.ErrorContains(t, err, "select.json")
			return
		}
		require.Len(t, now.Steps, len(roundSizes(len(s.all))))
		for k, n := range now.Steps {
			require.GreaterOrEqual(t, n, 1)
			require.True(t, k == 0 || n >= now.Steps[k-1])
		}
	})
}
