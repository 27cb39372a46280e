package serve

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/internal/words"
)

// said is what an answer says of its prediction: what that leaves out, and where targets lie beyond what the context tells.
func (j *job) said() string {
	var all []string
	for _, text := range []string{j.note, j.beyondDrift()} {
		if text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, "; ")
}

// beyondDrift says of which columns of a drift targets lie outside the range of their task's context, "" where none do: nothing tells
// whether values depend on a column linearly there, too. It is what interpolate's BeyondDrift says of tables.
func (j *job) beyondDrift() string {
	da := j.lane.columns
	if da == 0 || j.given == nil {
		return ""
	}
	b, dy := j.given, j.model.cfg.DimY
	known := func(i int) bool { // a row of the context that counts
		return (b.ContextMask == nil || b.ContextMask[i]) &&
			!slices.ContainsFunc(b.AuxContext[i*da:(i+1)*da], func(v float32) bool { return v != v }) &&
			slices.ContainsFunc(b.YContext[i*dy:(i+1)*dy], func(v float32) bool { return v == v })
	}
	var beyond []string
	for k := range da {
		n, inside := 0, "the ranges of their tasks"
		for t := range b.B {
			lo, hi := math.Inf(1), math.Inf(-1)
			for i := t * b.Nc; i < (t+1)*b.Nc; i++ {
				if v := float64(b.AuxContext[i*da+k]); known(i) {
					lo, hi = min(lo, v), max(hi, v)
				}
			}
			if math.IsInf(lo, 0) {
				continue
			}
			for i := t * b.Nt; i < (t+1)*b.Nt; i++ {
				if v := float64(b.AuxTarget[i*da+k]); (b.TargetMask == nil || b.TargetMask[i]) && (v < lo || v > hi) {
					n++
				}
			}
			if b.B == 1 {
				inside = fmt.Sprintf("%.6g to %.6g", lo, hi)
			}
		}
		if n > 0 {
			beyond = append(beyond, fmt.Sprintf("column %d of aux_target, %s outside %s", k, words.Plural(n, "target"), inside))
		}
	}
	if beyond == nil {
		return ""
	}
	return "auxiliary inputs lie outside the context's range, where nothing tells whether their effect is linear: " +
		strings.Join(beyond, "; ")
}
