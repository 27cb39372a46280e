//go:build !purego && (amd64 || arm64)

package simd

// race announces what is read, and that some channels of the plan's rows are written.
func (p *DepthwiseBatchPlan) race(out, f, w []float32, images, from, to, c int) {
	if !raceEnabled {
		return
	}
	raceRead(f)
	raceRead(w)
	for copies, calls := range map[int][]batchCall{batchRows: p.fours, 1: p.ones} {
		for _, call := range calls {
			raceRead(call.code)
			code := call.code
			for range call.blocks {
				for _, row := range code[2 : 2+copies] {
					for b := range images {
						at := (b*p.rows + int(row)) * c
						raceWrite(out[at+from : at+to])
					}
				}
				code = code[2+copies+int(code[0])*(1+copies):]
			}
		}
	}
}
