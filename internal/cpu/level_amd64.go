//go:build !purego

package cpu

// detect returns the levels whose kernels this machine can run, slowest first.
func detect() []Level {
	var levels []Level
	for _, l := range levelFeatures {
		if len(Missing(l.features...)) == 0 {
			levels = append(levels, l.level)
		}
	}
	return levels
}
