package train

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/atomicfile"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// A checkpoint that was changed anywhere is refused, and never continued from.
func TestMutatedCheckpoints(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ckpt")
	c := smallConfig(2)
	opt := Options[float32]{Checkpoint: path}
	first := newRun(t, smallCurve(), smallCurves(), c, opt)
	require.NoError(t, first.Train(t.Context()))
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	fresh := newRun(t, smallCurve(), smallCurves(), c, opt)
	n := 300
	if testing.Short() {
		n = 60
	}
	for _, seed := range []uint64{1, 2} {
		mutants, what := testkit.Mutants(seed, good, n)
		for i, b := range mutants {
			require.NoError(t, os.WriteFile(path, b, 0o600))
			require.Error(t, fresh.Resume(), what[i])
			require.Zero(t, fresh.Step())
		}
	}
	require.NoError(t, os.WriteFile(path, good, 0o600))
	require.NoError(t, fresh.Resume())
}

// A run with noise does not resume the checkpoint of one without, nor the other way round; the error says what differs.
func TestResumeOfWhatWasNotSet(t *testing.T) {
	noisy, plain := smallConfig(2), smallConfig(2)
	plain.Noise = Noise{}
	for _, c := range [][2]Config{{plain, noisy}, {noisy, plain}} {
		opt := Options[float32]{Checkpoint: filepath.Join(t.TempDir(), "ckpt")}
		require.NoError(t, newRun(t, smallCurve(), smallCurves(), c[0], opt).Train(t.Context()))
		err := newRun(t, smallCurve(), smallCurves(), c[1], opt).Resume()
		var m *Mismatch
		require.ErrorAs(t, err, &m)
		require.Equal(t, "noise.from", m.Field)
		require.ErrorContains(t, err, "not set")
	}
}

// Two runs do not write one log.
func TestLogOfTwo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	log, err := openLog(path, 0)
	require.NoError(t, err)
	defer log.close()
	_, err = openLog(path, 0)
	require.ErrorIs(t, err, atomicfile.ErrBusy)
}
