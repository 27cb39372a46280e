package task

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/linalg"
)

// ChargeKinds are the names of what ChargeSource draws: "charges" are two dipoles that stand upright, the positive
// charge straight above the negative one; "turned-charges" are the same tasks, each turned as a whole by a rotation
// that is uniform in SO(3).
var ChargeKinds = []string{"charges", "turned-charges"}

const (
	chargeDipoles = 2
	chargeRadius  = 2.0  // of the ball in which the field is seen
	chargeSoft2   = 0.3  // what is added to a squared distance: charges are small balls
	chargeNoise   = 0.05 // the deviation of a component's noise
	chargeSpread  = 0.6  // the deviation of a dipole's middle along each axis
	// The least and the greatest number of places where the field is observed, and the usual number of targets.
	chargeLeast, chargeMost, chargeTargets = 20, 60, 40
)

// ChargeSource is the Source of the electric fields of point charges in space: vectors E(x) = Σ q·(x - p)/(|x - p|² +
// 0.3)^(3/2), seen with noise of deviation 0.05 at places that are uniform in the ball of radius 2. From MinContext to
// MaxContext of them, as many in all tasks of a batch, are the context; with both 0 there are 20 to 60. There are
// Targets targets; 0: 40.
//
// A model learns from upright dipoles what fields look like. Whoever has learned it as a law that holds in every direction
// predicts turned ones as well.
type ChargeSource[T cnp.Float] struct {
	Kind                   string // one of ChargeKinds
	MinContext, MaxContext int
	Targets                int
}

// context is the least and the greatest number of context points.
func (s ChargeSource[T]) context() (least, most int) {
	if s.MinContext == 0 && s.MaxContext == 0 {
		return chargeLeast, chargeMost
	}
	return s.MinContext, s.MaxContext
}

// targets is the number of targets.
func (s ChargeSource[T]) targets() int {
	if s.Targets == 0 {
		return chargeTargets
	}
	return s.Targets
}

// maxChargePoints bounds the points of a task.
const maxChargePoints = 1 << 20

// Validate reports what no task can be drawn from.
func (s ChargeSource[T]) Validate() error {
	if !slices.Contains(ChargeKinds, s.Kind) {
		return fmt.Errorf("task: fields of %q, need one of %s", clip(s.Kind), strings.Join(ChargeKinds, ", "))
	}
	if least, most := s.context(); least < 0 || most < least || most > maxChargePoints {
		return fmt.Errorf("task: %d to %d context points, need 0 <= least <= most <= %d", least, most, maxChargePoints)
	}
	if s.Targets < 0 || s.Targets > maxChargePoints {
		return fmt.Errorf("task: %d targets, need 1 to %d, or 0 for %d", s.Targets, maxChargePoints, chargeTargets)
	}
	return nil
}

// String implements Source.
func (s ChargeSource[T]) String() string {
	least, most := s.context()
	what := "upright dipoles"
	if s.turned() {
		what = "turned dipoles"
	}
	return fmt.Sprintf("electric fields of %s in the ball of radius %g, %d to %d context points, %d targets", what, chargeRadius,
		least, most, s.targets())
}

func (s ChargeSource[T]) turned() bool { return s.Kind == ChargeKinds[1] }

// Work implements Sized.
func (s ChargeSource[T]) Work(n int) cnp.Work {
	_, most := s.context()
	return cnp.Work{Batch: n, Span: 2 * chargeRadius, Context: most, Targets: s.targets()}
}

// charge is a point charge.
type charge struct {
	q  float64
	at [3]float64
}

// coulomb is the field of charges at x.
func coulomb(charges []charge, x [3]float64) (e [3]float64) {
	for _, c := range charges {
		d, r2 := x, chargeSoft2
		for k := range d {
			d[k] -= c.at[k]
			r2 += d[k] * d[k]
		}
		for k := range e {
			e[k] += c.q * d[k] / (r2 * math.Sqrt(r2))
		}
	}
	return e
}

// Batch implements Source. Both kinds draw the same numbers, so that tasks differ in how they are turned alone.
func (s ChargeSource[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	rng := StepRand(seed, step)
	least, most := s.context()
	b := &cnp.Batch[T]{B: n, Nc: least + rng.IntN(most-least+1), Nt: s.targets()}
	out := &Tasks[T]{Curves: b}
	for range n {
		var charges []charge
		for range chargeDipoles {
			var middle [3]float64
			for k := range middle {
				middle[k] = chargeSpread * rng.NormFloat64()
			}
			half := 0.5 + 0.5*rng.Float64()
			for _, sign := range [2]float64{1, -1} {
				c := charge{sign, middle}
				c.at[2] += sign * half
				charges = append(charges, c)
			}
		}
		var turn linalg.Quat
		for k := range turn {
			turn[k] = rng.NormFloat64()
		}
		turn = turn.Unit()
		for i := range b.Nc + b.Nt {
			x := inBall(rng.Float64, chargeRadius)
			e := coulomb(charges, x)
			for k := range e {
				e[k] += chargeNoise * rng.NormFloat64()
			}
			if s.turned() {
				x, e = turn.Rotate(x), turn.Rotate(e)
			}
			y := []T{T(e[0]), T(e[1]), T(e[2])}
			if i < b.Nc {
				b.XContext, b.YContext = append(b.XContext, x[:]...), append(b.YContext, y...)
			} else {
				b.XTarget, out.Y = append(b.XTarget, x[:]...), append(out.Y, y...)
			}
		}
	}
	return out, nil
}

// inBall returns a point that is uniform in the ball of that radius, from numbers that are uniform in [0, 1).
func inBall(uniform func() float64, radius float64) (x [3]float64) {
	for {
		r2 := 0.0
		for k := range x {
			x[k] = radius * (2*uniform() - 1)
			r2 += x[k] * x[k]
		}
		if r2 <= radius*radius {
			return x
		}
	}
}
