package train

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// FuzzTrainingState restores checkpoints whose training state was changed by somebody who knows the digest, so that the state itself is
// read; whether it is taken or refused, a run is whole. FuzzSafetensors changes the files themselves.
func FuzzTrainingState(f *testing.F) {
	path := filepath.Join(f.TempDir(), "ckpt")
	c := smallConfig(2)
	opt := Options[float32]{Checkpoint: path}
	first := newRun(f, smallCurve(), smallCurves(), c, opt)
	require.NoError(f, first.Train(f.Context()))
	whole, err := safetensors.Read(path)
	require.NoError(f, err)
	text := whole.Metadata[metaTraining]
	f.Add(text)
	for _, s := range []string{"", "null", "{}", `{"version":1}`, `{"version":2,"model":{"group":"E8"}}`, text + " ", text[:len(text)-1],
		`{"version":2,"model":null,"run":{"adam":{"rate":1e999}}}`} {
		f.Add(s)
	}
	f.Add(strings.Replace(text, `"step":2`, `"step":-2`, 1))
	out := filepath.Join(f.TempDir(), "changed")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) { // which no file holds
			return
		}
		changed := &safetensors.File{Metadata: map[string]string{metaTraining: text}, Tensors: whole.Tensors}
		changed.Metadata[metaDigest] = digest(changed)
		run := newRun(t, smallCurve(), smallCurves(), c, opt)
		before := bits(run)
		if err := run.restore(changed); err != nil {
			require.ErrorIs(t, err, ErrCheckpoint)
			require.Zero(t, run.Step())
			require.Equal(t, before, bits(run))
		} else {
			require.GreaterOrEqual(t, run.Step(), 0)
			require.Equal(t, run.Step(), run.adam.Count)
		}
		require.NoError(t, safetensors.Write(out, changed))
		if _, step, err := Saved(out); err == nil {
			require.GreaterOrEqual(t, step, 0)
		} else {
			require.ErrorIs(t, err, ErrCheckpoint)
		}
	})
}

// FuzzLog resumes logs that were damaged: what is kept are whole lines of steps that were done, and a second look keeps the same.
func FuzzLog(f *testing.F) {
	for _, s := range []string{"", "{}\n", "{\"step\":1,\"loss\":2}\n{\"step\":3}\n{\"step\":2}\n", "null\n[]\n", "{\"step\":1}",
		"{\"step\":1e99}\n", "{\"step\":-1}\n"} {
		f.Add([]byte(s), 2)
	}
	path := filepath.Join(f.TempDir(), "log")
	f.Fuzz(func(t *testing.T, b []byte, steps int) {
		require.NoError(t, os.WriteFile(path, b, 0o666))
		kept := func() []byte {
			log, err := openLog(path, steps)
			require.NoError(t, err)
			log.close()
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			return got
		}
		first := kept()
		require.Equal(t, string(b[:len(first)]), string(first))
		require.Equal(t, first, kept())
	})
}
