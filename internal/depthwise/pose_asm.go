//go:build !purego && (amd64 || arm64)

package depthwise

import "github.com/equivcnp/equivcnp/internal/race"

// race announces what is read, and that some channels of dw are written.
func (p *Poses) race(dw, dout, f []float32, from, to, c int) {
	if race.Enabled {
		race.Read(dout)
		race.Read(f)
		race.Read(p.code)
		for at := 0; at < len(dw); at += c {
			race.Write(dw[at+from : at+to])
		}
	}
}

// freshOf is the bit of a number of pairs that tells kernels to overwrite.
func freshOf(more bool) int {
	if more {
		return 0
	}
	return 1 << 31
}
