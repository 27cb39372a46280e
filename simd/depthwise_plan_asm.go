//go:build !purego && (amd64 || arm64)

package simd

// race announces that the plan is read.
func (p *DepthwisePlan) race() {
	raceRead(p.offsets)
	raceRead(p.index)
	raceRead(p.pose)
	raceRead(p.code)
}

// raceWeights announces that some columns of the gradient are written; other goroutines may write the rest.
func (p *DepthwisePlan) raceWeights(dw []float32, from, to, c int) {
	if raceEnabled {
		for q := range p.poses {
			raceWrite(dw[q*c+from : q*c+to])
		}
	}
}
