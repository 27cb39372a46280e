package describe

import (
	"fmt"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/simd"
)

// Rounded says what of an image model of that configuration bfloat16 rounds here, where that is not all, or else what its
// file says against it.
func Rounded(cfg *cnp.Config, unsuited []string) []string {
	switch {
	case simd.CurrentLevel() == simd.AMX && (cfg.Group == "T(2)" || cfg.Group == "SE(2)") && cfg.Lifts <= 1 && cfg.Channels[0]%32 == 0:
		return unsuited
	case cpu.Dots():
		dense := ""
		if cpu.FastDots() {
			dense = ", or else the dense maps of residual blocks"
		}
		return append([]string{fmt.Sprintf("--precision %s: only stored weights are rounded, where there are many, "+
			"with the features that they are multiplied with%s; all else is %s. This CPU, "+
			"at level %v, or this model has no tiles for it", cnp.BFloat16, dense, cnp.Float32, simd.CurrentLevel())}, unsuited...)
	}
	return []string{fmt.Sprintf("--precision %s: this CPU, at level %v, multiplies neither tiles nor pairs of it: only stored weights are "+
		"rounded, where there are many; all else is %s",
		cnp.BFloat16, simd.CurrentLevel(), cnp.Float32)}
}
