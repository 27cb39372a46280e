package simd

import "github.com/equivcnp/equivcnp/internal/schedule"

// planRun is how many rows a goroutine encodes at a time. The last run may have fewer.
const planRun = 16 * depthwisePlanRows

// planPart is the part of a plan's code and starts that belongs to a run of rows; starts count from the beginning of the part's
// code.
type planPart struct {
	code   []int32
	starts []int
}

// planHeader is how many numbers the code of a group begins with.
const planHeader = 3 + len(schedule.Spans)

// planPartOf encodes rows lo to hi and puts their pairs into the order in which they are added up.
func planPartOf(g *schedule.Grid, pairs, lo, hi int) planPart {
	part := planPart{code: make([]int32, 0, pairs/4), starts: make([]int, 0, (hi-lo)/depthwisePlanRows)}
	for i := lo; i < hi; i++ {
		g.Sort(i)
	}
	for i := lo; i+depthwisePlanRows <= hi; i += depthwisePlanRows {
		steps := g.Group(i)
		if steps == nil {
			part.starts = append(part.starts, -1) // row by row
			continue
		}
		part.starts = append(part.starts, len(part.code))
		part.code = appendSteps(part.code, steps)
	}
	return part
}

// appendSteps appends the code of a group of rows:
//
//	the number of runs of all rows, of ramps up and down, then of the single steps of each span;
//	then, in that order, {steps, x, pose of each step} per run, {first k, steps, x, pose of each step} per ramp, {x, pose} per step
func appendSteps(code []int32, g *schedule.Steps) []int32 {
	code = append(code, int32(len(g.Runs)), int32(len(g.Ramps[0])), int32(len(g.Ramps[1])))
	for _, list := range g.Single {
		code = append(code, int32(len(list)))
	}
	for _, run := range g.Runs {
		code = append(code, int32(len(run)), run[0].X)
		for _, s := range run {
			code = append(code, s.Pose)
		}
	}
	for _, ramps := range g.Ramps {
		for _, p := range ramps {
			code = append(append(code, int32(p.First), int32(len(p.Poses)), p.X), p.Poses...)
		}
	}
	for _, list := range g.Single {
		for _, s := range list {
			code = append(code, s.X, s.Pose)
		}
	}
	return code
}
