package posetable

import (
	"sync/atomic"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
)

// survey is what the strategies for many pairs start from. What is nil was not found, or is not needed.
type survey struct {
	done    bool
	seeds   *seeds
	lattice *lattice
	probe   *rotationProbe
}

// look fills the survey, once. It looks for seeds and, at the same time, for a lattice if the group moves along one, or else for
// rotations. A search whose result turns out to be needless ends early.
func (s *survey) look(p *Pairs) {
	if s.done {
		return
	}
	s.done = true
	var needless atomic.Int32 // a task
	_, shifts := p.Group.(group.TranslationInvariant)
	parallel.For(3, 1, func(task, _ int) {
		switch {
		case task == 0:
			if s.seeds = findSeeds(p); s.seeds != nil {
				needless.Store(2)
			} else {
				needless.Store(1)
			}
		case task == int(needless.Load()):
		case task == 1 && shifts:
			s.lattice = findLattice(p, 0.75*memberReach*p.Tolerance)
		case task == 2 && !shifts:
			s.probe = probeRotations(p)
		}
	})
	if shifts && s.seeds == nil {
		s.probe = probeRotations(p)
	}
}
