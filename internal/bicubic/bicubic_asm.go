//go:build !purego && (amd64 || arm64)

package bicubic

import "github.com/equivcnp/equivcnp/internal/race"

// announce announces what is read, and what is written.
func (p *Plan) announce(read, written []float32) {
	if race.Enabled {
		race.Read(read)
		race.Read(p.code)
		race.Write(written)
	}
}
