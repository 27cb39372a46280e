//go:build !purego

package simd

import "github.com/equivcnp/equivcnp/internal/cpu"

// detect returns the levels whose kernels this machine can run, slowest first.
func detect() []Level {
	var levels []Level
	for _, l := range levelFeatures {
		if len(cpu.Missing(l.features...)) == 0 {
			levels = append(levels, l.level)
		}
	}
	return levels
}
