//go:build !purego && (amd64 || arm64)

package bicubic

import (
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/race"
)

// announce announces what is read, and what is written.
func (p *Plan) announce(read, written []float32) {
	if race.Enabled {
		race.Read(read)
		race.Read(p.code)
		race.Write(written)
	}
}

// Fast reports whether interpolation is faster than a small network: the portable one is not.
func Fast() bool { return level != cpu.Generic }
