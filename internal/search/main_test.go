package search

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/cpu"
)

// eachLevel runs a test at every level that exists here.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	before := cpu.CurrentLevel()
	defer func() { require.NoError(t, cpu.SetLevel(before)) }()
	for _, l := range cpu.Levels() {
		t.Run(fmt.Sprintf("level=%v", l), func(t *testing.T) {
			require.NoError(t, cpu.SetLevel(l))
			f(t)
		})
	}
}

// lengths are from nothing to past four of the widest vectors.
func lengths() []int {
	var n []int
	for i := range 4*16 + 4 {
		n = append(n, i)
	}
	return append(n, 127, 128, 129, 1000)
}
