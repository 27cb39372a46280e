//go:build !purego && (amd64 || arm64)

package depthwise

import "github.com/equivcnp/equivcnp/internal/race"

// race announces what is read, and that some channels of the plan's rows are written.
func (p *Batch) race(out, f, w []float32, images, from, to, c int) {
	if !race.Enabled {
		return
	}
	race.Read(f)
	race.Read(w)
	for copies, calls := range map[int][]batchCall{batchRows: p.fours, 1: p.ones} {
		for _, call := range calls {
			race.Read(call.code)
			code := call.code
			for range call.blocks {
				for _, row := range code[2 : 2+copies] {
					for b := range images {
						at := (b*p.rows + int(row)) * c
						race.Write(out[at+from : at+to])
					}
				}
				code = code[2+copies+int(code[0])*(1+copies):]
			}
		}
	}
}
