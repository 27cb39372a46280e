//go:build purego || !(amd64 || arm64)

package depthwise

func (d *batchRun) run(call batchCall, copies int) { d.generic(call, copies) }

// race has nothing to announce: the race detector sees what Go does.
func (p *Batch) race(out, f, w []float32, images, from, to, c int) {}
