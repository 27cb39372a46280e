package train

import (
	"fmt"
	"math"
)

// ScheduleKind says how the learning rate goes down.
type ScheduleKind string

// The kinds.
const (
	Constant ScheduleKind = ""
	Cosine   ScheduleKind = "cosine"
	StepDown ScheduleKind = "step"
)

// Schedule is the learning rate's factor over the steps. The zero value is 1 throughout.
type Schedule struct {
	Kind ScheduleKind `json:"kind,omitempty"`
	// Warmup is the number of steps over which the factor climbs in equal parts to 1.
	Warmup int `json:"warmup,omitempty"`
	// Steps is the whole number of steps under Cosine, warm-up included, and the length of a stair under StepDown.
	Steps int `json:"steps,omitempty"`
	// Factor is the factor at which Cosine ends, and by which StepDown multiplies after each stair.
	Factor float64 `json:"factor,omitempty"`
}

// Validate reports what makes no schedule.
func (s Schedule) Validate() error {
	switch s.Kind {
	case Constant:
	case Cosine, StepDown:
		if s.Steps < 1 {
			return fmt.Errorf("train: schedule %q: steps = %d, need at least 1", s.Kind, s.Steps)
		}
		if !(s.Factor >= 0 && s.Factor <= 1) {
			return fmt.Errorf("train: schedule %q: factor = %v, need 0 to 1", s.Kind, s.Factor)
		}
	default:
		return fmt.Errorf("train: schedule %q is not one of %q, %q, %q", s.Kind, Constant, Cosine, StepDown)
	}
	if s.Warmup < 0 {
		return fmt.Errorf("train: warmup = %d, need at least 0", s.Warmup)
	}
	return nil
}

// At returns the factor for step t, counted from 0:
//
//   - warm-up: (t+1)/Warmup while t < Warmup;
//   - Cosine: from 1 down to Factor along half a period, over the steps after the warm-up, and Factor ever after;
//   - StepDown: Factor^(stairs completed since the warm-up).
func (s Schedule) At(t int) float64 {
	if t < s.Warmup {
		return float64(t+1) / float64(s.Warmup)
	}
	t -= s.Warmup
	switch s.Kind {
	case Cosine:
		x := min(1, float64(t)/float64(max(1, s.Steps-s.Warmup)))
		return s.Factor + (1-s.Factor)*(1+math.Cos(math.Pi*x))/2
	case StepDown:
		return math.Pow(s.Factor, float64(t/s.Steps))
	}
	return 1
}
