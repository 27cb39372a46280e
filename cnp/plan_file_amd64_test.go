package cnp_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// TestPlanFileVersion: files of plans are what they were. Where this fails because they hold something else now, or
// kernels want it in another order, planVersion must grow, and the digests change; otherwise programs would take files
// of others that mean something else. Portable Go on amd64 rounds alike everywhere.
func TestPlanFileVersion(t *testing.T) {
	before := simd.CurrentLevel()
	require.NoError(t, simd.SetLevel(simd.Generic))
	defer func() { require.NoError(t, simd.SetLevel(before)) }()
	path := filepath.Join(t.TempDir(), "x.plan")
	for _, c := range []struct {
		group, digest string
		opt           cnp.PlanOptions
	}{
		{"T(2)", "f84a9f2e9e5c4dc5", cnp.PlanOptions{Memory: 1 << 28, Algorithm: layers.Transforms}},
		{"SO(2)", "cfb2f5b3350fe094", cnp.PlanOptions{Memory: 1 << 28}},
	} {
		_, err := fileModel[float32](t, c.group, nil).SavePlan(context.Background(), path, cnp.Grid(7, 9), c.opt)
		require.NoError(t, err)
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		sum := sha256.Sum256(b[128:binary.NativeEndian.Uint64(b[56:])]) // without the header, whose key is the machine's
		assert.Equal(t, c.digest, hex.EncodeToString(sum[:8]), c.group)
	}
}
