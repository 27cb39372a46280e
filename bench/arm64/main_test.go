package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBlocks: a block ends where addresses have a gap or counts change.
func TestBlocks(t *testing.T) {
	require.Equal(t, []block{{[]uint64{0, 4}, 7}, {[]uint64{8}, 3}, {[]uint64{16, 20}, 3}},
		blocks(map[uint64]int{20: 3, 0: 7, 4: 7, 8: 3, 16: 3}))
}

// TestBranch: what ends a block of the emulator's, and what only looks like it.
func TestBranch(t *testing.T) {
	for text, want := range map[string]bool{"b.ne\t#0": true, "cbz\tx1, #0": true, "ret": true, "bl\t#0": true,
		"tbnz\tw1, #3, #0": true, "br\tx16": true,
		"bic\tv0.16b, v1.16b, v2.16b": false, "bfi\tx0, x1, #3, #4": false, "bif\tv0.8b, v1.8b, v2.8b": false,
		"fmla\tv0.4s, v1.4s, v2.4s": false} {
		require.Equal(t, want, branch.MatchString(text), text)
	}
}
